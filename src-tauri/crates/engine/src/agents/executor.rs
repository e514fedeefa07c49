//! Executes the calls of one round. Each call goes through these steps, in this order:
//!
//! 1. `check`: the tool exists, limits, switch, coerce, fill defaults, validate, policy.
//! 2. `check_runnable`: policy denies, pack egress, credential.
//! 3. `approvals::gate`: approval.
//! 4. `Dispatcher::dispatch`: adapt, intent, attempts, validate output, outcome.
//!
//! Reads without approval run in parallel, effects run one after the other, and each call ends
//! exactly once.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use contract::{
    AgentError, CallId, ErrorCode, EventBody, Item, ItemBody, Kept, Reason, Stage, ToolOutcome,
    ToolSpec, text,
};
use futures::future::join_all;
use policy::Decision;
use serde_json::Value;

use crate::{
    agents::services::CallServices,
    approvals::gate::{ApprovalGate, Gated},
    budget::{account::ToolData, metering::BUDGET},
    canonical::canonical,
    context::{egress::EgressSession, entities},
    conversation::pack_egress::check_pack_egress,
    destinations::note_read,
    ports::{AskedCall, Opaque, Point},
    texts::Text,
    tools::{
        call::{CallDone, Ready, is_free_read, unknown_tool},
        coerce::fit_arguments,
        dispatch::Dispatcher,
        policy_decision::policy_decision,
        refused_calls::note_refused,
        scope::Scope,
    },
    turn::{context::TurnContext, outcome::End},
};

/// The number of characters stored of arguments that cannot be parsed.
const UNUSABLE_CHARS: usize = 2_000;

/// Invalid arguments by tool. If the model repeats such arguments in a later round, it gets no more
/// tools. A repetition within a round is ignored, because the model has not read the error yet.
#[derive(Default)]
pub(crate) struct InvalidArguments {
    told: HashSet<String>,
    new: HashSet<String>,
}

impl InvalidArguments {
    /// Starts a round. The model has read the errors of the earlier rounds.
    fn begin_round(&mut self) {
        self.told.extend(self.new.drain());
    }

    /// Whether the model repeats arguments whose error it has read.
    fn is_repeated(&mut self, key: String) -> bool {
        let told = self.told.contains(&key);
        self.new.insert(key);
        told
    }
}

/// Refuses arguments that only the caller may set.
fn check_owner(spec: &ToolSpec, arguments: &Value) -> Result<(), AgentError> {
    let is_given = |name: &str| arguments.get(name).is_some();
    let Some(owned) = spec.caller_owned.iter().find(|owned| is_given(&owned.name)) else {
        return Ok(());
    };
    let error = AgentError::invalid(text!(
        "The arguments of {tool} do not fit: {name} is set by the app. Leave it out.",
        tool = spec.title,
        name = owned.name
    ));
    let problem = "is set by the app";
    Err(error.with(
        "validation",
        serde_json::json!([{"path": format!("/{}", owned.name), "problem": problem}]),
    ))
}

/// The outcome and the error of a call that is refused before it is made.
type Refusal = (ToolOutcome, AgentError);

enum Prepared {
    Ready(Box<Ready>),
    Refused(Box<CallDone>),
}

pub(crate) struct ToolExecutor {
    context: Arc<TurnContext>,
    pub(crate) gate: ApprovalGate,
    invalid: InvalidArguments,
    /// Whether the model lost its tools because it repeated invalid calls. It can then only answer.
    is_tools_off: bool,
    /// The members that must be returned to the model's server with the calls of this round.
    kept: HashMap<CallId, Kept>,
}

impl ToolExecutor {
    pub(crate) fn new(
        services: &CallServices,
        context: &Arc<TurnContext>,
        scope: Scope,
        words: Option<Arc<EgressSession>>,
    ) -> Self {
        let dispatcher = Dispatcher::new(context, &services.tools, scope, words);
        Self {
            context: Arc::clone(context),
            gate: ApprovalGate::new(dispatcher, &services.approvals),
            invalid: InvalidArguments::default(),
            is_tools_off: false,
            kept: HashMap::new(),
        }
    }

    pub(crate) fn is_tools_off(&self) -> bool {
        self.is_tools_off
    }

