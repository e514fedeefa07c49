//! Reads all records once by a plan, and collects findings about them. This module makes no
//! decisions.

use contract::sources::ColumnUse;

use super::{
    cells::{currency::Currency, day::parse_day, value},
    column::{CellFault, Value},
    control::TableControl,
    fault::TableError,
    lines::Lines,
    neighbours::Neighbours,
    plan::Plan,
    records::{Kept, Record, Records},
    row_memory::CurrencyCells,
    rows::{Cause, Outcome, RowReader, Rule},
    stats::Stats,
    titles::currency_of_sentence,
};

/// The maximum number of lines with totals that are kept for comparison.
const TOTALS: usize = 500;
/// The maximum number of rows among which equal lines are searched for. Each row takes eight bytes
/// of memory.
const MAX_HASHES: usize = 20_000_000;
/// The number of records between two reports of progress.
const STEP: u64 = 16_384;

/// The findings of a scan over all records.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) records: u64,
    pub(crate) stored: u64,
    pub(crate) columns: Vec<Stats>,
    pub(crate) left_out: Vec<(Rule, usize, Lines)>,
    pub(crate) rejected: Vec<(Cause, usize, Lines)>,
    /// Lines of totals without a day.
    pub(crate) totals: Vec<Kept>,
    /// Lines of totals that were recognised by a name, with the column of the name.
    pub(crate) named: Vec<(usize, Kept)>,
    /// The hashes of the stored rows, in their order.
    pub(crate) hashes: Vec<u64>,
    /// Whether there were too many rows to search for equal rows.
    pub(crate) skipped_hashes: bool,
    /// Whether there were too many rows to test which ones are sums of others.
    pub(crate) skipped_sums: bool,
    /// Stored rows without a day, although there is a column with days.
    pub(crate) without_day: Lines,
    /// The currencies in each currency column, with their numbers of rows.
    pub(crate) currencies: Vec<Vec<(Currency, u64)>>,
    /// The number of amounts without a currency, for each currency column.
    pub(crate) without_currency: Vec<u64>,
    /// Rows whose amounts have a currency sign that contradicts the heading or a currency column.
    pub(crate) sign_conflicts: Lines,
    /// Stored rows that the sheet hides.
    pub(crate) hidden: Lines,
    /// Stored rows that cover more than one day.
    pub(crate) long_rows: Lines,
    /// The maximum number of days that a row covers.
    pub(crate) longest: i64,
    /// Whether a row has amounts with signs of different currencies.
    pub(crate) signs_differ: bool,
    /// The currencies that notes between and below the rows state, with their lines.
    pub(crate) currencies_of_notes: Vec<(Currency, u64)>,
    /// Neighbours in lines with commas that can be one number.
    pub(crate) neighbours: Neighbours,
    /// For each label but the first, whether a row has no text in it below a text in the label before.
    pub(crate) unnested: Vec<bool>,
    /// The first sheet in which the headings do not occur.
    pub(crate) sheet_without_headings: Option<usize>,
}

/// Reads the records below the headings.
pub(crate) fn scan(
    records: &mut dyn Records,
    plan: &Plan,
    control: &mut TableControl<'_>,
) -> Result<Findings, TableError> {
    for _ in 0..plan.header.records {
        records.next()?;
    }
    let mut findings =
        Findings { columns: vec![Stats::default(); plan.columns.len()], ..Findings::default() };
    findings.without_currency = vec![0; plan.currencies.len()];
    findings.unnested = vec![false; plan.labels.len().saturating_sub(1)];
    let mut reader = RowReader::new(plan);
    loop {
        if findings.records.is_multiple_of(STEP) {
            control.report(findings.records, records.bytes())?;
        }
        let Some(record) = records.next()? else { break };
        findings.records += 1;
        let outcome = reader.read(&record);
        match outcome {
            Outcome::Stored => findings.store(plan, &record, &reader),
            Outcome::LeftOut(rule) => findings.leave_out(rule, &record, reader.named),
            Outcome::Rejected(cause) => findings.reject(plan, cause, &record),
        }
    }
    control.report(findings.records, records.bytes())?;
    findings.currencies = reader.currencies.iter().map(CurrencyCells::counted).collect();
    findings.sheet_without_headings = reader.sheet_without_headings();
    Ok(findings)
}

