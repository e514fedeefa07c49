//! Makes the report about a file.

use contract::sources::{
    ColumnKind, ColumnSum, ColumnUse, DayRange, DaySpan, FileFormat, FoundColumn, ImportDecisions,
    ImportQuestion, LeftOut, RejectedRows, TableReport,
};

use super::{
    added::Added,
    cells::{currency::Currency, value},
    column::{DaySet, Reading, Sum},
    duplicates::Duplicates,
    money,
    notes::Seen,
    periods,
    plan::Plan,
    questions,
    rows::Rule,
    scan::Findings,
    source::Source,
    stated::Stated,
    summed::Subtotal,
    titles::Titles,
    totals,
    uses::{self, Decided},
    words,
};

/// The maximum number of ranges without a row in a report.
const GAPS: usize = 50;

/// The data from which a report is made.
pub(crate) struct Parts<'a> {
    pub(crate) source: &'a Source,
    pub(crate) plan: &'a Plan,
    pub(crate) findings: &'a Findings,
    pub(crate) decided: &'a [Decided],
    pub(crate) titles: &'a Titles,
    pub(crate) duplicates: &'a Duplicates,
    pub(crate) duplicate_lines: &'a [(u64, String)],
    pub(crate) subtotals: &'a [Subtotal],
    pub(crate) decisions: &'a ImportDecisions,
    pub(crate) stated: Stated,
}

/// Makes the report, and the columns that are added to the columns of the file.
pub(crate) fn make(parts: &Parts<'_>, mut open: Vec<ImportQuestion>) -> (TableReport, Vec<Added>) {
    let Parts { plan, findings, decided, titles, decisions, .. } = parts;
    let (added, mut extra) = added_columns(parts);
    let mixed = |at: usize| {
        let place = added.iter().position(|added| added.is_currency_of(at))?;
        Some(extra[place].name.as_str())
    };
    let mut columns: Vec<FoundColumn> = (0..plan.columns.len())
        .map(|at| uses::describe(plan, at, &findings.columns[at], &decided[at], mixed(at)))
        .collect();
    for (slot, at) in plan.currencies.iter().enumerate() {
        if let [(only, _)] = findings.currencies[slot].as_slice()
            && columns[*at].constant.is_some()
        {
            columns[*at].constant = Some(parts.stated.meant(*only).code().to_owned());
        }
    }
    let adds_up: Vec<bool> = decided.iter().map(|one| questions::adds_up(one.usage)).collect();
    let unnamed = decisions.answers.get("unnamed_rows").map(String::as_str);
    let compared = totals::compare(plan, findings, &adds_up, unnamed == Some("leave_out"));
    let rejected = rejected(parts);
    let asks_total = open.iter().any(|question| question.id == "total_rows");
    if findings.rejected_count() == 0 && !asks_total {
        let unnamed = questions::ask_unnamed_rows(compared.doubtful_line, decisions);
        let total = || questions::ask_file_total(compared.best.as_ref(), decisions);
        open.extend(unnamed.or_else(total));
    }
    let account = stated_account(parts);
    open.extend(questions::ask_account(account.as_deref(), decisions));
    open.extend(money::ask(plan, findings, decided, titles, decisions));
    columns.append(&mut extra);
    let report = TableReport {
        format: format_of(parts.source),
        compression: parts.source.content().compression().map(str::to_owned),
        encoding: encoding_of(parts.source),
        separator: separator_of(parts.source),
        decimal: super::revise::file_sign(plan, findings).or(decisions.decimal),
        date_order: order_of(plan, findings),
        sheets: sheets_of(parts.source),
        header_line: plan.header.line,
        columns,
        records: findings.records,
        stored: findings.stored,
        left_out: left_out(parts),
        rejected,
        file_total: compared.best,
        stated_range: titles
            .range
            .or_else(|| range_of_span(plan, findings))
            .or_else(|| periods::range(plan, findings, decisions)),
        stated_account: titles.account.clone(),
        days: plan.time.and_then(|time| span_of(&findings.columns[time].days.set)),
        row_covers: periods::covers(plan, findings, decisions),
        gaps: plan.time.map_or_else(Vec::new, |time| gaps_of(&findings.columns[time].days.set)),
        sums: sums(parts),
        questions: open,
        notes: seen(parts).notes(),
        ..TableReport::default()
    };
    (report, added)
}