    /// Records the members that the model's server must get back with the calls of a round. `calls`
    /// gives each call's position in the answer.
    pub(crate) fn keep_with_calls<'a>(
        &mut self,
        calls: impl Iterator<Item = (usize, &'a AskedCall)>,
        opaque: Option<&Opaque>,
    ) {
        let kept = |(nth, (at, call)): (usize, (usize, &AskedCall))| {
            Some((call.id.clone(), opaque?.kept(nth == 0, Some(at))?))
        };
        self.kept = calls.enumerate().filter_map(kept).collect();
    }

    pub(crate) fn dispatcher(&self) -> &Dispatcher {
        &self.gate.dispatcher
    }

    pub(crate) fn dispatcher_mut(&mut self) -> &mut Dispatcher {
        &mut self.gate.dispatcher
    }

    /// Runs the calls of a round. Returns the results in the order of the calls.
    pub(crate) async fn run_calls(&mut self, calls: Vec<AskedCall>) -> Result<Vec<CallDone>, End> {
        self.context.emit(EventBody::Status { stage: Stage::Tools, text: None });
        self.invalid.begin_round();
        let own = self
            .dispatcher()
            .scope
            .agent
            .as_ref()
            .and_then(|agent| agent.calls_per_round)
            .unwrap_or(u32::MAX);
        let most = self
            .context
            .settings
            .limits
            .calls_per_round
            .min(self.context.bound_unless_remote(own))
            .clamp(1, 10) as usize;
        let mut prepared = Vec::with_capacity(calls.len());
        let mut asks = false;
        for (index, call) in calls.into_iter().enumerate() {
            let mut next = self.prepare(call, index < most).await;
            // A caller that decides in a later message can decide only one action, so further
            // approvals of the round would remain unseen.
            if let Prepared::Ready(ready) = &next
                && !self.context.may_wait()
                && matches!(ready.decision, Decision::Ask { .. })
                && std::mem::replace(&mut asks, true)
            {
                let error = AgentError::new(
                    ErrorCode::ApprovalRequired,
                    Text::OneAtATime.in_locale(&self.context.locale),
                )
                .reason(Reason::OneAtATime);
                next =
                    Prepared::Refused(Box::new(CallDone::failed(ready, ToolOutcome::Limit, error)));
            }
            self.emit_start(&next);
            prepared.push(next);
        }
        let gated =
            prepared.iter().any(|p| matches!(p, Prepared::Ready(ready) if !is_free_read(ready)));
        // Calls that may wait or change data are saved before they run. Reads without approval are
        // saved together with their results.
        if gated {
            self.context
                .save(prepared.iter().map(|p| self.call_item(p)).collect())
                .await
                .map_err(End::failed)?;
        }
        let this = &*self;
        let results = join_all(prepared.iter().map(|p| this.run_prepared(p))).await;
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
                        unsaved.push(self.context.item(result.item_body()));
                    }
                    self.note_result(&result);
                    done.push(*result);
                }
            }
        }
        // Calls are stored before their results, because the history joins adjacent calls into a
        // single message of the model. The sort is stable.
        unsaved.sort_by_key(|item| matches!(item.body, ItemBody::ToolResult { .. }));
        self.context.save(unsaved).await.map_err(End::failed)?;
        if self.context.cancel.is_cancelled() {
            return Err(End::Cancelled { partial: String::new() });
        }
        waiting.map_or(Ok(done), |error| Err(End::ApprovalRequired { error: *error }))
    }

    /// Records a result for the program that sent the request, if there is one.
    fn note_result(&self, result: &CallDone) {
        if result.outcome != ToolOutcome::Ok || self.context.run().is_none() {
            return;
        }
        let data = match contract::json_text::members_of(&result.data) {
            Cow::Borrowed(_) => Arc::clone(&result.data),
            Cow::Owned(data) => Arc::new(data),
        };
        self.context.account.add_result(ToolData {
            view: result.view.clone(),
            tool: result.tool.clone(),
            pack: result.pack.clone(),
            data,
        });
    }

    async fn prepare(&mut self, call: AskedCall, is_within_limit: bool) -> Prepared {
        match self.check(call, is_within_limit).await {
            Err(done) => Prepared::Refused(done),
            Ok(ready) => match self.check_runnable(&ready).await {
                Ok(()) => {
                    if is_free_read(&ready) {
                        // Counted here and not when the read runs, so that the decision about the
                        // next call of the round includes these bytes.
                        note_read(&self.context, &ready.spec, &ready.arguments).await;
                    }
                    Prepared::Ready(ready)
                }
                Err((outcome, error)) => {
                    Prepared::Refused(Box::new(CallDone::failed(&ready, outcome, error)))
                }
            },
        }
    }

    /// Refuses a call that cannot run. A person must not be asked to approve such a call.
    async fn check_runnable(&self, ready: &Ready) -> Result<(), Refusal> {
        self.check_allowed(ready)?;
        self.check_pack_egress(ready)?;
        self.check_credential(ready).await
    }

    fn check_allowed(&self, ready: &Ready) -> Result<(), Refusal> {
        let (context, tool) = (&self.context, ready.spec.id.as_str());
        if let Decision::Deny { why } = &ready.decision {
            let error = AgentError::new(
                ErrorCode::ApprovalRequired,
                contract::Text::from(Text::PolicyDenied.in_locale(&context.locale)).append(why),
            );
            return Err((
                ToolOutcome::Denied,
                error
                    .reason(Reason::SideEffectDisallowed)
                    .with("approvable", false)
                    .with("tool_id", tool),
            ));
        }
        Ok(())
    }

    /// Refuses a tool if its pack does not allow its results to be sent to this model.
    fn check_pack_egress(&self, ready: &Ready) -> Result<(), Refusal> {
        let (context, spec) = (&self.context, &ready.spec);
        let tools = context.world().tools.as_ref();
        check_pack_egress(tools, context.model.as_ref(), &spec.pack)
            .map_err(|error| (ToolOutcome::Denied, error.with("tool_id", spec.id.as_str())))
    }

    /// Refuses a tool whose credential is missing.
    async fn check_credential(&self, ready: &Ready) -> Result<(), Refusal> {
        let spec = &ready.spec;
        let credential = self.context.world().tools.check(spec).await;
        if let (Some(recorder), Err(error)) = (&self.context.recorder, &credential) {
            recorder.add_refusal(&spec.id, error);
        }
        credential.map_err(|error| (ToolOutcome::Error, error.with("tool_id", spec.id.as_str())))
    }

    /// Makes all checks before the approval, up to the policy's decision. No person is asked, and
    /// the call is neither recorded nor run.
    pub(crate) async fn check(
        &mut self,
        call: AskedCall,
        is_within_limit: bool,
    ) -> Result<Box<Ready>, Box<CallDone>> {
        let spec = match self.find_tool(&call.name) {
            Ok(spec) => spec,
            Err(error) => return Err(Box::new(unknown_tool(call, error))),
        };
        let (arguments, unusable) = match contract::arguments::parse(&call.arguments) {
            Ok(value) => (value, None),
            // The invalid arguments are stored as text, because parsing would change them.
            Err(error) => {
                (Value::String(call.arguments.chars().take(UNUSABLE_CHARS).collect()), Some(error))
            }
        };
        // A call whose checks fail early is denied.
        let decision = Decision::Deny { why: contract::Text::default() };
        let mut ready = Box::new(Ready {
            call: call.id,
            spec,
            arguments,
            decision,
            coerced: Vec::new(),
            defaults: Vec::new(),
            is_adapted: false,
            follows_untrusted: false,
            typed: Vec::new(),
        });
        match self.check_steps(&mut ready, unusable, is_within_limit).await {
            Ok(()) => Ok(ready),
            Err((outcome, error)) => Err(Box::new(CallDone::failed(&ready, outcome, error))),
        }
    }

    async fn check_steps(
        &mut self,
        ready: &mut Ready,
        unusable: Option<AgentError>,
        is_within_limit: bool,
    ) -> Result<(), Refusal> {
        self.check_limits(is_within_limit).map_err(|error| (ToolOutcome::Limit, error))?;
        self.check_switch(ready).map_err(|error| (ToolOutcome::Denied, error))?;
        self.fit_arguments(ready, unusable)
            .map_err(|error| (ToolOutcome::Error, self.invalid_arguments_error(ready, error)))?;
        self.decide_by_policy(ready).await;
        Ok(())
    }

    fn check_switch(&self, ready: &Ready) -> Result<(), AgentError> {
        self.context.check_tool(&ready.spec)
    }

    /// Adapts the arguments to the tool. `unusable` is the error of arguments that are not JSON.
    fn fit_arguments(
        &self,
        ready: &mut Ready,
        unusable: Option<AgentError>,
    ) -> Result<(), AgentError> {
        unusable.map_or(Ok(()), Err)?;
        self.coerce(ready);
        self.fill_defaults(ready)?;
        self.validate(ready)
    }

    async fn decide_by_policy(&self, ready: &mut Ready) {
        let verdict = policy_decision(&self.context, &ready.spec, &ready.arguments).await;
        ready.decision = verdict.decision;
        ready.follows_untrusted = verdict.is_marked;
        ready.typed = verdict.typed;
    }

    fn check_limits(&self, is_within_limit: bool) -> Result<(), AgentError> {
        let locale = &self.context.locale;
        if !is_within_limit {
            return Err(AgentError::invalid(Text::CallsOverLimit.in_locale(locale))
                .reason("calls_per_round"));
        }
        if tokio::time::Instant::now() >= self.context.deadline() {
            return Err(AgentError::invalid(Text::OutOfTime.in_locale(locale)).reason(BUDGET));
        }
        Ok(())
    }

    fn coerce(&self, ready: &mut Ready) {
        let given = std::mem::take(&mut ready.arguments);
        let given = self
            .context
            .run()
            .into_iter()
            .fold(given, |given, run| run.drop_unknown_arguments(&ready.spec, given));
        let (arguments, changes) = fit_arguments(&ready.spec, given, |full| {
            self.dispatcher().services.validators.check_arguments(&ready.spec, full).is_ok()
        });
        ready.arguments = arguments;
        ready.coerced = changes
            .into_iter()
            .map(|change| format!("{}: {}", change.parameter, change.what))
            .collect();
    }

    /// Adds the specialist's default values and records the source of each value.
    fn fill_defaults(&self, ready: &mut Ready) -> Result<(), AgentError> {
        let scope = &self.dispatcher().scope;
        let Some(agent) = &scope.agent else { return Ok(()) };
        let earlier =
            scope.recalled.as_ref().map(|recalled| recalled.items.as_slice()).unwrap_or_default();
        let past = entities::Past {
            said: &self.context.question,
            earlier,
            in_process: self.context.model.in_process(),
        };
        ready.defaults = entities::fill_defaults(agent, &ready.spec, &mut ready.arguments, &past)?;
        Ok(())
    }

    fn validate(&self, ready: &mut Ready) -> Result<(), AgentError> {
        check_owner(&ready.spec, &ready.arguments)?;
        ready.arguments = contract::arguments::normalize_and_check_length(ready.arguments.clone())?;
        self.dispatcher().services.validators.check_arguments(&ready.spec, &ready.arguments)
    }

    /// Returns the tool with this model name if it is in the specialist's scope. The tool for
    /// reading long results is available only if there is a long result.
    fn find_tool(&self, name: &str) -> Result<Arc<ToolSpec>, AgentError> {
        let Some(spec) = self.context.specs.iter().find(|spec| spec.model_name == name) else {
            let kept = self.dispatcher().results.tool().filter(|spec| spec.model_name == name);
            return kept.map(Arc::new).ok_or_else(|| {
                AgentError::new(
                    ErrorCode::ToolNotFound,
                    text!("There is no tool named {name}.", name),
                )
            });
        };
        if self.dispatcher().scope.allows_tool(&self.context, spec) {
            return Ok(Arc::new(spec.clone()));
        }
        let who = self
            .dispatcher()
            .scope
            .agent
            .as_ref()
            .map(|agent| agent.name.clone())
            .unwrap_or_else(|| "this answer".to_owned());
        Err(AgentError::new(
            ErrorCode::ToolNotFound,
            text!("{name} is not a tool of {who}.", name, who),
        )
        .reason("outside_scope")
        .hint("Use your own tools, or say what you cannot do."))
    }

    /// Returns the error for invalid arguments. If the model repeats arguments whose error it has
    /// read, it gets no more tools in this turn.
    fn invalid_arguments_error(&mut self, ready: &Ready, error: AgentError) -> AgentError {
        let key = format!("{} {}", ready.spec.id, canonical(&ready.arguments));
        if !self.invalid.is_repeated(key) {
            return error;
        }
        self.is_tools_off = true;
        error
            .reason("repeated_misfit")
            .hint("The same arguments did not fit before. Answer the user now, without tools.")
    }

    async fn run_prepared(&self, prepared: &Prepared) -> Gated {
        let done = match prepared {
            Prepared::Refused(done) => (**done).clone(),
            Prepared::Ready(ready) if is_free_read(ready) => self.read_once(ready).await,
            Prepared::Ready(ready) => {
                let result = self.gate.run(ready).await;
                if let Gated::Done { result, .. } = &result {
                    self.emit_end(result);
                }
                return result;
            }
        };
        note_refused(&self.context, &done, self.dispatcher().scope.agent_id()).await;
        self.emit_end(&done);
        Gated::Done { result: Box::new(done), saved: false }
    }

    /// Runs a read that needs no approval. The second identical read gets the first result, and the
    /// third gets an error. Identical concurrent reads wait for each other.
    async fn read_once(&self, ready: &Ready) -> CallDone {
        let key = format!("{} {}", ready.spec.id, canonical(&ready.arguments));
        let entry = self.dispatcher().reads.entry(key);
        let mut earlier = entry.lock().await;
        match &mut *earlier {
            Some((first, again)) if !*again => {
                *again = true;
                CallDone {
                    call: ready.call.clone(),
                    duration: Duration::ZERO,
                    defaults: ready.defaults.clone(),
                    ..first.clone()
                }
            }
            Some(_) => {
                let error =
                    AgentError::invalid(Text::SameCallAgain.in_locale(&self.context.locale))
                        .reason("repeated_call");
                CallDone::failed(ready, ToolOutcome::Limit, error)
            }
            None => {
                let Dispatcher { services, scope, .. } = self.dispatcher();
                let done = match services.analyses.earlier(&self.context, scope, ready) {
                    Some(done) => done,
                    None => {
                        self.context.probe(Point::BeforeToolRun);
                        let done = self.dispatcher().dispatch(ready, None, None).await;
                        self.dispatcher().note_content(&ready.spec, &done);
                        self.context.probe(Point::AfterToolRun);
                        done
                    }
                };
                // A failed read is not stored, so the same read may be tried again.
                if done.outcome == ToolOutcome::Ok {
                    *earlier = Some((done.clone(), false));
                }
                done
            }
        }
    }

    // --- items and events of calls ---

    fn emit_start(&self, prepared: &Prepared) {
        let (call, tool, title, arguments) = match prepared {
            Prepared::Ready(ready) => {
                (&ready.call, &ready.spec.id, &ready.spec.title, &ready.arguments)
            }
            Prepared::Refused(done) => (&done.call, &done.tool, &done.title, &done.arguments),
        };
        self.context.emit(EventBody::ToolStart {
            call: call.clone(),
            tool: tool.clone(),
            title: title.clone(),
            arguments: arguments.clone(),
        });
    }

    fn emit_end(&self, done: &CallDone) {
        self.context.emit(EventBody::ToolEnd {
            call: done.call.clone(),
            tool: done.tool.clone(),
            outcome: done.outcome,
            summary: done.summary.clone(),
        });
    }

    fn call_item(&self, prepared: &Prepared) -> Item {
        let (call, tool, title, effect, arguments) = match prepared {
            Prepared::Ready(ready) => (
                &ready.call,
                &ready.spec.id,
                &ready.spec.title,
                ready.spec.effect,
                &ready.arguments,
            ),
            Prepared::Refused(done) => {
                (&done.call, &done.tool, &done.title, done.effect, &done.arguments)
            }
        };
        self.context.item(ItemBody::ToolCall {
            call: call.clone(),
            tool: tool.clone(),
            title: title.clone(),
            effect,
            arguments: arguments.clone(),
            local_only: self.context.has_local_data(),
            untrusted: self.context.sources.is_any(),
            kept: self.kept.get(call).cloned().map(Box::new),
        })
    }
}
