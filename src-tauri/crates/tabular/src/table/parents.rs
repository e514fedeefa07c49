//! Finds rows that are sums of the rows below them: an account above its campaigns. No name says so,
//! so that the numbers of the whole table must. Must not know how rows are left out.

use std::collections::HashSet;

use super::{
    control::TableControl,
    equal_sums::{Measures, Numbers, add},
    fault::TableError,
    plan::Plan,
    summed::{MAX_NUMBERS, Row, Subtotal, Table},
    words,
};

/// The most steps from row to row below one row that is tested, and in a table.
const MAX_STEPS_OF_ROW: usize = 300_000;
const MAX_STEPS: usize = 8_000_000;
/// The most ways to add up the rows below a row that are tried without success.
const MAX_TRIES: usize = 64;
/// The most groups that can begin with a row.
const MAX_GROUPS: usize = 4;
/// The least number of bits of numbers that are equal by no chance, in a table of one row.
const LEAST_BITS: u32 = 16;
/// The least number of bits that the numbers of groups have in common beyond those that chance gives.
/// Of random tables of small numbers, fewer than one in 200 has groups with so many.
const BEYOND_CHANCE: usize = 4;
/// The most names in the question.
const NAMES: usize = 3;

/// The result of a search.
pub(super) struct Found {
    pub(super) sums: Option<Subtotal>,
    /// Whether all rows were tested.
    pub(super) is_whole: bool,
}

/// Finds such rows beside the sums that are already known.
pub(super) fn find(
    table: &Table,
    plan: &Plan,
    measures: &Measures,
    known: &[Subtotal],
    control: &TableControl<'_>,
) -> Result<Found, TableError> {
    let rows = unknown_rows(table, plan, known);
    for evidence in [Evidence::EachRow, Evidence::MostRows, Evidence::Amounts] {
        let Some(forest) = Forest::grow(&rows, measures, evidence, control)? else {
            return Ok(Found { sums: None, is_whole: false });
        };
        if let Some(places) = forest.sure_parents(evidence) {
            let parents: Vec<&Row> = places.into_iter().map(|at| rows[at]).collect();
            return Ok(Found { sums: describe(&parents, table, plan), is_whole: true });
        }
        if forest.groups.iter().all(Vec::is_empty) {
            break;
        }
    }
    Ok(Found { sums: None, is_whole: true })
}

/// Returns the rows that are not known as sums.
fn unknown_rows<'a>(table: &'a Table, plan: &Plan, known: &[Subtotal]) -> Vec<&'a Row> {
    let places: HashSet<u64> = known.iter().flat_map(|one| one.places.clone()).collect();
    let named = |column: usize| {
        let of_column = known.iter().filter(move |one| one.column == column);
        let of_column = of_column.filter(|one| one.places.is_empty());
        of_column.filter(|one| one.is_sum || !words::is_weak_total(&one.name))
    };
    let names: Vec<HashSet<&str>> = plan
        .labels
        .iter()
        .map(|column| named(*column).map(|one| one.name.as_str()).collect())
        .collect();
    let has_name = |row: &Row| {
        let labels = row.labels.iter().zip(&table.texts).zip(&names);
        labels
            .filter(|(_, names)| !names.is_empty())
            .any(|((label, texts), names)| names.contains(texts[*label as usize].as_str()))
    };
    let rows = table.rows.iter();
    rows.filter(|&row| !places.contains(&row.place) && !has_name(row)).collect()
}

/// The evidence that rows are sums of those below them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Evidence {
    /// Each row belongs to a group. A group can have one row.
    EachRow,
    /// Most rows belong to groups of two rows or more.
    MostRows,
    /// The amounts are too long to be equal by chance.
    Amounts,
}

/// A row with rows below it of which it is the sum.
struct Group {
    /// The place behind the last row.
    end: usize,
    /// The places of the rows that are added up, and the places behind each and the rows below it.
    children: Vec<(usize, usize)>,
}

