//! The formats in which models write calls: JSON with the member names of several makers, tagged
//! parameters, and names and objects between special tokens. The module does not know which tools
//! there are.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};

use super::Call;

/// Words that may stand beside a name between special tokens.
const BESIDE: [&str; 5] = ["function", "json", "```json", "```", "commentary"];
/// The beginning and end of special tokens.
const TOKENS: [(&str, &str); 2] = [("<|", "|>"), ("<｜", "｜>")];

/// Reads the text between two marks.
pub(super) fn read_body(body: &str) -> Option<Vec<Call>> {
    if let Some(tagged) = body.strip_prefix("<function=") {
        let (body, after) = tagged.split_once("</function>")?;
        return after.trim().is_empty().then(|| read_tagged(body).map(|call| vec![call]))?;
    }
    if body.starts_with("<invoke ") {
        return read_invoked(body);
    }
    if body.starts_with(['{', '[']) {
        return read_values(body).or_else(|| read_pythonic(body));
    }
    if let Some((name, pairs)) = body.split_once("<arg_key>") {
        let pairs = format!("<arg_key>{pairs}").replace("</arg_key>\n", "</arg_key>");
        let parts = ("<arg_key>", "</arg_key><arg_value>", "</arg_value>");
        return Some(vec![(name.trim().to_owned(), read_parameters(&pairs, parts)?)]);
    }
    if !body.contains(['{', '[', '<', ' ']) {
        return Some(vec![(body.trim().to_owned(), "{}".to_owned())]);
    }
    if body.starts_with("functions.") || TOKENS.iter().any(|(begin, _)| body.contains(begin)) {
        return read_tokens(body);
    }
    let (name, arguments) = body.split_at(body.find(['{', '['])?);
    let arguments = arguments.strip_prefix("[ARGS]").unwrap_or(arguments);
    Some(vec![(name.trim().to_owned(), object(arguments)?)])
}

/// A call as JSON, with the member names of all formats. The arguments stay as they are written.
#[derive(Default, Deserialize)]
struct JsonCall<'a> {
    #[serde(default, alias = "tool", alias = "tool_name", alias = "action")]
    name: Option<String>,
    /// The name, or an object with the name and the arguments.
    #[serde(borrow, default)]
    function: Option<&'a RawValue>,
    #[serde(borrow, default, alias = "args", alias = "input", alias = "action_input")]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    parameters: Option<&'a RawValue>,
    /// The calls, if this object only contains a list of calls.
    #[serde(borrow, default)]
    tool_calls: Option<Vec<&'a RawValue>>,
}

/// Reads consecutive values: calls, or lists of calls.
fn read_values(body: &str) -> Option<Vec<Call>> {
    let mut calls = Vec::new();
    for value in serde_json::Deserializer::from_str(body).into_iter::<&RawValue>() {
        let value = value.ok()?;
        let list: Vec<&RawValue> = match value.get().starts_with('[') {
            true => serde_json::from_str(value.get()).ok()?,
            false => vec![value],
        };
        for call in list {
            let parsed: JsonCall<'_> = serde_json::from_str(call.get()).ok()?;
            for call in parsed.tool_calls.unwrap_or_else(|| vec![call]) {
                calls.push(read_json(call)?);
            }
        }
    }
    Some(calls)
}

/// Reads `{"name": …, "arguments": …}`, or the same object with the member names of other formats.
fn read_json(call: &RawValue) -> Option<Call> {
    let mut call: JsonCall<'_> = serde_json::from_str(call.get()).ok()?;
    if let Some(inner) = call.function.filter(|function| function.get().starts_with('{')) {
        call = serde_json::from_str(inner.get()).ok()?;
    }
    let function = || serde_json::from_str(call.function?.get()).ok();
    let name = call.name.or_else(function)?;
    let arguments = match call.arguments.or(call.parameters).map(RawValue::get) {
        None => "{}".to_owned(),
        Some(text) if text.starts_with('"') => serde_json::from_str(text).ok()?,
        Some(text) => object(text)?,
    };
    Some((name, arguments))
}

/// Returns a JSON object as it is written.
fn object(text: &str) -> Option<String> {
    let value: &RawValue = serde_json::from_str(text).ok()?;
    value.get().starts_with('{').then(|| value.get().to_owned())
}

/// Reads `name>` followed by `<parameter=NAME>value</parameter>` or by JSON.
pub(super) fn read_tagged(body: &str) -> Option<Call> {
    let (name, rest) = body.split_once('>')?;
    let name = name.trim().trim_matches('"').to_owned();
    let rest = rest.trim();
    if rest.starts_with('{') {
        return Some((name, object(rest)?));
    }
    Some((name, read_parameters(rest, ("<parameter=", ">", "</parameter>"))?))
}

