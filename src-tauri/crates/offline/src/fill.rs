//! Fills the arguments of a goal: each slot from the clause, or else from the conversation.

use contract::manifest::{Side, Slot, SlotKind};
use language::{Token, TokenKind, changes};
use serde_json::{Map, Number, Value, json};

use super::{
    coverage,
    facts::{Facts, Quantity},
    goal::{Doubt, Goal, Target},
    pattern::{Hit, Pattern},
    score::takes_one_number,
    search_words::{has_same_subject, set_search_words, typed_word},
    understand::{Match, Reader},
    values,
};

/// Makes the goal of a clause. `before` is the goal of the previous clause in the same message.
pub(super) fn build_goal(
    reader: &Reader<'_>,
    tokens: &[Token],
    facts: &Facts,
    found: &Match,
    before: Option<&Goal>,
) -> Goal {
    let data = &reader.book.tools[found.tool];
    let want = &data.intents[found.intent];
    let mut goal = Goal {
        tool: found.tool,
        intent: found.intent,
        args: Map::new(),
        target: read_target(reader, tokens, facts, found),
        chosen: Vec::new(),
        doubt: None,
        may_reuse: false,
        is_named: facts.named.iter().any(|named| named.pack == data.pack),
        unused: Vec::new(),
    };
    for (name, value) in &want.set {
        values::set(&mut goal.args, name, value.clone());
    }
    let mut taken = found.used.clone();
    for (slot, cues) in data.slots.iter().zip(&data.cues) {
        if !slot.intents.is_empty() && !slot.intents.contains(&want.name) {
            continue;
        }
        if let Some(value) =
            read_slots(reader, found.tool, slot, cues, tokens, facts, &mut taken, &mut goal)
        {
            values::set(&mut goal.args, &slot.parameter, value);
        }
    }
    add_implied_arguments(reader, facts, &mut goal);
    set_search_words(reader, tokens, facts, &taken, &mut goal);
    let unused = coverage::find_unused_words(reader, tokens, facts, found, &goal, &taken);
    inherit(reader, facts, found, before, &mut goal);
    note_doubt(reader, tokens, facts, found, &mut goal);
    unused.report(&mut goal);
    goal
}

