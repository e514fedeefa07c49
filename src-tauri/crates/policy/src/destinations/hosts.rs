//! Reads the text at the position of a host. The module looks at a single authority, such as
//! `user@example.com:80`, and does not search texts for authorities.

use std::collections::BTreeSet;

use url::Url;

use super::name_of;

/// The longest authority that is read, in bytes. A longer authority becomes a destination as a
/// whole.
pub(super) const AUTHORITY_BYTES: usize = 4_096;
/// Endings of file names that are also top-level domains. A bare name with such an ending is taken
/// for a file, unless its parameter stands for an address.
const FILE_ENDINGS: &[&str] = &[
    "cab", "cc", "cfd", "java", "md", "mm", "mov", "mp", "pl", "pm", "ps", "py", "rs", "sh", "so",
    "tf", "zip",
];
/// More endings of files and of names in code. In a message, a name with such an ending is a host
/// only if it has a scheme.
const CODE_ENDINGS: &[&str] = &[
    "ac", "ai", "am", "app", "bz", "dev", "do", "dot", "fit", "gd", "id", "in", "info", "la",
    "link", "map", "mk", "ml", "mo", "name", "one", "pub", "run", "sc", "st", "vi",
];

/// Normalises a host for comparison: in lower case and without the dot of the root.
pub(super) fn normalize(host: &str) -> String {
    host.trim_end_matches('.').to_lowercase()
}

/// Returns the name of the host in `name[:port]`. A text that is not a host in any standard is
/// returned unchanged, and no message can name such a destination.
pub(super) fn canonical(name: &str) -> Option<String> {
    let name = name.trim();
    if name.is_empty() || name.starts_with(':') {
        return None;
    }
    Some(parse(name).unwrap_or_else(|| name_of(name)))
}

/// Returns the host of `name[:port]` if all clients read the same host.
pub(super) fn strict(name: &str) -> Option<String> {
    let is_plain = |c: char| c.is_alphanumeric() || "-._:[]".contains(c);
    parse(name).filter(|_| name.chars().all(is_plain))
}

/// Reads `name[:port]` as the URL standard does. An IPv6 address needs no brackets.
fn parse(name: &str) -> Option<String> {
    if name.contains(['/', '\\', '?', '#', '@']) {
        return None;
    }
    let ip = name.parse::<core::net::Ipv6Addr>().map(|ip| format!("[{ip}]"));
    let url = Url::parse(&format!("http://{}/", ip.as_deref().unwrap_or(name))).ok()?;
    url.host_str().filter(|host| !host.is_empty()).map(normalize)
}

/// Returns every host that some client reads in the authority at the beginning of a text.
pub(super) fn in_authority(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let is_end = |c: char| c.is_ascii_whitespace() || c.is_control();
    // A text may contain thousands of authorities, so each is read only up to a fixed length.
    let (whole, text) = (text, &text[..text.floor_char_boundary(AUTHORITY_BYTES)]);
    let standard = cut(text, |c| is_end(c) || matches!(c, '/' | '\\' | '?' | '#'));
    // RFC 3986 does not end an authority at a backslash. Some clients end an authority only at a
    // slash.
    let without_backslash = cut(text, |c| is_end(c) || matches!(c, '/' | '?' | '#'));
    let to_slash = cut(text, |c| is_end(c) || c == '/');
    if to_slash.len() < whole.len() && to_slash.len() == text.len() {
        found.insert(name_of(text));
        return found;
    }
    let has_other_end = without_backslash.contains('@');
    for (authority, is_certain) in [(standard, true), (without_backslash, has_other_end)] {
        collect(cut(authority, is_border), is_certain, &mut found);
        collect(trim_end(authority), false, &mut found);
    }
    let hidden =
        to_slash.match_indices('@').filter(|(at, _)| to_slash[..*at].ends_with(['?', '#']));
    for (at, _) in hidden {
        collect(cut(&to_slash[at + 1..], |c| matches!(c, '?' | '#')), true, &mut found);
    }
    found
}

/// Adds the hosts of an authority: the host after each `@`, and each host of a list. If the text
/// may extend beyond the authority, only names below a domain are added.
fn collect(authority: &str, is_certain: bool, found: &mut BTreeSet<String>) {
    let (user, pieces) = match authority.split_once('@') {
        Some((user, rest)) => (user, rest),
        None => ("", authority),
    };
    // Programs that search texts for addresses end an address at one of these characters.
    let user = trim_end(cut(user, |c| matches!(c, ':' | ',' | ';' | '&' | ']' | '=')));
    if is_domain(&user.to_lowercase(), |_| false) {
        found.extend(canonical(user));
    }
    for piece in pieces.split('@') {
        for (at, one) in piece.split([',', ';']).enumerate() {
            let one = trim_end(one);
            if at == 0 && is_certain || is_below_a_domain(one) {
                found.extend(canonical(one));
            }
        }
        if !is_certain && is_below_a_domain(piece) {
            found.extend(canonical(piece));
        }
    }
}

/// Whether the last label of a name can be a top-level domain.
fn is_below_a_domain(name: &str) -> bool {
    let name = name.split_once(':').map_or(name, |(name, _)| name);
    let label = name.rsplit_once('.').map_or("", |(_, label)| label);
    !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-')
}

/// Removes punctuation of prose or code from the end of an address.
fn trim_end(text: &str) -> &str {
    let is_bracketed = text.rsplit('@').next().is_some_and(|name| name.starts_with('['));
    text.trim_end_matches(|c: char| !(c.is_alphanumeric() || is_bracketed && c == ']'))
}

fn cut(text: &str, is_end: impl Fn(char) -> bool) -> &str {
    text.find(is_end).map_or(text, |end| &text[..end])
}

/// Whether a character ends an address within a text.
pub(super) fn is_border(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '<' | '>' | '"' | '\'' | '`' | '|' | '(' | ')' | '{' | '}')
}

/// Whether a name is below a known domain and is not a file name according to `is_file`.
pub(super) fn is_domain(name: &str, is_file: impl Fn(&str) -> bool) -> bool {
    let is_known = psl::suffix(name.as_bytes()).is_some_and(|suffix| suffix.is_known());
    name.contains('.') && is_known && psl::domain(name.as_bytes()).is_some() && !is_file(name)
}

/// Whether a bare name in an argument is taken for a file. A name with more labels than a file name
/// is taken for a host, because its labels can carry data.
pub(super) fn is_file_name(name: &str) -> bool {
    has_file_ending(name) && name.split('.').count() == 2
}

/// Whether a name in a message may be the name of a file or of something in code.
pub(super) fn may_be_file(name: &str) -> bool {
    let ending = name.rsplit('.').next().unwrap_or_default();
    has_file_ending(name) || CODE_ENDINGS.contains(&ending) && name.split('.').count() == 2
}

fn has_file_ending(name: &str) -> bool {
    name.rsplit('.').next().is_some_and(|ending| FILE_ENDINGS.contains(&ending))
}
