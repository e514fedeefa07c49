//! `csign data query` and `measure`: asks for figures and prints the result for people, or all of it
//! as JSON, CSV or Parquet. Knows no source.

use std::{fs::OpenOptions, io, path::Path};

use contract::{
    AgentError, Empty, ExportParams, ExportResponse, SourceName, SourceQueryParams, SourceView,
    definitions::DefinitionState,
    metric_query::{
        ComparedFigure, DataColumn, DataResult, DataVersion, MeasureParams, MetricQuery,
    },
    result::{ColumnUnit, ValueFormat},
};
use host::quote_word;
use serde_json::Value;

use super::{
    csv::write_csv,
    figures::{Digits, count_of, names_unit, show_number},
    paragraph::Paragraph,
    places::PIPE,
    table::TextTable,
};
use crate::args::{DataMeasure, DataQuery, Printing};
use crate::ask::text_or_stdin;
use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::{Out, Tone};
use crate::visible::{escape_invisible, escape_prose};

/// The most rows that are printed on a terminal.
const MOST_ROWS: usize = 50;
/// The rows of one page.
const PAGE: u64 = 10_000;
const EVERYTHING: &str = "--csv, --json and --parquet FILE give everything.";
/// The name of the row with the figures of all groups together.
const TOTAL: &str = "Total";
/// The language of `csign`.
const LANGUAGE: &str = "en";

/// A question that can be asked page by page.
enum Question {
    Query(String),
    Measure(Box<MetricQuery>),
}

impl Question {
    async fn page(
        &self,
        link: &Link,
        cursor: Option<String>,
        limit: u64,
    ) -> Result<DataResult, AgentError> {
        match self {
            Self::Query(sql) => {
                let sql = sql.clone();
                link.commands.source_query(SourceQueryParams { sql, cursor, limit }).await
            }
            Self::Measure(query) => {
                let query = query.as_ref().clone();
                link.commands.source_measure(MeasureParams { query, cursor }).await
            }
        }
    }

    /// Has all rows written as a Parquet file.
    async fn export(&self, link: &Link) -> Result<ExportResponse, AgentError> {
        let params = match self {
            Self::Query(sql) => ExportParams::Sql(sql.clone()),
            Self::Measure(query) => ExportParams::Query(query.clone()),
        };
        link.commands.source_export(params).await
    }

    /// Returns the source that the question names.
    fn source(&self) -> Option<&SourceName> {
        match self {
            Self::Query(_) => None,
            Self::Measure(query) => query.source.as_ref(),
        }
    }

    /// Returns the result with all its rows.
    async fn all(&self, link: &Link) -> Result<DataResult, AgentError> {
        let mut result = self.page(link, None, PAGE).await?;
        while let Some(cursor) = result.more.take() {
            let next = self.page(link, Some(cursor.clone()), PAGE).await?;
            let is_stuck = next.rows.is_empty() || next.more.as_ref() == Some(&cursor);
            result.rows.extend(next.rows);
            result.more = if is_stuck { None } else { next.more };
        }
        Ok(result)
    }
}

pub(super) async fn query(link: &Link, out: Out, args: DataQuery) -> Result<Exit, Failure> {
    let sql = text_or_stdin(&args.sql)?;
    answer(link, out, &Question::Query(sql), &args.printing).await
}

pub(super) async fn measure(link: &Link, out: Out, args: DataMeasure) -> Result<Exit, Failure> {
    let text = text_or_stdin(&args.query)?;
    let query: MetricQuery = serde_json::from_str(&text).map_err(|error| {
        Failure::usage_error(format!("The metric query cannot be read: {error}."))
            .hint("For example: {\"measures\": [\"spend\"], \"by\": [\"campaign\"], \"period\": \"last_month\"}")
    })?;
    answer(link, out, &Question::Measure(Box::new(query)), &args.printing).await
}

/// Returns an error if a table is wanted in two forms, or in a form that cannot be printed.
pub(super) fn check_printing(out: Out, printing: &Printing) -> Result<(), Failure> {
    if out.json && (printing.csv || printing.parquet.is_some()) {
        return Err(Failure::usage_error("Choose one of --json, --csv and --parquet."));
    }
    if printing.parquet.as_deref() == Some(Path::new(PIPE)) {
        return Err(Failure::usage_error("--parquet needs the name of a file.")
            .hint("--csv and --json are written to standard output."));
    }
    Ok(())
}

