//! Decides whether a question is about everything. Such a question names nothing, and nothing is
//! inherited from the conversation, or it explicitly asks for all. The manifests define the intent
//! that answers.

use contract::manifest::SlotKind;
use language::Token;

use super::{
    facts::Facts,
    goal::Goal,
    reader::{Match, Reader},
    values,
};

/// Words that ask for all things of the following noun.
const ALL: &[&str] = &[
    "all", "every", "each", "both", "across", "my", "our", "alla", "varje", "samtliga", "bada",
    "mina", "vara",
];

impl Reader<'_> {
    /// Returns the intent that answers for everything if the clause is about everything. `before`
    /// is the goal of the previous clause.
    pub(super) fn widen(
        &self,
        found: Match,
        clause: &[Token],
        facts: &Facts,
        before: Option<&Goal>,
    ) -> Match {
        let tool = &self.book.tools[found.tool];
        let Some(overall) = &tool.intents[found.intent].overall else { return found };
        let is_named = facts.named.iter().any(|named| named.pack == tool.pack);
        let wide = self.book.tool_by_id(tool.pack, &overall.tool).and_then(|wide| {
            let named = |intent: &contract::manifest::Intent| intent.name == overall.intent;
            Some((wide, self.book.tools[wide].intents.iter().position(named)?))
        });
        let Some((wide, intent)) = wide else { return found };
        let is_wide =
            self.claims_all(tool.pack, clause) || !self.carries_name(found.tool, wide, before);
        if is_named || !is_wide { found } else { Match { tool: wide, intent, ..found } }
    }

    /// Whether a clause asks for all things of a kind: "all accounts", "all three accounts".
    pub(super) fn claims_all(&self, pack: usize, clause: &[Token]) -> bool {
        (0..clause.len()).any(|at| self.claims_all_at(pack, clause, at))
    }

    /// Whether words for all things of a kind begin at this token.
    pub(super) fn claims_all_at(&self, pack: usize, clause: &[Token], at: usize) -> bool {
        let is_noun = |i: usize| clause.get(i).is_some_and(|token| self.is_noun(pack, token));
        let is_between = |i: usize| {
            clause.get(i).is_some_and(|token| {
                token.any(ALL)
                    || token.any(&["the", "of", "de", "av"])
                    || language::numbers::read_whole(clause, i).is_some()
            })
        };
        clause[at].any(ALL)
            && (is_noun(at + 1)
                || (is_between(at + 1)
                    && (is_noun(at + 2) || (is_between(at + 2) && is_noun(at + 3)))))
    }

    /// Whether a call of the tool would inherit a name from the previous clause or from the newest
    /// call, unless the newest call was about everything.
    fn carries_name(&self, tool: usize, wide: usize, before: Option<&Goal>) -> bool {
        let has_name = |args: &serde_json::Map<String, serde_json::Value>| {
            self.book.tools[tool].slots.iter().any(|slot| {
                matches!(slot.kind, SlotKind::Entity { .. })
                    && values::get(args, &slot.parameter).is_some()
            })
        };
        if let Some(before) = before.filter(|before| [tool, wide].contains(&before.tool)) {
            return before.tool == tool && has_name(&before.args);
        }
        let newest = self.state.calls.iter().rev().find(|done| [tool, wide].contains(&done.tool));
        newest.is_some_and(|done| done.tool == tool && has_name(&done.args))
    }
}
