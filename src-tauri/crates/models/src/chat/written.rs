//! Finds tool calls that a model wrote as text at the end of its answer, as models do if the server
//! does not know their format. Only calls of offered tools are accepted; any other text stays text.
//! The module does not know the meaning of a call.

mod formats;

use formats::{read_body, read_tagged};

/// The marks that begin a written call, each with the mark that ends the call.
const MARKS: [(&str, &str); 13] = [
    ("<tool_call>", "</tool_call>"),
    ("<function_call>", "</function_call>"),
    ("<|tool_call|>", "<|/tool_call|>"),
    ("<|tool_call_start|>", "<|tool_call_end|>"),
    ("<|python_tag|>", "<|eom_id|>"),
    ("[TOOL_CALLS]", "[/TOOL_CALLS]"),
    ("<function=", "</function>"),
    ("<tools>", "</tools>"),
    ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
    ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
    ("<|channel|>commentary to=", "<|call|>"),
    ("<minimax:tool_call>", "</minimax:tool_call>"),
    ("<function_calls>", "</function_calls>"),
];
/// The beginnings of an answer that consists only of a call, ignoring white space.
const BARE: [&str; 8] = [
    "{\"name\":",
    "[{\"name\":",
    "{\"type\":\"function\",",
    "{\"function\":",
    "{\"tool\":",
    "{\"tool_calls\":",
    "{\"arguments\":",
    "{\"action\":",
];
/// The maximum number of bytes of a written call. A longer text is passed on at once.
const MAX_BYTES: usize = 64 * 1024;

/// The name and arguments of a call.
type Call = (String, String);

pub(super) struct WrittenCalls {
    tools: Vec<String>,
    /// The text after a mark, or the end of a text that may be the beginning of a mark.
    held: String,
    is_held: bool,
    /// Whether the next character is at the beginning of a line.
    at_line: bool,
    /// Whether no text of the answer was passed on yet.
    is_first: bool,
}

impl WrittenCalls {
    pub(super) fn new(tools: Vec<String>) -> Self {
        Self { tools, held: String::new(), is_held: false, at_line: true, is_first: true }
    }

    /// Reads a piece of the answer. Returns the text that is not part of a call.
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

    /// Reads the end of the answer. Returns the rest of its text, and the calls in the text. An
    /// answer with real calls has no written calls.
    pub(super) fn end(&mut self, may_call: bool) -> (String, Vec<Call>) {
        let calls = if may_call && self.is_held { self.read_calls() } else { None };
        match calls {
            Some(calls) => (String::new(), calls),
            None => (self.take_text(), Vec::new()),
        }
    }

    /// Returns the offered tool that a call refers to, if the call's name contains tokens of the
    /// model's format.
    pub(super) fn meant_tool(&self, name: String) -> String {
        if self.tools.contains(&name) {
            return name;
        }
        let end = ["<|", ":"].iter().filter_map(|mark| name.find(mark)).min();
        let bare = name[..end.unwrap_or(name.len())].trim();
        let bare = bare.strip_prefix("functions.").unwrap_or(bare);
        self.tools.iter().find(|tool| *tool == bare).cloned().unwrap_or(name)
    }

    fn release(&mut self, end: usize) -> String {
        let text: String = self.held.drain(..end).collect();
        self.is_first &= text.trim().is_empty();
        self.at_line = text.chars().next_back().map_or(self.at_line, |last| last == '\n');
        text
    }

    /// Returns the position of the first mark at the beginning of a line, and whether the mark is
    /// complete.
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
                let bare = without_fence(rest);
                let end = if bare.len() < rest.len() { "```" } else { "" };
                calls = read_body(bare.trim_end().strip_suffix(end)?.trim())?;
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
        for (name, _) in &mut calls {
            *name = self.meant_tool(std::mem::take(name));
        }
        let is_known = |call: &Call| self.tools.contains(&call.0);
        (!calls.is_empty() && calls.iter().all(is_known)).then_some(calls)
    }
}

/// Whether a text begins like a call. Returns None if it does not, and `Some(false)` if the text is
/// too short to decide.
fn begins_bare(text: &str) -> Option<bool> {
    let text = without_fence(text);
    if ["`", "``"].contains(&text) {
        return Some(false);
    }
    let start: String = text.chars().filter(|c| !c.is_whitespace()).take(20).collect();
    let begins = |mark: &&str| start.starts_with(mark) || mark.starts_with(&start);
    BARE.iter().find(|mark| begins(mark)).map(|mark| start.starts_with(mark))
}

