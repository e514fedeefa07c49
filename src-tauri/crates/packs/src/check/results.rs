//! Checks how tools declare the display of their results: each shape has the members that it needs,
//! and columns point to values that the output schema describes.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::languages;
use crate::{
    fault::{Faults, join},
    subject::{Subject, list, present, text},
};

/// The shapes that the app draws without code of the pack.
const DRAWN: [&str; 4] = ["table", "figures", "series", "records"];
/// The members that only these shapes may have.
const OF_DRAWN: [&str; 4] = ["title", "rows", "columns", "chart"];
/// The members that only a named view may have.
const OF_NAMED: [&str; 2] = ["pack", "view"];

pub(crate) fn check(subject: &Subject<'_>, faults: &mut Faults, warnings: &mut Faults) {
    for (at, tool) in subject.tools() {
        let at = join(&at, "view");
        match tool.get("view") {
            Some(Value::String(name)) => check_name(&at, name, faults),
            Some(view @ Value::Object(members)) => {
                let shape = text(view, "shape").unwrap_or_default();
                check_members(&at, shape, members, faults);
                if DRAWN.contains(&shape) {
                    check_layout(&at, shape, view, faults);
                    check_against_schema(subject, &at, tool, view, warnings);
                }
            }
            _ => {}
        }
    }
}

/// Checks a view that is given as a bare name, the form of earlier manifest versions.
fn check_name(at: &str, name: &str, faults: &mut Faults) {
    if DRAWN.contains(&name) || name == "named" {
        faults.at(
            at,
            format!("the shape `{name}` needs more than its name"),
            format!("write an object: `{{\"shape\": \"{name}\", ...}}`"),
        );
    } else if !is_view_name(name) {
        faults.at(
            at,
            format!("`{name}` cannot be the name of a view"),
            "use the name of a view of a pack that ships, or an object with a `shape`",
        );
    }
}

/// Checks that a view has the members of its shape, and no others.
fn check_members(at: &str, shape: &str, members: &Map<String, Value>, faults: &mut Faults) {
    let is_named = shape == "named";
    let strange: Vec<&str> = match shape {
        "plain" => OF_DRAWN.into_iter().chain(OF_NAMED).collect(),
        "named" => OF_DRAWN.to_vec(),
        "series" => OF_NAMED.to_vec(),
        _ if DRAWN.contains(&shape) => ["chart"].into_iter().chain(OF_NAMED).collect(),
        // The schema has already reported an unknown shape.
        _ => Vec::new(),
    };
    for name in strange.into_iter().filter(|name| members.contains_key(*name)) {
        faults.at(
            join(at, name),
            format!("`{name}` means nothing for the shape `{shape}`"),
            "remove it, or choose another shape",
        );
    }
    match members.get("view").and_then(Value::as_str) {
        None if is_named => faults.at(
            join(at, "view"),
            "a named view needs its name",
            "add `view`, the name that the pack's code in the window has for it",
        ),
        Some(name) if is_named && (!is_view_name(name) || DRAWN.contains(&name)) => faults.at(
            join(at, "view"),
            format!("`{name}` cannot be the name of a view"),
            "use lower-case letters, digits and `_`, and no name of a shape",
        ),
        _ => {}
    }
    if shape == "plain" && members.get("pinned") == Some(&Value::Bool(true)) {
        faults.at(
            join(at, "pinned"),
            "a plain result cannot stay beside the conversation",
            "declare its shape, or remove `pinned`",
        );
    }
}

/// Checks the columns and the pointers to rows and columns.
fn check_layout(at: &str, shape: &str, view: &Value, faults: &mut Faults) {
    if let Some(rows) = text(view, "rows").filter(|rows| !is_pointer(rows)) {
        faults.at(
            join(at, "rows"),
            format!("`{rows}` is not a JSON pointer"),
            "start it with a slash, such as `/items`, or leave it out if the result itself is the list",
        );
    }
    if let Some(title) = view.get("title") {
        languages::check_words(title, &join(at, "title"), faults);
    }
    let at = join(at, "columns");
    match present(view, "columns") {
        None => faults.at(
            at,
            format!("the shape `{shape}` needs `columns`"),
            "list them with `field`, `label` and `role`, or give a JSON pointer to them in the result",
        ),
        Some(Value::String(pointer)) if !is_pointer(pointer) => faults.at(
            at,
            format!("`{pointer}` is not a JSON pointer"),
            "start it with a slash, such as `/columns`",
        ),
        Some(Value::Array(columns)) => check_columns(&at, shape, columns, faults),
        Some(_) => {}
    }
}

