//! What one turn sees of earlier messages: by the profile's settings, and by those of each specialist that has its own. Read once
//! for each; what was seen decides what is kept afterwards.

use parking_lot::Mutex;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use contract::{Item, ItemBody, ToolSpec};

use super::{Recalled, keeps_nothing};
use crate::{
    ports::Agent,
    turn::{Turn, ending::End},
};

/// What a turn has recalled so far.
#[derive(Default)]
pub(crate) struct Recollections {
    seen: Mutex<Vec<Arc<Recalled>>>,
    /// Somebody who answers keeps nothing: so does the turn.
    passing: AtomicBool,
}

impl Recollections {
    pub(super) fn all(&self) -> Vec<Arc<Recalled>> {
        self.seen.lock().clone()
    }

    pub(crate) fn of(&self, agent: Option<&Agent>) -> Option<Arc<Recalled>> {
        self.all().into_iter().find(|recalled| recalled.agent.as_ref() == agent.map(|agent| &agent.id))
    }

    pub(crate) fn is_passing(&self) -> bool {
        self.passing.load(Ordering::Acquire)
    }
}

impl Turn {
    /// What the one who answers now sees of earlier messages, once it has been read.
    pub(crate) fn recalled(&self) -> Option<Arc<Recalled>> {
        self.recollections.of(self.agent().as_deref()).or_else(|| self.recollections.of(None))
    }

    /// Reads what a specialist (or everybody else) is to see, with everything that follows from seeing it.
    pub(crate) async fn recall(&self, agent: Option<&Agent>) -> Result<Arc<Recalled>, End> {
        let own = agent.filter(|agent| agent.conversation.is_some());
        if let Some(found) = self.recollections.of(own) {
            return Ok(found);
        }
        let failed = |error| End::Failed { partial: String::new(), error };
        let recalled = self.engine.recall(&self.session, &self.id, own, self.settings.limits.window_messages).await.map_err(|e| failed(e.into()))?;
        self.check_recalled_egress(&recalled).map_err(failed)?;
        self.note_earlier_results(&recalled.items);
        if recalled.untrusted() {
            self.strangers.remembered(recalled.summary().unwrap_or_default());
        }
        if keeps_nothing(&recalled.policy) && !self.recollections.passing.swap(true, Ordering::AcqRel) {
            self.engine.mark_passing(&self.session, &self.id).await.map_err(|e| failed(e.into()))?;
        }
        let recalled = Arc::new(recalled);
        self.recollections.seen.lock().push(Arc::clone(&recalled));
        Ok(recalled)
    }

    /// Results of strangers that the model sees again count as untrusted content of this turn, too.
    fn note_earlier_results(&self, history: &[Arc<Item>]) {
        for item in history {
            if let ItemBody::ToolResult { tool, call, data, .. } = &item.body {
                let named: Vec<&ToolSpec> = self.specs.iter().filter(|spec| spec.is_named(tool)).collect();
                if named.is_empty() || named.iter().any(|spec| policy::taints(spec)) {
                    self.strangers.recalled(named.first().copied(), tool, call, data);
                }
            }
        }
    }
}
