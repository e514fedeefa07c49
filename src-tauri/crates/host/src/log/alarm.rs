//! Verifies the open log and raises its alarm. After an alarm, the log is stopped until a person
//! accepts a new log. Must not know what else an alarm stops.

use std::{path::Path, sync::Arc, time::Duration};

use audit::{Anchor as _, FileAnchor, Judged, VerifyWatch};
use contract::{AgentError, Push, Reason, RecordType, VerifyReport};
use engine::ports::{AuditLog as _, Durability, Events, RecordDraft};
use serde_json::json;

use super::{HostLog, audit_error, ledger::Alarm, opening::name_installation};

/// The time between two progress reports of a verification.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);

impl HostLog {
    /// Returns the error that explains why no call runs, if there is an alarm.
    pub(crate) fn alarm(&self) -> Option<AgentError> {
        self.ledger.alarm().map(|alarm| alarm.error())
    }

    /// Fails if there is an alarm.
    pub(crate) fn check_alarm(&self) -> Result<(), AgentError> {
        self.alarm().map_or(Ok(()), Err)
    }

    /// Verifies the whole log. A problem raises the alarm.
    pub(crate) async fn verify(&self) -> Result<VerifyReport, AgentError> {
        let judged = self.records.judge().await?;
        Ok(self.heed(&judged))
    }

    /// Verifies the whole log, and reports the progress to the windows. Stops another verification
    /// that a person requested.
    pub(crate) async fn verify_with_progress(
        &self,
        events: &dyn Events,
    ) -> Result<VerifyReport, AgentError> {
        let watch = Arc::new(VerifyWatch::default());
        if let Some(before) = self.verification.lock().replace(Arc::clone(&watch)) {
            before.stop();
        }
        let mut judging = Box::pin(self.records.judge_watched(&watch));
        let judged = loop {
            match tokio::time::timeout(PROGRESS_EVERY, &mut judging).await {
                Ok(judged) => break judged?,
                Err(_) => {
                    let (checked, total) = watch.progress();
                    events.push(Push::AuditVerification { checked, total });
                }
            }
        };
        let Some(judged) = judged else {
            return Err(AgentError::internal("cancelled", "The verification was stopped."));
        };
        Ok(self.heed(&judged))
    }

    /// Stops the verification that a person requested.
    pub(crate) fn stop_verification(&self) {
        if let Some(watch) = self.verification.lock().take() {
            watch.stop();
        }
    }

    /// Completes the result of a verification. A problem raises the alarm.
    fn heed(&self, judged: &Judged) -> VerifyReport {
        let mut report = judged.report.clone();
        self.ledger.add_problems_to(&mut report);
        let folder = self.ledger.list_problems();
        if judged.at_fault || !folder.is_empty() {
            let mut found = judged.found();
            found.problems.extend(folder);
            self.ledger.raise_alarm(self.ids.next("alarm"), self.now(), &found);
        }
        report
    }

    /// Stops the log if there is an alarm that is new to this process. Returns whether there is
    /// such an alarm.
    pub(crate) fn stop_for_new_alarm(&self) -> bool {
        let Some(alarm) = self.ledger.take_new_alarm() else { return false };
        tracing::error!("{}", alarm.sentence());
        self.records.stop(&alarm.sentence());
        true
    }

    /// Moves the log of an alarm aside and begins a new log. `by` names the window or the terminal.
    /// Returns the new path of the old file.
    pub(crate) async fn begin_new_log(
        &self,
        alarm: &Alarm,
        by: &str,
    ) -> Result<String, AgentError> {
        let (log, found) = (Arc::clone(&self.records), alarm.to_tampered());
        let begun = tokio::task::spawn_blocking(move || log.set_aside_and_restart(&found)).await;
        let aside = begun
            .map_err(|_| {
                AgentError::internal(Reason::AuditUnavailable, "A new log could not be begun.")
            })?
            .map_err(|e| audit_error(&e))?;
        let name =
            aside.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let Some(id) = self.ledger.read_installation() else {
            return Err(AgentError::internal(
                Reason::AuditUnavailable,
                "The log has no installation.",
            ));
        };
        // The old log's mark is stored, so that the old file can still be compared with it.
        if let (Some(mark), Some(stem)) = (&alarm.mark, Path::new(&name).file_stem())
            && let Err(error) =
                FileAnchor::of_set_aside(&self.paths().state, &id, &stem.to_string_lossy())
                    .store(mark)
        {
            tracing::warn!(error, "the mark of the old log could not be kept");
        }
        self.set_aside_attestations(&name);
        let problems: Vec<&str> =
            alarm.shown.problems.iter().map(|problem| problem.message.as_str()).collect();
        let draft = RecordDraft::new(RecordType::AlarmAcknowledged)
            .field("alarm", alarm.shown.id.as_str())
            .field("raised_at", json!(alarm.shown.raised_at))
            .field("accepted_by", by)
            .field("set_aside", name)
            .commit("problems", json!(problems));
        // If the record cannot be written, the alarm stays unacknowledged.
        self.records.append(draft, Durability::Signed).await.map_err(|e| audit_error(&e))?;
        name_installation(self.paths(), &id)?;
        self.ledger.acknowledge_alarm(&id);
        Ok(aside.display().to_string())
    }

    /// Moves the confirmations of the old log beside the old log, because they do not apply to the
    /// new log.
    fn set_aside_attestations(&self, old_log: &str) {
        let from = self.paths().attestations();
        let stem = Path::new(old_log).file_stem().unwrap_or_default().to_string_lossy();
        let to = from.with_file_name(format!("{stem}.attestations"));
        if from.exists()
            && let Err(error) = std::fs::rename(&from, &to)
        {
            tracing::warn!(%error, "the confirmations of the old log could not be set aside");
        }
    }
}
