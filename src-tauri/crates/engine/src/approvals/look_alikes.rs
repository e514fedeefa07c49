//! Finds words that mix alphabets: `pаypal` with a Cyrillic `а` looks like the Latin word. The
//! approval window shows these words, and the user judges them. A word written entirely in one
//! foreign alphabet is not reported.

use contract::LookAlike;
use serde_json::Value;
use unicode_script::{Script, UnicodeScript as _};

/// The most words that are reported for an action.
const MOST: usize = 8;
/// Alphabets that contain similar letters.
const ALPHABETS: [Script; 6] = [
    Script::Latin,
    Script::Cyrillic,
    Script::Greek,
    Script::Armenian,
    Script::Cherokee,
    Script::Coptic,
];
/// The most characters that are shown of a word.
const CHARS: usize = 64;

/// Returns the words of these texts that mix alphabets, each once.
pub fn look_alikes<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<LookAlike> {
    let mut found: Vec<LookAlike> = Vec::new();
    let words = texts.into_iter().flat_map(|text| text.split(|c: char| !is_word_character(c)));
    for look_alike in words.filter_map(find_mixed_alphabets) {
        if found.len() < MOST && !found.contains(&look_alike) {
            found.push(look_alike);
        }
    }
    found
}

/// Returns all texts and all member names in a JSON value.
pub(crate) fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(list) => list.iter().flat_map(texts).collect(),
        Value::Object(members) => members
            .iter()
            .flat_map(|(name, value)| std::iter::once(name.as_str()).chain(texts(value)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Whether a character belongs to a word: letters, digits, marks, and invisible characters.
/// Invisible characters are included, so that they cannot split a word to hide it.
fn is_word_character(c: char) -> bool {
    c.is_alphanumeric()
        || c.script() == Script::Inherited
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

fn find_mixed_alphabets(word: &str) -> Option<LookAlike> {
    let letters =
        || word.chars().map(|c| (c, c.script())).filter(|(_, script)| ALPHABETS.contains(script));
    let of = |wanted: Script| letters().filter(|(_, script)| *script == wanted).count();
    let usual = ALPHABETS
        .into_iter()
        .filter(|script| of(*script) > 0)
        .max_by_key(|script| (*script == Script::Latin, of(*script)))?;
    let (letter, script) = letters().find(|(_, script)| *script != usual)?;
    Some(LookAlike {
        word: word.chars().take(CHARS).collect(),
        letter: letter.to_string(),
        code: format!("U+{:04X}", u32::from(letter)),
        script: script.full_name().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(String, String, String)> {
        look_alikes([text])
            .into_iter()
            .map(|found| (found.word, found.code, found.script))
            .collect()
    }

    #[test]
    fn only_words_that_mix_alphabets_are_reported_as_look_alikes() {
        let one = |word: &str, code: &str, script: &str| {
            vec![(word.to_owned(), code.to_owned(), script.to_owned())]
        };
        assert_eq!(found("send to p\u{430}ypal.com"), one("p\u{430}ypal", "U+0430", "Cyrillic"));
        assert_eq!(found("\u{391}cme AB"), one("\u{391}cme", "U+0391", "Greek"));
        assert_eq!(
            found("\u{41f}\u{440}\u{438}\u{432}eт"),
            one("\u{41f}\u{440}\u{438}\u{432}eт", "U+041F", "Cyrillic")
        );
        assert_eq!(
            found("p\u{200b}\u{430}y"),
            one("p\u{200b}\u{430}y", "U+0430", "Cyrillic"),
            "split by what is not seen"
        );
        for plain in [
            "paypal.com",
            "Привет, world",
            "åäö 42 km",
            "東京Tower",
            "naïve e\u{301}",
            "Σ = 5",
            "ελληνικά",
        ] {
            assert_eq!(found(plain), [], "{plain}");
        }
    }

    #[test]
    fn each_look_alike_word_is_reported_once_up_to_a_maximum() {
        let many: String = (0..50).map(|n| format!("a{n}\u{430} a{n}\u{430} ")).collect();
        assert_eq!(look_alikes([many.as_str()]).len(), MOST);
        assert_eq!(texts(&serde_json::json!({"to": ["x", {"y": 1}]})), ["to", "x", "y"]);
    }
}
