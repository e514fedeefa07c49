//! Tests how tools declare the display of results: faults at their location, warnings, and view
//! names in the form of earlier versions.

use contract::{PackFault, ResultView, result::Shape};
use serde_json::{Value, json};

use crate::{ledger, write_pack};

/// Returns the ledger pack whose first tool declares this view.
fn with_view(view: Value) -> Value {
    let mut manifest = ledger();
    manifest["tools"]["tools"][0]["view"] = view;
    manifest
}

fn checked(manifest: &Value) -> (Vec<PackFault>, Vec<PackFault>) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("ledger");
    write_pack(&folder, manifest);
    let view = packs::check_folder(&folder).view;
    (view.faults, view.warnings)
}

#[test]
fn valid_result_views_are_read_as_declared() {
    let table = json!({"shape": "table", "title": {"en": "Entries"}, "rows": "/entries", "pinned": true, "columns": [
        {"field": "account", "label": {"en": "Account", "sv": "Konto"}, "role": "dimension"},
        {"field": "day", "role": "time"},
        {"field": "amount", "role": "measure", "format": "money", "unit": {"at": "/currency"}}
    ]});
    let series = json!({"shape": "series", "columns": "/columns", "chart": "lines"});
    for view in [
        table,
        series,
        json!({"shape": "plain"}),
        json!({"shape": "named", "pack": "ledger", "view": "book"}),
    ] {
        let manifest = with_view(view.clone());
        assert_eq!(checked(&manifest), (vec![], vec![]), "{view}");
        let folder = tempfile::tempdir().unwrap();
        write_pack(folder.path(), &manifest);
        let pack = packs::check_folder(folder.path()).pack.unwrap();
        assert_eq!(json!(pack.tools[0].view), view);
    }
}

#[test]
fn each_invalid_result_view_is_reported_at_its_field() {
    let columns = |columns: Value| json!({"shape": "table", "columns": columns});
    let one = |column: Value| columns(json!([column]));
    let cases = [
        (json!("table"), "", "needs more than its name"),
        (json!("My view"), "", "cannot be the name of a view"),
        (json!({"shape": "heap"}), "/shape", "must be one of"),
        (json!({"shape": "table"}), "/columns", "needs `columns`"),
        (json!({"shape": "table", "colums": []}), "/colums", "not a member of the format"),
        (columns(json!([])), "/columns", "no column"),
        (columns(json!("columns")), "/columns", "not a JSON pointer"),
        (
            json!({"shape": "table", "rows": "items", "columns": [{"field": "a"}]}),
            "/rows",
            "not a JSON pointer",
        ),
        (
            json!({"shape": "table", "chart": "lines", "columns": [{"field": "a"}]}),
            "/chart",
            "means nothing",
        ),
        (
            json!({"shape": "table", "title": {"sv": "Rader"}, "columns": [{"field": "a"}]}),
            "/title/en",
            "no English words",
        ),
        (columns(json!([{"field": "a"}, {"field": "a"}])), "/columns/1/field", "occurs twice"),
        (
            one(json!({"field": "a", "label": {"xx": "A", "en": "A"}})),
            "/columns/0/label/xx",
            "not a language",
        ),
        (
            one(json!({"field": "a", "role": "measure", "format": "day"})),
            "/columns/0/format",
            "cannot have the format",
        ),
        (
            one(json!({"field": "a", "role": "measure", "format": "money"})),
            "/columns/0/unit",
            "needs its currency",
        ),
        (
            one(json!({"field": "a", "format": "number", "unit": {"at": "currency"}})),
            "/columns/0/unit",
            "not a JSON pointer",
        ),
        (one(json!({"field": "a", "digits": 2})), "/columns/0/digits", "means nothing"),
        (
            one(json!({"field": "a", "role": "measure", "digits": 9})),
            "/columns/0/digits",
            "above 6",
        ),
        (
            one(json!({"field": "a", "rolle": "time"})),
            "/columns/0/rolle",
            "not a member of the format",
        ),
        (json!({"shape": "series", "columns": [{"field": "a"}]}), "/columns", "role `measure`"),
        (
            json!({"shape": "series", "columns": [{"field": "a", "role": "measure"}]}),
            "/columns",
            "along which",
        ),
        (
            json!({"shape": "records", "columns": [{"field": "a", "role": "time"}]}),
            "/columns",
            "need titles",
        ),
        (json!({"shape": "named"}), "/view", "needs its name"),
        (json!({"shape": "named", "view": "table"}), "/view", "cannot be the name"),
        (json!({"shape": "named", "view": "book", "rows": "/a"}), "/rows", "means nothing"),
        (json!({"shape": "plain", "pinned": true}), "/pinned", "cannot stay"),
    ];
    for (view, place, words) in cases {
        let (faults, _) = checked(&with_view(view.clone()));
        let field = format!("/tools/tools/0/view{place}");
        let is_told = |fault: &PackFault| {
            fault.field == field && fault.problem.contains(words) && !fault.fix.is_empty()
        };
        assert!(
            faults.iter().any(is_told),
            "{view}: no fault at {field} with {words:?} in {faults:#?}"
        );
    }
}

