//! Handles word forms and typing errors: finds stems, decides whether two words are forms of one
//! word, and corrects misspelt words to known ones.

use std::collections::{HashMap, HashSet};

use parking_lot::Mutex;

use crate::tokens::{Token, TokenKind, fold};

/// The most corrections that are cached.
const REMEMBERED: usize = 2_000;

/// A set of words that also matches their inflected forms.
#[derive(Debug, Default)]
pub struct WordSet {
    exact: HashSet<String>,
    stems: HashSet<String>,
}

impl WordSet {
    pub fn new<'a>(words: impl IntoIterator<Item = &'a String>) -> Self {
        let mut set = Self::default();
        for word in words {
            let word = fold(word);
            set.exact.extend(word_bases(&word).map(str::to_owned));
            set.stems.extend((stem(&word).len() >= 4).then(|| stem(&word).to_owned()));
            set.exact.insert(word);
        }
        set
    }

    pub fn contains(&self, word: &str) -> bool {
        self.exact.contains(word)
            || self.stems.contains(stem(word))
            || word_bases(word).any(|base| self.exact.contains(base))
    }

    pub fn iter(&self) -> impl Iterator<Item = &String> {
        self.exact.iter()
    }
}

const PLURALS: [&str; 12] = ["s", "es", "r", "n", "en", "et", "ar", "or", "er", "na", "rna", "ns"];

/// Returns the word without each plural or definite ending that matches.
fn word_bases(word: &str) -> impl Iterator<Item = &str> {
    PLURALS
        .iter()
        .filter_map(move |ending| word.strip_suffix(ending))
        .filter(|base| base.len() >= 3)
}

/// The known words, for correcting typing errors.
#[derive(Debug, Default)]
pub struct Lexicon {
    known: HashSet<String>,
    /// The known words that can be the result of a correction.
    offered: HashSet<String>,
    /// The words that are long enough to be the result of a correction, by first letter.
    by_initial: HashMap<char, Vec<String>>,
    /// Cached results for unknown words, because the search for a correction is slow.
    found: Mutex<HashMap<String, Option<String>>>,
}

impl Lexicon {
    /// Adds a word that is correct but never the result of a correction.
    pub fn add_known_word(&mut self, word: &str) {
        self.known.insert(word.to_owned());
    }

    pub fn add(&mut self, word: &str) {
        self.known.insert(word.to_owned());
        if self.offered.insert(word.to_owned())
            && word.len() >= 4
            && word.chars().all(char::is_alphabetic)
            && let Some(initial) = word.chars().next()
        {
            self.by_initial.entry(initial).or_default().push(word.to_owned());
        }
    }

    pub fn knows(&self, word: &str) -> bool {
        self.known.contains(word)
    }

    /// Sets `norm` of every token to the corrected word.
    pub fn correct_spelling(&self, tokens: &mut [Token]) {
        for token in tokens.iter_mut().filter(|token| token.kind == TokenKind::Word) {
            if self.knows(&token.fold)
                || token.fold.len() < 4
                || !token.fold.chars().all(char::is_alphabetic)
            {
                continue;
            }
            if let Some(word) = self.find_correction(&token.fold) {
                token.norm = word;
            }
        }
    }

    fn find_correction(&self, typed: &str) -> Option<String> {
        let mut found = self.found.lock();
        if let Some(word) = found.get(typed) {
            return word.clone();
        }
        if found.len() >= REMEMBERED {
            found.clear();
        }
        let word = self.nearest(typed).map(str::to_owned);
        found.insert(typed.to_owned(), word.clone());
        word
    }

    /// Whether the word is a form of a known word ("jackets") and needs no correction.
    fn is_form(&self, typed: &str) -> bool {
        if word_bases(typed).any(|base| self.offered.contains(base)) {
            return true;
        }
        let initial = typed.chars().next();
        initial
            .and_then(|initial| self.by_initial.get(&initial))
            .is_some_and(|words| words.iter().any(|word| same_word(word, typed)))
    }

    fn nearest(&self, typed: &str) -> Option<&str> {
        if self.is_form(typed) {
            return None;
        }
        let mut initials = typed.chars();
        let (first, second) = (initials.next()?, initials.next()?);
        let mut best: Option<(usize, &str)> = None;
        for initial in [first, second] {
            for word in self.by_initial.get(&initial).into_iter().flatten() {
                if word.len().abs_diff(typed.len()) <= 2
                    && let Some(cost) = typo_cost(typed, word)
                    && best.is_none_or(|(least, _)| cost < least)
                {
                    best = Some((cost, word));
                }
            }
        }
        best.map(|(_, word)| word)
    }
}

