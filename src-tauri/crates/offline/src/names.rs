//! Finds the names and ids of the packs' things in a clause. The use of the names is left to the
//! caller.

use std::ops::Range;

use contract::manifest::SlotKind;
use language::{Token, TokenKind};

use super::{
    book::Book,
    facts::{Facts, Named},
};

impl Facts {
    pub(super) fn find_names(&mut self, tokens: &[Token], book: &Book) {
        for (pack, data) in book.packs.iter().enumerate() {
            for (entity, form) in &data.forms {
                let entity = *entity;
                // Several things may have the same name.
                let is_same = |at: &Range<usize>| {
                    self.named.iter().any(|named| {
                        named.pack == pack
                            && named.at == *at
                            && named.kind == data.entities[entity].kind
                            && named.entity != Some(entity)
                    })
                };
                if let Some(at) = find_sequence(tokens, &self.words, form)
                    && (at.clone().all(|i| !self.is_taken(i)) || is_same(&at))
                {
                    let found = &data.entities[entity];
                    let again = self
                        .named
                        .iter()
                        .any(|named| named.pack == pack && named.entity == Some(entity));
                    self.in_names.extend(at.clone());
                    if !again {
                        self.named.push(Named {
                            pack,
                            entity: Some(entity),
                            kind: found.kind.clone(),
                            id: found.id.clone(),
                            at,
                        });
                    }
                }
            }
        }
        self.find_ids(tokens, book);
        self.drop_contradicted_names(book);
        self.named.sort_by_key(|named| named.at.start);
    }

    /// Of several things with the same name, keeps the things that fit the other names: "Brand of
    /// account 23" is the thing in this account.
    fn drop_contradicted_names(&mut self, book: &Book) {
        let all = self.named.clone();
        let shares = |one: &Named| {
            all.iter().any(|other| other.at == one.at && other.pack == one.pack && other != one)
        };
        let fits = |one: &Named| {
            let implied = implied_values(book, one);
            all.iter().filter(|other| other.pack == one.pack && other.at != one.at).all(|other| {
                let others = implied_values(book, other);
                let agrees = |(kind, id): &(String, String)| {
                    let is_other = |(k, v): &(String, String)| k == kind && v != id;
                    let differs = other.kind == *kind && other.id != *id;
                    !differs && !others.iter().any(is_other)
                };
                implied.iter().all(agrees)
            })
        };
        let keeps: Vec<bool> = all
            .iter()
            .map(|one| {
                let has_better =
                    || all.iter().any(|o| o.at == one.at && o.pack == one.pack && fits(o));
                !shares(one) || fits(one) || !has_better()
            })
            .collect();
        let mut keeps = keeps.into_iter();
        self.named.retain(|_| keeps.next().unwrap_or(true));
    }

