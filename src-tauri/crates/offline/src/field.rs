//! Tells from its words which pack a clause is about. A manifest lists the words of its field; those
//! that no other installed pack's phrases use are the pack's own. A pack that has none of its own
//! words in a clause leaves the clause to the pack that it names.

use std::{collections::HashSet, ops::Range};

use contract::manifest::PackOffline;
use language::{Token, WordSet};

use super::pattern::Pattern;

/// The words of one manifest, before they are compared with those of the other packs.
#[derive(Debug)]
pub(super) struct PackWords {
    /// The words that the manifest lists as its own.
    listed: WordSet,
    lists_any: bool,
    /// The words of phrases that are enough to ask for something.
    asking: HashSet<String>,
    /// The words of all phrases that speak for the pack.
    spoken: HashSet<String>,
}

impl PackWords {
    pub(super) fn new(offline: &PackOffline) -> Self {
        let listed = || offline.vocabulary.iter().chain(&offline.ignored);
        Self {
            listed: WordSet::new(listed()),
            lists_any: listed().next().is_some(),
            asking: HashSet::new(),
            spoken: HashSet::new(),
        }
    }

    /// Adds a phrase with which people ask for something.
    pub(super) fn add_trigger(&mut self, phrase: &Pattern) {
        if !phrase.weak {
            self.asking.extend(phrase.words().map(str::to_owned));
        }
        self.add_words(phrase.words());
    }

    /// Adds words that speak for the pack and ask for nothing alone.
    pub(super) fn add_words<'w>(&mut self, words: impl Iterator<Item = &'w str>) {
        self.spoken.extend(words.map(str::to_owned));
    }
}

/// The field of each pack, in the order of the packs.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<Field>);

#[derive(Debug)]
struct Field {
    words: PackWords,
    /// The words that the phrases of other packs use. They are nobody's own.
    shared: HashSet<String>,
}

/// How much a clause is about the field of one pack.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    /// The tokens that are words of the field, or a part of a name of the pack.
    own: usize,
    /// Those among them with which people ask for something of this pack.
    asking: usize,
}

/// How much a clause is about the field of each pack.
#[derive(Debug)]
pub(super) struct FieldCounts<'a> {
    fields: &'a Fields,
    counts: Vec<Count>,
}

impl Fields {
    pub(super) fn new(packs: Vec<PackWords>) -> Self {
        let shared = |at: usize| {
            let others = packs.iter().enumerate().filter(|(other, _)| *other != at);
            others.flat_map(|(_, words)| words.spoken.iter().cloned()).collect()
        };
        let shared: Vec<HashSet<String>> = (0..packs.len()).map(shared).collect();
        let fields = packs.into_iter().zip(shared);
        Self(fields.map(|(words, shared)| Field { words, shared }).collect())
    }

    /// Counts the words of a clause that belong to each pack. `names` are the packs of names in it,
    /// with their tokens; a word in a name belongs to the pack of the name alone.
    pub(super) fn count_words(
        &self,
        tokens: &[Token],
        words: &[usize],
        names: &[(usize, Range<usize>)],
    ) -> FieldCounts<'_> {
        let mut counts = vec![Count::default(); self.0.len()];
        for &at in words.iter().filter(|at| !tokens[**at].part) {
            let owners = || names.iter().filter(|(_, range)| range.contains(&at));
            if owners().next().is_some() {
                for (pack, _) in owners() {
                    counts[*pack].own += 1;
                }
                continue;
            }
            for (field, count) in self.0.iter().zip(&mut counts) {
                if field.owns(&tokens[at]) {
                    count.own += 1;
                    count.asking += usize::from(field.asks_with(&tokens[at]));
                }
            }
        }
        FieldCounts { fields: self, counts }
    }
}

impl Field {
    fn owns(&self, token: &Token) -> bool {
        self.words.listed.contains(&token.norm) && !has(&self.shared, token)
    }

    fn asks_with(&self, token: &Token) -> bool {
        has(&self.words.asking, token)
    }
}

fn has(words: &HashSet<String>, token: &Token) -> bool {
    words.contains(&token.norm) || words.contains(&token.fold)
}

impl FieldCounts<'_> {
    /// Whether the clause names the field of another pack and fits it at least as well as this one.
    /// A matched phrase counts like a word. A pack that lists no words of its field fits everywhere.
    pub(super) fn fits_another(&self, pack: usize, has_phrase: bool) -> bool {
        let own = self.counts[pack].own + usize::from(has_phrase);
        let others = self.counts.iter().enumerate().filter(|(other, _)| *other != pack);
        self.fields.0[pack].words.lists_any
            && others.map(|(_, count)| count.asking).any(|asking| asking > 0 && asking >= own)
    }
}

#[cfg(test)]
mod tests {
    use language::tokens;

    use super::*;
    use crate::pattern::word_indices;

    fn pack(listed: &[&str], triggers: &[&str]) -> PackWords {
        let vocabulary = listed.iter().map(|word| (*word).to_owned()).collect();
        let mut words = PackWords::new(&PackOffline { vocabulary, ..PackOffline::default() });
        triggers.iter().for_each(|text| words.add_trigger(&Pattern::new(text)));
        words
    }

    /// Tells for which packs a text fits another pack, if a phrase of each matches.
    fn fits_another(packs: Vec<PackWords>, text: &str) -> Vec<bool> {
        let (count, tokens) = (packs.len(), tokens(text));
        let fields = Fields::new(packs);
        let counts = fields.count_words(&tokens, &word_indices(&tokens), &[]);
        (0..count).map(|pack| counts.fits_another(pack, true)).collect()
    }

    #[test]
    fn a_clause_is_left_to_the_pack_whose_field_it_names() {
        let fits = |text| {
            let shop = pack(&["cart", "boots"], &["my cart", "^show"]);
            let campaigns = pack(&["budget", "campaign"], &["budget", "campaign", "how is"]);
            // It lists no words, so it fits every clause.
            let notes = pack(&[], &["remember"]);
            fits_another(vec![shop, campaigns, notes], text)
        };
        assert_eq!(fits("how is my cart"), [false, true, false]);
        assert_eq!(fits("show the budget"), [true, false, false]);
        // No phrase asks for boots, and both packs are named.
        assert_eq!(fits("how is the campaign for boots"), [false, false, false]);
        assert_eq!(fits("the budget of the campaign for boots"), [true, false, false]);
        assert_eq!(fits("show boots within my budget"), [false, false, false]);
    }

    #[test]
    fn words_that_two_packs_use_are_nobodys_own() {
        let packs = || {
            let shop = pack(&["run", "boots"], &["run"]);
            let campaigns = pack(&["budget"], &["budget", "run out"]);
            vec![shop, campaigns]
        };
        assert_eq!(fits_another(packs(), "when does it run out"), [false, false]);
        assert_eq!(fits_another(packs(), "when does the budget run out"), [true, false]);
    }
}
