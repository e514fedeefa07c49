//! Decisions about a file that a person took for an earlier one: which of them are repeated, told and
//! remembered. Pure: it reads and stores nothing.

use contract::{
    AgentError, Reason, Text,
    sources::{DateOrder, ImportDecisions, ImportMode, NumberSign},
    text,
};

/// Which values of all rows are those of earlier files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SameData {
    pub(super) account: bool,
    pub(super) currency: bool,
}

/// Returns the person's decisions, completed by those that were taken for the source before. The
/// account and currency of all rows are only repeated as `same_data` says: another client's file
/// looks the same. A rule that finds the account of each file in its path takes the place of an
/// account. The line with the headings, the decimal sign, and the order of dates are repeated
/// only where the file leaves them open, which the caller finds out.
pub(super) fn repeat_decisions(
    given: &ImportDecisions,
    before: &ImportDecisions,
    same_data: SameData,
) -> ImportDecisions {
    let mut decisions = given.clone();
    if decisions.sheets.is_empty() {
        decisions.sheets.clone_from(&before.sheets);
    }
    decisions.zone = decisions.zone.or_else(|| before.zone.clone());
    decisions.mode = decisions.mode.or(before.mode);
    if decisions.account.is_none() {
        let rule = &before.account_from_path;
        decisions.account_from_path = decisions.account_from_path.or_else(|| rule.clone());
    }
    if same_data.account && decisions.account_from_path.is_none() {
        decisions.account = decisions.account.or_else(|| before.account.clone());
    }
    if same_data.currency {
        decisions.currency = decisions.currency.or_else(|| before.currency.clone());
    }
    for (column, choice) in &before.columns {
        decisions.columns.entry(column.clone()).or_insert_with(|| choice.clone());
    }
    decisions
}

/// Turns answers that say how a file is read into the decisions of the options for it, so that they
/// are shown and remembered like these. A sheet is not: the next file may have other sheets.
pub(super) fn apply_answers(decisions: &mut ImportDecisions) {
    let answers = &decisions.answers;
    let answer = |id: &str| answers.get(id).map(|answer| answer.trim());
    let date_order = match answer("date_order") {
        Some("day_first") => Some(DateOrder::DayFirst),
        Some("month_first") => Some(DateOrder::MonthFirst),
        Some("year_first") => Some(DateOrder::YearFirst),
        _ => None,
    };
    let decimal = match answer("decimal") {
        Some("point") => Some(NumberSign::Point),
        Some("comma") => Some(NumberSign::Comma),
        _ => None,
    };
    let header_line = answer("header_line").and_then(|line| line.parse().ok());
    let header_line = header_line.filter(|line: &u64| *line > 0);
    decisions.date_order = decisions.date_order.or(date_order);
    decisions.decimal = decisions.decimal.or(decimal);
    decisions.header_line = decisions.header_line.or(header_line);
}

/// Returns the decisions that are remembered for the next file of the source.
pub(super) fn remembered(decisions: &ImportDecisions) -> ImportDecisions {
    let mut kept = decisions.clone();
    kept.answers.clear();
    kept.skip_rejected = false;
    kept.encoding = None;
    kept
}

/// Returns the decisions that are remembered after a file. Those that the file did not need are
/// still those for the next one.
pub(super) fn remembered_after(
    decisions: &ImportDecisions,
    before: &ImportDecisions,
) -> ImportDecisions {
    let mut kept = remembered(decisions);
    kept.header_line = kept.header_line.or(before.header_line);
    kept.decimal = kept.decimal.or(before.decimal);
    kept.date_order = kept.date_order.or(before.date_order);
    let rule = &before.account_from_path;
    kept.account_from_path = kept.account_from_path.or_else(|| rule.clone());
    if kept.account_from_path.is_some() {
        // The account is that of this file.
        kept.account = None;
    }
    for (column, choice) in &before.columns {
        kept.columns.entry(column.clone()).or_insert_with(|| choice.clone());
    }
    kept
}

/// Drops a remembered decision because of which a file cannot be read: a choice for a column, or the
/// sheets, that the file does not have. Returns what was dropped. None if a person decided it for
/// this file, or if the error has another cause.
pub(super) fn drop_unfitting(
    decisions: &mut ImportDecisions,
    given: &ImportDecisions,
    error: &AgentError,
) -> Option<String> {
    match error.known_reason()? {
        Reason::NoColumn => {
            let column = error.details.get("column")?.as_str()?;
            let is_given = given.columns.contains_key(column);
            (!is_given).then(|| decisions.columns.remove(column).map(|_| column.to_owned()))?
        }
        Reason::NoTable if given.sheets.is_empty() && !decisions.sheets.is_empty() => {
            Some(std::mem::take(&mut decisions.sheets).join(", "))
        }
        _ => None,
    }
}

