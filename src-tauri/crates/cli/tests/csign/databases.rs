//! A database at the terminal: the password is typed unseen and kept in a real keyring only, another
//! driver is shown with path and hash before it is loaded, and a program connects nothing.

use std::fs;

use kit::postgres::{PASSWORD, Postgres};
use serde_json::json;

use crate::{
    keyring::Keyring,
    terminal::Terminal,
    world::{Ran, World, flat},
};

fn address(server: &Postgres) -> String {
    format!("postgresql://reader@127.0.0.1:{}/postgres?table=public.orders", server.port())
}

#[test]
fn a_typed_password_is_in_the_keyring_and_nowhere_else() {
    kit::programs::program("csign-data");
    let (world, server) = (World::new(), Postgres::with_orders());
    let keyring = Keyring::start(&world);
    let address = address(&server);
    let script = keyring.command(&world, "script");
    let mut terminal = Terminal::start_with(script, "", &world, &["data", "add", &address]);
    terminal.wait_for("(! stops): ");
    terminal.type_in(&format!("{PASSWORD}\n"));
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    assert!(seen.contains("The password for 127.0.0.1") && !seen.contains(PASSWORD), "{seen}");

    let csign = |args: &[&str]| Ran::of(keyring.csign(&world, args).output().unwrap());
    let query = r#"{"source": "orders", "measures": ["net"], "by": ["country"], "order": [{"by": "country"}]}"#;
    let result = csign(&["data", "measure", query, "--json"]).ends_with(0).json();
    assert_eq!(result["rows"][0], json!(["de", 49_750]));
    let listed = csign(&["data", "list", "--json"]).ends_with(0).json();
    assert_eq!(listed["sources"][0]["kind"]["table"], "public.orders");

    let installation = fs::read_to_string(world.data().join("installation")).unwrap();
    let name = format!("credential/data/orders@127.0.0.1:{}", server.port());
    assert_eq!(keyring.item(&world, installation.trim(), &name).1, PASSWORD);
    let found = std::process::Command::new("grep")
        .args(["--recursive", "--fixed-strings", "--files-with-matches", PASSWORD])
        .args(["data", "state", "share", "config", "home"].map(|folder| world.path(folder)))
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}

#[test]
fn another_driver_is_shown_with_its_hash_before_it_is_loaded() {
    kit::programs::program("csign-data");
    let (world, server) = (World::new(), Postgres::with_orders());
    let keyring = Keyring::start(&world);
    let library = world.path("libother.so");
    fs::copy(kit::programs::data_drivers().join("libadbc_driver_postgresql.so"), &library).unwrap();
    let path = library.canonicalize().unwrap().display().to_string();
    let address = address(&server);
    let option = format!("library={path}");
    let script = keyring.command(&world, "script");
    let args = ["data", "add", address.as_str(), "--answer", &option];
    let mut terminal = Terminal::start_with(script, "", &world, &args);
    terminal.wait_for("(! stops): ");
    terminal.type_in("!\n");
    let (seen, _) = terminal.end();
    let shown = flat(&seen).replace(' ', "");
    for part in ["does not come with Countersign", "SHA-256", "without your files", "reaches only"]
    {
        assert!(shown.contains(&part.replace(' ', "")), "{part}: {seen}");
    }
    assert!(shown.contains(&path.replace(' ', "")), "{seen}");
    assert!(!server.log().contains("user=reader"), "{}", server.log());
}

#[test]
fn a_program_connects_no_database() {
    let world = World::new();
    let ran = world.run(&["data", "add", "postgresql://reader@127.0.0.1:1/x?table=t", "--yes"]);
    assert!(ran.err.contains("Only a person may connect a database"), "{}", ran.err);
    for (place, words) in [
        ("sqlite:///tmp/shop.db", "csign data add /tmp/shop.db"),
        ("postgresql:///shop", "names no host"),
    ] {
        let ran = world.at_a_terminal(&["data", "add", &format!("'{place}'")]);
        assert!(flat(&ran.out).contains(words), "{place}: {}", ran.out);
    }
}
