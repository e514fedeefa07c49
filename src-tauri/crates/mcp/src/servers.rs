//! All servers by pack and name (`pack/name`). The rest of the app reaches servers only through
//! this file. Cheap to create; no server runs until it is needed or started.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use contract::{AgentError, Reason, ServerView};
use engine::ports::ToolFailure;
use parking_lot::RwLock;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    Asker, Definitions, Resource, Resume, ServerConfig, SignIn, Timings,
    connection::Limits,
    failure,
    server::{OnChange, Server, ServerListeners},
    sign_in,
};

/// All servers. A clone is another handle to the same servers. When the last handle is dropped, all
/// processes are killed.
#[derive(Clone)]
pub struct Servers {
    inner: Arc<Inner>,
}

struct Inner {
    by_name: RwLock<BTreeMap<String, Arc<Server>>>,
    timings: Timings,
    listeners: ServerListeners,
}

impl Inner {
    fn find(&self, server: &str) -> Option<Arc<Server>> {
        self.by_name.read().get(server).cloned()
    }

    fn all(&self) -> Vec<Arc<Server>> {
        self.by_name.read().values().cloned().collect()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        for server in self.by_name.get_mut().values() {
            server.stop();
        }
    }
}

/// Builds [`Servers`].
pub struct ServersBuilder {
    configs: Vec<ServerConfig>,
    timings: Timings,
    listeners: ServerListeners,
}

impl ServersBuilder {
    /// Sets other time limits than the usual ones.
    #[must_use]
    pub fn timings(mut self, timings: Timings) -> Self {
        self.timings = timings;
        self
    }

    /// Sets the listener for changes.
    #[must_use]
    pub fn on_change(mut self, listener: OnChange) -> Self {
        self.listeners.on_change = Some(listener);
        self
    }

    /// Sets the store of accepted definitions.
    #[must_use]
    pub fn definitions(mut self, definitions: Arc<dyn Definitions>) -> Self {
        self.listeners.definitions = Some(definitions);
        self
    }

    /// Sets the asker for the servers' questions. Without one they are declined.
    #[must_use]
    pub fn asker(mut self, asker: Arc<dyn Asker>) -> Self {
        self.listeners.asker = Some(asker);
        self
    }

    /// Creates the servers, all idle. If a pack has two servers of one name, the first one is used.
    pub fn build(self) -> Servers {
        let mut by_name = BTreeMap::new();
        for config in self.configs {
            let key = config.key();
            by_name.entry(key).or_insert_with(|| {
                Arc::new(Server::new(config, self.timings, self.listeners.clone()))
            });
        }
        let (by_name, timings, listeners) = (RwLock::new(by_name), self.timings, self.listeners);
        Servers { inner: Arc::new(Inner { by_name, timings, listeners }) }
    }
}

impl Servers {
    /// Returns a builder.
    pub fn builder(configs: Vec<ServerConfig>) -> ServersBuilder {
        ServersBuilder {
            configs,
            timings: Timings::default(),
            listeners: ServerListeners::default(),
        }
    }

    /// Creates servers with the usual time limits and no listener.
    pub fn new(configs: Vec<ServerConfig>) -> Self {
        Self::builder(configs).build()
    }

    /// Returns the state of all servers, ordered by pack and name.
    pub fn views(&self) -> Vec<ServerView> {
        self.inner.all().iter().map(|server| server.view()).collect()
    }

    /// Adds a server, idle. A server of the same pack and name is ended first.
    pub async fn put(&self, config: ServerConfig) {
        self.remove(&config.key()).await;
        let (timings, listeners) = (self.inner.timings, self.inner.listeners.clone());
        let key = config.key();
        let server = Arc::new(Server::new(config, timings, listeners));
        self.inner.by_name.write().insert(key, server);
    }

    /// Ends a server and forgets it. An unknown server is no error.
    pub async fn remove(&self, server: &str) {
        let found = self.inner.by_name.write().remove(server);
        if let Some(found) = found {
            found.shut_down().await;
        }
    }

    /// Returns the last lines of a server's error output, oldest first. Empty for a server behind
    /// an address.
    pub fn log(&self, server: &str) -> Vec<String> {
        self.inner.find(server).map(|server| server.log.lines()).unwrap_or_default()
    }

