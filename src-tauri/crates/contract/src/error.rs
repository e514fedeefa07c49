//! The error type of every interface: a closed code, a sentence that is safe to show, and a hint
//! what to do next.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use ts_rs::TS;

use crate::{CONTRACT_VERSION, FilledText, Reason, Text};

/// The nine closed codes of the run contract; more specific reasons are in `details.reason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request or its arguments are not valid.
    InvalidInput,
    /// The assistant, the agent or the tool is switched off.
    AgentDisabled,
    /// The action needs a person's approval, and no person can give it now.
    ApprovalRequired,
    /// No tool or specialist of this name is available.
    ToolNotFound,
    /// The tool did not answer in time.
    ToolTimeout,
    /// The tool answered with an error.
    ToolHttpError,
    /// The model could not be reached, or it failed.
    LlmError,
    /// A limit on requests or on spending is exhausted.
    RateLimited,
    /// An error in this program or its storage.
    InternalError,
}

impl ErrorCode {
    /// The code in its serialised form.
    pub fn name(self) -> &'static str {
        match self {
            Self::InvalidInput => "invalid_input",
            Self::AgentDisabled => "agent_disabled",
            Self::ApprovalRequired => "approval_required",
            Self::ToolNotFound => "tool_not_found",
            Self::ToolTimeout => "tool_timeout",
            Self::ToolHttpError => "tool_http_error",
            Self::LlmError => "llm_error",
            Self::RateLimited => "rate_limited",
            Self::InternalError => "internal_error",
        }
    }

    /// Whether retrying can help if only the code is known.
    pub fn retryable(self) -> bool {
        match self {
            Self::ToolTimeout | Self::LlmError | Self::RateLimited => true,
            Self::InvalidInput
            | Self::AgentDisabled
            | Self::ApprovalRequired
            | Self::ToolNotFound
            | Self::ToolHttpError
            | Self::InternalError => false,
        }
    }
}

/// The member of `details` that contains the key and values of each text.
pub(crate) const TEXTS: &str = "texts";

/// The error that a caller gets. `message` is a sentence for a person, and `details.hint` says what
/// to do. `details.texts` contains the keys and values of both, so that they can be translated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct AgentError {
    /// The version of the run contract, such as `1.0`.
    pub contract_version: String,
    /// The closed code on which callers act.
    pub code: ErrorCode,
    /// A sentence for a person, without secrets.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retryable: bool,
    /// Further details by name, such as `reason` and `hint`.
    #[serde(default)]
    #[ts(type = "Record<string, unknown>")]
    pub details: Map<String, Value>,
}

impl AgentError {
    /// Creates an error with the default `retryable` of its code.
    pub fn new(code: ErrorCode, message: impl Into<Text>) -> Self {
        let mut error = Self {
            contract_version: CONTRACT_VERSION.to_owned(),
            code,
            message: String::new(),
            retryable: code.retryable(),
            details: Map::new(),
        };
        error.set_message(message);
        error
    }

    /// Adds a detail.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// Adds the specific reason (`details.reason`): a `Reason` if code acts on the reason,
    /// otherwise any text.
    #[must_use]
    pub fn reason(self, reason: impl AsRef<str>) -> Self {
        self.with("reason", reason.as_ref())
    }

