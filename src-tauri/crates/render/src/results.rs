//! Writes results as Markdown, by their shape: tables, and lists of names with values. Knows no
//! pack.

use contract::{
    ResultView, json_text,
    result::{ColumnRole, ContentColumn, ResultCell, Shape, ValueFormat, read_content},
};
use serde_json::Value;

/// The words and formats of a result, and how much of it is written.
#[derive(Clone, Copy, Debug)]
pub struct ResultStyle<'a> {
    /// The language of headings, such as `en`.
    pub language: &'a str,
    /// The sign before the decimals.
    pub decimal: &'a str,
    /// The sign between groups of three digits.
    pub group: &'a str,
    /// The format of a percentage, with the placeholder `number`.
    pub percent: &'a str,
    /// The words for true and false.
    pub yes_no: [&'a str; 2],
    /// The sentence for a result without rows.
    pub no_rows: &'a str,
    /// The sentence for a result with more rows than are written, with the placeholders `shown` and
    /// `total`.
    pub first_rows: &'a str,
    /// The sentence for a result with more columns than are written, with the same placeholders.
    pub first_columns: &'a str,
    /// The name of a row with the figures of all rows.
    pub total: &'a str,
    /// The most rows that are written.
    pub most_rows: usize,
}

impl ResultStyle<'_> {
    /// Returns the style of English texts.
    pub const fn english(most_rows: usize) -> ResultStyle<'static> {
        ResultStyle {
            language: "en",
            decimal: ".",
            group: ",",
            percent: "{number}%",
            yes_no: ["yes", "no"],
            no_rows: "There are no rows.",
            first_rows: "The first {shown} of {total} rows are shown.",
            first_columns: "The first {shown} of {total} columns are shown.",
            total: "Total",
            most_rows,
        }
    }
}

/// A result as Markdown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenResult {
    /// The text, which ends with a line break.
    pub markdown: String,
    /// Whether the text has fewer rows or columns than the result.
    pub is_cut: bool,
}

/// Returns a result as Markdown under `title`, or None if its tool declares no shape that can be
/// shown without a pack.
pub fn write_result(
    title: &str,
    view: &ResultView,
    data: &Value,
    style: &ResultStyle<'_>,
) -> Option<WrittenResult> {
    let members = json_text::members_of(data);
    let content = read_content(view, &members)?;
    let heading = content.title_in(style.language).unwrap_or(title);
    let mut markdown = format!("**{}**\n\n", escape_markdown(heading));
    let rows = &content.rows[..content.rows.len().min(style.most_rows)];
    match &view.shape {
        _ if rows.is_empty() => markdown.push_str(&format!("{}\n", style.no_rows)),
        Shape::Figures(_) if rows.len() == 1 => {
            markdown.push_str(&list_of(&content.columns, &rows[0], None, style));
        }
        Shape::Records(_) => markdown.push_str(&records_of(&content.columns, rows, style)),
        _ => markdown.push_str(&table_of(&content.columns, rows, &content.totals, style)),
    }
    let total = content.total.max(rows_of_query(view, &members));
    let of_rows = say_cut(style.first_rows, rows.len(), total);
    let all_columns = content.all_columns.unwrap_or_default();
    let of_columns = say_cut(style.first_columns, content.columns.len(), all_columns);
    let is_cut = of_rows.is_some() || of_columns.is_some();
    markdown.extend([of_rows, of_columns].into_iter().flatten());
    Some(WrittenResult { markdown, is_cut })
}

/// Returns the line that says how much is written, if that is not all.
fn say_cut(sentence: &str, shown: usize, total: u64) -> Option<String> {
    let says = || {
        let sentence = sentence.replace("{shown}", &shown.to_string());
        format!("\n{}\n", sentence.replace("{total}", &total.to_string()))
    };
    (total > shown as u64).then(says)
}

/// Returns the number of all rows that a query found, if the result has only a part of them. Such a
/// result has the number beside its rows.
fn rows_of_query(view: &ResultView, data: &Value) -> u64 {
    let beside = view.shape.layout().and_then(|layout| {
        let (members, _) = layout.rows.rsplit_once('/')?;
        data.pointer(members)?.get("row_count")?.as_u64()
    });
    beside.unwrap_or_default()
}

/// Returns the position of the column whose values name the rows.
pub fn title_column(columns: &[ContentColumn]) -> Option<usize> {
    columns.iter().position(|column| column.role == ColumnRole::Dimension)
}

