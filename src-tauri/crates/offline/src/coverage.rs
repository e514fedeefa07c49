//! Implements the coverage rule: each word with a meaning must be used by the plan or reported. If
//! omitting an unused word would change the question, the question is not answered. The phrases of
//! the manifests determine which words are used.

use contract::manifest::SlotKind;
use language::{Token, TokenKind, amounts, bounds, numbers};

use super::{
    book::Pack,
    clauses::is_boundary,
    facts::Facts,
    goal::{Doubt, Goal},
    reader::{Match, Reader},
    social,
};

/// The words of a clause that a goal does not use.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Unused {
    /// Words whose omission changes the question.
    pub(super) decisive: Vec<String>,
    /// Words whose omission only makes the answer incomplete.
    pub(super) other: Vec<String>,
    /// Whether the decisive words form a name that is in no table.
    is_name: bool,
}

impl Unused {
    /// Adds the words to the goal: decisive words as a doubt, other words as a note below the
    /// answer.
    pub(super) fn report(self, goal: &mut Goal) {
        if goal.doubt.is_some() {
            return;
        }
        if self.decisive.is_empty() {
            goal.unused = self.other;
        } else if let [name] = &self.decisive[..]
            && self.is_name
            && self.other.is_empty()
        {
            goal.doubt = Some(Doubt::UnknownName(name.clone()));
        } else {
            goal.doubt = Some(Doubt::Unused([self.decisive, self.other].concat()));
        }
    }
}

/// Finds the words that a goal leaves unused. `taken` are the tokens that the phrases and slots of
/// the goal use.
pub(super) fn find_unused_words(
    reader: &Reader<'_>,
    tokens: &[Token],
    facts: &Facts,
    found: &Match,
    goal: &Goal,
    taken: &[usize],
) -> Unused {
    let tool = &reader.book.tools[found.tool];
    // The target of a change takes the remaining words as a name.
    if tool.is_write() {
        return Unused::default();
    }
    if tool.thing().is_some() {
        return find_words_unused_by_target(reader, tokens, facts, found, taken);
    }
    if tool.has_slot(|kind| matches!(kind, SlotKind::Words)) {
        return find_words_unused_by_search(reader, tokens, facts, found, taken);
    }
    let phrases = Phrases::of(reader, tokens, facts, found);
    let mut used: Vec<usize> = taken.to_vec();
    used.extend(tokens_of_facts(reader, tokens, facts, found, goal));
    used.extend(&phrases.own);
    used.extend(social::matched_tokens(tokens, &facts.words));
    // A conjunction at the beginning only separated this clause from the previous one.
    used.extend(tokens.first().filter(|first| is_boundary(first)).map(|_| 0));
    let is_free = |i: usize| !used.contains(&i) && tokens[i].kind != TokenKind::Punct;
    let mut unused = Unused::default();
    let mut last: Option<(usize, Weight)> = None;
    for i in (0..tokens.len()).filter(|i| is_free(*i)) {
        let weight = word_weight(reader, tokens, facts, found, &phrases, &used, i);
        let list = match weight {
            Weight::None => continue,
            Weight::Decisive | Weight::Name => &mut unused.decisive,
            Weight::Other => &mut unused.other,
        };
        let follows = last.is_some_and(|(before, same)| before + 1 == i && same == weight);
        match list.last_mut().filter(|_| follows) {
            // Adjacent unused words are reported together: "winter cruises".
            Some(words) => {
                words.push(' ');
                words.push_str(&spell_word(tokens, i, false));
            }
            None => list.push(spell_word(tokens, i, true)),
        }
        unused.is_name = match weight {
            Weight::Name => unused.decisive.len() == 1,
            Weight::Decisive => false,
            Weight::None | Weight::Other => unused.is_name,
        };
        last = Some((i, weight));
    }
    unused
}

/// Finds the words that a search leaves unused or takes by mistake. A search takes the remaining
/// words as search words. It cannot rank, exclude, use dates or percentages, or answer questions
/// for other packs.
fn find_words_unused_by_search(
    reader: &Reader<'_>,
    tokens: &[Token],
    facts: &Facts,
    found: &Match,
    taken: &[usize],
) -> Unused {
    let pack = reader.book.pack_of(found.tool);
    let mut unused = Unused::default();
    for i in 0..tokens.len() {
        let token = &tokens[i];
        let is_percentage = token.kind == TokenKind::Number
            && tokens
                .get(i + 1)
                .is_some_and(|next| next.fold == "%" || next.any(&["percent", "procent"]));
        if let Some(limit) = find_measured_limit(tokens, i) {
            unused.decisive.push(limit);
            continue;
        }
        let joined = find_joined_kinds(pack, tokens, i).filter(|_| !taken.contains(&i));
        if let Some(joined) = joined {
            unused.decisive.push(joined);
            continue;
        }
        let changes_question = is_percentage
            || (excludes(pack, tokens, i) && !taken.contains(&i))
            || facts.period.as_ref().is_some_and(|period| period.at.contains(&i))
            || (!taken.contains(&i) && is_word_of_other_pack(reader, found, token));
        let ranks = !taken.contains(&i)
            && language::is_decisive(&token.norm)
            && !language::is_stop_word(&token.norm);
        if changes_question || ranks {
            unused.decisive.push(spell_word(tokens, i, true));
        } else if !taken.contains(&i) && language::is_decisive(&token.norm) {
            unused.other.push(spell_word(tokens, i, true));
        }
    }
    unused
}

