//! Hides the app's own files (Landlock) and sockets of the session (namespaces, Landlock's scopes)
//! from a server's program, and denies system calls that would circumvent this (seccomp), as far as
//! the system can. All other files of the user stay accessible, because such servers exist to work
//! with them. Landlock rules only allow, so everything beside the hidden folders is allowed by
//! name. It must not know what the folders and sockets are for.

use std::{
    collections::BTreeSet,
    fs, io,
    os::unix::net::{SocketAddr, UnixStream},
    path::{Path, PathBuf},
};

use guard::{CallFilter, Covers, Permits, Sockets, covers_work, freezing_works, in_child};
use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
};

/// The newest Landlock rights that are requested. An older kernel applies those it knows.
const RIGHTS: ABI = ABI::V9;

/// Files and sockets that are hidden from a program.
#[derive(Clone, Debug, Default)]
pub struct Hidden {
    pub folders: Vec<PathBuf>,
    /// Folders that it may use although they lie in a hidden one: its pack and its own folder.
    pub but: Vec<PathBuf>,
    /// Sockets, and folders of sockets, that are covered in namespaces of its own.
    pub covered: Vec<PathBuf>,
}

/// Changes of files, beside those of contents, that a program may make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileChanges {
    /// The times of files that it has open.
    #[default]
    Times,
    /// Also the mode, owner and attributes of files that it has open.
    OpenFiles,
    /// Also mode and times of files by their path, as programs need that install others. Hidden
    /// folders are read-only for it, where the system can do that.
    ByPath,
}

/// The restrictions that are applied to a program between fork and exec.
pub(crate) struct Veil {
    covers: Option<Covers>,
    files: Option<RulesetCreated>,
    calls: Option<CallFilter>,
}

/// Prepares the restrictions. Restrictions that the system does not support are left out. One that
/// it supports but refuses is an error.
pub(crate) fn prepare(hidden: &Hidden, changes: FileChanges) -> io::Result<Veil> {
    let (open_files, by_path) = match changes {
        FileChanges::Times => (false, false),
        FileChanges::OpenFiles => (true, false),
        FileChanges::ByPath => (true, true),
    };
    let covers = || {
        let covers = Covers::over(&hidden.covered);
        // Landlock hides the contents of files, but not their modes and times.
        let freezes = by_path && freezing_works();
        if freezes { covers.with_read_only(&hidden.folders, &hidden.but) } else { covers }
    };
    let permits = Permits { sockets: Sockets::All, sessions: true, open_files, by_path };
    Ok(Veil {
        covers: covers_work().then(covers),
        files: landlock_works().then(|| ruleset(hidden)).transpose().map_err(io::Error::other)?,
        calls: CallFilter::new(permits)?,
    })
}

impl Veil {
    /// Applies the restrictions. For the child: allocates nothing and makes system calls only.
    /// Covers come first, because Landlock denies mounts.
    pub(crate) fn enforce(&mut self) -> io::Result<()> {
        if let Some(covers) = &self.covers {
            covers.enforce()?;
        }
        if let Some(rules) = self.files.take() {
            let refused = || io::Error::from_raw_os_error(libc::EPERM);
            let status = rules.restrict_self().map_err(|_| refused())?;
            if status.ruleset == RulesetStatus::NotEnforced {
                return Err(refused());
            }
        }
        self.calls.as_ref().map_or(Ok(()), CallFilter::enforce)
    }
}

/// Whether a restricted program could still connect to a socket. It is tried in a child that starts
/// no program.
pub fn reaches(hidden: &Hidden, socket: SocketAddr) -> io::Result<bool> {
    let mut veil = prepare(hidden, FileChanges::Times)?;
    in_child(move || veil.enforce().is_ok() && UnixStream::connect_addr(&socket).is_ok())
}

