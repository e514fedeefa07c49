//! Rendered pieces of an answer, so that the window replaces only changed blocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A top-level Markdown block as safe HTML.
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
    /// The number of blocks in the answer; later blocks are removed.
    pub count: u32,
    /// Plain text to append to the last block without rendering the block again.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub append: String,
}
