//! Changes of settings that the chat window has requested and that wait for confirmation in the
//! approval window. The changes are made only after the confirmation. Must not know the meaning of
//! a change.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use contract::{AgentError, Confirmation, ErrorCode, Push, Reason, SettingChange};
use engine::ports::{Events as _, Ids};
use parking_lot::{Mutex, MutexGuard};
use tokio::{sync::oneshot, time::Instant};

use super::Hub;

/// The maximum number of waiting changes, so that a page cannot hide earlier requests behind many
/// new requests.
const MAX_WAITING: usize = 8;

type Waiting = BTreeMap<String, (Confirmation, oneshot::Sender<bool>)>;

/// How long changes that were confirmed in advance may be made.
const AGREED_FOR: Duration = Duration::from_secs(600);

/// The waiting changes of one profile, and the changes that were confirmed in advance.
pub(crate) struct Confirmations {
    hub: Arc<Hub>,
    ids: Arc<dyn Ids>,
    waiting: Mutex<Waiting>,
    agreed: Mutex<Option<(Instant, Vec<SettingChange>)>>,
}

impl Confirmations {
    pub(crate) fn new(hub: Arc<Hub>, ids: Arc<dyn Ids>) -> Self {
        Self { hub, ids, waiting: Mutex::default(), agreed: Mutex::default() }
    }

    /// Notes changes that a person has confirmed and that will be made in the next minutes. They
    /// replace the changes that were noted before.
    pub(crate) fn note_agreed(&self, changes: Vec<SettingChange>) {
        *self.agreed.lock() = Some((Instant::now() + AGREED_FOR, changes));
    }

    /// Returns the changes that were confirmed in advance and not made yet.
    pub(crate) fn agreed(&self) -> Vec<SettingChange> {
        let agreed = self.agreed.lock();
        let valid = agreed.as_ref().filter(|(until, _)| Instant::now() < *until);
        valid.map(|(_, changes)| changes.clone()).unwrap_or_default()
    }

    /// Removes changes from those confirmed in advance, because they are made now. Making a change
    /// again needs a new confirmation.
    pub(crate) fn use_up(&self, made: &[SettingChange]) {
        if let Some((_, changes)) = self.agreed.lock().as_mut() {
            changes.retain(|change| !made.contains(change));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock()
    }

    fn publish(&self) {
        let waiting = u32::try_from(self.lock().len()).unwrap_or(u32::MAX);
        self.hub.push(Push::Confirmations { waiting });
    }

    pub(crate) fn list(&self) -> Vec<Confirmation> {
        self.lock().values().map(|(confirmation, _)| confirmation.clone()).collect()
    }

    /// Waits for the confirmation. Fails if the user refuses or does not answer in time. Forgets
    /// changes that were confirmed in advance, because they belong to an earlier question.
    pub(crate) async fn ask_person(
        &self,
        changes: Vec<SettingChange>,
        patience: Duration,
    ) -> Result<(), AgentError> {
        *self.agreed.lock() = None;
        let (tell, told) = oneshot::channel();
        let asked = self.add_confirmation(changes, tell)?;
        let answer = tokio::time::timeout(patience, told).await;
        drop(asked);
        match answer {
            Ok(Ok(true)) => Ok(()),
            Ok(_) => Err(not_confirmed(
                "The change was not confirmed in the approval window. Nothing was changed.",
            )),
            Err(_) => {
                Err(not_confirmed("Nobody confirmed the change in time. Nothing was changed."))
            }
        }
    }

    fn add_confirmation(
        &self,
        changes: Vec<SettingChange>,
        tell: oneshot::Sender<bool>,
    ) -> Result<PendingChange<'_>, AgentError> {
        let id = self.ids.next("confirmation");
        {
            let mut waiting = self.lock();
            if waiting.len() >= MAX_WAITING {
                return Err(not_confirmed(
                    "Other changes wait in the approval window. Decide those first.",
                ));
            }
            waiting.insert(id.clone(), (Confirmation { id: id.clone(), changes }, tell));
        }
        self.publish();
        Ok(PendingChange { of: self, id })
    }

    /// Passes the answer to the waiting request.
    pub(crate) fn decide(&self, id: &str, accept: bool) -> Result<(), AgentError> {
        let found = self.lock().remove(id);
        self.publish();
        let told = found.is_some_and(|(_, tell)| tell.send(accept).is_ok());
        if told {
            Ok(())
        } else {
            Err(AgentError::invalid("This change is no longer pending.").reason(Reason::NotFound))
        }
    }
}

/// A waiting change. Dropping it withdraws the change, for example when its caller has
/// disconnected.
struct PendingChange<'a> {
    of: &'a Confirmations,
    id: String,
}

impl Drop for PendingChange<'_> {
    fn drop(&mut self) {
        let left = self.of.lock().remove(&self.id);
        if left.is_some() {
            self.of.publish();
        }
    }
}

fn not_confirmed(message: &str) -> AgentError {
    AgentError::new(ErrorCode::ApprovalRequired, message).reason("not_confirmed")
}
