//! The database process: answers questions over tables of one database through ADBC. It has no files
//! and reaches the network only where the host lets it.

mod address;
mod answers;
mod connect;
mod describe;
mod measure;
mod profile;
mod quotes;
pub mod server;

pub use connect::Databases;
pub use describe::{AskTables, Tables};