fn seen<'a>(parts: &'a Parts<'_>) -> Seen<'a> {
    Seen {
        source: parts.source,
        plan: parts.plan,
        findings: parts.findings,
        decided: parts.decided,
        duplicates: parts.duplicates,
        duplicate_lines: parts.duplicate_lines,
        subtotals: parts.subtotals,
        decisions: parts.decisions,
        stated: parts.stated,
        titles: parts.titles,
    }
}

/// Returns the columns that the file does not have: the currencies of mixed amounts, and the account.
fn added_columns(parts: &Parts<'_>) -> (Vec<Added>, Vec<FoundColumn>) {
    let Parts { plan, findings, decided, decisions, titles, .. } = parts;
    let mut names: Vec<String> = plan.columns.iter().map(|column| column.name.clone()).collect();
    let mut unique = |wanted: &str| {
        names.push(wanted.to_owned());
        let made = super::header::make_names(&names);
        names = made;
        names.last().cloned().unwrap_or_default()
    };
    let (mut added, mut columns) = (Vec::new(), Vec::new());
    let mixed: Vec<usize> = (0..decided.len()).filter(|at| decided[*at].is_mixed).collect();
    let groups: Vec<Vec<usize>> = if findings.signs_differ {
        mixed.iter().map(|at| vec![*at]).collect()
    } else if mixed.is_empty() {
        Vec::new()
    } else {
        vec![mixed]
    };
    let is_one = groups.len() == 1;
    for group in groups {
        let base = if is_one {
            "Currency".to_owned()
        } else {
            format!("{} currency", plan.columns[group[0]].name)
        };
        let seen = findings.columns[group[0]].numbers.currencies.iter();
        let mut samples: Vec<String> =
            seen.map(|seen| parts.stated.meant(seen.currency).code().to_owned()).collect();
        samples.sort_unstable();
        samples.dedup();
        samples.truncate(5);
        columns.push(FoundColumn {
            name: unique(&base),
            samples,
            kind: ColumnKind::Text,
            usage: ColumnUse::Currency,
            is_added: true,
            ..FoundColumn::default()
        });
        added.push(Added::Currency(group));
    }
    let has_account = decided.iter().any(|one| one.usage == ColumnUse::Account);
    let answer = decisions.answers.get("account").filter(|answer| !answer.trim().is_empty());
    let account = answer.or(decisions.account.as_ref()).or(titles.account.as_ref());
    if let Some(account) = account.filter(|_| !has_account) {
        columns.push(FoundColumn {
            name: unique(decisions.account_column.as_deref().unwrap_or("Account")),
            samples: vec![account.clone()],
            kind: ColumnKind::Text,
            usage: ColumnUse::Account,
            constant: Some(account.clone()),
            is_added: true,
            ..FoundColumn::default()
        });
        added.push(Added::Text(account.clone()));
    }
    (added, columns)
}

/// Returns the account that the file states, in a title or in all cells of a column.
fn stated_account(parts: &Parts<'_>) -> Option<String> {
    let column = parts.decided.iter().position(|one| one.usage == ColumnUse::Account);
    let of_column = column.and_then(|at| {
        let cell = parts.findings.columns[at].constant()?;
        Some(value::text(cell).to_owned())
    });
    of_column.or_else(|| parts.titles.account.clone())
}

fn format_of(source: &Source) -> FileFormat {
    match source {
        Source::Text { .. } => FileFormat::Text,
        Source::Sheets { .. } => FileFormat::Workbook,
    }
}