/// A step from a row to the next one that is added up.
struct Step {
    row: usize,
    end: usize,
    before: Option<usize>,
    sum: Numbers,
    count: usize,
    /// How many of the rows have amounts.
    amounts: usize,
}

/// The groups that can begin with each row.
struct Forest<'a> {
    rows: &'a [&'a Row],
    measures: &'a Measures,
    /// Whether a column has no negative number, so that sums only rise.
    rises: [bool; MAX_NUMBERS],
    groups: Vec<Vec<Group>>,
}

impl<'a> Forest<'a> {
    /// Tests all rows from the last one on. Returns None if there are too many steps.
    fn grow(
        rows: &'a [&'a Row],
        measures: &'a Measures,
        evidence: Evidence,
        control: &TableControl<'_>,
    ) -> Result<Option<Self>, TableError> {
        let mut rises = [true; MAX_NUMBERS];
        for (at, rises) in rises.iter_mut().enumerate() {
            *rises = rows.iter().all(|row| row.numbers.get(at).is_none_or(|number| *number >= 0));
        }
        let groups = rows.iter().map(|_| Vec::new()).collect();
        let mut forest = Self { rows, measures, rises, groups };
        let mut steps = 0;
        for at in (0..rows.len()).rev() {
            control.check()?;
            if !measures.has_amount(rows[at]) {
                continue;
            }
            let (found, more) = forest.find_groups(at, evidence);
            forest.groups[at] = found;
            steps += more;
            if steps > MAX_STEPS || more >= MAX_STEPS_OF_ROW {
                return Ok(None);
            }
        }
        Ok(Some(forest))
    }

    /// Returns the groups that begin with a row, and the number of steps. Groups below the row are added
    /// up first, because their rows are parts of them.
    fn find_groups(&self, at: usize, evidence: Evidence) -> (Vec<Group>, usize) {
        let own = self.rows[at];
        let (mut found, mut steps, mut open) = (Vec::new(), Vec::<Step>::new(), vec![None]);
        let mut tries = 0;
        while let Some(before) = open.pop()
            && found.is_empty()
            && tries < MAX_TRIES
            && steps.len() < MAX_STEPS_OF_ROW
        {
            let last = before.map(|step: usize| &steps[step]);
            let row = last.map_or(at + 1, |last| last.end);
            let mut sum = last.map(|last| last.sum).unwrap_or_default();
            let count = last.map_or(1, |last| last.count + 1);
            let Some(next) = self.rows.get(row).filter(|next| may_belong(own, next)) else {
                tries += 1;
                continue;
            };
            add(&mut sum, &next.numbers);
            let amounts =
                last.map_or(0, |last| last.amounts) + usize::from(self.measures.has_amount(next));
            let may_be = evidence == Evidence::EachRow || amounts > 1;
            let is_sum = may_be && self.is_sum(own, &sum, count);
            if !is_sum && self.is_over(own, &sum, count) {
                tries += 1;
                continue;
            }
            let ends = self.groups[row].iter().map(|group| group.end);
            for end in std::iter::once(row + 1).chain(ends) {
                steps.push(Step { row, end, before, sum, count, amounts });
                let step = steps.len() - 1;
                if !is_sum {
                    open.push(Some(step));
                    continue;
                }
                let group = Group { end, children: trace(&steps, step) };
                if self.is_enough(own, &group, evidence) {
                    found.push(group);
                }
            }
            tries += usize::from(is_sum);
        }
        found.truncate(MAX_GROUPS);
        (found, steps.len())
    }

    /// Whether a row is a sum by an amount that is larger than the rounding.
    fn is_sum(&self, own: &Row, sum: &Numbers, count: usize) -> bool {
        let is_clear = |at: usize| {
            own.numbers[at].unsigned_abs() > self.measures.rounding(at, count).saturating_mul(20)
        };
        self.measures.is_equal(own, sum, count, false) && self.measures.counted(own).any(is_clear)
    }

    /// Whether a sum is too large for a row, and can only rise.
    fn is_over(&self, own: &Row, sum: &Numbers, count: usize) -> bool {
        self.measures.counted(own).any(|at| {
            self.rises[at]
                && sum[at] > own.numbers[at]
                && sum[at].abs_diff(own.numbers[at]) > self.measures.rounding(at, count)
        })
    }

    /// Whether the amounts of a group are long enough to be equal by no chance.
    fn is_enough(&self, own: &Row, group: &Group, evidence: Evidence) -> bool {
        let least = LEAST_BITS + self.rows.len().checked_ilog2().unwrap_or(0);
        evidence != Evidence::Amounts || self.count_bits(own, group) >= least
    }

    /// Returns the number of rows with amounts that are added up.
    fn count_amounts(&self, group: &Group) -> usize {
        let children = group.children.iter();
        children.filter(|(row, _)| self.measures.has_amount(self.rows[*row])).count()
    }

    /// Returns how many bits of the numbers of a row its sum has in common with it. Zeros at the end of
    /// round amounts say nothing.
    fn count_bits(&self, own: &Row, group: &Group) -> u32 {
        let bits = |at: usize| {
            let amount = own.numbers[at].unsigned_abs();
            let unit = group.children.iter().fold(amount, |unit, (row, _)| {
                find_common_divisor(unit, self.rows[*row].numbers[at].unsigned_abs())
            });
            let doubt = 1 + 2 * self.measures.rounding(at, group.children.len());
            (amount / unit.max(1) / doubt).checked_ilog2().unwrap_or(0)
        };
        self.measures.counted(own).map(bits).sum()
    }

    /// Returns the rows that are sums of those below them, if the evidence is enough.
    fn sure_parents(&self, evidence: Evidence) -> Option<Vec<usize>> {
        let (tops, loose) = self.cover();
        let parents = self.parents_in(&tops);
        let large = parents.iter().filter(|(_, group)| self.count_amounts(group) > 1).count();
        let is_varied = parents.iter().any(|(_, group)| self.has_different_amounts(group));
        let is_sure = match evidence {
            Evidence::EachRow => {
                loose == 0
                    && large * 2 >= parents.len()
                    && (large > 1 || is_varied)
                    && self.is_beyond_chance(&parents, 1)
            }
            Evidence::MostRows => {
                loose * 4 <= self.rows.len()
                    && large > 1
                    && self.is_beyond_chance(&parents, BEYOND_CHANCE + loose)
            }
            Evidence::Amounts => large > 1 || is_varied,
        };
        let mut places: Vec<usize> = parents.into_iter().map(|(at, _)| at).collect();
        places.sort_unstable();
        (is_sure && !places.is_empty()).then_some(places)
    }

    /// Whether the sums agree in at least so many bits beyond those that chance gives. Rows in no group
    /// make more ways to choose groups, so that more must agree.
    fn is_beyond_chance(&self, parents: &[(usize, &Group)], least: usize) -> bool {
        let units = self.find_units();
        let bits =
            |(at, group): &(usize, &Group)| self.count_bits_beyond(self.rows[*at], group, &units);
        parents.iter().map(bits).sum::<usize>() >= least
    }

    /// Returns for each column the number of which all its numbers are multiples.
    fn find_units(&self) -> [u128; MAX_NUMBERS] {
        let mut units = [0; MAX_NUMBERS];
        for row in self.rows {
            for (unit, number) in units.iter_mut().zip(&row.numbers) {
                *unit = find_common_divisor(*unit, number.unsigned_abs());
            }
        }
        units
    }

    /// Returns how many bits the numbers of a row and its sum have in common, without those that chance
    /// gives because any number of rows may have been added up.
    fn count_bits_beyond(&self, own: &Row, group: &Group, units: &[u128; MAX_NUMBERS]) -> usize {
        let count = group.children.len();
        let bits = |at: usize| {
            let doubt = 1 + 2 * self.measures.rounding(at, count);
            (own.numbers[at].unsigned_abs() / units[at].max(doubt)).checked_ilog2().unwrap_or(0)
        };
        let bits: u32 = self.measures.counted(own).map(bits).sum();
        bits.saturating_sub(count.checked_ilog2().unwrap_or(0)) as usize
    }

    /// Returns the groups beside each other that have the most rows with amounts, and the number of
    /// such rows in no group.
    fn cover(&self) -> (Vec<(usize, &Group)>, usize) {
        let count = self.rows.len();
        let mut loose = vec![0_usize; count + 1];
        for at in (0..count).rev() {
            let alone = loose[at + 1] + usize::from(self.measures.has_amount(self.rows[at]));
            let grouped = self.groups[at].iter().map(|group| loose[group.end]).min();
            loose[at] = grouped.map_or(alone, |grouped| grouped.min(alone));
        }
        let (mut tops, mut at) = (Vec::new(), 0);
        while at < count {
            let best = self.groups[at].iter().find(|group| loose[group.end] == loose[at]);
            tops.extend(best.map(|group| (at, group)));
            at = best.map_or(at + 1, |group| group.end);
        }
        (tops, loose[0])
    }

    /// Returns these groups and the groups in them.
    fn parents_in<'b>(&'b self, tops: &[(usize, &'b Group)]) -> Vec<(usize, &'b Group)> {
        let (mut open, mut parents) = (tops.to_vec(), Vec::new());
        while let Some((at, group)) = open.pop() {
            for (row, end) in &group.children {
                let inner = self.groups[*row].iter().find(|inner| inner.end == *end);
                open.extend(inner.map(|inner| (*row, inner)));
            }
            parents.push((at, group));
        }
        parents
    }

    /// Whether a group adds up three rows or more with different amounts.
    fn has_different_amounts(&self, group: &Group) -> bool {
        let rows = || group.children.iter().map(|(row, _)| self.rows[*row]);
        (0..MAX_NUMBERS).any(|at| {
            let amounts = || rows().filter_map(|row| row.numbers.get(at)).filter(|sum| **sum != 0);
            let different: HashSet<&i128> = amounts().collect();
            different.len() > 2 && different.len() == amounts().count()
        })
    }
}

