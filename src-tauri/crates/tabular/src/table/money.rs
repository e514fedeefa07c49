//! The questions about statements of currencies that contradict each other: in titles, headings,
//! columns and cells. Must not know how cells are read.

use contract::{
    Text,
    sources::{ImportDecisions, ImportQuestion, QuestionChoice},
    text,
};

use super::{
    cells::currency::Currency, plan::Plan, scan::Findings, stated::Stated, titles::Titles,
    uses::Decided,
};

/// The answer by which signs in cells count, and nothing else.
const CELLS: &str = "cells";
/// The answer by which the heading of a column counts, and not the currency column.
const HEADING: &str = "heading";

/// Where a currency was found, for the sentence of a question.
struct Found {
    currency: Currency,
    place: Text,
    /// Whether cells show it beside their amounts.
    is_in_cells: bool,
}

/// Returns the currencies of all amounts, with the places that state them.
fn find_all(plan: &Plan, findings: &Findings, decided: &[Decided]) -> Vec<Found> {
    let mut all = Vec::new();
    for (at, column) in plan.columns.iter().enumerate().filter(|(at, _)| decided[*at].is_money) {
        let name = || column.name.clone();
        if let Some(currency) = column.currency {
            let place = text!("the heading {column}", column = name());
            all.push(Found { currency, place, is_in_cells: false });
        } else if let Some(slot) = column.currency_slot {
            let heading = plan.columns[plan.currencies[slot]].name.clone();
            all.extend(findings.currencies[slot].iter().map(|(currency, _)| Found {
                currency: *currency,
                place: text!("the column {column}", column = heading.clone()),
                is_in_cells: false,
            }));
        }
        all.extend(findings.columns[at].numbers.currencies.iter().map(|seen| Found {
            currency: seen.currency,
            place: text!("{column} in line {line}", column = name(), line = seen.line),
            is_in_cells: true,
        }));
    }
    all
}

