//! Finds rows that are sums of other rows by arithmetic: totals with a day, subtotals, and rows such
//! as "All campaigns" among the campaigns.

use std::collections::{BTreeSet, HashMap};

use super::{
    cells::value,
    column::{DayMemory, Reading, Sum, Value},
    control::TableControl,
    equal_sums::Measures,
    fault::TableError,
    group_sums, parents,
    plan::Plan,
    records::Records,
    rows::{Outcome, RowReader, Rule},
    scan::Findings,
    summed::{MAX_NUMBERS, Row, Subtotal, Table},
    words,
};

/// Rows up to which each label is tested. In longer tables only rows with the name of a total are.
const MAX_ROWS: u64 = 200_000;
/// Labels of a column that are tested.
const MAX_LABELS: usize = 2_000;

/// Compares rows with the name of a total with all other rows together, in a table that is too long
/// for more.
pub(crate) fn compare_named(plan: &Plan, findings: &Findings) -> Vec<Subtotal> {
    let Some((column, first)) = findings.named.first() else { return Vec::new() };
    let count: u64 = findings
        .left_out
        .iter()
        .filter(|(rule, ..)| *rule == Rule::NamedTotal)
        .map(|(_, _, lines)| lines.count)
        .sum();
    let mut memory = DayMemory::new();
    let mut is_sum = count == findings.named.len() as u64;
    let mut has_amount = false;
    for at in (0..plan.columns.len()).filter(|at| adds_up(plan, *at)) {
        if !matches!(plan.columns[at].reading, Reading::Number { .. }) {
            continue;
        }
        let (mut named, mut others) = (Sum::default(), Sum::default());
        for (_, kept) in &findings.named {
            let record = kept.record();
            if let Ok(Value::Number(number)) =
                plan.columns[at].read(record.cell(at), record.tag(at), &mut memory)
            {
                named.add(number.mantissa, number.scale);
            }
        }
        for (_, sum) in &findings.columns[at].numbers.sums {
            others.add(sum.value, sum.scale);
        }
        let scale = named.scale.max(others.scale);
        is_sum &= named.at_scale(scale) == others.at_scale(scale);
        has_amount |= others.value != 0;
    }
    let record = first.record();
    vec![Subtotal {
        column: *column,
        name: record.text(*column).to_owned(),
        first_line: record.line,
        rows: count,
        is_named: true,
        is_sum: is_sum && has_amount,
        places: Vec::new(),
    }]
}

/// Whether the table is small enough to test each label.
pub(crate) fn is_small(stored: u64) -> bool {
    stored <= MAX_ROWS
}

/// Returns the columns of numbers that are compared.
fn find_numbers(plan: &Plan) -> Vec<usize> {
    (0..plan.columns.len())
        .filter(|at| {
            matches!(plan.columns[*at].reading, Reading::Number { .. }) && adds_up(plan, *at)
        })
        .take(MAX_NUMBERS)
        .collect()
}

/// Whether a row of the table can be the sum of others.
pub(crate) fn can_have(plan: &Plan) -> bool {
    !find_numbers(plan).is_empty() && !plan.labels.is_empty()
}

/// Whether rows look as if they could be sums of others: they have no day or no name where others have
/// one, as a sum over days or names does.
pub(crate) fn has_candidates(plan: &Plan, findings: &Findings) -> bool {
    let mut columns = plan.labels.iter().copied().chain(plan.time);
    columns.any(|at| findings.columns[at].empty > 0 && findings.columns[at].filled > 0)
}

/// Tests the labels of a table, and its rows. Returns the sums, and whether all rows were tested.
pub(crate) fn find(
    records: &mut dyn Records,
    plan: &Plan,
    scales: &[u8],
    control: &mut TableControl<'_>,
) -> Result<(Vec<Subtotal>, bool), TableError> {
    let numbers = find_numbers(plan);
    if numbers.is_empty() || plan.labels.is_empty() {
        return Ok((Vec::new(), true));
    }
    let table = read(records, plan, &numbers, scales, control)?;
    let mut found = Vec::new();
    for (position, column) in plan.labels.iter().enumerate() {
        found.extend(table.test_column(position, *column, plan, control)?);
    }
    let measures = Measures::new(plan, &numbers, scales);
    found.extend(group_sums::find(&table, plan, &measures, &found));
    let parents = parents::find(&table, plan, &measures, &found, control)?;
    found.extend(parents.sums);
    Ok((found, parents.is_whole))
}

fn adds_up(plan: &Plan, at: usize) -> bool {
    use contract::sources::ColumnUse::{Dimension, Id, Ratio};
    !matches!(plan.columns[at].hint, Some(Ratio | Id | Dimension))
}

