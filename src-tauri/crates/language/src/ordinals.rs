//! Reads positions in a list that people name: "2nd", "2:a", "the second one", "den andra", in
//! English and Swedish. There are two readers. `read_place` reads tokens after a list was shown, so
//! an ordinal on its own is a position. `place_of_word` reads plain words of any message, so an
//! ordinal needs an article before it or a noun after it.

use crate::tokens::{Token, TokenKind};

/// The first ten ordinals: in English, in Swedish, and in Swedish without diacritics.
const ORDINALS: [(&str, &str, &str); 10] = [
    ("first", "första", "forsta"),
    ("second", "andra", "andra"),
    ("third", "tredje", "tredje"),
    ("fourth", "fjärde", "fjarde"),
    ("fifth", "femte", "femte"),
    ("sixth", "sjätte", "sjatte"),
    ("seventh", "sjunde", "sjunde"),
    ("eighth", "åttonde", "attonde"),
    ("ninth", "nionde", "nionde"),
    ("tenth", "tionde", "tionde"),
];

/// Other forms of ordinals, without diacritics. Only `read_place` reads them.
const OTHER_FORMS: &[(&str, u32)] = &[
    ("1st", 1),
    ("2nd", 2),
    ("3rd", 3),
    ("4th", 4),
    ("5th", 5),
    ("6th", 6),
    ("7th", 7),
    ("8th", 8),
    ("9th", 9),
    ("10th", 10),
    ("forste", 1),
    ("andre", 2),
    ("ettan", 1),
    ("tvaan", 2),
    ("trean", 3),
    ("fyran", 4),
    ("femman", 5),
    ("sexan", 6),
    ("1a", 1),
    ("2a", 2),
    ("3e", 3),
    ("4e", 4),
    ("5e", 5),
    ("6e", 6),
];

/// Endings after digits that make an ordinal, for `place_of_word`.
const ENDINGS: [&str; 7] = ["st", "nd", "rd", "th", ":an", ":a", ":e"];
/// Nouns for properties in which variants differ. "Den andra färgen" means the other colour, not
/// the second colour.
const DIFFERENCES: [&str; 3] = ["färg", "farg", "storlek"];

/// Returns the position that a folded word names by itself.
pub fn ordinal(word: &str) -> Option<u32> {
    let listed = (1..)
        .zip(ORDINALS)
        .find(|(_, (en, _, sv))| *en == word || *sv == word)
        .map(|(place, _)| place);
    listed.or_else(|| OTHER_FORMS.iter().find(|(form, _)| *form == word).map(|(_, place)| *place))
}

/// Returns all folded words for positions, for the lexicon.
pub(crate) fn ordinal_words() -> impl Iterator<Item = &'static str> {
    let listed = ORDINALS.iter().map(|(en, ..)| *en).chain(ORDINALS.iter().map(|(_, _, sv)| *sv));
    listed.chain(OTHER_FORMS.iter().map(|(form, _)| *form))
}

/// Whether Swedish "andra" means "second" between these words. Otherwise the word means "other": "i
/// andra färger", "finns det andra?"
fn is_second(before: &str, after: Option<&str>) -> bool {
    match before {
        "den" => !after.is_some_and(|after| DIFFERENCES.iter().any(|noun| after.starts_with(noun))),
        "det" => after.is_none_or(|after| after == "alternativet"),
        _ => false,
    }
}

/// Reads the position at `at`: "second", "2nd", "2:a", "tvåan". Returns the position and the number
/// of its tokens.
pub fn read_place(tokens: &[Token], at: usize) -> Option<(u32, usize)> {
    let token = tokens.get(at)?;
    if token.kind == TokenKind::Word {
        return ordinal(&token.norm)
            .filter(|_| !token.any(&["andra", "andre"]) || is_second_token(tokens, at))
            .map(|value| (value, 1));
    }
    let value = token.int()?;
    let next = tokens.get(at + 1)?;
    if next.glued
        && ["st", "nd", "rd", "th"].contains(&next.fold.as_str())
        && is_ending_of(&next.fold, &token.fold)
    {
        return Some((value, 2));
    }
    let suffix = tokens.get(at + 2)?;
    (next.glued && next.fold == ":" && suffix.glued && ["a", "e"].contains(&suffix.fold.as_str()))
        .then_some((value, 3))
}

/// Whether digits and this ending make an ordinal. In Swedish, "3st" means three pieces.
fn is_ending_of(ending: &str, digits: &str) -> bool {
    ending != "st" || digits.ends_with('1') && !digits.ends_with("11")
}

