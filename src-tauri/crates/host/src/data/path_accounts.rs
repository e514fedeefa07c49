//! The rule that a part of the path of a file is its account: what it finds in a path, and what a
//! person is told about it. Pure: it reads and stores nothing.

use std::path::{Component, Path};

use contract::{
    AgentError, Text,
    sources::{ImportDecisions, TableReport},
    text,
};

use super::{deciding::own_accounts, places::is_match};

/// The part of a pattern that stands for the account.
const ACCOUNT: &str = "{account}";
/// A pattern for messages.
const EXAMPLE: &str = "clients/{account}/*.csv";
/// The question whose answer is the account of a file.
pub(super) const QUESTION: &str = "account";
/// The most accounts that are found in one path.
const MOST: usize = 5;

/// The account that a pattern finds in a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathAccount {
    /// The path does not fit the pattern.
    None,
    /// The path fits in one way.
    One(String),
    /// The path fits in several ways, with other accounts.
    Several(Vec<String>),
}

/// Fails unless a pattern says in one place what the account is.
pub(super) fn check_pattern(pattern: &str) -> Result<(), AgentError> {
    let is_wrong = |part: &str| part.is_empty() || part == "." || part == "..";
    let mut parts = pattern.trim_start_matches('/').split('/');
    if pattern.matches(ACCOUNT).count() == 1 && !parts.any(is_wrong) {
        return Ok(());
    }
    Err(AgentError::invalid(text!(
        "{pattern} does not say which part of the path is the account.",
        pattern
    ))
    .reason("bad_account_pattern")
    .hint(text!(
        "Write {part} once, in place of the account, such as in {example}.",
        part = ACCOUNT,
        example = EXAMPLE
    )))
}

/// Returns the account that a pattern finds in a path. The pattern is about the end of the path,
/// unless it begins with a slash.
pub(super) fn find_account(pattern: &str, path: &Path) -> PathAccount {
    let names = names_of(path);
    let parts: Vec<&str> = pattern.trim_start_matches('/').split('/').collect();
    let Some(before) = names.len().checked_sub(parts.len()) else { return PathAccount::None };
    if pattern.starts_with('/') && before > 0 {
        return PathAccount::None;
    }
    let mut accounts = Vec::new();
    for (part, name) in parts.iter().zip(&names[before..]) {
        match part.split_once(ACCOUNT) {
            Some((before, after)) => accounts = accounts_in(before, after, name),
            None if is_match(part, name) => {}
            None => return PathAccount::None,
        }
    }
    match accounts.len() {
        0 => PathAccount::None,
        1 => PathAccount::One(accounts.remove(0)),
        _ => PathAccount::Several(accounts),
    }
}

