//! Through what the running command was asked. The command's records name it, with the person. Must
//! not know commands.

use engine::{Origin, ports::RecordDraft};

use crate::profile::LiveProfile;

tokio::task_local! {
    static ORIGIN: Origin;
}

/// Runs a command that a terminal asked for.
pub(crate) async fn from_terminal<T>(work: impl Future<Output = T>) -> T {
    ORIGIN.scope(Origin::Terminal, work).await
}

/// Adds to a record through what the command was asked, and by whom. Only windows ask without a
/// terminal.
pub(crate) fn sign_record(draft: RecordDraft, profile: &LiveProfile) -> RecordDraft {
    let origin = ORIGIN.try_with(|origin| *origin).unwrap_or(Origin::Window);
    origin.add_to(draft, profile)
}
