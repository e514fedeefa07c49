//! Parquet files, which DuckDB reads. Their columns have types, but amounts may be floats: these become
//! decimals with the fewest places that keep all values.

use contract::{
    AgentError,
    sources::{
        ColumnKind, ColumnSum, ColumnUse, DaySpan, FileFormat, FoundColumn, PartRef, RejectedRows,
        TableReport,
    },
    text,
};
use serde_json::Value;
use tabular::table::{check_answers, find_use, is_money_heading, is_total_name};

use super::{
    doubts::{ask_currency, currency_of, doubt_id, keep_out, note_text, one_currency},
    flat::LINES,
    store::Store,
    tables::from_table,
    typed::{FileColumn, count, is_nested, unreadable},
    work::Work,
};
use crate::{
    DataError,
    kept::Table,
    link::Link,
    sql::{identifier, literal},
    stop::Stop,
};

/// The most decimal places of a float.
const PLACES: u8 = 9;
/// The most columns.
const MOST_COLUMNS: usize = 2_000;
/// The number of sample values.
const SAMPLES: u64 = 5;
/// The characters of a sample value.
const SAMPLE_LENGTH: usize = 60;
/// The most bytes of a value that is told as that of all rows. A report has a bound.
const LONGEST_CONSTANT: usize = 4 << 10;
/// The most names of a column that are tested for those of totals.
const NAMES: u64 = 20_000;

/// Imports a Parquet file.
pub fn import(work: &Work<'_, '_>) -> Result<(TableReport, Option<PartRef>), DataError> {
    // Other formats are read by `tabular`, which checks them itself.
    check_answers(&work.job.decisions).map_err(from_table)?;
    let stop = Stop::never();
    let mut store = Store::open(work.folder, work.drivers, &work.job.limits)?;
    let file = literal(&work.input.path.display().to_string());
    let table = format!("read_parquet({file}, file_row_number = true)");
    let mut columns = columns(store.link(), &format!("read_parquet({file})"), work, &stop)?;
    let records = count(store.link(), &format!("SELECT count(*) FROM {table}"), &stop)?;
    work.check_records(records)?;
    let rejected = rejected(store.link(), &table, &columns, &stop)?;
    let faults: Vec<&str> = columns.iter().filter_map(|column| column.fault.as_deref()).collect();
    let kept = if faults.is_empty() {
        String::new()
    } else {
        format!(" WHERE NOT ({})", faults.join(" OR "))
    };
    let cells: Vec<String> = columns
        .iter()
        .map(|column| format!("{} AS {}", column.value, identifier(&column.found.name)))
        .collect();
    let rows = format!("SELECT {} FROM {table}{kept} ORDER BY file_row_number", cells.join(", "));
    let mut report = TableReport { format: FileFormat::Parquet, records, ..TableReport::default() };
    report.rejected = rejected;
    report.stored = records - report.rejected.iter().map(|rows| rows.count).sum::<u64>();
    profile(store.link(), &rows, &mut columns, &mut report, &stop)?;
    for column in columns.iter().filter(|column| column.is_rounded) {
        report.notes.push(text!(
            "The numbers of the column {column} are floats; they are rounded to {places} decimal places.",
            column = column.found.name.as_str(),
            places = u64::from(PLACES)
        ));
    }
    report.notes.extend(columns.iter_mut().filter_map(|column| column.note.take()));
    if may_have_sums(store.link(), &rows, &columns, &stop)? {
        report.notes.push(text!(
            "Rows that are sums of other rows are not looked for in Parquet files. If the file has totals or subtotals, amounts count twice."
        ));
    }
    report.columns = columns.into_iter().map(|column| column.found).collect();
    report.questions.extend(ask_currency(&report, &work.job.decisions));
    work.teller.progress(records, work.input.bytes, work.input.bytes);
    if !work.stores(&report) {
        store.close();
        return Ok((report, None));
    }
    let part = store.write_part(&rows, &report.columns, report.stored, &report.sums, &stop)?;
    Ok((report, Some(part)))
}

