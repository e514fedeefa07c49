//! The texts of the app in each language. `messages/LANG/AREA.json` at the root has the texts of an
//! area, and `messages/LANG/language.json` the language's name and formats. A text that a language
//! lacks is shown in English. The texts of the window are in `messages/LANG/window`; only the
//! window reads them.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod keys;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeMap;

pub use keys::check_keys;
pub use words::{PACK_TEXTS, template_words};

include!(concat!(env!("OUT_DIR"), "/languages.rs"));

/// A language that has a folder of texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Language(usize);

/// The texts and formats of a language.
struct Catalogue {
    tag: &'static str,
    name: &'static str,
    is_draft: bool,
    culture: Option<&'static str>,
    formats: Formats,
    areas: &'static [(&'static str, &'static [(&'static str, Forms)])],
}

/// The forms of a text for the number one and for any other number. Both are the same for a text
/// without a number.
#[derive(Clone, Copy)]
struct Forms {
    one: &'static str,
    other: &'static str,
}

/// How a language writes numbers and days.
#[derive(Debug)]
pub struct Formats {
    /// The sign before the decimals.
    pub decimal: &'static str,
    /// The sign between groups of three digits.
    pub group: &'static str,
    /// The format of a percentage, with the placeholder `number`.
    pub percent: &'static str,
    /// The names of the months, from January.
    pub months: [&'static str; 12],
    /// The format of a day without its year, with the placeholders `day` and `month`.
    pub day: &'static str,
    /// The format of a day with its year, with the placeholders `day`, `month` and `year`.
    pub day_and_year: &'static str,
}

impl Language {
    /// The language that replaces a missing text of another language.
    pub const ENGLISH: Self = Self(0);

    /// Returns all languages, English first.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..LANGUAGES.len()).map(Self)
    }

    /// Returns the language of a tag such as `sv`, `sv-SE` or `sv_SE.UTF-8`, or English for a tag
    /// without a folder of texts.
    pub fn of_tag(tag: &str) -> Self {
        Self::find(tag).unwrap_or_default()
    }

    /// Returns the language of a tag if it has texts of this area, and English otherwise.
    pub fn with_area(area: &str, tag: &str) -> Self {
        Self::find(tag).filter(|language| language.area(area).is_some()).unwrap_or_default()
    }

    fn find(tag: &str) -> Option<Self> {
        let first = tag.split(['-', '_', '.']).next().unwrap_or_default();
        Self::all().find(|language| first.eq_ignore_ascii_case(language.tag()))
    }

    /// Returns the language's tag, which is the name of its folder.
    pub fn tag(self) -> &'static str {
        LANGUAGES[self.0].tag
    }

    /// Returns the language's name in the language itself.
    pub fn name(self) -> &'static str {
        LANGUAGES[self.0].name
    }

    /// Whether no speaker of the language has reviewed the texts yet.
    pub fn is_draft(self) -> bool {
        LANGUAGES[self.0].is_draft
    }

    /// Returns the culture code for requests to a shop, such as `sv-SE`. English has none.
    pub fn culture(self) -> Option<&'static str> {
        LANGUAGES[self.0].culture
    }

    /// Returns the text in this language. If the text is missing, returns the English text, or else
    /// any other text.
    pub fn pick<T>(self, texts: &BTreeMap<String, T>) -> Option<&T> {
        let english = Self::ENGLISH.tag();
        texts.get(self.tag()).or_else(|| texts.get(english)).or_else(|| texts.values().next())
    }

    /// Returns how the language writes numbers and days.
    pub fn formats(self) -> &'static Formats {
        &LANGUAGES[self.0].formats
    }

    /// Returns a text, or the English text if the language lacks it, or the key if neither exists.
    pub fn text(self, area: &str, key: &'static str) -> &'static str {
        self.forms(area, key).map_or(key, |forms| forms.other)
    }

    /// Returns the form of a text for a number.
    pub fn counted_text(self, area: &str, key: &'static str, count: u64) -> &'static str {
        let form = |forms: Forms| if count == 1 { forms.one } else { forms.other };
        self.forms(area, key).map_or(key, form)
    }

    /// Returns the translation of a sentence of the host. The key is the English sentence with its
    /// placeholders. Returns none if the language lacks the sentence.
    pub fn sentence(self, english: &str) -> Option<&'static str> {
        find(SENTENCES[self.0], english).map(|forms| forms.other)
    }

    fn forms(self, area: &str, key: &str) -> Option<Forms> {
        self.own_forms(area, key).or_else(|| Self::ENGLISH.own_forms(area, key))
    }

    fn own_forms(self, area: &str, key: &str) -> Option<Forms> {
        find(self.area(area)?, key)
    }

    fn area(self, area: &str) -> Option<&'static [(&'static str, Forms)]> {
        LANGUAGES[self.0].areas.iter().find(|(name, _)| *name == area).map(|(_, texts)| *texts)
    }
}

fn find(texts: &[(&'static str, Forms)], key: &str) -> Option<Forms> {
    let at = texts.binary_search_by(|(name, _)| (*name).cmp(key)).ok()?;
    Some(texts[at].1)
}

/// Fills in the placeholders of a text: `{name}` becomes the value of `name`. Braces within a value
/// are not placeholders.
pub fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, hole)) = rest.split_once('{') {
        filled.push_str(before);
        let value = hole.split_once('}').and_then(|(name, after)| {
            let (_, value) = values.iter().find(|(known, _)| *known == name)?;
            Some((value, after))
        });
        if let Some((value, after)) = value {
            filled.push_str(value);
            rest = after;
        } else {
            filled.push('{');
            rest = hole;
        }
    }
    filled.push_str(rest);
    filled
}
