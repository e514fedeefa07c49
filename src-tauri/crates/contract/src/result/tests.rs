use serde_json::{Value, json};

use super::{ResultView, Shape, read_content};
use crate::ToolId;

fn view(declared: Value) -> ResultView {
    serde_json::from_value(declared).unwrap()
}

fn cells(declared: Value, data: Value) -> Vec<Vec<Value>> {
    let content = read_content(&view(declared), &data).unwrap();
    content.rows.into_iter().map(|row| row.into_iter().map(|cell| cell.value).collect()).collect()
}

#[test]
fn a_view_is_written_again_as_it_was_declared() {
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
fn the_name_of_a_view_alone_is_read_as_earlier_versions_wrote_it() {
    assert_eq!(view(json!("plain")), ResultView::default());
    let named = view(json!("map"));
    assert_eq!(named.shape, Shape::Named { pack: None, view: "map".into() });
    assert_eq!((named.kind(), named.pinned), ("map", false));
}

#[test]
fn tools_share_the_place_of_a_named_view_and_have_their_own_otherwise() {
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
fn rows_are_objects_lists_or_plain_values() {
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
fn columns_and_units_may_come_with_the_result() {
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
fn a_result_of_another_build_has_no_content() {
    let columns = json!([{"field": "a"}]);
    let table = |rows: &str| view(json!({"shape": "table", "rows": rows, "columns": columns}));
    assert_eq!(read_content(&table("/items"), &json!({"message": "no"})), None);
    assert_eq!(read_content(&table("/items"), &json!({"items": 3})), None);
    assert_eq!(read_content(&ResultView::default(), &json!([])), None);
    let without = view(json!({"shape": "table", "columns": []}));
    assert_eq!(read_content(&without, &json!([])), None);
}

#[test]
fn many_rows_are_cut_and_counted() {
    let declared = view(json!({"shape": "table", "columns": [{"field": "n"}]}));
    let rows: Vec<Value> = (0..1_234).map(|n| json!({"n": n})).collect();
    let content = read_content(&declared, &Value::Array(rows)).unwrap();
    assert_eq!((content.rows.len(), content.total), (super::MAX_ROWS, 1_234));
}