/// Returns the questions about currencies that contradict each other.
pub(crate) fn ask(
    plan: &Plan,
    findings: &Findings,
    decided: &[Decided],
    titles: &Titles,
    decisions: &ImportDecisions,
) -> Vec<ImportQuestion> {
    let found = find_all(plan, findings, decided);
    [
        ask_stated(&found, titles, decisions),
        ask_sign(findings, decisions),
        ask_heading(plan, findings, decided, decisions),
        ask_shared(plan, findings, &found, titles, decisions),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn choice(value: &str, label: Text) -> QuestionChoice {
    QuestionChoice { value: value.to_owned(), label }
}

fn are_in(currency: Currency) -> QuestionChoice {
    let code = currency.code();
    choice(code, text!("They are in {found}", found = code.to_owned()))
}

/// Asks if the currency that a person or a title states is not that of the amounts.
fn ask_stated(
    found: &[Found],
    titles: &Titles,
    decisions: &ImportDecisions,
) -> Option<ImportQuestion> {
    if decisions.answers.contains_key("currency") {
        return None;
    }
    let question = |text: Text, choices: Vec<QuestionChoice>| ImportQuestion {
        id: "currency".to_owned(),
        text,
        choices,
        option: "--answer currency=CODE".to_owned(),
    };
    if let Some(decided) = decisions.currency.as_deref().and_then(Currency::from_name) {
        let titled = titles.currencies.iter().map(|(currency, _)| *currency);
        let mut all = found.iter().map(|found| found.currency).chain(titled);
        let other = all.find(|other| !other.agrees_with(decided))?;
        let text = text!(
            "The file says that its amounts are in {found}, not in {decided}.",
            found = other.code().to_owned(),
            decided = decided.code().to_owned()
        );
        return Some(question(text, vec![are_in(other), are_in(decided)]));
    }
    let (stated, line) = *titles.currencies.first()?;
    let second = titles.currencies.iter().find(|(other, _)| !other.agrees_with(stated));
    let (other, place) = match second {
        Some((other, line)) => (*other, text!("line {line}", line = *line)),
        None => {
            let other = found.iter().find(|other| !other.currency.agrees_with(stated))?;
            (other.currency, other.place.clone())
        }
    };
    let text = text!(
        "Line {line} says that amounts are in {stated}, but {place} says {found}. Which currency is right?",
        line,
        stated = stated.code().to_owned(),
        place,
        found = other.code().to_owned()
    );
    Some(question(text, vec![are_in(stated), are_in(other)]))
}

/// Asks about amounts with the sign of another currency than a heading or a column states.
fn ask_sign(findings: &Findings, decisions: &ImportDecisions) -> Option<ImportQuestion> {
    let lines = &findings.sign_conflicts;
    if lines.count == 0 || decisions.answers.contains_key("currency_sign") {
        return None;
    }
    Some(ImportQuestion {
        id: "currency_sign".to_owned(),
        text: text!(
            "{sample} in line {line} has the sign of another currency than its heading or the currency column.",
            sample = lines.sample.clone(),
            line = lines.lines.first().copied().unwrap_or(0)
        )
        .append(text!("Correct the file, or let the signs count.")),
        choices: vec![choice(CELLS, text!("The signs in the cells count"))],
        option: "--answer currency_sign=cells".to_owned(),
    })
}

/// Asks if a heading has another currency than the currency column, and the currency column belongs
/// to no other amounts. Beside other amounts, such a column has converted ones.
fn ask_heading(
    plan: &Plan,
    findings: &Findings,
    decided: &[Decided],
    decisions: &ImportDecisions,
) -> Option<ImportQuestion> {
    let is_used = |at: &usize| plan.columns[*at].currency_slot.is_some() && decided[*at].is_money;
    if decisions.answers.contains_key("currency_heading")
        || plan.is_currency_decided
        || plan.currencies.len() != 1
        || (0..plan.columns.len()).any(|at| is_used(&at))
    {
        return None;
    }
    let column = plan.columns.iter().zip(decided).find_map(|(column, decided)| {
        let is_own = decided.is_money && column.choice.unit.is_none();
        Some((column, column.currency.filter(|_| is_own)?))
    });
    let (column, stated) = column?;
    let seen = findings.currencies.first()?;
    let (other, _) = seen.iter().find(|(other, _)| !other.agrees_with(stated))?;
    Some(ImportQuestion {
        id: "currency_heading".to_owned(),
        text: text!(
            "The heading {column} says {stated}, but the column {currency} says {found}. Which currency is right?",
            column = column.name.clone(),
            stated = stated.code().to_owned(),
            currency = plan.columns[plan.currencies[0]].name.clone(),
            found = other.code().to_owned()
        ),
        choices: vec![
            choice(HEADING, text!("The heading is right")),
            choice("column", text!("The column is right")),
        ],
        option: "--answer currency_heading=heading".to_owned(),
    })
}

/// Asks what a sign such as `$` means beside `CA$` or `US$`.
fn ask_shared(
    plan: &Plan,
    findings: &Findings,
    found: &[Found],
    titles: &Titles,
    decisions: &ImportDecisions,
) -> Option<ImportQuestion> {
    let stated = Stated::find(titles, decisions);
    let is_open = |currency: Currency| currency.is_shared() && stated.of_sign(currency).is_none();
    // A sign whose heading or currency column says more is known.
    let of_cells = plan.columns.iter().zip(&findings.columns).filter(|(column, _)| {
        column.currency.is_none_or(is_open) && (column.uses_signs || column.currency_slot.is_none())
    });
    let of_cells = of_cells.flat_map(|(column, stats)| {
        let seen = stats.numbers.currencies.iter();
        seen.map(move |seen| (seen.currency, column.name.clone()))
    });
    let of_columns = plan.currencies.iter().zip(&findings.currencies).flat_map(|(at, seen)| {
        let name = plan.columns[*at].name.clone();
        seen.iter().map(move |(currency, _)| (*currency, name.clone()))
    });
    let open = of_cells.chain(of_columns).filter(|(currency, _)| is_open(*currency));
    let known = |sign: Currency| {
        // A heading with the usual currency of the sign contradicts nothing.
        let is_other = |other: &&Found| {
            let differs = other.is_in_cells || other.currency != sign.usual();
            differs && sign != other.currency && sign.can_stand_for(other.currency)
        };
        let mut known: Vec<Currency> =
            found.iter().filter(is_other).map(|other| other.currency).collect();
        known.sort_unstable();
        known.dedup();
        known
    };
    let (sign, column, known) = open
        .map(|(sign, column)| (sign, column, known(sign)))
        .find(|(.., known)| !known.is_empty())?;
    let mut choices: Vec<Currency> = vec![sign.usual()];
    choices.extend(known.iter().filter(|other| **other != sign.usual()));
    let names: Vec<&str> = known.iter().map(|other| other.code()).collect();
    Some(ImportQuestion {
        id: "shared_sign".to_owned(),
        text: text!(
            "The sign {sign} in {column} can stand for several currencies, and other amounts are in {names}. Which currency is it?",
            sign = sign.sign().to_owned(),
            column,
            names = names.join(", ")
        ),
        choices: choices
            .into_iter()
            .filter(|currency| !currency.is_shared())
            .map(|currency| {
                choice(currency.code(), text!("It is {found}", found = currency.code().to_owned()))
            })
            .collect(),
        option: "--answer shared_sign=CODE".to_owned(),
    })
}
