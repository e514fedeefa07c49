//! The handbook: answers questions about the product with a section of `docs/handbook.md`, in its
//! languages. It knows no phrase of a question; a section is found by its words, and its comment lists
//! questions as people ask them. Whether a message is for a pack is decided elsewhere.

mod asked;
mod sections;
mod words;

use std::sync::LazyLock;

use language::{Token, TokenKind};
use messages::Language;

use crate::pattern::word_indices;
use sections::Handbook;

pub(super) use asked::{Asked, read};

/// The tag, the text and the lists of words of each language.
const FILES: [(&str, &str, &str); 3] = [
    ("en", include_str!("../../../../../docs/handbook.md"), include_str!("words.en.txt")),
    ("sv", include_str!("../../../../../docs/handbook.sv.md"), include_str!("words.sv.txt")),
    ("de", include_str!("../../../../../docs/handbook.de.md"), include_str!("words.de.txt")),
];

/// The section that answers a question about the product without a subject: "how do I use this?"
const START: &str = "ask";

static BOOKS: LazyLock<Vec<Handbook>> = LazyLock::new(|| {
    let read = |(tag, text, words): (&str, _, _)| Handbook::new(Language::of_tag(tag), text, words);
    FILES.into_iter().map(read).collect()
});

/// A section of the handbook in one language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Section {
    book: usize,
    at: usize,
}

impl Section {
    /// Returns the id, which is the same in all languages.
    #[cfg(test)]
    pub(super) fn id(self) -> &'static str {
        BOOKS[self.book].sections[self.at].id
    }

    /// Returns the heading, which says the task.
    pub(super) fn heading(self) -> &'static str {
        BOOKS[self.book].sections[self.at].heading
    }

    /// Returns the text below the heading. Its last line says where the task is done.
    pub(super) fn text(self) -> &'static str {
        BOOKS[self.book].sections[self.at].text
    }

    pub(super) fn language(self) -> Language {
        BOOKS[self.book].language
    }
}

/// The answer to a question about the product.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Section(Section),
    /// Two sections fit equally well.
    Between([Section; 2]),
    /// A pack changes this if it is asked for: "how do I add something to the cart?"
    Request {
        language: Language,
        pack: usize,
    },
    /// The handbook has no section about these words, but may have some that are near.
    Missing {
        language: Language,
        words: Vec<String>,
        near: Vec<Section>,
    },
}

impl Answer {
    /// Returns the language of the question.
    pub(super) fn language(&self) -> Language {
        match self {
            Self::Section(section) | Self::Between([section, _]) => section.language(),
            Self::Request { language, .. } | Self::Missing { language, .. } => *language,
        }
    }
}

/// Returns the section whose heading is the whole message, such as the label of a button.
pub(super) fn find_title(tokens: &[Token]) -> Option<Section> {
    let said: Vec<&str> = tokens
        .iter()
        .filter(|token| token.kind != TokenKind::Punct)
        .map(|token| token.fold.as_str())
        .collect();
    all_sections().find(|section| BOOKS[section.book].sections[section.at].title == said)
}

/// Returns the sections that are nearest to a message that was not understood.
pub(super) fn find_nearest(words: &[String]) -> Vec<Section> {
    let tokens = language::tokens(&words.join(" "));
    let words = word_indices(&tokens);
    read(&tokens, &words).map(|asked| asked.find_near()).unwrap_or_default()
}

/// Whether a message asks how something is done.
pub(super) fn asks_how(message: &str) -> bool {
    let tokens = language::tokens(message);
    read(&tokens, &word_indices(&tokens)).is_some_and(|asked| asked.asks_how)
}

/// Returns the number of words of a message that a section is not about.
pub(super) fn words_left(tokens: &[Token], words: &[usize], section: Section) -> usize {
    read(tokens, words).map_or(0, |asked| asked.words_left(section))
}

/// Returns the words of the texts in a language, folded. They are no misspelled words of a pack.
pub(super) fn words_of(language: Language) -> impl Iterator<Item = String> {
    let sections = all_sections().filter(move |section| section.language() == language);
    let lines = sections.flat_map(|section| section.text().lines());
    let tokens = lines.flat_map(language::tokens);
    tokens.filter(|token| token.kind == TokenKind::Word).map(|token| token.fold)
}

/// Returns all sections, by language and in the order of the handbook.
pub(super) fn all_sections() -> impl Iterator<Item = Section> {
    BOOKS
        .iter()
        .enumerate()
        .flat_map(|(book, text)| (0..text.sections.len()).map(move |at| Section { book, at }))
}

/// Returns the section with which a person starts.
fn start_of(book: usize) -> Option<Section> {
    let at = BOOKS[book].sections.iter().position(|section| section.id == START)?;
    Some(Section { book, at })
}
