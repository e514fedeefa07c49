//! What can be tried after a search that found nothing, as the search itself offers it, and what a customer took of it.

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

/// Suggestions that are kept.
const KEPT: usize = 8;

/// Suggestions, when the last search of the turn found nothing.
pub(crate) fn of_turn(calls: &[Call]) -> Vec<Value> {
    empty_search(calls).and_then(|found| found["refinements"].as_array().cloned()).unwrap_or_default()
}

/// What is kept of them for the next message, besides those of before: each with the words that the search was for in the end, unless it
/// would only be the same search again.
pub(crate) fn to_keep(calls: &[Call], before: &[Value]) -> Vec<Value> {
    let simplified = empty_search(calls).map_or(Value::Null, |found| found["querySimplification"].clone());
    let dropped = |one: &Value| simplified["droppedTokens"].as_array().is_some_and(|dropped| dropped.contains(one));
    let mut kept = of_turn(calls);
    for one in &mut kept {
        let repeats = one["payload"]["constraintsToRemove"].as_array().is_some_and(|all| all.iter().all(dropped));
        one["words"] = if repeats { Value::Null } else { simplified["effectiveQuery"].clone() };
    }
    let older: Vec<Value> = before.iter().filter(|old| kept.iter().all(|new| new["label"] != old["label"])).cloned().collect();
    kept.extend(older);
    kept.truncate(KEPT);
    kept
}

fn empty_search(calls: &[Call]) -> Option<&Value> {
    calls.iter().rev().find_map(|call| call.result_of("product_search")).filter(|found| cards::items(found).is_empty())
}

/// What a customer took of the suggestions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Way {
    /// A search with these arguments.
    Search(Value),
    /// A question to the customer.
    Question(String),
    /// Nothing is left to take away: the search was made without those words.
    Made,
}

/// The suggestion whose label a message is.
pub(crate) fn taken(message: &str, offered: &[Value]) -> Option<Way> {
    let one = offered.iter().find(|one| one["label"].as_str() == Some(message.trim()))?;
    let payload = &one["payload"];
    match payload["type"].as_str()? {
        // In quotation marks it goes out as it is.
        "search_retry" => Some(Way::Search(json!({"query": format!("“{}”", text(&payload["query"])?)}))),
        "remove_constraints" => Some(text(&one["words"]).map_or(Way::Made, |words| Way::Search(json!({"query": words})))),
        "ask_clarify" => text(&payload["question"]).map(Way::Question),
        _ => None,
    }
}

impl Turn<'_> {
    /// Follows a suggestion. No model is asked: it would only search for the label.
    pub(crate) async fn go_on(&self, way: Way, state: &mut State, answer: &mut Answer) -> Result<(), Fault> {
        match way {
            Way::Search(arguments) => self.search_for(arguments, state, answer).await,
            Way::Question(question) => {
                answer.text = question;
                self.keep_exchange(answer).await
            }
            Way::Made => self.told(Text::SearchedWithout, answer).await,
        }
    }

    async fn search_for(&self, arguments: Value, state: &mut State, answer: &mut Answer) -> Result<(), Fault> {
        let engine = self.app.host.engine();
        let specs = engine.specs();
        let Some(search) = specs.iter().find(|spec| spec.model_name == "product_search") else { return Err(Fault::internal(self.locale)) };
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
            // While nothing is found, what was offered before is still wanted.
            let before = std::mem::take(&mut state.ways_on);
            state.ways_on = if answer.cards.is_empty() { to_keep(&answer.calls, &before) } else { Vec::new() };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::teller::tests::done;

    fn search(effective: &str, payloads: Value) -> Call {
        let offered: Vec<Value> = payloads.as_array().into_iter().flatten().map(|payload| json!({"label": payload["type"], "payload": payload})).collect();
        done("product_search", json!({}), json!({"items": [], "refinements": offered, "querySimplification": {"effectiveQuery": effective}}))
    }

    #[test]
    fn every_label_that_is_offered_is_followed_as_long_as_only_they_are() {
        let first = search(
            "xyzzy",
            json!([{"type": "search_retry", "query": "red xyzzy"}, {"type": "remove_constraints", "constraintsToRemove": ["red", "maxPrice"]}]),
        );
        let second = search("red xyzzy", json!([{"type": "ask_clarify", "questionId": "product_type", "question": "What kind?"}]));
        let kept = to_keep(&[second], &to_keep(&[first], &[]));
        assert_eq!(taken(" search_retry ", &kept), Some(Way::Search(json!({"query": "“red xyzzy”"}))));
        assert_eq!(taken("remove_constraints", &kept), Some(Way::Search(json!({"query": "xyzzy"}))), "the words of its own search");
        assert_eq!(taken("ask_clarify", &kept), Some(Way::Question("What kind?".into())));
        assert_eq!(taken("something else", &kept), None);

        let mut only_words = search("xyzzy", json!([{"type": "remove_constraints", "constraintsToRemove": ["red"]}]));
        only_words.data["querySimplification"]["droppedTokens"] = json!(["red"]);
        assert_eq!(taken("remove_constraints", &to_keep(&[only_words], &[])), Some(Way::Made), "it would be the same search");
    }
}
