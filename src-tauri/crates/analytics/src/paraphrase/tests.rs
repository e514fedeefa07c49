//! Each construct of metric queries in words, and the property that nothing is left unsaid.

use contract::metric_query::{MetricQuery, PartKind, read_metric_query};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    reference::{as_of, case, catalog},
    resolve,
};

fn parts_of(query: &Value) -> Vec<QueryPart> {
    let query = read_metric_query(query).unwrap();
    paraphrase(&query, &catalog(), &as_of()).unwrap().parts
}

/// Returns the words of a query over `ads`, without the period and the source.
fn said(mut query: Value) -> String {
    query["source"] = json!("ads");
    let is_own = |part: &QueryPart| {
        part.kind != PartKind::Source && (part.kind != PartKind::Period || part.text != "all days")
    };
    let parts = parts_of(&query).into_iter().filter(is_own);
    parts.map(|part| part.text.to_string()).collect::<Vec<_>>().join(" · ")
}

#[test]
fn a_query_is_said_in_the_order_in_which_a_person_reads_it() {
    let query = json!({
        "source": "ads", "measures": ["spend", "cpa"], "by": ["kampanj", {"time": "week"}],
        "where": {"device": ["Mobile"]}, "period": {"month": "2026-02"}, "compare": "previous",
        "order": [{"by": "spend", "descending": true}], "limit": 20,
    });
    let parts: Vec<(PartKind, String, String)> = parts_of(&query)
        .into_iter()
        .map(|part| (part.kind, part.at, part.text.to_string()))
        .collect();
    let own = |kind, at: &str, text: &str| (kind, at.to_owned(), text.to_owned());
    assert_eq!(
        parts,
        [
            own(PartKind::Measure, "/measures/0", "Spend"),
            own(PartKind::Measure, "/measures/1", "Cpa"),
            own(PartKind::Dimension, "/by/0", "by campaign"),
            own(PartKind::Grain, "/by/1", "by week"),
            own(PartKind::Filter, "/where/0", "Device: Mobile"),
            own(PartKind::Period, "/period", "Feb 2026 (1–28 Feb)"),
            own(
                PartKind::Comparison,
                "/compare",
                "compared with the period before (1–31 Jan 2026)"
            ),
            own(PartKind::Order, "/order/0", "sorted by Spend, descending"),
            own(PartKind::Limit, "/limit", "first 20 rows"),
            own(PartKind::Source, "/source", "from ads"),
        ]
    );
}

#[test]
fn figures_are_said_with_their_conditions_shares_and_windows() {
    let figure = |used: Value| said(json!({"measures": [used]}));
    assert_eq!(figure(json!("rows")), "number of rows");
    assert_eq!(figure(json!("plan.plan_total")), "Plan total (plan)");
    assert_eq!(
        figure(json!({"measure": "clicks", "where": [{"device": ["Mobile"]}], "as": "m"})),
        "m = Clicks (Device: Mobile)"
    );
    assert_eq!(
        figure(json!({"measure": "clicks", "share_of": "total"})),
        "share of Clicks in the total"
    );
    assert_eq!(
        figure(json!({"measure": "clicks", "share_of": ["device"]})),
        "share of Clicks in each Device"
    );
    assert_eq!(figure(json!({"measure": "clicks", "running": true})), "running total of Clicks");
    assert_eq!(
        figure(json!({"measure": "clicks", "rolling": {"days": 7}})),
        "Clicks of the last 7 days"
    );
    assert_eq!(figure(json!({"measure": "clicks", "per": "day"})), "Clicks per day");
    assert_eq!(figure(json!({"sum": "Cost", "as": "all"})), "all = sum of “Cost”");
    assert_eq!(figure(json!({"ratio": ["spend", "clicks"], "as": "cpc"})), "cpc = Spend ÷ Clicks");
    assert_eq!(
        figure(json!({"percentile": {"column": "Clicks", "at": 90}, "as": "p"})),
        "p = 90 % percentile of “Clicks”"
    );
}

