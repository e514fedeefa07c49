//! Runs a call whose server first asks the user for answers. With the answers, the call is a new
//! call, identified by its arguments and the answers. A change passes the approval gate again (see
//! `AnswerSigner`), with its own approval and its own intent record.

use std::sync::Arc;

use async_trait::async_trait;
use contract::{AgentError, Approval, ApprovalId, Effect, PackId, Reason, ToolSpec};
use parking_lot::Mutex;
use policy::Decision;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::{
    ports::{Resume, ToolFailure, ToolRequest, Tools},
    tools::{call::Ready, outgoing::Outgoing, records::record_intent, retry, scope::Scope},
    turn::{
        context::TurnContext,
        recording::{recorder::Recorder, taps::RecordedTools},
    },
};

/// The name under which the answers are added to the call's arguments for display and hashing. No
/// parameter can have this name.
const ANSWERS: &str = "(inputResponses)";

/// A further request that a running call wants to send.
enum Wanted {
    /// The same request, with answers that the server requested.
    Answers(Value),
    /// A request with other arguments.
    Arguments(Value),
}

/// A request of a running call for permission to send a further request.
struct ResumeRequest {
    wanted: Wanted,
    verdict: oneshot::Sender<Result<(), AgentError>>,
}

struct Asking(mpsc::Sender<ResumeRequest>);

impl Asking {
    async fn ask(&self, wanted: Wanted) -> Result<(), AgentError> {
        let gone = || AgentError::internal("cancelled", "The call was stopped.");
        let (verdict, told) = oneshot::channel();
        self.0.send(ResumeRequest { wanted, verdict }).await.map_err(|_| gone())?;
        told.await.unwrap_or_else(|_| Err(gone()))
    }
}

#[async_trait]
impl Resume for Asking {
    async fn resume(&self, answers: &Value) -> Result<(), AgentError> {
        self.ask(Wanted::Answers(answers.clone())).await
    }

    async fn again(&self, arguments: &Value) -> Result<(), AgentError> {
        self.ask(Wanted::Arguments(arguments.clone())).await
    }
}

/// Passes the requests of a running call to the turn.
struct Resumable<'a> {
    tools: &'a dyn Tools,
    recorder: Option<&'a Recorder>,
    asks: mpsc::Sender<ResumeRequest>,
}

#[async_trait]
impl Tools for Resumable<'_> {
    fn specs(&self) -> Arc<Vec<ToolSpec>> {
        self.tools.specs()
    }

    fn reads_files(&self, pack: &PackId) -> bool {
        self.tools.reads_files(pack)
    }

    fn keeps_time(&self, spec: &ToolSpec) -> bool {
        self.tools.keeps_time(spec)
    }

    fn waits_for_person(&self, spec: &ToolSpec) -> bool {
        self.tools.waits_for_person(spec)
    }

    async fn run(
        &self,
        request: ToolRequest,
        cancel: CancellationToken,
    ) -> Result<Value, ToolFailure> {
        let asking = Asking(self.asks.clone());
        match self.recorder {
            Some(recorder) => {
                let tools = RecordedTools { inner: self.tools, recorder };
                tools.run_resumable(request, cancel, &asking).await
            }
            None => self.tools.run_resumable(request, cancel, &asking).await,
        }
    }
}

/// Decides whether a change may continue with answers that its server requested.
#[async_trait]
pub(crate) trait AnswerSigner: Send + Sync {
    /// Checks the call with its answers against the policy and, if needed, requests an approval.
    /// The returned approval is already executing.
    async fn sign(&self, ready: &Ready) -> Result<(Decision, Option<Approval>), AgentError>;
    /// Ends the approval with the call's result.
    async fn end(&self, approval: &Approval, done: Result<(), AgentError>);
}

