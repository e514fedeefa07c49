//! Decides, for each full day, which conditions began to hold and which are resolved. Each is told
//! once, whatever the order of restarts, late data and changes of the clock is. Pure: it knows no
//! clock, no files and no queries.

use std::collections::BTreeMap;

use chrono::{DateTime, Days, NaiveDate, Utc};
use contract::{
    AlertId,
    alerts::{AlertFigure, AlertGroup},
};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The most days that are checked after a pause. Earlier ones are left out.
const MOST_DAYS: u64 = 92;
/// How far the clock may have been set back. A day that is further ahead was checked by a wrong clock.
const AHEAD_DAYS: u64 = 31;
/// How long a resolved alert is kept, in days.
const KEPT_DAYS: u64 = 92;
/// The days before the last one that are checked again when their rows changed.
const AGAIN_DAYS: u64 = 14;
/// The most events of a rule. Beyond, the oldest ones that are resolved are forgotten.
const MOST_EVENTS: usize = 3_000;
/// The most groups whose values are known. Beyond, those that changed longest ago are forgotten.
const MOST_VALUES: usize = 10_000;

/// The state of a rule.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct RuleState {
    /// The hash of the query and the condition that it belongs to.
    #[serde(default)]
    pub(super) of: String,
    /// The rows that were checked. None: earlier days are not checked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<String>,
    /// The first day that was checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) began: Option<NaiveDate>,
    /// The last day that was checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) checked_to: Option<NaiveDate>,
    /// The zone in which the days ended.
    #[serde(default)]
    pub(super) zone: String,
    /// Whether the rows have a time.
    #[serde(default)]
    pub(super) has_time: bool,
    /// The conditions that held.
    #[serde(default)]
    pub(super) events: Vec<Event>,
    /// The values of the column that is watched, by group: the day of each change.
    #[serde(default)]
    pub(super) values: BTreeMap<String, Vec<(NaiveDate, String)>>,
}

/// A condition that held for a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Event {
    pub(super) id: AlertId,
    key: String,
    pub(super) group: Vec<AlertGroup>,
    pub(super) since: NaiveDate,
    pub(super) told_at: DateTime<Utc>,
    pub(super) resolved_on: Option<NaiveDate>,
    pub(super) resolved_at: Option<DateTime<Utc>>,
    pub(super) is_seen: bool,
    pub(super) figures: Vec<AlertFigure>,
    pub(super) before: Option<String>,
    /// The news that the log does not have yet.
    pub(super) to_record: Vec<News>,
    /// The news that no notification contained yet.
    pub(super) to_notify: Vec<News>,
}

/// The kinds of news about an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum News {
    Told,
    Resolved,
}

impl News {
    /// Returns the name in records.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Told => "told",
            Self::Resolved => "resolved",
        }
    }
}

/// The figures of a group on a day.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Evaluated {
    pub(super) group: Vec<AlertGroup>,
    pub(super) finding: Finding,
    pub(super) figures: Vec<AlertFigure>,
}

/// The finding of a condition about figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// Whether it holds.
    Holds(bool),
    /// The value whose change it is about.
    Value(String),
}

/// A day that is checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checked {
    pub(super) day: NaiveDate,
    /// The last full day by the clock and the data.
    pub(super) last: NaiveDate,
    pub(super) now: DateTime<Utc>,
    /// Whether the condition holds on for groups without rows.
    pub(super) holds_if_absent: bool,
}

/// The place of a day among the events of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// No event that matters.
    Nothing,
    /// An event that began on this day or before, and is not resolved.
    Open,
    /// An event that began before and was resolved later. The day is checked again.
    Over,
    /// An event that began later, and the condition holds on all days before it. The day was late.
    Later,
    /// An event that began on a day that is far ahead. The clock was wrong.
    Impossible,
}

/// The consequence of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Tell,
    Resolve,
    /// The condition began earlier than it was told.
    DateBack,
    Nothing,
}

/// The table of transitions.
const fn step(holds: bool, known: Known) -> Step {
    match (holds, known) {
        (true, Known::Nothing) => Step::Tell,
        (true, Known::Later | Known::Impossible) => Step::DateBack,
        (false, Known::Open | Known::Impossible) => Step::Resolve,
        (true, Known::Open | Known::Over)
        | (false, Known::Nothing | Known::Over | Known::Later) => Step::Nothing,
    }
}

/// Returns the last day that a clock which was not far ahead can have checked.
fn later(last: NaiveDate) -> NaiveDate {
    last.checked_add_days(Days::new(AHEAD_DAYS)).unwrap_or(last)
}

/// Returns the key of a group.
fn key_of(group: &[AlertGroup]) -> String {
    json!(group).to_string()
}

