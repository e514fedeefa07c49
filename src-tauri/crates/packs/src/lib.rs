//! Finds, reads and checks packs: folders with a `pack.json` that describe tools, agents, entities and servers.
//! A pack with any fault is shown with all of its faults and not used. Nothing here runs a tool, starts a server or
//! knows who does; the only thing it touches is the pack's own files.

mod check;
mod fault;
mod files;
mod json;
mod load;
mod names;
mod refs;
mod resolve;
mod shape;
mod templates;

pub use load::{LoadedPack, Pack, check_folder, load};
pub use names::model_name;

/// The file that makes a folder a pack.
pub const MANIFEST: &str = "pack.json";
/// The JSON Schema of that file.
pub const SCHEMA: &str = include_str!("../../../../tools/pack.schema.json");
