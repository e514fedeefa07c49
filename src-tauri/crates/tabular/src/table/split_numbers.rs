//! Finds numbers that contain the comma of their file and have no quotes: `1,234.50` becomes the cells
//! `1` and `234.50`. If another cell of the line is missing, too, the line has as many cells as there
//! are headings, and its values are in wrong columns. Two cells can also be two numbers, so that the
//! other cells of both columns decide.

use contract::{
    sources::{ImportDecisions, ImportQuestion, QuestionChoice},
    text,
};

use super::{
    column::{Column, Reading},
    neighbours::{Pair, Shape},
    plan::Plan,
    scan::Findings,
    stats::Stats,
    words,
};

/// Asks about lines in which two cells are probably one number.
pub(crate) fn ask(
    plan: &Plan,
    findings: &Findings,
    decisions: &ImportDecisions,
) -> Option<ImportQuestion> {
    if decisions.answers.contains_key("split_numbers") {
        return None;
    }
    let found = &findings.neighbours;
    let mut count = 0_u64;
    let mut first: Option<(u64, String)> = None;
    for (at, forms) in found.lines.iter().enumerate() {
        for (form, lines) in forms.iter().enumerate().filter(|(_, lines)| lines.count > 0) {
            if is_split(plan, findings, at, Pair::of_form(form)) {
                count += lines.count;
                let line = lines.lines.first().copied().unwrap_or(0);
                if first.as_ref().is_none_or(|(known, _)| line < *known) {
                    first = Some((line, lines.sample.clone()));
                }
            }
        }
    }
    let (line, sample) = first?;
    Some(ImportQuestion {
        id: "split_numbers".to_owned(),
        text: text!(
            "{sample} in line {line} is probably one number that its comma divides into two cells. Then the cells behind it are in wrong columns. Lines like this: {count}.",
            sample,
            line,
            count
        )
        .append(text!("Put such numbers in quotes, or export with semicolons or tabs.")),
        choices: vec![QuestionChoice {
            value: "keep".to_owned(),
            label: text!("They are two numbers: store the lines as they are"),
        }],
        option: "--answer split_numbers=keep".to_owned(),
    })
}

/// Whether the cells of both columns say that neighbours of a form are one number.
fn is_split(plan: &Plan, findings: &Findings, at: usize, pair: Pair) -> bool {
    let Some(right_column) = plan.columns.get(at + 1) else { return false };
    let left = Side { column: &plan.columns[at], stats: &findings.columns[at] };
    let right = Side { column: right_column, stats: &findings.columns[at + 1] };
    let found = &findings.neighbours;
    let is_thousands = !matches!(pair.shape, Shape::Places(_));
    let all = found.count(at, |_| true);
    if !left.is_number() {
        // A text that is a number only where thousands would be.
        return is_thousands && right.is_number() && left.has_only_texts_beside(all);
    }
    if right.column.heading.is_empty() || right.has_only_texts_beside(all) {
        return is_thousands || matches!(pair.shape, Shape::Places(1 | 2));
    }
    if !right.is_number() {
        return false;
    }
    let is_rejected = found
        .rejected
        .get(at)
        .is_some_and(|(thousands, places)| if is_thousands { *thousands } else { *places });
    let is_odd_line = pair.is_long && found.long_rows * 2 < findings.stored;
    if pair.is_odd || is_rejected || is_odd_line {
        return true;
    }
    match pair.shape {
        Shape::ThousandsWithPlaces => {
            let own = found.count(at, |pair| pair.shape == Shape::ThousandsWithPlaces);
            left.may_have_places()
                && (left.always_has_places().is_some() || right.is_whole_beside(own))
        }
        Shape::Thousands => {
            left.always_has_places().is_some() || right.always_has_places().is_some()
        }
        Shape::Places(places) => {
            let in_each = found.count(at, |pair| pair.shape == Shape::Places(2));
            let are_decimals = places == 2
                && in_each == findings.stored
                && in_each > 1
                && left.stats.numbers.with_places == 0
                && words::is_money_with_commas(&left.column.heading);
            left.always_has_places() == Some(places) || are_decimals
        }
    }
}

/// A column beside another one.
struct Side<'a> {
    column: &'a Column,
    stats: &'a Stats,
}

impl Side<'_> {
    fn is_number(&self) -> bool {
        matches!(self.column.reading, Reading::Number { .. })
    }

    /// Whether the column has texts, and none is a number but those of neighbours.
    fn has_only_texts_beside(&self, own: u64) -> bool {
        self.column.reading == Reading::Text
            && self.stats.filled > self.stats.numeric
            && self.stats.numeric <= own
    }

    /// Whether numbers with decimals are usual in the column.
    fn may_have_places(&self) -> bool {
        !words::is_count(&self.column.heading)
            && (self.column.is_money
                || self.stats.numbers.with_places > 0
                || self.column.hint.is_none())
    }

    /// Whether the numbers are whole but for those of neighbours.
    fn is_whole_beside(&self, own: u64) -> bool {
        let numbers = &self.stats.numbers;
        numbers.with_places <= own && (numbers.whole > 0 || words::is_count(&self.column.heading))
    }

    /// Returns the number of decimals that most numbers are written with, if they have as many even
    /// where the last one is zero, or if their comma shows that they are in quotes.
    fn always_has_places(&self) -> Option<u8> {
        let numbers = &self.stats.numbers;
        let is_one = (numbers.scales & !1).count_ones() == 1;
        let is_formatted = numbers.is_padded || numbers.commas > 0;
        (is_one && is_formatted && numbers.whole <= numbers.with_places).then_some(numbers.scale)
    }
}