/// Returns the words around "and" or "or" that a search cannot combine: two kinds of things ("tents
/// and stoves") or alternatives ("red or blue").
fn find_joined_kinds(pack: &Pack, tokens: &[Token], at: usize) -> Option<String> {
    let is_or = tokens[at].any(&["or", "eller"]);
    if !is_or && !tokens[at].any(&["and", "och", "&", "plus"]) {
        return None;
    }
    let is_article = |token: &Token| token.any(&["a", "an", "the", "en", "ett", "any", "some"]);
    let before = tokens[..at].last()?;
    let after = tokens[at + 1..].iter().find(|token| !is_article(token))?;
    let is_kind = |token: &Token| {
        pack.is_vocabulary(&token.norm) && !pack.is_attribute(pack.canonical_word(&token.norm))
    };
    let describes = |token: &Token| pack.is_attribute(pack.canonical_word(&token.norm));
    let joins_kinds = (is_kind(before) || before.part) && is_kind(after);
    let joins_attributes = is_or && describes(before) && describes(after);
    (joins_kinds || joins_attributes)
        .then(|| format!("{} {} {}", before.raw, tokens[at].raw, after.raw))
}

/// Returns the words of a target that cannot identify a thing: rankings ("the cheapest tent"), and
/// all words if all of them belong to another pack ("difference between CPM and CTR").
fn find_words_unused_by_target(
    reader: &Reader<'_>,
    tokens: &[Token],
    facts: &Facts,
    found: &Match,
    taken: &[usize],
) -> Unused {
    let pack = reader.book.tools[found.tool].pack;
    let words = facts.unused_content_words(tokens, taken, pack);
    let are_others = words.iter().all(|&i| is_word_of_other_pack(reader, found, &tokens[i]));
    // Things are found by their words, and the results are not ranked.
    let ranks = |i: &usize| language::is_decisive(&tokens[*i].norm) && !taken.contains(i);
    let spell = |i: &usize| spell_word(tokens, *i, true);
    let decisive: Vec<String> = if are_others {
        words.iter().map(spell).collect()
    } else {
        words.iter().filter(|i| ranks(i)).map(spell).collect()
    };
    let limits = (0..tokens.len()).filter_map(|i| find_measured_limit(tokens, i));
    Unused { decisive: limits.chain(decisive).collect(), ..Unused::default() }
}

/// Returns the typed text of a limit that is not a price: "under 2.5 kg". Measures cannot be
/// compared.
fn find_measured_limit(tokens: &[Token], at: usize) -> Option<String> {
    let is_measured = tokens[at].kind == TokenKind::Number
        && tokens.get(at + 1).is_some_and(amounts::is_other_unit);
    let limit = bounds::find_comparison_before(tokens, at).filter(|_| is_measured)?;
    let typed: Vec<&str> =
        tokens[limit.start..at + 2].iter().map(|token| token.raw.as_str()).collect();
    Some(typed.join(" "))
}

/// Whether the word excludes the words after it: "a jacket, but not in black". A "not" at the
/// beginning of a message answers a question, and "not over 400" is a limit.
fn excludes(pack: &Pack, tokens: &[Token], at: usize) -> bool {
    const LIMITS: [&str; 10] =
        ["over", "above", "more", "under", "below", "less", "mer", "dyrare", "mindre", "hogre"];
    let describes = |token: &Token| pack.is_attribute(pack.canonical_word(&token.norm));
    if tokens[at].any(&["no", "inget", "ingen"]) {
        return tokens.get(at + 1).is_some_and(describes);
    }
    at > 0
        && tokens.get(at + 1).is_some_and(|next| !next.any(&LIMITS))
        && tokens[at].any(&["not", "without", "except", "excluding", "inte", "utan", "utom", "ej"])
}

/// Whether the word belongs only to the questions of another pack.
fn is_word_of_other_pack(reader: &Reader<'_>, found: &Match, token: &Token) -> bool {
    if token.kind != TokenKind::Word || language::is_filler(&token.norm) {
        return false;
    }
    let own = reader.book.tools[found.tool].pack;
    let is_own = reader.book.packs[own].is_vocabulary(&token.norm);
    let speaks = |is_asked: &dyn Fn(usize) -> bool| {
        reader.book.tools.iter().any(|tool| is_asked(tool.pack) && tool.speaks_of(&token.norm))
    };
    !is_own && !speaks(&|pack| pack == own) && speaks(&|pack| pack != own)
}

/// How the answer changes without an unused word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weight {
    None,
    /// Without the word, the answer is incomplete.
    Other,
    /// Without the word, the question has another meaning.
    Decisive,
    /// The word is where a name may be, and no table contains it.
    Name,
}

