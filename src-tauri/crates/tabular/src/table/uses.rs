//! Decides type, use and unit of each column by the statistics of all its cells.

use contract::sources::{ColumnKind, ColumnUse, FoundColumn};

use super::{
    cells::{
        counted::Counting,
        currency::{self, Currency},
        value,
    },
    column::{Column, Reading},
    plan::Plan,
    scan::Findings,
    stated::Stated,
    stats::Stats,
    words,
};

/// The decided type, use and unit of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decided {
    pub(crate) kind: ColumnKind,
    pub(crate) scale: u8,
    pub(crate) usage: ColumnUse,
    /// Whether the column contains amounts of money.
    pub(crate) is_money: bool,
    /// The currency of all amounts.
    pub(crate) currency: Option<Currency>,
    /// Whether cells have signs of several currencies.
    pub(crate) is_mixed: bool,
    /// Whether the heading says that amounts are in thousands, millions or cents.
    pub(crate) is_scaled: bool,
    /// Why the numbers are not added up, although the heading does not say so.
    pub(crate) kept_out: Option<KeptOut>,
}

/// Why numbers are not amounts or counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeptOut {
    /// They are years.
    Years,
    /// They are months: 202611.
    Months,
    /// Their heading names a time.
    Times,
    /// Each is greater than the one before, like identifiers, row numbers and running totals.
    Rising,
}

/// The least number of rows in which rising numbers are no chance.
const RISING: u64 = 6;
/// Numbers that are years if a column has no others.
const YEARS: std::ops::RangeInclusive<u128> = 1_990..=2_050;

impl KeptOut {
    fn find(column: &Column, stats: &Stats, is_first: bool) -> Option<Self> {
        let (numbers, row) = (&stats.numbers, &stats.numbers.row);
        let is_known = column.hint.is_some() || column.is_money || !numbers.currencies.is_empty();
        if is_known {
            return None;
        }
        if column.digits_are_days {
            return Some(Self::Times);
        }
        if numbers.scale > 0 || row.count < 2 || row.least < 0 {
            return None;
        }
        let least = row.least.unsigned_abs();
        if row.count > 2 && YEARS.contains(&least) && YEARS.contains(&numbers.largest) {
            return Some(Self::Years);
        }
        let is_month =
            |number: u128| YEARS.contains(&(number / 100)) && (1..=12).contains(&(number % 100));
        if is_month(least) && is_month(numbers.largest) && row.are_months() {
            return Some(Self::Months);
        }
        // Programs write the numbers of rows into the first column, without a heading.
        let enough = if is_first && column.heading.is_empty() { 2 } else { RISING };
        let has_one_length = least >= 1_000 && least.ilog10() == numbers.largest.ilog10();
        let rises = row.rises() && has_one_length || row.counts_rows();
        (rises && row.count >= enough).then_some(Self::Rising)
    }
}

/// Decides type, use and unit of all columns.
pub(crate) fn decide(plan: &Plan, findings: &Findings, stated: Stated) -> Vec<Decided> {
    let has_money = plan.columns.iter().any(|column| column.is_money);
    (0..plan.columns.len())
        .map(|at| {
            let mut decided = decide_one(plan, at, &findings.columns[at]);
            // If a currency is stated but no heading names amounts, sums with decimals are amounts.
            if stated.outside.is_some() && !has_money && plan.columns[at].may_have_amounts() {
                let adds_up = matches!(decided.usage, ColumnUse::Sum | ColumnUse::Last);
                decided.is_money |= decided.kind == ColumnKind::Decimal && adds_up;
            }
            if decided.is_money && plan.columns[at].currency_slot.is_none() && !decided.is_mixed {
                let own = decided.currency.map(|currency| stated.meant(currency));
                decided.currency = own.or(stated.outside.map(Currency::usual));
            }
            // 12 million euros are not 12 euros.
            if decided.is_scaled {
                (decided.is_money, decided.is_mixed, decided.currency) = (false, false, None);
            }
            decided
        })
        .collect()
}

