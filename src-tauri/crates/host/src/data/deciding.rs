//! Decisions about a file: which source it belongs to, and what looks doubtful. Pure: it reads and
//! stores nothing.

use std::collections::{BTreeMap, BTreeSet};

use chrono::TimeDelta;
use contract::{
    Text,
    sources::{
        ColumnKind, ColumnUse, DaySpan, FoundColumn, ImportDecisions, ImportScope, SumChange,
        TableReport,
    },
    text,
};

/// How far the days of a file may lie from those of its source before a remembered order of day and
/// month is doubted.
const NEAR: TimeDelta = TimeDelta::days(45);
/// The change of an existing total, in percent, from which on the file may be about something else.
const LARGE_CHANGE: i128 = 25;

/// The most groups of spellings that a note names.
const SPELLINGS: usize = 3;

/// How well a file fits a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fit {
    /// One has further columns.
    Wider,
    /// Both have the same columns.
    Same,
}

/// Returns how well a file fits a source. None if it does not: a table with other columns is another
/// table.
pub(super) fn fit(file: &[FoundColumn], source: &[FoundColumn]) -> Option<Fit> {
    let names = |columns: &[FoundColumn]| -> BTreeSet<String> {
        let own = columns.iter().filter(|column| !column.is_added);
        own.map(|column| column.name.to_lowercase()).collect()
    };
    let headings = |columns: &[FoundColumn]| -> BTreeSet<String> {
        let own = columns.iter().filter(|column| !column.is_added);
        own.map(|column| column.heading.to_lowercase()).collect()
    };
    let (ours, theirs) = (names(file), names(source));
    // A person may have given the columns of earlier files other names.
    let has_headings = !ours.is_empty() && headings(file) == headings(source);
    if has_headings && !headings(file).contains("") {
        return Some(Fit::Same);
    }
    if ours == theirs {
        return (!ours.is_empty()).then_some(Fit::Same);
    }
    let time_of = |columns: &[FoundColumn]| {
        let time = columns.iter().find(|column| column.usage == ColumnUse::Time);
        time.map(|column| column.name.to_lowercase())
    };
    let sums_of = |columns: &[FoundColumn]| -> BTreeSet<String> {
        let sums = columns.iter().filter(|column| column.usage == ColumnUse::Sum);
        sums.map(|column| column.name.to_lowercase()).collect()
    };
    let nested = ours.is_superset(&theirs) || theirs.is_superset(&ours);
    let same_sums = sums_of(file) == sums_of(source) && !sums_of(file).is_empty();
    let same_time = time_of(file) == time_of(source) && time_of(file).is_some();
    (nested && same_sums && same_time).then_some(Fit::Wider)
}

/// Returns the columns of a source after an import, and what a person should know about them. Types
/// that differ are widened.
pub(super) fn merge_columns(
    before: &[FoundColumn],
    file: &[FoundColumn],
) -> (Vec<FoundColumn>, Vec<Text>) {
    let (mut merged, mut notes) = (before.to_vec(), Vec::new());
    for column in &mut merged {
        // The rows of the file have no value.
        if !file.iter().any(|own| own.name == column.name) {
            column.constant = None;
        }
    }
    for column in file {
        let Some(known) = merged.iter_mut().find(|known| known.name == column.name) else {
            // The rows before have no value.
            let constant = column.constant.clone().filter(|_| before.is_empty());
            merged.push(FoundColumn { constant, ..column.clone() });
            continue;
        };
        let (kind, scale) = widen((known.kind, known.scale), (column.kind, column.scale));
        if kind != known.kind && kind == ColumnKind::Text {
            notes.push(text!(
                "{column} had another type in earlier files and is now text.",
                column = &column.name
            ));
        }
        let usage = known.usage;
        let constant =
            known.constant.clone().filter(|value| column.constant.as_ref() == Some(value));
        let empty = known.empty + column.empty;
        *known = FoundColumn { kind, scale, usage, constant, empty, ..column.clone() };
    }
    (merged, notes)
}

fn widen(one: (ColumnKind, u8), other: (ColumnKind, u8)) -> (ColumnKind, u8) {
    use ColumnKind::{Decimal, Text as Words, Whole};
    match (one.0, other.0) {
        (Whole | Decimal, Whole | Decimal) => {
            let scale = one.1.max(other.1);
            (if one.0 == Whole && other.0 == Whole { Whole } else { Decimal }, scale)
        }
        (a, b) if a == b => one,
        _ => (Words, 0),
    }
}

