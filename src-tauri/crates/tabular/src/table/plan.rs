//! The plan by which a table is read: how each column is read, and which rows are left out. The
//! first plan is made from the first records; a scan of all records corrects it.

use std::collections::{HashMap, HashSet};

use contract::sources::{ColumnKind, ColumnUse, DateOrder, ImportDecisions, NumberSign};

use super::{
    answers::check_answers,
    cells::{
        counted::Counting,
        currency::{self, Currency},
        day::{Written, parse_day},
        number::{Evidence, parse_number},
        order::DayOrder,
        value::{self, Tag},
    },
    column::{Column, Reading, flag_of},
    duplicates::Repeated,
    fault::TableError,
    header::{Header, make_names},
    records::{Kept, Record},
    words,
};

/// The most columns whose cells are looked at for names of totals.
const MAX_LABELS: usize = 8;

/// How a table is read.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) header: Header,
    pub(crate) columns: Vec<Column>,
    /// The column with the day of a row.
    pub(crate) time: Option<usize>,
    /// The columns with the first and the last day of what a row covers.
    pub(crate) span: Option<(usize, usize)>,
    /// The columns with currencies of amounts.
    pub(crate) currencies: Vec<usize>,
    /// Whether an amount without a currency is refused, by the currency columns: several are there.
    pub(crate) needs_currency: Vec<bool>,
    /// Columns of texts that name what a row is about.
    pub(crate) labels: Vec<usize>,
    /// Names that look like totals but are those of rows.
    pub(crate) kept_names: HashSet<(usize, String)>,
    /// Whether rows that only have the name of a total are stored.
    pub(crate) keeps_totals: bool,
    /// Whether rows without a day and without a name are stored.
    pub(crate) keeps_unnamed: bool,
    /// Names of rows that are sums of others.
    pub(crate) left_names: HashSet<(usize, String)>,
    /// The places of rows that are sums of others.
    pub(crate) left_places: HashSet<u64>,
    /// The hashes of lines of which only the first are stored, with their number.
    pub(crate) repeated: HashMap<u64, Repeated>,
    /// Whether a column needs the sign of a currency in each of its amounts.
    pub(crate) needs_signs: bool,
    /// Whether a person decided the currency of all amounts against the file.
    pub(crate) is_currency_decided: bool,
    /// Whether an empty cell of the time column means the day above.
    pub(crate) repeats_days: bool,
    /// Labels whose empty cells mean the label above.
    pub(crate) grouped: Vec<usize>,
    /// Whether commas divide the cells, so that they can divide a number, too.
    pub(crate) has_commas: bool,
    /// The column of impressions, if that of clicks follows it: clicks are never more.
    pub(crate) falling: Option<usize>,
    /// Whether rows that a sheet hides are left out.
    pub(crate) leaves_hidden: bool,
}

impl Plan {
    /// Makes the plan that the first records suggest.
    pub(crate) fn new(
        header: Header,
        rows: &[Kept],
        decisions: &ImportDecisions,
    ) -> Result<Self, TableError> {
        let rows: Vec<Record<'_>> =
            rows.iter().map(Kept::record).filter(|record| !is_like_total(record)).collect();
        let file_sign = find_file_sign(&rows, header.headings.len());
        let mut columns = Vec::new();
        for (at, heading) in header.headings.iter().enumerate() {
            columns.push(make_column(&header, at, heading, &rows, decisions, file_sign));
        }
        check_choices(&header, decisions)?;
        check_answers(decisions)?;
        // A chosen name can be that of another column.
        let names: Vec<String> =
            columns.iter().map(|column: &Column| column.name.clone()).collect();
        for (column, name) in columns.iter_mut().zip(make_names(&names)) {
            column.name = name;
        }
        let is = |id: &str, wanted: &str| {
            decisions.answers.get(id).is_some_and(|answer| answer == wanted)
        };
        let mut plan = Self {
            header,
            columns,
            time: None,
            span: None,
            currencies: Vec::new(),
            needs_currency: Vec::new(),
            labels: Vec::new(),
            kept_names: HashSet::new(),
            keeps_totals: false,
            keeps_unnamed: is("unnamed_rows", "keep"),
            left_names: HashSet::new(),
            left_places: HashSet::new(),
            repeated: HashMap::new(),
            needs_signs: false,
            is_currency_decided: false,
            repeats_days: is("blank_days", "repeat"),
            grouped: Vec::new(),
            has_commas: false,
            falling: None,
            leaves_hidden: is("hidden_rows", "leave_out"),
        };
        plan.falling = plan
            .columns
            .windows(2)
            .position(|pair| words::are_clicks_of_impressions(&pair[1].heading, &pair[0].heading));
        plan.find_roles();
        Ok(plan)
    }