fn check_columns(at: &str, shape: &str, columns: &[Value], faults: &mut Faults) {
    if columns.is_empty() {
        faults.at(at, "there is no column", "list at least one");
    }
    let mut seen = BTreeSet::new();
    for (index, column) in columns.iter().enumerate() {
        let at = format!("{at}/{index}");
        if let Some(field) = text(column, "field").filter(|field| !seen.insert(*field)) {
            faults.at(
                join(&at, "field"),
                format!("the column `{field}` occurs twice"),
                "remove one of them",
            );
        }
        if let Some(label) = column.get("label") {
            languages::check_words(label, &join(&at, "label"), faults);
        }
        check_format(&at, column, faults);
    }
    let has = |role: &str| columns.iter().any(|column| role_of(column) == role);
    if shape == "series" && !has("measure") {
        faults.at(
            at,
            "a series needs a column with the role `measure`",
            "give the role to the column whose values are drawn",
        );
    }
    if shape == "series" && !has("time") && !has("dimension") {
        faults.at(
            at,
            "a series needs something along which it is drawn",
            "add a column with the role `time` or `dimension`",
        );
    }
    if shape == "records" && !has("dimension") {
        faults.at(
            at,
            "records need titles",
            "give the role `dimension` to the column whose values are the titles",
        );
    }
}

fn role_of(column: &Value) -> &str {
    text(column, "role").unwrap_or("dimension")
}

/// Checks that role, format, unit and decimal places of a column are compatible.
fn check_format(at: &str, column: &Value, faults: &mut Faults) {
    let role = role_of(column);
    let format = text(column, "format").unwrap_or(match role {
        "measure" => "number",
        "time" => "day",
        _ => "text",
    });
    let is_number = matches!(format, "number" | "money" | "percent");
    let fits = match role {
        "measure" => is_number,
        "time" => matches!(format, "day" | "moment" | "text" | "number"),
        _ => true,
    };
    if !fits {
        faults.at(
            join(at, "format"),
            format!("the role `{role}` cannot have the format `{format}`"),
            "a measure is a number, an amount or a percentage; a time is a day or a moment",
        );
    }
    if format == "money" && present(column, "unit").is_none() {
        faults.at(
            join(at, "unit"),
            "an amount needs its currency",
            "name it (`\"EUR\"`), or where the result has it (`{\"at\": \"/currency\"}`)",
        );
    }
    if !is_number && present(column, "digits").is_some() {
        faults.at(
            join(at, "digits"),
            format!("`digits` means nothing for the format `{format}`"),
            "remove it, or choose a format of numbers",
        );
    }
    if let Some(pointer) = column.pointer("/unit/at").and_then(Value::as_str)
        && !is_pointer(pointer)
    {
        faults.at(
            join(at, "unit"),
            format!("`{pointer}` is not a JSON pointer"),
            "start it with a slash, such as `/currency`",
        );
    }
}

/// Warns of rows and columns that the output schema does not describe. The schema may permit
/// members that it does not name, so such a row or column is not a fault.
fn check_against_schema(
    subject: &Subject<'_>,
    at: &str,
    tool: &Value,
    view: &Value,
    warnings: &mut Faults,
) {
    let Some(schema) = text(tool, "output_schema_ref").and_then(|name| subject.schema(name)) else {
        return;
    };
    let rows = text(view, "rows").unwrap_or_default();
    let Ok(place) = find_schema(subject, schema, rows) else {
        warnings.at(
            join(at, "rows"),
            format!("the output schema describes nothing at `{rows}`"),
            "correct the pointer, or describe the rows in the schema",
        );
        return;
    };
    let Some(row) = place.and_then(|place| row_schema(subject, place)) else { return };
    for (index, column) in list(view.get("columns")).enumerate() {
        let Some(field) = text(column, "field") else { continue };
        let pointer = if field.starts_with('/') { field.to_owned() } else { join("", field) };
        if find_schema(subject, row, &pointer).is_err() {
            warnings.at(
                format!("{at}/columns/{index}/field"),
                format!("the output schema describes no `{field}` in the rows"),
                "correct the name, or describe the member in the schema",
            );
        }
    }
}

/// Follows a JSON pointer through a schema. Returns none if the schema permits any members there,
/// and an error if the schema permits only other members.
fn find_schema<'a>(
    subject: &Subject<'a>,
    schema: &'a Value,
    pointer: &str,
) -> Result<Option<&'a Value>, ()> {
    let mut at = follow(subject, schema);
    for name in pointer.split('/').skip(1) {
        let Some(properties) = at.and_then(|at| at.get("properties")) else { return Ok(None) };
        let name = name.replace("~1", "/").replace("~0", "~");
        at = follow(subject, properties.get(&name).ok_or(())?);
    }
    Ok(at)
}

/// Returns the schema of a row. For a list, this is the schema of its items.
fn row_schema<'a>(subject: &Subject<'a>, place: &'a Value) -> Option<&'a Value> {
    match place.get("items") {
        Some(items) => follow(subject, items),
        None => Some(place),
    }
}

/// Resolves the reference of a schema. Returns a schema without a reference unchanged.
fn follow<'a>(subject: &Subject<'a>, schema: &'a Value) -> Option<&'a Value> {
    match text(schema, "$ref") {
        Some(reference) => subject.schema(reference),
        None => Some(schema),
    }
}

fn is_pointer(text: &str) -> bool {
    text.is_empty() || text.starts_with('/')
}

fn is_view_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}
