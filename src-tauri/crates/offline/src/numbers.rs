//! Numbers as people write them: digits, words, ordinals, amounts of money. English and Swedish.
//! Knows nothing of what a number is for.

use super::text::{Kind, Token};

const CARDINALS: &[(&str, u32)] = &[
    ("zero", 0),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
    ("hundred", 100),
    ("dozen", 12),
    ("dussin", 12),
    ("halvdussin", 6),
    ("couple", 2),
    ("noll", 0),
    ("en", 1),
    ("ett", 1),
    ("tva", 2),
    ("tvaa", 2),
    ("tre", 3),
    ("fyra", 4),
    ("fem", 5),
    ("sex", 6),
    ("sju", 7),
    ("atta", 8),
    ("nio", 9),
    ("tio", 10),
    ("elva", 11),
    ("tolv", 12),
    ("tretton", 13),
    ("fjorton", 14),
    ("femton", 15),
    ("sexton", 16),
    ("sjutton", 17),
    ("arton", 18),
    ("nitton", 19),
    ("tjugo", 20),
    ("trettio", 30),
    ("fyrtio", 40),
    ("femtio", 50),
    ("sextio", 60),
    ("sjuttio", 70),
    ("attio", 80),
    ("nittio", 90),
    ("hundra", 100),
];

const ORDINALS: &[(&str, u32)] = &[
    ("first", 1),
    ("second", 2),
    ("third", 3),
    ("fourth", 4),
    ("fifth", 5),
    ("sixth", 6),
    ("seventh", 7),
    ("eighth", 8),
    ("ninth", 9),
    ("tenth", 10),
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
    ("forsta", 1),
    ("forste", 1),
    ("andra", 2),
    ("andre", 2),
    ("tredje", 3),
    ("fjarde", 4),
    ("femte", 5),
    ("sjatte", 6),
    ("sjunde", 7),
    ("attonde", 8),
    ("nionde", 9),
    ("tionde", 10),
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

/// The value of a number word.
pub(super) fn cardinal(word: &str) -> Option<u32> {
    CARDINALS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}

/// The place of an ordinal word.
pub(super) fn ordinal(word: &str) -> Option<u32> {
    ORDINALS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}

/// All number words, for the lexicon.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    CARDINALS.iter().chain(ORDINALS).map(|(name, _)| *name)
}

/// A whole number at `at`, in digits or words. "en" and "ett" are articles as well: they count as 1.
pub(super) fn whole(tokens: &[Token], at: usize) -> Option<(u32, usize)> {
    let token = tokens.get(at)?;
    if let Some(value) = token.int() {
        return Some((value, 1));
    }
    if token.kind != Kind::Word {
        return None;
    }
    if let Some(used) = half_dozen(tokens, at) {
        return Some((6, used));
    }
    let value = cardinal(&token.norm)?;
    let tens = (20..100).contains(&value);
    if tens && let Some(unit) = tokens.get(at + 1).and_then(|next| cardinal(&next.norm)).filter(|unit| (1..10).contains(unit)) {
        return Some((value + unit, 2));
    }
    Some((value, 1))
}

/// What stands between numbers of things that are named together.
pub(super) const JOINERS: &[&str] = &["and", "och", "&", ",", "/", "vs", "versus", "with", "med", "mot", "samt", "or", "eller"];
/// Those that leave open which one is meant.
pub(super) const CHOICES: &[&str] = &["or", "eller"];

/// "half a dozen", "ett halvt dussin": how many tokens it takes.
fn half_dozen(tokens: &[Token], at: usize) -> Option<usize> {
    let words: Vec<&str> = tokens[at..].iter().take(3).map(|token| token.norm.as_str()).collect();
    match words[..] {
        ["half", "a", "dozen"] | ["a" | "ett", "half" | "halvt", "dozen" | "dussin"] => Some(3),
        ["half" | "halvt", "dozen" | "dussin", ..] => Some(2),
        _ => None,
    }
}

