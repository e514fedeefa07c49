//! Names of states that people say with other words between their own: "haven't quite started", and in
//! Swedish the verb and its particle with the thing between them. It must not know which states there are.

use std::collections::{HashMap, HashSet};

use super::{Hit, How, Named, SourceNames};
use crate::{
    lexicon::Lexicon,
    meaning::{Meaning, Refer},
};

/// The names of states of a source.
#[derive(Debug, Default)]
pub(super) struct StateNames {
    /// Names of several words, without those that say nothing between the first and the last one.
    open: HashMap<String, Vec<Named>>,
    /// Names that begin with a verb such as "is", by all other words: the verb with the name.
    verbs: HashMap<String, Vec<(String, Named)>>,
    /// The words of all names.
    words: HashSet<String>,
}

impl StateNames {
    /// Adds a name.
    pub fn add(&mut self, words: &[String], named: &Named, lexicon: &Lexicon) {
        let [verb, rest @ ..] = words else { return };
        if rest.is_empty() {
            return;
        }
        self.words.extend(words.iter().cloned());
        let all: Vec<&str> = words.iter().map(String::as_str).collect();
        let key = kept(&all, |word| lexicon.is_empty_word(word)).concat();
        let known = self.open.entry(key).or_default();
        if !known.contains(named) {
            known.push(named.clone());
        }
        // A verb with its negation is not apart from the rest: "haven't started".
        let is_negated = lexicon.has_meaning(verb, &Meaning::Not);
        if lexicon.has_meaning(verb, &Meaning::IsIt) && !is_negated {
            self.verbs.entry(rest.concat()).or_default().push((verb.clone(), named.clone()));
        }
    }

    /// Returns the states that words name if those that say nothing between them are passed over, and the
    /// number of these.
    pub fn find_open(&self, words: &[&str], lexicon: &Lexicon) -> (usize, Vec<Hit>) {
        let is_passed = |word: &str| {
            let is_weak = lexicon.is_weak_word(word) || is_pronoun(word, lexicon);
            lexicon.is_empty_word(word) || (is_weak && !self.words.contains(word))
        };
        let kept = kept(words, is_passed);
        let found = if kept.len() < 2 { None } else { self.open.get(&kept.concat()) };
        (words.len() - kept.len(), hits(found.into_iter().flatten()))
    }

    /// Returns the states that words name behind one of some verbs.
    pub fn find_behind(&self, words: &[&str], is_verb: impl Fn(&str) -> bool) -> Vec<Hit> {
        let known = self.verbs.get(&words.concat());
        let named = known.into_iter().flatten().filter(|(verb, _)| is_verb(verb));
        hits(named.map(|(_, named)| named))
    }
}

impl SourceNames {
    /// Returns the states that the words of a span name with others between them, and the number of these.
    pub fn find_open(&self, words: &[&str], lexicon: &Lexicon) -> (usize, Vec<Hit>) {
        self.states.find_open(words, lexicon)
    }

    /// Returns the states that the words of a span name behind one of some verbs.
    pub fn find_behind(&self, words: &[&str], is_verb: impl Fn(&str) -> bool) -> Vec<Hit> {
        self.states.find_behind(words, is_verb)
    }
}

fn hits<'n>(named: impl Iterator<Item = &'n Named>) -> Vec<Hit> {
    named.map(|named| Hit { named: named.clone(), how: How::Synonym }).collect()
}

/// Returns words without those between the first and the last one that are passed over.
fn kept<'w>(words: &[&'w str], is_passed: impl Fn(&str) -> bool) -> Vec<&'w str> {
    let last = words.len().saturating_sub(1);
    let places = words.iter().enumerate();
    let kept = places.filter(|(at, word)| *at == 0 || *at == last || !is_passed(word));
    kept.map(|(_, word)| *word).collect()
}

/// Whether a word only refers to something.
fn is_pronoun(word: &str, lexicon: &Lexicon) -> bool {
    [Refer::It, Refer::Them, Refer::Their]
        .into_iter()
        .any(|refer| lexicon.has_meaning(word, &Meaning::Refer(refer)))
}
