//! Keeps over restarts which models refused tools and when, so that a new process does not ask them with
//! tools first. The model's provider decides how long that counts.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use parking_lot::Mutex;

use crate::{Engine, ports::Model, ports::StoreError};

/// The name of the stored value.
const NOTE: &str = "models_without_tools";

/// The times of the refusals, by the labels of the models.
#[derive(Default)]
pub(crate) struct Refusals(Mutex<BTreeMap<String, DateTime<Utc>>>);

impl Engine {
    /// Reads what earlier processes learned.
    pub(crate) async fn read_refusals(&self) -> Result<(), StoreError> {
        let stored = self.world.store.note(NOTE).await?.unwrap_or_default();
        *self.without_tools.0.lock() = serde_json::from_str(&stored).unwrap_or_default();
        Ok(())
    }

    /// Tells a model what its server refused before.
    pub(crate) fn remind_of_refusal(&self, model: &dyn Model) {
        if let Some(at) = self.without_tools.0.lock().get(&model.label()) {
            model.note_refused_tools(*at);
        }
    }

    /// Stores that the server of a model refused tools at this time. The time is the provider's own, so
    /// that the refusal ends although it is read often.
    pub(crate) async fn keep_refusal(&self, label: &str, at: DateTime<Utc>) {
        let stored = {
            let mut known = self.without_tools.0.lock();
            if known.insert(label.to_owned(), at) == Some(at) {
                return;
            }
            serde_json::to_string(&*known).unwrap_or_default()
        };
        self.store_refusals(&stored).await;
    }

    /// Forgets all refusals. A person tests the connection, perhaps after a change of the server.
    pub async fn forget_refusals(&self) {
        self.without_tools.0.lock().clear();
        self.store_refusals("{}").await;
    }

    async fn store_refusals(&self, stored: &str) {
        if let Err(error) = self.world.store.note_put(NOTE, stored).await {
            tracing::warn!(%error, "it could not be stored that a model takes no tools");
        }
    }
}
