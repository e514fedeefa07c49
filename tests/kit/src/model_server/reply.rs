//! A prepared answer of the model server: its contents, its pieces, and its planned errors.

use std::path::Path;

use serde_json::{Value, json};

/// How the bytes of a reply are cut into chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Chunking {
    /// One chunk for each event, as most servers do.
    #[default]
    PerEvent,
    /// All bytes at once.
    Whole,
    /// A chunk every `n` bytes, even inside a character.
    EveryBytes(usize),
    /// A cut inside every multi-byte character.
    InsideUtf8,
    /// Lines end in CRLF, with a cut between CR and LF.
    InsideCrlf,
}

/// A piece of a reply on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Bytes(Vec<u8>),
    /// A pause in milliseconds.
    Wait(u64),
    Hang,
    Cut,
}

/// A prepared reply, built piece by piece in the order of sending.
#[derive(Clone, Debug)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    parts: Vec<Part>,
    chunking: Chunking,
    /// The last chunk, the usage and the end mark of a streamed answer, if they are still to be
    /// added.
    ending: Option<Ending>,
    calls: u32,
    when: Option<String>,
    repeat: bool,
}

#[derive(Clone, Debug)]
struct Ending {
    finish: &'static str,
    usage: (u64, u64),
}

impl Reply {
    /// Creates an empty streamed answer, which [`say`](Self::say), [`ask`](Self::ask) and other
    /// methods fill.
    pub fn new() -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            parts: Vec::new(),
            chunking: Chunking::default(),
            ending: Some(Ending { finish: "stop", usage: (11, 7) }),
            calls: 0,
            when: None,
            repeat: false,
        }
    }

    /// Creates a streamed text with the given deltas.
    pub fn text<S: AsRef<str>>(deltas: impl IntoIterator<Item = S>) -> Self {
        deltas.into_iter().fold(Self::new(), |reply, delta| reply.say(delta.as_ref()))
    }

    /// Creates a decision as a call of the tool `route`: a specialist's id, or `FINISH`.
    pub fn route(next: &str) -> Self {
        let decision = serde_json::json!({ "next": next, "instruction": "", "reason_code": if next == "FINISH" { "answered" } else { "in_field" }, "entities": [] });
        Self::call("route", decision)
    }

    /// Creates one tool call.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::new().ask(name, &arguments)
    }

    /// Sends exactly these bytes as an event stream, without an added end mark.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        let mut reply = Self::new();
        reply.parts.push(Part::Bytes(bytes.into()));
        reply.ending = None;
        reply
    }

    /// Creates a refusal with a JSON error body.
    pub fn refusal(status: u16, error: &Value) -> Self {
        Self::json(status, &json!({"error": error}))
    }

    /// Creates a JSON body that is not a stream.
    pub fn json(status: u16, body: &Value) -> Self {
        Self { status, ..Self::raw(body.to_string()).header("content-type", "application/json") }
    }

    /// Sends exactly these events, in their wire's framing, without an added end mark.
    pub fn events(events: &[Value]) -> Self {
        let mut reply = Self::new();
        reply.ending = None;
        for event in events {
            reply = reply.event(event);
        }
        reply
    }

    /// Reads a recording: `.chunks.txt` has one JSON event per line, other files are sent as they
    /// are. Panics if the file cannot be read.
    pub fn recording(path: &Path) -> Self {
        Self::recordings(path).into_iter().next().unwrap_or_default()
    }

    /// Reads all answers of a recording, which may contain several. Panics if the file cannot be
    /// read.
    pub fn recordings(path: &Path) -> Vec<Self> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) => panic!("the recording {} cannot be read: {error}", path.display()),
        };
        if !path.to_string_lossy().ends_with(".chunks.txt") {
            return vec![Self::raw(bytes)];
        }
        let mut replies: Vec<Self> = Vec::new();
        let (mut chat, mut over) = (false, true);
        for line in String::from_utf8_lossy(&bytes).lines().filter(|line| !line.trim().is_empty()) {
            let event: Value = serde_json::from_str(line).unwrap_or_default();
            chat = event.get("choices").is_some();
            // The answer is complete after its end mark, if its wire has one.
            let open = if over { None } else { replies.pop() };
            over = event
                .get("type")
                .is_some_and(|kind| kind == "message_stop" || kind == "response.completed");
            let reply = open.unwrap_or_else(|| Self::raw(""));
            replies.push(match event.get("type").and_then(Value::as_str) {
                Some(kind) => reply.bytes(format!("event: {kind}\ndata: {line}\n\n")),
                None => reply.data(line),
            });
        }
        if chat { replies.into_iter().map(|reply| reply.data("[DONE]")).collect() } else { replies }
    }

    /// Adds a delta of text.
    #[must_use]
    pub fn say(self, delta: &str) -> Self {
        self.delta(&json!({"content": delta}))
    }

    /// Adds a delta of reasoning.
    #[must_use]
    pub fn think(self, delta: &str) -> Self {
        self.delta(&json!({"reasoning_content": delta}))
    }

    /// Adds a tool call, with its arguments split over two deltas.
    #[must_use]
    pub fn ask(mut self, name: &str, arguments: &Value) -> Self {
        let index = self.calls;
        self.calls += 1;
        if let Some(ending) = &mut self.ending {
            ending.finish = "tool_calls";
        }
        let text = arguments.to_string();
        let half = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let (first, second) = text.split_at(half);
        self.delta(
            &json!({"tool_calls": [{"index": index, "id": format!("wire_{index}"), "type": "function", "function": {"name": name, "arguments": first}}]}),
        )
        .delta(&json!({"tool_calls": [{"index": index, "function": {"arguments": second}}]}))
    }

    /// Adds a chunk with this delta.
    #[must_use]
    pub fn delta(self, delta: &Value) -> Self {
        self.data(&json!({"id": "scripted", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}).to_string())
    }

    /// Adds an event in its wire's framing: named after its type, if it has one.
    #[must_use]
    pub fn event(self, event: &Value) -> Self {
        match event.get("type").and_then(Value::as_str) {
            Some(kind) => self.bytes(format!("event: {kind}\ndata: {event}\n\n")),
            None => self.data(&event.to_string()),
        }
    }

    /// Adds an event with this data.
    #[must_use]
    pub fn data(self, data: &str) -> Self {
        self.bytes(format!("data: {data}\n\n"))
    }

    /// Adds these bytes between the events.
    #[must_use]
    pub fn bytes(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.parts.push(Part::Bytes(bytes.into()));
        self
    }

    /// Adds a comment, as servers send to keep a connection open.
    #[must_use]
    pub fn keepalive(self) -> Self {
        self.bytes(": keepalive\n\n")
    }

    /// Adds a pause.
    #[must_use]
    pub fn wait_ms(mut self, ms: u64) -> Self {
        self.parts.push(Part::Wait(ms));
        self
    }

    /// Sends nothing more, and leaves the connection open.
    #[must_use]
    pub fn hang(mut self) -> Self {
        self.parts.push(Part::Hang);
        self.ending = None;
        self
    }

    /// Breaks the connection here.
    #[must_use]
    pub fn cut(mut self) -> Self {
        self.parts.push(Part::Cut);
        self.ending = None;
        self
    }

    /// Sets the token counts reported at the end.
    #[must_use]
    pub fn usage(mut self, input: u64, output: u64) -> Self {
        if let Some(ending) = &mut self.ending {
            ending.usage = (input, output);
        }
        self
    }

    /// Adds a response header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets how the bytes are cut.
    #[must_use]
    pub fn chunked(mut self, chunking: Chunking) -> Self {
        self.chunking = chunking;
        self
    }

    /// Uses this reply only if this text is in the last message of the conversation, or in the last
    /// message that is not an instruction of the host.
    #[must_use]
    pub fn when(mut self, text: &str) -> Self {
        self.when = Some(text.to_owned());
        self
    }

    /// Uses this reply any number of times instead of once.
    #[must_use]
    pub fn repeated(mut self) -> Self {
        self.repeat = true;
        self
    }

    pub(super) fn status(&self) -> u16 {
        self.status
    }

    pub(super) fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    pub(super) fn repeats(&self) -> bool {
        self.repeat
    }

    pub(super) fn fits(&self, last: &Value) -> bool {
        let Some(wanted) = &self.when else { return true };
        match last.get("content") {
            Some(Value::String(text)) => text.contains(wanted),
            Some(_) | None => last.to_string().contains(wanted),
        }
    }

    /// Returns the reply's events that are JSON.
    pub(super) fn json_events(&self) -> Vec<Value> {
        let bytes: Vec<u8> = self
            .parts
            .iter()
            .flat_map(|part| if let Part::Bytes(bytes) = part { bytes.as_slice() } else { &[] })
            .copied()
            .collect();
        let text = String::from_utf8_lossy(&bytes);
        text.lines()
            .filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?.trim()).ok())
            .collect()
    }

    /// Converts a streamed chat answer into one JSON object, which is sent after all waits of the
    /// stream. If the answer is cut, the object breaks off in the middle.
    pub(super) fn whole(&self) -> Self {
        if self.status != 200
            || self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"))
        {
            return self.clone();
        }
        let mut parts: Vec<Part> =
            self.parts.iter().filter(|part| matches!(part, Part::Wait(_))).cloned().collect();
        let text = completion(&self.json_events(), self.ending.as_ref()).to_string().into_bytes();
        match self.parts.iter().find(|part| matches!(part, Part::Hang | Part::Cut)) {
            Some(Part::Cut) => {
                parts.extend([Part::Bytes(text[..text.len() / 2].to_vec()), Part::Cut])
            }
            Some(other) => parts.push(other.clone()),
            None => parts.push(Part::Bytes(text)),
        }
        let headers = self
            .headers
            .iter()
            .cloned()
            .chain([("content-type".to_owned(), "application/json".to_owned())])
            .collect();
        Self { headers, parts, ending: None, chunking: Chunking::PerEvent, ..self.clone() }
    }

    /// Returns the pieces on the wire, cut as requested.
    pub(super) fn parts(&self) -> Vec<Part> {
        let mut parts = self.parts.clone();
        if let Some(Ending { finish, usage: (input, output) }) = &self.ending {
            let last = json!({"id": "scripted", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]});
            let usage = json!({"id": "scripted", "choices": [], "usage": {"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output}});
            for data in [last.to_string(), usage.to_string(), "[DONE]".to_owned()] {
                parts.push(Part::Bytes(format!("data: {data}\n\n").into_bytes()));
            }
        }
        match self.chunking {
            Chunking::PerEvent => parts,
            Chunking::Whole => recut(parts, |bytes| vec![bytes]),
            Chunking::EveryBytes(n) => {
                recut(parts, |bytes| bytes.chunks(n.max(1)).map(<[u8]>::to_vec).collect())
            }
            Chunking::InsideUtf8 => recut(parts, |bytes| {
                cut_before(&bytes, |byte, _| byte & 0b1100_0000 == 0b1000_0000)
            }),
            Chunking::InsideCrlf => recut(parts, |bytes| {
                cut_before(&with_crlf(&bytes), |byte, before| byte == b'\n' && before == b'\r')
            }),
        }
    }
}

impl Default for Reply {
    fn default() -> Self {
        Self::new()
    }
}

/// Assembles the chunks into one object.
fn completion(chunks: &[Value], ending: Option<&Ending>) -> Value {
    let (mut text, mut calls, mut finish, mut usage) =
        (String::new(), Vec::<Value>::new(), json!("stop"), json!({}));
    for chunk in chunks {
        if chunk["usage"].is_object() {
            usage = chunk["usage"].clone();
        }
        let choice = &chunk["choices"][0];
        if choice["finish_reason"].is_string() {
            finish = choice["finish_reason"].clone();
        }
        text.push_str(choice["delta"]["content"].as_str().unwrap_or_default());
        for part in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let at = part["index"]
                .as_u64()
                .and_then(|index| usize::try_from(index).ok())
                .unwrap_or(calls.len());
            if at >= calls.len() {
                calls.push(json!({"id": part["id"], "type": "function", "function": {"name": part["function"]["name"], "arguments": ""}}));
            }
            if let Some(call) = calls.last_mut() {
                let arguments = format!(
                    "{}{}",
                    call["function"]["arguments"].as_str().unwrap_or_default(),
                    part["function"]["arguments"].as_str().unwrap_or_default()
                );
                call["function"]["arguments"] = json!(arguments);
            }
        }
    }
    if let Some(Ending { finish: said, usage: (input, output) }) = ending {
        (finish, usage) = (
            json!(said),
            json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output}),
        );
    }
    let mut message = json!({"role": "assistant", "content": if text.is_empty() && !calls.is_empty() { Value::Null } else { json!(text) }});
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    json!({"id": "scripted", "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage})
}

/// Joins adjacent bytes and cuts them again; waits and breaks keep their places.
fn recut(parts: Vec<Part>, cut: impl Fn(Vec<u8>) -> Vec<Vec<u8>>) -> Vec<Part> {
    let mut joined: Vec<Part> = Vec::new();
    for part in parts {
        match (joined.last_mut(), part) {
            (Some(Part::Bytes(before)), Part::Bytes(bytes)) => before.extend(bytes),
            (_, part) => joined.push(part),
        }
    }
    let cut_one = |part| match part {
        Part::Bytes(bytes) => cut(bytes).into_iter().map(Part::Bytes).collect(),
        other => vec![other],
    };
    joined.into_iter().flat_map(cut_one).collect()
}

fn cut_before(bytes: &[u8], here: impl Fn(u8, u8) -> bool) -> Vec<Vec<u8>> {
    let mut chunks = vec![Vec::new()];
    let mut before = 0;
    for byte in bytes.iter().copied() {
        if here(byte, before) {
            chunks.push(Vec::new());
        }
        if let Some(chunk) = chunks.last_mut() {
            chunk.push(byte);
        }
        before = byte;
    }
    chunks.retain(|chunk| !chunk.is_empty());
    chunks
}

fn with_crlf(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 16);
    let mut before = 0;
    for byte in bytes.iter().copied() {
        if byte == b'\n' && before != b'\r' {
            out.push(b'\r');
        }
        out.push(byte);
        before = byte;
    }
    out
}
