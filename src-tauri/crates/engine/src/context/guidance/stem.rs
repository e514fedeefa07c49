//! Splits a text into words and stems them, sufficiently to match "calculate", "calculation" and
//! "calculations". Not a full stemmer of any language.

/// Word endings that are removed, longest first.
const ENDINGS: [&str; 12] =
    ["ations", "ation", "ating", "ated", "ates", "ings", "ing", "ate", "ed", "es", "s", "e"];
/// The fewest characters of a word after removing an ending.
const LEAST: usize = 3;

/// Returns the words of a text in lower case.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Returns a word without its ending.
pub(crate) fn stem_word(word: &str) -> String {
    let word = word.to_lowercase();
    if let Some(many) = word.strip_suffix("ies").filter(|rest| rest.chars().count() >= LEAST) {
        return format!("{many}y");
    }
    let ending = ENDINGS.iter().find(|ending| {
        word.ends_with(**ending) && word[..word.len() - ending.len()].chars().count() >= LEAST
    });
    ending.map_or_else(|| word.clone(), |ending| word[..word.len() - ending.len()].to_owned())
}
