//! The texts of the app in each language. `messages/LANG/AREA.json` at the root has the texts of an
//! area, and `messages/LANG/language.json` the language's name and formats. A text that a language
//! lacks is English. The texts of the window are in `messages/LANG/window`; only the window reads
//! them.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod keys;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeMap;

pub use keys::check_keys;
pub use words::template_words;

include!(concat!(env!("OUT_DIR"), "/languages.rs"));

/// A language for which there is a folder of texts.
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

/// A text for one, and for any other number. Both are the same for a text without a number.
#[derive(Clone, Copy)]
struct Forms {
    one: &'static str,
    other: &'static str,
}

/// How a language writes numbers and days.
#[derive(Debug)]
pub struct Formats {
    /// Stands before the decimals.
    pub decimal: &'static str,
    /// Stands between groups of three digits.
    pub group: &'static str,
    /// A share, with the hole `number`.
    pub percent: &'static str,
    /// The names of the months, from January.
    pub months: [&'static str; 12],
    /// A day without its month, at the beginning of a period, with the hole `day`.
    pub day_of_month: &'static str,
    /// A day without its year, with the holes `day` and `month`.
    pub day: &'static str,
    /// A day with the holes `day`, `month` and `year`.
    pub day_and_year: &'static str,
}

impl Language {
    /// The language whose texts are used where another one has none.
    pub const ENGLISH: Self = Self(0);

    /// Returns all languages, English first.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..LANGUAGES.len()).map(Self)
    }

    /// Returns the language of a tag such as `sv`, `sv-SE` or `sv_SE.UTF-8`, and English for a tag
    /// without a folder.
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

    /// Returns the tag, which is the name of the folder.
    pub fn tag(self) -> &'static str {
        LANGUAGES[self.0].tag
    }

    /// Returns the language's own name.
    pub fn name(self) -> &'static str {
        LANGUAGES[self.0].name
    }

    /// Whether nobody who speaks the language has read its texts yet.
    pub fn is_draft(self) -> bool {
        LANGUAGES[self.0].is_draft
    }

    /// Returns the culture code that a shop is asked with, such as `sv-SE`. English has none.
    pub fn culture(self) -> Option<&'static str> {
        LANGUAGES[self.0].culture
    }

    /// Returns the text in this language. If it is missing, returns the English one or any other.
    pub fn pick<T>(self, texts: &BTreeMap<String, T>) -> Option<&T> {
        let english = Self::ENGLISH.tag();
        texts.get(self.tag()).or_else(|| texts.get(english)).or_else(|| texts.values().next())
    }

    /// Returns how the language writes numbers and days.
    pub fn formats(self) -> &'static Formats {
        &LANGUAGES[self.0].formats
    }

    /// Returns a text, in English if the language lacks it, and the key if there is none.
    pub fn text(self, area: &str, key: &'static str) -> &'static str {
        self.forms(area, key).map_or(key, |forms| forms.other)
    }

    /// Returns the form of a text for a number.
    pub fn counted_text(self, area: &str, key: &'static str, count: u64) -> &'static str {
        let form = |forms: Forms| if count == 1 { forms.one } else { forms.other };
        self.forms(area, key).map_or(key, form)
    }

    /// Returns a sentence that the host says in this language. Its key is the English sentence with
    /// its holes. None if the language lacks it.
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

/// Fills the holes of a text: `{name}` becomes the value of `name`. A value is not read for holes.
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
