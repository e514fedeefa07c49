//! Tests with a real gnome-keyring in a private D-Bus session. Each test starts this program again
//! under `dbus-run-session` (the tests named `inside_...`), so that a plain `cargo test` needs no
//! session and changes nobody's keyring.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on is to fail there"
)]

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use contract::KeyringState;
use secrets::{ExposeSecret as _, Keyring, SecretString, SecretsError};
use zbus::zvariant::{OwnedObjectPath, OwnedValue, Value};

const PASSWORD: &str = "open sesame";

/// Runs one of the `inside_` tests with a new home folder and a new D-Bus session.
fn in_session(test: &str) {
    let home = tempfile::tempdir().unwrap();
    let runtime = home.path().join("run");
    std::fs::create_dir(&runtime).unwrap();
    let status = Command::new("dbus-run-session")
        .arg("--")
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env("HOME", home.path())
        .env("XDG_RUNTIME_DIR", &runtime)
        .env("XDG_DATA_HOME", home.path().join("data"))
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("GNOME_KEYRING_CONTROL")
        .status()
        .expect("dbus-run-session is needed: apt-get install dbus-daemon gnome-keyring");
    assert!(status.success(), "{test} failed");
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn secret(text: &str) -> SecretString {
    SecretString::from(text.to_owned())
}

/// A keyring daemon in the foreground, which ends with the test.
struct Daemon(Child);

impl Daemon {
    fn start(password: Option<&str>) -> Self {
        let mut command = Command::new("gnome-keyring-daemon");
        command
            .args(["--foreground", "--components=secrets"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if password.is_some() {
            command.arg("--unlock");
        }
        let mut child =
            command.spawn().expect("gnome-keyring-daemon is needed: apt-get install gnome-keyring");
        let mut input = child.stdin.take().unwrap();
        input.write_all(password.unwrap_or_default().as_bytes()).unwrap();
        drop(input);
        wait_for(true);
        Self(child)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
        wait_for(false);
    }
}

/// Waits until the keyring's name is on the bus, or until it is gone from the bus.
fn wait_for(present: bool) {
    let bus = zbus::blocking::Connection::session().unwrap();
    let proxy = zbus::blocking::fdo::DBusProxy::new(&bus).unwrap();
    for _ in 0..500 {
        if proxy.name_has_owner("org.freedesktop.secrets".try_into().unwrap()).unwrap() == present {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("the keyring did not come or go");
}

/// Unlocks the login collection of the running daemon, as a desktop login does.
fn unlock() {
    let bus = zbus::blocking::Connection::session().unwrap();
    let proxy = |interface: &'static str| {
        zbus::blocking::Proxy::new(
            &bus,
            "org.freedesktop.secrets",
            "/org/freedesktop/secrets",
            interface,
        )
        .unwrap()
    };
    let (_, session): (OwnedValue, OwnedObjectPath) = proxy("org.freedesktop.Secret.Service")
        .call("OpenSession", &("plain", Value::from("")))
        .unwrap();
    let login = OwnedObjectPath::try_from("/org/freedesktop/secrets/collection/login").unwrap();
    let master = (session, Vec::<u8>::new(), PASSWORD.as_bytes().to_vec(), "text/plain");
    let _: () = proxy("org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface")
        .call("UnlockWithMasterPassword", &(login, master))
        .unwrap();
}

#[test]
fn a_ready_keyring_stores_values() {
    in_session("inside_ready");
}

#[test]
#[ignore = "runs inside a private session"]
fn inside_ready() {
    let _daemon = Daemon::start(Some(PASSWORD));
    run(async {
        let keyring = Keyring::new("profile-a");
        assert_eq!(keyring.state().await, KeyringState::Ready);
        assert!(keyring.get("openai").await.unwrap().is_none());
        assert!(!keyring.delete("openai").await.unwrap());
        keyring.set("openai", secret("sk-å1")).await.unwrap();
        keyring.set("openai", secret("sk-2")).await.unwrap();
        keyring.set("audit-key", secret("k")).await.unwrap();
        assert_eq!(keyring.get("openai").await.unwrap().unwrap().expose_secret(), "sk-2");
        assert_eq!(keyring.set_names().await, ["audit-key", "openai"]);
        // Profiles cannot see each other's values; another handle of the same profile sees them
        // all.
        assert!(Keyring::new("profile-b").get("openai").await.unwrap().is_none());
        assert!(Keyring::new("profile-b").set_names().await.is_empty());
        assert_eq!(
            Keyring::new("profile-a").get("openai").await.unwrap().unwrap().expose_secret(),
            "sk-2"
        );
        // A value for this run hides the stored one until it is set or deleted.
        keyring.set_for_this_run("openai", secret("sk-run"));
        assert_eq!(keyring.get("openai").await.unwrap().unwrap().expose_secret(), "sk-run");
        keyring.set("openai", secret("sk-3")).await.unwrap();
        assert_eq!(keyring.get("openai").await.unwrap().unwrap().expose_secret(), "sk-3");
        assert!(keyring.delete("openai").await.unwrap());
        assert_eq!(keyring.set_names().await, ["audit-key"]);
    });
    // A value that was never used is noted after `read_all`; a value that `wants` rejects is not
    // read.
    run(async {
        Keyring::new("profile-a").set("credential/post/TOKEN", secret("t-1")).await.unwrap();
        let fresh = Keyring::new("profile-a");
        assert!(fresh.exposed().is_empty());
        let read = fresh.read_all(|name| name.starts_with("credential/")).await.unwrap();
        assert_eq!(
            read.iter()
                .map(|(name, value)| (name.as_str(), value.expose_secret()))
                .collect::<Vec<_>>(),
            [("credential/post/TOKEN", "t-1")]
        );
        assert_eq!(
            fresh.exposed().iter().map(|value| value.expose_secret()).collect::<Vec<_>>(),
            ["t-1"]
        );
        assert!(fresh.delete("credential/post/TOKEN").await.unwrap());
    });
    let blocking = Keyring::new("profile-a");
    blocking.set_blocking("mark", secret("12")).unwrap();
    assert_eq!(blocking.get_blocking("mark").unwrap().unwrap().expose_secret(), "12");
}

#[test]
fn a_locked_keyring_is_recognised_and_works_once_unlocked() {
    in_session("inside_locked");
}

#[test]
#[ignore = "runs inside a private session"]
fn inside_locked() {
    let keyring = Keyring::new("profile-a");
    run(async {
        let first = Daemon::start(Some(PASSWORD));
        keyring.set("openai", secret("sk-1")).await.unwrap();
        drop(first);
        // The same handle meets a keyring that is back but locked: calls do not hang, and the key
        // does not seem absent.
        let _second = Daemon::start(None);
        assert_eq!(keyring.state().await, KeyringState::Locked);
        assert_eq!(keyring.get("openai").await.unwrap_err(), SecretsError::Locked);
        assert_eq!(keyring.set("openai", secret("x")).await.unwrap_err(), SecretsError::Locked);
        assert_eq!(keyring.delete("openai").await.unwrap_err(), SecretsError::Locked);
        assert!(keyring.set_names().await.is_empty());
        assert!(SecretsError::Locked.hint().contains("Unlock"));
        keyring.set_for_this_run("openai", secret("sk-run"));
        assert_eq!(keyring.set_names().await, ["openai"]);
        assert!(keyring.delete("openai").await.unwrap());
        unlock();
        assert_eq!(keyring.state().await, KeyringState::Ready);
        assert_eq!(keyring.get("openai").await.unwrap().unwrap().expose_secret(), "sk-1");
        keyring.set("openai", secret("sk-2")).await.unwrap();
        assert_eq!(keyring.get("openai").await.unwrap().unwrap().expose_secret(), "sk-2");
    });
}

#[test]
fn without_a_session_bus_the_keyring_counts_as_missing() {
    let home = tempfile::tempdir().unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "inside_missing", "--ignored", "--nocapture"])
        .env("DBUS_SESSION_BUS_ADDRESS", bus_address(home.path()))
        .env("XDG_RUNTIME_DIR", home.path())
        .status()
        .unwrap();
    assert!(status.success());
}

fn bus_address(folder: &Path) -> String {
    format!("unix:path={}/no-bus", folder.display())
}

#[test]
#[ignore = "runs inside a private session"]
fn inside_missing() {
    run(async {
        let keyring = Keyring::new("profile-a");
        assert_eq!(keyring.state().await, KeyringState::Missing);
        assert_eq!(keyring.get("openai").await.unwrap_err(), SecretsError::Missing);
        assert_eq!(keyring.set("openai", secret("x")).await.unwrap_err(), SecretsError::Missing);
        keyring.set_for_this_run("openai", secret("sk-run"));
        assert_eq!(keyring.get("openai").await.unwrap().unwrap().expose_secret(), "sk-run");
        assert_eq!(keyring.set_names().await, ["openai"]);
        assert!(!format!("{keyring:?}").contains("sk-run"));
        let shown = contract::AgentError::from(SecretsError::Missing);
        assert!(shown.hint_text().unwrap().contains("this run only"));
    });
}

#[test]
fn a_keyring_that_starts_later_is_found() {
    in_session("inside_later");
}

#[test]
#[ignore = "runs inside a private session"]
fn inside_later() {
    let keyring = Keyring::new("profile-a");
    run(async {
        // The keyring is missing if the bus cannot start a keyring, or locked if the bus starts a
        // locked keyring.
        assert_ne!(keyring.state().await, KeyringState::Ready);
        let bus = zbus::blocking::Connection::session().unwrap();
        let proxy = zbus::blocking::fdo::DBusProxy::new(&bus).unwrap();
        if let Ok(pid) =
            proxy.get_connection_unix_process_id("org.freedesktop.secrets".try_into().unwrap())
        {
            Command::new("kill").arg(pid.to_string()).status().unwrap();
            wait_for(false);
        }
        let _daemon = Daemon::start(Some(PASSWORD));
        assert_eq!(keyring.state().await, KeyringState::Ready);
        keyring.set("openai", secret("sk-1")).await.unwrap();
        assert_eq!(keyring.get("openai").await.unwrap().unwrap().expose_secret(), "sk-1");
    });
}
