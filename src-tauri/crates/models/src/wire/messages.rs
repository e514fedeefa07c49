//! Handling of messages that several wires share: leading instructions, parts by role, descriptions
//! of tools.

use engine::ports::{Message, ToolDef};
use serde_json::{Value, json};

/// Returns the instructions at the beginning as one text, and the messages after them.
pub(crate) fn split_system(messages: &[Message]) -> (String, &[Message]) {
    let texts = leading_instructions(messages);
    (texts.join("\n\n"), &messages[texts.len()..])
}

/// Returns the instructions directly after a result as one text, if there are any.
pub(crate) fn instructions_after(after: &[Message]) -> Option<String> {
    let texts = leading_instructions(after);
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

fn leading_instructions(messages: &[Message]) -> Vec<&str> {
    messages
        .iter()
        .map_while(
            |message| {
                if let Message::System { text } = message { Some(text.as_str()) } else { None }
            },
        )
        .collect()
}

/// The parts of messages, for wires on which roles alternate. Consecutive parts of one role become
/// one message.
#[derive(Default)]
pub(crate) struct Turns(Vec<(&'static str, Vec<Value>)>);

impl Turns {
    pub(crate) fn push(&mut self, role: &'static str, part: Value) {
        match self.0.last_mut() {
            Some((last, parts)) if *last == role => parts.push(part),
            Some(_) | None => self.0.push((role, vec![part])),
        }
    }

    /// Returns the messages, each with its parts under `member`.
    pub(crate) fn into_messages(self, member: &str) -> Vec<Value> {
        self.0.into_iter().map(|(role, parts)| json!({"role": role, member: parts})).collect()
    }
}

/// Returns a tool's name and description, with its schema under `member`.
pub(crate) fn describe_tool(tool: &ToolDef, member: &str) -> Value {
    json!({"name": tool.name, "description": tool.description, member: tool.parameters})
}
