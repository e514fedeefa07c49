//! Parameters and answers of the search over the messages of all sessions.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{ItemId, SessionId};

wire! {
    /// Searches messages by their words.
    struct MessagesSearchParams {
        /// The words to search for. All words must occur, the last word at least as the beginning
        /// of a word.
        text: String,
        /// Selects messages of this session; absent searches all sessions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        session: Option<SessionId>,
        /// Selects messages at or after this time.
        #[serde(default)]
        since: Option<DateTime<Utc>>,
        /// Selects messages before this time.
        #[serde(default)]
        until: Option<DateTime<Utc>>,
        /// Selects messages of turns that this specialist answered. Empty selects all.
        #[serde(default)]
        agent: String,
        /// Selects messages of turns that called this tool. Empty selects all.
        #[serde(default)]
        tool: String,
        /// The number of messages to skip.
        #[serde(default)]
        offset: u32,
        /// The most messages of the page: at most 200; 0 means 30.
        #[serde(default)]
        limit: u32,
    }

    /// The messages that were found.
    struct MessagesSearchResponse {
        /// The messages, best first.
        hits: Vec<MessageHit>,
        /// Whether more messages follow.
        has_more: bool,
    }

    /// A message that a search found.
    struct MessageHit {
        /// The session of the message.
        session: SessionId,
        /// The title of the session.
        title: String,
        /// The item of the message.
        item: ItemId,
        /// The position of the item within the session.
        seq: u64,
        /// The time of the message.
        at: DateTime<Utc>,
        /// Whether the user wrote the message. Otherwise the assistant did.
        from_user: bool,
        /// A part of the message around the found words, in pieces.
        snippet: Vec<SnippetPiece>,
    }

    /// A piece of a message.
    struct SnippetPiece {
        /// The text of the piece.
        text: String,
        /// Whether the piece is one of the words searched for.
        is_match: bool,
    }
}
