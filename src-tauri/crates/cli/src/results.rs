//! Formats results as Markdown, by their shape: tables, and lists of names with values. The
//! terminal formats this Markdown in the same way as answers. Knows no pack.

use contract::{
    ResultView,
    definitions::DefinitionState,
    json_text,
    result::{ColumnRole, ContentColumn, ResultCell, Shape, ValueFormat, read_content},
};
use serde_json::Value;

use crate::visible::escape_invisible;

/// The maximum number of rows that are printed.
const MAX_ROWS: usize = 50;
/// The language of `csign`.
const LANGUAGE: &str = "en";

/// Returns a result as Markdown, or None if its tool declares no shape that can be shown without a
/// pack.
pub(crate) fn to_markdown(title: &str, view: &ResultView, data: &Value) -> Option<String> {
    let content = read_content(view, &json_text::members_of(data))?;
    let heading = content.title_in(LANGUAGE).unwrap_or(title);
    let mut text = format!("**{}**\n\n", escape(heading));
    let rows = &content.rows[..content.rows.len().min(MAX_ROWS)];
    match &view.shape {
        _ if rows.is_empty() => text.push_str("There are no rows.\n"),
        Shape::Figures(_) if rows.len() == 1 => {
            text.push_str(&list_of(&content.columns, &rows[0], None));
        }
        Shape::Records(_) => text.push_str(&records_of(&content.columns, rows)),
        _ => text.push_str(&table_of(&content.columns, rows)),
    }
    if content.total > rows.len() as u64 {
        let total = content.total;
        text.push_str(&format!("\nThe first {} of {total} rows are shown.\n", rows.len()));
    }
    Some(text)
}

/// Returns with what figures were computed, if a reader must know it before the figures: a query that
/// the model wrote, or definitions that nobody approved.
pub(crate) fn mark_of(view: &ResultView, data: &Value) -> Option<String> {
    let content = read_content(view, &json_text::members_of(data))?;
    match content.state? {
        DefinitionState::Approved => None,
        DefinitionState::Proposed => Some("Definitions that nobody approved yet".to_owned()),
        DefinitionState::WrittenByModel => {
            let query = content.query.unwrap_or_default();
            Some(format!("Query written by the model: {}", escape_invisible(&query)))
        }
    }
}

/// Whether a text, such as an answer with a list, already contains the names of all rows.
pub(crate) fn is_told_in(view: &ResultView, data: &Value, text: &str) -> bool {
    let Some(content) = read_content(view, &json_text::members_of(data)) else { return false };
    let Some(at) = title_column(&content.columns) else { return false };
    let names = |row: &Vec<ResultCell>| text.contains(&text_of(&row[at], &content.columns[at]));
    !content.rows.is_empty() && content.rows.iter().all(names)
}

/// Returns the position of the column whose values name the rows.
fn title_column(columns: &[ContentColumn]) -> Option<usize> {
    columns.iter().position(|column| column.role == ColumnRole::Dimension)
}

fn table_of(columns: &[ContentColumn], rows: &[Vec<ResultCell>]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let heads = columns.iter().map(|column| escape(column.label_in(LANGUAGE))).collect();
    let rule = |column: &ContentColumn| if column.format.is_number() { "--:" } else { "---" };
    let rules = columns.iter().map(|column| rule(column).to_owned()).collect();
    let body = rows.iter().map(|row| {
        line(row.iter().zip(columns).map(|(cell, column)| escape(&text_of(cell, column))).collect())
    });
    [line(heads), line(rules)].into_iter().chain(body).collect()
}

/// Returns the names and values of a row as a list, excluding the title column and empty cells.
fn list_of(columns: &[ContentColumn], row: &[ResultCell], title: Option<usize>) -> String {
    columns
        .iter()
        .zip(row)
        .enumerate()
        .filter(|(at, (_, cell))| Some(*at) != title && (title.is_none() || !cell.value.is_null()))
        .map(|(_, (column, cell))| {
            let label = escape(column.label_in(LANGUAGE));
            format!("- {label}: {}\n", escape(&text_of(cell, column)))
        })
        .collect()
}

fn records_of(columns: &[ContentColumn], rows: &[Vec<ResultCell>]) -> String {
    let title = title_column(columns).unwrap_or(0);
    let records = rows.iter().map(|row| {
        let name = escape(&text_of(&row[title], &columns[title]));
        format!("{name}\n\n{}", list_of(columns, row, Some(title)))
    });
    records.collect::<Vec<_>>().join("\n")
}

