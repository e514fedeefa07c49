//! Parts of the names of values: a segment between signs, or some words of a name. It must not know how
//! parts belong together.

use super::{Collector, Edge, PART, edge};
use crate::{
    items::Atom,
    meaning::Meaning,
    names::{LONGEST_NAME, Named, ends_with},
    numbers::quantity,
    periods::periods_at,
    tokens::Kind,
};

/// The cost of a whole segment of a name.
const SEGMENT: u32 = 20;
/// The cost that a segment has more which is not the last one.
const INNER: u32 = 4;
/// The most words of a part that is no segment.
const LONGEST_PART: usize = 3;
/// The most values that are named one by one.
const FEW: usize = 8;

impl Collector<'_> {
    /// Adds the values of which the words are only a part. Ordinary words must be marked as a name: by capital
    /// letters, by the dimension beside them, or because they are a segment of the name.
    pub(super) fn add_parts(
        &self,
        typed: &[&str],
        words: &[usize],
        cost: u32,
        edges: &mut Vec<Edge>,
    ) {
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
        let is_name = !words.iter().all(|at| self.is_ordinary(*at)) || self.are_marked(words);
        // A word that says nothing must be marked, whatever is beside it.
        let is_empty = |word: &&str| self.scan.lexicon.is_empty_word(word);
        let is_name = is_name || self.is_paired(words);
        if typed.iter().all(is_empty) && (!is_name || cost > 0) {
            return;
        }
        let mut segments = self.names.find_segment(typed);
        // Many values, and those that share a word, are said by the words that they contain.
        segments.retain(|(_, values)| match (values.len(), words.len()) {
            (1, _) => true,
            (count, size) => size > LONGEST_PART || (size > 1 && count <= FEW),
        });
        let is_said = is_name || self.are_a_phrase(words, typed);
        let is_known = |at: &usize| self.is_known(*at);
        let own_cost = if words.iter().all(is_known) { PART } else { SEGMENT };
        let ends = |values: &[String]| values.iter().all(|value| ends_with(value, typed));
        for (dimension, values) in &segments {
            // A segment within a name rather is the name of what contains it.
            let own_cost = own_cost + if ends(values) { 0 } else { INNER };
            if !is_said && !self.is_beside(dimension, *first, *last) {
                continue;
            }
            let (dimension, text) = (dimension.clone(), typed.join(" "));
            let (atom, named) = match values.as_slice() {
                [value] => {
                    let value = value.clone();
                    (Atom::Value { dimension, value: value.clone(), is_part: false }, value)
                }
                all => {
                    let (values, text) = (all.to_vec(), text.clone());
                    let named = text.clone();
                    (Atom::Values { dimension, values, text, is_part: true }, named)
                }
            };
            self.push_part(words, atom, named, (own_cost, cost), edges);
        }
        if words.len() > LONGEST_PART {
            return;
        }
        for hit in self.names.find_part(typed) {
            let is_segment = segments.iter().any(|(dimension, _)| *dimension == hit.dimension);
            let is_said = is_name || (words.len() > 1 && is_said);
            if is_segment || (!is_said && !self.is_beside(&hit.dimension, *first, *last)) {
                continue;
            }
            let dimension = hit.dimension;
            let text = typed.join(" ");
            let atom = match hit.value {
                Some(value) => Atom::Value { dimension, value, is_part: false },
                None => match self.names.listed_part(typed, &dimension, &text) {
                    Some(values) => {
                        Atom::Values { dimension, values, text: text.clone(), is_part: true }
                    }
                    None => Atom::Value { dimension, value: text.clone(), is_part: true },
                },
            };
            let named = match &atom {
                Atom::Value { value, .. } => value.clone(),
                _ => text,
            };
            self.push_part(words, atom, named, (PART, cost), edges);
        }
    }

    /// Whether a word is one of two that are held against each other: "Display vs Native".
    fn is_paired(&self, words: &[usize]) -> bool {
        let ([first, ..], [.., last]) = (words, words) else { return false };
        let is_between = |at: usize| {
            let phrases = self.scan.phrases_at(at).iter();
            let mut meanings = phrases.flat_map(|(_, meanings)| meanings.iter());
            meanings.any(|meaning| matches!(meaning, Meaning::Versus | Meaning::Or))
        };
        let is_joined = |at: usize, other: Option<usize>| {
            let phrases = self.scan.phrases_at(at).iter();
            let mut meanings = phrases.flat_map(|(_, meanings)| meanings.iter());
            let is_joiner = meanings.any(|meaning| matches!(meaning, Meaning::And | Meaning::With));
            is_joiner && other.is_some_and(|other| self.is_plainly_a_part(other))
        };
        is_between(last + 1)
            || first.checked_sub(1).is_some_and(is_between)
            || is_joined(last + 1, Some(last + 2))
            || first.checked_sub(1).is_some_and(|at| is_joined(at, at.checked_sub(1)))
            || first.checked_sub(1).is_some_and(|at| {
                // "A this week with B this week"
                let has_period =
                    |from: usize| periods_at(self.scan, from).iter().any(|period| period.end == at);
                (0..at).any(|other| is_joined(at, Some(other)) && has_period(other + 1))
            })
    }

    /// Whether a word is a part of a name, and no ordinary word.
    fn is_plainly_a_part(&self, at: usize) -> bool {
        let Some(token) = self.scan.tokens.get(at) else { return false };
        !self.is_ordinary(at) && self.names.has_part(&[token.fold.as_str()])
    }

    fn push_part(
        &self,
        words: &[usize],
        atom: Atom,
        named: String,
        (own, corrected): (u32, u32),
        edges: &mut Vec<Edge>,
    ) {
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
        let named = Named::Value { dimension: String::new(), value: named };
        let correction = (corrected > 0).then(|| self.correction(words, &named));
        edges.push(Edge { correction, ..edge(*first..last + 1, atom, own + corrected) });
    }

    /// Adds the values of which the words are a part, without the ending of an owner: "Bluebell's".
    pub(super) fn add_owners(
        &self,
        typed: &[&str],
        words: &[usize],
        cost: u32,
        edges: &mut Vec<Edge>,
    ) {
        let (Some(last), Some((_, before))) = (words.last(), typed.split_last()) else { return };
        let Some(owner) = self.names.owner(&self.scan.tokens[*last].fold) else { return };
        let is_corrected = !self.corrections[*last].is_empty();
        let cost = if is_corrected { cost.saturating_sub(super::CORRECTED) } else { cost };
        let typed: Vec<&str> = before.iter().copied().chain([owner]).collect();
        self.add_parts(&typed, words, cost, edges);
    }

    /// Whether the last word of a span is the ending of an owner behind an id: "17s", "17's".
    pub(super) fn is_owner(&self, words: &[usize]) -> bool {
        let [.., before, last] = words else { return false };
        let ending = &self.scan.tokens[*last];
        ending.fold == "s" && ending.is_glued && self.scan.tokens[*before].kind == Kind::Number
    }

    /// Adds a thing and its id without a space between them: "account17".
    pub(super) fn add_glued(&self, at: usize, edges: &mut Vec<Edge>) {
        let word = self.scan.tokens[at].fold.as_str();
        let Some(digits) = word.find(|sign: char| sign.is_ascii_digit()).filter(|at| *at > 2)
        else {
            return;
        };
        let (thing, id) = word.split_at(digits);
        // The ending of an owner follows the id: "account17s".
        let id = id.strip_suffix('s').unwrap_or(id);
        if !id.chars().all(|sign| sign.is_ascii_digit())
            || !self.names.find(&[word], self.scan.lexicon).is_empty()
        {
            return;
        }
        let of = |word: &str| self.names.find(&[word], self.scan.lexicon);
        for named in of(thing).into_iter().filter(|hit| matches!(hit.named, Named::Dimension(_))) {
            for value in of(id).into_iter().filter(|hit| matches!(hit.named, Named::Value { .. })) {
                let atoms = [named.clone(), value].map(|hit| super::atom_of(hit, &[at], self.scan));
                let cost = 2 * super::WORD;
                edges.push(Edge { atoms: atoms.to_vec(), ..edge(at..at + 1, Atom::Left, cost) });
            }
        }
    }

    /// Whether the last word of words that say nothing together is a name: "for the board" where a team is the
    /// board.
    pub(super) fn names_its_last(&self, at: usize, len: usize, meanings: &[Meaning]) -> bool {
        let Some(last) = self.scan.tokens.get(at + len - 1).filter(|_| len > 1) else {
            return false;
        };
        let last = last.fold.as_str();
        let goes_on = self
            .scan
            .tokens
            .get(at + len)
            .is_some_and(|next| self.names.has_part(&[last, &next.fold]));
        meanings.iter().all(|meaning| *meaning == Meaning::Filler)
            && (goes_on || !self.names.find(&[last], self.scan.lexicon).is_empty())
    }

    /// Adds "all three" before a thing of which there are three.
    pub(super) fn add_all_of(&self, at: usize, edges: &mut Vec<Edge>) {
        for (len, meanings) in self.scan.phrases_at(at) {
            if !meanings.contains(&Meaning::All) {
                continue;
            }
            let Some((end, number)) = quantity(self.scan.tokens, at + len, self.scan.lexicon)
            else {
                continue;
            };
            let Some(thing) = self.scan.tokens.get(end) else { continue };
            let hits = self.names.find(&[thing.fold.as_str()], self.scan.lexicon);
            let has_as_many = hits.iter().any(|hit| match &hit.named {
                Named::Dimension(name) => number
                    .count()
                    .and_then(|count| usize::try_from(count).ok())
                    .is_some_and(|count| self.names.count_values(name) == count),
                Named::Measure(_) | Named::Value { .. } => false,
            });
            if has_as_many {
                edges.push(edge(at..end, Atom::Words(meanings.to_vec()), super::LINK));
            }
        }
    }

    /// Whether a name ends with a word: "Brand Always On".
    pub(super) fn ends_a_name(&self, at: usize) -> bool {
        let from = (at + 1).saturating_sub(LONGEST_NAME);
        (from..at).any(|first| {
            let words =
                self.scan.tokens[first..=at].iter().filter(|token| token.kind != Kind::Sign);
            let words: Vec<&str> = words.map(|token| token.fold.as_str()).collect();
            let hits = self.names.find(&words, self.scan.lexicon);
            hits.iter().any(|hit| matches!(hit.named, Named::Value { .. }))
                || !self.names.find_segment(&words).is_empty()
        })
    }

    /// Whether a word is a number, a frequent word of a language, or a word of the lexicon.
    fn is_ordinary(&self, at: usize) -> bool {
        self.is_known(at) || crate::words::is_frequent(&self.scan.tokens[at].fold)
    }

    /// Whether a word is a number or a word of the lexicon.
    fn is_known(&self, at: usize) -> bool {
        let token = &self.scan.tokens[at];
        token.kind == Kind::Number
            || self.scan.lexicon.knows(&token.fold)
            || self.scan.lexicon.is_weak_word(&token.fold)
    }

    /// Whether all words are written as a name. The first word of a text has a capital letter anyway.
    fn are_marked(&self, words: &[usize]) -> bool {
        let is_first = |at: &usize| *at == 0 && words.len() > 1 && self.scan.tokens[0].is_capital;
        words.iter().all(|at| is_first(at) || self.is_marked(*at))
    }

    /// Whether ordinary words in a row are rather those of a name: they are not all words of the lexicon, and
    /// none of them names a figure or thing of the source.
    fn are_a_phrase(&self, words: &[usize], typed: &[&str]) -> bool {
        let names_member = |word: &&str| {
            let hits = self.names.find(&[word], self.scan.lexicon);
            hits.iter().any(|hit| !matches!(hit.named, Named::Value { .. }))
        };
        !words.iter().all(|at| self.is_known(*at)) && !typed.iter().any(names_member)
    }
}
