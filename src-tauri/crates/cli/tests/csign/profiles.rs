//! Tests of the data folder: only its user has access, whichever command creates the folder, and
//! csign handles a folder without packs and a folder with data of a newer version.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::terminal::Terminal;
use crate::world::{World, packs, program};

/// Runs `csign` in a shell whose new files are accessible to everybody.
fn run_with_loose_umask(world: &World, args: &[&str]) -> Output {
    let mut command = world.bare("sh");
    command
        .args(["-c", "umask 0; exec \"$@\"", "sh"])
        .arg(program())
        .arg("--data-dir")
        .arg(world.data())
        .args(args);
    command.output().expect("started")
}

/// Returns everything below a folder that other users can read, write or enter. Sockets have their
/// own rules.
fn open_to_others(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        if fs::metadata(&folder).expect("there").permissions().mode() & 0o077 != 0 {
            found.push(folder.clone());
        }
        for entry in fs::read_dir(&folder).expect("a folder").map(Result::unwrap) {
            let meta = entry.metadata().expect("there");
            if meta.is_dir() {
                folders.push(entry.path());
            } else if meta.is_file() && meta.permissions().mode() & 0o077 != 0 {
                found.push(entry.path());
            }
        }
    }
    found
}

#[test]
fn any_first_command_creates_a_data_folder_that_only_its_user_can_read() {
    let request = r#"{"contract_version": "1.0", "request_id": "r1", "input": "hello"}"#;
    let commands: [&[&str]; 12] = [
        &["packs", "new", "mine"],
        &["packs", "list"],
        &["ask", "What do you remember about account 17?"],
        &["run", "--request", "REQUEST"],
        &["tools", "call", "cart.get"],
        &["approvals", "list"],
        &["policy", "show"],
        &["audit", "list"],
        &["audit", "checkpoint"],
        &["service-level"],
        &["doctor"],
        // This command fails, and writes the reason to the log of `csign`.
        &["serve", "--listen", "192.0.2.1:1", "--allow-remote"],
    ];
    for args in commands {
        let world = World::new();
        let file = world.path("request.json");
        fs::write(&file, request).expect("written");
        let args: Vec<&str> = args
            .iter()
            .map(|arg| if *arg == "REQUEST" { file.to_str().expect("a name") } else { arg })
            .collect();
        let ran = run_with_loose_umask(&world, &args);
        assert!(world.data().is_dir(), "{args:?}: {}", String::from_utf8_lossy(&ran.stderr));
        // A new pack's script may be executable for everybody, because no other user can reach its
        // folder.
        let open: Vec<PathBuf> = open_to_others(&world.data())
            .into_iter()
            .filter(|path| !path.ends_with("greet.sh"))
            .collect();
        assert!(open.is_empty(), "{args:?}: {open:?}");
        assert_eq!(
            fs::metadata(world.data()).expect("there").permissions().mode() & 0o777,
            0o700,
            "{args:?}"
        );
        for folder in ["state", "run"] {
            let open: Vec<PathBuf> = open_to_others(&world.path(folder))
                .into_iter()
                .filter(|path| *path != world.path(folder))
                .collect();
            assert!(open.is_empty(), "{args:?}: {open:?}");
        }
    }
}

#[test]
fn an_export_of_the_log_can_be_read_only_by_its_user() {
    let world = World::new();
    world.run(&["ask", "hello"]).ends_with(0);
    let export = world.path("export");
    assert!(
        run_with_loose_umask(&world, &["audit", "export", export.to_str().expect("a name")])
            .status
            .success()
    );
    assert_eq!(open_to_others(&export), [] as [PathBuf; 0]);
}

#[test]
fn a_folder_open_to_others_is_made_private_once_it_contains_a_profile() {
    let world = World::new();
    let mode = || fs::metadata(world.data()).expect("there").permissions().mode() & 0o777;
    fs::create_dir(world.data()).expect("made");
    fs::set_permissions(world.data(), fs::Permissions::from_mode(0o755)).expect("set");
    let told = world.run(&["doctor"]).ends_with(0).out;
    assert!(
        mode() == 0o755 && told.contains("other users of this computer may enter it"),
        "{told}"
    );
    // The folder now contains a profile.
    let told = world.run(&["doctor"]).ends_with(0).out;
    assert!(mode() == 0o700 && told.contains("ok       data folder"), "{told}");
}

