//! Finds e-mail addresses and, at the strict level only, web addresses and long random tokens.

use std::sync::LazyLock;

use regex::Regex;

use super::{Search, Span, pattern};
use crate::{Kind, Level};

/// The fewest characters of a token.
const TOKEN: usize = 20;

static EMAIL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?:[\p{L}\p{N}_.+'~-]|%2[bB])+(?:@|%40)(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}{2,24}",
    )
});
static URL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r#"(?i)(?:https?|ftp|wss?)://[^\s<>"'`|\\^{}]+|www\.[^\s<>"'`|\\^{}]{4,}"#)
});
static LONG: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"[A-Za-z0-9_+/=.~-]{20,}"));
static UUID: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"));

/// Finds e-mail addresses and, at the strict level, web addresses and tokens.
pub(super) fn find(search: &Search<'_>, found: &mut Vec<Span>) {
    let (text, facts) = (search.text, search.facts);
    if search.is_number() {
        return;
    }
    if facts.at_sign {
        find_emails(text, found);
    }
    if search.level != Level::Strict {
        return;
    }
    if facts.dots || facts.slashes {
        find_urls(text, found);
    }
    if text.len() >= TOKEN {
        find_tokens(text, found);
    }
}

/// Finds e-mail addresses, also with a percent-escaped `@`. Picture names such as `logo@2x.png` do
/// not match.
fn find_emails(text: &str, found: &mut Vec<Span>) {
    for hit in EMAIL.iter().flat_map(|p| p.find_iter(text)) {
        let lead =
            hit.as_str().len() - hit.as_str().trim_start_matches(['.', '\'', '-', '~', '+']).len();
        let address = &hit.as_str()[lead..];
        if !(address.starts_with(['@', '%']) || is_picture(address)) {
            found.push((hit.start() + lead..hit.end(), Kind::Email));
        }
    }
}

/// Whether a text such as `logo@2x.png` is the name of a picture for dense screens.
fn is_picture(address: &str) -> bool {
    let Some((_, host)) = address.split_once('@') else { return false };
    let lower = host.to_ascii_lowercase();
    host.starts_with(|c: char| c.is_ascii_digit())
        && [".png", ".jpg", ".jpeg", ".webp", ".gif", ".svg", ".avif"]
            .iter()
            .any(|end| lower.ends_with(end))
}

/// Finds web addresses, without the punctuation of the sentence around them.
fn find_urls(text: &str, found: &mut Vec<Span>) {
    for hit in URL.iter().flat_map(|p| p.find_iter(text)) {
        let address =
            hit.as_str().trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '*', '_']);
        if address.len() > 8 {
            found.push((hit.start()..hit.start() + address.len(), Kind::Url));
        }
    }
}

/// Finds long runs in which letters and digits alternate as in random text. Names made of words,
/// years and codes do not match.
fn find_tokens(text: &str, found: &mut Vec<Span>) {
    for hit in LONG.iter().flat_map(|p| p.find_iter(text)) {
        let uuid = UUID.as_ref().is_some_and(|p| p.is_match(hit.as_str()));
        if uuid || hit.as_str().split(['_', '/', '=', '.', '~', '-']).any(is_random) {
            // Punctuation at the end belongs to the sentence.
            let length = hit.as_str().trim_end_matches(['.', '/', '~', '-']).len();
            found.push((hit.start()..hit.start() + length, Kind::Token));
        }
    }
}

fn is_random(part: &str) -> bool {
    let bytes: Vec<u8> = part.bytes().filter(u8::is_ascii_alphanumeric).collect();
    let changes = bytes
        .windows(2)
        .filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit())
        .count();
    bytes.len() >= 16 && changes >= 3
}
