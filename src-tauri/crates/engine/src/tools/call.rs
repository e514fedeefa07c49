//! The calls of one round: checked in the normative order, reads together, effects one after the other, each ended exactly once.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use contract::{AgentError, CallId, Effect, ErrorCode, EventBody, Item, ItemBody, ResultView, Stage, ToolId, ToolOutcome, ToolSpec};
use futures::future::join_all;
use policy::{Decision, Question};
use serde_json::{Map, Value, json};

use crate::{
    approvals::gate::Gated,
    budget::metering::BUDGET,
    canonical::canonical,
    context::{egress::EgressSession, entities, history},
    ports::{AskedCall, Message, Point},
    texts::Text,
    tools::{coerce::fitted, oversize::Cut, results::ResultStore},
    turn::{Turn, ending::End},
};

/// Characters that are kept of arguments that cannot be used.
const UNUSABLE_CHARS: usize = 2_000;

/// Reads of a turn by tool and canonical arguments: the first result, and whether it was given a second time.
pub(crate) type Seen = HashMap<String, Arc<tokio::sync::Mutex<Option<(CallDone, bool)>>>>;

/// Arguments that did not fit, by tool: the same ones again in a later round end the use of tools. What fails twice in one round has
/// been told of neither.
#[derive(Default)]
pub(crate) struct InvalidArguments {
    told: HashSet<String>,
    new: HashSet<String>,
}

impl InvalidArguments {
    /// The model has been told of all before.
    fn begin_round(&mut self) {
        self.told.extend(self.new.drain());
    }

    /// Whether the model repeats what it was told of.
    fn repeats(&mut self, key: String) -> bool {
        let told = self.told.contains(&key);
        self.new.insert(key);
        told
    }
}

/// A call that passed the checks before the gate.
#[derive(Clone, Debug)]
pub(crate) struct Ready {
    pub(crate) call: CallId,
    pub(crate) spec: Arc<ToolSpec>,
    /// As the model may give them, after coercion.
    pub(crate) arguments: Value,
    pub(crate) decision: Decision,
    /// What was done to the arguments before they fitted, for the record.
    pub(crate) coerced: Vec<String>,
    /// The arguments are those of an approval: they have the form of the server already.
    pub(crate) is_adapted: bool,
}

/// How a call ended.
#[derive(Clone, Debug)]
pub(crate) struct CallDone {
    pub(crate) call: CallId,
    pub(crate) tool: ToolId,
    pub(crate) model_name: String,
    pub(crate) title: String,
    pub(crate) effect: Effect,
    pub(crate) arguments: Value,
    pub(crate) outcome: ToolOutcome,
    pub(crate) summary: String,
    pub(crate) data: Arc<Value>,
    pub(crate) error: Option<AgentError>,
    pub(crate) view: ResultView,
    pub(crate) duration: Duration,
    /// Answered from an earlier analysis of this time.
    pub(crate) as_of: Option<String>,
    /// The log has how it ended.
    pub(crate) is_recorded: bool,
    /// The result was too large to be kept whole.
    pub(crate) cut: Option<Cut>,
}

impl CallDone {
    pub(crate) fn of(ready: &Ready, outcome: ToolOutcome, error: Option<AgentError>, summary: impl Into<String>) -> Self {
        Self {
            call: ready.call.clone(),
            tool: ready.spec.id.clone(),
            model_name: ready.spec.model_name.clone(),
            title: ready.spec.title.clone(),
            effect: ready.spec.effect,
            arguments: ready.arguments.clone(),
            outcome,
            summary: summary.into(),
            data: Arc::new(Value::Null),
            error,
            view: ready.spec.view,
            duration: Duration::ZERO,
            as_of: None,
            is_recorded: false,
            cut: None,
        }
    }

