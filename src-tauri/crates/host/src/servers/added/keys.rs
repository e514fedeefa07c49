//! Finds keys in what the user enters for a server: in arguments, variables and addresses. A
//! recognised value is a key; a value that only looks random is a key unless the user says
//! otherwise. Stores nothing, and knows no server.

use std::{collections::BTreeMap, ops::Range, path::Path};

use mcp::{Part, Word};

use crate::keys::{is_app_key, is_credential_name, secret_parts};

/// The minimum length in characters of a value that is a key because of its name alone.
const SHORTEST: usize = 4;
/// The minimum lengths in characters of a run that looks random, with one case of letters and with
/// both cases.
const RANDOM: usize = 20;
const MIXED: usize = 16;
/// The minimum entropy of such a run, in bits per character.
const ENTROPY: f64 = 3.0;

/// Words in names of options and headers, in addition to those of variables, that mark a key.
const WORDS: [&str; 10] = [
    "AUTH",
    "AUTHORIZATION",
    "BEARER",
    "COOKIE",
    "CREDS",
    "PAT",
    "PASS",
    "PWD",
    "PIN",
    "SIGNATURE",
];
/// The last words of names whose values only describe a key.
const ABOUT_KEYS: [&str; 8] = ["FILE", "PATH", "DIR", "URL", "LIMIT", "TYPE", "MODE", "NAME"];

/// The values of keys, by the name of the key.
pub(crate) type KeyValues = BTreeMap<String, String>;

/// The result of the search for keys in a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    /// Ranges that are keys.
    Keys(Vec<Range<usize>>),
    /// Ranges that look random.
    Unsure(Vec<Range<usize>>),
}

impl Found {
    /// Adds the values that are keys according to the user or to the settings of another client.
    pub(super) fn with_said(self, said: &[String], value: &str) -> Self {
        let said = said.iter().filter(|key| !key.is_empty());
        let found = said.flat_map(|key| value.match_indices(key.as_str()));
        let parts = found.map(|(at, part)| at..at + part.len());
        // Short values are skipped, because they would be found in many other words.
        let said: Vec<_> =
            parts.filter(|part| part.len() >= SHORTEST || is_word(value, part)).collect();
        match self {
            found if said.is_empty() => found,
            Self::Nothing => Self::Keys(merge(said)),
            Self::Keys(parts) | Self::Unsure(parts) => Self::Keys(merge([said, parts].concat())),
        }
    }
}

/// Finds keys in a value. `names` are the names of the option, variable or header that it belongs
/// to.
pub(super) fn find_keys(names: &[&str], value: &str) -> Found {
    if value.trim().is_empty() || is_existing_path(value) {
        return Found::Nothing;
    }
    if names.iter().any(|name| is_key_name(name)) && value.len() >= SHORTEST && !is_plain(value) {
        return Found::Keys(vec![after_scheme(value)]);
    }
    let mut parts = secret_parts(value);
    parts.extend(engine::find_keys(value));
    if !parts.is_empty() {
        return Found::Keys(merge(parts));
    }
    let random = random_runs(value);
    if random.is_empty() { Found::Nothing } else { Found::Unsure(random) }
}