#[test]
fn rows_and_columns_that_the_output_schema_does_not_describe_are_warnings() {
    let mut manifest = with_view(json!({"shape": "table", "rows": "/entries", "columns": [
        {"field": "amount", "role": "measure"}, {"field": "amuont", "role": "measure"}, {"field": "/by/clerk"}
    ]}));
    let entry = json!({"type": "object", "properties": {"amount": {"type": "number"}, "by": {"type": "object"}}});
    manifest["schemas"]["Entry"] = entry;
    manifest["schemas"]["Entries"] = json!({"type": "object", "properties": {
        "entries": {"type": "array", "items": {"$ref": "#/schemas/Entry"}}
    }});
    let fields = |manifest: &Value| -> Vec<String> {
        let (faults, warnings) = checked(manifest);
        assert_eq!(faults, vec![]);
        warnings.into_iter().map(|warning| warning.field).collect()
    };
    assert_eq!(fields(&manifest), ["/tools/tools/0/view/columns/1/field"]);
    manifest["tools"]["tools"][0]["view"]["rows"] = json!("/items");
    assert_eq!(fields(&manifest), ["/tools/tools/0/view/rows"]);
}

#[test]
fn a_bare_view_name_refers_to_the_pack_that_declares_it() {
    let folder = tempfile::tempdir().unwrap();
    let own = json!({"shape": "named", "pack": "ledger", "view": "book", "pinned": true});
    write_pack(&folder.path().join("ledger"), &with_view(own.clone()));
    for (id, view) in [("other", json!("book")), ("strange", json!("bok"))] {
        let mut manifest = with_view(view);
        manifest["id"] = json!(id);
        write_pack(&folder.path().join(id), &manifest);
    }
    let loaded = packs::load(&[folder.path().to_owned()]);
    let of = |id: &str| loaded.iter().find(|one| one.view.id.as_str() == id).unwrap();
    let view = |id: &str| of(id).view.tools[0].view.clone();
    assert_eq!(json!(view("other")), own);
    assert_eq!(view("strange"), ResultView::default());
    let warnings = &of("strange").view.warnings;
    assert_eq!(warnings[0].field, "/tools/tools/0/view", "{warnings:?}");
    assert!(warnings[0].problem.contains("no pack has a view `bok`"), "{warnings:?}");
    assert!(matches!(view("ledger").shape, Shape::Named { .. }) && view("ledger").pinned);
}

#[test]
fn the_result_view_does_not_change_the_definition_hash() {
    let hash = |view: Value| {
        let folder = tempfile::tempdir().unwrap();
        write_pack(folder.path(), &with_view(view));
        packs::check_folder(folder.path()).pack.unwrap().tools[0].definition_hash.clone()
    };
    let table = json!({"shape": "table", "columns": [{"field": "a"}]});
    assert_eq!(hash(json!("plain")), hash(table));
}
