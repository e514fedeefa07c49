//! Builds a request from a manifest's literals and validated arguments. Every value is encoded for
//! its position, so it can change neither the host nor the structure of the path, and can add no
//! header, parameter or member.

use contract::{
    AgentError,
    manifest::{HttpCall, HttpMethod, IdempotencyStrategy},
    text,
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};
use url::Url;

use super::{
    failure::{bad_value, config},
    template::{Piece, Template, plain, value_of},
};

/// All characters except the unreserved ones of RFC 3986.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const KEY_HEADER: &str = "Idempotency-Key";
const KEY_MEMBER: &str = "idempotency_key";
const SEE_PACK: &str =
    "Correct the tool in its pack.json; `csign packs check FOLDER` shows what is wrong.";

/// A request without its credential.
#[derive(Debug)]
pub(crate) struct BuiltRequest {
    pub(crate) url: Url,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Option<Vec<u8>>,
}

/// How the server recognises a repeated request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'a> {
    pub(crate) strategy: IdempotencyStrategy,
    pub(crate) place: Option<&'a str>,
    pub(crate) value: Option<&'a str>,
}

pub(crate) fn build(
    call: &HttpCall,
    arguments: &Map<String, Value>,
    key: Key<'_>,
) -> Result<BuiltRequest, AgentError> {
    let mut url = address(&call.url, arguments)?;
    for (name, source) in &call.query {
        add_query(&mut url, name, &parse(source)?, arguments)?;
    }
    let mut headers = Vec::new();
    for (name, source) in &call.headers {
        if let Some(text) = parse(source)?.fill(arguments, header_text)? {
            headers.push((header_name(name)?, header_value(name, &text)?));
        }
    }
    let mut body = body(call, arguments)?;
    match (key.strategy, key.value) {
        (IdempotencyStrategy::None, _) | (_, None) => {}
        (IdempotencyStrategy::PayloadField, Some(value)) => {
            if let Some(Value::Object(members)) = &mut body {
                members.insert(
                    key.place.unwrap_or(KEY_MEMBER).to_owned(),
                    Value::String(value.to_owned()),
                );
            }
        }
        (IdempotencyStrategy::Header, Some(value)) => {
            let name = key.place.unwrap_or(KEY_HEADER);
            headers.push((header_name(name)?, header_value(name, value)?));
        }
        (IdempotencyStrategy::HashPayload | IdempotencyStrategy::ExternalKey, Some(value)) => {
            headers.push((header_name(KEY_HEADER)?, header_value(KEY_HEADER, value)?));
        }
    }
    Ok(BuiltRequest { url, headers, body: body.map(|value| value.to_string().into_bytes()) })
}

fn parse(source: &str) -> Result<Template, AgentError> {
    Template::parse(source).map_err(|problem| {
        config(text!("A template of this tool cannot be read: {problem}.", problem), SEE_PACK)
    })
}

/// Splits an address template at the beginning of its path.
pub(crate) fn split_origin(source: &str) -> Option<(&str, &str)> {
    let after = source.find("://")? + 3;
    let path = source[after..].find(['/', '?', '#']).map_or(source.len(), |at| after + at);
    Some(source.split_at(path))
}

fn address(source: &str, arguments: &Map<String, Value>) -> Result<Url, AgentError> {
    let broken = || config("The address of this tool is not a web address.", SEE_PACK);
    let (origin, path) = split_origin(source).ok_or_else(broken)?;
    let expected = Url::parse(origin).map_err(|_| broken())?;
    let mut filled = String::new();
    for (at, segment) in path.split('/').enumerate() {
        if at > 0 {
            filled.push('/');
        }
        filled.push_str(&fill_segment(&parse(segment)?, arguments)?);
    }
    let url = Url::parse(&format!("{origin}{filled}")).map_err(|_| broken())?;
    // A final check of the guarantees of the code above.
    let segments = |path: &str| path.split('/').count();
    let same_place = url.scheme() == expected.scheme()
        && url.host_str() == expected.host_str()
        && url.port() == expected.port();
    let same_shape = path.is_empty() || segments(url.path()) == segments(path);
    if same_place
        && same_shape
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none()
    {
        Ok(url)
    } else {
        Err(AgentError::invalid("The values would lead to another address.")
            .reason("unusable_value"))
    }
}

fn fill_segment(template: &Template, arguments: &Map<String, Value>) -> Result<String, AgentError> {
    let mut filled = String::new();
    let mut valued = None;
    for piece in &template.0 {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Argument(name) => {
                let value = value_of(arguments, name)
                    .ok_or_else(|| bad_value(name, "it is missing, and the address needs it"))?;
                filled.push_str(&path_text(name, value)?);
                valued = Some(name);
            }
        }
    }
    match valued {
        Some(name) if filled.is_empty() => {
            Err(bad_value(name, "it is empty, and the address needs it"))
        }
        Some(name) if filled.bytes().all(|b| b == b'.') => {
            Err(bad_value(name, "dots alone mean another place in an address"))
        }
        _ => Ok(filled),
    }
}

