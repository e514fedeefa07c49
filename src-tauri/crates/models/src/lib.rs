//! What answers: providers behind the engine's `Model` port. Nothing here knows turns, tools' meaning or storage.

pub mod offline;
pub mod openai;
