//! The sections of the handbook in one language, and the order in which they fit some words. A section is
//! ranked by BM25 over its fields, in which rare words count more and long texts less.

use std::collections::{BTreeMap, HashMap};

use language::typo_cost;
use messages::Language;

use super::words::{Term, Words};

/// The weight of a field at which a further word in it adds half as much.
const SATURATION: f64 = 1.2;
/// How much a long field counts less, from 0 to 1.
const LENGTH: f64 = 0.5;
/// How much better a section fits whose heading says nothing else.
const HEADING: f64 = 0.1;
/// How much a word counts that is only in the text of a section, from 0 to 1.
const ONLY_IN_TEXT: f64 = 0.7;
/// The least share of the words, by weight, that the section of a question has to be about.
const SHARE: f64 = 0.5;
/// The same for a question that asks how something is done.
const SHARE_IF_HOW: f64 = 0.45;
/// The least share of a section that is near.
const NEAR: f64 = 0.25;
/// The least score of a section.
const SCORE: f64 = 1.8;
/// The least score of a section for one word alone, which says less about the question.
const SCORE_OF_ONE: f64 = 2.5;
/// The same for a question that asks how something is done.
const SCORE_OF_ONE_IF_HOW: f64 = 1.3;
/// Two sections fit equally well if the score of the second is at least this share of the first.
const TIE: f64 = 0.98;
/// The fewest letters of a part of a compound.
const PART: usize = 3;
/// The fewest letters of a part of a compound whose other part is not known.
const LONG_PART: usize = 5;
/// The fewest letters of a word with a typing error.
const TYPO: usize = 7;
/// The most bytes of a word that is a compound or has a typing error.
const LONGEST: usize = 40;

/// A field of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Heading,
    /// Words with which the section is asked for alone.
    Topic,
    /// Questions as people ask them.
    Asked,
    /// Other words for the task.
    Also,
    Text,
}

impl Field {
    const ALL: [Self; 5] = [Self::Heading, Self::Topic, Self::Asked, Self::Also, Self::Text];

    fn weight(self) -> f64 {
        match self {
            Self::Heading | Self::Topic => 3.0,
            Self::Asked | Self::Also => 2.0,
            Self::Text => 1.0,
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
    /// The stems of the fields, in the order of `Field::ALL`.
    fields: [Vec<String>; 5],
    terms: HashMap<String, Use>,
}

/// How a section uses a word.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    /// From 0 to 1.
    weight: f64,
    /// Whether the word is not only in the text.
    is_named: bool,
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
    /// The number of words that the section is not about.
    pub(super) left: usize,
    score: f64,
    /// The share of the words that the section has, by weight.
    share: f64,
    /// Whether a word is not only in the text.
    is_named: bool,
}

impl Fit {
    /// Whether the section answers a question with this number of words.
    pub(super) fn is_enough(&self, words: usize, asks_how: bool) -> bool {
        let share = if asks_how { SHARE_IF_HOW } else { SHARE };
        // Half of the words may be about the product by chance.
        let is_about_most = asks_how || 2 * self.left < words;
        let score = match (words, asks_how) {
            (0 | 1, true) => SCORE_OF_ONE_IF_HOW,
            (0 | 1, false) => SCORE_OF_ONE,
            (_, _) => SCORE,
        };
        is_about_most && self.is_named && self.share >= share && self.score >= score
    }

    pub(super) fn is_near(&self) -> bool {
        self.is_named && self.share >= NEAR
    }

    pub(super) fn ties_with(&self, next: &Self) -> bool {
        next.score >= TIE * self.score
    }
}

impl Handbook {
    pub(super) fn new(language: Language, text: &'static str, words: &str) -> Self {
        let words = Words::new(words);
        let mut sections: Vec<Entry> =
            text.split("\n## ").skip(1).filter_map(|part| read_section(part, &words)).collect();
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        let averages = average_lengths(&sections);
        for section in &mut sections {
            section.weigh_terms(averages);
            for term in section.terms.keys() {
                *counts.entry(term.clone()).or_default() += 1;
            }
        }
        Self { language, words, sections, counts }
    }

    /// Returns how well the sections fit the terms, best first. No section is about a number.
    pub(super) fn rank(&self, terms: &[Term], has_number: bool) -> Vec<Fit> {
        let asked: Vec<Vec<String>> = terms.iter().map(|term| self.known(&term.stem)).collect();
        let mut stems: Vec<&String> = asked.iter().flatten().collect();
        stems.sort();
        stems.dedup();
        let of_number = if has_number { self.weight("") } else { 0.0 };
        let all: f64 = stems.iter().map(|stem| self.weight(stem)).sum::<f64>() + of_number;
        let fit = |(at, section): (usize, &Entry)| {
            let left = asked.iter().filter(|parts| !parts.iter().any(|part| section.has(part)));
            let left = left.count() + usize::from(has_number);
            Fit { at, left, ..self.fit(section, &stems, all) }
        };
        let mut fits: Vec<Fit> = self.sections.iter().enumerate().map(fit).collect();
        fits.sort_by(|a, b| b.score.total_cmp(&a.score));
        fits
    }

    fn fit(&self, section: &Entry, stems: &[&String], all: f64) -> Fit {
        let (mut score, mut share, mut of_heading) = (0.0, 0.0, 0.0);
        let mut is_named = false;
        for stem in stems {
            let Some(found) = section.terms.get(*stem) else { continue };
            let weight = self.weight(stem);
            score += weight * found.weight;
            share += if found.is_named { weight } else { ONLY_IN_TEXT * weight };
            is_named |= found.is_named;
            of_heading += f64::from(u8::from(section.fields[0].contains(*stem)));
        }
        let length = u32::try_from(section.fields[0].len()).unwrap_or(u32::MAX);
        score *= 1.0 + HEADING * of_heading / f64::from(length.max(1));
        Fit { at: 0, left: 0, score, share: if all > 0.0 { share / all } else { 0.0 }, is_named }
    }

