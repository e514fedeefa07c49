//! The run contract: checks a request, claims its id, answers it with a headless turn, and stores
//! the result for a day. A repeated request gets the stored result without another run. Adapters
//! such as `csign run` only pass the texts of request and response.

mod caller_turns;
mod check;
mod outcome;

use std::sync::Arc;

use contract::{
    AgentError, ApprovalId, ApprovalStatus, Conversation, ErrorCode, KeySource, Reason, RunParams,
    RunRequest, RunResponse, SessionId, TurnStartParams, text,
};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::{
    conversation::key::{HEADERS, member},
    ports::{Claim, RunKey, SessionValues},
    sessions::turns::Turns,
    turn::{
        refusals::Refused,
        run_context::{Ended, RunContext},
        services::TurnServices,
    },
};

pub use caller_turns::{CallerTurns, TurnStream};

/// Runs requests of the run contract.
#[derive(Clone)]
pub struct Runs {
    shared: Arc<TurnServices>,
    turns: Arc<Turns>,
}

impl Runs {
    pub(crate) fn new(shared: &Arc<TurnServices>, turns: &Arc<Turns>) -> Self {
        Self { shared: Arc::clone(shared), turns: Arc::clone(turns) }
    }

    /// Runs a request. Every error contains `details.request_id`.
    pub async fn run(&self, params: RunParams) -> Result<RunResponse, AgentError> {
        self.run_with(params, None).await
    }

    /// Runs a request with a named model.
    pub async fn run_with(
        &self,
        params: RunParams,
        model: Option<&str>,
    ) -> Result<RunResponse, AgentError> {
        let id = check::request_id(&params.request);
        self.run_checked(&params, model)
            .await
            .map_err(|error| error.in_english().with("request_id", id))
    }

    async fn run_checked(
        &self,
        params: &RunParams,
        model: Option<&str>,
    ) -> Result<RunResponse, AgentError> {
        let request = match self.read_request(params).await {
            Ok(request) => request,
            Err(error) => {
                self.note_refused_run(params, &error).await;
                return Err(error);
            }
        };
        let key = RunKey { caller: params.caller.clone(), request: request.request_id.clone() };
        loop {
            let next = self.shared.runs.next_end();
            let now = self.shared.world.clock.now();
            match self.shared.world.store.run_claim(&key, now).await? {
                Claim::New => break,
                Claim::Running => next.await,
                Claim::Stored(text) => return outcome::parse_stored_result(&text),
                Claim::Interrupted => {
                    let error = AgentError::internal("interrupted", "Countersign was closed while this request ran. It is not run a second time.")
                        .hint("Check in the log what was done, then send a new request with a new id.");
                    self.note_refused_run(params, &error).await;
                    return Err(error);
                }
            }
        }
        // From here on, the result is stored even if the caller disconnects.
        let (runs, params, for_end, model) =
            (self.clone(), params.clone(), key.clone(), model.map(str::to_owned));
        let working = tokio::spawn(async move {
            let (answer, changed) = runs.answer_request(request, &params, &key, model).await;
            runs.store_result(&key, &answer, changed).await;
            answer
        });
        match working.await {
            Ok(answer) => answer,
            Err(_) => {
                let error = AgentError::internal(
                    "unexpected",
                    "An internal error occurred in Countersign.",
                )
                .hint("`csign doctor` shows the state of the installation.");
                self.store_result(&for_end, &Err(error.clone()), true).await;
                Err(error)
            }
        }
    }

    async fn read_request(&self, params: &RunParams) -> Result<RunRequest, AgentError> {
        // The kill switch is checked before the request is parsed.
        self.shared.switches.check_enabled()?;
        self.shared.secrets.reload().await;
        self.shared.secrets.check_stored_names(&[
            &params.caller,
            params.correlation_id.as_deref().unwrap_or_default(),
        ])?;
        // Ids are stored, so an id that contains a key is refused. Removing the key could make two
        // ids equal.
        if let Some(ids) = contract::run_ids(&params.request) {
            self.shared
                .secrets
                .check_stored_names(&ids.each_ref().map(|id| id.as_str().unwrap_or_default()))?;
        }
        let asked = self.shared.secrets.matcher().redact_secrets(&params.request).into_owned();
        check::read(&asked, self.shared.world.profile.settings().limits.message_chars as usize)
    }

    /// Records a request that was refused before a turn.
    async fn note_refused_run(&self, params: &RunParams, error: &AgentError) {
        let id = check::request_id(&params.request);
        let refused = Refused {
            request_id: id.as_str(),
            correlation_id: params.correlation_id.as_deref(),
            ..Refused::of("run_request", error, &params.request)
        };
        self.shared.refused_requests.note(refused).await;
    }

    /// Stores a result. A retryable error of a run that changed nothing is not stored, so that the
    /// caller can use the id again.
    async fn store_result(
        &self,
        key: &RunKey,
        answer: &Result<RunResponse, AgentError>,
        changed: bool,
    ) {
        let free = answer.as_ref().is_err_and(|error| error.retryable && !changed);
        let text = (!free).then(|| outcome::text(answer, &key.request));
        if let Err(error) = self.shared.world.store.run_end(key, text.as_deref()).await {
            tracing::error!(%error, "the result of a run could not be kept");
        }
        self.shared.runs.notify_run_end();
    }