fn text_of(cell: &ResultCell, column: &ContentColumn) -> String {
    let unit = cell.unit.as_deref();
    match &cell.value {
        Value::Null => "–".to_owned(),
        Value::Bool(value) => if *value { "yes" } else { "no" }.to_owned(),
        Value::Number(number) => match (column.format, number.as_f64()) {
            (ValueFormat::Number, Some(value)) => {
                with_unit(decimal(value, column.digits, 2, true), unit)
            }
            (ValueFormat::Money, Some(value)) => {
                with_unit(decimal(value, column.digits, 2, false), unit)
            }
            (ValueFormat::Percent, Some(value)) => {
                format!("{}%", decimal(value * 100.0, column.digits, 1, false))
            }
            _ => number.to_string(),
        },
        Value::String(text) if text.is_empty() => "–".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn with_unit(number: String, unit: Option<&str>) -> String {
    match unit {
        Some(unit) => format!("{number} {unit}"),
        None => number,
    }
}

/// Formats a number with commas between thousands. If the number of decimals is not declared,
/// writes at most `places` decimals, and `trims` removes zeros at the end.
fn decimal(value: f64, digits: Option<u8>, places: usize, trims: bool) -> String {
    let places = digits.map_or(places, usize::from);
    let text = format!("{:.places$}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fraction =
        if trims && digits.is_none() { fraction.trim_end_matches('0') } else { fraction };
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let is_zero = !text.contains(|c: char| ('1'..='9').contains(&c));
    let sign = if value < 0.0 && !is_zero { "-" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{grouped}{point}{fraction}")
}

/// Escapes the characters that have a meaning in Markdown. Replaces a line break with a space.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => escaped.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '$' => {
                escaped.extend(['\\', letter]);
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn view(shape: &str) -> ResultView {
        serde_json::from_value(json!({"shape": shape, "rows": "/items", "columns": [
            {"field": "to", "label": {"en": "To", "sv": "Till"}},
            {"field": "cost", "role": "measure", "format": "money", "unit": "EUR"},
            {"field": "held", "label": {"en": "Held"}, "format": "flag"}
        ]}))
        .unwrap()
    }

    fn markdown(shape: &str, items: Value) -> String {
        to_markdown("Parcels", &view(shape), &json!({"items": items})).unwrap()
    }

    #[test]
    fn a_table_has_a_line_for_each_row() {
        let items = json!([{"to": "Ada | _x_", "cost": 1234.5, "held": false}, {"to": "Grace"}]);
        assert_eq!(
            markdown("table", items),
            "**Parcels**\n\n| To | cost | Held |\n| --- | --: | --- |\n| Ada \\| \\_x\\_ | 1,234.50 EUR | no |\n| Grace | – | – |\n"
        );
        assert_eq!(markdown("table", json!([])), "**Parcels**\n\nThere are no rows.\n");
    }

    #[test]
    fn a_reader_is_told_first_that_the_model_wrote_the_query() {
        let view: ResultView = serde_json::from_value(
            json!({"shape": "table", "rows": "/rows", "columns": "/columns"}),
        )
        .unwrap();
        let column = json!({"name": "n", "type": "whole", "role": "measure", "format": "number"});
        let mut data = json!({"columns": [column], "rows": [[1]], "sql": "SELECT 1",
            "definition_state": "written_by_model"});
        assert_eq!(mark_of(&view, &data).unwrap(), "Query written by the model: SELECT 1");
        data["definition_state"] = json!("proposed");
        assert_eq!(mark_of(&view, &data).unwrap(), "Definitions that nobody approved yet");
        data["definition_state"] = json!("approved");
        assert_eq!(mark_of(&view, &data), None);
    }

    #[test]
    fn figures_and_records_are_lists() {
        let one = json!([{"to": "Ada", "cost": 3}]);
        assert_eq!(
            markdown("figures", one.clone()),
            "**Parcels**\n\n- To: Ada\n- cost: 3.00 EUR\n- Held: –\n"
        );
        assert_eq!(markdown("records", one), "**Parcels**\n\nAda\n\n- cost: 3.00 EUR\n");
    }

    #[test]
    fn many_rows_are_cut_with_a_line_that_says_so() {
        let items: Vec<Value> = (0..60).map(|n| json!({"to": n.to_string()})).collect();
        let text = markdown("series", Value::Array(items));
        assert!(text.ends_with("\nThe first 50 of 60 rows are shown.\n"), "{text}");
    }

    #[test]
    fn an_answer_that_names_each_row_counts_as_showing_the_result() {
        let data = json!({"items": [{"to": "Ada"}, {"to": "Grace"}]});
        assert!(is_told_in(&view("table"), &data, "Ada: waiting\nGrace: delivered"));
        assert!(!is_told_in(&view("table"), &data, "Two parcels, one for Ada."));
        assert!(!is_told_in(&view("table"), &json!({"items": []}), "None."));
        let numbered = json!({"items": [{"to": 1001}]});
        assert!(is_told_in(&view("table"), &numbered, "Parcel 1001."));
        assert!(!is_told_in(&view("table"), &numbered, "There is one parcel."));
        assert!(!is_told_in(&ResultView::default(), &data, "Ada, Grace"));
    }

    #[test]
    fn numbers_have_thousands_separators_and_the_declared_decimal_places() {
        assert_eq!(decimal(1_234_567.891, None, 2, true), "1,234,567.89");
        assert_eq!(decimal(12.0, None, 2, true), "12");
        assert_eq!(decimal(-12.5, Some(3), 2, true), "-12.500");
        assert_eq!(decimal(-0.001, None, 2, false), "0.00");
    }
}
