//! The port for embedding models, which turn texts into vectors that can be compared.

use async_trait::async_trait;

/// The identifier of an embedding model. A new version of a model has a new identifier.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EmbeddingModelId(pub String);

impl EmbeddingModelId {
    /// Returns the identifier as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The properties of an embedding model.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddingModel {
    /// The identifier of the model.
    pub id: EmbeddingModelId,
    /// The number of values of a vector.
    pub dimension: u32,
    /// The least similarity of texts that belong together, found by calibration.
    pub threshold: f32,
    /// The abilities and limits of the model in words.
    pub description: contract::Text,
}

/// Why a text has no vector.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text could not be embedded: {0}")]
pub struct EmbeddingFailed(pub String);

/// An embedding model. The vectors that it makes have the length 1, or 0 for a text without
/// letters and digits.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Returns the properties of the model.
    fn model(&self) -> EmbeddingModel;
    /// Tells the model one of the stored texts, so that it knows which parts are common. Most
    /// models need no such knowledge.
    fn learn(&self, _text: &str) {}
    /// Makes the model forget all texts that it was told.
    fn forget_learned(&self) {}
    /// Returns the vector of a text that is stored.
    async fn embed_memory(&self, text: &str) -> Result<Vec<f32>, EmbeddingFailed>;
    /// Returns the vector of a text that memories are searched for.
    async fn embed_question(&self, text: &str) -> Result<Vec<f32>, EmbeddingFailed>;
}
