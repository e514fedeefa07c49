//! Finds comparisons before numbers as people write them ("less than 2 kg", "minst 20"), in English
//! and Swedish. The number is not interpreted.

use std::ops::Range;

use crate::tokens::Token;

const COMPARISONS: &[&[&str]] = &[
    &["more", "than"],
    &["higher", "than"],
    &["greater", "than"],
    &["at", "least"],
    &["no", "less", "than"],
    &["over"],
    &["above"],
    &["mer", "an"],
    &["hogre", "an"],
    &["minst"],
    &["less", "than"],
    &["lower", "than"],
    &["fewer", "than"],
    &["at", "most"],
    &["no", "more", "than"],
    &["up", "to"],
    &["under"],
    &["below"],
    &["mindre", "an"],
    &["lagre", "an"],
    &["som", "mest"],
    &["hogst"],
    &["max"],
];

/// Returns the tokens of the comparison that ends right before a token, such as "less than" of
/// "less than 2 kg".
pub fn find_comparison_before(tokens: &[Token], at: usize) -> Option<Range<usize>> {
    let begins = |phrase: &&[&str]| {
        let start = at.checked_sub(phrase.len())?;
        let fits = phrase.iter().zip(&tokens[start..at]).all(|(word, token)| token.is(word));
        fits.then_some(start..at)
    };
    COMPARISONS.iter().filter_map(begins).min_by_key(|range| range.start)
}

#[cfg(test)]
mod tests {
    use super::find_comparison_before;
    use crate::tokens::tokens;

    #[test]
    fn the_longest_comparison_before_a_number_is_found() {
        let words = tokens("weighs no more than 2 kg");
        assert_eq!(find_comparison_before(&words, 4), Some(1..4));
        assert_eq!(find_comparison_before(&words, 1), None);
    }
}
