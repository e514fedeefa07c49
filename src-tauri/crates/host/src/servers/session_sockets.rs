//! Finds the sockets and folders of the desktop session through which a program of the same user
//! could reach keys, session services or Countersign itself. Decides which of these places are
//! hidden from a server's program and, for `csign doctor`, tests which places the program can still
//! reach. The MCP client hides the places.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fmt, fs, io,
    os::{
        linux::net::SocketAddrExt as _,
        unix::{
            ffi::OsStringExt as _,
            net::{SocketAddr, UnixStream},
        },
    },
    path::{Path, PathBuf},
};

use mcp::Hidden;
use percent_encoding::percent_decode_str;

use crate::profile::effective_user;

const BUS: &str = "DBUS_SESSION_BUS_ADDRESS";

/// The system folder that contains the users' runtime folders.
const RUNTIME_FOLDERS: &str = "/run/user";

/// The folder with the sockets of X Window System displays. A program that can connect to a display
/// can send input to each window on it, including the approval window.
const DISPLAYS: &str = "/tmp/.X11-unix";

/// Entries of the runtime folder that give access to keys, to other services' programs, or to
/// Countersign.
const IN_RUNTIME: [&str; 7] =
    ["bus", "countersign", "gcr", "gnupg", "keyring", "podman", "systemd"];

/// The sockets of a desktop session, according to the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SessionSockets {
    /// The runtime folders, whose sockets belong only to this user.
    runtime: Vec<PathBuf>,
    /// The folder of Countersign's socket if there is no runtime folder, and the folder of the
    /// keyring's socket if it is elsewhere.
    folders: Vec<PathBuf>,
    buses: Vec<Bus>,
    /// The folders with the keyring's files.
    keyrings: Vec<PathBuf>,
    /// The socket of the agent with the user's SSH keys.
    agent: Option<PathBuf>,
    /// The folder with the displays' sockets.
    displays: PathBuf,
}

/// An address of a session bus.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Bus {
    Path(PathBuf),
    Abstract(Vec<u8>),
    /// A transport that cannot be hidden from a single program, such as TCP.
    Other(String),
}

impl SessionSockets {
    /// Returns the sockets of this process's session.
    pub(crate) fn from_environment() -> Self {
        Self::find_sockets(|name| std::env::var_os(name), effective_user())
    }

    fn find_sockets(variable: impl Fn(&str) -> Option<OsString>, user: u32) -> Self {
        let folder =
            |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let usual = Path::new(RUNTIME_FOLDERS).join(user.to_string());
        let runtime: Vec<PathBuf> = folder("XDG_RUNTIME_DIR")
            .filter(|path| *path != usual)
            .into_iter()
            .chain([usual])
            .collect();
        let share = folder("XDG_DATA_HOME")
            .or_else(|| folder("HOME").map(|home| home.join(".local/share")));
        let bus = variable(BUS)
            .map(|address| parse_buses(&address.to_string_lossy(), runtime.first()))
            .unwrap_or_default();
        let folders = folder("GNOME_KEYRING_CONTROL")
            .into_iter()
            .chain([std::env::temp_dir().join(format!("countersign-{user}"))])
            .collect();
        Self {
            runtime,
            folders,
            buses: bus,
            agent: folder("SSH_AUTH_SOCK"),
            displays: DISPLAYS.into(),
            keyrings: share
                .map(|share| vec![share.join("keyrings"), share.join("kwalletd")])
                .unwrap_or_default(),
        }
    }