/// Whether rows look as if they could be sums of others: some have no name or day where others have
/// one, as a sum over names or days does, or the name of a total.
fn may_have_sums(
    link: &mut Link,
    rows: &str,
    columns: &[FileColumn],
    stop: &Stop,
) -> Result<bool, DataError> {
    if !can_have_sums(columns) {
        return Ok(false);
    }
    for found in columns.iter().map(|column| &column.found).filter(|found| !found.is_added) {
        let is_name = found.kind == ColumnKind::Text && found.usage == ColumnUse::Dimension;
        let is_partly_empty = found.empty > 0 && !found.samples.is_empty();
        if is_partly_empty && (is_name || found.usage == ColumnUse::Time) {
            return Ok(true);
        }
        if is_name {
            let cell = identifier(&found.name);
            let query = format!(
                "SELECT DISTINCT CAST({cell} AS VARCHAR) FROM ({rows}) WHERE {cell} IS NOT NULL LIMIT {NAMES}"
            );
            let names = Table::collect(link.ask(&query, stop).map_err(unreadable)?, NAMES)?;
            let names = names.page(0, NAMES, u64::MAX)?.rows;
            let mut names = names.iter().filter_map(|row| row.first()?.as_str());
            if names.any(|name| name.trim().is_empty() || is_total_name(name)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether a row can be the sum of others: texts name the rows, and numbers add up.
fn can_have_sums(columns: &[FileColumn]) -> bool {
    let has = |is: &dyn Fn(&FoundColumn) -> bool| {
        columns.iter().any(|column| !column.found.is_added && is(&column.found))
    };
    has(&|found| found.kind == ColumnKind::Text && found.usage != ColumnUse::Currency)
        && has(&|found| found.kind != ColumnKind::Text && found.usage == ColumnUse::Sum)
}

fn columns(
    link: &mut Link,
    table: &str,
    work: &Work<'_, '_>,
    stop: &Stop,
) -> Result<Vec<FileColumn>, DataError> {
    let query = format!("SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {table})");
    let described = link.ask(&query, stop).map_err(unreadable)?;
    let described = Table::collect(described, MOST_COLUMNS as u64 + 1)?;
    if described.rows > MOST_COLUMNS as u64 {
        return Err(AgentError::invalid(text!(
            "The file has more than {most} columns.",
            most = MOST_COLUMNS as u64
        ))
        .reason("too_many_columns")
        .into());
    }
    let page = described.page(0, MOST_COLUMNS as u64, u64::MAX)?;
    let mut found = Vec::new();
    for row in &page.rows {
        let text = |at: usize| row.get(at).and_then(Value::as_str).unwrap_or_default();
        let mut one = column(link, table, text(0), text(1), work, stop)?;
        let choice = work.job.decisions.columns.get(text(0));
        if choice.is_none_or(|choice| choice.kind.is_none() && choice.usage.is_none()) {
            keep_out(link, table, &mut one, stop)?;
            doubt_id(link, table, &mut one, text(1), stop)?;
            note_text(link, table, &mut one, text(1), stop)?;
        }
        found.push(one);
    }
    let account = work.job.decisions.account_column.as_deref().unwrap_or("Account");
    for (name, value, usage) in [
        (account, &work.job.decisions.account, ColumnUse::Account),
        ("Currency", &work.job.decisions.currency, ColumnUse::Currency),
    ] {
        let has_it = found.iter().any(|column| column.found.usage == usage);
        if let Some(value) = value.as_ref().filter(|_| !has_it) {
            found.push(added_column(name, value, usage));
        }
    }
    let currency = found.iter().find(|column| column.found.usage == ColumnUse::Currency);
    let currency = currency.map(|column| column.found.name.clone());
    let is_amount = |column: &FoundColumn| {
        column.usage == ColumnUse::Sum && column.unit.is_none() && is_money_heading(&column.heading)
    };
    for column in found.iter_mut().filter(|column| is_amount(&column.found)) {
        column.found.currency_column.clone_from(&currency);
    }
    // Without a known name, the first day or moment is the time of the rows.
    let is_time = |column: &FileColumn| column.found.usage == ColumnUse::Time;
    let is_day =
        |column: &FileColumn| matches!(column.found.kind, ColumnKind::Day | ColumnKind::Moment);
    if !found.iter().any(is_time)
        && let Some(first) = found.iter_mut().find(|column| is_day(column))
    {
        first.found.usage = ColumnUse::Time;
    }
    Ok(found)
}

fn added_column(name: &str, value: &str, usage: ColumnUse) -> FileColumn {
    let found = FoundColumn {
        name: name.to_owned(),
        heading: String::new(),
        usage,
        constant: Some(value.to_owned()),
        is_added: true,
        ..FoundColumn::default()
    };
    FileColumn { found, value: literal(value), fault: None, is_rounded: false, note: None }
}

/// Finds type and use of a column of the file.
fn column(
    link: &mut Link,
    table: &str,
    heading: &str,
    kind: &str,
    work: &Work<'_, '_>,
    stop: &Stop,
) -> Result<FileColumn, DataError> {
    let cell = identifier(heading);
    let choice = work.job.decisions.columns.get(heading).cloned().unwrap_or_default();
    let (plain, inside) = kind.split_once('(').unwrap_or((kind, ""));
    // "DECIMAL(9,2)[]" is a list, not a decimal.
    let plain = if is_nested(kind) { "" } else { plain };
    let scale =
        inside.split_once(',').and_then(|(_, rest)| rest.trim_end_matches(')').parse().ok());
    let (mut value, mut fault, mut is_rounded) = (cell.clone(), None, false);
    let (kind, scale) = match plain {
        "TINYINT" | "SMALLINT" | "INTEGER" | "BIGINT" | "UTINYINT" | "USMALLINT" | "UINTEGER" => {
            value = format!("CAST({cell} AS BIGINT)");
            (ColumnKind::Whole, 0)
        }
        "UBIGINT" | "HUGEINT" | "UHUGEINT" => {
            value = format!("CAST({cell} AS DECIMAL(38, 0))");
            (ColumnKind::Decimal, 0)
        }
        "DECIMAL" => (ColumnKind::Decimal, scale.unwrap_or(0)),
        "FLOAT" | "DOUBLE" => {
            let places = places(link, table, &cell, plain == "FLOAT", stop)?;
            is_rounded = places.is_none();
            let places = places.unwrap_or(PLACES);
            let double = format!("CAST({cell} AS DOUBLE)");
            // A number that a decimal of this length cannot hold is no amount.
            fault = Some(format!(
                "({cell} IS NOT NULL AND (NOT isfinite({double}) OR abs({double}) >= 1e{}))",
                37 - places
            ));
            if places == 0 {
                value = format!("CAST(round({double}, 0) AS DECIMAL(38, 0))");
            } else {
                value = format!("CAST(round({double}, {places}) AS DECIMAL(38, {places}))");
            }
            (ColumnKind::Decimal, places)
        }
        "DATE" => (ColumnKind::Day, 0),
        plain if plain.starts_with("TIMESTAMP") => {
            value = format!("CAST({cell} AS TIMESTAMP)");
            (ColumnKind::Moment, 0)
        }
        "BOOLEAN" => (ColumnKind::Flag, 0),
        "VARCHAR" => (ColumnKind::Text, 0),
        _ => {
            value = format!("CAST({cell} AS VARCHAR)");
            (ColumnKind::Text, 0)
        }
    };
    let kind = match choice.kind {
        Some(ColumnKind::Text) if kind != ColumnKind::Text => {
            value = format!("CAST({cell} AS VARCHAR)");
            fault = None;
            ColumnKind::Text
        }
        _ => kind,
    };
    let samples = match kind {
        ColumnKind::Text => samples(link, table, &value, stop)?,
        _ => Vec::new(),
    };
    let (usage, unit) = find_use(heading, kind, &samples);
    if usage == ColumnUse::Currency {
        value = one_currency(&value);
    }
    let found = FoundColumn {
        name: choice.name.unwrap_or_else(|| heading.to_owned()),
        heading: heading.to_owned(),
        kind,
        scale: if kind == ColumnKind::Decimal { scale } else { 0 },
        usage: choice.usage.unwrap_or(usage),
        unit: choice.unit.or(unit),
        ..FoundColumn::default()
    };
    Ok(FileColumn { found, value, fault, is_rounded, note: None })
}

/// Returns the beginnings of some of the first values.
fn samples(
    link: &mut Link,
    table: &str,
    value: &str,
    stop: &Stop,
) -> Result<Vec<String>, DataError> {
    let query = format!(
        "SELECT DISTINCT CASE WHEN length(v) > {SAMPLE_LENGTH} THEN left(v, {SAMPLE_LENGTH}) || '…' ELSE v END AS s \
         FROM (SELECT CAST({value} AS VARCHAR) AS v FROM {table} LIMIT 1000) \
         WHERE v IS NOT NULL ORDER BY s LIMIT {SAMPLES}"
    );
    let found = link.ask(&query, stop).map_err(unreadable)?;
    let page = Table::collect(found, SAMPLES)?.page(0, SAMPLES, u64::MAX)?;
    Ok(page.rows.iter().filter_map(|row| Some(row.first()?.as_str()?.to_owned())).collect())
}

/// Returns the fewest decimal places that keep all values of a float column. None: more than
/// `PLACES`.
fn places(
    link: &mut Link,
    table: &str,
    cell: &str,
    is_single: bool,
    stop: &Stop,
) -> Result<Option<u8>, DataError> {
    let double = format!("CAST({cell} AS DOUBLE)");
    // A float keeps 7 digits at least, and half of its last bit. A double is what its 15 digits say.
    let near = if is_single { "6e-8" } else { "5e-15" };
    let cases: String = (0..=PLACES)
        .map(|places| {
            format!(" WHEN abs({double} - round({double}, {places})) <= abs({double}) * {near} THEN {places}")
        })
        .collect();
    let query = format!(
        "SELECT CAST(coalesce(max(CASE{cases} ELSE 99 END), 0) AS VARCHAR) FROM {table} WHERE isfinite({double})"
    );
    let row = link.row(&query, stop).map_err(unreadable)?;
    let most: Option<u8> = row.into_iter().flatten().next().and_then(|text| text.parse().ok());
    Ok(most.filter(|most| *most <= PLACES))
}

fn rejected(
    link: &mut Link,
    table: &str,
    columns: &[FileColumn],
    stop: &Stop,
) -> Result<Vec<RejectedRows>, DataError> {
    let (mut rejected, mut earlier) = (Vec::new(), Vec::new());
    for column in columns {
        let Some(fault) = &column.fault else { continue };
        // A row counts once, for the first of its faults.
        let mut condition = fault.clone();
        for other in &earlier {
            condition.push_str(&format!(" AND NOT {other}"));
        }
        let rows = count(link, &format!("SELECT count(*) FROM {table} WHERE {condition}"), stop)?;
        if rows > 0 {
            let cell = identifier(&column.found.heading);
            let query = format!(
                "SELECT CAST(file_row_number + 1 AS VARCHAR), CAST({cell} AS VARCHAR) FROM {table} \
                 WHERE {condition} ORDER BY file_row_number LIMIT {LINES}"
            );
            let table = Table::collect(link.ask(&query, stop)?, LINES as u64)?;
            let page = table.page(0, LINES as u64, u64::MAX)?;
            let text = |row: &[Value], at: usize| {
                row.get(at).and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            rejected.push(RejectedRows {
                cause: "not_a_number".to_owned(),
                reason: text!(
                    "The column {column} has values that are no amounts, such as infinity. Correct them, or leave such rows out.",
                    column = column.found.name.as_str()
                ),
                column: column.found.name.clone(),
                lines: page.rows.iter().filter_map(|row| text(row, 0).parse().ok()).collect(),
                count: rows,
                sample: page.rows.first().map(|row| text(row, 1)).unwrap_or_default(),
            });
        }
        earlier.push(fault.clone());
    }
    Ok(rejected)
}

/// Fills in what all rows tell about the columns: samples, constants, empty cells, sums and days.
fn profile(
    link: &mut Link,
    rows: &str,
    columns: &mut [FileColumn],
    report: &mut TableReport,
    stop: &Stop,
) -> Result<(), DataError> {
    for column in columns.iter_mut().filter(|column| !column.found.is_added) {
        let cell = identifier(&column.found.name);
        let query = format!(
            "SELECT CAST(count(*) - count({cell}) AS VARCHAR), CAST(min({cell}) AS VARCHAR), \
             CAST(max({cell}) AS VARCHAR), CAST(count({cell}) AS VARCHAR) FROM ({rows})"
        );
        let row = link.row(&query, stop).map_err(unreadable)?;
        let text = |at: usize| row.get(at).cloned().flatten();
        column.found.empty = text(0).and_then(|text| text.parse().ok()).unwrap_or(0);
        let is_one = column.found.empty == 0 && text(1) == text(2);
        column.found.constant = text(1).filter(|value| is_one && value.len() <= LONGEST_CONSTANT);
        column.found.samples = samples(link, &format!("({rows})"), &cell, stop)?;
    }
    add_sums(link, rows, columns, report, stop)?;
    let time = columns.iter().find(|column| column.found.usage == ColumnUse::Time);
    if let Some(time) = time {
        report.days = days(link, rows, &identifier(&time.found.name), stop)?;
    }
    Ok(())
}

fn add_sums(
    link: &mut Link,
    rows: &str,
    columns: &[FileColumn],
    report: &mut TableReport,
    stop: &Stop,
) -> Result<(), DataError> {
    for column in columns.iter().filter(|column| column.found.usage == ColumnUse::Sum) {
        if !matches!(column.found.kind, ColumnKind::Whole | ColumnKind::Decimal) {
            continue;
        }
        let sum = format!("CAST(coalesce(sum({}), 0) AS VARCHAR)", identifier(&column.found.name));
        let query = match &column.found.currency_column {
            Some(currency) => format!(
                "SELECT {sum}, CAST({c} AS VARCHAR) FROM ({rows}) GROUP BY 2 ORDER BY 2 NULLS LAST",
                c = identifier(currency)
            ),
            None => format!("SELECT {sum}, CAST(NULL AS VARCHAR) FROM ({rows})"),
        };
        let table = Table::collect(link.ask(&query, stop)?, 1_000)?;
        for row in table.page(0, 1_000, u64::MAX)?.rows {
            let text = |at: usize| row.get(at).and_then(Value::as_str).map(str::to_owned);
            report.sums.push(ColumnSum {
                column: column.found.name.clone(),
                currency: text(1).or_else(|| currency_of(&column.found)),
                sum: text(0).unwrap_or_default(),
            });
        }
    }
    Ok(())
}

fn days(
    link: &mut Link,
    rows: &str,
    cell: &str,
    stop: &Stop,
) -> Result<Option<DaySpan>, DataError> {
    let day = format!("CAST({cell} AS DATE)");
    let query = format!(
        "SELECT CAST(min({day}) AS VARCHAR), CAST(max({day}) AS VARCHAR), CAST(count(DISTINCT {day}) AS VARCHAR) FROM ({rows})"
    );
    let row = link.row(&query, stop)?;
    let cell = |at: usize| row.get(at).and_then(Option::as_deref);
    let day = |at: usize| cell(at).and_then(|text| text.parse().ok());
    Ok(match (day(0), day(1)) {
        (Some(first), Some(last)) => {
            let days = cell(2).and_then(|text| text.parse().ok()).unwrap_or(0);
            Some(DaySpan { first, last, days })
        }
        _ => None,
    })
}
