//! The log for a person: verifies and exports it, stops everything after an alarm, and begins a new
//! log that a person accepts.

use contract::{AgentError, AuditExportParams, AuditExportResponse, RecordType, VerifyReport};
use engine::ports::{Profile as _, RecordDraft};

use crate::{host::Host, log::export_scope};

impl Host {
    /// Verifies the whole log. A fault stops all turns until a person has acknowledged it.
    pub(crate) async fn verify(&self) -> Result<VerifyReport, AgentError> {
        let report = self.log.verify().await?;
        self.stop_if_alarmed();
        Ok(report)
    }

    /// Verifies the whole log, and tells the windows how far it is.
    pub(crate) async fn verify_with_progress(&self) -> Result<VerifyReport, AgentError> {
        let report = self.log.verify_with_progress(self.pushes.hub.as_ref()).await?;
        self.stop_if_alarmed();
        Ok(report)
    }

    /// Stops the log and the running turns, once for each alarm.
    pub(crate) fn stop_if_alarmed(&self) {
        if self.log.stop_for_new_alarm() {
            self.engine.turns.cancel_all();
            // The push makes the windows read the whole state again.
            self.push_settings();
        }
    }

    /// Moves a log that fails verification aside and begins a new one. `by` names the window or the
    /// terminal. Returns the new path of the old file.
    pub(crate) async fn accept_new_log(&self, by: &str) -> Result<String, AgentError> {
        let Some(alarm) = self.log.ledger.alarm() else {
            return Err(AgentError::invalid("The audit log verifies: there is nothing to accept.")
                .reason("no_alarm"));
        };
        // The alarm is handled first, so that it cannot stop the new log.
        self.stop_if_alarmed();
        let aside = self.log.begin_new_log(&alarm, by).await?;
        self.do_first_work().await?;
        self.push_settings();
        Ok(aside)
    }

    /// Exports the log or one session, and records it.
    pub(crate) async fn export_log(
        &self,
        params: AuditExportParams,
    ) -> Result<AuditExportResponse, AgentError> {
        let scope = export_scope(params.session.clone(), params.record)?;
        let language = messages::Language::of_tag(&self.profile.locale());
        let attestations = self.profile.paths().attestations();
        let written = self.log.export(&params.folder, scope, language, attestations).await?;
        let mut draft = RecordDraft::new(RecordType::LogExported)
            .field("records", written.records)
            .commit("folder", written.folder.clone());
        draft.session = params.session;
        // During an alarm the log can be exported and accepts no record.
        if self.alarm().is_none() {
            self.record(draft).await?;
        }
        Ok(written)
    }

    /// Records what a command did, with who asked for it.
    pub(crate) async fn record(&self, draft: RecordDraft) -> Result<(), AgentError> {
        self.log.record(draft).await
    }
}
