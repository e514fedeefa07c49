//! The world as an observer of the network sees it: which bytes a call sends to which destination.
//! This module reads addresses in the different ways of real clients, and follows redirects. It
//! finds the beginning and end of addresses with its own code and shares no parser with the code
//! under test. Only the normalisation of a single host uses a library for the URL standard.

use contract::{Destination, DestinationKind, ToolSpec};
use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::servers::server;

/// How the servers of a program read parameters with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// According to the URL standard, like browsers and Node.
    Standard,
    /// According to RFC 3986, like Python and many libraries.
    Library,
    /// Uses the name before the first colon, like `scp` and `git`.
    Copy,
    /// Uses the name after the first `@`, like some regular expressions.
    Pattern,
    /// Uses each part of a list.
    List,
    /// Uses `host=…` among other words and in the query of an address, like database clients.
    Pairs,
    /// Uses the name in brackets after a protocol, like some database drivers.
    Driver,
    /// Uses each name after two slashes or a colon, like programs that search texts for addresses.
    Searcher,
}

/// All clients.
pub const CLIENTS: [Client; 8] = [
    Client::Standard,
    Client::Library,
    Client::Copy,
    Client::Pattern,
    Client::List,
    Client::Pairs,
    Client::Driver,
    Client::Searcher,
];
/// The hosts whose pages `/r?to=…` redirect to any address.
pub const REDIRECTORS: [&str; 2] = ["go.docs-of-ours.com", "links.example"];
/// The most redirects that a client follows.
const REDIRECTS: usize = 5;

/// Data that arrives at a destination.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub to: Destination,
    pub bytes: String,
}

fn host(name: &str, bytes: &str) -> Delivery {
    Delivery { to: Destination::new(DestinationKind::Host, name), bytes: bytes.to_owned() }
}

/// Returns the data that a call of a tool sends, if its server has a network. The server itself
/// comes first.
pub fn deliveries(client: Client, spec: &ToolSpec, arguments: &Value) -> Vec<Delivery> {
    let whole = arguments.to_string();
    let mut all = vec![Delivery { to: server(spec), bytes: whole.clone() }];
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    // A parameter without addresses is read by clients that expect a single address.
    let usual = if client == Client::Library { client } else { Client::Standard };
    match spec.id.as_str() {
        "web.fetch" | "web.post" => all.extend(fetch(client, text("url"), &whole)),
        "web.follow" => all.extend(fetch(client, text("redirect_to"), &whole)),
        "web.open" => {
            all.extend(fetch(usual, text("page"), &whole));
            all.extend(links(text("page")).iter().map(|name| host(name, &whole)));
        }
        // A request as JSON text contains an address.
        "web.request" => {
            let request: Value = serde_json::from_str(text("request")).unwrap_or_default();
            all.extend(fetch(client, request["url"].as_str().unwrap_or_default(), &whole));
        }
        "web.lookup" => all.extend(look_up(&arguments["host"])),
        "notes.sync" => all.extend(fetch(client, text("server"), &whole)),
        "database.connect" => all.extend(fetch(client, text("DBHost"), &whole)),
        "files.list" => all.extend(share(text("folder"))),
        "files.read" | "files.write" => all.extend(share(text("path"))),
        "database.query" | "database.execute" => {
            let sql = text("sql");
            for (at, _) in sql.match_indices("http") {
                let end = sql[at..].find(['\'', '"', ' ', ')']).map_or(sql.len(), |end| at + end);
                if sql[at..end].contains("://") {
                    all.extend(fetch(usual, &sql[at..end], &whole));
                }
            }
        }
        "mail.availability" => all.extend(recipients(&arguments["attendees"], &whole)),
        "mail.send" => all.extend(recipients(&arguments["to"], &whole)),
        _ => {}
    }
    all
}

/// Sends a request to each host that a client reads in an address, and follows redirects.
fn fetch(client: Client, address: &str, whole: &str) -> Vec<Delivery> {
    let mut all = Vec::new();
    for (name, rest) in locate(client, address) {
        all.push(host(&name, whole));
        let (mut at, mut rest) = (name, rest);
        for _ in 0..REDIRECTS {
            let Some(next) = redirect(&at, &rest) else { break };
            all.push(host(&next.0, &rest));
            (at, rest) = next;
        }
    }
    all
}

