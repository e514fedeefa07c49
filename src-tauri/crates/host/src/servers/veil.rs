//! Lists the files that a server's program can neither see nor change: the profiles of this user,
//! on disk and in memory, the packs, the programs of added servers of all profiles, the search
//! path, code that is found above the folder in which a program runs, and settings of other
//! programs, which are the hidden places in the home folder and the targets of links in them. The
//! list is made at each start of the program, because new places may exist.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use mcp::{Hidden, Hides};

use super::{search_path, session_sockets::SessionSockets};
use crate::{
    log::find_profiles,
    profile::{Paths, effective_user, find_memory_folders, list_memory_places},
};

/// The maximum depth below a folder of settings up to which links are followed.
const LEVELS_OF_LINKS: usize = 2;

/// Variables that contain folders of settings outside of the hidden places in the home folder. The
/// data folder contains services of the session bus, units and launchers, which name programs to
/// start.
const FOLDERS_OF_SETTINGS: [&str; 2] = ["XDG_CONFIG_HOME", "XDG_DATA_HOME"];

/// Files and folders that npx, uv and other programs search in each folder above their working
/// folder. The programs start code that is named there instead of code that they downloaded.
const FOUND_ABOVE: [&str; 8] = [
    "bunfig.toml",
    "deno.json",
    "deno.jsonc",
    "node_modules",
    "package.json",
    "pnpm-workspace.yaml",
    "pyproject.toml",
    "uv.toml",
];

/// Finds the programs of the added servers of a profile, except for the server of this name.
pub(crate) type FindPrograms = fn(&Paths, Option<&str>) -> Vec<PathBuf>;

/// The restrictions of one server's program.
#[derive(Debug)]
pub(crate) struct ServerVeil {
    pub(crate) paths: Paths,
    /// Folders that no server can change.
    pub(crate) read_only: Vec<PathBuf>,
    pub(crate) find_programs: FindPrograms,
    /// The folder of the server's pack, which the server cannot change.
    pub(crate) pack: Option<PathBuf>,
    /// The server's data folder.
    pub(crate) own: Option<PathBuf>,
    /// The server's program, which stays reachable.
    pub(crate) program: Option<PathBuf>,
    /// The server's name, if it is an added server.
    pub(crate) added: Option<String>,
    /// The folders that the server's own command names.
    pub(crate) named: Vec<PathBuf>,
    /// The variables that the server gets in addition to the usual variables.
    pub(crate) given: Vec<String>,
}

impl Hides for ServerVeil {
    fn hidden(&self) -> Hidden {
        let own = [self.paths.data.clone(), self.paths.state.clone(), Paths::web_view()];
        let profiles = find_profiles(&self.paths);
        let mut hidden = Hidden {
            folders: own.into_iter().chain(profiles.iter().cloned()).collect(),
            but: self.pack.iter().chain(&self.own).cloned().collect(),
            read_only: self.read_only.iter().chain(&self.pack).cloned().collect(),
            ..Hidden::default()
        };
        let needed: Vec<PathBuf> = hidden.but.iter().chain(&self.program).cloned().collect();
        let sockets = SessionSockets::from_environment();
        sockets.hide_sockets(&mut hidden, &needed);
        sockets.hide_displays_and_agent(&mut hidden, &self.given);
        // These folders are covered by mounts, because a Landlock rule would prevent the program
        // from creating files beside them.
        let mut in_memory = find_memory_folders(&list_memory_places(), effective_user());
        let needed = || needed.iter().chain(&self.named);
        in_memory.retain(|folder| !needed().any(|path| path.starts_with(folder)));
        hidden.covered.append(&mut in_memory);
        self.protect_programs(&mut hidden, profiles);
        hidden
    }
}