fn encoding_of(source: &Source) -> Option<String> {
    match source {
        Source::Text { encoding, .. } => Some(encoding.name().to_lowercase()),
        Source::Sheets { .. } => None,
    }
}

fn separator_of(source: &Source) -> Option<String> {
    match source {
        Source::Text { signs, .. } => Some(char::from(signs.separator).to_string()),
        Source::Sheets { .. } => None,
    }
}

fn sheets_of(source: &Source) -> Vec<contract::sources::SheetFound> {
    match source {
        Source::Text { .. } => Vec::new(),
        Source::Sheets { found, .. } => found.clone(),
    }
}

fn order_of(plan: &Plan, findings: &Findings) -> Option<contract::sources::DateOrder> {
    plan.columns.iter().enumerate().find_map(|(at, column)| {
        let days = &findings.columns[at].days;
        match column.reading {
            Reading::Day { order } if days.open_count > 0 || days.shown_order().is_some() => {
                Some(order.into())
            }
            _ => None,
        }
    })
}

fn left_out(parts: &Parts<'_>) -> Vec<LeftOut> {
    let mut list: Vec<LeftOut> = Vec::new();
    if !parts.titles.lines.is_empty() {
        list.push(LeftOut {
            rule: Rule::Title.name().to_owned(),
            reason: Rule::Title.reason(),
            lines: parts.titles.lines.clone(),
            count: parts.titles.count,
            sample: parts.titles.sample.clone(),
        });
    }
    for (rule, sheet, lines) in &parts.findings.left_out {
        list.push(LeftOut {
            rule: rule.name().to_owned(),
            reason: with_sheet(parts.source, *sheet, rule.reason()),
            lines: lines.lines.clone(),
            count: lines.count,
            sample: lines.sample.clone(),
        });
    }
    list
}

fn rejected(parts: &Parts<'_>) -> Vec<RejectedRows> {
    let mut list: Vec<RejectedRows> = Vec::new();
    for (cause, sheet, lines) in &parts.findings.rejected {
        let column =
            cause.column().map_or_else(String::new, |at| parts.plan.columns[at].name.clone());
        list.push(RejectedRows {
            cause: cause.name().to_owned(),
            reason: with_sheet(parts.source, *sheet, cause.reason(parts.plan, lines)),
            column,
            lines: lines.lines.clone(),
            count: lines.count,
            sample: lines.sample.clone(),
        });
    }
    list.sort_by_key(|rejected| std::cmp::Reverse(rejected.count));
    list
}

/// Adds the name of the sheet to a reason if several sheets are read.
fn with_sheet(source: &Source, sheet: usize, reason: contract::Text) -> contract::Text {
    let Source::Sheets { found, .. } = source else { return reason };
    let read: Vec<_> = found.iter().filter(|found| found.is_read).collect();
    match read.get(sheet) {
        Some(found) if read.len() > 1 => {
            reason.append(contract::text!("The sheet is {name}.", name = found.name.clone()))
        }
        _ => reason,
    }
}

fn span_of(set: &DaySet) -> Option<DaySpan> {
    let (first, last) = (set.days().next()?, set.days().last()?);
    Some(DaySpan { first, last, days: set.count() })
}

/// Returns the ranges of days without a row, between the first and the last day.
fn gaps_of(set: &DaySet) -> Vec<DayRange> {
    let mut gaps = Vec::new();
    let mut before = None;
    for day in set.days() {
        if let Some(before) = before
            && let (Some(first), Some(last)) = (day_after(before), day.pred_opt())
            && first <= last
        {
            gaps.push(DayRange { first, last });
            if gaps.len() == GAPS {
                break;
            }
        }
        before = Some(day);
    }
    gaps
}

fn day_after(day: chrono::NaiveDate) -> Option<chrono::NaiveDate> {
    day.succ_opt()
}

