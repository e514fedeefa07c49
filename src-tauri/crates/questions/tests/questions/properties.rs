//! Properties of the reader that hold for all questions.

use crate::support::{Fixture, Wanted, cases, fixture, is_within, resolves, same, shared, shown};
use analytics::SourceModel;
use contract::metric_query::{MetricQuery, read_metric_query};
use proptest::prelude::*;
use questions::Outcome;
use serde_json::{Value, json};

/// Returns the query of an outcome with one reading.
fn query_of(outcome: &Outcome) -> Option<&MetricQuery> {
    match outcome {
        Outcome::One(reading) => Some(&reading.query),
        _ => None,
    }
}

#[test]
fn a_query_said_in_words_is_read_as_the_same_query() {
    let fixture = shared();
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in cases() {
        let Wanted::Query(query) = case.outcome else { continue };
        for language in ["en", "sv"] {
            let Some(text) = fixture.reader.say(&query, &fixture.catalog, language) else {
                continue;
            };
            count += 1;
            let found = fixture.read(&text);
            if !query_of(&found).is_some_and(|found| same(found, &query)) {
                let query = serde_json::to_string(&query).unwrap();
                wrong.push(format!("{text}\n    {}\n    wanted {query}", shown(&found, &text)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 250, "most queries can be said: {count}");
}

/// Returns random conditions over the search ads.
fn filters() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!([])),
        Just(json!([{"device": ["Mobile"]}])),
        Just(json!([{"device": ["Mobile", "Tablet"]}, {"country": {"not": ["Ireland"]}}])),
        Just(json!([{"campaign": {"not": ["Easter", "Last Minute Deals"]}}])),
        Just(json!([{"campaign": {"starts": ["Brand"]}}, {"device": ["Mobile"]}])),
        Just(json!([{"ad_group": {"contains": ["exact", "top 5 by week"]}}])),
        Just(json!([{"country": {"ends": ["land"]}}])),
    ]
}

/// Returns random queries over the search ads.
fn queries() -> impl Strategy<Value = Value> {
    let measures =
        proptest::sample::subsequence(vec!["spend", "clicks", "cpa", "conversion_rate"], 1..=2);
    let by = proptest::sample::subsequence(
        vec![
            json!("campaign"),
            json!("device"),
            json!({"time": "week"}),
            json!({"time": "weekday"}),
        ],
        0..=2,
    );
    let filter = filters();
    let period = prop_oneof![
        Just(Value::Null),
        Just(json!("last_month")),
        Just(json!("year_to_date")),
        Just(json!({"last": {"days": 14}})),
        Just(json!({"month": "2025-12"})),
        Just(json!({"quarter": "2026-Q2"})),
        Just(json!({"week": "2026-W09"})),
        Just(json!({"from": "2026-02-03", "to": "2026-04-05"})),
        Just(json!({"from": "2026-02-03"})),
    ];
    let compare = prop_oneof![
        Just(Value::Null),
        Just(json!("previous")),
        Just(json!("last_year")),
        Just(json!({"period": {"month": "2024-05"}})),
    ];
    let order = prop_oneof![Just(None), Just(Some(None)), (1..50_u32).prop_map(|n| Some(Some(n)))];
    (measures, by, filter, period, compare, order, any::<bool>()).prop_map(
        |(measures, by, filter, period, compare, order, descending)| {
            let mut query =
                json!({"source": "search_ads", "measures": measures, "by": by, "where": filter});
            if !period.is_null() {
                query["period"] = period;
            }
            let is_bounded = query["period"]["from"].is_null() || !query["period"]["to"].is_null();
            if !compare.is_null() && !query["period"].is_null() && is_bounded {
                query["compare"] = compare;
            }
            if let Some(limit) = order.filter(|_| query["by"].as_array().unwrap().len() == 1) {
                query["order"] = json!([{"by": query["measures"][0], "descending": descending}]);
                if let Some(limit) = limit {
                    query["limit"] = json!(limit);
                }
            }
            query
        },
    )
}

/// Returns random queries for single rows, and for figures of two measures.
fn other_queries() -> impl Strategy<Value = Value> {
    let filter = prop_oneof![
        Just(json!([])),
        Just(json!([{"device": ["Mobile"]}])),
        Just(json!([{"campaign": {"starts": ["Brand"]}}])),
    ];
    let period = prop_oneof![
        Just(json!("last_month")),
        Just(json!({"last": {"days": 14}})),
        Just(json!({"from": "2026-02-03", "to": "2026-04-05"})),
    ];
    let kind = prop_oneof![
        Just(json!({"measures": [], "rows": true})),
        Just(
            json!({"measures": [], "rows": true, "limit": 7, "order": [{"by": "Day", "descending": true}]})
        ),
        Just(json!({"measures": [{"minus": ["spend", "clicks"], "as": "spend_minus_clicks"}]})),
        Just(json!({"measures": [{"plus": ["spend", "clicks"], "as": "spend_plus_clicks"}]})),
        Just(
            json!({"measures": [{"ratio": ["spend", "impressions"], "as": "spend_per_impressions"}]})
        ),
        Just(
            json!({"measures": ["clicks"], "by": ["device"], "limit": 2, "order": [{"by": "clicks", "descending": true}]})
        ),
    ];
    (kind, filter, period).prop_map(|(mut query, filter, period)| {
        query["source"] = json!("search_ads");
        query["where"] = filter;
        query["period"] = period;
        query
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    #[test]
    fn a_random_query_said_in_words_is_read_as_the_same_query(query in prop_oneof![2 => queries(), 1 => other_queries()], is_swedish: bool) {
        let fixture = shared();
        let query = read_metric_query(&query).unwrap();
        prop_assume!(resolves(fixture, &query));
        let language = if is_swedish { "sv" } else { "en" };
        let text = fixture.reader.say(&query, &fixture.catalog, language).unwrap();
        let found = fixture.read(&text);
        prop_assert!(query_of(&found).is_some_and(|own| same(own, &query)), "{} {}", text, shown(&found, &text));
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in "(?s).{0,200}") {
        shared().read(&text);
    }

    #[test]
    fn words_in_any_order_are_read_without_a_panic(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "spend", "by", "campaign", "not", "top", "5", "over", "%", "vs", "last", "month", "october",
                "and", "share of", "average", "per", "day", "why", "Mobile", "Easter", "without", "first",
                "rolling", "days", "between", "since", "compare", "how many", "10 000", "GBP", "sorted by",
            ]),
            0..40,
        )
    ) {
        shared().read(&words.join(" "));
    }
}

