//! Pending actions: one action that is approved, and two at once. The journey of shopping covers
//! actions that are rejected or expire.

use std::time::{Duration, Instant};

use kit::webdriver::{key, wait};
use serde_json::{Value, json};

use crate::world::{Journey, Page};

/// Asks for two of the black trail shoes and chooses product and size. Returns the pending action.
pub fn ask_for_shoes(journey: &Journey) -> Value {
    let before = journey.pending().len();
    journey.ask("add two of the black trail shoes to my cart");
    // The answers ask which shoes and which size, and offer choices. Each click chooses the first.
    for _ in 0..3 {
        // The choice may move at the moment of the click, so that the click misses it.
        let click = |page: &Page<'_>| {
            wait("a click on a suggested answer", || page.first_choice().click().ok())
        };
        let answers = journey.chat(|page| {
            let answers = page.answers();
            click(page);
            answers
        });
        let mut clicked = Instant::now();
        let action = wait("another question, or the pending action", || {
            let pending = journey.pending();
            let (asked, runs) = journey.chat(|page| (page.answers() > answers, page.runs()));
            // If the page moved under the pointer, the click missed. A person would click again.
            if !asked
                && !runs
                && pending.len() == before
                && clicked.elapsed() > Duration::from_secs(5)
            {
                journey.chat(click);
                clicked = Instant::now();
            }
            (asked && !runs || pending.len() > before).then(|| pending.into_iter().nth(before))
        });
        if let Some(action) = action {
            return action;
        }
    }
    panic!("no action waits after three choices");
}

fn pieces(journey: &Journey) -> u64 {
    let carts = journey.results("cart.addItem");
    carts.iter().filter(|result| result["outcome"] == "ok").count() as u64
}

#[test]
fn an_approved_action_changes_the_cart_and_is_recorded() {
    let mut journey = Journey::prepare("approve", &[]);
    journey
        .desktop
        .start_child("dbus-monitor", &["--session", "interface='org.freedesktop.Notifications'"]);
    journey.settings("");
    journey.open();
    let action = ask_for_shoes(&journey);

    journey.approval(|page| {
        // The page shows every argument of the exact call as text, as it would be sent. A name in words has the
        // name that is sent below it.
        let canonical = action["arguments"].as_str().expect("canonical text");
        let arguments: Value = serde_json::from_str(canonical).expect("JSON");
        for heading in ["Before", "After", "Request"] {
            page.named("h2", heading, true);
        }
        let rows = page.script(
            "return Object.fromEntries([...document.querySelectorAll('section[aria-label=\"Request\"] dt')].map((name) => \
             [name.innerText.trim().split('\\n').pop().toLowerCase(), name.nextElementSibling.innerText]));",
        );
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        for (name, value) in arguments.as_object().expect("arguments by name") {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let shown = rows[name.to_lowercase()].as_str().map(bare);
            assert_eq!(shown, Some(bare(&value)), "{name} with its value: {rows}");
        }
        let text = page.text();
        assert!(text.contains("cart.addItem"), "the tool is named: {text}");
        assert!(text.contains(canonical), "the text that is signed: {text}");
        wait("the time left", || {
            let text = page.text();
            let (minutes, seconds) = text.split_once("Expires in ")?.1.split_whitespace().next()?.split_once(':')?;
            (minutes.parse::<u32>().is_ok() && seconds.len() == 2).then_some(())
        });
        assert!(page.focus().contains("Reject"), "the focus is on Reject, not on {}", page.focus());
        assert_eq!(page.script("return document.documentElement.scrollWidth <= innerWidth;"), json!(true), "nothing sticks out");
    });
    journey.approval(|page| {
        wait("Approve to be armed", || {
            page.button("Approve").enabled().ok().filter(|enabled| *enabled)
        });
    });
    journey.picture("approval.png");
    assert_eq!(pieces(&journey), 0, "nothing happens before the decision");
    wait("the tray to say how many wait", || (tray_label(&journey)? == "1").then_some(()));
    journey.approval(|page| page.click("Approve"));

    let done = wait("the action to be done", || {
        Some(journey.stored_approval(&action["id"])).filter(|a| a["status"] == "done")
    });
    assert_eq!(done["hash"], action["hash"], "what was shown is what ran");
    journey.chat(|page| page.idle());
    assert_eq!(pieces(&journey), 1, "it ran once");
    journey.chat(|page| {
        page.open_cart();
        page.says("Total");
    });
    journey.picture("cart.png");

    wait("the tray to say nothing", || tray_label(&journey)?.is_empty().then_some(()));
    wait("the notification", || {
        journey.desktop.log("dbus-monitor").contains("Your approval is needed").then_some(())
    });
    journey.chat(|page| {
        page.go("Audit");
        page.named("[role=tab]", "All records", true).click().expect("the tab can be clicked");
        for step in ["approval requested", "approval decided", "approved action finished"] {
            wait(&format!("{step} in the log"), || {
                page.text().to_lowercase().contains(&step.to_lowercase()).then_some(())
            });
        }
        page.click("Verify");
        page.says("Log verified");
        // The pointer leaves the button, because a button looks different below the pointer.
        page.named("h1", "Audit", true).click().expect("the title can be clicked");
    });
    journey.picture("audit.png");
    journey.chat(looks_up_a_record);
    let report = journey.call("audit_verify", json!({})).expect("a report");
    assert_eq!(report["ok"], true, "{report}");
    journey.quit();
    journey.assert_log_verifies();
}

