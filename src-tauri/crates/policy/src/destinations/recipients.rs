//! Finds recipients: mail addresses, phone numbers, channels and user names.

use std::{collections::BTreeSet, ops::Range};

use super::{hosts, name_of};

/// The fewest digits of a phone number in a parameter for recipients.
const PHONE_DIGITS: usize = 6;
/// The fewest digits of a phone number with a country code in any other text.
const LONG_PHONE_DIGITS: usize = 8;
const LONGEST_PHONE_DIGITS: usize = 15;
/// The longest local part of a mail address that is read, in bytes.
const LOCAL_BYTES: usize = 1_024;

/// Returns the mail addresses and phone numbers in a text. An `@` within the authority of an
/// address is not part of a mail address.
pub(super) fn in_text(text: &str, authorities: &[Range<usize>]) -> BTreeSet<String> {
    let signs = text.match_indices(['@', '\u{ff20}', '\u{fe6b}']);
    let signs = signs.filter(|(at, _)| !authorities.iter().any(|place| place.contains(at)));
    let mails = signs.filter_map(|(at, sign)| mail_address(&text[..at], &text[at + sign.len()..]));
    mails.chain(phone_numbers(text)).collect()
}

/// Returns the numbers in a text that begin with `+`, as phone numbers do.
fn phone_numbers(text: &str) -> impl Iterator<Item = String> {
    let signs = text.match_indices('+').map(|(at, _)| at);
    let signs =
        signs.filter(|at| !text[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '+'));
    signs.filter_map(|at| {
        let number = &text[at..];
        let end = number.char_indices().find(|(at, c)| *at > 0 && !is_phone_char(*c));
        let number = number[..end.map_or(number.len(), |(end, _)| end)].trim_end();
        let digits = number.bytes().filter(u8::is_ascii_digit).count();
        let is_long = (LONG_PHONE_DIGITS..=LONGEST_PHONE_DIGITS).contains(&digits);
        is_long.then(|| canonical(number))
    })
}

/// Returns the recipients of a parameter for recipients that `in_text` does not find: each part of
/// a list is a recipient. Times and small numbers are not.
pub(super) fn in_parameter(text: &str, authorities: &[Range<usize>]) -> BTreeSet<String> {
    let found = in_text(text, authorities);
    let is_found = |part: &&str| mail_of(part).is_some_and(|mail| found.contains(&mail));
    let parts = parts_of(text).into_iter().map(str::trim).filter(|part| !part.is_empty());
    parts.filter(|part| !is_time_or_number(part) && !is_found(part)).map(canonical).collect()
}

/// Returns the parts of a list that have the form of a recipient: with a sign such as `@`, or as a
/// phone number.
pub(super) fn with_signs(text: &str) -> BTreeSet<String> {
    let parts = parts_of(text).into_iter().map(str::trim);
    let has_sign = |part: &&str| part.len() > 1 && part.starts_with(['#', '@']) || is_phone(part);
    parts.filter(has_sign).map(canonical).collect()
}

/// Splits a list. A quoted name may contain separators.
fn parts_of(text: &str) -> Vec<&str> {
    let is_balanced = text.matches('"').count().is_multiple_of(2);
    let mut is_quoted = false;
    text.split(|c: char| {
        is_quoted ^= is_balanced && c == '"';
        !is_quoted && matches!(c, ',' | ';' | '\n')
    })
    .collect()
}

/// Returns the mail address of a list part that consists of a mail address, with or without a name:
/// `Bob <bob@example.org>`.
fn mail_of(part: &str) -> Option<String> {
    let address = match part.strip_suffix('>').and_then(|part| part.rsplit_once('<')) {
        Some((name, address)) if !name.contains(['@', '<', '>']) => address,
        _ => part,
    };
    let is_plain = |c: char, more: &str| c.is_alphanumeric() || more.contains(c);
    let (local, domain) = address.split_once('@')?;
    let is_mail = local.chars().all(|c| is_plain(c, ".!#$%*+-^_~'"))
        && domain.chars().all(|c| is_plain(c, "-."))
        && domain.ends_with(char::is_alphanumeric);
    mail_address(local, domain).filter(|_| is_mail)
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
    found
}

