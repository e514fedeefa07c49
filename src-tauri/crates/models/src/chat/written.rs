//! Finds tool calls that a model wrote as text at the end of its answer, as models do whose server
//! does not know their format. Only calls of offered tools count; anything else stays text. It does
//! not know what a call means.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};

/// The beginnings of written calls, with the mark that ends one.
const MARKS: [(&str, &str); 7] = [
    ("<tool_call>", "</tool_call>"),
    ("<function_call>", "</function_call>"),
    ("<|tool_call|>", "<|/tool_call|>"),
    ("<|tool_call_start|>", "<|tool_call_end|>"),
    ("<|python_tag|>", "<|eom_id|>"),
    ("[TOOL_CALLS]", "[/TOOL_CALLS]"),
    ("<function=", "</function>"),
];
/// The beginnings of an answer that is nothing but a call, without white space.
const BARE: [&str; 3] = ["{\"name\":", "[{\"name\":", "{\"type\":\"function\","];
/// More text than any written call has. Longer text is shown as it comes.
const MAX_BYTES: usize = 64 * 1024;

/// Name and arguments of a call.
type Call = (String, String);

pub(super) struct WrittenCalls {
    tools: Vec<String>,
    /// The text from the mark on, or the end of a text that may be the beginning of one.
    held: String,
    is_held: bool,
    /// Whether the next character begins a line.
    at_line: bool,
    /// Whether no word of the answer was passed on.
    is_first: bool,
}

impl WrittenCalls {
    pub(super) fn new(tools: Vec<String>) -> Self {
        Self { tools, held: String::new(), is_held: false, at_line: true, is_first: true }
    }

    /// Takes a piece of the answer. Returns the text that is no call.
    pub(super) fn push(&mut self, piece: &str) -> String {
        if self.tools.is_empty() {
            return piece.to_owned();
        }
        self.held.push_str(piece);
        if self.held.len() > MAX_BYTES {
            return self.take_text();
        }
        if self.is_held {
            return String::new();
        }
        match self.find_mark() {
            Some((at, is_whole)) => {
                self.is_held = is_whole;
                self.release(at)
            }
            None => self.release(self.held.len()),
        }
    }

    /// Returns everything that is held back as text.
    pub(super) fn take_text(&mut self) -> String {
        self.is_held = false;
        self.release(self.held.len())
    }

    /// Ends the answer. Returns the rest of its text, and the calls in it. An answer with real calls has
    /// no written ones.
    pub(super) fn end(&mut self, may_call: bool) -> (String, Vec<Call>) {
        let calls = if may_call && self.is_held { self.read_calls() } else { None };
        match calls {
            Some(calls) => (String::new(), calls),
            None => (self.take_text(), Vec::new()),
        }
    }

    fn release(&mut self, end: usize) -> String {
        let text: String = self.held.drain(..end).collect();
        self.is_first &= text.trim().is_empty();
        self.at_line = text.chars().next_back().map_or(self.at_line, |last| last == '\n');
        text
    }

    /// Returns the place of the first mark at the beginning of a line, and whether it is whole.
    fn find_mark(&self) -> Option<(usize, bool)> {
        let starts = std::iter::once(0)
            .filter(|_| self.at_line)
            .chain(self.held.match_indices('\n').map(|(at, _)| at + 1));
        starts
            .filter_map(|at| {
                let line = self.held[at..].trim_start_matches([' ', '\t']);
                let begins = |mark: &str| line.starts_with(mark) || mark.starts_with(line);
                match MARKS.iter().find(|(mark, _)| begins(mark)) {
                    Some((mark, _)) => Some((at, line.starts_with(mark))),
                    None if self.is_first && at == 0 => Some((at, begins_bare(line)?)),
                    None => None,
                }
            })
            .next()
    }

    fn read_calls(&self) -> Option<Vec<Call>> {
        let mut rest = self.held.trim();
        let mut calls = Vec::new();
        while !rest.is_empty() {
            if calls.is_empty() && begins_bare(rest) == Some(true) {
                calls = read_body(rest)?;
                break;
            }
            let (mark, close) = MARKS.iter().find(|(mark, _)| rest.starts_with(mark))?;
            let body = &rest[mark.len()..];
            let is_tagged = *mark == "<function=";
            let (body, after) = match body.split_once(close) {
                None if is_tagged => return None,
                parts => parts.unwrap_or((body, "")),
            };
            if is_tagged {
                calls.push(read_tagged(body)?);
            } else {
                calls.extend(read_body(body.trim())?);
            }
            rest = after.trim();
        }
        let is_known = |call: &Call| self.tools.contains(&call.0);
        (!calls.is_empty() && calls.iter().all(is_known)).then_some(calls)
    }
}

/// Whether a text begins as a call does, or None if it does not. It is `Some(false)` if it is too short to tell.
fn begins_bare(text: &str) -> Option<bool> {
    let start: String = text.chars().filter(|c| !c.is_whitespace()).take(20).collect();
    let begins = |mark: &&str| start.starts_with(mark) || mark.starts_with(&start);
    BARE.iter().find(|mark| begins(mark)).map(|mark| start.starts_with(mark))
}

