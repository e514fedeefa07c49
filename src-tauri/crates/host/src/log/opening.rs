//! Opens a profile's log and checks it against its installation and its marks. A log that does not
//! verify is never replaced silently: an alarm is stored, and no call runs until a person accepts a
//! new log.

use std::{fs::File, path::Path, sync::Arc, time::Duration};

use audit::{
    Anchor as _, FileAnchor, Judged, Log, OpenOptions, OpenState, OsEntropy, VerifyWatch,
    new_installation_id,
};
use contract::{AgentError, Push, Reason, RecordType, VerifyReport};
use engine::ports::{AuditLog as _, Durability, Events as _, RecordDraft};
use secrets::Keyring;
use serde_json::json;

use super::{
    ledger::{Alarm, Ledger},
    signing::{self, KeyringAnchor},
};
use crate::{
    Host,
    commands::recovery,
    profile::{
        Options, Paths, WhenAlarmed, create_private_folder, unusable_file, write_atomically,
    },
};

/// Returns the profile's installation id: the recorded one, the one in the folder, or a new one.
pub(crate) fn resolve_installation(paths: &Paths, ledger: &Ledger) -> Result<String, AgentError> {
    let known = ledger.read_installation();
    let id = match known {
        Some(id) => id,
        None => new_installation_id(&OsEntropy).map_err(|_| {
            AgentError::internal("no_randomness", "The system gives no randomness.")
        })?,
    };
    // An id that was removed or changed is not repaired before a person has seen the alarm.
    if ledger.list_problems().is_empty() {
        name_installation(paths, &id)?;
        ledger.set_installation(&id);
    }
    Ok(id)
}

fn name_installation(paths: &Paths, id: &str) -> Result<(), AgentError> {
    let path = paths.installation();
    if files::read_text(&path, files::NAME).is_ok_and(|text| text.trim() == id) {
        return Ok(());
    }
    write_atomically(&path, id).map_err(|e| unusable_file(&paths.data, &path, &e))
}

/// Opens the log. `options` decides what happens in case of an alarm.
pub(crate) async fn open_log(
    paths: &Paths,
    lock: &Arc<File>,
    installation: &str,
    keyring: Arc<Keyring>,
    ledger: &Arc<Ledger>,
    options: &Options,
) -> Result<Arc<Log>, AgentError> {
    let signer = signing::open_signer(&keyring, &OsEntropy).await?;
    let mut opening =
        OpenOptions::new(paths.audit(), installation, signer, Arc::clone(&options.clock));
    opening.lock = Some(Arc::clone(lock));
    opening.marked = ledger.is_marked();
    let state = FileAnchor::new(&paths.state, installation);
    if create_private_folder(&paths.state).is_ok() {
        ledger.record_installation(installation);
        opening = opening.anchor(Arc::new(state.clone()));
    }
    if let Some(anchor) = KeyringAnchor::open(keyring).await {
        opening = opening.anchor(anchor);
    }
    let found = match ledger.alarm() {
        Some(alarm) => alarm.to_tampered(),
        None => match open_checked_log(ledger, opening.clone()).await? {
            OpenState::Ready(log) => {
                if state.load().is_ok_and(|mark| mark.is_some_and(|mark| mark.signature.is_some()))
                {
                    ledger.record_stored_mark();
                }
                return Ok(Arc::new(log));
            }
            OpenState::Tampered(found) => found,
        },
    };
    let alarm = ledger.raise_alarm(options.ids.next("alarm"), options.clock.now(), &found);
    // The alarm counts as handled, because this process has no running turns to stop.
    ledger.take_new_alarm();
    match options.when_alarmed {
        WhenAlarmed::Refuse => Err(alarm.error()),
        WhenAlarmed::Stop => Ok(Arc::new(Log::stopped(opening, &alarm.sentence()))),
    }
}

/// Opens the log. A data folder that does not match its record counts as a tampered log.
async fn open_checked_log(ledger: &Ledger, opening: OpenOptions) -> Result<OpenState, AgentError> {
    let problems = ledger.list_problems();
    if !problems.is_empty() {
        let judged = tokio::task::spawn_blocking(move || Log::judge_file(&opening)).await;
        let mut found = judged
            .map_err(|_| {
                AgentError::internal(Reason::AuditUnavailable, "The audit log could not be opened.")
            })?
            .found();
        found.problems.splice(..0, problems);
        return Ok(OpenState::Tampered(found));
    }
    match tokio::task::spawn_blocking(move || Log::open(opening)).await {
        Ok(Ok(state)) => Ok(state),
        Ok(Err(error)) => Err(Host::audit_error(&error)),
        Err(_) => Err(AgentError::internal(
            Reason::AuditUnavailable,
            "The audit log could not be opened.",
        )),
    }
}

impl Host {
    /// Returns the error that explains why no call runs, if there is an alarm.
    pub fn alarm(&self) -> Option<AgentError> {
        self.ledger.alarm().map(|alarm| alarm.error())
    }

    pub(crate) fn check_alarm(&self) -> Result<(), AgentError> {
        self.alarm().map_or(Ok(()), Err)
    }

    /// Verifies the whole log. A fault stops all turns until a person has acknowledged it.
    pub(crate) async fn verify(&self) -> Result<VerifyReport, AgentError> {
        let judged = self.log.judge().await?;
        Ok(self.heed(&judged))
    }

