//! Tests that kill the process at each named point of a turn. After every kill, the session opens
//! again and reports the interruption, the effect has happened at most once and is not repeated,
//! and the log verifies.

// Helpers are not test functions, so clippy's exemption for tests does not reach them.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use rusqlite::Connection;
use serde_json::Value;

/// The kill points of a turn that only reads.
const READING: [&str; 10] = [
    "BeforeUserMessage",
    "AfterUserMessage",
    "BeforeModelCall",
    "AfterModelCall",
    "BeforeToolRun",
    "BetweenIntentAndRead",
    "AfterToolRun",
    "WhileStreaming",
    "BeforeAnswerSaved",
    "AfterAnswerSaved",
];
/// The kill points of an approved change: how often the effect has happened by then, the action's
/// status after the next start, and how many unknown outcomes the log has.
const CHANGING: [(&str, i64, &str, usize); 4] = [
    ("AfterApprovalDecided", 0, "expired", 0),
    ("BetweenIntentAndEffect", 0, UNKNOWN, 1),
    ("BetweenEffectAndOutcome", 1, UNKNOWN, 1),
    // The log has the outcome, but the action's row does not have it yet.
    ("AfterOutcome", 1, UNKNOWN, 0),
];
const UNKNOWN: &str = "failed: outcome unknown";

struct Profile {
    folder: tempfile::TempDir,
}

impl Profile {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("data")).unwrap();
        std::fs::write(
            folder.path().join("data/countersign.toml"),
            "decide_from_terminal = true\n",
        )
        .unwrap();
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn with_env(&self, command: &mut Command, crash_at: Option<&str>) {
        let tools: PathBuf =
            Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().join("tools");
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.path())
            .env("TZ", "UTC")
            .env("LANG", "en_US.UTF-8");
        command
            .env("XDG_STATE_HOME", self.path().join("state"))
            .env("XDG_RUNTIME_DIR", self.path())
            .env("COUNTERSIGN_TOOLS_DIR", tools);
        if let Some(point) = crash_at {
            command.env("COUNTERSIGN_TEST_CRASH_AT", point);
        }
    }

    fn csign(&self, crash_at: Option<&str>, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_csign"));
        command.arg("--data-dir").arg(self.path().join("data")).args(args);
        self.with_env(&mut command, crash_at);
        command.output().unwrap()
    }

    /// Runs `csign` with a terminal as standard input.
    fn at_a_terminal(&self, crash_at: Option<&str>, args: &str) -> Output {
        let line = format!(
            "{} --data-dir {} {args}",
            env!("CARGO_BIN_EXE_csign"),
            self.path().join("data").display()
        );
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]);
        self.with_env(&mut command, crash_at);
        command.output().unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        let out = self.csign(None, &[&["--json"], args].concat());
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        serde_json::from_str(&text).unwrap_or_else(|e| {
            panic!("{args:?}: {e}: {text}{}", String::from_utf8_lossy(&out.stderr))
        })
    }

    fn assert_verified(&self, when: &str) {
        let out = self.csign(None, &["audit", "verify"]);
        assert!(
            out.status.success(),
            "{when}: {}{}",
            String::from_utf8_lossy(&out.stdout),
            String::from_utf8_lossy(&out.stderr)
        );
    }

    /// Returns an action's status after a restart, and the reason if it failed.
    fn said_of(&self, approval: impl Fn(&Value) -> bool) -> String {
        let rows = self.json(&["approvals", "list", "--all"]);
        let row = rows
            .as_array()
            .and_then(|rows| rows.iter().find(|row| approval(row)))
            .expect("the action")
            .clone();
        let status = row["status"].as_str().unwrap();
        if status == "failed" {
            format!("{status}: {}", row["reason"].as_str().unwrap_or_default())
        } else {
            status.to_owned()
        }
    }

    /// Counts changes with an unknown outcome, in the same way as the verification of the log. (The
    /// read of a preview may also have been interrupted.)
    fn changes_of_unknown_outcome(&self) -> usize {
        let report = self.json(&["audit", "verify"]);
        assert_eq!(report["ok"], true, "{report}");
        let listed = self.json(&["audit", "list", "--type", "tool_intent", "--limit", "500"]);
        let intents = listed["records"].as_array().unwrap();
        let change = |seq: &&Value| {
            intents
                .iter()
                .any(|record| record["seq"] == **seq && record["fields"]["effect"] == "write")
        };
        report["unknown_outcomes"].as_array().unwrap().iter().filter(change).count()
    }

    fn items(&self) -> Vec<Value> {
        let db = Connection::open(self.path().join("data/countersign.db")).unwrap();
        let mut rows = db.prepare("SELECT body FROM item ORDER BY seq").unwrap();
        let bodies = rows.query_map([], |row| row.get::<_, String>(0)).unwrap();
        bodies.map(|body| serde_json::from_str(&body.unwrap()).unwrap()).collect()
    }

    fn pieces_in_carts(&self) -> i64 {
        let db = Connection::open(self.path().join("data/packs/shop/carts.db")).unwrap();
        db.query_row("SELECT coalesce(sum(quantity), 0) FROM line", [], |row| row.get(0))
            .unwrap_or(0)
    }
}

