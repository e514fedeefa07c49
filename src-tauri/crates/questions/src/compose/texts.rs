//! Conditions on texts: "campaigns that start with Brand", "headlines containing storm or coast".

use contract::metric_query::{Condition, Test};

use super::Composer;
use crate::{
    items::Atom,
    meaning::{Meaning, TextTest},
    tokens::Kind,
};

impl Composer<'_> {
    /// Reads all conditions on texts.
    pub(super) fn read_texts(&mut self) {
        for at in 0..self.len() {
            let test = self.items[at].find(|meaning| match meaning {
                Meaning::Text(test) => Some(*test),
                _ => None,
            });
            if let Some(test) = test.filter(|_| self.is_free(at)) {
                self.read_text(at, test);
            }
        }
    }

    fn read_text(&mut self, at: usize, test: TextTest) {
        let is_not = |place: &usize| self.means(*place, &Meaning::Not);
        let negated = self.previous(at).filter(is_not);
        let Some(place) = self.previous(negated.unwrap_or(at)) else { return };
        let Some(name) = self.dimension_at(place).map(str::to_owned) else { return };
        let (texts, items) = self.texts_after(at);
        let is_excluded = negated.is_some();
        let test = match (test, is_excluded) {
            _ if texts.is_empty() => return,
            (TextTest::Starts, _) => Test::Starts(texts),
            (TextTest::Ends, _) => Test::Ends(texts),
            (TextTest::Contains, false) => Test::Contains(texts),
            (TextTest::Contains, true) => Test::NotContains(texts),
        };
        let is_turned = is_excluded && !matches!(test, Test::NotContains(_));
        let condition = Condition::Is { name: name.clone(), test };
        let condition = if is_turned { Condition::Not(Box::new(condition)) } else { condition };
        self.conditions.push((at, condition));
        for place in &items {
            // The words mean nothing else: "ending with rise" is about no rise.
            self.items[*place].atom =
                Atom::Value { dimension: name.clone(), value: String::new(), is_part: false };
        }
        items.into_iter().chain([at]).chain(negated).for_each(|at| self.take(at));
        // "Clicks for campaigns that start with X" names the campaigns to say which rows count.
        let is_said = |at: usize| {
            self.measure_at(at).is_some() || self.dimension_at(at).is_some() || self.names_rows(at)
        };
        let is_led = place.checked_sub(1).is_some_and(|before| {
            [Meaning::In, Meaning::From].iter().any(|meaning| self.means(before, meaning))
        });
        let is_ranked = || {
            (0..place).any(|at| self.means(at, &Meaning::Which) || self.is_rank(at))
                || !(0..place).any(|at| self.measure_at(at).is_some())
        };
        let is_filter = (0..place).any(is_said) && (is_led || !is_ranked());
        if is_filter && !self.is_grouped(place) {
            self.take(place);
        }
    }

    fn is_rank(&self, at: usize) -> bool {
        let found = self.items[at].find(|meaning| {
            matches!(meaning, Meaning::Rank(_) | Meaning::Count | Meaning::Distinct).then_some(())
        });
        found.is_some()
    }

    /// Returns the texts after a word, and the parts that they are made of.
    fn texts_after(&self, at: usize) -> (Vec<String>, Vec<usize>) {
        let (mut texts, mut items) = (Vec::new(), Vec::new());
        let mut next = at + 1;
        while let Some((text, used)) = self.text_at(next) {
            next = used.last().map_or(next, |last| last + 1);
            texts.push(text);
            items.extend(used);
            let is_more = self.means(next, &Meaning::Or) && self.text_at(next + 1).is_some();
            if !is_more {
                break;
            }
            next += 1;
        }
        (texts, items)
    }

    /// Returns the text that begins at a part: what is in quotes, or a name or unknown words.
    fn text_at(&self, at: usize) -> Option<(String, Vec<usize>)> {
        let first = self.items.get(at)?;
        let begin = first.tokens.start;
        let before = begin.checked_sub(1).and_then(|at| self.scan.tokens.get(at));
        let is_sign = |token: &crate::tokens::Token| {
            token.kind == Kind::Sign
                && ["\"", "'", "“", "”", "‘", "’", "«", "»"].contains(&&*token.fold)
        };
        if before.is_some_and(is_sign) {
            let end = (begin..self.scan.tokens.len()).find(|at| is_sign(&self.scan.tokens[*at]))?;
            let items = (at..self.len()).take_while(|at| self.items[*at].tokens.end <= end);
            return Some((self.written(begin, end)?, items.collect()));
        }
        let is_text = |at: usize| {
            self.items.get(at).is_some_and(|item| {
                matches!(item.atom, Atom::Left | Atom::Value { .. } | Atom::Values { .. })
                    && self.is_free(at)
            })
        };
        let is_word = matches!(first.atom, Atom::Words(_) | Atom::Number(_) | Atom::Period { .. })
            && self.scan.tokens.get(begin).is_some_and(|token| token.kind != Kind::Sign);
        if !is_text(at) && !is_word {
            return None;
        }
        let mut items = vec![at];
        items.extend((at + 1..self.len()).take_while(|at| {
            matches!(self.items[*at].atom, Atom::Left)
                && self.items[*at].tokens.start == self.items[*at - 1].tokens.end
        }));
        let end = items.last().map(|last| self.items[*last].tokens.end)?;
        Some((self.written(self.with_signs(begin), end)?, items))
    }

    /// Returns the first of the signs that a word is written with: "/blog".
    fn with_signs(&self, begin: usize) -> usize {
        let tokens = self.scan.tokens;
        let is_part = |at: usize| {
            tokens[at].is_glued && tokens[at - 1].kind == Kind::Sign && !tokens[at - 1].is_glued
        };
        if begin > 0 && is_part(begin) { begin - 1 } else { begin }
    }

    /// Returns some tokens as they were written, with their spaces.
    fn written(&self, begin: usize, end: usize) -> Option<String> {
        let mut text = String::new();
        for token in self.scan.tokens.get(begin..end)? {
            if !text.is_empty() && !token.is_glued {
                text.push(' ');
            }
            text.push_str(&token.raw);
        }
        (!text.is_empty()).then_some(text)
    }
}
