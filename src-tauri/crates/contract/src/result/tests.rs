use serde_json::{Value, json};

use super::{ChartKind, ResultView, Shape, read_content};
use crate::{
    ToolId,
    definitions::{Better, DefinitionState},
    metric_query::ComparedFigure,
};

fn view(declared: Value) -> ResultView {
    serde_json::from_value(declared).unwrap()
}

fn cells(declared: Value, data: Value) -> Vec<Vec<Value>> {
    let content = read_content(&view(declared), &data).unwrap();
    content.rows.into_iter().map(|row| row.into_iter().map(|cell| cell.value).collect()).collect()
}

#[test]
fn a_view_serialises_back_to_its_declaration() {
    let declared = [
        json!({"shape": "plain"}),
        json!({"shape": "named", "pack": "maps", "view": "map", "pinned": true}),
        json!({"shape": "table", "title": {"en": "Stations"}, "rows": "/items", "columns": [
            {"field": "name", "label": {"en": "Name", "sv": "Namn"}, "role": "dimension"},
            {"field": "/depth/now", "role": "measure", "unit": "m", "format": "number", "digits": 1},
            {"field": "cost", "role": "measure", "unit": {"at": "/currency"}, "format": "money"}
        ]}),
        json!({"shape": "series", "rows": "/days", "columns": "/columns", "chart": "lines"}),
    ];
    for one in declared {
        assert_eq!(json!(view(one.clone())), one);
    }
}

#[test]
fn a_view_stored_as_a_bare_name_by_earlier_versions_is_read() {
    assert_eq!(view(json!("plain")), ResultView::default());
    let named = view(json!("map"));
    assert_eq!(named.shape, Shape::Named { pack: None, view: "map".into() });
    assert_eq!((named.kind(), named.pinned), ("map", false));
}

#[test]
fn tools_share_the_place_of_a_named_view_and_other_views_have_one_per_tool() {
    let (map, old) =
        (view(json!({"shape": "named", "pack": "maps", "view": "map"})), view(json!("map")));
    let table = view(json!({"shape": "table", "columns": []}));
    let (one, other) = (ToolId::new("one"), ToolId::new("other"));
    assert!(map.shares_place(&one, &old, &other));
    assert!(table.shares_place(&one, &table, &one));
    assert!(!table.shares_place(&one, &table, &other));
    assert!(!table.shares_place(&one, &map, &one));
}

#[test]
fn rows_are_read_from_objects_lists_and_plain_values() {
    let columns = json!([{"field": "a"}, {"field": "/b/c", "role": "measure"}]);
    let table = |rows: &str| json!({"shape": "table", "rows": rows, "columns": columns});
    let data = json!({"items": [{"a": "x", "b": {"c": "2.50"}}, {"a": ["y", 1]}]});
    assert_eq!(
        cells(table("/items"), data),
        [[json!("x"), json!(2.5)], [json!("y, 1"), Value::Null]]
    );
    assert_eq!(
        cells(table(""), json!([["x", 2], ["y"]])),
        [[json!("x"), json!(2)], [json!("y"), Value::Null]]
    );
    assert_eq!(cells(table(""), json!(["x"])), [[json!("x"), Value::Null]]);
    assert_eq!(cells(table(""), json!({"a": {"k": 1}})), [[json!("{\"k\":1}"), Value::Null]]);
}

#[test]
fn columns_and_units_can_be_taken_from_the_result_itself() {
    let declared = view(json!({"shape": "table", "rows": "/rows", "columns": "/columns"}));
    let data = json!({
        "currency": "EUR",
        "columns": [
            {"field": "day", "role": "time"},
            {"field": "spend", "role": "measure", "format": "money", "unit": {"at": "/currency"}}
        ],
        "rows": [["2026-11-01", 5], ["2026-11-02", "on request"]]
    });
    let content = read_content(&declared, &data).unwrap();
    assert_eq!(content.columns[0].label_in("sv"), "day");
    assert_eq!(content.rows[0][1].unit.as_deref(), Some("EUR"));
    assert_eq!(content.rows[1][1].value, "on request");
}

#[test]
fn a_result_that_does_not_match_its_declared_view_has_no_content() {
    let columns = json!([{"field": "a"}]);
    let table = |rows: &str| view(json!({"shape": "table", "rows": rows, "columns": columns}));
    assert_eq!(read_content(&table("/items"), &json!({"message": "no"})), None);
    assert_eq!(read_content(&table("/items"), &json!({"items": 3})), None);
    assert_eq!(read_content(&ResultView::default(), &json!([])), None);
    let without = view(json!({"shape": "table", "columns": []}));
    assert_eq!(read_content(&without, &json!([])), None);
}

#[test]
fn rows_beyond_the_maximum_are_dropped_and_the_total_is_kept() {
    let declared = view(json!({"shape": "table", "columns": [{"field": "n"}]}));
    let rows: Vec<Value> = (0..1_234).map(|n| json!({"n": n})).collect();
    let content = read_content(&declared, &Value::Array(rows)).unwrap();
    assert_eq!((content.rows.len(), content.total), (super::MAX_ROWS, 1_234));
}

