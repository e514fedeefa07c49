//! Tests proposed rules on the past calls of the log: reads the records in which a call was
//! decided, decides each call again with the policy's own code, and compares the results. Makes no
//! real decision and changes nothing.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    ops::ControlFlow,
};

use audit::Selection;
use contract::{
    AgentError, AuditRecordView, BacktestCall, BacktestCount, CallerKind, Grant,
    PolicyBacktestParams, PolicyBacktestResponse, PolicyMode, PolicyVerdict, RecordType, SessionId,
    Text, ToolId, ToolSpec,
};
use engine::ports::{AuditLog as _, Profile as _, Tools as _};
use policy::{Decision, Doubt, Known, Leave, Question, Rules};
use serde_json::Value;

use super::rules::check_size;
use crate::{host::Host, log::audit_error};

/// The maximum number of calls that one answer lists.
const MOST: u32 = 500;

/// The maximum cost of one answer. A record costs `RECORD`, and each evaluation of a rule costs 1.
/// An answer that reaches this limit contains the position where the next request continues.
const MOST_WORK: usize = 2_000_000;
const RECORD: usize = 10;
/// How many times a rule is evaluated for a call whose arguments are known, and for any other call.
const TIMES: [usize; 2] = [2, 34];
/// How many callers are tried for a call whose caller is unknown, if the rules name callers.
const CALLERS: usize = 24;

/// The types of records that show the policy's decision about a call.
const DECIDED: [RecordType; 3] =
    [RecordType::ToolIntent, RecordType::ApprovalRequested, RecordType::PolicyDecision];

impl Host {
    /// Decides the past calls of the log under proposed rules.
    pub(crate) async fn backtest_policy(
        &self,
        params: PolicyBacktestParams,
    ) -> Result<PolicyBacktestResponse, AgentError> {
        check_size(&params.rules)?;
        let rules = Rules::parse(&params.rules);
        if !rules.faults.is_empty() {
            return Ok(PolicyBacktestResponse { faults: rules.faults, ..empty_response() });
        }
        let stored = self.engine.grants.list().await?;
        let grants = self.past_grants(stored).await?;
        let callers = self.past_callers(&rules).await?;
        let mut specs = self.packs.tools.specs().to_vec();
        specs.push(engine::result_reader());
        let test = Backtest {
            rules,
            mode: self.profile.settings().policy,
            specs,
            grants,
            callers,
            limit: params.limit.min(MOST) as usize,
            found: empty_response(),
            counts: BTreeMap::new(),
            about: HashMap::new(),
            work: 0,
        };
        // The writer may still have records of reads in its queue.
        self.log.flush().await.map_err(|error| audit_error(&error))?;
        let selection = Selection {
            types: DECIDED.to_vec(),
            after: params.after,
            session: None,
            since: params.since,
        };
        Ok(self.log.visit(selection, test, Backtest::see).await?.finish())
    }

    /// Returns the permissions of all sessions, and those that are in the log but no longer in the
    /// store.
    async fn past_grants(&self, stored: Vec<Grant>) -> Result<PastGrants, AgentError> {
        let known: HashSet<String> =
            stored.iter().map(|grant| grant.id.as_str().to_owned()).collect();
        let mut by_session: HashMap<SessionId, Vec<Grant>> = HashMap::new();
        for grant in stored {
            by_session.entry(grant.session.clone()).or_default().push(grant);
        }
        let created = Selection { types: vec![RecordType::GrantCreated], ..Selection::default() };
        let lost = self
            .log
            .visit(created, HashSet::new(), move |lost: &mut HashSet<_>, record| {
                let id = text(&record, "grant");
                if !known.contains(id)
                    && let (Some(session), Some(tool)) = (&record.session, &record.tool)
                {
                    lost.insert((SessionId::new(session), tool.clone()));
                }
                ControlFlow::Continue(())
            })
            .await?;
        Ok(PastGrants { by_session, lost })
    }

    /// Returns the recorded callers of all turns; empty if the rules name no callers.
    async fn past_callers(&self, rules: &Rules) -> Result<HashMap<String, CallerKind>, AgentError> {
        if !rules.name_callers() {
            return Ok(HashMap::new());
        }
        let started = Selection { types: vec![RecordType::RunStarted], ..Selection::default() };
        self.log
            .visit(started, HashMap::new(), |callers: &mut HashMap<_, _>, record| {
                if let (Some(caller), Some(turn)) = (recorded_caller(&record), record.turn) {
                    callers.insert(turn, caller);
                }
                ControlFlow::Continue(())
            })
            .await
    }
}

/// The permissions that sessions had.
struct PastGrants {
    by_session: HashMap<SessionId, Vec<Grant>>,
    /// Sessions and tools with a permission that is not stored any more.
    lost: HashSet<(SessionId, String)>,
}

