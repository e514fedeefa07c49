//! Recognises questions about the product by their form, and finds their section.

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

/// The form of a question about the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// It asks how something is done: "how do I export a chart?"
    How,
    /// It may be about the product: "can I export a chart?"
    May,
    /// It tells the app to do something that no tool does: "export this chart".
    Order,
}

/// A message that may be a question about the product.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) form: Form,
    /// Its words with a meaning.
    pub(crate) terms: Vec<Term>,
    /// The indices of the words that would be the request without "how do I": those after the
    /// phrase, and the same with the words inside the phrase.
    pub(crate) requests: [Vec<usize>; 2],
    book: usize,
}

/// Reads a message. `words` are the indices of its words and numbers.
pub(crate) fn read(tokens: &[Token], words: &[usize]) -> Option<Asked> {
    let asks_how = |(book, text): (usize, &Handbook)| {
        let hits = text.words.how.find(tokens, words).into_iter();
        hits.map(|(_, hit, _)| (book, hit)).max_by_key(|(_, hit)| hit.score)
    };
    let how = BOOKS.iter().enumerate().filter_map(asks_how).max_by_key(|(_, hit)| hit.score);
    if let Some((book, hit)) = how {
        let terms = BOOKS[book].words.terms(tokens);
        let end = hit.used.last().copied().unwrap_or_default();
        let after: Vec<usize> = words.iter().copied().filter(|at| *at > end).collect();
        let inside = hit.used.iter().skip(1).chain(&after);
        let with_verb = inside.copied().collect();
        return Some(Asked { form: Form::How, terms, requests: [after, with_verb], book });
    }
    let form_in = |text: &Handbook, terms: &[Term]| {
        let may = || !terms.is_empty() && !text.words.may.find(tokens, words).is_empty();
        if is_order(text, terms, tokens) { Some(Form::Order) } else { may().then_some(Form::May) }
    };
    BOOKS.iter().enumerate().find_map(|(book, text)| {
        let terms = text.words.terms(tokens);
        let form = form_in(text, &terms)?;
        let asked = Asked { form, terms, requests: [Vec::new(), Vec::new()], book };
        asked.find_whole().is_some().then_some(asked)
    })
}

/// Whether a message tells the app to do something with a thing. No section takes a number.
fn is_order(text: &Handbook, terms: &[Term], tokens: &[Token]) -> bool {
    let verbs = terms.iter().filter(|term| text.words.is_verb(term)).count();
    let has_number = tokens.iter().any(|token| token.kind == TokenKind::Number);
    verbs > 0 && terms.len() > verbs && !has_number
}

impl Asked {
    /// Returns the language of the question.
    pub(crate) fn language(&self) -> Language {
        BOOKS[self.book].language
    }

    /// Returns the section that has all words of the question in its heading or its other words,
    /// and fits best.
    pub(crate) fn find_whole(&self) -> Option<Section> {
        let fits = BOOKS[self.book].rank(&self.terms);
        let (best, next) = (fits.first()?, fits.get(1));
        let is_clear = !next.is_some_and(|next| best.ties_with(next));
        (best.is_whole && is_clear).then(|| self.section(best))
    }

    /// Returns the answer to the question.
    pub(crate) fn find(&self, tokens: &[Token]) -> Answer {
        let fits = BOOKS[self.book].rank(&self.terms);
        let near = fits.first().filter(|best| best.is_near()).map(|best| self.section(best));
        let start = if self.terms.is_empty() { start_of(self.book) } else { None };
        if let Some(section) = start {
            return Answer::Section(section);
        }
        match &fits[..] {
            [best, next, ..] if best.is_enough() && best.ties_with(next) => {
                Answer::Between([self.section(best), self.section(next)])
            }
            [best, ..] if best.is_enough() => Answer::Section(self.section(best)),
            [] | [_, ..] => {
                Answer::Missing { language: self.language(), words: self.spelled(tokens), near }
            }
        }
    }

    /// Returns the first words of the question as typed.
    fn spelled(&self, tokens: &[Token]) -> Vec<String> {
        self.terms.iter().take(NAMED).map(|term| tokens[term.token].raw.clone()).collect()
    }

    fn section(&self, fit: &Fit) -> Section {
        Section { book: self.book, at: fit.at }
    }
}