/// Returns the text beside the tray icon, as a desktop's panel reads it.
fn tray_label(journey: &Journey) -> Option<String> {
    let send = |args: &[&str]| {
        let answer = journey
            .desktop
            .command("dbus-send")
            .args(["--session", "--print-reply"])
            .args(args)
            .output()
            .ok()?;
        Some(String::from_utf8_lossy(&answer.stdout).into_owned())
    };
    let names = send(&["--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.ListNames"])?;
    let icon = "/org/ayatana/NotificationItem/tray_icon_tray_app_countersign";
    names.split('"').filter(|name| name.starts_with(':')).find_map(|name| {
        let (to, get) = (format!("--dest={name}"), "org.freedesktop.DBus.Properties.Get");
        let said = send(&[
            &to,
            "--reply-timeout=2000",
            icon,
            get,
            "string:org.kde.StatusNotifierItem",
            "string:XAyatanaLabel",
        ])?;
        said.split('"').nth(1).map(str::to_owned)
    })
}

/// In the Audit view: filters records by type and tool, and opens one.
fn looks_up_a_record(page: &Page<'_>) {
    let rows = || {
        page.script("return [...document.querySelectorAll('main ol button:not(.repeats), ol[reversed] button:not(.repeats)')].map((row) => row.innerText);")
    };
    let all = |word: &str| {
        rows().as_array().is_some_and(|rows| {
            !rows.is_empty()
                && rows.iter().all(|row| row.as_str().is_some_and(|row| row.contains(word)))
        })
    };
    page.click("Filter");
    page.choose("Event", "tool_outcome");
    wait("tools that finished, and nothing else", || all("Tool finished").then_some(()));
    page.fill("Search", "cart.addItem");
    wait("the one tool, and nothing else", || {
        (all("Tool finished") && rows().as_array().is_some_and(|rows| rows.len() == 1))
            .then_some(())
    });
    page.named("ol button", "Tool finished", false).click().expect("a record can be opened");
    let record = page.named("aside", "Record ", false);
    let text = record.text().expect("its text");
    assert!(
        text.contains("cart.addItem") && text.contains("Ridge Runner"),
        "the record in full, with what it reveals: {text}"
    );
    page.session.press(&[&[key::ESCAPE]]).expect("Escape");
    wait("the record to close", || page.find("aside", "Record ", false).is_none().then_some(()));
}

#[test]
fn two_pending_actions_are_decided_separately() {
    let journey = Journey::start("two-at-once");
    let first = ask_for_shoes(&journey);
    journey.chat(|page| page.click("New conversation"));
    let second = ask_for_shoes(&journey);
    assert_ne!(first["id"], second["id"]);
    assert_ne!(first["session"], second["session"]);

    let armed = journey.approval(|page| {
        page.says("2 approvals pending");
        // Measures how long Approve stays disabled after the next action is shown.
        let watch = r#"
            const done = arguments[arguments.length - 1];
            const button = () => [...document.querySelectorAll("button")].find((b) => b.textContent.includes("Approve"));
            [...document.querySelectorAll("button")].find((b) => b.textContent.trim() === "Reject").click();
            let since = null;
            const look = () => {
              const b = button();
              if (since === null && b?.disabled) since = performance.now();
              if (since !== null && b && !b.disabled) done(performance.now() - since);
              else requestAnimationFrame(look);
            };
            look();"#;
        page.session.run_async(watch, json!([])).expect("Approve arms again for the next action")
    });
    assert!(
        armed.as_f64().is_some_and(|ms| ms >= 400.0),
        "Approve arms again for each action: {armed}"
    );

    let statuses = wait("one decision", || {
        let statuses = [&first, &second].map(|a| {
            journey.stored_approval(&a["id"])["status"].as_str().unwrap_or_default().to_owned()
        });
        statuses.contains(&"rejected".to_owned()).then_some(statuses)
    });
    assert!(statuses.contains(&"pending".to_owned()), "the other one still waits: {statuses:?}");
    journey.approval(|page| page.click("Approve"));
    wait("the other decision", || {
        let statuses =
            [&first, &second].map(|a| journey.stored_approval(&a["id"])["status"].clone());
        (statuses.contains(&json!("done")) && statuses.contains(&json!("rejected"))).then_some(())
    });
    wait("nothing to wait", || journey.pending().is_empty().then_some(()));
}
