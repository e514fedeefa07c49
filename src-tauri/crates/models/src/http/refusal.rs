//! Decides by a server's answer which parts of a request the server may have refused. Another
//! attempt without the part shows whether the part was the cause. The module words no error and
//! knows no wire.

use super::known::KnownFailure;
use super::server_message;
use crate::wire::Part;

/// Phrases of servers for an unknown member.
const UNKNOWN: [&str; 7] = [
    "unrecognized",
    "unknown",
    "unexpected",
    "unsupported",
    "extra inputs",
    "not permitted",
    "additional properties",
];

/// An answer that refuses a request.
pub(super) struct Refusal<'a> {
    pub(super) status: u16,
    pub(super) known: KnownFailure,
    /// The sentence of the server.
    pub(super) said: &'a str,
    pub(super) body: &'a str,
    /// Words that name optional parts.
    pub(super) optional: &'a [&'a str],
}

impl Refusal<'_> {
    /// Returns the parts that the refusal may be about, most likely first.
    pub(super) fn parts(&self) -> Vec<Part> {
        let said = self.said.to_lowercase();
        let is_refusal = matches!(self.status, 400 | 422);
        // Errors in chat templates are reported as internal errors of the server.
        let may_be_template = is_refusal || self.status == 500;
        let may_be_tools = may_be_template || matches!(self.status, 404 | 405 | 501);
        let is_open = self.known.may_be_about_a_part();
        let of_tools = is_open || self.known == KnownFailure::Tools;
        let refuses_tools =
            of_tools && (server_message::refuses_tools(self.said) || self.names_tools());
        let table = [
            (
                Part::Optional,
                is_refusal && self.optional.iter().any(|word| self.body.contains(word)),
            ),
            (Part::Kept, is_refusal && is_open),
            (Part::Bound, is_refusal && is_open && is_about_length(&said)),
            (Part::Form, may_be_tools && is_open && (is_about_form(&said) || is_unspecific(&said))),
            (Part::System, may_be_template && is_open && refuses_system(&said)),
            (
                Part::Details,
                may_be_template
                    && of_tools
                    && !refuses_tools
                    && (is_about_details(&said) || is_unspecific(&said)),
            ),
            (Part::Tools, may_be_tools && refuses_tools),
        ];
        table.into_iter().filter(|(_, is_possible)| *is_possible).map(|(part, _)| part).collect()
    }

    /// Whether the server does not know the member with the list of tools. A member of a single
    /// tool does not count.
    fn names_tools(&self) -> bool {
        let (said, body) = (self.said.to_lowercase(), self.body.to_lowercase());
        let is_word = |(at, word): (usize, &str)| {
            let before = body[..at].chars().next_back();
            let after = body[at + word.len()..].trim_start_matches(['"', '\'', ',', ' ']);
            let goes_on = |c: char| c.is_alphanumeric() || ['_', '[', '.'].contains(&c);
            !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
                && !after.starts_with(|c: char| c.is_ascii_digit())
                && !body[at + word.len()..].starts_with(goes_on)
        };
        UNKNOWN.iter().any(|word| said.contains(word)) && body.match_indices("tools").any(is_word)
    }
}

fn is_about_length(said: &str) -> bool {
    said.contains("max_tokens") || said.contains("max_completion_tokens")
}

/// Whether the sentence is about the ids of calls, the names of results or messages without
/// content.
fn is_about_form(said: &str) -> bool {
    let has = |word: &str| said.contains(word);
    (has("call id") || has("call_id")) && (has("length") || has("must be"))
        || has("content") && (has("null") || has("none") || has("must be a string"))
        || has("function_response.name")
}

/// Whether the sentence only says that something is wrong with the request.
fn is_unspecific(said: &str) -> bool {
    const MOST: usize = 45;
    said.len() <= MOST
        && said.contains("invalid")
        && ["parameter", "argument", "request"].iter().any(|word| said.contains(word))
}

/// Whether the sentence says that separate instructions are not allowed. Roles alternate in each
/// request, so a template that complains about their order counts the instructions.
fn refuses_system(said: &str) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    has(&["system", "developer", "role"])
        && has(&["support", "enabled", "allowed", "alternate", "unexpected", "unknown", "invalid"])
}

