//! The error text of a server as a quotation, shortened and without keys, and the single hint that
//! fits it. The module does not decide the kind of failure.

use contract::{Text, text};
use serde_json::Value;

/// The maximum number of characters of a server's text that are shown.
const MOST_CHARS: usize = 300;

/// Returns the server's own sentence in the body of an error answer, or an empty text.
pub(super) fn words(body: &str) -> String {
    let body = body.trim();
    match serde_json::from_str::<Value>(body) {
        Ok(value) => sentence(&value).unwrap_or_default(),
        // A page for a browser tells a person nothing.
        Err(_) if body.starts_with('<') => String::new(),
        Err(_) => shorten(body),
    }
}

/// Returns the sentence in an error object.
pub(super) fn sentence(error: &Value) -> Option<String> {
    let found = match error {
        Value::String(text) => shorten(text),
        Value::Array(list) => list.iter().find_map(sentence)?,
        Value::Object(members) => {
            // Gateways write the error of the provider behind them here.
            let raw = error.pointer("/metadata/raw").and_then(sentence);
            let names = [
                "error",
                "message",
                "detail",
                "details",
                "msg",
                "errors",
                "reason",
                "base_resp",
                "status_msg",
                "error_msg",
            ];
            let own = names.iter().find_map(|name| sentence(members.get(*name)?));
            match (own, raw) {
                (Some(own), Some(raw)) if own != raw => shorten(&format!("{own}: {raw}")),
                (own, raw) => own.or(raw)?,
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => return None,
    };
    (!found.is_empty()).then_some(found)
}

/// Returns the text on one line, without keys, and shortened.
fn shorten(text: &str) -> String {
    let mut text = text.to_owned();
    for place in engine::find_keys(&text).into_iter().rev() {
        text.replace_range(place, "…");
    }
    let line = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    match line.char_indices().nth(MOST_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// Returns the sentence that quotes the server.
pub(super) fn quoted(said: &str) -> Text {
    text!("The server said: “{said}”", said)
}

/// Whether the server says that it is loading the model, and not that loading failed.
pub(super) fn is_loading(said: &str) -> bool {
    const WORDS: [&str; 4] = ["loading", "starting", "warming", "initializing"];
    const FAILED: [&str; 5] = ["error", "fail", "unable", "cannot", "could not"];
    let said = said.to_lowercase();
    let mut words = said.split(|c: char| !c.is_alphanumeric());
    words.any(|word| WORDS.contains(&word)) && !FAILED.iter().any(|part| said.contains(part))
}

/// Whether the text says that tools are not supported or not enabled. A text about one tool, its
/// schema or one call does not count.
pub(super) fn refuses_tools(said: &str) -> bool {
    let lower = said.to_lowercase();
    hint(said) == Some(NO_TOOLS)
        && ["support", "enable", "requires --"].iter().any(|word| lower.contains(word))
        && !is_about_one_tool(&lower)
}

/// Whether the text, in lower case, is about one tool, a schema or one call.
pub(super) fn is_about_one_tool(said: &str) -> bool {
    let has_place = |list: &str| {
        said.split(list).skip(1).any(|after| {
            let place = after.strip_prefix(['[', '.']);
            place.is_some_and(|place| place.starts_with(|c: char| c.is_ascii_digit()))
        })
    };
    ["tools", "functions", "function_declarations"].into_iter().any(has_place)
        || ["schema", "parsing", "parse "].iter().any(|word| said.contains(word))
}

/// Whether the text says that the address does not exist.
pub(super) fn is_about_address(said: &str) -> bool {
    let said = said.to_lowercase();
    ["endpoint", "route", "url", "path"].iter().any(|word| said.contains(word))
        && ["unexpected", "unknown", "not found", "invalid", "no such"]
            .iter()
            .any(|word| said.contains(word))
}

/// Whether the text only says "not found", or is empty.
pub(super) fn is_about_no_cause(said: &str) -> bool {
    const MOST: usize = 40;
    let lower = said.to_lowercase();
    let bare = ["not found", "not allowed", "cannot post"];
    said.is_empty() || said.len() <= MOST && bare.iter().any(|words| lower.contains(words))
}

/// Whether the text says that a filter stopped the message, which is not about keys.
pub(super) fn is_about_moderation(said: &str) -> bool {
    let said = said.to_lowercase();
    ["moderation", "flagged"].iter().any(|word| said.contains(word))
}

/// The hint for a model or server that does not support tools.
const NO_TOOLS: &str =
    "Choose a model that supports tools in Settings, or switch them on in the server.";

/// Hints by the text of the server: the text must contain a phrase from the first list and a phrase
/// from the second list.
const HINTS: [(&[&str], &[&str], &str); 9] = [
    (
        &["tool", "function"],
        &["too many", "maximum", "at most", "too long", "limit"],
        "Switch off servers or tools that are not needed.",
    ),
    (&["tool", "function"], &["support", "enable", "allowed", "requires", "available"], NO_TOOLS),
    (
        &["model"],
        &["models loaded", "not loaded", "load a model"],
        "Load the model in the server, or choose another one in Settings.",
    ),
    (
        &["model"],
        &[
            "not found",
            "exist",
            "unknown",
            "invalid model",
            "no such",
            "not available",
            "not a valid",
        ],
        "Choose a model that the server has, in Settings.",
    ),
    (
        &["template", "role", "alternate", "system message", "jinja", "conversation"],
        &[""],
        "The model's chat template refuses this conversation. Start a new session, or choose another model.",
    ),
    (
        &["reasoning", "thought_signature", "thinking", "signature"],
        &[""],
        "The server requires its own reasoning from an earlier answer. Start a new session.",
    ),
    (
        &["safety", "policy", "moderation", "content_filter", "flagged"],
        &[""],
        "Word the message differently, or choose another model in Settings.",
    ),
    (
        &[
            "unsupported",
            "unrecognized",
            "unknown",
            "extra inputs",
            "not permitted",
            "not supported",
        ],
        &["parameter", "field", "argument", "param", "inputs", "value", "property"],
        "The server does not know a part of the request. Update the server, or choose another provider in Settings.",
    ),
    (
        &["memory", "cuda", "vram"],
        &[""],
        "The server has too little memory for the model. Choose a smaller model, or a shorter context in the server.",
    ),
];

/// Returns the hint that fits the server's text.
pub(super) fn hint(said: &str) -> Option<&'static str> {
    let said = said.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    HINTS.iter().find(|(about, what, _)| has(about) && has(what)).map(|(.., hint)| *hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_text_is_found_in_every_known_response_shape() {
        for (body, expected) in [
            (r#"{"error":{"message":"no\n tools","type":"x"}}"#, "no tools"),
            (r#"{"error":"no tools"}"#, "no tools"),
            (r#"{"detail":[{"loc":["body"],"msg":"no tools"}]}"#, "no tools"),
            (r#"[{"error":{"code":400,"message":"no tools"}}]"#, "no tools"),
            (
                r#"{"error":{"message":"Provider returned error","metadata":{"raw":"{\"error\":\"no tools\"}"}}}"#,
                r#"Provider returned error: {"error":"no tools"}"#,
            ),
            ("404 page not found", "404 page not found"),
            ("<html><body>Bad Gateway</body></html>", ""),
            ("", ""),
            ("null", ""),
        ] {
            assert_eq!(words(body), expected, "{body}");
        }
        assert_eq!(words(&"ab ".repeat(900)).chars().count(), MOST_CHARS + 1);
        let key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD";
        assert!(!words(&format!("{} the key {key} is wrong", "a".repeat(280))).contains("sk-"));
    }

    #[test]
    fn each_cause_of_a_server_error_has_its_own_hint() {
        for (said, part) in [
            ("registry/gemma:2b does not support tools", "supports tools"),
            ("\"auto\" tool choice requires --enable-auto-tool-choice", "supports tools"),
            ("Invalid 'tools': array too long. Expected maximum length 128", "Switch off servers"),
            ("The model `gpt-9` does not exist", "that the server has"),
            ("No models loaded. Please load a model in the developer page", "Load the model"),
            ("Conversation roles must alternate user/assistant", "chat template"),
            ("The `reasoning_content` must be passed back", "reasoning"),
            ("Unsupported parameter: 'max_tokens'", "part of the request"),
            ("CUDA out of memory", "too little memory"),
        ] {
            let found = hint(said).unwrap_or_default();
            assert!(found.contains(part), "{said}: {found}");
        }
        assert_eq!(hint("no"), None);
    }

    #[test]
    fn an_error_about_one_tool_is_not_a_refusal_of_all_tools() {
        for said in [
            "registry/gemma:2b does not support tools",
            "llama-4-maverick-17b-128e does not support tools",
            "\"auto\" tool choice requires --enable-auto-tool-choice",
            "tools param requires --jinja flag",
            "No endpoints found that support tool use.",
            "Function calling is not enabled for models/gemma-3-1b-it",
        ] {
            assert!(refuses_tools(said), "{said}");
        }
        for said in [
            "tools.3.custom.input_schema: JSON schema is invalid. It must match a supported draft",
            "GenerateContentRequest.tools[0].function_declarations[3].name: only letters are allowed",
            "tools.12: this type is not supported",
            "Invalid tool name 'my tool': only letters are allowed",
            "at most 64 tools are allowed",
            "error parsing tool call: raw='{\"available\": tru'",
            "Schema of function notes: oneOf is not supported",
            "The tool call ended early",
            "no",
        ] {
            assert!(!refuses_tools(said), "{said}");
        }
    }

    #[test]
    fn a_loading_model_is_distinguished_from_an_overload() {
        assert!(is_loading("Loading model") && is_loading("Model x is currently loading."));
        assert!(is_loading("The server is still starting") && is_loading("Model is warming up"));
        assert!(!is_loading("Overloading is bad") && !is_loading("overloaded"));
        assert!(!is_loading("error loading model: out of memory"));
    }
}
