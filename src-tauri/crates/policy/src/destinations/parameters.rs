//! Determines the meaning of a parameter from its name and its schema, without reading its value.

use std::collections::HashSet;

use contract::ToolSpec;
use serde_json::Value;

/// Words of parameter names that stand for an address. Plurals match as well.
const ADDRESS_WORDS: &[&str] = &[
    "url", "uri", "iri", "href", "link", "host", "hostname", "domain", "site", "website",
    "address", "endpoint", "origin", "webhook", "server", "proxy", "ip", "redirect", "callback",
    "hop",
];
/// Endings of longer words that stand for an address: `baseurl`, `dbhost`.
const ADDRESS_ENDS: &[&str] =
    &["url", "href", "host", "hostname", "domain", "address", "endpoint", "webhook", "server"];
/// Words of parameter names that stand for recipients.
const RECIPIENT_WORDS: &[&str] = &[
    "to",
    "cc",
    "bcc",
    "recipient",
    "addressee",
    "attendee",
    "participant",
    "invitee",
    "email",
    "mail",
    "phone",
    "mobile",
    "tel",
    "telephone",
    "msisdn",
    "sms",
    "channel",
    "chat",
];
/// Last words of a name that make the parameter something other than an address: `server_port`,
/// `max_links`.
const OTHER_ENDS: &[&str] = &[
    "count", "port", "id", "type", "kind", "version", "limit", "status", "index", "size", "timeout",
];
/// Last words of a name that make the parameter something other than a recipient: `email_body`.
const TEXT_ENDS: &[&str] =
    &["body", "subject", "text", "folder", "label", "type", "count", "limit", "format", "status"];
/// Parameters beside `to` that make `to` the end of a range or a route.
const BEGINS: &[&str] = &["from", "start", "since", "after", "min", "begin", "amount"];
/// Formats of JSON Schema that stand for an address or a recipient.
const ADDRESS_FORMATS: &[&str] = &[
    "uri",
    "uri-reference",
    "uri-template",
    "iri",
    "iri-reference",
    "url",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
];
const RECIPIENT_FORMATS: &[&str] = &["email", "idn-email"];
/// The longest chain of schemas that is followed, and the most schemas that are looked at.
const SCHEMA_DEPTH: usize = 16;
const MOST_SCHEMAS: usize = 1_000;

/// The meaning of a value. Several meanings may apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Role {
    /// An address, according to the name or format of its parameter.
    pub address: bool,
    /// A recipient, according to the name or format of its parameter.
    pub recipient: bool,
    /// The end of a range or a route, or a recipient that begins with a sign such as `@`.
    pub end: bool,
    /// A value of a tool that may send data anywhere.
    pub open: bool,
    /// The value is more than a single address or recipient, so each part is examined separately.
    pub is_partial: bool,
}

impl Role {
    pub fn with(self, more: Self) -> Self {
        Self {
            address: self.address || more.address,
            recipient: self.recipient || more.recipient,
            end: more.end,
            ..self
        }
    }

    /// Returns the role for the name of a member.
    pub fn of_name(self) -> Self {
        Self { open: self.open, ..Self::default() }
    }

    pub fn without_whole(self) -> Self {
        Self { is_partial: true, ..self }
    }
}

/// The declarations of a tool's schema about a value. Several parts of the schema may apply.
#[derive(Clone, Default)]
pub(super) struct Schema<'a> {
    root: Option<&'a Value>,
    parts: Vec<&'a Value>,
}

impl<'a> Schema<'a> {
    pub fn of_tool(tool: &'a ToolSpec) -> Self {
        let root = &tool.full_input_schema;
        Self::of(Some(root), vec![root])
    }

    /// Collects these schemas and all schemas that they contain or refer to: alternatives, parts,
    /// items and references.
    fn of(root: Option<&'a Value>, schemas: Vec<&'a Value>) -> Self {
        let mut this = Self { root, parts: Vec::new() };
        let (mut next, mut known) = (schemas, HashSet::new());
        for _ in 0..=SCHEMA_DEPTH {
            // Several references may lead to the same schema, which is visited once.
            next.retain(|schema| known.insert(std::ptr::from_ref(*schema)));
            next.truncate(MOST_SCHEMAS - this.parts.len());
            this.parts.extend(&next);
            next = next.into_iter().flat_map(|schema| this.inner(schema)).collect();
        }
        this
    }

    /// Returns the declarations of a member in all alternatives.
    pub fn member(&self, name: &str) -> Self {
        let declared = |schema: &&'a Value| schema.get("properties").and_then(|all| all.get(name));
        let schemas = self.parts.iter().filter_map(declared).collect();
        Self::of(self.root, schemas)
    }

    /// Whether the schema declares a member of this name.
    pub fn declares(&self, name: &str) -> bool {
        self.parts
            .iter()
            .any(|schema| schema.pointer("/properties").is_some_and(|all| all.get(name).is_some()))
    }

