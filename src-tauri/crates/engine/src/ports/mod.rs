//! Traits for everything outside the engine. Other crates implement them for stores, providers,
//! servers and logs; this folder does not depend on them.

mod access;
mod agents;
mod audit;
mod books;
mod conversations;
mod destinations;
mod embedding;
mod length;
mod long_term;
mod model;
mod os;
mod profile;
mod rows;
mod shared;
mod store;
mod tools;
mod versions;
mod world;

pub use access::*;
pub use agents::*;
pub use audit::*;
pub use books::*;
pub use conversations::*;
pub use destinations::*;
pub use embedding::*;
pub use long_term::*;
pub use model::*;
pub use os::*;
pub use profile::*;
pub use redaction::{Outbound, OutboundValue};
pub use rows::*;
pub use shared::*;
pub use store::*;
pub use tools::*;
pub use versions::*;
pub use world::World;