/// Whether a text can be the name of an environment variable.
pub(super) fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Whether a name marks its value as a key: the name of a variable, an option such as `--api-key`
/// or `--accessToken`, or a header.
pub(super) fn is_key_name(name: &str) -> bool {
    let mut plain = String::new();
    let mut before = '_';
    for c in name.trim_start_matches('-').chars() {
        if c.is_ascii_uppercase() && before.is_ascii_lowercase() {
            plain.push('_');
        }
        plain.push(if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
        before = c;
    }
    let last = plain.rsplit('_').next().unwrap_or_default();
    let marks = is_credential_name(&plain) || plain.split('_').any(|word| WORDS.contains(&word));
    marks && !ABOUT_KEYS.contains(&last)
}

/// Whether the characters around a part of a text are neither letters nor digits.
fn is_word(text: &str, part: &Range<usize>) -> bool {
    !text[..part.start].ends_with(char::is_alphanumeric)
        && !text[part.end..].starts_with(char::is_alphanumeric)
}

fn is_plain(value: &str) -> bool {
    matches!(value, "true" | "false" | "none" | "null" | "auto")
}

fn is_existing_path(value: &str) -> bool {
    value.starts_with(['/', '.', '~']) && (Path::new(value).exists() || value.starts_with("~/"))
}

/// Returns the range after an authorization scheme such as `Bearer`.
fn after_scheme(value: &str) -> Range<usize> {
    let schemes = ["bearer ", "basic ", "token ", "apikey "];
    let lower = value.to_ascii_lowercase();
    let start = schemes.iter().find(|scheme| lower.starts_with(*scheme)).map_or(0, |s| s.len());
    start..value.len()
}

fn merge(mut parts: Vec<Range<usize>>) -> Vec<Range<usize>> {
    parts.sort_by_key(|part| part.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for part in parts {
        match merged.last_mut() {
            Some(last) if part.start <= last.end => last.end = last.end.max(part.end),
            _ => merged.push(part),
        }
    }
    merged
}

/// Returns the runs of a text that look random: long, with letters and digits, and with little
/// repetition. Names of files and packages are made of words and short numbers.
fn random_runs(text: &str) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '=');
    let bounds =
        text.char_indices().filter(|(_, c)| !is_part(*c)).map(|(at, c)| (at, c.len_utf8()));
    for (end, length) in bounds.chain([(text.len(), 0)]) {
        if is_random(&text[start..end]) {
            runs.push(start..end);
        }
        start = end + length;
    }
    runs
}

fn is_random(run: &str) -> bool {
    let has = |of: fn(&char) -> bool| run.chars().any(|c| of(&c));
    let (upper, lower) = (has(char::is_ascii_uppercase), has(char::is_ascii_lowercase));
    let digits = run.chars().filter(char::is_ascii_digit).count();
    let long = run.len() >= RANDOM || upper && lower && run.len() >= MIXED;
    // Hyphens join the words of a name, but a run of a key has digits among its letters.
    let words = run.split(['-', '_']).filter(|word| !word.is_empty());
    let mixed = words.filter(|word| {
        word.chars().any(|c| c.is_ascii_alphabetic()) && word.chars().any(|c| c.is_ascii_digit())
    });
    let mixed: usize = mixed.map(str::len).sum();
    long && (upper || lower) && digits >= 2 && mixed * 2 >= run.len() && entropy(run) >= ENTROPY
}

fn entropy(text: &str) -> f64 {
    let mut counts: BTreeMap<char, u32> = BTreeMap::new();
    text.chars().for_each(|c| *counts.entry(c).or_default() += 1);
    let all = f64::from(counts.values().sum::<u32>());
    counts.values().map(|count| f64::from(*count) / all).map(|part| -part * part.log2()).sum()
}

/// Separates the names from an argument: `--token=x`, `TOKEN=x`, `Authorization: x`. Returns the
/// names and the position of the value.
pub(super) fn split_names(text: &str) -> (Vec<&str>, usize) {
    let (mut names, mut start) = (Vec::new(), 0);
    while let Some(at) = text[start..].find(['=', ':']) {
        let (name, value) = (&text[start..start + at], &text[start + at + 1..]);
        let is_option = name.starts_with('-') || is_variable(name);
        let is_header = text[start + at..].starts_with(':')
            && value.starts_with(' ')
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        if name.is_empty() || !(is_header || is_option && text[start + at..].starts_with('=')) {
            break;
        }
        names.push(name);
        start += at + 1 + (value.len() - value.trim_start().len());
    }
    (names, start)
}

/// Collects keys under unused names.
#[derive(Debug, Default)]
pub(super) struct KeyStore(pub(super) KeyValues);

impl KeyStore {
    /// Stores a value under a name made from `hint`. Returns the name.
    pub(super) fn add(&mut self, hint: &str, value: &str) -> String {
        let upper: String = hint
            .trim_start_matches('-')
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
            .collect();
        // The host asks only for keys whose names look like names of keys, and never for its own
        // keys.
        let is_usable = is_credential_name(&upper) && is_variable(&upper) && !is_app_key(&upper);
        let begin = match upper.as_str() {
            "" => "SECRET".to_owned(),
            _ if is_usable => upper,
            _ if is_variable(&upper) => format!("{upper}_KEY"),
            _ => format!("VALUE_{upper}_KEY"),
        };
        let mut name = begin.clone();
        let mut number = 2;
        while self.0.get(&name).is_some_and(|known| known != value) {
            name = format!("{begin}_{number}");
            number += 1;
        }
        self.0.insert(name.clone(), value.to_owned());
        name
    }

