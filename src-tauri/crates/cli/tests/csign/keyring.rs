//! A session bus with an unlocked keyring, for test environments that need one.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::world::World;

const BUS: &str = "DBUS_SESSION_BUS_ADDRESS";

pub(crate) struct Keyring {
    address: String,
    children: Vec<Child>,
}

impl Keyring {
    pub(crate) fn start(world: &World) -> Self {
        let address = format!("unix:path={}", world.path("bus").display());
        let mut bus = world.bare("dbus-daemon");
        bus.args(["--session", "--nofork", "--nopidfile", "--address", &address]);
        let mut keyring = Self { children: vec![quiet(&mut bus)], address };
        wait("the session bus", || world.path("bus").exists());
        let mut daemon = keyring.command(world, "gnome-keyring-daemon");
        daemon.args(["--unlock", "--foreground", "--components=secrets"]).stdin(Stdio::piped());
        let mut daemon = quiet(&mut daemon);
        daemon.stdin.take().expect("piped").write_all(b"open sesame").expect("told");
        keyring.children.push(daemon);
        wait("the keyring", || {
            kit::desktop::keyring_is_there(keyring.command(world, kit::desktop::ON_BUS))
        });
        keyring
    }

    /// Returns a command that finds the keyring.
    pub(crate) fn command(&self, world: &World, program: &str) -> Command {
        let mut command = world.bare(program);
        command.env(BUS, &self.address);
        command
    }

    /// Returns a `csign` command that finds the keyring.
    pub(crate) fn csign(&self, world: &World, args: &[&str]) -> Command {
        let mut command = world.command(args);
        command.env(BUS, &self.address);
        command
    }

    /// Returns the attributes and the value of an item of this installation.
    pub(crate) fn item(
        &self,
        world: &World,
        installation: &str,
        name: &str,
    ) -> (BTreeMap<String, String>, String) {
        let found = self
            .command(world, "secret-tool")
            .args(["search", "username", name, "service", &format!("countersign/{installation}")])
            .output();
        let found = found.expect("secret-tool is needed: apt-get install libsecret-tools");
        let text = String::from_utf8_lossy(&found.stdout).into_owned()
            + &String::from_utf8_lossy(&found.stderr);
        let attributes: BTreeMap<String, String> = text
            .lines()
            .filter_map(|line| line.strip_prefix("attribute.")?.split_once(" = "))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        let value = text
            .lines()
            .find_map(|line| line.strip_prefix("secret = "))
            .expect("the item is there")
            .to_owned();
        (attributes, value)
    }

    /// Replaces the value of an item.
    pub(crate) fn replace(
        &self,
        world: &World,
        attributes: &BTreeMap<String, String>,
        value: &str,
    ) {
        let pairs: Vec<&str> = attributes
            .iter()
            .filter(|(key, _)| *key != "xdg:schema")
            .flat_map(|(key, value)| [key.as_str(), value.as_str()])
            .collect();
        self.command(world, "secret-tool").arg("clear").args(&pairs).status().expect("started");
        let mut store = self.command(world, "secret-tool");
        let mut store = store
            .args(["store", "--label=changed"])
            .args(&pairs)
            .stdin(Stdio::piped())
            .spawn()
            .expect("started");
        store.stdin.take().expect("piped").write_all(value.as_bytes()).expect("told");
        assert!(store.wait().expect("ended").success());
    }
}

impl Drop for Keyring {
    fn drop(&mut self) {
        for child in self.children.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn quiet(command: &mut Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
}

fn wait(what: &str, done: impl Fn() -> bool) {
    for _ in 0..1_000 {
        if done() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{what} does not come");
}