    /// The result as the model gets it. What it gets only a part of stays in `kept`.
    pub(crate) fn message(self, limit: usize, kept: &ResultStore, words: &EgressSession) -> Message {
        let data = match (&self.outcome, &self.error) {
            (ToolOutcome::Ok, _) => self.data,
            (outcome, error) => Arc::new(history::result_value(*outcome, &self.data, error.as_ref().map(|e| json!(e)), &self.summary)),
        };
        let call = &self.call;
        let cap = |limit: usize| move |text: &str| history::cap(text, limit, kept.is_readable().then_some(call));
        let (content, value, is_cut) = words.new_result(call, &data, &cap(limit), &cap(history::OLD_RESULT_CHARS));
        if is_cut {
            kept.keep(call, || data);
        }
        Message::Tool { name: words.name(&self.model_name), call: self.call, content, data: value }
    }
}

enum Prepared {
    Ready(Box<Ready>),
    Refused(Box<CallDone>),
}

impl Turn {
    /// Runs the calls of a round; the results come back in the model's order.
    pub(crate) async fn run_calls(self: Arc<Self>, calls: Vec<AskedCall>) -> Result<Vec<CallDone>, End> {
        self.emit(EventBody::Status { stage: Stage::Tools, text: None });
        self.misfits.lock().begin_round();
        let own = self.agent().and_then(|agent| agent.calls_per_round).unwrap_or(u32::MAX);
        let most = self.settings.limits.calls_per_round.min(self.own_bound(own)).clamp(1, 10) as usize;
        let mut prepared = Vec::with_capacity(calls.len());
        let mut asks = false;
        for (index, call) in calls.into_iter().enumerate() {
            let mut next = self.prepare(call, index < most).await;
            // Who answers later answers one question: the others of a round would wait unseen behind it.
            if let Prepared::Ready(ready) = &next
                && self.headless
                && matches!(ready.decision, Decision::Ask { .. })
                && std::mem::replace(&mut asks, true)
            {
                let error = AgentError::new(ErrorCode::ApprovalRequired, Text::OneAtATime.in_locale(&self.locale)).reason("one_at_a_time");
                next = Prepared::Refused(refuse(ready, ToolOutcome::Limit, error));
            }
            self.emit_start(&next);
            prepared.push(next);
        }
        let gated = prepared.iter().any(|p| matches!(p, Prepared::Ready(ready) if !is_free_read(ready)));
        // Calls that may wait or change something are saved before anything happens; free reads together with their results.
        if gated {
            self.save(prepared.iter().map(|p| self.call_item(p)).collect()).await?;
        }
        let results = join_all(prepared.iter().map(|p| self.run_prepared(p))).await;
        let mut done = Vec::with_capacity(results.len());
        let mut waiting = None;
        let mut unsaved = Vec::new();
        for (result, p) in results.into_iter().zip(&prepared) {
            match result {
                Gated::Waiting(error) => waiting = Some(error),
                Gated::Done { result, saved } => {
                    if !gated {
                        unsaved.push(self.call_item(p));
                    }
                    if !saved {
                        unsaved.push(self.result_item(&result));
                    }
                    done.push(*result);
                }
            }
        }
        unsaved.sort_by_key(|item| matches!(item.body, ItemBody::ToolResult { .. }));
        self.save(unsaved).await?;
        if self.cancel.is_cancelled() {
            return Err(End::Cancelled { partial: String::new() });
        }
        waiting.map_or(Ok(done), |error| Err(End::ApprovalRequired { error: *error }))
    }

    async fn prepare(&self, call: AskedCall, within_limit: bool) -> Prepared {
        let ready = match self.judged(call, within_limit).await {
            Ok(ready) => ready,
            Err(done) => return Prepared::Refused(done),
        };
        if let Decision::Deny { why } = &ready.decision {
            let error = AgentError::new(ErrorCode::ApprovalRequired, format!("{} {why}", Text::PolicyDenied.in_locale(&self.locale)))
                .reason("side_effect_disallowed")
                .with("approvable", false)
                .with("tool_id", ready.spec.id.as_str());
            return Prepared::Refused(refuse(&ready, ToolOutcome::Denied, error));
        }
        if let Err(error) = self.check_pack_egress(&ready.spec.pack) {
            return Prepared::Refused(refuse(&ready, ToolOutcome::Denied, error.with("tool_id", ready.spec.id.as_str())));
        }
        // Before anybody is asked: a person must not sign what cannot run.
        if let Err(error) = self.world().tools.check(&ready.spec).await {
            return Prepared::Refused(refuse(&ready, ToolOutcome::Error, error.with("tool_id", ready.spec.id.as_str())));
        }
        Prepared::Ready(ready)
    }

