//! Compiles the phrases of a manifest and matches them against messages. A phrase consists of words
//! in order, with alternatives, gaps and numbers. The meaning of phrases is defined elsewhere.

use std::collections::{HashMap, HashSet};

use language::{Token, TokenKind, fold, numbers};

/// The most words that a `*` may skip.
const GAP: usize = 7;

#[derive(Clone, Debug)]
enum Part {
    Word(Vec<String>),
    Number,
    Gap,
}

/// A compiled phrase.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    parts: Vec<Part>,
    anchored: bool,
    pub(super) weak: bool,
    score: i32,
}

/// A match of a phrase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) score: i32,
    /// The indices of the tokens that the phrase's words matched.
    pub(super) used: Vec<usize>,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        let text = text.trim();
        let weak = text.starts_with('~');
        let text = text.trim_start_matches('~').trim();
        let anchored = text.starts_with('^');
        let parts: Vec<Part> = text.trim_start_matches('^').split_whitespace().map(part).collect();
        let score = parts.iter().map(weight).sum::<i32>() + if anchored { 6 } else { 4 };
        Self { parts, anchored, weak, score: if weak { score / 2 } else { score } }
    }

    /// Returns words of which every matching message contains at least one.
    pub(super) fn keys(&self) -> &[String] {
        let words = || {
            self.parts
                .iter()
                .filter_map(|part| if let Part::Word(words) = part { Some(words) } else { None })
        };
        let telling = words().find(|words| words.iter().all(|word| !language::is_stop_word(word)));
        telling.or_else(|| words().next()).map_or(&[], Vec::as_slice)
    }

    /// Returns all words of the phrase, for the lexicon.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.parts
            .iter()
            .flat_map(|part| match part {
                Part::Word(words) => words.as_slice(),
                Part::Number | Part::Gap => &[],
            })
            .map(String::as_str)
    }

    /// Returns the first match of the phrase. `words` are the indices of the tokens that are not
    /// punctuation.
    pub(super) fn find(&self, tokens: &[Token], words: &[usize]) -> Option<Hit> {
        let starts =
            if self.anchored { 0..self.first_start(tokens, words) } else { 0..words.len() };
        // If a gap fails to match at a position, other gaps need not try that position again.
        let mut failed = HashSet::new();
        starts.into_iter().find_map(|start| {
            let mut used = Vec::with_capacity(self.parts.len());
            matches(&self.parts, tokens, &words[start..], &mut used, &mut failed)
                .then_some(Hit { score: self.score, used })
        })
    }

    /// Returns how many words an anchored phrase may skip at the start: polite words ("please add",
    /// "can you show").
    fn first_start(&self, tokens: &[Token], words: &[usize]) -> usize {
        let polite = words.iter().take_while(|&&i| language::is_polite(&tokens[i].norm)).count();
        (polite + 1).min(words.len())
    }
}

fn part(text: &str) -> Part {
    match text {
        "*" => Part::Gap,
        "#" => Part::Number,
        _ => Part::Word(text.split('|').map(fold).collect()),
    }
}

fn weight(part: &Part) -> i32 {
    match part {
        Part::Gap => 0,
        Part::Number => 3,
        Part::Word(words) if words.iter().all(|word| language::is_stop_word(word)) => 2,
        Part::Word(_) => 6,
    }
}

/// Whether the words begin with the parts. `failed` contains the pairs of remaining parts and words
/// at which a gap has failed, so that the number of steps is at most the product of both lengths.
fn matches(
    parts: &[Part],
    tokens: &[Token],
    words: &[usize],
    used: &mut Vec<usize>,
    failed: &mut HashSet<(usize, usize)>,
) -> bool {
    let Some((part, rest)) = parts.split_first() else { return true };
    match part {
        Part::Gap => {
            let place = (parts.len(), words.len());
            if failed.contains(&place) {
                return false;
            }
            let found = (0..=GAP.min(words.len())).any(|skip| {
                let mark = used.len();
                let found = matches(rest, tokens, &words[skip..], used, failed);
                if !found {
                    used.truncate(mark);
                }
                found
            });
            if !found {
                failed.insert(place);
            }
            found
        }
        Part::Word(alternatives) => {
            let Some((&at, after)) = words.split_first() else { return false };
            let token = &tokens[at];
            if token.part || !alternatives.iter().any(|word| token.is(word)) {
                return false;
            }
            used.push(at);
            matches(rest, tokens, after, used, failed)
        }
        Part::Number => {
            let Some((&at, after)) = words.split_first() else { return false };
            let token = &tokens[at];
            let number = token.int().is_some()
                || (token.kind == TokenKind::Word && numbers::cardinal(&token.norm).is_some());
            number && matches(rest, tokens, after, used, failed)
        }
    }
}