fn table_of(
    columns: &[ContentColumn],
    rows: &[Vec<ResultCell>],
    totals: &[Vec<ResultCell>],
    style: &ResultStyle<'_>,
) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let label = |column: &ContentColumn| escape_markdown(column.label_in(style.language));
    let rule = |column: &ContentColumn| if column.format.is_number() { "--:" } else { "---" };
    let heads = columns.iter().map(label).collect();
    let rules = columns.iter().map(|column| rule(column).to_owned()).collect();
    let body = rows.iter().map(|row| {
        let cells = row.iter().zip(columns);
        line(cells.map(|(cell, column)| escape_markdown(&cell_text(cell, column, style))).collect())
    });
    let totals = totals.iter().map(|row| line(total_cells(columns, row, style)));
    [line(heads), line(rules)].into_iter().chain(body).chain(totals).collect()
}

/// Returns the cells of a row with totals. It has its name where it has no value.
fn total_cells(
    columns: &[ContentColumn],
    row: &[ResultCell],
    style: &ResultStyle<'_>,
) -> Vec<String> {
    let is_open = |cell: &ResultCell, column: &ContentColumn| {
        cell.value.is_null() && column.role != ColumnRole::Measure
    };
    let text = |(cell, column): (&ResultCell, &ContentColumn)| match is_open(cell, column) {
        true => String::new(),
        false => escape_markdown(&cell_text(cell, column, style)),
    };
    let mut cells: Vec<String> = row.iter().zip(columns).map(text).collect();
    let named = row.iter().zip(columns).position(|(cell, column)| is_open(cell, column));
    if let Some(cell) = cells.get_mut(named.unwrap_or_default()) {
        *cell = format!("**{}** {cell}", escape_markdown(style.total)).trim_end().to_owned();
    }
    cells
}

/// Returns the names and values of a row as a list, excluding the title column and empty cells.
fn list_of(
    columns: &[ContentColumn],
    row: &[ResultCell],
    title: Option<usize>,
    style: &ResultStyle<'_>,
) -> String {
    columns
        .iter()
        .zip(row)
        .enumerate()
        .filter(|(at, (_, cell))| Some(*at) != title && (title.is_none() || !cell.value.is_null()))
        .map(|(_, (column, cell))| {
            let label = escape_markdown(column.label_in(style.language));
            format!("- {label}: {}\n", escape_markdown(&cell_text(cell, column, style)))
        })
        .collect()
}

fn records_of(
    columns: &[ContentColumn],
    rows: &[Vec<ResultCell>],
    style: &ResultStyle<'_>,
) -> String {
    let title = title_column(columns).unwrap_or(0);
    let records = rows.iter().map(|row| {
        let name = escape_markdown(&cell_text(&row[title], &columns[title], style));
        format!("{name}\n\n{}", list_of(columns, row, Some(title), style))
    });
    records.collect::<Vec<_>>().join("\n")
}

