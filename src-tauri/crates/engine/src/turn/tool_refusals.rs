//! Stores which models refused tools and when, so that a new process does not send them tools
//! first. The model's provider decides how long a refusal remains relevant.

use std::{collections::BTreeMap, sync::Arc};

use chrono::{DateTime, Utc};
use parking_lot::Mutex;

use crate::ports::{Model, Store, StoreError, World};

/// The name of the stored value.
const NOTE: &str = "models_without_tools";

/// The models that refused tools.
pub(crate) struct ToolRefusals {
    store: Arc<dyn Store>,
    /// The times of the refusals, by the labels of the models.
    known: Mutex<BTreeMap<String, DateTime<Utc>>>,
}

impl ToolRefusals {
    pub(crate) fn new(world: &World) -> Self {
        Self { store: Arc::clone(&world.store), known: Mutex::default() }
    }

    /// Loads the refusals that earlier processes stored.
    pub(crate) async fn read(&self) -> Result<(), StoreError> {
        let stored = self.store.note(NOTE).await?.unwrap_or_default();
        *self.known.lock() = serde_json::from_str(&stored).unwrap_or_default();
        Ok(())
    }

    /// Passes an earlier refusal of its server to a model.
    pub(crate) fn remind(&self, model: &dyn Model) {
        if let Some(at) = self.known.lock().get(&model.label()) {
            model.note_refused_tools(*at);
        }
    }

    /// Stores that the server of a model refused tools at this time. The time comes from the
    /// provider, so that reading the refusal does not extend it.
    pub(crate) async fn keep(&self, label: &str, at: DateTime<Utc>) {
        let stored = {
            let mut known = self.known.lock();
            if known.insert(label.to_owned(), at) == Some(at) {
                return;
            }
            serde_json::to_string(&*known).unwrap_or_default()
        };
        self.store_refusals(&stored).await;
    }

    /// Forgets all refusals.
    pub(crate) async fn forget(&self) {
        self.known.lock().clear();
        self.store_refusals("{}").await;
    }

    async fn store_refusals(&self, stored: &str) {
        if let Err(error) = self.store.note_put(NOTE, stored).await {
            tracing::warn!(%error, "it could not be stored that a model takes no tools");
        }
    }
}
