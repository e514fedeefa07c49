//! A question that is answered from rows: figures, status and chart. The test computes the figures
//! again from the rows, and asks the same question in another process.

use kit::webdriver::{key, wait};
use serde_json::{Value, json};

use crate::{
    views::resize,
    world::{Journey, NOW},
};

/// The window sizes in which the sentence and the first figures must be visible without scrolling.
const SIZES: [(u32, u32); 3] = [(800, 600), (1280, 800), (1920, 1080)];
const QUESTION: &str = "How is account 17 pacing this month?";

#[test]
fn a_pacing_question_is_answered_with_figures_and_a_chart() {
    let journey = Journey::with("pacing", "", &[("COUNTERSIGN_TEST_NOW", NOW)]);
    let answer = journey.ask(QUESTION);
    let results = journey.results("analyze_portfolio_pacing");
    let result = results.last().expect("the tool ran");
    assert_eq!(result["outcome"], "ok");
    let shown = &result["data"];
    let budget = &shown["insights"]["budget_status"];

    // The figures are computed again in whole cents from the rows of the result.
    let spent: i64 = days(shown).iter().map(|(_, spend)| spend).sum();
    assert_eq!(cents(&budget["spent_budget"]), spent, "what was spent is the sum of the days");
    assert_eq!(
        cents(&budget["remaining_budget"]),
        cents(&budget["portfolio_budget"]) - spent,
        "what remains"
    );
    let percent = f64::from(
        u32::try_from(spent * 10_000 / cents(&budget["portfolio_budget"])).expect("a share"),
    ) / 100.0;
    let told = budget["spend_percentage"].as_f64().expect("a share");
    assert!((told - percent).abs() < 0.011, "{told} % against {percent} %");

    // The same question is asked in another process with another profile and the same sample.
    // There, today's data has grown further.
    let other = journey.desktop.folder().join("other");
    let output = journey.csign_in(&other, &["--json", "ask", QUESTION]);
    assert!(output.status.success(), "csign answers: {}", String::from_utf8_lossy(&output.stderr));
    let theirs = last_result(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(theirs["insights"]["budget_status"]["portfolio_budget"], budget["portfolio_budget"]);
    let whole = |data: &Value| {
        days(data).into_iter().filter(|(date, _)| date != "2026-11-18").collect::<Vec<_>>()
    };
    assert_eq!(whole(&theirs), whole(shown), "the days that are over, in csign and in the window");
    assert_eq!(whole(shown).len(), 17);

    journey.chat(|page| {
        let text = page.text();
        let amount = group_digits(spent);
        assert!(text.contains(&amount), "the page shows {amount}");
        let part = format!("{:.1}% of ", 100.0 * budget["spent_budget"].as_f64().expect("an amount") / budget["portfolio_budget"].as_f64().expect("an amount"));
        assert!(text.contains(&part), "rounded once from the amounts: {part}");
        page.click("Show as text");
        let whole = page.script("return [...document.querySelectorAll('[role=log] article')].at(-1).innerText;");
        let whole = whole.as_str().unwrap_or_default();
        assert!(whole.contains(part.trim_end_matches(" of ")), "and in the answer, too: {whole}");
        let label = shown["insights"]["daily_pacing"]["pacing_status_label"].as_str().expect("a status in words");
        assert!(text.contains(label) && answer.to_lowercase().contains(&label.to_lowercase()), "the status in words: {label}");
        let bars = page.script("return document.querySelectorAll('[role=log] svg rect, [role=log] svg path, [role=log] canvas').length;");
        assert!(bars.as_u64().unwrap_or(0) >= 17, "a chart is drawn from the days: {bars} shapes");
        assert_eq!(page.script("return document.documentElement.scrollWidth <= innerWidth;"), json!(true), "nothing sticks out");
        page.click("Show table");
        page.says("2026");
    });
    journey.picture("pacing.png");
    journey.chat(|page| {
        page.go("Tools");
        page.click("Instructions");
        wait("the specialist with its tool, and the file of instructions that was found for it", || {
            let rows = page.script("return [...document.querySelectorAll('#tools-panel li')].map((row) => row.innerText);");
            let has = |word: &str| {
                let mut rows = rows.as_array().into_iter().flatten().filter_map(Value::as_str);
                rows.any(|row| row.contains("Analyze portfolio pacing") && row.contains(word))
            };
            (has("Guardian") && has("Found")).then_some(())
        });
    });
    journey.quit();
    journey.assert_log_verifies();
}

#[test]
fn question_answer_and_first_figures_are_visible_after_sending() {
    let journey = Journey::with("first-answer", "", &[("COUNTERSIGN_TEST_NOW", NOW)]);
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
                 const figure = [...log.querySelectorAll('*')].find((e) => !e.children.length && e.textContent.trim() === 'Spent'); \
                 const sentence = [...log.querySelectorAll('article')].at(-1)?.querySelector('p'); \
                 return seen(leaf(arguments[0])) && seen(sentence) && /\\d%/.test(sentence.innerText) && seen(figure);";
            wait(&format!("question, sentence and figures in view at {width}x{height}"), || {
                (page.session.run(in_view, json!([QUESTION])).ok()? == json!(true)).then_some(())
            });
        });
        journey.picture(format!("first-answer-{width}x{height}.png"));
    }
}

/// Returns the days of the window with their spend in cents, as listed in the result.
fn days(data: &Value) -> Vec<(String, i64)> {
    let days = data["insights"]["daily_trend"].as_array().cloned().unwrap_or_default();
    days.iter()
        .map(|day| (day["date"].as_str().unwrap_or_default().to_owned(), cents(&day["spend"])))
        .collect()
}

/// Converts an amount with at most two decimals to cents.
fn cents(amount: &Value) -> i64 {
    let text = amount.to_string();
    let (whole, decimals) =
        text.trim_matches('"').split_once('.').unwrap_or((text.trim_matches('"'), ""));
    let sign = if whole.starts_with('-') { -1 } else { 1 };
    let whole: i64 =
        whole.trim_start_matches('-').parse().unwrap_or_else(|_| panic!("{text} is an amount"));
    sign * (whole * 100 + format!("{decimals:0<2}")[..2].parse::<i64>().expect("decimals"))
}

/// Formats cents as the window does in English.
fn group_digits(cents: i64) -> String {
    let whole = (cents / 100).to_string();
    let groups: Vec<&str> = whole
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).expect("digits"))
        .collect();
    format!("{}.{:02}", groups.join(","), cents % 100)
}

/// Returns the last tool result among the events in csign's output.
fn last_result(lines: &str) -> Value {
    let events = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events
        .filter(|event| event["type"] == "item" && event["item"]["body"]["kind"] == "tool_result")
        .map(|event| event["item"]["body"]["data"].clone())
        .next_back()
        .expect("csign tells the tool's result")
}
