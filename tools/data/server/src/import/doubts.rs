//! Doubts about columns of files that state their types: ids that floats rounded, whole numbers that
//! are moments or years, texts that are numbers, and currencies that contradict a decision.

use contract::{
    sources::{
        ColumnKind, ColumnUse, FoundColumn, ImportDecisions, ImportQuestion, QuestionChoice,
        TableReport,
    },
    text,
};
use tabular::table::{are_years, find_moments, find_use};

use super::typed::{FileColumn, count, is_nested, unreadable};
use crate::{DataError, link::Link, sql::identifier, stop::Stop};

/// Keeps ids that floats rounded from being keys: two ids can have become one.
pub(super) fn doubt_id(
    link: &mut Link,
    table: &str,
    column: &mut FileColumn,
    kind: &str,
    stop: &Stop,
) -> Result<(), DataError> {
    let most = match kind {
        "DOUBLE" => 1_i64 << 53,
        "FLOAT" => 1 << 24,
        _ => return Ok(()),
    };
    if column.found.usage != ColumnUse::Id {
        return Ok(());
    }
    let cell = identifier(&column.found.heading);
    let query = format!("SELECT count(*) FROM {table} WHERE abs({cell}) >= {most}");
    if count(link, &query, stop)? > 0 {
        column.found.usage = ColumnUse::Other;
        column.note = Some(text!(
            "The identifiers in {column} are floats, which have fewer digits: one can stand for several. They are not used as keys. Write them as text.",
            column = column.found.name.as_str()
        ));
    }
    Ok(())
}

/// Finds whole numbers that are moments or years, which do not add up.
pub(super) fn keep_out(
    link: &mut Link,
    table: &str,
    column: &mut FileColumn,
    stop: &Stop,
) -> Result<(), DataError> {
    let FileColumn { found, value, note, .. } = column;
    if found.kind != ColumnKind::Whole || found.usage != ColumnUse::Sum {
        return Ok(());
    }
    let query =
        format!("SELECT CAST(min({value}) AS VARCHAR), CAST(max({value}) AS VARCHAR) FROM {table}");
    let row = link.row(&query, stop).map_err(unreadable)?;
    let number = |at: usize| row.get(at)?.as_deref()?.parse::<i128>().ok();
    let (Some(least), Some(most)) = (number(0), number(1)) else { return Ok(()) };
    if let Some(units) = find_moments(&found.heading, least, most) {
        // A million of the units of `make_timestamp` is a second.
        *value = match 1_000_000 / units {
            0 => format!("make_timestamp({value} // {})", units / 1_000_000),
            times => format!("make_timestamp({value} * {times})"),
        };
        found.kind = ColumnKind::Moment;
        (found.usage, found.unit) = find_use(&found.heading, found.kind, &[]);
        *note = Some(text!(
            "The numbers in {column} were read as moments since 1970, with {units} units in a second.",
            column = found.name.as_str(),
            units
        ));
    } else if are_years(&found.heading, least, most) {
        found.usage = ColumnUse::Dimension;
        *note = Some(text!(
            "The numbers in {column} are years, such as {sample}. They are not added up.",
            column = found.name.as_str(),
            sample = least.to_string()
        ));
    }
    Ok(())
}

/// Notes columns that become text, although they have parts or numbers.
pub(super) fn note_text(
    link: &mut Link,
    table: &str,
    column: &mut FileColumn,
    kind: &str,
    stop: &Stop,
) -> Result<(), DataError> {
    let FileColumn { found, note, .. } = column;
    if is_nested(kind) {
        *note = Some(text!(
            "The column {column} has lists or records, which are stored as text. They are not added up. To add them up, write each part as a column of its own.",
            column = found.name.as_str()
        ));
        return Ok(());
    }
    let (usage, _) = find_use(&found.heading, ColumnKind::Decimal, &[]);
    if kind != "VARCHAR" || found.usage != ColumnUse::Dimension || usage != ColumnUse::Sum {
        return Ok(());
    }
    let cell = identifier(&found.heading);
    // A zero before other digits is one of an identifier.
    let query = format!(
        "SELECT CASE WHEN count(TRY_CAST(replace(replace({cell}, ',', ''), ' ', '') AS DOUBLE)) = count(*) \
         AND count(CASE WHEN {cell} LIKE '0_%' AND {cell} NOT LIKE '0.%' AND {cell} NOT LIKE '0,%' THEN 1 END) = 0 \
         THEN min({cell}) END FROM {table} WHERE trim({cell}) <> ''"
    );
    let row = link.row(&query, stop).map_err(unreadable)?;
    if let Some(sample) = row.into_iter().flatten().next() {
        *note = Some(text!(
            "The numbers in {column}, such as {sample}, are texts in the file, and stay texts. They are not added up. To add them up, write them as numbers.",
            column = found.name.as_str(),
            sample = sample.chars().take(40).collect::<String>()
        ));
    }
    Ok(())
}

/// Returns the currency that the heading of a column states.
pub(super) fn currency_of(column: &FoundColumn) -> Option<String> {
    let is_code = |unit: &String| unit.len() == 3 && unit.bytes().all(|b| b.is_ascii_uppercase());
    column.unit.clone().filter(is_code)
}

/// Returns the expression of a currency in which "eur" and "EUR" are one.
pub(super) fn one_currency(value: &str) -> String {
    format!("CASE WHEN length(trim({value})) = 3 THEN upper(trim({value})) ELSE {value} END")
}

/// Asks if amounts of the file are in another currency than a person decided.
pub(super) fn ask_currency(
    report: &TableReport,
    decisions: &ImportDecisions,
) -> Option<ImportQuestion> {
    let decided = decisions.currency.as_ref()?;
    if decisions.answers.contains_key("currency") {
        return None;
    }
    let mut found = report.sums.iter().filter_map(|sum| sum.currency.as_ref());
    let found = found.find(|found| !found.trim().eq_ignore_ascii_case(decided))?;
    Some(ImportQuestion {
        id: "currency".to_owned(),
        text: text!(
            "The file says that its amounts are in {found}, not in {decided}.",
            found,
            decided
        ),
        choices: vec![QuestionChoice {
            value: found.clone(),
            label: text!("They are in {found}", found),
        }],
        option: "--answer currency=CODE".to_owned(),
    })
}
