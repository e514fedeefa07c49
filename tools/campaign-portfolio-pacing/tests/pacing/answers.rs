//! Tests of the manifest's answer templates, rendered with simplified filters of the offline model.

use std::fs;

use minijinja::{Environment, Value as Template, syntax::SyntaxConfig, value::Serde};
use serde_json::{Value, json};

use crate::{row, with_rows};

fn render_answer(intent: &str, locale: &str, result: &Value) -> String {
    let file = if intent == "campaigns" { "list" } else { "pace" };
    let folder = env!("CARGO_MANIFEST_DIR");
    let read = |name: &str| fs::read_to_string(format!("{folder}/{name}")).unwrap();
    let (english, words) = (read("messages/en.json"), read(&format!("messages/{locale}.json")));
    let template = read(&format!("answers/{file}.jinja"));
    let words = format!("{{'en': {english}, '{locale}': {words}}}");
    let text = format!("{{% set t = catalogue('{locale}', {words}) %}}{template}");
    let mut environment = Environment::new();
    environment
        .set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().unwrap());
    environment.add_filter("money", |value: Template, _: Option<String>, _: Option<usize>| value);
    environment.add_filter("day", |value: Template, _: Option<bool>| value);
    environment.add_filter("percent", |value: Template| {
        f64::try_from(value).map_or("–".to_owned(), |value| format!("{value:.1}%"))
    });
    environment.add_filter("number", |value: Template, _: Option<usize>| value);
    environment.add_function("catalogue", messages::template_words(str::to_owned));
    environment.add_function("period", |start: String, end: String| format!("{start} – {end}"));
    environment
        .render_str(
            &text,
            Template::from(Serde(json!({"intent": intent, "args": {}, "result": result}))),
        )
        .unwrap_or_else(|why| panic!("{intent}: {why:#}"))
}

/// Returns ten days of November, with the given budget and spend of each campaign.
fn november(campaigns: &[(&str, &str, &str)]) -> Value {
    let campaign = |(id, budget, _): &(&str, &str, &str)| {
        format!("7,Advertiser A,{id},Campaign {id},{budget},2026-11-01,2026-11-30,UTC,EUR\n")
    };
    let delivery: String =
        campaigns.iter().map(|(id, _, spend)| row(id, id, "2026-11-10", spend)).collect();
    let (_folder, pacing) = with_rows(
        "2026-11-11T00:00:00Z",
        &campaigns.iter().map(campaign).collect::<String>(),
        &delivery,
    );
    pacing.analyze(&json!({"account_id": "7", "campaign_start": "2026-11-01", "campaign_end": "2026-11-30"})).unwrap()
}

#[test]
fn percentages_are_rounded_once_from_the_amounts() {
    let result = november(&[("A", "50000", "21424.20"), ("B", "50000", "21424.20")]);
    let budget = &result["insights"]["budget_status"];
    let told = ["spend_percentage", "variance_percentage", "budget_projection"]
        .map(|name| budget[name].as_f64().unwrap());
    assert_eq!(told, [42.85, 28.55, 128.55], "rounded again, these would be too much by a tenth");
    for (answer, shares) in [
        ("pace", &["(42.8%)", "(28.5%)", "128.5%"][..]),
        ("why", &["(28.5%)"]),
        ("campaigns", &["| 42.8% |"]),
    ] {
        for locale in ["en", "sv"] {
            let text = render_answer(answer, locale, &result);
            for share in shares {
                assert!(text.contains(share), "{share} in {answer}.{locale}: {text}");
            }
            assert!(!text.contains("42.9%"), "{answer}.{locale}: {text}");
        }
    }
}

#[test]
fn a_campaign_without_a_budget_has_no_spend_percentage() {
    let result = november(&[("A", "50000", "20000"), ("B", "", "1000")]);
    for locale in ["en", "sv"] {
        let text = render_answer("campaigns", locale, &result);
        assert!(text.contains("| 40.0% |") && text.contains("| – |"), "{text}");
        let text = ["pace", "why"].map(|answer| render_answer(answer, locale, &result)).concat();
        assert!(
            !text.contains("(–)") && !text.contains("(0.0%)"),
            "no budget is used least: {text}"
        );
    }
}

/// Returns fourteen days of delivery: 100 a day, and 50 a day in the newest week.
fn two_weeks() -> Value {
    let delivery: String = (1..=14)
        .map(|day| {
            let spend = if day < 8 { "100" } else { "50" };
            row("A", "A", &format!("2026-11-{day:02}"), spend)
        })
        .collect();
    let (_folder, pacing) = with_rows(
        "2026-11-12T12:00:00Z",
        "7,Advertiser A,A,Campaign A,3000,2026-11-01,2026-11-30,UTC,EUR\n",
        &delivery,
    );
    let asked = json!({
        "account_id": "7",
        "campaign_start": "2026-11-08",
        "campaign_end": "2026-11-14",
        "compare_start": "2026-11-01",
        "compare_end": "2026-11-07",
    });
    pacing.analyze(&asked).unwrap()
}

#[test]
fn a_comparison_uses_the_same_number_of_days_on_both_sides() {
    let result = two_weeks();
    for locale in ["en", "sv"] {
        let text = render_answer("compare", locale, &result);
        // Four full days of 50 are compared with four days of 100, because today is not over.
        for part in ["**200.0**", "400.0", "2026-11-08 – 2026-11-11", "2026-11-01 – 2026-11-04"]
        {
            assert!(text.contains(part), "{part} is missing in {locale}: {text}");
        }
        assert!(text.contains("-50.0%"), "{text}");
        assert!(render_answer("is_more", locale, &result).starts_with("**N"), "not more");
        assert!(!render_answer("is_less", locale, &result).starts_with("**N"), "less");
    }
}
