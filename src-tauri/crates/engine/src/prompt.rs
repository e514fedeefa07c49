//! The system message of a turn, in the fixed order: base, policy, date and time. Each part is capped.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use contract::{PolicyMode, ToolSpec};

use crate::ports::{Message, ToolDef};

const BASE: &str = include_str!("../prompts/base.md");

/// The system message.
pub fn system(mode: PolicyMode, now: DateTime<Utc>, zone: &str) -> Message {
    let local = zone
        .parse::<Tz>()
        .map_or_else(|_| now.format("%Y-%m-%d %H:%M UTC").to_string(), |tz| now.with_timezone(&tz).format("%A %Y-%m-%d %H:%M %:z").to_string());
    let policy = match mode {
        PolicyMode::ReadOnlyOnly => "Only reading is allowed now. Do not offer to change anything.",
        PolicyMode::WritesRequireApproval => "Every change waits for the user's approval in a window of its own. Call the tool; do not ask in text first.",
        PolicyMode::WritesAllowed => "Changes run without asking, except destructive ones. Say what was changed.",
    };
    Message::System { text: format!("{}\n\n{policy}\n\nThe user's local time is {local} ({zone}).", BASE.trim_end()) }
}

/// The tools as a model sees them.
pub fn tool_defs(specs: &[ToolSpec]) -> Vec<ToolDef> {
    specs.iter().map(|spec| ToolDef { name: spec.model_name.clone(), description: describe(spec), parameters: spec.input_schema.clone() }).collect()
}

fn describe(spec: &ToolSpec) -> String {
    let mut text = spec.description.clone();
    for (head, list) in [("Use when: ", &spec.use_when), ("Do not use when: ", &spec.do_not_use_when)] {
        if !list.is_empty() {
            text.push('\n');
            text.push_str(head);
            text.push_str(&list.join("; "));
        }
    }
    text
}
