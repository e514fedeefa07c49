//! Tests of the web API example through `csign`: network access that both the user and the pack
//! must allow, credentials, and approvals of writes.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::world::{World, packs, text};

struct Demo {
    server: Child,
    url: String,
}

impl Demo {
    fn start() -> Self {
        let file = packs().join("web-api-example/demo_server.py");
        let mut server = Command::new("python3")
            .arg(file)
            .args(["--port", "0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is there");
        let mut url = String::new();
        BufReader::new(server.stdout.take().expect("a pipe"))
            .read_line(&mut url)
            .expect("it says where it is");
        Self { server, url: url.trim().to_owned() }
    }

    /// Writes the user's settings for the pack.
    fn settings(&self, world: &World, private: bool) {
        std::fs::create_dir_all(world.data()).expect("made");
        let toml = format!(
            "[packs.web-api-example]\nprivate_network = {private}\n[packs.web-api-example.settings]\nbase_url = \"{}\"\n",
            self.url
        );
        std::fs::write(world.data().join("countersign.toml"), toml).expect("written");
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn a_call_to_an_address_of_this_computer_requires_permission_for_the_private_network() {
    let (demo, world) = (Demo::start(), World::new());
    demo.settings(&world, false);
    let call = ["--json", "tools", "call", "parcel.track", "--args", r#"{"number": 1001}"#];
    let refused = world.run(&call).json();
    assert_eq!(refused["error"]["details"]["reason"], "private_address", "{refused}");
    demo.settings(&world, true);
    let found = world.run(&call).ends_with(0).json();
    assert_eq!(found["data"]["to"], "Ada Lovelace");
    let asked = world.run(&["ask", "Where is parcel 1001?"]).ends_with(0).out;
    assert!(
        asked.contains("Parcel 1001 to Ada Lovelace is on its way, expected on 2026-11-24."),
        "{asked}"
    );
    let missing = world
        .run(&["--json", "tools", "call", "parcel.track", "--args", r#"{"number": 7}"#])
        .json();
    assert_eq!(
        (text(&missing["error"], "code"), &missing["error"]["details"]["status"]),
        ("tool_http_error", &404.into())
    );
    assert_eq!(missing["error"]["details"]["answer"]["error"], "There is no such thing.");
}

#[test]
fn a_list_is_printed_as_the_table_that_its_tool_declares() {
    let (demo, world) = (Demo::start(), World::new());
    demo.settings(&world, true);
    let asked = world.run(&["ask", "Which parcels are there?"]).ends_with(0).out;
    assert!(asked.contains("There are 3 parcels."), "{asked}");
    assert!(asked.contains("| Number | To | Status | Expected | Held |"), "{asked}");
    assert!(asked.contains("| 1002 | Grace Hopper | delivered | 2026-11-20 | no |"), "{asked}");
    let request =
        r#"{"contract_version": "1.0", "request_id": "r", "input": "Which parcels are there?"}"#;
    std::fs::write(world.data().join("request.json"), request).expect("written");
    let file = world.data().join("request.json").display().to_string();
    let response = world.run(&["run", "--request", &file]).ends_with(0).json();
    let result = &response["structured_output"]["results"][0];
    assert_eq!((text(result, "kind"), text(result, "tool")), ("table", "parcel.list"));
    assert_eq!(result["view"]["columns"][0]["label"]["en"], "Number");
    assert_eq!(result["data"]["items"][2]["to"], "Karen Spärck Jones");
}

#[test]
fn a_missing_key_is_reported_before_a_person_is_asked_for_approval() {
    let (demo, world) = (Demo::start(), World::new());
    demo.settings(&world, true);
    let call = [
        "--json",
        "tools",
        "call",
        "parcel.hold",
        "--args",
        r#"{"number": 1001, "until": "2026-11-30"}"#,
    ];
    let refused = world.run(&call).ends_with(1).json();
    assert_eq!(refused["error"]["details"]["reason"], "tool_config_error", "{refused}");
    assert!(text(&refused["error"], "message").contains("DEMO_API_TOKEN"), "{refused}");
    assert!(
        world
            .run(&["--json", "approvals", "list"])
            .ends_with(0)
            .json()
            .as_array()
            .is_some_and(Vec::is_empty),
        "nothing waits"
    );
    let doctor = world.run(&["doctor"]).ends_with(0).out;
    assert!(doctor.contains("Not entered: DEMO_API_TOKEN"), "{doctor}");
    world.run_with("DEMO_API_TOKEN", "demo-token", &call).ends_with(3);
    let waiting = world.run(&["--json", "approvals", "list"]).ends_with(0).json();
    assert_eq!(waiting.as_array().map(Vec::len), Some(1));
}

#[test]
fn a_write_that_a_rule_allows_runs_without_approval() {
    let (demo, world) = (Demo::start(), World::new());
    demo.settings(&world, true);
    let arguments = r#"{"number": 1001, "until": "2026-11-30"}"#;
    let with_key = |args: &[&str]| world.run_with("DEMO_API_TOKEN", "demo-token", args);
    let check = ["--json", "policy", "check", "--tool", "parcel.hold", "--args", arguments];
    assert_eq!(text(&with_key(&check).ends_with(3).json(), "why"), "Writes need your approval.");
    let rules = r#"{"rules": [{"id": "fine", "action": "allow", "tool": "parcel.hold", "arguments": {"number": 1001}}]}"#;
    std::fs::write(world.data().join("policy.json"), rules).expect("written");
    assert_eq!(text(&with_key(&check).ends_with(0).json(), "verdict"), "allow");
    assert_eq!(
        with_key(&["--json", "tools", "call", "parcel.hold", "--args", arguments])
            .ends_with(0)
            .json()["outcome"],
        "ok"
    );
}

#[test]
fn tools_show_displays_how_a_tool_runs() {
    let world = World::new();
    insta::assert_snapshot!(world.transcript(&[
        &["tools", "show", "parcel.hold"],
        &["packs", "new", "hello"],
        &["packs", "new", "hello"],
        &["packs", "new", "../x"],
    ]));
    // This text also names the isolation, which depends on the system, so it is not in the
    // snapshot.
    let shown = world.run(&["tools", "show", "hello.greet"]).ends_with(0).out;
    assert!(shown.contains("Runs ./greet.sh, which may not open network connections."), "{shown}");
    assert!(world.run(&["doctor"]).ends_with(0).out.contains("isolation"));
}
