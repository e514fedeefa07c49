//! All servers by name: the one door to them. Cheap to make; nothing runs until it is needed or asked for.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use contract::ServerView;
use engine::ports::ToolFailure;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{Resource, ServerConfig, Timings, connection::Limits, failure, server::Server};

/// Told of every change of a server. Must return quickly.
pub type OnChange = Arc<dyn Fn(ServerView) + Send + Sync>;

/// The servers. Cloning gives another handle to the same ones; when the last is dropped, all processes are killed.
#[derive(Clone)]
pub struct Servers {
    inner: Arc<Inner>,
}

struct Inner {
    by_name: BTreeMap<String, Arc<Server>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        for server in self.by_name.values() {
            server.stop();
        }
    }
}

/// Sets up `Servers`.
pub struct ServersBuilder {
    configs: Vec<ServerConfig>,
    timings: Timings,
    on_change: Option<OnChange>,
}

impl ServersBuilder {
    /// Other waits than the usual ones.
    #[must_use]
    pub fn timings(mut self, timings: Timings) -> Self {
        self.timings = timings;
        self
    }

    /// Who is told of changes.
    #[must_use]
    pub fn on_change(mut self, listener: OnChange) -> Self {
        self.on_change = Some(listener);
        self
    }

    /// The servers, all idle. Of two with one name the first counts.
    pub fn build(self) -> Servers {
        let mut by_name = BTreeMap::new();
        for config in self.configs {
            let name = config.name.clone();
            by_name.entry(name).or_insert_with(|| Arc::new(Server::new(config, self.timings, self.on_change.clone())));
        }
        Servers { inner: Arc::new(Inner { by_name }) }
    }
}

impl Servers {
    /// Starts setting up.
    pub fn builder(configs: Vec<ServerConfig>) -> ServersBuilder {
        ServersBuilder { configs, timings: Timings::default(), on_change: None }
    }

    /// Servers with the usual waits and no listener.
    pub fn new(configs: Vec<ServerConfig>) -> Self {
        Self::builder(configs).build()
    }

    /// How all servers are now, by name.
    pub fn views(&self) -> Vec<ServerView> {
        self.inner.by_name.values().map(|server| server.view()).collect()
    }

    /// Starts all that do not run, in the background. Call within a tokio runtime.
    pub fn start_all(&self) {
        for server in self.inner.by_name.values() {
            server.start();
        }
    }

    /// Calls a tool, starting its server if need be. Ends by the timeout at the latest, start included.
    pub async fn call(&self, server: &str, tool: &str, arguments: Value, timeout: Duration, cancel: CancellationToken) -> Result<Value, ToolFailure> {
        let server = self.inner.by_name.get(server).ok_or_else(|| failure::unknown(server))?;
        let limits = Limits::new(timeout, cancel);
        let connection = server.connection(&limits).await?;
        let outcome = connection.call(&server.config.name, tool, arguments, &limits).await;
        server.heard(&outcome);
        outcome
    }

    /// Reads a resource, such as a picture.
    pub async fn read_resource(&self, server: &str, uri: &str, timeout: Duration, cancel: CancellationToken) -> Result<Resource, ToolFailure> {
        let server = self.inner.by_name.get(server).ok_or_else(|| failure::unknown(server))?;
        let limits = Limits::new(timeout, cancel);
        let connection = server.connection(&limits).await?;
        let outcome = connection.read(&server.config.name, uri, &limits).await;
        server.heard(&outcome);
        outcome
    }

    /// Ends all processes, gently first, and waits until they are gone. Nothing is started after this.
    pub async fn shut_down(&self) {
        let ends: Vec<_> = self
            .inner
            .by_name
            .values()
            .map(|server| {
                let server = Arc::clone(server);
                tokio::spawn(async move { server.shut_down().await })
            })
            .collect();
        for end in ends {
            let _ = end.await;
        }
    }
}
