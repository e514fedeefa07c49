//! An embedding model of the configured provider. It uses the address, key, timeouts and retries of
//! the chat model.

use async_trait::async_trait;
use contract::{Settings, Text};
use engine::ports::{
    Embedded, EmbeddingModelId, EmbeddingServer, Model as _, ModelError, Outbound, TextRole,
};
use futures::future::BoxFuture;

use super::{HostModels, Rank, Server, remote::Remote};

/// An embedding model behind a server.
pub(crate) struct RemoteEmbeddings {
    remote: Remote,
    id: EmbeddingModelId,
}

impl HostModels {
    /// Returns the embedding model with this name at the configured provider. Returns None if the
    /// offline model is configured.
    pub(crate) fn embedding_server(
        &self,
        settings: &Settings,
        name: &str,
    ) -> Option<RemoteEmbeddings> {
        let server = Server::configured(settings, name)?;
        let id =
            EmbeddingModelId(format!("provider {} {} {name}", server.api.name(), server.host()));
        Some(RemoteEmbeddings { remote: self.remote_model(settings, server, Rank::Last), id })
    }
}

#[async_trait]
impl EmbeddingServer for RemoteEmbeddings {
    fn id(&self) -> EmbeddingModelId {
        self.id.clone()
    }
    fn label(&self) -> String {
        self.remote.label()
    }
    fn is_local(&self) -> bool {
        self.remote.is_local()
    }
    fn description(&self) -> Text {
        "Compares meanings by a model of the provider. Memories and questions are sent to it."
            .into()
    }
    fn prepare_call(&self) -> BoxFuture<'static, ()> {
        self.remote.prepare_call()
    }
    async fn embed(&self, texts: Vec<Outbound>, role: TextRole) -> Result<Embedded, ModelError> {
        let texts: Vec<&str> = texts.iter().map(|text| text.as_str()).collect();
        self.remote.provider().await?.embed(&texts, role).await
    }
}
