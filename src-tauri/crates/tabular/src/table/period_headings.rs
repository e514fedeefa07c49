//! Recognises headings that are numbers: years or months that follow each other, above columns of
//! amounts. Must not know how the other headings are found.

use std::ops::RangeInclusive;

use contract::sources::NumberSign;
use language::headings::role_of_words;

use super::{
    cells::{
        number::{Number, parse_number},
        value::Tag,
    },
    records::{Kept, Record},
    words,
};

/// Numbers that are years as headings.
const YEARS: RangeInclusive<i128> = 1_990..=2_050;
/// The months of a year: such a row is one of headings also if no text beside it is a usual heading.
const MONTHS: usize = 12;

/// The numbers of a record, with their columns, and its texts.
struct Cells<'a> {
    numbers: Vec<(usize, i128)>,
    texts: Vec<&'a str>,
    has_blank: bool,
}

/// Whether a record alone can name periods: texts, and numbers that follow each other.
pub(super) fn can_be_periods(record: &Record<'_>) -> bool {
    let Some(cells) = read(record) else { return false };
    let numbers: Vec<i128> = cells.numbers.iter().map(|(_, number)| *number).collect();
    let follow =
        || rise(&numbers, 1) || rise(&numbers, -1) || numbers.windows(2).all(are_neighbours);
    numbers.len() > 1 && cells.numbers[0].0 > 0 && follow()
}

/// Whether a record names the periods of columns of amounts below it, beside other headings.
pub(super) fn are_periods(head: &[Kept], at: usize) -> bool {
    let record = head[at].record();
    let Some(cells) = read(&record) else { return false };
    let numbers: Vec<i128> = cells.numbers.iter().map(|(_, number)| *number).collect();
    let has_room = !cells.texts.is_empty() || cells.has_blank;
    if numbers.len() < 2 || cells.numbers[0].0 == 0 || !has_room {
        return false;
    }
    // The headings can be in the next line, with the periods above them.
    let below = head[at + 1..].iter().map(Kept::record).find(|next| next.filled_len() > 0);
    let is_text =
        |next: &Record<'_>, column: usize| next.has_value(column) && !is_number(next, column);
    if below.is_some_and(|next| cells.numbers.iter().any(|(column, _)| is_text(&next, *column))) {
        return false;
    }
    let is_year = |number: &i128| YEARS.contains(number);
    let is_month = |number: &i128| YEARS.contains(&(number / 100)) && is_of_year(number % 100);
    if numbers.iter().all(is_year) && (rise(&numbers, 1) || rise(&numbers, -1)) {
        return are_others(&amounts_below(head, at, &cells.numbers), &is_year);
    }
    if numbers.iter().all(is_month) && numbers.windows(2).all(are_neighbours) {
        return are_others(&amounts_below(head, at, &cells.numbers), &is_month);
    }
    let has_heading = cells.texts.iter().any(|text| is_heading(text));
    let is_named = has_heading || cells.texts.is_empty() || numbers.len() >= MONTHS;
    let counts = numbers[0] == 1 && numbers.len() > 2 && rise(&numbers, 1);
    counts && is_named && !amounts_below(head, at, &cells.numbers).is_empty()
}

/// Whether most amounts are other numbers than the headings.
fn are_others(amounts: &[i128], is_period: &dyn Fn(&i128) -> bool) -> bool {
    amounts.iter().filter(|&number| !is_period(number)).count() * 2 > amounts.len()
}

/// Whether numbers differ from the ones before by a step.
fn rise(numbers: &[i128], step: i128) -> bool {
    numbers.windows(2).all(|pair| pair[1] - pair[0] == step)
}

fn is_of_year(month: i128) -> bool {
    (1..=12).contains(&month)
}

/// Whether a month such as 202601 follows another one.
fn are_neighbours(pair: &[i128]) -> bool {
    let months = |number: i128| number / 100 * 12 + number % 100;
    months(pair[1]) - months(pair[0]) == 1
}

fn is_heading(text: &str) -> bool {
    role_of_words(text).is_some() || words::use_of_numbers(text).is_some()
}

/// Returns the texts and the whole numbers of a record. None: it has other cells.
fn read<'a>(record: &Record<'a>) -> Option<Cells<'a>> {
    let mut cells = Cells { numbers: Vec::new(), texts: Vec::new(), has_blank: false };
    for at in 0..record.len() {
        if !record.has_value(at) {
            cells.has_blank = true;
            continue;
        }
        if matches!(record.tag(at), Tag::Moment | Tag::Error | Tag::NoValue) {
            return None;
        }
        match whole_number(record, at) {
            Some(number) => cells.numbers.push((at, number)),
            None if is_number(record, at) => return None,
            None => cells.texts.push(record.text(at)),
        }
    }
    Some(cells)
}

fn is_number(record: &Record<'_>, at: usize) -> bool {
    read_number(record.cell(at)).is_some()
}

/// Returns a number with any decimal sign, which is not known yet.
fn read_number(cell: &[u8]) -> Option<Number> {
    let with = |sign| parse_number(cell, sign).ok();
    with(NumberSign::Point).or_else(|| with(NumberSign::Comma))
}

/// Returns a number that is written with digits only.
fn whole_number(record: &Record<'_>, at: usize) -> Option<i128> {
    let cell = record.cell(at);
    let is_plain = !cell.is_empty() && cell.len() < 7 && cell.iter().all(u8::is_ascii_digit);
    if is_plain { record.text(at).parse().ok() } else { None }
}

/// Returns the numbers below a record in the columns of its periods, without decimals.
fn amounts_below(head: &[Kept], at: usize, columns: &[(usize, i128)]) -> Vec<i128> {
    let mut amounts = Vec::new();
    for kept in head[at + 1..].iter().filter(|kept| kept.fault.is_none()) {
        let record = kept.record();
        for (column, _) in columns {
            let number = read_number(record.cell(*column));
            // An amount with decimals is no period.
            amounts.extend(number.map(|number| match number.scale {
                0 => number.mantissa,
                _ => 0,
            }));
        }
    }
    amounts
}