    /// Everything that comes before the gate, and what the gate says. Nothing is asked, recorded or run here.
    pub(crate) async fn judged(&self, call: AskedCall, within_limit: bool) -> Result<Box<Ready>, Box<CallDone>> {
        let spec = match self.known(&call.name) {
            Ok(spec) => spec,
            Err(error) => return Err(Box::new(unknown_tool(call, error))),
        };
        let (arguments, unusable) = match contract::arguments::parse(&call.arguments) {
            Ok(value) => (value, None),
            // As they were written: read, they would be others.
            Err(error) => (Value::String(call.arguments.chars().take(UNUSABLE_CHARS).collect()), Some(error)),
        };
        let mut ready =
            Box::new(Ready { call: call.id, spec, arguments, decision: Decision::Deny { why: String::new() }, coerced: Vec::new(), is_adapted: false });
        if !within_limit {
            let error = AgentError::invalid(Text::CallsOverLimit.in_locale(&self.locale)).reason("calls_per_round");
            return Err(refuse(&ready, ToolOutcome::Limit, error));
        }
        if tokio::time::Instant::now() >= self.deadline() {
            let error = AgentError::invalid(Text::OutOfTime.in_locale(&self.locale)).reason(BUDGET);
            return Err(refuse(&ready, ToolOutcome::Limit, error));
        }
        if let Err(error) = self.engine.check_tool(&ready.spec) {
            return Err(refuse(&ready, ToolOutcome::Denied, error));
        }
        if let Some(error) = unusable {
            return Err(refuse(&ready, ToolOutcome::Error, self.misfit(&ready, error)));
        }
        let given = std::mem::take(&mut ready.arguments);
        let given = self.run.iter().fold(given, |given, run| run.drop_unknown_arguments(&ready.spec, given));
        let (arguments, changes) = fitted(&ready.spec, given, |full| self.engine.check_arguments(&ready.spec, full).is_ok());
        ready.arguments = arguments;
        ready.coerced = changes.into_iter().map(|change| format!("{}: {}", change.parameter, change.what)).collect();
        let settled = self.settle(&mut ready).and_then(|()| contract::arguments::checked(ready.arguments.clone()));
        let fits = settled.and_then(|arguments| {
            ready.arguments = arguments;
            self.engine.check_arguments(&ready.spec, &ready.arguments)
        });
        if let Err(error) = fits {
            return Err(refuse(&ready, ToolOutcome::Error, self.misfit(&ready, error)));
        }
        ready.decision = self.gate(&ready.spec, &ready.arguments).await;
        Ok(ready)
    }

    /// A tool by the name that models use, when it is in the running specialist's scope; the one that reads long results is
    /// there once there is one.
    fn known(&self, name: &str) -> Result<Arc<ToolSpec>, AgentError> {
        let Some(spec) = self.specs.iter().find(|spec| spec.model_name == name) else {
            let kept = self.kept.tool().filter(|spec| spec.model_name == name);
            return kept.map(Arc::new).ok_or_else(|| AgentError::new(ErrorCode::ToolNotFound, format!("There is no tool named {name}.")));
        };
        if self.in_scope(spec) {
            return Ok(Arc::new(spec.clone()));
        }
        let who = self.agent_name().unwrap_or_else(|| "this answer".to_owned());
        Err(AgentError::new(ErrorCode::ToolNotFound, format!("{name} is not a tool of {who}."))
            .reason("outside_scope")
            .hint("Use your own tools, or say what you cannot do."))
    }

