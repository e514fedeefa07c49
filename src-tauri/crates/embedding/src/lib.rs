//! Embedding models behind the engine's port. The only one so far is built in and needs no file and
//! no network. The crate must not know where vectors are stored or what they are used for.
#![forbid(unsafe_code)]

mod frequencies;
mod ngrams;

pub use ngrams::CharacterNgrams;
