//! The query process: answers questions over Parquet parts. It reads the given folders and writes
//! nothing but its scratch folder.

mod ask;
mod describe;
mod export;
mod measure;
mod profile;
mod prove;
mod query;
mod rows;
pub mod server;
mod verify;

pub use ask::{Asker, ServeSettings};
pub use contract::sources::{AskVerify, Verified, VerifiedPart};
