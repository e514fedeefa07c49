//! The questions of an import that only a person can answer: their words, answers and options. Pure:
//! it does not know when they are asked.

use std::collections::BTreeMap;

use contract::{
    AgentError, Amount, SourceName, Text,
    sources::{
        FILE_QUESTIONS, ImportQuestion, ImportResult, QuestionChoice, RejectedRows, SumChange,
    },
    text,
};

use super::{path_accounts::QUESTION, places::FileStamp};
use crate::servers::quote_word;

/// The answer by which a file becomes a source of its own.
pub(super) const OTHER: &str = "other";
/// The answer by which a file belongs to the source that fits.
pub(super) const SAME: &str = "same";
/// The answer by which former rows give way.
pub(super) const REPLACE: &str = "replace";
/// The answer by which records that cannot be read are left out.
pub(super) const SKIP: &str = "skip";
/// The answer by which former rows stay.
pub(super) const KEEP: &str = "keep";
/// The answer by which only the former rows of renamed things give way.
pub(super) const RENAMED: &str = "renamed";

/// The questions of this file.
const OWN_QUESTIONS: [&str; 14] = [
    "source",
    "same_account",
    "whose_data",
    "rejected",
    "vanished",
    "older",
    "coarser",
    "missing_amounts",
    "other_currency",
    "same_currency",
    "password",
    "table",
    "library",
    "hosts",
];
/// The question of a driver, whose answer is a hash.
const DRIVER: &str = "driver";

/// Whether stored rows may go by an answer.
pub(super) fn takes_rows_out(id: &str, answer: &str) -> bool {
    // The name of a file may stand behind the question.
    matches!(
        (question_of(id), answer),
        ("vanished" | "older" | "coarser" | "missing_amounts", REPLACE)
            | ("vanished", RENAMED)
            | ("whose_data", SAME)
    )
}

/// Returns the question of an answer, behind which the name of a file may stand.
fn question_of(id: &str) -> &str {
    id.split(':').next().unwrap_or(id)
}

/// Returns the first answer to a question that there is not.
pub(super) fn find_unknown(answers: &BTreeMap<String, String>) -> Option<&str> {
    let is_known = |id: &str| {
        let all = [&FILE_QUESTIONS[..], &OWN_QUESTIONS[..], &[DRIVER][..]];
        all.iter().any(|ids| ids.contains(&question_of(id)))
    };
    answers.keys().map(String::as_str).find(|id| !is_known(id))
}

/// Refuses an answer to a question that there is not. `open` are the results without the answer.
pub(super) fn unknown_question(id: &str, open: &[ImportResult]) -> AgentError {
    let open: Vec<&str> = open
        .iter()
        .flat_map(|result| result.questions.iter().map(|question| question.id.as_str()))
        .collect();
    let error = AgentError::invalid(text!("There is no question {id}.", id))
        .reason("unknown_question")
        .with("open", open.clone());
    if open.is_empty() {
        error.hint("No question is open. Leave the answer out.")
    } else {
        error.hint(text!("The open questions are: {questions}.", questions = open.join(", ")))
    }
}

/// The most accounts that a question names.
const NAMED: usize = 3;

/// Creates a possible answer.
pub(super) fn choice(value: &str, label: impl Into<Text>) -> QuestionChoice {
    QuestionChoice { value: value.to_owned(), label: label.into() }
}

/// Returns the command line option that answers a question. The name of a file in the identifier is
/// quoted for a shell; `value` may list several answers.
pub(super) fn answer_option(id: &str, value: &str) -> String {
    format!("--answer {}={value}", quote_word(id))
}

/// Asks which of several sources a file belongs to.
pub(super) fn ask_source(names: &[SourceName]) -> ImportQuestion {
    let mut choices: Vec<QuestionChoice> =
        names.iter().map(|name| choice(name.as_str(), name.as_str())).collect();
    choices.push(choice(OTHER, "A source of its own"));
    ImportQuestion {
        id: "source".to_owned(),
        text: "The columns fit several sources. Which one does the file belong to?".into(),
        choices,
        option: "--name SOURCE".to_owned(),
    }
}

