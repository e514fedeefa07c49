//! Tests of keys: which server gets a key, and that a stored key is written to no file, whichever
//! input contains the key. The tests named `inside_...` run in a private D-Bus session with a real
//! keyring.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
};

use kit::desktop::{ON_BUS, keyring_is_there};
use secrets::{ExposeSecret as _, Keyring, SecretString};

use crate::world::{Ran, World};

const KEY: &str = "sk-live-4f9a81c2b7e3d650";
const TOKEN: &str = "tok-77aa51d09be2c4f8";

/// A server that refuses everything and records its requests.
struct Listener {
    port: u16,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Listener {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, heard) =
            (listener.local_addr().unwrap().port(), Arc::<Mutex<Vec<String>>>::default());
        let told = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut request = String::new();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                while reader.read_line(&mut request).is_ok_and(|read| read > 2) {}
                let length = request
                    .to_ascii_lowercase()
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
                let _ = reader.take(length.unwrap_or_default()).read_to_string(&mut request);
                told.lock().unwrap().push(request);
                let _ = stream.write_all(
                    b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
                );
            }
        });
        Self { port, heard }
    }

    fn received(&self) -> Vec<String> {
        std::mem::take(&mut *self.heard.lock().unwrap())
    }
}

/// Writes settings for a model at this address.
fn choose_model(world: &World, base_url: &str) {
    std::fs::create_dir_all(world.data()).unwrap();
    let text = format!(
        "[model]\nprovider = \"openai_compatible\"\nmodel = \"scripted\"\nmax_retries = 0\nbase_url = '{base_url}'\n"
    );
    std::fs::write(world.data().join("countersign.toml"), text).unwrap();
}

/// Returns addresses of a server on this computer that look like an address of OpenAI without
/// encryption.
fn disguised_addresses(port: u16) -> Vec<String> {
    vec![
        format!("http:127.0.0.1:{port}/x://api.openai.com/v1"),
        format!("http:/127.0.0.1:{port}/x://api.openai.com/v1"),
        format!("HTTP:\\\\2130706433:{port}\\x://api.openai.com/v1"),
        format!("http:0x7f.1:{port}/x?://api.openai.com/v1"),
    ]
}

#[test]
fn the_api_key_of_the_environment_is_not_sent_to_look_alike_addresses() {
    let (world, listener) = (World::new(), Listener::start());
    for base_url in disguised_addresses(listener.port) {
        choose_model(&world, &base_url);
        world.run_with("OPENAI_API_KEY", KEY, &["ask", "Hello?"]);
        let heard = listener.received();
        assert!(!heard.is_empty(), "{base_url}: it was asked");
        assert!(!heard.concat().contains(KEY), "{base_url}: {heard:?}");
    }
    let own = format!("http://127.0.0.1:{}/v1", listener.port);
    Ran::of(
        world
            .command(&["ask", "Hello?"])
            .env("OPENAI_API_KEY", KEY)
            .env("OPENAI_BASE_URL", own)
            .env("OPENAI_MODEL", "scripted")
            .output()
            .unwrap(),
    );
    assert!(
        listener.received().concat().contains(KEY),
        "where the environment names the server, its key goes there"
    );
}

#[test]
fn environment_variables_select_the_model_server_of_an_offline_profile() {
    let (world, listener) = (World::new(), Listener::start());
    let own = format!("http://127.0.0.1:{}/v1", listener.port);
    let ask = |variables: &[(&str, &str)]| {
        let mut command = world.command(&["ask", "Hello?"]);
        Ran::of(command.envs(variables.iter().copied()).output().unwrap())
    };
    ask(&[("OPENAI_API_KEY", KEY), ("OPENAI_MODEL", "")]);
    assert!(listener.received().is_empty(), "a key alone chooses nothing");
    ask(&[("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", &own), ("OPENAI_MODEL", "mine")]);
    let heard = listener.received().concat();
    assert!(heard.contains(KEY) && heard.contains("\"mine\""), "{heard}");
    ask(&[]);
    assert!(listener.received().is_empty(), "the settings still name the offline model");
}

