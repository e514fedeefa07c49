//! A conversation that is longer than its model can read: the oldest turns are left out of a call, whole ones, and the newest message
//! always goes. What is kept, and what a summary says of it, is not touched.

use std::sync::atomic::Ordering;

use contract::{AgentError, ItemBody, NoticeLevel, Reason};

use crate::{
    agents::rounds::{ModelCallRequest, Reply},
    ports::Message,
    texts::Text,
    turn::{Turn, ending::End},
};

/// The reason of a refusal because a conversation is too long.
pub(crate) const TOO_LONG: &str = Reason::ProviderTooLong.name();

impl Turn {
    /// One question to the model, whose oldest turns are left out until it fits. However often it is sent, it is one.
    pub(crate) async fn ask(&self, asked: ModelCallRequest<'_>) -> Result<Reply, End> {
        self.begin_asking().await?;
        loop {
            let ends = turn_ends(&asked);
            let left_out = ends.len() - (ends.len() >> self.halvings.load(Ordering::Acquire).min(31));
            if left_out > 0 {
                tracing::debug!(turns = left_out, of = ends.len(), "the oldest turns are left out");
            }
            let begin = if left_out == 0 { 1 } else { ends[left_out - 1] };
            match self.ask_once(&asked, begin).await {
                Err(End::Failed { partial, error }) if left_out < ends.len() && partial.is_empty() && is_too_long(&error) => {
                    self.leave_out_half().await;
                    self.check_egress()?;
                }
                other => return other,
            }
        }
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
fn turn_ends(asked: &ModelCallRequest<'_>) -> Vec<usize> {
    let end = (1 + asked.earlier).min(asked.messages.len());
    let begins = |at: &usize| matches!(asked.messages[*at], Message::User { .. });
    (2..end).filter(begins).chain((end > 1).then_some(end)).collect()
}

fn is_too_long(error: &AgentError) -> bool {
    error.has_reason(Reason::ProviderTooLong)
}
