//! A conversation that is longer than its model can read: the oldest turns are left out of a call, whole ones, and the newest message
//! always goes. What is kept, and what a summary says of it, is not touched.

use std::sync::atomic::Ordering;

use contract::{AgentError, ItemBody, ModelCapabilities, NoticeLevel};

use crate::{
    ending::End,
    metering::{message_bytes, tokens_of, tools_bytes},
    ports::Message,
    rounds::{Asked, Reply},
    texts::Text,
    turn::Turn,
};

/// The reason of a refusal because a conversation is too long.
pub(crate) const TOO_LONG: &str = "provider_too_long";

impl Turn {
    /// One question to the model, whose oldest turns are left out until it fits.
    pub(crate) async fn ask(&self, asked: Asked) -> Result<Reply, End> {
        loop {
            let (fitting, is_bare) = self.fitting(asked.clone());
            match self.ask_once(fitting).await {
                Err(End::Failed { partial, error }) if !is_bare && partial.is_empty() && is_too_long(&error) => self.leave_out_half().await,
                other => return other,
            }
        }
    }

    /// What goes out, and whether no earlier turn is left in it.
    fn fitting(&self, mut asked: Asked) -> (Asked, bool) {
        let ends = turn_ends(&asked);
        let over = self.over_window(&asked, &ends);
        let left_out = ends.len() - ((ends.len() - over) >> self.halvings.load(Ordering::Acquire).min(31));
        if let Some(end) = left_out.checked_sub(1).and_then(|last| ends.get(last)) {
            tracing::debug!(turns = left_out, of = ends.len(), "the oldest turns are left out");
            asked.messages.drain(1..*end);
            asked.earlier -= end - 1;
        }
        (asked, left_out == ends.len())
    }

    /// How many of the oldest turns a model of a known window cannot read.
    fn over_window(&self, asked: &Asked, ends: &[usize]) -> usize {
        let Some(most) = self.known_window().map(|tokens| tokens / 4 * 3) else { return 0 };
        let tokens = |messages: &[Message]| tokens_of(messages.iter().map(message_bytes).sum(), messages.len());
        let mut all = tokens(&asked.messages) + tokens_of(tools_bytes(&asked.tools), asked.tools.len());
        let mut start = 1;
        for (index, end) in ends.iter().enumerate() {
            if all <= most {
                return index;
            }
            all = all.saturating_sub(tokens(&asked.messages[start..*end]));
            start = *end;
        }
        ends.len()
    }

    /// Nothing where the model is not known: then its server says what is too long.
    fn known_window(&self) -> Option<u64> {
        let tokens = self.model.capabilities().context_tokens;
        (!self.model.in_process() && tokens != ModelCapabilities::default().context_tokens).then_some(u64::from(tokens))
    }

    /// From now on this turn goes out with half of the earlier turns that it went out with before.
    async fn leave_out_half(&self) {
        if self.halvings.fetch_add(1, Ordering::AcqRel) > 0 {
            return;
        }
        tracing::warn!("the conversation is too long for the model: its oldest turns are left out");
        let text = Text::OldestLeftOut.in_locale(&self.locale).to_owned();
        let item = self.item(ItemBody::Notice { level: NoticeLevel::Warning, code: "oldest_left_out".into(), text });
        match self.world().store.items_append(vec![item]).await {
            Ok(items) => self.emit_items(items),
            Err(error) => tracing::warn!(%error, "the notice of what was left out could not be saved"),
        }
    }
}

/// Where each of the earlier turns, which stand behind the prompt, ends.
fn turn_ends(asked: &Asked) -> Vec<usize> {
    let end = (1 + asked.earlier).min(asked.messages.len());
    let begins = |at: &usize| matches!(asked.messages[*at], Message::User { .. });
    (2..end).filter(begins).chain((end > 1).then_some(end)).collect()
}

fn is_too_long(error: &AgentError) -> bool {
    error.reason_text() == Some(TOO_LONG)
}
