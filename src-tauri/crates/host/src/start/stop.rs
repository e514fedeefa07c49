//! Closes a profile, and deletes the data that a temporary profile stored outside its folder.

use std::{sync::Arc, time::Duration};

use contract::RecordType;
use engine::ports::{AuditLog as _, Durability, RecordDraft};

use crate::{
    host::Host,
    log::{copy_if_due, delete_signing_key},
    packs::database_checks,
};

/// How long a shutdown waits for cancelled turns.
const TURNS_END_WITHIN: Duration = Duration::from_secs(4);

impl Host {
    /// Shuts down in this order: turns, deletions that could be undone, servers, the log with its last checkpoint, the store.
    pub async fn stop(&self) {
        self.engine.turns.cancel_all();
        if tokio::time::timeout(TURNS_END_WITHIN, self.engine.turns.wait_until_idle())
            .await
            .is_err()
        {
            tracing::warn!(running = self.engine.turns.running(), "turns did not end in time");
        }
        self.engine.sessions.finish_all_deletions().await;
        self.sources.shut_down().await;
        self.servers.connections.shut_down().await;
        if let Err(error) = self.log.expire_values().await {
            tracing::warn!(message = error.message, "old values could not be erased");
        }
        self.record_stop().await;
        if let Err(error) = self.log.close().await {
            tracing::warn!(%error, "the last checkpoint could not be written");
        }
        let (store, log) = (Arc::clone(&self.database.store), Arc::clone(&self.log.records));
        let (paths, now) = (self.paths().clone(), self.now());
        // A log that does not verify must not replace the copy of a valid log.
        let verifies = self.alarm().is_none();
        let closing = move || {
            store.close();
            if verifies {
                copy_if_due(&log, &paths, now);
                database_checks::copy(&paths, now);
            }
        };
        let _ = tokio::task::spawn_blocking(closing).await;
        self.database.delete_memory();
    }

    /// Records the end of this process if it recorded anything since its start. A command that only
    /// reads leaves only the record of its start.
    async fn record_stop(&self) {
        // Queued records count, too. A failure is reported when the log is closed.
        let _ = self.log.flush().await;
        if self.log.total() <= self.process.started_with() || self.alarm().is_some() {
            return;
        }
        let draft = RecordDraft::new(RecordType::AppStopped);
        if let Err(error) = self.log.append(draft, Durability::Grouped).await {
            tracing::warn!(%error, "the end could not be recorded");
        }
    }

    /// Deletes the data that a temporary profile has stored outside its folder. Must be called
    /// after `stop`.
    pub(crate) async fn delete_outside_data(&self) {
        delete_signing_key(&self.keys.keyring).await;
        self.log.ledger.delete_entry();
        let id = files::read_text(&self.paths().installation(), files::NAME).unwrap_or_default();
        let id = id.trim();
        for entry in std::fs::read_dir(&self.paths().state).into_iter().flatten().flatten() {
            if !id.is_empty() && entry.file_name().to_string_lossy().contains(id) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}
