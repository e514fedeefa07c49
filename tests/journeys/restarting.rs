//! Closing, killing and restarting: no data is lost, no action runs twice, no process remains, and
//! a changed log is reported.

use std::{fs, process::Stdio, time::Duration};

use kit::{
    desktop::is_alive,
    packs,
    webdriver::{wait, wait_for},
};
use serde_json::json;

use crate::{approving::ask_for_shoes, world::Journey};

#[test]
fn a_restart_keeps_conversations_and_pending_actions_and_runs_none() {
    let journey = Journey::start("restart");
    let answer = journey.ask("What do you remember about account 17?");
    let items = journey.items().len();
    let pending = ask_for_shoes(&journey);
    journey.quit();
    journey.assert_log_verifies();

    journey.open();
    journey.chat(|page| {
        page.go("Chat");
        let titles = wait("the conversation in the list", || {
            let text = page.text();
            text.contains("account 17").then_some(text)
        });
        assert!(!titles.is_empty());
    });
    let after = journey.items();
    assert!(after.len() > items, "no item is lost");
    assert!(
        after.iter().any(|item| item["body"]["kind"] == "assistant_text"),
        "the answer is there: {answer}"
    );
    let stored = journey.stored_approval(&pending["id"]);
    assert!(
        ["expired", "cancelled"].contains(&stored["status"].as_str().unwrap_or_default()),
        "what waited is over: {stored}"
    );
    assert!(
        stored["reason"].as_str().is_some_and(|reason| !reason.is_empty()),
        "and says why: {stored}"
    );
    assert!(
        journey.results("cart.addItem").iter().all(|result| result["outcome"] != "ok"),
        "nothing was run by the restart"
    );
    assert_eq!(journey.call("audit_verify", json!({})).expect("a report")["ok"], true);
}

/// A program that starts as a server and never answers.
const HANGS: &str = "#!/bin/sh\nexec sleep 600\n";

#[test]
fn a_second_start_activates_the_first_window_even_if_a_server_hangs() {
    let journey = Journey::prepare("second-start", &[]);
    let pack = packs::install("letters", &journey.desktop.data_dir());
    fs::write(pack.join("server.py"), HANGS).expect("a server that hangs");
    journey.settings("");
    journey.open();
    // The app has started, and questions that need no server are answered. The page of servers
    // shows the state.
    journey.ask("What do you remember about account 17?");
    journey.chat(|page| {
        page.go("Tools");
        page.named("[role=tab]", "Servers", false).click().expect("the tab");
        page.says("Starting");
    });

    let xdotool = |args: &[&str]| {
        let output = journey.desktop.command("xdotool").args(args).output().expect("xdotool");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let window = wait("the window", || {
        xdotool(&["search", "--onlyvisible", "--name", "^Countersign$"])
            .lines()
            .next()
            .map(str::to_owned)
    });
    xdotool(&["windowminimize", &window]);
    wait("the window to be out of sight", || {
        (xdotool(&["getactivewindow"]) != window).then_some(())
    });
    let mut command = journey.desktop.command(env!("CARGO_BIN_EXE_countersign"));
    command
        .arg("--data-dir")
        .arg(journey.desktop.data_dir())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut second = command.spawn().expect("the program starts");
    let status =
        wait("the second start to end by itself", || second.try_wait().expect("its state"));
    assert!(status.success(), "{status}");
    wait("the first one's window in front", || {
        let seen = xdotool(&["search", "--onlyvisible", "--name", "^Countersign$"]);
        (xdotool(&["getactivewindow"]) == window && seen == window).then_some(())
    });
    assert!(journey.call("app_status", json!({})).is_ok(), "the first one goes on");
}

/// A script that changes a signed record, as an attacker would to hide an action.
const CHANGE: &str = "import sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\n\
    seq, body = db.execute(\"SELECT seq, body FROM audit_record WHERE type = 'pack_loaded' ORDER BY seq LIMIT 1\").fetchone()\n\
    db.execute('UPDATE audit_record SET body = ? WHERE seq = ?', (bytes(body).replace(b'\"pack\":\"', b'\"pack\":\"other-'), seq))\n\
    db.commit()\nprint(seq)\n";

#[test]
fn a_killed_app_leaves_no_process_and_a_changed_log_is_reported() {
    let journey = Journey::start("kill");
    // A call of a tool starts the shop's server.
    journey.ask("show me trail shoes");
    let servers = journey.call("packs_list", json!({})).expect("packs")["servers"].clone();
    let server = servers
        .as_array()
        .into_iter()
        .flatten()
        .find_map(|server| server["pid"].as_u64())
        .expect("the shop's server runs");
    let server = u32::try_from(server).expect("a process id");
    assert!(is_alive(server));
    // A verification finds a change of signed records, and the next start finds a change of later
    // records.
    journey.call("audit_checkpoint", json!({})).expect("the log is signed");
    let mut below = journey.kill();
    below.push(server);
    wait_for("every process of the app to end", Duration::from_secs(20), || {
        let left: Vec<String> = below
            .iter()
            .filter(|id| is_alive(**id))
            .filter_map(|id| fs::read_to_string(format!("/proc/{id}/cmdline")).ok())
            .collect();
        left.is_empty().then_some(())
    });
    journey.assert_log_verifies();

    let log = journey.desktop.data_dir().join("audit.db");
    let changed = journey
        .desktop
        .command("python3")
        .args(["-c", CHANGE])
        .arg(&log)
        .output()
        .expect("python3");
    let changed = String::from_utf8_lossy(&changed.stdout).trim().to_owned();
    assert!(!changed.is_empty(), "a record was changed");
    journey.open();
    journey.chat(|page| {
        page.go("Audit");
        page.click("Verify");
        page.says("Verification failed");
        page.click(&format!("Show record {changed}"));
        page.named("aside", &format!("Record {changed}"), false);
    });
    journey.picture("log-changed.png");
    assert!(!journey.csign(&["audit", "verify"]).status.success(), "csign says so, too");

    // After that no turn runs until a person has seen the alarm in the approval window.
    let refused = journey.call(
        "turn_start",
        json!({"session": "desktop:alarm", "text": "What do you remember about account 17?"}),
    );
    assert!(refused.is_err(), "{refused:?}");
    journey.chat(|page| page.click("Review"));
    journey.approval(|page| {
        page.says("Audit log verification failed");
        wait("the switch", || page.named("input", "I have read the problems", false).click().ok());
        page.click("Accept a new log");
        page.says("A new log begins");
    });
    journey.assert_log_verifies();
    journey.chat(|page| page.go("Chat"));
    journey.ask("What do you remember about account 17?");
}
