//! The words around a question about the product in one language, and the stems of its other words.
//! The lists are in the files `words.LANG.txt`; their first lines explain them.

use std::collections::HashSet;

use language::{Token, TokenKind, fold};

use crate::pattern::{Index, Pattern};

/// The fewest letters before an ending of one letter, which may belong to a short word.
const LETTERS: usize = 4;

/// The fewest letters of a word that ends with two equal letters.
const SHORTEST: usize = 3;

/// A word of a question that has a meaning of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    /// The index of its token.
    pub(crate) token: usize,
    pub(super) stem: String,
}

#[derive(Debug)]
pub(super) struct Words {
    /// Phrases that ask how something is done.
    pub(super) how: Index<()>,
    /// Phrases that may ask about the product.
    pub(super) may: Index<()>,
    /// The stems of words with which a person tells the app to do something.
    verbs: HashSet<String>,
    empty: HashSet<String>,
    /// Endings of inflected words, longest first.
    endings: Vec<String>,
    /// The fewest letters before an ending.
    least: usize,
}

impl Words {
    /// Reads the lists of a file.
    pub(super) fn new(file: &str) -> Self {
        let list = |name: &str| {
            let line = file.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.unwrap_or_default().trim()
        };
        let folded = |name: &str| list(name).split_whitespace().map(fold);
        let phrases = |name: &str| {
            Index::new(list(name).split(';').map(|phrase| ((), Pattern::new(phrase))).collect())
        };
        let mut endings: Vec<String> = folded("endings").collect();
        endings.sort_by_key(|ending| std::cmp::Reverse(ending.len()));
        let mut words = Self {
            how: phrases("how"),
            may: phrases("may"),
            verbs: HashSet::new(),
            empty: folded("empty").collect(),
            endings,
            least: list("least").parse().unwrap_or(LETTERS),
        };
        words.verbs = folded("verbs").map(|verb| words.stem(&verb).to_owned()).collect();
        words
    }

    /// Whether a person tells the app to do something with this word.
    pub(super) fn is_verb(&self, term: &Term) -> bool {
        self.verbs.contains(&term.stem)
    }

    /// Returns the words with a meaning, each stem once.
    pub(super) fn terms(&self, tokens: &[Token]) -> Vec<Term> {
        let mut terms: Vec<Term> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            let is_term = token.kind == TokenKind::Word
                && token.fold.chars().count() > 1
                && !self.empty.contains(&token.fold);
            let stem = self.stem(&token.fold);
            if is_term && terms.iter().all(|term| term.stem != stem) {
                terms.push(Term { token: at, stem: stem.to_owned() });
            }
        }
        terms
    }

    /// Returns a word without its ending, and without the second of two equal last letters: "pin"
    /// and "pinned" are one word.
    pub(super) fn stem<'w>(&self, word: &'w str) -> &'w str {
        let stem = self
            .endings
            .iter()
            .filter_map(|ending| Some((word.strip_suffix(ending.as_str())?, ending.len())))
            .find(|(rest, ending)| rest.len() >= if *ending == 1 { LETTERS } else { self.least })
            .map_or(word, |(rest, _)| rest);
        let mut last = stem.char_indices().rev();
        match (last.next(), last.next()) {
            (Some((at, letter)), Some((_, before))) if letter == before && at >= SHORTEST => {
                &stem[..at]
            }
            (Some(_) | None, Some(_) | None) => stem,
        }
    }
}