/// Whether the process was killed, as seen directly or as reported by the terminal's program.
fn was_killed(out: &Output) -> bool {
    use std::os::unix::process::ExitStatusExt;
    out.status.signal() == Some(9) || out.status.code() == Some(128 + 9)
}

fn count(items: &[Value], kind: &str) -> usize {
    items.iter().filter(|item| item["kind"] == kind).count()
}

#[test]
fn a_turn_that_only_reads_leaves_a_notice_in_its_session_wherever_it_is_killed() {
    for point in READING {
        let profile = Profile::new();
        let out = profile.csign(
            Some(point),
            &["ask", "--session", "s", "What do you remember about account 17?"],
        );
        assert!(was_killed(&out), "{point} is passed: {}", String::from_utf8_lossy(&out.stdout));
        let again = profile.csign(None, &["ask", "--session", "s", "hello"]);
        assert!(again.status.success(), "{point}: {}", String::from_utf8_lossy(&again.stderr));
        let items = profile.items();
        assert_eq!(
            count(&items, "tool_call"),
            count(&items, "tool_result"),
            "{point}: every call has its end"
        );
        let interrupted = items.iter().filter(|item| item["code"] == "turn_interrupted").count();
        let expected = usize::from(!matches!(point, "BeforeUserMessage" | "AfterAnswerSaved"));
        assert_eq!(interrupted, expected, "{point}: {items:#?}");
        profile.assert_verified(point);
    }
}

