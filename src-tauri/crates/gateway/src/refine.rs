//! What can be tried after a search that found nothing, as the search itself offers it.

use serde_json::Value;

use crate::{cards, teller::Call};

/// Suggestions, when the last search of the turn found nothing.
pub(crate) fn of_turn(calls: &[Call]) -> Vec<Value> {
    let last = calls.iter().rev().find_map(|call| call.result_of("product_search"));
    last.filter(|found| cards::items(found).is_empty()).and_then(|found| found["refinements"].as_array().cloned()).unwrap_or_default()
}