    /// Verifies the whole log, and tells the windows how far it is. Another verification that a
    /// person asked for is stopped.
    pub(crate) async fn verify_with_progress(&self) -> Result<VerifyReport, AgentError> {
        let watch = Arc::new(VerifyWatch::default());
        if let Some(before) = self.verification.lock().replace(Arc::clone(&watch)) {
            before.stop();
        }
        let mut judging = Box::pin(self.log.judge_watched(&watch));
        let judged = loop {
            match tokio::time::timeout(PROGRESS_EVERY, &mut judging).await {
                Ok(judged) => break judged?,
                Err(_) => {
                    let (checked, total) = watch.progress();
                    self.hub.push(Push::AuditVerification { checked, total });
                }
            }
        };
        let Some(judged) = judged else {
            return Err(AgentError::internal("cancelled", "The verification was stopped."));
        };
        Ok(self.heed(&judged))
    }

    /// Stops the verification that a person asked for.
    pub(crate) fn stop_verification(&self) {
        if let Some(watch) = self.verification.lock().take() {
            watch.stop();
        }
    }

    /// Completes the result of a verification. A fault raises the alarm.
    fn heed(&self, judged: &Judged) -> VerifyReport {
        let mut report = judged.report.clone();
        self.ledger.add_problems_to(&mut report);
        let folder = self.ledger.list_problems();
        if judged.at_fault || !folder.is_empty() {
            let mut found = judged.found();
            found.problems.extend(folder);
            self.ledger.raise_alarm(
                self.options.ids.next("alarm"),
                self.options.clock.now(),
                &found,
            );
            self.stop_if_alarmed();
        }
        report
    }

    /// Stops the log and the running turns, once for each alarm.
    fn stop_if_alarmed(&self) {
        let Some(alarm) = self.ledger.take_new_alarm() else { return };
        tracing::error!("{}", alarm.sentence());
        self.log.stop(&alarm.sentence());
        self.local_engine.cancel_all();
        // The push makes the windows read the whole state again.
        self.push_settings();
    }

    /// Moves a log that fails verification aside and begins a new one. `by` names the window or the
    /// terminal. Returns the new path of the old file.
    pub(crate) async fn accept_new_log(&self, by: &str) -> Result<String, AgentError> {
        let Some(alarm) = self.ledger.alarm() else {
            return Err(AgentError::invalid("The audit log verifies: there is nothing to accept.")
                .reason("no_alarm"));
        };
        // The alarm is handled first, so that it cannot stop the new log.
        self.stop_if_alarmed();
        let aside = self.begin_new_log(&alarm, by).await?;
        recovery::record_packs(&self.log, &self.tools).await;
        let interrupted = recovery::recover_turns(&self.local_engine).await?;
        self.notices.lock().extend(interrupted);
        recovery::prepare_servers(&self.tools, &self.options).await;
        self.push_settings();
        Ok(aside)
    }

    /// Keeps the confirmations of the old log beside it. They are not about the new log.
    fn set_aside_attestations(&self, old_log: &str) {
        let from = self.paths.attestations();
        let stem = Path::new(old_log).file_stem().unwrap_or_default().to_string_lossy();
        let to = from.with_file_name(format!("{stem}.attestations"));
        if from.exists()
            && let Err(error) = std::fs::rename(&from, &to)
        {
            tracing::warn!(%error, "the confirmations of the old log could not be set aside");
        }
    }

    async fn begin_new_log(&self, alarm: &Alarm, by: &str) -> Result<String, AgentError> {
        let (log, found) = (Arc::clone(&self.log), alarm.to_tampered());
        let begun = tokio::task::spawn_blocking(move || log.set_aside_and_restart(&found)).await;
        let aside = begun
            .map_err(|_| {
                AgentError::internal(Reason::AuditUnavailable, "A new log could not be begun.")
            })?
            .map_err(|e| Self::audit_error(&e))?;
        let name =
            aside.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let Some(id) = self.ledger.read_installation() else {
            return Err(AgentError::internal(
                Reason::AuditUnavailable,
                "The log has no installation.",
            ));
        };
        // The old log's mark is stored, so that the old file can still be verified against it.
        if let (Some(mark), Some(stem)) = (&alarm.mark, Path::new(&name).file_stem())
            && let Err(error) =
                FileAnchor::of_set_aside(&self.paths.state, &id, &stem.to_string_lossy())
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
        self.log.append(draft, Durability::Signed).await.map_err(|e| Self::audit_error(&e))?;
        name_installation(&self.paths, &id)?;
        self.ledger.acknowledge_alarm(&id);
        Ok(aside.display().to_string())
    }
}

/// The time between two reports about the progress of a verification.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);

/// Watches for alarms of other processes, and verifies a large log some time after the start.
pub(crate) fn watch_alarms(host: &Arc<Host>) {
    let host = Arc::downgrade(host);
    tokio::spawn(async move {
        for second in 1_u64.. {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let Some(host) = host.upgrade() else { return };
            if second == CHECKED_AFTER
                && !host.log.checked_whole()
                && host.alarm().is_none()
                && let Err(error) = host.verify().await
            {
                tracing::warn!(message = error.message, "the log could not be checked as a whole");
            }
            host.stop_if_alarmed();
        }
    });
}

/// The time after the start at which a large log is verified, in seconds. A process that answers
/// one question has ended by then.
const CHECKED_AFTER: u64 = 15;
