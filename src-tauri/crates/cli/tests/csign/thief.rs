//! A real server of a pack tries to read the log's signing key from a real keyring over a real
//! session bus, as root and as an unprivileged user. Without the guard, the same program gets the
//! key, which shows that the attack works.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use serde_json::Value;

use crate::{
    keyring::Keyring,
    world::{World, text},
};

/// A world in which csign runs with the keyring as its user would run it, and in which the hostile
/// server is installed as one of the user's packs.
struct Scene {
    world: World,
    keyring: Keyring,
    thief: PathBuf,
    signing_key: String,
}

impl Scene {
    fn set(world: World) -> Self {
        let keyring = Keyring::start(&world);
        assert!(keyring.csign(&world, &["ask", "hello"]).status().unwrap().success());
        let installation =
            fs::read_to_string(world.data().join("installation")).unwrap().trim().to_owned();
        let signing_key = keyring.item(&world, &installation, "audit-signing-key").1;
        let pack = kit::packs::install("letters", &world.data());
        let path = |name: &str| world.path(name).display().to_string();
        let script = include_str!("thief.py")
            .replace("LOOT_FILE", &path("home/loot/found.json"))
            .replace("RUNTIME_DIR", &path("run"))
            .replace("WORLD_DIR", path("").trim_end_matches('/'))
            .replace("INSTALLATION", &installation);
        let thief = pack.join("server.py");
        fs::write(&thief, script).unwrap();
        fs::set_permissions(&thief, fs::Permissions::from_mode(0o755)).unwrap();
        // The folder is created here, because a server cannot create files directly in a home
        // folder, where hidden files are closed.
        fs::create_dir_all(world.path("home/loot")).unwrap();
        world.hand_over();
        Self { world, keyring, thief, signing_key }
    }

    /// Returns the data that the program gets as a server of a pack.
    fn run_guarded(&self) -> Value {
        let ran = self
            .keyring
            .csign(&self.world, &["tools", "call", "letter.terms", "--args", "{}"])
            .output()
            .unwrap();
        assert!(
            ran.status.success(),
            "{}{}",
            String::from_utf8_lossy(&ran.stdout),
            String::from_utf8_lossy(&ran.stderr)
        );
        serde_json::from_slice(&fs::read(self.world.path("home/loot/found.json")).unwrap()).unwrap()
    }

    fn run_unguarded(&self) -> Value {
        let ran = self
            .keyring
            .command(&self.world, self.thief.to_str().unwrap())
            .arg("unguarded")
            .output()
            .unwrap();
        serde_json::from_slice(&ran.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&ran.stderr)))
    }
}

fn no_key_is_stolen(world: World) {
    let scene = Scene::set(world);
    let outside = scene.run_unguarded();
    assert!(
        outside["keys"].to_string().contains(&scene.signing_key),
        "the attack works outside the guard: {outside}"
    );
    assert_ne!(outside["keyring files"].as_array().map(Vec::len), Some(0), "{outside}");
    let inside = scene.run_guarded();
    assert!(
        !inside["seen"].as_array().unwrap().is_empty(),
        "it knows where the sockets are: {inside}"
    );
    for found in ["connected", "keys", "bus variables", "keyring files"] {
        assert_eq!(inside[found].as_array().map(Vec::len), Some(0), "{found}: {inside}");
    }
    // doctor has tried this, too.
    let told =
        Keyring::csign(&scene.keyring, &scene.world, &["--json", "doctor"]).output().unwrap();
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    let check = told["checks"]
        .as_array()
        .unwrap()
        .iter()
        .find(|check| check["name"] == "server isolation")
        .expect("the check")
        .clone();
    assert_eq!(
        (text(&check, "state"), text(&check, "message").contains("neither the session bus")),
        ("ok", true),
        "{check}"
    );
}

#[test]
fn a_server_cannot_read_the_signing_key_from_the_keyring() {
    no_key_is_stolen(World::new());
}

#[test]
fn a_server_of_an_unprivileged_user_cannot_read_the_signing_key() {
    // SAFETY: the call takes no arguments, changes nothing and cannot fail.
    if unsafe { libc::geteuid() } == 0 {
        no_key_is_stolen(World::of_user(65534));
    }
}

#[test]
fn doctor_reports_which_sockets_servers_can_still_reach() {
    let world = World::new();
    // A bus over TCP cannot be hidden from a single program.
    let ran = crate::world::Ran::of(
        world
            .command(&["doctor"])
            .env("DBUS_SESSION_BUS_ADDRESS", "tcp:host=localhost,port=1")
            .output()
            .unwrap(),
    );
    assert!(
        ran.out.contains("server isolation") && ran.out.contains("tcp:host=localhost,port=1"),
        "{}",
        ran.out
    );
}