    /// Answers a request. Returns the result and whether the run has changed anything.
    async fn answer_request(
        &self,
        request: RunRequest,
        params: &RunParams,
        key: &RunKey,
        model: Option<String>,
    ) -> (Result<RunResponse, AgentError>, bool) {
        let started = match self.start_request(&request, params, key, model).await {
            Ok(started) => started,
            Err(error) => return (Err(error), false),
        };
        let Started { turn, ended, work } = started;
        let ended = ended.await;
        self.shared.runs.remove_run(&turn);
        let Ok(ended) = ended else {
            return (
                Err(AgentError::internal("unexpected", "The run ended without an answer.")),
                true,
            );
        };
        let changed = ended.changed;
        let mut answer = outcome::build_result(&request, ended, self.shared.world.clock.now());
        if let Ok(response) = &mut answer {
            response.metadata.agent_id = work.agent();
            work.tell_replaced(&self.shared.world, &response.output);
        }
        (answer, changed)
    }

    async fn start_request(
        &self,
        request: &RunRequest,
        params: &RunParams,
        key: &RunKey,
        model: Option<String>,
    ) -> Result<Started, AgentError> {
        if let Some(id) = request.context.get("approval_id")
            && let Err(error) = self.check_decided(id).await
        {
            self.note_refused_run(params, &error).await;
            return Err(error);
        }
        let session = match &request.conversation_id {
            Some(id) => SessionId::new(id.clone()),
            None => SessionId(self.shared.world.ids.next("session")),
        };
        self.take_context(&session, request).await?;
        let (tell, ended) = oneshot::channel();
        let work =
            Arc::new(RunContext::new(key.clone(), params, request.options.max_output_tokens, tell));
        let start = TurnStartParams {
            session: Some(session),
            text: request.input.clone(),
            model,
            agent: None,
            headless: true,
            replaces: None,
        };
        let turn = self.turns.start_for(start, Arc::clone(&work)).await?.turn;
        Ok(Started { turn, ended, work })
    }

    /// Checks that the approval named in a request has been decided. The action was already run by
    /// the decision.
    async fn check_decided(&self, id: &Value) -> Result<(), AgentError> {
        let Some(id) = id.as_str().map(ApprovalId::from) else {
            return Err(check::problem("/context/approval_id", "must be text"));
        };
        let approval = self.shared.world.store.approval(&id).await?;
        let Some(approval) = approval else {
            return Err(AgentError::invalid("There is no such pending action.")
                .reason(Reason::NotFound)
                .with("approval_id", id.as_str()));
        };
        let ended = |reason: &str, message: contract::Text| {
            Err(AgentError::new(ErrorCode::ApprovalRequired, message)
                .reason(reason)
                .with("approval_id", id.as_str())
                .with("tool_id", approval.tool.as_str())
                .with("approvable", false))
        };
        let title = &approval.tool_title;
        match approval.status {
            ApprovalStatus::Done | ApprovalStatus::Failed => Ok(()),
            ApprovalStatus::Pending | ApprovalStatus::Approved | ApprovalStatus::Executing => {
                Err(crate::approvals::router::approval_required(&approval))
            }
            ApprovalStatus::Rejected => ended("rejected", text!("{title} was rejected.", title)),
            ApprovalStatus::Expired => {
                ended("expired", text!("{title} expired – no decision.", title))
            }
            ApprovalStatus::Cancelled | ApprovalStatus::Superseded => {
                ended("not_pending", text!("{title} was withdrawn.", title))
            }
        }
    }

    /// Stores the request's context values in the session: values of caller-owned parameters and
    /// values that select the memory. Other values are dropped.
    async fn take_context(
        &self,
        session: &SessionId,
        request: &RunRequest,
    ) -> Result<(), AgentError> {
        let (specs, agents, settings) = (
            self.shared.world.tools.specs(),
            self.shared.world.roster.agents(),
            self.shared.world.profile.settings(),
        );
        let policies: Vec<&Conversation> = std::iter::once(&settings.conversation)
            .chain(agents.iter().filter_map(|agent| agent.conversation.as_ref()))
            .collect();
        let owned =
            |name: &str| specs.iter().any(|spec| spec.caller_owned.iter().any(|p| p.from == name));
        let known =
            |name: &str| owned(name) || policies.iter().any(|policy| member(policy) == Some(name));
        let mut given: SessionValues = request
            .context
            .iter()
            .filter(|(name, _)| known(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        if !owned(HEADERS)
            && let Some(Value::Object(headers)) = given.get_mut(HEADERS)
        {
            // Other headers are dropped, because they may contain keys.
            headers.retain(|name, _| {
                policies.iter().any(|policy| {
                    policy.key.source == KeySource::Header
                        && policy.key.name.eq_ignore_ascii_case(name)
                })
            });
        }
        if given.is_empty() {
            return Ok(());
        }
        self.shared
            .values
            .put(session, given.into_iter().map(|(name, value)| (name, Some(value))).collect())
            .await
    }
}

/// A started run.
struct Started {
    turn: contract::TurnId,
    ended: oneshot::Receiver<Ended>,
    work: Arc<RunContext>,
}
