//! Finds the words of names that are like a misspelled word. Each known word is listed under itself and
//! under each form that lacks one letter, so that a look-up does not compare all words.

use std::collections::{HashMap, HashSet};

/// The shortest word that is corrected.
const SHORTEST: usize = 4;
/// The length from which on two errors are allowed.
const LONG: usize = 8;

/// The words of names.
#[derive(Debug, Default)]
pub(super) struct Spelling {
    words: Vec<String>,
    known: HashSet<String>,
    /// The places of words by each form that lacks at most one letter.
    lacking: HashMap<String, Vec<u32>>,
}

impl Spelling {
    /// Adds words.
    pub fn add_all(&mut self, words: &[String]) {
        for word in words {
            let fits = word.len() >= SHORTEST && word.chars().all(char::is_alphabetic);
            if !fits || !self.known.insert(word.clone()) {
                continue;
            }
            let place = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
            for form in shorter(word) {
                self.lacking.entry(form).or_default().push(place);
            }
            self.lacking.entry(word.clone()).or_default().push(place);
            self.words.push(word.clone());
        }
    }

    /// Frees the memory that only adding words needs.
    pub fn sort(&mut self) {
        self.known = HashSet::new();
        self.lacking.shrink_to_fit();
    }

    /// Returns the words that are nearest to a misspelled one, all with the same number of errors.
    pub fn nearest(&self, typed: &str) -> Vec<String> {
        if typed.len() < SHORTEST || !typed.chars().all(char::is_alphabetic) {
            return Vec::new();
        }
        let mut forms = vec![typed.to_owned()];
        forms.extend(shorter(typed));
        if typed.len() >= LONG {
            let twice: Vec<String> = forms[1..].iter().flat_map(|form| shorter(form)).collect();
            forms.extend(twice);
        }
        let mut best: (usize, Vec<String>) = (usize::MAX, Vec::new());
        let mut seen = HashSet::new();
        for place in forms.iter().filter_map(|form| self.lacking.get(form)).flatten() {
            let Some(word) = self.words.get(*place as usize).filter(|_| seen.insert(*place)) else {
                continue;
            };
            let Some(errors) = errors(typed, word) else { continue };
            if errors < best.0 {
                best = (errors, Vec::new());
            }
            if errors == best.0 {
                best.1.push(word.clone());
            }
        }
        best.1.sort();
        best.1
    }
}

/// Returns each form of a word that lacks one letter.
fn shorter(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let without = |at: usize| {
        let kept = letters.iter().enumerate().filter(|(i, _)| *i != at);
        kept.map(|(_, letter)| *letter).collect()
    };
    (0..letters.len()).map(without).collect()
}

/// Returns the number of errors between two words: missing, added, different and swapped letters. None
/// if they are too many for words of this length.
fn errors(typed: &str, word: &str) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (typed.chars().collect(), word.chars().collect());
    let allowed = if a.len().min(b.len()) >= LONG { 2 } else { 1 };
    if a.len().abs_diff(b.len()) > allowed {
        return None;
    }
    let width = b.len() + 1;
    let mut cells: Vec<usize> = (0..width * (a.len() + 1)).map(|at| at % width).collect();
    for i in 1..=a.len() {
        cells[i * width] = i;
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            let changed = cells[(i - 1) * width + j - 1] + same;
            let mut least =
                changed.min(cells[(i - 1) * width + j] + 1).min(cells[i * width + j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(cells[(i - 2) * width + j - 2] + 1);
            }
            cells[i * width + j] = least;
        }
    }
    let errors = cells[a.len() * width + b.len()];
    // In a short word, a different letter makes another word.
    let is_other = a.len() == b.len() && a.len() <= SHORTEST && a.first() != b.first();
    (errors <= allowed && !is_other).then_some(errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_added_different_and_swapped_letters_are_found() {
        let mut spelling = Spelling::default();
        let words = ["campaign", "impressions", "budget", "konto", "agent"].map(str::to_owned);
        spelling.add_all(&words);
        spelling.sort();
        for (typed, word) in [
            ("camapign", "campaign"),
            ("campain", "campaign"),
            ("imprssions", "impressions"),
            ("budgt", "budget"),
            ("kontoo", "konto"),
            ("agnet", "agent"),
            ("impresionss", "impressions"),
        ] {
            assert_eq!(spelling.nearest(typed), [word], "{typed}");
        }
        for typed in ["budge", "cat", "campfire", "kontakter"] {
            let expected: &[&str] = if typed == "budge" { &["budget"] } else { &[] };
            assert_eq!(spelling.nearest(typed), expected, "{typed}");
        }
    }
}
