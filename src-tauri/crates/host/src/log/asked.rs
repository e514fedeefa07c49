//! Where the running command came from, and who requested it. The command's records contain both.
//! Must not know commands.

use contract::CallerKind;
use engine::{add_caller, ports::RecordDraft};

use crate::profile::LiveProfile;

tokio::task_local! {
    static CALLER: CallerKind;
}

/// Runs a command that came from a terminal.
pub(crate) async fn from_terminal<T>(work: impl Future<Output = T>) -> T {
    CALLER.scope(CallerKind::Terminal, work).await
}

/// Runs work that goes on after its command, with the caller of the command.
pub(crate) async fn for_caller<T>(caller: CallerKind, work: impl Future<Output = T>) -> T {
    CALLER.scope(caller, work).await
}

/// Returns where the running command came from.
pub(crate) fn current_caller() -> CallerKind {
    CALLER.try_with(Clone::clone).unwrap_or(CallerKind::Window)
}

/// Adds to a record where the command came from, and who requested it. Commands that do not come
/// from a terminal come from a window.
pub(crate) fn sign_record(draft: RecordDraft, profile: &LiveProfile) -> RecordDraft {
    add_caller(draft, &current_caller(), profile)
}
