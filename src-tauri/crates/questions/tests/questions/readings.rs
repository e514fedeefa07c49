//! Single rules of reading: names, corrections, sources, limits.

use analytics::SourceModel;
use contract::metric_query::Period;
use questions::{Assumed, Declined, Outcome, Reading, SpanMeaning};
use serde_json::json;

use crate::support::{Fixture, fixture, shared, shown};

fn one(text: &str) -> Reading {
    match shared().read(text) {
        Outcome::One(reading) => *reading,
        other => panic!("{}", shown(&other, text)),
    }
}

fn left_out(text: &str) -> Vec<String> {
    match shared().read(text) {
        Outcome::Partly { without, .. } => {
            without.iter().map(|at| text[at.clone()].to_owned()).collect()
        }
        other => panic!("{}", shown(&other, text)),
    }
}

#[test]
fn a_word_of_a_language_is_never_corrected_to_a_name() {
    // "fort" is Swedish for fast, and no number; "conversation" is no conversion.
    assert_eq!(left_out("clicks fort by device"), ["fort"]);
    assert_eq!(left_out("conversation by device, clicks"), ["conversation"]);
    assert_eq!(left_out("spend of paused campaigns"), ["paused"]);
    assert_eq!(left_out("current spend by device"), ["current"]);
}

#[test]
fn a_correction_is_said_with_its_place() {
    let text = "revenue for Tral Tent 2 by cityy";
    let found: Vec<(&str, String)> = one(text)
        .corrections
        .into_iter()
        .map(|correction| (&text[correction.at], correction.name))
        .collect();
    assert_eq!(found, [("Tral Tent 2", "Trail Tent 2".to_owned()), ("cityy", "city".to_owned())]);
}

#[test]
fn each_part_of_a_text_has_a_meaning() {
    let text = "Top 2 campaigns by clicks for Spa Weekends in October";
    let found = one("Top 2 devices by clicks for Spa Weekends in October").spans;
    assert!(found.iter().any(|span| span.means
        == SpanMeaning::Value { dimension: "campaign".into(), value: "Spa Weekends".into() }));
    assert!(
        found.iter().any(|span| span.means == SpanMeaning::Period(Period::Month("2026-10".into())))
    );
    let spans = one(text).spans;
    assert_eq!(&text[spans[0].at.clone()], "Top");
    assert!(spans.iter().all(|span| span.means != SpanMeaning::LeftOut));
}

#[test]
fn a_default_is_said() {
    assert_eq!(one("campaigns in Ireland").assumed, [Assumed::Measure("spend".to_owned())]);
    assert_eq!(one("growth in clicks").assumed, [Assumed::Period]);
    assert_eq!(one("clicks over time in october").assumed, [Assumed::Grain]);
}

#[test]
fn a_value_of_two_dimensions_gives_two_readings() {
    let plain = fixture();
    let mut values = plain.values.clone();
    let own = values.get_mut(&"search_ads".into()).unwrap();
    own.get_mut("campaign").unwrap().push("Ireland".to_owned());
    let both = Fixture::of(plain.catalog.clone(), values);
    let found = both.read("clicks for Ireland");
    let Outcome::Several(readings) = &found else { panic!("{found:?}") };
    let conditions: Vec<_> = readings.iter().map(|one| json!(one.query.conditions)).collect();
    assert_eq!(conditions.len(), 2);
    assert!(conditions.contains(&json!([{"campaign": ["Ireland"]}])), "{conditions:?}");
    // The dimension beside the value decides.
    for text in ["clicks for country Ireland", "clicks for the Ireland campaign"] {
        assert!(matches!(both.read(text), Outcome::One(_)), "{text} {:?}", both.read(text));
    }
}

#[test]
fn sources_with_the_same_names_give_several_readings_until_one_is_named() {
    let plain = fixture();
    let (mut catalog, mut values) = (plain.catalog.clone(), plain.values.clone());
    let mut definitions = catalog.sources[0].definitions.clone();
    definitions.source = "display_ads".into();
    values.insert("display_ads".into(), values[&"search_ads".into()].clone());
    catalog.sources.push(SourceModel::new(definitions, catalog.sources[0].columns.clone()));
    let both = Fixture::of(catalog, values);
    let Outcome::Several(readings) = both.read("spend by device") else { panic!() };
    assert_eq!(readings.len(), 2);
    for name in ["search ads", "display_ads"] {
        let text = format!("spend by device in {name}");
        let Outcome::One(reading) = both.read(&text) else { panic!("{text}") };
        assert_eq!(reading.query.source.unwrap().as_str(), name.replace(' ', "_"));
    }
}

#[test]
fn a_text_that_is_too_long_is_declined() {
    let text = "spend by campaign ".repeat(100);
    let Outcome::Declined { by, .. } = shared().read(&text) else { panic!() };
    assert_eq!(by, Declined::Length);
}
