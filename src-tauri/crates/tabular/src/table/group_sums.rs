//! Finds rows that are sums of the rows above them: "Subtotal Oak" below the rows of Oak, and totals of
//! such rows. A name that begins like that of a total can also be one of a campaign, so that the
//! numbers decide. Must not know how rows are left out.

use super::{
    equal_sums::{Measures, Numbers, add},
    plan::Plan,
    summed::{Row, Subtotal, Table},
    words,
};

/// The most rows that are tested.
const MAX_TESTED: usize = 2_000;
/// The most rows above that are added up for one row that is tested.
const MAX_ITEMS: usize = 10_000;
/// The most names in the question.
const NAMES: usize = 3;

/// Rows above that are no part of a sum yet, and the sums of the others.
#[derive(Default)]
struct Items {
    /// The numbers of each item, and whether it is a row.
    items: Vec<(Numbers, bool)>,
    total: Numbers,
    /// The number of rows among them.
    rows: usize,
}

impl Items {
    fn push(&mut self, row: Numbers) {
        self.items.push((row, true));
        self.rows += 1;
        add(&mut self.total, &row);
    }

    /// Makes one item of the last ones.
    fn join(&mut self, count: usize) {
        let mut sum = Numbers::default();
        for (numbers, is_row) in self.items.drain(self.items.len() - count..) {
            add(&mut sum, &numbers);
            self.rows -= usize::from(is_row);
        }
        self.items.push((sum, false));
    }

    fn are_sums(&self) -> bool {
        self.rows == 0
    }
}

/// Finds such rows beside the sums that are already known.
pub(super) fn find(
    table: &Table,
    plan: &Plan,
    measures: &Measures,
    known: &[Subtotal],
) -> Option<Subtotal> {
    let texts = |is: &dyn Fn(usize, &str) -> bool| -> Vec<Vec<bool>> {
        let columns = table.texts.iter().enumerate();
        columns
            .map(|(at, texts)| texts.iter().map(|text| is(at, text.as_str())).collect())
            .collect()
    };
    let is_known = |at: usize, text: &str| {
        let of_name = |one: &&Subtotal| one.column == plan.labels[at] && one.name == text;
        known.iter().filter(of_name).any(|one| one.is_sum || !words::is_weak_total(text))
    };
    let search = Search {
        table,
        says: texts(&|_, text| words::begins_with_total(text)),
        known: texts(&is_known),
        unnamed: texts(&|_, text| text.is_empty()),
        measures,
    };
    // A group of one row has a sum, too, but such a row is no evidence by itself.
    let found = if search.walk(2).is_empty() { Vec::new() } else { search.walk(1) };
    search.describe(&found, plan)
}

struct Search<'a> {
    table: &'a Table,
    /// Whether the texts of each label column begin like the name of a total.
    says: Vec<Vec<bool>>,
    /// Whether they name rows that are known as totals.
    known: Vec<Vec<bool>>,
    unnamed: Vec<Vec<bool>>,
    measures: &'a Measures,
}

/// Returns the position of the first label of a row with a mark.
fn find_label(marks: &[Vec<bool>], row: &Row) -> Option<usize> {
    row.labels.iter().zip(marks).position(|(label, marks)| marks[*label as usize])
}

impl Search<'_> {
    /// Returns the places of rows that are the sum of at least `least` items above them: rows with the
    /// name of a total, any row below sums only, and the last row if it has no name.
    fn walk(&self, least: usize) -> Vec<usize> {
        let rows = &self.table.rows;
        let (mut items, mut found, mut tested) = (Items::default(), Vec::new(), 0);
        for (at, row) in rows.iter().enumerate() {
            if find_label(&self.known, row).is_some() {
                continue;
            }
            let count = if find_label(&self.says, row).is_some() && tested < MAX_TESTED {
                tested += 1;
                self.count_items(row, &items, least)
            } else {
                let is_last = at + 1 == rows.len() && self.is_unnamed(row);
                let may = is_last || (least == 1 && items.are_sums());
                (may && self.is_sum_of_all(row, &items)).then_some(items.items.len())
            };
            match count {
                Some(count) => {
                    items.join(count);
                    found.push(at);
                }
                None => items.push(numbers_of(row)),
            }
        }
        found
    }

    fn is_unnamed(&self, row: &Row) -> bool {
        row.labels.iter().zip(&self.unnamed).all(|(label, marks)| marks[*label as usize])
    }

    /// Returns how many of the last items have the numbers of a row as their sum.
    fn count_items(&self, row: &Row, items: &Items, least: usize) -> Option<usize> {
        let may_be_zero = least == 1;
        let mut sum = Numbers::default();
        for (at, (numbers, _)) in items.items.iter().rev().take(MAX_ITEMS).enumerate() {
            add(&mut sum, numbers);
            if at + 1 >= least && self.measures.is_equal(row, &sum, at + 1, may_be_zero) {
                return Some(at + 1);
            }
        }
        None
    }

    fn is_sum_of_all(&self, row: &Row, items: &Items) -> bool {
        let count = items.items.len();
        count > 1 && self.measures.is_equal(row, &items.total, count, false)
    }

    fn describe(&self, found: &[usize], plan: &Plan) -> Option<Subtotal> {
        let rows = || found.iter().map(|at| &self.table.rows[*at]);
        let first = rows().next()?;
        let position = find_label(&self.says, first).unwrap_or(0);
        let mut names: Vec<&str> = Vec::new();
        for row in rows() {
            let at = find_label(&self.says, row).unwrap_or(position);
            let name = self.table.texts[at][row.labels[at] as usize].as_str();
            if !names.contains(&name) && names.len() < NAMES {
                names.push(name);
            }
        }
        Some(Subtotal {
            column: plan.labels[position],
            name: names.join("\", \""),
            first_line: first.line,
            rows: found.len() as u64,
            is_named: false,
            is_sum: true,
            places: rows().map(|row| row.place).collect(),
        })
    }
}

fn numbers_of(row: &Row) -> Numbers {
    let mut numbers = Numbers::default();
    add(&mut numbers, &row.numbers);
    numbers
}
