//! Compares the rows of a figure's file with the figure that its record has. The file has the rows as
//! the database library writes them as CSV: also columns that are not shown, and numbers with zeros
//! at their end.

use std::collections::BTreeMap;

use serde_json::Value;

/// The digits of a double that are the same on any number of threads.
const FLOAT_DIGITS: usize = 12;

/// The column that marks rows with totals.
const TOTAL: &str = "_total";

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The file has all rows of the record.
    Same,
    /// A row of the record is missing in the file.
    Other,
    /// The columns of the file are others.
    Unknown,
}

/// A row of the file. An empty cell is None.
type Record = Vec<Option<String>>;

/// Compares. The order of rows does not count, and the record may have only some of the rows.
pub(super) fn compare(result: &Value, csv: &str) -> Found {
    let mut records = records_of(csv).into_iter();
    let Some(head) = records.next() else { return Found::Other };
    let columns = result["columns"].as_array().map_or(&[][..], Vec::as_slice);
    let Some(places) = Places::find(columns, &head) else { return Found::Unknown };
    // Another query may have a column of this name itself.
    let is_own = columns.iter().any(|column| column["name"] == TOTAL);
    let total = head.iter().position(|cell| !is_own && cell.as_deref() == Some(TOTAL));
    let is_total = |record: &Record| {
        total.and_then(|at| record.get(at)?.as_deref()).is_some_and(|cell| cell == "true")
    };
    let (totals, rows): (Vec<Record>, Vec<Record>) = records.partition(is_total);
    if places.has_all(&result["rows"], &rows) && places.has_all(&result["totals"], &totals) {
        Found::Same
    } else {
        Found::Other
    }
}

/// The columns of a figure, and where the file has them.
struct Places<'a> {
    /// The columns that the file has, too, with their types.
    own: Vec<(usize, usize, &'a str)>,
    /// The columns that were values of a dimension.
    pivoted: Vec<Pivoted<'a>>,
}

/// A column that was a value of a dimension.
struct Pivoted<'a> {
    place: usize,
    kind: &'a str,
    dimension: usize,
    value: &'a Value,
    measure: usize,
}

impl<'a> Places<'a> {
    fn find(columns: &'a [Value], head: &Record) -> Option<Self> {
        let place = |name: &Value| {
            let name = name.as_str();
            head.iter().position(|cell| name.is_some() && cell.as_deref() == name)
        };
        let mut places = Self { own: Vec::new(), pivoted: Vec::new() };
        for (at, column) in columns.iter().enumerate() {
            let kind = column["type"].as_str().unwrap_or_default();
            match column.get("pivot") {
                None => places.own.push((at, place(&column["name"])?, kind)),
                Some(pivot) => places.pivoted.push(Pivoted {
                    place: at,
                    kind,
                    dimension: place(&pivot["dimension"])?,
                    value: &pivot["value"],
                    measure: place(&pivot["measure"])?,
                }),
            }
        }
        Some(places)
    }

    /// Whether the file has all rows of a list of the record.
    fn has_all(&self, list: &Value, records: &[Record]) -> bool {
        let mut known: BTreeMap<Record, Vec<&Record>> = BTreeMap::new();
        for record in records {
            let cell = |(_, place, kind): &(usize, usize, &str)| {
                record.get(*place).cloned().flatten().map(|text| plain(kind, &text))
            };
            known.entry(self.own.iter().map(cell).collect()).or_default().push(record);
        }
        let rows = list.as_array().map_or(&[][..], Vec::as_slice);
        rows.iter().all(|row| {
            let key: Record = self.own.iter().map(|(at, _, kind)| shown(kind, &row[*at])).collect();
            match known.get_mut(&key) {
                Some(found) if self.pivoted.is_empty() => found.pop().is_some(),
                Some(found) => self.pivoted.iter().all(|column| column.is_in(row, found)),
                None => false,
            }
        })
    }
}

impl Pivoted<'_> {
    /// Whether the rows of the file with the same other values have the figure of a row.
    fn is_in(&self, row: &Value, records: &[&Record]) -> bool {
        let cell = |record: &Record, at: usize| record.get(at).cloned().flatten();
        let mut own = records.iter().filter(|r| is_value(self.value, &cell(r, self.dimension)));
        let figure = shown(self.kind, &row[self.place]);
        let figure_of =
            |record: &Record| cell(record, self.measure).map(|text| plain(self.kind, &text));
        // Without a row of this value, there is no figure.
        (figure.is_none() && own.clone().next().is_none()) || own.any(|r| figure_of(r) == figure)
    }
}

/// Whether a cell of the file has a value, whatever its type.
fn is_value(value: &Value, cell: &Option<String>) -> bool {
    let kinds = ["text", "moment", "decimal"];
    kinds.iter().any(|kind| shown(kind, value) == cell.as_ref().map(|text| plain(kind, text)))
}

fn shown(kind: &str, cell: &Value) -> Option<String> {
    match cell {
        Value::Null => None,
        Value::String(text) => Some(plain(kind, text)),
        other => Some(plain(kind, &other.to_string())),
    }
}