fn path_text(name: &str, value: &Value) -> Result<String, AgentError> {
    let text = match value {
        Value::Array(_) | Value::Object(_) => {
            return Err(bad_value(name, "a list or an object does not fit into an address"));
        }
        scalar => plain(scalar),
    };
    if text.chars().any(char::is_control) {
        return Err(bad_value(name, "it holds control characters"));
    }
    // Some servers percent-decode the path before they resolve it.
    if text.split(['/', '\\']).any(|part| part == "..") {
        return Err(bad_value(name, "`..` leads out of its place in the address"));
    }
    Ok(utf8_percent_encode(&text, SEGMENT).to_string())
}

fn add_query(
    url: &mut Url,
    name: &str,
    template: &Template,
    arguments: &Map<String, Value>,
) -> Result<(), AgentError> {
    let values = match template.single_argument().and_then(|argument| value_of(arguments, argument))
    {
        Some(Value::Array(list)) => list.iter().map(plain).collect(),
        _ => template
            .fill::<AgentError>(arguments, |_, value| Ok(plain(value)))?
            .into_iter()
            .collect::<Vec<_>>(),
    };
    for value in values {
        url.query_pairs_mut().append_pair(name, &value);
    }
    Ok(())
}

fn header_text(name: &str, value: &Value) -> Result<String, AgentError> {
    let text = plain(value);
    if text.chars().any(char::is_control) {
        return Err(bad_value(name, "it holds control characters, which a header cannot carry"));
    }
    // Headers must be ASCII, so other characters are percent-encoded.
    Ok(text
        .chars()
        .map(|c| {
            if c.is_ascii() {
                c.to_string()
            } else {
                utf8_percent_encode(&c.to_string(), NON_ALPHANUMERIC).to_string()
            }
        })
        .collect())
}

pub(crate) fn header_name(name: &str) -> Result<HeaderName, AgentError> {
    HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| config(text!("{name} is not the name of a header.", name), SEE_PACK))
}

fn header_value(name: &str, text: &str) -> Result<HeaderValue, AgentError> {
    HeaderValue::from_str(text).map_err(|_| bad_value(name, "it does not fit into a header"))
}

fn body(call: &HttpCall, arguments: &Map<String, Value>) -> Result<Option<Value>, AgentError> {
    match (&call.body, call.method) {
        (Some(template), _) => fill_json(template, arguments),
        (None, HttpMethod::Post | HttpMethod::Put | HttpMethod::Patch) => {
            let used = arguments_used_elsewhere(call)?;
            let rest = arguments
                .iter()
                .filter(|(name, _)| !used.contains(name))
                .map(|(name, value)| (name.clone(), value.clone()));
            Ok(Some(Value::Object(rest.collect())))
        }
        (None, HttpMethod::Get | HttpMethod::Delete) => Ok(None),
    }
}

fn arguments_used_elsewhere(call: &HttpCall) -> Result<Vec<String>, AgentError> {
    let mut used = Vec::new();
    let path = split_origin(&call.url).map_or("", |(_, path)| path);
    for source in [path]
        .into_iter()
        .chain(call.query.values().chain(call.headers.values()).map(String::as_str))
    {
        // A name with a dot reads a member of an argument, and the whole argument counts as used.
        used.extend(
            parse(source)?.names().filter_map(|name| name.split('.').next()).map(str::to_owned),
        );
    }
    Ok(used)
}

/// Fills templates in the texts of a JSON value. Returns None if an argument is absent, so that the
/// caller omits the member or element.
fn fill_json(
    template: &Value,
    arguments: &Map<String, Value>,
) -> Result<Option<Value>, AgentError> {
    Ok(match template {
        Value::String(source) => {
            let template = parse(source)?;
            match template.single_argument() {
                Some(name) => value_of(arguments, name).cloned(),
                None => template
                    .fill::<AgentError>(arguments, |_, value| Ok(plain(value)))?
                    .map(Value::String),
            }
        }
        Value::Object(members) => {
            let mut filled = Map::new();
            for (name, member) in members {
                if let Some(value) = fill_json(member, arguments)? {
                    filled.insert(name.clone(), value);
                }
            }
            Some(Value::Object(filled))
        }
        Value::Array(items) => {
            let filled: Result<Vec<Option<Value>>, AgentError> =
                items.iter().map(|item| fill_json(item, arguments)).collect();
            Some(Value::Array(filled?.into_iter().flatten().collect()))
        }
        literal @ (Value::Null | Value::Bool(_) | Value::Number(_)) => Some(literal.clone()),
    })
}

#[cfg(test)]
mod tests;
