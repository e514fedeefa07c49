//! Definitions as files: reading and writing, checks against the columns, hashes and approval, and
//! what the detector proposes for a new source.

mod approval;
mod correct;
mod ossie;
mod propose;
mod validate;
mod write;
mod yaml;

pub(crate) use approval::hash_of;
pub use approval::{Proof, approval_hash, definition_views};
pub use correct::change_calculation;
pub use ossie::{OssieModel, is_ossie, read_ossie, write_ossie};
pub use propose::{propose, propose_pacing};
pub use validate::validate_definitions;
pub use write::write_definitions;
pub use yaml::parse_definitions;
