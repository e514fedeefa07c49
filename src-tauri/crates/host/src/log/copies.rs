//! The daily copy of the log. The store copies its own database.

use std::fs::{self, File};
use std::path::Path;

use audit::Log;
use chrono::{DateTime, TimeDelta, Utc};
use contract::{AgentError, text};

use crate::profile::{Paths, create_private_folder};

/// Updates the copy if it is due. Blocking. A failure is only logged, because the log itself is not
/// affected.
pub(crate) fn copy_if_due(log: &Log, paths: &Paths, now: DateTime<Utc>) {
    if is_due(&paths.audit_copy(), now)
        && let Err(error) = update_log_copy(log, paths, now)
    {
        tracing::warn!(message = error.message, "the log could not be copied");
    }
}

/// Whether the copy of the log is missing or older than a day. A time in the future counts as old.
pub(crate) fn is_due(copy: &Path, now: DateTime<Utc>) -> bool {
    let Ok(made) = fs::metadata(copy).and_then(|meta| meta.modified()) else { return true };
    let age = now - DateTime::<Utc>::from(made);
    !(TimeDelta::zero()..TimeDelta::days(1)).contains(&age)
}

/// Adds the new records to the copy of the log, and removes the erased values. Blocking.
pub(crate) fn update_log_copy(
    log: &Log,
    paths: &Paths,
    now: DateTime<Utc>,
) -> Result<(), AgentError> {
    let copy = paths.audit_copy();
    let failed = |error: std::io::Error| {
        AgentError::internal(
            "audit_copy",
            text!(
                "The copy of the log in {path} cannot be written: {error}.",
                path = copy.display().to_string(),
                error = error.to_string()
            ),
        )
    };
    if let Some(folder) = copy.parent() {
        create_private_folder(folder).map_err(failed)?;
    }
    log.update_copy(&copy)?;
    File::options().write(true).open(&copy).and_then(|f| f.set_modified(now.into())).map_err(failed)
}