impl ServerVeil {
    /// Makes read-only what other added servers are started from, and the folders in which programs
    /// are searched. A folder that this server's own command names stays unchanged.
    fn protect_programs(&self, hidden: &mut Hidden, profiles: Vec<PathBuf>) {
        let real = |path: &PathBuf| path.canonicalize().ok();
        let closed: Vec<PathBuf> =
            hidden.folders.iter().chain(&hidden.read_only).filter_map(real).collect();
        let is_open = |place: &PathBuf| !closed.iter().any(|folder| place.starts_with(folder));
        let named: Vec<PathBuf> = self.named.iter().filter_map(real).filter(is_open).collect();
        let above = find_code_above(&self.paths.data, &profiles);
        let programs = self.find_other_programs(profiles);
        let places = programs.into_iter().chain(search_path::find_changeable_places()).chain(above);
        let is_named = |place: &PathBuf| real(place).is_some_and(|place| named.contains(&place));
        hidden.read_only.extend(places.filter(|place| !is_named(place)));
        if let Some(home) = std::env::home_dir().and_then(|home| home.canonicalize().ok()) {
            let settings = find_settings(&home, &FOLDERS_OF_SETTINGS.map(std::env::var_os));
            hidden.read_only.extend(settings.into_iter().filter(|place| !is_named(place)));
            // Shells search programs in this folder as soon as it exists.
            let bin = home.join("bin");
            if named.iter().any(|place| bin.starts_with(place)) && !named.contains(&bin) {
                hidden.read_only.push(bin);
            }
        }
        hidden.open.clone_from(&named);
        hidden.but.extend(named);
    }

    /// Returns the programs of all added servers of this profile and other profiles, except for
    /// this server's own program.
    fn find_other_programs(&self, profiles: Vec<PathBuf>) -> Vec<PathBuf> {
        let real = |folder: &PathBuf| folder.canonicalize().unwrap_or_else(|_| folder.clone());
        let own = real(&self.paths.data);
        let others = profiles.into_iter().filter(|folder| real(folder) != own);
        let of =
            |data| (self.find_programs)(&Paths { data, state: self.paths.state.clone() }, None);
        let found = (self.find_programs)(&self.paths, self.added.as_deref());
        found.into_iter().chain(others.flat_map(of)).collect()
    }
}

/// Returns the places above the data folders of servers and above the home folder where programs
/// find code. Places that do not exist cannot be created then.
fn find_code_above(data: &Path, profiles: &[PathBuf]) -> Vec<PathBuf> {
    let own = profiles.iter().map(PathBuf::as_path).chain([data]);
    let above = own.flat_map(|folder| folder.ancestors().skip(1).map(Path::to_owned));
    let folders: BTreeSet<PathBuf> = above.chain(std::env::home_dir()).collect();
    let open = folders.into_iter().filter(|folder| mcp::user_may_change(folder));
    let found = open.flat_map(|folder| FOUND_ABOVE.map(|name| folder.join(name)));
    found.filter(|place| search_path::can_be_closed(place)).collect()
}

/// Returns the settings of other programs, many of which name programs to start. A program that
/// could change them would start others without restrictions. These settings are the hidden places
/// in the home folder, the folders of settings outside of them, and the targets in the home folder
/// of links in both.
fn find_settings(home: &Path, elsewhere: &[Option<OsString>]) -> Vec<PathBuf> {
    let is_hidden = |entry: &fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(b".");
    let elsewhere = elsewhere.iter().flatten().map(PathBuf::from);
    let elsewhere: Vec<PathBuf> = elsewhere.filter(|folder| folder.is_absolute()).collect();
    // Places that do not exist yet are listed, too: a server can then create nothing in the folder
    // of such a place, so it cannot add further settings.
    let mut found: Vec<PathBuf> =
        elsewhere.iter().cloned().chain([home.join(".profile")]).collect();
    found.extend(entries(home).filter(is_hidden).map(|entry| entry.path()));
    let mut links = Vec::new();
    let folders = [".config", ".local", ".local/share"].map(|name| home.join(name));
    for folder in folders.iter().chain(&elsewhere) {
        find_links(folder, LEVELS_OF_LINKS, &mut links);
    }
    links.retain(|link| is_plain(home, &mcp::resolve_links(link)));
    found.append(&mut links);
    found.retain(|place| {
        let place = mcp::resolve_links(place);
        !home.starts_with(&place) && search_path::can_be_closed(&place)
    });
    found.sort();
    found.dedup();
    found
}