/// Small numbers that are joined: "1 and 3", "2, 4 & 5", "#1 vs #2", "1, 2 or 3". With how many tokens they take.
pub(super) fn joined(tokens: &[Token], at: usize) -> Option<(Vec<u32>, usize)> {
    let number = |at: usize| {
        let sign = usize::from(tokens.get(at)?.fold == "#");
        Some((tokens.get(at + sign)?.int().filter(|value| (1..=20).contains(value))?, sign + 1))
    };
    let joins = |at: usize| tokens.get(at).is_some_and(|token| token.any(JOINERS));
    let (first, used) = number(at)?;
    let (mut found, mut end) = (vec![first], at + used);
    loop {
        // "1, 2, and 4"
        let joiners = usize::from(joins(end)) + usize::from(joins(end) && joins(end + 1));
        let Some((next, used)) = number(end + joiners).filter(|_| joiners > 0) else { break };
        found.push(next);
        end += joiners + used;
    }
    (found.len() > 1).then_some((found, end - at))
}

/// An ordinal at `at`: "second", "2nd", "2:a", "tvåan".
pub(super) fn place(tokens: &[Token], at: usize) -> Option<(u32, usize)> {
    let token = tokens.get(at)?;
    if token.kind == Kind::Word {
        return ordinal(&token.norm).filter(|_| !token.any(&["andra", "andre"]) || is_second(tokens, at)).map(|value| (value, 1));
    }
    let value = token.int()?;
    let next = tokens.get(at + 1)?;
    if next.glued && ["st", "nd", "rd", "th"].contains(&next.fold.as_str()) {
        return Some((value, 2));
    }
    let suffix = tokens.get(at + 2)?;
    (next.glued && next.fold == ":" && suffix.glued && ["a", "e"].contains(&suffix.fold.as_str())).then_some((value, 3))
}

/// Whether "andra" is a place: "den andra", "det andra alternativet", or nothing else said. Otherwise it is "other" ("i andra färger"), or
/// "ändra" (change), also where that is typed without its dots.
fn is_second(tokens: &[Token], at: usize) -> bool {
    let next = tokens.get(at + 1).filter(|next| next.kind != Kind::Punct);
    match at.checked_sub(1).map(|before| &tokens[before]) {
        _ if tokens[at].raw.starts_with(['ä', 'Ä']) => false,
        None => tokens.iter().filter(|token| token.kind != Kind::Punct).count() == 1,
        // "Den andra färgen" is the other colour.
        Some(before) if before.is("den") => !next.is_some_and(|next| next.fold.starts_with("farg") || next.fold.starts_with("storlek")),
        Some(before) if before.is("det") => next.is_none_or(|next| next.is("alternativet")),
        Some(_) => false,
    }
}

/// A number with its scale and currency.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Amount {
    pub(super) value: f64,
    pub(super) at: usize,
    pub(super) len: usize,
    /// It was marked as money or scaled ("200k", "$5", "300 kr").
    pub(super) marked: bool,
}

const CURRENCIES: &[&str] =
    &["kr", "sek", "kronor", "krona", "usd", "eur", "euro", "euros", "dollar", "dollars", "gbp", "pounds", "bucks", "nok", "dkk", "spann", "kronors"];

fn scale(word: &str) -> Option<f64> {
    Some(match word {
        "k" | "thousand" | "tusen" | "tkr" | "grand" => 1e3,
        "m" | "mn" | "mio" | "mil" | "million" | "millions" | "miljon" | "miljoner" | "mkr" | "msek" => 1e6,
        _ => return None,
    })
}

/// All amounts of the text, in order.
pub(super) fn amounts(tokens: &[Token]) -> Vec<Amount> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match amount(tokens, at) {
            Some(amount) => {
                at += amount.len;
                found.push(amount);
            }
            None => at += 1,
        }
    }
    found
}

fn amount(tokens: &[Token], at: usize) -> Option<Amount> {
    let sign = |i: usize| tokens.get(i).is_some_and(|token| ["$", "€", "£"].contains(&token.fold.as_str()));
    let mut i = at;
    let mut marked = sign(i);
    if marked {
        i += 1;
    }
    let (mut value, used) = digits(tokens, i)?;
    i += used;
    if let Some(factor) = tokens.get(i).and_then(|token| scale(&token.fold)) {
        let unit_follows = tokens.get(i).is_some_and(|token| token.fold == "m" && !token.glued);
        if !unit_follows {
            value *= factor;
            marked = true;
            i += 1;
        }
    }
    if sign(i) || tokens.get(i).is_some_and(|token| token.any(CURRENCIES)) {
        marked = true;
        i += 1;
    }
    Some(Amount { value, at, len: i - at, marked })
}

