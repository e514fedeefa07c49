//! Finds the places that a read sends data to: its server, and each address and recipient in its
//! arguments. Also finds the places that a person's message names. Both are found in the same way,
//! but doubts go the other way: what may be an address in an argument counts, what may be a file
//! name in a message does not. Pure: it knows neither permissions nor conversations.

use std::{borrow::Cow, collections::BTreeSet};

use contract::{Destination, DestinationKind, PackId, Reach, ToolSpec};
use serde_json::Value;
use url::Url;

/// Words of parameter names that stand for an address. A plural counts, too.
const ADDRESS_WORDS: &[&str] = &[
    "url", "uri", "href", "link", "host", "hostname", "domain", "site", "website", "address",
    "endpoint", "origin", "webhook", "server", "proxy", "ip",
];
/// Words of parameter names that stand for recipients.
const RECIPIENT_WORDS: &[&str] =
    &["to", "cc", "bcc", "recipient", "email", "mail", "phone", "channel"];
/// Formats of JSON Schema that stand for an address or a recipient.
const ADDRESS_FORMATS: &[&str] = &[
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "url",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
];
const RECIPIENT_FORMATS: &[&str] = &["email", "idn-email"];
/// Endings of file names that are also top-level domains. A bare name with one of them is taken for
/// a file, unless its parameter stands for an address.
const FILE_ENDINGS: &[&str] = &[
    "cab", "cc", "cfd", "java", "md", "mm", "mov", "mp", "pl", "pm", "ps", "py", "rs", "sh", "so",
    "tf", "zip",
];
/// The most layers of encoding that are removed from an argument.
const READINGS: usize = 8;
/// The characters that are named of a text with more layers.
const UNREAD_CHARS: usize = 40;
/// The fewest digits of a phone number.
const PHONE_DIGITS: usize = 6;

/// The meaning of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// An address, by the name or format of its parameter.
    Address,
    /// A recipient, by the name or format of its parameter.
    Recipient,
    /// A value of a tool that may reach anywhere.
    Open,
    /// Any other value.
    Plain,
    /// A message of a person.
    Message,
}

/// Returns the server or program that a call goes to. None if nothing leaves this computer.
pub fn server_of(tool: &ToolSpec) -> Option<Destination> {
    match tool.reach {
        Reach::Here => None,
        Reach::Configured | Reach::Unallowed => {
            Some(server_destination(&tool.pack, tool.target.server()))
        }
    }
}

/// Returns the destination of what a server of a pack gets.
pub fn server_destination(pack: &PackId, server: &str) -> Destination {
    Destination::new(DestinationKind::Server, format!("{pack}/{server}"))
}

/// Returns the addresses and recipients in the arguments of a call. None are found if nothing
/// leaves this computer.
pub fn addressed(tool: &ToolSpec, arguments: &Value) -> BTreeSet<Destination> {
    let mut found = BTreeSet::new();
    if tool.reach != Reach::Here {
        let role = if tool.open_world { Role::Open } else { Role::Plain };
        walk(arguments, Some(&tool.full_input_schema), role, role, &mut found);
    }
    found
}

/// Returns the hosts and recipients that a message names.
pub fn named_in(message: &str) -> BTreeSet<Destination> {
    let mut found = BTreeSet::new();
    collect(message, Role::Message, &mut found);
    found
}

/// Returns a destination that a person typed as it is compared: a host may stand within an address.
/// None if it is no single destination.
pub fn typed_destination(kind: DestinationKind, text: &str) -> Option<Destination> {
    let text = text.trim();
    if text.is_empty() || text.chars().any(char::is_control) {
        return None;
    }
    match kind {
        DestinationKind::Host => {
            let url = if text.contains("://") { text.into() } else { format!("http://{text}") };
            let url = Url::parse(&url).ok()?;
            url.host_str().filter(|name| !name.is_empty()).map(|name| host(normalize(name)))
        }
        DestinationKind::Recipient => Some(recipient(text.to_lowercase())),
        DestinationKind::Server => Some(Destination::new(kind, text)),
    }
}

/// Goes through a value. `of_tool` is the role of values whose parameter says nothing.
fn walk(
    value: &Value,
    schema: Option<&Value>,
    role: Role,
    of_tool: Role,
    found: &mut BTreeSet<Destination>,
) {
    match value {
        Value::String(text) => {
            collect(text, role, found);
            // A request that a tool takes as JSON text.
            if text.trim_start().starts_with(['{', '[', '"'])
                && let Ok(inner) = serde_json::from_str(text)
            {
                walk(&inner, None, role, of_tool, found);
            }
        }
        // Some programs take a number for the host of an address.
        Value::Number(number) if role == Role::Address => collect(&number.to_string(), role, found),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::Array(list) => {
            let items = schema.and_then(|schema| schema.get("items"));
            list.iter().for_each(|item| walk(item, items, role, of_tool, found));
        }
        Value::Object(members) => {
            for (name, member) in members {
                collect(name, of_tool, found);
                let of_member = schema.and_then(|schema| schema.get("properties")?.get(name));
                let role = role_of(name, of_member).unwrap_or(match role {
                    // `{"recipient": {"name": …}}`: what lies within stands for the same.
                    Role::Address | Role::Recipient => role,
                    Role::Open | Role::Plain | Role::Message => of_tool,
                });
                walk(member, of_member, role, of_tool, found);
            }
        }
    }
}

