//! The gateway at its border: `csign serve` as a process on a free port, real HTTP, the demo shop, the offline or a scripted model.
//! Tests are named after the sections of the contract.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod arguments;
mod auth;
mod away;
mod cart;
mod confirming;
mod debug;
mod document;
mod front;
mod limits;
mod memory;
mod observability;
mod redis;
mod remote_faults;
mod remote_shop;
mod sessions;
mod sharing;
mod shop;
mod surface;
mod turns;
mod variants;
mod world;
