//! Embedding models behind the engine's port: the built-in model, which needs no file and no
//! network, and static models from a folder. The crate must not know where vectors are stored or
//! what they are used for.
#![forbid(unsafe_code)]

mod folder;
mod frequencies;
mod ngrams;
mod problem;
mod weights;

pub use folder::FolderModel;
pub use ngrams::CharacterNgrams;
pub use problem::FolderProblem;