/// Returns what a parameter stands for, by its format or its name.
fn role_of(name: &str, schema: Option<&Value>) -> Option<Role> {
    let format = schema.and_then(|schema| schema.get("format")?.as_str());
    let has_format = |formats: &[&str]| format.is_some_and(|format| formats.contains(&format));
    let words = words_of(name);
    let has_word = |known: &[&str]| {
        words.iter().any(|word| {
            known.contains(&word.as_str())
                || word.strip_suffix('s').is_some_and(|one| known.contains(&one))
        })
    };
    if has_format(ADDRESS_FORMATS) || has_word(ADDRESS_WORDS) {
        Some(Role::Address)
    } else if has_format(RECIPIENT_FORMATS) || has_word(RECIPIENT_WORDS) {
        Some(Role::Recipient)
    } else {
        None
    }
}

/// Splits a parameter's name at capitals and at all characters that are neither letters nor digits.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase() || c.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Adds the destinations in a text.
fn collect(text: &str, role: Role, found: &mut BTreeSet<Destination>) {
    if role == Role::Message {
        return collect_reading(text, role, found);
    }
    let mut reading = Cow::from(text);
    for _ in 0..READINGS {
        collect_reading(&reading, role, found);
        match decode(&reading) {
            Some(next) => reading = next.into(),
            None => return,
        }
    }
    // Nobody can have named what is still encoded.
    found.insert(host(reading.chars().take(UNREAD_CHARS).collect()));
}

/// Adds the destinations in one reading of a text.
fn collect_reading(text: &str, role: Role, found: &mut BTreeSet<Destination>) {
    let whole = text.trim();
    found.extend(lenient_host(whole).map(host));
    for word in text.split(is_border) {
        collect_word(word, role, found);
    }
    if role != Role::Message {
        // Redirects take addresses relative to their own: `?to=//example.com`.
        let values = text.split(['?', '&', ';', '#', '=', '"', '\'']);
        found.extend(values.filter_map(|value| lenient_host(value.trim())).map(host));
    }
    match role {
        Role::Address | Role::Open => found.extend(bare_hosts(whole, role).into_iter().map(host)),
        Role::Recipient => found.extend(whole.split([',', ';']).filter_map(handle)),
        Role::Plain | Role::Message => {}
    }
}

/// Returns the text with one layer of percent-encoding or of JSON's escapes removed. None if it has
/// neither.
fn decode(text: &str) -> Option<String> {
    let plain = percent_encoding::percent_decode_str(text).decode_utf8_lossy();
    let plain = if plain.contains('\\') { unescape(&plain).into() } else { plain };
    (plain != text).then(|| plain.into_owned())
}

/// Removes the escapes of JSON that can stand in an address: `\/` and `\u003a`.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let code = after.strip_prefix('u').and_then(|code| code.get(..4));
        let code = code.and_then(|code| u32::from_str_radix(code, 16).ok());
        rest = match code.and_then(char::from_u32) {
            Some(letter) => {
                out.push(letter);
                &after[5..]
            }
            None if after.starts_with('/') => after,
            None => {
                out.push('\\');
                after
            }
        };
    }
    out.push_str(rest);
    out
}

/// Whether a character ends an address within a text.
fn is_border(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '<' | '>' | '"' | '\'' | '`' | '|' | '(' | ')' | '{' | '}')
}

fn collect_word(word: &str, role: Role, found: &mut BTreeSet<Destination>) {
    // The end of a sentence is no part of an address.
    let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?']);
    let mut rest = word;
    while let Some(at) = rest.find("://") {
        let before = &rest[..at];
        let scheme = before.rfind(|c: char| !c.is_ascii_alphanumeric() && !"+.-".contains(c));
        let begin =
            scheme.map_or(0, |last| last + before[last..].chars().next().map_or(1, char::len_utf8));
        let hosts = hosts_of_url(&rest[begin..]);
        // An address that clients read differently names nothing.
        if role != Role::Message || hosts.len() == 1 {
            found.extend(hosts.into_iter().map(host));
        }
        rest = &rest[at + 3..];
    }
    if word.contains("://") {
        return;
    }
    if word.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("www.")) {
        found.extend(bare_hosts(word, Role::Address).into_iter().map(host));
    } else if role == Role::Message {
        found.extend(bare_hosts(word, role).into_iter().map(host));
    }
    let parts = word.split([',', ';', ':', '[', ']', '=', '&', '?', '/', '\\']);
    found.extend(parts.filter_map(mail_address).map(recipient));
}

fn host(name: String) -> Destination {
    Destination::new(DestinationKind::Host, name)
}

fn recipient(name: String) -> Destination {
    Destination::new(DestinationKind::Recipient, name)
}

