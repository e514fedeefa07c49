//! The side of a plan that the name of a verdict is on. It must not know which verdicts there are.

use std::collections::{BTreeMap, HashSet};

use crate::tokens::name_words;

/// Returns whether a verdict is above the plan, by the words of its name. None if they name no side, or
/// both.
pub(crate) fn side_of(value: &str, deviations: &BTreeMap<String, HashSet<String>>) -> Option<bool> {
    let words = name_words(value);
    let has = |side: &str| {
        deviations.get(side).is_some_and(|known| words.iter().any(|word| known.contains(word)))
    };
    match (has("above"), has("below")) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        (true, true) | (false, false) => None,
    }
}