/// Returns a cell in one form, whoever wrote it.
fn plain(kind: &str, text: &str) -> String {
    match kind {
        "moment" => without_zeros(&text.replacen('T', " ", 1)).to_owned(),
        "float" => match text.parse::<f64>() {
            Ok(number) => format!("{number:.*e}", FLOAT_DIGITS - 1),
            Err(_) => text.to_owned(),
        },
        "whole" | "decimal" => match without_exponent(text) {
            Some(digits) => without_zeros(&digits).to_owned(),
            None => text.to_owned(),
        },
        _ => text.to_owned(),
    }
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Returns the digits of a number that may be written with an exponent, such as `1e-7`.
fn without_exponent(text: &str) -> Option<String> {
    let Some((number, exponent)) = text.split_once(['e', 'E']) else {
        return Some(text.to_owned());
    };
    let exponent: i32 = exponent.parse().ok()?;
    let (sign, number) = number.strip_prefix('-').map_or(("", number), |positive| ("-", positive));
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{part}");
    let point = i32::try_from(whole.len()).ok()? + exponent;
    let length = i32::try_from(digits.len()).ok()?;
    // No number of a result is longer.
    if !(-400..=400).contains(&point) {
        return None;
    }
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    Some(if point <= 0 {
        format!("{sign}0.{}{digits}", zeros(-point))
    } else if point >= length {
        format!("{sign}{digits}{}", zeros(point - length))
    } else {
        let (whole, part) = digits.split_at(usize::try_from(point).unwrap_or(0));
        format!("{sign}{whole}.{part}")
    })
}

/// Reads CSV. An empty cell without quotes is None.
fn records_of(csv: &str) -> Vec<Vec<Option<String>>> {
    let (mut records, mut record, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut is_quoted, mut is_inside) = (false, false);
    let mut letters = csv.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_inside && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => {
                is_quoted = true;
                is_inside = !is_inside;
            }
            ',' | '\n' if !is_inside => {
                let text = std::mem::take(&mut cell);
                record.push((is_quoted || !text.is_empty()).then_some(text));
                is_quoted = false;
                if letter == '\n' {
                    records.push(std::mem::take(&mut record));
                }
            }
            other => cell.push(other),
        }
    }
    records
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result(rows: Value) -> Value {
        json!({
            "columns": [
                { "name": "Campaign", "type": "text" },
                { "name": "cost", "type": "decimal" },
                { "name": "rate", "type": "float" },
                { "name": "at", "type": "moment" }
            ],
            "rows": rows
        })
    }

    const CSV: &str = "Campaign,hidden,cost,rate,at\n\
        \"Oak, \"\"plain\"\"\",1,210.00,0.30000000000000004,2026-11-01 09:00:00.5\n\
        \"\",2,0.0000001,,\n";

    #[test]
    fn rows_are_the_same_in_any_order_and_notation() {
        let rows = json!([
            ["", 1e-7, null, null],
            ["Oak, \"plain\"", 210, 0.3, "2026-11-01T09:00:00.500000"]
        ]);
        assert_eq!(compare(&result(rows), CSV), Found::Same);
        assert_eq!(compare(&result(json!([])), CSV), Found::Same);
    }

    /// A figure whose devices became columns.
    fn pivoted(rows: Value, totals: Value) -> Value {
        let column = |name: &str, value: Value| {
            json!({
                "name": name, "type": "whole",
                "pivot": { "dimension": "device", "value": value, "measure": "clicks" }
            })
        };
        json!({
            "columns": [
                { "name": "campaign", "type": "text" },
                column("Mobile", json!("Mobile")),
                column("-", Value::Null)
            ],
            "rows": rows,
            "totals": totals
        })
    }

    const DEVICES: &str = "campaign,device,clicks,_total\n\
        ,Mobile,7,true\n\
        ,,2,true\n\
        A,Mobile,3,false\n\
        A,,2,false\n\
        B,Mobile,4,false\n";

    #[test]
    fn values_that_became_columns_are_compared_cell_by_cell() {
        let totals = json!([[null, 7, 2]]);
        let right = pivoted(json!([["B", 4, null], ["A", 3, 2]]), totals.clone());
        assert_eq!(compare(&right, DEVICES), Found::Same);
        for rows in [
            json!([["A", 4, 2]]),
            json!([["A", 3, null]]),
            json!([["B", 4, 2]]),
            json!([["C", 3, 2]]),
        ] {
            assert_eq!(
                compare(&pivoted(rows.clone(), totals.clone()), DEVICES),
                Found::Other,
                "{rows}"
            );
        }
        let other = pivoted(json!([]), json!([[null, 8, 2]]));
        assert_eq!(compare(&other, DEVICES), Found::Other, "totals count, too");
    }

    #[test]
    fn another_figure_and_another_column_are_found() {
        for row in [
            json!(["Oak, \"plain\"", 211, 0.3, "2026-11-01T09:00:00.5"]),
            json!([null, 1e-7, null, null]),
            json!(["Oak, \"plain\"", "210.001", 0.3, "2026-11-01T09:00:00.5"]),
        ] {
            assert_eq!(compare(&result(json!([row])), CSV), Found::Other, "{row}");
        }
        let twice = json!([["", 1e-7, null, null], ["", 1e-7, null, null]]);
        assert_eq!(compare(&result(twice), CSV), Found::Other);
        let mut other = result(json!([]));
        other["columns"][0]["name"] = json!("2026-11");
        assert_eq!(compare(&other, CSV), Found::Unknown);
    }
}