/// Returns the hosts to which a client connects, each with the rest of the address.
fn locate(client: Client, address: &str) -> Vec<(String, String)> {
    let address = address.trim();
    let one = |name: &str| {
        let rest = address.split_once(name).map_or("", |(_, rest)| rest);
        spell(name).map(|name| (name, rest.to_owned())).into_iter().collect::<Vec<_>>()
    };
    match client {
        Client::Standard => standard(address).into_iter().collect(),
        Client::Library => {
            let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
            let authority = until(rest, "/?#");
            one(authority.rsplit('@').next().unwrap_or_default())
        }
        Client::Copy if !address.contains("://") => {
            one(until(address.split_once('@').map_or(address, |(_, rest)| rest), ":/"))
        }
        Client::Pattern => {
            let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
            let authority = until(rest, "/?#");
            one(until(authority.split_once('@').map_or(authority, |(_, rest)| rest), "@:"))
        }
        Client::List => {
            let parts = address.split([',', ' ', '\n']).filter(|part| !part.is_empty());
            parts.filter_map(standard).collect()
        }
        Client::Pairs => {
            let pairs = address.split([' ', ';', '&', '?']).filter_map(|pair| pair.split_once('='));
            let named = pairs.filter(|(name, _)| name.to_lowercase().contains("host"));
            named.flat_map(|(_, value)| one(until(value, ":/"))).collect()
        }
        Client::Driver => {
            let inner = address.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
            inner.map(|(inner, _)| one(until(inner, ":"))).unwrap_or_default()
        }
        Client::Copy | Client::Searcher => {
            let after = address.match_indices("//").map(|(at, _)| &address[at + 2..]);
            let shares = address.match_indices("\\\\").map(|(at, _)| &address[at + 2..]);
            let short = address.match_indices("http").filter_map(|(at, _)| {
                let rest = address[at..].trim_start_matches("http").trim_start_matches('s');
                rest.strip_prefix(':').map(|rest| rest.trim_start_matches(['/', '\\']))
            });
            let all = after.chain(shares).chain(short);
            all.map(|rest| until(rest, "/\\?#:\"'()<>|, "))
                .filter(|n| n.contains('.'))
                .flat_map(one)
                .collect()
        }
    }
}

/// Reads an address according to the URL standard: without tabs and line ends, with slashes in both
/// directions, and with any number of slashes after a common scheme. Adds the scheme if there is
/// none.
fn standard(address: &str) -> Option<(String, String)> {
    let address: String = address.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    let (scheme, rest) = address.split_once(':').unwrap_or(("", &address));
    let is_slash = |c: char| c == '/' || c == '\\';
    let common = ["http", "https", "ws", "wss", "ftp"];
    let rest = if common.contains(&scheme.to_lowercase().as_str()) {
        rest.trim_start_matches(is_slash)
    } else if let Some(rest) = rest.strip_prefix("//").filter(|_| !scheme.is_empty()) {
        rest
    } else {
        address.trim_start_matches(is_slash)
    };
    let authority = until(rest, "/\\?#");
    let name = authority.rsplit('@').next()?;
    let (name, port) = match name.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')) {
        Some((name, port)) => (name, port),
        None => (name, ""),
    };
    // An invalid port makes the address invalid.
    let is_port = port.is_empty() || port.parse::<u16>().is_ok();
    let name = spell(name).filter(|_| is_port)?;
    Some((name, rest[authority.len()..].to_owned()))
}

/// Returns the hosts of the links that a regular expression finds in a text, like programs that
/// display pages.
fn links(text: &str) -> Vec<String> {
    let starts = text.match_indices("https://").map(|(at, mark)| &text[at + mark.len()..]);
    let names = starts.map(|rest| {
        rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '-').next()
    });
    names.flatten().filter(|name| name.contains('.')).filter_map(spell).collect()
}

