//! Layer 1 of the prompt: the toolkit reference, created from the manifest. The definition of a tool,
//! which goes with each request, has its purpose and arguments. The reference says only the rest: when
//! to use the tool and when not. The text is cached by a hash of the tools' definitions.

use std::{collections::HashMap, sync::Arc};

use contract::{ToolSpec, manifest::Latency};
use parking_lot::Mutex;
use serde_json::Value;

use crate::canonical::sha256_hex;

/// The most cached references.
const LISTS: usize = 64;

/// The beginning of a reference.
const HEAD: &str = "# When to use the tools";

/// Cached references by the hash of their tools.
#[derive(Default)]
pub(crate) struct Toolkits(Mutex<HashMap<String, Arc<str>>>);

impl Toolkits {
    /// Returns the reference of these tools. A changed manifest changes the hash.
    pub(crate) fn of(&self, tools: &[&ToolSpec]) -> Arc<str> {
        if tools.is_empty() {
            return Arc::from("");
        }
        let key: String = tools
            .iter()
            .map(|tool| format!("{} {}\n", tool.model_name, tool.definition_hash))
            .collect();
        let key = sha256_hex(key.as_bytes());
        let mut kept = self.0.lock();
        if kept.len() >= LISTS {
            kept.clear();
        }
        Arc::clone(kept.entry(key).or_insert_with(|| Arc::from(reference_text(tools))))
    }
}

fn reference_text(tools: &[&ToolSpec]) -> String {
    let parts: Vec<String> = tools.iter().filter_map(|tool| tool_text(tool)).collect();
    if parts.is_empty() { String::new() } else { format!("{HEAD}{}", parts.concat()) }
}

/// Returns the section of a tool, or none if the tool's definition says everything.
fn tool_text(tool: &ToolSpec) -> Option<String> {
    let mut text = String::new();
    if tool.latency == Latency::Slow {
        text.push_str("\nIt is slow and works on live data: when in doubt, do not call it.");
    }
    if let Some(output) = tool.output_schema.get("description").and_then(Value::as_str) {
        text.push_str(&format!("\nOutput: {output}"));
    }
    for (head, cases) in
        [("Use when:", &tool.use_when), ("Do not use when:", &tool.do_not_use_when)]
    {
        if !cases.is_empty() {
            text.push_str(&format!("\n{head}"));
            cases.iter().for_each(|case| text.push_str(&format!("\n- {case}")));
        }
    }
    (!text.is_empty()).then(|| format!("\n\n## {}{text}", tool.model_name))
}