/// Returns the text of a value.
pub fn cell_text(cell: &ResultCell, column: &ContentColumn, style: &ResultStyle<'_>) -> String {
    let unit = cell.unit.as_deref();
    match &cell.value {
        Value::Null => "–".to_owned(),
        Value::Bool(value) => style.yes_no[usize::from(!*value)].to_owned(),
        Value::Number(number) => match (column.format, number.as_f64()) {
            (ValueFormat::Number, Some(value)) => {
                with_unit(decimal(value, column.digits, 2, true, style), unit)
            }
            (ValueFormat::Money, Some(value)) => {
                with_unit(decimal(value, column.digits, 2, false, style), unit)
            }
            (ValueFormat::Percent, Some(value)) => {
                let number = decimal(value * 100.0, column.digits, 1, false, style);
                style.percent.replace("{number}", &number)
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

/// Formats a number with separators between thousands. If the number of decimals is not declared,
/// writes at most `places` decimals, and `trims` removes zeros at the end.
fn decimal(
    value: f64,
    digits: Option<u8>,
    places: usize,
    trims: bool,
    style: &ResultStyle<'_>,
) -> String {
    let places = digits.map_or(places, usize::from);
    let text = format!("{:.places$}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fraction =
        if trims && digits.is_none() { fraction.trim_end_matches('0') } else { fraction };
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push_str(style.group);
        }
        grouped.push(digit);
    }
    let is_zero = !text.contains(|c: char| ('1'..='9').contains(&c));
    let sign = if value < 0.0 && !is_zero { "-" } else { "" };
    let point = if fraction.is_empty() { "" } else { style.decimal };
    format!("{sign}{grouped}{point}{fraction}")
}

/// Escapes the characters that have a meaning in Markdown. Replaces a line break with a space.
pub fn escape_markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => escaped.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '$' => {
                escaped.extend(['\\', letter]);
            }
            // A heading begins a line only.
            '#' if escaped.is_empty() => escaped.push_str("\\#"),
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

    fn written(shape: &str, items: Value, style: &ResultStyle<'_>) -> WrittenResult {
        write_result("Parcels", &view(shape), &json!({"items": items}), style).unwrap()
    }

    fn markdown(shape: &str, items: Value) -> String {
        written(shape, items, &ResultStyle::english(50)).markdown
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
    fn a_table_has_the_words_and_numbers_of_its_language() {
        let style = ResultStyle {
            language: "sv",
            decimal: ",",
            group: "\u{a0}",
            yes_no: ["ja", "nej"],
            ..ResultStyle::english(50)
        };
        let items = json!([{"to": "Ada", "cost": 1234.5, "held": true}]);
        assert_eq!(
            written("table", items, &style).markdown,
            "**Parcels**\n\n| Till | cost | Held |\n| --- | --: | --- |\n| Ada | 1\u{a0}234,50 EUR | ja |\n"
        );
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
        let cut = written("series", Value::Array(items), &ResultStyle::english(50));
        assert!(cut.is_cut);
        let end = "\nThe first 50 of 60 rows are shown.\n";
        assert!(cut.markdown.ends_with(end), "{}", cut.markdown);
    }

    #[test]
    fn a_part_of_the_rows_of_a_query_is_said_to_be_a_part() {
        let data = json!({"items": [{"to": "Ada"}], "row_count": 900});
        let part =
            write_result("Parcels", &view("table"), &data, &ResultStyle::english(50)).unwrap();
        assert!(part.is_cut);
        let end = "\nThe first 1 of 900 rows are shown.\n";
        assert!(part.markdown.ends_with(end), "{}", part.markdown);
    }

    /// Returns the result of a query, with so many columns besides those of device and time.
    fn of_query(figures: usize) -> WrittenResult {
        let view: ResultView = serde_json::from_value(
            json!({"shape": "table", "rows": "/rows", "columns": "/columns"}),
        )
        .unwrap();
        let column = |name: String, role: &str, format: &str| json!({"name": name, "type": "text", "role": role, "format": format});
        let mut columns =
            vec![column("device".into(), "dimension", "text"), column("day".into(), "time", "day")];
        columns.extend((0..figures).map(|n| column(format!("n{n}"), "measure", "number")));
        let row = |names: [Value; 2], value: u64| -> Vec<Value> {
            names.into_iter().chain((0..figures).map(|_| json!(value))).collect()
        };
        let rows = [row([json!("Mobile"), json!("2026-11-01")], 1_500)];
        let totals = [row([Value::Null, Value::Null], 2_500)];
        let data = json!({"columns": columns, "rows": rows, "row_count": 1, "totals": totals});
        write_result("Clicks", &view, &data, &ResultStyle::english(50)).unwrap()
    }

    #[test]
    fn totals_of_a_query_are_the_last_row_of_its_table() {
        let written = of_query(1);
        assert_eq!(
            written.markdown,
            "**Clicks**\n\n| device | day | n0 |\n| --- | --- | --: |\n\
             | Mobile | 2026-11-01 | 1,500 |\n| **Total** |  | 2,500 |\n"
        );
        assert!(!written.is_cut);
    }

    #[test]
    fn columns_that_are_left_out_are_said_with_their_number() {
        let written = of_query(70);
        assert!(written.is_cut);
        let end = "\nThe first 60 of 72 columns are shown.\n";
        assert!(written.markdown.ends_with(end), "{}", written.markdown);
        assert!(!of_query(58).is_cut);
    }

    #[test]
    fn numbers_have_thousands_separators_and_the_declared_decimal_places() {
        let decimal = |value, digits, places, trims| {
            decimal(value, digits, places, trims, &ResultStyle::english(50))
        };
        assert_eq!(decimal(1_234_567.891, None, 2, true), "1,234,567.89");
        assert_eq!(decimal(12.0, None, 2, true), "12");
        assert_eq!(decimal(-12.5, Some(3), 2, true), "-12.500");
        assert_eq!(decimal(-0.001, None, 2, false), "0.00");
    }
}
