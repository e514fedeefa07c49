//! What can be tried after a search that found nothing, as the search itself offers it, and the search that a customer took.

use std::sync::Arc;

use contract::ToolOutcome;
use serde_json::{Value, json};

use crate::{
    answer::Answer,
    cards,
    error::Fault,
    json::text,
    sessions::State,
    teller::{Call, Teller},
    texts::Text,
    turn::Turn,
};

/// Suggestions, when the last search of the turn found nothing.
pub(crate) fn of_turn(calls: &[Call]) -> Vec<Value> {
    let last = calls.iter().rev().find_map(|call| call.result_of("product_search"));
    last.filter(|found| cards::items(found).is_empty()).and_then(|found| found["refinements"].as_array().cloned()).unwrap_or_default()
}

/// The words that are to be searched for as they are, when a message is the label of the suggestion to do so.
pub(crate) fn taken(message: &str, offered: &[Value]) -> Option<String> {
    let one = offered.iter().find(|one| one["label"].as_str() == Some(message.trim()) && one["payload"]["type"] == "search_retry")?;
    text(&one["payload"]["query"])
}

impl Turn<'_> {
    /// Searches for exactly these words. No model is asked: it would only search for the label.
    pub(crate) async fn search_exactly(&self, words: &str, state: &mut State, answer: &mut Answer) -> Result<(), Fault> {
        let engine = self.app.host.engine();
        let specs = engine.specs();
        let Some(search) = specs.iter().find(|spec| spec.model_name == "product_search") else { return Err(Fault::internal(self.locale)) };
        let arguments = json!({"query": format!("“{words}”")});
        let (called, events) = engine.call_heard(&self.session, search.id.clone(), arguments, self.around()).await;
        let mut teller = Teller::new(self.out.clone(), self.locale, self.ask.debug, Arc::clone(&specs));
        for event in events {
            teller.take(event);
        }
        answer.calls = std::mem::take(&mut teller.calls);
        self.show_products(&[], state, answer).await;
        answer.refinements = of_turn(&answer.calls);
        let found = called.is_ok_and(|response| response.outcome == ToolOutcome::Ok);
        if found {
            state.ways_on.clone_from(&answer.refinements);
        }
        let text = match (found, answer.cards.is_empty()) {
            (true, true) => Text::NothingFound,
            (true, false) => Text::FoundThese,
            // It stays on the screen, and may be tried again.
            (false, _) => Text::SearchFailed,
        };
        self.told(text, answer).await
    }
}
