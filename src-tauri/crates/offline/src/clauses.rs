//! Splits a message into clauses, each with one request. Arguments are filled elsewhere.

use language::{Token, TokenKind};

use super::{
    facts::Facts,
    reader::{Match, Reader},
    social,
};

/// Words at the start of a part that exclude something from the request before the part.
const EXCLUDING: &[&str] = &[
    "not",
    "except",
    "excluding",
    "without",
    "minus",
    "inte",
    "ej",
    "utan",
    "utom",
    "forutom",
    "exklusive",
];

/// Joins the last part to the part before it if the last part has only punctuation. In ", and",
/// both tokens would begin a part, but the comma belongs to a verbatim text.
fn join_signs(parts: &mut Vec<Vec<Token>>) {
    let is_only_signs = |part: &Vec<Token>| part.iter().all(|token| token.kind == TokenKind::Punct);
    if parts.len() > 1
        && let Some(signs) = parts.pop_if(|part| is_only_signs(part))
        && let Some(before) = parts.last_mut()
    {
        before.extend(signs);
    }
}

impl Reader<'_> {
    /// Splits a message where a new request begins. A part without a request of its own belongs to
    /// the part before it. If such a part names another thing of the same kind ("add a tent and a
    /// backpack"), the part repeats that request.
    pub(super) fn split_clauses(&self, tokens: &[Token]) -> Vec<(Vec<Token>, Option<Match>)> {
        let whole = self.facts_of(tokens);
        let mut parts: Vec<Vec<Token>> = vec![Vec::new()];
        for (i, token) in tokens.iter().enumerate() {
            let splits = !whole.is_taken(i) && !whole.is_joined_number(i) && is_boundary(token);
            if splits {
                join_signs(&mut parts);
                parts.push(Vec::new());
            }
            parts.last_mut().into_iter().for_each(|part| part.push(token.clone()));
        }
        join_signs(&mut parts);
        let mut out: Vec<(Vec<Token>, Option<Match>)> = Vec::new();
        let mut waiting: Vec<Token> = Vec::new();
        for part in
            parts.into_iter().filter(|part| part.iter().any(|token| token.kind != TokenKind::Punct))
        {
            // A verbatim text continues to the end of its sentence.
            if let Some((last, _)) = out.last_mut()
                && !part.first().is_some_and(ends_sentence)
                && self.takes_verbatim(last)
            {
                last.extend(part);
                continue;
            }
            let facts = self.facts_of(&part);
            // A name with its own period is a separate request: "the red room today and the blue
            // room tomorrow".
            let complete = !facts.named.is_empty() && facts.period.is_some();
            let own = self.best_candidate(&part, &facts).filter(|found| {
                let alone = found.strong || (complete && !self.ends_a_list(&out));
                alone && (out.is_empty() || !excludes(&part, &facts))
            });
            if own.is_some() {
                if self.says_nothing(&waiting) {
                    waiting.clear();
                }
                let mut clause = std::mem::take(&mut waiting);
                clause.extend(part);
                out.push((clause, None));
                continue;
            }
            let Some((last, _)) = out.last() else {
                waiting.extend(part);
                continue;
            };
            let last_facts = self.facts_of(last);
            let before = self.best_candidate(last, &last_facts);
            match before.filter(|found| self.is_repeated_request(found, last, &part, &facts)) {
                Some(found) => out.push((part, Some(Match { used: Vec::new(), ..found }))),
                None => out
                    .last_mut()
                    .into_iter()
                    .for_each(|(last, _)| last.extend(part.iter().cloned())),
            }
        }
        if !waiting.is_empty() {
            match out.first_mut() {
                Some((first, _)) => {
                    waiting.append(first);
                    *first = waiting;
                }
                None => out.push((waiting, None)),
            }
        }
        out
    }

    /// Whether a clause ends with a verbatim text of a change.
    pub(super) fn takes_verbatim(&self, clause: &[Token]) -> bool {
        let facts = self.facts_of(clause);
        self.best_candidate(clause, &facts).is_some_and(|found| {
            // The verbatim text of a question, unlike that of a change, ends where another question
            // begins.
            self.book.tools[found.tool].is_write()
                && self.cue_of_verbatim(&found, clause, &facts).is_some()
        })
    }

    /// Whether the clause before names something without a period: in "bookings of the red and the
    /// blue room in october", the period after the list applies to both names.
    fn ends_a_list(&self, before: &[(Vec<Token>, Option<Match>)]) -> bool {
        before.last().is_some_and(|(last, _)| {
            let facts = self.facts_of(last);
            !facts.named.is_empty() && facts.period.is_none()
        })
    }

    /// Whether the part contains no request, like "Hello, how are you?" before a request.
    fn says_nothing(&self, tokens: &[Token]) -> bool {
        let facts = self.facts_of(tokens);
        let silent = facts.named.is_empty()
            && facts.period.is_none()
            && facts.places.is_empty()
            && facts.quantity.is_none();
        silent
            && facts.negations.is_empty()
            && facts
                .unused_content_words(
                    tokens,
                    &social::matched_tokens(tokens, &facts.words),
                    usize::MAX,
                )
                .is_empty()
    }

    fn is_repeated_request(
        &self,
        found: &Match,
        last: &[Token],
        part: &[Token],
        facts: &Facts,
    ) -> bool {
        let tool = &self.book.tools[found.tool];
        let pack = self.book.pack_of(found.tool);
        let names = |tokens: &[Token]| {
            tokens
                .iter()
                .any(|token| token.kind == TokenKind::Word && pack.is_vocabulary(&token.norm))
        };
        let things = tool.thing().is_some()
            && names(part)
            && (names(last) || !self.facts_of(last).places.is_empty());
        let entities = tool.thing().is_none()
            && !facts.named.is_empty()
            && !self.facts_of(last).named.is_empty();
        // "This month and last month" asks the same question for another period.
        let periods = tool.thing().is_none()
            && facts.period.is_some()
            && facts.named.is_empty()
            && self.facts_of(last).period.is_some();
        things || entities || periods
    }
}

/// Whether a part excludes something from the request before it, and so belongs to that one although
/// it could be a separate request: ", but not in black".
fn excludes(part: &[Token], facts: &Facts) -> bool {
    let first = part.iter().find(|token| !is_boundary(token));
    facts.named.is_empty() && first.is_some_and(|token| token.any(EXCLUDING))
}

fn ends_sentence(token: &Token) -> bool {
    token.kind == TokenKind::Punct && [".", "?", "!"].contains(&token.fold.as_str())
}

pub(super) fn is_boundary(token: &Token) -> bool {
    match token.kind {
        TokenKind::Punct => [",", ".", "?", "!", ";", "&", "+"].contains(&token.fold.as_str()),
        TokenKind::Word => {
            token.any(&[
                "and", "och", "also", "plus", "samt", "then", "but", "men", "vs", "versus",
                "compared", "jamfort",
            ]) && token.norm == token.fold
        }
        TokenKind::Number => false,
    }
}