/// Runs copies of `csign` and the gateway without their packs.
fn run_copied(world: &World, args: &[&str]) -> (Option<i32>, String, String) {
    let bin = world.path("elsewhere/bin");
    fs::create_dir_all(&bin).expect("made");
    let csign = bin.join("csign");
    if !csign.exists() {
        fs::copy(program(), &csign).expect("copied");
        let gateway = kit::programs::program("countersign-gateway");
        fs::copy(gateway, bin.join("countersign-gateway")).expect("copied");
    }
    let mut command: Command = world.bare(&csign);
    let ran = command
        .arg("--data-dir")
        .arg(world.data())
        .args(args)
        .stdin(Stdio::null())
        .output()
        .expect("started");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (ran.status.code(), text(ran.stdout), text(ran.stderr))
}

#[test]
fn a_program_copied_without_packs_reports_the_folders_that_it_searched() {
    let world = World::new();
    let beside = world.path("elsewhere/bin/tools").display().to_string();
    let own = world.data().join("tools").display().to_string();
    let commands: [&[&str]; 7] = [
        &["ask", "What do you remember about account 17?"],
        &["--json", "ask", "hello"],
        &["tools", "list"],
        &["--json", "tools", "list"],
        &["packs", "list"],
        &["doctor"],
        &["--json", "doctor"],
    ];
    for args in commands {
        let (code, out, err) = run_copied(&world, args);
        let told = format!("{out}{err}");
        for part in ["No packs were found", &beside, &own, "COUNTERSIGN_TOOLS_DIR"] {
            assert!(
                code == Some(1) && told.contains(part),
                "{args:?} ended with {code:?}, and {part} is not in {told}"
            );
        }
        assert!(!told.contains("understand"), "{args:?}: {told}");
    }
    // Following the advice solves the problem.
    let listed = world
        .run_with("COUNTERSIGN_TOOLS_DIR", packs().to_str().expect("a name"), &["packs", "list"])
        .ends_with(0)
        .out;
    assert!(listed.contains("campaign-portfolio-pacing") && listed.contains("shop"), "{listed}");
    let ran =
        world.run_with("COUNTERSIGN_TOOLS_DIR", "/nowhere/at/all", &["tools", "list"]).ends_with(1);
    assert!(
        ran.err.contains("/nowhere/at/all") && ran.err.contains("hint: ")
            || ran.err.contains("Correct COUNTERSIGN_TOOLS_DIR"),
        "{}",
        ran.err
    );
}

