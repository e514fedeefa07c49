use contract::metric_query::CalendarUnit;

use super::*;

fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn content(condition: Value, query: Value) -> AlertRuleContent {
    serde_json::from_value(
        json!({"name": "Rule", "query": query, "condition": condition, "is_on": true}),
    )
    .unwrap()
}

fn result(columns: Value, rows: Value) -> DataResult {
    serde_json::from_value(json!({
        "columns": columns, "rows": rows, "row_count": 0, "query": "", "sql": ""
    }))
    .unwrap()
}

fn campaign() -> Value {
    json!({"name": "campaign", "type": "text", "role": "dimension", "format": "text"})
}

fn measure(name: &str, kind: &str, compared: Option<&str>) -> Value {
    let format = if kind == "day" { "day" } else { "number" };
    let mut column = json!({"name": name, "type": kind, "role": "measure", "format": format,
                            "adds_up": kind == "decimal"});
    if let Some(compared) = compared {
        column["compared"] = json!(compared);
    }
    column
}

fn findings(evaluated: Vec<Evaluated>) -> Vec<(String, Finding)> {
    let name = |group: Vec<AlertGroup>| {
        group.first().map(|one| one.value.as_str().unwrap_or("empty").to_owned())
    };
    evaluated.into_iter().map(|one| (name(one.group).unwrap_or_default(), one.finding)).collect()
}

fn holding(evaluated: Vec<Evaluated>) -> Vec<String> {
    let findings = findings(evaluated).into_iter();
    findings.filter(|(_, finding)| *finding == Finding::Holds(true)).map(|(name, _)| name).collect()
}

#[test]
fn a_change_needs_both_the_percent_and_the_amount() {
    let rule = content(
        json!({"changed": {"percent": 20.0, "amount": 10.0}}),
        json!({"measures": ["spend"], "by": ["campaign"], "compare": "previous"}),
    );
    let columns = json!([
        campaign(),
        measure("spend", "decimal", Some("now")),
        measure("spend_before", "decimal", Some("before")),
    ]);
    let rows = json!([
        ["enough", 80, 100],
        ["small amount", 8, 10],
        ["small percent", 90, 100],
        ["began", 10, null],
        ["ended", null, "10.00"],
        ["nothing", 0, null],
    ]);
    let evaluated = evaluate(&rule, day("2026-11-30"), &result(columns, rows)).unwrap();
    assert_eq!(holding(evaluated), ["began", "ended", "enough"]);
}

#[test]
fn a_rule_with_too_many_groups_is_refused() {
    let rule = content(
        json!({"beyond": {"side": "above", "value": 1.0}}),
        json!({"measures": ["spend"], "by": ["campaign"]}),
    );
    let evaluate = |count: usize| {
        let rows: Vec<Value> = (0..count).map(|number| json!([number.to_string(), 5])).collect();
        let columns = json!([campaign(), measure("spend", "decimal", None)]);
        evaluate(&rule, day("2026-11-30"), &result(columns, json!(rows)))
    };
    assert_eq!(evaluate(MOST_GROUPS).unwrap().len(), MOST_GROUPS);
    assert_eq!(evaluate(MOST_GROUPS + 1).unwrap_err().reason_text(), Some("too_many_groups"));
}

#[test]
fn a_missing_ratio_has_not_changed_and_is_beyond_nothing() {
    let columns = json!([
        campaign(),
        measure("cpa", "float", Some("now")),
        measure("cpa_before", "float", Some("before")),
    ]);
    let result = result(columns, json!([["Brand", 5, null], ["Shoes", 15, 5]]));
    let query = json!({"measures": ["cpa"], "by": ["campaign"]});
    let rule = content(json!({"changed": {"percent": 1.0, "amount": 1.0}}), query.clone());
    assert_eq!(holding(evaluate(&rule, day("2026-11-30"), &result).unwrap()), ["Shoes"]);
    for (side, value, found) in [("above", 10.0, "Shoes"), ("below", 10.0, "Brand")] {
        let rule = content(json!({"beyond": {"side": side, "value": value}}), query.clone());
        assert_eq!(holding(evaluate(&rule, day("2026-11-30"), &result).unwrap()), [found]);
    }
}

#[test]
fn a_missing_sum_is_below_a_value_also_without_rows() {
    let beyond = |side: &str| json!({"beyond": {"side": side, "value": 10.0}});
    let rule = |side: &str| content(beyond(side), json!({"measures": ["spend"]}));
    let columns = || json!([measure("spend", "decimal", None)]);
    for rows in [json!([[null]]), json!([])] {
        let result = result(columns(), rows);
        assert_eq!(holding(evaluate(&rule("below"), day("2026-11-30"), &result).unwrap()), [""]);
        assert!(holding(evaluate(&rule("above"), day("2026-11-30"), &result).unwrap()).is_empty());
    }
}

