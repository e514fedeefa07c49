//! Reads records by a plan: each record is stored as a row, left out by a rule, or rejected for a
//! cause. The scan and the reading of rows both use this module, so that they agree on each line.

use std::hash::{Hash as _, Hasher};

use contract::sources::{ColumnUse, NumberSign};

use super::{
    cells::{
        currency::Currency,
        value::{self, Tag},
    },
    column::{CellFault, Column, DayMemory, Reading, Value},
    grouped::Groups,
    plan::Plan,
    records::{LineFault, Record},
    row_memory::{CurrencyCells, NameMemory},
    words,
};

/// The rules by which records are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Rule {
    Title,
    Empty,
    RepeatedHeader,
    Total,
    /// A total in a line with a day, or a label that a person declared to be a total.
    NamedTotal,
    Note,
    Duplicate,
    /// A row that the sheet hides.
    Hidden,
}

/// The cause of a rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Cause {
    TooFewCells,
    TooManyCells,
    OpenQuote,
    LinesInQuotes,
    Zero,
    Cell(usize, CellFault),
    /// The row has an amount but no currency.
    NoCurrency(usize),
    /// The text in the currency column is not a currency.
    UnknownCurrency(usize),
    /// The row leaves out what stands in a row above that cannot be read.
    NothingToRepeat(usize),
}

/// The result of reading a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A row. Its values are in `RowReader::values`.
    Stored,
    LeftOut(Rule),
    Rejected(Cause),
}

/// Reads records by a plan.
pub(crate) struct RowReader<'p> {
    plan: &'p Plan,
    /// The values of the last row.
    pub(crate) values: Vec<Value>,
    /// The place of the last record below the headings, counted from 1.
    pub(crate) place: u64,
    memory: DayMemory,
    names: NameMemory,
    sheet: usize,
    in_titles: bool,
    /// The first sheet that ended before its headings.
    without_headings: Option<usize>,
    groups: Groups,
    /// The number of rows of each hash in `Plan::repeated`, by the number of the hash.
    seen: Vec<u32>,
    /// The label column of the last record that is left out as `NamedTotal`.
    pub(crate) named: Option<usize>,
    /// The hash of the last row.
    pub(crate) hash: u64,
    /// The currencies of the last row, one for each currency column.
    pub(crate) currency: Vec<Option<Currency>>,
    /// The known texts of each currency column.
    pub(crate) currencies: Vec<CurrencyCells>,
}

