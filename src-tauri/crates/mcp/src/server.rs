//! The life cycle of one server: idle until needed, started once for all waiting callers, ready,
//! backing off after a crash, waiting for a sign-in, stopped. Every transition goes through one
//! function, which notifies the listener. `health` judges a server by the outcomes of its calls.

mod health;

use std::{sync::Arc, time::Duration};

use contract::{
    ServerState, ServerView, Text,
    manifest::{OauthGrant, ServerOauth},
    text,
};
use engine::ports::ToolFailure;
use parking_lot::{Mutex, MutexGuard};
use tokio::{
    sync::{RwLock, watch},
    task::JoinHandle,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::{
    Asker, Definitions, Reach, ServerConfig, Timings,
    connection::{self, Connection, Limits, OpenError, Session},
    failure,
    handler::Handler,
    log::ServerLog,
};

/// How often to check whether the end of a server has been recorded.
const NOTICE_INTERVAL: Duration = Duration::from_millis(20);

/// The state of a server. `attempt` numbers the starts, so that a waiting caller knows whether a
/// failure belongs to the start it waited for.
enum Phase {
    Idle,
    Starting {
        attempt: u64,
    },
    Ready {
        connection: Arc<Connection>,
        attempt: u64,
    },
    BackingOff {
        until: Instant,
        attempt: u64,
        why: Text,
    },
    /// The user must sign in.
    SignIn {
        /// Why the last sign-in failed.
        why: Option<Text>,
    },
    /// There is no program that could be started.
    Unusable {
        why: Text,
    },
    Stopped,
}

struct Life {
    phase: Phase,
    attempts: u64,
    /// Failed starts and crashes since the last answer.
    failures: u32,
    /// How often the server was restarted after a crash.
    restarts: u32,
    missing_answers: u32,
    /// Ends the current process or connection.
    stop: CancellationToken,
    keeper: Option<JoinHandle<()>>,
    /// The server's requirements for a sign-in.
    challenge: Option<String>,
    /// Ends the current sign-in.
    sign_in: CancellationToken,
}

/// Called after every change of a server. Must return quickly.
pub type OnChange = Arc<dyn Fn(ServerView) + Send + Sync>;

/// Receivers of a server's changes, tool lists and questions.
#[derive(Clone, Default)]
pub(crate) struct ServerListeners {
    pub(crate) on_change: Option<OnChange>,
    pub(crate) definitions: Option<Arc<dyn Definitions>>,
    pub(crate) asker: Option<Arc<dyn Asker>>,
}

/// A configured server.
pub(crate) struct Server {
    pub(crate) config: ServerConfig,
    timings: Timings,
    listeners: ServerListeners,
    /// The last lines of the server's error output.
    pub(crate) log: ServerLog,
    life: Mutex<Life>,
    changed: watch::Sender<u64>,
    /// Read-locked by each running call, so that a restart can wait for the calls.
    pub(crate) calls: Arc<RwLock<()>>,
}

/// A connection, with the number of the start that opened it.
pub(crate) struct ServerConnection {
    pub(crate) connection: Arc<Connection>,
    attempt: u64,
}

/// The next step of a caller that needs a connection.
enum Next {
    Use(ServerConnection),
    WaitForStart(u64),
    WaitUntil(Instant, Text),
    Fail(ToolFailure),
}

impl Server {
    pub(crate) fn new(config: ServerConfig, timings: Timings, listeners: ServerListeners) -> Self {
        let (stop, sign_in) = (CancellationToken::new(), CancellationToken::new());
        let phase = config.find_fault().map_or(Phase::Idle, |why| Phase::Unusable { why });
        let life = Life {
            phase,
            attempts: 0,
            failures: 0,
            restarts: 0,
            missing_answers: 0,
            stop,
            keeper: None,
            challenge: None,
            sign_in,
        };
        let timings = timings.of(&config);
        let (log, changed) = (ServerLog::default(), watch::Sender::new(0));
        let calls = Arc::default();
        Self { config, timings, listeners, log, life: Mutex::new(life), changed, calls }
    }

    fn oauth(&self) -> Option<&ServerOauth> {
        match &self.config.reach {
            Reach::Program(_) => None,
            Reach::Http(address) => address.http.oauth.as_ref(),
        }
    }

    /// Whether a new connection gets new tokens without a sign-in of the user.
    pub(crate) fn renews_tokens(&self) -> bool {
        self.oauth().is_some_and(|oauth| oauth.grant == OauthGrant::ClientCredentials)
    }

    /// Whether new tokens need a sign-in of the user.
    fn needs_user_sign_in(&self) -> bool {
        self.oauth().is_some_and(|oauth| oauth.grant == OauthGrant::AuthorizationCode)
    }

    /// Checks whether the tool may be called with its current definition.
    pub(crate) fn check(&self, tool: &str) -> Result<(), ToolFailure> {
        let Some(definitions) = &self.listeners.definitions else { return Ok(()) };
        definitions
            .check(&self.config.pack, &self.config.name, tool)
            .map_err(failure::tool_not_allowed)
    }

    /// Returns the server's state for the window.
    pub(crate) fn view(&self) -> ServerView {
        self.view_of(&self.lock())
    }

    fn view_of(&self, life: &Life) -> ServerView {
        let (state, message, pid) = match &life.phase {
            Phase::Idle => (ServerState::Idle, None, None),
            Phase::Starting { .. } => (ServerState::Starting, None, None),
            Phase::Ready { connection, .. } => (ServerState::Ready, None, connection.pid),
            // Several failures in a row count as a failure of the server.
            Phase::BackingOff { why, .. } if life.failures >= 3 => {
                (ServerState::Failed, Some(why.clone()), None)
            }
            Phase::BackingOff { why, .. } => (ServerState::BackingOff, Some(why.clone()), None),
            Phase::SignIn { why } => (ServerState::SignIn, why.clone(), None),
            Phase::Unusable { why } => (ServerState::Failed, Some(why.clone()), None),
            Phase::Stopped => (ServerState::Stopped, None, None),
        };
        let (name, pack) = (self.config.name.clone(), self.config.pack.clone());
        let needs_user_sign_in = self.needs_user_sign_in();
        let http = match &self.config.reach {
            Reach::Program(_) => None,
            Reach::Http(address) => Some(&address.http),
        };
        let (address, private_network) =
            (http.map(|http| http.url.clone()), http.is_some_and(|http| http.private_network));
        ServerView {
            name,
            pack,
            state,
            message,
            restarts: life.restarts,
            pid,
            address,
            private_network,
            signs_in: needs_user_sign_in,
        }
    }

    /// Starts the server unless it is running. Does not wait.
    pub(crate) fn start(self: &Arc<Self>) {
        let mut life = self.lock();
        if matches!(life.phase, Phase::Idle) {
            self.begin(&mut life);
        }
        self.publish(life);
    }

    /// Returns a connection, and starts the server if necessary. Waits at most as long as the
    /// limits allow.
    pub(crate) async fn connection(
        self: &Arc<Self>,
        limits: &Limits,
    ) -> Result<ServerConnection, ToolFailure> {
        let name = &self.config.name;
        let mut changes = self.changed.subscribe();
        let mut waited_for = None;
        loop {
            // The mark is set before the state is read, so that a change in between ends the wait
            // at once.
            changes.mark_unchanged();
            let wake = match self.next_step(waited_for) {
                Next::Use(reached) => return Ok(reached),
                Next::Fail(failure) => return Err(failure),
                Next::WaitForStart(attempt) => {
                    waited_for = Some(attempt);
                    limits.until
                }
                Next::WaitUntil(at, why) if at >= limits.until => {
                    return Err(failure::not_connected(name, &why));
                }
                Next::WaitUntil(at, _) => at,
            };
            tokio::select! {
                _ = changes.changed() => {}
                () = sleep_until(wake) => {}
                () = limits.cancel.cancelled() => return Err(failure::cancelled(name, false)),
            }
            if Instant::now() >= limits.until {
                return Err(failure::not_connected(name, &"It is still starting.".into()));
            }
        }
    }

    fn next_step(self: &Arc<Self>, waited_for: Option<u64>) -> Next {
        let mut life = self.lock();
        match &life.phase {
            Phase::Ready { connection, attempt } if !connection.is_closed() => {
                Next::Use(ServerConnection {
                    connection: Arc::clone(connection),
                    attempt: *attempt,
                })
            }
            // The server has just ended, and its task is about to record that.
            Phase::Ready { .. } => {
                Next::WaitUntil(Instant::now() + NOTICE_INTERVAL, "It has just stopped.".into())
            }
            Phase::Starting { attempt } => Next::WaitForStart(*attempt),
            // The start that this caller waited for has failed. Waiting for the next start could
            // take forever.
            Phase::BackingOff { attempt, why, .. } if waited_for == Some(*attempt) => {
                Next::Fail(failure::not_connected(&self.config.name, why))
            }
            Phase::BackingOff { until, why, .. } if *until > Instant::now() => {
                Next::WaitUntil(*until, why.clone())
            }
            Phase::Idle | Phase::BackingOff { .. } => {
                let attempt = self.begin(&mut life);
                self.publish(life);
                Next::WaitForStart(attempt)
            }
            Phase::SignIn { .. } => Next::Fail(failure::sign_in(&self.config.name)),
            Phase::Unusable { why } => {
                Next::Fail(failure::unusable_program(&self.config.name, why))
            }
            Phase::Stopped => Next::Fail(failure::app_closing(&self.config.name)),
        }
    }

    /// Begins a start. The start's task owns the process until the process has been reaped, even if
    /// no caller waits any more.
    fn begin(self: &Arc<Self>, life: &mut Life) -> u64 {
        life.attempts += 1;
        let attempt = life.attempts;
        // The first start is not a restart.
        life.restarts = u32::try_from(attempt - 1).unwrap_or(u32::MAX);
        life.phase = Phase::Starting { attempt };
        life.stop = CancellationToken::new();
        let (server, stop) = (Arc::clone(self), life.stop.clone());
        // Stopping also waits for the end of the previous process.
        let before = life.keeper.take();
        life.keeper = Some(tokio::spawn(async move {
            server.run_connection(attempt, stop).await;
            if let Some(before) = before {
                let _ = before.await;
            }
        }));
        attempt
    }

    async fn run_connection(self: &Arc<Self>, attempt: u64, stop: CancellationToken) {
        let handler = Handler::new(
            self.config.pack.clone(),
            self.config.name.clone(),
            self.listeners.asker.clone(),
        );
        let opened = tokio::select! {
            opened = connection::open(&self.config, &self.timings, handler, &self.log) => opened,
            // Dropping the half-open connection kills its process.
            () = stop.cancelled() => return,
        };
        match opened {
            Ok((connection, session)) => self.watch(attempt, connection, session, stop).await,
            Err(open_error) => self.fail_opening(attempt, open_error),
        }
    }

    fn fail_opening(&self, attempt: u64, why: OpenError) {
        match why {
            OpenError::Because(why) => self.fail_attempt(attempt, why),
            OpenError::SignIn(challenge) if self.needs_user_sign_in() => {
                self.require_sign_in(attempt, challenge)
            }
            OpenError::SignIn(_) => self.fail_attempt(
                attempt,
                "It rejects the key, or requires a sign-in that is not set up. Enter its key, or add it with a sign-in.".into(),
            ),
        }
    }

    /// Lists the tools and passes them to the definitions.
    async fn list(&self, connection: &Connection) -> Result<(), OpenError> {
        let Some(definitions) = &self.listeners.definitions else { return Ok(()) };
        let found = timeout(self.timings.start, connection.tools()).await.unwrap_or_else(|_| {
            Err(OpenError::Because("Its tools were not listed in time.".into()))
        })?;
        for odd in &found.unreadable {
            tracing::warn!(server = %self.config.name, tool = %odd.name, why = %odd.why, "a tool cannot be read");
        }
        let (pack, server) = (&self.config.pack, &self.config.name);
        definitions.record_unreadable(pack, server, &found.unreadable);
        definitions.record_tools(pack, server, &found.tools);
        Ok(())
    }

    async fn watch(
        self: &Arc<Self>,
        attempt: u64,
        connection: Connection,
        session: Session,
        stop: CancellationToken,
    ) {
        // The tools are listed before any call, because their definitions may have changed.
        if let Err(open_error) = self.list(&connection).await {
            stop.cancel();
            session.wait_for_end(stop).await;
            return self.fail_opening(attempt, open_error);
        }
        let (connection, changed) = (Arc::new(connection), Arc::clone(&session.changed));
        let _listing = self.listeners.definitions.is_some().then(|| {
            let (server, connection) = (Arc::clone(self), Arc::clone(&connection));
            connection.listen(Arc::clone(&changed));
            AbortOnDropHandle::new(tokio::spawn(async move {
                loop {
                    changed.notified().await;
                    if let Err(open_error) = server.list(&connection).await {
                        tracing::warn!(server = %server.config.name, "changed tools could not be looked at");
                        server.lock().stop.cancel();
                        return server.fail_opening(attempt, open_error);
                    }
                }
            }))
        });
        {
            let mut life = self.lock();
            // The server may have been stopped while its tools were listed.
            if matches!(life.phase, Phase::Starting { attempt: of } if of == attempt) {
                life.phase = Phase::Ready { connection, attempt };
                life.missing_answers = 0;
                life.challenge = None;
            }
            self.publish(life);
        }
        let why = session.wait_for_end(stop).await;
        self.fail_attempt(attempt, why);
    }

    /// Ends a connection that cannot be trusted any more. The next call opens a new connection.
    fn drop_connection(&self, attempt: u64, why: Text) {
        self.lock().stop.cancel();
        self.fail_attempt(attempt, why);
    }

    /// Marks the server as waiting for a sign-in.
    fn require_sign_in(&self, of: u64, challenge: Option<String>) {
        let mut life = self.lock();
        let current = match life.phase {
            Phase::Starting { attempt } | Phase::Ready { attempt, .. } => attempt == of,
            Phase::Idle
            | Phase::BackingOff { .. }
            | Phase::SignIn { .. }
            | Phase::Unusable { .. }
            | Phase::Stopped => false,
        };
        if current {
            life.stop.cancel();
            // If a refusal contains no requirements, the requirements of an earlier refusal still
            // apply.
            life.challenge = challenge.or(life.challenge.take());
            life.phase = Phase::SignIn { why: None };
        }
        self.publish(life);
    }

    /// Ends the connection, if there is one.
    pub(crate) fn disconnect(&self) {
        let mut life = self.lock();
        if !matches!(life.phase, Phase::Stopped | Phase::Unusable { .. }) {
            life.stop.cancel();
            life.phase = Phase::Idle;
        }
        self.publish(life);
    }

    /// Returns the server's requirements for a sign-in.
    pub(crate) fn sign_in_challenge(&self) -> Option<String> {
        self.lock().challenge.clone()
    }

    /// Cancels the current sign-in, if there is one. Returns the token that ends the next sign-in.
    pub(crate) fn replace_sign_in(&self) -> CancellationToken {
        let stop = CancellationToken::new();
        // Two simultaneous sign-ins would wait for the same answer of the browser.
        std::mem::replace(&mut self.lock().sign_in, stop.clone()).cancel();
        stop
    }

    /// Records the result of a sign-in.
    pub(crate) fn finish_sign_in(self: &Arc<Self>, done: Result<(), Text>) {
        let mut life = self.lock();
        match (done, &life.phase) {
            (_, Phase::Stopped | Phase::Unusable { .. }) => {}
            (Ok(()), _) => {
                life.stop.cancel();
                life.failures = 0;
                self.begin(&mut life);
            }
            (Err(why), Phase::SignIn { .. }) => {
                life.phase =
                    Phase::SignIn { why: Some(text!("The sign-in did not succeed: {why}.", why)) }
            }
            (
                Err(_),
                Phase::Idle
                | Phase::Starting { .. }
                | Phase::Ready { .. }
                | Phase::BackingOff { .. },
            ) => {}
        }
        self.publish(life);
    }

    /// Records a failed start or the end of a process. The next start must wait.
    fn fail_attempt(&self, of: u64, why: Text) {
        let mut life = self.lock();
        let current = match life.phase {
            Phase::Starting { attempt } | Phase::Ready { attempt, .. } => attempt == of,
            Phase::Idle
            | Phase::BackingOff { .. }
            | Phase::SignIn { .. }
            | Phase::Unusable { .. }
            | Phase::Stopped => false,
        };
        if !current {
            return;
        }
        life.failures += 1;
        // The wait is needed because a server that fails at once would otherwise be started without
        // pause.
        let wait = self.timings.wait_after(life.failures);
        tracing::warn!(server = %self.config.name, %why, failures = life.failures, "an MCP server is gone");
        life.phase = Phase::BackingOff { until: Instant::now() + wait, attempt: of, why };
        self.publish(life);
    }

    /// Asks the process to end, without waiting. The server is not started again.
    pub(crate) fn stop(&self) -> Option<JoinHandle<()>> {
        let mut life = self.lock();
        life.phase = Phase::Stopped;
        life.stop.cancel();
        life.sign_in.cancel();
        let keeper = life.keeper.take();
        self.publish(life);
        keeper
    }

    /// Ends the process, if there is one, and waits until it is reaped. The server is not started
    /// again.
    pub(crate) async fn shut_down(&self) {
        if let Some(keeper) = self.stop() {
            let _ = keeper.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Life> {
        self.life.lock()
    }

    /// Wakes all waiting callers and notifies the listener, after releasing the lock.
    fn publish(&self, life: MutexGuard<'_, Life>) {
        let view = self.view_of(&life);
        drop(life);
        self.changed.send_modify(|count| *count = count.wrapping_add(1));
        if let Some(on_change) = &self.listeners.on_change {
            on_change(view);
        }
    }
}