impl Findings {
    #[inline]
    fn store(&mut self, plan: &Plan, record: &Record<'_>, reader: &RowReader<'_>) {
        self.stored += 1;
        if plan.has_commas {
            self.neighbours.see(record, &reader.values, plan.falling);
        }
        if record.is_hidden {
            self.hidden.add(record.line, || record.sample());
        }
        let mut sign = None;
        for (at, stats) in self.columns.iter_mut().enumerate() {
            let column = &plan.columns[at];
            let stated = reader.stated_currency(column);
            let value = &reader.values[at];
            let mut currency = stated;
            if let Value::Number(number) = value {
                if let Some(own) = number.currency {
                    self.signs_differ |= sign.is_some_and(|sign| sign != own);
                    sign = Some(own);
                    match stated {
                        Some(stated) if own.agrees_with(stated) || plan.is_currency_decided => {}
                        Some(_) => {
                            self.sign_conflicts
                                .add(record.line, || value::shorten(record.cell(at)));
                            currency = Some(own);
                        }
                        None => currency = Some(own),
                    }
                } else if let Some(slot) = column.currency_slot
                    && column.is_money
                    && stated.is_none()
                    && number.mantissa != 0
                {
                    self.without_currency[slot] += 1;
                }
            }
            stats.see(reader.cell(record, at), value, record.line, currency);
            if column.hint == Some(ColumnUse::Id) {
                stats.see_id(record.cell(at), record.line);
            }
        }
        for (labels, unnested) in plan.labels.windows(2).zip(&mut self.unnested) {
            let is_empty = |at: usize| matches!(reader.values[at], Value::Empty);
            *unnested |= is_empty(labels[1]) && !is_empty(labels[0]);
        }
        if let Some((first, last)) = plan.span
            && let (Value::Moment(_, first), Value::Moment(_, last)) =
                (reader.values[first], reader.values[last])
            && first.date() != last.date()
        {
            let days = (last.date() - first.date()).num_days() + 1;
            self.longest = self.longest.max(days);
            self.long_rows.add(record.line, || format!("{} – {}", first.date(), last.date()));
        }
        if let Some(time) = plan.time
            && reader.values[time] == Value::Empty
        {
            self.without_day.add(record.line, || record.sample());
        }
        if self.hashes.len() < MAX_HASHES {
            self.hashes.push(reader.hash);
        } else {
            self.skipped_hashes = true;
        }
    }

    #[cold]
    fn leave_out(&mut self, rule: Rule, record: &Record<'_>, named: Option<usize>) {
        add(&mut self.left_out, rule, record, || record.sample());
        match rule {
            Rule::Total if self.totals.len() < TOTALS => self.totals.push(Kept::new(record)),
            Rule::Note if self.currencies_of_notes.len() < TOTALS => {
                let cells: Vec<&str> = record.cells().take(12).map(value::text).collect();
                let found = currency_of_sentence(&cells.join(" "));
                self.currencies_of_notes.extend(found.map(|currency| (currency, record.line)));
            }
            Rule::NamedTotal if self.named.len() < TOTALS => {
                self.named.push((named.unwrap_or(0), Kept::new(record)));
            }
            _ => {}
        }
    }

    #[cold]
    fn reject(&mut self, plan: &Plan, cause: Cause, record: &Record<'_>) {
        if cause == Cause::TooManyCells && plan.has_commas {
            self.neighbours.see_rejected(record, &plan.columns);
        }
        let sample = || match cause {
            Cause::Cell(at, _) | Cause::UnknownCurrency(at) | Cause::NoCurrency(at) => {
                value::shorten(record.cell(at))
            }
            _ => record.sample(),
        };
        if let Cause::Cell(at, fault) = cause {
            self.columns[at].see_fault(fault, record.line, record.cell(at));
            if fault == CellFault::NotADay
                && let Some(day) = parse_day(record.cell(at))
            {
                self.columns[at].days.see_order(&day);
            }
        }
        add(&mut self.rejected, cause, record, sample);
    }

    /// Returns the number of rejected records.
    pub(crate) fn rejected_count(&self) -> u64 {
        self.rejected.iter().map(|(_, _, lines)| lines.count).sum()
    }
}

fn add<K: PartialEq + Copy>(
    list: &mut Vec<(K, usize, Lines)>,
    key: K,
    record: &Record<'_>,
    sample: impl FnOnce() -> String,
) {
    let at = list.iter().position(|(known, sheet, _)| *known == key && *sheet == record.sheet);
    let at = at.unwrap_or_else(|| {
        list.push((key, record.sheet, Lines::default()));
        list.len() - 1
    });
    let lines = &mut list[at].2;
    if lines.count == 0 {
        lines.cells = record.filled_len();
    }
    lines.add(record.line, sample);
}
