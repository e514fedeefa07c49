//! Reads bounds as people write them: "over 110%", "between 95 and 105 percent", "less than 2
//! weeks", "minst 20 %". in English and Swedish. The bounded quantity is not interpreted.

use std::ops::Range;

use crate::{
    numbers::{PERCENT, cardinal},
    tokens::{Token, TokenKind},
};

/// The unit of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Percent,
    Days,
}

/// A lower bound, an upper bound, or both.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    pub least: Option<f64>,
    pub most: Option<f64>,
    pub measure: Measure,
    pub at: Range<usize>,
}

const ABOVE: &[&[&str]] = &[
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
];
const BELOW: &[&[&str]] = &[
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
/// Before a number of days, these words introduce a period and not a bound: "spend over 10 days".
const NO_DAYS: &[&str] = &["over", "under", "above", "below", "up", "max"];

/// Returns all bounds in the text, in order.
pub fn find_bounds(tokens: &[Token]) -> Vec<Bound> {
    let mut found: Vec<Bound> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let bound = range(tokens, at)
            .or_else(|| read_leading_bound(tokens, at))
            .or_else(|| read_trailing_bound(tokens, at));
        at = bound.as_ref().map_or(at + 1, |bound| bound.at.end);
        found.extend(bound);
    }
    found
}

/// Returns the tokens of the comparison that ends right before a token, such as "less than" of
/// "less than 2 kg".
pub fn find_comparison_before(tokens: &[Token], at: usize) -> Option<Range<usize>> {
    let begins = |phrase: &&[&str]| {
        let start = at.checked_sub(phrase.len())?;
        let fits = phrase.iter().zip(&tokens[start..at]).all(|(word, token)| token.is(word));
        fits.then_some(start..at)
    };
    ABOVE.iter().chain(BELOW).filter_map(begins).min_by_key(|range| range.start)
}

/// Reads "between 95 and 105 percent" or "95-105%".
fn range(tokens: &[Token], at: usize) -> Option<Bound> {
    let is_led = tokens[at].any(&["between", "mellan", "from", "fran"]);
    let from = at + usize::from(is_led);
    let low = number(tokens, from)?;
    let joint = from + 1 + usize::from(tokens.get(from + 1).is_some_and(|t| t.any(PERCENT)));
    let joins: &[&str] =
        if is_led { &["and", "och", "to", "till", "-", "–"] } else { &["-", "–"] };
    tokens.get(joint).filter(|token| token.any(joins))?;
    let high = number(tokens, joint + 1)?;
    tokens.get(joint + 2).filter(|token| token.any(PERCENT))?;
    (low < high).then_some(Bound {
        least: Some(low),
        most: Some(high),
        measure: Measure::Percent,
        at: at..joint + 3,
    })
}

/// Reads "more than 30%" or "less than two weeks".
fn read_leading_bound(tokens: &[Token], at: usize) -> Option<Bound> {
    let length = |phrases: &[&[&str]]| {
        let fits = |phrase: &&&[&str]| {
            let word = |(i, word): (usize, &&str)| tokens.get(at + i).is_some_and(|t| t.is(word));
            phrase.iter().enumerate().all(word)
        };
        phrases.iter().filter(fits).map(|phrase| phrase.len()).max()
    };
    let (used, is_above) = match (length(ABOVE), length(BELOW)) {
        (Some(above), below) if below.is_none_or(|below| above > below) => (above, true),
        (_, below) => (below?, false),
    };
    let (value, measure, end) = amount(tokens, at + used)?;
    if measure == Measure::Days && tokens[at].any(NO_DAYS) {
        return None;
    }
    Some(bound(value, is_above, measure, at..end))
}

/// Reads "110% or more" and "110%+".
fn read_trailing_bound(tokens: &[Token], at: usize) -> Option<Bound> {
    let (value, measure, end) = amount(tokens, at).filter(|(_, m, _)| *m == Measure::Percent)?;
    let next = tokens.get(end)?;
    if next.fold == "+" && next.glued {
        return Some(bound(value, true, measure, at..end + 1));
    }
    next.any(&["or", "eller"]).then_some(())?;
    let side = tokens.get(end + 1)?;
    let is_above = side.any(&["more", "higher", "above", "over", "mer", "hogre"]);
    let is_below = side.any(&["less", "lower", "below", "under", "mindre", "lagre"]);
    (is_above || is_below).then(|| bound(value, is_above, measure, at..end + 2))
}

fn bound(value: f64, is_above: bool, measure: Measure, at: Range<usize>) -> Bound {
    Bound { least: is_above.then_some(value), most: (!is_above).then_some(value), measure, at }
}

/// Reads a number with its unit. Returns the value, its unit, and the position after both.
fn amount(tokens: &[Token], at: usize) -> Option<(f64, Measure, usize)> {
    let value = number(tokens, at);
    let unit = tokens.get(at + 1)?;
    if unit.any(PERCENT) {
        return Some((value?, Measure::Percent, at + 2));
    }
    let article = tokens[at].any(&["a", "an", "en", "ett"]).then_some(1.0);
    let days = match unit.norm.as_str() {
        "day" | "days" | "dag" | "dagar" => 1.0,
        "week" | "weeks" | "vecka" | "veckor" => 7.0,
        "month" | "months" | "manad" | "manader" => 30.0,
        _ => return None,
    };
    Some((value.or(article)? * days, Measure::Days, at + 2))
}

fn number(tokens: &[Token], at: usize) -> Option<f64> {
    let token = tokens.get(at)?;
    match token.kind {
        TokenKind::Number => token.fold.replace(',', ".").parse().ok(),
        TokenKind::Word => cardinal(&token.norm).map(f64::from),
        TokenKind::Punct => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokens;

    fn read(text: &str) -> Vec<(Option<f64>, Option<f64>, Measure)> {
        find_bounds(&tokens(text)).into_iter().map(|b| (b.least, b.most, b.measure)).collect()
    }

    #[test]
    fn bounds_are_read_as_minimum_or_maximum() {
        use Measure::{Days, Percent};
        for (text, expected) in [
            ("everything over 110% pace", (Some(110.0), None, Percent)),
            ("between 95 and 105 percent", (Some(95.0), Some(105.0), Percent)),
            ("mellan 95 % och 105 %", (Some(95.0), Some(105.0), Percent)),
            ("95-105%", (Some(95.0), Some(105.0), Percent)),
            ("more than 30% of budget", (Some(30.0), None, Percent)),
            ("minst 20 % kvar", (Some(20.0), None, Percent)),
            ("no more than 12,5%", (None, Some(12.5), Percent)),
            ("90% or less", (None, Some(90.0), Percent)),
            ("110 procent eller mer", (Some(110.0), None, Percent)),
            ("110%+", (Some(110.0), None, Percent)),
            ("less than two weeks left", (None, Some(14.0), Days)),
            ("mindre än en månad kvar", (None, Some(30.0), Days)),
        ] {
            assert_eq!(read(text), [expected], "{text}");
        }
        let words = tokens("weighs no more than 2 kg");
        assert_eq!(find_comparison_before(&words, 4), Some(1..4));
        assert_eq!(find_comparison_before(&words, 1), None);
        for text in ["20%", "over 500", "spend over 10 days", "raise it by 20%", "1-15 october"] {
            assert_eq!(read(text), [], "{text}");
        }
    }
}