impl PastGrants {
    /// Returns the permissions that a session had at the time of a record.
    fn live_at(&self, session: &SessionId, record: &AuditRecordView) -> Vec<Grant> {
        let of_session = self.by_session.get(session).map(Vec::as_slice).unwrap_or_default();
        of_session
            .iter()
            .filter(|grant| grant.created_at <= record.at)
            .filter(|grant| grant.revoked_at.is_none_or(|revoked| revoked > record.at))
            .map(|grant| Grant { revoked_at: None, ..grant.clone() })
            .collect()
    }
}

/// A running test.
struct Backtest {
    rules: Rules,
    mode: PolicyMode,
    specs: Vec<ToolSpec>,
    grants: PastGrants,
    /// The caller of each turn, if the rules name callers.
    callers: HashMap<String, CallerKind>,
    limit: usize,
    found: PolicyBacktestResponse,
    counts: BTreeMap<(String, u8, Option<u8>), BacktestCount>,
    /// For each tool, the rules that may apply to it.
    about: HashMap<ToolId, Rules>,
    work: usize,
}

impl Backtest {
    fn see(&mut self, record: AuditRecordView) -> ControlFlow<()> {
        let seq = record.seq;
        self.work += RECORD;
        let flow = self.judge(record);
        if flow.is_continue() && self.work > MOST_WORK {
            self.found.next = Some(seq);
            return ControlFlow::Break(());
        }
        flow
    }

    fn judge(&mut self, record: AuditRecordView) -> ControlFlow<()> {
        let Some(then) = past_verdict(&record) else {
            if is_refused_otherwise(&record) {
                self.found.not_by_rules += 1;
            }
            return ControlFlow::Continue(());
        };
        let call = self.decide(record, then);
        let key = (call.tool.clone(), rank(then), call.now.map(rank));
        let count = self.counts.entry(key).or_insert_with(|| BacktestCount {
            tool: call.tool.clone(),
            then,
            now: call.now,
            calls: 0,
        });
        count.calls += 1;
        if self.limit == 0 || call.now == Some(then) {
            return ControlFlow::Continue(());
        }
        let seq = call.seq;
        self.found.calls.push(call);
        if self.found.calls.len() < self.limit {
            return ControlFlow::Continue(());
        }
        self.found.next = Some(seq);
        ControlFlow::Break(())
    }

    /// Decides the call of a record under the proposed rules.
    fn decide(&mut self, record: AuditRecordView, then: PolicyVerdict) -> BacktestCall {
        let tool = record.tool.clone().unwrap_or_default();
        let id = ToolId::new(&tool);
        let spec = self
            .specs
            .iter()
            .find(|spec| spec.id == id)
            .or_else(|| self.specs.iter().find(|spec| spec.is_named(&id)));
        let arguments = spec.and_then(|spec| judged_arguments(&record, spec));
        let turn = record.turn.as_deref().unwrap_or_default();
        let caller = recorded_caller(&record).or_else(|| self.callers.get(turn).cloned());
        let (now, why) = match spec {
            None => (None, "This tool is not installed any more.".into()),
            Some(spec) => {
                let rules =
                    self.about.entry(spec.qualified_id()).or_insert_with(|| self.rules.about(spec));
                let tried = if caller.is_none() && rules.name_callers() { CALLERS } else { 1 };
                let times = TIMES[usize::from(arguments.is_none())] * tried;
                self.work += times * (rules.rules.len() + rules.grants.len());
                let question = Asked { rules, mode: self.mode, grants: &self.grants, caller };
                question.decide(&record, spec, arguments.as_ref())
            }
        };
        let definition = record.fields.get("definition").and_then(Value::as_str);
        let definition_changed =
            spec.is_some_and(|spec| definition.is_some_and(|hash| hash != spec.definition_hash));
        BacktestCall {
            seq: record.seq,
            at: record.at,
            session: record.session,
            tool,
            arguments,
            then,
            now,
            why,
            definition_changed,
        }
    }

    fn finish(mut self) -> PolicyBacktestResponse {
        self.found.counts = self.counts.into_values().collect();
        self.found
    }
}

/// The data with which a past call is decided.
struct Asked<'a> {
    rules: &'a Rules,
    mode: PolicyMode,
    grants: &'a PastGrants,
    /// The caller of the turn, if known.
    caller: Option<CallerKind>,
}