    /// Puts the specialist's defaults in place, and keeps where each value came from.
    fn settle(&self, ready: &mut Ready) -> Result<(), AgentError> {
        let Some(agent) = self.agent() else { return Ok(()) };
        let recalled = self.recalled();
        let earlier = recalled.as_ref().map(|recalled| recalled.items.as_slice()).unwrap_or_default();
        let past = entities::Past { said: &self.text, earlier, in_process: self.model.in_process() };
        let used = entities::settle(&agent, &ready.spec, &mut ready.arguments, &past)?;
        self.settled.lock().insert(ready.call.clone(), used);
        Ok(())
    }

    /// What a call that succeeded used of the defaults, and the time of an earlier analysis, count for the answer.
    pub(crate) fn note_used(&self, done: &CallDone) {
        if let Some(at) = &done.as_of {
            self.reused.lock().push(at.clone());
        }
        let settled = self.settled.lock().remove(&done.call).unwrap_or_default();
        if done.outcome == ToolOutcome::Ok && !settled.is_empty() {
            let given = done.arguments.as_object().cloned().unwrap_or_default();
            self.used.lock().extend(entities::confirmed(settled, &given, &done.data));
        }
    }

    /// Arguments that do not fit are told once; the same again end the use of tools for this turn.
    fn misfit(&self, ready: &Ready, error: AgentError) -> AgentError {
        let key = format!("{} {}", ready.spec.id, canonical(&ready.arguments));
        if !self.misfits.lock().repeats(key) {
            return error;
        }
        self.without_tools.store(true, Ordering::Release);
        error.reason("repeated_misfit").hint("The same arguments did not fit before. Answer the user now, without tools.")
    }

    /// Asks the policy. Rules and grants are read at this moment, so that a change holds at once.
    pub(crate) async fn gate(&self, spec: &ToolSpec, arguments: &Value) -> Decision {
        let world = self.world();
        let grants = if spec.grantable { world.store.grants().await.unwrap_or_default() } else { Vec::new() };
        let (settings, rules) = (world.profile.settings(), world.profile.rules());
        let question = Question {
            tool: spec,
            arguments,
            session: &self.session,
            mode: settings.policy,
            rules: &rules,
            grants: &grants,
            untrusted_entered: self.is_tainted(),
            now: world.clock.now(),
        };
        policy::decide(question)
    }

    async fn run_prepared(&self, prepared: &Prepared) -> Gated {
        let done = match prepared {
            Prepared::Refused(done) => (**done).clone(),
            Prepared::Ready(ready) if is_free_read(ready) => self.read_once(ready).await,
            Prepared::Ready(ready) => {
                let result = self.gated(ready).await;
                if let Gated::Done { result, .. } = &result {
                    self.emit_end(result);
                }
                return result;
            }
        };
        self.note_refused(&done).await;
        self.emit_end(&done);
        Gated::Done { result: Box::new(done), saved: false }
    }

    /// A free read; the same read a second time gets the first result, a third time nothing. Two at once wait for each other.
    async fn read_once(&self, ready: &Ready) -> CallDone {
        let key = format!("{} {}", ready.spec.id, canonical(&ready.arguments));
        let entry = Arc::clone(self.seen.lock().entry(key).or_default());
        let mut earlier = entry.lock().await;
        match &mut *earlier {
            Some((first, again)) if !*again => {
                *again = true;
                CallDone { call: ready.call.clone(), duration: Duration::ZERO, ..first.clone() }
            }
            Some(_) => {
                let error = AgentError::invalid(Text::SameCallAgain.in_locale(&self.locale)).reason("repeated_call");
                CallDone::of(ready, ToolOutcome::Limit, Some(error.clone()), error.message)
            }
            None => {
                let done = match self.analysis(ready) {
                    Some(done) => done,
                    None => {
                        self.probe(Point::BeforeToolRun);
                        let done = self.dispatch(ready, None).await;
                        self.note_trust(&ready.spec, &done);
                        self.probe(Point::AfterToolRun);
                        done
                    }
                };
                // A failure is not an answer: the same read may be tried again.
                if done.outcome == ToolOutcome::Ok {
                    *earlier = Some((done.clone(), false));
                }
                done
            }
        }
    }