    /// Adds a hint for the user (`details.hint`).
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Text>) -> Self {
        let hint = self.keep_key("hint", hint.into());
        self.with("hint", hint)
    }

    /// Replaces the message.
    pub fn set_message(&mut self, message: impl Into<Text>) {
        self.message = self.keep_key("message", message.into());
    }

    /// Stores the key and values of a text in `details.texts`. Returns the English sentence.
    fn keep_key(&mut self, member: &str, text: Text) -> String {
        if let Some(Value::Object(texts)) = self.details.get_mut(TEXTS) {
            texts.retain(|name, _| name != member);
            if texts.is_empty() {
                self.remove_texts();
            }
        }
        if let Text::Filled(filled) = &text {
            let FilledText { key, params, .. } = filled.as_ref();
            let texts = self.details.entry(TEXTS).or_insert_with(|| json!({}));
            texts[member] = json!({"key": key, "params": params});
        }
        text.into()
    }

    /// Returns a text with its stored key, if the key still belongs to the sentence.
    fn text_of(&self, member: &str, sentence: &str) -> Text {
        let kept = self.details.get(TEXTS).and_then(|texts| texts.get(member));
        let key = kept.and_then(|kept| kept.get("key")).and_then(Value::as_str);
        let params = kept.and_then(|kept| BTreeMap::deserialize(kept.get("params")?).ok());
        match (key, params) {
            (Some(key), Some(params)) => Text::restored(sentence, key, params),
            (_, _) => Text::from(sentence),
        }
    }

    /// Returns the message with its key and values.
    pub fn text(&self) -> Text {
        self.text_of("message", &self.message)
    }

    /// Returns the hint with its key and values, if there is one.
    pub fn hint_as_text(&self) -> Option<Text> {
        self.hint_text().map(|hint| self.text_of("hint", hint))
    }

    /// Removes keys and values, for readers that only use English: models, and programs that speak
    /// the run contract.
    #[must_use]
    pub fn in_english(mut self) -> Self {
        self.remove_texts();
        self
    }

    /// Removes keys and values, and keeps the English sentences.
    pub fn remove_texts(&mut self) {
        self.details.retain(|name, _| name != TEXTS);
    }

    /// Sets whether retrying can help.
    #[must_use]
    pub fn retryable(mut self, retryable: bool) -> Self {
        self.retryable = retryable;
        self
    }

    /// Creates an `invalid_input` error.
    pub fn invalid(message: impl Into<Text>) -> Self {
        Self::new(ErrorCode::InvalidInput, message)
    }

    /// Creates an `internal_error` with a reason.
    pub fn internal(reason: impl AsRef<str>, message: impl Into<Text>) -> Self {
        Self::new(ErrorCode::InternalError, message).reason(reason)
    }

    /// Returns the text of `details.reason`, if any.
    pub fn reason_text(&self) -> Option<&str> {
        self.details.get("reason").and_then(Value::as_str)
    }

    /// Returns the reason, if it is a `Reason` on which code acts.
    pub fn known_reason(&self) -> Option<Reason> {
        self.reason_text().and_then(Reason::named)
    }

    /// Whether the error has this reason.
    pub fn has_reason(&self, reason: Reason) -> bool {
        self.reason_text() == Some(reason.name())
    }

    /// Returns the text of `details.hint`, if any.
    pub fn hint_text(&self) -> Option<&str> {
        self.details.get("hint").and_then(Value::as_str)
    }
}

impl std::fmt::Display for AgentError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for AgentError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    #[test]
    fn an_error_contains_the_message_keys_besides_the_english_texts() {
        let error = AgentError::invalid(text!("{name} is missing.", name = "A"))
            .hint(text!("Enter {name}.", name = "A"));
        assert_eq!(
            (error.message.as_str(), error.hint_text()),
            ("A is missing.", Some("Enter A."))
        );
        let kept = json!({"message": {"key": "{name} is missing.", "params": {"name": "A"}},
                          "hint": {"key": "Enter {name}.", "params": {"name": "A"}}});
        assert_eq!(error.details["texts"], kept);
        assert_eq!(error.text(), text!("{name} is missing.", name = "A"));
        assert_eq!(error.hint_as_text(), Some(text!("Enter {name}.", name = "A")));
        let changed = AgentError { message: "Else.".to_owned(), ..error.clone() };
        assert_eq!(changed.text(), Text::from("Else."));
        let replaced = error.hint("Ask.");
        assert_eq!(replaced.details["texts"].get("hint"), None);
        assert!(!replaced.in_english().details.contains_key("texts"));
    }

    #[test]
    fn agent_run_3_each_of_the_nine_error_codes_says_whether_it_is_retryable() {
        let table = [
            (ErrorCode::InvalidInput, "invalid_input", false),
            (ErrorCode::AgentDisabled, "agent_disabled", false),
            (ErrorCode::ApprovalRequired, "approval_required", false),
            (ErrorCode::ToolNotFound, "tool_not_found", false),
            (ErrorCode::ToolTimeout, "tool_timeout", true),
            // The status decides, because a server error may be temporary and a client error is
            // not.
            (ErrorCode::ToolHttpError, "tool_http_error", false),
            (ErrorCode::LlmError, "llm_error", true),
            (ErrorCode::RateLimited, "rate_limited", true),
            (ErrorCode::InternalError, "internal_error", false),
        ];
        for (code, name, retryable) in table {
            assert_eq!((code.name(), code.retryable()), (name, retryable));
            let error = AgentError::new(code, "No.");
            assert_eq!(
                (error.retryable, error.contract_version.as_str()),
                (retryable, CONTRACT_VERSION)
            );
            assert_eq!(
                serde_json::to_value(code).ok(),
                Some(Value::from(name)),
                "as it is on the wire"
            );
        }
        let generated = serde_json::to_value(schemars::schema_for!(ErrorCode)).unwrap_or_default();
        assert_eq!(
            generated["oneOf"].as_array().map(Vec::len),
            Some(table.len()),
            "the list is closed"
        );
    }
}