fn word_weight(
    reader: &Reader<'_>,
    tokens: &[Token],
    facts: &Facts,
    found: &Match,
    phrases: &Phrases,
    used: &[usize],
    at: usize,
) -> Weight {
    let tool = &reader.book.tools[found.tool];
    let token = &tokens[at];
    let is_number = token.kind == TokenKind::Number
        || (numbers::cardinal(&token.norm).is_some() && !language::is_stop_word(&token.norm));
    if is_number
        || language::is_decisive(&token.norm)
        || claims_all(reader, tokens, facts, found, at)
    {
        return Weight::Decisive;
    }
    let takes_dates = tool.has_slot(|kind| matches!(kind, SlotKind::DateStart | SlotKind::DateEnd));
    let is_small = language::is_stop_word(&token.norm);
    if takes_dates && !is_small && language::dates::is_date_word(token) {
        return Weight::Decisive;
    }
    if token.fold.len() < 2
        || language::is_filler(&token.norm)
        || language::is_small_talk(&token.norm)
    {
        return Weight::None;
    }
    let is_known = tool.speaks_of(&token.norm);
    let takes_names = tool.has_slot(|kind| matches!(kind, SlotKind::Entity { .. }));
    // In "the north room plan", the word before the noun is a name that is in no table.
    let narrows = !is_known && takes_names && facts.named.is_empty();
    let before = at.checked_sub(1).map(|i| &tokens[i]);
    // A further word after "and" is reported below the answer.
    let is_joined = at >= 2
        && used.contains(&(at - 2))
        && before.is_some_and(|before| before.any(&["and", "och", "&", ","]));
    // In "noise of the north room", the word is the requested figure.
    let is_measure = !is_known
        && !is_joined
        && tokens
            .get(at + 1)
            .is_some_and(|next| next.any(&["for", "of", "in", "on", "pa", "i", "av", "hos"]));
    // In "by format", the word is the requested breakdown.
    let divides = before.is_some_and(|before| before.any(&["by", "per"]));
    if is_measure || divides || phrases.others.contains(&at) {
        Weight::Decisive
    } else if narrows && found.strong && !is_joined {
        Weight::Name
    } else if !found.strong && takes_names {
        Weight::Decisive
    } else {
        Weight::Other
    }
}

/// The tokens of the tool's phrases, collected once per clause.
struct Phrases {
    /// Tokens of the intent's own phrases and of the tool's general phrases.
    own: Vec<usize>,
    /// Tokens for another question to the same tool.
    others: Vec<usize>,
}

impl Phrases {
    fn of(reader: &Reader<'_>, tokens: &[Token], facts: &Facts, found: &Match) -> Self {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for ((tool, intent), hit, weak) in reader.book.triggers.find(tokens, &facts.words) {
            if tool != found.tool {
                continue;
            }
            if intent == 0 || intent == found.intent {
                own.extend(hit.used);
            } else if !weak {
                others.extend(hit.used);
            }
        }
        Self { own, others }
    }
}

/// Returns the tokens of the facts that a slot of the tool takes.
fn tokens_of_facts(
    reader: &Reader<'_>,
    tokens: &[Token],
    facts: &Facts,
    found: &Match,
    goal: &Goal,
) -> Vec<usize> {
    let tool = &reader.book.tools[found.tool];
    let mut used: Vec<usize> = facts.elsewhere.iter().copied().collect();
    if tool.has_slot(|kind| matches!(kind, SlotKind::DateStart | SlotKind::DateEnd)) {
        let is_date = |i: &usize| language::dates::is_date_word(&tokens[*i]);
        used.extend(facts.period.iter().flat_map(|period| period.at.clone()));
        used.extend(facts.taken.iter().copied().filter(is_date));
    }
    let counts = tool.slots.iter().any(|slot| {
        matches!(slot.kind, SlotKind::Quantity) && goal.args.contains_key(&slot.parameter)
    });
    if counts {
        let in_period =
            |i: &usize| facts.period.as_ref().is_some_and(|period| period.at.contains(i));
        used.extend(facts.taken.iter().copied().filter(|i| !in_period(i)));
    }
    let takes = |kind: &str| {
        tool.has_slot(|slot| matches!(slot, SlotKind::Entity { entity, .. } if entity == kind))
    };
    for named in facts.named.iter().filter(|named| named.pack == tool.pack) {
        if takes(&named.kind) || goal.args.values().any(|value| value.as_str() == Some(&named.id)) {
            used.extend(named.at.clone());
        }
    }
    used
}

/// Whether the clause says "all rooms", so that an answer for one room does not fit.
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

/// Returns a word as typed, with the small words that belong to it: "by week", "20%".
fn spell_word(tokens: &[Token], at: usize, begins: bool) -> String {
    let token = &tokens[at];
    if let Some(sign) = tokens.get(at + 1).filter(|next| next.fold == "%") {
        return format!("{}{}", token.raw, sign.raw);
    }
    let before = at.checked_sub(1).filter(|_| begins).map(|i| &tokens[i]);
    match before.filter(|before| before.any(&["by", "per", "not", "without", "utan", "inte"])) {
        Some(before) => format!("{} {}", before.raw, token.raw),
        None => token.raw.clone(),
    }
}
