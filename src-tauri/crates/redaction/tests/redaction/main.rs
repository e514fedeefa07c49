//! Tests the redactor as a whole: what it removes, what it leaves, and how values are restored.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod cost;
mod identity;
mod kit;
mod levels;
mod ordinary;
mod secrets;
mod streaming;
