//! The frequent words of English and Swedish. A typed word that is one of them is never corrected to a
//! name.

use std::{collections::HashSet, sync::LazyLock};

static FREQUENT: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    [include_str!("../words/en.txt"), include_str!("../words/sv.txt")]
        .into_iter()
        .flat_map(str::lines)
        .collect()
});

/// Whether a folded word is a frequent word of English or Swedish.
pub(crate) fn is_frequent(word: &str) -> bool {
    FREQUENT.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_words_of_both_languages_are_known_in_folded_form() {
        for word in ["fort", "conversation", "paused", "manad", "forra", "kostnad"] {
            assert!(is_frequent(word), "{word}");
        }
        assert!(!is_frequent("camapign"));
    }
}
