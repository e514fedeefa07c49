//! The questions that a person must answer before rows of a file can be stored.

use contract::{
    Amount, Text,
    sources::{ColumnUse, FileTotal, ImportDecisions, ImportQuestion, NumberSign, QuestionChoice},
    text,
};

use super::{
    cells::{day::parse_day, number::parse_number, order::DayOrder},
    column::{Column, Reading, decimal_text},
    duplicates::Duplicates,
    plan::Plan,
    revise::{resolve_order, resolve_sign},
    scan::Findings,
    summed::Subtotal,
};

/// A file with rows that occur so often has no rows that are different by themselves.
const OFTEN: u64 = 4;

/// The most lines of other rows that a question lists.
const OTHERS: usize = 10;

fn choice(value: &str, label: Text) -> QuestionChoice {
    QuestionChoice { value: value.to_owned(), label }
}

/// Asks for the sign before decimals if numbers can mean two values.
pub(crate) fn ask_decimal(
    plan: &Plan,
    findings: &Findings,
    decisions: &ImportDecisions,
) -> Option<ImportQuestion> {
    let at = (0..plan.columns.len()).find(|at| {
        matches!(plan.columns[*at].reading, Reading::Number { .. })
            && findings.columns[*at].numbers.has_open()
            && resolve_sign(plan, *at, findings, decisions).is_none()
    })?;
    let (line, sample) = findings.columns[at].numbers.open.clone()?;
    let value = |sign: NumberSign| {
        parse_number(sample.as_bytes(), sign)
            .map_or_else(|_| String::new(), |number| decimal_text(number.mantissa, number.scale))
    };
    let label = |sign: NumberSign| match sign {
        NumberSign::Point => text!(
            "Decimals follow a point: {sample} is {value}",
            sample = sample.clone(),
            value = value(sign)
        ),
        NumberSign::Comma => text!(
            "Decimals follow a comma: {sample} is {value}",
            sample = sample.clone(),
            value = value(sign)
        ),
    };
    Some(ImportQuestion {
        id: "decimal".to_owned(),
        text: text!(
            "{sample} in {column} in line {line} can be two numbers: {one} or {other}. Which sign is before decimals?",
            sample = sample.clone(),
            column = plan.columns[at].name.clone(),
            line,
            one = value(NumberSign::Point),
            other = value(NumberSign::Comma),
        ),
        choices: vec![
            choice("point", label(NumberSign::Point)),
            choice("comma", label(NumberSign::Comma)),
        ],
        option: "--decimal point or --decimal comma".to_owned(),
    })
}

/// Asks for the order of day, month and year if days can mean several.
pub(crate) fn ask_date_order(
    plan: &Plan,
    findings: &Findings,
    decisions: &ImportDecisions,
) -> Option<ImportQuestion> {
    let at = (0..plan.columns.len()).find(|at| {
        matches!(plan.columns[*at].reading, Reading::Day { .. })
            && findings.columns[*at].days.open_count > 0
            && resolve_order(plan, *at, findings, decisions).is_none()
    })?;
    let days = &findings.columns[at].days;
    let (line, sample) = days.open.clone()?;
    let cell = parse_day(sample.as_bytes())?;
    let day = |order: DayOrder| cell.day(order).map_or_else(String::new, |day| day.to_string());
    let may = |order: &DayOrder| days.allows(*order) && cell.day(*order).is_some();
    let choices = DayOrder::ALL.into_iter().filter(may).map(|order| {
        let day = day(order);
        let label = match order {
            DayOrder::DayMonthYear => text!("The day: it is {day}", day),
            DayOrder::MonthDayYear => text!("The month: it is {day}", day),
            DayOrder::YearMonthDay => text!("The year: it is {day}", day),
        };
        choice(order.answer(), label)
    });
    let choices = choices.collect();
    let column = plan.columns[at].name.clone();
    let options = DayOrder::ALL.into_iter().filter(may);
    let options = options.map(|order| format!("--dates {}", order.answer().replace('_', "-")));
    let option = options.collect::<Vec<_>>().join(" or ");
    let text = if may(&DayOrder::YearMonthDay) {
        text!(
            "{sample} in {column} in line {line} can be {one}, or {other} if its year comes first. Which comes first, the day, the month or the year?",
            sample,
            column,
            line,
            one = day(DayOrder::DayMonthYear),
            other = day(DayOrder::YearMonthDay)
        )
    } else {
        text!(
            "{sample} in {column} in line {line} can be two days: {one} or {other}. Which comes first, the day or the month?",
            sample,
            column,
            line,
            one = day(DayOrder::DayMonthYear),
            other = day(DayOrder::MonthDayYear)
        )
    };
    Some(ImportQuestion { id: "date_order".to_owned(), text, choices, option })
}

