//! Reads the value of each slot from a clause. Of the conversation, only the shown things are used.

use contract::manifest::{Side, Slot, SlotKind};
use language::{Token, TokenKind, amounts::Amount};
use serde_json::{Number, Value, json};

use super::{
    facts::{Facts, Quantity},
    goal::{Doubt, Goal},
    pattern::Hit,
    reader::{Match, Reader},
    values,
};

/// Reads the slots of a goal, in their order.
pub(super) struct SlotReader<'a> {
    reader: &'a Reader<'a>,
    tool: usize,
    tokens: &'a [Token],
    facts: &'a Facts,
    /// The tokens of the intent's phrases and of the slots read so far.
    pub(super) taken: Vec<usize>,
    /// The tokens of verbatim texts. Words in them are not requests.
    pub(super) verbatim: Vec<usize>,
    /// The tokens of each choice read so far.
    choices: Vec<Vec<usize>>,
    /// The amounts that number slots have taken.
    amounts: Vec<usize>,
}

impl<'a> SlotReader<'a> {
    pub(super) fn new(
        reader: &'a Reader<'a>,
        found: &Match,
        tokens: &'a [Token],
        facts: &'a Facts,
    ) -> Self {
        let taken = found.used.clone();
        Self {
            reader,
            tool: found.tool,
            tokens,
            facts,
            taken,
            verbatim: Vec::new(),
            choices: Vec::new(),
            amounts: Vec::new(),
        }
    }

    /// Reads the tool's slot with this index.
    pub(super) fn read(&mut self, at: usize, goal: &mut Goal) -> Option<Value> {
        let tool = &self.reader.book.tools[self.tool];
        let (slot, pack, facts) = (&tool.slots[at], tool.pack, self.facts);
        let cue = tool.cues[at].iter().find_map(|cue| cue.find(self.tokens, &facts.words));
        match &slot.kind {
            SlotKind::Entity { entity, .. } => facts
                .named
                .iter()
                .find(|named| named.pack == pack && named.kind == *entity)
                .map(|named| json!(named.id)),
            SlotKind::DateStart => facts.period.as_ref()?.start.map(|day| json!(day.to_string())),
            SlotKind::DateEnd => facts.period.as_ref()?.end.map(|day| json!(day.to_string())),
            SlotKind::Number => self.number(slot, at, cue),
            SlotKind::Quantity => self.quantity(goal),
            SlotKind::Flag { value } => {
                self.taken.extend(cue?.used);
                Some(value.clone())
            }
            SlotKind::Choice { values } => {
                let (value, used) = self.choice(at)?;
                self.taken.extend(&used);
                self.choices.push(used);
                values.get(value).map(|choice| choice.value.clone())
            }
            SlotKind::Verbatim => {
                let text = read_verbatim(self.tokens, cue.as_ref(), &mut self.verbatim);
                self.taken.extend(&self.verbatim);
                text.map(Value::from)
            }
            SlotKind::Listed { thing, field, side } => {
                self.taken.extend(cue?.used);
                bound_from_shown(self.reader, pack, thing, field, *side)
            }
            SlotKind::Thing { .. } | SlotKind::Words => None,
        }
    }

    fn number(&mut self, slot: &Slot, at: usize, cue: Option<Hit>) -> Option<Value> {
        let (facts, taken) = (self.facts, &self.taken);
        let has_cues = !self.reader.book.tools[self.tool].cues[at].is_empty();
        if let Some((low, high)) = facts.range
            && let Some(side) = range_side(&slot.parameter)
        {
            let ends = facts.amounts.iter().filter(|amount| [low, high].contains(&amount.value));
            self.taken.extend(ends.flat_map(|amount| amount.at..amount.at + amount.len));
            return number_as_json(if side == Side::Below { high } else { low });
        }
        let only = takes_one_number(self.reader, self.tool);
        if cue.is_none() && has_cues && !(only && facts.amounts.iter().any(|amount| amount.marked))
        {
            return None;
        }
        let from = cue.as_ref().and_then(|hit| hit.used.last().copied()).unwrap_or(0);
        let is_free = |amount: &&Amount| {
            !self.amounts.contains(&amount.at) && (!taken.contains(&amount.at) || amount.marked)
        };
        let after = facts.amounts.iter().filter(is_free);
        let led =
            after.clone().find(|amount| amount.at > from).filter(|_| cue.is_some() || !has_cues);
        // The cue may follow its amount, as in "80 000 in budget" or "500 max".
        let behind = || {
            after.clone().rfind(|amount| {
                cue.is_some() && amount.at < from && from <= amount.at + amount.len + 1
            })
        };
        let amount =
            led.or_else(behind).or_else(|| after.clone().find(|amount| amount.marked))?.clone();
        self.taken.extend(cue.into_iter().flat_map(|hit| hit.used));
        self.taken.extend(amount.at..amount.at + amount.len);
        self.amounts.push(amount.at);
        number_as_json(amount.value)
    }

