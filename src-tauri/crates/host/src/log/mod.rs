//! The profile's log: opening and checking it, its alarm, its signing key, copies, erasure by age,
//! and confirmations by others. Must not know packs, servers, or who reads it.

mod alarm;
mod asked;
mod attest;
mod copies;
mod ledger;
mod offline;
mod opening;
mod retention;
mod signing;

use std::{ops::Deref, sync::Arc, time::Instant};

use audit::{Log, VerifyWatch};
use chrono::{DateTime, Utc};
use contract::{AgentError, ErrorCode, Reason, text};
use engine::ports::{AuditLog as _, AuditUnavailable, Clock, Durability, Ids, RecordDraft};
use parking_lot::Mutex;

use crate::profile::{Database, LiveProfile, Options, Paths};

use asked::sign_record;
pub(crate) use asked::{current_caller, for_caller, from_terminal};
pub(crate) use copies::copy_if_due;
pub(crate) use ledger::{Ledger, find_profiles};
pub(crate) use offline::verify_folder;
pub use offline::{export_log, export_scope, require_log_file, verify_file, verify_log};
pub(crate) use opening::{open_log, resolve_installation};
pub use retention::AgeJudge;
pub(crate) use signing::delete_signing_key;

/// The log of an open profile. Records are read and written through `Deref`.
pub(crate) struct HostLog {
    pub(crate) records: Arc<Log>,
    /// The ledger, which is outside the data folder, so that a missing or replaced log is detected.
    pub(crate) ledger: Arc<Ledger>,
    profile: Arc<LiveProfile>,
    database: Arc<Database>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    opened_at: DateTime<Utc>,
    /// The same moment on the monotonic clock, from which the elapsed time is measured.
    opened: Instant,
    /// The verification that a person requested last.
    verification: Mutex<Option<Arc<VerifyWatch>>>,
}

impl Deref for HostLog {
    type Target = Log;

    fn deref(&self) -> &Log {
        &self.records
    }
}

impl HostLog {
    pub(crate) fn new(
        records: Arc<Log>,
        ledger: Arc<Ledger>,
        profile: &Arc<LiveProfile>,
        database: &Arc<Database>,
        options: &Options,
    ) -> Self {
        Self {
            records,
            ledger,
            profile: Arc::clone(profile),
            database: Arc::clone(database),
            clock: Arc::clone(&options.clock),
            ids: Arc::clone(&options.ids),
            opened_at: options.clock.now(),
            opened: Instant::now(),
            verification: Mutex::default(),
        }
    }

    fn paths(&self) -> &Paths {
        self.profile.paths()
    }

    /// Returns the current time of the profile's clock.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    /// Records the effect of a command, and who requested the command.
    pub(crate) async fn record(&self, draft: RecordDraft) -> Result<(), AgentError> {
        let signed = sign_record(draft, &self.profile);
        let recorded = self.records.append(signed, Durability::Durable).await;
        recorded.map(drop).map_err(|error| audit_error(&error))
    }
}

/// Returns the error for a log that accepts no records.
pub(crate) fn audit_error(error: &AuditUnavailable) -> AgentError {
    AgentError::new(
        ErrorCode::InternalError,
        text!("The audit log cannot be written: {error}.", error = error.0),
    )
    .reason(Reason::AuditUnavailable)
    .hint("Run `csign doctor` to see why.")
}
