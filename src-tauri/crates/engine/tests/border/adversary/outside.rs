//! The world as an observer of the network sees it: which bytes a call sends where. It reads addresses
//! as the clients of real servers do, which differ from each other, and follows redirects.

use contract::{Destination, DestinationKind, ToolSpec};
use serde_json::Value;
use url::Url;

use super::servers::server;

/// How the servers of a program read addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// As the URL standard says: browsers and Node.
    Standard,
    /// As RFC 3986 says: Python and many libraries.
    Library,
}

/// The hosts whose pages `/r?to=…` redirect to any address.
pub const REDIRECTORS: [&str; 2] = ["go.docs-of-ours.com", "links.example"];
/// The most redirects that a client follows.
const REDIRECTS: usize = 5;

/// Data that arrives at a place.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub to: Destination,
    pub bytes: String,
}

fn host(name: &str, bytes: &str) -> Delivery {
    let name = name.trim_end_matches('.').to_lowercase();
    Delivery { to: Destination::new(DestinationKind::Host, name), bytes: bytes.to_owned() }
}

/// Returns what a call of a tool sends, if its server has a network. The server itself comes first.
pub fn deliveries(client: Client, spec: &ToolSpec, arguments: &Value) -> Vec<Delivery> {
    let whole = arguments.to_string();
    let mut all = vec![Delivery { to: server(spec), bytes: whole.clone() }];
    let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    match spec.id.as_str() {
        "web.fetch" | "web.post" => all.extend(fetch(client, text("url"), &whole)),
        "web.open" => all.extend(fetch(client, text("page"), &whole)),
        // An address within a request as JSON text.
        "web.request" => {
            let request: Value = serde_json::from_str(text("request")).unwrap_or_default();
            all.extend(fetch(client, request["url"].as_str().unwrap_or_default(), &whole));
        }
        "web.lookup" => all.extend(look_up(&arguments["host"])),
        "notes.sync" => all.extend(fetch(client, text("server"), &whole)),
        "files.list" => all.extend(share(text("folder"))),
        "files.read" | "files.write" => all.extend(share(text("path"))),
        "database.query" | "database.execute" => {
            let sql = text("sql");
            for (at, _) in sql.match_indices("http") {
                let end = sql[at..].find(['\'', '"', ' ', ')']).map_or(sql.len(), |end| at + end);
                if sql[at..end].contains("://") {
                    all.extend(fetch(client, &sql[at..end], &whole));
                }
            }
        }
        "mail.availability" => all.extend(recipients(&arguments["attendees"], &whole)),
        "mail.send" => all.extend(recipients(&arguments["to"], &whole)),
        _ => {}
    }
    all
}

/// Fetches an address. A client adds the scheme if there is none.
fn fetch(client: Client, address: &str, whole: &str) -> Vec<Delivery> {
    let mut all = Vec::new();
    let mut next = Some(address.trim().to_owned());
    for _ in 0..REDIRECTS {
        let Some((name, url)) = next.as_deref().and_then(|address| locate(client, address)) else {
            break;
        };
        all.push(host(&name, if all.is_empty() { whole } else { url.as_str() }));
        next = redirect(&name, &url);
    }
    all
}

/// Returns the host that a client connects to, and the address as the host sees it.
fn locate(client: Client, address: &str) -> Option<(String, Url)> {
    let standard = Url::parse(address).ok().filter(|url| url.host_str().is_some());
    let with_scheme = || Url::parse(&format!("https://{address}")).ok();
    let url = standard.or_else(with_scheme)?;
    let name = match client {
        Client::Standard => url.host_str()?.to_owned(),
        Client::Library => {
            let (_, rest) = address.split_once("://").unwrap_or(("", address));
            let authority = rest.split(['/', '?', '#']).next()?;
            let name = authority.rsplit('@').next()?;
            let is_plain = !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b".-".contains(&b));
            if is_plain { name.to_owned() } else { url.host_str()?.to_owned() }
        }
    };
    // A lone number is an address for many clients, and the standard writes it as one.
    Some((
        if name.bytes().all(|b| b.is_ascii_digit()) { url.host_str()?.to_owned() } else { name },
        url,
    ))
}

/// Returns where a page redirects to. The address counts from the page, as `Location` does.
fn redirect(name: &str, url: &Url) -> Option<String> {
    REDIRECTORS.contains(&name).then_some(())?;
    let (_, to) = url.query_pairs().find(|(key, _)| key == "to")?;
    url.join(&to).ok().map(String::from).filter(|next| next != url.as_str())
}

/// Looks a name up: the name itself goes to whoever serves its domain.
fn look_up(name: &Value) -> Vec<Delivery> {
    let text = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
    let found = Url::parse(&format!("http://{}", text.trim())).ok();
    let name =
        found.as_ref().and_then(Url::host_str).filter(|_| name.is_string() || name.is_number());
    name.map(|name| host(name, &text)).into_iter().collect()
}

/// Opens a folder of another computer.
fn share(path: &str) -> Vec<Delivery> {
    let path = path.trim().replace('\\', "/");
    let rest = path.strip_prefix("smb://").or_else(|| path.strip_prefix("//"));
    let name = rest.and_then(|rest| rest.split('/').next()).filter(|name| !name.is_empty());
    name.map(|name| host(name, &path)).into_iter().collect()
}

/// Asks each mail address in a value, wherever it stands.
fn recipients(value: &Value, whole: &str) -> Vec<Delivery> {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let words = text.split(|c: char| c.is_whitespace() || "<>\"',;:[]{}()?&=\\/".contains(c));
    let addresses = words.filter(|word| {
        word.split_once('@')
            .is_some_and(|(local, domain)| !local.is_empty() && domain.contains('.'))
    });
    addresses
        .map(|word| word.trim_end_matches('.').to_lowercase())
        .map(|name| Delivery {
            to: Destination::new(DestinationKind::Recipient, name),
            bytes: whole.to_owned(),
        })
        .collect()
}