/// Reads `<invoke name="NAME">` with `<parameter name="NAME">value</parameter>`.
fn read_invoked(body: &str) -> Option<Vec<Call>> {
    let (mut calls, mut rest) = (Vec::new(), body);
    while !rest.is_empty() {
        let (name, after) = rest.strip_prefix("<invoke name=\"")?.split_once("\">")?;
        let (inner, after) = after.split_once("</invoke>")?;
        let parts = ("<parameter name=\"", "\">", "</parameter>");
        calls.push((name.to_owned(), read_parameters(inner.trim(), parts)?));
        rest = after.trim_start();
    }
    Some(calls)
}

/// Reads parameters: `begin` precedes a name, `middle` its value, and `end` follows the value.
/// Returns None if there is other text between the parameters, because that text may belong to a
/// parameter.
fn read_parameters(text: &str, (begin, middle, end): (&str, &str, &str)) -> Option<String> {
    let mut arguments: BTreeMap<&str, Box<RawValue>> = BTreeMap::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (parameter, after) = rest.strip_prefix(begin)?.split_once(middle)?;
        let (value, after) = after.split_once(end)?;
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        // The engine converts texts to numbers according to the tool's schema.
        let parsed: Option<Box<RawValue>> = serde_json::from_str(value).ok();
        let value = match parsed.filter(|value| value.get().starts_with(['{', '['])) {
            Some(value) => value,
            None => to_raw_value(value).ok()?,
        };
        if arguments.insert(parameter.trim(), value).is_some() {
            return None;
        }
        rest = after.trim_start();
    }
    serde_json::to_string(&arguments).ok()
}

/// Reads alternating names and objects, with special tokens in between.
fn read_tokens(body: &str) -> Option<Vec<Call>> {
    let (mut calls, mut rest) = (Vec::new(), without_tokens(body));
    while rest.split_whitespace().any(|word| !BESIDE.contains(&word)) {
        let (head, tail) = rest.split_at(rest.find('{')?);
        let mut words = head.split_whitespace().filter(|word| !BESIDE.contains(word));
        let name = words.next().filter(|_| words.next().is_none())?;
        let name = name.strip_prefix("to=").unwrap_or(name);
        let name = name.split_once(':').map_or(name, |(name, _)| name);
        let mut values = serde_json::Deserializer::from_str(tail).into_iter::<&RawValue>();
        let arguments = values.next()?.ok()?.get().to_owned();
        calls.push((name.to_owned(), arguments));
        rest = tail[values.byte_offset()..].to_owned();
    }
    Some(calls)
}

/// Reads `[name(parameter=value, …), …]`, as models of LFM2 and Llama 4 write it.
fn read_pythonic(body: &str) -> Option<Vec<Call>> {
    let mut rest = body.strip_prefix('[')?.strip_suffix(']')?.trim();
    let mut calls = Vec::new();
    while !rest.is_empty() {
        let (name, mut after) = rest.split_once('(')?;
        let mut arguments: BTreeMap<&str, Box<RawValue>> = BTreeMap::new();
        loop {
            after = after.trim_start_matches([',', ' ', '\n']);
            if let Some(end) = after.strip_prefix(')') {
                rest = end.trim_start_matches([',', ' ', '\n']);
                break;
            }
            let (parameter, value) = after.split_once('=')?;
            let (value, end) = read_literal(value.trim_start())?;
            if arguments.insert(parameter.trim(), value).is_some() {
                return None;
            }
            after = end;
        }
        calls.push((name.trim().to_owned(), serde_json::to_string(&arguments).ok()?));
    }
    Some(calls)
}

/// Reads one value of Python or JSON. Returns the value and the text after it.
fn read_literal(text: &str) -> Option<(Box<RawValue>, &str)> {
    if text.starts_with(['"', '[', '{']) {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
        let value = values.next()?.ok()?.to_owned();
        return Some((value, &text[values.byte_offset()..]));
    }
    if let Some(inner) = text.strip_prefix('\'') {
        let (value, after) = inner.split_once('\'').filter(|(value, _)| !value.contains('\\'))?;
        return Some((to_raw_value(value).ok()?, after));
    }
    let (word, after) = text.split_at(text.find([',', ')', ' '])?);
    let json = match word {
        "True" => "true",
        "False" => "false",
        "None" => "null",
        word => word,
    };
    Some((serde_json::from_str(json).ok()?, after))
}

/// Returns the text with each special token outside JSON texts replaced with a space.
fn without_tokens(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    let (mut is_text, mut is_escaped) = (false, false);
    while let Some(c) = rest.chars().next() {
        let token = TOKENS.iter().filter(|_| !is_text).find_map(|(begin, end)| {
            rest.strip_prefix(begin)?.split_once(end).map(|(_, after)| after)
        });
        if let Some(after) = token {
            out.push(' ');
            rest = after;
            continue;
        }
        is_text ^= c == '"' && !is_escaped;
        is_escaped = is_text && c == '\\' && !is_escaped;
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    out
}
