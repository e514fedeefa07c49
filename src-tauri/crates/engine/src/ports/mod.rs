//! Traits for everything outside the engine. Stores, providers, servers and logs implement them
//! elsewhere; nothing here names one of them. This file only lists them.

mod agents;
mod audit;
mod books;
mod conversations;
mod length;
mod model;
mod os;
mod profile;
mod rows;
mod shared;
mod store;
mod tools;

pub use agents::*;
pub use audit::*;
pub use books::*;
pub use conversations::*;
pub use model::*;
pub use os::*;
pub use profile::*;
pub use redaction::{Outbound, OutboundValue};
pub use rows::*;
pub use shared::*;
pub use store::*;
pub use tools::*;
