//! Closing, killing and starting again: nothing is lost, nothing runs twice, no process stays.

use std::{fs, process::Stdio, time::Duration};

use kit::{
    desktop::alive,
    webdriver::{wait, wait_for},
};
use serde_json::json;

use crate::{approving::ask_for_shoes, world::Journey};

#[test]
fn a_restart_keeps_everything_and_runs_nothing() {
    let journey = Journey::start("restart");
    let answer = journey.ask("How is account 17 pacing this month?");
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
    assert!(after.iter().any(|item| item["body"]["kind"] == "assistant_text"), "the answer is there: {answer}");
    let stored = journey.stored_approval(&pending["id"]);
    assert!(["expired", "cancelled"].contains(&stored["status"].as_str().unwrap_or_default()), "what waited is over: {stored}");
    assert!(stored["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "and says why: {stored}");
    assert!(journey.results("cart.addItem").iter().all(|result| result["outcome"] != "ok"), "nothing was run by the restart");
    assert_eq!(journey.call("audit_verify", json!({})).expect("a report")["ok"], true);
}

#[test]
fn a_second_start_hands_over_to_the_first() {
    let journey = Journey::start("second-start");
    let mut command = journey.desktop.command(env!("CARGO_BIN_EXE_countersign"));
    command.arg("--data-dir").arg(journey.desktop.data_dir()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut second = command.spawn().expect("the program starts");
    let status = wait("the second start to end by itself", || second.try_wait().expect("its state"));
    assert!(status.success(), "{status}");
    assert!(journey.call("app_status", json!({})).is_ok(), "the first one goes on");
}

#[test]
fn kill_minus_nine_leaves_no_process() {
    let journey = Journey::start("kill");
    // A tool of the shop makes its server start.
    journey.ask("show me trail shoes");
    let servers = journey.call("packs_list", json!({})).expect("packs")["servers"].clone();
    let server = servers.as_array().into_iter().flatten().find_map(|server| server["pid"].as_u64()).expect("the shop's server runs");
    let server = u32::try_from(server).expect("a process id");
    assert!(alive(server));
    let mut below = journey.kill();
    below.push(server);
    wait_for("every process of the app to end", Duration::from_secs(20), || {
        let left: Vec<String> = below.iter().filter(|id| alive(**id)).filter_map(|id| fs::read_to_string(format!("/proc/{id}/cmdline")).ok()).collect();
        left.is_empty().then_some(())
    });
    journey.assert_log_verifies();
    journey.open();
    assert_eq!(journey.call("audit_verify", json!({})).expect("a report")["ok"], true);
}
