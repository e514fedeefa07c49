//! Shows in the transcript when a summary replaces older messages, or when a summary failed.

use contract::{ItemBody, NoticeLevel, ToParam as _};

use crate::{
    conversation::recalled::{ConversationMemory, Recalled},
    ports::Memory,
    texts::Text,
    turn::context::TurnContext,
};

impl ConversationMemory {
    /// Adds to the transcript the summary that the model now reads instead of older messages, or
    /// the failure of a summary. Each summary and each failure is shown once.
    pub(crate) async fn show(&self, context: &TurnContext, recalled: &Recalled) {
        let Some(memory) = recalled.memory.as_ref().filter(|memory| !memory.shown || !memory.told)
        else {
            return;
        };
        let mut bodies = Vec::new();
        if !memory.shown && !memory.summary.is_empty() {
            bodies.push(ItemBody::Summary {
                text: memory.summary.clone(),
                messages: memory.messages,
                method: memory.method,
            });
        }
        if let Some(why) = memory.failure.as_ref().filter(|_| !memory.told) {
            let template = Text::SummaryFailed.in_locale(&context.locale);
            let text = contract::Text::filled(template, [("why", why.to_param())]);
            bodies.push(ItemBody::Notice {
                level: NoticeLevel::Warning,
                code: "summary_failed".into(),
                text,
            });
        }
        let items = bodies.into_iter().map(|body| context.item(body)).collect();
        match self.store.items_append(items).await {
            Ok(items) => context.emit_items(items),
            Err(error) => tracing::warn!(%error, "a summary could not be shown"),
        }
        let (shown, told) = (memory.summarised_at, memory.tried_at);
        let mark = |row: &mut Memory| {
            row.shown |= row.summarised_at == shown;
            row.told |= row.tried_at == told;
        };
        self.change(&memory.key, mark).await;
    }

    async fn change(&self, key: &str, change: impl FnOnce(&mut Memory)) {
        let store = &self.store;
        let _one_at_a_time = self.rows.lock().await;
        let changed = match store.memory(key).await {
            Ok(Some(mut row)) => {
                change(&mut row);
                store.memory_put(&row, 0).await
            }
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = changed {
            tracing::warn!(%error, "a memory could not be changed");
        }
    }
}