/// Whether a row can be below another one: it is in the same sheet, and has the same day.
fn may_belong(own: &Row, next: &Row) -> bool {
    own.sheet == next.sheet && (own.day == next.day || own.day == i64::MIN)
}

/// Returns the rows from the first step to this one.
fn trace(steps: &[Step], last: usize) -> Vec<(usize, usize)> {
    let before = |step: &usize| steps[*step].before;
    let mut rows: Vec<(usize, usize)> = std::iter::successors(Some(last), before)
        .map(|step| (steps[step].row, steps[step].end))
        .collect();
    rows.reverse();
    rows
}

fn find_common_divisor(mut one: u128, mut other: u128) -> u128 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

fn describe(parents: &[&Row], table: &Table, plan: &Plan) -> Option<Subtotal> {
    let first: &Row = parents.first()?;
    let text = |row: &Row, position: usize| -> &str {
        table.texts[position][row.labels[position] as usize].as_str()
    };
    let position = (0..first.labels.len()).find(|at| !text(first, *at).is_empty()).unwrap_or(0);
    let mut names: Vec<&str> = Vec::new();
    for &row in parents {
        let name = text(row, position);
        if !name.is_empty() && !names.contains(&name) && names.len() < NAMES {
            names.push(name);
        }
    }
    Some(Subtotal {
        column: plan.labels[position],
        name: names.join("\", \""),
        first_line: first.line,
        rows: parents.len() as u64,
        is_named: false,
        is_sum: true,
        places: parents.iter().map(|row| row.place).collect(),
    })
}