    /// Adds the session's sockets to the hidden places of a server. Places that the server needs
    /// stay reachable: if a runtime folder contains such a place, only parts of the folder are
    /// hidden.
    pub(crate) fn hide_sockets(&self, hidden: &mut Hidden, needed: &[PathBuf]) {
        let usual =
            std::env::var_os("HOME").map(PathBuf::from).into_iter().chain([std::env::temp_dir()]);
        let needed: Vec<PathBuf> = needed
            .iter()
            .cloned()
            .chain(usual)
            .map(|path| path.canonicalize().unwrap_or(path))
            .collect();
        let is_needed = |folder: &Path| needed.iter().any(|path| path.starts_with(folder));
        for folder in &self.runtime {
            // The runtime folder is created when the user logs in, perhaps while the server runs. A
            // missing folder cannot be covered, so its parent folder is hidden.
            let runtime = Path::new(RUNTIME_FOLDERS);
            if folder.starts_with(runtime) && !folder.exists() && !is_needed(runtime) {
                hidden.covered.push(runtime.to_owned());
            }
            let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            if is_needed(&real) {
                hidden.covered.extend(IN_RUNTIME.iter().map(|name| folder.join(name)));
            } else {
                hidden.covered.push(folder.clone());
                hidden.folders.push(folder.clone());
            }
        }
        hidden.covered.extend(self.folders.iter().cloned());
        hidden.covered.extend(
            self.buses.iter().filter_map(|bus| {
                if let Bus::Path(path) = bus { Some(path.clone()) } else { None }
            }),
        );
        hidden.folders.extend(self.keyrings.iter().cloned());
    }

    /// Adds the current displays and the SSH agent to the hidden places of a server, except for
    /// those that a variable of the server refers to.
    pub(crate) fn hide_displays_and_agent(&self, hidden: &mut Hidden, given: &[String]) {
        let is_given = |name: &str| given.iter().any(|variable| variable == name);
        if !is_given("DISPLAY") {
            let displays = fs::read_dir(&self.displays).into_iter().flatten().flatten();
            hidden.covered.extend(displays.map(|display| display.path()));
        }
        if !is_given("SSH_AUTH_SOCK") {
            hidden.covered.extend(self.agent.clone());
        }
    }

    /// Returns the sockets that both this process and a server can reach. `own` is the app's own
    /// socket.
    pub(crate) fn find_reachable(
        &self,
        hidden: &Hidden,
        own: Option<PathBuf>,
    ) -> io::Result<Vec<String>> {
        let in_runtime = |folder: &PathBuf| {
            ["bus", "keyring/control", "systemd/private"].map(|name| Bus::Path(folder.join(name)))
        };
        let others = self.runtime.iter().flat_map(in_runtime).chain(own.map(Bus::Path));
        let mut found = BTreeSet::new();
        for socket in self.buses.iter().cloned().chain(others) {
            let open = match socket.address() {
                Some(address) => {
                    UnixStream::connect_addr(&address).is_ok() && mcp::reaches(hidden, address)?
                }
                None => matches!(socket, Bus::Other(_)),
            };
            if open {
                found.insert(socket.to_string());
            }
        }
        Ok(found.into_iter().collect())
    }
}

impl Bus {
    /// Returns the socket's address. Returns None if this is not a Unix socket or the name is too
    /// long.
    fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Path(path) => SocketAddr::from_pathname(path).ok(),
            Self::Abstract(name) => SocketAddr::from_abstract_name(name).ok(),
            Self::Other(_) => None,
        }
    }
}

impl fmt::Display for Bus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => write!(f, "{}", path.display()),
            Self::Abstract(name) => write!(f, "@{}", String::from_utf8_lossy(name)),
            Self::Other(address) => f.write_str(address),
        }
    }
}

