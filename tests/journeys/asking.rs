//! The question of a result in the window: its parts are changed, and the answer is computed again
//! as if the changed question had been asked in words; and how each answer was computed.

use kit::webdriver::wait;
use serde_json::{Value, json};

use crate::{
    given::{self, Model},
    world::{Journey, NOW, Page},
};

pub const ADS: &str = "Day,Campaign,Cost,Clicks\n2026-10-05,Autumn,100.50,10\n\
                   2026-10-20,Winter,40.25,4\n2026-10-21,Autumn,200.25,20\n\
                   2026-11-01,Autumn,1000.50,100\n2026-11-02,Winter,2000.25,200\n";

#[test]
fn a_question_changed_in_its_parts_is_answered_as_the_same_question_in_words() {
    let model = Model::start();
    let journey = Journey::with("asking", &model.settings(), &[("COUNTERSIGN_TEST_NOW", NOW)]);
    given::source(&journey, "ads", ADS);
    let mut query = json!({
        "source": "ads", "measures": ["spend"], "by": ["campaign"], "period": {"this": "month"}
    });
    let asked = json!({"query": query});
    model.ask(&journey, "@Data Spend by campaign this month", "data_measure", asked);
    let this_month = json!([["Autumn", "1,000.50"], ["Winter", "2,000.25"]]);
    journey.chat(|page| {
        page.click("Table");
        shows(page, 0, &this_month);
        change_part(page, "/period");
        page.choose("Period", "last_month");
        page.click("Apply");
        page.says("You changed the question.");
        shows(page, 0, &json!([["Autumn", "300.75"], ["Winter", "40.25"]]));
        change_part(page, "+");
        press(page, ".form button", "Filter");
        page.choose("Filter", "campaign");
        press(page, ".form input[type=checkbox]", "Autumn");
        page.click("Apply");
        shows(page, 0, &json!([["Autumn", "300.75"]]));
    });
    let changed = journey.chat(proof);
    journey.picture("asking/changed.png");

    query["period"] = json!({"previous": "month"});
    query["where"] = json!([{"campaign": ["Autumn"]}]);
    let asked = json!({"query": query});
    model.ask(&journey, "@Data Spend of Autumn last month", "data_measure", asked);
    journey.chat(|page| shows(page, 1, &json!([["Autumn", "300.75"]])));
    let in_words = journey.chat(proof);
    for part in ["sql", "version", "definitions"] {
        assert_eq!(in_words[part], changed[part], "{part}");
    }
    assert!(changed["sql"].as_str().is_some_and(|sql| sql.contains("SELECT")), "{changed}");
    assert!(changed["version"].as_str().is_some_and(|text| text.len() > 8), "{changed}");
    assert_ne!(in_words["record"], changed["record"], "each answer has a record of its own");

    journey.chat(|page| {
        press(page, ".how button", "Verify");
        page.says("The same question over the same rows gives the same figures.");
        let record = in_words["record"].as_str().expect("a record");
        press(page, ".how button", record);
        let number = record.strip_prefix("Open record ").expect("the number of the record");
        page.named("aside", &format!("Record {number}"), true);
        page.go("Chat");
        page.click("Back to the answer as given");
        shows(page, 0, &this_month);
    });
    journey.quit();
    journey.assert_log_verifies();
}

/// Opens the form of a part of the question; `+` adds a part.
pub fn change_part(page: &Page<'_>, at: &str) {
    press(page, &format!("button.chip[data-at=\"{at}\"]"), "");
}

/// Clicks an element of a result in the middle of the window, where no other element covers it.
#[track_caller]
fn press(page: &Page<'_>, selector: &str, name: &str) {
    wait(&format!("a click on {selector} {name}"), || {
        let element = page.find(selector, name, !name.is_empty())?;
        element.to_the_middle().and_then(|()| element.click()).ok()
    });
}

/// Waits until the table of a result has these rows, in any order.
#[track_caller]
pub fn shows(page: &Page<'_>, result: u32, rows: &Value) {
    let script = "const shaped = document.querySelectorAll('section.shaped')[arguments[0]]; \
                  return [...shaped?.querySelectorAll('tbody tr:not(.total, .part)') ?? []].map((row) => [...row.cells].map((cell) => cell.innerText.trim())).sort();";
    wait(&format!("the rows {rows}"), || {
        (page.session.run(script, json!([result])).ok()? == *rows).then_some(())
    });
}

/// Opens how the newest answer was computed, and returns its parts once all of them are there.
fn proof(page: &Page<'_>) -> Value {
    let open = "const button = [...document.querySelectorAll('.how > button')].at(-1); \
                if (button?.getAttribute('aria-expanded') === 'false') button.click(); return !!button;";
    let read = "const facts = [...document.querySelectorAll('.how .facts')].at(-1); \
                const record = facts?.querySelector('.record button')?.innerText.trim(), definitions = facts?.querySelector('h4 + ul')?.innerText ?? ''; \
                if (!record || !definitions.includes('Cost')) return null; \
                return { record, definitions, sql: facts.querySelector('pre').textContent, version: facts.querySelector('dd.mono')?.innerText.trim() ?? null };";
    wait("the way to how it was computed", || (page.script(open) == json!(true)).then_some(()));
    wait("how it was computed", || Some(page.script(read)).filter(Value::is_object))
}