async fn answer(
    link: &Link,
    out: Out,
    question: &Question,
    printing: &Printing,
) -> Result<Exit, Failure> {
    if let Some(path) = &printing.parquet {
        let result = write_parquet(link, question, path).await?;
        let verb = if result.row_count == 1 { "is" } else { "are" };
        let rows = count_of(result.row_count, "row");
        Paragraph::new(format!("{rows} {verb} in {}.", path.display())).print_note(out);
        said_of_totals(&result).iter().for_each(|note| print_note(out, note));
        print_state(link, out, question, &result).await?;
        return Ok(Exit::Done);
    }
    if out.screen().is_some() && !printing.csv {
        let result = question.page(link, None, MOST_ROWS as u64).await?;
        print_for_people(out, &result);
        print_state(link, out, question, &result).await?;
        return Ok(Exit::Done);
    }
    let result = question.all(link).await?;
    print_all(out, &result, printing.csv);
    if !out.json {
        print_state(link, out, question, &result).await?;
    }
    Ok(Exit::Done)
}

/// Prints a whole result.
fn print_all(out: Out, result: &DataResult, as_csv: bool) {
    if as_csv {
        let csv = write_csv(result);
        let is_screen = out.screen().is_some();
        out.print_formatted(&if is_screen { escape_prose(&csv.text) } else { csv.text });
        said_of_csv(csv.marked, result).iter().for_each(|note| print_note(out, note));
    } else if out.json {
        out.print_json(result);
    } else {
        print_for_people(out, result);
    }
}

fn print_note(out: Out, note: &str) {
    Paragraph::new(note).after("note: ").print_note(out);
}

/// Returns what a CSV file has otherwise than the result.
fn said_of_csv(marked: u64, result: &DataResult) -> Vec<String> {
    let texts = match marked {
        0 => None,
        1 => Some("1 text looks like a formula and begins with an apostrophe.".to_owned()),
        _ => Some(format!(
            "{} look like formulas and begin with an apostrophe.",
            count_of(marked, "text")
        )),
    };
    texts.into_iter().chain(said_of_totals(result)).collect()
}

/// Says that a file has the rows of a result, and not their totals.
fn said_of_totals(result: &DataResult) -> Option<String> {
    (!result.totals.is_empty())
        .then(|| "The totals are not among the rows; --json has them.".to_owned())
}

/// Writes the rows into a new file. An existing one stays. Returns the result without its rows.
async fn write_parquet(
    link: &Link,
    question: &Question,
    path: &Path,
) -> Result<DataResult, Failure> {
    let failed = |error: io::Error| -> Failure { not_written(path, &error).into() };
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).open(path).map_err(failed)?;
    let written = match question.export(link).await {
        Ok(ExportResponse { file: made, result }) => {
            let made = Path::new(&made);
            let copied = files::open(made).and_then(|mut made| io::copy(&mut made, &mut file));
            // The app deletes the file at its next start at the latest.
            let _ = std::fs::remove_file(made);
            copied.map(|_| result).map_err(failed)
        }
        Err(error) => Err(error.into()),
    };
    if written.is_err() {
        // A part of a file would look like a file.
        let _ = std::fs::remove_file(path);
    }
    written
}

fn not_written(path: &Path, error: &io::Error) -> AgentError {
    let file = show_path(path);
    let error = match error.kind() {
        io::ErrorKind::AlreadyExists => {
            AgentError::invalid(format!("{file} exists already and stays as it is."))
                .hint("Name another file, or delete this one first.")
        }
        _ => AgentError::invalid(format!("{file} cannot be written: {error}.")),
    };
    error.reason("file_not_written")
}

fn show_path(path: &Path) -> String {
    escape_invisible(&path.display().to_string())
}

fn print_for_people(out: Out, result: &DataResult) {
    if let Some(words) = question_in_words(result) {
        Paragraph::new(words).print_line(out);
    }
    let is_shown_in_part = out.screen().is_some() && result.rows.len() > MOST_ROWS;
    let rows = if is_shown_in_part { &result.rows[..MOST_ROWS] } else { &result.rows };
    if rows.is_empty() {
        out.print_line("There are no rows.");
    } else {
        let (table, is_rounded) = table_of(&result.columns, rows, &result.totals);
        let mut said: Vec<String> = table.print(out, 0).describe().into_iter().collect();
        if result.row_count > rows.len() as u64 {
            said.push(format!(
                "The first {} of {} are shown.",
                rows.len(),
                count_of(result.row_count, "row")
            ));
        }
        if is_rounded {
            said.push("Decimals are rounded.".to_owned());
        }
        if !said.is_empty() {
            Paragraph::new(format!("{} {EVERYTHING}", said.join(" "))).print_line(out);
        }
    }
}

