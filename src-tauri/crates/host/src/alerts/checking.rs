//! Checks the rules: which full days are due, the figures of each, and what follows is stored before
//! anything is told. It must not know how news are told.

use std::{sync::Arc, time::Duration};

use chrono::{NaiveDate, TimeDelta};
use contract::{
    AgentError, AlertId, AlertRuleId, AlertRuleTryParams, AlertTrial, AlertsResponse, Reason, Text,
    alerts::{
        AlertCondition, AlertRule, AlertRuleContent, AlertTrialDay, MOST_RULES, MOST_TRIED_DAYS,
    },
};
use tokio::sync::Notify;

use super::{
    Alerts,
    content::check_content,
    deciding::{Checked, Evaluated, News, RuleState},
    reading::{evaluate, is_day, query_at},
    telling::has_unrecorded,
};
use crate::data::FullDays;

/// The longest time between two checks.
const CHECK_EVERY: TimeDelta = TimeDelta::hours(1);
/// The days that a rule is tried on if none are named.
const TRIED_DAYS: u32 = 30;
/// How long an import waits for the check that follows it. The loop goes on with a longer one.
const IMPORT_WAITS: Duration = Duration::from_secs(5);

/// The figures of the days of a rule that are due.
struct Asked {
    full: FullDays,
    last: NaiveDate,
    due: Vec<NaiveDate>,
    days: Vec<(NaiveDate, Vec<Evaluated>)>,
    /// Why the days after these could not be asked for.
    fault: Option<AgentError>,
}

impl Alerts {
    /// Returns what wakes the loop of checks.
    pub(crate) fn changes(&self) -> Arc<Notify> {
        Arc::clone(&self.changes)
    }

    /// Has the rules checked soon, because rows or rules changed.
    pub(crate) fn note_change(&self) {
        *self.checked_at.lock() = None;
        self.changes.notify_one();
    }

    /// Checks the rules after rows arrived, and waits for it: the program may end with the import.
    pub(crate) async fn follow_import(&self) {
        self.note_change();
        if tokio::time::timeout(IMPORT_WAITS, self.check_if_due()).await.is_err() {
            // The check that was cut off is made again by the loop.
            self.note_change();
            tracing::debug!("the rules of alerts are checked after the import");
        }
    }

    /// Checks the rules if rows or rules changed, or an hour has passed. A clock that was set back
    /// does not delay it.
    pub(crate) async fn check_if_due(&self) {
        let now = self.clock.now();
        let is_recent = |at: chrono::DateTime<chrono::Utc>| at <= now && now < at + CHECK_EVERY;
        if self.checked_at.lock().is_some_and(is_recent) {
            return;
        }
        if let Err(error) = self.check().await {
            tracing::warn!(message = error.message, "the rules of alerts could not be checked");
        }
    }

    /// Checks the rules now.
    pub(crate) async fn check_now(&self) -> Result<AlertsResponse, AgentError> {
        self.opened()?;
        self.check().await?;
        self.list()
    }

    /// Asks for the figures of all rules, one after the other. The lock of changes is not held
    /// meanwhile: a slow database must not keep a person from changing a rule.
    async fn check(&self) -> Result<(), AgentError> {
        let _checking = self.checking.lock().await;
        *self.checked_at.lock() = Some(self.clock.now());
        self.forget_unused().await?;
        let rules = self.storage.rules().0;
        for rule in rules.iter().filter(|rule| rule.content.is_on).take(MOST_RULES) {
            let fault = match self.ask(rule).await {
                Ok(Some(asked)) => self.take(rule, asked).await?,
                Ok(None) => None,
                Err(error) => {
                    if error.has_reason(Reason::NotFound) {
                        // The alerts of a source that is gone have its figures.
                        let _changing = self.changing.lock().await;
                        self.forget(|id| *id == rule.id)?;
                    }
                    Some(error)
                }
            };
            self.note_fault(rule, fault);
        }
        self.tell().await
    }

    /// Forgets what rules found that are gone: the program can have ended while one was deleted.
    async fn forget_unused(&self) -> Result<(), AgentError> {
        let _changing = self.changing.lock().await;
        let is_gone = |id: &AlertRuleId| {
            self.storage.rule(id).is_err_and(|error| error.has_reason(Reason::NotFound))
        };
        self.forget(is_gone)
    }

    fn note_fault(&self, rule: &AlertRule, error: Option<AgentError>) {
        let mut faults = self.faults.lock();
        match error {
            Some(error) => {
                let lines = std::iter::once(error.text()).chain(error.hint_as_text());
                faults.insert(rule.id.clone(), Text::join(lines));
            }
            None => {
                faults.remove(&rule.id);
            }
        }
    }