#[allow(clippy::too_many_arguments, reason = "the parts of one clause, used once")]
fn read_slots(
    reader: &Reader<'_>,
    tool: usize,
    slot: &Slot,
    cues: &[Pattern],
    tokens: &[Token],
    facts: &Facts,
    taken: &mut Vec<usize>,
    goal: &mut Goal,
) -> Option<Value> {
    let pack = reader.book.tools[tool].pack;
    let at = reader.book.tools[tool].slots.iter().position(|other| other == slot);
    let choices = at.map_or(&[][..], |at| &reader.book.tools[tool].choices[at]);
    let cue = cues.iter().find_map(|cue| cue.find(tokens, &facts.words));
    match &slot.kind {
        SlotKind::Entity { entity, .. } => facts
            .named
            .iter()
            .find(|named| named.pack == pack && named.kind == *entity)
            .map(|named| json!(named.id)),
        SlotKind::DateStart => facts.period.as_ref()?.start.map(|day| json!(day.to_string())),
        SlotKind::DateEnd => facts.period.as_ref()?.end.map(|day| json!(day.to_string())),
        SlotKind::Number => {
            if let Some((low, high)) = facts.range
                && let Some(side) = range_side(&slot.parameter)
            {
                return number_as_json(if side == Side::Below { high } else { low });
            }
            let only = takes_one_number(reader, tool) && !slot.cued_only;
            if cue.is_none()
                && !cues.is_empty()
                && !(only && facts.amounts.iter().any(|amount| amount.marked))
            {
                return None;
            }
            let from = cue.as_ref().and_then(|hit| hit.used.last().copied()).unwrap_or(0);
            let after =
                facts.amounts.iter().filter(|amount| !taken.contains(&amount.at) || amount.marked);
            let led = after
                .clone()
                .find(|amount| amount.at > from)
                .filter(|_| cue.is_some() || cues.is_empty());
            // The cue may stand after its amount, as in "80 000 in budget" or "500 max".
            let behind = || {
                after.clone().rfind(|amount| {
                    cue.is_some() && amount.at < from && from <= amount.at + amount.len + 1
                })
            };
            let amount =
                led.or_else(behind).or_else(|| after.clone().find(|amount| amount.marked))?;
            taken.extend(cue.into_iter().flat_map(|hit| hit.used));
            taken.extend(amount.at..amount.at + amount.len);
            number_as_json(amount.value)
        }
        SlotKind::Quantity => match facts.quantity {
            // "the top 5" of a list that is asked for
            None if !reader.book.tools[tool].is_write() => facts.first.map(|count| json!(count)),
            Some(Quantity::Whole(count)) if count >= 1 => Some(json!(count)),
            Some(_) if !reader.book.tools[tool].is_write() => None,
            Some(Quantity::Whole(_) | Quantity::Impossible) => {
                goal.doubt = Some(Doubt::Quantity);
                None
            }
            None => None,
        },
        SlotKind::Flag { value } => cue.map(|hit| {
            taken.extend(hit.used);
            value.clone()
        }),
        SlotKind::OtherStart => {
            facts.other_period.as_ref()?.start.map(|day| json!(day.to_string()))
        }
        SlotKind::OtherEnd => facts.other_period.as_ref()?.end.map(|day| json!(day.to_string())),
        SlotKind::ChangePercent => {
            let hit = cue.filter(|_| !cues.is_empty())?;
            let percent = facts.percents.iter().find(|percent| !taken.contains(&percent.at))?;
            let sign =
                if percent.is_signed { 1.0 } else { changes::direction_near(tokens, percent.at)? };
            taken.extend(hit.used);
            taken.extend(percent.at..percent.at + percent.len);
            taken.extend((0..tokens.len()).filter(|&i| changes::is_direction(&tokens[i])));
            number_as_json(percent.value * sign)
        }
        SlotKind::ChangeAmount => {
            let hit = cue.filter(|_| !cues.is_empty())?;
            let amount = facts.amounts.iter().find(|amount| !taken.contains(&amount.at))?;
            let by = amount.at > 0 && tokens[amount.at - 1].any(&["by", "med", "with", "another"]);
            let more = tokens
                .get(amount.at + amount.len)
                .is_some_and(|next| next.any(&["more", "less", "mer", "mindre", "extra"]));
            let sign = changes::direction_near(tokens, amount.at).filter(|_| by || more)?;
            taken.extend(hit.used);
            taken.extend(amount.at..amount.at + amount.len);
            taken.extend((0..tokens.len()).filter(|&i| changes::is_direction(&tokens[i])));
            number_as_json(amount.value * sign)
        }
        SlotKind::Choice { values } => {
            let found = choices
                .iter()
                .filter_map(|(at, phrase)| Some((*at, phrase.find(tokens, &facts.words)?)))
                .max_by_key(|(_, hit)| hit.score)?;
            taken.extend(found.1.used);
            values.get(found.0).map(|choice| choice.value.clone())
        }
        SlotKind::Verbatim => read_verbatim(tokens, cue.as_ref(), taken).map(Value::from),
        SlotKind::Listed { thing, field, side } => {
            let hit = cue?;
            taken.extend(hit.used);
            bound_from_shown(reader, pack, thing, field, *side)
        }
        SlotKind::Thing { .. } | SlotKind::Words => None,
    }
}

/// The text in quotation marks, or what follows the cue, as it was typed.
fn read_verbatim(tokens: &[Token], cue: Option<&Hit>, taken: &mut Vec<usize>) -> Option<String> {
    let quote = |token: &Token| ["\"", "“", "”", "«", "»", "'"].contains(&token.fold.as_str());
    let opened = tokens.iter().position(quote);
    let closed = opened.and_then(|from| {
        tokens[from + 1..].iter().position(quote).map(|len| from + 1..from + 1 + len)
    });
    let range = closed.or_else(|| {
        let from = cue?.used.last().copied()? + 1;
        Some(from..tokens.len())
    })?;
    let mut text = String::new();
    for token in &tokens[range.clone()] {
        if !text.is_empty() && !token.glued {
            text.push(' ');
        }
        text.push_str(&token.raw);
    }
    taken.extend(cue.iter().flat_map(|hit| hit.used.iter().copied()));
    taken.extend(range);
    let text = text.trim().trim_end_matches(['.', '!', '?']).to_owned();
    (!text.is_empty()).then_some(text)
}

