//! Compares the numbers of a row with a sum of others: which columns count, and how far rounding can
//! move them. Must not know which rows are added up.

use contract::sources::ColumnUse;

use super::{
    plan::Plan,
    summed::{MAX_NUMBERS, Row},
};

/// The numbers of a row, or a sum of them.
pub(super) type Numbers = [i128; MAX_NUMBERS];

/// Adds numbers to a sum.
pub(super) fn add(sum: &mut Numbers, more: &[i128]) {
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum = sum.saturating_add(*more);
    }
}

/// The columns that show whether a row is a sum.
pub(super) struct Measures {
    /// The columns as bits, the surest ones first. The first ones with a number count.
    ranks: [u8; 3],
    /// Whether the numbers of each column can be rounded.
    rounds: Vec<bool>,
}

impl Measures {
    pub(super) fn new(plan: &Plan, numbers: &[usize], scales: &[u8]) -> Self {
        Self {
            ranks: [Some(ColumnUse::Sum), None, Some(ColumnUse::Last)].map(|usage| {
                let of_usage =
                    numbers.iter().enumerate().filter(|(_, at)| plan.columns[**at].hint == usage);
                of_usage.map(|(bit, _)| 1_u8 << bit).sum()
            }),
            rounds: numbers.iter().map(|at| scales[*at] > 0).collect(),
        }
    }

    /// Returns the places of the numbers of a row that count.
    pub(super) fn counted(&self, row: &Row) -> impl Iterator<Item = usize> {
        let mut masks = self.ranks.iter().map(|mask| mask & row.filled);
        let mask = masks.find(|mask| *mask > 0).unwrap_or(0);
        (0..MAX_NUMBERS).filter(move |bit| mask & (1 << bit) > 0)
    }

    /// Whether a row has an amount that counts.
    pub(super) fn has_amount(&self, row: &Row) -> bool {
        self.counted(row).any(|at| row.numbers[at] != 0)
    }

    /// Returns how far the rounding of items can move their sum.
    pub(super) fn rounding(&self, at: usize, items: usize) -> u128 {
        if self.rounds[at] { (items as u128 / 2).max(1) } else { 0 }
    }

    /// Whether the numbers of a row are a sum, up to the rounding of its items.
    pub(super) fn is_equal(
        &self,
        row: &Row,
        sum: &Numbers,
        items: usize,
        may_be_zero: bool,
    ) -> bool {
        let mut counted = self.counted(row).peekable();
        counted.peek().is_some()
            && (may_be_zero || self.has_amount(row))
            && counted.all(|at| row.numbers[at].abs_diff(sum[at]) <= self.rounding(at, items))
    }
}
