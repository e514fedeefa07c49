//! The sample in the window: it is added from an empty conversation, and a question about its pace is
//! answered with the sum of its rows, in sight without scrolling.

use kit::webdriver::{PATIENCE, key, wait, wait_for};
use serde_json::{Value, json};

use crate::{
    views::resize,
    world::{Journey, NOW},
};

/// The window sizes in which question and answer must be visible without scrolling.
const SIZES: [(u32, u32); 3] = [(800, 600), (1280, 800), (1920, 1080)];
const QUESTION: &str = "How is account 17 pacing this month?";
const OFFER: &str = "Add sample tables: campaigns and delivery";
/// The spend of the account this month, computed without definitions.
const SPENT: &str = "SELECT CAST(sum(\"Spend\") AS VARCHAR) FROM delivery \
                     WHERE \"Account ID\" = '17' AND \"Day\" >= DATE '2026-11-01'";

#[test]
fn the_sample_is_added_and_a_question_about_it_is_answered_in_sight() {
    let journey = Journey::with("pacing", "", &[("COUNTERSIGN_TEST_NOW", NOW)]);
    journey.chat(|page| page.click(OFFER));
    wait_for("the sample", PATIENCE * 4, || {
        let found = journey.call("sources_list", json!({})).ok()?;
        (found["sources"].as_array()?.len() == 3).then_some(())
    });
    wait("no offer of the sample", || journey.chat(|page| (!page.has_button(OFFER)).then_some(())));
    let answer = journey.ask(QUESTION);
    let output = journey.csign(&["data", "query", SPENT, "--json"]);
    let rows: Value = serde_json::from_slice(&output.stdout).expect("rows");
    let spent = rows["rows"][0][0].as_str().expect("a sum");
    let results = journey.results("data.measure");
    let result = &results.last().expect("the tool ran")["data"];
    let columns = result["columns"].as_array().expect("columns");
    let at = columns.iter().position(|column| column["name"] == "spend").expect("the spend");
    let number = |text: &str| text.trim_matches('"').parse::<f64>().expect("a number");
    let told = number(&result["rows"][0][at].to_string());
    assert!((told - number(spent)).abs() < 0.005, "{spent} in {result}");
    let whole = spent.split_once('.').map_or(spent, |(whole, _)| whole);
    let thousands = &whole[..whole.len() - 3];
    assert!(answer.contains(&format!("{thousands},")), "{spent} in {answer}");

    for (width, height) in SIZES {
        journey.chat(|page| {
            resize(page, width, height);
            page.session.press(&[&[key::CONTROL, "n"]]).expect("Ctrl+N");
            wait("an empty conversation", || (page.answers() == 0).then_some(()));
            page.send(QUESTION);
            page.answer_after(0);
            let in_view = "const log = document.querySelector('[role=log]'); \
                 const box = document.querySelector('.composer').getBoundingClientRect(); \
                 const seen = (e) => { const r = e?.getBoundingClientRect(); return !!r && r.height > 0 && r.top >= 0 && r.bottom <= box.top; }; \
                 const leaf = (text) => [...log.querySelectorAll('*')].filter((e) => e.innerText?.includes(text)).at(-1); \
                 const sentence = [...log.querySelectorAll('article')].at(-1)?.querySelector('p'); \
                 return seen(leaf(arguments[0])) && seen(sentence) && /\\d/.test(sentence.innerText);";
            wait(&format!("question and sentence in view at {width}x{height}"), || {
                (page.session.run(in_view, json!([QUESTION])).ok()? == json!(true)).then_some(())
            });
        });
        journey.picture(format!("first-answer-{width}x{height}.png"));
    }
    journey.quit();
    journey.assert_log_verifies();
}