#[test]
fn columns_beyond_the_maximum_are_dropped_and_counted() {
    let columns: Vec<Value> = (0..75).map(|n| json!({"field": n.to_string()})).collect();
    let declared = view(json!({"shape": "table", "columns": columns}));
    let data = json!([{"0": 1, "74": 2}]);
    let content = read_content(&declared, &data).unwrap();
    assert_eq!((content.columns.len(), content.rows[0].len()), (60, 60));
    assert_eq!((content.all_columns, content.columns[0].name.as_deref()), (Some(75), None));
}

#[test]
fn totals_of_a_query_are_read_with_the_units_of_its_columns() {
    let declared =
        view(json!({"shape": "series", "rows": "/result/rows", "columns": "/result/columns"}));
    let columns = json!([
        {"name": "device", "type": "text", "role": "dimension", "format": "text"},
        {"name": "spend", "type": "decimal", "role": "measure", "format": "money", "unit": "EUR"}
    ]);
    let data = json!({"result": {"columns": columns, "rows": [["Mobile", 2]], "row_count": 1,
        "totals": [[null, 7]]}});
    let content = read_content(&declared, &data).unwrap();
    let names: Vec<_> = content.columns.iter().filter_map(|one| one.name.as_deref()).collect();
    assert_eq!((names, content.all_columns), (vec!["device", "spend"], None));
    let [total] = content.totals.as_slice() else { panic!("{content:?}") };
    assert_eq!((&total[0].value, &total[1].value), (&Value::Null, &json!(7)));
    assert_eq!(total[1].unit.as_deref(), Some("EUR"));
    let own = view(json!({"shape": "table", "rows": "/rows", "columns": [{"field": "totals"}]}));
    let content = read_content(&own, &json!({"rows": [], "totals": [[1]]})).unwrap();
    assert!(content.totals.is_empty(), "these are no totals of a query");
}

#[test]
fn a_query_that_a_model_wrote_is_read_with_its_mark() {
    let declared = view(json!({"shape": "table", "rows": "/rows", "columns": "/columns"}));
    let columns = json!([{"name": "n", "type": "whole", "role": "measure", "format": "number"}]);
    let mut data = json!({"columns": columns, "rows": [[1]], "row_count": 1, "query": "h", "sql": "SELECT 1 AS n",
        "definition_state": "written_by_model", "asked": {"sql": "SELECT 1 AS n"}});
    let content = read_content(&declared, &data).unwrap();
    assert_eq!(content.state, Some(DefinitionState::WrittenByModel));
    assert_eq!(content.query.as_deref(), Some("SELECT 1 AS n"));
    data["asked"] = json!({"query": {"measures": ["n"]}});
    let content = read_content(&declared, &data).unwrap();
    assert_eq!(content.query.as_deref(), Some("{\"measures\":[\"n\"]}"));
    data["definition_state"] = json!("proposed");
    let content = read_content(&declared, &data).unwrap();
    assert_eq!((content.state, content.query), (Some(DefinitionState::Proposed), None));
    let drawn =
        view(json!({"shape": "series", "rows": "/result/rows", "columns": "/result/columns"}));
    let content = read_content(&drawn, &json!({"chart": null, "result": data})).unwrap();
    assert_eq!((content.state, content.chart), (Some(DefinitionState::Proposed), None));
    let bars = json!({"chart": {"kind": "bars"}, "result": data});
    assert_eq!(read_content(&drawn, &bars).unwrap().chart, Some(ChartKind::Bars));
    data.as_object_mut().unwrap().remove("definition_state");
    let content = read_content(&declared, &data).unwrap();
    assert_eq!((content.state, content.query), (None, None));
}

#[test]
fn figures_bring_the_question_that_they_answer_and_the_places_of_a_comparison() {
    let declared = view(json!({"shape": "figures", "rows": "/rows", "columns": "/columns"}));
    let part = json!({"kind": "measure", "at": "/measures/0", "text": "Spend"});
    let column = |name: &str, compared: &str| {
        json!({"name": name, "type": "decimal", "role": "measure", "format": "money",
               "better": "lower", "compared": compared, "adds_up": true})
    };
    let mut data = json!({
        "columns": [column("spend", "now"), column("spend_before", "before")], "rows": [[2, 1]],
        "row_count": 1, "query": "h", "sql": "SELECT 2, 1", "definitions": {"ads.spend": "d"},
        "definition_state": "approved", "data_version": "v", "notes": ["Not over."], "record": 7,
        "asked": {"query": {"measures": ["spend"], "compare": "previous"}, "parts": [part]},
    });
    let content = read_content(&declared, &data).unwrap();
    let places: Vec<_> =
        content.columns.iter().map(|column| (column.better, column.compared)).collect();
    let lower = Some(Better::Lower);
    assert_eq!(places, [(lower, Some(ComparedFigure::Now)), (lower, Some(ComparedFigure::Before))]);
    assert!(content.columns.iter().all(|column| column.adds_up));
    let computed = content.computed.unwrap();
    assert_eq!((computed.asked.parts.len(), computed.record), (1, Some(7)));
    assert_eq!(computed.notes, ["Not over."]);
    assert!(computed.asked.query.is_some_and(|query| query.compare.is_some()));
    data.as_object_mut().unwrap().remove("asked");
    assert_eq!(read_content(&declared, &data).unwrap().computed, None);
}
