//! Parameters and answers of the commands for versions of messages, and for their deletion.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{SessionId, TurnId};

wire! {
    /// Names a turn of a session.
    struct TurnParams {
        /// The session of the turn.
        session: SessionId,
        /// The turn.
        turn: TurnId,
    }

    /// The result of deleting a turn.
    struct TurnDeleteResponse {
        /// The seconds in which `turn_restore` undoes the deletion.
        undo_seconds: u32,
        /// The number of other versions of the message that were deleted with it.
        other_versions: u32,
    }

    /// The versions of a message: turns that follow the same turn. Only one of them is shown.
    struct TurnVersions {
        /// The version that is shown.
        turn: TurnId,
        /// All versions, oldest first.
        siblings: Vec<TurnId>,
        /// The position of `turn` in `siblings`, from 0.
        chosen: u32,
    }
}
