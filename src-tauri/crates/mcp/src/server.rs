//! One server's life: idle until needed, starting once for all who wait, ready, backing off after a crash, stopped.
//! Every transition goes through one place, which tells the listener.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use contract::{ServerState, ServerView};
use engine::ports::ToolFailure;
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use crate::{
    ServerConfig, Timings,
    connection::{self, Connection, Limits, Session},
    failure,
    servers::OnChange,
};

/// Answers that may be missing in a row before a server counts as hung and is started anew.
const HUNG_AFTER: u32 = 2;

/// How often to look again whether a server that just went has been noticed.
const JUST_GONE: Duration = Duration::from_millis(20);

/// Where a server is. `attempt` numbers the starts, so that a waiter knows which failure is the one it waited for.
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
        why: String,
    },
    /// There is no program to start.
    Unusable {
        why: String,
    },
    Stopped,
}

struct Life {
    phase: Phase,
    attempts: u64,
    /// Failed starts and crashes since the last answer.
    failures: u32,
    /// How often it was started again after a crash.
    restarts: u32,
    missing_answers: u32,
    /// Ends the present process.
    stop: CancellationToken,
    keeper: Option<JoinHandle<()>>,
}

/// A configured server.
pub(crate) struct Server {
    pub(crate) config: ServerConfig,
    timings: Timings,
    on_change: Option<OnChange>,
    life: Mutex<Life>,
    changed: watch::Sender<u64>,
}

/// What a caller has to do next to get a connection.
enum Next {
    Use(Arc<Connection>),
    WaitForStart(u64),
    WaitUntil(Instant, String),
    Fail(ToolFailure),
}

impl Server {
    pub(crate) fn new(config: ServerConfig, timings: Timings, on_change: Option<OnChange>) -> Self {
        let stop = CancellationToken::new();
        let phase = match &config.program {
            Ok(_) => Phase::Idle,
            Err(problem) => Phase::Unusable { why: problem.to_string() },
        };
        let life = Life { phase, attempts: 0, failures: 0, restarts: 0, missing_answers: 0, stop, keeper: None };
        Self { config, timings, on_change, life: Mutex::new(life), changed: watch::Sender::new(0) }
    }

    /// As the window shows it.
    pub(crate) fn view(&self) -> ServerView {
        self.view_of(&self.lock())
    }

    fn view_of(&self, life: &Life) -> ServerView {
        let (state, message, pid) = match &life.phase {
            Phase::Idle => (ServerState::Idle, None, None),
            Phase::Starting { .. } => (ServerState::Starting, None, None),
            Phase::Ready { connection, .. } => (ServerState::Ready, None, Some(connection.pid)),
            // After several failures in a row it is no longer a hiccup.
            Phase::BackingOff { why, .. } if life.failures >= 3 => (ServerState::Failed, Some(why.clone()), None),
            Phase::BackingOff { why, .. } => (ServerState::BackingOff, Some(why.clone()), None),
            Phase::Unusable { why } => (ServerState::Failed, Some(why.clone()), None),
            Phase::Stopped => (ServerState::Stopped, None, None),
        };
        ServerView { name: self.config.name.clone(), pack: self.config.pack.clone(), state, message, restarts: life.restarts, pid }
    }

    /// Starts it unless it runs; does not wait.
    pub(crate) fn start(self: &Arc<Self>) {
        let mut life = self.lock();
        if matches!(life.phase, Phase::Idle) {
            self.begin(&mut life);
        }
        self.tell(life);
    }

    /// A connection, started if need be. Waits at most as the limits say.
    pub(crate) async fn connection(self: &Arc<Self>, limits: &Limits) -> Result<Arc<Connection>, ToolFailure> {
        let name = &self.config.name;
        let mut changes = self.changed.subscribe();
        let mut waited_for = None;
        loop {
            changes.mark_unchanged();
            let wake = match self.next(waited_for) {
                Next::Use(connection) => return Ok(connection),
                Next::Fail(failure) => return Err(failure),
                Next::WaitForStart(attempt) => {
                    waited_for = Some(attempt);
                    limits.until
                }
                Next::WaitUntil(at, why) if at >= limits.until => return Err(failure::not_connected(name, &why)),
                Next::WaitUntil(at, _) => at,
            };
            tokio::select! {
                _ = changes.changed() => {}
                () = sleep_until(wake) => {}
                () = limits.cancel.cancelled() => return Err(failure::cancelled(name, false)),
            }
            if Instant::now() >= limits.until {
                return Err(failure::not_connected(name, "It is still starting."));
            }
        }
    }

