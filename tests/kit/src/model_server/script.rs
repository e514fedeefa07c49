//! Replies as a JSON file, for the stand-alone program that journeys and manual tests use.
//!
//! ```json
//! {"replies": [
//!   {"when": "cart", "calls": [{"name": "cart_add", "arguments": {"quantity": 2}}], "repeat": true},
//!   {"text": ["Hello ", "there."], "delay_ms": 20},
//!   {"status": 429, "headers": {"retry-after": "1"}},
//!   {"text": ["half an ans"], "cut": true}
//! ]}
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use super::reply::{Chunking, Reply};

/// Why a script cannot be used.
#[derive(Debug)]
pub enum ScriptError {
    Unreadable(std::io::Error),
    Wrong(serde_json::Error),
}

impl std::fmt::Display for ScriptError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreadable(error) => write!(f, "the script cannot be read: {error}"),
            Self::Wrong(error) => write!(f, "the script is wrong: {error}"),
        }
    }
}

impl std::error::Error for ScriptError {}

/// A script file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    replies: Vec<Line>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Line {
    when: Option<String>,
    repeat: bool,
    status: Option<u16>,
    headers: BTreeMap<String, String>,
    reasoning: Vec<String>,
    text: Vec<String>,
    calls: Vec<Call>,
    usage: Option<(u64, u64)>,
    /// Milliseconds before every delta.
    delay_ms: u64,
    keepalives: u32,
    hang: bool,
    cut: bool,
    /// The path of a recording, relative to the script.
    recording: Option<PathBuf>,
    every_bytes: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    name: String,
    #[serde(default)]
    arguments: Value,
}

impl Script {
    /// Reads a script file and creates its replies.
    pub fn read(path: &Path) -> Result<Vec<Reply>, ScriptError> {
        let text = std::fs::read_to_string(path).map_err(ScriptError::Unreadable)?;
        let script: Self = serde_json::from_str(&text).map_err(ScriptError::Wrong)?;
        let folder = path.parent().unwrap_or(Path::new("."));
        Ok(script.replies.into_iter().map(|line| line.reply(folder)).collect())
    }
}

impl Line {
    fn reply(self, folder: &Path) -> Reply {
        let mut reply = match (&self.recording, self.status) {
            (Some(file), _) => Reply::recording(&folder.join(file)),
            (None, Some(status)) if status != 200 => {
                Reply::refusal(status, &json!({"message": "scripted refusal"}))
            }
            (None, _) => self.answer(),
        };
        for (name, value) in &self.headers {
            reply = reply.header(name, value);
        }
        if let Some(n) = self.every_bytes {
            reply = reply.chunked(Chunking::EveryBytes(n));
        }
        if let Some(when) = &self.when {
            reply = reply.when(when);
        }
        if self.repeat { reply.repeated() } else { reply }
    }

    fn answer(&self) -> Reply {
        let pause =
            |reply: Reply| if self.delay_ms > 0 { reply.wait_ms(self.delay_ms) } else { reply };
        let mut reply =
            (0..self.keepalives).fold(Reply::new(), |reply, _| pause(reply.keepalive()));
        if let Some((input, output)) = self.usage {
            reply = reply.usage(input, output);
        }
        for delta in &self.reasoning {
            reply = pause(reply).think(delta);
        }
        for delta in &self.text {
            reply = pause(reply).say(delta);
        }
        for call in &self.calls {
            let arguments =
                if call.arguments.is_null() { json!({}) } else { call.arguments.clone() };
            reply = pause(reply).ask(&call.name, &arguments);
        }
        match (self.hang, self.cut) {
            (true, _) => reply.hang(),
            (false, true) => reply.cut(),
            (false, false) => reply,
        }
    }
}