/// Returns the metric query of a result in words. None for a SELECT.
fn question_in_words(result: &DataResult) -> Option<String> {
    let parts = &result.asked.as_ref()?.parts;
    let words: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
    (!words.is_empty()).then(|| words.join(" · "))
}

/// Prints notes about the figures, and whether their definitions are approved. The hashes that
/// identify query and data are in the JSON.
async fn print_state(
    link: &Link,
    out: Out,
    question: &Question,
    result: &DataResult,
) -> Result<(), Failure> {
    result.notes.iter().for_each(|note| print_note(out, note.as_str()));
    if result.definitions.is_empty() {
        return Ok(());
    }
    if result.definition_state == DefinitionState::Approved {
        out.print_note(out.colour_text(Tone::Quiet, "The definitions are approved."));
        return Ok(());
    }
    let known = link.commands.sources_list(Empty {}).await?.sources;
    let names = find_proposed(&known, question.source(), &result.data_version);
    let remedy = if names.is_empty() { "" } else { " To approve them:" };
    out.print_note(format!("The definitions are not approved yet.{remedy}"));
    for name in names {
        out.print_note(format!("  csign data approve {}", quote_word(name.as_str())));
    }
    Ok(())
}

/// Returns the sources of a result whose definitions wait for an approval.
fn find_proposed<'a>(
    known: &'a [SourceView],
    named: Option<&SourceName>,
    version: &DataVersion,
) -> Vec<&'a SourceName> {
    let is_used = |source: &SourceView| match version {
        DataVersion::Each(versions) => versions.contains_key(&source.name),
        DataVersion::One(version) => {
            named == Some(&source.name) || source.version.as_ref() == Some(version)
        }
    };
    let waiting = || known.iter().filter(|source| source.proposed > 0);
    let used: Vec<&SourceName> =
        waiting().filter(|source| is_used(source)).map(|source| &source.name).collect();
    // The data may have changed since the answer, or come from a database.
    if used.is_empty() { waiting().map(|source| &source.name).collect() } else { used }
}

/// Returns the table of these rows with the totals below, and whether a number is rounded.
fn table_of(
    columns: &[DataColumn],
    rows: &[Vec<Value>],
    totals: &[Vec<Value>],
) -> (TextTable, bool) {
    let headings: Vec<(String, bool)> =
        columns.iter().map(|column| (heading_of(column), column.format.is_number())).collect();
    let mut table = TextTable::new(headings.iter().map(|(text, number)| (text.as_str(), *number)));
    let mut is_rounded = false;
    let mut show = |row: &[Value]| -> Vec<String> {
        let cells = columns.iter().zip(row);
        cells.map(|(column, cell)| show_cell_of(column, cell, &mut is_rounded)).collect()
    };
    for row in rows {
        table.add_row(show(row));
    }
    for row in totals {
        let mut cells = show(row);
        if let (Some(first), Some(Value::Null)) = (cells.first_mut(), row.first()) {
            TOTAL.clone_into(first);
        }
        table.add_row(cells);
    }
    (table, is_rounded)
}

/// Returns the name for people with the unit that all values have.
fn heading_of(column: &DataColumn) -> String {
    let title = column.label.get(LANGUAGE).map(|title| in_comparison(title, column.compared));
    let label = title.unwrap_or_else(|| column.name.clone());
    match &column.unit {
        Some(ColumnUnit::Fixed(unit))
            if column.format != ValueFormat::Percent && !names_unit(&label, unit) =>
        {
            format!("{label} ({unit})")
        }
        _ => label,
    }
}

/// Returns the title of a measure with its place in a comparison, whose columns have the same title.
fn in_comparison(title: &str, place: Option<ComparedFigure>) -> String {
    match place {
        Some(ComparedFigure::Before) => format!("{title}, before"),
        Some(ComparedFigure::Change) => format!("{title}, change"),
        Some(ComparedFigure::Growth) => format!("{title}, change in %"),
        Some(ComparedFigure::Now) | None => title.to_owned(),
    }
}

/// Returns a cell of a column. The change of a percentage is in points: from 4% to 6% it is 2 pp.
fn show_cell_of(column: &DataColumn, cell: &Value, is_rounded: &mut bool) -> String {
    let text = show_cell(column.format, cell, is_rounded);
    match text.strip_suffix('%') {
        Some(points) if column.compared == Some(ComparedFigure::Change) => format!("{points} pp"),
        _ => text,
    }
}

