//! The sections of the handbook in one language, and the order in which they fit some words.

use std::collections::{BTreeMap, HashMap};

use language::typo_cost;
use messages::Language;

use super::words::{Term, Words};

/// The least share of the words, by weight, that a section has to be about them.
const SHARE: f64 = 0.6;
/// The least share of a section that is near.
const NEAR: f64 = 0.35;
/// Two sections fit equally well if the score of the second is at least this share of the first.
const TIE: f64 = 0.95;
/// The number of sections in which a word occurs that occurs nowhere.
const UNKNOWN: f64 = 0.5;
/// The fewest letters of a word with a typing error.
const TYPO: usize = 5;

/// The part of a section that has a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Text,
    /// The other words for the task.
    Also,
    Heading,
    /// The section answers a question with this word alone.
    Topic,
}

impl Part {
    fn weight(self) -> f64 {
        match self {
            Self::Text => 0.8,
            Self::Also => 2.0,
            Self::Heading => 3.0,
            Self::Topic => 3.5,
        }
    }
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) id: &'static str,
    pub(super) heading: &'static str,
    pub(super) text: &'static str,
    /// The folded words of the heading.
    pub(super) title: Vec<String>,
    /// The number of terms in the heading.
    length: u32,
    parts: HashMap<String, Part>,
}

#[derive(Debug)]
pub(super) struct Handbook {
    pub(super) language: Language,
    pub(super) words: Words,
    pub(super) sections: Vec<Entry>,
    /// The number of sections that have a word.
    counts: BTreeMap<String, u32>,
}

/// How well a section fits the words of a question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    pub(super) at: usize,
    score: f64,
    /// The share of the words that the section has, by weight.
    share: f64,
    /// Whether a word is in the heading or the other words.
    is_named: bool,
    /// Whether all words are there.
    pub(super) is_whole: bool,
}

impl Fit {
    pub(super) fn is_enough(&self) -> bool {
        self.is_named && self.share >= SHARE
    }

    pub(super) fn is_near(&self) -> bool {
        self.is_named && self.share >= NEAR
    }

    pub(super) fn ties_with(&self, next: &Self) -> bool {
        next.is_enough() && next.score >= TIE * self.score
    }
}

impl Handbook {
    pub(super) fn new(language: Language, text: &'static str, words: &str) -> Self {
        let words = Words::new(words);
        let sections: Vec<Entry> =
            text.split("\n## ").skip(1).filter_map(|part| read_section(part, &words)).collect();
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for term in sections.iter().flat_map(|section| section.parts.keys()) {
            *counts.entry(term.clone()).or_default() += 1;
        }
        Self { language, words, sections, counts }
    }

    /// Returns how well the sections fit the terms, best first.
    pub(super) fn rank(&self, terms: &[Term]) -> Vec<Fit> {
        let stems: Vec<&str> = terms.iter().map(|term| self.correct(&term.stem)).collect();
        let all: f64 = stems.iter().map(|stem| self.weight(stem)).sum();
        let mut fits: Vec<Fit> = self
            .sections
            .iter()
            .enumerate()
            .map(|(at, section)| self.fit(at, section, &stems, all))
            .collect();
        fits.sort_by(|a, b| b.score.total_cmp(&a.score));
        fits
    }

    fn fit(&self, at: usize, section: &Entry, stems: &[&str], all: f64) -> Fit {
        let (mut score, mut share, mut of_heading) = (0.0, 0.0, 0.0);
        let (mut is_named, mut is_whole) = (false, !stems.is_empty());
        for stem in stems {
            let part = section.parts.get(*stem).copied();
            let weight = self.weight(stem);
            score += weight * part.map_or(0.0, Part::weight);
            share += part.map_or(0.0, |_| weight);
            of_heading += f64::from(u8::from(part >= Some(Part::Heading)));
            is_named |= part >= Some(Part::Also);
            is_whole &= part >= Some(Part::Also);
        }
        // A heading that says nothing else fits better.
        score *= 1.0 + 0.1 * of_heading / f64::from(section.length.max(1));
        Fit { at, score, share: if all > 0.0 { share / all } else { 0.0 }, is_named, is_whole }
    }

    /// Weighs a word by how few sections have it.
    fn weight(&self, stem: &str) -> f64 {
        let count = self.counts.get(stem).map_or(UNKNOWN, |count| f64::from(*count));
        let sections = u32::try_from(self.sections.len()).unwrap_or(u32::MAX);
        (1.0 + f64::from(sections) / count).ln()
    }

    /// Returns the word of the handbook of which a word is a misspelling.
    fn correct<'s>(&'s self, stem: &'s str) -> &'s str {
        if self.counts.contains_key(stem) || stem.chars().count() < TYPO {
            return stem;
        }
        let is_near = |known: &&String| {
            known.chars().count() >= TYPO && typo_cost(stem, known).is_some_and(|cost| cost <= 1)
        };
        self.counts.keys().find(is_near).map_or(stem, String::as_str)
    }
}

/// Reads a section: its heading, the comment with its id and other words, and its text.
fn read_section(part: &'static str, words: &Words) -> Option<Entry> {
    let (heading, rest) = part.split_once('\n')?;
    let (comment, text) = rest.trim_start().strip_prefix("<!--")?.split_once("-->")?;
    let field = |name: &str| {
        let value = |field: &'static str| field.trim().strip_prefix(name)?.strip_prefix(':');
        comment.split(';').find_map(value).unwrap_or_default().trim()
    };
    let heading_tokens = language::tokens(heading);
    let heading_terms = words.terms(&heading_tokens);
    let mut parts = HashMap::new();
    let mut add = |terms: Vec<Term>, part: Part| {
        for term in terms {
            let known = parts.entry(term.stem).or_insert(part);
            *known = part.max(*known);
        }
    };
    let length = u32::try_from(heading_terms.len()).unwrap_or(u32::MAX);
    add(heading_terms, Part::Heading);
    add(words.terms(&language::tokens(field("also"))), Part::Also);
    add(words.terms(&language::tokens(field("topic"))), Part::Topic);
    for line in text.lines() {
        add(words.terms(&language::tokens(line)), Part::Text);
    }
    Some(Entry {
        id: field("id"),
        heading,
        text: text.trim(),
        title: heading_tokens
            .into_iter()
            .filter(|token| token.kind != language::TokenKind::Punct)
            .map(|token| token.fold)
            .collect(),
        length,
        parts,
    })
}
