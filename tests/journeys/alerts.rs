//! Alerts in the window: the rule that is proposed for a source tells of a change, and the alert opens the
//! question that explains it.

use std::fmt::Write as _;

use kit::webdriver::wait;
use serde_json::json;

use crate::{
    given,
    world::{Journey, NOW},
};

#[test]
fn an_alert_is_opened_and_shows_the_figures_that_explain_it() {
    let journey = Journey::with("alerts", "", &[("COUNTERSIGN_TEST_NOW", NOW)]);
    let mut text = "Day,Campaign,Cost,Clicks\n".to_owned();
    for day in 1..=16 {
        // The last seven days before the clock's have twice the cost of those before.
        let cost = if day < 10 { 10 } else { 20 };
        writeln!(text, "2026-11-{day:02},Autumn,{cost}.00,10").expect("a text");
    }
    given::source(&journey, "ads", &text);
    journey.chat(|page| {
        page.go("Boards");
        page.click("Alerts");
        page.says("No rules yet");
        page.click("Watch ads");
        page.says("Tell when");
        page.click_armed("Try on the past");
        page.says("in the last 30 full days");
        page.click_armed("Save rule");
        page.says("Checked until");
        let open = "const button = document.querySelector('[data-alert] button'); button?.click(); return !!button;";
        wait("the alert", || (page.script(open) == json!(true)).then_some(()));
        page.says("source ads");
        page.says("140");
        page.click("Close");
    });
    wait("the alert to be seen", || {
        let found = journey.call("alerts_list", json!({})).ok()?;
        let alert = &found["alerts"][0];
        let is_opened = alert["is_seen"] == json!(true) && alert["since"] == json!("2026-11-16");
        (is_opened && found["unseen"] == json!(0)).then_some(())
    });
    journey.quit();
    journey.assert_log_verifies();
}