    /// Finds ids after the noun of their kind: "account 99", "konto nr 99", "account #99".
    pub(super) fn find_ids(&mut self, tokens: &[Token], book: &Book) {
        for tool in &book.tools {
            for (slot, nouns) in tool.slots.iter().zip(&tool.nouns) {
                let SlotKind::Entity { entity: kind, .. } = &slot.kind else { continue };
                for start in 0..tokens.len() {
                    // An id may follow another id, as in "account 17 and 23".
                    let again = tokens[start].any(&["and", "och", ",", "&", "vs", "or", "eller"])
                        && start > 0
                        && self
                            .named
                            .iter()
                            .any(|named| named.kind == *kind && named.at.end == start);
                    // The noun and the id may be a single word, as in "account17".
                    if let Some(id) = nouns
                        .iter()
                        .find_map(|noun| tokens[start].fold.strip_prefix(noun.as_str()))
                        .filter(|id| is_id(id))
                        && !self.is_taken(start)
                    {
                        let known = book.packs[tool.pack]
                            .entities
                            .iter()
                            .position(|entity| entity.kind == *kind && entity.id == id);
                        self.in_names.insert(start);
                        self.named.push(Named {
                            pack: tool.pack,
                            entity: known,
                            kind: kind.clone(),
                            id: id.to_owned(),
                            at: start..start + 1,
                        });
                        continue;
                    }
                    if self.is_taken(start)
                        || !(again || nouns.iter().any(|noun| tokens[start].is(noun)))
                    {
                        continue;
                    }
                    let mut at = start + 1;
                    while tokens.get(at).is_some_and(|token| {
                        token.any(&["#", "id", "nr", "no", "number", "nummer", ":", "."])
                    }) {
                        at += 1;
                    }
                    let Some(token) = tokens
                        .get(at)
                        .filter(|token| token.int().is_some() && token.fold.len() <= 8)
                    else {
                        continue;
                    };
                    // The numbers in "account for 30 days", "account 2025 report" and "account 17k"
                    // are not ids.
                    let owns = possessive_length(tokens, at + 1);
                    let scaled = owns == 0
                        && tokens
                            .get(at + 1)
                            .is_some_and(|next| next.glued && next.kind == TokenKind::Word);
                    if scaled || self.is_taken(at) {
                        continue;
                    }
                    let id = token.fold.clone();
                    let known = book.packs[tool.pack]
                        .entities
                        .iter()
                        .position(|entity| entity.kind == *kind && entity.id == id);
                    let known_already = self.named.iter().any(|named| {
                        named.pack == tool.pack && named.kind == *kind && named.id == id
                    });
                    self.in_names.extend(start..at + 1 + owns);
                    if !known_already {
                        self.named.push(Named {
                            pack: tool.pack,
                            entity: known,
                            kind: kind.clone(),
                            id,
                            at: start..at + 1,
                        });
                    }
                }
            }
        }
    }
}

/// Returns the kinds and ids that a name implies, such as the account of a campaign.
fn implied_values(book: &Book, named: &Named) -> Vec<(String, String)> {
    let Some(entity) = named.entity.map(|i| &book.packs[named.pack].entities[i]) else {
        return Vec::new();
    };
    let kind_of = |parameter: &String| {
        book.tools
            .iter()
            .filter(|tool| tool.pack == named.pack)
            .flat_map(|tool| &tool.slots)
            .filter(|slot| slot.parameter == *parameter)
            .find_map(|slot| match &slot.kind {
                SlotKind::Entity { entity, .. } => Some(entity.clone()),
                _ => None,
            })
    };
    entity
        .implies
        .iter()
        .filter_map(|(parameter, value)| Some((kind_of(parameter)?, value.clone())))
        .collect()
}

fn is_id(text: &str) -> bool {
    (1..=8).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
}

/// Returns the number of tokens in the possessive ending of "account 17s" or "17's".
fn possessive_length(tokens: &[Token], at: usize) -> usize {
    let s = |i: usize| tokens.get(i).is_some_and(|token| token.glued && token.fold == "s");
    let sign = tokens
        .get(at)
        .is_some_and(|token| token.glued && ["'", "’"].contains(&token.fold.as_str()));
    if s(at) { 1 } else { usize::from(sign && s(at + 1)) * 2 }
}

/// Returns the range in which the words of a name occur in sequence.
fn find_sequence(tokens: &[Token], words: &[usize], form: &[String]) -> Option<Range<usize>> {
    if form.is_empty() || words.len() < form.len() {
        return None;
    }
    (0..=words.len() - form.len()).find_map(|start| {
        let fits = form.iter().enumerate().all(|(i, word)| {
            let token = &tokens[words[start + i]];
            // A trailing "s" is accepted ("Fernhills"). Other endings make other words: "mössor"
            // does not mean "Moss".
            token.is(word)
                || (word.len() >= 4 && token.norm.strip_suffix('s') == Some(word.as_str()))
        });
        fits.then(|| words[start]..words[start + form.len() - 1] + 1)
    })
}