/// Runs a call with all its attempts. The call may continue with answers if `signer` allows it.
pub(crate) async fn run_tool(
    (context, scope): (&TurnContext, &Scope),
    ready: &Ready,
    request: ToolRequest,
    deadline: tokio::time::Instant,
    signer: Option<&dyn AnswerSigner>,
) -> Result<Value, ToolFailure> {
    let world = context.world();
    let (asks, mut asked) = mpsc::channel(1);
    let tools =
        Resumable { tools: world.tools.as_ref(), recorder: context.recorder.as_deref(), asks };
    let signed = Mutex::new(Vec::new());
    let stopped = || AgentError::internal("cancelled", "The call was stopped.");
    let listening = async {
        while let Some(ResumeRequest { wanted, verdict }) = asked.recv().await {
            let allowed = match wanted {
                Wanted::Answers(answers) => {
                    match approve_answers(context, ready, &answers, signer).await {
                        Ok((ready, approval)) => {
                            send_answers((context, scope), &ready, approval, &signed).await
                        }
                        Err(error) => Err(error),
                    }
                }
                Wanted::Arguments(arguments) => {
                    record_again((context, scope), ready, &arguments).await
                }
            };
            // A call that was abandoned no longer receives the verdict.
            let _ = verdict.send(allowed);
        }
        // Without senders, no further request can arrive, so that only the end of the call is
        // awaited.
        std::future::pending::<()>().await;
    };
    // The turn's time limit does not stop tools with their own time limit, so their time is counted
    // separately.
    let time = world.tools.keeps_time(&ready.spec).then(|| context.account.count_tool_time());
    let done = tokio::select! {
        done = retry::run(&tools, world.random.as_ref(), request, &context.cancel, deadline) => done,
        () = listening => Err(ToolFailure { error: stopped(), may_have_happened: true }),
    };
    drop(time);
    for approval in signed.into_inner() {
        if let Some(signer) = signer {
            signer
                .end(&approval, done.as_ref().map(|_| ()).map_err(|failure| failure.error.clone()))
                .await;
        }
    }
    done
}

/// Adds the user's answers to the call. Returns the call, and for a change its approval. A read
/// needs no approval.
async fn approve_answers(
    context: &TurnContext,
    ready: &Ready,
    answers: &Value,
    signer: Option<&dyn AnswerSigner>,
) -> Result<(Ready, Option<Approval>), AgentError> {
    let mut ready = ready.clone();
    ready.arguments = with_answers(&ready.arguments, answers);
    if ready.spec.effect == Effect::ReadOnly {
        return Ok((ready, None));
    }
    context.check_tool(&ready.spec)?;
    let signer = signer.ok_or_else(|| {
        AgentError::internal(Reason::Changed, "A change is sent only in the form that was signed.")
    })?;
    let (decision, approval) = signer.sign(&ready).await?;
    ready.decision = decision;
    Ok((ready, approval))
}

async fn send_answers(
    (context, scope): (&TurnContext, &Scope),
    ready: &Ready,
    approval: Option<Approval>,
    signed: &Mutex<Vec<Approval>>,
) -> Result<(), AgentError> {
    let outgoing = Outgoing::of(context, ready).await?;
    let id = approval.as_ref().map(|approval| approval.id.clone());
    // Stored before the record is written, because the approval must be ended even if the record
    // fails.
    signed.lock().extend(approval);
    record_further((context, scope), ready, id.as_ref(), &outgoing).await
}

/// Records a further request of a read. A change may send only the approved request.
async fn record_again(
    (context, scope): (&TurnContext, &Scope),
    ready: &Ready,
    arguments: &Value,
) -> Result<(), AgentError> {
    if ready.spec.effect != Effect::ReadOnly {
        return Err(AgentError::internal(
            Reason::Changed,
            "A change is sent only in the form that was signed.",
        ));
    }
    record_further((context, scope), ready, None, &Outgoing::for_further_request(arguments)?).await
}

async fn record_further(
    (context, scope): (&TurnContext, &Scope),
    ready: &Ready,
    approval: Option<&ApprovalId>,
    outgoing: &Outgoing,
) -> Result<(), AgentError> {
    record_intent(context, ready, scope.agent_id(), approval, outgoing).await
}

/// Returns a call's arguments together with the answers, as shown, checked and hashed.
fn with_answers(arguments: &Value, answers: &Value) -> Value {
    let mut all: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    all.insert(ANSWERS.to_owned(), answers.clone());
    Value::Object(all)
}