/// Normalises a recipient for comparison: in lower case, and a phone number without punctuation.
pub(super) fn canonical(text: &str) -> String {
    if is_phone(text) {
        return text.chars().filter(|c| c.is_ascii_digit() || *c == '+').collect();
    }
    name_of(text.trim())
}

/// Returns a mail address in lower case. The local part may be quoted or end in a comment, the
/// domain may be an IP address.
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

/// Returns the local part at the end of a text.
fn local_part(before: &str) -> Option<&str> {
    let limit = before.len().saturating_sub(LOCAL_BYTES);
    if let Some(quoted) = before.strip_suffix('"') {
        let begin = quoted.rfind('"').filter(|begin| *begin >= limit);
        // `"me"@example.com` has a quoted local part, `"a": "me"@` has none.
        return begin.map(|begin| &before[begin..]);
    }
    let is_end = |c: char| {
        hosts::is_border(c)
            || matches!(c, ',' | ';' | ':' | '[' | ']' | '=' | '&' | '?' | '/' | '\\')
    };
    // An apostrophe within a name, as in `o'brien`, does not end the local part.
    let is_in_name = |at: usize, c: char| {
        c == '\'' && before[..at].ends_with(char::is_alphanumeric) && at + 1 < before.len()
    };
    let begin = before.char_indices().rev().find(|(at, c)| is_end(*c) && !is_in_name(*at, *c));
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
    digits >= PHONE_DIGITS && text.chars().all(is_phone_char) && !is_date(text) && !is_instant(text)
}

fn is_phone_char(c: char) -> bool {
    c.is_ascii_digit() || " +-()./".contains(c)
}

fn is_time_or_number(text: &str) -> bool {
    let is_clock = text.contains(':') && is_time(text);
    is_number(text) && text.len() < PHONE_DIGITS || is_clock || is_date(text) || is_instant(text)
}

/// Whether a text is a number.
pub(super) fn is_number(text: &str) -> bool {
    let has_digit = text.bytes().any(|b| b.is_ascii_digit());
    has_digit && text.chars().all(|c| c.is_ascii_digit() || "+-.".contains(c))
}

/// Whether a text is a date or a time such as `2026-11-30` or `2026-11-30T10:00:00Z`.
fn is_date(text: &str) -> bool {
    let (date, time) = text.split_at_checked(10).unwrap_or((text, ""));
    let mut parts = date.split(['-', '/', '.']).map(|part| (part.len(), part.parse::<u16>().ok()));
    let (year, month, day) = (parts.next(), parts.next(), parts.next());
    let is_date = matches!(year, Some((4, Some(_))))
        && matches!(month, Some((2, Some(1..=12))))
        && matches!(day, None | Some((2, Some(1..=31))))
        && parts.next().is_none();
    let time = time.strip_prefix(['T', 't', ' ']).unwrap_or(if time.is_empty() { "" } else { "?" });
    is_date && (time.is_empty() || is_time(time))
}

/// Whether a text is a time of the day, with or without seconds and a zone.
fn is_time(text: &str) -> bool {
    let is_pair =
        |at: usize| text.get(at..at + 2).is_some_and(|p| p.bytes().all(|b| b.is_ascii_digit()));
    let rest = text.get(5..).unwrap_or_default();
    is_pair(0)
        && text.get(2..3) == Some(":")
        && is_pair(3)
        && rest.len() < 17
        && rest.chars().all(|c| c.is_ascii_digit() || "Zz:.+-".contains(c))
}

/// Whether a text is a Unix time in seconds or milliseconds, from 2001 to 2039. No phone number
/// begins with these digits and has this length.
fn is_instant(text: &str) -> bool {
    let number = text.parse::<u64>().unwrap_or_default();
    text.len() == 10 && (1_000_000_000..2_200_000_000).contains(&number)
        || text.len() == 13 && (1_000_000_000_000..2_200_000_000_000).contains(&number)
}
