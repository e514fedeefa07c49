//! Stores the reads of a turn, so that the same read is not made twice. Equal concurrent reads wait
//! for each other.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::Mutex as AsyncMutex;

use crate::tools::call::CallDone;

/// The first result of a read, and whether it was returned a second time.
type FirstResult = Arc<AsyncMutex<Option<(CallDone, bool)>>>;

/// The reads by tool and canonical arguments. Parallel calls share them.
#[derive(Default)]
pub(crate) struct ReadsSeen(Mutex<HashMap<String, FirstResult>>);

impl ReadsSeen {
    pub(crate) fn entry(&self, key: String) -> FirstResult {
        Arc::clone(self.0.lock().entry(key).or_default())
    }

    /// Forgets all reads after an effect, because their results may be out of date.
    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }
}
