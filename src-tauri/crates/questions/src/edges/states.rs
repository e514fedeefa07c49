//! Words for states: one word for several values, and the words of a verb with others between them. It must
//! not know which states there are.

use super::{Collector, Edge, edge};
use crate::{
    items::Atom,
    meaning::{Meaning, Relative},
    names::{Hit, How, Named},
    tokens::Kind,
};

/// The most words that are passed over between those of a name.
const MOST_BETWEEN: usize = 3;
/// The cost of each of them.
const BETWEEN: u32 = 2;
/// The most words behind a verb that name a state.
const LONGEST_STATE: usize = 3;
/// The cost of a word for the opposite of a value.
const OPPOSITE: u32 = 14;
/// The cost of a state behind its verb, which is less than that of a preposition.
const STATE: u32 = 2;

impl Collector<'_> {
    /// Adds the values of one dimension that share a name as one thing, and returns all other hits. Values
    /// whose own name it is stay apart: they are written alike by chance.
    pub(super) fn add_groups(
        &self,
        hits: Vec<Hit>,
        words: &[usize],
        corrected: u32,
        edges: &mut Vec<Edge>,
    ) -> Vec<Hit> {
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return hits };
        let of = |hit: &Hit| match &hit.named {
            Named::Value { dimension, .. } if hit.how != How::Own => Some(dimension.clone()),
            Named::Value { .. } | Named::Measure(_) | Named::Dimension(_) => None,
        };
        let mut dimensions: Vec<String> = hits.iter().filter_map(of).collect();
        dimensions.sort();
        dimensions.dedup();
        let mut others = hits;
        for dimension in dimensions {
            let is_own = |hit: &&Hit| of(hit).as_ref() == Some(&dimension);
            let best = others.iter().filter(is_own).map(|hit| hit.how).min();
            let same = others.iter().filter(is_own).filter(|hit| Some(hit.how) == best);
            let same: Vec<Hit> = same.cloned().collect();
            let [hit, _, ..] = same.as_slice() else { continue };
            let Some(cost) = self.cost_of(hit, words, false) else { continue };
            let value = |hit: &Hit| match &hit.named {
                Named::Value { value, .. } => Some(value.clone()),
                Named::Measure(_) | Named::Dimension(_) => None,
            };
            let values: Vec<String> = same.iter().filter_map(value).collect();
            let text = self.typed(words).join(" ");
            let correction = (corrected > 0).then(|| {
                let named = Named::Value { dimension: String::new(), value: text.clone() };
                self.correction(words, &named)
            });
            let atom = Atom::Values { dimension, values, text, is_part: false };
            edges.push(Edge { correction, ..edge(*first..last + 1, atom, cost + corrected) });
            others.retain(|hit| !same.contains(hit));
        }
        others
    }

    /// Adds the states that the words of a span name with others between them, or behind a verb.
    pub(super) fn add_states(&self, words: &[usize], edges: &mut Vec<Edge>) {
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
        let typed = self.typed(words);
        let (passed, hits) = self.names.find_open(&typed, self.scan.lexicon);
        if passed > 0 && passed <= MOST_BETWEEN {
            let more = BETWEEN * u32::try_from(passed).unwrap_or(u32::MAX);
            let begin = edges.len();
            self.add_state_hits(hits, words, edges);
            edges[begin..].iter_mut().for_each(|edge| edge.cost += more);
        }
        if words.len() > LONGEST_STATE || !self.is_alone(*last + 1) {
            return;
        }
        let is_verb = |verb: &str| self.scan.tokens[..*first].iter().any(|one| one.fold == verb);
        let hits = self.names.find_behind(&typed, is_verb);
        if hits.is_empty() {
            return;
        }
        // "Ligger efter den här månaden" names a state and a period, and not what comes after a period.
        edges.retain(|edge| !matches!(edge.atoms.as_slice(), [Atom::Period { .. }]));
        let begin = edges.len();
        self.add_state_hits(hits, words, edges);
        edges[begin..].iter_mut().for_each(|edge| edge.cost = edge.cost.min(STATE));
    }

    fn add_state_hits(&self, hits: Vec<Hit>, words: &[usize], edges: &mut Vec<Edge>) {
        for hit in self.add_groups(hits, words, 0, edges) {
            self.add_hit(hit, words, 0, edges);
        }
    }

    /// Whether no name, number or day follows, so that the word before is no preposition.
    fn is_alone(&self, next: usize) -> bool {
        let Some(token) = self.scan.tokens.get(next).filter(|token| token.kind != Kind::Sign)
        else {
            return true;
        };
        let ends = |meaning: &Meaning| {
            matches!(
                meaning,
                Meaning::And
                    | Meaning::Or
                    | Meaning::In
                    | Meaning::With
                    | Meaning::Filler
                    | Meaning::Relative(Relative::This)
            ) || *meaning == Meaning::Period("today".to_owned())
        };
        let phrases = self.scan.phrases_at(next);
        let is_said = phrases.iter().any(|(_, meanings)| meanings.iter().any(ends));
        is_said || (phrases.is_empty() && self.scan.lexicon.is_light(&token.fold))
    }

    /// Adds the opposite of a value: "unpaid" if the source only has "paid".
    pub(super) fn add_opposites(&self, words: &[usize], edges: &mut Vec<Edge>) {
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
        let lexicon = self.scan.lexicon;
        let concept = lexicon.opposites.get(&self.typed(words).concat());
        let Some(known) = concept.and_then(|concept| lexicon.concepts.get(concept)) else { return };
        let is_value = |hit: &Hit| matches!(hit.named, Named::Value { .. });
        let found = known.iter().flat_map(|word| self.names.find(&[word], lexicon));
        let flags = &self.names.flags;
        let mut values: Vec<Atom> = Vec::new();
        for hit in found {
            let atom = match &hit.named {
                Named::Dimension(name) => flags.get(name).map(|yes| Atom::Value {
                    dimension: name.clone(),
                    value: yes.clone(),
                    is_part: false,
                }),
                Named::Value { .. } | Named::Measure(_) => None,
            };
            let value = Some(hit).filter(is_value).map(|hit| super::atom_of(hit, words, self.scan));
            for value in atom.into_iter().chain(value) {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        for value in values {
            let atoms = vec![Atom::Words(vec![Meaning::Not]), value];
            edges.push(Edge { atoms, ..edge(*first..last + 1, Atom::Left, OPPOSITE) });
        }
    }

    /// Returns the words of a span in folded form.
    fn typed(&self, words: &[usize]) -> Vec<&str> {
        words.iter().map(|at| self.scan.tokens[*at].fold.as_str()).collect()
    }
}