/// Digits with thousands separators ("200 000", "200,000", "1,5"), or a number word before a scale ("two million").
fn digits(tokens: &[Token], at: usize) -> Option<(f64, usize)> {
    let token = tokens.get(at)?;
    if token.kind == Kind::Word {
        let half = token.is("half") || token.is("halv");
        let next = usize::from(half && tokens.get(at + 1).is_some_and(|next| next.is("a")));
        let value = if half { 0.5 } else { f64::from(cardinal(&token.norm)?) };
        let used = 1 + next;
        return tokens.get(at + used).and_then(|token| scale(&token.fold)).map(|_| (value, used));
    }
    if token.kind != Kind::Number {
        return None;
    }
    let mut text = plain_number(&token.fold)?;
    let mut used = 1;
    let leads = token.fold.len() <= 3 && token.int().is_some();
    while leads && let Some(group) = tokens.get(at + used).filter(|t| t.int().is_some() && t.fold.len() == 3 && !t.glued) {
        text.push_str(&group.fold);
        used += 1;
    }
    text.parse().ok().map(|value| (value, used))
}

/// A number's text with a point as decimal sign and no separators.
fn plain_number(text: &str) -> Option<String> {
    let groups: Vec<&str> = text.split(['.', ',']).collect();
    if groups.len() == 1 {
        return Some(text.to_owned());
    }
    let thousands = groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3);
    if thousands {
        return Some(groups.concat());
    }
    let (whole, decimals) = text.rsplit_once(['.', ','])?;
    Some(format!("{}.{decimals}", whole.replace(['.', ','], "")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokens;

    fn money(text: &str) -> Vec<f64> {
        amounts(&tokens(text)).into_iter().map(|amount| amount.value).collect()
    }

    #[test]
    fn reads_amounts() {
        for (text, value) in [
            ("200k", 200_000.0),
            ("200 000", 200_000.0),
            ("200 000 kr", 200_000.0),
            ("$250,000", 250_000.0),
            ("1.5m", 1_500_000.0),
            ("1,5 miljoner", 1_500_000.0),
            ("200 tkr", 200_000.0),
            ("2 mkr", 2_000_000.0),
            ("half a million", 500_000.0),
            ("250.000", 250_000.0),
            ("two million", 2_000_000.0),
            ("99.50", 99.5),
            ("1 234 567 sek", 1_234_567.0),
            ("€300", 300.0),
            ("300€", 300.0),
            ("tva miljoner", 2_000_000.0),
        ] {
            assert_eq!(money(text), [value], "{text}");
        }
    }

    #[test]
    fn keeps_separate_numbers_apart() {
        assert_eq!(money("2 of size 42"), [2.0, 42.0]);
        assert_eq!(money("account 17 with 200k"), [17.0, 200_000.0]);
        assert_eq!(money("a 5 m rope"), [5.0]);
    }

    #[test]
    fn reads_number_words() {
        let whole_of = |text: &str| whole(&tokens(text), 0).map(|(value, _)| value);
        for (text, value) in [
            ("two", 2),
            ("twelve", 12),
            ("twenty one", 21),
            ("två", 2),
            ("tolv", 12),
            ("ett", 1),
            ("14", 14),
            ("couple", 2),
            ("fem", 5),
            ("half a dozen", 6),
            ("halvt dussin", 6),
        ] {
            assert_eq!(whole_of(text), Some(value), "{text}");
        }
        assert_eq!(whole_of("shoe"), None);
        assert_eq!(whole_of("1.5"), None);
    }

    #[test]
    fn reads_ordinals() {
        let place_of = |text: &str| place(&tokens(text), 0).map(|(value, _)| value);
        for (text, value) in [("second", 2), ("2nd", 2), ("2:a", 2), ("andra", 2), ("tvåan", 2), ("first", 1), ("tredje", 3), ("10th", 10)] {
            assert_eq!(place_of(text), Some(value), "{text}");
        }
        let second_in = |text: &str| (0..tokens(text).len()).any(|at| place(&tokens(text), at).is_some());
        for text in ["den andra", "den andra, tack", "visa den andra i svart", "det andra", "det andra alternativet"] {
            assert!(second_in(text), "{text}");
        }
        for text in ["finns den i andra färger?", "finns det andra färger", "den andra färgen", "några andra alternativ", "ändra den", "andra till 3"] {
            assert!(!second_in(text), "{text}");
        }
        assert_eq!(place_of("two"), None);
        assert_eq!(place_of("2"), None);
    }
}
