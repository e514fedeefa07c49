//! Finds the places that a read sends data to: its server, and each address and recipient in its
//! arguments. Also finds the places that a person's message names. Both are found in the same way,
//! but doubts go the other way: what may be an address in an argument counts, what may be a file
//! name in a message does not. Pure: it knows neither permissions nor conversations.

use std::{borrow::Cow, collections::BTreeSet};

use contract::{Destination, DestinationKind, Reach, ToolSpec};
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
/// The fewest digits of a phone number.
const PHONE_DIGITS: usize = 6;

/// What a text stands for.
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
            let name = format!("{}/{}", tool.pack, tool.target.server());
            Some(Destination::new(DestinationKind::Server, name))
        }
    }
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
        Value::String(text) => collect(text, role, found),
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
    let decoded = decode(text);
    for text in std::iter::once(text).chain(decoded.as_deref()) {
        let whole = text.trim();
        found.extend(lenient_host(whole).map(host));
        for word in text.split(is_border) {
            collect_word(word, role, found);
        }
        match role {
            Role::Address if !whole.contains(char::is_whitespace) => {
                found.extend(bare_host(whole, true).map(host));
            }
            Role::Recipient => found.extend(whole.split([',', ';']).filter_map(handle)),
            Role::Open if !whole.contains(char::is_whitespace) => {
                found.extend(bare_host(whole, false).map(host));
            }
            Role::Address | Role::Open | Role::Plain | Role::Message => {}
        }
    }
}

/// Returns the text without percent-encoding, if that could hide an address.
fn decode(text: &str) -> Option<String> {
    let hides = text.contains("%3A")
        || text.contains("%3a")
        || text.contains("%2F")
        || text.contains("%2f")
        || text.contains("%40");
    hides.then(|| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned())
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
        found.extend(host_of_url(&rest[begin..]).map(host));
        rest = &rest[at + 3..];
    }
    if word.contains("://") {
        return;
    }
    if word.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("www.")) {
        found.extend(bare_host(word, true).map(host));
    } else if role == Role::Message {
        found.extend(bare_host(word, false).map(host));
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

/// Returns the host of a text with a scheme. A text that is no valid address has what stands where
/// the host would be.
fn host_of_url(text: &str) -> Option<String> {
    if let Ok(url) = Url::parse(text) {
        return url.host_str().filter(|host| !host.is_empty()).map(normalize);
    }
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or(rest);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    (!host.is_empty()).then(|| normalize(host))
}

/// Returns the host of a text that clients take for an address although it has no `://`: such as
/// `http:example.com`, `//example.com`, `\\example.com` and `ht<tab>tps://example.com`.
fn lenient_host(text: &str) -> Option<String> {
    let relative = text.starts_with("//") || text.starts_with("\\\\");
    let url = if relative {
        Url::parse(&format!("http:{text}")).ok()?
    } else {
        Url::parse(text)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https" | "ws" | "wss" | "ftp"))?
    };
    url.host_str().filter(|host| !host.is_empty()).map(normalize)
}

/// Returns the host of a text without a scheme, such as `example.com/path`. With `is_address` the
/// text stands for an address, so each name counts; else only a name below a known domain.
fn bare_host(text: &str, is_address: bool) -> Option<String> {
    if text.is_empty() || text.contains("://") || text.contains('@') && !is_address {
        return None;
    }
    let url = Url::parse(&format!("http://{text}")).ok()?;
    let name = url.host_str().filter(|host| !host.is_empty()).map(normalize)?;
    let is_ip = matches!(url.host(), Some(url::Host::Ipv4(_) | url::Host::Ipv6(_)));
    // `10` and `1.5` are numbers that address parsers take for hosts.
    let is_written_ip = is_ip && (text.starts_with('[') || text.split('.').count() >= 4);
    let has_path = text.contains('/');
    let ending = name.rsplit('.').next().unwrap_or_default();
    let is_domain = !is_ip
        && name.contains('.')
        && psl::suffix(name.as_bytes()).is_some_and(|suffix| suffix.is_known())
        && psl::domain(name.as_bytes()).is_some()
        && (has_path || !FILE_ENDINGS.contains(&ending));
    (is_address || is_written_ip || is_domain).then_some(name)
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
