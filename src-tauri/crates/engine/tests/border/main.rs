//! Turns at the engine's border: a script of model events and decisions in; items, requests, events and records out.

mod approvals;
mod budgets;
mod egress;
mod executor;
mod faults;
mod layers;
mod memory;
mod once;
mod resume;
mod runs;
mod supervisor;
mod switches;
mod turns;
mod world;
