//! Finds the intents whose phrases and slots match a clause, and the best of them. Messages are
//! split elsewhere.

use std::ops::Range;

use contract::manifest::SlotKind;
use language::{Token, TokenKind};

use super::{
    facts::Facts,
    fill,
    pattern::Hit,
    reader::{Match, Reader},
    score, social,
};

/// The lowest score at which an intent matches.
pub(super) const ENOUGH: i32 = 10;

/// A quotation with fewer words may be a name or a value.
const WORDS_QUOTED: usize = 3;

/// Returns the tokens of a quoted sentence, if words precede or follow the quotation.
fn find_quotation(tokens: &[Token]) -> Option<Range<usize>> {
    let is_mark =
        |token: &&Token| ["\"", "\u{201c}", "\u{201d}", "\u{201e}"].contains(&token.fold.as_str());
    let open = tokens.iter().position(|token| is_mark(&token))?;
    let length = tokens[open + 1..].iter().position(|token| is_mark(&token))?;
    let inside = open + 1..open + 1 + length;
    let count = |all: &[Token]| all.iter().filter(|token| token.kind != TokenKind::Punct).count();
    let words = count(&tokens[inside.clone()]);
    (words >= WORDS_QUOTED && count(tokens) > words).then_some(inside)
}

impl Reader<'_> {
    /// Returns all intents that match a clause.
    pub(super) fn find_candidates(&self, tokens: &[Token], facts: &Facts) -> Vec<Match> {
        let mut all: Vec<Match> = Vec::new();
        let for_it = self.book.triggers.find(tokens, &facts.words);
        let against = self.book.against.find(tokens, &facts.words);
        let names: Vec<_> = facts.named.iter().map(|n| (n.pack, n.at.clone())).collect();
        let fields = self.book.fields.count_words(tokens, &facts.words, &names);
        let hedged = social::is_hedged(tokens, &facts.words);
        let quoted = find_quotation(tokens).unwrap_or_default();
        for (tool, data) in self.book.tools.iter().enumerate() {
            for intent in 0..data.intents.len() {
                // "I might buy two" is not a request yet.
                if hedged && data.is_write() {
                    continue;
                }
                if against.iter().any(|(key, ..)| *key == (tool, intent)) {
                    continue;
                }
                let hits: Vec<(&Hit, bool)> = for_it
                    .iter()
                    .filter(|(key, ..)| *key == (tool, intent))
                    .map(|(_, hit, weak)| (hit, *weak))
                    .collect();
                if fields.fits_another(data.pack, !hits.is_empty()) {
                    continue;
                }
                let Some(found) = self.score_intent(tool, intent, tokens, facts, &hits) else {
                    continue;
                };
                // "Translate 'the budget is spent'" does not ask about a budget.
                let is_quoted = |at: &usize| quoted.contains(at);
                let adds_nothing =
                    |at: &usize| is_quoted(at) || language::is_stop_word(&tokens[*at].fold);
                if found.used.iter().any(is_quoted) && found.used.iter().all(adds_nothing) {
                    continue;
                }
                all.extend((found.score >= ENOUGH).then_some(found));
            }
        }
        all
    }

    /// Returns the intent that best matches a clause.
    pub(super) fn best_candidate(&self, tokens: &[Token], facts: &Facts) -> Option<Match> {
        let all = self.find_candidates(tokens, facts);
        // The names and dates after the cue are part of a verbatim text, so they indicate no other
        // tool.
        if let Some(found) = all.iter().find(|found| self.leads_to_verbatim(found, tokens, facts)) {
            return Some(found.clone());
        }
        // Of equal matches, the first is taken. A match by a phrase is better than a match only by
        // names, and a specific question is better than the general question.
        let better = |a: &Match, b: &Match| (a.score, a.strong) > (b.score, b.strong);
        let best =
            all.iter().reduce(|best, found| if better(found, best) { found } else { best })?;
        let special = all.iter().filter(|found| {
            best.intent == 0 && found.tool == best.tool && found.intent > 0 && found.strong
        });
        let special = special.reduce(|best, found| if better(found, best) { found } else { best });
        Some(special.unwrap_or(best).clone())
    }

    /// Returns the cue after which a match takes the rest of the clause verbatim.
    pub(super) fn cue_of_verbatim(
        &self,
        found: &Match,
        tokens: &[Token],
        facts: &Facts,
    ) -> Option<Hit> {
        let tool = &self.book.tools[found.tool];
        let slots = tool.slots.iter().zip(&tool.cues).filter(|_| found.strong);
        let verbatim = slots.filter(|(slot, _)| matches!(slot.kind, SlotKind::Verbatim));
        verbatim.flat_map(|(_, cues)| cues).find_map(|cue| cue.find(tokens, &facts.words))
    }

    /// Whether a clause consists only of the request, a cue, and a text after the cue.
    fn leads_to_verbatim(&self, found: &Match, tokens: &[Token], facts: &Facts) -> bool {
        let Some(cue) = self.cue_of_verbatim(found, tokens, facts) else { return false };
        let end = cue.used.last().copied().unwrap_or_default();
        let says_nothing = |i: &usize| {
            found.used.contains(i)
                || cue.used.contains(i)
                || language::is_stop_word(&tokens[*i].norm)
        };
        facts.words.iter().take_while(|i| **i <= end).all(says_nothing)
    }

    fn score_intent(
        &self,
        tool: usize,
        intent: usize,
        tokens: &[Token],
        facts: &Facts,
        hits: &[(&Hit, bool)],
    ) -> Option<Match> {
        let data = &self.book.tools[tool];
        let want = &data.intents[intent];
        let base = hits.iter().map(|(hit, _)| hit.score).max().unwrap_or(0);
        let strong = hits.iter().any(|(_, weak)| !weak);
        let mut used: Vec<usize> =
            hits.iter().flat_map(|(hit, _)| hit.used.iter().copied()).collect();
        used.sort_unstable();
        used.dedup();
        let evidence = score::score_slots(self, tool, tokens, facts);
        let cued = score::find_cues(self, tool, tokens, facts);
        let mut beside = used.clone();
        beside.extend(&cued);
        let left = facts.unused_content_words(tokens, &beside, data.pack);
        let leftover = left
            .iter()
            .filter(|&&i| {
                tokens[i].kind == TokenKind::Word
                    && !self.book.pack_of(tool).is_vocabulary(&tokens[i].norm)
            })
            .count();
        // The tool that was used last gets a higher score.
        let current = self.state.last.is_some_and(|(last, _)| last == tool);
        let other_field = facts.words.iter().any(|&i| {
            self.book
                .packs
                .iter()
                .enumerate()
                .any(|(pack, other)| pack != data.pack && other.is_vocabulary(&tokens[i].norm))
        });
        let named = !strong
            && base > 0
            && !other_field
            && fill::find_unknown_name(self, tokens, facts, &used, tool).is_some();
        let undated = facts.period.is_some()
            && !data.has_slot(|kind| matches!(kind, SlotKind::DateStart | SlotKind::DateEnd));
        let evidence = evidence - 6 * i32::from(undated && !data.is_write());
        let score = if base > 0 {
            // In "Tell me about Bluebell", the only remaining word is another pack's name, so the
            // question belongs to that pack.
            let foreign = |i: &usize| {
                facts.named.iter().any(|name| name.pack != data.pack && name.at.contains(i))
            };
            let elsewhere =
                !data.is_write() && !left.is_empty() && left.iter().all(foreign) && evidence == 0;
            let sum = base + evidence + 4 * i32::from(current) - 8 * i32::from(elsewhere);
            // An unknown name raises the score of a vague phrase only enough to make it a question.
            if named { sum.max(ENOUGH.min(sum + 6)) } else { sum }
        } else if want.bare
            && facts.words.len() <= 8
            && self.score_bare_search(tool, tokens, facts, &left, current) >= ENOUGH
        {
            self.score_bare_search(tool, tokens, facts, &left, current)
        } else if intent == 0 && leftover == 0 && evidence >= 8 {
            evidence + 3
        } else if intent == 0
            && leftover == 0
            && current
            && !data.is_write()
            && evidence >= 2
            && facts.words.len() <= 8
        {
            evidence + 8
        } else {
            return None;
        };
        Some(Match { tool, intent, score, used, strong })
    }

    /// Returns the score of a clause that consists of a few words of the pack, such as "trail
    /// shoes" or "a black backpack". After a search, words that only describe a thing are
    /// sufficient, too: "and in red?"
    fn score_bare_search(
        &self,
        tool: usize,
        tokens: &[Token],
        facts: &Facts,
        content: &[usize],
        current: bool,
    ) -> i32 {
        let pack = self.book.pack_of(tool);
        let known = content.iter().filter(|&&i| pack.is_vocabulary(&tokens[i].norm)).count();
        let describes = |i: usize| {
            pack.is_attribute(pack.canonical_word(&tokens[i].norm))
                || tokens[i].kind == TokenKind::Number
                || facts.is_unit(tokens, i)
        };
        let described = content.iter().filter(|&&i| describes(i)).count();
        let colour = content.iter().any(|&i| {
            tokens[i].kind == TokenKind::Word
                && pack.is_attribute(pack.canonical_word(&tokens[i].norm))
        });
        let sized = facts.words.iter().any(|&i| tokens[i].any(&["size", "storlek", "strl", "stl"]));
        if current && (colour || sized) && described > 0 && described == content.len() {
            return ENOUGH;
        }
        if known == 0 || content.len() > known + described + 1 {
            0
        } else {
            8 + 2 * i32::try_from(known).unwrap_or(1)
        }
    }
}
