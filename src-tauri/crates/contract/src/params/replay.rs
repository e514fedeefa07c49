//! Parameters and answers of a replay.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{SessionId, TurnId};

wire! {
    /// Names the run of a message.
    struct ReplayParams {
        /// The turn, by its id in records.
        run: TurnId,
    }

    /// The result of a replay.
    struct ReplayResponse {
        /// The turn.
        run: TurnId,
        /// The session of the turn.
        session: SessionId,
        /// The moment at which the turn began.
        started_at: DateTime<Utc>,
        /// The number of records of the turn.
        records: u64,
        /// The number of values that were erased from the log, so they were not compared.
        erased: u64,
        /// The first difference. Absent if the replay wrote the same records.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        difference: Option<ReplayDifference>,
    }

    /// The first place where a replay differs from the log.
    struct ReplayDifference {
        /// The position among the compared records of the turn, from 1.
        position: u64,
        /// The number of the record in the log. Absent if the log has no such record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seq: Option<u64>,
        /// The location within the record, as a JSON pointer. Empty for the whole record.
        path: String,
        /// The value in the log.
        #[ts(type = "unknown")]
        recorded: Value,
        /// The value in the replay.
        #[ts(type = "unknown")]
        replayed: Value,
    }
}
