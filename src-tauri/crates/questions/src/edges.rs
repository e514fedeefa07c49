//! All ways to read the words of a question one by one: each edge reads some words in a row as
//! something, at a cost. It must not know how the parts belong together.

use std::ops::Range;

use crate::{
    items::Atom,
    meaning::{Meaning, Relative},
    names::{FirstPart, Hit, How, LONGEST_NAME, Named, SourceNames},
    numbers::quantity,
    outcome::Correction,
    periods::periods_at,
    scan::Scan,
    tokens::Kind,
};

mod parts;
mod states;

/// The cost of a word without a meaning here.
pub(crate) const LEFT: u32 = 100;
/// The cost of an operation, a period and a number.
const WORD: u32 = 10;
/// The cost of a word that only joins others.
const LINK: u32 = 6;
/// The cost of a word without meaning. Two of them cost more than an operation that they form.
const EMPTY: u32 = 8;
/// The cost of a word that says nothing, unless a name has it. It is more than that of a part of a name.
const WEAK: u32 = 40;
/// The cost of a word that asks how something stands. Each name that has the word costs less.
const STANDING: u32 = 24;
/// The cost of a general word for an amount.
const AMOUNT: u32 = WORD + 6;
/// The cost that a value in capital letters has less.
const UPPER: u32 = 6;
/// The cost of a value that is a word of the lexicon, too.
const UNLIKELY: u32 = 8;
/// The cost of each letter that is corrected, at least.
const CORRECTED: u32 = 25;
/// The cost of a value of which only a part is named.
const PART: u32 = 30;
/// The cost that a value has less if its dimension is named beside it.
const BESIDE: u32 = 4;
/// The most words that lead a group: "broken down by".
const LONGEST_LEAD: usize = 3;
/// The most things that one span names.
const MOST_HITS: usize = 8;
/// The most corrections of a word that are tried.
const MOST_CORRECTIONS: usize = 3;

/// A way to read some words in a row.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    /// The tokens.
    pub tokens: Range<usize>,
    /// The meanings, in their order. Empty: the words say nothing.
    pub atoms: Vec<Atom>,
    /// The cost.
    pub cost: u32,
    /// The name that a misspelled word was read as.
    pub correction: Option<Correction>,
    /// All measures that a general word for an amount may mean. Empty: it is a name.
    pub amounts: Vec<String>,
}

/// Returns the ways to read the words that begin at each token.
pub(crate) fn edges(scan: &Scan<'_>, names: &SourceNames) -> Vec<Vec<Edge>> {
    let corrections: Vec<Vec<String>> = scan
        .tokens
        .iter()
        .map(|token| {
            let mut found = names.corrections(token, scan.lexicon);
            found.truncate(MOST_CORRECTIONS);
            found
        })
        .collect();
    let collector = Collector { scan, names, corrections };
    (0..scan.tokens.len()).map(|at| collector.at(at)).collect()
}

struct Collector<'a> {
    scan: &'a Scan<'a>,
    names: &'a SourceNames,
    /// The nearest words of names for each misspelled token.
    corrections: Vec<Vec<String>>,
}

