//! Adding servers in the window: six published servers from the JSON of another client, each tested
//! after an approval, and one whose test is stopped.

use std::{fs, path::Path};

use kit::webdriver::wait;
use serde_json::json;

use crate::world::{Journey, Page, pictures};

/// Opens the dialog and enters a text.
fn enter(page: &Page<'_>, text: &str) {
    page.named("section button", "Add server", true).click().expect("the button");
    page.fill("Command, address or settings of another app", text);
    page.click("Continue");
}

#[test]
fn six_servers_are_added_from_the_settings_of_another_client() {
    let journey = Journey::prepare("add-servers", &[]);
    journey.settings("");
    let docs = journey.desktop.folder().join("home/docs");
    fs::create_dir_all(docs.join(".git")).expect("a folder");
    let docs = docs.display().to_string();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let npm = |program: &str| root.join("tests/mcp/node_modules/.bin").join(program);
    let pypi = |program: &str| pictures().with_file_name("mcp-python").join("bin").join(program);
    let text = json!({"mcpServers": {
        "everything": {"command": npm("mcp-server-everything"), "args": ["stdio"]},
        "files": {"command": npm("mcp-server-filesystem"), "args": [docs]},
        "memory": {"command": npm("mcp-server-memory"), "env": {"MEMORY_FILE_PATH": format!("{docs}/memory")}},
        "fetch": {"command": pypi("mcp-server-fetch")},
        "git": {"command": pypi("mcp-server-git")},
        "time": {"command": pypi("mcp-server-time"), "args": ["--local-timezone", "UTC"]},
    }})
    .to_string();
    journey.open();
    journey.chat(|page| {
        page.go("Tools");
        page.named("[role=tab]", "Servers", false).click().expect("the tab");
    });
    for (name, program) in [
        ("everything", "mcp-server-everything"),
        ("files", "mcp-server-filesystem"),
        ("memory", "mcp-server-memory"),
        ("fetch", "mcp-server-fetch"),
        ("git", "mcp-server-git"),
        ("time", "mcp-server-time"),
    ] {
        journey.chat(|page| {
            enter(page, &text);
            page.says("Which server do you want to add?");
            page.named("dialog li button", name, false).click().expect("the choice");
            page.click("Continue");
            page.says("This program will run on your computer.");
            page.click("Start and test");
        });
        journey.confirm(program);
        journey.chat(|page| {
            page.says("What does each tool do?");
            page.script("const s = document.querySelector('dialog select'); s.value = 'read_only'; s.dispatchEvent(new Event('change', { bubbles: true }));");
        });
        if name == "time" {
            journey.picture("add-server-effects.png");
        }
        journey.chat(|page| {
            page.named("dialog footer button", "Add server", true).click().expect("the button");
        });
        journey.confirm(program);
        journey.chat(|page| {
            page.says(&format!("{name} is added with"));
            page.click("Done");
        });
    }
    let listed = journey.call("server_list", json!({})).expect("the list");
    let names: Vec<&str> = listed["servers"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|server| server["name"].as_str())
        .collect();
    assert_eq!(names, ["everything", "fetch", "files", "git", "memory", "time"]);
    assert!(
        listed["servers"].as_array().into_iter().flatten().all(|one| one["tools"] != 0),
        "{listed}"
    );
}

#[test]
fn stopping_a_server_test_ends_its_program() {
    let journey = Journey::prepare("stop-server", &[]);
    journey.settings("");
    let folder = journey.desktop.folder().join("home/own");
    fs::create_dir_all(&folder).expect("a folder");
    let id = folder.join("id");
    journey.open();
    journey.chat(|page| {
        page.go("Tools");
        page.named("[role=tab]", "Servers", false).click().expect("the tab");
        enter(
            page,
            &format!("sh -c 'echo $$ > {}; exec sleep 1000' q7Zr0XbN4tLw9Vd2KfP1", id.display()),
        );
        page.says("Argument 3: q7Zr… (20 characters) is a key");
    });
    journey.picture("add-server-details.png");
    journey.chat(|page| {
        page.click("Continue");
        page.click("Start and test");
    });
    journey.confirm("sleep 1000");
    let id = wait("the program to run", || {
        fs::read_to_string(&id).ok().filter(|text| text.ends_with('\n'))
    });
    journey.chat(|page| {
        page.click("Stop");
        page.says("The server does not run any more");
    });
    let left = fs::read_to_string(format!("/proc/{}/cmdline", id.trim())).unwrap_or_default();
    assert!(!left.contains("sleep"), "{left}");
    let listed = journey.call("server_list", json!({})).expect("the list");
    assert_eq!(listed["servers"], json!([]));
}