/// Returns the edit cost of reading `typed` as a misspelling of `word`, or none if `typed` is
/// another word.
pub fn typo_cost(typed: &str, word: &str) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (typed.chars().collect(), word.chars().collect());
    if a == b {
        return Some(0);
    }
    let shorter = a.len().min(b.len());
    let allowed = match shorter {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    };
    let cost = edit_distance(&a, &b);
    // In a short word, one different letter makes another word ("shoe", "show"). Swapped or doubled
    // letters do not.
    let other_letter = a.len() == b.len() && shorter <= 5 && !is_swap(&a, &b);
    // Two different letters in the same positions make another word, unless the word is long
    // ("stolarna", "stavarna").
    let differing = a.iter().zip(&b).filter(|(x, y)| x != y).count();
    let two_letters = a.len() == b.len() && cost == 2 && differing == 2 && shorter <= 8;
    // "item" and "items" or "sko" and "skor" are forms of one word and not errors; `same_word`
    // handles them.
    (cost <= allowed && !other_letter && !two_letters).then_some(cost)
}

fn is_swap(a: &[char], b: &[char]) -> bool {
    let differing: Vec<usize> = (0..a.len()).filter(|&i| a[i] != b[i]).collect();
    matches!(differing[..], [i, j] if j == i + 1 && a[i] == b[j] && a[j] == b[i])
}

/// Returns the edit distance. A swap of two adjacent letters counts as one edit.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let width = b.len() + 1;
    let mut rows = vec![0_usize; (a.len() + 1) * width];
    for (j, cell) in rows.iter_mut().take(width).enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        rows[i * width] = i;
        for j in 1..=b.len() {
            let change = rows[(i - 1) * width + j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least =
                change.min(rows[(i - 1) * width + j] + 1).min(rows[i * width + j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[(i - 2) * width + j - 2] + 1);
            }
            rows[i * width + j] = least;
        }
    }
    rows[a.len() * width + b.len()]
}

/// Returns a word without its English or Swedish plural or definite ending.
pub fn stem(word: &str) -> &str {
    const ENDINGS: [&str; 14] =
        ["orna", "arna", "erna", "or", "ar", "er", "en", "et", "an", "es", "na", "s", "n", "a"];
    if word.len() < 4 {
        return word;
    }
    ENDINGS
        .iter()
        .filter_map(|ending| word.strip_suffix(ending))
        .find(|rest| rest.len() >= 3)
        .unwrap_or(word)
}

/// Whether two folded words are forms of one word ("shoe", "shoes", "sko", "skorna").
pub fn same_word(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    if a.len() < 3
        || b.len() < 3
        || !a.chars().all(char::is_alphabetic)
        || !b.chars().all(char::is_alphabetic)
    {
        return false;
    }
    let plural = |long: &str, short: &str| {
        long.strip_prefix(short).is_some_and(|rest| PLURALS.contains(&rest))
    };
    plural(a, b) || plural(b, a) || (stem(a) == stem(b) && stem(a).len() >= 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokens;

    #[test]
    fn typing_errors_are_corrected_to_known_words_and_other_words_are_not() {
        let mut lexicon = Lexicon::default();
        for word in ["pacing", "account", "show", "shoe", "cart", "month", "backpack"] {
            lexicon.add(word);
        }
        let norm = |text: &str| {
            let mut found = tokens(text);
            lexicon.correct_spelling(&mut found);
            found.remove(0).norm
        };
        assert_eq!(norm("pacng"), "pacing");
        assert_eq!(norm("acount"), "account");
        assert_eq!(norm("crat"), "cart");
        assert_eq!(norm("bakpack"), "backpack");
        assert_eq!(norm("shoe"), "shoe");
        assert_eq!(norm("card"), "card");
        assert_eq!(norm("snow"), "snow");
    }

    #[test]
    fn inflected_forms_of_a_word_are_recognised() {
        for (a, b) in [
            ("shoe", "shoes"),
            ("jacket", "jackets"),
            ("sko", "skor"),
            ("skor", "skorna"),
            ("ryggsack", "ryggsacken"),
        ] {
            assert!(same_word(a, b), "{a} {b}");
        }
        for (a, b) in [("black", "blue"), ("tent", "tea"), ("42", "43"), ("red", "reds2")] {
            assert!(!same_word(a, b), "{a} {b}");
        }
    }
}
