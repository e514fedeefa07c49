//! Tests whole turns at the engine's border. The input is a script of model events and decisions,
//! and the output consists of items, requests, events and records.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on is to fail there"
)]

mod adversary;
mod answers;
mod approvals;
mod assistant;
mod budgets;
mod conversations;
mod destinations;
mod detached;
mod egress;
mod exact;
mod executor;
mod faults;
mod folder_model;
mod layers;
mod long_term;
mod memory;
mod memory_index;
mod memory_marks;
mod model_servers;
mod once;
mod origins;
mod oversize;
mod own_memory;
mod recall;
mod refusals;
mod replay;
mod resume;
mod runs;
mod same_ids;
mod strangers;
mod supervisor;
mod switches;
mod tokens;
mod turns;
mod verbatim;
mod version_edges;
mod versions;
mod wire;
mod world;