/// Returns the text after the line that opens a code block, if the text begins with such a line.
fn without_fence(text: &str) -> &str {
    let Some(after) = text.strip_prefix("```") else { return text };
    after.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').trim_start()
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
    fn calls_of_known_tools_written_as_text_become_calls() {
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
            (
                "```json\n{\n  \"name\": \"pace\",\n  \"arguments\": {\"a\":1}\n}\n```",
                "",
                r#"{"a":1}"#,
            ),
            (
                "```\n{\"tool_calls\": [{\"name\": \"pace\", \"parameters\": {\"a\":1}}]}\n```\n",
                "",
                r#"{"a":1}"#,
            ),
            ("{\"tool\": \"pace\", \"args\": {\"a\":1}}", "", r#"{"a":1}"#),
            ("{\"function\": \"pace\", \"parameters\": {\"a\":1}}", "", r#"{"a":1}"#),
            ("{\"arguments\": {\"a\":1}, \"name\": \"functions.pace\"}", "", r#"{"a":1}"#),
            ("<tools>\n{\"name\": \"pace\", \"arguments\": {\"a\":1}}\n</tools>", "", r#"{"a":1}"#),
            (
                "<tool_call>pace\n<arg_key>a</arg_key>\n<arg_value>1.10</arg_value>\n</tool_call>",
                "",
                r#"{"a":"1.10"}"#,
            ),
            ("I look.\n<tool_call>pace\n</tool_call>", "I look.\n", "{}"),
            (
                "<|tool_call_start|>[pace(a=1.10, b='x', c=True, d=[\"y\"])]<|tool_call_end|>",
                "",
                r#"{"a":1.10,"b":"x","c":true,"d":["y"]}"#,
            ),
            (
                "<minimax:tool_call>\n<invoke name=\"pace\">\n<parameter name=\"a\">1</parameter>\n</invoke>\n</minimax:tool_call>",
                "",
                r#"{"a":"1"}"#,
            ),
            (
                "<|tool_calls_section_begin|><|tool_call_begin|>functions.pace:0<|tool_call_argument_begin|>{\"a\":1}<|tool_call_end|><|tool_calls_section_end|>",
                "",
                r#"{"a":1}"#,
            ),
            (
                "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>pace\n```json\n{\"a\":1}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
                "",
                r#"{"a":1}"#,
            ),
            (
                "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>pace<｜tool▁sep｜>{\"a\":1}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
                "",
                r#"{"a":1}"#,
            ),
            (
                "<|channel|>commentary to=functions.pace <|constrain|>json<|message|>{\"a\":1}<|call|>",
                "",
                r#"{"a":1}"#,
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
    fn several_calls_written_as_text_become_several_calls() {
        let call = |name: &str, arguments: &str| (name.to_owned(), arguments.to_owned());
        let both = [call("pace", r#"{"a":1}"#), call("cart_add", r#"{"b":2}"#)];
        for text in [
            "{\"name\":\"pace\",\"arguments\":{\"a\":1}}\n{\"name\":\"cart_add\",\"arguments\":{\"b\":2}}",
            "[{\"name\":\"pace\",\"arguments\":{\"a\":1}},{\"name\":\"cart_add\",\"arguments\":{\"b\":2}}]",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.pace:0<|tool_call_argument_begin|>{\"a\":1}<|tool_call_end|><|tool_call_begin|>functions.cart_add:1<|tool_call_argument_begin|>{\"b\":2}<|tool_call_end|>",
        ] {
            assert_eq!(read(text, 7), (String::new(), both.to_vec()), "{text}");
        }
    }

    #[test]
    fn text_that_only_resembles_a_call_stays_text() {
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
            "```json\n{\"name\": \"Anna\", \"arguments\": {}}\n```",
            "<|tool_call_start|>[pace(a='it\\'s')]<|tool_call_end|>",
            "<|tool_call_start|>[pace(a=b)]<|tool_call_end|>",
            "<|tool_call_start|>[pace(1)]<|tool_call_end|>",
            "```json\n{\"name\": \"pace\", \"arguments\": {}}\n```\nRun it so.",
            "```json\n{\"name\": \"pace\", \"arguments\": {}}",
            "``",
            "<tool_call>pace is a tool</tool_call>",
            "<tool_call>pace\n<arg_key>a</arg_key>\n</tool_call>",
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.pace:0<|tool_call_argument_begin|>{\"a\":",
            "<|channel|>commentary to=functions.pace or another<|message|>{}",
        ] {
            for len in [1, 3, 1_000] {
                assert_eq!(read(text, len), (text.to_owned(), Vec::new()), "{text}");
            }
        }
    }
}
