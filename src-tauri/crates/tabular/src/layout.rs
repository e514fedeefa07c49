//! The layouts of exports that are recognised without questions. They are data of the caller.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A known layout: the headings of each field, and values for fields without a column.
#[derive(Clone, Debug, Deserialize)]
pub struct Layout {
    /// The layout's name in messages and tests.
    pub id: String,
    /// The name for people.
    pub title: String,
    /// The headings of each field, as `plain_heading` writes them. An earlier one wins.
    pub columns: BTreeMap<String, Vec<String>>,
    /// Values for fields that have no column.
    pub constants: BTreeMap<String, String>,
}

impl Layout {
    /// Returns the position of each field that has a heading.
    pub(crate) fn find_columns(&self, headings: &[String]) -> BTreeMap<String, usize> {
        let place = |names: &Vec<String>| {
            names.iter().find_map(|name| headings.iter().position(|heading| heading == name))
        };
        self.columns
            .iter()
            .filter_map(|(field, names)| Some((field.clone(), place(names)?)))
            .collect()
    }
}

/// Normalises a heading: lower case, words joined by one space, without a code in brackets.
pub(crate) fn plain_heading(cell: &str) -> String {
    let text = if bracketed_code(cell).is_some() {
        cell.rsplit_once('(').map_or(cell, |(before, _)| before)
    } else {
        cell
    };
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join(" ")
}

/// Returns the code of three capitals in a heading such as `Amount spent (SEK)`.
pub(crate) fn bracketed_code(heading: &str) -> Option<&str> {
    let (_, code) = heading.trim().strip_suffix(')')?.rsplit_once('(')?;
    let is_code = code.len() == 3 && code.bytes().all(|b| b.is_ascii_uppercase());
    is_code.then_some(code)
}