    /// Starts all servers that do not run, in the background. Call within a tokio runtime.
    pub fn start_all(&self) {
        for server in self.inner.all() {
            server.start();
        }
    }

    /// Starts one server if it does not run, in the background.
    pub fn start(&self, server: &str) {
        if let Some(server) = self.inner.find(server) {
            server.start();
        }
    }

    /// Ends the connection to a server whose stored tokens were deleted. The next call opens
    /// another.
    pub fn disconnect(&self, server: &str) {
        if let Some(server) = self.inner.find(server) {
            server.disconnect();
        }
    }

    /// Begins a sign-in of the user to a server. A sign-in that is under way is cancelled.
    pub async fn sign_in(&self, server: &str) -> Result<SignIn, AgentError> {
        let server =
            self.inner.find(server).ok_or_else(|| failure::unknown_server(server).error)?;
        sign_in::begin(&server, server.replace_sign_in()).await
    }

    /// Waits until a server is ready. Returns an error if it cannot be reached now.
    pub async fn wait_until_ready(
        &self,
        server: &str,
        timeout: Duration,
    ) -> Result<(), ToolFailure> {
        let server = self.inner.find(server).ok_or_else(|| failure::unknown_server(server))?;
        server.connection(&Limits::new(timeout, CancellationToken::new())).await.map(|_| ())
    }

    /// Calls a tool that changes nothing, and starts its server if necessary. Ends at the timeout
    /// at the latest, including the start.
    pub async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: Value,
        timeout: Duration,
        cancel: CancellationToken,
    ) -> Result<Value, ToolFailure> {
        self.call_with(server, tool, arguments, Limits::new(timeout, cancel), None).await
    }

    /// Calls a tool that changes something. Before it is called again with answers to the server's
    /// questions, `resume` decides whether it may.
    pub async fn call_effect(
        &self,
        server: &str,
        tool: &str,
        arguments: Value,
        timeout: Duration,
        cancel: CancellationToken,
        resume: &dyn Resume,
    ) -> Result<Value, ToolFailure> {
        self.call_with(server, tool, arguments, Limits::new(timeout, cancel), Some(resume)).await
    }

    async fn call_with(
        &self,
        server: &str,
        tool: &str,
        arguments: Value,
        limits: Limits,
        resume: Option<&dyn Resume>,
    ) -> Result<Value, ToolFailure> {
        let server = self.inner.find(server).ok_or_else(|| failure::unknown_server(server))?;
        for _ in 0..2 {
            let reached = server.connection(&limits).await?;
            server.check(tool)?;
            let outcome = reached
                .connection
                .call(&server.config.name, tool, arguments.clone(), &limits, resume)
                .await;
            server.note_outcome(&reached, &outcome);
            if failure::is_bad_request(&outcome) {
                server.check_doubtful(&reached);
            }
            // A token of the app has expired. The server refused before doing anything, and the
            // next connection has a new token.
            if !server.renews_tokens()
                || !outcome
                    .as_ref()
                    .is_err_and(|failure| failure.error.has_reason(Reason::McpUnauthorized))
            {
                return outcome;
            }
        }
        Err(failure::sign_in(&server.config.name))
    }

    /// Reads a resource, such as a picture.
    pub async fn read_resource(
        &self,
        server: &str,
        uri: &str,
        timeout: Duration,
        cancel: CancellationToken,
    ) -> Result<Resource, ToolFailure> {
        let server = self.inner.find(server).ok_or_else(|| failure::unknown_server(server))?;
        let limits = Limits::new(timeout, cancel);
        let reached = server.connection(&limits).await?;
        let outcome = reached.connection.read(&server.config.name, uri, &limits).await;
        server.note_outcome(&reached, &outcome);
        outcome
    }

    /// Ends all processes, gracefully first, and waits until they have ended. No server can be
    /// started after this.
    pub async fn shut_down(&self) {
        let ends: Vec<_> = self
            .inner
            .all()
            .into_iter()
            .map(|server| tokio::spawn(async move { server.shut_down().await }))
            .collect();
        for end in ends {
            let _ = end.await;
        }
    }
}
