//! Turns the options of `csign data add` into decisions about a file. Reads no file.

use contract::sources::{
    ColumnChoice, ColumnKind, ColumnUse, DateOrder, ImportDecisions, ImportMode, ImportQuestion,
    ImportResult, NumberSign,
};

use super::questions::PASSWORD;
use crate::args::{Dates, Decimal, Mode, Reading};
use crate::exit::Failure;
use crate::visible::escape_invisible;

/// The question about records that cannot be read.
const REJECTED: &str = "rejected";
/// The questions whose answers are shown as an account, a format or a sheet, and the password.
const SHOWN_ELSEWHERE: [&str; 6] =
    ["account", "date_order", "decimal", "header_line", "sheets", PASSWORD];
/// The questions whose answers are names, which may have underscores.
const NAMES: [&str; 2] = ["source", "table"];
/// The fields of `--map` whose numbers are amounts.
const MONEY: [&str; 5] = ["spend", "cost", "amount", "revenue", "budget"];

/// Returns the decisions that the options express.
pub(super) fn read_decisions(reading: &Reading) -> Result<ImportDecisions, Failure> {
    let mut decisions = ImportDecisions {
        sheets: reading.sheet.clone(),
        header_line: reading.header_line,
        encoding: reading.encoding.clone(),
        date_order: reading.dates.map(|dates| match dates {
            Dates::Day => DateOrder::DayFirst,
            Dates::Month => DateOrder::MonthFirst,
            Dates::Year => DateOrder::YearFirst,
        }),
        decimal: reading.decimal.map(|decimal| match decimal {
            Decimal::Comma => NumberSign::Comma,
            Decimal::Point => NumberSign::Point,
        }),
        zone: reading.zone.clone(),
        account: reading.account.clone(),
        account_from_path: reading.account_from_path.clone(),
        currency: reading.currency.as_ref().map(|currency| currency.to_uppercase()),
        mode: reading.mode.map(|mode| match mode {
            Mode::Replace => ImportMode::Replace,
            Mode::Add => ImportMode::Add,
            Mode::Key => ImportMode::Key,
        }),
        skip_rejected: reading.skip_rejected,
        ..ImportDecisions::default()
    };
    for pair in &reading.map {
        let (field, column) = split_pair(pair, "FIELD=COLUMN", "--map spend=\"How much\"")?;
        let choice = decisions.columns.entry(column.to_owned()).or_default();
        choice.name = Some(field.to_owned());
        choice.usage = Some(use_of_field(field));
        // A heading that is not recognised does not say that its numbers are amounts.
        if MONEY.contains(&field) {
            choice.unit.clone_from(&decisions.currency);
        }
    }
    for pair in &reading.set {
        let example = "--set Price=ratio";
        let Some((column, roles)) = pair.rsplit_once('=') else {
            return Err(not_a_pair(pair, "COLUMN=ROLE", example));
        };
        let choice = decisions.columns.entry(column.trim().to_owned()).or_default();
        roles.split(',').map(str::trim).for_each(|role| set_role(choice, role));
    }
    for pair in &reading.answer {
        let (id, answer) = split_answer(pair)
            .ok_or_else(|| not_a_pair(pair, "QUESTION=ANSWER", "--answer vanished=keep"))?;
        decisions.answers.insert(id.to_owned(), answer.to_owned());
    }
    Ok(decisions)
}

/// Splits an answer. The question about one of several files ends with the name of the file, which
/// may have the sign of the pair. An answer may be a name that begins or ends with spaces.
fn split_answer(pair: &str) -> Option<(&str, &str)> {
    let (id, answer) = pair.split_once('=')?;
    let (id, answer) = if id.contains(':') { pair.rsplit_once('=')? } else { (id, answer) };
    let is_filled = !id.trim().is_empty() && !answer.trim().is_empty();
    is_filled.then(|| (id.trim(), answer))
}

/// Returns the account of all rows: that of an answer, of an option or an earlier file, or of the
/// file itself.
pub(super) fn account_of(result: &ImportResult) -> Option<&str> {
    let decisions = &result.decisions;
    let decided = decisions.answers.get("account").or(decisions.account.as_ref());
    decided.or(result.report.stated_account.as_ref()).map(String::as_str)
}

/// Returns the answers that no other part of a glance shows, whether they were given at a question
/// or by an option.
pub(super) fn show_answers(decisions: &ImportDecisions, open: &[ImportQuestion]) -> Option<String> {
    let mut answers = decisions.answers.clone();
    if decisions.skip_rejected {
        answers.insert(REJECTED.to_owned(), "skip".to_owned());
    }
    let is_shown = |id: &str| SHOWN_ELSEWHERE.contains(&id.split(':').next().unwrap_or(id));
    // An answer to a question that is still open was not used.
    let is_open = |id: &str| open.iter().any(|question| question.id == id);
    let words: Vec<String> = answers
        .iter()
        .filter(|(id, _)| !is_shown(id) && !is_open(id))
        .map(|(id, answer)| match NAMES.contains(&id.as_str()) {
            true => format!("{id}: {answer}"),
            false => format!("{}: {}", id.replace('_', " "), answer.replace('_', " ")),
        })
        .collect();
    (!words.is_empty()).then(|| words.join("; "))
}

