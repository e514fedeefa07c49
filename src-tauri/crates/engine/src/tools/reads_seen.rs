//! The reads of a turn, so that the same one is not made twice. Two at once wait for each other.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::Mutex as AsyncMutex;

use crate::tools::call::CallDone;

/// The first result of a read, and whether it was given a second time.
type FirstResult = Arc<AsyncMutex<Option<(CallDone, bool)>>>;

/// By tool and canonical arguments. Calls that run side by side share it.
#[derive(Default)]
pub(crate) struct ReadsSeen(Mutex<HashMap<String, FirstResult>>);

impl ReadsSeen {
    pub(crate) fn entry(&self, key: String) -> FirstResult {
        Arc::clone(self.0.lock().entry(key).or_default())
    }

    /// An effect has happened: what was read before it may have changed.
    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }
}
