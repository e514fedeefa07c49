//! Tests of the real `csign` with its own data folder, an empty environment and the offline model:
//! output, exit codes, a terminal.

// Helpers are not test functions, so clippy's exemption for tests does not reach them.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod alarm;
mod alerts;
mod approvals;
mod ask;
mod audit;
mod backtest;
mod data;
mod databases;
mod faults;
mod guide;
mod import;
mod keyring;
mod keys;
mod large;
mod local_models;
mod memory;
mod output;
mod policy;
mod profiles;
mod real_model;
mod replay;
mod run;
mod scenarios;
mod search;
mod serve;
mod servers;
mod settings;
mod socket;
mod tampering;
mod terminal;
mod thief;
mod usage;
mod web_api;
mod witness;
mod world;
