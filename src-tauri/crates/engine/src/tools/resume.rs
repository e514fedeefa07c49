//! A call whose server wants answers from the user first. With the answers it is a new call, bound to its arguments and to them:
//! for anything but a read it goes through the gate again, with its own signature and its own intent in the log.

use std::sync::Arc;

use async_trait::async_trait;
use contract::{AgentError, Approval, ApprovalId, ApprovalStatus, Effect, ErrorCode, EventBody, ItemBody, ToolSpec};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use policy::Decision;
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::{
    approvals::{gate::Waited, recheck::Rechecked},
    ports::{Resume, ToolFailure, ToolRequest, Tools},
    tools::{call::Ready, outgoing::Outgoing, retry},
    turn::Turn,
};

/// The name under which answers stand beside a call's arguments, where it is shown and hashed. No parameter has it.
const ANSWERS: &str = "(inputResponses)";

/// The further request that a call wants to send.
enum Wanted {
    /// With answers that its server asked for.
    Answers(Value),
    /// With other arguments.
    Arguments(Value),
}

/// A call that wants to go on.
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

/// The tools, with the turn's ear.
struct Resumable<'a> {
    tools: &'a dyn Tools,
    asks: mpsc::Sender<ResumeRequest>,
}

#[async_trait]
impl Tools for Resumable<'_> {
    fn specs(&self) -> Arc<Vec<ToolSpec>> {
        self.tools.specs()
    }

    fn waits_for_person(&self, spec: &ToolSpec) -> bool {
        self.tools.waits_for_person(spec)
    }

    async fn run(&self, request: ToolRequest, cancel: CancellationToken) -> Result<Value, ToolFailure> {
        self.tools.run_resumable(request, cancel, &Asking(self.asks.clone())).await
    }
}

impl Turn {
    /// Runs a call with all its tries, and listens whether it wants to go on with answers.
    pub(crate) async fn run_tool(&self, ready: &Ready, request: ToolRequest, deadline: tokio::time::Instant) -> Result<Value, ToolFailure> {
        let world = self.world();
        let (asks, mut asked) = mpsc::channel(1);
        let tools = Resumable { tools: world.tools.as_ref(), asks };
        let signed = Mutex::new(Vec::new());
        let listening = async {
            while let Some(ResumeRequest { wanted, verdict }) = asked.recv().await {
                let judged = match wanted {
                    Wanted::Answers(answers) => self.resumed(ready, &answers, &signed).await,
                    Wanted::Arguments(arguments) => self.record_again(ready, &arguments).await,
                };
                // A call that has been given up hears nothing any more.
                let _ = verdict.send(judged);
            }
            std::future::pending::<()>().await;
        };
        let done = tokio::select! {
            done = retry::run(&tools, world.random.as_ref(), request, &self.cancel, deadline) => done,
            () = listening => Err(ToolFailure { error: AgentError::internal("cancelled", "The call was stopped."), may_have_happened: true }),
        };
        let signed = signed.into_inner();
        for approval in signed {
            let (status, reason) = match &done {
                Ok(_) => (ApprovalStatus::Done, None),
                Err(failure) => {
                    let mut error = failure.error.clone();
                    self.bound_error(&mut error);
                    (ApprovalStatus::Failed, Some(error.message))
                }
            };
            self.engine.settle(&approval, ApprovalStatus::Executing, status, reason.as_deref()).await;
            self.tell_end(&approval, status, reason).await;
        }
        done
    }

    /// Whether a call may go on with these answers. Boxed: what it would change is shown by calls, which come through here again.
    fn resumed<'a>(&'a self, ready: &'a Ready, answers: &'a Value, signed: &'a Mutex<Vec<Approval>>) -> BoxFuture<'a, Result<(), AgentError>> {
        Box::pin(self.judge_resumed(ready, answers, signed))
    }

    /// Records a further request of a read. A change sends only the request that was signed.
    async fn record_again(&self, ready: &Ready, arguments: &Value) -> Result<(), AgentError> {
        if ready.spec.effect != Effect::ReadOnly {
            return Err(AgentError::internal("changed", "A change is sent only as it was signed."));
        }
        self.record_further(ready, None, &Outgoing::again(arguments)?).await
    }

    async fn record_further(&self, ready: &Ready, approval: Option<&ApprovalId>, outgoing: &Outgoing) -> Result<(), AgentError> {
        self.record_intent(ready, approval, outgoing).await.map_err(|refused| {
            refused.error.unwrap_or_else(|| AgentError::internal("audit_unavailable", "The call was not continued: the audit log cannot be written."))
        })
    }

