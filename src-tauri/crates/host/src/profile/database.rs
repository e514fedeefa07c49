//! The profile's database: opens it in the data folder or in memory, and closes it. Must not know
//! its tables.

use std::{path::Path, sync::Arc};

use contract::AgentError;
use engine::ports::Clock;
use parking_lot::Mutex;
use store::{OpenError, Recovered, SqliteStore};

use super::{
    paths::{Paths, unusable_file, unwritable_folder},
    sessions::{MemoryFolder, Sessions},
};

/// The open database of a profile.
pub(crate) struct Database {
    pub(crate) store: Arc<SqliteStore>,
    /// The folder of the database if sessions are kept in memory. It is deleted after the store is
    /// closed.
    memory: Mutex<Option<MemoryFolder>>,
}

impl Database {
    /// Opens the database. Also returns how a damaged database was replaced.
    pub(crate) async fn open(
        paths: &Paths,
        installation: &str,
        sessions: &Sessions,
        clock: Arc<dyn Clock>,
    ) -> Result<(Self, Option<Recovered>), AgentError> {
        let memory = create_memory_folder(sessions, paths, installation)?;
        let path = memory.as_ref().map_or_else(|| paths.database(), MemoryFolder::database);
        let shared = sessions.shared_sessions().cloned();
        let opened = tokio::task::spawn_blocking(move || SqliteStore::open(&path, clock)).await;
        let opened = opened.map_err(|_| {
            AgentError::internal("database_error", "The database could not be opened.")
        })?;
        let opened = opened.map_err(|error| match error {
            OpenError::NoSpace(_) => unwritable_folder(&paths.data),
            other => other.into_agent_error(),
        })?;
        // A store that cannot be written is an error, because neither an answer could be stored nor
        // a step recorded.
        if opened.read_only {
            return Err(unwritable_folder(&paths.data));
        }
        let store = Arc::new(opened.store.sharing(shared));
        Ok((Self { store, memory: Mutex::new(memory) }, opened.recovered))
    }

    /// Deletes a database in memory. Must be called after the store is closed.
    pub(crate) fn delete_memory(&self) {
        self.memory.lock().take();
    }
}

/// Creates the folder of the database if sessions are kept in memory.
fn create_memory_folder(
    sessions: &Sessions,
    paths: &Paths,
    installation: &str,
) -> Result<Option<MemoryFolder>, AgentError> {
    match sessions {
        Sessions::InMemory => MemoryFolder::create(installation)
            .map(Some)
            .map_err(|e| unusable_file(&paths.data, Path::new("memory"), &e)),
        Sessions::InFile | Sessions::Shared(_) => Ok(None),
    }
}