    /// Keeps the line that reports a write nobody was asked about; the turn's last words carry it, however it ends.
    pub(crate) fn report_write(&self, done: &CallDone) {
        let unknown = if done.outcome == ToolOutcome::Unknown { format!(" ({})", Text::UnknownOutcome.in_locale(&self.locale)) } else { String::new() };
        let line = format!("{} {}{unknown}", done.title, canonical(&done.arguments));
        self.reported.lock().push(line);
    }

    /// Marks the turn if a result that the model sees may carry instructions of strangers. So may a failure: it has the tool's own words.
    pub(crate) fn note_trust(&self, spec: &ToolSpec, done: &CallDone) {
        if policy::taints(spec) {
            self.strangers.brought(spec, done);
        }
    }

    // --- items and events of calls ---

    fn emit_start(&self, prepared: &Prepared) {
        let (call, tool, title, arguments) = match prepared {
            Prepared::Ready(ready) => (&ready.call, &ready.spec.id, &ready.spec.title, &ready.arguments),
            Prepared::Refused(done) => (&done.call, &done.tool, &done.title, &done.arguments),
        };
        self.emit(EventBody::ToolStart { call: call.clone(), tool: tool.clone(), title: title.clone(), arguments: arguments.clone() });
    }

    fn emit_end(&self, done: &CallDone) {
        self.emit(EventBody::ToolEnd { call: done.call.clone(), tool: done.tool.clone(), outcome: done.outcome, summary: done.summary.clone() });
    }

    fn call_item(&self, prepared: &Prepared) -> Item {
        let (call, tool, title, effect, arguments) = match prepared {
            Prepared::Ready(ready) => (&ready.call, &ready.spec.id, &ready.spec.title, ready.spec.effect, &ready.arguments),
            Prepared::Refused(done) => (&done.call, &done.tool, &done.title, done.effect, &done.arguments),
        };
        self.item(ItemBody::ToolCall { call: call.clone(), tool: tool.clone(), title: title.clone(), effect, arguments: arguments.clone() })
    }

    pub(crate) fn result_item(&self, done: &CallDone) -> Item {
        self.item(ItemBody::ToolResult {
            call: done.call.clone(),
            tool: done.tool.clone(),
            outcome: done.outcome,
            summary: done.summary.clone(),
            data: (*done.data).clone(),
            error: done.error.clone(),
            view: done.view,
            duration_ms: u64::try_from(done.duration.as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// Saves items and tells of them; a direct call outside a conversation keeps none.
    pub(crate) async fn save(&self, items: Vec<Item>) -> Result<(), End> {
        if !self.keeps_items || items.is_empty() {
            return Ok(());
        }
        match self.world().store.items_append(items).await {
            Ok(items) => {
                self.emit_items(items);
                Ok(())
            }
            Err(error) => Err(End::Failed { partial: String::new(), error: error.into() }),
        }
    }
}

fn refuse(ready: &Ready, outcome: ToolOutcome, error: AgentError) -> Box<CallDone> {
    let summary = error.message.clone();
    Box::new(CallDone::of(ready, outcome, Some(error), summary))
}

fn unknown_tool(call: AskedCall, error: AgentError) -> CallDone {
    CallDone {
        call: call.id,
        tool: ToolId(call.name.clone()),
        model_name: call.name.clone(),
        title: call.name,
        effect: Effect::ReadOnly,
        arguments: serde_json::from_str(&call.arguments).unwrap_or(Value::Object(Map::new())),
        outcome: ToolOutcome::Error,
        summary: error.message.clone(),
        data: Arc::new(Value::Null),
        error: Some(error),
        view: ResultView::Plain,
        duration: Duration::ZERO,
        as_of: None,
        is_recorded: false,
        cut: None,
    }
}

fn is_free_read(ready: &Ready) -> bool {
    ready.spec.effect == Effect::ReadOnly && matches!(ready.decision, Decision::Allow { .. })
}
