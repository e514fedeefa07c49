//! Finds addresses in texts and in parameters for addresses, and addresses that a message names.
//! The module `hosts` reads the host of each address.

use std::{collections::BTreeSet, ops::Range};

use url::Url;

use super::{
    hosts::{self, is_border},
    name_of, parameters,
};

/// The schemes whose slashes are optional in the URL standard.
const SPECIAL_SCHEMES: &[&str] = &["http", "https", "ws", "wss", "ftp"];
/// The characters after which some clients begin an address that is nested in another address.
const VALUE_MARKS: [char; 7] = ['?', '&', ';', '#', '=', '"', '\''];

/// Returns the hosts of all addresses in a text, with a scheme or relative (`//example.com`), and
/// the ranges of their authorities.
pub(super) fn in_text(text: &str) -> (BTreeSet<String>, Vec<Range<usize>>) {
    let (mut found, mut places) = (BTreeSet::new(), Vec::new());
    for at in authorities(text) {
        found.extend(hosts::in_authority(&text[at..]));
        let is_end = |c: char| is_border(c) || matches!(c, '/' | '\\' | '?' | '#');
        let rest = &text[at..];
        let rest = &rest[..rest.floor_char_boundary(hosts::AUTHORITY_BYTES)];
        places.push(at..at + rest.find(is_end).unwrap_or(rest.len()));
    }
    let values = text.split(VALUE_MARKS).chain([text]);
    found.extend(values.filter_map(|value| spaced_host(value.trim())));
    (found, places)
}

/// Returns the host of an address with tabs or line ends in it, which the URL standard removes. Two
/// lines that do not form a valid DNS name together are two texts.
fn spaced_host(text: &str) -> Option<String> {
    let url = text.contains(['\t', '\n', '\r']).then(|| Url::parse(text).ok()).flatten()?;
    let host = url.host_str().filter(|_| SPECIAL_SCHEMES.contains(&url.scheme()))?;
    hosts::canonical(host).filter(|name| is_ip(name) || hosts::is_domain(name, |_| false))
}

/// Returns where the authorities of a text begin.
fn authorities(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let begin = at;
        at += 1;
        let is_slash = |at: usize| matches!(bytes.get(at), Some(b'/' | b'\\'));
        let is_counted = match bytes[begin] {
            b':' => {
                let scheme = scheme_before(text, begin);
                let is_special = SPECIAL_SCHEMES.contains(&scheme.as_str());
                let is_space = |at: usize| matches!(bytes.get(at), Some(b'\t' | b'\n' | b'\r'));
                while is_slash(at) || is_special && is_space(at) {
                    at += 1;
                }
                is_special || begins_authority(&scheme, &text[begin + 1..at])
            }
            b'/' | b'\\' => {
                while is_slash(at) {
                    at += 1;
                }
                at - begin > 1 && is_relative(text, begin, at)
            }
            _ => false,
        };
        if is_counted {
            found.push(at + share_prefix(&text[at..]));
        }
    }
    found
}

/// Returns the scheme that ends at a colon, in lower case.
fn scheme_before(text: &str, colon: usize) -> String {
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || b"+.-".contains(b);
    let length = text.as_bytes()[..colon].iter().rev().take_while(|b| is_part(b)).count();
    let scheme = &text[colon - length..colon];
    scheme.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).to_ascii_lowercase()
}

/// Whether an authority follows a scheme and these slashes. A Windows drive (`C:\\`) and a local
/// file (`file:///`) have no authority.
fn begins_authority(scheme: &str, slashes: &str) -> bool {
    match scheme.len() {
        1 => slashes.starts_with("//"),
        _ => slashes.len() == 2 || slashes.len() > 3,
    }
}

/// Whether an address without a scheme begins with the slashes in `begin..end`. At the start of a
/// text, any name is an address. Elsewhere the name must be longer than a word of prose or code.
fn is_relative(text: &str, begin: usize, end: usize) -> bool {
    let before = text[..begin].chars().next_back();
    if text[..begin].trim().is_empty() {
        return true;
    }
    if before.is_some_and(|c| c.is_alphanumeric() || "._-)]*%~$".contains(c)) {
        return false;
    }
    let rest = &text[end..];
    let name = rest.find(|c: char| !c.is_alphanumeric() && !"-._:%@[]".contains(c));
    let (name, after) = rest.split_at(name.unwrap_or(rest.len()));
    let is_number = !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
    let begins = name.starts_with(|c: char| c.is_alphanumeric() || c == '[' || c == '%');
    let is_long = name.contains(['.', ':', '%', '@']) || after.starts_with(['/', '\\']);
    is_number || begins && is_long || rest.starts_with(['?', '.']) && share_prefix(rest) > 0
}