    fn quantity(&self, goal: &mut Goal) -> Option<Value> {
        let is_write = self.reader.book.tools[self.tool].is_write();
        match self.facts.quantity {
            // In a question, the number in "the top 5" is the requested number of rows.
            _ if !is_write && self.facts.first.is_some() => Some(json!(self.facts.first)),
            Some(Quantity::Whole(count)) if count >= 1 => Some(json!(count)),
            Some(_) if !is_write => None,
            Some(Quantity::Whole(_) | Quantity::Impossible) => {
                goal.doubt = Some(Doubt::Quantity);
                None
            }
            None => None,
        }
    }

    /// Returns the option that the clause names, and the positions of the tokens that name the
    /// option. A phrase is ignored if it lies inside a phrase that already matched, such as
    /// "open" inside "not open", or inside the period.
    fn choice(&self, at: usize) -> Option<(usize, Vec<usize>)> {
        let in_period =
            |i: &usize| self.facts.period.as_ref().is_some_and(|period| period.at.contains(i));
        let is_new = |hit: &Hit| {
            !self.choices.iter().any(|used| hit.used.iter().all(|i| used.contains(i)))
                && !hit.used.iter().all(in_period)
        };
        let found = self.reader.book.tools[self.tool].choices[at]
            .iter()
            .filter_map(|(value, phrase)| {
                Some((*value, phrase.find(self.tokens, &self.facts.words)?))
            })
            .filter(|(_, hit)| is_new(hit))
            .max_by_key(|(_, hit)| hit.score)?;
        Some((found.0, found.1.used))
    }
}

/// Returns the quoted text, or the text after the cue, as typed.
fn read_verbatim(tokens: &[Token], cue: Option<&Hit>, taken: &mut Vec<usize>) -> Option<String> {
    let quote = |token: &Token| ["\"", "“", "”", "«", "»", "'"].contains(&token.fold.as_str());
    let start = cue.and_then(|hit| hit.used.last().map(|last| last + 1));
    // Quotation marks are removed if they enclose the whole text after the cue.
    let is_sign = |token: &Token| token.kind == TokenKind::Punct;
    let opened = tokens.iter().position(quote).filter(|open| {
        start.is_none_or(|start| tokens[start.min(*open)..*open].iter().all(is_sign))
    });
    let closed = opened.and_then(|from| {
        let close = from + 1 + tokens[from + 1..].iter().rposition(quote)?;
        tokens[close..].iter().all(is_sign).then_some(from + 1..close)
    });
    let range = closed.or_else(|| Some(start?..tokens.len()))?;
    let mut text = String::new();
    for token in &tokens[range.clone()] {
        if !text.is_empty() && !token.glued {
            text.push(' ');
        }
        text.push_str(&token.raw);
    }
    taken.extend(cue.iter().flat_map(|hit| hit.used.iter().copied()));
    taken.extend(range);
    let text = text.trim_start_matches([':', ',', ' ']).trim_end_matches(['.', ',', '!', '?', ' ']);
    let text = text.to_owned();
    (!text.is_empty()).then_some(text)
}

/// Whether the tool takes exactly one number. If so, an amount of money without a cue word must be
/// that number.
pub(super) fn takes_one_number(reader: &Reader<'_>, tool: usize) -> bool {
    reader.book.tools[tool]
        .slots
        .iter()
        .filter(|slot| matches!(slot.kind, SlotKind::Number))
        .count()
        == 1
}

/// Returns the end of a range that a parameter takes, according to its name.
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

/// Returns the bound for "cheaper than these": the middle of the shown values, or the value of a
/// single shown thing.
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
