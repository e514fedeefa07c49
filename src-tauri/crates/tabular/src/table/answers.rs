//! The questions whose answers are one of a few values. Any other answer is refused: it would count
//! as an answer that nobody gave.

use contract::sources::ImportDecisions;

use super::{cells::currency::Currency, fault::TableError};

/// The questions with their values.
const VALUES: [(&str, &[&str]); 13] = [
    ("total_rows", &["leave_out", "keep"]),
    ("unnamed_rows", &["leave_out", "keep"]),
    ("hidden_rows", &["read", "leave_out"]),
    ("duplicate_rows", &["leave_out", "keep"]),
    ("blank_days", &["repeat", "store"]),
    ("blank_labels", &["repeat", "store"]),
    ("file_total", &["store"]),
    ("period_rows", &["keep"]),
    ("split_numbers", &["keep"]),
    ("currency_sign", &["cells"]),
    ("currency_heading", &["heading", "column"]),
    ("decimal", &["point", "comma"]),
    ("date_order", &["day_first", "month_first", "year_first"]),
];

/// The questions whose answer is the code of a currency.
const CURRENCIES: [&str; 2] = ["currency", "shared_sign"];

/// Returns the values of a question. None if the question takes any text.
fn values_of(id: &str) -> Option<&'static [&'static str]> {
    VALUES.iter().find(|(known, _)| *known == id).map(|(_, values)| *values)
}

/// Whether a question has an answer. None if the question takes any text.
fn has_answer(id: &str, answer: &str) -> Option<bool> {
    if CURRENCIES.contains(&id) {
        return Some(Currency::from_name(answer).is_some());
    }
    values_of(id).map(|values| values.contains(&answer))
}

/// Refuses an answer that is none of the values of its question. Readers of other formats that ask
/// the same questions call it, too.
///
/// # Errors
///
/// Returns `UnknownAnswer` for the first such answer.
pub fn check_answers(decisions: &ImportDecisions) -> Result<(), TableError> {
    let mut answers = decisions.answers.iter();
    let unknown = answers.find(|(id, answer)| has_answer(id, answer) == Some(false));
    match unknown {
        Some((id, answer)) => Err(TableError::UnknownAnswer {
            id: id.clone(),
            answer: answer.clone(),
            values: values_of(id)
                .unwrap_or(&["CODE"])
                .iter()
                .map(|value| (*value).to_owned())
                .collect(),
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use contract::sources::FILE_QUESTIONS;

    use super::*;

    #[test]
    fn each_question_with_values_is_one_of_the_listed_questions() {
        let ids = VALUES.iter().map(|(id, _)| *id).chain(CURRENCIES);
        for id in ids {
            assert!(FILE_QUESTIONS.contains(&id), "{id}");
        }
    }
}
