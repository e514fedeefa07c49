//! The engine runs turns: prompt, rounds, tool calls, approvals. It accesses everything outside
//! through `ports` and depends on no specific store, provider or window.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod agents;
mod approvals;
mod budget;
mod canonical;
mod context;
mod conversation;
mod destinations;
mod engine;
mod long_term;
pub mod ports;
mod replay;
mod run;
mod runner;
mod sessions;
mod texts;
mod tools;
mod turn;

pub use approvals::decide::Decided;
pub use approvals::look_alikes::look_alikes;
pub use canonical::{approval_hash, canonical, sha256_hex};
pub use context::egress::KeyFilter;
pub use context::history::shorten_text;
pub use context::results::result_reader;
pub use conversation::key::VISITOR;
pub use engine::Engine;
pub use long_term::calibration::{calibrate_threshold, calibration_texts};
pub use ports::World;
/// Finds keys in texts: by their format in a text that a person is about to store, and by their
/// value, in any encoding, in text shown to a person.
pub use redaction::{Exact, MARK, find_keys};
pub use replay::compare::{Comparison, Difference, compare_runs};
pub use run::TurnStream;
pub use runner::recovery::Recovered;
pub use sessions::{closed::ClosedSession, deletion::UNDO_SECONDS};
pub use tools::checkable::unchecked_places;
pub use tools::coerce::coerce;
pub use tools::schema::Validators;
pub use turn::caller_records::add_caller;
pub use turn::listener::{IGNORED, TurnOptions};
pub use turn::recording::Recording;
pub use turn::refusals::Refused;
pub use turn::secrets::key_refused_error;
