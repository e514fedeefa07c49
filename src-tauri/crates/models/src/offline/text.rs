//! Words of a message: tokens with their folded form, and when two words are the same word.
//! Knows nothing of packs, dates or tools.

use std::collections::{HashMap, HashSet};

use parking_lot::Mutex;
/// What a token is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    Punct,
}

/// One word, number or sign of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// As typed.
    pub(super) raw: String,
    /// Lower case, without diacritics and apostrophes.
    pub(super) fold: String,
    /// `fold`, or the known word it was most likely meant to be.
    pub(super) norm: String,
    pub(super) kind: Kind,
    /// Follows the token before it without a space.
    pub(super) glued: bool,
    /// Ends the name of a thing ("sleeping bag"), so it does not stand for what it means alone.
    pub(super) part: bool,
}

impl Token {
    pub(super) fn is(&self, word: &str) -> bool {
        self.norm == word || self.fold == word
    }
    pub(super) fn any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }
    /// The value of a plain whole number.
    pub(super) fn int(&self) -> Option<u32> {
        if self.kind == Kind::Number && self.fold.bytes().all(|b| b.is_ascii_digit()) { self.fold.parse().ok() } else { None }
    }
}

/// A letter without its diacritics.
fn plain(c: char) -> char {
    match c {
        'å' | 'ä' | 'à' | 'á' | 'â' | 'ã' => 'a',
        'ö' | 'ø' | 'ò' | 'ó' | 'ô' | 'õ' => 'o',
        'é' | 'è' | 'ê' | 'ë' => 'e',
        'ü' | 'ù' | 'ú' | 'û' => 'u',
        'í' | 'ì' | 'î' | 'ï' => 'i',
        'ç' => 'c',
        'ñ' => 'n',
        'æ' => 'a',
        _ => c,
    }
}

/// Lower case, without diacritics and apostrophes.
pub(super) fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).map(plain).filter(|c| !is_apostrophe(*c)).collect()
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | '‘' | '`' | '´')
}

/// Most words of a message that are read; what people ask of the packs is shorter.
const MOST: usize = 240;

/// Splits a message. A number keeps its inner points and commas; letters right after it are a token of their own.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().take(4_000).collect();
    let mut out: Vec<Token> = Vec::new();
    let (mut i, mut spaced) = (0, true);
    while i < chars.len() && out.len() < MOST {
        let c = chars[i];
        if c.is_whitespace() {
            spaced = true;
            i += 1;
            continue;
        }
        let times = matches!(c, 'x' | 'X' | '×') && spaced && chars.get(i + 1).is_some_and(char::is_ascii_digit);
        let (end, kind) = if times {
            (i + 1, Kind::Word)
        } else if c.is_ascii_digit() {
            (number_end(&chars, i), Kind::Number)
        } else if c.is_alphanumeric() {
            (word_end(&chars, i), Kind::Word)
        } else {
            (i + 1, Kind::Punct)
        };
        let raw: String = chars[i..end].iter().collect();
        let folded = if kind == Kind::Punct { raw.clone() } else { fold(&raw) };
        out.push(Token { norm: folded.clone(), fold: folded, raw, kind, glued: !spaced, part: false });
        spaced = false;
        i = end;
    }
    out
}

fn number_end(chars: &[char], from: usize) -> usize {
    let mut i = from;
    while i < chars.len() {
        let separator = matches!(chars[i], '.' | ',') && chars.get(i + 1).is_some_and(char::is_ascii_digit);
        if !(chars[i].is_ascii_digit() || separator) {
            break;
        }
        i += 1;
    }
    i
}

fn word_end(chars: &[char], from: usize) -> usize {
    let mut i = from;
    while i < chars.len() {
        let inner = is_apostrophe(chars[i]) && chars.get(i + 1).is_some_and(|c| c.is_alphabetic());
        if !(chars[i].is_alphanumeric() || inner) {
            break;
        }
        i += 1;
    }
    i
}

/// Most words whose reading is kept.
const REMEMBERED: usize = 2_000;

/// A set of words that also holds their other forms.
#[derive(Debug, Default)]
pub(super) struct WordSet {
    exact: HashSet<String>,
    stems: HashSet<String>,
}

impl WordSet {
    pub(super) fn new<'a>(words: impl IntoIterator<Item = &'a String>) -> Self {
        let mut set = Self::default();
        for word in words {
            let word = fold(word);
            set.exact.extend(bases(&word).map(str::to_owned));
            set.stems.extend((stem(&word).len() >= 4).then(|| stem(&word).to_owned()));
            set.exact.insert(word);
        }
        set
    }

    pub(super) fn contains(&self, word: &str) -> bool {
        self.exact.contains(word) || self.stems.contains(stem(word)) || bases(word).any(|base| self.exact.contains(base))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &String> {
        self.exact.iter()
    }
}

const PLURALS: [&str; 12] = ["s", "es", "r", "n", "en", "et", "ar", "or", "er", "na", "rna", "ns"];

/// The word without each plural or definite ending it may have.
fn bases(word: &str) -> impl Iterator<Item = &str> {
    PLURALS.iter().filter_map(move |ending| word.strip_suffix(ending)).filter(|base| base.len() >= 3)
}

/// The words that the model knows, for putting typing errors right.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    known: HashSet<String>,
    /// Those of them that a misspelt word may be read as.
    offered: HashSet<String>,
    /// The same, long enough, by their first letter.
    by_initial: HashMap<char, Vec<String>>,
    /// What was found for words that are not known; looking takes a while.
    found: Mutex<HashMap<String, Option<String>>>,
}