/// Reads what is between two marks: JSON, a tagged function, or a name before its arguments.
fn read_body(body: &str) -> Option<Vec<Call>> {
    if let Some(tagged) = body.strip_prefix("<function=") {
        let (body, after) = tagged.split_once("</function>")?;
        return after.trim().is_empty().then(|| read_tagged(body).map(|call| vec![call]))?;
    }
    if !body.starts_with(['{', '[']) {
        let (name, arguments) = body.split_at(body.find(['{', '['])?);
        let arguments = arguments.strip_prefix("[ARGS]").unwrap_or(arguments);
        return Some(vec![(name.trim().to_owned(), object(arguments)?)]);
    }
    if body.starts_with('[') {
        let list: Vec<&RawValue> = serde_json::from_str(body).ok()?;
        return list.into_iter().map(read_json).collect();
    }
    Some(vec![read_json(serde_json::from_str(body).ok()?)?])
}

/// A call as JSON, with the words of all formats. Arguments stay as they are written.
#[derive(Default, Deserialize)]
struct JsonCall<'a> {
    #[serde(default)]
    name: Option<String>,
    /// The name, or an object with name and arguments.
    #[serde(borrow, default)]
    function: Option<&'a RawValue>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    parameters: Option<&'a RawValue>,
}

/// Reads `{"name": …, "arguments": …}`, also with the words of other formats.
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

/// Reads `name>` with `<parameter=NAME>value</parameter>`, or with JSON. Other text between the
/// parameters may be a part of them, so there is no call.
fn read_tagged(body: &str) -> Option<Call> {
    let (name, rest) = body.split_once('>')?;
    let name = name.trim().trim_matches('"').to_owned();
    let mut rest = rest.trim();
    if rest.starts_with('{') {
        return Some((name, object(rest)?));
    }
    let mut arguments: BTreeMap<&str, Box<RawValue>> = BTreeMap::new();
    while !rest.is_empty() {
        let (parameter, after) = rest.strip_prefix("<parameter=")?.split_once('>')?;
        let (value, after) = after.split_once("</parameter>")?;
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        // The tool's schema makes numbers of texts.
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
    Some((name, serde_json::to_string(&arguments).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, len: usize) -> (String, Vec<Call>) {
        let mut written = WrittenCalls::new(vec!["pace".to_owned(), "cart_add".to_owned()]);
        let letters: Vec<char> = text.chars().collect();
        let mut shown: String = letters
            .chunks(len)
            .map(|piece| written.push(&piece.iter().collect::<String>()))
            .collect();
        let (rest, calls) = written.end(true);
        shown.push_str(&rest);
        (shown, calls)
    }

    #[test]
    fn written_calls_of_known_tools_are_calls() {
        let table = [
            (
                "<tool_call>\n{\"name\": \"pace\", \"arguments\": {\"a\":1}}\n</tool_call>",
                "",
                r#"{"a":1}"#,
            ),
            (
                "I look.\n<tool_call>{\"name\":\"pace\",\"arguments\":{\"a\":1}}</tool_call>\n",
                "I look.\n",
                r#"{"a":1}"#,
            ),
            ("<tool_call>{\"name\":\"pace\",\"arguments\":\"{\\\"a\\\":1}\"}", "", r#"{"a":1}"#),
            ("[TOOL_CALLS][{\"name\":\"pace\",\"arguments\":{\"a\":1}}]", "", r#"{"a":1}"#),
            ("{\n \"name\": \"pace\", \"parameters\": {\"a\": 1.10}}", "", r#"{"a": 1.10}"#),
            (
                "<function=pace>\n<parameter=a>[1.10]</parameter>\n</function>",
                "",
                r#"{"a":[1.10]}"#,
            ),
            ("[TOOL_CALLS]pace[ARGS]{\"a\":1}", "", r#"{"a":1}"#),
            ("<|python_tag|>{\"name\":\"pace\",\"parameters\":{\"a\":1}}", "", r#"{"a":1}"#),
            ("<function=pace>{\"a\":1}</function>", "", r#"{"a":1}"#),
            (
                "<tool_call>\n<function=pace>\n<parameter=a>\n1.10\n</parameter>\n</function>\n</tool_call>",
                "",
                r#"{"a":"1.10"}"#,
            ),
        ];
        for (text, shown, arguments) in table {
            for len in [1, 3, 1_000] {
                let expected = (shown.to_owned(), vec![("pace".to_owned(), arguments.to_owned())]);
                assert_eq!(read(text, len), expected, "{text} in pieces of {len}");
            }
        }
    }

    #[test]
    fn anything_else_stays_text() {
        for text in [
            "<tool_call>{\"name\":\"unknown\",\"arguments\":{}}</tool_call>",
            "<tool_call>{\"name\":\"pace\"</tool_call>",
            "<tool_call>{\"name\":\"pace\",\"arguments\":{}}</tool_call>\nThis was an example.",
            "Write `<tool_call>{\"name\":\"pace\"}</tool_call>`.",
            "{\"name\": \"pace\", \"age\": 3} is what you want.",
            "{\"name\": \"Anna\"}",
            "<toolbox>\n[TOOL\n<",
            "a\n<tool_call>\n",
            "<function=pace>\n<parameter=a>\n1\n</parameter>\n",
            "<function=pace>\n<parameter=a>1</parameter>\n<parameter=b>2\n</function>",
            "<function=pace>\nb = 2\n<parameter=a>1</parameter>\n</function>",
            "<function=pace>\n<parameter=a>1</parameter>\n<parameter=a>2</parameter>\n</function>",
            "<tool_call><function=pace>\n</function>\nb</tool_call>",
        ] {
            for len in [1, 3, 1_000] {
                assert_eq!(read(text, len), (text.to_owned(), Vec::new()), "{text}");
            }
        }
    }
}