/// Asks about rows that look like sums of others.
pub(crate) fn ask_total_rows(
    plan: &Plan,
    subtotals: &[Subtotal],
    decisions: &ImportDecisions,
) -> Option<ImportQuestion> {
    if decisions.answers.contains_key("total_rows") {
        return None;
    }
    let open: Vec<&Subtotal> =
        subtotals.iter().filter(|found| found.is_named != found.is_sum).collect();
    let first = open.first()?;
    let name =
        if first.name.is_empty() { "\"\"".to_owned() } else { format!("\"{}\"", first.name) };
    let (column, line, rows) =
        (plan.columns[first.column].name.clone(), first.first_line, first.rows);
    let text = if first.is_sum && rows == 1 {
        text!(
            "The row with {name} in {column} in line {line} is the sum of other rows. With it, amounts count twice.",
            name,
            column,
            line
        )
    } else if rows == 1 {
        text!(
            "The row with {name} in {column} in line {line} is named as a total, but is not the sum of the other rows.",
            name,
            column,
            line
        )
    } else if first.is_sum {
        text!(
            "The {rows} rows with {name} in {column}, first in line {line}, are the sums of other rows. With them, amounts count twice.",
            rows,
            name,
            column,
            line
        )
    } else {
        text!(
            "The {rows} rows with {name} in {column}, first in line {line}, are named as totals, but are not the sums of the other rows.",
            rows,
            name,
            column,
            line
        )
    };
    let (leave_out, keep) = if rows == 1 {
        (text!("It is a total: leave it out"), text!("It is a row like others: store it"))
    } else {
        (text!("They are totals: leave them out"), text!("They are rows like others: store them"))
    };
    let text = match name_others(plan, &open[1..]) {
        Some(others) => text.append(others),
        None => text,
    };
    Some(ImportQuestion {
        id: "total_rows".to_owned(),
        text,
        choices: vec![choice("leave_out", leave_out), choice("keep", keep)],
        option: "--answer total_rows=leave_out".to_owned(),
    })
}

/// Says which other rows have the same answer.
fn name_others(plan: &Plan, others: &[&Subtotal]) -> Option<Text> {
    match others {
        [] => None,
        [other] => Some(text!(
            "The answer is also that for \"{name}\" in {column}, first in line {line}.",
            name = other.name.clone(),
            column = plan.columns[other.column].name.clone(),
            line = other.first_line
        )),
        _ => {
            let lines = others.iter().take(OTHERS).map(|other| other.first_line.to_string());
            let mut lines: Vec<String> = lines.collect();
            if others.len() > OTHERS {
                lines.push("…".to_owned());
            }
            Some(text!(
                "The answer is also that for {count} other names, first in lines {lines}.",
                count = others.len(),
                lines = lines.join(", ")
            ))
        }
    }
}

/// Asks about rows that a sheet hides: whoever looks at the sheet sees other sums.
pub(crate) fn ask_hidden_rows(
    findings: &Findings,
    decisions: &ImportDecisions,
) -> Option<ImportQuestion> {
    let lines = &findings.hidden;
    if lines.count == 0 || decisions.answers.contains_key("hidden_rows") {
        return None;
    }
    Some(ImportQuestion {
        id: "hidden_rows".to_owned(),
        text: text!(
            "The sheet hides rows, by a filter or by hand: {count}, the first is row {line}: {sample}. Are they part of the data?",
            count = lines.count,
            line = lines.lines.first().copied().unwrap_or(0),
            sample = lines.sample.clone()
        ),
        choices: vec![
            choice("read", text!("Yes: store them, too")),
            choice("leave_out", text!("No: leave them out")),
        ],
        option: "--answer hidden_rows=read".to_owned(),
    })
}