/// Which end of a range a parameter takes, by its name.
pub(super) fn range_side(parameter: &str) -> Option<Side> {
    let name = parameter.rsplit('.').next().unwrap_or(parameter);
    if name.starts_with("max") {
        Some(Side::Below)
    } else {
        name.starts_with("min").then_some(Side::Above)
    }
}

fn number_as_json(value: f64) -> Option<Value> {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        Some(Value::from(value as i64))
    } else {
        Number::from_f64(value).map(Value::Number)
    }
}

/// Returns the bound for "cheaper than these": the middle of the shown values, or the value of the
/// only thing.
fn bound_from_shown(
    reader: &Reader<'_>,
    pack: usize,
    thing: &str,
    field: &str,
    side: Side,
) -> Option<Value> {
    let listing = reader.state.list_of_thing(pack, thing);
    let items: Vec<&Value> = match listing {
        Some(listing) => listing.items.iter().collect(),
        None => reader.state.focus_of(pack, thing).into_iter().collect(),
    };
    let mut found: Vec<f64> =
        items.iter().filter_map(|item| values::as_number(item.pointer(field)?)).collect();
    found.sort_by(f64::total_cmp);
    let middle = match side {
        Side::Below => found.get(found.len().checked_sub(1)? / 2),
        Side::Above => found.get(found.len() / 2),
    };
    number_as_json(*middle?)
}

/// Sets arguments that a name implies, such as the account of an advertiser.
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

/// Returns how the clause names the things it is about.
fn read_target(reader: &Reader<'_>, tokens: &[Token], facts: &Facts, found: &Match) -> Target {
    let data = &reader.book.tools[found.tool];
    if data.thing().is_none() {
        return Target::default();
    }
    let several = data.intents[found.intent].several;
    let pack = reader.book.pack_of(found.tool);
    // "Which is better, 1 or 3?" asks about both. "Add 1 or 3" leaves open which one is meant.
    let open = facts.choice && data.is_write();
    let joined = (several || open) && facts.places.is_empty();
    let mut content = facts.unused_content_words(tokens, &found.used, data.pack);
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
    let intent = &data.intents[found.intent];
    let named = facts.named.iter().any(|named| named.pack == data.pack);
    let bare = !named && facts.period.is_none();
    let everything = facts.follow_up
        || facts.pronoun
        || !found.strong
        || intent.after
        || bare
        || same_message.is_some();
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
            SlotKind::OtherStart
            | SlotKind::OtherEnd
            | SlotKind::ChangePercent
            | SlotKind::ChangeAmount
            | SlotKind::Choice { .. }
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
    goal.may_reuse = everything && goal.args == *earlier;
}

/// Notes a doubt about the goal: an unknown name or a missing number.
fn note_doubt(
    reader: &Reader<'_>,
    tokens: &[Token],
    facts: &Facts,
    found: &Match,
    goal: &mut Goal,
) {
    let data = &reader.book.tools[found.tool];
    if goal.doubt.is_some() {
        return;
    }
    if data.is_write() && facts.negations.iter().any(|i| !found.used.contains(i)) {
        goal.doubt = Some(Doubt::Negated);
        return;
    }
    let takes_names = data.has_slot(|kind| matches!(kind, SlotKind::Entity { .. }));
    if takes_names && facts.named.is_empty() {
        goal.doubt = find_unknown_name(reader, tokens, facts, &found.used, found.tool)
            .map(Doubt::UnknownName);
    }
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

/// Returns the word where a name is expected, if no table contains it: "Contoso" in "how is Contoso
/// pacing".
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
                "for",
                "is",
                "hows",
                "about",
                "does",
                "for",
                "pa",
                "med",
                "of",
                "account",
                "konto",
                "gar",
                "ligger",
                "the",
                "advertiser",
                "client",
                "kund",
                "and",
            ])
    };
    let capital = |i: usize| i > 0 && tokens[i].raw.chars().next().is_some_and(char::is_uppercase);
    let at = content.into_iter().find(|&i| unknown(i) && (led(i) || capital(i)))?;
    Some(tokens[at].raw.clone())
}