/// Returns the length of the prefix `\\?\UNC\`, which Windows writes before the computer of a
/// shared folder.
fn share_prefix(text: &str) -> usize {
    let prefix = text.get(..6).map(|start| start.replace('\\', "/").to_ascii_lowercase());
    if prefix.is_some_and(|start| matches!(start.as_str(), "?/unc/" | "./unc/")) { 6 } else { 0 }
}

/// Returns the hosts of addresses without a scheme in a text that may be an address: names below a
/// known domain, IP addresses, and hosts introduced by a name such as `host=`.
pub(super) fn bare_in_text(text: &str) -> BTreeSet<String> {
    let whole = text.trim();
    let mut found = bare_hosts(whole, true);
    let words = whole.split(|c: char| is_border(c) || matches!(c, ',' | ';'));
    for word in words.filter(|word| *word != whole) {
        found.extend(bare_hosts(word.trim_end_matches(['.', ':', '!', '?']), false));
    }
    found.extend(introduced_hosts(whole));
    found
}

fn bare_hosts(text: &str, is_whole: bool) -> BTreeSet<String> {
    // `in_text` handles addresses with a scheme.
    let text = authorities(text).first().map_or(text, |begin| &text[..*begin]);
    let has_more = text.contains(['/', '\\', '?', '#', ':']);
    let begins_www = text.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("www."));
    if text != "::" && text.parse::<core::net::Ipv6Addr>().is_ok() {
        return hosts::strict(text).into_iter().collect();
    }
    let is_mail = text.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("mailto:"));
    if text.is_empty() || is_mail || text.contains('@') && !has_more {
        return BTreeSet::new();
    }
    if !is_whole && !has_more && !text.contains('.') {
        return BTreeSet::new();
    }
    let is_counted = |name: &String| {
        if is_ip(name) {
            return is_written_ip(text, has_more);
        }
        let is_known = psl::suffix(name.as_bytes()).is_some_and(|suffix| suffix.is_known());
        // With a port or a path, a name in the local network is a host as well.
        let is_own = is_whole && has_more && !is_known && name.contains('.');
        let is_file = |name: &str| hosts::is_file_name(name) && !(is_whole && has_more);
        // In prose, a name is a host only if it can carry data, in a path or in a label below the
        // site.
        let is_long = is_whole || has_more || is_below_a_site(name);
        begins_www || is_own || is_long && hosts::is_domain(name, is_file)
    };
    let mut found = hosts::in_authority(text);
    // A text with a space where its host would be is not an address.
    if is_whole && text.split(['/', '\\', '?', '#']).next().is_some_and(|name| name.contains(' ')) {
        found.clear();
    }
    // `scp` writes addresses as `example.com:data`.
    let (before, _) = text.split_once(':').unwrap_or((text, ""));
    found.retain(|name| is_whole || !name.contains(':') || is_ip(name));
    found.extend(hosts::strict(before).filter(|_| before.len() < text.len()));
    found.retain(is_counted);
    found
}

/// Whether a name has more labels than a domain that can be registered.
fn is_below_a_site(name: &str) -> bool {
    psl::domain(name.as_bytes()).is_some_and(|site| site.as_bytes().len() < name.len())
}

fn is_ip(name: &str) -> bool {
    name.starts_with('[') && name.contains(':') || name.parse::<core::net::Ipv4Addr>().is_ok()
}

/// Whether a text is an IP address and not a number or a date. Some clients take `10` and `1.5` for
/// hosts.
fn is_written_ip(text: &str, has_more: bool) -> bool {
    let name = text.split(['/', '\\', '?', '#', ':']).next().unwrap_or(text);
    let parts: Vec<&str> = name.split('.').collect();
    let is_coded = parts.iter().any(|part| part.starts_with("0x") || part.starts_with("0X"));
    let is_large = parts[0].parse::<u64>().is_ok_and(|number| number >= 1 << 24);
    let has_long_end = parts.len() == 2 && parts[1].len() >= 4;
    text.starts_with('[')
        || parts.len() >= 4
        || has_more && (is_coded || is_large || has_long_end || parts.len() == 3)
}

