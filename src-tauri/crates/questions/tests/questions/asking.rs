//! Texts with several questions, help while typing, and questions that are suggested.

use analytics::Catalog;
use contract::metric_query::read_metric_query;
use questions::{CompletionKind, Outcome, Values};
use serde_json::{Value, json};

use crate::support::{Fixture, fixture_of, same, shared, shown};

/// Checks that a text has these questions, each with its query.
fn parts(text: &str, wanted: &[(&str, Value)]) {
    let fixture = shared();
    let found = fixture.reader.read_parts(text, &fixture.names, &fixture.catalog, &fixture.as_of);
    let seen: Vec<String> = found
        .iter()
        .map(|(at, outcome)| format!("{}: {}", &text[at.clone()], shown(outcome, text)))
        .collect();
    assert_eq!(found.len(), wanted.len(), "{text}\n{}", seen.join("\n"));
    for ((at, outcome), (part, query)) in found.iter().zip(wanted) {
        assert_eq!(&text[at.clone()], *part, "{}", seen.join("\n"));
        let Outcome::One(reading) = outcome else { panic!("{}", seen.join("\n")) };
        let query = read_metric_query(query).unwrap();
        assert!(same(&reading.query, &query), "{}", seen.join("\n"));
        let is_inside = |span: &questions::Span| span.at.start >= at.start && span.at.end <= at.end;
        assert!(reading.spans.iter().all(is_inside), "{text} {:?}", reading.spans);
    }
}

#[test]
fn a_text_with_two_questions_is_divided_and_one_question_is_not() {
    let spend =
        |period: Value| json!({"source": "search_ads", "measures": ["spend"], "period": period});
    parts(
        "spend in October and clicks in September",
        &[
            ("spend in October ", spend(json!({"month": "2026-10"}))),
            (
                "clicks in September",
                json!({"source": "search_ads", "measures": ["clicks"], "period": {"month": "2026-09"}}),
            ),
        ],
    );
    parts(
        "What was our spend last month? How many orders came from Stockholm?",
        &[
            ("What was our spend last month", spend(json!("last_month"))),
            (
                "How many orders came from Stockholm?",
                json!({"source": "webshop_orders", "measures": ["orders"], "where": {"city": ["Stockholm"]}, "period": "last_month"}),
            ),
        ],
    );
    parts(
        "total spend last month and top 5 campaigns by clicks",
        &[
            ("total spend last month ", spend(json!("last_month"))),
            (
                "top 5 campaigns by clicks",
                json!({"source": "search_ads", "measures": ["clicks"], "by": ["campaign"], "order": [{"by": "clicks", "descending": true}], "limit": 5, "period": "last_month"}),
            ),
        ],
    );
    parts(
        "spend and tickets by month",
        &[
            (
                "spend ",
                json!({"source": "search_ads", "measures": ["spend"], "by": [{"time": "month"}]}),
            ),
            (
                "tickets by month",
                json!({"source": "helpdesk", "measures": ["tickets"], "by": [{"time": "month"}]}),
            ),
        ],
    );
}

#[test]
fn a_later_part_is_about_the_things_that_it_refers_to() {
    let sweden = json!({"country": ["Sweden"]});
    let rank = json!([{"by": "clicks", "descending": true}]);
    parts(
        "What was the spend in Sweden last month, and which device there had the most clicks?",
        &[
            (
                "What was the spend in Sweden last month",
                json!({"source": "search_ads", "measures": ["spend"], "where": sweden, "period": "last_month"}),
            ),
            (
                "which device there had the most clicks?",
                json!({"source": "search_ads", "measures": ["clicks"], "by": ["device"], "where": sweden, "period": "last_month", "order": rank, "limit": 1}),
            ),
        ],
    );
    let tickets = |conditions: Value| json!({"source": "helpdesk", "measures": ["tickets"], "where": conditions, "period": "last_week"});
    parts(
        "how many tickets did Billing get last week, and how many of them are Urgent?",
        &[
            ("how many tickets did Billing get last week", tickets(json!({"team": ["Billing"]}))),
            (
                "how many of them are Urgent?",
                tickets(json!({"team": ["Billing"], "priority": ["Urgent"]})),
            ),
        ],
    );
}