/// Phrases indexed by required words, so that a message is compared with only a few phrases.
#[derive(Clone, Debug, Default)]
pub(super) struct Index<K> {
    by_word: HashMap<String, Vec<usize>>,
    entries: Vec<(K, Pattern)>,
}

impl<K: Copy> Index<K> {
    pub(super) fn new(entries: Vec<(K, Pattern)>) -> Self {
        let mut by_word: HashMap<String, Vec<usize>> = HashMap::new();
        for (i, (_, pattern)) in entries.iter().enumerate() {
            for word in pattern.keys() {
                by_word.entry(word.clone()).or_default().push(i);
            }
        }
        Self { by_word, entries }
    }

    /// Returns all phrases that match, with their keys, in the order in which they were added.
    pub(super) fn find(&self, tokens: &[Token], words: &[usize]) -> Vec<(K, Hit, bool)> {
        let said = words.iter().flat_map(|&i| [tokens[i].norm.as_str(), tokens[i].fold.as_str()]);
        let mut candidates: Vec<usize> =
            said.filter_map(|word| self.by_word.get(word)).flatten().copied().collect();
        candidates.sort_unstable();
        candidates.dedup();
        candidates
            .into_iter()
            .filter_map(|i| {
                let (key, pattern) = &self.entries[i];
                pattern.find(tokens, words).map(|hit| (*key, hit, pattern.weak))
            })
            .collect()
    }

    pub(super) fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.entries.iter().map(|(_, pattern)| pattern)
    }
}

/// Returns the indices of the words and numbers among the tokens.
pub(super) fn word_indices(tokens: &[Token]) -> Vec<usize> {
    (0..tokens.len()).filter(|&i| tokens[i].kind != TokenKind::Punct).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use language::tokens;

    fn finds(phrase: &str, text: &str) -> bool {
        let tokens = tokens(text);
        Pattern::new(phrase).find(&tokens, &word_indices(&tokens)).is_some()
    }

    #[test]
    fn a_phrase_pattern_matches_its_words_in_order() {
        assert!(finds("on track", "Is lilly on track?"));
        assert!(!finds("on track", "track it on paper"));
        assert!(finds("add|put * cart|basket", "please put two black shoes in my basket"));
        assert!(!finds("add|put * cart", "add it somewhere else"));
        assert!(finds("^remove", "please remove the backpack"));
        assert!(!finds("^remove", "the thing to remove"));
        assert!(finds("make * #", "make it three"));
        assert!(finds("make * #", "make it 3"));
        assert!(!finds("make * #", "make it so"));
        assert!(finds("ta bort", "Ta bort ryggsäcken"));
    }

    #[test]
    fn a_phrase_pattern_with_many_gaps_is_matched_quickly() {
        let phrase = format!("zebra {}end", "* ".repeat(40));
        let words = "a ".repeat(200);
        assert!(!finds(&phrase, &format!("zebra {words}")));
        assert!(finds(&phrase, &format!("zebra {words} end")));
        assert!(!finds(&phrase, &format!("zebra {words} {words} end")), "a gap skips seven words");
    }

    #[test]
    fn longer_phrases_have_a_higher_score() {
        let score = |phrase: &str| Pattern::new(phrase).score;
        assert!(score("whats * in * cart") > score("cart"));
        assert!(score("~doing") < score("doing"));
        assert!(score("pacing") >= 10);
    }
}
