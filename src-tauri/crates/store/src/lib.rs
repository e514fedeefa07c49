//! The app's SQLite file behind the engine's `Store` port: one writer thread with group commit, a
//! few readers, migrations with a backup before each, and recovery of a damaged file. A write is
//! committed when its method returns, unless the method is documented as deferred. The crate knows
//! rows and JSON bodies; it must not know how a turn, a policy or a window uses them.
#![forbid(unsafe_code)]

mod backup;
mod books;
mod connection;
mod error;
mod files;
mod migrate;
mod open;
mod other;
mod port;
mod port_conversations;
mod port_destinations;
mod port_long_term;
mod port_recordings;
mod port_versions;
mod readers;
mod recent;
mod recover;
mod table;
mod text;
mod vectors;
mod writer;

pub use error::OpenError;
pub use open::{OpenedStore, SqliteStore};
pub use other::{check_database, copy_database};
pub use recover::Recovered;
