//! Hides the app's own files (Landlock), sockets of the session (namespaces, Landlock's scopes) and
//! terminals (namespaces, or else Landlock) from a server's program, and denies system calls that
//! would circumvent this (seccomp), as far as the system can. All other files of the user stay
//! accessible, because such servers exist to work with them. Landlock rules can only allow, so
//! everything except the hidden folders is allowed by name. The module must not know what the
//! folders and sockets are for.

mod consoles;
mod links;

use std::{
    any::Any,
    collections::BTreeSet,
    ffi::CString,
    fmt, fs, io,
    net::TcpListener,
    os::unix::{
        ffi::OsStrExt as _,
        fs::MetadataExt as _,
        net::{SocketAddr, UnixStream},
    },
    path::{Path, PathBuf},
    sync::Arc,
};

use guard::{
    AllowedPlace, Answering, Asking, CallFilter, Confinement, Covers, OpenFolders, Permits,
    Sockets, covers_work, freezing_works, in_child,
};
use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
};

use consoles::{TERMINALS, find_consoles};
use links::links_to;
pub use links::resolve_links;

/// The newest Landlock rights that are requested. An older kernel applies the rights that it knows.
const RIGHTS: ABI = ABI::V9;

/// Lists the files and sockets to hide from a program. Called at each start, because the list
/// changes.
pub trait Hides: fmt::Debug + Send + Sync {
    fn hidden(&self) -> Hidden;

    /// Returns the restrictions of a program that needs none of the user's files. These
    /// restrictions then replace all others. Returns None for a program that works with the user's
    /// files.
    fn confinement(&self) -> Option<Confined> {
        None
    }
}

/// The restrictions of a program that needs none of the user's files.
#[derive(Clone, Debug)]
pub struct Confined {
    pub rules: Confinement,
    /// The forwarder that serves the port of the program's own network. None if the program has no
    /// port.
    pub forwarder: Option<Arc<dyn Forwards>>,
}

/// Forwards connections of a confined program to allowed destinations.
pub trait Forwards: fmt::Debug + Send + Sync {
    /// Serves the connections that arrive on a program's own port, until the result is dropped.
    fn serve(&self, listener: TcpListener) -> io::Result<Box<dyn Any + Send + Sync>>;
}

impl Hides for Hidden {
    fn hidden(&self) -> Hidden {
        self.clone()
    }
}

/// Files and sockets that are hidden from a program.
#[derive(Clone, Debug, Default)]
pub struct Hidden {
    pub folders: Vec<PathBuf>,
    /// Folders that the program may use although they lie in a hidden folder: its pack and its own
    /// folder.
    pub but: Vec<PathBuf>,
    /// Folders and files that the program may read but not change: those from which the app reads
    /// packs and programs, and those from which it starts other programs. The links on the paths to
    /// these places are included.
    pub read_only: Vec<PathBuf>,
    /// Folders in which the program may create files, except for hidden files, although some places
    /// inside are hidden or read-only.
    pub open: Vec<PathBuf>,
    /// Sockets, and folders of sockets, that are hidden by mounts in a separate namespace.
    pub covered: Vec<PathBuf>,
}

/// Changes of files that a program may make in addition to changes of their contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileChanges {
    /// The times of files that the program has open.
    #[default]
    Times,
    /// Also the mode, owner and attributes of files that the program has open.
    OpenFiles,
    /// Also the mode and times of files by their path, which programs need to install other
    /// programs. Hidden folders are then read-only for the program, where the system supports that.
    ByPath,
}

/// The restrictions that are applied to a program between fork and exec.
pub(crate) struct Veil {
    covers: Option<Covers>,
    files: Option<RulesetCreated>,
    calls: Option<CallFilter>,
    asking: Option<Asking>,
}

