//! A question that is answered from rows: figures, status and chart, and the same figures from another process.

use serde_json::{Value, json};

use crate::world::Journey;

const QUESTION: &str = "How is account 17 pacing this month?";

#[test]
fn a_pacing_question_is_answered_with_figures_and_a_chart() {
    let journey = Journey::start("pacing");
    let answer = journey.ask(QUESTION);
    assert!(answer.chars().any(|c| c.is_ascii_digit()), "the answer holds figures: {answer}");

    let results = journey.results("analyze_portfolio_pacing");
    let shown = &results.last().expect("the tool ran")["data"];
    assert_eq!(results.last().expect("the tool ran")["outcome"], "ok");

    // The same question to another profile with the same clock: another process over the same sample.
    let other = journey.desktop.folder().join("other");
    let output = journey.csign_in(&other, &["--json", "ask", QUESTION]);
    assert!(output.status.success(), "csign answers: {}", String::from_utf8_lossy(&output.stderr));
    let events = String::from_utf8_lossy(&output.stdout).into_owned();
    let theirs = events
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|event| event["type"] == "item" && event["item"]["body"]["kind"] == "tool_result")
        .map(|event| event["item"]["body"]["data"].clone())
        .next_back()
        .expect("csign tells the tool's result");
    for figure in ["spend_to_date", "budget", "status"] {
        let (ours, other) = (find(shown, figure), find(&theirs, figure));
        assert!(!ours.is_null(), "{figure} is in the result: {shown}");
        assert_eq!(ours, other, "{figure} in the window and in csign");
    }

    journey.chat(|page| {
        page.says("Spent");
        let chart = page.script("return document.querySelectorAll('[role=log] svg[role], [role=log] canvas, [role=log] [role=img]').length;");
        assert!(chart.as_u64().unwrap_or(0) > 0, "a chart is drawn");
        assert_eq!(page.script("return document.documentElement.scrollWidth <= innerWidth;"), json!(true), "nothing sticks out");
    });
    journey.picture("pacing.png");
    journey.quit();
    journey.assert_log_verifies();
}

/// The first member with this name at any depth.
fn find<'v>(value: &'v Value, name: &str) -> &'v Value {
    match value {
        Value::Object(members) => {
            if let Some(found) = members.get(name) {
                return found;
            }
            members.values().map(|v| find(v, name)).find(|v| !v.is_null()).unwrap_or(&Value::Null)
        }
        Value::Array(list) => list.iter().map(|v| find(v, name)).find(|v| !v.is_null()).unwrap_or(&Value::Null),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => &Value::Null,
    }
}
