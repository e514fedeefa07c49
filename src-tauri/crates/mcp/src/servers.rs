//! All servers by pack and name (`pack/name`). The rest of the app reaches servers only through
//! this file. Cheap to create; no server runs until it is needed or started.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use contract::{AgentError, Reason, ServerState, ServerView};
use engine::ports::ToolFailure;
use parking_lot::RwLock;
use serde_json::Value;
use tokio::{
    sync::{Mutex, OwnedRwLockReadGuard},
    time::{Instant, timeout_at},
};
use tokio_util::sync::CancellationToken;

use crate::{
    Asker, Definitions, Reach, Resource, Resume, ServerConfig, SignIn, Timings,
    connection::Limits,
    failure,
    server::{OnChange, Server, ServerListeners},
    sign_in,
};

/// How long a restart of all programs waits for running calls. A call that runs longer is
/// interrupted, and its outcome is reported as unknown.
const CALLS_END: Duration = Duration::from_secs(5);

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
    /// Locked while a server is put, removed or restarted.
    changes: Mutex<()>,
    closing: CancellationToken,
}

impl Inner {
    /// Replaces a server. The old server stays known until it has ended, so that calls which wait
    /// for its restart find the new server.
    async fn put(&self, config: ServerConfig) -> Arc<Server> {
        let key = config.key();
        if let Some(old) = self.find(&key) {
            old.shut_down().await;
        }
        let server = Arc::new(Server::new(config, self.timings, self.listeners.clone()));
        self.by_name.write().insert(key, Arc::clone(&server));
        // The shutdown may have stopped all servers before this server was added.
        if self.closing.is_cancelled() {
            server.stop();
        }
        server
    }

    async fn remove(&self, key: &str) {
        let found = self.by_name.write().remove(key);
        if let Some(found) = found {
            found.shut_down().await;
        }
    }

    /// Whether this server is still used and was not replaced.
    fn has(&self, server: &Arc<Server>) -> bool {
        self.find(&server.config.key()).is_some_and(|found| Arc::ptr_eq(&found, server))
    }

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
    /// Sets time limits that replace the default limits.
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

    /// Sets the asker for the servers' questions. Without an asker, questions are declined.
    #[must_use]
    pub fn asker(mut self, asker: Arc<dyn Asker>) -> Self {
        self.listeners.asker = Some(asker);
        self
    }

