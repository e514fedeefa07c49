//! Through what the running command was asked. The command's records name it, with the person. Must
//! not know commands.

use contract::CallerKind;
use engine::{add_caller, ports::RecordDraft};

use crate::profile::LiveProfile;

tokio::task_local! {
    static CALLER: CallerKind;
}

/// Runs a command that a terminal asked for.
pub(crate) async fn from_terminal<T>(work: impl Future<Output = T>) -> T {
    CALLER.scope(CallerKind::Terminal, work).await
}

/// Adds to a record through what the command was asked, and by whom. Only windows ask without a
/// terminal.
pub(crate) fn sign_record(draft: RecordDraft, profile: &LiveProfile) -> RecordDraft {
    let caller = CALLER.try_with(Clone::clone).unwrap_or(CallerKind::Window);
    add_caller(draft, &caller, profile)
}