#[test]
fn data_are_missing_from_the_day_after_the_last_figure() {
    let rule = content(
        json!({"no_data_for": {"days": 2}}),
        json!({"measures": ["spend"], "by": ["campaign"]}),
    );
    let time = json!({"name": "day", "type": "day", "role": "time", "format": "day"});
    let columns = json!([campaign(), time, measure("spend", "decimal", None)]);
    let rows = json!([
        ["Brand", "2026-11-27", 5],
        ["Brand", "2026-11-28", 5],
        ["Brand", "2026-11-29", 0],
        ["Shoes", "2026-11-29", 1],
        ["Shoes", "2026-11-30", null],
    ]);
    let evaluated = evaluate(&rule, day("2026-11-30"), &result(columns.clone(), rows)).unwrap();
    assert_eq!(holding(evaluated.clone()), ["Brand"]);
    assert_eq!(evaluated[0].figures[0].value, json!("2026-11-28"), "the last day with data");
    let rule = content(json!({"no_data_for": {"days": 2}}), json!({"measures": ["spend"]}));
    let columns = json!([columns[1], columns[2]]);
    let evaluated = evaluate(&rule, day("2026-11-30"), &result(columns, json!([]))).unwrap();
    assert_eq!(holding(evaluated), [""], "no rows at all");
}

#[test]
fn a_figure_that_runs_out_is_a_number_of_days_or_a_day() {
    let rule = content(
        json!({"runs_out_within": {"days": 3}}),
        json!({"measures": ["left"], "by": ["campaign"]}),
    );
    let columns = json!([campaign(), measure("left", "whole", None)]);
    let rows = json!([["A", 3], ["B", 4], ["C", null], ["D", -1]]);
    let evaluated = evaluate(&rule, day("2026-11-30"), &result(columns, rows)).unwrap();
    assert_eq!(holding(evaluated), ["A", "D"]);
    let columns = json!([campaign(), measure("last_day", "day", None)]);
    let rows = json!([["A", "2026-12-03"], ["B", "2026-12-04"]]);
    let evaluated = evaluate(&rule, day("2026-11-30"), &result(columns, rows)).unwrap();
    assert_eq!(holding(evaluated), ["A"]);
}

#[test]
fn the_value_of_a_column_is_that_of_its_group() {
    let rule = content(
        json!({"status_changed": {"dimension": "status"}}),
        json!({"measures": ["spend"], "by": ["campaign", "status"]}),
    );
    let status = json!({"name": "status", "type": "text", "role": "dimension", "format": "text"});
    let columns = json!([campaign(), status, measure("spend", "decimal", None)]);
    let rows = json!([["A", "on track", 1], ["B", "behind", 2], ["B", "ahead", 2]]);
    let evaluated = evaluate(&rule, day("2026-11-30"), &result(columns, rows)).unwrap();
    let values = [("A", "on track"), ("B", "ahead, behind")];
    let expected = values.map(|(name, value)| (name.to_owned(), Finding::Value(value.to_owned())));
    assert_eq!(findings(evaluated), expected);
}

#[test]
fn a_query_ends_with_the_full_day() {
    let rule = |period: Value| {
        let query = json!({"measures": ["spend"], "period": period});
        content(json!({"beyond": {"side": "above", "value": 1.0}}), query)
    };
    let at = |period: Value| query_at(&rule(period), day("2026-11-30"), "Europe/Stockholm", true);
    let moment = |query: &MetricQuery| query.as_of.clone().unwrap().moment.to_string();
    let last = at(json!({"last": {"days": 7}}));
    assert_eq!(moment(&last), "2026-12-01 00:00:00");
    let this = at(json!({"this": "month"}));
    assert_eq!(this.period, Some(Period::ToDate(CalendarUnit::Month)));
    assert_eq!(moment(&this), "2026-11-30 23:59:59");
    let every =
        content(json!({"beyond": {"side": "above", "value": 1.0}}), json!({"measures": ["spend"]}));
    let all = query_at(&every, day("2026-11-30"), "UTC", true);
    assert_eq!(all.period, Some(Period::Range { from: None, to: Some(day("2026-11-30")) }));
    let group = [AlertGroup { dimension: "campaign".to_owned(), value: json!("A") }];
    let query = json!({"measures": ["spend"], "by": ["campaign"]});
    let rule = content(json!({"beyond": {"side": "above", "value": 1.0}}), query);
    let question = question_of(&rule, &group, day("2026-11-30"), "UTC", false);
    assert_eq!(json!(question.conditions), json!([{"campaign": ["A"]}]));
}
