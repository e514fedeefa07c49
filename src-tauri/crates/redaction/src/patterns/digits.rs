//! Finds payment cards, phone numbers and personal identity numbers. Each has a shape and, where
//! one exists, a check digit. A bare run of digits matches only if its shape, context and check
//! digit are all right.

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::{Search, Span, TextContext, luhn, pattern, stands_alone};
use crate::Kind;

/// The fewest digits of a card, of a personal identity number and of a phone number.
const CARD: usize = 15;
const PERSONAL_ID: usize = 9;
const PHONE: usize = 8;

/// Runs of digits with single spaces or hyphens between their groups.
static GROUPS: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"[0-9]+(?:[ -][0-9]+)*"));
/// The group lengths in which cards are printed.
const SHAPES: [&[usize]; 6] = [&[4, 4, 4, 4], &[4, 6, 5], &[4, 4, 4, 4, 3], &[16], &[15], &[19]];

/// Finds cards, identity numbers and phone numbers. In a JSON number, only cards are searched for.
pub(super) fn find(search: &Search<'_>, found: &mut Vec<Span>) {
    let (text, digits) = (search.text, search.facts.digits);
    if digits >= CARD {
        find_cards(text, search.context, found);
    }
    if digits >= PERSONAL_ID && !search.is_number() {
        find_personal_ids(text, found);
    }
    if digits >= PHONE && !search.is_number() {
        find_phones(text, found);
    }
}

/// Finds payment cards by shape, by a brand's prefix and length, and by check digit.
fn find_cards(text: &str, context: TextContext<'_>, found: &mut Vec<Span>) {
    let Some(groups) = GROUPS.as_ref() else { return };
    for run in groups.find_iter(text).filter(|run| run.len() >= CARD) {
        let parts = split_digit_groups(run.as_str(), run.start());
        let mut first = 0;
        while first < parts.len() {
            let taken = SHAPES
                .iter()
                .find_map(|shape| card(text, &parts[first..], shape, context))
                .map(|(range, groups)| {
                    found.push((range, Kind::Card));
                    groups
                });
            first += taken.unwrap_or(1);
        }
    }
}

fn split_digit_groups(run: &str, start: usize) -> Vec<Range<usize>> {
    let mut at = start;
    run.split([' ', '-'])
        .map(|part| {
            let range = at..at + part.len();
            at = range.end + 1;
            range
        })
        .collect()
}

fn card(
    text: &str,
    parts: &[Range<usize>],
    shape: &[usize],
    context: TextContext<'_>,
) -> Option<(Range<usize>, usize)> {
    let taken = parts.get(..shape.len())?;
    if !taken.iter().zip(shape).all(|(part, length)| part.len() == *length)
        || (shape.len() == 1 && context.is_id())
    {
        return None;
    }
    let range = taken.first()?.start..taken.last()?.end;
    let digits: Vec<u32> = text[range.clone()].chars().filter_map(|c| c.to_digit(10)).collect();
    let fits = is_brand(&digits)
        && luhn(digits.iter().copied())
        && stands_alone(text, &range)
        && digits.iter().any(|digit| *digit != digits[0]);
    fits.then_some((range, shape.len()))
}

/// Whether the first digits belong to a large card network.
fn is_brand(digits: &[u32]) -> bool {
    let first =
        |count: usize| digits.iter().take(count).fold(0, |number, digit| number * 10 + digit);
    let (two, three, four) = (first(2), first(3), first(4));
    match digits.len() {
        15 => matches!(two, 34 | 37),
        16 => {
            digits.first() == Some(&4)
                || (51..=55).contains(&two)
                || (2221..=2720).contains(&four)
                || matches!(two, 62 | 65)
                || four == 6011
                || (644..=649).contains(&three)
                || (3528..=3589).contains(&four)
        }
        19 => digits.first() == Some(&4) || two == 62,
        _ => false,
    }
}

/// Finds Swedish personal numbers (with a hyphen) and US social security numbers.
fn find_personal_ids(text: &str, found: &mut Vec<Span>) {
    static SWEDISH: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(
            r"(?:19|20)?[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01]|6[1-9]|[78][0-9]|9[01])[-+][0-9]{4}",
        )
    });
    static AMERICAN: LazyLock<Option<Regex>> =
        LazyLock::new(|| pattern(r"[0-9]{3}-[0-9]{2}-[0-9]{4}"));
    for hit in SWEDISH.iter().flat_map(|p| p.find_iter(text)) {
        let digits: Vec<u32> = hit.as_str().chars().filter_map(|c| c.to_digit(10)).collect();
        let last_ten = &digits[digits.len().saturating_sub(10)..];
        if luhn(last_ten.iter().copied()) && stands_alone(text, &hit.range()) {
            found.push((hit.range(), Kind::PersonalId));
        }
    }
    for hit in AMERICAN.iter().flat_map(|p| p.find_iter(text)) {
        let number = hit.as_str();
        let (area, group, serial) = (&number[..3], &number[4..6], &number[7..]);
        let issued = area != "000"
            && area != "666"
            && !area.starts_with('9')
            && group != "00"
            && serial != "0000";
        if issued && stands_alone(text, &hit.range()) {
            found.push((hit.range(), Kind::PersonalId));
        }
    }
}

/// Finds phone numbers: international ones with `+`, and national ones in their usual shapes.
fn find_phones(text: &str, found: &mut Vec<Span>) {
    static INTERNATIONAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(r"\+[1-9][0-9]{0,14}(?:(?: ?\(0?\) ?|[ ./-])?(?:\([0-9]{1,4}\) ?|[0-9]{1,8})){0,7}")
    });
    static NATIONAL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(
            r"0[0-9]{1,3}[-/] ?[0-9]{2,3}(?: ?[0-9]{2,3}){1,3}|0[0-9]{2} [0-9]{2,3}(?: [0-9]{2,3}){1,3}|\([0-9]{3}\) ?[0-9]{3}[-. ][0-9]{4}|[0-9]{3}-[0-9]{3}-[0-9]{4}",
        )
    });
    for hit in INTERNATIONAL.iter().flat_map(|p| p.find_iter(text)) {
        if is_international(hit.as_str()) && stands_alone(text, &hit.range()) {
            found.push((hit.range(), Kind::Phone));
        }
    }
    for hit in NATIONAL.iter().flat_map(|p| p.find_iter(text)) {
        let digits = hit.as_str().bytes().filter(u8::is_ascii_digit).count();
        if (PHONE..=11).contains(&digits) && stands_alone(text, &hit.range()) {
            found.push((hit.range(), Kind::Phone));
        }
    }
}

/// Whether a number with `+` is a phone number and not a difference such as "+12 345 678" or "+1
/// 200.50".
fn is_international(number: &str) -> bool {
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    let groups: Vec<&str> = number[1..]
        .split(|c: char| !c.is_ascii_digit())
        .filter(|group| !group.is_empty())
        .collect();
    let points = number.matches('.').count();
    if (points > 0 && points + 1 != groups.len())
        || (points == 1)
        || !(PHONE..=15).contains(&digits)
    {
        return false;
    }
    let thousands = groups.len() > 1
        && groups[1..].iter().all(|group| group.len() == 3)
        && !number.contains(['-', '(', '/']);
    digits >= if groups.len() == 1 || thousands { 10 } else { 8 }
}
