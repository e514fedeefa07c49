//! The messages that a person typed in a conversation, as `language` reads it. Knows no content from outside.

use std::collections::BTreeSet;

use chrono::NaiveDate;

use super::{
    content::plain,
    readings::{Reading, days_of, is_same, numbers_of},
};
use crate::tools::typed_arguments::holds;

/// The messages of a person.
pub(super) struct Words {
    said: Vec<String>,
    words: BTreeSet<String>,
    numbers: Vec<f64>,
    days: Vec<NaiveDate>,
}

impl Words {
    pub(super) fn new(messages: &[&str], today: NaiveDate) -> Self {
        let numbers = messages.iter().flat_map(|text| numbers_of(text, Reading::Meant));
        let days = messages.iter().flat_map(|text| days_of(text, today));
        let said: Vec<String> = messages.iter().map(|text| plain(text)).collect();
        let words = said.iter().flat_map(|text| split(text)).map(str::to_owned).collect();
        Self {
            numbers: numbers.map(|(_, number)| number).collect(),
            days: days.map(|(_, day)| day).collect(),
            said,
            words,
        }
    }

    /// Whether a message has this text, as a whole word or phrase.
    pub(super) fn hold_text(&self, text: &str) -> bool {
        holds(&self.said, &plain(text))
    }

    /// Whether each word of a text stands in a message.
    pub(super) fn hold_each_word(&self, text: &str) -> bool {
        let text = plain(text);
        let mut words = split(&text).peekable();
        words.peek().is_some() && words.all(|word| self.words.contains(word))
    }

    pub(super) fn hold_number(&self, number: f64) -> bool {
        self.numbers.iter().any(|typed| is_same(*typed, number))
    }

    pub(super) fn hold_day(&self, day: NaiveDate) -> bool {
        self.days.contains(&day)
    }
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
}
