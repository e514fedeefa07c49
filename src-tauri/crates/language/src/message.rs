//! Reads a message as plain words with their diacritics: which list positions and numbers it names,
//! whether it compares or changes something, and whether it only names an option. The things that
//! are listed, compared or changed are not interpreted.

use std::collections::BTreeSet;

use crate::ordinals::{place_of_word, small_number};

/// Words that make a following number a position in a list.
const BEFORE_A_PLACE: [&str; 9] =
    ["option", "number", "nr", "no", "alternativ", "alternativet", "nummer", "product", "produkt"];
/// Words that join names of things. Unlike in `numbers::JOINERS`, "samt" is missing here.
const JOINERS: [&str; 9] = ["and", "or", "vs", "versus", "with", "och", "eller", "mot", "med"];
const COMPARES: &str = "compare comparison comparing jämför jämföra jämförelse jämförelsen";
const DIFFERS: &str = "difference differences better best worse prefer versus vs skillnad skillnaden bättre bäst sämre föredra";
const SEVERAL: &str = "these those them both all two three 2 3 dessa dem dom båda alla två tre";
const WEIGHS: &str = "or eller vs versus mot";
const CHANGES: &str =
    "add put buy order remove delete lägg lägga köp köpa beställ beställa ta stoppa";
const POINTS: &str = "that this it one option number like den det denna detta nr";

/// Words that may surround the option that a message names.
const AROUND_AN_OPTION: [&str; 14] = [
    "the", "please", "thanks", "thank", "you", "ok", "okay", "yes", "den", "det", "tack", "snälla",
    "ja", "okej",
];
/// Words before the number of an option.
const BEFORE_AN_OPTION: [&str; 7] = ["option", "number", "alternativ", "nummer", "nr.", "nr", "#"];
/// Words that may follow the ordinal of an option.
const AFTER_AN_OPTION: [&str; 4] = ["one", "option", "alternativ", "alternativet"];

/// The words of a message in lower case and without punctuation. A comma and an ampersand count as
/// words.
pub struct MessageWords(Vec<String>);

impl MessageWords {
    /// Splits a message into words.
    pub fn of(message: &str) -> Self {
        let spaced = message.to_lowercase().replace(',', " , ").replace('&', " & ");
        let trimmed = |word: &str| {
            if matches!(word, "," | "&") {
                word.to_owned()
            } else {
                word.trim_matches(|c: char| !c.is_alphanumeric() && c != '#').to_owned()
            }
        };
        Self(spaced.split_whitespace().map(trimmed).filter(|word| !word.is_empty()).collect())
    }

    /// Whether the message asks for a comparison.
    pub fn compares(&self) -> bool {
        self.has(COMPARES)
    }

    /// Whether the message asks for a difference, or which of several things is better.
    pub fn asks_for_difference(&self) -> bool {
        self.has(DIFFERS)
    }

    /// Whether the message refers to several things: "these", "both".
    pub fn means_several(&self) -> bool {
        self.has(SEVERAL)
    }

    /// Whether the message asks for a choice between two things: "which should I buy, 1 or 3?"
    pub fn is_weighing(&self) -> bool {
        self.has(WEIGHS)
    }

    /// Whether the message asks to add, buy or remove something.
    pub fn asks_for_change(&self) -> bool {
        self.has(CHANGES)
    }

    /// Whether the message refers to something without a number: "that one".
    pub fn is_pointing(&self) -> bool {
        self.has(POINTS)
    }

    /// Whether the message means the last of several things: "the last one", "den sista".
    pub fn is_last(&self) -> bool {
        self.0.iter().enumerate().any(|(at, word)| {
            matches!(word.as_str(), "last" | "sista")
                && matches!(self.word_before(at), "the" | "den" | "det")
                && matches!(
                    self.at(at + 1),
                    "" | "," | "one" | "option" | "alternativet" | "please" | "tack"
                )
        })
    }

    /// Whether the message means each of `count` things: "both", "add all of them", "ta dem".
    pub fn means_all(&self, count: usize) -> bool {
        self.0.iter().enumerate().any(|(at, word)| {
            let (before, after) = (self.word_before(at), self.at(at + 1));
            let is_part = matches!(before, "of" | "av" | "at" | "not" | "inte");
            match word.as_str() {
                "both" | "båda" | "bägge" => count == 2 && !is_part,
                "all" | "alla" => {
                    !is_part
                        && matches!(
                            after,
                            "" | "," | "of" | "av" | "them" | "these" | "those" | "dem" | "dessa"
                        )
                }
                "them" | "these" | "those" | "dem" | "dessa" => !is_part && self.asks_for_change(),
                _ => false,
            }
        })
    }

    fn has(&self, any: &str) -> bool {
        self.0.iter().any(|word| any.split(' ').any(|known| known == word))
    }

    fn at(&self, at: usize) -> &str {
        self.0.get(at).map_or("", String::as_str)
    }