/// Returns what was read as a person had decided before, for display. `unused` are the decisions that
/// do not fit the file.
pub(super) fn repeated_notes(
    given: &ImportDecisions,
    used: &ImportDecisions,
    unused: &[String],
) -> Vec<Text> {
    let mut notes = Vec::new();
    if !unused.is_empty() {
        notes.push(text!(
            "Decided for earlier files, but not in this one, so not used: {names}.",
            names = unused.join(", ")
        ));
    }
    if given.mode.is_none() {
        match used.mode {
            Some(ImportMode::Add) => {
                notes.push("Rows are added to the stored ones, as for earlier files.".into());
            }
            Some(ImportMode::Key) => {
                notes
                    .push("Only rows with the same key are replaced, as for earlier files.".into());
            }
            Some(ImportMode::Replace) | None => {}
        }
    }
    if let (None, Some(line)) = (given.header_line, used.header_line) {
        notes.push(text!("The headings are in line {line}, as in earlier files.", line));
    }
    if given.decimal.is_none() && used.decimal.is_some() {
        notes.push("Decimals have the sign that was decided for an earlier file.".into());
    }
    if given.date_order.is_none() && used.date_order.is_some() {
        notes.push("Dates are read in the order that was decided for an earlier file.".into());
    }
    if let (None, None, Some(account)) = (&given.account, &used.account_from_path, &used.account) {
        notes.push(text!("Account as for earlier files: {account}.", account));
    }
    if let (None, Some(currency)) = (&given.currency, &used.currency) {
        notes.push(text!("Currency as for earlier files: {currency}.", currency));
    }
    let added: Vec<&str> = used
        .columns
        .keys()
        .filter(|column| !given.columns.contains_key(*column))
        .map(String::as_str)
        .collect();
    if !added.is_empty() {
        notes.push(text!(
            "Columns read as for earlier files: {columns}.",
            columns = added.join(", ")
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use contract::sources::{ColumnChoice, ColumnUse};

    use super::*;

    #[test]
    fn a_remembered_account_is_not_repeated_for_what_may_be_other_data() {
        let before = ImportDecisions {
            account: Some("Client One".into()),
            currency: Some("EUR".into()),
            date_order: Some(DateOrder::DayFirst),
            ..ImportDecisions::default()
        };
        let none = ImportDecisions::default();
        let other = SameData { account: false, currency: false };
        let repeated = repeat_decisions(&none, &before, other);
        assert_eq!((repeated.account, repeated.currency, repeated.date_order), (None, None, None));
        let same = SameData { account: true, currency: true };
        let repeated = repeat_decisions(&none, &before, same);
        assert_eq!(repeated.account.as_deref(), Some("Client One"));
    }

    #[test]
    fn a_rule_for_the_account_takes_the_place_of_an_account() {
        let of = |account: Option<&str>, pattern: Option<&str>| ImportDecisions {
            account: account.map(str::to_owned),
            account_from_path: pattern.map(str::to_owned),
            ..ImportDecisions::default()
        };
        let same = SameData { account: true, currency: true };
        let (rule, account) = (of(None, Some("{account}/*")), of(Some("Acme"), None));
        assert_eq!(repeat_decisions(&ImportDecisions::default(), &rule, same), rule);
        assert_eq!(repeat_decisions(&rule, &account, same), rule);
        assert_eq!(repeat_decisions(&account, &rule, same), account, "a person names it");
        assert_eq!(remembered_after(&account, &rule), rule, "it is that of one file");
    }

    #[test]
    fn a_remembered_decision_that_does_not_fit_a_file_is_dropped_and_told() {
        let choice = ColumnChoice { usage: Some(ColumnUse::Ratio), ..ColumnChoice::default() };
        let columns = ["Price", "Cost"].map(|name| (name.to_owned(), choice.clone()));
        let before = ImportDecisions {
            sheets: vec!["November".to_owned()],
            columns: columns.into(),
            ..ImportDecisions::default()
        };
        let none = ImportDecisions::default();
        let lacks = |column: &str| {
            AgentError::invalid("No.").reason(Reason::NoColumn).with("column", column)
        };
        let mut used = before.clone();
        assert_eq!(drop_unfitting(&mut used, &before, &lacks("Price")), None, "it was given");
        assert_eq!(drop_unfitting(&mut used, &none, &lacks("Price")).as_deref(), Some("Price"));
        assert_eq!(drop_unfitting(&mut used, &none, &lacks("Price")), None, "once");
        let no_sheet = AgentError::invalid("No.").reason(Reason::NoTable);
        assert_eq!(drop_unfitting(&mut used, &none, &no_sheet).as_deref(), Some("November"));
        assert_eq!(drop_unfitting(&mut used, &none, &AgentError::invalid("No.")), None);
        assert!(used.sheets.is_empty() && used.columns.len() == 1, "{used:?}");
        let notes = repeated_notes(&none, &used, &["Price".to_owned()]);
        assert!(notes.iter().any(|note| note.contains("not used: Price")), "{notes:?}");
        assert_eq!(remembered_after(&used, &before).columns.len(), 2, "the next file may have it");
    }

    #[test]
    fn an_answer_about_reading_is_a_decision_like_that_of_an_option() {
        let answers = [("date_order", "month_first"), ("decimal", "comma"), ("header_line", " 3 ")];
        let mut decisions = ImportDecisions {
            answers: answers.map(|(id, answer)| (id.to_owned(), answer.to_owned())).into(),
            ..ImportDecisions::default()
        };
        apply_answers(&mut decisions);
        assert_eq!(decisions.date_order, Some(DateOrder::MonthFirst));
        assert_eq!(decisions.decimal, Some(NumberSign::Comma));
        assert_eq!(decisions.header_line, Some(3));
        assert_eq!(remembered(&decisions).date_order, Some(DateOrder::MonthFirst));
        decisions.answers.insert("date_order".to_owned(), "day_first".to_owned());
        apply_answers(&mut decisions);
        assert_eq!(decisions.date_order, Some(DateOrder::MonthFirst), "an option counts first");
        let mut year_first = ImportDecisions {
            answers: [("date_order".to_owned(), "year_first".to_owned())].into(),
            ..ImportDecisions::default()
        };
        apply_answers(&mut year_first);
        assert_eq!(remembered(&year_first).date_order, Some(DateOrder::YearFirst));
        let mut wrong = ImportDecisions {
            answers: [("header_line".to_owned(), "0".to_owned())].into(),
            ..ImportDecisions::default()
        };
        apply_answers(&mut wrong);
        assert_eq!(wrong.header_line, None);
    }
}