    /// Finds the columns with the day and the currency of a row, and those that name what it is about.
    pub(crate) fn find_roles(&mut self) {
        let is = |column: &Column, usage| column.choice.usage == Some(usage);
        let days = || {
            let columns = self.columns.iter().enumerate();
            columns.filter(|(_, column)| matches!(column.reading, Reading::Day { .. }))
        };
        self.time = days()
            .find(|(_, column)| is(column, ColumnUse::Time))
            .or_else(|| {
                let may = |column: &Column| column.choice.usage.is_none();
                days()
                    .filter(|(_, column)| may(column))
                    .min_by_key(|(at, column)| (words::time_rank(&column.heading), *at))
            })
            .map(|(at, _)| at);
        let first = days().find(|(_, column)| words::is_start(&column.heading));
        let last = days().find(|(_, column)| words::is_end(&column.heading));
        self.span = first.zip(last).map(|((first, _), (last, _))| (first, last));
        let texts = || {
            let columns = self.columns.iter().enumerate();
            columns.filter(|(_, column)| column.reading == Reading::Text)
        };
        self.currencies = texts()
            .filter(|(_, column)| match column.choice.usage {
                Some(usage) => usage == ColumnUse::Currency,
                None => words::is_currency(&column.heading) && column.has_codes,
            })
            .map(|(at, _)| at)
            .collect();
        self.labels = texts()
            .filter(|(at, _)| !self.currencies.contains(at))
            .map(|(at, _)| at)
            .take(MAX_LABELS)
            .collect();
        self.needs_currency.resize(self.currencies.len(), false);
        let currencies = self.currencies.clone();
        let headings: Vec<(usize, String)> = currencies
            .iter()
            .map(|at| (*at, words::currency_stem(&self.columns[*at].heading)))
            .collect();
        for (at, column) in self.columns.iter_mut().enumerate() {
            column.currency_slot = if column.currency.is_some() || column.uses_signs {
                None
            } else {
                find_slot(at, &words::plain(&column.heading), &headings)
            };
        }
    }

    /// Whether rows with this name are stored although the name looks like a total.
    pub(crate) fn keeps_name(&self, label: usize, name: &str) -> bool {
        !self.kept_names.is_empty() && self.kept_names.contains(&(label, name.to_owned()))
    }
}

/// Returns which of the currency columns has the currency of a column: the one named after it, or the
/// one without another name, or the nearest one to the left.
fn find_slot(at: usize, heading: &str, currencies: &[(usize, String)]) -> Option<usize> {
    if currencies.len() < 2 {
        return (!currencies.is_empty()).then_some(0);
    }
    let shares = |stem: &String| {
        let first = |text: &str| text.split(' ').next().unwrap_or_default().to_owned();
        let has_all = || stem.split(' ').all(|word| heading.split(' ').any(|own| own == word));
        !stem.is_empty() && (stem == heading || first(stem) == first(heading) || has_all())
    };
    let named = currencies.iter().position(|(_, stem)| shares(stem));
    let plain = || currencies.iter().position(|(_, stem)| stem.is_empty());
    let left = || currencies.iter().rposition(|(place, _)| *place < at);
    named.or_else(plain).or_else(left).or(Some(0))
}

/// Refuses choices for columns that are not there.
fn check_choices(header: &Header, decisions: &ImportDecisions) -> Result<(), TableError> {
    let is_there = |wanted: &str| {
        let numbered = wanted.strip_prefix('#').and_then(|number| number.parse::<usize>().ok());
        header.names.iter().any(|name| name == wanted)
            || header.headings.iter().any(|heading| heading == wanted)
            || numbered.is_some_and(|number| (1..=header.names.len()).contains(&number))
    };
    match decisions.columns.keys().find(|wanted| !is_there(wanted)) {
        Some(name) => Err(TableError::NoColumn {
            name: name.clone(),
            columns: header.names.iter().take(50).cloned().collect(),
        }),
        None => Ok(()),
    }
}

/// Whether a record among the first ones is a total, so that its cells show no types.
fn is_like_total(record: &Record<'_>) -> bool {
    record.fault.is_some()
        || record.cells().take(6).any(|cell| words::begins_with_total(value::text(cell)))
}

