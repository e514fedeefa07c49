//! Reads the value of each slot from a clause. Of the conversation, only the shown things are used.

use chrono::{Datelike, Days, NaiveDate};
use contract::manifest::{Side, Slot, SlotKind};
use language::{
    Token, TokenKind,
    amounts::Amount,
    bounds::{Bound, Measure},
    changes, dates,
};
use serde_json::{Number, Value, json};

use super::{
    facts::{Facts, Quantity},
    goal::{Doubt, Goal},
    pattern::Hit,
    reader::{Match, Reader},
    values,
};

/// The most words between a bound and its cue.
const NEAR: usize = 5;

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
            SlotKind::DateStart => self.period(slot)?.start.map(|day| json!(day.to_string())),
            SlotKind::DateEnd => self.period(slot)?.end.map(|day| json!(day.to_string())),
            SlotKind::Number => self.number(slot, at, cue),
            SlotKind::Quantity => self.quantity(goal),
            SlotKind::Flag { value } => self.cue_outside_bounds(at).map(|hit| {
                let own = hit.used.into_iter().filter(|i| !self.is_in_bound(*i));
                self.taken.extend(own.collect::<Vec<_>>());
                value.clone()
            }),
            SlotKind::OtherStart => {
                facts.other_period.as_ref()?.start.map(|day| json!(day.to_string()))
            }
            SlotKind::OtherEnd => {
                facts.other_period.as_ref()?.end.map(|day| json!(day.to_string()))
            }
            SlotKind::ChangePercent => self.read_change_percent(at, cue),
            SlotKind::ChangeAmount => self.read_change_amount(at, cue),
            SlotKind::Percent { side, rest } => {
                let bound = self.take_bound(Measure::Percent, at)?;
                // "More than 30 percent left" means at most 70 percent used.
                let (least, most) = match rest {
                    true => (bound.most.map(|v| 100.0 - v), bound.least.map(|v| 100.0 - v)),
                    false => (bound.least, bound.most),
                };
                self.take_if_on_side(bound, *side, least, most)
            }
            SlotKind::DaysAhead { side } => {
                let bound = self.take_bound(Measure::Days, at)?;
                let (least, most) = (bound.least, bound.most);
                let days = self.take_if_on_side(bound, *side, least, most)?.as_u64()?;
                days_ahead(self.reader.today, days)
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

    /// Returns the period in the text. For a slot of future days, returns the next period of that
    /// name.
    fn period(&self, slot: &Slot) -> Option<dates::FoundPeriod> {
        let (period, today) = (self.facts.period.as_ref()?, self.reader.today);
        if slot.ahead {
            return Some(dates::move_to_next_period(self.tokens, period, today));
        }
        // "Will it run out by Friday" is about the current month.
        let is_only_end = period.start.is_none() && period.end.is_some_and(|end| end >= today);
        let start = if is_only_end { today.with_day(1) } else { period.start };
        Some(dates::FoundPeriod { start, ..period.clone() })
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
        let only = takes_one_number(self.reader, self.tool) && !slot.cued_only;
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

    fn read_change_percent(&mut self, at: usize, cue: Option<Hit>) -> Option<Value> {
        let has_cues = !self.reader.book.tools[self.tool].cues[at].is_empty();
        let hit = cue.filter(|_| has_cues)?;
        let percent =
            self.facts.percents.iter().find(|percent| !self.taken.contains(&percent.at))?;
        let sign =
            if percent.is_signed { 1.0 } else { changes::direction_near(self.tokens, percent.at)? };
        self.taken.extend(hit.used);
        self.taken.extend(percent.at..percent.at + percent.len);
        self.take_directions();
        number_as_json(percent.value * sign)
    }

    fn read_change_amount(&mut self, at: usize, cue: Option<Hit>) -> Option<Value> {
        let has_cues = !self.reader.book.tools[self.tool].cues[at].is_empty();
        let hit = cue.filter(|_| has_cues)?;
        let amount = self.facts.amounts.iter().find(|amount| !self.taken.contains(&amount.at))?;
        let by = amount.at > 0 && self.tokens[amount.at - 1].any(&["by", "med", "with", "another"]);
        let more = self
            .tokens
            .get(amount.at + amount.len)
            .is_some_and(|next| next.any(&["more", "less", "mer", "mindre", "extra"]));
        let sign = changes::direction_near(self.tokens, amount.at).filter(|_| by || more)?;
        self.taken.extend(hit.used);
        self.taken.extend(amount.at..amount.at + amount.len);
        self.amounts.push(amount.at);
        self.take_directions();
        number_as_json(amount.value * sign)
    }

    fn take_directions(&mut self) {
        let directions = (0..self.tokens.len()).filter(|&i| changes::is_direction(&self.tokens[i]));
        self.taken.extend(directions);
    }

    fn is_in_bound(&self, token: usize) -> bool {
        self.facts.bounds.iter().any(|bound| bound.at.contains(&token))
    }

    /// Returns the cue of a flag. In "minst 20 %", "minst" belongs to the bound. The unit may
    /// belong to the cue: "less than 2 weeks left".
    fn cue_outside_bounds(&self, at: usize) -> Option<Hit> {
        let cues = &self.reader.book.tools[self.tool].cues[at];
        let ends = |i: &usize| self.facts.bounds.iter().any(|bound| bound.at.end == i + 1);
        let is_own = |hit: &Hit| hit.used.iter().all(|i| !self.is_in_bound(*i) || ends(i));
        cues.iter().filter_map(|cue| cue.find(self.tokens, &self.facts.words)).find(is_own)
    }

    /// Returns the first bound of this measure that no slot has taken. If the slot has cues, a cue
    /// must be near the bound.
    fn take_bound(&mut self, measure: Measure, at: usize) -> Option<Bound> {
        let cues = &self.reader.book.tools[self.tool].cues[at];
        let found = self.facts.bounds.iter().find_map(|bound| {
            // A range is read by two slots, each of which takes an end.
            let is_free = bound.measure == measure && !self.taken.contains(&(bound.at.end - 1));
            let find = |from: usize, to: usize| {
                let near = |i: &usize| from <= *i && *i < to;
                let words: Vec<usize> = self.facts.words.iter().copied().filter(near).collect();
                cues.iter().find_map(|cue| cue.find(self.tokens, &words))
            };
            let (start, end) = (bound.at.start, bound.at.end);
            let cue = find(end, end + NEAR).or_else(|| find(start.saturating_sub(2), start));
            let is_cued = cue.is_some() || cues.is_empty();
            (is_free && is_cued).then(|| (bound.clone(), cue))
        });
        let (bound, cue) = found?;
        self.taken.extend(cue.into_iter().flat_map(|hit| hit.used));
        Some(bound)
    }

    /// Returns the end of a bound that a slot takes. After both ends are taken, the tokens count as
    /// used.
    fn take_if_on_side(
        &mut self,
        bound: Bound,
        side: Side,
        least: Option<f64>,
        most: Option<f64>,
    ) -> Option<Value> {
        let value = match side {
            Side::Above => least,
            Side::Below => most,
        }?;
        let is_range = bound.least.is_some() && bound.most.is_some();
        let is_first = is_range && !self.taken.contains(&bound.at.start);
        // The first end of a range leaves the last token for the second end.
        let end = bound.at.end - usize::from(is_first);
        self.taken.extend(bound.at.start..end);
        number_as_json(value)
    }

    /// Returns the option that the clause names, and the positions of the tokens that name the
    /// option. A phrase is ignored if it lies inside a phrase that already matched, such as
    /// "behind" inside "not behind", or inside the period, or if it overlaps a bound.
    fn choice(&self, at: usize) -> Option<(usize, Vec<usize>)> {
        let in_period =
            |i: &usize| self.facts.period.as_ref().is_some_and(|period| period.at.contains(i));
        let is_new = |hit: &Hit| {
            !self.choices.iter().any(|used| hit.used.iter().all(|i| used.contains(i)))
                && !hit.used.iter().all(in_period)
                && !hit.used.iter().any(|i| self.is_in_bound(*i))
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

/// Returns the default value of a slot that the text does not fill.
pub(super) fn default_of(slot: &Slot, today: NaiveDate) -> Option<Value> {
    match &slot.kind {
        SlotKind::DaysAhead { .. } => days_ahead(today, slot.default.as_ref()?.as_u64()?),
        _ => slot.default.clone(),
    }
}

fn days_ahead(today: NaiveDate, days: u64) -> Option<Value> {
    today.checked_add_days(Days::new(days)).map(|day| json!(day.to_string()))
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
        .filter(|slot| matches!(slot.kind, SlotKind::Number) && !slot.cued_only)
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