/// Returns the part of a text before the first of these characters.
fn until<'a>(text: &'a str, ends: &str) -> &'a str {
    text.find(|c| ends.contains(c)).map_or(text, |end| &text[..end])
}

/// Normalises a host to the form used by name servers, with the numbers and letters of the
/// standard.
fn spell(name: &str) -> Option<String> {
    let name = name.split_once(':').filter(|_| !name.contains('[')).map_or(name, |(name, _)| name);
    let name = url::Host::parse(name).ok()?.to_string();
    Some(name.trim_end_matches('.').to_lowercase()).filter(|name| !name.is_empty())
}

/// Returns the target of a page's redirect. The target is relative to the page, like `Location`.
fn redirect(name: &str, rest: &str) -> Option<(String, String)> {
    REDIRECTORS.contains(&name).then_some(())?;
    let query = until(rest.split_once('?')?.1, "#");
    let to = query.split('&').find_map(|pair| pair.strip_prefix("to="))?;
    let to = percent_decode_str(&to.replace('+', " ")).decode_utf8_lossy().into_owned();
    let to = to.trim().to_owned();
    let bare: String = to.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    let is_relative = |text: &str| {
        let mut letters = text.chars();
        letters.by_ref().take(2).filter(|c| matches!(c, '/' | '\\')).count() < 2
    };
    let has_scheme = bare.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric())
    });
    if !has_scheme && is_relative(&bare) {
        return None;
    }
    standard(&bare)
}

/// Looks up a name. The name itself is sent to the name server of its domain.
fn look_up(name: &Value) -> Vec<Delivery> {
    let text = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
    let found = (name.is_string() || name.is_number()).then(|| spell(text.trim())).flatten();
    found.map(|name| host(&name, &text)).into_iter().collect()
}

/// Opens a shared folder of another computer.
fn share(path: &str) -> Vec<Delivery> {
    let path = path.trim().replace('\\', "/");
    let rest = ["smb://", "//?/UNC/", "file:////", "file://", "//"];
    let rest = rest.iter().find_map(|start| path.strip_prefix(start));
    let name = rest.map(|rest| until(rest, "/")).filter(|name| !name.is_empty());
    name.and_then(spell).map(|name| host(&name, &path)).into_iter().collect()
}

/// Contacts all recipients anywhere in a value: each mail address in a text, and each part of a
/// text without mail addresses as the name of a user or channel.
fn recipients(value: &Value, whole: &str) -> Vec<Delivery> {
    let mut names = Vec::new();
    collect_recipients(value, &mut names);
    let to = |name| Destination::new(DestinationKind::Recipient, name);
    names.into_iter().map(|name| Delivery { to: to(name), bytes: whole.to_owned() }).collect()
}

fn collect_recipients(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            for part in text.split([',', ';']).map(str::trim).filter(|part| !part.is_empty()) {
                let found = mail_addresses(part);
                let is_user =
                    found.is_empty() && !part.contains('@') && part.parse::<f64>().is_err();
                names.extend(is_user.then(|| part.to_lowercase()));
                names.extend(found);
            }
        }
        Value::Array(list) => list.iter().for_each(|one| collect_recipients(one, names)),
        Value::Object(members) => {
            for (name, one) in members {
                // `{"eve": true}`: the member's name is the recipient.
                let is_name = one.is_boolean() || one.is_number();
                names.extend(is_name.then(|| name.to_lowercase()));
                names.extend(mail_addresses(name));
                collect_recipients(one, names);
            }
        }
        _ => {}
    }
}

fn mail_addresses(text: &str) -> Vec<String> {
    if let Some((local, domain)) = text.strip_prefix('"').and_then(|text| text.split_once("\"@")) {
        return vec![format!("\"{local}\"@{domain}").to_lowercase()];
    }
    let words = text.split(|c: char| c.is_whitespace() || "<>\"',;:[]{}()?&=\\/".contains(c));
    let has_both = |word: &&str| {
        word.split_once('@')
            .is_some_and(|(local, domain)| !local.is_empty() && domain.contains('.'))
    };
    words.filter(has_both).map(|word| word.trim_end_matches('.').to_lowercase()).collect()
}
