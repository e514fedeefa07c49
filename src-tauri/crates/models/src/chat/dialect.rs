//! The peculiarities of single servers on the chat-completions wire. The module does not know the
//! content of messages.

use std::borrow::Cow;

use crate::wire::{short_id, wire_id};

/// Peculiarities of a server, guessed from its host name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Dialect {
    /// Call ids must be nine letters or digits (Mistral).
    pub(super) short_call_ids: bool,
    /// The limit of the answer has its newer name (OpenAI's own models refuse the older name).
    pub(super) completion_bound: bool,
    /// Results contain the names of their tools (Google).
    pub(super) named_results: bool,
    /// A message with calls has an empty text instead of missing content (older versions of LM
    /// Studio).
    pub(super) text_content: bool,
}

impl Dialect {
    pub(super) fn of_host(host: &str) -> Self {
        let mistral = host == "mistral.ai" || host.ends_with(".mistral.ai");
        Self {
            short_call_ids: mistral,
            completion_bound: host == "api.openai.com" || host.ends_with(".openai.azure.com"),
            named_results: host.ends_with(".googleapis.com"),
            text_content: false,
        }
    }

    /// Returns the dialect for a server that refused the usual form of calls and results.
    pub(super) fn strict(self) -> Self {
        Self { short_call_ids: true, named_results: true, text_content: true, ..self }
    }
}

pub(super) fn call_id(id: &str, dialect: Dialect) -> Cow<'_, str> {
    if dialect.short_call_ids { Cow::Owned(short_id(id)) } else { wire_id(id) }
}
