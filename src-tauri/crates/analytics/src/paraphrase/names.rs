//! Names of measures, dimensions and columns, as a person reads them. A column without a definition
//! stands between quotation marks, because a definition may have the same name.

use contract::{GivenName, Param, manifest::Localised, text};

use super::{Words, as_is};
use crate::{SourceModel, catalog::ROWS};

/// The endings of the figures of a comparison.
const COMPARED: [&str; 4] = ["_before", "_compared", "_change", "_growth"];

impl Words<'_> {
    /// Returns a measure, with its source if that is another one.
    pub fn measure(&self, name: &str) -> Param {
        if let Some(measure) = self.source.definitions.measures.get(name) {
            return Param::Name(titled(name, &measure.title));
        }
        if name == ROWS {
            return Param::Text(text!("number of rows"));
        }
        match self.of_other(name) {
            Some((source, own)) => {
                let title = source.definitions.measures.get(own).map(|measure| &measure.title);
                let name = titled(own, title.unwrap_or(&Localised::new()));
                Param::Text(text!("{name} ({source})", name, source = of_source(source)))
            }
            None => as_is(name),
        }
    }

    /// Returns a dimension, or a column that values are grouped by.
    pub fn dimension(&self, name: &str) -> Param {
        if self.source.definitions.dimensions.contains_key(name) {
            return as_is(spaced(name));
        }
        if self.source.find_column(name).is_some() {
            return self.column(name);
        }
        match self.of_other(name) {
            Some((source, own)) => {
                let defined = source.definitions.dimensions.contains_key(own);
                let name = if defined { as_is(spaced(own)) } else { quoted(own) };
                Param::Text(text!("{name} ({source})", name, source = of_source(source)))
            }
            None => as_is(name),
        }
    }

    /// Returns a dimension at the beginning of a condition.
    pub fn heading(&self, name: &str) -> Param {
        match self.dimension(name) {
            Param::Name(name) => as_is(capitalised(&name.text)),
            other => other,
        }
    }

    /// Returns a column of the source.
    pub fn column(&self, name: &str) -> Param {
        quoted(name)
    }

    /// Returns a column of the result: a figure, one of its comparison, or a dimension.
    pub fn result_column(&self, name: &str) -> Param {
        let measures = &self.source.definitions.measures;
        if measures.contains_key(name) || name == ROWS {
            return self.measure(name);
        }
        if self.source.dimension(name).is_ok() {
            return self.heading(name);
        }
        let ending =
            COMPARED.iter().find_map(|ending| Some((name.strip_suffix(*ending)?, *ending)));
        match ending.filter(|(own, _)| measures.contains_key(*own)) {
            Some((own, "_change")) => {
                Param::Text(text!("change of {measure}", measure = self.measure(own)))
            }
            Some((own, "_growth")) => {
                Param::Text(text!("growth of {measure}", measure = self.measure(own)))
            }
            Some((own, _)) => Param::Text(text!("{measure} before", measure = self.measure(own))),
            None => as_is(name),
        }
    }

    /// Returns the other source that a name begins with, and the name there.
    fn of_other<'n>(&self, name: &'n str) -> Option<(&SourceModel, &'n str)> {
        let (source, own) = name.split_once('.')?;
        let place = self.catalog.place(&source.into()).ok()?;
        Some((&self.catalog.sources[place], own))
    }
}

/// Returns a name as a title, with the titles that a person gave it.
fn titled(name: &str, titles: &Localised<String>) -> GivenName {
    let own = titles.get("en").cloned().unwrap_or_else(|| capitalised(&spaced(name)));
    GivenName { text: own, names: titles.clone() }
}

fn of_source(source: &SourceModel) -> Param {
    as_is(source.name().as_str())
}

fn quoted(name: &str) -> Param {
    Param::Text(text!("“{name}”", name = as_is(name)))
}

/// Returns a name of a definition as words. Other names stay as they are.
fn spaced(name: &str) -> String {
    if is_identifier(name) { name.replace('_', " ") } else { name.to_owned() }
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    match letters.next() {
        Some(first) if is_identifier(&name.replace(' ', "_")) => {
            format!("{}{}", first.to_uppercase(), letters.as_str())
        }
        _ => name.to_owned(),
    }
}

/// Whether a name is written as definitions usually are.
fn is_identifier(name: &str) -> bool {
    name.chars().all(|letter| letter.is_lowercase() || letter.is_ascii_digit() || letter == '_')
}