    /// Replaces these parts of a text with named keys.
    pub(super) fn take(&mut self, hint: &str, text: &str, parts: &[Range<usize>]) -> Word {
        let mut word = Vec::new();
        let mut from = 0;
        for part in parts {
            if part.start > from {
                word.push(Part::Text(text[from..part.start].to_owned()));
            }
            word.push(Part::Key(self.add(hint, &text[part.clone()])));
            from = part.end;
        }
        if from < text.len() {
            word.push(Part::Text(text[from..].to_owned()));
        }
        Word::WithKeys(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANDOM_VALUE: &str = "q7Zr0XbN4tLw9Vd2KfP1";

    fn kinds(names: &[&str], value: &str) -> &'static str {
        match find_keys(names, value) {
            Found::Nothing => "nothing",
            Found::Keys(_) => "keys",
            Found::Unsure(_) => "unsure",
        }
    }

    #[test]
    fn keys_are_recognised_by_name_by_format_and_by_randomness() {
        let ghp = format!("ghp_{}", "a1B2".repeat(9));
        for (name, value) in [
            ("--token", "letmein"),
            ("--apiKey", "letmein"),
            ("--access-token", "letmein"),
            ("Authorization", "Bearer letmein"),
            ("MY_PAT", "letmein"),
            ("--db", "postgres://me:letmein@db.example/x"),
            ("--url", "https://a.example/?api_key=letmein-now"),
            ("--ordinary", ghp.as_str()),
            ("", "--header=x sk-abcdefghijklmnop1234"),
        ] {
            assert_eq!(kinds(&[name], value), "keys", "{name} {value}");
        }
        for value in [
            RANDOM_VALUE,
            "0c5d9b7e-3f6a-4d1b-8a2e-9f0c1d2e3b4a",
            "9f86d081884c7d659a2feaa0c55ad015",
        ] {
            assert_eq!(kinds(&["--account"], value), "unsure", "{value}");
        }
        for value in [
            "-y",
            "@modelcontextprotocol/server-filesystem@2025.8.21",
            "mcp-server-time",
            "Europe/Stockholm",
            "/usr/bin/python3",
            "--local-timezone",
            "https://mcp.example.com/mcp/v1/servers",
            "mcp_server_everything_streamable_http",
            "true",
        ] {
            assert_eq!(kinds(&["--ordinary"], value), "nothing", "{value}");
        }
        assert_eq!(kinds(&["--token-file"], "/nowhere/token"), "nothing");
    }

    #[test]
    fn a_short_value_declared_as_a_key_is_found_only_as_a_whole_word() {
        let said = |value: &str| Found::Nothing.with_said(&["w1".into(), String::new()], value);
        let key = |part: Range<usize>| Found::Keys(std::iter::once(part).collect());
        assert_eq!(said("w1"), key(0..2));
        assert_eq!(said("a:w1@b"), key(2..4));
        assert_eq!(said("w12"), Found::Nothing);
    }

    #[test]
    fn extracting_a_key_keeps_the_option_name_and_the_text_around_it() {
        assert_eq!(
            split_names("--header=Authorization: Bearer x"),
            (vec!["--header", "Authorization"], 24)
        );
        assert_eq!(split_names("TOKEN=x"), (vec!["TOKEN"], 6));
        assert_eq!(split_names("https://a.example/?a=b").0, Vec::<&str>::new());
        let mut store = KeyStore::default();
        let text = "postgres://me:letmein@db";
        let Found::Keys(parts) = find_keys(&[], text) else { panic!() };
        let word = store.take("--db", text, &parts);
        assert_eq!(word.write(|name| format!("<{name}>")), "postgres://me:<DB_KEY>@db");
        assert_eq!(store.0["DB_KEY"], "letmein");
        assert_eq!(store.add("--db", "other"), "DB_KEY_2");
    }
}
