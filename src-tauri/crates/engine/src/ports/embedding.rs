//! The port for embedding models, which convert texts to comparable vectors.

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use redaction::Outbound;

use crate::ports::ModelError;

/// The most texts of a call of an embedding server.
pub const MOST_TEXTS: usize = 64;

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
    /// The least similarity of related texts, found by calibration.
    pub threshold: f32,
    /// The abilities and limits of the model in words.
    pub description: contract::Text,
}

/// Why a text has no vector, as a part of a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EmbeddingFailed(pub String);

/// An embedding model inside this program, which gets texts without redaction. Its vectors have the
/// length 1, or 0 for a text without letters and digits.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Returns the properties of the model.
    fn model(&self) -> EmbeddingModel;
    /// Lets the model learn a stored text, so that it knows which parts are common. Most models do
    /// not need this.
    fn learn(&self, _text: &str) {}
    /// Makes the model forget all learned texts.
    fn forget_learned(&self) {}
    /// Returns the vector of a text that is stored.
    async fn embed_memory(&self, text: &str) -> Result<Vec<f32>, EmbeddingFailed>;
    /// Returns the vector of a text for searching memories.
    async fn embed_question(&self, text: &str) -> Result<Vec<f32>, EmbeddingFailed>;
}

/// The role of texts that a server embeds. Some models treat the two roles differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextRole {
    /// The texts are stored.
    Memory,
    /// The texts are questions for searching memories.
    Question,
}

/// The vectors of a server, in the order of the texts. Each vector has the length 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedded {
    /// The vectors.
    pub vectors: Vec<Vec<f32>>,
    /// The tokens that the server reports; 0 if it does not report any.
    pub input_tokens: u64,
}

/// An embedding model behind a server. The server gets only redacted texts.
#[async_trait]
pub trait EmbeddingServer: Send + Sync {
    /// Returns the identifier of the model, which names server and model.
    fn id(&self) -> EmbeddingModelId;
    /// Returns the display name, which is also used for prices.
    fn label(&self) -> String;
    /// Whether the server runs on this computer.
    fn is_local(&self) -> bool;
    /// Returns the abilities and limits of the model in words.
    fn description(&self) -> contract::Text;
    /// Loads the keys, so that they are known as secrets before a text is created.
    fn prepare_call(&self) -> BoxFuture<'static, ()>;
    /// Returns the vectors of at most [`MOST_TEXTS`] texts.
    async fn embed(&self, texts: Vec<Outbound>, role: TextRole) -> Result<Embedded, ModelError>;
}

/// The chosen embedding model.
#[derive(Clone)]
pub enum ChosenEmbedder {
    /// A model inside this program.
    Inside(Arc<dyn Embedder>),
    /// A model behind a server.
    Server(Arc<dyn EmbeddingServer>),
}

impl ChosenEmbedder {
    /// Returns the identifier of the model.
    pub fn id(&self) -> EmbeddingModelId {
        match self {
            Self::Inside(model) => model.model().id,
            Self::Server(server) => server.id(),
        }
    }

    /// Returns the abilities and limits of the model in words.
    pub fn description(&self) -> contract::Text {
        match self {
            Self::Inside(model) => model.model().description,
            Self::Server(server) => server.description(),
        }
    }

    /// Whether texts leave this computer to reach the model.
    pub fn is_elsewhere(&self) -> bool {
        matches!(self, Self::Server(server) if !server.is_local())
    }
}

/// Returns the configured embedding model. The settings may change at any time.
#[async_trait]
pub trait Embedders: Send + Sync {
    /// Returns the model. Loads the model from its folder if necessary.
    async fn current(&self) -> Result<ChosenEmbedder, EmbeddingFailed>;
}
