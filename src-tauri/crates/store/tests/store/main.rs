//! Tests of the store with real files, as the engine uses the store: rows, paging, races, crashes,
//! damage, full and read-only disks.

// Helpers are not test functions, so clippy's exemption for tests does not reach them.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod approvals;
mod backups;
mod books;
mod conversations;
mod crash;
mod disk;
mod memories;
mod power;
mod recovery;
mod rows;
mod schema;
mod sessions;
mod texts;
mod version_faults;
mod version_texts;
mod versions;
mod world;