/// Asks whether a file without an account belongs to the account of earlier files.
pub(super) fn ask_account(account: &str) -> ImportQuestion {
    ImportQuestion {
        id: "same_account".to_owned(),
        text: text!(
            "The file does not say whose data it is. Earlier files with these columns belong to {account}. Does this one, too?",
            account
        ),
        choices: vec![
            choice(SAME, text!("Yes, it belongs to {account}", account)),
            choice(OTHER, "No, it is a source of its own"),
        ],
        option: "--account NAME".to_owned(),
    }
}

/// Asks whether a file has the account in its path, as earlier files have that in theirs.
pub(super) fn ask_account_of_path(account: &str, pattern: &str) -> ImportQuestion {
    ImportQuestion {
        text: text!(
            "The file does not say whose data it is. The account of earlier files comes from their path, by {pattern}. Here that is {account}, which has no rows yet. Does the file belong to {account}?",
            pattern,
            account
        ),
        ..ask_account(account)
    }
}

/// Asks whose data a file is, if its path has no account, or one of several.
pub(super) fn ask_account_of_file(
    path: &str,
    pattern: &str,
    accounts: &[String],
) -> ImportQuestion {
    let text = if accounts.is_empty() {
        text!(
            "The account comes from the path, but {path} does not fit {pattern}. Whose data is it?",
            path,
            pattern
        )
    } else {
        text!(
            "The account comes from the path, but {path} fits {pattern} in several ways. Whose data is it?",
            path,
            pattern
        )
    };
    let choices =
        accounts.iter().map(|one| choice(one, text!("It is that of {account}", account = one)));
    ImportQuestion {
        id: QUESTION.to_owned(),
        text,
        choices: choices.collect(),
        option: answer_option(QUESTION, "NAME"),
    }
}

/// Why a file may belong to another source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// A sum of the days that both have is quite different. `places` are the decimals of its column.
    Sum { sum: SumChange, places: u8 },
    /// No name of the file is in the source.
    Names,
}

/// Asks whether a file belongs to the source that fits, although there is a doubt.
pub(super) fn ask_whose_data(source: &SourceName, doubt: &Doubt) -> ImportQuestion {
    let text = match doubt {
        Doubt::Sum { sum, places } => {
            let amount = |digits: &str| Amount::new(digits, *places, sum.currency.as_deref());
            text!(
                "The file has rows of days that {source} has, but {column} would be {after} instead of {before}. Is it the same data, corrected?",
                source,
                column = &sum.column,
                after = amount(&sum.after),
                before = amount(&sum.before)
            )
        }
        Doubt::Names => text!(
            "No name in the file is in {source}, and the file does not say whose data it is. Does it belong to {source}?",
            source
        ),
    };
    ImportQuestion {
        id: "whose_data".to_owned(),
        text,
        choices: vec![
            choice(SAME, text!("Yes, it belongs to {source}", source)),
            choice(OTHER, "No, it is a source of its own"),
        ],
        option: answer_option("whose_data", "same|other"),
    }
}

/// Asks what becomes of former rows without an account, if the file names its accounts.
pub(super) fn ask_unnamed(source: &SourceName, accounts: &[String]) -> ImportQuestion {
    let mut named = accounts.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if accounts.len() > NAMED {
        named.push_str(", \u{2026}");
    }
    ImportQuestion {
        id: "whose_data".to_owned(),
        text: text!(
            "{source} has rows of these days without an account, and the file belongs to {accounts}. Does the file replace these rows?",
            source,
            accounts = &named
        ),
        choices: vec![
            choice(SAME, text!("Yes, they belong to {accounts}, too", accounts = &named)),
            choice(KEEP, "No, keep them beside the rows of the file"),
            choice(OTHER, "No, it is a source of its own"),
        ],
        option: answer_option("whose_data", "same|keep|other"),
    }
}

/// Asks whether records that cannot be read are left out.
pub(super) fn ask_rejected(rejected: &[RejectedRows]) -> ImportQuestion {
    let count: u64 = rejected.iter().map(|one| one.count).sum();
    let first = rejected.first();
    let line = first.and_then(|one| one.lines.first()).copied().unwrap_or_default();
    let reason = first.map(|one| one.reason.clone()).unwrap_or_default();
    let (text, yes) = if count == 1 {
        let text =
            text!("Line {line} cannot be read: {reason} Leave it out?", line, reason = reason);
        (text, "Yes, leave this line out")
    } else {
        let text = text!(
            "{count} records cannot be read, the first in line {line}: {reason} Leave them out?",
            count,
            line,
            reason = reason
        );
        (text, "Yes, leave these lines out")
    };
    ImportQuestion {
        id: "rejected".to_owned(),
        text,
        choices: vec![choice(SKIP, yes)],
        option: answer_option("rejected", SKIP),
    }
}

