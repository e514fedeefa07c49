//! Finds rows that are sums of the rows above them: "Subtotal Oak" below the rows of Oak, and totals of
//! such rows. A name that begins like that of a total can also be one of a campaign, so that the
//! numbers decide. Must not know how rows are left out.

use contract::sources::ColumnUse;

use super::{
    plan::Plan,
    summed::{MAX_NUMBERS, Row, Subtotal, Table},
    words,
};

/// The most rows that are tested.
const MAX_TESTED: usize = 2_000;
/// The most rows above that are added up for one row that is tested.
const MAX_ITEMS: usize = 10_000;
/// The most names in the question.
const NAMES: usize = 3;

type Numbers = [i128; MAX_NUMBERS];

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

fn add(sum: &mut Numbers, more: &Numbers) {
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum = sum.saturating_add(*more);
    }
}

/// Finds such rows beside the sums that are already known.
pub(super) fn find(
    table: &Table,
    plan: &Plan,
    numbers: &[usize],
    scales: &[u8],
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
        ranks: [Some(ColumnUse::Sum), None, Some(ColumnUse::Last)].map(|usage| {
            let of_usage =
                numbers.iter().enumerate().filter(|(_, at)| plan.columns[**at].hint == usage);
            of_usage.map(|(bit, _)| 1_u8 << bit).sum()
        }),
        rounds: numbers.iter().map(|at| scales[*at] > 0).collect(),
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
    /// The columns that show whether a row is a sum, as bits. The first ones with a number count.
    ranks: [u8; 3],
    /// Whether the numbers of each column can be rounded.
    rounds: Vec<bool>,
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
            if at + 1 >= least && self.is_equal(row, &sum, at + 1, may_be_zero) {
                return Some(at + 1);
            }
        }
        None
    }

    fn is_sum_of_all(&self, row: &Row, items: &Items) -> bool {
        items.items.len() > 1 && self.is_equal(row, &items.total, items.items.len(), false)
    }

    /// Whether the numbers of a row are a sum, up to the rounding of its items.
    fn is_equal(&self, row: &Row, sum: &Numbers, items: usize, may_be_zero: bool) -> bool {
        let filled = |mask: &u8| mask & row.filled;
        let Some(mask) = self.ranks.iter().map(filled).find(|mask| *mask > 0) else { return false };
        let most = (items as u128 / 2).max(1);
        let mut is_evidence = may_be_zero;
        let mut shown = row.numbers.iter().zip(sum).zip(&self.rounds).enumerate();
        let is_equal = shown.all(|(bit, ((own, sum), rounds))| {
            let counts = mask & (1 << bit) > 0;
            is_evidence |= counts && *own != 0;
            !counts || own.abs_diff(*sum) <= if *rounds { most } else { 0 }
        });
        is_equal && is_evidence
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
            lines: rows().map(|row| (row.sheet, row.line)).collect(),
        })
    }
}

fn numbers_of(row: &Row) -> Numbers {
    let mut numbers = Numbers::default();
    for (to, from) in numbers.iter_mut().zip(&row.numbers) {
        *to = *from;
    }
    numbers
}
