//! What servers ask the user in the middle of a call. Where nobody can answer it is declined; an answer that does not come in time
//! is none. While a question is open, the call's time does not count.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use contract::{AgentError, Push, QuestionAnswer, QuestionKind, ServerQuestion};
use engine::ports::{Events, Ids, Resume};
use mcp::{Asker, Asks, Question, Reply};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::{definitions::key, pushes::Hub};

/// How long a question stays.
const PATIENCE: Duration = Duration::from_secs(300);

#[derive(Default)]
struct Inside {
    open: BTreeMap<String, (ServerQuestion, oneshot::Sender<QuestionAnswer>)>,
    /// How many wait for a person, by server.
    waiting: BTreeMap<String, u32>,
}

/// The open questions of one profile.
pub(crate) struct Questions {
    /// Somebody can be asked: there is a window.
    answerable: bool,
    hub: Arc<Hub>,
    ids: Arc<dyn Ids>,
    inside: Mutex<Inside>,
}

impl Questions {
    pub(crate) fn new(answerable: bool, hub: Arc<Hub>, ids: Arc<dyn Ids>) -> Self {
        Self { answerable, hub, ids, inside: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        let waiting = u32::try_from(self.lock().open.len()).unwrap_or(u32::MAX);
        self.hub.push(Push::Questions { waiting });
    }

    pub(crate) fn list(&self) -> Vec<ServerQuestion> {
        self.lock().open.values().map(|(question, _)| question.clone()).collect()
    }

    /// Gives an answer to who waits for it.
    pub(crate) fn answer(&self, id: &str, answer: QuestionAnswer) -> Result<(), AgentError> {
        let found = self.lock().open.remove(id);
        let answered = found.is_some_and(|(_, told)| told.send(answer).is_ok());
        self.tell();
        if answered { Ok(()) } else { Err(AgentError::invalid("This question is not open any more.").reason("not_found")) }
    }

    /// Whether a call to this server waits for a person.
    pub(crate) fn waits(&self, server: &str) -> bool {
        self.lock().waiting.contains_key(server)
    }

    /// Until it is dropped, a call to this server waits for a person.
    pub(crate) fn waiting(&self, server: String) -> Waiting<'_> {
        *self.lock().waiting.entry(server.clone()).or_default() += 1;
        Waiting { questions: self, server }
    }
}

/// A call waits for a person.
pub(crate) struct Waiting<'a> {
    questions: &'a Questions,
    server: String,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut inside = self.questions.lock();
        if let Some(count) = inside.waiting.get_mut(&self.server) {
            *count -= 1;
            if *count == 0 {
                inside.waiting.remove(&self.server);
            }
        }
    }
}

/// A question that is taken back when nobody waits for its answer any more.
struct Asked<'a> {
    questions: &'a Questions,
    id: String,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let open = self.questions.lock().open.remove(&self.id).is_some();
        if open {
            self.questions.tell();
        }
    }
}

#[async_trait]
impl Asker for Questions {
    async fn ask(&self, question: Question) -> Reply {
        if !self.answerable {
            return Reply::Decline;
        }
        let _waiting = self.waiting(key(&question.pack, &question.server));
        let asks = match question.asks {
            Asks::Form { schema } => QuestionKind::Form { schema },
            Asks::Url { url } => QuestionKind::Url { url },
        };
        let (tell, told) = oneshot::channel();
        let id = self.ids.next("question");
        let view = ServerQuestion { id: id.clone(), pack: question.pack, server: question.server, message: question.message, asks };
        self.lock().open.insert(id.clone(), (view, tell));
        let _asked = Asked { questions: self, id };
        self.tell();
        match tokio::time::timeout(PATIENCE, told).await {
            Ok(Ok(QuestionAnswer::Accept { values })) => Reply::Accept(values),
            Ok(Ok(QuestionAnswer::Decline)) => Reply::Decline,
            Ok(Ok(QuestionAnswer::Cancel) | Err(_)) | Err(_) => Reply::Cancel,
        }
    }
}

/// The engine's gate for a call with answers; while it asks, the call waits for a person.
pub(crate) struct Gate<'a> {
    pub(crate) questions: &'a Questions,
    pub(crate) server: String,
    pub(crate) engine: &'a dyn Resume,
}

#[async_trait]
impl Resume for Gate<'_> {
    async fn resume(&self, answers: &Value) -> Result<(), AgentError> {
        let _waiting = self.questions.waiting(self.server.clone());
        self.engine.resume(answers).await
    }
}
