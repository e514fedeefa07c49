//! Rendered pieces of an answer: the window replaces only the block that changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// One top-level Markdown block as safe HTML. `index` is its place in the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Block {
    /// The position of the block in the answer, from 0.
    pub index: u32,
    /// The block as sanitised HTML.
    pub html: String,
}

/// The changes of an answer since the last frame.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct BlockPatch {
    /// New or replaced blocks, ascending by index.
    pub blocks: Vec<Block>,
    /// How many blocks the answer has now; blocks from here on are gone.
    pub count: u32,
    /// Plain text to append to the last block without re-rendering it (its HTML is replaced when
    /// the block changes shape).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub append: String,
}
