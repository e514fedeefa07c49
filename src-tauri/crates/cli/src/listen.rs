//! What a command hears while it waits: events of its turn, questions to the person, Ctrl-C.

use chrono::{DateTime, Utc};
use contract::{AgentError, Approval, ApprovalDecideParams, ApprovalId, ApprovalStatus, Commands, EventBody, Push, SessionId, TurnEvent, TurnId};
use tokio::sync::broadcast::error::RecvError;

use crate::approve;
use crate::keys::Keys;
use crate::link::Link;
use crate::out::Out;

/// Asks the person about pending actions of one session, when there is a person.
pub(crate) struct Asker {
    out: Out,
    keys: Option<Keys>,
}

impl Asker {
    pub(crate) fn new(out: Out, person: bool) -> Self {
        let keys = if person { Keys::start().ok() } else { None };
        Self { out, keys }
    }

    pub(crate) fn present(&self) -> bool {
        self.keys.is_some()
    }

    /// Shows the action and sends the decision, unless it is settled otherwise first.
    pub(crate) async fn ask(&mut self, link: &mut Link, approval: &Approval, now: DateTime<Utc>) -> Result<Vec<Push>, AgentError> {
        let Some(keys) = &mut self.keys else { return Ok(Vec::new()) };
        let mut heard = Vec::new();
        let asking = approve::ask(self.out, keys, approval, now);
        tokio::pin!(asking);
        let decision = loop {
            tokio::select! {
                decision = &mut asking => break decision,
                push = next(link) => {
                    let push = push?;
                    let settled = settles(&push, &approval.id);
                    heard.push(push);
                    if let Some(status) = settled {
                        self.out.note(format!("\nNo answer is needed any more: it is {}.", word(status)));
                        return Ok(heard);
                    }
                }
            }
        };
        let params = ApprovalDecideParams { id: approval.id.clone(), hash: approval.hash.clone(), decision };
        if let Err(error) = link.commands.approval_decide(params).await {
            self.out.error_lines(&error);
        }
        Ok(heard)
    }
}

/// The next push. Being too far behind ends the wait: what was missed could be the end.
pub(crate) async fn next(link: &mut Link) -> Result<Push, AgentError> {
    match link.pushes.recv().await {
        Ok(push) => Ok(push),
        Err(RecvError::Lagged(_) | RecvError::Closed) => Err(AgentError::internal("connection_lost", "The connection to Countersign was lost.")
            .hint("The answer is kept: open the session in the window, or ask again with --session.")),
    }
}

/// The event, when it belongs to this turn.
pub(crate) fn of_turn<'a>(push: &'a Push, session: &SessionId, turn: &TurnId) -> Option<&'a TurnEvent> {
    let Push::Turn { event } = push else { return None };
    (event.session == *session && event.turn == *turn).then_some(event)
}

fn settles(push: &Push, id: &ApprovalId) -> Option<ApprovalStatus> {
    let Push::Turn { event: TurnEvent { event: EventBody::ApprovalResolved { id: of, status }, .. } } = push else { return None };
    (of == id).then_some(*status)
}

/// A status as its word on the wire.
pub(crate) fn word(status: ApprovalStatus) -> String {
    serde_json::to_value(status).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

/// One action by id, also a decided one.
pub(crate) async fn find(commands: &dyn Commands, id: &str) -> Result<Approval, AgentError> {
    let all = commands.approvals_list(contract::ApprovalsListParams { include_decided: true }).await?.approvals;
    all.into_iter().find(|approval| approval.id.as_str() == id).ok_or_else(|| {
        AgentError::invalid(format!("There is no action {}.", crate::visible::exact(id)))
            .reason("not_found")
            .hint("`csign approvals list --all` shows all of them.")
    })
}