    /// Creates the servers, all idle. If a pack has two servers with the same name, the first
    /// server is used.
    pub fn build(self) -> Servers {
        let mut by_name = BTreeMap::new();
        for config in self.configs {
            let key = config.key();
            by_name.entry(key).or_insert_with(|| {
                Arc::new(Server::new(config, self.timings, self.listeners.clone()))
            });
        }
        let (by_name, timings, listeners) = (RwLock::new(by_name), self.timings, self.listeners);
        let (changes, closing) = (Mutex::default(), CancellationToken::new());
        Servers { inner: Arc::new(Inner { by_name, timings, listeners, changes, closing }) }
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

    /// Creates servers with the default time limits and no listener.
    pub fn new(configs: Vec<ServerConfig>) -> Self {
        Self::builder(configs).build()
    }

    /// Returns the state of all servers, ordered by pack and name.
    pub fn views(&self) -> Vec<ServerView> {
        self.inner.all().iter().map(|server| server.view()).collect()
    }

    /// Adds an idle server. A server with the same pack and name is ended first.
    pub async fn put(&self, config: ServerConfig) {
        let _changing = self.inner.changes.lock().await;
        self.inner.put(config).await;
    }

    /// Ends a server and forgets it. An unknown server is not an error.
    pub async fn remove(&self, server: &str) {
        let _changing = self.inner.changes.lock().await;
        self.inner.remove(server).await;
    }

    /// Restarts running programs, because the set of hidden files has changed. Waits a moment for
    /// running calls.
    pub async fn restart_programs(&self) {
        let runs = |server: &Arc<Server>| {
            let state = server.view().state;
            matches!(server.config.reach, Reach::Program(_))
                && matches!(state, ServerState::Starting | ServerState::Ready)
        };
        let until = Instant::now() + CALLS_END;
        for server in self.inner.all().into_iter().filter(runs) {
            // New calls wait until the server has been replaced.
            let _no_calls = tokio::select! {
                no_calls = timeout_at(until, server.calls.write()) => no_calls,
                () = self.inner.closing.cancelled() => return,
            };
            let _changing = self.inner.changes.lock().await;
            // The server may have been removed or replaced in the meantime.
            if self.inner.has(&server) {
                self.inner.put(server.config.clone()).await.start();
            }
        }
    }

    /// Returns a server for a call, and a guard that makes a restart wait.
    async fn begin_call(
        &self,
        key: &str,
        limits: &Limits,
    ) -> Result<(Arc<Server>, OwnedRwLockReadGuard<()>), ToolFailure> {
        loop {
            let server = self.inner.find(key).ok_or_else(|| failure::unknown_server(key))?;
            let name = &server.config.name;
            let call = tokio::select! {
                call = timeout_at(limits.until, Arc::clone(&server.calls).read_owned()) => call,
                () = limits.cancel.cancelled() => return Err(failure::cancelled(name, false)),
            };
            let why = || failure::not_connected(name, &"It is still starting.".into());
            let call = call.map_err(|_| why())?;
            if self.inner.has(&server) {
                return Ok((server, call));
            }
        }
    }

    /// Returns the last lines of a server's error output, oldest first. Returns an empty list for a
    /// server behind an address.
    pub fn log(&self, server: &str) -> Vec<String> {
        self.inner.find(server).map(|server| server.log.lines()).unwrap_or_default()
    }

    /// Starts all servers that do not run, in the background. Must be called within a tokio
    /// runtime.
    pub fn start_all(&self) {
        for server in self.inner.all() {
            server.start();
        }
    }

    /// Starts one server in the background, if it does not run.
    pub fn start(&self, server: &str) {
        if let Some(server) = self.inner.find(server) {
            server.start();
        }
    }

    /// Ends the connection to a server whose stored tokens were deleted. The next call opens a new
    /// connection.
    pub fn disconnect(&self, server: &str) {
        if let Some(server) = self.inner.find(server) {
            server.disconnect();
        }
    }

    /// Begins a sign-in of the user to a server. Cancels a sign-in that is already running.
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

    /// Calls a tool that changes nothing. Starts the server if necessary. The timeout includes the
    /// start.
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

    /// Calls a tool that changes something. `resume` decides whether the tool may be called again
    /// with answers to the server's questions.
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
        let (server, _call) = self.begin_call(server, &limits).await?;
        // There are only two rounds, because a server that refuses every token must not be asked
        // forever.
        for round in 0..2 {
            let reached = server.connection(&limits).await?;
            // This is checked after the connection is open, because opening lists the tools, and
            // this tool may have changed.
            server.check(tool)?;
            let outcome = reached
                .connection
                .call(&server.config.name, tool, arguments.clone(), &limits, resume)
                .await;
            server.note_outcome(&reached, &outcome);
            if failure::is_bad_request(&outcome) {
                server.check_doubtful(&reached);
            }
            // A token of the app has expired. The server refused before the call had any effect,
            // and the next connection gets a new token.
            let is_expired = server.renews_tokens()
                && outcome
                    .as_ref()
                    .is_err_and(|failure| failure.error.has_reason(Reason::McpUnauthorized));
            // The server has forgotten the session. A read is repeated in a new session.
            let is_forgotten = round == 0
                && resume.is_none()
                && failure::was_not_read(&outcome)
                && server.forget_session(&reached);
            if !is_expired && !is_forgotten {
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
        let limits = Limits::new(timeout, cancel);
        let (server, _call) = self.begin_call(server, &limits).await?;
        let reached = server.connection(&limits).await?;
        let outcome = reached.connection.read(&server.config.name, uri, &limits).await;
        server.note_outcome(&reached, &outcome);
        outcome
    }

    /// Ends all processes, first gracefully, and waits until they have ended. No server can be
    /// started after this.
    pub async fn shut_down(&self) {
        self.inner.closing.cancel();
        let ends: Vec<_> = self
            .inner
            .all()
            .into_iter()
            // The servers are shut down in parallel, because each server may take its whole grace
            // period.
            .map(|server| tokio::spawn(async move { server.shut_down().await }))
            .collect();
        for end in ends {
            let _ = end.await;
        }
    }
}