fn decide_one(plan: &Plan, at: usize, stats: &Stats) -> Decided {
    let column = &plan.columns[at];
    let numbers = &stats.numbers;
    let (kind, scale) = kind_of(column, stats);
    let mut usage = column.choice.usage.unwrap_or_else(|| use_of(plan, at, kind, stats));
    let kept_out = if usage == ColumnUse::Sum && column.choice.usage.is_none() {
        KeptOut::find(column, stats, at == 0)
    } else {
        None
    };
    match kept_out {
        Some(KeptOut::Years | KeptOut::Months) => usage = ColumnUse::Dimension,
        Some(KeptOut::Rising | KeptOut::Times) => usage = ColumnUse::Other,
        None => {}
    }
    if usage == ColumnUse::Id && stats.ids.are_ambiguous() && column.choice.usage.is_none() {
        usage = ColumnUse::Other;
    }
    if column.heading.is_empty() && stats.filled == 0 && column.choice.usage.is_none() {
        usage = ColumnUse::Other;
    }
    let is_number = matches!(kind, ColumnKind::Whole | ColumnKind::Decimal);
    let has_own = column.currency.is_none() && column.currency_slot.is_none();
    let is_mixed = has_own && numbers.currencies.len() > 1;
    let only = match numbers.currencies.as_slice() {
        [only] => Some(only.currency),
        _ => None,
    };
    // Signs in cells can say more than a heading, such as `US$` under "Cost ($)".
    let of_heading = column.currency.map(|stated| match only {
        Some(only) if stated.can_stand_for(only) => only,
        _ => stated,
    });
    Decided {
        kind,
        scale,
        usage,
        is_money: is_number && column.is_money && usage != ColumnUse::Id,
        currency: of_heading.or(only),
        is_mixed,
        is_scaled: is_number
            && column.is_money
            && column.choice.unit.is_none()
            && matches!(usage, ColumnUse::Sum | ColumnUse::Last)
            && words::names_scale(&column.heading),
        kept_out,
    }
}

fn kind_of(column: &Column, stats: &Stats) -> (ColumnKind, u8) {
    match column.reading {
        Reading::Text | Reading::Open => (ColumnKind::Text, 0),
        Reading::Flag => (ColumnKind::Flag, 0),
        Reading::Day { .. }
            if stats.days.has_time || column.choice.kind == Some(ColumnKind::Moment) =>
        {
            (ColumnKind::Moment, 0)
        }
        Reading::Day { .. } => (ColumnKind::Day, 0),
        Reading::Number { .. } => {
            let numbers = &stats.numbers;
            let fits = numbers.largest <= u128::from(u64::MAX >> 1);
            match column.choice.kind {
                Some(ColumnKind::Decimal) => (ColumnKind::Decimal, numbers.scale),
                // A column of amounts keeps its decimals, even if all decimals are zero.
                _ if column.is_money && numbers.scale > 0 => (ColumnKind::Decimal, numbers.scale),
                // Counts are whole, even if each of them is written with decimals.
                _ if words::is_delivery(&column.heading) && !numbers.has_fraction && fits => {
                    (ColumnKind::Whole, 0)
                }
                _ if !numbers.is_whole() || !fits => (ColumnKind::Decimal, numbers.scale),
                _ => (ColumnKind::Whole, 0),
            }
        }
    }
}

fn use_of(plan: &Plan, at: usize, kind: ColumnKind, stats: &Stats) -> ColumnUse {
    let column = &plan.columns[at];
    if plan.time == Some(at) {
        return ColumnUse::Time;
    }
    if plan.currencies.contains(&at) {
        return ColumnUse::Currency;
    }
    match kind {
        ColumnKind::Whole | ColumnKind::Decimal if is_percent(stats) => ColumnUse::Ratio,
        _ => match use_by_heading(&column.heading, kind) {
            // The texts are no currencies.
            ColumnUse::Currency => ColumnUse::Dimension,
            usage => usage,
        },
    }
}

