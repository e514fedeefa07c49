//! Parameters and answers of the search over the messages of all sessions.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{ItemId, SessionId};

wire! {
    /// Looks for messages by their words.
    struct MessagesSearchParams {
        /// The words. Each of them must occur, the last one at least as the beginning of a word.
        text: String,
        /// Only messages of this moment and later.
        #[serde(default)]
        since: Option<DateTime<Utc>>,
        /// Only messages before this moment.
        #[serde(default)]
        until: Option<DateTime<Utc>>,
        /// Only messages of turns that this specialist answered. Empty for all.
        #[serde(default)]
        agent: String,
        /// Only messages of turns that called this tool. Empty for all.
        #[serde(default)]
        tool: String,
        /// The number of messages to skip.
        #[serde(default)]
        offset: u32,
        /// At most 200; 0 means 30.
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
        /// The moment of the message.
        at: DateTime<Utc>,
        /// Whether the user wrote the message. If not, the assistant did.
        from_user: bool,
        /// A part of the message around the words, in pieces.
        snippet: Vec<SnippetPiece>,
    }

    /// A piece of a message.
    struct SnippetPiece {
        /// The text of the piece.
        text: String,
        /// Whether the piece is one of the words that were searched for.
        is_match: bool,
    }
}