/// Prepares the restrictions, and the help with open folders if the program needs it. Restrictions
/// that the system does not support are omitted. A restriction that the system supports but refuses
/// is an error.
pub(crate) fn prepare(
    hidden: &Hidden,
    changes: FileChanges,
    network: bool,
) -> io::Result<(Veil, Option<Answering>)> {
    let (open_files, by_path) = match changes {
        FileChanges::Times => (false, false),
        FileChanges::OpenFiles => (true, false),
        FileChanges::ByPath => (true, true),
    };
    let covers = || {
        let places: Vec<PathBuf> = hidden.covered.iter().cloned().chain(find_consoles()).collect();
        let covers = Covers::over(&places).with_own_terminals();
        // Landlock hides the contents of files, but not their modes and times.
        let freezes = by_path && freezing_works();
        if !freezes {
            return covers;
        }
        let frozen: Vec<PathBuf> =
            hidden.folders.iter().chain(&hidden.read_only).cloned().collect();
        covers.with_read_only(&frozen, &hidden.but)
    };
    let sockets = if network { Sockets::All } else { Sockets::Pairs };
    let permits = Permits { sockets, sessions: true, open_files, by_path };
    let covers = covers_work().then(covers);
    let files = || match covers {
        Some(_) => ruleset(hidden),
        // If mounts are not possible, the program gets no terminal at all.
        None => ruleset(&with_terminals(hidden)),
    };
    let files = landlock_works().then(files).transpose().map_err(io::Error::other)?;
    let calls = CallFilter::new(permits)?;
    // If there are no rules on files, no folder is closed; if there are no filters, the program
    // cannot ask for help.
    let open = files.is_some().then(|| open_folders(hidden)).flatten().filter(|_| calls.is_some());
    let (asking, answering) = open.map(OpenFolders::connect).transpose()?.unzip();
    Ok((Veil { covers, files, calls, asking }, answering))
}

/// Returns the open folders in which the rules on files allow no new files. Returns None if there
/// are none.
fn open_folders(hidden: &Hidden) -> Option<OpenFolders> {
    if hidden.open.is_empty() {
        return None;
    }
    let places = list_allowed_places(hidden).into_iter();
    let full = places.filter(|(_, access)| *access == FileAccess::Full);
    let allowed: Vec<AllowedPlace> =
        full.filter_map(|(place, _)| AllowedPlace::find(place)).collect();
    let mut closed: Vec<PathBuf> = Vec::new();
    for place in hidden.folders.iter().chain(&hidden.read_only).chain(&hidden.covered) {
        closed.push(resolve_links(place));
        closed.extend(links_to(place));
    }
    let is_helped = |folder: &PathBuf| {
        let mut outer =
            allowed.iter().map(AllowedPlace::path).chain(closed.iter().map(PathBuf::as_path));
        !outer.any(|place| folder.starts_with(place))
    };
    let folders: Vec<PathBuf> = hidden
        .open
        .iter()
        .filter_map(|folder| folder.canonicalize().ok())
        .filter(is_helped)
        .collect();
    (!folders.is_empty()).then_some(OpenFolders { folders, closed, allowed })
}

impl Veil {
    /// Applies the restrictions. Runs in the child, so it allocates nothing and only makes system
    /// calls. The mounts come first, because Landlock denies mounts.
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
        self.calls.as_ref().map_or(Ok(()), CallFilter::enforce)?;
        self.asking.as_ref().map_or(Ok(()), Asking::enforce)
    }
}

/// Whether a restricted program could still connect to a socket. This is tried in a child that
/// starts no program.
pub fn reaches(hidden: &Hidden, socket: SocketAddr) -> io::Result<bool> {
    let (mut veil, _) = prepare(hidden, FileChanges::Times, true)?;
    in_child(move || veil.enforce().is_ok() && UnixStream::connect_addr(&socket).is_ok())
}

fn with_terminals(hidden: &Hidden) -> Hidden {
    let mut hidden = hidden.clone();
    hidden.folders.push(PathBuf::from(TERMINALS));
    hidden.folders.extend(find_consoles());
    hidden
}

