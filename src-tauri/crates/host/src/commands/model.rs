//! Tests the connection to the configured model, and finds servers of models on this computer.

use contract::{LocalServer, LocalServersResponse};

use crate::{host::Host, models::ConnectionTest};

impl Host {
    /// Tests the connection. First forgets which models refused tools, because the user may have
    /// changed the server. Returns None if the offline model is configured.
    pub(crate) async fn test_model(&self) -> Option<ConnectionTest> {
        self.engine.models.forget_refusals().await;
        self.models.test_connection().await
    }
}

/// Finds servers of models that run on this computer.
pub(super) async fn find_model_servers() -> LocalServersResponse {
    let found = models::local::find_servers(models::local::USUAL).await;
    LocalServersResponse {
        servers: found
            .into_iter()
            .map(|f| LocalServer { name: f.name, base_url: f.base_url, models: f.models })
            .collect(),
    }
}
