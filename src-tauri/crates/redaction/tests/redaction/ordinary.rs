//! Tests that ordinary data is not changed at any level: rows of advertising, the demo shop, and the
//! numbers in questions.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    sync::{Arc, Mutex},
};

use campaign_portfolio_pacing::PacingSample;
use chrono::{DateTime, TimeZone, Utc};
use contract::{RedactionKind, pack_code::SampleData as _};
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

/// A file that stays in memory.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn rows_of_advertising_are_not_redacted() {
    let mut files: BTreeMap<String, Kept> = BTreeMap::new();
    PacingSample
        .write_tables(now(), &mut |name: &str| {
            let file = files.entry(name.to_owned()).or_default().clone();
            Ok(Box::new(file) as Box<dyn Write>)
        })
        .unwrap();
    assert_eq!(files.len(), 2);
    for file in files.values() {
        let text = String::from_utf8(file.0.lock().unwrap().clone()).unwrap();
        // The last rows of a file are those of another account than the first.
        let lines: Vec<&str> = text.lines().collect();
        let some = lines.iter().take(100).chain(lines.iter().rev().take(100));
        let rows: Vec<Vec<&str>> = some.map(|line| line.split(',').collect()).collect();
        assert!(rows.len() > 40);
        let result = json!({"columns": rows[0], "rows": rows[1..]});
        assert_untouched(Level::Basic, &result);
        assert_untouched(Level::Strict, &result);
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
        "NO_Q4-2026_ROAS3_V2_A18-34_FB_1x1 acme-spring-sale-2026-q4-launch CampaignPortfolioReport data_explain_change",
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