fn make_column(
    header: &Header,
    at: usize,
    heading: &str,
    rows: &[Record<'_>],
    decisions: &ImportDecisions,
    file_sign: NumberSign,
) -> Column {
    let name = header.names[at].clone();
    let choice = decisions
        .columns
        .get(&name)
        // Of several columns with one heading, the heading names the first.
        .or_else(|| {
            let first = header.headings.iter().position(|other| other == heading);
            decisions.columns.get(heading).filter(|_| first == Some(at))
        })
        .or_else(|| decisions.columns.get(&format!("#{}", at + 1)))
        .cloned()
        .unwrap_or_default();
    let sign = decisions.decimal.unwrap_or(file_sign);
    // Only days that can have the year first are read so, which the first scan finds out.
    let order = decisions.date_order.filter(|order| *order != DateOrder::YearFirst);
    let order = order.map_or(DayOrder::DayMonthYear, DayOrder::from);
    let unit = choice.unit.as_deref().and_then(Currency::from_name);
    let column_is_right =
        decisions.answers.get("currency_heading").is_some_and(|answer| answer == "column");
    let usage = choice.usage.or_else(|| words::use_of_numbers(heading));
    let is_percent = choice.unit.as_deref() == Some("percent");
    let names_money =
        words::is_money(heading) || choice.name.as_deref().is_some_and(words::is_money);
    let mut column = Column {
        heading: heading.to_owned(),
        name: choice.name.clone().filter(|name| !name.trim().is_empty()).unwrap_or(name),
        digits_are_days: words::is_time(heading) || choice.usage == Some(ColumnUse::Time),
        hint: usage,
        currency: unit.or_else(|| currency::find_in_heading(heading).filter(|_| !column_is_right)),
        is_money: names_money || unit.is_some(),
        needs_sign: false,
        currency_slot: None,
        uses_signs: false,
        has_codes: rows.iter().all(|row| {
            value::is_blank(row.cell(at)) || Currency::from_name(row.text(at)).is_some()
        }),
        counting: find_counting(heading, usage, names_money, rows, at),
        spoiled: None,
        reading: Reading::Open,
        is_fixed: choice.kind.is_some(),
        choice,
    };
    column.is_money |= column.currency.is_some();
    let numbers = Reading::Number { sign, is_percent };
    column.reading = match column.choice.kind {
        Some(ColumnKind::Text) => Reading::Text,
        Some(ColumnKind::Whole | ColumnKind::Decimal) => numbers,
        Some(ColumnKind::Day | ColumnKind::Moment) => {
            column.digits_are_days = true;
            Reading::Day { order }
        }
        Some(ColumnKind::Flag) => Reading::Flag,
        None => {
            let cells = || rows.iter().map(|row| (row.cell(at), row.tag(at)));
            guess_reading(cells, &column, sign, order)
        }
    };
    column
}

/// Returns what the numbers of a column count, if all of the first ones are days or moments.
fn find_counting(
    heading: &str,
    usage: Option<ColumnUse>,
    is_money: bool,
    rows: &[Record<'_>],
    at: usize,
) -> Option<Counting> {
    let cells = || rows.iter().map(|row| row.cell(at)).filter(|cell| !value::is_blank(cell));
    let first = cells().next()?;
    if is_money || usage.is_some_and(|usage| usage != ColumnUse::Time) {
        return None;
    }
    let is_day = words::is_time(heading) || words::is_start(heading) || words::is_end(heading);
    let is = |counting: Counting| counting.read(first).is_some();
    let counting = if is_day && is(Counting::SheetDays) {
        Counting::SheetDays
    } else if is_day && is(Counting::JulianDays) {
        Counting::JulianDays
    } else if !is_day && is(Counting::Digits) && cells().nth(1).is_some() {
        Counting::Digits
    } else {
        Counting::since_1970(first)?
    };
    cells().all(|cell| counting.read(cell).is_some()).then_some(counting)
}

/// Returns how the first cells of a column suggest to read it.
pub(crate) fn guess_reading<'a, I: Iterator<Item = (&'a [u8], Tag)>>(
    cells: impl Fn() -> I,
    column: &Column,
    sign: NumberSign,
    order: DayOrder,
) -> Reading {
    let (mut days, mut digit_days, mut numbers, mut percents, mut flags, mut all) =
        (0, 0, 0, 0, 0, 0);
    for (cell, tag) in cells() {
        let is_blank = cell.is_empty() || value::is_blank(cell) || currency::is_dash(cell);
        if is_blank || value::is_error(cell) {
            continue;
        }
        if matches!(tag, Tag::Error | Tag::NoValue) {
            continue;
        }
        all += 1;
        match parse_day(cell) {
            Some(found) if matches!(found.written, Written::Digits(_)) => digit_days += 1,
            Some(_) => days += 1,
            None => {}
        }
        if let Ok(number) = parse_number(cell, sign) {
            numbers += 1;
            percents += usize::from(number.is_percent);
        }
        flags += usize::from(flag_of(cell).is_some());
    }
    if all == 0 {
        return Reading::Open;
    }
    let is_id = column.hint == Some(ColumnUse::Id);
    if column.counting.is_some() {
        return Reading::Day { order };
    }
    if column.digits_are_days && (days + digit_days) * 2 > all {
        return Reading::Day { order };
    }
    if days * 5 >= all * 4 {
        return Reading::Day { order };
    }
    if is_id {
        return Reading::Text;
    }
    if numbers * 2 >= all {
        return Reading::Number { sign, is_percent: percents * 2 > numbers };
    }
    if flags == all { Reading::Flag } else { Reading::Text }
}

/// Returns the sign before decimals that the first records show.
fn find_file_sign(rows: &[Record<'_>], width: usize) -> NumberSign {
    let (mut points, mut commas) = (0, 0);
    for row in rows {
        for at in (0..width).filter(|at| row.tag(*at) == Tag::Plain) {
            let cell = row.cell(at);
            if !cell.iter().any(u8::is_ascii_digit) || parse_day(cell).is_some() {
                continue;
            }
            match parse_number(cell, NumberSign::Point).map(|number| number.evidence) {
                Ok(Evidence::Sign(NumberSign::Point)) => points += 1,
                Ok(Evidence::Sign(NumberSign::Comma)) => commas += 1,
                _ => {}
            }
        }
    }
    if commas > points { NumberSign::Comma } else { NumberSign::Point }
}