    fn formats(&self) -> Vec<&'a str> {
        self.parts.iter().filter_map(|schema| schema.get("format")?.as_str()).collect()
    }

    fn inner(&self, schema: &'a Value) -> Vec<&'a Value> {
        let lists = ["anyOf", "oneOf", "allOf", "prefixItems"];
        let single = ["items", "additionalProperties", "contains", "if", "then", "else"];
        let lists = lists.iter().filter_map(|name| schema.get(name)?.as_array()).flatten();
        let single = single.iter().filter_map(|name| schema.get(name));
        let pattern = schema.get("patternProperties").and_then(Value::as_object);
        let pattern = pattern.into_iter().flat_map(serde_json::Map::values);
        let reference = schema.get("$ref").and_then(Value::as_str);
        let reference = reference.and_then(|path| self.root?.pointer(path.strip_prefix('#')?));
        lists.chain(single).chain(pattern).chain(reference).collect()
    }
}

/// Returns the role of a member, from its name and the formats of its schema.
pub(super) fn role_of(name: &str, of_object: &Schema<'_>) -> Role {
    let formats = of_object.member(name).formats();
    let has_format = |known: &[&str]| formats.iter().any(|format| known.contains(format));
    let words = words_of(name);
    let is_text = words.last().is_some_and(|last| TEXT_ENDS.contains(&last.as_str()));
    let mut named = words.iter().filter(|word| is_one_of(word, RECIPIENT_WORDS) && !is_text);
    let is_end = words.last().is_some_and(|last| last == "to")
        && BEGINS.iter().any(|begin| of_object.declares(begin));
    let has_other = named.any(|word| word != "to" || !is_end);
    Role {
        address: is_address_name(name) || has_format(ADDRESS_FORMATS),
        recipient: has_other || has_format(RECIPIENT_FORMATS),
        end: is_end,
        ..Role::default()
    }
}

/// Whether a name stands for an address.
pub(super) fn is_address_name(name: &str) -> bool {
    let words = words_of(name);
    if words.len() > 1 && words.last().is_some_and(|last| OTHER_ENDS.contains(&last.as_str())) {
        return false;
    }
    words.iter().any(|word| {
        let one = word.strip_suffix('s').unwrap_or(word);
        is_one_of(word, ADDRESS_WORDS) || ADDRESS_ENDS.iter().any(|end| one.ends_with(end))
    })
}

fn is_one_of(word: &str, known: &[&str]) -> bool {
    known.contains(&word) || word.strip_suffix('s').is_some_and(|one| known.contains(&one))
}

/// Splits a parameter's name at capitals and at all characters that are neither letters nor digits:
/// `baseURL` is `base`, `url`, and `IPAddress` is `ip`, `address`.
fn words_of(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, &c) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| letters[before]);
        let was_lower = before.is_some_and(|before| before.is_lowercase() || before.is_numeric());
        let was_upper = before.is_some_and(char::is_uppercase);
        // The plural of an acronym is one word: `URLs`.
        let is_letter = |at: usize| letters.get(at).is_some_and(|c| c.is_lowercase());
        let is_plural = letters.get(at + 1) == Some(&'s') && !is_letter(at + 2);
        let ends_acronym = was_upper && is_letter(at + 1) && !is_plural;
        if !c.is_alphanumeric() || c.is_uppercase() && (was_lower || ends_acronym) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn a_schema_with_many_references_is_searched_only_once() {
        let name = |at: usize| format!("d{at}");
        let parts = |at: usize| vec![json!({"$ref": format!("#/$defs/d{}", at + 1)}); 50];
        let mut defs: Map<String, Value> =
            (0..12).map(|at| (name(at), json!({"anyOf": parts(at)}))).collect();
        defs.insert(name(12), json!({"type": "string", "format": "uri"}));
        let root = json!({"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": defs});
        let schema = Schema::of(Some(&root), vec![&root]);
        assert!(schema.member("x").parts.len() <= MOST_SCHEMAS);
        let many = json!({"allOf": vec![json!({}); 2 * MOST_SCHEMAS]});
        assert_eq!(Schema::of(Some(&many), vec![&many]).parts.len(), MOST_SCHEMAS);
    }

    #[test]
    fn parameter_names_are_split_at_capitals_and_punctuation() {
        for (name, words) in [
            ("baseURL", &["base", "url"][..]),
            ("IPAddress", &["ip", "address"]),
            ("URLString", &["url", "string"]),
            ("redirect_to", &["redirect", "to"]),
            ("target-Host2", &["target", "host2"]),
        ] {
            assert_eq!(words_of(name), words, "{name}");
        }
        for name in ["DBHost", "baseurl", "URLs", "server_names", "IPAddress", "webhookURL"] {
            assert!(is_address_name(name), "{name}");
        }
        for name in ["query", "security", "page", "about", "ship", "server_port", "site_id"] {
            assert!(!is_address_name(name), "{name}");
        }
    }
}