/// Whether the token "andra" means "second". As the whole message, the word does. "Ändra" (change)
/// does not, even if typed without diacritics.
fn is_second_token(tokens: &[Token], at: usize) -> bool {
    if tokens[at].raw.starts_with(['ä', 'Ä']) {
        return false;
    }
    let Some(before) = at.checked_sub(1).map(|before| &tokens[before]) else {
        return tokens.iter().filter(|token| token.kind != TokenKind::Punct).count() == 1;
    };
    let after = tokens.get(at + 1).filter(|next| next.kind != TokenKind::Punct);
    let after =
        after.map(|next| if next.is("alternativet") { "alternativet" } else { next.fold.as_str() });
    ["den", "det"].into_iter().any(|article| before.is(article) && is_second(article, after))
}

/// Reads a number of one or two digits that may be a position in a list. Returns None for 0 and for
/// longer numbers.
pub fn small_number(digits: &str) -> Option<usize> {
    (1..=2)
        .contains(&digits.len())
        .then(|| digits.parse().ok())
        .flatten()
        .filter(|place| *place > 0)
}

/// Returns the position that the word at `at` names. The words are in lower case, without
/// punctuation, with diacritics.
pub fn place_of_word(words: &[String], at: usize) -> Option<usize> {
    let word = words.get(at)?;
    let digits = word.trim_start_matches('#');
    let ends = |end: &&str| digits.strip_suffix(end).filter(|value| is_ending_of(end, value));
    if let Some(place) = ENDINGS.iter().find_map(ends).and_then(small_number) {
        return Some(place);
    }
    let place = ORDINALS.iter().position(|(en, sv, _)| word == en || word == sv)? + 1;
    let (before, after) = (
        at.checked_sub(1).and_then(|at| words.get(at)).map_or("", String::as_str),
        words.get(at + 1).map(String::as_str),
    );
    let is_place = match (word.as_str(), before) {
        ("andra", before) => is_second(before, after),
        (_, "the" | "den" | "det") => true,
        // "First, show me shoes" names no position.
        (..) => {
            words.len() == 1 || matches!(after, Some("one" | "option" | "product" | "alternativet"))
        }
    };
    is_place.then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokens;

    #[test]
    fn ordinal_tokens_are_read_as_positions() {
        let place_of = |text: &str| read_place(&tokens(text), 0).map(|(value, _)| value);
        for (text, value) in [
            ("second", 2),
            ("2nd", 2),
            ("2:a", 2),
            ("andra", 2),
            ("tvåan", 2),
            ("first", 1),
            ("tredje", 3),
            ("10th", 10),
        ] {
            assert_eq!(place_of(text), Some(value), "{text}");
        }
        let second_in =
            |text: &str| (0..tokens(text).len()).any(|at| read_place(&tokens(text), at).is_some());
        for text in [
            "den andra",
            "den andra, tack",
            "visa den andra i svart",
            "det andra",
            "det andra alternativet",
        ] {
            assert!(second_in(text), "{text}");
        }
        for text in [
            "finns den i andra färger?",
            "finns det andra färger",
            "den andra färgen",
            "några andra alternativ",
            "ändra den",
            "andra till 3",
        ] {
            assert!(!second_in(text), "{text}");
        }
        assert_eq!(place_of("two"), None);
        assert_eq!(place_of("2"), None);
    }

    fn read(message: &str) -> Vec<usize> {
        let words: Vec<String> = message
            .to_lowercase()
            .split_whitespace()
            .map(|word| word.trim_matches(['?', ',', '.', '!']).to_owned())
            .collect();
        (0..words.len()).filter_map(|at| place_of_word(&words, at)).collect()
    }

    #[test]
    fn ordinals_in_digits_and_words_are_read_in_both_languages() {
        for (message, place) in [
            ("2nd", 2),
            ("the 3rd", 3),
            ("2:a", 2),
            ("2:an", 2),
            ("the second", 2),
            ("second one", 2),
            ("second", 2),
            ("den första", 1),
            ("den andra", 2),
            ("jag tar den andra, tack", 2),
            ("det andra", 2),
            ("det andra alternativet", 2),
            ("the tenth", 10),
        ] {
            assert_eq!(read(message), [place], "{message}");
        }
    }

    #[test]
    fn the_swedish_word_andra_meaning_others_is_not_read_as_second() {
        for message in [
            "finns den i andra färger?",
            "finns det andra färger?",
            "har ni andra",
            "andra",
            "några andra alternativ?",
            "finns den andra färgen?",
            "First, show me tents",
            "a second",
        ] {
            assert!(read(message).is_empty(), "{message}");
        }
    }
}
