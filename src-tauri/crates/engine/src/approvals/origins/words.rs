//! The messages that a person typed in a conversation, as `language` reads it. Knows no content from outside.

use std::collections::BTreeSet;

use chrono::NaiveDate;

use super::{
    content::plain,
    readings::{Reading, days_of, numbers_of},
};
use crate::tools::typed_arguments::holds;

/// Texts in which values are looked for.
#[derive(Debug, Default)]
pub(super) struct Said {
    plain: Vec<String>,
    exact: Vec<String>,
}

impl Said {
    pub(super) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let (plain, exact) = texts.into_iter().map(|text| (plain(text), exact(text))).unzip();
        Self { plain, exact }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.plain.is_empty()
    }

    /// Whether one of them has this text, as a whole word or phrase.
    pub(super) fn hold_text(&self, text: &str) -> bool {
        holds(if is_exact(text) { &self.exact } else { &self.plain }, &form(text))
    }
}

/// The messages of a person.
pub(super) struct Words {
    said: Said,
    words: BTreeSet<String>,
    numbers: Vec<f64>,
    days: Vec<NaiveDate>,
}

impl Words {
    pub(super) fn new(messages: &[&str], today: NaiveDate) -> Self {
        let numbers = messages.iter().flat_map(|text| numbers_of(text, Reading::Meant));
        let days = messages.iter().flat_map(|text| days_of(text, today));
        let words = messages.iter().flat_map(|text| split(text)).map(form).collect();
        Self {
            numbers: numbers.map(|(_, number)| number).collect(),
            days: days.map(|(_, day)| day).collect(),
            said: Said::of(messages.iter().copied()),
            words,
        }
    }

    /// Whether a message has this text, as a whole word or phrase.
    pub(super) fn hold_text(&self, text: &str) -> bool {
        self.said.hold_text(text)
    }

    /// Whether each word of a text stands in a message.
    pub(super) fn hold_each_word(&self, text: &str) -> bool {
        let mut words = split(text).peekable();
        words.peek().is_some() && words.all(|word| self.words.contains(&form(word)))
    }

    pub(super) fn hold_number(&self, number: f64) -> bool {
        self.numbers.contains(&number)
    }

    pub(super) fn hold_day(&self, day: NaiveDate) -> bool {
        self.days.contains(&day)
    }
}

/// Returns a text as it is compared with what a person typed or saw.
pub(super) fn form(text: &str) -> String {
    form_like(text, text)
}

/// Returns a text as `like` is compared with it.
pub(super) fn form_like(like: &str, text: &str) -> String {
    if is_exact(like) { exact(text) } else { plain(text) }
}

/// Whether a text may mean another thing if one letter has another case or accent: an address, a
/// path, a name with digits.
fn is_exact(text: &str) -> bool {
    text.contains(|c: char| c.is_numeric() || matches!(c, '@' | '/' | '\\' | '.' | '_'))
}

fn exact(text: &str) -> String {
    text.split_whitespace().map(with_plain_host).collect::<Vec<_>>().join(" ")
}

/// Returns a word with the host of its address in small letters.
fn with_plain_host(word: &str) -> String {
    let from = match (word.find("://"), word.rfind('@')) {
        (Some(at), _) => at + 3,
        (None, Some(at)) => at + 1,
        (None, None) => return word.to_owned(),
    };
    let end = word[from..].find(['/', '\\', '?', '#']).map_or(word.len(), |at| from + at);
    let from = word[from..end].rfind('@').map_or(from, |at| from + at + 1);
    format!("{}{}{}", &word[..from], word[from..end].to_lowercase(), &word[end..])
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
}