/// Whether the sentence is about the description or schema of a tool.
fn is_about_details(said: &str) -> bool {
    server_message::is_about_one_tool(said) && !said.contains("pars")
        || said.contains("description") && (said.contains("tool") || said.contains("function"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(status: u16, known: KnownFailure, body: &str) -> Vec<Part> {
        let said = server_message::words(body);
        let parts = Refusal { status, known, said: &said, body, optional: &[] }.parts();
        parts.into_iter().filter(|part| *part != Part::Kept).collect()
    }

    #[test]
    fn each_refusal_text_names_the_part_of_the_request_to_leave_out() {
        use KnownFailure::{Other, Overloaded, Tools};
        let table: [(u16, KnownFailure, &str, &[Part]); 23] = [
            // See opencode#1680, mlx-lm#1375, lmstudio-bug-tracker#261, hindsight#187,
            // hermes-agent#16482.
            (
                400,
                Other,
                "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
                &[Part::Form],
            ),
            (404, Other, "Tool call id must be alphanumeric", &[Part::Form]),
            (
                400,
                Other,
                "Invalid 'content': 'content' field must be a string or an array of objects.",
                &[Part::Form],
            ),
            (
                400,
                Other,
                "GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.",
                &[Part::Form],
            ),
            (400, Other, "Request contains an invalid argument.", &[Part::Form, Part::Details]),
            (400, Other, "invalid parameter value", &[Part::Form, Part::Details]),
            // See vllm#2964, localGPT#720, llama-cpp-python#1580, rig#788.
            (400, Other, "System role not supported", &[Part::System]),
            (
                400,
                Other,
                "Conversation roles must alternate user/assistant/user/assistant/...",
                &[Part::System],
            ),
            (
                500,
                Overloaded,
                "Jinja Exception: Only user and assistant roles are supported!",
                &[Part::System],
            ),
            (
                400,
                Other,
                "Developer instruction is not enabled for models/gemma-3-27b-it",
                &[Part::System],
            ),
            (
                400,
                Other,
                "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
                &[Part::System],
            ),
            // See flexeval#242, ollama#6027.
            (400, Tools, "tools is not supported in this model.", &[Part::Tools]),
            (400, Other, "stablelm2:latest does not support tools", &[Part::Tools]),
            (400, Other, "Unrecognized request argument supplied: tools", &[Part::Tools]),
            (
                422,
                Other,
                r#"{"detail":[{"loc":["body","tools"],"msg":"Extra inputs are not permitted"}]}"#,
                &[Part::Tools],
            ),
            (400, Other, "json: unknown field \"tools\"", &[Part::Tools]),
            (501, Overloaded, "tools are not supported yet", &[Part::Tools]),
            // The refusal is about a part of one tool. See freellmapi#97, obsidian-yolo#293,
            // probe#9.
            (
                422,
                Other,
                r#"{"detail":[{"loc":["body","tools",0,"function","strict"],"msg":"Extra inputs are not permitted"}]}"#,
                &[],
            ),
            (
                400,
                Other,
                "Invalid JSON payload received. Unknown name \"additionalProperties\" at 'tools[0].function_declarations[0].parameters'",
                &[Part::Details],
            ),
            (
                400,
                Other,
                "* GenerateContentRequest.tools[0].function_declarations[13].parameters.properties[elements].items: missing field.",
                &[Part::Details],
            ),
            (
                400,
                Tools,
                "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024",
                &[Part::Details],
            ),
            (
                400,
                Tools,
                "Invalid schema for function 'x': 'any' is not valid under any of the given schemas.",
                &[Part::Details],
            ),
            (
                500,
                Overloaded,
                "JSON schema conversion failed: Unrecognized schema",
                &[Part::Details],
            ),
        ];
        for (status, known, body, expected) in table {
            assert_eq!(parts(status, known, body), expected, "{body}");
        }
    }

    #[test]
    fn refusals_with_another_cause_leave_out_no_part_of_the_request() {
        use KnownFailure::{ContextLength, Overloaded, Tools};
        for (status, known, body) in [
            (
                400,
                Tools,
                "Invalid 'tools': array too long. Expected an array with maximum length 128",
            ),
            (500, Overloaded, "error parsing tool call: raw='{\"available\": tru'"),
            (400, ContextLength, "the system prompt is too long and not supported"),
            (503, Overloaded, "System role not supported"),
        ] {
            assert_eq!(parts(status, known, body), [], "{body}");
        }
    }
}
