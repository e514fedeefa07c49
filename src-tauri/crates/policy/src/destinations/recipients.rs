//! Finds recipients: mail addresses, phone numbers, channels and names of users.

use std::{collections::BTreeSet, ops::Range};

use super::{hosts, name_of};

/// The fewest digits of a phone number.
const PHONE_DIGITS: usize = 6;
/// The longest local part of a mail address that is read, in bytes.
const LOCAL_BYTES: usize = 1_024;

/// Returns the mail addresses in a text. An `@` within the authority of an address is none.
pub(super) fn in_text(text: &str, authorities: &[Range<usize>]) -> BTreeSet<String> {
    let signs = text.match_indices(['@', '\u{ff20}', '\u{fe6b}']);
    let signs = signs.filter(|(at, _)| !authorities.iter().any(|place| place.contains(at)));
    signs.filter_map(|(at, sign)| mail_address(&text[..at], &text[at + sign.len()..])).collect()
}

/// Returns the recipients of a parameter for recipients: each part of a list is one. Times and small
/// numbers are none: `to` also ends a range.
pub(super) fn in_parameter(text: &str) -> BTreeSet<String> {
    let parts = text.split([',', ';', '\n']).map(str::trim).filter(|part| !part.is_empty());
    parts.filter(|part| !is_time_or_number(part) && !is_mail(part)).map(canonical).collect()
}

/// Whether a part is a mail address alone, or one with a name: `Bob <bob@example.org>`.
fn is_mail(part: &str) -> bool {
    let address = match part.strip_suffix('>').and_then(|part| part.rsplit_once('<')) {
        Some((name, address)) if !name.contains(['@', '<', '>']) => address,
        _ => part,
    };
    let is_plain = |c: char, more: &str| c.is_alphanumeric() || more.contains(c);
    address.split_once('@').is_some_and(|(local, domain)| {
        !local.is_empty()
            && local.chars().all(|c| is_plain(c, ".!#$%*+-^_~"))
            && domain.contains('.')
            && domain.chars().all(|c| is_plain(c, "-."))
            && domain.ends_with(char::is_alphanumeric)
    })
}

/// Returns the recipients that a message names.
pub(super) fn named(message: &str) -> BTreeSet<String> {
    let mut found = in_text(message, &super::addresses::in_text(message).1);
    let words = message.split(|c: char| hosts::is_border(c) || matches!(c, ',' | ';'));
    for word in words {
        let word = word.trim_end_matches(['.', ':', '!', '?']);
        let mut letters = word.chars();
        let has_sign = letters.next().is_some_and(|sign| matches!(sign, '#' | '@'));
        if has_sign && letters.next().is_some_and(char::is_alphabetic) {
            found.insert(canonical(word));
        }
    }
    for (at, _) in message.match_indices('+') {
        let number = &message[at..];
        let end = number.char_indices().find(|(at, c)| *at > 0 && !is_phone_char(*c));
        let number = &number[..end.map_or(number.len(), |(end, _)| end)];
        found.extend(is_phone(number).then(|| canonical(number)));
    }
    found
}

/// Writes a recipient as it is compared: in lower case, a phone number without marks.
pub(super) fn canonical(text: &str) -> String {
    if is_phone(text) {
        return text.chars().filter(|c| c.is_ascii_digit() || *c == '+').collect();
    }
    name_of(text.trim())
}

/// Returns a mail address in lower case. The local part may be quoted or end in a comment, the domain
/// may be an address of the Internet Protocol.
fn mail_address(before: &str, after: &str) -> Option<String> {
    let local = local_part(without_comment_at_end(before))?;
    let after = without_comment_at_begin(after);
    let is_end = |c: char| {
        !c.is_alphanumeric()
            && !matches!(c, '-' | '.' | '_' | '\u{3002}' | '\u{ff0e}' | '\u{ff61}' | '\u{ad}')
    };
    let domain = match after.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((ip, _)) => return Some(format!("{}@[{}]", local.to_lowercase(), ip.to_lowercase())),
        None => &after[..after.find(is_end).unwrap_or(after.len())],
    };
    let domain = domain.trim_matches(|c: char| !c.is_alphanumeric());
    let name = hosts::canonical(domain).filter(|name| name.contains('.'))?;
    // `react@18.2.0` is a version.
    let is_number = domain.chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_version = is_number && domain.split('.').count() != 4;
    (!is_version).then(|| format!("{}@{name}", local.to_lowercase()))
}

/// Returns the local part that ends a text.
fn local_part(before: &str) -> Option<&str> {
    let limit = before.len().saturating_sub(LOCAL_BYTES);
    if let Some(quoted) = before.strip_suffix('"') {
        let begin = quoted.rfind('"').filter(|begin| *begin >= limit);
        // `"me"@example.com` is a quoted name, `"a": "me"@` is not.
        return begin.map(|begin| &before[begin..]);
    }
    let is_end = |c: char| {
        hosts::is_border(c)
            || matches!(c, ',' | ';' | ':' | '[' | ']' | '=' | '&' | '?' | '/' | '\\')
    };
    let begin = before.char_indices().rev().find(|(_, c)| is_end(*c));
    let begin = begin.map_or(0, |(at, c)| at + c.len_utf8());
    Some(&before[begin..]).filter(|local| !local.is_empty())
}

fn without_comment_at_end(text: &str) -> &str {
    text.strip_suffix(')').and_then(|text| text.rsplit_once('(')).map_or(text, |(text, _)| text)
}

fn without_comment_at_begin(text: &str) -> &str {
    text.strip_prefix('(').and_then(|text| text.split_once(')')).map_or(text, |(_, text)| text)
}

/// Whether a text is a phone number.
pub(super) fn is_phone(text: &str) -> bool {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    digits >= PHONE_DIGITS && text.chars().all(is_phone_char) && !is_date(text)
}

fn is_phone_char(c: char) -> bool {
    c.is_ascii_digit() || " +-()./".contains(c)
}

fn is_time_or_number(text: &str) -> bool {
    let is_small = text.len() < PHONE_DIGITS && text.parse::<f64>().is_ok();
    is_small || is_date(text)
}

/// Whether a text is a date or a time such as `2026-11-30` or `2026-11-30T10:00:00Z`.
fn is_date(text: &str) -> bool {
    let date = text.get(..10).unwrap_or(text);
    let is_date = date.len() >= 7
        && date.bytes().enumerate().all(|(at, b)| match at {
            4 | 7 => matches!(b, b'-' | b'/' | b'.'),
            _ => b.is_ascii_digit(),
        });
    let time = text.get(10..).unwrap_or_default();
    is_date
        && time.chars().all(|c| c.is_ascii_digit() || "TtZz:.+- ".contains(c))
        && time.len() < 22
}
