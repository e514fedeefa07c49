//! Reads the messages that a person typed in a conversation, with `language`.

use std::collections::BTreeSet;

use chrono::{NaiveDate, NaiveDateTime, Timelike};

use super::{
    content::plain,
    identifiers::compact,
    readings::{Reading, days_of, numbers_of},
};
use crate::tools::typed_arguments::holds;

/// Texts in which values are searched for.
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

    /// Whether one of the texts contains this text, as a whole word or phrase.
    pub(super) fn hold_text(&self, text: &str) -> bool {
        holds(if is_exact(text) { &self.exact } else { &self.plain }, &form(text))
    }
}

/// The messages of a person.
pub(super) struct Words {
    said: Said,
    words: BTreeSet<String>,
    /// Each word and each pair of consecutive words, without punctuation and case.
    loose: BTreeSet<String>,
    /// The parts of web addresses and of names such as `owner/project#7`, and the texts after `@`
    /// or `#`.
    parts: BTreeSet<String>,
    numbers: Vec<f64>,
    days: Vec<NaiveDate>,
}

impl Words {
    pub(super) fn new(messages: &[&str], today: NaiveDate) -> Self {
        let numbers = messages.iter().flat_map(|text| numbers_of(text, Reading::Meant));
        let days = messages.iter().flat_map(|text| days_of(text, today));
        let words = messages.iter().flat_map(|text| split(text)).map(form).collect();
        let loose = |text: &&str| {
            let parts: Vec<String> = text.split_whitespace().map(compact).collect();
            let pairs: Vec<String> = parts.windows(2).map(|two| two.concat()).collect();
            parts.into_iter().chain(pairs)
        };
        let loose = messages.iter().flat_map(loose).collect();
        let parts = messages.iter().flat_map(|text| text.split_whitespace()).flat_map(parts_of);
        let parts = parts.map(form).collect();
        Self {
            numbers: numbers.map(|(_, number)| number).collect(),
            days: days.map(|(_, day)| day).collect(),
            said: Said::of(messages.iter().copied()),
            words,
            loose,
            parts,
        }
    }

    /// Whether a message contains this text, as a whole word or phrase. An address may be typed
    /// without its scheme.
    pub(super) fn hold_text(&self, text: &str) -> bool {
        let bare = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let bare = bare.map(|rest| rest.trim_end_matches('/'));
        self.said.hold_text(text)
            || bare.is_some_and(|bare| self.said.hold_text(bare))
            || self.parts.contains(&form(text))
    }

    /// Whether a message contains a word, or two consecutive words, that `identifiers::compact`
    /// converts to this text.
    pub(super) fn hold_loosely(&self, compact: &str) -> bool {
        self.loose.contains(compact)
    }

    /// Whether each word of a text occurs in a message.
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

    /// Whether messages contain the day and the time of a moment: "tomorrow at 10", "10:30", "3
    /// pm".
    pub(super) fn hold_moment(&self, moment: NaiveDateTime) -> bool {
        let (hour, minute) = (moment.hour(), moment.minute());
        let is_typed = |hour: u32| match minute {
            0 => self.hold_number(f64::from(hour)),
            _ => [':', '.'].iter().any(|sign| self.hold_text(&format!("{hour}{sign}{minute:02}"))),
        };
        let written = [':', '.'].map(|sign| format!("{hour:02}{sign}{minute:02}"));
        self.hold_day(moment.date())
            && moment.second() == 0
            && (written.iter().any(|time| self.hold_text(time))
                || is_typed(hour)
                || hour > 12 && is_typed(hour - 12))
    }
}

/// Returns a text in the form used for comparison with texts that a person typed or saw.
pub(super) fn form(text: &str) -> String {
    form_like(text, text)
}

/// Returns a text in the form used for comparison with `like`.
pub(super) fn form_like(like: &str, text: &str) -> String {
    if is_exact(like) { exact(text) } else { plain(text) }
}

/// Whether a change of case or accent may change the meaning of a text, because it contains an
/// address, a path or a word of letters and digits.
fn is_exact(text: &str) -> bool {
    text.split_whitespace().any(|word| {
        let is_mixed = word.contains(char::is_numeric) && word.contains(char::is_alphabetic);
        is_mixed || word.contains(['@', '/', '\\', '_']) || word.trim_end_matches('.').contains('.')
    })
}

/// Returns the parts of a word that is a web address, a name such as `owner/project#7`, or begins
/// with `@` or `#`. A path on this computer is a single value.
fn parts_of(word: &str) -> Vec<&str> {
    let is_edge = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '~' | '@' | '#');
    let word = word.trim_matches(is_edge).trim_end_matches(['.', ',', ':']);
    if let Some(name) = word.strip_prefix(['@', '#']) {
        return vec![name];
    }
    let path = word.split_once("://").map_or(word, |(_, rest)| rest);
    if !path.contains('/')
        || path.starts_with(['/', '.', '~'])
        || !path.contains(char::is_alphabetic)
    {
        return Vec::new();
    }
    path.split(['/', '#', '?', '=', '&']).filter(|part| !part.is_empty()).collect()
}

fn exact(text: &str) -> String {
    text.split_whitespace().map(with_plain_host).collect::<Vec<_>>().join(" ")
}

/// Returns a word with the host of its address in lower case.
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