/// Builds the Landlock rules. All folders may be listed, because a folder above a hidden folder
/// could not be listed otherwise.
fn ruleset(hidden: &Hidden) -> Result<RulesetCreated, RulesetError> {
    let all = AccessFs::from_all(RIGHTS) & !AccessFs::ReadDir;
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .scope(Scope::from_all(RIGHTS))?
        .create()?;
    for (place, access) in list_allowed_places(hidden) {
        // The place was removed after it was listed, or this user cannot open the place. It need
        // not be allowed then.
        let Ok(opened) = PathFd::new(&place) else { continue };
        let rights = match access {
            FileAccess::Full => all,
            FileAccess::Read => all & AccessFs::from_read(RIGHTS),
        };
        let rights = if place.is_dir() { rights } else { rights & AccessFs::from_file(RIGHTS) };
        rules = rules.add_rule(PathBeneath::new(opened, rights))?;
    }
    Ok(rules)
}

fn landlock_works() -> bool {
    // SAFETY: the call only asks for the version, with no pointer, no size, and the flag of the
    // kernel's interface.
    unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            1_u32,
        ) > 0
    }
}

/// How a program may access the files of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileAccess {
    Full,
    /// The program may read and execute files.
    Read,
}

/// Returns the places to allow: few places, as high up as possible. Links are omitted, because
/// their targets are allowed or hidden at their own paths.
fn list_allowed_places(hidden: &Hidden) -> Vec<(PathBuf, FileAccess)> {
    let real = |paths: &[PathBuf]| -> Vec<PathBuf> {
        paths.iter().map(|path| resolve_links(path)).collect()
    };
    let links = hidden.folders.iter().chain(&hidden.read_only).flat_map(|path| links_to(path));
    // A rule for a place that the user cannot change anyway is omitted, because it would only
    // prevent the program from creating files in the folders above.
    let mut read_only = real(&hidden.read_only);
    read_only.retain(|path| !is_on_read_only_file_system(path));
    read_only.extend(links);
    read_only.retain(|path| !belongs_to_others(path));
    let real = Hidden {
        folders: real(&hidden.folders),
        but: real(&hidden.but),
        read_only,
        ..Hidden::default()
    };
    let mut found = Vec::new();
    walk(Path::new("/"), &real, &mut found);
    found
}

fn is_on_read_only_file_system(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: the path is live and ends with a zero, and the call only writes to the structure.
    unsafe {
        let mut about: libc::statvfs = std::mem::zeroed();
        libc::statvfs(path.as_ptr(), &raw mut about) == 0 && about.f_flag & libc::ST_RDONLY != 0
    }
}

/// Whether the user can neither change a file or link nor replace it.
fn belongs_to_others(path: &Path) -> bool {
    let is_single = fs::symlink_metadata(path).is_ok_and(|about| !about.is_dir());
    is_single && !user_may_change(path)
}

/// Whether the user can change a place, or a folder above the place and so replace the place.
pub fn user_may_change(place: &Path) -> bool {
    place.ancestors().any(may_change)
}

fn may_change(place: &Path) -> bool {
    let Ok(text) = CString::new(place.as_os_str().as_bytes()) else { return true };
    // SAFETY: the call takes no arguments, changes nothing and cannot fail.
    let user = unsafe { libc::geteuid() };
    let owns = fs::symlink_metadata(place).is_ok_and(|about| about.uid() == user);
    // SAFETY: the path is live and ends with a zero.
    owns || unsafe { libc::access(text.as_ptr(), libc::W_OK) } == 0
}