impl RuleState {
    /// Returns the days to check, the oldest first. If the clock or the data went back, days from
    /// the last full one on are checked again, and if rows changed, the days before it are, too: each
    /// of their news is told once.
    pub(super) fn begin(&mut self, last: NaiveDate, version: Option<&str>) -> Vec<NaiveDate> {
        let before = last.pred_opt().unwrap_or(last);
        if let Some(checked) = self.checked_to.filter(|checked| *checked > last) {
            // A clock that was far ahead may have skipped days before the last one, too.
            let back = if checked > later(last) { AHEAD_DAYS } else { 1 };
            let began = self.began.and_then(|day| day.pred_opt()).unwrap_or(before);
            let back = last.checked_sub_days(Days::new(back)).unwrap_or(before);
            self.checked_to = Some(back.max(began.min(before)));
        }
        for changes in self.values.values_mut() {
            changes.retain(|(day, _)| *day <= last);
        }
        // A new rule begins with the last full day.
        let after = self.again_from(last, version).or(self.checked_to).unwrap_or(before);
        let earliest = last.checked_sub_days(Days::new(MOST_DAYS)).unwrap_or(last);
        after.max(earliest).iter_days().skip(1).take_while(|day| *day <= last).collect()
    }

    /// Returns the day after which days are checked again, if their rows changed.
    fn again_from(&self, last: NaiveDate, version: Option<&str>) -> Option<NaiveDate> {
        if version.is_none() || self.version.as_deref() == version {
            return None;
        }
        let (checked, began) = (self.checked_to?, self.began?.pred_opt()?);
        let again = last.checked_sub_days(Days::new(AGAIN_DAYS))?;
        Some(again.max(began).min(checked))
    }

    /// Takes the figures of a day. `later` has those of the days that are taken after it, and `next`
    /// chooses identifiers.
    pub(super) fn take(
        &mut self,
        checked: Checked,
        evaluated: Vec<Evaluated>,
        later: &[(NaiveDate, Vec<Evaluated>)],
        next: &mut dyn FnMut() -> AlertId,
    ) {
        let mut absent: Vec<String> = self
            .events
            .iter()
            .filter(|event| event.resolved_on.is_none())
            .map(|event| event.key.clone())
            .collect();
        let is_level = evaluated.iter().all(|one| matches!(one.finding, Finding::Holds(_)));
        for one in evaluated {
            let key = key_of(&one.group);
            absent.retain(|other| *other != key);
            match one.finding.clone() {
                Finding::Holds(holds) => {
                    let known = self.known(checked, &key, later);
                    self.take_level(checked, &key, holds, known, Some(one), next);
                }
                Finding::Value(value) => self.take_value(checked, &key, value, one, next),
            }
        }
        if is_level && !checked.holds_if_absent && !self.watches_values() {
            for key in absent {
                let known = self.known(checked, &key, later);
                self.take_level(checked, &key, false, known, None, next);
            }
        }
        self.began.get_or_insert(checked.day);
        self.checked_to = Some(checked.day);
        self.forget_old(checked.last);
    }

    fn watches_values(&self) -> bool {
        !self.values.is_empty()
    }

    fn known(
        &self,
        checked: Checked,
        key: &str,
        later_days: &[(NaiveDate, Vec<Evaluated>)],
    ) -> (Known, Option<usize>) {
        let Checked { day, last, .. } = checked;
        let joined = |event: &Event| holds_until(checked, key, event.since, later_days);
        let of_key = || self.events.iter().enumerate().filter(move |(_, event)| event.key == key);
        let open = |event: &Event| event.resolved_on.is_none();
        let over = |event: &Event| event.resolved_on > Some(day);
        let find = |is: &dyn Fn(&Event) -> bool| of_key().find(|(_, event)| is(event));
        let found = [
            (Known::Open, find(&|event: &Event| event.since <= day && open(event))),
            (Known::Over, find(&|event: &Event| event.since <= day && over(event))),
            (Known::Impossible, find(&|event: &Event| event.since > later(last) && open(event))),
            (Known::Later, find(&|event: &Event| event.since > day && joined(event))),
        ];
        let first = found.into_iter().find_map(|(known, found)| Some((known, found?.0)));
        first.map_or((Known::Nothing, None), |(known, at)| (known, Some(at)))
    }

