//! What can be tried after a search that found nothing.

use serde_json::{Value, json};

use crate::{cards, teller::Call, texts::Text};

const MOST: usize = 4;

/// Suggestions, when the last search of the turn found nothing.
pub(crate) fn of_turn(calls: &[Call], message: &str, locale: &str) -> Vec<Value> {
    let Some(last) = calls.iter().rev().find(|call| call.result_of("product_search").is_some()) else { return Vec::new() };
    if !cards::items(&last.data).is_empty() {
        return Vec::new();
    }
    let query = last.args["query"].as_str().unwrap_or_default().trim();
    let refinement = |id: &str, text: Text, payload: Value| json!({"id": id, "label": text.of(locale), "payload": payload});
    let mut found = Vec::new();
    let tried = |query: &str| calls.iter().any(|call| call.tool == "product_search" && call.args["query"].as_str() == Some(query));
    if let Some((first, _)) = query.split_once(' ').filter(|(first, _)| !tried(first)) {
        found.push(refinement("broaden_search", Text::Broaden, json!({"type": "search_broaden", "query": first})));
    }
    if !message.trim().eq_ignore_ascii_case(query) && !tried(message.trim()) {
        found.push(refinement("retry_original", Text::RetryOriginal, json!({"type": "search_retry", "query": message.trim()})));
    }
    if let Some(filters) = last.args["filters"].as_object().filter(|filters| !filters.is_empty()) {
        let names: Vec<&String> = filters.keys().collect();
        found.push(refinement("remove_constraints", Text::RemoveConstraints, json!({"type": "remove_constraints", "constraintsToRemove": names})));
    }
    let question = Text::ClarifyQuestion.of(locale);
    found.push(refinement("ask_clarify", Text::AskClarify, json!({"type": "ask_clarify", "questionId": "product_type", "question": question})));
    found.truncate(MOST);
    found
}