#[test]
fn groups_and_conditions_are_said() {
    let group = |group: Value| said(json!({"measures": ["clicks"], "by": [group]}));
    assert_eq!(group(json!("Currency")), "Clicks · by “Currency”");
    assert_eq!(group(json!("clients.Size")), "Clicks · by “Size” (clients)");
    assert_eq!(
        group(json!({"define": {"bins": {"of": "Cost", "edges": [50, 500]}}, "as": "size"})),
        "Clicks · by ranges of “Cost” with the edges 50, 500 as size"
    );
    let condition = |condition: Value| {
        said(json!({"measures": ["clicks"], "where": [condition]})).replacen("Clicks · ", "", 1)
    };
    assert_eq!(condition(json!({"device": ["Mobile", null]})), "Device: Mobile, (empty)");
    assert_eq!(condition(json!({"campaign": {"not": ["a, b"]}})), "Campaign: not “a, b”");
    assert_eq!(
        condition(json!({"name": {"not_contains": ["x", "z"]}})),
        "Name does not contain “x” / “z”"
    );
    assert_eq!(condition(json!({"Clicks": {">": 20, "<=": 150}})), "“Clicks” > 20, ≤ 150");
    assert_eq!(condition(json!({"clicks": {">": 20}})), "Clicks > 20");
    assert_eq!(condition(json!({"brand": [false]})), "Brand: No");
    assert_eq!(
        condition(json!({"or": [{"device": {"empty": true}}, {"not": {"name": {"ends": "x"}}}]})),
        "one of these: (Device is empty; not (Name ends with “x”))"
    );
    assert_eq!(
        condition(
            json!({"campaign": {"in": {"measures": ["clicks"], "by": ["campaign"], "limit": 3}}})
        ),
        "Campaign is among (Clicks · by campaign · all days · first 3 rows)"
    );
}

#[test]
fn periods_and_comparisons_are_said_with_their_days() {
    let period = |period: Value| {
        said(json!({"measures": ["clicks"], "period": period})).replacen("Clicks · ", "", 1)
    };
    assert_eq!(period(json!({"last": {"days": 30}})), "last 30 days (8 Feb – 9 Mar 2026)");
    assert_eq!(period(json!("this_month")), "this month (1–31 Mar 2026)");
    assert_eq!(period(json!("year_to_date")), "year to date (1 Feb – 10 Mar 2026)");
    assert_eq!(period(json!("yesterday")), "Yesterday (9 Mar 2026)");
    assert_eq!(period(json!({"quarter": "2025-Q4"})), "quarter 2025-Q4 (1 Nov 2025 – 31 Jan 2026)");
    assert_eq!(period(json!({"from": "2026-02-01"})), "from 1 Feb 2026");
    let compared = |compare: Value| {
        let query =
            json!({"measures": ["clicks"], "period": {"month": "2026-02"}, "compare": compare});
        said(query).replace("Clicks · Feb 2026 (1–28 Feb) · ", "")
    };
    assert_eq!(
        compared(json!({"to": "last_year", "align": "weekday"})),
        "compared with the year before (2 Feb – 1 Mar 2025), the same days of the week"
    );
    assert_eq!(
        compared(json!({"period": {"month": "2025-12"}})),
        "compared with Dec 2025 (1–31 Dec)"
    );
    assert_eq!(
        compared(json!({"values": {"device": ["Mobile", "Desktop"]}})),
        "compared: Device: Mobile / Desktop"
    );
}

