//! Reads percentages and the direction of a change as people write them: "raise by 20%", "10
//! procent lägre", "double". in English and Swedish. The changed value is not interpreted.

use crate::{
    numbers::{PERCENT, cardinal},
    tokens::{Token, TokenKind},
};

/// A number with a percent sign, or a word that means one ("double", "half").
#[derive(Clone, Debug, PartialEq)]
pub struct Percent {
    /// The percentage. Not negative unless `is_signed`.
    pub value: f64,
    pub at: usize,
    pub len: usize,
    /// Whether the word itself gives the direction: "double" is +100, "halve" is -50.
    pub is_signed: bool,
}

const UP: &[&str] = &[
    "raise",
    "raised",
    "raising",
    "increase",
    "increased",
    "increasing",
    "add",
    "added",
    "plus",
    "more",
    "up",
    "higher",
    "boost",
    "grow",
    "extra",
    "hoj",
    "hoja",
    "hojer",
    "hojde",
    "oka",
    "okar",
    "okade",
    "okning",
    "mer",
    "upp",
    "hogre",
    "bump",
];
const DOWN: &[&str] = &[
    "cut",
    "cutting",
    "lower",
    "lowered",
    "reduce",
    "reduced",
    "decrease",
    "decreased",
    "drop",
    "dropped",
    "minus",
    "less",
    "down",
    "trim",
    "fewer",
    "sank",
    "sanka",
    "sanker",
    "sankte",
    "minska",
    "minskar",
    "minskade",
    "ner",
    "ned",
    "mindre",
    "lagre",
    "dra",
];
const DOUBLE: &[&str] =
    &["double", "doubled", "doubling", "dubbla", "dubblar", "fordubbla", "fordubblar"];
const HALF: &[&str] = &["halve", "halved", "halving", "halvera", "halverar", "halverade"];

/// Returns all percentages in the text, in order.
pub fn find_percents(tokens: &[Token]) -> Vec<Percent> {
    (0..tokens.len()).filter_map(|at| percent(tokens, at)).collect()
}

fn percent(tokens: &[Token], at: usize) -> Option<Percent> {
    let token = &tokens[at];
    if token.any(DOUBLE) {
        return Some(Percent { value: 100.0, at, len: 1, is_signed: true });
    }
    if token.any(HALF) {
        return Some(Percent { value: -50.0, at, len: 1, is_signed: true });
    }
    let value = match token.kind {
        TokenKind::Number => token.fold.replace(',', ".").parse::<f64>().ok()?,
        TokenKind::Word => f64::from(cardinal(&token.norm)?),
        TokenKind::Punct => return None,
    };
    tokens.get(at + 1).filter(|next| next.any(PERCENT))?;
    Some(Percent { value, at, len: 2, is_signed: false })
}

/// Returns 1.0 if the words near a value raise it, and -1.0 if they lower it. If several words give
/// a direction, the nearest word decides. Returns none if no word does.
pub fn direction_near(tokens: &[Token], at: usize) -> Option<f64> {
    // A sign that is not directly before the value is a hyphen, as in "Juniper Stays - Cabins".
    let is_sign = |i: usize, signs: &[&str]| i + 1 == at && tokens[i].any(signs);
    let sign = |i: usize, token: &Token| {
        if token.any(UP) || is_sign(i, &["+"]) {
            Some(1.0)
        } else if token.any(DOWN) || is_sign(i, &["-", "−"]) {
            Some(-1.0)
        } else {
            None
        }
    };
    tokens
        .iter()
        .enumerate()
        .filter_map(|(i, token)| Some((i.abs_diff(at), sign(i, token)?)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, sign)| sign)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokens;

    #[test]
    fn percentage_changes_are_read_with_their_direction() {
        for (text, value) in [
            ("what if we raise the budget by 20%", 20.0),
            ("lower it by 12,5 %", -12.5),
            ("what if we raise the budget of Juniper Stays - Cabins by 20%", 20.0),
            ("budget of Cabins -20%", -20.0),
            ("20 percent more per day", 20.0),
            ("sänk budgeten med tio procent", -10.0),
            ("double the budget", 100.0),
            ("halvera budgeten", -50.0),
        ] {
            let tokens = tokens(text);
            let [found] = &find_percents(&tokens)[..] else { panic!("{text}") };
            let sign = if found.is_signed {
                1.0
            } else {
                direction_near(&tokens, found.at).unwrap_or(0.0)
            };
            assert_eq!(found.value * sign, value, "{text}");
        }
        assert_eq!(find_percents(&tokens("20 campaigns")), []);
    }
}
