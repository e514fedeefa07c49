//! Rules in the window: a rule of the form with a caller and an end, tested on the past, confirmed
//! in the approval window and in force; the rule taken back; and a permission of the file that is
//! revoked.

use std::fs;

use kit::webdriver::wait;
use serde_json::{Value, json};

use crate::world::{Journey, Page};

/// A rule and a permission that were in the file before.
const RULES: &str = r#"{"version": 2,
    "rules": [{"id": "look-first", "action": "ask", "tool": "parcel.track"}],
    "grants": [{"id": "kept", "tool": "parcel.hold", "arguments": {"until": "2030-11-30"}, "expires_at": "2030-12-01T00:00:00Z"}]}"#;

#[test]
fn a_rule_of_the_form_is_tested_confirmed_and_taken_back_and_a_permission_is_revoked() {
    let journey = Journey::prepare("ruling", &[]);
    journey.settings("");
    fs::write(journey.desktop.data_dir().join("policy.json"), RULES).expect("written");
    journey.open();
    journey.ask("show me black trail shoes");
    assert_eq!(search(&journey), "ok");

    journey.chat(|page| {
        page.go("Tools");
        page.named("[role=tab]", "Permissions", true).click().expect("a click");
        page.click("Revoke: parcel.hold");
        page.says("The permission for parcel.hold is revoked.");
    });
    assert_eq!(policy(&journey)["grants"], json!([]), "nobody has to confirm that");
    assert_eq!(rules(&journey), ["look-first"], "rules stay");

    journey.chat(|page| {
        page.named("[role=tab]", "Policy", true).click().expect("a click");
        page.click("Add a rule");
        fill_in_rule(page);
        page.says("deny-product.search was added to the draft.");
        page.says("Test the draft on the past before you save it.");
        assert!(!page.button("Save…").enabled().expect("its state"), "first it is tested");
    });
    test_and_save(&journey, "would be denied", "for the window, until");
    journey.picture("rules/saved.png");
    assert_eq!(rules(&journey), ["look-first", "deny-product.search"]);
    assert_eq!(search(&journey), "denied");
    assert_eq!(verdict(&journey, "window"), "deny");
    assert_eq!(verdict(&journey, "terminal"), "allow", "the rule is about the window alone");

    journey.chat(|page| {
        page.click("Remove: Deny");
        page.says("deny-product.search was removed from the draft.");
    });
    test_and_save(&journey, "would run without asking", "Is removed");
    assert_eq!(rules(&journey), ["look-first"]);
    assert_eq!(search(&journey), "ok");
    journey.quit();
    journey.assert_log_verifies();
}

/// Fills in the form: searches of the window are denied until 2030.
fn fill_in_rule(page: &Page<'_>) {
    page.choose("What the rule does", "deny");
    page.fill("Tool", "product.sear");
    page.named("dialog[open] ul button", "product.search", false).click().expect("a click");
    let choose = "const label = [...document.querySelectorAll('dialog[open] label')].find((one) => one.innerText.trim() === 'the window'); \
                  label?.control.click(); return label?.control.checked ?? false;";
    wait("the caller", || (page.script(choose) == json!(true)).then_some(()));
    // The order in which the driver types into fields for dates depends on the system's language.
    let end = "const field = [...document.querySelectorAll('dialog[open] label')].find((one) => one.innerText.trim() === 'Until')?.control; \
               if (!field) return false; field.value = '2030-01-02T03:04'; field.dispatchEvent(new Event('input', { bubbles: true })); return true;";
    wait("the end", || (page.script(end) == json!(true)).then_some(()));
    page.fill("Reason", "Searches go through purchasing.");
    page.says("Deny product.search, for the window, until Jan 2, 2030");
    page.click("Put into the draft");
}

/// Tests the draft on the past calls, saves it, and confirms it in the approval window.
#[track_caller]
fn test_and_save(journey: &Journey, found: &str, shown: &str) {
    journey.chat(|page| {
        page.click_armed("Test rules on the past");
        page.says(found);
        page.click_armed("Save…");
        page.says("Waiting for your answer in the approval window.");
    });
    journey.confirm(shown);
    journey.chat(|page| page.says("The rules are saved and in force."));
}

fn policy(journey: &Journey) -> Value {
    journey.call("policy_get", json!({})).expect("the policy")
}

/// Returns the ids of the rules that are in force.
fn rules(journey: &Journey) -> Vec<String> {
    let policy = policy(journey);
    let rules = policy["rules"].as_array().into_iter().flatten();
    rules.filter_map(|rule| rule["id"].as_str().map(str::to_owned)).collect()
}

/// Searches the shop without a conversation. Returns the outcome.
fn search(journey: &Journey) -> String {
    let arguments = json!({"query": "shoes"});
    let params = json!({"tool": "product.search", "arguments": arguments, "headless": true});
    let response = journey.call("tool_call", params).expect("a response");
    response["outcome"].as_str().unwrap_or_default().to_owned()
}

/// Returns the verdict on a search of a caller.
fn verdict(journey: &Journey, caller: &str) -> String {
    let arguments = json!({"query": "shoes"});
    let params = json!({"tool": "product.search", "arguments": arguments, "caller": caller});
    let response = journey.call("policy_check", params).expect("a verdict");
    response["verdict"].as_str().unwrap_or_default().to_owned()
}
