//! Finds the destinations of a read: its server, and each address and recipient in its arguments.
//! Also finds the destinations that a person's message names. The module is pure and reads neither
//! permissions nor conversations.
//!
//! Ambiguous text is judged strictly on both sides. In an argument, the host of each client's
//! reading is a destination. A text that clients read differently is one more destination, which no
//! message can name. In a message, only text that all clients read alike names a destination.

mod addresses;
mod hosts;
mod parameters;
mod readings;
mod recipients;

use std::collections::BTreeSet;

use contract::{Destination, DestinationKind, PackId, Reach, ToolSpec, ToolTarget};
use parameters::{Role, Schema};
use serde_json::Value;
use url::Url;

/// The most characters of a destination's name. A longer text is cut.
const NAME_CHARS: usize = 100;

/// Returns the server or program that a call goes to. Returns none if no data leaves this computer.
pub fn server_of(tool: &ToolSpec) -> Option<Destination> {
    match tool.reach {
        Reach::Here => None,
        Reach::Configured | Reach::Unallowed => {
            Some(server_destination(&tool.pack, tool.target.server()))
        }
    }
}

/// Returns the destination for data sent to a server of a pack.
pub fn server_destination(pack: &PackId, server: &str) -> Destination {
    Destination::new(DestinationKind::Server, format!("{pack}/{server}"))
}

/// Returns the addresses and recipients in the arguments of a call, and the hosts that its server
/// may redirect it to. The set is empty if no data leaves this computer.
pub fn addressed(tool: &ToolSpec, arguments: &Value) -> BTreeSet<Destination> {
    let mut found = BTreeSet::new();
    if tool.reach != Reach::Here {
        let role = Role { open: tool.open_world, ..Role::default() };
        walk(arguments, &Schema::of_tool(tool), role, &mut found);
        found.extend(redirects(&tool.target));
    }
    found
}

/// Returns the other hosts that a request of the host may be redirected to.
fn redirects(target: &ToolTarget) -> impl Iterator<Item = Destination> {
    let (hosts, server) = match target {
        ToolTarget::Http { call } => (call.hosts.as_slice(), target.server()),
        ToolTarget::BuiltIn { .. } | ToolTarget::Mcp { .. } | ToolTarget::Program { .. } => {
            (&[][..], "")
        }
    };
    let own = hosts::canonical(server);
    hosts
        .iter()
        .filter_map(|name| hosts::canonical(name))
        .filter(move |name| own.as_ref() != Some(name))
        .map(host)
}

/// Returns the hosts and recipients that a message names.
pub fn named_in(message: &str) -> BTreeSet<Destination> {
    let hosts = addresses::named_hosts(message).into_iter().map(host);
    hosts.chain(recipients::named(message).into_iter().map(recipient)).collect()
}

/// Normalises a destination that a person typed, for comparison. A host may be given as part of an
/// address. Returns none if the text is not a single destination.
pub fn typed_destination(kind: DestinationKind, text: &str) -> Option<Destination> {
    let text = text.trim();
    if text.is_empty() || text.chars().any(char::is_control) {
        return None;
    }
    match kind {
        DestinationKind::Host => {
            let url = if text.contains("://") { text.into() } else { format!("http://{text}") };
            let url = Url::parse(&url).ok()?;
            url.host_str().filter(|name| !name.is_empty()).map(|name| host(hosts::normalize(name)))
        }
        DestinationKind::Recipient => Some(recipient(recipients::canonical(text))),
        DestinationKind::Server => Some(Destination::new(kind, text)),
    }
}

