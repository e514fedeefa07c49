//! Code that tests of several crates share: real servers and environments on this computer, and no
//! mocks of the app's own code.

#![allow(clippy::unwrap_used, clippy::expect_used)]

pub mod desktop;
pub mod front;
pub mod guide;
pub mod hostile_sql;
pub mod model_server;
pub mod packs;
pub mod postgres;
pub mod programs;
mod snapshot;
pub mod webdriver;

pub use snapshot::{redact, redact_json};