/// Builds the Landlock rules. Folders may be listed everywhere; otherwise a folder above a hidden
/// one could not be listed.
fn ruleset(hidden: &Hidden) -> Result<RulesetCreated, RulesetError> {
    let rights = AccessFs::from_all(RIGHTS) & !AccessFs::ReadDir;
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(rights)?
        .scope(Scope::from_all(RIGHTS))?
        .create()?;
    for place in list_allowed_places(hidden) {
        // The place was removed since it was listed, or this user cannot open it. There is no need
        // to allow it.
        let Ok(opened) = PathFd::new(&place) else { continue };
        let rights = if place.is_dir() { rights } else { rights & AccessFs::from_file(RIGHTS) };
        rules = rules.add_rule(PathBeneath::new(opened, rights))?;
    }
    Ok(rules)
}

fn landlock_works() -> bool {
    // SAFETY: asks for the version only: no pointer, no size, the flag of the kernel's interface.
    unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            1_u32,
        ) > 0
    }
}

/// Returns the places to allow, as few and as high up as possible. Links are left out, because
/// their targets are allowed or hidden where they lie.
fn list_allowed_places(hidden: &Hidden) -> Vec<PathBuf> {
    let real = |paths: &[PathBuf]| paths.iter().map(|path| resolve_links(path)).collect();
    let real =
        Hidden { folders: real(&hidden.folders), but: real(&hidden.but), covered: Vec::new() };
    let mut found = Vec::new();
    walk(Path::new("/"), &real, &mut found);
    found
}

/// Resolves the links of a path, also if its last folders do not exist yet.
fn resolve_links(path: &Path) -> PathBuf {
    let beyond = || Some(resolve_links(path.parent()?).join(path.file_name()?));
    path.canonicalize().ok().or_else(beyond).unwrap_or_else(|| path.to_owned())
}

fn walk(place: &Path, hidden: &Hidden, found: &mut Vec<PathBuf>) {
    let above = |folders: &[PathBuf]| folders.iter().any(|folder| folder.starts_with(place));
    let within = |folders: &[PathBuf]| folders.iter().any(|folder| place.starts_with(folder));
    let shown = within(&hidden.but) || !within(&hidden.folders);
    if shown && !above(&hidden.folders) {
        found.push(place.to_owned());
    } else if shown || above(&hidden.but) {
        entries(place, hidden).iter().for_each(|entry| walk(entry, hidden, found));
    }
}

/// Returns the entries of a folder. If it cannot be listed, only those that lead to known places.
fn entries(place: &Path, hidden: &Hidden) -> Vec<PathBuf> {
    let plain = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| !kind.is_symlink());
    match fs::read_dir(place) {
        Ok(entries) => entries.flatten().filter(plain).map(|entry| entry.path()).collect(),
        Err(_) => {
            let known =
                hidden.folders.iter().chain(&hidden.but).filter_map(|path| {
                    Some(place.join(path.strip_prefix(place).ok()?.iter().next()?))
                });
            known.collect::<BTreeSet<_>>().into_iter().collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_beside_is_allowed_and_what_is_hidden_is_not() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for folder in
            ["docs/deep", "share/app/packs/one", "share/app/packs/two", "share/other", "state/app"]
        {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("note"), "").unwrap();
        std::os::unix::fs::symlink(root.join("share/app"), root.join("link")).unwrap();
        let hidden = Hidden {
            folders: vec![root.join("share/app"), root.join("state/app")],
            but: vec![root.join("share/app/packs/one"), root.join("docs/deep")],
            ..Hidden::default()
        };
        let below: Vec<PathBuf> = list_allowed_places(&hidden)
            .into_iter()
            .filter_map(|path| path.strip_prefix(&root).ok().map(Path::to_owned))
            .collect();
        let mut below: Vec<String> =
            below.into_iter().map(|path| path.display().to_string()).collect();
        below.sort();
        assert_eq!(below, ["docs", "note", "share/app/packs/one", "share/other"]);
        assert!(list_allowed_places(&hidden).contains(&PathBuf::from("/usr")));
    }

    #[test]
    fn a_pack_around_the_hidden_folder_does_not_show_it() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("pack/data")).unwrap();
        fs::create_dir_all(root.join("pack/code")).unwrap();
        let found = list_allowed_places(&Hidden {
            folders: vec![root.join("pack/data")],
            but: vec![root.join("pack")],
            ..Hidden::default()
        });
        assert!(found.contains(&root.join("pack/code")));
        assert!(!found.iter().any(|place| root.join("pack/data").starts_with(place)));
    }
}
