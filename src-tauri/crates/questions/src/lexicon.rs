//! The lexicon: the words of each meaning, the endings of words, the words without meaning, and which
//! words of a trade mean the same. All of it is in files, one for each language; both languages are
//! always read. It must not know sources.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Deserialize;

use crate::{
    meaning::Meaning,
    tokens::{Token, name_words, tokens},
};

const LANGUAGES: [&str; 2] =
    [include_str!("../lexicon/en.json"), include_str!("../lexicon/sv.json")];
const VOCABULARIES: [&str; 2] =
    [include_str!("../vocabulary/en.json"), include_str!("../vocabulary/sv.json")];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LanguageFile {
    language: String,
    endings: Vec<String>,
    links: Vec<String>,
    entries: Vec<Entry>,
    without_meaning: String,
    /// The words that queries are said with.
    say: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    is: Meaning,
    words: Vec<String>,
    /// The forms before another word in a compound.
    #[serde(default)]
    compound: Vec<String>,
}

/// The words of all languages.
#[derive(Debug)]
pub(crate) struct Lexicon {
    phrases: HashMap<String, Vec<Meaning>>,
    /// The most words of a phrase.
    longest: usize,
    empty: HashSet<String>,
    /// Endings of words with the letters that take their place.
    endings: Vec<(String, String)>,
    /// Letters between the parts of a compound.
    pub links: Vec<String>,
    compounds: HashMap<String, Meaning>,
    /// Names that mean the same, in folded form without spaces.
    pub concepts: Vec<Vec<String>>,
    /// The words that queries are said with, by language.
    said: HashMap<String, BTreeMap<String, String>>,
}

impl Lexicon {
    /// Reads the files of all languages.
    pub fn new() -> Result<Self, serde_json::Error> {
        let mut lexicon = Self {
            phrases: HashMap::new(),
            longest: 1,
            empty: HashSet::new(),
            endings: Vec::new(),
            links: Vec::new(),
            compounds: HashMap::new(),
            concepts: Vec::new(),
            said: HashMap::new(),
        };
        for file in LANGUAGES {
            lexicon.add_language(serde_json::from_str(file)?);
        }
        let mut concepts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for file in VOCABULARIES {
            let words: BTreeMap<String, Vec<String>> = serde_json::from_str(file)?;
            for (concept, words) in words {
                let keys = words.iter().map(|word| name_words(word).concat());
                concepts.entry(concept).or_default().extend(keys);
            }
        }
        lexicon.concepts = concepts.into_values().collect();
        Ok(lexicon)
    }

    fn add_language(&mut self, file: LanguageFile) {
        self.said.insert(file.language, file.say);
        for entry in file.entries {
            for phrase in &entry.words {
                let words: Vec<String> =
                    tokens(phrase).into_iter().map(|token| token.fold).collect();
                self.longest = self.longest.max(words.len());
                let meanings = self.phrases.entry(words.join(" ")).or_default();
                if !meanings.contains(&entry.is) {
                    meanings.push(entry.is.clone());
                }
            }
            let forms = entry.compound.into_iter();
            self.compounds.extend(forms.map(|form| (form, entry.is.clone())));
        }
        for ending in file.endings {
            let (ending, instead) = ending.split_once('>').unwrap_or((&ending, ""));
            let pair = (ending.to_owned(), instead.to_owned());
            if !self.endings.contains(&pair) {
                self.endings.push(pair);
            }
        }
        for link in file.links {
            if !self.links.contains(&link) {
                self.links.push(link);
            }
        }
        let words = file.without_meaning.split_whitespace();
        self.empty.extend(words.map(language::fold));
    }

    /// Returns the phrases that begin at a token: their lengths and meanings.
    pub fn phrases_at(&self, tokens: &[Token], at: usize) -> Vec<(usize, &[Meaning])> {
        let mut key = String::new();
        let mut found = Vec::new();
        for (count, token) in tokens[at..].iter().take(self.longest).enumerate() {
            if count > 0 {
                key.push(' ');
            }
            key.push_str(&token.fold);
            if let Some(meanings) = self.phrases.get(&key) {
                found.push((count + 1, meanings.as_slice()));
            }
        }
        found
    }

    /// Returns the words that queries are said with in a language.
    pub fn words_of(&self, language: &str) -> Option<&BTreeMap<String, String>> {
        self.said.get(language)
    }

    /// Whether a folded word alone has a meaning, or belongs to the words without meaning.
    pub fn knows(&self, word: &str) -> bool {
        self.empty.contains(word) || self.phrases.contains_key(word)
    }

    /// Whether a folded word says nothing.
    pub fn is_empty_word(&self, word: &str) -> bool {
        self.empty.contains(word)
    }

    /// Returns the meaning of the first part of a compound, such as "week" of "weekly cost" in Swedish.
    pub fn first_part(&self, word: &str) -> Option<&Meaning> {
        self.compounds.get(word)
    }

    /// Returns a word without each ending that it may have, the word itself first.
    pub fn bases(&self, word: &str) -> Vec<String> {
        let mut bases = vec![word.to_owned()];
        for (ending, instead) in &self.endings {
            if let Some(rest) = word.strip_suffix(ending.as_str())
                && rest.len() >= 3
            {
                let base = format!("{rest}{instead}");
                if !bases.contains(&base) {
                    bases.push(base);
                }
            }
        }
        bases
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::Rank;

    #[test]
    fn the_files_of_all_languages_are_read() {
        let lexicon = Lexicon::new().unwrap();
        let asked = tokens("de flesta broken down by");
        assert_eq!(
            lexicon.phrases_at(&asked, 0).last(),
            Some(&(2, [Meaning::Rank(Rank::High)].as_slice()))
        );
        assert_eq!(lexicon.phrases_at(&asked, 2).last(), Some(&(3, [Meaning::By].as_slice())));
        assert!(lexicon.bases("cities").contains(&"city".to_owned()));
        assert!(lexicon.bases("utfallet").contains(&"utfall".to_owned()));
        assert!(lexicon.is_empty_word("please") && lexicon.is_empty_word("tack"));
    }

    #[test]
    fn words_are_written_in_folded_form_where_they_are_looked_up() {
        for file in LANGUAGES {
            let file: LanguageFile = serde_json::from_str(file).unwrap();
            for entry in file.entries {
                for word in entry.words {
                    assert_eq!(language::fold(&word), word, "write it without diacritics");
                }
            }
        }
    }
}