    /// Weighs a word by how few sections have it.
    fn weight(&self, stem: &str) -> f64 {
        let count = f64::from(self.counts.get(stem).copied().unwrap_or(0));
        let sections = f64::from(u32::try_from(self.sections.len()).unwrap_or(u32::MAX));
        (1.0 + (sections - count + 0.5) / (count + 0.5)).ln()
    }

    /// Whether a word is in the handbook, or has no meaning in its language.
    pub(super) fn knows(&self, word: &str) -> bool {
        self.words.is_empty(word) || self.counts.contains_key(self.words.stem(word))
    }

    /// Returns the words of the handbook that a word means: itself, the parts of a compound, or the word
    /// of which it is a misspelling. Returns the word if the handbook has none of them.
    fn known(&self, stem: &str) -> Vec<String> {
        if self.counts.contains_key(stem) || stem.len() > LONGEST {
            return vec![stem.to_owned()];
        }
        let parts = self.parts_of(stem);
        if !parts.is_empty() {
            return parts;
        }
        let is_near = |known: &&String| {
            known.len().abs_diff(stem.len()) <= 1
                && known.chars().count() >= TYPO
                && typo_cost(stem, known).is_some_and(|cost| cost <= 1)
        };
        let is_long = stem.chars().count() >= TYPO;
        let meant = if is_long { self.counts.keys().find(is_near) } else { None };
        vec![meant.map_or_else(|| stem.to_owned(), Clone::clone)]
    }

    /// Returns the known parts of a compound, such as those of "datasource". A language without them has
    /// none: a "backpack" is no pack.
    fn parts_of(&self, stem: &str) -> Vec<String> {
        let Some(joint) = &self.words.joint else { return Vec::new() };
        let places = || stem.char_indices().map(|(at, _)| at).filter(|at| *at >= PART);
        let both = places().rev().filter(|at| stem.len() - at >= PART).find_map(|at| {
            let (first, rest) = stem.split_at(at);
            Some(vec![self.part(first, joint)?, self.part(rest, joint)?])
        });
        let is_long = |part: &&str| part.len() >= LONG_PART && self.counts.contains_key(*part);
        let one = || {
            let last = places().map(|at| &stem[at..]).find(is_long);
            let first = || places().rev().map(|at| &stem[..at]).find(is_long);
            last.or_else(first).map(|part| vec![part.to_owned()])
        };
        both.or_else(one).unwrap_or_default()
    }

    /// Returns a part of a compound as the handbook has it. A joint may be between two parts.
    fn part(&self, part: &str, joint: &str) -> Option<String> {
        let forms = [part, self.words.stem(part), part.strip_suffix(joint).unwrap_or(part)];
        let is_known = |form: &&str| form.len() >= PART && self.counts.contains_key(*form);
        forms.into_iter().find(is_known).map(str::to_owned)
    }
}

impl Entry {
    fn has(&self, stem: &str) -> bool {
        self.terms.contains_key(stem)
    }

    /// Weighs each word of the section by the fields that have it.
    fn weigh_terms(&mut self, averages: [f64; 5]) {
        let mut terms: HashMap<String, Use> = HashMap::new();
        for ((field, stems), average) in Field::ALL.into_iter().zip(&self.fields).zip(averages) {
            let length = f64::from(u32::try_from(stems.len()).unwrap_or(u32::MAX));
            let weight = field.weight() / (1.0 - LENGTH + LENGTH * length / average);
            for stem in stems {
                let found = terms.entry(stem.clone()).or_default();
                found.weight += weight;
                found.is_named |= field != Field::Text;
            }
        }
        for found in terms.values_mut() {
            found.weight /= SATURATION + found.weight;
        }
        self.terms = terms;
    }
}

/// Returns the average length of each field.
fn average_lengths(sections: &[Entry]) -> [f64; 5] {
    let count = |length: usize| f64::from(u32::try_from(length).unwrap_or(u32::MAX));
    let all = count(sections.len().max(1));
    std::array::from_fn(|field| {
        let sum: usize = sections.iter().map(|section| section.fields[field].len()).sum();
        (count(sum) / all).max(1.0)
    })
}

/// Reads a section: its heading, the comment with its id and other words, and its text.
fn read_section(part: &'static str, words: &Words) -> Option<Entry> {
    let (heading, rest) = part.split_once('\n')?;
    let (comment, text) = rest.trim_start().strip_prefix("<!--")?.split_once("-->")?;
    let field = |name: &str| {
        let value = |field: &'static str| field.trim().strip_prefix(name)?.strip_prefix(':');
        comment.split(';').find_map(value).unwrap_or_default().trim()
    };
    let fields = Field::ALL.map(|one| match one {
        Field::Heading => words.stems(heading),
        Field::Topic => words.stems(field("topic")),
        Field::Asked => words.stems(field("asked")),
        Field::Also => words.stems(field("also")),
        // A text that is too long for one message is read line by line.
        Field::Text => text.lines().flat_map(|line| words.stems(line)).collect(),
    });
    let title = language::tokens(heading);
    Some(Entry {
        id: field("id"),
        heading,
        text: text.trim(),
        title: title
            .into_iter()
            .filter(|token| token.kind != language::TokenKind::Punct)
            .map(|token| token.fold)
            .collect(),
        fields,
        terms: HashMap::new(),
    })
}