/// Returns a profile with one pending change, and the change's id and hash.
fn with_pending() -> (Profile, String, String) {
    let profile = Profile::new();
    let part = buyable_part(&profile);
    let arguments = format!("{{\"partNo\":\"{part}\",\"quantity\":2}}");
    let out =
        profile.csign(None, &["--json", "tools", "call", "cart.addItem", "--args", &arguments]);
    assert_eq!(
        out.status.code(),
        Some(3),
        "{}{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
    let listed = profile.json(&["approvals", "list"]);
    let row = listed
        .as_array()
        .or_else(|| listed["approvals"].as_array())
        .and_then(|rows| rows.first())
        .expect("one waits")
        .clone();
    (profile, row["id"].as_str().unwrap().to_owned(), row["hash"].as_str().unwrap().to_owned())
}

fn buyable_part(profile: &Profile) -> String {
    let found = profile.json(&[
        "tools",
        "call",
        "product.search",
        "--args",
        "{\"query\":\"bottle\",\"filters\":{\"inStock\":true}}",
    ]);
    let id = &found["data"]["items"][0]["productId"];
    let product = profile.json(&[
        "tools",
        "call",
        "product.get",
        "--args",
        &format!("{{\"productId\":\"{}\"}}", id.to_string().trim_matches('"')),
    ]);
    let variants = product["data"]["variants"].as_array().cloned().unwrap_or_default();
    let part = variants
        .iter()
        .find(|v| v["isBuyable"] == true && v["onHand"]["value"].as_f64().is_some_and(|n| n >= 4.0))
        .map(|v| &v["partNo"]);
    part.unwrap_or(&product["data"]["partNo"]).as_str().expect("a part to buy").to_owned()
}

#[test]
fn an_action_whose_process_is_killed_while_it_waits_for_approval_never_runs() {
    let profile = Profile::new();
    let part = buyable_part(&profile);
    let call = format!("tools call cart.addItem --args '{{\"partNo\":\"{part}\",\"quantity\":2}}'");
    let out = profile.at_a_terminal(Some("AfterApprovalRequested"), &call);
    assert!(was_killed(&out), "{:?} {}", out.status, String::from_utf8_lossy(&out.stdout));
    assert_eq!(
        profile.said_of(|row| row["tool"] == "cart.addItem"),
        "expired",
        "whoever waited for it is gone"
    );
    assert_eq!(profile.pieces_in_carts(), 0);
    profile.assert_verified("AfterApprovalRequested");
}

#[test]
fn an_approved_change_happens_at_most_once_wherever_the_process_is_killed() {
    for (point, happened, said, unknown) in CHANGING {
        let (profile, id, hash) = with_pending();
        let approve = format!("approvals approve {id} --hash {hash}");
        let out = profile.at_a_terminal(Some(point), &approve);
        assert!(
            was_killed(&out),
            "{point} is passed: {:?} {}",
            out.status,
            String::from_utf8_lossy(&out.stdout)
        );
        assert_eq!(profile.pieces_in_carts(), 2 * happened, "{point}");
        assert_eq!(profile.said_of(|row| row["id"] == id.as_str()), said, "{point}");
        assert_eq!(profile.changes_of_unknown_outcome(), unknown, "{point}");
        let again = profile.at_a_terminal(None, &approve);
        assert!(
            !again.status.success(),
            "{point}: a second yes is refused: {}",
            String::from_utf8_lossy(&again.stdout)
        );
        assert_eq!(profile.pieces_in_carts(), 2 * happened, "{point}: nothing is run by a restart");
        profile.assert_verified(point);
    }
}

#[test]
fn the_outcome_of_a_killed_change_is_reported_in_its_conversation() {
    for (point, happened, said, _) in CHANGING {
        let profile = Profile::new();
        let out = profile
            .csign(None, &["ask", "--session", "s", "add two Ridge Runner Black 39 to my cart"]);
        assert_eq!(out.status.code(), Some(3), "{}", String::from_utf8_lossy(&out.stderr));
        let waiting = profile.json(&["approvals", "list"])[0].clone();
        let approve = format!(
            "approvals approve {} --hash {}",
            waiting["id"].as_str().unwrap(),
            waiting["hash"].as_str().unwrap()
        );
        let out = profile.at_a_terminal(Some(point), &approve);
        assert!(
            was_killed(&out),
            "{point} is passed: {:?} {}",
            out.status,
            String::from_utf8_lossy(&out.stdout)
        );
        let again = profile.csign(None, &["ask", "--session", "s", "hello"]);
        assert!(again.status.success(), "{point}: {}", String::from_utf8_lossy(&again.stderr));
        let items = profile.items();
        assert_eq!(
            count(&items, "tool_call"),
            count(&items, "tool_result"),
            "{point}: every call has its end"
        );
        let end = items
            .iter()
            .find(|item| item["kind"] == "tool_result" && item["call"] == waiting["call"])
            .unwrap();
        assert_eq!(
            end["outcome"],
            if said == UNKNOWN { "unknown" } else { "expired" },
            "{point}: {end}"
        );
        assert_eq!(profile.said_of(|row| row["id"] == waiting["id"]), said, "{point}");
        assert_eq!(profile.pieces_in_carts(), 2 * happened, "{point}: nothing is run by a restart");
        profile.assert_verified(point);
    }
}