/// Parses an address of the D-Bus specification: alternatives separated by semicolons, with percent
/// escapes.
fn parse_buses(address: &str, runtime: Option<&PathBuf>) -> Vec<Bus> {
    let one = |alternative: &str| {
        let Some(pairs) = alternative.strip_prefix("unix:") else {
            return Some(Bus::Other(alternative.to_owned()));
        };
        pairs.split(',').find_map(|pair| {
            let (key, value) = pair.split_once('=')?;
            let value: Vec<u8> = percent_decode_str(value).collect();
            match key {
                "path" => Some(Bus::Path(PathBuf::from(OsString::from_vec(value)))),
                "abstract" => Some(Bus::Abstract(value)),
                "runtime" => Some(Bus::Path(runtime?.join("bus"))),
                _ => None,
            }
        })
    };
    address.split(';').filter(|alternative| !alternative.is_empty()).filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sockets_of(pairs: &[(&str, &str)]) -> SessionSockets {
        let variable = |name: &str| {
            pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        SessionSockets::find_sockets(variable, 7)
    }

    #[test]
    fn every_notation_of_a_session_bus_address_is_read() {
        let bus =
            |address: &str| sockets_of(&[(BUS, address), ("XDG_RUNTIME_DIR", "/run/mine")]).buses;
        assert_eq!(bus("unix:path=/run/user/7/bus"), [Bus::Path("/run/user/7/bus".into())]);
        assert_eq!(bus("unix:path=/tmp/a%20b%2Cc,guid=1f"), [Bus::Path("/tmp/a b,c".into())]);
        assert_eq!(
            bus("unix:guid=1f,abstract=/tmp/dbus-x"),
            [Bus::Abstract(b"/tmp/dbus-x".to_vec())]
        );
        assert_eq!(
            bus("tcp:host=localhost,port=1;unix:runtime=yes"),
            [Bus::Other("tcp:host=localhost,port=1".into()), Bus::Path("/run/mine/bus".into())]
        );
        assert_eq!(bus("autolaunch:"), [Bus::Other("autolaunch:".into())]);
        assert_eq!(bus(""), []);
    }

    #[test]
    fn displays_and_the_ssh_agent_are_hidden_unless_a_variable_refers_to_them() {
        let folder = tempfile::tempdir().unwrap();
        let display = folder.path().join("X0");
        fs::write(&display, "").unwrap();
        let agent = PathBuf::from("/tmp/ssh-x/agent.7");
        let mut sockets = sockets_of(&[("SSH_AUTH_SOCK", "/tmp/ssh-x/agent.7")]);
        sockets.displays = folder.path().into();
        let covered = |given: &[&str]| {
            let mut hidden = Hidden::default();
            let given: Vec<String> = given.iter().map(|name| (*name).to_owned()).collect();
            sockets.hide_displays_and_agent(&mut hidden, &given);
            hidden.covered
        };
        assert_eq!(covered(&["NOTES_TOKEN"]), [display, agent.clone()]);
        assert_eq!(covered(&["DISPLAY"]), [agent]);
        assert!(covered(&["DISPLAY", "SSH_AUTH_SOCK"]).is_empty());
    }

    /// A user without a session has no runtime folder yet.
    #[test]
    fn a_missing_runtime_folder_is_hidden_before_it_is_created() {
        let variable = |name: &str| (name == "HOME").then(|| OsString::from("/home/me"));
        let sockets = SessionSockets::find_sockets(variable, 4_000_000_001);
        let covered = |needed: &[PathBuf]| {
            let mut hidden = Hidden::default();
            sockets.hide_sockets(&mut hidden, needed);
            hidden.covered
        };
        let all = PathBuf::from(RUNTIME_FOLDERS);
        assert!(covered(&[]).contains(&all));
        assert!(!covered(&[all.join("7/pack")]).contains(&all), "a server lives there");
    }

    #[test]
    fn a_runtime_folder_is_hidden_entirely_unless_it_contains_the_server() {
        let root = tempfile::tempdir().unwrap();
        let runtime = root.path().join("run");
        std::fs::create_dir_all(runtime.join("pack")).unwrap();
        let doors = sockets_of(&[
            ("XDG_RUNTIME_DIR", runtime.to_str().unwrap()),
            ("HOME", "/home/me"),
            (BUS, "unix:path=/tmp/bus"),
        ]);
        let mut hidden = Hidden::default();
        doors.hide_sockets(&mut hidden, &[root.path().join("pack")]);
        assert!(hidden.folders.contains(&runtime) && hidden.covered.contains(&runtime));
        assert!(
            hidden.covered.contains(&PathBuf::from("/tmp/bus"))
                && hidden.covered.contains(&PathBuf::from("/run/user/7"))
        );
        assert!(hidden.folders.contains(&PathBuf::from("/home/me/.local/share/keyrings")));
        let mut hidden = Hidden::default();
        doors.hide_sockets(&mut hidden, &[runtime.join("pack")]);
        assert!(!hidden.folders.contains(&runtime) && !hidden.covered.contains(&runtime));
        assert!(
            hidden.covered.contains(&runtime.join("bus"))
                && hidden.covered.contains(&runtime.join("countersign"))
        );
    }
}