/// Returns the range that columns such as "Reporting starts" and "Reporting ends" state in each row
/// of a file with days.
fn range_of_span(plan: &Plan, findings: &Findings) -> Option<DayRange> {
    let (first, last) = plan.span?;
    if plan.time == Some(first)
        || plan.time == Some(last)
        || !words::is_start(&plan.columns[first].heading)
    {
        return None;
    }
    let one = |at: usize| {
        let set = &findings.columns[at].days.set;
        if set.count() == 1 && findings.columns[at].empty == 0 { set.days().next() } else { None }
    };
    Some(DayRange { first: one(first)?, last: one(last)? })
}

/// Returns the exact sums of the columns that add up, by currency.
fn sums(parts: &Parts<'_>) -> Vec<ColumnSum> {
    let mut list = Vec::new();
    for (at, decided) in parts.decided.iter().enumerate() {
        if decided.usage != ColumnUse::Sum
            || !matches!(decided.kind, ColumnKind::Whole | ColumnKind::Decimal)
        {
            continue;
        }
        let scale = if decided.kind == ColumnKind::Decimal { decided.scale } else { 0 };
        let sums = by_currency(parts, at);
        if sums.is_empty() {
            list.push(ColumnSum {
                column: parts.plan.columns[at].name.clone(),
                currency: None,
                sum: Sum::default().to_text(scale),
            });
        }
        for (currency, sum) in sums {
            list.push(ColumnSum {
                column: parts.plan.columns[at].name.clone(),
                currency: currency.map(|currency| currency.code().to_owned()),
                sum: whole_text(&sum, scale, decided.kind),
            });
        }
    }
    list
}

/// Returns the sum as text. A column of whole numbers can have decimals that are zero, which are
/// removed.
fn whole_text(sum: &Sum, scale: u8, kind: ColumnKind) -> String {
    let text = sum.to_text(scale);
    match (kind, text.split_once('.')) {
        (ColumnKind::Whole, Some((whole, _))) => whole.to_owned(),
        _ => text,
    }
}

/// Returns the sums of a column by the currency that its amounts have.
fn by_currency(parts: &Parts<'_>, at: usize) -> Vec<(Option<Currency>, Sum)> {
    let decided = &parts.decided[at];
    let mut sums: Vec<(Option<Currency>, Sum)> = Vec::new();
    let has_column = parts.plan.columns[at].currency_slot.is_some();
    // Amounts without a currency belong to the only one that the others have.
    let seen = &parts.findings.columns[at].numbers.sums;
    let mut known = seen.iter().filter_map(|(currency, _)| *currency);
    let only = known.next().filter(|_| known.next().is_none() && has_column);
    for (currency, sum) in seen {
        let currency = currency.or(only);
        let currency = if !decided.is_money {
            None
        } else if decided.currency.is_some() && !has_column && !decided.is_mixed {
            decided.currency
        } else {
            currency.map(|currency| parts.stated.meant(currency))
        };
        match sums.iter_mut().find(|(known, _)| *known == currency) {
            Some((_, all)) => all.add(sum.value, sum.scale),
            None => sums.push((currency, *sum)),
        }
    }
    // Zeros without a currency do not get a separate sum.
    if sums.len() > 1 {
        sums.retain(|(currency, sum)| currency.is_some() || sum.value != 0);
    }
    sums
}

/// Returns the largest absolute value of a column, as an integer at the column's scale.
pub(crate) fn greatest(findings: &Findings, decided: &[Decided], at: usize) -> u128 {
    let numbers = &findings.columns[at].numbers;
    // The number with the largest mantissa may have fewer decimals than the column.
    let least = numbers.scales.trailing_zeros();
    let places = u32::from(decided[at].scale).saturating_sub(least);
    numbers.largest.saturating_mul(10_u128.checked_pow(places).unwrap_or(u128::MAX))
}
