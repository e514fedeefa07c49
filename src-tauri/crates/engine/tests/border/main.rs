//! Turns at the engine's border: a script of model events and decisions in; items, requests, events and records out.

mod approvals;
mod executor;
mod egress;
mod faults;
mod turns;
mod world;
