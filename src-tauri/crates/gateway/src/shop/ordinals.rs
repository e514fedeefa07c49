//! Places that a message names, in English and Swedish, as digits or as words: "2nd", "2:a", "the second one", "den andra". One reader
//! for options and for products. Pure.

const WORDS: [(&str, &str); 10] = [
    ("first", "första"),
    ("second", "andra"),
    ("third", "tredje"),
    ("fourth", "fjärde"),
    ("fifth", "femte"),
    ("sixth", "sjätte"),
    ("seventh", "sjunde"),
    ("eighth", "åttonde"),
    ("ninth", "nionde"),
    ("tenth", "tionde"),
];
const ENDINGS: [&str; 7] = ["st", "nd", "rd", "th", ":an", ":a", ":e"];
/// What variants differ in: "den andra färgen" is the other colour.
const DIFFERENCES: [&str; 2] = ["färg", "storlek"];

/// A number that may be a place.
pub(crate) fn place(digits: &str) -> Option<usize> {
    (1..=2).contains(&digits.len()).then(|| digits.parse().ok()).flatten().filter(|place| *place > 0)
}

/// The place that the word at `at` names. Words are small and without marks.
pub(crate) fn ordinal(words: &[String], at: usize) -> Option<usize> {
    let word = words.get(at)?;
    let digits = word.trim_start_matches('#');
    if let Some(place) = ENDINGS.iter().find_map(|end| digits.strip_suffix(end)).and_then(place) {
        return Some(place);
    }
    let place = WORDS.iter().position(|(en, sv)| word == en || word == sv)? + 1;
    let (before, after) = (at.checked_sub(1).and_then(|at| words.get(at)).map_or("", String::as_str), words.get(at + 1).map_or("", String::as_str));
    let is_place = match (word.as_str(), before) {
        ("andra", before) => is_second(before, after),
        (_, "the" | "den" | "det") => true,
        // "First, show me shoes" means no product.
        (..) => words.len() == 1 || matches!(after, "one" | "option" | "product" | "alternativet"),
    };
    is_place.then_some(place)
}

/// Swedish "andra" is "other" as well: "i andra färger", "finns det andra?"
fn is_second(before: &str, after: &str) -> bool {
    match before {
        "den" => !DIFFERENCES.iter().any(|noun| after.starts_with(noun)),
        "det" => matches!(after, "" | "alternativet"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &str) -> Vec<usize> {
        let words: Vec<String> = message.to_lowercase().split_whitespace().map(|word| word.trim_matches(['?', ',', '.', '!']).to_owned()).collect();
        (0..words.len()).filter_map(|at| ordinal(&words, at)).collect()
    }

    #[test]
    fn digits_and_words_are_read_in_both_languages() {
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
    fn swedish_others_are_no_second() {
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