impl Asked<'_> {
    fn decide(
        &self,
        record: &AuditRecordView,
        spec: &ToolSpec,
        arguments: Option<&Value>,
    ) -> (Option<PolicyVerdict>, Text) {
        let session = SessionId::new(record.session.as_deref().unwrap_or_default());
        let grants = self.grants.live_at(&session, record);
        let untrusted = had_untrusted(record);
        let lost = (session, spec.id.to_string());
        let known = Known {
            arguments: arguments.is_some(),
            untrusted: untrusted.is_some(),
            grants: !self.grants.lost.contains(&lost),
            caller: self.caller.is_some(),
        };
        let unknown = CallerKind::default();
        let question = Question {
            tool: spec,
            arguments: arguments.unwrap_or(&Value::Null),
            session: &lost.0,
            caller: self.caller.as_ref().unwrap_or(&unknown),
            mode: self.mode,
            rules: self.rules,
            grants: &grants,
            untrusted_entered: untrusted.unwrap_or(false),
            typed: &typed_arguments(record),
            leave: if asked_for_destinations(record) { Leave::Missing(&[]) } else { Leave::Given },
            now: record.at,
        };
        match policy::decide_past(question, known) {
            Ok(decision) => (Some(verdict(&decision)), decision.reason().clone()),
            Err(doubt) => (None, why_unknown(doubt)),
        }
    }
}

fn empty_response() -> PolicyBacktestResponse {
    PolicyBacktestResponse {
        faults: Vec::new(),
        counts: Vec::new(),
        not_by_rules: 0,
        calls: Vec::new(),
        next: None,
    }
}

fn text<'a>(record: &'a AuditRecordView, name: &str) -> &'a str {
    record.fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the policy's decision about the call of a record, if the record contains the decision.
/// For a call that a person approved, the decision is in the request and not in the intent.
fn past_verdict(record: &AuditRecordView) -> Option<PolicyVerdict> {
    let has = |name: &str| record.fields.contains_key(name);
    match record.record_type {
        RecordType::ApprovalRequested => Some(PolicyVerdict::Ask),
        RecordType::ToolIntent => {
            (!has("approval") && !has("again")).then_some(PolicyVerdict::Allow)
        }
        RecordType::PolicyDecision => {
            let is_rules =
                matches!(text(record, "reason"), "side_effect_disallowed" | "not_allowed_any_more");
            (has("call") && is_rules).then_some(PolicyVerdict::Deny)
        }
        _ => None,
    }
}

/// Whether a record is about a call that was refused for a reason other than the policy.
fn is_refused_otherwise(record: &AuditRecordView) -> bool {
    record.record_type == RecordType::PolicyDecision && record.fields.contains_key("call")
}

/// Returns the arguments that the policy saw: excluding the caller's own values, and before they
/// were converted for the server. Returns None if the record does not contain all of them.
fn judged_arguments(record: &AuditRecordView, spec: &ToolSpec) -> Option<Value> {
    if record.fields.contains_key("arguments_bytes") {
        return None;
    }
    let asked = if record.revealed.contains_key("asked") { "asked" } else { "arguments" };
    let stored = record.revealed.get(asked)?.as_str()?;
    let mut arguments: Value = serde_json::from_str(stored).ok()?;
    if let Some(members) = arguments.as_object_mut() {
        members.retain(|name, _| !spec.caller_owned.iter().any(|owned| owned.name == *name));
    }
    Some(arguments)
}

/// Whether untrusted content was in the turn. Returns None if the record does not say so. Older
/// requests contain the names of the preceding content instead.
fn had_untrusted(record: &AuditRecordView) -> Option<bool> {
    let follows = record.fields.get("follows").and_then(Value::as_array);
    record
        .fields
        .get("untrusted")
        .and_then(Value::as_bool)
        .or_else(|| follows.map(|sources| !sources.is_empty()))
}

/// Returns the names of the arguments that the person had typed, according to the record.
fn typed_arguments(record: &AuditRecordView) -> Vec<String> {
    let names = record.fields.get("typed").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

/// Whether a read needed approval because of its destinations.
fn asked_for_destinations(record: &AuditRecordView) -> bool {
    record.fields.get("asks_for_destinations").and_then(Value::as_bool).unwrap_or(false)
}

/// Returns the caller that a record names.
fn recorded_caller(record: &AuditRecordView) -> Option<CallerKind> {
    let kind = CallerKind::from_name(text(record, "origin"))?;
    Some(kind.with_own_name(text(record, "caller")))
}

fn verdict(decision: &Decision) -> PolicyVerdict {
    match decision {
        Decision::Allow { .. } => PolicyVerdict::Allow,
        Decision::Ask { .. } => PolicyVerdict::Ask,
        Decision::Deny { .. } => PolicyVerdict::Deny,
    }
}

fn rank(verdict: PolicyVerdict) -> u8 {
    match verdict {
        PolicyVerdict::Allow => 0,
        PolicyVerdict::Ask => 1,
        PolicyVerdict::Deny => 2,
    }
}

fn why_unknown(doubt: Doubt) -> Text {
    match doubt {
        Doubt::Arguments => {
            "The rules depend on the arguments, which were erased or never stored as a whole."
        }
        Doubt::Untrusted => {
            "The rules depend on whether untrusted content was in the turn, which the record does not say."
        }
        Doubt::Grants => {
            "The rules depend on a permission of the session, which is not stored any more."
        }
        Doubt::Caller => "The rules depend on the caller, which is not recorded.",
    }
    .into()
}
