//! Providers against the scripted server and against recordings, one binary for all wires.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on is to fail there"
)]

mod answers;
mod connection;
mod embeddings;
mod failures;
mod further_servers;
mod garbage;
mod local_servers;
mod plainly;
mod recordings;
mod spellings;
mod support;
mod switching;
mod timing;
mod wires;