/// Runs one of the `inside_` tests with its own home folder and bus.
fn in_session(test: &str) {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new("dbus-run-session");
    command.arg("--").arg(std::env::current_exe().unwrap()).args([
        "--exact",
        &format!("keys::{test}"),
        "--ignored",
        "--nocapture",
    ]);
    command
        .env("HOME", home.path())
        .env("XDG_RUNTIME_DIR", home.path())
        .env("XDG_DATA_HOME", home.path().join("data"));
    let status = command
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("GNOME_KEYRING_CONTROL")
        .status();
    assert!(
        status
            .expect("dbus-run-session is needed: apt-get install dbus-daemon gnome-keyring")
            .success(),
        "{test} failed"
    );
}

struct Daemon(Child);

impl Daemon {
    fn start(unlocked: bool) -> Self {
        let mut command = Command::new("gnome-keyring-daemon");
        command
            .args(["--foreground", "--components=secrets"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if unlocked {
            command.arg("--unlock");
        }
        let mut child =
            command.spawn().expect("gnome-keyring-daemon is needed: apt-get install gnome-keyring");
        child.stdin.take().unwrap().write_all(b"open sesame").unwrap();
        while !keyring_is_there(Command::new(ON_BUS)) {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        Self(child)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs `csign` on the bus of this session.
fn csign(world: &World, args: &[&str]) -> Ran {
    let bus = std::env::var("DBUS_SESSION_BUS_ADDRESS").unwrap();
    Ran::of(world.command(args).env("DBUS_SESSION_BUS_ADDRESS", bus).output().unwrap())
}

/// Opens the keyring of the profile in the same way as another program would.
fn keyring(world: &World) -> Keyring {
    csign(world, &["policy", "show"]).ends_with(0);
    Keyring::new(std::fs::read_to_string(world.data().join("installation")).unwrap().trim())
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn store(keyring: &Keyring, entries: &[(&str, &str)]) {
    for (name, value) in entries {
        run(keyring.set(name, SecretString::from(*value))).unwrap();
    }
}

/// Returns the files below a folder that contain one of the texts.
pub(crate) fn holding(folder: &Path, texts: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            found.extend(holding(&entry.path(), texts));
            continue;
        }
        let bytes = std::fs::read(entry.path()).unwrap_or_default();
        let held = texts
            .iter()
            .filter(|text| bytes.windows(text.len()).any(|part| part == text.as_bytes()));
        found.extend(held.map(|text| format!("{}: {text}", entry.path().display())));
    }
    found
}

#[test]
fn a_stored_key_in_the_first_message_of_a_process_is_written_to_no_file() {
    in_session("inside_first_words");
}

#[test]
#[ignore = "runs inside a private session"]
fn inside_first_words() {
    let (_daemon, world) = (Daemon::start(true), World::new());
    store(
        &keyring(&world),
        &[("OPENAI_API_KEY@https://api.openai.com", KEY), ("credential/post/TOKEN", TOKEN)],
    );
    // Each command is a new process, and the key must be known before its first input.
    csign(&world, &["ask", &format!("{KEY} What do you remember about account 17?")]).ends_with(0);
    csign(&world, &["ask", &format!("Search for shoes with {TOKEN} please")]);
    let refused = csign(
        &world,
        &[
            "--json",
            "tools",
            "call",
            "product.search",
            "--args",
            &format!(r#"{{"query":"shoes {KEY}"}}"#),
        ],
    );
    assert!(
        refused.out.contains("holds_secret") && refused.out.contains("The tool was not called"),
        "{}\n{}",
        refused.out,
        refused.err
    );
    csign(
        &world,
        &[
            "tools",
            "call",
            "cart.addItem",
            "--args",
            &format!(r#"{{"partNo":"{TOKEN}","quantity":1}}"#),
        ],
    );
    let request = world.path("request.json");
    let text = format!(
        r#"{{"contract_version":"1.0","request_id":"r-1","input":"What do you remember about account 17? {TOKEN}"}}"#
    );
    std::fs::write(&request, text).unwrap();
    csign(&world, &["run", "--request", request.to_str().unwrap()]);
    std::fs::remove_file(request).unwrap();
    csign(&world, &["audit", "export", world.path("export").to_str().unwrap()]).ends_with(0);
    assert!(world.path("export").is_dir());
    assert_eq!(holding(&world.path("."), &[KEY, TOKEN]), Vec::<String>::new());
}

#[test]
fn a_key_of_the_environment_in_a_message_to_the_offline_model_is_written_to_no_file() {
    let world = World::new();
    world
        .run_with(
            "OPENAI_API_KEY",
            KEY,
            &["ask", &format!("{KEY} What do you remember about account 17?")],
        )
        .ends_with(0);
    world.run_with(
        "OPENAI_API_KEY",
        KEY,
        &["tools", "call", "product.search", "--args", &format!(r#"{{"query":"shoes {KEY}"}}"#)],
    );
    world.run(&["audit", "export", world.path("export").to_str().unwrap()]).ends_with(0);
    assert_eq!(holding(&world.path("."), &[KEY]), Vec::<String>::new());
}

#[test]
fn names_and_ids_that_contain_a_key_of_the_environment_are_refused() {
    let world = World::new();
    let request = world.path("request.json");
    std::fs::write(
        &request,
        r#"{"contract_version":"1.0","request_id":"r-1","input":"What do you remember about account 17?"}"#,
    )
    .unwrap();
    let request = request.to_str().unwrap();
    // Ids with keys are refused, because two such ids could become equal if the keys were removed.
    let of_id = |name: &str, ids: &str| {
        let file = world.path(name);
        std::fs::write(
            &file,
            format!(r#"{{"contract_version":"1.0",{ids},"input":"What do you remember about account 17?"}}"#),
        )
        .unwrap();
        file.to_str().unwrap().to_owned()
    };
    let by_request = of_id("id.json", &format!(r#""request_id":"r-{KEY}""#));
    let by_conversation =
        of_id("conversation.json", &format!(r#""request_id":"r-2","conversation_id":"{KEY}""#));
    for args in [
        &["ask", "--session", KEY, "Hello?"][..],
        &["run", "--request", &by_request],
        &["run", "--request", &by_conversation],
        &["ask", "--model", KEY, "Hello?"],
        &["tools", "call", "cart.get", "--session", KEY],
        &["run", "--request", request, "--caller", KEY],
        &["run", "--request", request, "--correlation-id", KEY],
    ] {
        let refused = world.run_with("OPENAI_API_KEY", KEY, args);
        assert!(
            refused.code != 0
                && (refused.err.clone() + &refused.out).contains("contains a stored key"),
            "{args:?}: {}{}",
            refused.out,
            refused.err
        );
    }
    world.run(&["audit", "export", world.path("export").to_str().unwrap()]).ends_with(0);
    std::fs::remove_file(by_request).unwrap();
    std::fs::remove_file(by_conversation).unwrap();
    assert_eq!(holding(&world.path("."), &[KEY]), Vec::<String>::new());
}

#[test]
fn a_locked_keyring_does_not_delay_a_start_for_long() {
    in_session("inside_locked");
}

#[test]
#[ignore = "runs inside a private session"]
fn inside_locked() {
    let (_daemon, world) = (Daemon::start(false), World::new());
    let began = std::time::Instant::now();
    csign(&world, &["ask", "What do you remember about account 17?"]).ends_with(0);
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
}

#[test]
fn a_stored_key_is_sent_only_to_its_own_server_also_after_migration_from_version_0_1() {
    in_session("inside_servers");
}

#[test]
#[ignore = "runs inside a private session"]
fn inside_servers() {
    let (_daemon, world, listener) = (Daemon::start(true), World::new(), Listener::start());
    let kept = keyring(&world);
    let here = format!("127.0.0.1:{}", listener.port);
    store(
        &kept,
        &[("OPENAI_API_KEY@api.openai.com", KEY), (&format!("OPENAI_API_KEY@{here}"), TOKEN)],
    );
    for base_url in disguised_addresses(listener.port) {
        choose_model(&world, &base_url);
        csign(&world, &["ask", "Hello?"]);
        let heard = listener.received().concat();
        assert!(heard.contains(TOKEN) && !heard.contains(KEY), "{base_url}: {heard}");
    }
    let names = run(kept.set_names());
    let has = |name: &str| names.iter().any(|kept| kept == name);
    assert!(
        has(&format!("OPENAI_API_KEY@http://{here}")) && !has(&format!("OPENAI_API_KEY@{here}")),
        "moved: {names:?}"
    );
    assert!(has("OPENAI_API_KEY@api.openai.com"), "that of another server stays: {names:?}");
    assert_eq!(
        run(kept.get(&format!("OPENAI_API_KEY@http://{here}"))).unwrap().unwrap().expose_secret(),
        TOKEN
    );
    // The key was entered for https, but the address now uses no encryption.
    store(
        &kept,
        &[
            ("OPENAI_API_KEY@https://localhost", KEY),
            ("OPENAI_API_KEY@localhost", KEY),
            (&format!("OPENAI_API_KEY@https://{here}"), KEY),
        ],
    );
    choose_model(&world, &format!("http://{here}/v1"));
    csign(&world, &["ask", "Hello?"]);
    assert!(
        !listener.received().concat().contains(KEY),
        "a key for https never goes out without it"
    );
}

#[test]
fn a_stored_key_is_not_sent_to_a_changed_address_of_its_pack() {
    in_session("inside_packs");
}

/// Lets a pack reach this computer, with these settings.
fn choose_pack(world: &World, pack: &str, settings: &[(&str, &str)]) {
    let lines: String =
        settings.iter().map(|(name, value)| format!("{name} = \"{value}\"\n")).collect();
    let text = format!("[packs.{pack}]\nprivate_network = true\n[packs.{pack}.settings]\n{lines}");
    std::fs::write(world.data().join("countersign.toml"), text).unwrap();
}

#[test]
#[ignore = "runs inside a private session"]
fn inside_packs() {
    let (_daemon, world, own, other) =
        (Daemon::start(true), World::new(), Listener::start(), Listener::start());
    let kept = keyring(&world);
    let [at_own, at_other] =
        [&own, &other].map(|listener| format!("http://127.0.0.1:{}", listener.port));
    let (shop, parcels) =
        ("credential/shop/NORCE_OAUTH_CLIENT_SECRET", "credential/web-api-example/DEMO_API_TOKEN");
    // Entries of version 0.1 contain no server in their names; newer entries do.
    store(
        &kept,
        &[
            (shop, KEY),
            (parcels, KEY),
            (&format!("{shop}@{at_own}"), TOKEN),
            (&format!("{parcels}@{at_own}"), TOKEN),
        ],
    );

    let search = |url: &str, token_url: &str| {
        let (url, token_url) = (format!("{url}/mcp"), format!("{token_url}/token"));
        let settings = [
            ("mcp_base_url", url.as_str()),
            ("oauth_token_url", &token_url),
            ("oauth_client_id", "me"),
            ("oauth_scope", "shop"),
        ];
        choose_pack(&world, "shop", &settings);
        csign(
            &world,
            &["--json", "tools", "call", "product.search", "--args", r#"{"query": "tent"}"#],
        )
        .out
    };
    let said = search(&at_own, &at_own);
    let heard = own.received().concat();
    assert!(heard.contains(TOKEN) && !heard.contains(KEY), "{heard}\n{said}");
    for (url, token_url) in [(&at_other, &at_other), (&at_own, &at_other), (&at_other, &at_own)] {
        let said = search(url, token_url);
        assert!(
            said.contains("NORCE_OAUTH_CLIENT_SECRET"),
            "the key is missing for these servers: {said}"
        );
        let heard = own.received().concat() + &other.received().concat();
        assert!(!heard.contains(KEY) && !heard.contains(TOKEN), "{url} {token_url}: {heard}");
    }

    let rules = r#"{"rules": [{"id": "fine", "action": "allow", "tool": "parcel.hold"}]}"#;
    std::fs::write(world.data().join("policy.json"), rules).unwrap();
    let hold = |base_url: &str| {
        choose_pack(&world, "web-api-example", &[("base_url", base_url)]);
        csign(
            &world,
            &[
                "--json",
                "tools",
                "call",
                "parcel.hold",
                "--args",
                r#"{"number": 1001, "until": "2026-11-30"}"#,
            ],
        )
        .out
    };
    let said = hold(&at_own);
    let heard = own.received().concat();
    assert!(heard.contains(TOKEN) && !heard.contains(KEY), "{heard}\n{said}");
    assert!(hold(&at_other).contains("DEMO_API_TOKEN"));
    assert_eq!(other.received(), Vec::<String>::new());
    // The entry of version 0.1 belongs to the manifest's address, so it is renamed to that address.
    hold("http://127.0.0.1:8787");
    let names = run(kept.set_names());
    assert!(
        names.contains(&format!("{parcels}@http://127.0.0.1:8787"))
            && !names.iter().any(|name| name == parcels),
        "{names:?}"
    );
    assert!(names.iter().any(|name| name == shop), "the shop's manifest has no address: {names:?}");
}