fn show_cell(format: ValueFormat, cell: &Value, is_rounded: &mut bool) -> String {
    match cell {
        Value::Null => "–".to_owned(),
        Value::Bool(value) => if *value { "yes" } else { "no" }.to_owned(),
        Value::String(text) if text.is_empty() => "–".to_owned(),
        cell if format.is_number() => match Digits::of_cell(cell) {
            Some(number) => {
                let shown = show_number(&number, format);
                *is_rounded |= shown.is_rounded;
                shown.text
            }
            None => plain_text(cell),
        },
        cell => plain_text(cell),
    }
}

fn plain_text(cell: &Value) -> String {
    cell.as_str().map_or_else(|| cell.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use contract::{metric_query::DataType, result::ColumnRole};
    use serde_json::json;

    use super::*;

    fn column(name: &str, format: ValueFormat, unit: Option<&str>) -> DataColumn {
        DataColumn {
            unit: unit.map(|unit| ColumnUnit::Fixed(unit.to_owned())),
            label: std::collections::BTreeMap::from([("en".to_owned(), format!("The {name}"))]),
            ..DataColumn::new(name, DataType::Text, ColumnRole::Measure, format)
        }
    }

    #[test]
    fn a_heading_has_the_label_and_the_unit_of_all_values() {
        assert_eq!(heading_of(&column("cost", ValueFormat::Money, Some("EUR"))), "The cost (EUR)");
        let mut named = column("cost", ValueFormat::Money, Some("EUR"));
        named.label.insert("en".to_owned(), "Cost (EUR)".to_owned());
        assert_eq!(heading_of(&named), "Cost (EUR)");
        assert_eq!(heading_of(&column("rate", ValueFormat::Percent, Some("percent"))), "The rate");
    }

    #[test]
    fn the_columns_of_a_comparison_have_headings_of_their_own_and_points() {
        let mut rate = column("rate", ValueFormat::Percent, None);
        rate.compared = Some(ComparedFigure::Change);
        assert_eq!(heading_of(&rate), "The rate, change");
        assert_eq!(show_cell_of(&rate, &json!(0.02), &mut false), "2 pp");
        rate.compared = Some(ComparedFigure::Growth);
        assert_eq!(heading_of(&rate), "The rate, change in %");
        assert_eq!(show_cell_of(&rate, &json!(0.5), &mut false), "50%");
    }

    #[test]
    fn cells_are_shown_by_the_format_of_their_column() {
        let mut is_rounded = false;
        for (format, cell, shown) in [
            (ValueFormat::Money, json!(1234.5), "1,234.50"),
            (ValueFormat::Percent, json!(0.5), "50%"),
            (ValueFormat::Text, json!("0012"), "0012"),
            (ValueFormat::Number, json!("12345678901234567890"), "12,345,678,901,234,567,890"),
            (ValueFormat::Flag, json!(false), "no"),
            (ValueFormat::Number, Value::Null, "–"),
            (ValueFormat::Day, json!("2026-11-30"), "2026-11-30"),
        ] {
            assert_eq!(show_cell(format, &cell, &mut is_rounded), shown);
        }
        assert!(!is_rounded);
        show_cell(ValueFormat::Money, &json!(2.345), &mut is_rounded);
        assert!(is_rounded);
    }

    #[test]
    fn the_sources_to_approve_are_named() {
        let source = |name: &str, version: &str, proposed: u32| SourceView {
            name: name.into(),
            version: Some(version.to_owned()),
            proposed,
            ..empty_source()
        };
        let known = [source("ads", "aa", 2), source("shop", "bb", 0), source("sales", "cc", 1)];
        let names = |named: Option<&str>, version: DataVersion| -> Vec<String> {
            let named = named.map(SourceName::from);
            let found = find_proposed(&known, named.as_ref(), &version);
            found.into_iter().map(ToString::to_string).collect()
        };
        assert_eq!(names(None, DataVersion::One("aa".to_owned())), ["ads"]);
        assert_eq!(names(Some("sales"), DataVersion::One(String::new())), ["sales"]);
        let each = ["ads", "shop"].map(|name| (SourceName::from(name), None));
        assert_eq!(names(None, DataVersion::Each(BTreeMap::from(each))), ["ads"]);
        assert_eq!(names(None, DataVersion::One("other".to_owned())), ["ads", "sales"]);
    }

    fn empty_source() -> SourceView {
        let view = json!({
            "name": "", "kind": {"at": "files"}, "columns": [], "imports": [], "approved": 0,
            "proposed": 0, "notes": []
        });
        serde_json::from_value(view).unwrap()
    }
}