#[test]
fn members_about_the_whole_result_are_said() {
    assert_eq!(
        said(json!({
            "measures": ["clicks"], "by": ["device", "campaign"],
            "top": {"n": 3, "of": "campaign", "per": ["device"], "by": "clicks", "others": true},
            "pivot": "device", "totals": true, "in_currency": "EUR",
        })),
        "Clicks · by device · by campaign · top 3 of Campaign by Clicks for each Device, others together · \
         a column for each Device · with totals · in EUR"
    );
    assert_eq!(
        said(json!({
            "measures": ["clicks"], "by": [{"time": "day"}], "fill": true,
            "then": {"measures": [{"average": "clicks", "as": "a"}, {"count": "rows"}], "by": ["day"]},
        })),
        "Clicks · by day · with times without rows · then a = average of Clicks, number of rows by day"
    );
    assert_eq!(
        said(json!({"rows": true, "columns": ["Day", "Cost"]})),
        "single rows · columns: “Day”, “Cost”"
    );
    assert_eq!(
        said(json!({
            "explain": {"measure": "cpa", "by": ["device"]},
            "period": {"from": "2026-02-02", "to": "2026-02-02"}, "compare": "previous",
        })),
        "what explains the change of Cpa, by device · 2 Feb 2026 · \
         compared with the period before (1 Feb 2026)"
    );
    assert_eq!(
        said(json!({
            "measures": ["clicks"], "period": {"month": "2026-02"}, "compare": "previous",
            "order": [{"by": "clicks_growth"}], "limit": 1,
        })),
        "Clicks · Feb 2026 (1–28 Feb) · compared with the period before (1–31 Jan 2026) · \
         sorted by growth of Clicks · first row only"
    );
}

#[test]
fn a_title_is_sent_in_each_of_its_languages() {
    let mut catalog = catalog();
    let spend = catalog.sources[0].definitions.measures.get_mut("spend").unwrap();
    spend.title = [("en", "Ad spend"), ("sv", "Kostnad")]
        .map(|(language, title)| (language.to_owned(), title.to_owned()))
        .into();
    let query = read_metric_query(&json!({"source": "ads", "measures": ["spend"]})).unwrap();
    let parts = paraphrase(&query, &catalog, &as_of()).unwrap().parts;
    assert_eq!(parts[0].text, "Ad spend");
    let sent = serde_json::to_value(&parts[0].text).unwrap();
    assert_eq!(sent["params"]["s0"]["names"]["sv"], "Kostnad");
}

#[test]
fn conditions_that_are_very_deep_stand_as_they_are_written() {
    let deep = (0..60).fold(json!({"device": "Mobile"}), |inner, _| json!({"not": inner}));
    let parts = parts_of(&json!({"source": "ads", "measures": ["clicks"], "where": [deep]}));
    let text = &parts[1].text;
    assert!(text.starts_with("not (not (") && text.contains("{\"not\":"), "{text}");
    let sent = serde_json::to_string(text).unwrap();
    let within = format!("{}{sent}{}", "[".repeat(60), "]".repeat(60));
    assert!(serde_json::from_str::<Value>(&within).is_ok());
}

/// Returns a query with a member of another one.
fn with_member(query: &MetricQuery, other: &MetricQuery, member: usize) -> MetricQuery {
    let (mut changed, other) = (query.clone(), other.clone());
    match member {
        0 => changed.measures = other.measures,
        1 => changed.by = other.by,
        2 => changed.conditions = other.conditions,
        3 => changed.period = other.period,
        4 => changed.compare = other.compare,
        5 => changed.order = other.order,
        6 => changed.limit = other.limit,
        7 => changed.top = other.top,
        8 => changed.totals = other.totals,
        9 => changed.rows = other.rows,
        10 => changed.columns = other.columns,
        11 => changed.pivot = other.pivot,
        12 => changed.fill = other.fill,
        13 => changed.then = other.then,
        14 => changed.explain = other.explain,
        15 => changed.in_currency = other.in_currency,
        _ => changed.source = other.source,
    }
    changed
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_change_of_any_member_changes_the_words(one in case(), other in case(), member in 0..17_usize) {
        let (catalog, query) = (catalog(), one.query);
        let changed = with_member(&query, &other.query, member);
        let resolved = [&query, &changed].map(|query| resolve(query, &catalog, &as_of()).ok());
        let [Some(before), Some(after)] = resolved else { return Ok(()) };
        if before.hash == after.hash {
            return Ok(());
        }
        let said = |query: &MetricQuery| paraphrase(query, &catalog, &as_of()).unwrap().parts;
        let (before, after) = (said(&query), said(&changed));
        prop_assert_ne!(&before, &after);
        prop_assert!(after.iter().all(|part| !part.text.is_empty()));
    }
}
