//! Tells news of alerts: a record for each, a notification for all of a day, and the number of unseen
//! alerts for the windows. The stored state says what is not told yet.

use std::{collections::BTreeSet, ops::ControlFlow};

use audit::Selection;
use chrono::NaiveDate;
use contract::{
    AgentError, GivenName, Param, Push, RecordType, Text,
    alerts::{AlertDigest, AlertGroup, AlertRule},
    text,
};
use engine::ports::{AuditLog as _, Durability, Events as _, Profile as _, RecordDraft};
use serde_json::{Value, json};

use super::{
    Alerts, alert_of, count,
    deciding::{Event, News, RuleState},
    storage::Found,
    unseen_of,
};
use crate::log::audit_error;

/// The most lines of a notification.
const LINES: usize = 5;
/// How far a clock may have been set back, in days. The day of a notification further ahead was wrong.
const AHEAD: i64 = 2;

/// The news that the log has: the alert, and what is told of it.
type Recorded = BTreeSet<(String, String)>;

/// Whether the log may lack news.
pub(super) fn has_unrecorded(found: &Found) -> bool {
    let mut events = found.rules.values().flat_map(|state| &state.events);
    events.any(|event| !event.to_record.is_empty())
}

impl Alerts {
    /// Tells what is not told yet.
    pub(super) async fn tell(&self) -> Result<(), AgentError> {
        let _changing = self.changing.lock().await;
        let (mut found, rules) = (self.storage.found()?, self.storage.rules().0);
        if has_unrecorded(&found) {
            self.record_news(&mut found, &rules).await?;
            self.storage.write_found(&found)?;
            let unseen = unseen_of(&found);
            tracing::info!(unseen, "there are news of alerts");
            self.hub.push(Push::Alerts { unseen, digest: None });
        }
        self.notify(&mut found, &rules)
    }

    /// Pushes the number of unseen alerts.
    pub(super) fn push_unseen(&self) {
        if let Ok(found) = self.storage.found() {
            self.hub.push(Push::Alerts { unseen: unseen_of(&found), digest: None });
        }
    }

    /// Records news, each once: after a crash, the log may have some of them already.
    async fn record_news(&self, found: &mut Found, rules: &[AlertRule]) -> Result<(), AgentError> {
        let recorded = self.recorded_since(found.records_before).await?;
        for rule in rules {
            let Some(state) = found.rules.get_mut(&rule.id) else { continue };
            for at in 0..state.events.len() {
                let drafts = drafts_of(rule, state, at, &recorded);
                for draft in drafts {
                    let appended = self.log.append(draft, Durability::Durable).await;
                    appended.map_err(|error| audit_error(&error))?;
                }
                if let Some(event) = state.events.get_mut(at) {
                    event.to_record.clear();
                }
            }
        }
        Ok(())
    }

    async fn recorded_since(&self, records: u64) -> Result<Recorded, AgentError> {
        let selection = Selection {
            types: vec![RecordType::AlertTold],
            after: records,
            session: None,
            since: None,
        };
        let note = |recorded: &mut Recorded, record: contract::AuditRecordView| {
            let text = |name: &str| {
                record.fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            recorded.insert((text("alert"), text("action")));
            ControlFlow::Continue(())
        };
        self.log.visit(selection, Recorded::new(), note).await
    }

    /// Notifies a person of all news at once, at most once a day. The news of a notification are
    /// stored as told before it is sent, so that it is never repeated. The panel lists each at once.
    fn notify(&self, found: &mut Found, rules: &[AlertRule]) -> Result<(), AgentError> {
        let today = self.today();
        if !self.notifies || !is_due(found.notified_on, today) {
            return Ok(());
        }
        let digest = take_digest(found, rules);
        if digest.told == 0 && digest.resolved == 0 {
            return Ok(());
        }
        found.notified_on = Some(today);
        self.storage.write_found(found)?;
        self.hub.push(Push::Alerts { unseen: unseen_of(found), digest: Some(digest) });
        Ok(())
    }

    fn today(&self) -> NaiveDate {
        let zone: chrono_tz::Tz = self.profile.time_zone().parse().unwrap_or(chrono_tz::UTC);
        self.clock.now().with_timezone(&zone).date_naive()
    }
}

/// Whether a day may have a notification.
fn is_due(notified_on: Option<NaiveDate>, today: NaiveDate) -> bool {
    notified_on.is_none_or(|last| last < today || (last - today).num_days() > AHEAD)
}

/// Returns the records of an event's news that the log does not have.
fn drafts_of(
    rule: &AlertRule,
    state: &RuleState,
    at: usize,
    recorded: &Recorded,
) -> Vec<RecordDraft> {
    let Some(event) = state.events.get(at) else { return Vec::new() };
    let is_new = |news: &&News| !recorded.contains(&(event.id.to_string(), news.name().to_owned()));
    event.to_record.iter().filter(is_new).map(|news| draft_of(rule, state, event, *news)).collect()
}

fn draft_of(rule: &AlertRule, state: &RuleState, event: &Event, news: News) -> RecordDraft {
    let day = match news {
        News::Told => Some(event.since),
        News::Resolved => event.resolved_on,
    };
    let alert = alert_of(rule, state, event);
    let mut draft = RecordDraft::new(RecordType::AlertTold)
        .field("action", news.name())
        .field("alert", event.id.as_str())
        .field("rule", rule.id.as_str())
        .field("day", day.map(|day| day.to_string()))
        .commit("name", alert.name)
        .commit("group", json!(alert.group).to_string())
        .commit("asked", json!({ "query": alert.question }).to_string());
    if let Some(source) = alert.source {
        draft = draft.field("source", source.as_str());
    }
    if news == News::Told {
        draft = draft.commit("figures", json!(alert.figures).to_string());
    }
    draft
}

/// Takes the news that no notification contained yet.
fn take_digest(found: &mut Found, rules: &[AlertRule]) -> AlertDigest {
    let mut digest = AlertDigest { told: 0, resolved: 0, lines: Vec::new() };
    for rule in rules {
        let Some(state) = found.rules.get_mut(&rule.id) else { continue };
        for event in &mut state.events {
            let news = std::mem::take(&mut event.to_notify);
            digest.told += count(news.iter().filter(|one| **one == News::Told).count());
            digest.resolved += count(news.iter().filter(|one| **one == News::Resolved).count());
            if let Some(last) = news.last()
                && digest.lines.len() < LINES
            {
                digest.lines.push(line_of(&rule.content.name, &event.group, *last));
            }
        }
    }
    digest
}

/// Returns a line about an alert: its rule, its group, and whether it is resolved.
fn line_of(name: &str, group: &[AlertGroup], news: News) -> Text {
    let values = group.iter().map(|one| match &one.value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let parts: Vec<String> = std::iter::once(name.to_owned()).chain(values).collect();
    let alert = GivenName::of(parts.join(" · "));
    match news {
        News::Told => Text::listed([Param::Name(alert)], ""),
        News::Resolved => text!("Resolved: {alert}", alert),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_is_due_on_another_day_and_after_a_clock_that_was_wrong() {
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        let today = day("2026-11-30");
        assert!(is_due(None, today) && is_due(Some(day("2026-11-29")), today));
        assert!(!is_due(Some(today), today));
        assert!(!is_due(Some(day("2026-12-01")), today), "the clock was set back");
        assert!(is_due(Some(day("2027-12-01")), today), "the clock was a year ahead");
    }
}
