//! Opens a profile's log and checks it against its installation and its marks. A log that does not
//! verify is never replaced silently: an alarm is stored, and no call runs until a person accepts a
//! new log.

use std::{fs::File, sync::Arc};

use audit::{Anchor as _, FileAnchor, Log, OpenOptions, OpenState, OsEntropy, new_installation_id};
use contract::{AgentError, Reason};
use secrets::Keyring;

use super::{
    audit_error,
    ledger::Ledger,
    signing::{self, KeyringAnchor},
};
use crate::profile::{
    Options, Paths, WhenAlarmed, create_private_folder, unusable_file, write_atomically,
};

/// Returns the profile's installation id: the id in the ledger, or the id in the folder, or else a
/// new id.
pub(crate) fn resolve_installation(paths: &Paths, ledger: &Ledger) -> Result<String, AgentError> {
    let known = ledger.read_installation();
    let id = match known {
        Some(id) => id,
        None => new_installation_id(&OsEntropy).map_err(|_| {
            AgentError::internal("no_randomness", "The system provides no random numbers.")
        })?,
    };
    // An id that was removed or changed is not repaired before a person has seen the alarm.
    if ledger.list_problems().is_empty() {
        name_installation(paths, &id)?;
        ledger.set_installation(&id);
    }
    Ok(id)
}

pub(super) fn name_installation(paths: &Paths, id: &str) -> Result<(), AgentError> {
    let path = paths.installation();
    if files::read_text(&path, files::NAME).is_ok_and(|text| text.trim() == id) {
        return Ok(());
    }
    write_atomically(&path, id).map_err(|e| unusable_file(&paths.data, &path, &e))
}

/// Opens the log. `options` decides what happens if there is an alarm.
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

/// Opens the log. A data folder that does not match its ledger entry counts as a tampered log.
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
        Ok(Err(error)) => Err(audit_error(&error)),
        Err(_) => Err(AgentError::internal(
            Reason::AuditUnavailable,
            "The audit log could not be opened.",
        )),
    }
}
