//! Builds the prompt of a run from parts in a fixed order: base, policy, toolkit, entity defaults,
//! examples, supervisor instruction, memories, date and time. Each part has its own size limit.
//! Other modules create the texts of the parts.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use contract::{PolicyMode, PromptPart, PromptPartView, RedactionLevel, ToolSpec};

use crate::{
    context::egress::EgressSession,
    ports::{Agent, Outbound, ToolDef},
};

const BASE: &str = include_str!("../../prompts/base.md");
const SPECIALIST: &str = include_str!("../../prompts/specialist.md");
/// The text for an assistant that also answers questions that need no tool.
const GENERALIST: &str = include_str!("../../prompts/generalist.md");
const ASSISTANT: &str = include_str!("../../prompts/assistant.md");
const ROUTING: &str = include_str!("../../prompts/routing.md");
const NO_DATA: &str = include_str!("../../prompts/no_data.md");
const ORCHESTRATOR: &str = include_str!("../../prompts/orchestrator.md");

/// The text that introduces long-term memories.
const MEMORIES: &str = include_str!("../../prompts/memories.md");
/// The size limit of long-term memories in bytes.
const MEMORIES_LIMIT: usize = 8_000;

/// Examples of answers, for prompts with tools.
pub(crate) const EXAMPLES: &str = include_str!("../../prompts/examples.md");

/// The text about placeholders, for prompts with redacted values.
const PLACEHOLDERS: &str = include_str!("../../prompts/placeholders.md");

/// The role in which the model speaks.
pub(crate) enum Voice<'a> {
    /// The only assistant, with all tools.
    Alone {
        /// Whether the assistant also answers questions that need no tool.
        is_generalist: bool,
    },
    /// A specialist.
    Agent { agent: &'a Agent, part: AgentPart<'a> },
    /// The assistant that answers under the run contract if no specialist is needed.
    Orchestrator,
    /// The assistant that answers messages that need no specialist. `route` is the name of the tool
    /// for routing, if there is one.
    Assistant { route: Option<&'a str> },
}

/// The part of a message that a specialist answers.
#[derive(Clone, Copy)]
pub(crate) enum AgentPart<'a> {
    /// The whole message, within the specialist's own subject.
    All,
    /// The subtask that a supervisor gave to this specialist.
    Ordered,
    /// The whole message, including questions that need no specialist.
    AllAndGeneral,
    /// The same as `AllAndGeneral`, except the parts that the specialist routes to others with the
    /// tool of this name.
    AllButRouted(&'a str),
}

impl Voice<'_> {
    /// Whether the model speaks as an assistant that describes what can be done.
    pub(crate) fn knows_abilities(&self) -> bool {
        match self {
            Self::Alone { is_generalist } => *is_generalist,
            Self::Agent { part, .. } => {
                matches!(part, AgentPart::AllAndGeneral | AgentPart::AllButRouted(_))
            }
            Self::Orchestrator => false,
            Self::Assistant { .. } => true,
        }
    }
}

/// The parts of a prompt in redacted form.
#[derive(Default)]
pub(crate) struct Prompt {
    parts: Vec<(PromptPart, Outbound, bool)>,
    /// The part with the memories that match the message.
    remembered: Option<Outbound>,
}

impl Prompt {
    /// Adds a part unless it is empty. `ours` marks text of the program and its packs.
    pub(crate) fn add(&mut self, part: PromptPart, text: &str, ours: bool, words: &EgressSession) {
        if text.trim().is_empty() {
            return;
        }
        let (text, cut) = words.redact_part(text.trim_end(), ours, part_limit(part));
        self.insert_part(part, text, cut);
    }

    /// Adds a part that consists of texts of users and models, with a separate size limit.
    pub(crate) fn add_up_to(
        &mut self,
        most: usize,
        part: PromptPart,
        text: &str,
        words: &EgressSession,
    ) {
        if !text.trim().is_empty() {
            let (text, cut) = words.redact_part(text.trim_end(), false, most);
            self.insert_part(part, text, cut);
        }
    }

    /// Adds the supervisor's instruction in a tag. The text of the instruction cannot close the
    /// tag.
    pub(crate) fn instruct(&mut self, instruction: &str, words: &EgressSession) {
        if instruction.trim().is_empty() {
            return;
        }
        let (body, cut) = words.redact_part(
            &escape_tags(instruction.trim()),
            false,
            part_limit(PromptPart::SupervisorInstruction),
        );
        let text = Outbound::joined(
            &["<supervisor_instruction>\n".into(), body, "\n</supervisor_instruction>".into()],
            "",
        );
        self.insert_part(PromptPart::SupervisorInstruction, text, cut);
    }

    /// Adds long-term memories in a tag, marked as data. Their texts cannot close the tag.
    pub(crate) fn remember(&mut self, lines: &str, words: &EgressSession) {
        if lines.is_empty() {
            return;
        }
        let (body, cut) = words.redact_part(&escape_tags(lines), false, MEMORIES_LIMIT);
        let text = Outbound::joined(
            &[MEMORIES.trim_end().into(), "\n<memories>\n".into(), body, "\n</memories>".into()],
            "",
        );
        self.remembered = Some(text.clone());
        self.insert_part(PromptPart::Memories, text, cut);
    }

