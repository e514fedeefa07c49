//! Leaves out what a model has no use for: lines of execution instructions that name members which the
//! result does not have, and lines that the model has read before.

use std::collections::HashSet;

use contract::{AgentId, ToolId, ToolSpec};
use serde_json::Value;

/// The longest text of a result that a line may name, such as a status or a flag.
const LONGEST: usize = 60;
/// The members of schemas whose values are data, which a line may name.
const VALUES: [&str; 2] = ["enum", "const"];

/// The names that a line may mention: members and short texts of the result, the arguments of the tool,
/// and tools.
pub(crate) struct Names(HashSet<String>);

impl Names {
    /// Returns the names for a result.
    pub(crate) fn of(result: &Value, spec: &ToolSpec, tools: &[ToolSpec]) -> Self {
        let mut names = HashSet::new();
        add_members(result, &mut names);
        add_arguments(&spec.input_schema, &mut names);
        let ids = tools.iter().flat_map(|tool| [tool.id.as_str(), tool.model_name.as_str()]);
        names.extend(ids.map(str::to_owned));
        Self(names)
    }

    /// Whether all members that a text has between backticks are known. Other code is ignored.
    fn are_in(&self, text: &str) -> bool {
        text.split('`').skip(1).step_by(2).all(|code| self.has(code))
    }

    fn has(&self, code: &str) -> bool {
        if self.0.contains(code) {
            return true;
        }
        let path = code.split(':').next().unwrap_or(code).trim();
        let is_path = path.starts_with(|c: char| c.is_ascii_lowercase())
            && path.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        !is_path || path.split('.').all(|part| self.0.contains(part))
    }
}

fn add_members(value: &Value, names: &mut HashSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                names.insert(name.clone());
                add_members(member, names);
            }
        }
        Value::Array(list) => list.iter().for_each(|one| add_members(one, names)),
        Value::String(text) if text.len() <= LONGEST => {
            names.insert(text.clone());
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn add_arguments(schema: &Value, names: &mut HashSet<String>) {
    match schema {
        Value::Object(members) => {
            for (name, part) in members {
                match part {
                    Value::Object(fields) if name == "properties" => {
                        names.extend(fields.keys().cloned());
                    }
                    _ if VALUES.contains(&name.as_str()) => add_members(part, names),
                    _ => {}
                }
                add_arguments(part, names);
            }
        }
        Value::Array(list) => list.iter().for_each(|part| add_arguments(part, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The execution instructions that a model has read in a turn.
#[derive(Default)]
pub(crate) struct Told {
    /// The tools with instructions, for each specialist.
    pub(crate) tools: HashSet<(Option<AgentId>, ToolId)>,
    /// The lines of the specialist that works now. Tools of a pack share a file.
    pub(crate) lines: HashSet<String>,
}

/// Returns the instructions with those lines that name known members only, and were not told before.
/// `fill` puts values into a line.
pub(crate) fn fitting(
    text: &str,
    names: Option<&Names>,
    told: &mut Told,
    fill: impl Fn(&str) -> String,
) -> String {
    let fits = |block: &String| names.is_none_or(|names| is_code(block) || names.are_in(block));
    let mut kept: Vec<String> = Vec::new();
    let mut headings: Vec<String> = Vec::new();
    for block in blocks(text).into_iter().filter(fits).map(|block| fill(&block)) {
        if block.trim().is_empty() {
            continue;
        }
        if block.starts_with('#') {
            // A heading of the same or a higher level ends the sections before it.
            headings.retain(|heading| level(heading) < level(&block));
            headings.push(block);
        } else if told.lines.insert(block.clone()) {
            if !headings.is_empty() && !kept.is_empty() {
                kept.push(String::new());
            }
            kept.append(&mut headings);
            kept.push(block);
        }
    }
    kept.join("\n")
}

fn level(heading: &str) -> usize {
    heading.chars().take_while(|c| *c == '#').count()
}

fn is_fence(line: &str) -> bool {
    ["```", "~~~"].iter().any(|fence| line.trim_start().starts_with(fence))
}

fn is_code(block: &str) -> bool {
    block.lines().next().is_some_and(is_fence)
}

/// Splits a text into headings, points of lists, paragraphs and blocks of code.
fn blocks(text: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut in_fence = false;
    for line in text.lines() {
        let begins = is_fence(line) || line.trim().is_empty() || begins_block(line);
        match blocks.last_mut().filter(|last| in_fence || (!begins && is_open(last))) {
            Some(last) => *last += &format!("\n{line}"),
            None => blocks.push(line.to_owned()),
        }
        in_fence ^= is_fence(line);
    }
    blocks
}

/// Whether a line is a heading, a point of a list or a row of a table.
fn begins_block(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(['#', '-', '*', '|']) || line.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether the next line may belong to a block.
fn is_open(block: &str) -> bool {
    !block.trim().is_empty() && !block.starts_with('#') && !is_code(block)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = "# Reading\n\n### Trend\n- Say `trend.days`\n  of the result.\n- Give `gap`, and ask with `order`.\n\n\
        ### Risk\n- `flags` with `late`: warn.\n- With `early`, say so.\n\n## Always\nName the `Account`. Use `x + 1`.\n```\n`code`\n```\n";

    fn names(result: &Value) -> Names {
        let mut names = HashSet::new();
        add_members(result, &mut names);
        add_arguments(&json!({"properties": {"order": {"enum": ["asc"]}}}), &mut names);
        Names(names)
    }

    fn fit(result: &Value, told: &mut Told) -> String {
        fitting(TEXT, Some(&names(result)), told, str::to_owned)
    }

    #[test]
    fn guidance_names_only_members_that_the_result_has() {
        let result = json!({"trend": {"days": []}, "flags": ["late"]});
        let expected = "# Reading\n### Trend\n- Say `trend.days`\n  of the result.\n\n### Risk\n- `flags` with `late`: warn.\n\n\
            ## Always\nName the `Account`. Use `x + 1`.\n```\n`code`\n```";
        assert_eq!(fit(&result, &mut Told::default()), expected);
        let other = fit(&json!({"gap": 1}), &mut Told::default());
        assert!(other.contains("Give `gap`, and ask with `order`.") && !other.contains("Risk"));
    }

    #[test]
    fn guidance_is_not_told_again_and_a_heading_without_lines_is_left_out() {
        let (mut told, result) = (Told::default(), json!({"gap": 1}));
        assert!(fit(&result, &mut told).contains("## Always"));
        let next = fit(&json!({"gap": 1, "flags": ["late"]}), &mut told);
        assert_eq!(next, "# Reading\n### Risk\n- `flags` with `late`: warn.");
        assert_eq!(fit(&result, &mut told), "");
    }

    #[test]
    fn guidance_is_whole_without_a_result() {
        let whole = fitting(TEXT, None, &mut Told::default(), str::to_owned);
        assert!(["`early`", "`gap`", "`late`"].iter().all(|name| whole.contains(name)));
    }
}
