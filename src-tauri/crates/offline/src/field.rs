//! Determines from its words to which pack a clause belongs. A manifest lists the words of the
//! pack's subject area. A listed word is exclusive to the pack if no other installed pack's phrases
//! use it. If a clause contains none of a pack's exclusive words, it belongs to another pack whose
//! words it contains.

use std::{collections::HashSet, ops::Range};

use contract::manifest::PackOffline;
use language::{Token, WordSet};

use super::pattern::Pattern;

/// The words of a manifest, before the comparison with the other packs.
#[derive(Debug)]
pub(super) struct PackWords {
    /// The words that the manifest lists for its subject area.
    listed: WordSet,
    lists_any: bool,
    /// The words of phrases that are sufficient for a request.
    asking: HashSet<String>,
    /// The words of all phrases of the pack.
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

    /// Adds a phrase that is sufficient for a request.
    pub(super) fn add_trigger(&mut self, phrase: &Pattern) {
        if !phrase.weak {
            self.asking.extend(phrase.words().map(str::to_owned));
        }
        self.add_words(phrase.words());
    }

    /// Adds words that indicate the pack but are not sufficient for a request.
    pub(super) fn add_words<'w>(&mut self, words: impl Iterator<Item = &'w str>) {
        self.spoken.extend(words.map(str::to_owned));
    }
}

/// The subject area of each pack, in the order of the packs.
#[derive(Debug, Default)]
pub(super) struct Fields(Vec<Field>);

#[derive(Debug)]
struct Field {
    words: PackWords,
    /// The words that the phrases of other packs use, so that they are exclusive to no pack.
    shared: HashSet<String>,
}

/// The number of words in a clause that indicate a pack.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    /// The tokens that are words of the subject area or part of a name of the pack.
    own: usize,
    /// The number of these tokens that are used in requests to the pack.
    asking: usize,
}

/// The number of words in a clause that indicate each pack.
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

    /// Counts the words of a clause for each pack. `names` are the packs of the names in the
    /// clause, with their tokens. A word in a name counts only for the pack of the name.
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
    /// Whether the clause contains words of another pack's subject area and fits that pack at least
    /// as well as this pack. A matched phrase counts as a word. A pack that lists no words always
    /// fits.
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

    /// Returns for each pack whether a text fits another pack, given that a phrase of each pack
    /// matches.
    fn fits_another(packs: Vec<PackWords>, text: &str) -> Vec<bool> {
        let (count, tokens) = (packs.len(), tokens(text));
        let fields = Fields::new(packs);
        let counts = fields.count_words(&tokens, &word_indices(&tokens), &[]);
        (0..count).map(|pack| counts.fits_another(pack, true)).collect()
    }

    #[test]
    fn a_clause_is_assigned_to_the_pack_whose_vocabulary_it_uses() {
        let fits = |text| {
            let shop = pack(&["cart", "boots"], &["my cart", "^show"]);
            let campaigns = pack(&["budget", "campaign"], &["budget", "campaign", "how is"]);
            // A pack without listed words fits every clause.
            let notes = pack(&[], &["remember"]);
            fits_another(vec![shop, campaigns, notes], text)
        };
        assert_eq!(fits("how is my cart"), [false, true, false]);
        assert_eq!(fits("show the budget"), [true, false, false]);
        // No phrase matches "boots", and both packs are named.
        assert_eq!(fits("how is the campaign for boots"), [false, false, false]);
        assert_eq!(fits("the budget of the campaign for boots"), [true, false, false]);
        assert_eq!(fits("show boots within my budget"), [false, false, false]);
    }

    #[test]
    fn words_that_two_packs_use_do_not_decide_between_them() {
        let packs = || {
            let shop = pack(&["run", "boots"], &["run"]);
            let campaigns = pack(&["budget"], &["budget", "run out"]);
            vec![shop, campaigns]
        };
        assert_eq!(fits_another(packs(), "when does it run out"), [false, false]);
        assert_eq!(fits_another(packs(), "when does the budget run out"), [true, false]);
    }
}
