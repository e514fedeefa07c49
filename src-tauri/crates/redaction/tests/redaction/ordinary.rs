//! Tests that ordinary data is not changed at any level: the pacing report, the demo shop, and the
//! numbers in questions.

use std::sync::Arc;

use campaign_portfolio_pacing::Pacing;
use chrono::{DateTime, TimeZone, Utc};
use contract::RedactionKind;
use redaction::Level;
use serde_json::{Map, Value, json};

use crate::kit::Session;

fn now() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 20, 12, 0, 0).unwrap()
}

#[track_caller]
fn assert_untouched(level: Level, value: &Value) {
    let mut session = Session::new(level);
    let out = session.value(value);
    assert!(session.replaced.is_empty(), "{:?} in {out}", session.replaced.counts());
    assert_eq!(&out, value);
    let text = value.to_string();
    assert_eq!(session.text(&text), text, "also as one text");
}

#[test]
fn a_pacing_report_is_not_redacted() {
    let folder = tempfile::tempdir().unwrap();
    let pacing = Pacing::open(folder.path(), Arc::new(now)).unwrap();
    let accounts: Vec<String> = pacing
        .entities()
        .unwrap()
        .into_iter()
        .filter(|e| e.kind == "account")
        .map(|e| e.id)
        .collect();
    assert!(!accounts.is_empty());
    for account in accounts {
        let report =
            pacing.analyze(&json!({"account_id": account, "campaign_budget": 30000})).unwrap();
        assert!(report.to_string().len() > 500);
        assert_untouched(Level::Basic, &report);
        assert_untouched(Level::Strict, &report);
    }
}

#[test]
fn only_web_addresses_are_redacted_in_shop_results() {
    let today = now().date_naive();
    let shop = shop::Shop::open(shop::Options {
        today: Box::new(move || today),
        ..shop::Options::default()
    })
    .unwrap();
    let mut arguments: Map<String, Value> = Map::new();
    arguments.insert("clientIp".into(), json!("127.0.0.1"));
    for query in ["shoes", "jacket", "skor", "bike"] {
        arguments.insert("query".into(), json!(query));
        let found = shop
            .call("product.search", &arguments)
            .map_err(|(error, locale)| error.sentence(locale))
            .unwrap();
        assert_untouched(Level::Basic, &found);
        let mut session = Session::new(Level::Strict);
        session.value(&found);
        assert!(
            session.replaced.counts().iter().all(|count| count.kind == RedactionKind::Url),
            "{:?}",
            session.replaced.counts()
        );
    }
}

#[test]
fn ordinary_figures_are_not_redacted() {
    for text in [
        "campaign 120210000000000123 and line item 987654321",
        "23843211234560123;17;2026-11-20;30 000,00;1 234 567",
        "Spent 27 903.12 of 30 000.00 EUR, +12 345 678 impressions (+1.25 %), CPM 4.50",
        "from 2026-11-01 to 2026-11-30, 2026-11-20T13:00:00+01:00, 08:12 30 45",
        "+1 234 567.89 SEK, +1234567.89, -4111111111111111.5",
        "hour 07 123 456, hour 08 120 340, 01-12-2026, 05/2026, 2024 2025 2026",
        "EAN 7310865004703, GTIN 07310865004703, order 1000234567, ISBN 978-3-16-148410-0",
        "part TS-1040, SKU 40-1123-556, v1.25.3, 10.0.0.12, 127.0.0.1:8080",
        "NO_Q4-2026_ROAS3_V2_A18-34_FB_1x1 acme-spring-sale-2026-q4-launch CampaignPortfolioPacingReport analyze_portfolio_pacing",
        "Friday 2026-11-20 13:00 +01:00 (Europe/Stockholm)",
        "password: required, token = something, the secret: nothing here",
        "logo@2x.png @anna #anna 5 @ 3.50, a@b",
        "1234 5678 9012 3456, 4111 1111 1111 1112, 0000 0000 0000 0000, 4444 4444 4444 4444",
        "SE12 3456, AB12 CDEF GHIJ KLMN, DE00370400440532013000",
        "rate <10 and >5, a<b, <b>bold</b>, <email>, <email_>, <email_01>, <kind_1>",
    ] {
        for level in [Level::Basic, Level::Strict] {
            let mut session = Session::new(level);
            assert_eq!(session.text(text), text);
            assert!(session.replaced.is_empty(), "{text}");
        }
    }
}