    /// Asks for the figures of the full days that are due, the oldest first. After a day that cannot
    /// be asked for, it stops: that day is tried again. None if there is no full day.
    async fn ask(&self, rule: &AlertRule) -> Result<Option<Asked>, AgentError> {
        let content = check_content(rule.content.clone())?;
        let full = self.sources.full_days(&content.query)?;
        let Some(last) = last_day(&content, &full) else { return Ok(None) };
        let mut state = self.storage.found()?.state_of(rule);
        let due = state.begin(last, full.version.as_deref());
        let mut asked = Asked { full, last, due, days: Vec::new(), fault: None };
        for day in asked.due.clone() {
            match self.figures(&content, day, &asked.full).await {
                Ok(evaluated) => asked.days.push((day, evaluated)),
                Err(error) => {
                    asked.fault = Some(error);
                    break;
                }
            }
        }
        Ok(Some(asked))
    }

    /// Stores what follows from figures, before it is told, so that a restart neither loses nor
    /// repeats it. Figures of a rule or a source that changed meanwhile are left out.
    async fn take(&self, rule: &AlertRule, asked: Asked) -> Result<Option<AgentError>, AgentError> {
        let _changing = self.changing.lock().await;
        let is_same = |now: AlertRule| now.content == rule.content;
        let is_known = self.sources.full_days(&rule.content.query).is_ok();
        if !is_known || !self.storage.rule(&rule.id).is_ok_and(is_same) {
            self.note_change();
            return Ok(None);
        }
        let mut found = self.storage.found()?;
        let mut state = found.state_of(rule);
        let Asked { full, last, due, days, fault } = asked;
        if state.begin(last, full.version.as_deref()) != due {
            self.note_change();
            return Ok(None);
        }
        (state.zone, state.has_time) = (full.zone, full.has_time);
        for (at, (day, evaluated)) in days.iter().enumerate() {
            let checked = self.checked(&rule.content, *day, last);
            let later = days.get(at + 1..).unwrap_or_default();
            let mut next = || AlertId(self.ids.next("alert"));
            state.take(checked, evaluated.clone(), later, &mut next);
        }
        if fault.is_none() || !days.is_empty() {
            // After a fault, the next check goes on with the day that could not be asked for.
            state.version = full.version;
        }
        if found.rules.get(&rule.id) != Some(&state) {
            if !has_unrecorded(&found) {
                found.records_before = self.log.total();
            }
            found.rules.insert(rule.id.clone(), state);
            self.storage.write_found(&found)?;
        }
        Ok(fault)
    }

    fn checked(&self, content: &AlertRuleContent, day: NaiveDate, last: NaiveDate) -> Checked {
        let holds_if_absent = matches!(content.condition, AlertCondition::NoDataFor { .. });
        Checked { day, last, now: self.clock.now(), holds_if_absent }
    }

    async fn figures(
        &self,
        content: &AlertRuleContent,
        day: NaiveDate,
        full: &FullDays,
    ) -> Result<Vec<Evaluated>, AgentError> {
        let query = query_at(content, day, &full.zone, full.has_time);
        evaluate(content, day, &self.sources.measure_at(query).await?)
    }

    /// Tries a rule on past days. Stores and tells nothing.
    pub(crate) async fn try_rule(
        &self,
        params: AlertRuleTryParams,
    ) -> Result<AlertTrial, AgentError> {
        self.opened()?;
        // A rule without a name can be tried, too.
        let name = Some(params.content.name).filter(|name| !name.trim().is_empty());
        let name = name.unwrap_or_else(|| "-".to_owned());
        let content = self.finish(AlertRuleContent { name, ..params.content })?;
        let full = self.sources.full_days(&content.query)?;
        let mut trial = AlertTrial { checked: 0, days: Vec::new() };
        let Some(last) = last_day(&content, &full) else { return Ok(trial) };
        let days = if params.days == 0 { TRIED_DAYS } else { params.days.min(MOST_TRIED_DAYS) };
        let first = last - TimeDelta::days(i64::from(days) - 1);
        let mut state = RuleState::default();
        for day in first.iter_days().take_while(|day| *day <= last) {
            let evaluated = self.figures(&content, day, &full).await?;
            let ids = trial.days.len();
            let mut next = || AlertId::new(format!("trial_{ids}"));
            state.take(self.checked(&content, day, last), evaluated.clone(), &[], &mut next);
            trial.checked += 1;
            trial.days.extend(news_of(&mut state, day, &evaluated));
        }
        Ok(trial)
    }
}

/// Takes the news of a day that was tried.
fn news_of(state: &mut RuleState, day: NaiveDate, evaluated: &[Evaluated]) -> Vec<AlertTrialDay> {
    let mut days = Vec::new();
    for event in &mut state.events {
        event.to_notify.clear();
        for news in std::mem::take(&mut event.to_record) {
            let is_told = news == News::Told;
            let of_day = evaluated.iter().find(|one| one.group == event.group);
            let figures = of_day.map(|one| one.figures.clone()).unwrap_or_default();
            days.push(AlertTrialDay { day, is_told, group: event.group.clone(), figures });
        }
    }
    days
}

/// Returns the last day that a rule can be checked for. A rule about missing data of a whole source is
/// the only one that does not wait for them.
fn last_day(content: &AlertRuleContent, full: &FullDays) -> Option<NaiveDate> {
    let is_without_data = matches!(content.condition, AlertCondition::NoDataFor { .. });
    if is_without_data && content.query.by.iter().all(is_day) {
        return Some(full.yesterday);
    }
    full.complete
}