/// Collects the destinations in a value and its members.
fn walk(value: &Value, schema: &Schema<'_>, role: Role, found: &mut BTreeSet<Destination>) {
    match value {
        Value::String(text) => {
            // Some tools take a whole request as JSON text.
            let inner = text.trim_start().starts_with(['{', '[', '"']);
            let inner = inner.then(|| serde_json::from_str::<Value>(text).ok()).flatten();
            if let Some(inner) = &inner {
                walk(inner, &Schema::default(), role, found);
            }
            collect(text, if inner.is_some() { role.without_whole() } else { role }, found);
        }
        Value::Number(number) => collect_number(number, role, found),
        Value::Null | Value::Bool(_) => {}
        Value::Array(list) => list.iter().for_each(|item| walk(item, schema, role, found)),
        Value::Object(members) => {
            for (name, member) in members {
                let holds_text = !matches!(member, Value::Null | Value::Bool(_) | Value::Number(_));
                // `{"eve": true}`: the member's name is the recipient.
                let is_value = !holds_text && !schema.declares(name);
                let is_address = role.address && name.contains(['.', ':']);
                let of_value = Role { address: is_address, ..role };
                collect(name, if is_value { of_value } else { role.of_name() }, found);
                // In a parameter for recipients, a member name that is a number is a phone number:
                // `{"5551234": true}`.
                if is_value && role.recipient && recipients::is_number(name) {
                    found.insert(recipient(recipients::canonical(name)));
                }
                // `{"recipient": {"name": …}}`: members of a recipient are recipients, too.
                let of_member = role.with(parameters::role_of(name, schema));
                walk(member, &schema.member(name), of_member, found);
            }
        }
    }
}

/// Adds the destination that a number stands for. Some programs take a number for a host or a phone
/// number.
fn collect_number(number: &serde_json::Number, role: Role, found: &mut BTreeSet<Destination>) {
    let text = number.to_string();
    if role.address {
        found.extend(addresses::in_parameter(&text).into_iter().map(host));
    }
    if role.recipient && recipients::is_phone(&text) {
        found.insert(recipient(recipients::canonical(&text)));
    }
}

/// Adds the destinations in a text.
fn collect(text: &str, role: Role, found: &mut BTreeSet<Destination>) {
    for reading in readings::of(text) {
        let (hosts, authorities) = addresses::in_text(&reading);
        found.extend(hosts.into_iter().map(host));
        found.extend(recipients::in_text(&reading, &authorities).into_iter().map(recipient));
        if role.open || role.address {
            found.extend(addresses::bare_in_text(&reading).into_iter().map(host));
            found.extend(addresses::odd_address(&reading).map(host));
        }
    }
    if readings::is_unreadable(text) {
        found.insert(host(name_of(text)));
    }
    if role.is_partial {
        return;
    }
    if role.address {
        found.extend(addresses::in_parameter(text).into_iter().map(host));
    }
    if role.recipient {
        let authorities = addresses::in_text(text).1;
        let recipients = recipients::in_parameter(text, &authorities);
        found.extend(recipients.into_iter().map(recipient));
    } else if role.end {
        found.extend(recipients::with_signs(text).into_iter().map(recipient));
    }
}

fn host(name: String) -> Destination {
    Destination::new(DestinationKind::Host, name)
}

fn recipient(name: String) -> Destination {
    Destination::new(DestinationKind::Recipient, name)
}

/// Returns a text as the name of a destination. A long text is cut, and its hash is added to keep
/// the name unique.
fn name_of(text: &str) -> String {
    use sha2::{Digest as _, Sha256};
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    if words.chars().count() <= NAME_CHARS {
        return words;
    }
    let start: String = words.chars().take(NAME_CHARS / 2).collect();
    let hash: String =
        Sha256::digest(text.as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{start}… (sha256 {hash})")
}

/// Formats the names of destinations for use in a sentence.
pub(crate) fn describe(destinations: &[Destination]) -> String {
    let names: Vec<&str> = destinations.iter().map(shown_name).collect();
    names.join(", ")
}

/// Returns the destination's name as a person knows it. A server that the user added is its own
/// pack, so only the server's name is shown.
fn shown_name(destination: &Destination) -> &str {
    match (destination.kind, destination.name.split_once('/')) {
        (DestinationKind::Server, Some((pack, server)))
            if pack.strip_prefix(PackId::ADDED_SERVER) == Some(server) =>
        {
            server
        }
        _ => &destination.name,
    }
}

#[cfg(test)]
mod tests;
