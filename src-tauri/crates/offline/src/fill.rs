//! Fills the arguments of a goal from the clause, or else from the conversation. The module `slots`
//! reads the individual slots.

use contract::manifest::{Intent, SlotKind};
use language::{Token, TokenKind};
use serde_json::{Map, json};

use super::{
    book::Tool,
    coverage,
    facts::{Facts, Quantity},
    goal::{Doubt, Goal, Target},
    ranking::{find_excluded, set_arguments},
    reader::{Match, Reader},
    search_words::{has_same_subject, set_search_words, typed_word},
    slots::SlotReader,
    values,
};

/// Creates the goal of a clause. `before` is the goal of the previous clause in the same message.
pub(super) fn build_goal(
    reader: &Reader<'_>,
    tokens: &[Token],
    facts: &Facts,
    found: &Match,
    before: Option<&Goal>,
) -> Goal {
    let data = &reader.book.tools[found.tool];
    let want = &data.intents[found.intent];
    let ranked = reader.book.find_ranking(found.tool, tokens, facts);
    let (ranking, mut aside) = ranked.unzip();
    let is_search = data.has_slot(|kind| matches!(kind, SlotKind::Words)) && !data.is_write();
    let (excluded, used) = match is_search {
        true => find_excluded(reader.book.pack_of(found.tool), tokens, facts),
        false => (Vec::new(), Vec::new()),
    };
    aside.get_or_insert_default().extend(used);
    let aside = aside.unwrap_or_default();
    let mut goal = Goal {
        tool: found.tool,
        intent: found.intent,
        args: Map::new(),
        target: read_target(reader, tokens, facts, found, &aside)
            .with_thing_of(reader, data, before),
        chosen: Vec::new(),
        doubt: None,
        is_named: facts.named.iter().any(|named| named.pack == data.pack),
        unused: Vec::new(),
        count: ranking.is_none().then(|| count_of_things(data, want, facts)).flatten(),
        ranking,
        excluded,
    };
    for (name, value) in &want.set {
        values::set(&mut goal.args, name, value.clone());
    }
    let mut slots = SlotReader::new(reader, found, tokens, facts);
    for (at, slot) in data.slots.iter().enumerate() {
        if let Some(value) = slots.read(at, &mut goal) {
            values::set(&mut goal.args, &slot.parameter, value);
        }
    }
    let (mut taken, verbatim) = (slots.taken, slots.verbatim);
    taken.extend(aside);
    if is_search && let Some(ranking) = reader.book.ranking(&goal) {
        set_arguments(ranking, &mut goal.args);
    }
    add_implied_arguments(reader, facts, &mut goal);
    set_search_words(reader, tokens, facts, &taken, &mut goal);
    let unused = coverage::find_unused_words(reader, tokens, facts, found, &goal, &taken);
    inherit(reader, facts, found, before, &mut goal);
    note_doubt(reader, tokens, facts, found, &verbatim, &mut goal);
    unused.report(&mut goal);
    goal
}

/// Returns the number of pieces that a question about a thing is about.
fn count_of_things(tool: &Tool, intent: &Intent, facts: &Facts) -> Option<u32> {
    let counts = tool.thing().is_some() && !tool.is_write() && !intent.several;
    match facts.quantity {
        Some(Quantity::Whole(count)) if counts && count > 1 => Some(count),
        Some(_) | None => None,
    }
}

/// Sets the arguments that a name implies, such as the account of an advertiser.
fn add_implied_arguments(reader: &Reader<'_>, facts: &Facts, goal: &mut Goal) {
    let pack = reader.book.tools[goal.tool].pack;
    for named in facts.named.iter().filter(|named| named.pack == pack) {
        let Some(entity) = named.entity.map(|i| &reader.book.packs[pack].entities[i]) else {
            continue;
        };
        for (parameter, value) in &entity.implies {
            let known =
                reader.book.tools[goal.tool].slots.iter().any(|slot| slot.parameter == *parameter);
            if known && !goal.args.contains_key(parameter) {
                goal.args.insert(parameter.clone(), json!(value));
            }
        }
    }
}