fn split_pair<'a>(pair: &'a str, form: &str, example: &str) -> Result<(&'a str, &'a str), Failure> {
    let parts = pair.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
    parts
        .filter(|(name, value)| !name.is_empty() && !value.is_empty())
        .ok_or_else(|| not_a_pair(pair, form, example))
}

fn not_a_pair(pair: &str, form: &str, example: &str) -> Failure {
    Failure::usage_error(format!("{} is not {form}.", escape_invisible(pair)))
        .hint(format!("For example: {example}"))
}

/// Returns the use of a field of `--map`. A name that is not known is something to group by.
fn use_of_field(field: &str) -> ColumnUse {
    match field.to_lowercase().as_str() {
        "day" | "date" | "time" => ColumnUse::Time,
        "account" | "account_id" => ColumnUse::Account,
        "currency" => ColumnUse::Currency,
        "spend" | "cost" | "amount" | "revenue" | "value" | "impressions" | "clicks"
        | "conversions" | "views" => ColumnUse::Sum,
        "budget" => ColumnUse::Last,
        id if id.ends_with("_id") => ColumnUse::Id,
        _ => ColumnUse::Dimension,
    }
}

/// Sets the use, the type or else the unit of a column.
fn set_role(choice: &mut ColumnChoice, role: &str) {
    let name = serde_json::Value::String(role.to_lowercase());
    if let Ok(usage) = serde_json::from_value::<ColumnUse>(name.clone()) {
        choice.usage = Some(usage);
    } else if let Ok(kind) = serde_json::from_value::<ColumnKind>(name) {
        choice.kind = Some(kind);
    } else if !role.is_empty() {
        choice.unit = Some(role.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decisions(change: impl FnOnce(&mut Reading)) -> Result<ImportDecisions, Failure> {
        let mut reading = Reading::default();
        change(&mut reading);
        read_decisions(&reading)
    }

    #[test]
    fn a_mapped_column_gets_the_name_and_the_use_of_its_field() {
        let read = decisions(|reading| {
            reading.map = vec!["spend=How much".into(), "day = When".into(), "team=Who".into()];
        })
        .unwrap();
        let choice = |name: &str, usage| ColumnChoice {
            name: Some(name.to_owned()),
            usage: Some(usage),
            ..ColumnChoice::default()
        };
        assert_eq!(read.columns["How much"], choice("spend", ColumnUse::Sum));
        assert_eq!(read.columns["When"], choice("day", ColumnUse::Time));
        assert_eq!(read.columns["Who"], choice("team", ColumnUse::Dimension));
    }

    #[test]
    fn a_role_is_a_use_or_a_type_and_any_other_word_is_the_unit() {
        let read = decisions(|reading| {
            reading.set = vec!["Cost=sum,EUR".into(), "a=b=text".into(), "#3=Ratio".into()];
        })
        .unwrap();
        assert_eq!(read.columns["Cost"].usage, Some(ColumnUse::Sum));
        assert_eq!(read.columns["Cost"].unit.as_deref(), Some("EUR"));
        assert_eq!(read.columns["a=b"].kind, Some(ColumnKind::Text));
        assert_eq!(read.columns["#3"].usage, Some(ColumnUse::Ratio));
    }

    #[test]
    fn an_answer_names_its_question_also_for_a_file_with_the_sign_of_the_pair() {
        for (pair, id, answer) in [
            ("vanished=keep", "vanished", "keep"),
            ("sheets=A=B ", "sheets", "A=B "),
            ("vanished:a=b.csv=keep", "vanished:a=b.csv", "keep"),
        ] {
            assert_eq!(split_answer(pair), Some((id, answer)), "{pair}");
        }
    }

    #[test]
    fn answers_are_shown_in_the_same_way_as_options() {
        let read = decisions(|reading| reading.skip_rejected = true).unwrap();
        assert_eq!(show_answers(&read, &[]).as_deref(), Some("rejected: skip"));
        let read = decisions(|reading| {
            let pairs = ["rejected=skip", "total_rows=leave_out", "date_order=day_first"];
            reading.answer = pairs.map(str::to_owned).to_vec();
        })
        .unwrap();
        assert_eq!(
            show_answers(&read, &[]).as_deref(),
            Some("rejected: skip; total rows: leave out")
        );
        assert_eq!(show_answers(&ImportDecisions::default(), &[]), None);
    }

    #[test]
    fn a_pair_without_a_value_is_wrong_usage() {
        for broken in ["vanished", "vanished=", "=keep"] {
            let failure = decisions(|reading| reading.answer = vec![broken.into()]).unwrap_err();
            assert_eq!(failure.exit, crate::exit::Exit::Usage, "{broken}");
        }
        assert!(decisions(|reading| reading.set = vec!["Cost".into()]).is_err());
    }
}
