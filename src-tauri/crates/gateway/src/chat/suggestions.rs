//! Carries out a suggestion that the customer chose, without asking a model.

use std::sync::Arc;

use contract::ToolOutcome;
use serde_json::json;

use crate::{
    chat::{answer::Answer, expecting::Change, relay::EventRelay, state::State, turn::Turn},
    fault::Fault,
    shop::{
        refine::{self, Way},
        tools,
    },
    texts::Text,
};

impl Turn<'_> {
    /// Carries out a suggestion. A model is not asked, because it would only search for the label's
    /// text.
    pub(crate) async fn follow_suggestion(
        &self,
        way: Way,
        state: &mut State,
        answer: &mut Answer,
    ) -> Result<(), Fault> {
        match way {
            // Quotation marks make the shop search for exactly these words.
            Way::Exactly(words) => {
                self.search_for(&format!("“{words}”"), Text::NothingFound, state, answer).await
            }
            Way::Without(words) => self.search_for(&words, Text::NothingLeft, state, answer).await,
            Way::Question(question) => {
                answer.text = question;
                self.store_exchange(answer).await
            }
            Way::AlreadySearched => self.answer_with_text(Text::SearchedWithout, answer).await,
        }
    }

    async fn search_for(
        &self,
        words: &str,
        none: Text,
        state: &mut State,
        answer: &mut Answer,
    ) -> Result<(), Fault> {
        let engine = self.app.host.engine();
        let specs = engine.caller_turns.specs(&self.app.caller);
        let Some(search) = specs.iter().find(|spec| spec.model_name == tools::SEARCH) else {
            return Err(Fault::internal(self.locale));
        };
        let (called, events) = engine
            .caller_turns
            .call(&self.session, search.id.clone(), json!({"query": words}), self.turn_options())
            .await;
        let mut relay =
            EventRelay::new(self.out.clone(), self.locale, self.ask.debug, Arc::clone(&specs));
        for event in events {
            relay.handle_event(event);
        }
        answer.calls = std::mem::take(&mut relay.calls);
        self.show_products(&[], state, answer).await;
        answer.refinements = refine::build_suggestions(&answer.calls);
        let found = called.is_ok_and(|response| response.outcome == ToolOutcome::Ok);
        if found {
            // As long as the searches find no products, the earlier suggestions stay open.
            let suggestions = if answer.cards.is_empty() {
                refine::suggestions_to_store(&answer.calls, state.open.suggestions())
            } else {
                Vec::new()
            };
            state.open.apply_change(Change::Suggested(suggestions));
        }
        let text = match (found, answer.cards.is_empty()) {
            (true, true) => none,
            (true, false) => Text::FoundThese,
            // The suggestion stays visible, so the customer can try it again.
            (false, _) => Text::SearchFailed,
        };
        self.answer_with_text(text, answer).await
    }
}