/// Reads how the clause names the things that it is about.
fn read_target(
    reader: &Reader<'_>,
    tokens: &[Token],
    facts: &Facts,
    found: &Match,
    aside: &[usize],
) -> Target {
    let data = &reader.book.tools[found.tool];
    if data.thing().is_none() {
        return Target::default();
    }
    let several = data.intents[found.intent].several;
    let pack = reader.book.pack_of(found.tool);
    // "Which is better, 1 or 3?" asks about both, but "Add 1 or 3" does not say which is meant.
    let open = facts.choice && data.is_write();
    let joined = (several || open) && facts.places.is_empty();
    // In "is it available in brown", the colour describes the thing although the phrase contains
    // the colour.
    let is_of_phrase = |i: &usize| {
        let describes = pack.is_attribute(pack.canonical_word(&tokens[*i].norm));
        !(describes && *i > 0 && tokens[*i - 1].any(&["in", "i"]))
    };
    let used: Vec<usize> = found.used.iter().copied().filter(is_of_phrase).collect();
    let mut content = facts.unused_content_words(tokens, &used, data.pack);
    content.retain(|i| !aside.contains(i));
    content.retain(|&i| !(joined && facts.is_joined_number(i)));
    let places = facts
        .maybe
        .as_ref()
        .filter(|_| joined)
        .map_or_else(|| facts.places.clone(), |(places, _)| places.clone());
    let mut groups: Vec<Vec<String>> = vec![Vec::new()];
    let mut said = Vec::new();
    let mut last = None;
    for i in content {
        let parted = several
            && last
                .is_some_and(|last: usize| (last..i).any(|between| is_parting(&tokens[between])));
        if parted {
            groups.push(Vec::new());
        }
        if (!tokens[i].part && pack.is_ignored(&tokens[i].norm)) || facts.is_unit(tokens, i) {
            continue;
        }
        groups
            .last_mut()
            .into_iter()
            .for_each(|group| group.push(typed_word(pack, &tokens[i]).to_owned()));
        said.push(tokens[i].raw.clone());
        last = Some(i);
    }
    groups.retain(|group| !group.is_empty());
    Target {
        places,
        open,
        first: facts.first,
        pronoun: facts.pronoun,
        all: facts.all,
        groups,
        said,
        rank: None,
    }
}

impl Target {
    /// In "which colours does the Brook Mid come in and do you have it in 42", "it" is the thing of
    /// the previous question in the same message.
    fn with_thing_of(mut self, reader: &Reader<'_>, tool: &Tool, before: Option<&Goal>) -> Self {
        let thing = |tool: &Tool| tool.thing().map(|(_, thing, _)| thing.to_owned());
        let pack = &reader.book.packs[tool.pack];
        let Some(before) = before.filter(|before| {
            let other = &reader.book.tools[before.tool];
            other.pack == tool.pack && !tool.is_write() && thing(other) == thing(tool)
        }) else {
            return self;
        };
        let is_open = self.pronoun
            && !self.is_place()
            && self.words().iter().all(|word| pack.describes(word));
        if is_open && before.target.groups.len() == 1 {
            let group = [before.target.words(), self.words()].concat();
            self.said = [before.target.said.clone(), self.said].concat();
            self.groups = vec![group];
        }
        self
    }
}

fn is_parting(token: &Token) -> bool {
    token.any(&[
        "and", "och", "vs", "versus", "with", "med", "to", "mot", "or", "eller", "against", "than",
        "an", "&", ",", "/",
    ])
}