    async fn judge_resumed(&self, ready: &Ready, answers: &Value, signed: &Mutex<Vec<Approval>>) -> Result<(), AgentError> {
        let mut ready = ready.clone();
        ready.arguments = with_answers(&ready.arguments, answers);
        if ready.spec.effect == Effect::ReadOnly {
            let outgoing = self.outgoing(&ready).await?;
            return self.record_further(&ready, None, &outgoing).await;
        }
        self.engine.check_tool(&ready.spec)?;
        ready.decision = self.gate(&ready.spec, &ready.arguments).await;
        let approval = match ready.decision.clone() {
            Decision::Allow { .. } => None,
            Decision::Deny { why } => return Err(AgentError::new(ErrorCode::ApprovalRequired, why).reason("side_effect_disallowed").with("approvable", false)),
            Decision::Ask { .. } if self.headless => {
                let why = format!("{} wants answers before it goes on, and nobody can approve that here.", ready.spec.title);
                return Err(AgentError::new(ErrorCode::ApprovalRequired, why).reason("approval_required").with("approvable", false));
            }
            Decision::Ask { why } => Some(self.signed_anew(&ready, why).await?),
        };
        let outgoing = self.outgoing(&ready).await?;
        let id = approval.as_ref().map(|approval| approval.id.clone());
        if let Some(approval) = approval {
            signed.lock().push(approval);
        }
        self.record_further(&ready, id.as_ref(), &outgoing).await
    }

    /// Asks for a signature under the call with its answers, and uses it.
    async fn signed_anew(&self, ready: &Ready, why: String) -> Result<Approval, AgentError> {
        let why = format!("{why} Its server wanted these answers first, so it is a new call.");
        let mut proposal = self.propose(ready, why, None).await?;
        let waited = self.wait(ready, &proposal.approval, &mut proposal.told).await;
        let approval = proposal.approval;
        let (status, reason, said) = match waited {
            Waited::Approved(holds) => match self.recheck(ready, &approval).await {
                Rechecked::Same if self.engine.settle(&approval, ApprovalStatus::Approved, ApprovalStatus::Executing, None).await => {
                    self.remember(&approval, holds, ready).await;
                    return Ok(approval);
                }
                Rechecked::Same => return Err(AgentError::internal("approval_used", "This approval has been used or has ended already.")),
                Rechecked::Changed => (ApprovalStatus::Superseded, "changed", "What it would change is not the same any more.".to_owned()),
                Rechecked::Refused(error) => (ApprovalStatus::Failed, "denied", error.message),
            },
            Waited::Rejected(reason) => (ApprovalStatus::Rejected, "rejected", reason.unwrap_or_else(|| "The user rejected it.".to_owned())),
            Waited::Edited(_) => (ApprovalStatus::Superseded, "edited", "Answers to a server cannot be edited here; call it again.".to_owned()),
            Waited::Expired => (ApprovalStatus::Expired, "expired", "Expired – no decision.".to_owned()),
            Waited::Cancelled => (ApprovalStatus::Cancelled, "cancelled", "It was stopped.".to_owned()),
            Waited::Changed => (ApprovalStatus::Superseded, "changed", "What it would change is not the same any more.".to_owned()),
        };
        self.engine.settle(&approval, ApprovalStatus::Approved, status, Some(&said)).await;
        self.tell_end(&approval, status, Some(said.clone())).await;
        Err(AgentError::new(ErrorCode::ApprovalRequired, said).reason(reason))
    }

    /// How an approval ended, for the transcript and for who listens.
    async fn tell_end(&self, approval: &Approval, status: ApprovalStatus, reason: Option<String>) {
        let (id, call, tool) = (approval.id.clone(), approval.call.clone(), approval.tool.clone());
        // The result that follows is what counts; a transcript that cannot be saved fails there.
        let _ = self.save(vec![self.item(ItemBody::Approval { approval: id.clone(), call, tool, status, reason })]).await;
        self.emit(EventBody::ApprovalResolved { id, status });
    }
}

/// The arguments of a call as they are shown, judged and hashed with the answers that go with them.
fn with_answers(arguments: &Value, answers: &Value) -> Value {
    let mut all: Map<String, Value> = arguments.as_object().cloned().unwrap_or_default();
    all.insert(ANSWERS.to_owned(), answers.clone());
    Value::Object(all)
}
