//! The user's own delivery data: a file with errors dropped on the window, a file from the system's
//! file chooser that answers the next question, and a switch back to the sample.

use std::{fmt::Write as _, fs, path::PathBuf};

use kit::webdriver::wait;
use serde_json::{Value, json};

use crate::{
    choosers::{OPEN, choose},
    dragging::drop_files,
    sources::in_sizes,
    world::{Journey, NOW, Page},
};

const HEADER: &str = "account_id,account_name,advertiser,campaign_id,campaign_name,line_item_id,line_item_name,date,hour,spend,impressions\n";
const QUESTION: &str = "How is account 7 pacing this month?";

#[test]
fn imported_files_are_used_in_the_next_answer() {
    let journey = Journey::with("importing", "", &[("COUNTERSIGN_TEST_NOW", NOW)]);
    journey.chat(|page| {
        go_to_pacing(page);
        wait("the sample to answer", || (answering(page) == "sample").then_some(()));
        assert!(card(page, "imported").contains("No rows"), "{}", card(page, "imported"));
    });

    // A file with errors is dropped: every cause is reported, and the user decides about the
    // other lines.
    let bad = file(
        &journey,
        "bad.csv",
        &format!(
            "{HEADER}{}{}{}",
            row("2026-11-03", "9", "0.01"),
            row("soon", "9", "0.01"),
            row("2026-11-03", "9", "12,5O")
        ),
    );
    drop_files(&journey, &[&bad], || {
        journey.chat(|page| page.text().contains("Drop the files to import them"))
    });
    journey.chat(|page| {
        page.says("2 lines cannot be read");
        page.says("Import the rest (1 line)");
        let causes = page.script("return [...[...document.querySelectorAll('table')].find((table) => table.caption?.textContent.includes('cannot be read')).tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()));");
        let told = json!([["“soon” is not a day. Write it as 2026-11-30.", "date", "3", "1"], ["“12,5O” is not a number.", "spend", "4", "1"]]);
        assert_eq!(causes, told);
        assert_eq!(answering(page), "sample");
        assert!(card(page, "imported").contains("No rows"), "{}", card(page, "imported"));
    });
    in_swedish(&journey);
    in_sizes(&journey, "pacing-rejected");
    journey.picture("import-errors.png");
    journey.chat(|page| page.click("Cancel"));

    // The file from the chooser is large enough to show progress.
    let good = file(&journey, "good.csv", &large());
    journey.chat(|page| {
        page.script(WATCH);
        page.click("Choose files");
    });
    choose(&journey, OPEN, &good);
    journey.chat(|page| {
        page.says("40,800 rows are stored.");
        let seen = page.script("return [...new Set(window.seen)];");
        let between = |value: &Value| value.as_f64().is_some_and(|part| part > 0.0 && part < 1.0);
        assert!(
            seen.as_array().is_some_and(|all| all.iter().any(between)),
            "progress between start and end: {seen}"
        );
        wait("the imported rows to answer", || (answering(page) == "imported").then_some(()));
        let held = card(page, "imported");
        assert!(
            held.contains("40,800 rows, 1 account") && held.contains("Nov 1, 2026 to Nov 17, 2026"),
            "{held}"
        );
    });
    in_sizes(&journey, "pacing-imported");
    journey.picture("import-done.png");
    assert_eq!(
        spent(&journey, QUESTION),
        json!(["7", 408.0, false]),
        "a hundred line items, 17 days of 24 hours, a cent each"
    );

    // The user switches to the sample, and back to the imported data.
    switch(&journey, "Use the sample data", "sample");
    assert_eq!(
        spent(&journey, "How is account 17 pacing this month?")
            .as_array()
            .map(|all| (all[0].clone(), all[2].clone())),
        Some((json!("17"), json!(true)))
    );
    switch(&journey, "Use the imported data", "imported");
    assert_eq!(spent(&journey, QUESTION), json!(["7", 408.0, false]));
    journey.quit();
    journey.assert_log_verifies();
}

/// A script that records how far the progress bar gets.
const WATCH: &str = "window.seen = []; new MutationObserver(() => { \
    const bar = document.querySelector('[role=progressbar]'); \
    if (bar) window.seen.push(Number(bar.getAttribute('aria-valuenow')) / 100); \
    }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });";

/// Opens the data of pacing. Files that are dropped there are for pacing.
fn go_to_pacing(page: &Page<'_>) {
    page.go("Data");
    page.click("Delivery data");
}

/// Returns the data set that the page marks as active.
fn answering(page: &Page<'_>) -> String {
    page.script("return document.querySelector('[data-set].active')?.dataset.set ?? '';")
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn card(page: &Page<'_>, set: &str) -> String {
    page.script(&format!("return document.querySelector('[data-set={set}]')?.innerText ?? '';"))
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn switch(journey: &Journey, button: &str, set: &str) {
    journey.chat(|page| {
        go_to_pacing(page);
        page.click(button);
        wait(&format!("{set} to answer"), || (answering(page) == set).then_some(()));
    });
}

/// Returns the account of an answer, its spend, and whether it belongs to the sample.
fn spent(journey: &Journey, question: &str) -> Value {
    journey.chat(|page| page.go("Chat"));
    journey.ask(question);
    let results = journey.results("analyze_portfolio_pacing");
    let data = &results.last().expect("the tool ran")["data"];
    let sample = data["flags"]
        .as_array()
        .is_some_and(|flags| flags.iter().any(|flag| *flag == "sample_data"));
    json!([data["account_id"], data["insights"]["budget_status"]["spent_budget"].as_f64(), sample])
}

/// Errors are worded by the window, so they follow the language.
fn in_swedish(journey: &Journey) {
    for (language, words) in
        [("sv", "”soon” är ingen dag. Skriv den som 2026-11-30."), ("en", "“soon” is not a day.")]
    {
        let mut settings =
            journey.call("settings_get", json!({})).expect("settings")["settings"].clone();
        settings["language"] = json!(language);
        journey.call("settings_set", json!({ "settings": settings })).expect("the language is set");
        journey.chat(|page| page.says(words));
    }
}

fn file(journey: &Journey, name: &str, text: &str) -> PathBuf {
    let path = journey.desktop.folder().join("home").join(name);
    fs::write(&path, text).expect("written");
    path
}

fn row(date: &str, hour: &str, spend: &str) -> String {
    format!("7,Own Account,Own Advertiser,A,Autumn,1,Item 1,{date},{hour},\"{spend}\",10\n")
}

fn large() -> String {
    let mut text = HEADER.to_owned();
    for item in 0..100 {
        for (day, hour) in (1..=17).flat_map(|day| (0..24).map(move |hour| (day, hour))) {
            writeln!(text, "7,Own Account,Own Advertiser,A,Autumn,{item},Item {item},2026-11-{day:02},{hour},0.01,10").expect("text grows");
        }
    }
    text
}