    fn take_level(
        &mut self,
        checked: Checked,
        key: &str,
        holds: bool,
        (known, at): (Known, Option<usize>),
        evaluated: Option<Evaluated>,
        next: &mut dyn FnMut() -> AlertId,
    ) {
        match (step(holds, known), at, evaluated) {
            (Step::Tell, _, Some(evaluated)) => {
                self.events.push(event(checked, key, evaluated, None, next()));
            }
            (Step::DateBack, Some(at), _) => self.events[at].since = checked.day,
            (Step::Resolve, Some(at), _) => {
                for (place, event) in self.events.iter_mut().enumerate() {
                    // A day that was late can have an event of its own.
                    let is_open = event.resolved_on.is_none() && event.since <= checked.day;
                    if place == at || (is_open && event.key == key) {
                        event.resolve(checked);
                    }
                }
            }
            (Step::Tell | Step::DateBack | Step::Resolve | Step::Nothing, _, _) => {}
        }
    }

    /// Takes the value of a column. Each change resolves the one before. A change back to the value
    /// before it is not told as another one.
    fn take_value(
        &mut self,
        checked: Checked,
        key: &str,
        value: String,
        evaluated: Evaluated,
        next: &mut dyn FnMut() -> AlertId,
    ) {
        let day = checked.day;
        let changes = self.values.entry(key.to_owned()).or_default();
        let Some((since, before)) = changes.last().cloned() else {
            changes.push((day, value));
            return;
        };
        if since >= day || before == value {
            return;
        }
        changes.push((day, value.clone()));
        // The day was checked before the clock or the data went back.
        let was_taken = |event: &Event| event.since == day || event.resolved_on == Some(day);
        if self.events.iter().any(|event| event.key == key && was_taken(event)) {
            return;
        }
        let is_open = |event: &&mut Event| {
            event.key == key && event.resolved_on.is_none() && event.since < day
        };
        let mut is_back = false;
        if let Some(open) = self.events.iter_mut().find(is_open) {
            is_back = open.before.as_deref() == Some(value.as_str());
            open.resolve(checked);
        }
        if !is_back {
            self.events.push(event(checked, key, evaluated, Some(before), next()));
        }
    }

    /// Forgets what was resolved long ago and is recorded.
    fn forget_old(&mut self, last: NaiveDate) {
        let Some(before) = last.checked_sub_days(Days::new(KEPT_DAYS)) else { return };
        self.events.retain(|event| {
            let is_old = event.resolved_on.is_some_and(|day| day < before);
            !(is_old && event.to_record.is_empty())
        });
        let mut excess = self.events.len().saturating_sub(MOST_EVENTS);
        self.events.retain(|event| {
            let is_over = event.resolved_on.is_some() && event.to_record.is_empty();
            let is_forgotten = excess > 0 && is_over;
            excess -= usize::from(is_forgotten);
            !is_forgotten
        });
        for changes in self.values.values_mut() {
            let old = changes.iter().filter(|(day, _)| *day < before).count();
            // The last old value is the one that the next is compared with.
            changes.drain(..old.saturating_sub(1));
        }
        let excess = self.values.len().saturating_sub(MOST_VALUES);
        if excess > 0 {
            let last = |(key, changes): (&String, &Vec<(NaiveDate, String)>)| {
                (changes.last().map(|(day, _)| *day), key.clone())
            };
            let mut keys: Vec<(Option<NaiveDate>, String)> = self.values.iter().map(last).collect();
            keys.sort();
            for (_, key) in keys.into_iter().take(excess) {
                self.values.remove(&key);
            }
        }
    }
}

/// Whether a condition that holds on a day holds on all days until another one, on which it was found
/// to hold. Of a day between them without figures, this is not known.
fn holds_until(
    checked: Checked,
    key: &str,
    until: NaiveDate,
    later_days: &[(NaiveDate, Vec<Evaluated>)],
) -> bool {
    let holds = |evaluated: &[Evaluated]| {
        let own = evaluated.iter().find(|one| key_of(&one.group) == key);
        own.map_or(checked.holds_if_absent, |one| one.finding == Finding::Holds(true))
    };
    let mut days = checked.day.iter_days().skip(1).take_while(|day| *day <= until);
    days.all(|day| {
        let found = later_days.iter().find(|(of, _)| *of == day);
        found.map_or(day == until, |(_, evaluated)| holds(evaluated))
    })
}

impl Event {
    fn resolve(&mut self, checked: Checked) {
        self.resolved_on = Some(checked.day.max(self.since));
        self.resolved_at = Some(checked.now);
        self.is_seen = false;
        self.to_record.push(News::Resolved);
        self.to_notify.push(News::Resolved);
    }
}

fn event(
    checked: Checked,
    key: &str,
    evaluated: Evaluated,
    before: Option<String>,
    id: AlertId,
) -> Event {
    Event {
        id,
        key: key.to_owned(),
        group: evaluated.group,
        since: checked.day,
        told_at: checked.now,
        resolved_on: None,
        resolved_at: None,
        is_seen: false,
        figures: evaluated.figures,
        before,
        to_record: vec![News::Told],
        to_notify: vec![News::Told],
    }
}

#[cfg(test)]
mod tests;