#[test]
fn a_renamed_value_never_changes_how_the_rest_of_a_question_is_read() {
    let names = [
        "Top Five Last Month",
        "Share of Voice",
        "Not Provided",
        "Weekly by Device",
        "October vs September",
        "Zyxqua",
        "10 % Off",
        "Clicks over 100",
    ];
    let plain = fixture();
    let ask = |fixture: &Fixture, question: &str, name: &str| {
        let text = question.replace("NAME", name);
        let found = fixture.read(&text);
        let query = query_of(&found).unwrap_or_else(|| panic!("{}", shown(&found, &text)));
        serde_json::to_string(query).unwrap()
    };
    let named = [
        "spend for NAME by week",
        "How much did NAME cost in April?",
        "clicks per device without NAME last month",
        "NAME vs Easter clicks in october",
        "top 3 devices by spend for NAME",
        "kostnad för NAME per land sedan augusti",
    ]
    .map(|question| (question, ask(&plain, question, "Spa Weekends")));
    // A question that does not name the value is read as before. Some of the questions will do.
    let others: Vec<(String, Outcome)> = cases()
        .into_iter()
        .filter(|case| !case.question.contains("Spa"))
        .step_by(11)
        .map(|case| (case.question.clone(), plain.read(&case.question)))
        .collect();
    for name in names {
        let mut values = plain.values.clone();
        for dimensions in values.values_mut() {
            for value in dimensions.values_mut().flatten().filter(|value| *value == "Spa Weekends")
            {
                name.clone_into(value);
            }
        }
        let renamed = Fixture::of(plain.catalog.clone(), values);
        for (question, wanted) in &named {
            let wanted = wanted.replace("Spa Weekends", name);
            assert_eq!(ask(&renamed, question, name), wanted, "{question} with {name}");
        }
        for (question, before) in &others {
            let after = renamed.read(question);
            assert!(*before == after || is_within(name, question), "{question} with {name}");
        }
    }
}

#[test]
fn adding_a_source_never_changes_the_reading_of_a_question_that_names_another() {
    let plain = fixture();
    let mut catalog = plain.catalog.clone();
    let mut values = plain.values.clone();
    // A copy of each source under another name has all names of it.
    for source in plain.catalog.sources.clone() {
        let mut definitions = source.definitions.clone();
        definitions.source = format!("copy_of_{}", source.name()).as_str().into();
        let own = values[source.name()].clone();
        values.insert(definitions.source.clone(), own);
        catalog.sources.insert(0, SourceModel::new(definitions, source.columns.clone()));
    }
    let more = Fixture::of(catalog, values);
    let mut count = 0;
    // Each question is read over fourteen sources, so some of them will do.
    for case in cases().into_iter().step_by(3) {
        let Wanted::Query(query) = &case.outcome else { continue };
        let source = query.source.as_ref().unwrap();
        let text = format!("{} in {}", case.question.trim_end_matches('?'), source);
        let (before, after) = (plain.read(&text), more.read(&text));
        assert_eq!(before, after, "{text}");
        count += 1;
        if is_within(source.as_str(), &case.question) {
            continue;
        }
        // Without the name of the source, both copies fit.
        let both = more.read(&case.question);
        assert!(
            !matches!(both, Outcome::One(_)),
            "{} {}",
            case.question,
            shown(&both, &case.question)
        );
    }
    assert!(count > 90);
}

#[test]
fn a_hundred_thousand_values_and_a_long_text_are_read_fast() {
    let plain = fixture();
    let mut values = plain.values.clone();
    let many = (0..100_000).map(|at| format!("Customer campaign {at} group {}", at % 977));
    values.get_mut(&"search_ads".into()).unwrap().get_mut("campaign").unwrap().extend(many);
    let big = Fixture::of(plain.catalog.clone(), values);
    let started = std::time::Instant::now();
    let found = big.read("clicks for customer campaign 4711 group 803 by week");
    let query = query_of(&found).unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!(
        serde_json::to_value(&query.conditions[0]).unwrap(),
        json!({"campaign": ["Customer campaign 4711 group 803"]})
    );
    big.read(&"customer campaign group 803 top 5 over 10 % by last month vs ".repeat(15));
    big.read(&"spned cmapaign ".repeat(60));
    // The limit has room for a busy machine and code that is not optimised.
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
