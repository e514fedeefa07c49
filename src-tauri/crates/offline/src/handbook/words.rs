//! The words of one language that the search of the handbook needs: words without a meaning, stems, and
//! the form of a question about how something is done. The lists are in the files `words.LANG.txt`,
//! whose first lines explain them.

use std::collections::HashSet;

use language::{Token, TokenKind, fold};

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
    empty: HashSet<String>,
    /// Endings of inflected words, longest first.
    endings: Vec<String>,
    /// The fewest letters before an ending.
    least: usize,
    /// The letters that may join the parts of a compound. None: the language has no compounds.
    pub(super) joint: Option<String>,
    /// Words that ask how something is done, before a verb and one of `people`.
    how: HashSet<String>,
    people: HashSet<String>,
    /// Words after `how` that ask for a figure or a state.
    figures: HashSet<String>,
    /// Words that ask what an act does, before one of `conditions`.
    happens: HashSet<String>,
    conditions: HashSet<String>,
    /// Words that suppose an act, before one of `conditions`.
    suppositions: HashSet<String>,
}

impl Words {
    /// Reads the lists of a file.
    pub(super) fn new(file: &str) -> Self {
        let list = |name: &str| {
            let line = file.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.unwrap_or_default().trim()
        };
        let folded =
            |name: &str| list(name).split_whitespace().map(fold).collect::<HashSet<String>>();
        let mut endings: Vec<String> = folded("endings").into_iter().collect();
        endings.sort_by(|a, b| (b.len(), a).cmp(&(a.len(), b)));
        Self {
            empty: folded("empty"),
            endings,
            least: list("least").parse().unwrap_or(LETTERS),
            joint: Some(fold(list("joint"))).filter(|joint| !joint.is_empty()),
            how: folded("how"),
            people: folded("people"),
            figures: folded("figures"),
            happens: folded("happens"),
            conditions: folded("if"),
            suppositions: folded("suppose"),
        }
    }

    /// Whether a word has no meaning of its own.
    pub(super) fn is_empty(&self, word: &str) -> bool {
        self.empty.contains(word)
    }

    /// Returns the first and the last word of "how do I", by their places in `words`.
    pub(super) fn find_how(&self, tokens: &[Token], words: &[usize]) -> Option<(usize, usize)> {
        let is_one = |list: &HashSet<String>, at: usize| {
            words.get(at).is_some_and(|word| list.contains(&tokens[*word].fold))
        };
        (0..words.len()).find_map(|at| {
            if is_one(&self.happens, at) && is_one(&self.conditions, at + 1) {
                let has_person = is_one(&self.people, at + 2);
                return Some((at, at + if has_person { 2 } else { 1 }));
            }
            if !is_one(&self.how, at) || is_one(&self.figures, at + 1) {
                return None;
            }
            let person = [at + 1, at + 2].into_iter().find(|next| is_one(&self.people, *next));
            person.map(|person| (at, person))
        })
    }

    /// Returns the last word of "what if I", by its place in `words`.
    pub(super) fn find_supposition(&self, tokens: &[Token], words: &[usize]) -> Option<usize> {
        let is_one = |list: &HashSet<String>, at: usize| {
            words.get(at).is_some_and(|word| list.contains(&tokens[*word].fold))
        };
        let begins = |at: &usize| {
            is_one(&self.suppositions, *at)
                && is_one(&self.conditions, at + 1)
                && is_one(&self.people, at + 2)
        };
        (0..words.len()).find(begins).map(|at| at + 2)
    }

    /// Returns the words with a meaning, each stem once.
    pub(super) fn terms(&self, tokens: &[Token]) -> Vec<Term> {
        let mut terms: Vec<Term> = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            if !self.is_term(token) {
                continue;
            }
            let stem = self.stem(&token.fold);
            if terms.iter().all(|term| term.stem != stem) {
                terms.push(Term { token: at, stem: stem.to_owned() });
            }
        }
        terms
    }

    /// Returns the stems of all words with a meaning in a text.
    pub(super) fn stems(&self, text: &str) -> Vec<String> {
        let tokens = language::tokens(text);
        let terms = tokens.iter().filter(|token| self.is_term(token));
        terms.map(|token| self.stem(&token.fold).to_owned()).collect()
    }

    fn is_term(&self, token: &Token) -> bool {
        token.kind == TokenKind::Word
            && token.fold.chars().count() > 1
            && !self.empty.contains(&token.fold)
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
