//! Tests of the log from outside: appended records are returned and verify, and every change is
//! reported.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on is to fail there"
)]

mod attacks;
mod basics;
mod clean;
mod crash;
mod disk;
mod erasure;
mod export;
mod flips;
mod formats;
mod kept;
mod kit;
mod marks;
mod power;
mod searching;
mod tamper;
mod vectors;
mod volume;
