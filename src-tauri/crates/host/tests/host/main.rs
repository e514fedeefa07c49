//! A whole host from the outside: the command list in, answers out.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on may stop")]

mod data;
mod ledger;
mod packs;
mod servers;
