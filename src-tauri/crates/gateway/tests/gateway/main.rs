//! Tests of the gateway from outside: the program runs as a process on a free port, with real HTTP,
//! the demo shop, and the offline or a scripted model. Tests are named after the sections of the
//! contract.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod alarm;
mod arguments;
mod auth;
mod away;
mod baskets;
mod cart;
mod collector;
mod confirming;
mod debug;
mod decided;
mod described;
mod document;
mod leaks;
mod limits;
mod memory;
mod model_faults;
mod observability;
mod offered;
mod packs;
mod products;
mod program;
mod redis;
mod remote_faults;
mod remote_shop;
mod searches;
mod sessions;
mod settings;
mod sharing;
mod sharing_remote;
mod shop;
mod stream;
mod surface;
mod tokens;
mod traces;
mod turns;
mod variants;
mod visitors;
mod widget;
mod wire;
mod world;

use kit::front;
