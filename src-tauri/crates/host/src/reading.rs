//! The log of a profile that another process may hold at the moment: verified and exported without its lock, changing nothing.

use std::{fs, path::Path};

use audit::{Anchor as _, FileAnchor};
use contract::{AgentError, AuditExportResponse, VerifyReport};
use secrets::Keyring;

use crate::{Paths, keys};

/// Checks the whole log against the newest checkpoint that is known outside of it.
pub fn verify_log(paths: &Paths) -> Result<VerifyReport, AgentError> {
    let log = existing(paths)?;
    let mark = fs::read_to_string(paths.installation()).ok().and_then(|text| newest_mark(paths, text.trim()));
    Ok(audit::verify(&log, mark.as_ref()))
}

/// Writes the log as plain files into a new folder.
pub fn export_log(paths: &Paths, folder: &Path) -> Result<AuditExportResponse, AgentError> {
    audit::export_file(&existing(paths)?, folder)
}

fn existing(paths: &Paths) -> Result<std::path::PathBuf, AgentError> {
    let log = paths.audit();
    if log.is_file() {
        return Ok(log);
    }
    Err(AgentError::invalid(format!("There is no log in {}.", paths.data.display()))
        .reason("not_found")
        .hint("Name the right folder with --data-dir; a log begins with the first use."))
}

fn newest_mark(paths: &Paths, installation: &str) -> Option<audit::Mark> {
    let in_file = FileAnchor::new(&paths.state, installation).load().unwrap_or_else(|problem| {
        tracing::warn!(problem, "the copy of the newest checkpoint cannot be read");
        None
    });
    let in_keyring = keys::kept_mark(&Keyring::new(installation));
    in_file.into_iter().chain(in_keyring).max_by_key(|mark| mark.counter)
}