#[test]
fn one_question_with_several_names_is_not_divided() {
    for one in [
        "spend and clicks by campaign",
        "clicks by campaign, most first",
        "spend by campaign, top 5",
        "clicks in Sweden and Ireland",
        "kostnad och klick per enhet",
        "spend by campaign, device and week in October and November",
        "how many clicks and how many conversions by device",
        "spend by campaign, and how many clicks were there",
    ] {
        let fixture = shared();
        let found =
            fixture.reader.read_parts(one, &fixture.names, &fixture.catalog, &fixture.as_of);
        assert_eq!(found.len(), 1, "{one} {found:?}");
        assert_eq!(found[0].1, fixture.read(one), "{one}");
    }
}

fn complete(text: &str, language: &str) -> Vec<(String, CompletionKind)> {
    let fixture = shared();
    let found =
        fixture.reader.complete(text, text.len(), &fixture.names, &fixture.catalog, language);
    assert!(found.len() <= 8);
    for one in &found {
        assert!(text.get(one.replace.clone()).is_some(), "{one:?}");
    }
    found.into_iter().map(|one| (one.insert, one.kind)).collect()
}

#[test]
fn names_periods_and_operations_that_fit_are_offered_while_typing() {
    assert!(
        complete("", "en")
            .iter()
            .all(|(_, kind)| matches!(kind, CompletionKind::Measure | CompletionKind::Dimension))
    );
    assert_eq!(complete("spe", "en")[0], ("spend".to_owned(), CompletionKind::Measure));
    assert_eq!(complete("kost", "sv")[0].1, CompletionKind::Dimension);
    assert!(
        complete("spend by ca", "en").contains(&("campaign".to_owned(), CompletionKind::Dimension))
    );
    assert!(
        complete("spend for the campaign ", "en")
            .contains(&("Easter".to_owned(), CompletionKind::Value))
    );
    assert!(
        complete("clicks for brand u", "en")
            .contains(&("Brand UK".to_owned(), CompletionKind::Value))
    );
    assert!(
        complete("spend in ", "en").contains(&("last month".to_owned(), CompletionKind::Period))
    );
    assert!(
        complete("klick i ", "sv").contains(&("förra månaden".to_owned(), CompletionKind::Period))
    );
    // Only names of the source that the text is about are offered.
    let found = complete("clicks by ", "en");
    assert!(found.iter().any(|(name, _)| name == "device"), "{found:?}");
    assert!(found.iter().all(|(name, _)| name != "city"), "{found:?}");
}

#[test]
fn a_completion_in_the_middle_of_a_letter_is_no_fault() {
    let fixture = shared();
    for cursor in 0..12 {
        fixture.reader.complete("före å ö", cursor, &fixture.names, &fixture.catalog, "sv");
    }
}

#[test]
fn words_that_no_reading_uses_are_found() {
    let fixture = shared();
    let check = |text: &str| -> Vec<String> {
        let found =
            fixture.reader.check(text, None, &fixture.names, &fixture.catalog, &fixture.as_of);
        found.into_iter().map(|at| text[at].to_owned()).collect()
    };
    assert_eq!(check("current spend by device"), ["current"]);
    assert_eq!(check("spend by device"), Vec::<String>::new());
    assert_eq!(check("blorf"), ["blorf"]);
    assert_eq!(check("forecast spend"), ["forecast"]);
    let before = json!({"source": "search_ads", "measures": ["spend"], "by": ["campaign"]});
    let before = read_metric_query(&before).unwrap();
    let text = "only purple mobile";
    let found =
        fixture.reader.check(text, Some(&before), &fixture.names, &fixture.catalog, &fixture.as_of);
    assert_eq!(found.into_iter().map(|at| &text[at]).collect::<Vec<_>>(), ["purple"]);
}

#[test]
fn each_suggested_question_has_one_reading() {
    let files =
        [include_str!("../cases/sources.json"), include_str!("../cases/third_sources.json")];
    for file in files {
        let all = fixture_of(file);
        let single = all.catalog.sources.iter().map(|source| {
            let catalog = Catalog { sources: vec![source.clone()] };
            let own = (source.name().clone(), all.values[source.name()].clone());
            Fixture::of(catalog, Values::from([own]))
        });
        for fixture in single.chain([fixture_of(file)]) {
            for language in ["en", "sv"] {
                let found = fixture.reader.suggest(&fixture.catalog, &fixture.values, language, 6);
                assert!(found.len() >= 3, "{found:?}");
                for text in found {
                    let outcome = fixture.read(&text);
                    assert!(matches!(outcome, Outcome::One(_)), "{text} {outcome:?}");
                }
            }
        }
    }
}
