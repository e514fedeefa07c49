//! The lexicon: the words of each meaning, the endings of words, the words without meaning, and which
//! words of a trade mean the same. All of it is in files, one for each language; both languages are
//! always read. It must not know sources.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Deserialize;

use crate::{
    meaning::{Implied, Meaning},
    tokens::{Token, name_words, tokens},
};

const LANGUAGES: [&str; 2] =
    [include_str!("../lexicon/en.json"), include_str!("../lexicon/sv.json")];
const VOCABULARIES: [&str; 2] =
    [include_str!("../vocabulary/en.json"), include_str!("../vocabulary/sv.json")];

/// Words of this length have no form of an owner.
const OWNERLESS: usize = 3;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LanguageFile {
    language: String,
    endings: Vec<String>,
    /// Endings of forms for one thing: "the campaign" in one word.
    #[serde(default)]
    singular: Vec<String>,
    /// Endings of forms for certain things: "the campaigns" in one word.
    #[serde(default)]
    definite: Vec<String>,
    links: Vec<String>,
    /// Words for what an answer is for, which say nothing about it.
    purposes: Purposes,
    entries: Vec<Entry>,
    without_meaning: String,
    /// Words that say nothing, unless a name of the data has them.
    without_meaning_unless_named: String,
    /// Values that say that the name of their column holds.
    yes: Vec<String>,
    /// Values that say that it does not hold.
    no: Vec<String>,
    /// The words of the closed classes of the language, and its verbs and nouns without content, by class.
    light: BTreeMap<String, String>,
    /// The words that queries are said with.
    say: BTreeMap<String, String>,
}

/// The purpose of an answer: "for the board".
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Purposes {
    before: Vec<String>,
    nouns: Vec<String>,
}

/// The words of trades in a language.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VocabularyFile {
    /// The words that mean the same, by a name for them.
    concepts: BTreeMap<String, Vec<String>>,
    /// The words that mean the opposite of a concept.
    opposites: BTreeMap<String, Vec<String>>,
    /// The subjects of a question without a measure, the likely first.
    main: Vec<String>,
    /// Names of an amount that contains all others of its row.
    totals: Vec<String>,
    /// Words before the name of a part of another number.
    parts: Vec<String>,
    /// Measures of what is planned.
    planned: Vec<String>,
    /// The figures beside a verdict.
    judged: Vec<String>,
    /// Words of verdicts for the side of a plan that a thing is on.
    deviations: BTreeMap<String, Vec<String>>,
    /// Names of sources that name their rows, too.
    counted: Vec<String>,
    /// Adjectives that rank by a measure.
    adjectives: Vec<Adjective>,
    /// General words for amounts of money.
    amounts: Vec<Amounts>,
}

