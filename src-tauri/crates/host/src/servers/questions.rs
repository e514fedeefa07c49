//! Questions that servers ask the user during a call. If nobody can answer, the question is
//! declined and the user gets a notice. A late answer is ignored. While a question is open, the
//! call's timeout is suspended.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use async_trait::async_trait;
use contract::{AgentError, Push, QuestionAnswer, QuestionKind, Reason, ServerQuestion, text};
use engine::{
    Validators,
    ports::{Events, Ids, Resume},
};
use mcp::{Asker, Question, Reply, RequestedInput};
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::definitions::server_key;

/// How long a question stays open.
const PATIENCE: Duration = Duration::from_secs(300);

#[derive(Default)]
struct Inside {
    open: BTreeMap<String, (ServerQuestion, oneshot::Sender<QuestionAnswer>)>,
    /// The number of calls that wait for a person, for each server.
    waiting: BTreeMap<String, u32>,
    /// The number of running calls by callers who can answer questions, for each server. A server's
    /// question does not name its call, so one such call is enough.
    attended: BTreeMap<String, u32>,
}

/// The open questions of one profile.
pub(crate) struct Questions {
    events: Arc<dyn Events>,
    ids: Arc<dyn Ids>,
    validators: Validators,
    inside: Mutex<Inside>,
}

impl Questions {
    pub(crate) fn new(events: Arc<dyn Events>, ids: Arc<dyn Ids>) -> Self {
        Self { events, ids, validators: Validators::default(), inside: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock()
    }

    fn publish(&self) {
        let waiting = u32::try_from(self.lock().open.len()).unwrap_or(u32::MAX);
        self.events.push(Push::Questions { waiting });
    }

    pub(crate) fn list_questions(&self) -> Vec<ServerQuestion> {
        self.lock().open.values().map(|(question, _)| question.clone()).collect()
    }

    /// Passes an answer to the waiting call. If the answer does not fit the form, the question
    /// stays open.
    pub(crate) fn answer_question(
        &self,
        id: &str,
        answer: QuestionAnswer,
    ) -> Result<(), AgentError> {
        self.check_answer(id, &answer)?;
        let found = self.lock().open.remove(id);
        let answered = found.is_some_and(|(_, told)| told.send(answer).is_ok());
        self.publish();
        if answered {
            Ok(())
        } else {
            Err(AgentError::invalid("This question is not open any more.").reason(Reason::NotFound))
        }
    }

    fn check_answer(&self, id: &str, answer: &QuestionAnswer) -> Result<(), AgentError> {
        let QuestionAnswer::Accept { values } = answer else { return Ok(()) };
        let asked = self.lock().open.get(id).map(|(question, _)| question.asks.clone());
        let Some(QuestionKind::Form { schema }) = asked else { return Ok(()) };
        let faults = self.validators.faults(
            &schema.to_string(),
            &schema,
            values.as_ref().unwrap_or(&Value::Null),
        );
        let Some((path, problem)) = faults.first() else { return Ok(()) };
        let what = match path.trim_start_matches('/') {
            "" => problem.clone(),
            path => text!("{path}: {problem}", path, problem),
        };
        let validation: Vec<Value> = faults
            .iter()
            .map(|(path, problem)| {
                json!({"path": path, "problem": problem.as_str(), "text": problem})
            })
            .collect();
        Err(AgentError::invalid(text!(
            "The answer does not fit what the server asks for: {what}.",
            what
        ))
        .reason(Reason::Validation)
        .with("validation", validation))
    }

    /// Whether a call to this server waits for a person.
    pub(crate) fn is_waiting(&self, server: &str) -> bool {
        self.lock().waiting.contains_key(server)
    }

    /// Counts a call to this server as waiting for a person until the returned value is dropped.
    pub(crate) fn count_waiting_call(&self, server: String) -> OpenCall<'_> {
        OpenCall::count_call(self, |inside| &mut inside.waiting, server)
    }

    /// Counts a call to this server as made by someone who can answer, until the returned value is
    /// dropped.
    pub(crate) fn count_attended_call(&self, server: String) -> OpenCall<'_> {
        OpenCall::count_call(self, |inside| &mut inside.attended, server)
    }
}

/// A counted call of a server. Dropping it ends the count.
pub(crate) struct OpenCall<'a> {
    questions: &'a Questions,
    counts: fn(&mut Inside) -> &mut BTreeMap<String, u32>,
    server: String,
}

impl<'a> OpenCall<'a> {
    fn count_call(
        questions: &'a Questions,
        counts: fn(&mut Inside) -> &mut BTreeMap<String, u32>,
        server: String,
    ) -> Self {
        *counts(&mut questions.lock()).entry(server.clone()).or_default() += 1;
        Self { questions, counts, server }
    }
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        let mut inside = self.questions.lock();
        let counts = (self.counts)(&mut inside);
        if let Some(count) = counts.get_mut(&self.server) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.server);
            }
        }
    }
}

/// An open question. Dropping it withdraws the question, for example when its call ends.
struct PendingQuestion<'a> {
    questions: &'a Questions,
    id: String,
}

impl Drop for PendingQuestion<'_> {
    fn drop(&mut self) {
        let open = self.questions.lock().open.remove(&self.id).is_some();
        if open {
            self.questions.publish();
        }
    }
}

#[async_trait]
impl Asker for Questions {
    async fn ask(&self, question: Question) -> Reply {
        let server = server_key(&question.pack, &question.server);
        if !self.lock().attended.contains_key(&server) {
            self.events.push(Push::QuestionDeclined {
                pack: question.pack,
                server: question.server,
                message: question.message,
            });
            return Reply::Decline;
        }
        let _waiting = self.count_waiting_call(server);
        let asks = match question.asks {
            RequestedInput::Form { schema } => QuestionKind::Form { schema },
            RequestedInput::Url { url } => QuestionKind::Url { url },
        };
        let (tell, told) = oneshot::channel();
        let id = self.ids.next("question");
        let view = ServerQuestion {
            id: id.clone(),
            pack: question.pack,
            server: question.server,
            message: question.message,
            asks,
        };
        self.lock().open.insert(id.clone(), (view, tell));
        let _asked = PendingQuestion { questions: self, id };
        self.publish();
        match tokio::time::timeout(PATIENCE, told).await {
            Ok(Ok(QuestionAnswer::Accept { values })) => Reply::Accept(values),
            Ok(Ok(QuestionAnswer::Decline)) => Reply::Decline,
            Ok(Ok(QuestionAnswer::Cancel) | Err(_)) | Err(_) => Reply::Cancel,
        }
    }
}

/// Lets a call ask the user and continue with the answers. Meanwhile, the call counts as waiting
/// for a person.
pub(crate) struct Gate<'a> {
    pub(crate) questions: &'a Questions,
    pub(crate) server: String,
    pub(crate) engine: &'a dyn Resume,
}

#[async_trait]
impl Resume for Gate<'_> {
    async fn resume(&self, answers: &Value) -> Result<(), AgentError> {
        let _waiting = self.questions.count_waiting_call(self.server.clone());
        self.engine.resume(answers).await
    }

    async fn again(&self, arguments: &Value) -> Result<(), AgentError> {
        self.engine.again(arguments).await
    }
}