/// Takes missing arguments from the previous call.
fn inherit(
    reader: &Reader<'_>,
    facts: &Facts,
    found: &Match,
    before: Option<&Goal>,
    goal: &mut Goal,
) {
    let data = &reader.book.tools[found.tool];
    if data.is_write() {
        return;
    }
    let same_message = before.filter(|before| before.tool == goal.tool).map(|before| &before.args);
    let Some(earlier) = same_message.or_else(|| reader.state.last_args(goal.tool)) else { return };
    let named = facts.named.iter().any(|named| named.pack == data.pack);
    let bare = !named && facts.period.is_none();
    let everything =
        facts.follow_up || facts.pronoun || !found.strong || bare || same_message.is_some();
    let limits = everything && (same_message.is_some() || has_same_subject(reader, goal, earlier));
    for slot in &data.slots {
        let name = &slot.parameter;
        let open = values::get(&goal.args, name).is_none();
        let carry = match &slot.kind {
            SlotKind::Entity { .. } => !named,
            SlotKind::DateStart | SlotKind::DateEnd => everything && facts.period.is_none(),
            SlotKind::Number => limits && !named,
            SlotKind::Words => true,
            SlotKind::Flag { .. } | SlotKind::Listed { .. } => limits,
            SlotKind::Choice { .. }
            | SlotKind::Verbatim
            | SlotKind::Quantity
            | SlotKind::Thing { .. } => false,
        };
        if open
            && carry
            && let Some(value) = values::get(earlier, name)
        {
            values::set(&mut goal.args, name, value.clone());
        }
    }
}

/// Adds a doubt to the goal: an unknown name or a missing number.
fn note_doubt(
    reader: &Reader<'_>,
    tokens: &[Token],
    facts: &Facts,
    found: &Match,
    verbatim: &[usize],
    goal: &mut Goal,
) {
    let data = &reader.book.tools[found.tool];
    if goal.doubt.is_some() {
        return;
    }
    let is_own = |i: &usize| !found.used.contains(i) && !verbatim.contains(i);
    if data.is_write() && facts.negations.iter().any(is_own) {
        goal.doubt = Some(Doubt::Negated);
        return;
    }
    goal.doubt =
        find_unknown_name(reader, tokens, facts, &found.used, found.tool).map(Doubt::UnknownName);
    for slot in &data.slots {
        let open = values::get(&goal.args, &slot.parameter).is_none();
        if open && let Some(value) = &slot.default {
            values::set(&mut goal.args, &slot.parameter, value.clone());
        } else if open
            && slot.required
            && goal.doubt.is_none()
            && !matches!(slot.kind, SlotKind::Thing { .. })
        {
            goal.doubt = Some(Doubt::Missing(slot.parameter.clone()));
        }
    }
}

/// Returns the word at the position of a name if no table contains the word: "Contoso" in "how is
/// Contoso pacing".
pub(super) fn find_unknown_name(
    reader: &Reader<'_>,
    tokens: &[Token],
    facts: &Facts,
    used: &[usize],
    tool: usize,
) -> Option<String> {
    let data = &reader.book.tools[tool];
    if !facts.named.is_empty() || !data.has_slot(|kind| matches!(kind, SlotKind::Entity { .. })) {
        return None;
    }
    let content = facts.unused_content_words(tokens, used, data.pack);
    let unknown = |i: usize| {
        tokens[i].kind == TokenKind::Word
            && tokens[i].fold.len() >= 3
            && !reader.book.knows_word(&tokens[i].norm)
    };
    let led = |i: usize| {
        i > 0
            && tokens[i - 1].any(&[
                "for", "is", "hows", "about", "does", "for", "pa", "med", "of", "gar", "ligger",
                "the", "and",
            ])
    };
    let capital = |i: usize| i > 0 && tokens[i].raw.chars().next().is_some_and(char::is_uppercase);
    let unknown_words: Vec<usize> = content.into_iter().filter(|&i| unknown(i)).collect();
    let at = *unknown_words.iter().find(|&&i| led(i) || capital(i))?;
    // In "book a flight to Oslo", more than the name is unknown.
    let is_one_name = unknown_words.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    is_one_name.then(|| tokens[at].raw.clone())
}