#[test]
fn a_program_copied_without_packs_reports_missing_packs_even_if_the_user_has_own_packs() {
    let world = World::new();
    assert_eq!(run_copied(&world, &["packs", "new", "mine"]).0, Some(0));
    let beside = world.path("elsewhere/bin/tools").display().to_string();
    let commands: [(&[&str], i32); 5] = [
        (&["ask", "What do you remember about account 17?"], 0),
        (&["packs", "list"], 0),
        (&["doctor"], 0),
        (&["tools", "call", "cart.get"], 1),
        (&["serve", "--listen", "127.0.0.1:0", "--no-token"], 1),
    ];
    for (args, exit) in commands {
        let (code, out, err) = run_copied(&world, args);
        let told = format!("{out}{err}");
        for part in [
            "The packs that come with Countersign were not found",
            &beside,
            "COUNTERSIGN_TOOLS_DIR",
        ] {
            assert!(
                code == Some(exit) && told.contains(part),
                "{args:?} ended with {code:?}, and {part} is not in {told}"
            );
        }
        assert!(
            !told.contains("ok       packs") && !told.contains("Known tools"),
            "{args:?}: {told}"
        );
    }
    let refused: serde_json::Value =
        serde_json::from_str(&run_copied(&world, &["--json", "tools", "call", "cart.get"]).1)
            .expect("JSON");
    assert_eq!(refused["error"]["details"]["reason"], "no_packs", "{refused}");
    // The pack that is found is used.
    let (code, out, err) =
        run_copied(&world, &["tools", "call", "mine.greet", "--args", r#"{"name": "Ann"}"#]);
    assert!(!format!("{out}{err}").contains("no_packs") && code != Some(2), "{code:?}: {out}{err}");
}

#[test]
fn a_program_copied_without_packs_refuses_tool_calls_and_serve() {
    let world = World::new();
    for args in [
        &["tools", "call", "cart.get"][..],
        &["tools", "show", "cart.get"],
        &["serve", "--listen", "127.0.0.1:0", "--no-token"],
    ] {
        let (code, out, err) = run_copied(&world, args);
        let told = format!("{out}{err}");
        assert!(
            code == Some(1)
                && told.contains("No packs were found")
                && !told.contains("Known tools"),
            "{args:?} ended with {code:?}: {told}"
        );
    }
}

/// Marks a database as written by a newer version. Returns its bytes.
fn make_newer(file: &Path) -> Vec<u8> {
    let db = rusqlite::Connection::open(file).expect("opened");
    db.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA user_version = 99;").expect("changed");
    drop(db);
    fs::read(file).expect("read")
}

#[test]
fn a_database_of_a_newer_version_is_refused_and_other_packs_stay_usable() {
    let world = World::new();
    world.run(&["tools", "call", "cart.get"]).ends_with(0);
    let carts = world.data().join("packs/shop/carts.db");
    let before = make_newer(&carts);

    let refused = world.run(&["tools", "call", "cart.get"]).ends_with(1).err;
    let answer = world.run(&["ask", "what is in my cart?"]).out;
    for part in [
        &carts.display().to_string(),
        "written by a newer version of Countersign",
        "Install the newest version of Countersign",
        "move the file away",
    ] {
        assert!(refused.contains(part), "{part} is not in {refused}");
        assert!(answer.contains(part), "{part} is not in {answer}");
    }
    let found = world
        .run(&["--json", "tools", "call", "product.search", "--args", r#"{"query":"tent"}"#])
        .ends_with(0)
        .json();
    assert_eq!(found["outcome"], "ok", "products are found without carts");
    let asked = world.run(&["ask", "What do you remember about account 17?"]).ends_with(0);
    assert!(asked.out.contains("nothing"), "another pack answers: {}", asked.out);
    assert_eq!(fs::read(&carts).expect("read"), before, "nothing was changed");

    let server = world
        .bare(kit::programs::program("countersign-shop"))
        .args(["--http", "127.0.0.1:0", "--data-dir"])
        .arg(carts.parent().expect("a folder"))
        .output();
    let server = server.expect("started");
    let said = String::from_utf8_lossy(&server.stderr);
    assert!(
        server.status.code() == Some(1)
            && said.contains("carts.db was written by a newer version")
            && said.lines().count() == 1,
        "{said}"
    );

    // Following the advice solves the problem.
    fs::remove_file(&carts).expect("moved");
    world.run(&["tools", "call", "cart.get"]).ends_with(0);
}

#[test]
fn a_damaged_pack_database_is_replaced_by_its_copy() {
    let world = World::new();
    let add = "add 2 ridge runner black size 42 to my cart";
    let mut terminal = Terminal::start(&world, &["ask", "--session", "s1", add]);
    terminal.wait_for("Approve? [y/N]");
    terminal.type_in("y\n");
    let (seen, code) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    let pack = world.data().join("packs/shop");
    let copies = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name().display().to_string()).collect()
    };
    assert!(copies(&pack.join("backups")).iter().any(|name| name.starts_with("carts-")));
    // Damages all but the first page, which the daily check detects.
    let db = pack.join("carts.db");
    let mut bytes = fs::read(&db).expect("read");
    bytes[4096..].fill(0xa5);
    fs::write(&db, bytes).expect("written");
    let page = ["--json", "audit", "list", "--type", "db_recovered"];
    let recovered = world.run_at("2026-11-23T10:00:00Z", &page).ends_with(0).json();
    assert_eq!(recovered["records"][0]["fields"]["file"], "packs/shop/carts.db");
    assert_eq!(recovered["records"][0]["fields"]["restored"], true, "{recovered}");
    assert!(copies(&pack).iter().any(|name| name.starts_with("carts.damaged-")));
    assert_eq!(world.shoes("s1"), 2);
}
