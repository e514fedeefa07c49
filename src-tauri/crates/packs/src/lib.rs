//! Finds, reads and checks packs: folders with a `pack.json` that describe tools, agents, entities
//! and servers. A pack with a fault is shown with all its faults and is not used. `run` executes
//! tools that are one request or one program. Servers, turns, approvals and keyrings are handled by
//! other crates.

mod agent;
mod check;
mod fault;
mod files;
mod instructions;
mod json;
mod kinds;
mod load;
mod loaded;
mod names;
mod refs;
mod resolve;
pub mod run;
mod scaffold;
mod shape;
mod subject;
mod templates;
mod urls;
mod views;
mod words;

pub use agent::{agent, used_packs};
pub use instructions::{Found, instructions};
pub use load::{PackSettings, check_folder, check_manifest, load, load_with};
pub use loaded::{LoadedPack, Pack};
pub use names::{distinct_model_name, model_name};
pub use resolve::{hash_of, is_reserved, qualify};
pub use scaffold::{NewPack, scaffold};
pub use urls::address_with;

/// The name of the file that makes a folder a pack.
pub const MANIFEST: &str = "pack.json";
/// The JSON Schema of `pack.json`.
pub const SCHEMA: &str = include_str!("../../../../tools/pack.schema.json");
