//! Alerts of a profile: rules over figures, which are checked for each full day and tell once what
//! began and what is resolved. An alert is listed, recorded and notified of, and never acts. This
//! folder owns the files of rules, what they found, and the checks. It must not know how figures are
//! computed, nor the views that show alerts.

mod checking;
mod content;
mod deciding;
mod reading;
mod storage;
mod telling;

use std::{collections::BTreeMap, sync::Arc};

use audit::Log;
use chrono::{DateTime, Utc};
use contract::{
    AgentError, Alert, AlertRule, AlertRuleContent, AlertRuleId, AlertRuleRemoveParams,
    AlertRuleSaveParams, AlertRuleView, AlertRulesResponse, AlertSeenParams, AlertsResponse,
    ErrorCode, Reason, RecordType, SourceName, Text, alerts::MOST_RULES, text,
};
use engine::{
    add_caller,
    ports::{AuditLog as _, Clock, Durability, Ids, RecordDraft},
};
use parking_lot::Mutex as SyncMutex;
use serde_json::json;
use tokio::sync::{Mutex, Notify};

use crate::{
    data::Sources,
    log::{audit_error, current_caller},
    profile::{LiveProfile, Options},
    pushes::Hub,
};
use content::check_content;
use deciding::{Event, RuleState};
use reading::question_of;
use storage::{Found, Storage};

/// All alerts of an open profile.
pub(crate) struct Alerts {
    storage: Storage,
    sources: Sources,
    log: Arc<Log>,
    profile: Arc<LiveProfile>,
    hub: Arc<Hub>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    /// Whether this process serves visitors of the chat API, who have no access to alerts.
    is_closed: bool,
    /// Whether this process stays open and can notify a person.
    notifies: bool,
    /// The lock that is held while rules, or what they found, change.
    changing: Mutex<()>,
    /// The lock that is held while the rules are checked. It is taken before that of changes.
    checking: Mutex<()>,
    /// Why rules could not be checked the last time.
    faults: SyncMutex<BTreeMap<AlertRuleId, Text>>,
    /// When the rules were checked last. None: rows or rules have changed since.
    checked_at: SyncMutex<Option<DateTime<Utc>>>,
    changes: Arc<Notify>,
}

impl Alerts {
    /// Opens the alerts of a profile. Reads no file.
    pub(crate) fn open(
        profile: &Arc<LiveProfile>,
        sources: &Sources,
        log: &Arc<Log>,
        hub: &Arc<Hub>,
        options: &Options,
    ) -> Arc<Self> {
        let is_closed = options.served_packs.is_some();
        Arc::new(Self {
            storage: Storage::new(profile.paths().alerts()),
            sources: sources.clone(),
            log: Arc::clone(log),
            profile: Arc::clone(profile),
            hub: Arc::clone(hub),
            clock: Arc::clone(&options.clock),
            ids: Arc::clone(&options.ids),
            is_closed,
            // A command in a terminal ends at once, so that the next window notifies instead.
            notifies: options.warm_up && !is_closed,
            changing: Mutex::default(),
            checking: Mutex::default(),
            faults: SyncMutex::default(),
            checked_at: SyncMutex::default(),
            changes: Arc::default(),
        })
    }

    fn opened(&self) -> Result<&Storage, AgentError> {
        if self.is_closed { Err(not_for_visitors()) } else { Ok(&self.storage) }
    }

    /// Returns all alerts: open ones first, then the newest first.
    pub(crate) fn list(&self) -> Result<AlertsResponse, AgentError> {
        let storage = self.opened()?;
        let (found, (rules, _)) = (storage.found()?, storage.rules());
        let mut alerts = Vec::new();
        for rule in rules {
            let Some(state) = found.rules.get(&rule.id) else { continue };
            alerts.extend(state.events.iter().map(|event| alert_of(&rule, state, event)));
        }
        alerts.sort_by(|one: &Alert, other| {
            let order = |alert: &Alert| (alert.resolved_on.is_none(), alert.told_at);
            order(other).cmp(&order(one)).then_with(|| one.id.cmp(&other.id))
        });
        let unseen = count(alerts.iter().filter(|alert| !alert.is_seen).count());
        Ok(AlertsResponse { alerts, unseen })
    }

    /// Returns all rules by name, with the state of their checks.
    pub(crate) fn rules(&self) -> Result<AlertRulesResponse, AgentError> {
        let storage = self.opened()?;
        let (found, (rules, faults)) = (storage.found()?, storage.rules());
        let known = self.faults.lock();
        let view = |rule: AlertRule| AlertRuleView {
            checked_to: found.rules.get(&rule.id).and_then(|state| state.checked_to),
            fault: known.get(&rule.id).cloned(),
            rule,
        };
        Ok(AlertRulesResponse { rules: rules.into_iter().map(view).collect(), faults })
    }

    /// Makes a rule, or changes one that nobody changed since it was shown.
    pub(crate) async fn save(&self, params: AlertRuleSaveParams) -> Result<AlertRule, AgentError> {
        let storage = self.opened()?;
        let _changing = self.changing.lock().await;
        let content = self.finish(params.content)?;
        let Some(id) = params.id else { return self.create(content).await };
        let before = storage.rule(&id)?;
        check_revision(&before, params.revision)?;
        let draft = change_record("changed", &id)
            .commit("before", json!(before.content).to_string())
            .commit("after", json!(content).to_string());
        self.record(draft).await?;
        let is_other =
            before.content.query != content.query || before.content.condition != content.condition;
        let (revision, changed_at) = (before.revision + 1, self.clock.now());
        let rule = AlertRule { revision, changed_at, content, ..before };
        storage.write_rule(&rule)?;
        if is_other {
            // Its alerts were about other figures. If the program ends here, the next check forgets them.
            self.forget(|rule| *rule == id)?;
        }
        self.note_change();
        self.push_unseen();
        Ok(rule)
    }

