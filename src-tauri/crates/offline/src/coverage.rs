//! The coverage rule: each word that carries meaning is used by the plan or reported. A word that
//! would change the question if it were left out stops the answer. General code; the phrases of the
//! manifests decide what is used.

use contract::manifest::SlotKind;
use language::{Token, TokenKind};

use super::{
    facts::Facts,
    goal::{Doubt, Goal},
    social,
    understand::{Match, Reader, is_boundary},
};

/// The words of a clause that a goal does not use.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Unused {
    /// Without these the question is another one.
    pub(super) decisive: Vec<String>,
    /// Without these the answer is incomplete.
    pub(super) other: Vec<String>,
}

impl Unused {
    /// Notes the words in the goal: as a doubt if they decide, otherwise below the answer.
    pub(super) fn report(self, goal: &mut Goal) {
        if goal.doubt.is_some() {
            return;
        }
        if self.decisive.is_empty() {
            goal.unused = self.other;
        } else {
            goal.doubt = Some(Doubt::Unused([self.decisive, self.other].concat()));
        }
    }
}

/// Finds the words that a goal leaves unused. `taken` are the tokens of its phrases and slots.
pub(super) fn unused(
    reader: &Reader<'_>,
    tokens: &[Token],
    facts: &Facts,
    found: &Match,
    goal: &Goal,
    taken: &[usize],
) -> Unused {
    let tool = &reader.book.tools[found.tool];
    // A search uses the words that remain, and a target takes them by name.
    if tool.writes() || tool.thing().is_some() || tool.has(|kind| matches!(kind, SlotKind::Words)) {
        return Unused::default();
    }
    let mut used: Vec<usize> = taken.to_vec();
    used.extend(taken_by_facts(reader, facts, found, goal));
    used.extend(general_phrases(reader, tokens, facts, found));
    used.extend(social::used(tokens, &facts.words));
    // A joining word at the beginning has split the message.
    used.extend(tokens.first().filter(|first| is_boundary(first)).map(|_| 0));
    let is_free = |i: &usize| !used.contains(i) && tokens[*i].kind != TokenKind::Punct;
    let mut unused = Unused::default();
    for i in (0..tokens.len()).filter(is_free) {
        let token = &tokens[i];
        let is_number = token.kind == TokenKind::Number;
        let is_plain = language::is_filler(&token.norm) || language::is_small_talk(&token.norm);
        let claims_all = claims_all(reader, tokens, facts, found, i);
        if is_number || language::is_decisive(&token.norm) || claims_all {
            unused.decisive.push(spelled(tokens, i, claims_all));
        } else if is_plain || token.fold.len() < 2 {
        } else if found.strong {
            unused.other.push(spelled(tokens, i, false));
        } else {
            unused.decisive.push(spelled(tokens, i, false));
        }
    }
    unused
}

/// Tokens of the facts that a slot of the tool takes.
fn taken_by_facts(reader: &Reader<'_>, facts: &Facts, found: &Match, goal: &Goal) -> Vec<usize> {
    let tool = &reader.book.tools[found.tool];
    let mut used: Vec<usize> = facts.elsewhere.iter().copied().collect();
    if tool.has(|kind| matches!(kind, SlotKind::DateStart | SlotKind::DateEnd)) {
        used.extend(facts.period.iter().flat_map(|period| period.at.clone()));
        used.extend(facts.before_that.iter().flat_map(|(at, _)| at.clone()));
    }
    if tool.has(|kind| matches!(kind, SlotKind::OtherStart | SlotKind::OtherEnd)) {
        used.extend(facts.other_period.iter().flat_map(|period| period.at.clone()));
    }
    let takes = |kind: &str| {
        tool.has(|slot| matches!(slot, SlotKind::Entity { entity, .. } if entity == kind))
    };
    for named in facts.named.iter().filter(|named| named.pack == tool.pack) {
        if takes(&named.kind) || goal.args.values().any(|value| value.as_str() == Some(&named.id)) {
            used.extend(named.at.clone());
        }
    }
    used
}

/// Tokens of the tool's general phrases: what any of its questions may contain.
fn general_phrases(
    reader: &Reader<'_>,
    tokens: &[Token],
    facts: &Facts,
    found: &Match,
) -> Vec<usize> {
    reader
        .book
        .triggers
        .find(tokens, &facts.words)
        .into_iter()
        .filter(|((tool, intent), _, weak)| {
            *tool == found.tool && (*intent == 0 || *intent == found.intent || *weak)
        })
        .flat_map(|(_, hit, _)| hit.used)
        .collect()
}

/// "all accounts": a claim that one account cannot answer.
fn claims_all(
    reader: &Reader<'_>,
    tokens: &[Token],
    facts: &Facts,
    found: &Match,
    at: usize,
) -> bool {
    let tool = &reader.book.tools[found.tool];
    let noun = tokens.get(at + 1).is_some_and(|next| {
        tool.nouns.iter().flatten().any(|noun| language::same_word(noun, &next.norm))
    });
    noun && facts.named.is_empty()
        && tokens[at].any(&["all", "every", "each", "both", "alla", "varje", "samtliga", "bada"])
}

/// A word as it was typed, with the small words that belong to it: "by week", "20%".
fn spelled(tokens: &[Token], at: usize, with_next: bool) -> String {
    let token = &tokens[at];
    let next = tokens.get(at + 1);
    if let Some(next) = next.filter(|next| next.fold == "%" || with_next) {
        return if next.glued {
            format!("{}{}", token.raw, next.raw)
        } else {
            format!("{} {}", token.raw, next.raw)
        };
    }
    let before = at.checked_sub(1).map(|i| &tokens[i]);
    match before.filter(|before| before.any(&["by", "per", "not", "without", "utan", "inte"])) {
        Some(before) => format!("{} {}", before.raw, token.raw),
        None => token.raw.clone(),
    }
}