fn walk(place: &Path, hidden: &Hidden, found: &mut Vec<(PathBuf, FileAccess)>) {
    // The innermost folder around a place decides.
    let innermost = |folders: &[PathBuf]| {
        let outer = folders.iter().filter(|folder| place.starts_with(folder));
        outer.map(|folder| folder.as_os_str().len()).max()
    };
    let above = |folders: &[PathBuf]| {
        folders.iter().any(|folder| folder != place && folder.starts_with(place))
    };
    let (own, fixed) = (innermost(&hidden.but), innermost(&hidden.read_only));
    let concealed = innermost(&hidden.folders);
    let access =
        (concealed.is_none() || own > concealed).then_some(if fixed.is_some() && fixed >= own {
            FileAccess::Read
        } else {
            FileAccess::Full
        });
    let is_divided = match access {
        Some(FileAccess::Full) => above(&hidden.folders) || above(&hidden.read_only),
        Some(FileAccess::Read) => above(&hidden.folders) || above(&hidden.but),
        None => above(&hidden.but),
    };
    if is_divided {
        entries(place, hidden).iter().for_each(|entry| walk(entry, hidden, found));
    } else if let Some(access) = access {
        found.push((place.to_owned(), access));
    }
}

/// Returns the entries of a folder. If the folder cannot be listed, returns only the entries on the
/// paths to known places.
fn entries(place: &Path, hidden: &Hidden) -> Vec<PathBuf> {
    let plain = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| !kind.is_symlink());
    match fs::read_dir(place) {
        Ok(entries) => entries.flatten().filter(plain).map(|entry| entry.path()).collect(),
        Err(_) => {
            let special = hidden.folders.iter().chain(&hidden.but).chain(&hidden.read_only);
            let known = special
                .filter_map(|path| Some(place.join(path.strip_prefix(place).ok()?.iter().next()?)));
            let plain = known.filter(|path: &PathBuf| !path.is_symlink());
            plain.collect::<BTreeSet<_>>().into_iter().collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_of_a_hidden_folder_are_allowed_but_not_the_folder_itself() {
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
        let places: Vec<PathBuf> =
            list_allowed_places(&hidden).into_iter().map(|(path, _)| path).collect();
        let below: Vec<PathBuf> = places
            .iter()
            .filter_map(|path| path.strip_prefix(&root).ok().map(Path::to_owned))
            .collect();
        let mut below: Vec<String> =
            below.into_iter().map(|path| path.display().to_string()).collect();
        below.sort();
        assert_eq!(below, ["docs", "note", "share/app/packs/one", "share/other"]);
        assert!(places.contains(&PathBuf::from("/usr")));
    }

    #[test]
    fn a_named_folder_with_hidden_parts_is_opened_through_the_guard() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for folder in ["home/app", "home/bin", "home/docs", "home/notes"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let hidden = |open: &[&str]| Hidden {
            folders: vec![root.join("home/app")],
            read_only: vec![root.join("home/bin")],
            but: open.iter().map(|path| root.join(path)).collect(),
            open: open.iter().map(|path| root.join(path)).collect(),
            ..Hidden::default()
        };
        let open = open_folders(&hidden(&["home", "home/docs", "home/app"])).unwrap();
        assert_eq!(open.folders, [root.join("home")]);
        let mut allowed = open.allowed.iter().map(AllowedPlace::path);
        assert!(allowed.any(|place| place == root.join("home/notes")), "{:?}", open.allowed);
        assert!(open.closed.contains(&root.join("home/app")), "{:?}", open.closed);
        assert!(open.closed.contains(&root.join("home/bin")), "{:?}", open.closed);
        for needs_none in [&["home/docs"][..], &[]] {
            assert_eq!(open_folders(&hidden(needs_none)), None, "{needs_none:?}");
        }
    }

    /// A pack is in the hidden data folder, another pack is elsewhere, and the server has its own
    /// folder.
    #[test]
    fn the_innermost_listed_folder_decides_whether_a_path_is_writable() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for folder in ["app/tools/one", "app/tools/two", "app/packs/one", "packs/three", "docs"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let hidden = Hidden {
            folders: vec![root.join("app")],
            but: vec![root.join("app/tools/one"), root.join("app/packs/one")],
            read_only: ["app/tools", "app/tools/one", "packs"].map(|path| root.join(path)).into(),
            ..Hidden::default()
        };
        let found = list_allowed_places(&hidden);
        let of = |path: &str| {
            let path = root.join(path);
            found.iter().find(|(place, _)| path.starts_with(place)).map(|(_, access)| *access)
        };
        assert_eq!(of("app/tools/one/pack.json"), Some(FileAccess::Read));
        assert_eq!(of("app/packs/one/data"), Some(FileAccess::Full));
        assert_eq!(of("packs/three/pack.json"), Some(FileAccess::Read));
        assert_eq!(of("docs/note"), Some(FileAccess::Full));
        assert_eq!((of("app/tools/two/pack.json"), of("app/settings")), (None, None));
    }

    #[test]
    fn a_link_on_the_path_to_a_read_only_file_cannot_be_replaced() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for folder in ["bin", "v1", "beside"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("v1/tool"), "").unwrap();
        std::os::unix::fs::symlink("v1", root.join("current")).unwrap();
        std::os::unix::fs::symlink("../current/tool", root.join("bin/tool")).unwrap();
        let tool = root.join("bin/tool");
        assert_eq!(links_to(&tool), [tool.clone(), root.join("current")]);
        let found = list_allowed_places(&Hidden { read_only: vec![tool], ..Hidden::default() });
        let below: Vec<_> = found
            .iter()
            .filter_map(|(place, access)| Some((place.strip_prefix(&root).ok()?, *access)))
            .collect();
        let expected = [("beside", FileAccess::Full), ("v1/tool", FileAccess::Read)];
        assert_eq!(below.len(), expected.len(), "{below:?}");
        assert!(
            expected.iter().all(|(place, access)| below.contains(&(Path::new(place), *access)))
        );
        assert!(!found.iter().any(|(place, _)| root.starts_with(place)));
    }

    #[test]
    fn no_file_can_be_created_at_the_missing_target_of_a_read_only_link() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("dotfiles/old")).unwrap();
        for (link, target) in
            [(".zshenv", "first"), ("first", "dotfiles/zshenv"), ("round", "round")]
        {
            std::os::unix::fs::symlink(target, root.join(link)).unwrap();
        }
        assert_eq!(resolve_links(&root.join(".zshenv")), root.join("dotfiles/zshenv"));
        assert_eq!(resolve_links(&root.join("round/x")), root.join("round/x"));
        let read_only = vec![root.join(".zshenv")];
        let found = list_allowed_places(&Hidden { read_only, ..Hidden::default() });
        let has = |path: &str| found.iter().any(|(place, _)| root.join(path).starts_with(place));
        assert!(has("dotfiles/old/new") && !has("dotfiles/zshenv"), "{found:?}");
    }

    #[test]
    fn terminals_are_not_allowed_if_they_cannot_be_covered_by_a_mount() {
        let found = list_allowed_places(&with_terminals(&Hidden::default()));
        let has = |path: &str| found.iter().any(|(place, _)| Path::new(path).starts_with(place));
        assert!(has("/dev/null") && has("/dev/shm/new") && has("/usr"));
        assert!(!has("/dev/pts/0") && !has("/dev/tty1") && !has("/dev/console"));
    }

    #[test]
    fn a_hidden_folder_inside_a_pack_stays_hidden() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("pack/data")).unwrap();
        fs::create_dir_all(root.join("pack/code")).unwrap();
        fs::write(root.join("pack/data/secret"), "").unwrap();
        let found = list_allowed_places(&Hidden {
            folders: vec![root.join("pack/data")],
            but: vec![root.join("pack")],
            ..Hidden::default()
        });
        let has = |path: &str| found.iter().any(|(place, _)| root.join(path).starts_with(place));
        assert!(has("pack/code"));
        assert!(!has("pack/data/secret"));
    }
}