/// Returns a note about accounts that only differ in capital letters: those of a file, and those of
/// earlier files.
pub(super) fn note_spelling<'a>(
    file: &ImportScope,
    earlier: impl Iterator<Item = &'a ImportScope>,
) -> Option<Text> {
    let earlier: Vec<&ImportScope> = earlier.collect();
    file.values.iter().find_map(|(column, own)| {
        let known = earlier.iter().filter_map(|scope| scope.values.get(column));
        let mut spellings: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for name in known.chain([own]).flatten() {
            spellings.entry(name.to_lowercase()).or_default().insert(name);
        }
        let is_own = |names: &BTreeSet<&str>| own.iter().any(|name| names.contains(name.as_str()));
        let names: Vec<String> = spellings
            .into_values()
            .filter(|names| names.len() > 1 && is_own(names))
            .take(SPELLINGS)
            .map(|names| names.into_iter().collect::<Vec<_>>().join(" / "))
            .collect();
        (!names.is_empty()).then(|| {
            text!(
                "{column} has values that differ in capital letters only, so they count as different ones: {names}.",
                column,
                names = names.join(", ")
            )
        })
    })
}

/// Whether the days of a file lie near those that the source has.
pub(super) fn is_near(file: Option<DaySpan>, source: Option<DaySpan>) -> bool {
    let (Some(file), Some(source)) = (file, source) else { return true };
    file.last >= source.first - NEAR && file.first <= source.last + NEAR
}

/// Whether a total changed so much that the file may be about something else.
pub(super) fn is_large_change(sum: &SumChange) -> bool {
    let scaled = |digits: &str| -> Option<i128> {
        let (whole, parts) = digits.split_once('.').unwrap_or((digits, ""));
        let parts: String = parts.chars().chain("000000".chars()).take(6).collect();
        format!("{whole}{parts}").parse().ok()
    };
    let (before, after) = (scaled(&sum.before), scaled(&sum.after));
    match (before, after) {
        (Some(before), Some(after)) if before != 0 => {
            (after - before).abs().saturating_mul(100) > before.abs().saturating_mul(LARGE_CHANGE)
        }
        _ => false,
    }
}

/// Whether it is known whose data a file is.
pub(super) fn names_account(report: &TableReport, decisions: &ImportDecisions) -> bool {
    decisions.account.is_some() || decisions.answers.contains_key("account") || says_account(report)
}

/// Whether a file says whose data it is in a title or a column.
pub(super) fn says_account(report: &TableReport) -> bool {
    report.stated_account.is_some() || own_accounts(report).is_some()
}

/// Returns the column of a file that says the account of each row.
pub(super) fn own_accounts(report: &TableReport) -> Option<&FoundColumn> {
    report.columns.iter().find(|column| column.usage == ColumnUse::Account && !column.is_added)
}

/// Returns the column of the source that a stated account belongs to. None if the file has a column of
/// accounts, or the name of its own is that of the source.
pub(super) fn account_column(file: &[FoundColumn], source: &[FoundColumn]) -> Option<String> {
    let is_account = |column: &&FoundColumn| column.usage == ColumnUse::Account;
    let stated = file.iter().find(is_account).filter(|column| column.is_added)?;
    let mut known = source.iter().filter(is_account);
    if known.clone().any(|column| column.name == stated.name) {
        return None;
    }
    known.next().map(|column| column.name.clone())
}

/// Returns the first column that adds up in the source and has no numbers in the file. A column
/// without any value has no numbers either, and does no harm.
pub(super) fn find_text_in_sum<'a>(
    file: &'a [FoundColumn],
    before: &[FoundColumn],
    stored: u64,
) -> Option<&'a FoundColumn> {
    let is_number = |kind| matches!(kind, ColumnKind::Whole | ColumnKind::Decimal);
    file.iter().find(|column| {
        let known = before.iter().find(|known| known.name == column.name);
        known.is_some_and(|known| known.usage == ColumnUse::Sum && is_number(known.kind))
            && !is_number(column.kind)
            && column.empty < stored
    })
}

/// Returns the first amount that has a currency in the source and none in the file.
pub(super) fn find_missing_currency(
    file: &[FoundColumn],
    before: &[FoundColumn],
) -> Option<(String, String)> {
    file.iter().find_map(|column| {
        let known = before.iter().find(|known| known.name == column.name)?;
        let is_unsaid = column.usage == ColumnUse::Sum
            && column.unit.is_none()
            && column.currency_column.is_none();
        let currency = known.unit.clone().filter(|unit| is_currency(unit))?;
        is_unsaid.then(|| (column.name.clone(), currency))
    })
}