impl<'p> RowReader<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Self {
        Self {
            plan,
            values: vec![Value::Empty; plan.columns.len()],
            place: 0,
            memory: DayMemory::new(),
            names: NameMemory::new(),
            sheet: 0,
            in_titles: false,
            without_headings: None,
            groups: Groups::new(plan),
            seen: vec![0; plan.repeated.len()],
            named: None,
            hash: 0,
            currency: vec![None; plan.currencies.len()],
            currencies: plan.currencies.iter().map(|_| CurrencyCells::default()).collect(),
        }
    }

    /// Reads a record below the headings.
    #[inline]
    pub(crate) fn read(&mut self, record: &Record<'_>) -> Outcome {
        self.place += 1;
        let outcome = self.decide(record);
        if self.groups.is_on && outcome != Outcome::Stored {
            self.follow(record, outcome);
        }
        outcome
    }

    /// Returns the first sheet whose headings did not occur up to the last record.
    pub(crate) fn sheet_without_headings(&self) -> Option<usize> {
        self.without_headings.or_else(|| self.in_titles.then_some(self.sheet))
    }

    /// Takes what later rows repeat from a record that is not stored.
    #[cold]
    fn follow(&mut self, record: &Record<'_>, outcome: Outcome) {
        match outcome {
            Outcome::LeftOut(Rule::Hidden)
            | Outcome::Rejected(
                Cause::Cell(..) | Cause::NoCurrency(_) | Cause::UnknownCurrency(_),
            ) => {}
            // A sum above its rows begins their group. A total does not.
            Outcome::LeftOut(Rule::NamedTotal) if !self.says_total(record) => {}
            // It cannot be known what its cells are.
            Outcome::Rejected(
                Cause::TooFewCells
                | Cause::TooManyCells
                | Cause::OpenQuote
                | Cause::LinesInQuotes
                | Cause::Zero,
            ) => return self.groups.forget(),
            _ => return,
        }
        self.groups.see_labels(record);
        let Some(time) = self.groups.time else { return };
        let column = &self.plan.columns[time];
        match column.read(record.cell(time), record.tag(time), &mut self.memory) {
            Ok(Value::Empty) => {}
            day => self.groups.day = day.ok(),
        }
    }

    #[inline]
    fn decide(&mut self, record: &Record<'_>) -> Outcome {
        if let Some(fault) = record.fault {
            return Outcome::Rejected(match fault {
                LineFault::OpenQuote => Cause::OpenQuote,
                LineFault::LinesInQuotes => Cause::LinesInQuotes,
                LineFault::Zero => Cause::Zero,
            });
        }
        if record.sheet != self.sheet {
            self.without_headings = self.sheet_without_headings();
            (self.sheet, self.in_titles) = (record.sheet, true);
            self.groups.begin();
        }
        if self.in_titles || record.cell(0) == self.plan.header.headings[0].as_bytes() {
            if self.plan.header.is_repeated_by(record) {
                self.in_titles = false;
                return Outcome::LeftOut(Rule::RepeatedHeader);
            }
            if self.in_titles {
                return Outcome::LeftOut(if record.filled_len() == 0 {
                    Rule::Empty
                } else {
                    Rule::Title
                });
            }
        }
        if record.is_hidden && self.plan.leaves_hidden {
            return Outcome::LeftOut(Rule::Hidden);
        }
        let width = self.plan.columns.len();
        let length = record.len();
        if length != width
            && let Some(outcome) = self.check_width(record, length, width)
        {
            return outcome;
        }
        if let Some(rule) = self.find_rule(record) {
            return Outcome::LeftOut(rule);
        }
        self.read_cells(record)
    }

    /// Checks a record whose number of cells differs from the number of headings.
    #[cold]
    fn check_width(&mut self, record: &Record<'_>, length: usize, width: usize) -> Option<Outcome> {
        let filled = record.filled_len();
        if filled == 0 {
            return Some(Outcome::LeftOut(Rule::Empty));
        }
        // Lines may end before columns that have no heading.
        let named = self.plan.header.headings.iter().rposition(|heading| !heading.is_empty());
        if length < width && named.is_some_and(|last| length > last) {
            return None;
        }
        if length > width {
            return (filled > width).then_some(Outcome::Rejected(Cause::TooManyCells));
        }
        if self.is_total(record) {
            return Some(Outcome::LeftOut(Rule::Total));
        }
        if self.is_note(record) {
            return Some(Outcome::LeftOut(Rule::Note));
        }
        Some(Outcome::Rejected(Cause::TooFewCells))
    }

    /// Returns the rule by which a record is left out.
    #[inline]
    fn find_rule(&mut self, record: &Record<'_>) -> Option<Rule> {
        let plan = self.plan;
        self.named = None;
        if !plan.left_places.is_empty() && plan.left_places.contains(&self.place) {
            return Some(Rule::NamedTotal);
        }
        match plan.time {
            Some(time) => {
                let value =
                    plan.columns[time].read(record.cell(time), record.tag(time), &mut self.memory);
                self.values[time] = value.unwrap_or(Value::Empty);
                if matches!(value, Ok(Value::Moment(..))) {
                    if plan.repeats_days {
                        self.groups.day = Some(self.values[time]);
                    }
                    return self.find_named(record);
                }
                self.find_rule_without_day(record)
            }
            None => {
                if record.cell(0).is_empty() && record.filled_len() == 0 {
                    return Some(Rule::Empty);
                }
                if let Some(rule) = self.find_named(record) {
                    return Some(rule);
                }
                (!plan.labels.is_empty() && self.names_nothing(record)).then_some(Rule::Total)
            }
        }
    }

    #[cold]
    fn find_rule_without_day(&self, record: &Record<'_>) -> Option<Rule> {
        if record.filled_len() == 0 {
            return Some(Rule::Empty);
        }
        if self.is_total(record) {
            return Some(Rule::Total);
        }
        let filled = (0..record.len()).filter(|at| record.has_value(*at)).count();
        (filled == 1 && self.plan.columns.len() > 2 && self.is_note(record)).then_some(Rule::Note)
    }

    /// Whether a record without a day contains totals: a cell begins with a word for a total, or
    /// all labels are empty.
    fn is_total(&self, record: &Record<'_>) -> bool {
        let plan = self.plan;
        let says = |at: usize| words::begins_with_total(record.text(at));
        let time_has_day =
            plan.time.is_some_and(|time| matches!(self.values[time], Value::Moment(..)))
                && record.len() == plan.columns.len();
        if time_has_day {
            return false;
        }
        if says(0) || plan.time.is_some_and(says) || plan.labels.iter().any(|at| says(*at)) {
            return true;
        }
        plan.time.is_some_and(|at| value::is_blank(record.cell(at))) && self.names_nothing(record)
    }

    /// Whether a record has numbers, but neither a text nor a number that names what it is about, such
    /// as an hour.
    fn names_nothing(&self, record: &Record<'_>) -> bool {
        let plan = self.plan;
        let is_blank = |at: &usize| value::is_blank(record.cell(*at));
        let names = |(at, column): (usize, &Column)| {
            matches!(column.reading, Reading::Number { .. })
                && matches!(column.hint, Some(ColumnUse::Dimension | ColumnUse::Id))
                && !is_blank(&at)
        };
        plan.labels.iter().all(is_blank)
            && !plan.keeps_unnamed
            && self.has_numbers(record)
            && !plan.columns.iter().enumerate().any(names)
    }

    /// Whether a label names a total, or begins with a word for one.
    fn says_total(&self, record: &Record<'_>) -> bool {
        let says = |text: &str| words::begins_with_total(text) || words::is_total_name(text);
        self.plan.labels.iter().any(|at| says(record.text(*at)))
    }

    fn has_numbers(&self, record: &Record<'_>) -> bool {
        let columns = self.plan.columns.iter().enumerate();
        columns.filter(|(_, column)| matches!(column.reading, Reading::Number { .. })).any(
            |(at, _)| {
                let cell = record.cell(at);
                super::cells::number::parse_number(cell, NumberSign::Point).is_ok()
            },
        )
    }

    /// Whether a record is a sentence below or between the rows: texts without numbers and days.
    fn is_note(&self, record: &Record<'_>) -> bool {
        let has_digits_first = record.cell(0).first().is_some_and(u8::is_ascii_digit);
        !has_digits_first
            && !record.cell(0).is_empty()
            && (0..record.len()).all(|at| {
                let cell = record.cell(at);
                record.tag(at) == Tag::Plain
                    && super::cells::day::parse_day(cell).is_none()
                    && super::cells::number::parse_number(cell, NumberSign::Point).is_err()
            })
    }

    /// Finds a label that is the name of a total, or of rows that are sums of others. Rows that only
    /// have the name are kept if a person says so, but not a row without a day and another label.
    #[inline]
    fn find_named(&mut self, record: &Record<'_>) -> Option<Rule> {
        let plan = self.plan;
        for label in &plan.labels {
            let cell = record.cell(*label);
            let is_left = !plan.left_names.is_empty()
                && plan.left_names.contains(&(*label, value::text(cell).to_owned()));
            let is_named = !is_left
                && self.names.is_total(cell)
                && !plan.keeps_name(*label, value::text(cell));
            let is_alone = is_named && self.is_alone(record, *label);
            if is_left || is_alone || (is_named && !plan.keeps_totals) {
                self.named = Some(*label);
                return Some(if is_alone { Rule::Total } else { Rule::NamedTotal });
            }
        }
        None
    }

    /// Whether a label is all that says what a record is about.
    #[cold]
    fn is_alone(&self, record: &Record<'_>, label: usize) -> bool {
        let labels = &self.plan.labels;
        let is_blank = |at: &usize| *at == label || value::is_blank(record.cell(*at));
        self.plan.time.is_none()
            && (labels.iter().all(is_blank)
                || words::begins_with_total(record.text(0)) && labels.first() == Some(&label))
    }

    #[inline]
    fn read_cells(&mut self, record: &Record<'_>) -> Outcome {
        let plan = self.plan;
        for (at, column) in plan.columns.iter().enumerate() {
            if Some(at) == plan.time && matches!(self.values[at], Value::Moment(..)) {
                continue;
            }
            match column.read(record.cell(at), record.tag(at), &mut self.memory) {
                Ok(value) => self.values[at] = value,
                Err(fault) => return Outcome::Rejected(Cause::Cell(at, fault)),
            }
        }
        if self.groups.is_on
            && let Some(column) = self.repeat(record)
        {
            return Outcome::Rejected(Cause::NothingToRepeat(column));
        }
        if let Some(cause) = self.find_currency(record) {
            return Outcome::Rejected(cause);
        }
        self.hash = hash_of(record, &self.groups);
        if !plan.repeated.is_empty()
            && let Some(rows) = plan.repeated.get(&self.hash)
        {
            let seen = &mut self.seen[rows.at as usize];
            *seen += 1;
            if *seen > rows.count {
                return Outcome::LeftOut(Rule::Duplicate);
            }
        }
        Outcome::Stored
    }
}

