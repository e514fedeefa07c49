//! The log for a person: verifies and exports it, stops all work after an alarm, and begins a new
//! log that a person accepts.

use std::path::Path;

use contract::{
    AgentError, AuditExportParams, AuditExportResponse, AuditListParams, AuditRecordView,
    RecordType, VerifyReport, text,
};
use engine::ports::{Profile as _, RecordDraft};

use crate::{data::WrittenFigures, host::Host, log::export_scope};

/// The number of records that are read at once.
const PAGE: u32 = 500;

impl Host {
    /// Verifies the whole log. A problem stops all turns until a person has acknowledged it.
    pub(crate) async fn verify(&self) -> Result<VerifyReport, AgentError> {
        let report = self.log.verify().await?;
        self.stop_if_alarmed();
        Ok(report)
    }

    /// Verifies the whole log, and reports the progress to the windows.
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

    /// Moves a log that fails verification aside and begins a new log. `by` names the window or the
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

    /// Exports the log or one session, and records the export.
    pub(crate) async fn export_log(
        &self,
        params: AuditExportParams,
    ) -> Result<AuditExportResponse, AgentError> {
        let scope = export_scope(params.session.clone(), params.record)?;
        let language = messages::Language::of_tag(&self.profile.locale());
        let attestations = self.profile.paths().attestations();
        let mut written = self.log.export(&params.folder, scope, language, attestations).await?;
        let figures = self.write_figures(&params, Path::new(&written.folder)).await?;
        written.figures = figures.figures;
        written.left_out = figures.left_out;
        written.files.extend(figures.files);
        let mut draft = RecordDraft::new(RecordType::LogExported)
            .field("records", written.records)
            .field("figures", written.figures)
            .commit("folder", written.folder.clone());
        draft.session = params.session;
        // During an alarm, the log can be exported but accepts no records.
        if self.alarm().is_none() {
            self.record(draft).await?;
        }
        Ok(written)
    }

    /// Returns the records of an export that may have figures, oldest first. An export of the whole
    /// log has no rows of sources.
    async fn figure_records(
        &self,
        params: &AuditExportParams,
    ) -> Result<Vec<AuditRecordView>, AgentError> {
        if let Some(seq) = params.record {
            return Ok(vec![self.log.show(seq).await?]);
        }
        let Some(session) = &params.session else { return Ok(Vec::new()) };
        let mut records = Vec::new();
        let mut before = None;
        loop {
            let list = AuditListParams {
                record_type: Some(RecordType::ToolOutcome),
                session: Some(session.clone()),
                query: String::new(),
                before,
                limit: PAGE,
            };
            let page = self.log.list(list).await?;
            before = page.records.last().map(|record| record.seq);
            records.extend(page.records);
            if !page.has_more || before.is_none() {
                records.reverse();
                return Ok(records);
            }
        }
    }

    /// Writes the figures of an export with the rows that they used. During an alarm, the records do
    /// not prove figures, and no process runs.
    async fn write_figures(
        &self,
        params: &AuditExportParams,
        export: &Path,
    ) -> Result<WrittenFigures, AgentError> {
        if params.session.is_none() && params.record.is_none() {
            return Ok(WrittenFigures::default());
        }
        if let Some(alarm) = self.alarm() {
            let why = text!("The export has no rows of figures: {why}", why = alarm.text());
            return Ok(WrittenFigures { left_out: vec![why], ..WrittenFigures::default() });
        }
        self.sources.write_figures(export, &self.figure_records(params).await?).await
    }

    /// Records the effect of a command, and who requested the command.
    pub(crate) async fn record(&self, draft: RecordDraft) -> Result<(), AgentError> {
        self.log.record(draft).await
    }
}
