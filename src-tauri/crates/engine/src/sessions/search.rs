//! Searches the messages of all sessions, or of one, by their words. The text of a search is treated as plain
//! words, never as a query language.

use contract::{AgentError, MessagesSearchParams, MessagesSearchResponse};

use crate::{ports::MessageFilter, sessions::reading::Sessions};

/// The most words of a search. Further words are ignored.
const MOST_WORDS: usize = 32;

impl Sessions {
    /// Returns the messages with these words, best first.
    pub async fn search(
        &self,
        params: &MessagesSearchParams,
    ) -> Result<MessagesSearchResponse, AgentError> {
        let limit = if params.limit == 0 { 30 } else { params.limit.min(200) };
        let words: Vec<String> = params
            .text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .take(MOST_WORDS)
            .map(str::to_owned)
            .collect();
        let filter = MessageFilter {
            session: params.session.clone(),
            since: params.since,
            until: params.until,
            agent: params.agent.trim().to_owned(),
            tool: params.tool.trim().to_owned(),
        };
        let store = &self.shared.world.store;
        let mut hits = store.messages_with_words(&words, &filter, params.offset, limit + 1).await?;
        let has_more = hits.len() > limit as usize;
        hits.truncate(limit as usize);
        Ok(MessagesSearchResponse { hits, has_more })
    }
}
