//! The reasons why a folder is not an embedding model, worded as parts of sentences.

use std::path::PathBuf;

/// Why a folder cannot be used as an embedding model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FolderProblem {
    /// A file is missing or cannot be read.
    #[error("{} cannot be read: {why}", file.display())]
    Unreadable { file: PathBuf, why: String },
    /// A file is too large.
    #[error("{} has {size} bytes; at most {most} are read", file.display())]
    TooLarge { file: PathBuf, size: u64, most: u64 },
    /// The weights are not a safetensors file.
    #[error("model.safetensors is damaged or has another format: {0}")]
    DamagedWeights(String),
    /// The tokenizer is not in the known format.
    #[error("tokenizer.json is damaged or has another format: {0}")]
    DamagedTokenizer(String),
    /// The file does not say which matrix contains the token vectors.
    #[error(
        "model.safetensors has {0} matrices, and none is named like vectors of tokens; this is not a static model"
    )]
    NoMatrix(usize),
    /// The matrix does not have the form of token vectors.
    #[error(
        "the matrix of model.safetensors has {rows} rows of {dimension} values, which cannot be the vectors of tokens"
    )]
    WrongShape { rows: usize, dimension: usize },
    /// The tokenizer and the weights are from different models.
    #[error(
        "tokenizer.json has {tokens} tokens, but model.safetensors has vectors for {rows}; the files do not belong together"
    )]
    TooFewRows { tokens: usize, rows: usize },
    /// The numbers are stored in a form that is not supported.
    #[error("model.safetensors has numbers of the kind {0}; F32, F16, BF16 and I8 can be read")]
    UnknownNumbers(String),
    /// The vectors contain values that are not numbers.
    #[error("model.safetensors has values that are no numbers")]
    NotFinite,
}
