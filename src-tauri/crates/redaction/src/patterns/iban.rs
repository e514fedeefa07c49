//! Finds bank account numbers (IBAN) by country, length and check digits (modulo 97).

use std::{ops::Range, sync::LazyLock};

use regex::Regex;

use super::{Search, Span, after, before, pattern};
use crate::Kind;

static START: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"[A-Z]{2}[0-9]{2} ?[A-Z0-9]{4}"));

/// Country codes with the length of their account numbers.
const LENGTHS: &str = "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BR29BY28CH21CR22CY28CZ24DE22DK18DO28EE20EG29ES24FI18FO18FR27GB22GE22GI23GL18GR27\
GT28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MR27MT31MU30NL18NO15PK24PL28PS29PT25QA29RO24RS22SA24SC31\
SE24SI19SK24SM27ST25SV28TL23TN24TR26UA29VA22VG24XK20";

/// Finds account numbers in capitals, with or without spaces between groups.
pub(super) fn find(search: &Search<'_>, found: &mut Vec<Span>) {
    let Some(start) = START.as_ref().filter(|_| search.facts.country && !search.is_number()) else {
        return;
    };
    let text = search.text;
    let mut from = 0;
    while let Some(hit) = start.find_at(text, from) {
        from = hit.start() + 2;
        if before(text, hit.start()).is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        if let Some(range) = find_account(text, hit.start()) {
            from = range.end;
            found.push((range, Kind::Iban));
        }
    }
}

fn find_account(text: &str, start: usize) -> Option<Range<usize>> {
    let length = length_of(text.get(start..start + 2)?)?;
    let mut number = String::with_capacity(length);
    let mut end = start;
    for c in text[start..].chars() {
        match c {
            'A'..='Z' | '0'..='9' => number.push(c),
            ' ' if !number.is_empty() && !text[..end].ends_with(' ') => {}
            _ => return None,
        }
        end += 1;
        if number.len() == length {
            let ends = !after(text, end).0.is_some_and(|c| c.is_alphanumeric() || c == '_');
            return (ends && has_valid_check(&number)).then_some(start..end);
        }
    }
    None
}

fn length_of(country: &str) -> Option<usize> {
    let at =
        LENGTHS.as_bytes().chunks(4).position(|entry| entry.starts_with(country.as_bytes()))? * 4;
    LENGTHS.get(at + 2..at + 4)?.parse().ok()
}

fn has_valid_check(number: &str) -> bool {
    let (head, tail) = number.split_at(4);
    let rest =
        tail.chars().chain(head.chars()).filter_map(|c| c.to_digit(36)).fold(0, |rest, digit| {
            let shift = if digit > 9 { 100 } else { 10 };
            (rest * shift + digit) % 97
        });
    rest == 1
}