/// Asks whether a file replaces rows of a newer one.
pub(super) fn ask_older(file: &FileStamp, newer: &FileStamp) -> ImportQuestion {
    let at = |stamp: &FileStamp| {
        let at = stamp.modified_at.map(|at| at.format("%Y-%m-%d %H:%M").to_string());
        at.unwrap_or_default()
    };
    ImportQuestion {
        id: "older".to_owned(),
        text: text!(
            "The file ({at}) is older than the one that the stored rows come from ({newer}). Replace them all the same?",
            at = at(file),
            newer = at(newer)
        ),
        choices: vec![choice(REPLACE, "Yes, replace them")],
        option: answer_option("older", REPLACE),
    }
}

/// Asks whether a file with fewer columns replaces finer rows.
pub(super) fn ask_coarser(missing: &[String]) -> ImportQuestion {
    ImportQuestion {
        id: "coarser".to_owned(),
        text: text!(
            "The file lacks {columns}, which the stored rows of the same days have. Replace them by the coarser rows?",
            columns = missing.join(", ")
        ),
        choices: vec![
            choice(REPLACE, "Yes, replace them"),
            choice(OTHER, "No, it is a source of its own"),
        ],
        option: answer_option("coarser", "replace|other"),
    }
}

/// Asks whether a file replaces rows with amounts in columns that it lacks.
pub(super) fn ask_missing_amounts(missing: &[String]) -> ImportQuestion {
    ImportQuestion {
        id: "missing_amounts".to_owned(),
        text: text!(
            "The file lacks {columns}, in which the stored rows of the same days have amounts. Replace the rows, so that these amounts go?",
            columns = missing.join(", ")
        ),
        choices: vec![
            choice(REPLACE, "Yes, replace them"),
            choice(OTHER, "No, it is a source of its own"),
        ],
        option: answer_option("missing_amounts", "replace|other"),
    }
}

/// Asks what becomes of amounts in another currency.
pub(super) fn ask_currency(column: &str, before: &str, file: &str) -> ImportQuestion {
    ImportQuestion {
        id: "other_currency".to_owned(),
        text: text!(
            "{column} is in {file} in this file and in {before} in earlier ones. Amounts of two currencies are never added up.",
            column,
            file,
            before
        ),
        choices: vec![choice(OTHER, "Make it a source of its own")],
        option: answer_option("other_currency", OTHER),
    }
}

/// Asks for the currency of a file that does not say it.
pub(super) fn ask_same_currency(column: &str, before: &str) -> ImportQuestion {
    ImportQuestion {
        id: "same_currency".to_owned(),
        text: text!(
            "The file does not say the currency of {column}, which is {before} in earlier files. Is it the same?",
            column,
            before
        ),
        choices: vec![
            choice(SAME, text!("Yes, it is {before}", before)),
            choice(OTHER, "No, it is a source of its own"),
        ],
        option: "--currency CODE".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(ids: &[&str]) -> BTreeMap<String, String> {
        ids.iter().map(|id| ((*id).to_owned(), "x".to_owned())).collect()
    }

    #[test]
    fn an_answer_to_a_question_that_there_is_not_is_found() {
        let known = answers(&["vanished", "vanished:a.csv", "date_order", "driver"]);
        assert_eq!(find_unknown(&known), None);
        for id in ["vanish", "dates", "dates:a.csv", ""] {
            assert_eq!(find_unknown(&answers(&["older", id])), Some(id));
        }
    }

    #[test]
    fn the_name_of_a_file_may_stand_behind_a_question() {
        let option = answer_option("vanished:plan 1.csv", "replace|keep");
        assert_eq!(option, "--answer 'vanished:plan 1.csv'=replace|keep");
        assert!(takes_rows_out("vanished:a.csv", RENAMED) && !takes_rows_out("vanished", KEEP));
    }
}