fn read(
    records: &mut dyn Records,
    plan: &Plan,
    numbers: &[usize],
    scales: &[u8],
    control: &mut TableControl<'_>,
) -> Result<Table, TableError> {
    // Rows with the name of a total are rows here, so that they are tested.
    let mut open = plan.clone();
    open.keeps_totals = true;
    let mut reader = RowReader::new(&open);
    let mut closed = RowReader::new(plan);
    for _ in 0..plan.header.records {
        records.next()?;
    }
    let mut table = Table { rows: Vec::new(), texts: vec![Vec::new(); plan.labels.len()] };
    let mut known: Vec<HashMap<String, u32>> = vec![HashMap::new(); plan.labels.len()];
    let mut count = 0_u64;
    while let Some(record) = records.next()? {
        count += 1;
        if count.is_multiple_of(16_384) {
            control.check()?;
        }
        // Totals that are known without a test are no rows.
        let is_known =
            !matches!(closed.read(&record), Outcome::Stored | Outcome::LeftOut(Rule::NamedTotal));
        let outcome = reader.read(&record);
        if is_known || outcome != Outcome::Stored {
            continue;
        }
        let labels = plan.labels.iter().enumerate().map(|(position, at)| {
            let text = label_text(reader.cell(&record, *at));
            let next = u32::try_from(known[position].len()).unwrap_or(u32::MAX);
            *known[position].entry(text).or_insert_with_key(|text| {
                table.texts[position].push(text.clone());
                next
            })
        });
        let labels = labels.collect();
        let filled = numbers
            .iter()
            .enumerate()
            .map(|(bit, at)| u8::from(matches!(reader.values[*at], Value::Number(_))) << bit);
        table.rows.push(Row {
            sheet: record.sheet,
            line: record.line,
            place: reader.place,
            day: plan.time.map_or(0, |time| match reader.values[time] {
                Value::Moment(_, moment) => moment.and_utc().timestamp(),
                _ => i64::MIN,
            }),
            labels,
            numbers: numbers.iter().map(|at| scaled(&reader.values[*at], scales[*at])).collect(),
            filled: filled.sum(),
        });
    }
    Ok(table)
}

fn label_text(cell: &[u8]) -> String {
    if value::is_blank(cell) { String::new() } else { value::text(cell).to_owned() }
}

fn scaled(value: &Value, scale: u8) -> i128 {
    match value {
        Value::Number(number) => {
            super::column::rescale(number.mantissa, number.scale, scale.max(number.scale))
                .unwrap_or(0)
        }
        _ => 0,
    }
}

type Key = (i64, Vec<u32>);