/// Returns the hosts that a parameter's name introduces within a text: `Host: example.com`,
/// `host=example.com port=1`.
fn introduced_hosts(text: &str) -> BTreeSet<String> {
    let is_mark = |c: char| c.is_whitespace() || c == '"' || c == '\'';
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices(['=', ':']) {
        let before = text[..at].trim_end_matches(is_mark);
        let begin = before.rfind(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
        let begin =
            begin.map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        if !parameters::is_address_name(&before[begin..]) {
            continue;
        }
        let value = text[at + 1..].trim_start_matches(is_mark);
        let is_host = |name: &String| {
            is_ip(name) || name.contains('.') && !hosts::is_file_name(name) && name.len() < 254
        };
        let value = value.split(|c: char| is_border(c) || matches!(c, ',' | ';' | '&')).next();
        let found_here = hosts::in_authority(value.unwrap_or_default());
        found.extend(found_here.into_iter().filter(is_host));
    }
    found
}

/// Returns the destinations of a parameter for addresses: each host, and the text itself if some
/// part of the text is not a plain address.
pub(super) fn in_parameter(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut is_plain = true;
    let parts: Vec<&str> = text.split_whitespace().map(|part| part.trim_matches(',')).collect();
    let begins_here =
        parts.first().is_some_and(|part| matches!(plain_host(part), PlainAddress::Here));
    for part in parts.iter().filter(|part| !part.is_empty()) {
        // Programs that take a list may split the text at any of these characters.
        let pieces = part.split([',', ';']).skip(1).flat_map(|piece| bare_hosts(piece, true));
        found.extend(pieces);
        match plain_host(part) {
            PlainAddress::Here => {}
            // The part is a word of `Main Street, Oslo` or of a path with spaces.
            PlainAddress::Host(host) if parts.len() > 1 && !host.contains(['.', ':']) => {
                is_plain &= begins_here;
            }
            PlainAddress::Host(host) => found.extend([host]),
            PlainAddress::No => {
                let authority = part.split("://").last().unwrap_or(part);
                found
                    .extend(hosts::in_authority(authority).into_iter().filter(|n| n.contains('.')));
                is_plain = false;
            }
        }
    }
    if !is_plain {
        found.insert(name_of(text));
    }
    found
}

/// Returns the text as a destination's name if it is an address that clients read differently. A
/// text with spaces is prose.
pub(super) fn odd_address(text: &str) -> Option<String> {
    let text = text.trim();
    let is_one = text.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme))
        && authorities(text).first().is_some_and(|at| *at < text.len());
    let is_odd = is_one && !text.contains(char::is_whitespace);
    (is_odd && matches!(plain_host(text), PlainAddress::No)).then(|| name_of(text))
}

/// A part of a text in a parameter for addresses.
enum PlainAddress {
    /// An address that all clients read alike.
    Host(String),
    /// A path on the server that gets the call, or a local file.
    Here,
    No,
}

fn plain_host(part: &str) -> PlainAddress {
    let is_path = part.starts_with(['/', '?', '#']) && !part.contains('\\');
    let is_file = part.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("file:///"));
    // No computer has an address below 1.0.0.0, so a smaller number is a count or a port.
    let is_small = part.parse::<u64>().is_ok_and(|number| number < 1 << 24);
    if is_path && !part.starts_with("//") || is_file && !part[8..].starts_with('/') || is_small {
        return PlainAddress::Here;
    }
    let (scheme, rest) = match part.split_once("://") {
        Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
        // Only some clients find a host in `http:example.com` and `http:/example.com`.
        _ if SPECIAL_SCHEMES.contains(&&*scheme_before(part, part.find(':').unwrap_or(0))) => {
            return PlainAddress::No;
        }
        _ => (None, part),
    };
    // Database drivers also read hosts in the query: `postgresql://a/b?host=c`.
    let is_web = scheme.is_none_or(|scheme| SPECIAL_SCHEMES.contains(&&*scheme.to_lowercase()));
    if !is_web && rest.contains(['?', '#', ';']) {
        return PlainAddress::No;
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    match hosts::strict(authority) {
        Some(host) if hosts::in_authority(rest).iter().eq([&host]) => PlainAddress::Host(host),
        Some(host) if authority.parse::<core::net::Ipv6Addr>().is_ok() => PlainAddress::Host(host),
        _ => PlainAddress::No,
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+.-".contains(&b))
}

/// Returns the hosts that a message names. An address that clients read differently and a possible
/// file name are not hosts.
pub(super) fn named_hosts(message: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for word in message.split(is_border) {
        // Punctuation at the end of a sentence is not part of an address.
        let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?']);
        if word.contains("://") {
            for (at, mark) in word.match_indices("://") {
                found.extend(only(hosts::in_authority(&word[at + mark.len()..])));
            }
        } else {
            found.extend(named_bare_host(word));
        }
    }
    found
}

fn named_bare_host(word: &str) -> Option<String> {
    let begins_www = word.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("www."));
    let has_path = word.contains('/');
    if word.contains('@') && !has_path || word.starts_with(['/', '\\']) {
        return None;
    }
    let name = only(hosts::in_authority(word))?;
    let is_named = match is_ip(&name) {
        true => is_written_ip(word, false),
        false => begins_www || hosts::is_domain(&name, hosts::may_be_file),
    };
    is_named.then_some(name)
}

/// Returns the host of an address if clients read only one.
fn only(hosts: BTreeSet<String>) -> Option<String> {
    let mut hosts = hosts.into_iter();
    hosts.next().filter(|_| hosts.next().is_none())
}
