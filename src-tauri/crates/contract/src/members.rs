//! Reads JSON objects that people and models write, member by member. An error names the place, the
//! known members and the nearest of them. It does not know any type that is read with it.

use std::fmt::Display;

use serde_json::{Map, Value};

use crate::{Text, text};

/// A place inside a JSON value: the names and numbers that lead to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place(pub Vec<String>);

impl Place {
    /// Returns the place of a member or element.
    #[must_use]
    pub fn at(&self, name: impl Display) -> Self {
        let mut parts = self.0.clone();
        parts.push(name.to_string());
        Self(parts)
    }

    /// Returns the place as text, such as `where.0.campaign`.
    pub fn shown(&self) -> String {
        self.0.join(".")
    }

    /// Creates an error at this place.
    pub fn problem(&self, problem: impl Into<Text>) -> ShapeProblem {
        ShapeProblem { place: self.clone(), problem: problem.into() }
    }
}

/// A value that does not have the form it must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeProblem {
    /// The place of the value.
    pub place: Place,
    /// The fault and the remedy.
    pub problem: Text,
}

impl ShapeProblem {
    /// Returns the fault with its place.
    pub fn text(&self) -> Text {
        if self.place.0.is_empty() {
            return self.problem.clone();
        }
        let problem = self.problem.clone();
        let place = self.place.shown();
        Text::filled(
            "{place}: {problem}",
            [
                ("place", crate::ToParam::to_param(&place)),
                ("problem", crate::ToParam::to_param(&problem)),
            ],
        )
    }
}

impl Display for ShapeProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text().as_str())
    }
}

impl std::error::Error for ShapeProblem {}

/// The members of an object that are not read yet.
pub struct Members<'v> {
    /// The place of the object.
    pub place: Place,
    members: &'v Map<String, Value>,
    known: Vec<&'static str>,
}

impl<'v> Members<'v> {
    /// Begins to read an object.
    pub fn of(value: &'v Value, place: &Place) -> Result<Self, ShapeProblem> {
        match value {
            Value::Object(members) => Ok(Self { place: place.clone(), members, known: Vec::new() }),
            other => Err(place.problem(text!(
                "An object with members is needed, not {found}.",
                found = kind_of(other)
            ))),
        }
    }

    /// Returns a member. An absent one and null are None.
    pub fn take(&mut self, name: &'static str) -> Option<(&'v Value, Place)> {
        self.known.push(name);
        let value = self.members.get(name).filter(|value| !value.is_null())?;
        Some((value, self.place.at(name)))
    }

    /// Reads a member with a function.
    pub fn read<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'v Value, &Place) -> Result<T, ShapeProblem>,
    ) -> Result<Option<T>, ShapeProblem> {
        self.take(name).map(|(value, place)| read(value, &place)).transpose()
    }

    /// Reads a member that must be there.
    pub fn need<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'v Value, &Place) -> Result<T, ShapeProblem>,
    ) -> Result<T, ShapeProblem> {
        let place = self.place.clone();
        self.read(name, read)?
            .ok_or_else(|| place.problem(text!("The member {name} is missing.", name)))
    }

    /// Whether the object has a member.
    pub fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// Fails if a member was not read.
    pub fn finish(self) -> Result<(), ShapeProblem> {
        let unknown = self.members.keys().find(|name| !self.known.contains(&name.as_str()));
        unknown.map_or(Ok(()), |name| Err(self.place.problem(unknown_name(name, &self.known))))
    }
}

/// Returns the sentence about a name that does not exist, with the names that exist.
pub fn unknown_name<'n>(
    name: &str,
    known: impl IntoIterator<Item = &'n (impl AsRef<str> + ?Sized + 'n)>,
) -> Text {
    let known: Vec<&str> = known.into_iter().map(AsRef::as_ref).collect();
    let list = if known.is_empty() { "-".to_owned() } else { known.join(", ") };
    match nearest(name, &known) {
        Some(near) => {
            text!("“{name}” is not known. Is “{near}” meant? Known: {list}.", name, near, list)
        }
        None => text!("“{name}” is not known. Known: {list}.", name, list),
    }
}

