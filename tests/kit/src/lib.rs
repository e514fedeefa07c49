//! What tests of several crates share: real servers and worlds on this machine, never a mock of our own code.

#![allow(clippy::unwrap_used, clippy::expect_used)]

pub mod desktop;
pub mod front;
pub mod guide;
pub mod model_server;
pub mod packs;
pub mod webdriver;