impl Collector<'_> {
    fn at(&self, at: usize) -> Vec<Edge> {
        let mut edges = Vec::new();
        let token = &self.scan.tokens[at];
        let mut has_word = false;
        let mut says_more = false;
        for (len, meanings) in self.scan.phrases_at(at) {
            let may_mean =
                |meaning: &&Meaning| *len > 1 || self.scan.lexicon.may_mean(token, meaning);
            let meanings: Vec<Meaning> = meanings.iter().filter(may_mean).cloned().collect();
            has_word |=
                *len == 1 && (meanings.is_empty() || !meanings.iter().all(Meaning::is_soft));
            // A period is read as one, below.
            let is_marker = !meanings.is_empty() && meanings.iter().all(|one| *one == Meaning::Any);
            if is_marker || meanings.iter().all(Meaning::is_period) {
                continue;
            }
            let is_link = meanings.iter().all(Meaning::is_link);
            let is_standing = meanings.as_slice() == [Meaning::Standing];
            let cost = match (is_standing, *len) {
                (true, 1) => STANDING,
                (true, _) => WORD,
                (false, _) if is_link => LINK,
                (false, _) => WORD,
            };
            if self.names_its_last(at, *len, &meanings) {
                continue;
            }
            says_more |= *len == 1 && !is_link;
            edges.push(edge(at..at + len, Atom::Words(meanings), cost));
        }
        for found in periods_at(self.scan, at).into_iter().filter(|p| !self.is_edge(at, p.end)) {
            let atom = Atom::Period { period: found.period, ends: found.ends };
            edges.push(edge(at..found.end, atom, WORD));
        }
        if let Some((end, number)) = quantity(self.scan.tokens, at, self.scan.lexicon) {
            let is_negative = number.value < 0.0;
            let found = edge(at..end, Atom::Number(number), WORD);
            // The minus sign of a number says nothing else.
            if is_negative {
                return vec![found];
            }
            edges.push(found);
        }
        self.add_all_of(at, &mut edges);
        if token.kind != Kind::Sign {
            self.add_names(at, &mut edges);
            self.add_compound(at, &mut edges);
            self.add_glued(at, &mut edges);
        }
        let nothing = |cost| Edge { atoms: Vec::new(), ..edge(at..at + 1, Atom::Left, cost) };
        if token.kind == Kind::Sign && !says_more {
            edges.push(nothing(0));
        } else if self.scan.lexicon.is_empty_word(&token.fold) && !has_word {
            // "Display" with a capital letter is rather a part of a name.
            let is_name =
                self.is_marked(at) && self.names.knows(&[token.fold.as_str()], self.scan.lexicon);
            edges.push(nothing(if is_name { LEFT } else { EMPTY }));
        } else if self.scan.lexicon.is_weak_word(&token.fold) && !has_word {
            edges.push(nothing(WEAK));
        } else if !has_word {
            edges.push(edge(at..at + 1, Atom::Left, LEFT));
        }
        edges
    }

    /// Whether words such as "last day" ask for a time in which something holds, and are no period: "the
    /// last day with clicks". Behind the name of a figure or thing, they are one.
    fn is_edge(&self, at: usize, end: usize) -> bool {
        let is_unit = |place: usize| {
            let unit = self.scan.phrase(place, |m| matches!(m, Meaning::Unit(_)).then_some(()));
            unit.is_some_and(|(next, ())| next == end)
        };
        let lead = self.scan.phrase(at, |m| {
            matches!(m, Meaning::Relative(Relative::Previous | Relative::Recent)).then_some(())
        });
        let is_said = |place: &usize| {
            let hits = self.names.find(&[&self.scan.tokens[*place].fold], self.scan.lexicon);
            hits.iter().any(|hit| !matches!(hit.named, Named::Value { .. }))
        };
        let is_followed = [Meaning::With, Meaning::When]
            .iter()
            .any(|meaning| self.scan.end_of(end, meaning).is_some());
        is_followed && lead.is_some_and(|(next, ())| is_unit(next)) && !(0..at).any(|p| is_said(&p))
    }

    /// Adds the names that begin at a token.
    fn add_names(&self, at: usize, edges: &mut Vec<Edge>) {
        let mut words: Vec<usize> = Vec::new();
        for place in at..self.scan.tokens.len() {
            if self.scan.tokens[place].kind == Kind::Sign {
                continue;
            }
            words.push(place);
            if words.len() > LONGEST_NAME {
                break;
            }
            self.add_source(&words, edges);
            self.add_states(&words, edges);
            let variants = words.iter().map(|word| self.corrections[*word].len()).max();
            for variant in 0..variants.unwrap_or(0).max(1) {
                self.add_span(&words, variant, edges);
            }
        }
    }

    fn add_source(&self, words: &[usize], edges: &mut Vec<Edge>) {
        let key: String = words.iter().map(|at| self.scan.tokens[*at].fold.as_str()).collect();
        if key == self.names.source
            && let (Some(first), Some(last)) = (words.first(), words.last())
            && (!self.names_more(words) || self.follows_place(*first))
        {
            edges.push(edge(*first..last + 1, Atom::Source, LINK));
        }
    }

    /// Whether the words of a span name a thing of the source, too: "orders" in a source of that name.
    fn names_more(&self, words: &[usize]) -> bool {
        let words: Vec<&str> = words.iter().map(|at| self.scan.tokens[*at].fold.as_str()).collect();
        !self.names.find(&words, self.scan.lexicon).is_empty()
    }

    /// Whether a word such as "by" is before a token.
    fn is_grouped(&self, at: usize) -> bool {
        let groups = |meaning: &Meaning| {
            matches!(
                meaning,
                Meaning::By | Meaning::Per | Meaning::Within | Meaning::Sort | Meaning::Distinct
            )
        };
        (1..=LONGEST_LEAD.min(at)).any(|back| {
            let phrases = self.scan.phrases_at(at - back).iter();
            phrases.filter(|(len, _)| *len == back).any(|(_, all)| all.iter().any(groups))
        })
    }

    /// Whether a word such as "in" is before a token.
    fn follows_place(&self, at: usize) -> bool {
        let before = at.checked_sub(1).filter(|before| !self.ends_a_name(*before));
        let before = before.map(|before| self.scan.phrases_at(before));
        let mut meanings = before.into_iter().flatten().flat_map(|(_, meanings)| meanings.iter());
        meanings.any(|meaning| matches!(meaning, Meaning::In | Meaning::From))
    }

    /// Adds the things that the words of a span name, with one choice of corrections.
    fn add_span(&self, words: &[usize], variant: usize, edges: &mut Vec<Edge>) {
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
        let tokens = *first..last + 1;
        let mut errors = 0;
        let said = if self.is_owner(words) { &words[..words.len() - 1] } else { words };
        let typed: Vec<&str> = said
            .iter()
            .map(|at| {
                let nearest = &self.corrections[*at];
                let fold = self.scan.tokens[*at].fold.as_str();
                let Some(word) = nearest.get(variant).or(nearest.first()) else { return fold };
                errors += 1;
                word.as_str()
            })
            .collect();
        let mut hits = self.names.find(&typed, self.scan.lexicon);
        hits.truncate(MOST_HITS);
        let is_named = !hits.is_empty();
        let corrected = CORRECTED * errors;
        let hits = self.add_groups(hits, words, corrected, edges);
        for hit in hits {
            self.add_hit(hit, words, corrected, edges);
        }
        if !is_named {
            self.add_amounts(&typed.concat(), tokens, edges);
        }
        if typed.len() == 1 && !is_named {
            self.add_opposites(words, edges);
        }
        self.add_parts(&typed, words, corrected, edges);
        self.add_owners(&typed, words, corrected, edges);
    }

    /// Adds a thing that the words of a span name.
    fn add_hit(&self, hit: Hit, words: &[usize], corrected: u32, edges: &mut Vec<Edge>) {
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
        let tokens = *first..last + 1;
        let is_beside = matches!(&hit.named, Named::Value { dimension, .. }
            if self.is_beside(dimension, *first, *last));
        let Some(mut cost) = self.cost_of(&hit, words, is_beside) else { return };
        if is_beside {
            cost = cost.saturating_sub(BESIDE);
        }
        let typed = || words.iter().map(|at| self.scan.tokens[*at].fold.as_str());
        let may_be_source = matches!(hit.named, Named::Dimension(_))
            || hit.named == Named::Measure("rows".to_owned());
        let is_source = may_be_source
            && typed().collect::<String>() == self.names.source
            && self.follows_place(*first);
        // A name rarely begins with a word that says nothing: "av bokningar" is not "avbokningar".
        let is_empty = |at: &usize| self.scan.lexicon.is_empty_word(&self.scan.tokens[*at].fold);
        let is_state = hit.how == How::Synonym && matches!(hit.named, Named::Value { .. });
        if is_source || (words.len() > 1 && is_empty(first) && !is_state) {
            cost += UNLIKELY;
        }
        let correction = (corrected > 0).then(|| self.correction(words, &hit.named));
        cost += corrected;
        // "Orders that were returned" are those of which it holds.
        if let Named::Dimension(name) = &hit.named
            && let Some(yes) = self.names.flags.get(name).filter(|_| !self.is_grouped(*first))
        {
            let (dimension, value) = (name.clone(), yes.clone());
            let value = Atom::Value { dimension, value, is_part: false };
            let correction = correction.clone();
            edges.push(Edge { correction, ..edge(tokens.clone(), value, cost) });
            cost += WORD;
        }
        let atoms = vec![atom_of(hit, words, self.scan)];
        edges.push(Edge { atoms, correction, ..edge(tokens, Atom::Left, cost) });
    }

    /// Adds the measures that a general word for an amount may mean.
    fn add_amounts(&self, word: &str, tokens: Range<usize>, edges: &mut Vec<Edge>) {
        let all = self.names.amounts(word);
        // "Bought for" says it, and one of its words alone may be a thing.
        let cost = if tokens.len() > 1 { WORD } else { AMOUNT };
        for name in all {
            let atom = Atom::Measure(name.clone());
            edges.push(Edge { amounts: all.to_vec(), ..edge(tokens.clone(), atom, cost) });
        }
    }

    /// Returns the cost of a name. None if the words are more likely to say nothing.
    fn cost_of(&self, hit: &Hit, words: &[usize], is_beside: bool) -> Option<u32> {
        let base = match hit.how {
            How::Own => WORD - 2,
            How::Synonym => WORD - 1,
            How::Form => WORD,
            How::Vocabulary => WORD + 2,
            How::Column => WORD + 4,
        };
        let ([at], Named::Value { .. }) = (words, &hit.named) else { return Some(base) };
        let token = &self.scan.tokens[*at];
        // "IT" is no "it".
        // "In May" is the month, unless the dimension of a town of that name is beside it.
        if !is_beside && self.is_month_within(*at) {
            return Some(base + 2 * UNLIKELY);
        }
        let is_upper = token.raw.len() > 1 && !token.raw.chars().any(char::is_lowercase);
        if is_upper && self.is_marked(*at) {
            return Some(base.saturating_sub(UPPER));
        }
        if !self.scan.lexicon.knows(&token.fold) || self.is_marked(*at) || is_beside {
            return Some(base);
        }
        (!self.scan.lexicon.is_empty_word(&token.fold)).then_some(base + UNLIKELY)
    }

    /// Whether a word is the name of a month behind one such as "in".
    fn is_month_within(&self, at: usize) -> bool {
        let month = self.scan.phrase(at, |m| matches!(m, Meaning::Month(_)).then_some(()));
        let is_month = month.is_some_and(|(end, ())| end == at + 1);
        let before = at.checked_sub(1);
        let is_in = |before| self.scan.end_of(before, &Meaning::In) == Some(at);
        is_month && before.is_some_and(is_in)
    }

    /// Whether a word is written as a name: with a capital letter within a sentence, or in quotes.
    fn is_marked(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map(|at| self.scan.tokens[at].fold.as_str());
        let is_quoted = before.is_some_and(|sign| ["\"", "'", "“", "”", "’", "«"].contains(&sign));
        let all = || self.scan.tokens.iter().filter(|token| token.kind == Kind::Word);
        let is_shouted = all().all(|token| token.is_capital);
        is_quoted || (at > 0 && self.scan.tokens[at].is_capital && !is_shouted)
    }

    /// Whether the dimension is named directly before or after a span.
    fn is_beside(&self, dimension: &str, first: usize, last: usize) -> bool {
        let names = |at: usize| {
            let hits = self.names.find(&[self.scan.tokens[at].fold.as_str()], self.scan.lexicon);
            hits.iter().any(|hit| hit.named == Named::Dimension(dimension.to_owned()))
        };
        first.checked_sub(1).is_some_and(names)
            || (last + 1 < self.scan.tokens.len() && names(last + 1))
    }

    fn correction(&self, words: &[usize], named: &Named) -> Correction {
        let at = |place: Option<&usize>| place.map(|at| self.scan.tokens[*at].range.clone());
        let from = at(words.first()).unwrap_or_default().start;
        let to = at(words.last()).unwrap_or_default().end;
        let name = match named {
            Named::Measure(name) | Named::Dimension(name) => name,
            Named::Value { value, .. } => value,
        };
        Correction { at: from..to, name: name.clone() }
    }

    /// Adds both parts of a compound.
    fn add_compound(&self, at: usize, edges: &mut Vec<Edge>) {
        let token = &self.scan.tokens[at];
        let is_known = token.kind != Kind::Word
            || token.fold.len() < 7
            || self.scan.lexicon.knows(&token.fold)
            || !self.names.find(&[token.fold.as_str()], self.scan.lexicon).is_empty();
        if is_known {
            return;
        }
        let Some((first, second)) = self.names.split(&token.fold, self.scan.lexicon) else {
            return;
        };
        let firsts: Vec<Atom> = match first {
            FirstPart::Meaning(meaning @ Meaning::Unit(_)) => {
                vec![Atom::Words(vec![Meaning::By, meaning.clone()])]
            }
            FirstPart::Meaning(meaning) => vec![Atom::Words(vec![meaning.clone()])],
            FirstPart::Names(hits) => {
                hits.into_iter().map(|hit| atom_of(hit, &[at], self.scan)).collect()
            }
        };
        for first in firsts.iter().take(MOST_HITS) {
            for hit in second.iter().take(MOST_HITS) {
                let atoms = vec![first.clone(), atom_of(hit.clone(), &[at], self.scan)];
                edges.push(Edge { atoms, ..edge(at..at + 1, Atom::Left, 2 * WORD) });
            }
        }
    }
}

fn edge(tokens: Range<usize>, atom: Atom, cost: u32) -> Edge {
    Edge { tokens, atoms: vec![atom], cost, correction: None, amounts: Vec::new() }
}

fn atom_of(hit: Hit, words: &[usize], scan: &Scan<'_>) -> Atom {
    match hit.named {
        Named::Measure(name) => Atom::Measure(name),
        Named::Dimension(name) => {
            let typed: String = words.iter().map(|at| scan.tokens[*at].fold.as_str()).collect();
            let is_one = scan.lexicon.singular.iter().any(|ending| typed.ends_with(ending));
            let own = crate::tokens::name_words(&name).concat();
            let is_other =
                hit.how == How::Form || (hit.how == How::Column && typed.starts_with(own.as_str()));
            let is_form = is_other && own != typed && !is_one;
            Atom::Dimension { name, is_form }
        }
        Named::Value { dimension, value } => Atom::Value { dimension, value, is_part: false },
    }
}