/// Returns the known name that is most like a written one, if one is like it at all.
pub fn nearest<'k>(written: &str, known: &[&'k str]) -> Option<&'k str> {
    let written = written.to_lowercase();
    known
        .iter()
        .filter_map(|name| Some((difference(&written, name)?, *name)))
        .min_by_key(|(cost, _)| *cost)
        .map(|(_, name)| name)
}

/// Returns known names in the order in which they are offered: those that are like a written one
/// first. The others stay in their order.
pub fn nearest_first<'k>(written: &str, known: &[&'k str]) -> Vec<&'k str> {
    let written = written.to_lowercase();
    let mut names = known.to_vec();
    names.sort_by_key(|name| difference(&written, name).unwrap_or(usize::MAX));
    names
}

/// Returns how much a known name differs from a written one in lower case. None if they are not
/// alike.
fn difference(written: &str, name: &str) -> Option<usize> {
    let name = name.to_lowercase();
    let begins = written.len() > 2 && (name.starts_with(written) || written.starts_with(&name));
    let cost = if begins { 1 } else { distance(written, &name) };
    (cost * 3 <= name.chars().count().max(3)).then_some(cost)
}

/// Returns how many letters have to be added, removed or replaced (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut before = i;
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = before + usize::from(from != *to);
            before = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(before + 1);
        }
    }
    row[b.len()]
}

/// Returns the kind of a JSON value in words.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Reads a text that is not empty.
pub fn read_text(value: &Value, place: &Place) -> Result<String, ShapeProblem> {
    match value {
        Value::String(text) if !text.is_empty() => Ok(text.clone()),
        other => {
            Err(place.problem(text!("A text is needed, not {found}.", found = kind_of(other))))
        }
    }
}

/// Reads true or false.
pub fn read_flag(value: &Value, place: &Place) -> Result<bool, ShapeProblem> {
    value.as_bool().ok_or_else(|| {
        place.problem(text!("true or false is needed, not {found}.", found = kind_of(value)))
    })
}

/// Reads a whole number from 1 on.
pub fn read_count(value: &Value, place: &Place) -> Result<u32, ShapeProblem> {
    let count = value.as_u64().and_then(|count| u32::try_from(count).ok());
    count
        .filter(|count| *count > 0)
        .ok_or_else(|| place.problem(text!("A whole number from 1 on is needed.")))
}

/// Reads a list with a function for its elements.
pub fn read_list<T>(
    value: &Value,
    place: &Place,
    read: impl Fn(&Value, &Place) -> Result<T, ShapeProblem>,
) -> Result<Vec<T>, ShapeProblem> {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().map(|(at, item)| read(item, &place.at(at))).collect()
        }
        other => {
            Err(place.problem(text!("A list is needed, not {found}.", found = kind_of(other))))
        }
    }
}

/// Reads a list of texts, or a single text as a list of one.
pub fn read_texts(value: &Value, place: &Place) -> Result<Vec<String>, ShapeProblem> {
    match value {
        Value::String(_) => Ok(vec![read_text(value, place)?]),
        other => read_list(other, place, read_text),
    }
}

/// Reads one of several words.
pub fn read_word<T: Copy>(
    value: &Value,
    place: &Place,
    words: &[(&str, T)],
) -> Result<T, ShapeProblem> {
    let written = read_text(value, place)?;
    let found = words.iter().find(|(word, _)| *word == written);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        place.problem(unknown_name(&written, &known))
    })
}

/// Reads a day such as `2026-11-30`.
pub fn read_day(value: &Value, place: &Place) -> Result<chrono::NaiveDate, ShapeProblem> {
    let written = read_text(value, place)?;
    chrono::NaiveDate::parse_from_str(&written, "%Y-%m-%d")
        .map_err(|_| place.problem(text!("{written} is no day. Write it as 2026-11-30.", written)))
}
