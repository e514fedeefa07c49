//! Verifies and exports a profile's log without the profile's lock, even if another process has the
//! profile open. Does not change the log. A problem raises the profile's alarm.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use audit::{Anchor, FileAnchor, Outside, Scope, Wanted};
use contract::{
    AgentError, AuditExportResponse, KeyringState, Reason, SessionId, VerifyReport, text,
};
use engine::ports::Profile as _;
use secrets::Keyring;

use super::{
    ledger::Ledger,
    signing::{self, KeyringAnchor},
};
use crate::profile::{Environment, LiveProfile, Options, Paths};

/// How many times a log with a problem is verified again because its marks changed in the meantime.
const TRIES: usize = 20;

/// Verifies the whole log against the data stored outside of it: its marks, its key, its
/// installation, and an unacknowledged alarm. A problem raises the alarm, after which no call runs
/// until a person accepts a new log.
pub fn verify_log(paths: &Paths) -> Result<VerifyReport, AgentError> {
    let (mut ledger, mut outside) = ledger_and_marks(paths);
    ledger.check_readable()?;
    let expects = outside.marked
        || [&outside.keyring, &outside.state]
            .iter()
            .any(|mark| mark.as_ref().is_some_and(|mark| mark.size > 0));
    if !expects && ledger.list_problems().is_empty() {
        require_log_file(paths)?;
    }
    let mut judged = audit::judge(&paths.audit(), &outside);
    for _ in 0..TRIES {
        if judged.report.ok {
            break;
        }
        // If another process opened the log in the meantime, it has stored newer marks.
        let again = ledger_and_marks(paths);
        if (&again.1.keyring, &again.1.state) == (&outside.keyring, &outside.state) {
            break;
        }
        (ledger, outside) = again;
        judged = audit::judge(&paths.audit(), &outside);
    }
    let mut found = judged.found();
    let mut report = judged.report.clone();
    ledger.add_problems_to(&mut report);
    found.problems.extend(ledger.list_problems());
    if (judged.at_fault || !ledger.list_problems().is_empty()) && !is_beginning(paths, &ledger)? {
        let Options { ids, clock, .. } = Options::default();
        ledger.raise_alarm(ids.next("alarm"), clock.now(), &found);
    }
    Ok(report)
}

/// Whether another process may be creating the log at this moment, so that the log is incomplete.
fn is_beginning(paths: &Paths, ledger: &Ledger) -> Result<bool, AgentError> {
    Ok(!ledger.is_marked() && paths.lock_profile()?.is_none())
}

fn ledger_and_marks(paths: &Paths) -> (Ledger, Outside) {
    let ledger = Ledger::open(paths);
    let outside = ledger
        .read_installation()
        .map(|id| collect_outside(paths, id, ledger.is_marked()))
        .unwrap_or_default();
    (ledger, outside)
}

/// Verifies one log file against its stored mark: the profile's own file, or a file that was set
/// aside.
pub fn verify_file(paths: &Paths, file: &Path) -> Result<VerifyReport, AgentError> {
    let own = |file: &Path| Some(file.canonicalize().ok()? == paths.audit().canonicalize().ok()?);
    if own(file) == Some(true) {
        return verify_log(paths);
    }
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let ledger = Ledger::open(paths);
    let mark = ledger
        .read_installation()
        .and_then(|id| FileAnchor::of_set_aside(&paths.state, &id, &stem).load().ok().flatten());
    Ok(audit::verify_against(file, &Outside { state: mark, ..Outside::default() }))
}

/// Verifies an exported folder.
pub(crate) async fn verify_folder(folder: PathBuf) -> Result<VerifyReport, AgentError> {
    if !audit::is_export(&folder) {
        let message = text!("{folder} is not a folder.", folder = folder.display());
        return Err(AgentError::invalid(message)
            .reason(Reason::NotFound)
            .hint("Choose a folder that an export wrote."));
    }
    tokio::task::spawn_blocking(move || audit::verify(&folder, None))
        .await
        .map_err(|_| AgentError::internal("audit_unreadable", "The verification was interrupted."))
}

/// Exports the log, or a part of it with proofs, into a new folder. The keyring's key signs the
/// statements. Also returns an unacknowledged alarm.
pub fn export_log(
    paths: &Paths,
    folder: &Path,
    scope: Scope,
) -> Result<(AuditExportResponse, Option<AgentError>), AgentError> {
    let log = require_log_file(paths)?;
    let ledger = Ledger::open(paths);
    let signer = ledger.read_installation().and_then(|installation| {
        let keyring = Keyring::new(&installation);
        (keyring.state_blocking() == KeyringState::Ready)
            .then(|| signing::stored_signer(&keyring))
            .flatten()
    });
    let profile = LiveProfile::read_profile(paths.clone(), Environment::read_environment(false));
    let language = messages::Language::of_tag(&profile.locale());
    let wanted = Wanted::new(scope)
        .signed_by(signer)
        .in_language(language)
        .with_attestations(paths.attestations());
    let written = audit::export_file(&log, folder, &wanted)?;
    Ok((written, ledger.alarm().map(|alarm| alarm.error())))
}

/// Returns the part of the log that is selected by a session or by a record. Fails if both are
/// given.
pub fn export_scope(session: Option<SessionId>, record: Option<u64>) -> Result<Scope, AgentError> {
    match (session, record) {
        (None, None) => Ok(Scope::Whole),
        (Some(session), None) => Ok(Scope::Session(session)),
        (None, Some(record)) => Ok(Scope::Decision(record)),
        (Some(_), Some(_)) => {
            Err(AgentError::invalid("An export has one session or one decision, not both.")
                .hint("Leave one of the two out."))
        }
    }
}

/// Returns the profile's log file. Fails if the log has not begun.
pub fn require_log_file(paths: &Paths) -> Result<PathBuf, AgentError> {
    let log = paths.audit();
    if log.is_file() && audit::has_begun(&log) {
        return Ok(log);
    }
    Err(AgentError::invalid(text!("There is no log in {folder}.", folder = paths.data.display()))
        .reason(Reason::NotFound)
        .hint("Name the right folder with --data-dir; a log begins with the first use."))
}

fn collect_outside(paths: &Paths, installation: String, marked: bool) -> Outside {
    let keyring = Arc::new(Keyring::new(&installation));
    let mut anchors: Vec<Arc<dyn Anchor>> =
        vec![Arc::new(FileAnchor::new(&paths.state, &installation))];
    let mut key = None;
    if let Some(anchor) = KeyringAnchor::open_blocking(Arc::clone(&keyring)) {
        anchors.push(anchor);
        key = signing::stored_public_key(&keyring);
    }
    let outside = Outside::read_all_places(&anchors);
    outside.warnings.iter().for_each(|problem| {
        tracing::warn!(problem, "a copy of the newest checkpoint cannot be read")
    });
    Outside { key, installation: Some(installation), marked, ..outside }
}