impl Table {
    fn test_column(
        &self,
        position: usize,
        column: usize,
        plan: &Plan,
        control: &TableControl<'_>,
    ) -> Result<Vec<Subtotal>, TableError> {
        let texts = &self.texts[position];
        if texts.len() < 2 || texts.len() > MAX_LABELS {
            return Ok(self.named_only(position, column));
        }
        // The sums of each label and day, and of each day over all labels.
        let by_day = self.sum(|row| (row.day, vec![row.labels[position]]));
        let of_day = self.sum(|row| (row.day, Vec::new()));
        let mut found = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            // Each label is compared with all rows, which takes long in a long table.
            control.check()?;
            let label = u32::try_from(number).unwrap_or(u32::MAX);
            let is_named = words::is_total_name(text);
            let is_open = is_named || text.is_empty();
            let is_sum = if is_open {
                self.is_sum_of_day(label, &by_day, &of_day)
                    || self.is_sum_of_group(position, label)
                    || self.is_sum_of_all(position, label)
            } else {
                let others = plan.time.is_some() && texts.len() > 2;
                (others
                    && self.is_sum_of_day(label, &by_day, &of_day)
                    && self.is_sure(position, label))
                    || self.is_last_and_sum(position, label)
            };
            if is_named || is_sum {
                found.push(self.describe(position, column, label, is_named, is_sum));
            }
        }
        Ok(found)
    }

    /// The labels with the name of a total in a column with too many labels for a test of each.
    fn named_only(&self, position: usize, column: usize) -> Vec<Subtotal> {
        let named =
            self.texts[position].iter().enumerate().filter(|(_, text)| words::is_total_name(text));
        named
            .map(|(number, _)| {
                let label = u32::try_from(number).unwrap_or(u32::MAX);
                let is_sum =
                    self.is_sum_of_group(position, label) || self.is_sum_of_all(position, label);
                self.describe(position, column, label, true, is_sum)
            })
            .collect()
    }

    fn describe(
        &self,
        position: usize,
        column: usize,
        label: u32,
        is_named: bool,
        is_sum: bool,
    ) -> Subtotal {
        let mut rows = self.rows.iter().filter(|row| row.labels[position] == label);
        let first_line = rows.clone().next().map_or(0, |row| row.line);
        Subtotal {
            column,
            name: self.texts[position][label as usize].clone(),
            first_line,
            rows: rows.by_ref().count() as u64,
            is_named,
            is_sum,
            places: Vec::new(),
        }
    }

    fn sum(&self, key: impl Fn(&Row) -> Key) -> HashMap<Key, (Vec<i128>, u64)> {
        let mut sums: HashMap<Key, (Vec<i128>, u64)> = HashMap::new();
        for row in &self.rows {
            let entry = sums.entry(key(row)).or_insert_with(|| (vec![0; row.numbers.len()], 0));
            for (sum, number) in entry.0.iter_mut().zip(&row.numbers) {
                *sum = sum.saturating_add(*number);
            }
            entry.1 += 1;
        }
        sums
    }

    /// Whether on each of its days the rows of a label are the sum of the rows of all others.
    fn is_sum_of_day(
        &self,
        label: u32,
        by_day: &HashMap<Key, (Vec<i128>, u64)>,
        of_day: &HashMap<Key, (Vec<i128>, u64)>,
    ) -> bool {
        let mut days = by_day.iter().filter(|((_, labels), _)| labels[0] == label).peekable();
        days.peek().is_some()
            && days.all(|((day, _), (own, count))| {
                of_day
                    .get(&(*day, Vec::new()))
                    .is_some_and(|(all, rows)| rows - count >= 1 && is_half(own, all))
            })
    }

    /// Whether the rows of a label are together the sum of all other rows.
    fn is_sum_of_all(&self, position: usize, label: u32) -> bool {
        let sums = self.sum(|row| (0, vec![u32::from(row.labels[position] == label)]));
        let (Some((own, _)), Some((others, rows))) =
            (sums.get(&(0, vec![1])), sums.get(&(0, vec![0])))
        else {
            return false;
        };
        *rows >= 2 && own == others && own.iter().any(|sum| *sum != 0)
    }

    /// Whether a label is that of the last row only, and each of its numbers is the sum of all others.
    fn is_last_and_sum(&self, position: usize, label: u32) -> bool {
        let rows = self.rows.iter().filter(|row| row.labels[position] == label).count();
        let last = self.rows.last().filter(|row| row.labels[position] == label && rows == 1);
        let filled =
            last.map_or(0, |row| row.numbers.iter().filter(|number| **number != 0).count());
        filled >= 2 && self.is_sum_of_all(position, label)
    }

    /// Whether each row of a label is the sum of the rows of its day that differ in this label only.
    fn is_sum_of_group(&self, position: usize, label: u32) -> bool {
        let rest = |row: &Row| {
            let mut labels = row.labels.clone();
            labels.remove(position);
            (row.day, labels)
        };
        let mut groups: HashMap<Key, (Vec<i128>, Vec<i128>, u64)> = HashMap::new();
        for row in &self.rows {
            let width = row.numbers.len();
            let group =
                groups.entry(rest(row)).or_insert_with(|| (vec![0; width], vec![0; width], 0));
            let is_own = row.labels[position] == label;
            let sums = if is_own { &mut group.0 } else { &mut group.1 };
            for (sum, number) in sums.iter_mut().zip(&row.numbers) {
                *sum = sum.saturating_add(*number);
            }
            group.2 += u64::from(is_own);
        }
        let mut owned = groups.values().filter(|(_, _, rows)| *rows > 0).peekable();
        owned.peek().is_some()
            && owned.all(|(own, others, _)| own == others && own.iter().any(|sum| *sum != 0))
    }

    /// Whether a label without the name of a total is a sum for sure: several other labels on its
    /// days, and several numbers that agree.
    fn is_sure(&self, position: usize, label: u32) -> bool {
        let own = || self.rows.iter().filter(|row| row.labels[position] == label);
        let days: BTreeSet<i64> = own().map(|row| row.day).collect();
        let others: BTreeSet<u32> = self
            .rows
            .iter()
            .filter(|row| days.contains(&row.day) && row.labels[position] != label)
            .filter(|row| row.numbers.iter().any(|number| *number != 0))
            .map(|row| row.labels[position])
            .collect();
        let varied = own().next().is_some_and(|row| {
            row.numbers.iter().filter(|number| **number != 0).count() >= 2 || days.len() >= 3
        });
        others.len() >= 2 && varied
    }
}

/// Whether numbers are half of those of all rows, their own included, and not all zero.
fn is_half(own: &[i128], all: &[i128]) -> bool {
    own.iter().zip(all).all(|(own, all)| own.saturating_mul(2) == *all)
        && own.iter().any(|sum| *sum != 0)
}
