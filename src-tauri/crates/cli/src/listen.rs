//! Waits for the inputs of a command: events of its turn, questions to the user, Ctrl-C.

use chrono::{DateTime, Utc};
use contract::{
    AgentError, Approval, ApprovalDecideParams, ApprovalId, ApprovalStatus, Commands, Empty,
    EventBody, Push, QuestionAnswerParams, Reason, ServerQuestion, SessionId, TurnEvent, TurnId,
};
use tokio::sync::broadcast::error::RecvError;

use crate::approve;
use crate::keys::Keys;
use crate::link::Link;
use crate::out::Out;
use crate::question;
use crate::visible::escape_invisible;

/// Asks the user about pending actions and servers' questions. Does nothing if the user is not
/// present.
pub(crate) struct Asker {
    out: Out,
    keys: Option<Keys>,
}

impl Asker {
    pub(crate) fn new(out: Out, person: bool) -> Self {
        let keys = if person { Keys::start().ok() } else { None };
        Self { out, keys }
    }

    /// Makes an asker from keys that are being read already.
    pub(crate) fn with_keys(out: Out, keys: Keys) -> Self {
        Self { out, keys: Some(keys) }
    }

    pub(crate) fn is_present(&self) -> bool {
        self.keys.is_some()
    }

    /// Whether this push must be answered by the user.
    pub(crate) fn can_ask_about(&self, push: &Push) -> bool {
        let asks = match push {
            Push::Turn { event } => matches!(event.event, EventBody::ApprovalRequested { .. }),
            Push::Questions { waiting } => *waiting > 0,
            _ => false,
        };
        asks && self.is_present()
    }

    /// Asks the user about a push. Returns the pushes that arrived meanwhile.
    pub(crate) async fn ask_about(
        &mut self,
        link: &mut Link,
        push: &Push,
    ) -> Result<Vec<Push>, AgentError> {
        match push {
            Push::Turn { event } => match &event.event {
                EventBody::ApprovalRequested { approval } => {
                    self.ask_and_send_decision(link, approval, event.at).await
                }
                _ => Ok(Vec::new()),
            },
            Push::Questions { .. } => self.ask_open_questions(link).await,
            _ => Ok(Vec::new()),
        }
    }

    /// Waits for the work to finish, and asks the user servers' questions in the meantime.
    pub(crate) async fn run_while_asking<T>(
        &mut self,
        link: &mut Link,
        work: impl Future<Output = T>,
    ) -> Result<T, AgentError> {
        tokio::pin!(work);
        loop {
            let push = tokio::select! {
                done = &mut work => return Ok(done),
                push = next(link) => push?,
            };
            print_declined(self.out, &push);
            if matches!(push, Push::Questions { .. }) && self.can_ask_about(&push) {
                let asking = self.ask_about(link, &push);
                tokio::select! {
                    done = &mut work => return Ok(done),
                    asked = asking => drop(asked?),
                }
            }
        }
    }

    /// Asks the user all open questions of servers, one after the other.
    async fn ask_open_questions(&mut self, link: &mut Link) -> Result<Vec<Push>, AgentError> {
        let mut heard = Vec::new();
        while let (true, Some(question)) = (self.is_present(), first_question(link).await?) {
            heard.extend(self.ask_and_send_answer(link, &question).await?);
        }
        Ok(heard)
    }

    /// Asks a question and sends the answer, unless the question ends first. Asks again if the
    /// answer does not fit the form.
    async fn ask_and_send_answer(
        &mut self,
        link: &mut Link,
        question: &ServerQuestion,
    ) -> Result<Vec<Push>, AgentError> {
        let Some(keys) = &mut self.keys else { return Ok(Vec::new()) };
        let mut heard = Vec::new();
        loop {
            let asking = question::ask(self.out, keys, question);
            tokio::pin!(asking);
            let answer = loop {
                tokio::select! {
                    answer = &mut asking => break answer,
                    push = next(link) => {
                        let push = push?;
                        let look = matches!(push, Push::Questions { .. });
                        heard.push(push);
                        if look && !link.commands.questions_list(Empty {}).await?.questions.iter().any(|open| open.id == question.id) {
                            self.out.print_note("\nNo answer is needed any more.");
                            return Ok(heard);
                        }
                    }
                }
            };
            match link
                .commands
                .question_answer(QuestionAnswerParams { id: question.id.clone(), answer })
                .await
            {
                Ok(_) => return Ok(heard),
                Err(error) => {
                    self.out.print_error(&error);
                    if !error.has_reason(Reason::Validation) {
                        return Ok(heard);
                    }
                }
            }
        }
    }