    fn next(self: &Arc<Self>, waited_for: Option<u64>) -> Next {
        let mut life = self.lock();
        match &life.phase {
            Phase::Ready { connection, .. } if !connection.closed() => Next::Use(Arc::clone(connection)),
            // It has just gone; its keeper is about to say so.
            Phase::Ready { .. } => Next::WaitUntil(Instant::now() + JUST_GONE, "It has just stopped.".to_owned()),
            Phase::Starting { attempt } => Next::WaitForStart(*attempt),
            Phase::BackingOff { attempt, why, .. } if waited_for == Some(*attempt) => Next::Fail(failure::not_connected(&self.config.name, why)),
            Phase::BackingOff { until, why, .. } if *until > Instant::now() => Next::WaitUntil(*until, why.clone()),
            Phase::Idle | Phase::BackingOff { .. } => {
                let attempt = self.begin(&mut life);
                self.tell(life);
                Next::WaitForStart(attempt)
            }
            Phase::Unusable { why } => Next::Fail(failure::unusable(&self.config.name, why)),
            Phase::Stopped => Next::Fail(failure::stopped(&self.config.name)),
        }
    }

    /// Begins a start. Its task owns the process until that is gone and reaped, whoever stops waiting.
    fn begin(self: &Arc<Self>, life: &mut Life) -> u64 {
        life.attempts += 1;
        let attempt = life.attempts;
        life.restarts = u32::try_from(attempt - 1).unwrap_or(u32::MAX);
        life.phase = Phase::Starting { attempt };
        life.stop = CancellationToken::new();
        let (server, stop) = (Arc::clone(self), life.stop.clone());
        // A stop may have to wait for the process before this one, too.
        let before = life.keeper.take();
        life.keeper = Some(tokio::spawn(async move {
            server.keep(attempt, stop).await;
            if let Some(before) = before {
                let _ = before.await;
            }
        }));
        attempt
    }

    async fn keep(&self, attempt: u64, stop: CancellationToken) {
        let opened = tokio::select! {
            opened = connection::open(&self.config, &self.timings) => opened,
            // Dropping the half-open connection kills its process.
            () = stop.cancelled() => return,
        };
        match opened {
            Ok((connection, session)) => self.watch(attempt, connection, session, stop).await,
            Err(why) => self.failed(attempt, why),
        }
    }

    async fn watch(&self, attempt: u64, connection: Connection, session: Session, stop: CancellationToken) {
        {
            let mut life = self.lock();
            if matches!(life.phase, Phase::Starting { attempt: of } if of == attempt) {
                life.phase = Phase::Ready { connection: Arc::new(connection), attempt };
                life.missing_answers = 0;
            }
            self.tell(life);
        }
        let why = session.over(stop).await;
        self.failed(attempt, why);
    }

    /// A start that failed or a process that is gone: the next start waits.
    fn failed(&self, of: u64, why: String) {
        let mut life = self.lock();
        let current = match life.phase {
            Phase::Starting { attempt } | Phase::Ready { attempt, .. } => attempt == of,
            Phase::Idle | Phase::BackingOff { .. } | Phase::Unusable { .. } | Phase::Stopped => false,
        };
        if !current {
            return;
        }
        life.failures += 1;
        let wait = self.timings.wait_after(life.failures);
        tracing::warn!(server = %self.config.name, %why, failures = life.failures, "an MCP server is gone");
        life.phase = Phase::BackingOff { until: Instant::now() + wait, attempt: of, why };
        self.tell(life);
    }

    /// What a call's end says about the server's health.
    pub(crate) fn heard<T>(&self, outcome: &Result<T, ToolFailure>) {
        let mut life = self.lock();
        let answered = match outcome {
            Ok(_) => true,
            // A refusal by the protocol carries a code; a lost connection does not.
            Err(failure) => matches!(failure.error.reason_text(), Some("mcp_tool_error" | "invalid_response")) || failure.error.details.contains_key("code"),
        };
        if answered {
            life.failures = 0;
            life.missing_answers = 0;
            return;
        }
        if outcome.as_ref().is_err_and(|failure| failure.error.reason_text() == Some("mcp_timeout")) {
            life.missing_answers += 1;
            if life.missing_answers >= HUNG_AFTER
                && let Phase::Ready { attempt, .. } = life.phase
            {
                life.stop.cancel();
                drop(life);
                self.failed(attempt, "It did not answer any more and was ended.".to_owned());
            }
        }
    }

    /// Asks the process to end, without waiting. It is not started again.
    pub(crate) fn stop(&self) -> Option<JoinHandle<()>> {
        let mut life = self.lock();
        life.phase = Phase::Stopped;
        life.stop.cancel();
        let keeper = life.keeper.take();
        self.tell(life);
        keeper
    }

    /// Ends the process, if any, and waits until it is reaped. It is not started again.
    pub(crate) async fn shut_down(&self) {
        if let Some(keeper) = self.stop() {
            let _ = keeper.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes those who wait and tells the listener, after the lock is given back.
    fn tell(&self, life: MutexGuard<'_, Life>) {
        let view = self.view_of(&life);
        drop(life);
        self.changed.send_modify(|count| *count = count.wrapping_add(1));
        if let Some(on_change) = &self.on_change {
            on_change(view);
        }
    }
}