/// Whether a unit is the code of a currency.
fn is_currency(unit: &str) -> bool {
    unit.len() == 3 && unit.chars().all(|letter| letter.is_ascii_uppercase())
}

/// Returns the first amount whose currency differs between the file and the source, if no column
/// says the currency.
pub(super) fn find_other_currency(
    file: &[FoundColumn],
    before: &[FoundColumn],
) -> Option<(String, String, String)> {
    file.iter().find_map(|column| {
        let known = before.iter().find(|known| known.name == column.name)?;
        let is_amount = |column: &FoundColumn| {
            column.currency_column.is_none()
                && column.usage == ColumnUse::Sum
                && column.unit.as_deref().is_some_and(is_currency)
        };
        (is_amount(column) && is_amount(known) && column.unit != known.unit).then(|| {
            let unit = |column: &FoundColumn| column.unit.clone().unwrap_or_default();
            (column.name.clone(), unit(known), unit(column))
        })
    })
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;

    use super::*;

    fn columns(names: &[(&str, ColumnUse)]) -> Vec<FoundColumn> {
        let column = |(name, usage): &(&str, ColumnUse)| FoundColumn {
            name: (*name).to_owned(),
            usage: *usage,
            ..FoundColumn::default()
        };
        names.iter().map(column).collect()
    }

    #[test]
    fn accounts_that_differ_in_capital_letters_only_are_told() {
        let scope = |names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            ImportScope { values: [("Account".to_owned(), names)].into(), ..ImportScope::default() }
        };
        let note = |own: &[&str], earlier: &[&str]| {
            note_spelling(&scope(own), [&scope(earlier)].into_iter()).map(|note| note.to_string())
        };
        let told = note(&["acme", "Bolt"], &["Acme", "Crux"]).unwrap();
        assert!(told.starts_with("Account") && told.ends_with(": Acme / acme."), "{told}");
        assert!(note(&["Acme", "ACME"], &[]).is_some(), "in one file");
        assert_eq!(note(&["Acme"], &["Acme", "bolt", "Bolt"]), None);
    }

    #[test]
    fn a_file_fits_a_source_with_the_same_measures_even_if_it_is_finer() {
        let coarse = columns(&[
            ("Day", ColumnUse::Time),
            ("Campaign", ColumnUse::Dimension),
            ("Cost", ColumnUse::Sum),
        ]);
        let mut fine = coarse.clone();
        fine.extend(columns(&[("Ad group", ColumnUse::Dimension)]));
        assert_eq!(fit(&coarse, &coarse), Some(Fit::Same));
        assert_eq!(fit(&fine, &coarse), Some(Fit::Wider));
        assert_eq!(fit(&coarse, &fine), Some(Fit::Wider));
        let mut other = coarse.clone();
        other.extend(columns(&[("Budget", ColumnUse::Sum)]));
        assert_eq!(fit(&other, &coarse), None);
    }

    #[test]
    fn a_stated_account_belongs_to_the_column_of_accounts_that_the_source_has() {
        let stated =
            FoundColumn { is_added: true, ..columns(&[("Account", ColumnUse::Account)]).remove(0) };
        let source = columns(&[("Customer", ColumnUse::Account), ("Day", ColumnUse::Time)]);
        let file = [stated.clone()];
        assert_eq!(account_column(&file, &source).as_deref(), Some("Customer"));
        assert_eq!(account_column(&file, &file), None);
        assert_eq!(account_column(&source, &source), None, "a column of the file is not stated");
        assert_eq!(account_column(&file, &columns(&[("Day", ColumnUse::Time)])), None);
    }

    #[test]
    fn days_far_from_those_of_the_source_are_doubted() {
        let span = |from: (i32, u32, u32), to: (i32, u32, u32)| {
            let day = |(y, m, d)| NaiveDate::from_ymd_opt(y, m, d).unwrap();
            Some(DaySpan { first: day(from), last: day(to), days: 2 })
        };
        let source = span((2026, 11, 1), (2026, 11, 2));
        assert!(is_near(span((2026, 11, 3), (2026, 12, 9)), source));
        assert!(!is_near(span((2026, 3, 11), (2026, 4, 11)), source));
    }

    #[test]
    fn a_change_of_a_quarter_is_large() {
        let change = |before: &str, after: &str| SumChange {
            column: "Cost".into(),
            currency: None,
            before: before.into(),
            after: after.into(),
            vanished: "0".into(),
        };
        assert!(is_large_change(&change("210.00", "15.00")));
        assert!(!is_large_change(&change("250.00", "205.00")));
        assert!(!is_large_change(&change("0", "205.00")));
    }
}