/// General words for amounts, and the concepts whose measures they may mean.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Amounts {
    /// The concepts of other kinds of amounts, whose measures the words do not mean.
    pub not: Vec<String>,
    /// The words.
    pub words: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Adjective {
    is: Implied,
    words: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    is: Meaning,
    words: Vec<String>,
    /// Words that another one only differs from by a diacritic, as they are written with it.
    #[serde(default)]
    written: Vec<String>,
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
    /// Endings of forms for one thing.
    pub singular: Vec<String>,
    /// Endings of forms for certain things.
    pub definite: Vec<String>,
    /// Letters between the parts of a compound.
    pub links: Vec<String>,
    compounds: HashMap<String, Meaning>,
    /// Words whose meaning depends on a diacritic, by their folded form: the spelling of each meaning.
    written: HashMap<String, Vec<(String, Meaning)>>,
    /// Names that mean the same, in folded form without spaces.
    pub concepts: BTreeMap<String, Vec<String>>,
    /// The concepts whose opposites words mean, by the words in folded form without spaces.
    pub opposites: HashMap<String, String>,
    /// The subjects of a question without a measure, as `concepts` names them.
    pub main: Vec<String>,
    /// Names of an amount that contains all others of its row, in folded form without spaces.
    pub totals: Vec<String>,
    /// Words before the name of a part of another number, such as "of which", in folded form.
    pub parts: Vec<Vec<String>>,
    /// Measures of what is planned, as `concepts` names them.
    pub planned: Vec<String>,
    /// The figures beside a verdict.
    pub judged: Vec<String>,
    /// Words of verdicts in folded form, by the side of a plan that a thing is on.
    pub deviations: BTreeMap<String, HashSet<String>>,
    /// Names of sources that name their rows, too, in folded form.
    counted: HashSet<String>,
    /// Values that say that the name of their column holds, in folded form.
    pub yes: HashSet<String>,
    /// Values that say that it does not hold, in folded form.
    pub no: HashSet<String>,
    /// General words for amounts, in folded form without spaces.
    pub amounts: Vec<Amounts>,
    /// Words that say nothing, unless a name has them.
    weak: HashSet<String>,
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
            singular: Vec::new(),
            definite: Vec::new(),
            links: Vec::new(),
            compounds: HashMap::new(),
            written: HashMap::new(),
            concepts: BTreeMap::new(),
            opposites: HashMap::new(),
            main: Vec::new(),
            totals: Vec::new(),
            parts: Vec::new(),
            planned: Vec::new(),
            judged: Vec::new(),
            deviations: BTreeMap::new(),
            counted: HashSet::new(),
            yes: HashSet::new(),
            no: HashSet::new(),
            amounts: Vec::new(),
            weak: HashSet::new(),
            said: HashMap::new(),
        };
        for file in LANGUAGES {
            lexicon.add_language(serde_json::from_str(file)?);
        }
        for file in VOCABULARIES {
            let file: VocabularyFile = serde_json::from_str(file)?;
            for (concept, words) in file.concepts {
                let keys = words.iter().map(|word| name_words(word).concat());
                lexicon.concepts.entry(concept).or_default().extend(keys);
            }
            for (concept, words) in file.opposites {
                let keys = words.iter().map(|word| name_words(word).concat());
                lexicon.opposites.extend(keys.map(|key| (key, concept.clone())));
            }
            lexicon.main.extend(file.main);
            lexicon.totals.extend(file.totals.iter().map(|word| name_words(word).concat()));
            lexicon.parts.extend(file.parts.iter().map(|words| name_words(words)));
            lexicon.planned.extend(file.planned);
            lexicon.judged.extend(file.judged);
            for (side, words) in file.deviations {
                let words = words.iter().map(|word| language::fold(word));
                lexicon.deviations.entry(side).or_default().extend(words);
            }
            lexicon.counted.extend(file.counted.iter().map(|word| language::fold(word)));
            for mut amounts in file.amounts {
                amounts.words.iter_mut().for_each(|word| *word = name_words(word).concat());
                lexicon.amounts.push(amounts);
            }
            for adjective in file.adjectives {
                let meaning = Meaning::Implied(adjective.is);
                adjective.words.iter().for_each(|phrase| lexicon.add_phrase(phrase, &meaning));
            }
        }
        Ok(lexicon)
    }

    fn add_phrase(&mut self, phrase: &str, meaning: &Meaning) {
        let words: Vec<String> = tokens(phrase).into_iter().map(|token| token.fold).collect();
        self.longest = self.longest.max(words.len());
        let meanings = self.phrases.entry(words.join(" ")).or_default();
        if !meanings.contains(meaning) {
            meanings.push(meaning.clone());
        }
    }

    /// Adds the forms of owners of words for times: "yesterday's". Short words have none: "v" is no "vs".
    fn add_owners(&mut self, words: &[String], meaning: &Meaning) {
        let is_long = |word: &&String| word.len() > OWNERLESS && !word.ends_with('s');
        for word in words.iter().filter(is_long) {
            self.add_phrase(&format!("{word}s"), meaning);
        }
    }

    fn add_language(&mut self, file: LanguageFile) {
        self.said.insert(file.language, file.say);
        for entry in file.entries {
            entry.words.iter().for_each(|phrase| self.add_phrase(phrase, &entry.is));
            if matches!(entry.is, Meaning::Unit(_) | Meaning::Month(_) | Meaning::Period(_)) {
                self.add_owners(&entry.words, &entry.is);
            }
            for written in entry.written {
                let spellings = self.written.entry(language::fold(&written)).or_default();
                spellings.push((written, entry.is.clone()));
            }
            let forms = entry.compound.into_iter();
            self.compounds.extend(forms.map(|form| (form, entry.is.clone())));
        }
        for before in &file.purposes.before {
            let phrases = file.purposes.nouns.iter().map(|noun| format!("{before} {noun}"));
            phrases.for_each(|phrase| self.add_phrase(&phrase, &Meaning::Filler));
        }
        for ending in file.endings {
            let (ending, instead) = ending.split_once('>').unwrap_or((&ending, ""));
            let pair = (ending.to_owned(), instead.to_owned());
            if !self.endings.contains(&pair) {
                self.endings.push(pair);
            }
        }
        self.singular.extend(file.singular);
        self.definite.extend(file.definite);
        for link in file.links {
            if !self.links.contains(&link) {
                self.links.push(link);
            }
        }
        self.yes.extend(file.yes);
        self.no.extend(file.no);
        let words = file.without_meaning.split_whitespace();
        self.empty.extend(words.map(language::fold));
        let light = file.light.values().flat_map(|words| words.split_whitespace());
        let weak = file.without_meaning_unless_named.split_whitespace().chain(light);
        self.weak.extend(weak.map(language::fold));
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

    /// Whether a token may have a meaning with the diacritics that it is written with: "år" is a year, and
    /// "är" is none. Without a diacritic, it may have both meanings.
    pub fn may_mean(&self, token: &Token, meaning: &Meaning) -> bool {
        let typed = token.raw.to_lowercase();
        let Some(spellings) = self.written.get(&token.fold).filter(|_| typed != token.fold) else {
            return true;
        };
        let mut own = spellings.iter().filter(|(_, own)| own == meaning).peekable();
        own.peek().is_none() || own.any(|(written, _)| *written == typed)
    }

    /// Returns the words that queries are said with in a language.
    pub fn words_of(&self, language: &str) -> Option<&BTreeMap<String, String>> {
        self.said.get(language)
    }

    /// Whether a folded word alone has a meaning, or belongs to the words without meaning.
    pub fn knows(&self, word: &str) -> bool {
        self.empty.contains(word) || self.phrases.contains_key(word)
    }

    /// Whether a folded word alone may have a meaning.
    pub fn has_meaning(&self, word: &str, meaning: &Meaning) -> bool {
        self.phrases.get(word).is_some_and(|meanings| meanings.contains(meaning))
    }

    /// Whether a folded word says nothing, or nothing unless a name has it.
    pub fn is_light(&self, word: &str) -> bool {
        self.is_empty_word(word) || self.is_weak_word(word)
    }

    /// Whether a folded word says nothing.
    pub fn is_empty_word(&self, word: &str) -> bool {
        self.empty.contains(word)
    }

    /// Returns the words for the rows of a source with a name: the name and those that mean the same.
    pub fn words_for_rows(&self, name: &str) -> Vec<String> {
        let same = self.concepts.values().find(|words| words.iter().any(|word| word == name));
        let same = same.cloned().unwrap_or_else(|| vec![name.to_owned()]);
        if same.iter().any(|word| self.counted.contains(word)) { same } else { Vec::new() }
    }

    /// Whether a folded word says nothing, unless a name has it.
    pub fn is_weak_word(&self, word: &str) -> bool {
        self.weak.contains(word)
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
        let (words, meanings) = lexicon.phrases_at(&asked, 0).pop().unwrap();
        assert!(words == 2 && meanings.contains(&Meaning::Rank(Rank::High)));
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