/// Whether most numbers are shares of a hundred.
fn is_percent(stats: &Stats) -> bool {
    stats.numbers.percents > 0 && stats.numbers.percents * 2 >= stats.numbers.count
}

fn use_by_heading(heading: &str, kind: ColumnKind) -> ColumnUse {
    match kind {
        ColumnKind::Whole | ColumnKind::Decimal => {
            words::use_of_numbers(heading).unwrap_or(ColumnUse::Sum)
        }
        ColumnKind::Text if words::is_account(heading) => ColumnUse::Account,
        ColumnKind::Text if words::is_id(heading) => ColumnUse::Id,
        ColumnKind::Text if words::is_currency(heading) => ColumnUse::Currency,
        _ => ColumnUse::Dimension,
    }
}

/// Returns the use and the unit that the heading and the kind of a column suggest, for readers of
/// formats that state the types of their columns.
pub fn find_use(
    heading: &str,
    kind: ColumnKind,
    samples: &[String],
) -> (ColumnUse, Option<String>) {
    let is_time = matches!(kind, ColumnKind::Day | ColumnKind::Moment) && words::is_time(heading);
    let is_code = |sample: &String| Currency::from_name(sample).is_some();
    let usage = match kind {
        _ if is_time => ColumnUse::Time,
        ColumnKind::Text if words::is_currency(heading) && samples.iter().all(is_code) => {
            ColumnUse::Currency
        }
        kind => use_by_heading(heading, kind),
    };
    let is_number = matches!(kind, ColumnKind::Whole | ColumnKind::Decimal);
    let currency = currency::find_in_heading(heading).filter(|_| is_number);
    (usage, currency.map(|currency| currency.code().to_owned()))
}

/// Returns the number of units in a second, if whole numbers between two values are moments since
/// 1970, and their heading names nothing else. For readers of formats that state types.
pub fn find_moments(heading: &str, least: i128, most: i128) -> Option<i64> {
    let is_open = words::use_of_numbers(heading).is_none() && !words::is_money(heading);
    let counting = Counting::of_range(least, most).filter(|_| is_open);
    counting.map(Counting::per_second)
}

/// Whether whole numbers between two values are years, and their heading names nothing else.
pub fn are_years(heading: &str, least: i128, most: i128) -> bool {
    let is_year = |number: i128| u128::try_from(number).is_ok_and(|number| YEARS.contains(&number));
    words::use_of_numbers(heading).is_none()
        && !words::is_money(heading)
        && is_year(least)
        && is_year(most)
}

/// Whether a heading names amounts of money.
pub fn is_money_heading(heading: &str) -> bool {
    words::is_money(heading)
}

/// Describes a column for a report.
pub(crate) fn describe(
    plan: &Plan,
    at: usize,
    stats: &Stats,
    decided: &Decided,
    mixed_column: Option<&str>,
) -> FoundColumn {
    let column = &plan.columns[at];
    let needs_column = decided.is_money && column.currency.is_none();
    let currency_column = match (column.currency_slot, mixed_column) {
        _ if !needs_column => None,
        (Some(slot), _) => Some(plan.columns[plan.currencies[slot]].name.clone()),
        (None, Some(name)) if decided.is_mixed => Some(name.to_owned()),
        _ => None,
    };
    let own_unit = column.choice.unit.clone().filter(|unit| !unit.trim().is_empty());
    let unit = own_unit.or_else(|| is_percent(stats).then(|| "percent".to_owned())).or_else(|| {
        let currency = decided.currency.filter(|_| decided.is_money && currency_column.is_none());
        currency.map(|currency| currency.code().to_owned())
    });
    FoundColumn {
        name: column.name.clone(),
        heading: column.heading.clone(),
        samples: stats.samples.clone(),
        kind: decided.kind,
        scale: if decided.kind == ColumnKind::Decimal { decided.scale } else { 0 },
        usage: decided.usage,
        unit,
        currency_column,
        constant: stats.constant().map(|cell| value::text(cell).to_owned()),
        empty: stats.empty,
        is_added: false,
    }
}