fn find_links(folder: &Path, levels: usize, found: &mut Vec<PathBuf>) {
    for entry in entries(folder) {
        match entry.file_type() {
            Ok(kind) if kind.is_symlink() => found.push(entry.path()),
            Ok(kind) if kind.is_dir() && levels > 1 => find_links(&entry.path(), levels - 1, found),
            _ => {}
        }
    }
}

/// Whether a place is in the home folder, but not in a hidden place.
fn is_plain(home: &Path, place: &Path) -> bool {
    let below = place.strip_prefix(home).ok().and_then(|below| below.iter().next());
    below.is_some_and(|first| !first.as_encoded_bytes().starts_with(b"."))
}

fn entries(folder: &Path) -> impl Iterator<Item = fs::DirEntry> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn veil(data: PathBuf, find_programs: FindPrograms) -> ServerVeil {
        ServerVeil {
            paths: Paths::new(Some(data)),
            read_only: Vec::new(),
            find_programs,
            pack: None,
            own: None,
            program: None,
            added: Some("one".into()),
            named: Vec::new(),
            given: Vec::new(),
        }
    }

    #[test]
    fn the_default_profile_is_hidden_from_servers_of_other_profiles() {
        let folder = tempfile::tempdir().unwrap();
        let veil = veil(folder.path().join("data"), |_, _| Vec::new());
        assert!(veil.hidden().folders.contains(&Paths::new(None).data));
    }

    #[test]
    fn programs_of_servers_of_every_profile_are_read_only() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let found = veil(data.clone(), |paths, but| vec![paths.data.join(but.unwrap_or("all"))]);
        let read_only = found.hidden().read_only;
        assert!(read_only.contains(&data.join("one")), "{read_only:?}");
        assert!(read_only.contains(&Paths::new(None).data.join("all")), "{read_only:?}");
    }

    #[test]
    fn code_above_the_data_folders_of_servers_is_read_only() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (data, other) = (root.join("one/data"), root.join("two/data"));
        let found = find_code_above(&data, std::slice::from_ref(&other));
        for place in ["node_modules", "one/node_modules", "one/package.json", "two/uv.toml"] {
            assert!(found.contains(&root.join(place)), "{place}: {found:?}");
        }
        let home = std::env::home_dir().unwrap();
        assert!(found.contains(&home.join("node_modules")), "{found:?}");
        assert!(!found.iter().any(|place| place.starts_with(&data)), "{found:?}");
        let temporary = std::env::temp_dir().join("node_modules");
        assert!(!found.contains(&temporary), "what lies directly there stays open");
    }

    #[test]
    fn targets_of_links_among_the_settings_are_read_only() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let home = root.join("home");
        for folder in [".config/app", ".config/deep/er", ".local/share/applications", "dotfiles"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        for folder in ["settings", "data/dbus-1/services"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let link = |place: &str, target: &str| {
            std::os::unix::fs::symlink(target, home.join(place)).unwrap();
        };
        link(".config/fish", "../dotfiles");
        link(".config/app/start", "../../start.sh");
        link(".local/share/applications/tool.desktop", "../../../missing.desktop");
        link("../settings/git", "../home/git");
        link(".zshenv", "dotfiles/zshenv");
        // These links lead to places that are already protected, are too deep, or contain
        // everything.
        link(".config/app/lock", "computer-7");
        link(".config/app/system", "/usr");
        link(".config/home", "../");
        link(".all", ".");
        link(".config/deep/er/note", "../../../note");
        let elsewhere = [root.join("settings"), root.join("data")];
        let named = elsewhere.clone().map(|folder| Some(folder.into()));
        let found = find_settings(&home, &named);
        let mut places: Vec<PathBuf> =
            found.iter().map(|place| mcp::resolve_links(place)).collect();
        places.sort();
        let mut expected = elsewhere.to_vec();
        expected.extend(
            [".config", ".local", ".profile", "dotfiles", "dotfiles/zshenv", "git"]
                .map(|name| home.join(name)),
        );
        expected.extend(["missing.desktop", "start.sh"].map(|name| home.join(name)));
        expected.sort();
        assert_eq!(places, expected);
    }
}