impl RowReader<'_> {
    /// Returns the text of a cell of the last row. A repeated label is the text of a row above.
    #[inline]
    pub(crate) fn cell<'a>(&'a self, record: &Record<'a>, at: usize) -> &'a [u8] {
        self.groups.text(at).unwrap_or_else(|| record.cell(at))
    }

    /// Fills in the day and the labels that a row leaves out. Returns the column of one that is not
    /// known.
    fn repeat(&mut self, record: &Record<'_>) -> Option<usize> {
        let mut unknown = self.groups.see_labels(record);
        for at in self.groups.repeated() {
            self.values[at] = Value::Text;
        }
        if let Some(time) = self.groups.time
            && self.values[time] == Value::Empty
        {
            match self.groups.day {
                Some(day) => self.values[time] = day,
                None => unknown = unknown.or(Some(time)),
            }
        }
        unknown
    }

    /// Finds the currencies of a row. Returns the cause of a rejection if a needed currency is
    /// missing.
    #[inline]
    fn find_currency(&mut self, record: &Record<'_>) -> Option<Cause> {
        let plan = self.plan;
        for (slot, at) in plan.currencies.iter().enumerate() {
            match self.currencies[slot].find(record.cell(*at)) {
                Ok(found) => self.currency[slot] = found,
                Err(()) => return Some(Cause::UnknownCurrency(*at)),
            }
            if self.currency[slot].is_none() && plan.needs_currency[slot] {
                let bare =
                    self.find_bare(|column| column.is_money && column.currency_slot == Some(slot));
                if bare.is_some() {
                    return bare;
                }
            }
        }
        if plan.needs_signs { self.find_bare(|column| column.needs_sign) } else { None }
    }

    /// Returns the currency of the last row's amount in a column, as a currency column or the
    /// heading states it.
    #[inline]
    pub(crate) fn stated_currency(&self, column: &Column) -> Option<Currency> {
        match column.currency_slot {
            Some(slot) if column.is_money => self.currency[slot],
            _ => column.currency,
        }
    }

    /// Finds the first amount in the wanted columns that has no currency and is not zero.
    #[cold]
    fn find_bare(&self, is_wanted: impl Fn(&Column) -> bool) -> Option<Cause> {
        let at = self.plan.columns.iter().enumerate().position(|(at, column)| {
            let is_bare = match self.values[at] {
                Value::Number(number) => number.currency.is_none() && number.mantissa != 0,
                _ => false,
            };
            is_bare && is_wanted(column)
        });
        at.map(Cause::NoCurrency)
    }
}

/// Returns a hash of the cells of a record, and of what it leaves out.
#[inline]
fn hash_of(record: &Record<'_>, groups: &Groups) -> u64 {
    let (Some(first), Some(last)) = (record.spans.first(), record.spans.last()) else { return 0 };
    let mut hasher = rustc_hash::FxHasher::default();
    if record.is_text {
        let end = (last.end as usize).max(first.start as usize);
        record.bytes[first.start as usize..end].hash(&mut hasher);
    } else {
        record.cells().for_each(|cell| cell.hash(&mut hasher));
    }
    groups.hash(&mut hasher);
    // Without a final mix, lines that differ in few bits would fall into few buckets.
    let hash = hasher.finish();
    (hash ^ (hash >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}