    /// Shows the action and sends the decision, unless the action is decided elsewhere first.
    async fn ask_and_send_decision(
        &mut self,
        link: &mut Link,
        approval: &Approval,
        now: DateTime<Utc>,
    ) -> Result<Vec<Push>, AgentError> {
        let Some(keys) = &mut self.keys else { return Ok(Vec::new()) };
        let mut heard = Vec::new();
        let asking = approve::ask(self.out, keys, approval, now);
        tokio::pin!(asking);
        let decision = loop {
            tokio::select! {
                decision = &mut asking => break decision,
                push = next(link) => {
                    let push = push?;
                    let settled = decided_status(&push, &approval.id);
                    heard.push(push);
                    if let Some(status) = settled {
                        self.out.print_note(format!("\nNo answer is needed any more: it is {}.", format_status(status)));
                        return Ok(heard);
                    }
                }
            }
        };
        let params =
            ApprovalDecideParams { id: approval.id.clone(), hash: approval.hash.clone(), decision };
        if let Err(error) = link.commands.approval_decide(params).await {
            self.out.print_error(&error);
            self.out.print_note(
                "This did not decide it. Decide in the approval window, or press Ctrl-C to stop.",
            );
        }
        Ok(heard)
    }
}

async fn first_question(link: &Link) -> Result<Option<ServerQuestion>, AgentError> {
    Ok(link.commands.questions_list(Empty {}).await?.questions.into_iter().next())
}

/// Reports that a server's question was declined because there is no person to ask.
pub(crate) fn print_declined(out: Out, push: &Push) {
    if let Push::QuestionDeclined { pack, server, message } = push {
        out.print_note(format!(
            "{} (pack {}) asked: {}",
            escape_invisible(server),
            escape_invisible(pack.as_str()),
            escape_invisible(message)
        ));
        out.print_note("Nobody is here to answer, so it was told no. Run this in a terminal, or ask in the window, to be asked.");
    }
}

/// Returns the next push. Fails if pushes were missed, because the end of the turn may be among
/// them.
pub(crate) async fn next(link: &mut Link) -> Result<Push, AgentError> {
    match link.pushes.recv().await {
        Ok(push) => Ok(push),
        Err(RecvError::Lagged(_) | RecvError::Closed) => Err(AgentError::internal(
            "connection_lost",
            "The connection to Countersign was lost.",
        )
        .hint("The answer is kept: open the session in the window, or ask again with --session.")),
    }
}

/// Returns the event if it belongs to this turn.
pub(crate) fn find_turn_event<'a>(
    push: &'a Push,
    session: &SessionId,
    turn: &TurnId,
) -> Option<&'a TurnEvent> {
    let Push::Turn { event } = push else { return None };
    (event.session == *session && event.turn == *turn).then_some(event)
}

/// Whether the push is an event of this session.
pub(crate) fn is_session_event(push: &Push, session: &SessionId) -> bool {
    matches!(push, Push::Turn { event } if event.session == *session)
}

fn decided_status(push: &Push, id: &ApprovalId) -> Option<ApprovalStatus> {
    let Push::Turn {
        event: TurnEvent { event: EventBody::ApprovalResolved { id: of, status }, .. },
    } = push
    else {
        return None;
    };
    (of == id).then_some(*status)
}

/// Returns a status as the word used in JSON.
pub(crate) fn format_status(status: ApprovalStatus) -> String {
    serde_json::to_value(status)
        .ok()
        .and_then(|v| v.as_str().map(str::to_owned))
        .unwrap_or_default()
}

/// Returns an action by its id, even if it is already decided.
pub(crate) async fn find(commands: &dyn Commands, id: &str) -> Result<Approval, AgentError> {
    let all = commands
        .approvals_list(contract::ApprovalsListParams { include_decided: true })
        .await?
        .approvals;
    all.into_iter().find(|approval| approval.id.as_str() == id).ok_or_else(|| {
        AgentError::invalid(format!("There is no action {}.", crate::visible::escape_invisible(id)))
            .reason(Reason::NotFound)
            .hint("`csign approvals list --all` shows all of them.")
    })
}
