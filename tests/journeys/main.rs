//! Journeys through the real window: Xvfb, a private session bus with a keyring, WebKitWebDriver,
//! the built app. The tests use the app as its users do, and check the texts of pages and the
//! output of `csign`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod adding_servers;
mod alerts;
mod approving;
mod asking;
mod auditing;
mod boards;
mod cancelling;
mod charts;
mod choosers;
mod connecting;
mod conversations;
mod databases;
mod deciding;
mod destinations;
mod dragging;
mod erasing;
mod first_run;
mod given;
mod guide;
mod in_use;
mod keyboard;
mod looks;
mod pacing;
mod page;
mod profiles;
mod remembering;
mod restarting;
mod ruling;
mod security;
mod servers;
mod shopping;
mod sources;
mod terminal;
mod typing;
mod versions;
mod views;
mod world;