    async fn create(&self, content: AlertRuleContent) -> Result<AlertRule, AgentError> {
        if self.storage.rules().0.len() >= MOST_RULES {
            return Err(AgentError::invalid(text!(
                "A profile has at most {count} rules of alerts.",
                count = MOST_RULES
            ))
            .reason(Reason::Validation)
            .hint("Delete a rule that is not needed."));
        }
        let now = self.clock.now();
        let id = AlertRuleId(self.ids.next("rule"));
        let rule = AlertRule { id, revision: 1, created_at: now, changed_at: now, content };
        let draft = change_record("created", &rule.id);
        self.record(draft.commit("after", json!(rule.content).to_string())).await?;
        self.storage.write_rule(&rule)?;
        self.note_change();
        Ok(rule)
    }

    /// Deletes a rule with its alerts. Returns the rule, so that it can be made again.
    pub(crate) async fn remove(
        &self,
        params: &AlertRuleRemoveParams,
    ) -> Result<AlertRule, AgentError> {
        let storage = self.opened()?;
        let _changing = self.changing.lock().await;
        let rule = storage.rule(&params.id)?;
        check_revision(&rule, params.revision)?;
        let draft = change_record("deleted", &rule.id);
        self.record(draft.commit("before", json!(rule.content).to_string())).await?;
        storage.remove_rule(&params.id)?;
        self.forget(|id| *id == params.id)?;
        self.push_unseen();
        Ok(rule)
    }

    /// Marks alerts as seen: those that are named, or all.
    pub(crate) async fn mark_seen(
        &self,
        params: &AlertSeenParams,
    ) -> Result<AlertsResponse, AgentError> {
        let storage = self.opened()?;
        let _changing = self.changing.lock().await;
        let mut found = storage.found()?;
        for event in found.rules.values_mut().flat_map(|state| &mut state.events) {
            event.is_seen |= params.ids.is_empty() || params.ids.contains(&event.id);
        }
        storage.write_found(&found)?;
        self.push_unseen();
        self.list()
    }

    /// Returns the rules whose figures come from a source, alone or with others.
    pub(crate) fn rules_over(&self, source: &SourceName) -> Vec<AlertRuleId> {
        let is_over =
            |rule: &AlertRule| self.sources.sources_behind(&rule.content.query).contains(source);
        self.storage.rules().0.into_iter().filter(is_over).map(|rule| rule.id).collect()
    }

    /// Forgets the alerts of rules whose source is removed: they contain its figures.
    pub(crate) async fn forget_rules(&self, rules: &[AlertRuleId]) -> Result<(), AgentError> {
        let _changing = self.changing.lock().await;
        self.forget(|id| rules.contains(id))?;
        self.push_unseen();
        Ok(())
    }

    /// Forgets what some rules found.
    fn forget(&self, is_forgotten: impl Fn(&AlertRuleId) -> bool) -> Result<(), AgentError> {
        self.faults.lock().retain(|id, _| !is_forgotten(id));
        let before = self.storage.found()?;
        let mut found = before.clone();
        found.rules.retain(|id, _| !is_forgotten(id));
        if found == before { Ok(()) } else { self.storage.write_found(&found) }
    }

    /// Takes the moment out of the query, names its source, and checks the content.
    fn finish(&self, content: AlertRuleContent) -> Result<AlertRuleContent, AgentError> {
        let mut content = check_content(content)?;
        content.query = self.sources.with_source(content.query);
        self.sources.check_query(&content.query)?;
        Ok(content)
    }

    async fn record(&self, draft: RecordDraft) -> Result<(), AgentError> {
        let signed = add_caller(draft, &current_caller(), self.profile.as_ref());
        let recorded = self.log.append(signed, Durability::Durable).await;
        recorded.map(drop).map_err(|error| audit_error(&error))
    }
}

/// Returns an alert as people see it.
fn alert_of(rule: &AlertRule, state: &RuleState, event: &Event) -> Alert {
    let AlertRule { id, content, .. } = rule;
    Alert {
        id: event.id.clone(),
        rule: id.clone(),
        name: content.name.clone(),
        source: content.query.source.clone(),
        group: event.group.clone(),
        since: event.since,
        told_at: event.told_at,
        resolved_on: event.resolved_on,
        resolved_at: event.resolved_at,
        is_seen: event.is_seen,
        figures: event.figures.clone(),
        before: event.before.clone(),
        question: question_of(content, &event.group, event.since, &state.zone, state.has_time),
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn unseen_of(found: &Found) -> u32 {
    let events = found.rules.values().flat_map(|state| &state.events);
    count(events.filter(|event| !event.is_seen).count())
}

fn change_record(action: &str, id: &AlertRuleId) -> RecordDraft {
    RecordDraft::new(RecordType::SettingChanged)
        .field("setting", "alert_rule")
        .field("action", action)
        .field("rule", id.as_str())
}

fn check_revision(rule: &AlertRule, shown: u64) -> Result<(), AgentError> {
    if rule.revision == shown {
        return Ok(());
    }
    Err(AgentError::invalid("This rule was changed in another window since it was shown.")
        .reason(Reason::Changed)
        .hint(
            "Nothing was overwritten. Look at the rule as it is now, and make your change again.",
        ))
}

fn not_for_visitors() -> AgentError {
    AgentError::new(ErrorCode::ToolNotFound, "There are no alerts here.").reason(Reason::NotFound)
}
