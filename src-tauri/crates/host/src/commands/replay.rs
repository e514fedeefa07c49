//! Replays a recorded run: reads its recording and its records, gives the engine an empty database
//! in memory, and compares the records. Sends no requests, and changes neither the profile nor the
//! log.

use std::{env, ops::ControlFlow, sync::Arc};

use audit::Selection;
use contract::{
    AgentError, AuditRecordView, CallerKind, Reason, RecordType, ReplayDifference, ReplayParams,
    ReplayResponse, SessionId, TurnId, text,
};
use engine::ports::{AuditLog as _, Profile as _, Recordings as _, Versions as _};
use serde_json::Value;
use store::SqliteStore;

use crate::{
    host::Host,
    log::audit_error,
    profile::{IN_MEMORY, REPLAY_DATABASE, list_memory_places},
};

/// The maximum number of earlier items of the session that a replay reads.
const EARLIER: u32 = 5_000;

impl Host {
    /// Deletes the oldest recordings beyond the number that the settings keep.
    pub(crate) async fn drop_old_recordings(&self) {
        let most = self.profile.settings().limits.recorded_turns;
        if let Err(error) = self.database.store.recordings_prune(most).await {
            tracing::warn!(%error, "old recordings could not be deleted");
        }
    }

    /// Runs a recorded turn again and compares its records with those of the log.
    pub(crate) async fn replay_run(
        &self,
        params: &ReplayParams,
    ) -> Result<ReplayResponse, AgentError> {
        let run = &params.run;
        let Some(recording) = self.engine.recordings.read(run).await? else {
            return Err(self.no_recording_error(run).await);
        };
        let session = recording.message.session.clone().unwrap_or_else(|| SessionId::new(""));
        let started_at = recording.started_at;
        let earlier = self.database.store.items_seen_by(&session, run, EARLIER).await?;
        let folder = make_folder(&self.log.ledger.read_installation().unwrap_or_default())?;
        let database = folder.path().join(REPLAY_DATABASE);
        let clock = Arc::clone(&self.process.options.clock);
        let opened = tokio::task::spawn_blocking(move || SqliteStore::open(&database, clock))
            .await
            .map_err(|_| folder_error("the work was interrupted"))?
            .map_err(|error| folder_error(&error.to_string()))?;
        let store = Arc::new(opened.store);
        let replayed = self.engine.replays.run(recording, earlier, Arc::clone(&store) as _).await;
        // The database must be closed before its folder is deleted.
        let closed = tokio::task::spawn_blocking(move || store.close()).await;
        drop(folder);
        if closed.is_err() {
            tracing::warn!("the database of a replay was not closed");
        }
        let recorded = self.records_of_run(&session, run).await?;
        let compared = engine::compare_runs(recorded, replayed?);
        Ok(ReplayResponse {
            run: run.clone(),
            session,
            started_at,
            records: compared.records as u64,
            erased: compared.erased as u64,
            difference: compared.difference.map(|found| ReplayDifference {
                position: found.position as u64,
                seq: found.seq,
                path: found.path,
                recorded: found.recorded,
                replayed: found.replayed,
            }),
        })
    }

    /// Returns the reason why a run has no recording: only messages of the user are recorded.
    async fn no_recording_error(&self, run: &TurnId) -> AgentError {
        let started = Selection { types: vec![RecordType::RunStarted], ..Selection::default() };
        let of = run.clone();
        let origin = self
            .log
            .visit(started, None, move |origin: &mut Option<Value>, record| {
                if record.turn.as_deref() != Some(of.as_str()) {
                    return ControlFlow::Continue(());
                }
                *origin = record.fields.get("origin").cloned();
                ControlFlow::Break(())
            })
            .await
            .ok()
            .flatten();
        let caller = origin.as_ref().and_then(Value::as_str).and_then(CallerKind::from_name);
        if caller.is_some_and(|caller| !caller.is_person()) {
            return AgentError::invalid(text!("The run {run} answered a request of `csign run` or over HTTP. Such runs are not recorded.", run))
                .reason("not_recorded")
                .hint("`csign audit list` shows what it did. Messages of the window and of `csign ask` are recorded.");
        }
        AgentError::invalid(text!("There is no recording of the run {run}.", run))
            .reason(Reason::NotFound)
            .hint("The newest messages are recorded. `csign audit list` names the questions; the setting `limits.recorded_turns` says how many are kept.")
    }

    /// Returns the records of a turn, oldest first.
    async fn records_of_run(
        &self,
        session: &SessionId,
        run: &TurnId,
    ) -> Result<Vec<AuditRecordView>, AgentError> {
        self.log.flush().await.map_err(|error| audit_error(&error))?;
        let selection = Selection { session: Some(session.clone()), ..Selection::default() };
        let run = run.clone();
        self.log
            .visit(selection, Vec::new(), move |records: &mut Vec<_>, record| {
                if record.turn.as_deref() == Some(run.as_str()) {
                    records.push(record);
                }
                ControlFlow::Continue(())
            })
            .await
    }
}

fn folder_prefix(installation: &str) -> String {
    format!("{IN_MEMORY}replay-{installation}-")
}

/// Makes a folder for the database that only the user can read.
fn make_folder(installation: &str) -> Result<tempfile::TempDir, AgentError> {
    let place = list_memory_places().into_iter().next().unwrap_or_else(env::temp_dir);
    tempfile::Builder::new()
        .prefix(&folder_prefix(installation))
        .tempdir_in(place)
        .map_err(|error| folder_error(&error.to_string()))
}

/// Deletes the folders that killed replays of this profile left behind. Called at the start, by the
/// only process that has the profile open.
pub(crate) fn delete_leftovers(installation: &str) {
    let prefix = folder_prefix(installation);
    for place in list_memory_places() {
        for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(&prefix)
                && let Err(error) = std::fs::remove_dir_all(entry.path())
            {
                tracing::warn!(%error, "the folder of a replay could not be deleted");
            }
        }
    }
}

fn folder_error(why: &str) -> AgentError {
    AgentError::internal(
        "replay_unavailable",
        text!("The database of the replay cannot be made: {why}.", why),
    )
}