    fn word_before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |before| self.at(before))
    }

    /// Returns the numbers that mean positions in a list: "#2", "option 2", "2nd", "the second",
    /// "the first two", or a number on its own. Joined numbers are included only if the message
    /// asks for a change.
    pub fn places(&self) -> Vec<usize> {
        let mut places = Vec::new();
        let asks = self.asks_for_change() || self.compares() || self.asks_for_difference();
        for (at, word) in self.0.iter().enumerate() {
            let (marked, digits) =
                word.strip_prefix('#').map_or((false, word.as_str()), |rest| (true, rest));
            let named =
                marked || self.0.len() == 1 || BEFORE_A_PLACE.contains(&self.word_before(at));
            let bare = small_number(digits).filter(|_| named);
            // "The top three tents" may be a new search and need not refer to the list.
            let listed = asks || (word != "top" && matches!(self.word_before(at), "the" | "de"));
            match self.read_first_count(at) {
                few @ 1.. if listed => places.extend(1..=few),
                _ => places.extend(bare.or_else(|| place_of_word(&self.0, at))),
            }
        }
        if self.asks_for_change() {
            places.extend(self.joined_numbers());
        }
        let mut seen = BTreeSet::new();
        places.retain(|place| seen.insert(*place));
        places
    }

    /// Returns joined numbers: "1 and 3", "2, 4 & 5". The numbers in "2 or 3 of them" are
    /// quantities and are not returned.
    pub fn joined_numbers(&self) -> Vec<usize> {
        if (0..self.0.len()).any(|at| {
            small_number(self.at(at)).is_some()
                && matches!((self.at(at + 1), self.at(at + 2)), ("of", "them") | ("av", "dem"))
        }) {
            return Vec::new();
        }
        let number = |at: usize| small_number(self.at(at).trim_start_matches('#'));
        let stands = |at: usize| {
            number(at).is_some()
                && ((is_joiner(self.word_before(at)) && at > 1 && number(at - 2).is_some())
                    || (is_joiner(self.at(at + 1)) && number(at + 2).is_some()))
        };
        (0..self.0.len()).filter(|at| stands(*at)).filter_map(number).collect()
    }

    /// Whether two of these names are joined, as in "AB-1 or AB-3". In "add AB-1 and remove AB-3"
    /// the names are not joined.
    pub fn joins_names<'a>(&self, names: impl Iterator<Item = &'a String>) -> bool {
        let names: Vec<Vec<String>> = names.map(|name| Self::of(name).0).collect();
        let length_of_name_at = |at: usize| {
            names
                .iter()
                .filter(|name| {
                    !name.is_empty() && self.0.get(at..).is_some_and(|rest| rest.starts_with(name))
                })
                .map(Vec::len)
                .max()
        };
        let is_joined = |at: usize| {
            length_of_name_at(at).is_some_and(|words| {
                is_joiner(self.at(at + words)) && length_of_name_at(at + words + 1).is_some()
            })
        };
        (0..self.0.len()).any(is_joined)
    }

    /// Returns the number of words such as "the first two" at `at`, or 0 without such words.
    fn read_first_count(&self, at: usize) -> usize {
        let next =
            if matches!(self.at(at), "first" | "top" | "första") { self.at(at + 1) } else { "" };
        match next {
            "two" | "2" | "två" => 2,
            "three" | "3" | "tre" => 3,
            _ => 0,
        }
    }
}

fn is_joiner(word: &str) -> bool {
    matches!(word, "," | "&") || JOINERS.contains(&word)
}

/// Whether a message contains a name as a whole word: "10" does not contain "1".
pub fn contains_word(message: &str, name: &str) -> bool {
    let (message, name) = (message.to_lowercase(), name.to_lowercase());
    message.match_indices(&name).any(|(at, _)| {
        let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '-' && c != '_');
        edge(message[..at].chars().next_back()) && edge(message[at + name.len()..].chars().next())
    })
}

/// Returns the number of an option if the message contains only the option: "2", "#2", "option 2",
/// "nr. 2", "2nd", "the second one, please". Returns None for a bare number with polite words,
/// because "2, please" may be a quantity.
pub fn read_option(message: &str) -> Option<usize> {
    let all = message.trim().trim_end_matches(['.', '!']).to_lowercase();
    let words: Vec<String> = all
        .split_whitespace()
        .map(|word| word.trim_matches([',', '.', '!']).to_owned())
        .filter(|word| !word.is_empty())
        .collect();
    let content: Vec<usize> =
        (0..words.len()).filter(|at| !AROUND_AN_OPTION.contains(&words[*at].as_str())).collect();
    let is_labelled =
        content.first().is_some_and(|at| BEFORE_AN_OPTION.contains(&words[*at].as_str()));
    if let [at, rest @ ..] = &content[usize::from(is_labelled)..]
        && rest.len() < 2
        && rest.iter().all(|after| AFTER_AN_OPTION.contains(&words[*after].as_str()))
        && let Some(place) = place_of_word(&words, *at)
    {
        return Some(place);
    }
    let content = content.into_iter().map(|at| words[at].as_str()).collect::<Vec<_>>().join(" ");
    let labelled = BEFORE_AN_OPTION.iter().find_map(|word| content.strip_prefix(word));
    let digits = labelled.map_or(all.as_str(), str::trim);
    (1..=3).contains(&digits.len()).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_all_items_are_distinguished_from_words_for_some() {
        let means_all = |message: &str| MessageWords::of(message).means_all(2);
        for message in
            ["add both", "ta båda", "add all of them", "put them in my cart", "alla, tack"]
        {
            assert!(means_all(message), "{message}");
        }
        for message in
            ["add one of them", "not both", "compare them", "add all day bags", "none at all"]
        {
            assert!(!means_all(message), "{message}");
        }
        assert!(!MessageWords::of("add both").means_all(3));
        let is_last = |message: &str| MessageWords::of(message).is_last();
        assert!(is_last("add the last one") && is_last("den sista, tack"));
        assert!(!is_last("the last week") && !is_last("at last"));
    }

    #[test]
    fn chat_api_12_a_message_with_only_a_number_chooses_that_option() {
        for (message, number) in [
            ("2", Some(2)),
            ("option 2", Some(2)),
            ("option 2nd", Some(2)),
            ("nr. 2", Some(2)),
            ("2nd, please", Some(2)),
            ("option", None),
        ] {
            assert_eq!(read_option(message), number, "{message}");
        }
    }
}