/// Asks about lines that repeat earlier ones in their order.
pub(crate) fn ask_duplicates(
    found: &Duplicates,
    lines: &[(u64, String)],
    decisions: &ImportDecisions,
) -> Option<ImportQuestion> {
    if decisions.answers.contains_key("duplicate_rows") || !is_pasted_twice(found) {
        return None;
    }
    let (line, sample) = lines.first().cloned().unwrap_or_default();
    let text = if found.period.is_some() {
        text!(
            "The file repeats itself: the {rows} rows from line {line} on are equal to those before, in their order: {sample}. Was it put together twice?",
            rows = found.rows,
            line,
            sample
        )
    } else {
        text!(
            "{rows} lines are equal to earlier ones and follow each other as they do, first line {line}: {sample}. Was a file put together twice?",
            rows = found.rows,
            line,
            sample
        )
    };
    let leave_out = if found.period.is_some() {
        text!("Store the repeated rows once")
    } else {
        text!("Store equal lines once")
    };
    Some(ImportQuestion {
        id: "duplicate_rows".to_owned(),
        text,
        choices: vec![choice("leave_out", leave_out), choice("keep", text!("Store all lines"))],
        option: "--answer duplicate_rows=leave_out".to_owned(),
    })
}

/// Whether equal rows are those of a file that was pasted twice, and not rows that are often equal.
pub(crate) fn is_pasted_twice(found: &Duplicates) -> bool {
    found.period.is_some() || found.in_blocks > 1 && found.most < OFTEN
}

/// Asks about rows without a day in a table with days.
pub(crate) fn ask_blank_days(
    plan: &Plan,
    findings: &Findings,
    decisions: &ImportDecisions,
) -> Option<ImportQuestion> {
    let lines = &findings.without_day;
    if lines.count == 0 || decisions.answers.contains_key("blank_days") {
        return None;
    }
    let column = plan.columns[plan.time?].name.clone();
    let (line, sample) = (lines.lines.first().copied().unwrap_or(0), lines.sample.clone());
    let (text, store) = if lines.count == 1 {
        let text = text!(
            "The row in line {line} has no day in {column}: {sample}. Reports that group their rows leave the day out where it is the same.",
            line,
            column,
            sample
        );
        (text, text!("Store it without a day"))
    } else {
        let text = text!(
            "{count} rows have no day in {column}, first line {line}: {sample}. Reports that group their rows leave the day out where it is the same.",
            count = lines.count,
            column,
            line,
            sample
        );
        (text, text!("Store them without a day"))
    };
    Some(ImportQuestion {
        id: "blank_days".to_owned(),
        text,
        choices: vec![
            choice("repeat", text!("The day of the line above counts")),
            choice("store", store),
        ],
        option: "--answer blank_days=repeat".to_owned(),
    })
}

/// Asks about a first label that is empty in many rows below others.
pub(crate) fn ask_blank_labels(
    plan: &Plan,
    findings: &Findings,
    subtotals: &[Subtotal],
    decisions: &ImportDecisions,
) -> Option<ImportQuestion> {
    let label = *plan.labels.first()?;
    // Rows without a label can be sums of the others, which is another question.
    if subtotals.iter().any(|found| found.column == label && found.name.is_empty()) {
        return None;
    }
    let stats = &findings.columns[label];
    // Rows that are asked about as totals need no label.
    let is_asked = !decisions.answers.contains_key("total_rows");
    let asked = subtotals.iter().filter(|found| is_asked && !found.places.is_empty());
    let empty = stats.empty.saturating_sub(asked.map(|found| found.rows).sum());
    let is_grouped = !stats.starts_empty
        && stats.filled > 0
        && empty * 10 >= (stats.empty + stats.filled) * 3
        && is_before_numbers(plan, label);
    if !is_grouped || decisions.answers.contains_key("blank_labels") {
        return None;
    }
    let names = grouped_labels(plan, findings).into_iter().map(|at| plan.columns[at].name.as_str());
    Some(ImportQuestion {
        id: "blank_labels".to_owned(),
        text: text!(
            "{count} rows have no text in {column}. Reports that group their rows leave a text out where it is the same.",
            count = stats.empty,
            column = names.collect::<Vec<_>>().join(", ")
        ),
        choices: vec![
            choice("repeat", text!("The text of the line above counts")),
            choice("store", text!("Store them without a text")),
        ],
        option: "--answer blank_labels=repeat".to_owned(),
    })
}

