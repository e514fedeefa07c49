//! Tests of the reader at its border: questions and queries, over made-up sources.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod asking;
mod blind;
mod bounds;
mod cases;
mod follow_ups;
mod names;
mod ordinary;
mod properties;
mod readings;
mod spoken;
mod states;
mod support;
mod unnamed;
mod what_if;
