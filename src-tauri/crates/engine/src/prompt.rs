//! The system message of a turn, in the fixed order: base, policy, date and time. Each part is capped.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use contract::{PolicyMode, RedactionLevel, ToolSpec};

use crate::{egress::Words, ports::ToolDef};

const BASE: &str = include_str!("../prompts/base.md");

/// Told when values may have been replaced.
const PLACEHOLDERS: &str = include_str!("../prompts/placeholders.md");

/// The text of the system message.
pub(crate) fn system(mode: PolicyMode, now: DateTime<Utc>, zone: &str, redaction: RedactionLevel) -> String {
    let local = zone
        .parse::<Tz>()
        .map_or_else(|_| now.format("%Y-%m-%d %H:%M UTC").to_string(), |tz| now.with_timezone(&tz).format("%A %Y-%m-%d %H:%M %:z").to_string());
    let policy = match mode {
        PolicyMode::ReadOnlyOnly => "Only reading is allowed now. Do not offer to change anything.",
        PolicyMode::WritesRequireApproval => "Every change waits for the user's approval in a window of its own. Call the tool; do not ask in text first.",
        PolicyMode::WritesAllowed => "Changes run without asking, except destructive ones. Say what was changed.",
    };
    let placeholders = if redaction == RedactionLevel::None { String::new() } else { format!("{}\n\n", PLACEHOLDERS.trim_end()) };
    format!("{}\n\n{policy}\n\n{placeholders}The user's local time is {local} ({zone}).", BASE.trim_end())
}

/// The tools as a model sees them.
pub(crate) fn tool_defs(specs: &[ToolSpec], words: &Words) -> Vec<ToolDef> {
    let def = |spec: &ToolSpec| ToolDef {
        name: words.name(&spec.model_name),
        description: words.name(&describe(spec)),
        parameters: words.definition(&spec.input_schema),
    };
    specs.iter().map(def).collect()
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
