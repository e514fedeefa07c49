//! Finds the section that answers a message about the product.

use language::{Token, TokenKind};
use messages::Language;

use super::{
    Answer, BOOKS, Section,
    sections::{Fit, Handbook},
    start_of,
    words::Term,
};

/// The most words that a refusal names.
const NAMED: usize = 3;

/// The most sections that a refusal offers.
pub(super) const OFFERED: usize = 2;

/// A message that may be a question about the product.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// Whether it asks how something is done, or what an act does.
    pub(crate) asks_how: bool,
    /// Its words with a meaning.
    pub(crate) terms: Vec<Term>,
    /// The indices of the words that would be the request without "how do I" or "what if I": those
    /// after the phrase, and the same with the words inside the phrase.
    pub(crate) requests: [Vec<usize>; 2],
    has_number: bool,
    book: usize,
    /// The sections, best first.
    fits: Vec<Fit>,
}

/// Reads a message. `words` are the indices of its words and numbers. None: none of its words has a
/// meaning.
pub(crate) fn read(tokens: &[Token], words: &[usize]) -> Option<Asked> {
    let asks_how = |(book, text): (usize, &Handbook)| {
        text.words.find_how(tokens, words).map(|found| (book, found))
    };
    let how = BOOKS.iter().enumerate().find_map(asks_how);
    let book = how.map_or_else(|| choose_book(tokens), |(book, _)| book);
    let terms = BOOKS[book].words.terms(tokens);
    if terms.is_empty() && how.is_none() {
        return None;
    }
    let after = |place: usize| words.get(place + 1..).unwrap_or_default().to_vec();
    let supposed = || BOOKS[book].words.find_supposition(tokens, words);
    let requests = match how {
        Some((_, (first, last))) => [after(last), after(first)],
        None => supposed().map(|last| [after(last), Vec::new()]).unwrap_or_default(),
    };
    let has_number = words.iter().any(|word| tokens[*word].kind == TokenKind::Number);
    let fits = BOOKS[book].rank(&terms, has_number);
    Some(Asked { asks_how: how.is_some(), terms, requests, has_number, book, fits })
}

/// Returns the book in whose language most words are.
fn choose_book(tokens: &[Token]) -> usize {
    let known = |text: &Handbook| {
        let words = tokens.iter().filter(|token| token.kind == TokenKind::Word);
        let is_empty = |token: &&Token| text.words.is_empty(&token.fold);
        let known = words.clone().filter(|token| text.knows(&token.fold)).count();
        known + words.filter(is_empty).count()
    };
    let counts = BOOKS.iter().map(known).enumerate();
    // Of equal ones, the first.
    counts.rev().max_by_key(|(_, count)| *count).map_or(0, |(book, _)| book)
}

impl Asked {
    /// Returns the language of the question.
    pub(crate) fn language(&self) -> Language {
        BOOKS[self.book].language
    }

    /// Returns the section that answers the question, and the number of words that it is not about. A
    /// message that only might be a question about the product has no number.
    pub(crate) fn find_section(&self) -> Option<(Section, usize)> {
        let best = self.fits.first().filter(|best| self.is_enough(best))?;
        (self.asks_how || !self.has_number).then(|| (self.section(best), best.left))
    }

    /// Returns the answer to the question.
    pub(crate) fn find(&self, tokens: &[Token]) -> Answer {
        let start = if self.terms.is_empty() { start_of(self.book) } else { None };
        if let Some(section) = start {
            return Answer::Section(section);
        }
        match &self.fits[..] {
            [best, next, ..] if self.is_enough(next) && best.ties_with(next) => {
                Answer::Between([self.section(best), self.section(next)])
            }
            [best, ..] if self.is_enough(best) => Answer::Section(self.section(best)),
            [] | [_, ..] => Answer::Missing {
                language: self.language(),
                words: self.spelled(tokens),
                near: self.find_near(),
            },
        }
    }

    /// Returns the nearest sections.
    pub(super) fn find_near(&self) -> Vec<Section> {
        let near = self.fits.iter().filter(|fit| fit.is_near());
        near.take(OFFERED).map(|fit| self.section(fit)).collect()
    }

    /// Returns the number of words that a section is not about. A question about how something is done
    /// is only about the product, so none is left.
    pub(super) fn words_left(&self, section: Section) -> usize {
        let is_its = |fit: &&Fit| self.section(fit) == section;
        let fit = self.fits.iter().find(is_its).filter(|_| !self.asks_how);
        fit.map_or(0, |fit| fit.left)
    }

    fn is_enough(&self, fit: &Fit) -> bool {
        fit.is_enough(self.terms.len(), self.asks_how)
    }

    /// Returns the first words of the question as typed.
    fn spelled(&self, tokens: &[Token]) -> Vec<String> {
        self.terms.iter().take(NAMED).map(|term| tokens[term.token].raw.clone()).collect()
    }

    fn section(&self, fit: &Fit) -> Section {
        Section { book: self.book, at: fit.at }
    }
}
