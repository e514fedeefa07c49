//! Sorts found things as the message requests ("the two cheapest"), and removes the things that it
//! excludes ("but not in black"). The module works on JSON items only.

use std::sync::Arc;

use contract::manifest::{Ranking, Side, SlotKind, Thing, ThingSource};
use language::{Token, TokenKind};
use serde_json::{Map, Value, json};

use super::{
    book::{Book, Pack},
    facts::{Facts, Quantity},
    goal::{Goal, Ranked},
    plan::is_partial,
    things, values,
};

/// Words between attributes that are excluded together: "not in black or grey".
const JOINING: &[&str] = &["in", "or", "and", "nor", "i", "eller", "och", ",", "any", "the", "a"];

impl Book {
    /// Finds the order that a clause requests for a tool's things, with the tokens that express the
    /// order.
    pub(super) fn find_ranking(
        &self,
        tool: usize,
        tokens: &[Token],
        facts: &Facts,
    ) -> Option<(Ranked, Vec<usize>)> {
        let data = &self.tools[tool];
        let is_search = data.has_slot(|kind| matches!(kind, SlotKind::Words));
        if !is_search && data.thing().is_none() {
            return None;
        }
        let (thing, index, hit) = self.packs[data.pack]
            .rankings
            .iter()
            .filter_map(|(thing, index, phrase)| {
                Some((thing, *index, phrase.find(tokens, &facts.words)?))
            })
            .max_by_key(|(.., hit)| hit.score)?;
        let count = match facts.quantity {
            Some(Quantity::Whole(count)) => Some(count),
            Some(Quantity::Impossible) | None => facts.first,
        };
        Some((Ranked { thing: thing.clone(), index, count }, hit.used))
    }

    /// Returns the sort order of a goal.
    pub(super) fn ranking(&self, goal: &Goal) -> Option<&Ranking> {
        let ranked = goal.ranking.as_ref()?;
        let pack = self.pack_of(goal.tool);
        pack.thing(&ranked.thing)?.rankings.get(ranked.index)
    }

    /// Returns the result of a search in the goal's order, without excluded things. Returns none if
    /// the search did not return all things, because the order is unknown then.
    pub(super) fn sort_and_filter(
        &self,
        goal: &Goal,
        source: &ThingSource,
        thing: &Thing,
        result: &Arc<Value>,
    ) -> Option<Arc<Value>> {
        let ranking = self.ranking(goal);
        if ranking.is_none() && goal.excluded.is_empty() {
            return Some(Arc::clone(result));
        }
        if ranking.is_some() && is_partial(source, result) {
            return None;
        }
        let mut arranged = (**result).clone();
        let Some(Value::Array(items)) = arranged.pointer_mut(&source.list) else {
            return Some(Arc::clone(result));
        };
        let pack = self.pack_of(goal.tool);
        items.retain(|item| !is_excluded(pack, thing, item, &goal.excluded));
        if let Some(ranking) = ranking {
            sort(items, ranking);
            let count = goal.ranking.as_ref().and_then(|ranked| ranked.count);
            items.truncate(count.map_or(usize::MAX, |count| count as usize));
        }
        let left = items.len();
        if !is_partial(source, result)
            && let Some(total) = source.total.as_ref().and_then(|at| arranged.pointer_mut(at))
        {
            *total = json!(left);
        }
        Some(Arc::new(arranged))
    }
}

/// Sorts items by a number. Items without the number come last.
pub(super) fn sort(items: &mut [Value], ranking: &Ranking) {
    let number = |item: &Value| values::as_number(item.pointer(&ranking.field)?);
    items.sort_by(|a, b| match (number(a), number(b)) {
        (Some(a), Some(b)) => match ranking.side {
            Side::Below => a.total_cmp(&b),
            Side::Above => b.total_cmp(&a),
        },
        (Some(_), None) => std::cmp::Ordering::Less,
        (None, Some(_)) => std::cmp::Ordering::Greater,
        (None, None) => std::cmp::Ordering::Equal,
    });
}

/// Sets the arguments with which a search returns all things.
pub(super) fn set_arguments(ranking: &Ranking, args: &mut Map<String, Value>) {
    for (name, value) in &ranking.set {
        values::set(args, name, value.clone());
    }
}

/// Finds the attributes that a clause excludes, with the tokens that express the exclusion.
pub(super) fn find_excluded(
    pack: &Pack,
    tokens: &[Token],
    facts: &Facts,
) -> (Vec<String>, Vec<usize>) {
    let (mut words, mut used) = (Vec::new(), Vec::new());
    let describes = |token: &Token| {
        token.kind == TokenKind::Word && pack.is_attribute(pack.canonical_word(&token.norm))
    };
    for &start in &facts.negations {
        let mut at = start + 1;
        let mut found = Vec::new();
        while let Some(token) = tokens.get(at) {
            if describes(token) {
                found.push(at);
            } else if !token.any(JOINING) && !token.any(&["is", "ar", "not", "inte"]) {
                break;
            }
            at += 1;
        }
        if let Some(&last) = found.last() {
            for word in found.iter().map(|&i| tokens[i].raw.to_lowercase()) {
                if !words.contains(&word) {
                    words.push(word);
                }
            }
            used.extend(start..=last);
        }
    }
    (words, used)
}

/// Whether all attributes of an item are excluded.
fn is_excluded(pack: &Pack, thing: &Thing, item: &Value, excluded: &[String]) -> bool {
    let meant = |word: &str| pack.canonical_word(&language::fold(word)).to_owned();
    let excluded: Vec<String> = excluded.iter().map(|word| meant(word)).collect();
    let own: Vec<String> = things::words_of(thing, item)
        .iter()
        .map(|word| meant(word))
        .filter(|word| pack.is_attribute(word) && word.chars().count() > 3)
        .collect();
    !own.is_empty() && own.iter().all(|word| excluded.contains(word))
}