impl Lexicon {
    /// A word that is right as it is, but that no misspelt word is read as.
    pub(super) fn know(&mut self, word: &str) {
        self.known.insert(word.to_owned());
    }

    pub(super) fn add(&mut self, word: &str) {
        self.known.insert(word.to_owned());
        if self.offered.insert(word.to_owned())
            && word.len() >= 4
            && word.chars().all(char::is_alphabetic)
            && let Some(initial) = word.chars().next()
        {
            self.by_initial.entry(initial).or_default().push(word.to_owned());
        }
    }

    pub(super) fn knows(&self, word: &str) -> bool {
        self.known.contains(word)
    }

    /// Sets `norm` of every token.
    pub(super) fn correct(&self, tokens: &mut [Token]) {
        for token in tokens.iter_mut().filter(|token| token.kind == Kind::Word) {
            if self.knows(&token.fold) || token.fold.len() < 4 || !token.fold.chars().all(char::is_alphabetic) {
                continue;
            }
            if let Some(word) = self.meant(&token.fold) {
                token.norm = word;
            }
        }
    }

    fn meant(&self, typed: &str) -> Option<String> {
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

    /// A form of a known word ("jackets") needs no putting right.
    fn is_form(&self, typed: &str) -> bool {
        if bases(typed).any(|base| self.offered.contains(base)) {
            return true;
        }
        let initial = typed.chars().next();
        initial.and_then(|initial| self.by_initial.get(&initial)).is_some_and(|words| words.iter().any(|word| same_word(word, typed)))
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
                    && let Some(cost) = typo(typed, word)
                    && best.is_none_or(|(least, _)| cost < least)
                {
                    best = Some((cost, word));
                }
            }
        }
        best.map(|(_, word)| word)
    }
}

/// The cost of reading `typed` as a misspelling of `word`; `None` when it is another word.
pub(super) fn typo(typed: &str, word: &str) -> Option<usize> {
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
    let cost = edits(&a, &b);
    // In a short word one other letter makes another word ("shoe", "show"); a swap or a doubled letter does not.
    let other_letter = a.len() == b.len() && shorter <= 5 && !is_swap(&a, &b);
    // "item" and "items", "sko" and "skor" are forms, not errors: left to `same_word`.
    (cost <= allowed && !other_letter).then_some(cost)
}

fn is_swap(a: &[char], b: &[char]) -> bool {
    let differing: Vec<usize> = (0..a.len()).filter(|&i| a[i] != b[i]).collect();
    matches!(differing[..], [i, j] if j == i + 1 && a[i] == b[j] && a[j] == b[i])
}

/// Edit distance in which swapping two neighbours counts once.
fn edits(a: &[char], b: &[char]) -> usize {
    let width = b.len() + 1;
    let mut rows = vec![0_usize; (a.len() + 1) * width];
    for (j, cell) in rows.iter_mut().take(width).enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        rows[i * width] = i;
        for j in 1..=b.len() {
            let change = rows[(i - 1) * width + j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = change.min(rows[(i - 1) * width + j] + 1).min(rows[i * width + j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[(i - 2) * width + j - 2] + 1);
            }
            rows[i * width + j] = least;
        }
    }
    rows[a.len() * width + b.len()]
}

/// A word without its plural or definite ending, in English and Swedish.
pub(super) fn stem(word: &str) -> &str {
    const ENDINGS: [&str; 14] = ["orna", "arna", "erna", "or", "ar", "er", "en", "et", "an", "es", "na", "s", "n", "a"];
    if word.len() < 4 {
        return word;
    }
    ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending)).find(|rest| rest.len() >= 3).unwrap_or(word)
}

/// Whether two folded words are forms of one word ("shoe", "shoes", "sko", "skorna").
pub(super) fn same_word(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    if a.len() < 3 || b.len() < 3 || !a.chars().all(char::is_alphabetic) || !b.chars().all(char::is_alphabetic) {
        return false;
    }
    let plural = |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| PLURALS.contains(&rest));
    plural(a, b) || plural(b, a) || (stem(a) == stem(b) && stem(a).len() >= 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_words_numbers_and_signs() {
        let found: Vec<String> = tokens("What's 3/10–20/10, 200k and Q3? 1.5m").into_iter().map(|t| t.fold).collect();
        assert_eq!(found, ["whats", "3", "/", "10", "–", "20", "/", "10", ",", "200", "k", "and", "q3", "?", "1.5", "m"]);
    }

    #[test]
    fn folds_diacritics() {
        assert_eq!(fold("Löparskor FÖRRA veckan"), "loparskor forra veckan");
    }

    #[test]
    fn puts_typing_errors_right_but_not_other_words() {
        let mut lexicon = Lexicon::default();
        for word in ["pacing", "account", "show", "shoe", "cart", "month", "backpack"] {
            lexicon.add(word);
        }
        let norm = |text: &str| {
            let mut found = tokens(text);
            lexicon.correct(&mut found);
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
    fn knows_forms_of_a_word() {
        for (a, b) in [("shoe", "shoes"), ("jacket", "jackets"), ("sko", "skor"), ("skor", "skorna"), ("ryggsack", "ryggsacken")] {
            assert!(same_word(a, b), "{a} {b}");
        }
        for (a, b) in [("black", "blue"), ("tent", "tea"), ("42", "43"), ("red", "reds2")] {
            assert!(!same_word(a, b), "{a} {b}");
        }
    }
}