/// Returns the labels that grouped rows leave out: the first one, and those behind it that are empty
/// only where the label before them is, too.
pub(crate) fn grouped_labels(plan: &Plan, findings: &Findings) -> Vec<usize> {
    let behind = plan.labels.iter().skip(1).zip(&findings.unnested);
    let grouped = behind.take_while(|(at, unnested)| {
        !**unnested && findings.columns[**at].empty > 0 && is_before_numbers(plan, **at)
    });
    plan.labels.iter().take(1).chain(grouped.map(|(at, _)| at)).copied().collect()
}

fn is_before_numbers(plan: &Plan, label: usize) -> bool {
    let is_number = |column: &Column| matches!(column.reading, Reading::Number { .. });
    !plan.columns[..label].iter().any(is_number)
}

/// Asks about a row that names nothing, like a total, but is not the sum of the rows.
pub(crate) fn ask_unnamed_rows(
    line: Option<u64>,
    decisions: &ImportDecisions,
) -> Option<ImportQuestion> {
    let line = line.filter(|_| !decisions.answers.contains_key("unnamed_rows"))?;
    Some(ImportQuestion {
        id: "unnamed_rows".to_owned(),
        text: text!(
            "Line {line} names nothing, like a total, but its numbers are not the sums of the rows.",
            line
        ),
        choices: vec![
            choice("leave_out", text!("It is a total: leave it out")),
            choice("keep", text!("It is a row like others: store it")),
        ],
        option: "--answer unnamed_rows=keep".to_owned(),
    })
}

/// Returns the number of decimals that a number needs.
fn decimals(number: &str) -> u8 {
    let (_, fraction) = number.split_once('.').unwrap_or_default();
    u8::try_from(fraction.trim_end_matches('0').len()).unwrap_or(u8::MAX)
}

/// Asks about a total that differs from the sum of the rows.
pub(crate) fn ask_file_total(
    total: Option<&FileTotal>,
    decisions: &ImportDecisions,
) -> Option<ImportQuestion> {
    let total = total.filter(|_| !decisions.answers.contains_key("file_total"))?;
    let check = total.columns.iter().find(|check| !check.agrees)?;
    let places = decimals(&check.stated).max(decimals(&check.computed));
    let text = text!(
        "The total in line {line} says {stated} for {column}, but the sum of the rows is {computed}.",
        line = total.line,
        stated = Amount::new(&check.stated, places, None),
        column = check.column.clone(),
        computed = Amount::new(&check.computed, places, None)
    );
    Some(ImportQuestion {
        id: "file_total".to_owned(),
        text: text
            .append(text!("Rows may be missing. Export again, or store the rows as they are.")),
        choices: vec![choice("store", text!("Store the rows as they are"))],
        option: "--answer file_total=store".to_owned(),
    })
}

/// Asks whether the first line is a row or has the headings.
pub(crate) fn ask_header(plan: &Plan, decisions: &ImportDecisions) -> Option<ImportQuestion> {
    if !plan.header.is_doubtful || decisions.header_line.is_some() {
        return None;
    }
    Some(ImportQuestion {
        id: "header_line".to_owned(),
        text: text!(
            "No line with headings was found. Line {line} looks like a row: {sample}. Which line has the headings?",
            line = plan.header.line,
            sample = plan.header.headings.join(" | ").chars().take(80).collect::<String>()
        ),
        choices: Vec::new(),
        option: "--header-line N".to_owned(),
    })
}

/// Asks which of two contradicting statements about the account counts.
pub(crate) fn ask_account(
    stated: Option<&str>,
    decisions: &ImportDecisions,
) -> Option<ImportQuestion> {
    let (stated, decided) = (stated?, decisions.account.as_deref()?);
    if stated.trim().eq_ignore_ascii_case(decided.trim())
        || decisions.answers.contains_key("account")
    {
        return None;
    }
    Some(ImportQuestion {
        id: "account".to_owned(),
        text: text!(
            "The file says that its account is {stated}, not {decided}. Whose data is it?",
            stated = stated.to_owned(),
            decided = decided.to_owned()
        ),
        choices: vec![
            choice(stated, text!("It is that of {account}", account = stated.to_owned())),
            choice(decided, text!("It is that of {account}", account = decided.to_owned())),
        ],
        option: "--account NAME".to_owned(),
    })
}

/// The use of a column for the comparison with totals.
pub(crate) fn adds_up(usage: ColumnUse) -> bool {
    usage == ColumnUse::Sum
}
