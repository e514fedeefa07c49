//! The redactor as a whole: what it takes out, what it leaves alone, and the way back.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod cost;
mod identity;
mod kit;
mod levels;
mod ordinary;
mod secrets;
mod streaming;
