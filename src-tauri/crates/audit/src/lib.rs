//! The audit log: canonical records in an append-only tree, signed checkpoints, verification and
//! export. `FORMAT.md` beside this crate is the frozen description that both verifiers follow. The
//! crate knows nothing of turns, tools or keyrings: keys, the clock, randomness and the outside
//! copies are passed in.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod anchor;
mod body;
mod canon;
mod chain;
mod clock;
mod copy;
mod cose;
mod entropy;
mod erasure;
mod export;
mod hex;
mod index;
mod keys;
mod log;
mod marks;
mod note;
mod num;
mod open;
mod opened;
mod proof_file;
mod read;
mod report;
mod schema;
mod tail;
mod tiles;
mod timestamp;
pub mod tree;
mod verify;
mod visit;
mod witness;
mod writer;

pub use anchor::{Anchor, AnchorFault, FileAnchor, Mark, Outside};
pub use canon::{CanonError, canonical};
pub use entropy::{Entropy, OsEntropy, new_installation_id, new_key_seed};
pub use export::{Scope, Wanted, export_file};
pub use keys::Signer;
pub use log::{Log, OpenState};
pub use note::{fingerprint, vkey};
pub use opened::{OpenOptions, Tampered};
pub use schema::has_begun;
pub use timestamp::TimeStampRequest;
pub use verify::{Judged, VerifyWatch, is_export, judge, verify, verify_against};
pub use visit::Selection;
pub use witness::{Submission, Witness, WitnessFault, checkpoint_size};
