//! A desktop for one test: display, session bus, unlocked keyring, window manager, notification
//! daemon, and apps that run in it. The desktop shares nothing with the session of this computer,
//! and ends with the test.

mod app;
mod process;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

pub use app::App;
pub use process::{Child, descendants, is_alive, program};

use crate::webdriver::wait;

/// The password of the desktop's own keyring.
const KEYRING_PASSWORD: &str = "journey";

/// A desktop. Its programs end in the reverse order of their start.
pub struct Desktop {
    children: Vec<Child>,
    display: String,
    folder: tempfile::TempDir,
}

impl Desktop {
    /// Starts everything and waits until it is ready.
    pub fn start() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("countersign-desktop")
            .tempdir()
            .expect("a temporary folder");
        for name in ["home", "run", "data", "logs"] {
            fs::create_dir_all(folder.path().join(name)).expect("a folder");
        }
        fs::set_permissions(folder.path().join("run"), fs::Permissions::from_mode(0o700))
            .expect("permissions");
        let (display, number) = process::start_display(&folder.path().join("logs"));
        let mut desktop = Self { children: vec![display], display: number, folder };
        desktop.start_bus();
        desktop.start_keyring();
        desktop.start_child("openbox", &["--sm-disable"]);
        desktop.start_child("dunst", &[]);
        desktop
    }

    /// Returns the folder of this desktop's files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the data folder of the app under test.
    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Returns the log of a program of this desktop, as far as it is written.
    pub fn log(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join("logs").join(name)).unwrap_or_default()
    }

    /// Returns a command that runs in this desktop, without the surrounding session.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).envs(self.variables()).stdin(Stdio::null());
        command
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        let of = |name: &str| self.folder.path().join(name).to_string_lossy().into_owned();
        vec![
            ("HOME", of("home")),
            ("XDG_RUNTIME_DIR", of("run")),
            ("XDG_DATA_HOME", of("home/.local/share")),
            ("XDG_CONFIG_HOME", of("home/.config")),
            ("XDG_CACHE_HOME", of("home/.cache")),
            ("XDG_STATE_HOME", of("home/.local/state")),
            ("XDG_SESSION_TYPE", "x11".into()),
            ("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", of("run/bus"))),
            ("DISPLAY", self.display.clone()),
            ("GDK_BACKEND", "x11".into()),
            ("LANG", "en_US.UTF-8".into()),
            ("TZ", "UTC".into()),
            ("NO_AT_BRIDGE", "1".into()),
            ("LIBGL_ALWAYS_SOFTWARE", "1".into()),
            ("RUST_BACKTRACE", "1".into()),
        ]
    }

    fn start_bus(&mut self) {
        let socket = self.folder.path().join("run/bus");
        let address = format!("--address=unix:path={}", socket.display());
        self.start_child("dbus-daemon", &["--session", "--nofork", "--nopidfile", &address]);
        wait("the session bus", || socket.exists().then_some(()));
    }

    fn start_keyring(&mut self) {
        let mut command = self.command("gnome-keyring-daemon");
        command.args(["--unlock", "--foreground", "--components=secrets"]);
        let keyring = Child::start_with_input(
            command,
            "gnome-keyring-daemon",
            &self.folder.path().join("logs"),
            KEYRING_PASSWORD,
        );
        self.children.push(keyring);
        wait("the keyring", || keyring_is_there(self.command(ON_BUS)).then_some(()));
    }

    /// Starts a program that runs until the desktop ends. The output of the program goes to its
    /// log.
    pub fn start_child(&mut self, program: &str, args: &[&str]) {
        let mut command = self.command(program);
        command.args(args);
        let child = Child::start(command, program, &self.folder.path().join("logs"));
        self.children.push(child);
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        while let Some(child) = self.children.pop() {
            drop(child);
        }
    }
}

/// The program that sends messages to a session bus.
pub const ON_BUS: &str = "dbus-send";

/// Whether a keyring is on the bus that `ask` uses. The keyring itself is not called: the bus would
/// start another keyring, which stays locked.
pub fn keyring_is_there(mut ask: Command) -> bool {
    ask.args([
        "--session",
        "--print-reply",
        "--dest=org.freedesktop.DBus",
        "/",
        "org.freedesktop.DBus.NameHasOwner",
        "string:org.freedesktop.secrets",
    ]);
    let answer = ask.stderr(Stdio::null()).output().expect("dbus-send");
    String::from_utf8_lossy(&answer.stdout).contains("boolean true")
}