/// Returns the hosts of a text with a scheme: the one of the URL standard, and the one of RFC 3986,
/// for which a backslash ends no host. A text that is no valid address has what stands where the
/// host would be.
fn hosts_of_url(text: &str) -> BTreeSet<String> {
    let host_of = |url: &Url| url.host_str().filter(|host| !host.is_empty()).map(normalize);
    let standard = Url::parse(text).ok();
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let name = authority.rsplit('@').next().unwrap_or(authority);
    let literal = match Url::parse(&format!("http://{name}")) {
        Ok(url) if !name.contains('\\') => host_of(&url),
        _ => (!name.is_empty()).then(|| normalize(name)),
    };
    standard.as_ref().and_then(host_of).into_iter().chain(literal).collect()
}

/// Returns the host of a text that clients take for an address although it has no `://`: such as
/// `http:example.com`, `//example.com`, `\\example.com` and `ht<tab>tps://example.com`.
fn lenient_host(text: &str) -> Option<String> {
    let is_slash = |c: char| matches!(c, '/' | '\\');
    let relative = text.strip_prefix(is_slash).is_some_and(|rest| rest.starts_with(is_slash));
    let url = if relative {
        Url::parse(&format!("http:{text}")).ok()?
    } else {
        Url::parse(text)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https" | "ws" | "wss" | "ftp"))?
    };
    url.host_str().filter(|host| !host.is_empty()).map(normalize)
}

/// Returns the hosts of a text without a scheme, such as `example.com/path`. In the role of an address
/// each name counts; else only a name below a known domain, or one with a port or a path.
fn bare_hosts(text: &str, role: Role) -> BTreeSet<String> {
    let is_address = role == Role::Address;
    let has_more = match role {
        Role::Message => text.contains('/'),
        _ => text.contains(['/', '\\', '?', '#', ':']),
    };
    let has_scheme = text.contains("://")
        || lenient_host(text).is_some()
        || text.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("mailto:"));
    if text.is_empty() || has_scheme || text.contains('@') && !is_address && !has_more {
        return BTreeSet::new();
    }
    // A text with a space in the place of the host is no address.
    let Ok(url) = Url::parse(&format!("http://{text}")) else { return BTreeSet::new() };
    let is_ip = matches!(url.host(), Some(url::Host::Ipv4(_) | url::Host::Ipv6(_)));
    // `10` and `1.5` are numbers that address parsers take for hosts.
    let is_written_ip = is_ip && (text.starts_with('[') || text.split('.').count() >= 4);
    let is_domain = |name: &str| {
        let is_known = psl::suffix(name.as_bytes()).is_some_and(|suffix| suffix.is_known());
        let is_below = is_known && psl::domain(name.as_bytes()).is_some();
        // With a port or a path, a name of the own network counts as well.
        let is_own = has_more && role != Role::Message && !is_known;
        !is_ip
            && name.contains('.')
            && (is_own || is_below && (has_more || !is_file_name(name, role)))
    };
    let mut hosts = hosts_of_url(&format!("http://{text}"));
    if role == Role::Message && hosts.len() > 1 {
        return BTreeSet::new();
    }
    if !is_address && !is_written_ip && !hosts.iter().any(|name| is_domain(name)) {
        hosts.clear();
    }
    hosts
}

/// Whether a bare name is taken for a file. In an argument, a name with more parts than a file's can
/// carry data to the domain in its end.
fn is_file_name(name: &str, role: Role) -> bool {
    let mut parts = name.rsplit('.');
    let ending = parts.next().unwrap_or_default();
    FILE_ENDINGS.contains(&ending) && (role == Role::Message || parts.count() == 1)
}

/// Returns a mail address in lower case.
fn mail_address(word: &str) -> Option<String> {
    let (local, domain) = word.rsplit_once('@')?;
    let is_domain = domain.contains('.') && !domain.starts_with('.') && !domain.ends_with('.');
    (!local.is_empty() && is_domain).then(|| word.to_lowercase())
}

/// Returns a recipient that is a phone number, a channel or a name of a user.
fn handle(text: &str) -> Option<Destination> {
    let text = text.trim();
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let is_phone = digits >= PHONE_DIGITS
        && text.chars().all(|c| c.is_ascii_digit() || " +-()./".contains(c))
        && !is_date(text);
    let is_named = text.starts_with(['#', '@']) && text.len() > 1;
    (is_phone || is_named).then(|| recipient(text.to_lowercase()))
}

/// Whether a text is a date such as `2026-11-30`.
fn is_date(text: &str) -> bool {
    let year = text.get(..4).is_some_and(|year| year.bytes().all(|b| b.is_ascii_digit()));
    year && text[4..].starts_with(['-', '/', '.']) && text.len() <= 10
}

/// Writes a host as it is compared: in lower case and without the dot of the root.
fn normalize(host: &str) -> String {
    host.trim_end_matches('.').to_lowercase()
}

/// Returns the names of destinations for a sentence.
pub(crate) fn describe(destinations: &[Destination]) -> String {
    let names: Vec<Cow<'_, str>> =
        destinations.iter().map(|one| Cow::from(one.name.as_str())).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests;