/// Returns the names of the folders and of the file of a path.
fn names_of(path: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => names.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => drop(names.pop()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    names
}

/// Returns the parts of a name that can be the account between two patterns.
fn accounts_in(before: &str, after: &str, name: &str) -> Vec<String> {
    let ends: Vec<usize> = name.char_indices().map(|(at, _)| at).chain([name.len()]).collect();
    let mut found: Vec<String> = Vec::new();
    for (at, start) in ends.iter().enumerate() {
        if !is_match(before, &name[..*start]) {
            continue;
        }
        for end in &ends[at + 1..] {
            let account = name[*start..*end].trim();
            let is_new = !account.is_empty() && !found.iter().any(|known| known == account);
            if is_new && is_match(after, &name[*end..]) {
                found.push(account.to_owned());
            }
            if found.len() == MOST {
                return found;
            }
        }
    }
    found
}

/// Returns the account of a file by the rule: the one that a person answered for the file, or else
/// the one in its path.
pub(super) fn account_by_rule(decisions: &ImportDecisions, path: &Path) -> Option<String> {
    let pattern = decisions.account_from_path.as_ref()?;
    let answer = decisions.answers.get(QUESTION).map(|answer| answer.trim());
    if let Some(answer) = answer.filter(|answer| !answer.is_empty()) {
        return Some(answer.to_owned());
    }
    match find_account(pattern, path) {
        PathAccount::One(account) => Some(account),
        PathAccount::None | PathAccount::Several(_) => None,
    }
}

/// Returns what a person should know about an account in the path of a file.
pub(super) fn note_account(
    given: &ImportDecisions,
    used: &ImportDecisions,
    report: &TableReport,
) -> Option<Text> {
    let (pattern, account) = (used.account_from_path.as_ref()?, used.account.as_ref()?);
    if given.account.is_some() || given.answers.contains_key(QUESTION) {
        return None;
    }
    if let Some(own) = own_accounts(report) {
        let constant = own.constant.as_deref().unwrap_or_default();
        if !constant.trim().eq_ignore_ascii_case(account) {
            return Some(text!(
                "{column} names the accounts. {account}, which the path has by {pattern}, is not used.",
                column = &own.name,
                account,
                pattern
            ));
        }
    }
    Some(if given.account_from_path.is_some() {
        text!("Account from the path, by {pattern}: {account}.", pattern, account)
    } else {
        text!(
            "Account from the path, by {pattern} as for earlier files: {account}.",
            pattern,
            account
        )
    })
}

#[cfg(test)]
mod tests {
    use contract::sources::{ColumnUse, FoundColumn};

    use super::*;

    fn found(pattern: &str, path: &str) -> PathAccount {
        find_account(pattern, Path::new(path))
    }

    #[test]
    fn a_part_of_the_path_is_the_account() {
        for (pattern, path, account) in [
            ("clients/{account}/*.csv", "/data/clients/acme/2026-10.csv", Some("acme")),
            ("*/{account}/*.csv", "/data/clients/Åre & Co/2026-10.csv", Some("Åre & Co")),
            ("{account}/*", "/data/clients/./acme/x/../2026-10.csv", Some("acme")),
            ("ads-{account}.csv", "/data/ads-north west.csv", Some("north west")),
            ("{account}_20??.csv", "/data/acme_2026.csv", Some("acme")),
            ("/data/{account}/*.csv", "/data/acme/1.csv", Some("acme")),
            ("/{account}/*.csv", "/data/acme/1.csv", None),
            ("clients/{account}/*.csv", "/data/acme/2026-10.csv", None),
            ("clients/{account}/*.csv", "/clients/acme/2026-10.xlsx", None),
            ("ads-{account}.csv", "/data/ads-.csv", None),
            ("a/b/{account}/*.csv", "x.csv", None),
        ] {
            let wanted = account.map_or(PathAccount::None, |one| PathAccount::One(one.to_owned()));
            assert_eq!(found(pattern, path), wanted, "{pattern} {path}");
        }
    }

    #[test]
    fn a_path_that_fits_in_several_ways_names_no_account() {
        let several = ["ads", "ads-north"].map(str::to_owned).to_vec();
        assert_eq!(found("{account}-*.csv", "/ads-north-10.csv"), PathAccount::Several(several));
        let PathAccount::Several(most) = found("*{account}*", "/abcdefgh.csv") else { panic!() };
        assert_eq!(most.len(), MOST);
    }

    #[test]
    fn a_pattern_names_the_account_once() {
        for pattern in ["{account}/*.csv", "/exports/x-{account}.csv"] {
            assert!(check_pattern(pattern).is_ok(), "{pattern}");
        }
        for pattern in ["", "*/*.csv", "{account}/{account}.csv", "{account}/", "../{account}/*"] {
            let error = check_pattern(pattern).unwrap_err();
            assert_eq!(error.reason_text(), Some("bad_account_pattern"), "{pattern}");
            assert!(error.hint_text().is_some_and(|hint| hint.contains(EXAMPLE)), "{error:?}");
        }
    }

    #[test]
    fn an_answer_about_a_file_counts_more_than_its_path() {
        let mut decisions = ImportDecisions {
            account_from_path: Some("{account}/*.csv".to_owned()),
            ..ImportDecisions::default()
        };
        let path = Path::new("/acme/10.csv");
        assert_eq!(account_by_rule(&decisions, path).as_deref(), Some("acme"));
        assert_eq!(account_by_rule(&decisions, Path::new("/acme/10.txt")), None);
        decisions.answers.insert(QUESTION.to_owned(), " Bolt ".to_owned());
        assert_eq!(account_by_rule(&decisions, path).as_deref(), Some("Bolt"));
        assert_eq!(account_by_rule(&ImportDecisions::default(), path), None);
    }

    #[test]
    fn a_column_of_accounts_counts_more_than_the_path_and_that_is_told() {
        let used = ImportDecisions {
            account: Some("acme".to_owned()),
            account_from_path: Some("{account}/*.csv".to_owned()),
            ..ImportDecisions::default()
        };
        let given = ImportDecisions { account: None, ..used.clone() };
        let note = |given: &ImportDecisions, constant: Option<&str>, is_added| {
            let column = FoundColumn {
                name: "Client".to_owned(),
                usage: ColumnUse::Account,
                constant: constant.map(str::to_owned),
                is_added,
                ..FoundColumn::default()
            };
            let report = TableReport { columns: vec![column], ..TableReport::default() };
            note_account(given, &used, &report).map(|note| note.to_string())
        };
        let told = note(&given, Some("acme"), true).unwrap();
        assert_eq!(told, "Account from the path, by {account}/*.csv: acme.");
        assert_eq!(note(&given, Some("Acme"), false).unwrap(), told, "the column agrees");
        let none = ImportDecisions::default();
        assert!(note(&none, Some("acme"), true).unwrap().contains("as for earlier files"));
        for constant in [None, Some("Bolt")] {
            let told = note(&given, constant, false).unwrap();
            assert!(told.starts_with("Client") && told.contains("not used"), "{told}");
        }
        let own = ImportDecisions { account: Some("acme".to_owned()), ..none };
        assert_eq!(note(&own, Some("acme"), true), None, "a person named it");
    }
}