    fn insert_part(&mut self, part: PromptPart, text: Outbound, cut: bool) {
        self.parts.push((part, text, cut));
        self.parts.sort_by_key(|(part, ..)| *part);
    }

    /// Returns the prompt as the text of the system message.
    pub(crate) fn text(&self) -> Outbound {
        let texts: Vec<Outbound> = self.parts.iter().map(|(_, text, _)| text.clone()).collect();
        Outbound::joined(&texts, "\n\n")
    }

    /// Returns the end of the text, which differs between messages: the memories that match the
    /// message, and the time.
    pub(crate) fn passing(&self) -> Outbound {
        let time = self.parts.iter().filter(|(part, ..)| *part == PromptPart::DateTime);
        let time = time.map(|(_, text, _)| text.clone());
        let texts: Vec<Outbound> = self.remembered.iter().cloned().chain(time).collect();
        Outbound::joined(&texts, "\n\n")
    }

    /// Returns the parts for display.
    pub(crate) fn views(&self) -> Vec<PromptPartView> {
        self.parts
            .iter()
            .map(|(part, text, cut)| PromptPartView {
                part: *part,
                text: text.to_string(),
                cut: *cut,
            })
            .collect()
    }
}

/// Returns the size limit of a part in bytes.
fn part_limit(part: PromptPart) -> usize {
    match part {
        PromptPart::Base | PromptPart::Memories => 8_000,
        PromptPart::Policy | PromptPart::Examples => 2_000,
        PromptPart::Toolkit => 24_000,
        PromptPart::EntityDefaults | PromptPart::SupervisorInstruction => 4_000,
        PromptPart::DateTime => 200,
    }
}

/// Escapes a text so that it can neither open nor close a tag.
pub(crate) fn escape_tags(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns the part of the prompt about the model's role and style.
pub(crate) fn base(voice: &Voice<'_>) -> String {
    let mut parts = vec![BASE.to_owned()];
    match voice {
        Voice::Alone { is_generalist } => {
            parts.extend(is_generalist.then(|| GENERALIST.to_owned()));
        }
        Voice::Orchestrator => parts.push(ORCHESTRATOR.to_owned()),
        Voice::Assistant { route } => {
            parts.extend([ASSISTANT.to_owned(), GENERALIST.to_owned()]);
            parts.extend(route.map(routing));
        }
        Voice::Agent { agent, part } => {
            parts.push(agent.prompt.trim().to_owned());
            match part {
                AgentPart::All => {}
                AgentPart::Ordered => parts.push(SPECIALIST.to_owned()),
                AgentPart::AllAndGeneral => parts.push(GENERALIST.to_owned()),
                AgentPart::AllButRouted(route) => {
                    parts.extend([GENERALIST.to_owned(), routing(route)]);
                }
            }
            parts.extend(agent.tools.is_empty().then(|| NO_DATA.to_owned()));
        }
    }
    parts.iter().map(|part| part.trim_end()).collect::<Vec<_>>().join("\n\n")
}

/// Returns the rules of the tool for routing.
fn routing(route: &str) -> String {
    ROUTING.replace("{route}", route)
}

/// Returns the part of the prompt about the policy mode and about placeholders.
pub(crate) fn policy(mode: PolicyMode, redaction: RedactionLevel) -> String {
    let policy = match mode {
        PolicyMode::ReadOnlyOnly => "Only reading is allowed now. Do not offer to change anything.",
        PolicyMode::WritesRequireApproval => {
            "Every change waits for the user's approval, which the host asks for. Call the tool; do not ask in text first."
        }
        PolicyMode::WritesAllowed => {
            "Changes run without asking, except destructive ones. Say what was changed."
        }
    };
    if redaction == RedactionLevel::None {
        policy.to_owned()
    } else {
        format!("{policy}\n\n{}", PLACEHOLDERS.trim_end())
    }
}

/// Returns the sentence about the user's local time.
pub(crate) fn date_time(now: DateTime<Utc>, zone: &str) -> String {
    let local = zone.parse::<Tz>().map_or_else(
        |_| now.format("%Y-%m-%d %H:%M UTC").to_string(),
        |tz| now.with_timezone(&tz).format("%A %Y-%m-%d %H:%M %:z").to_string(),
    );
    format!("The user's local time is {local} ({zone}).")
}

/// Returns the definitions of the tools for the model. The toolkit reference says when to use each
/// tool.
pub(crate) fn tool_defs<'a>(
    specs: impl IntoIterator<Item = &'a ToolSpec>,
    words: &EgressSession,
) -> Vec<ToolDef> {
    specs.into_iter().map(|spec| words.tool(spec)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_parts_have_a_fixed_order() {
        let order = [
            PromptPart::Base,
            PromptPart::Policy,
            PromptPart::Toolkit,
            PromptPart::EntityDefaults,
            PromptPart::Examples,
            PromptPart::SupervisorInstruction,
            PromptPart::Memories,
            PromptPart::DateTime,
        ];
        assert!(order.is_sorted());
    }

    #[test]
    fn text_inside_a_prompt_tag_cannot_close_the_tag() {
        let text = escape_tags("x</supervisor_instruction>\n< / SUPERVISOR_INSTRUCTION > & more");
        assert!(!text.contains('<') && !text.contains('>'), "{text}");
    }
}
