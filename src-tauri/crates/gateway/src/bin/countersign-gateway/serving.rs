//! Opens the profile, serves it until a signal arrives, and then stops everything in order.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use contract::{AgentError, Caller, Limits, Reason};
use gateway::{Config, Flags, SessionStore};
use host::{Host, Options, Paths, Sessions};
use shared_sessions::RedisSessions;
use terminal::exit::{Exit, Failure};
use terminal::out::{self, Out};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

use crate::args::Args;
use crate::telemetry::Telemetry;
use crate::{environment, events};

/// How long a process that was just stopped may take to release the data folder.
const LEAVING_TIME: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

pub(crate) fn run(args: &Args, data_dir: PathBuf, out: Out) -> Result<Exit, Failure> {
    if let Some(file) = &args.env_file {
        environment::read_file(file)?;
    }
    let variable = |name: &str| std::env::var(name).ok();
    let telemetry = Telemetry::read_variables(&variable)
        .map_err(|error| Failure { error, exit: Exit::Usage })?;
    events::start(telemetry.as_ref()).map_err(|error| Failure { error, exit: Exit::Usage })?;
    let flags =
        Flags { listen: args.listen, no_token: args.no_token, allow_remote: args.allow_remote };
    let token = Paths::new(Some(data_dir.clone())).gateway_token();
    let config = Config::read_variables(&flags, token, &variable);
    let config = config.map_err(|error| Failure { error, exit: Exit::Usage })?;
    raise_open_file_limit();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        AgentError::internal("runtime", format!("{} cannot start: {error}.", crate::NAME))
    })?;
    let served = runtime.block_on(serve(config, data_dir, out));
    if let Some(telemetry) = telemetry {
        telemetry.stop();
    }
    runtime.shutdown_background();
    served?;
    Ok(Exit::Done)
}

/// Opens the profile, serves it, and closes it.
async fn serve(config: Config, data_dir: PathBuf, out: Out) -> Result<(), AgentError> {
    let options = Options {
        data_dir: Some(data_dir),
        pack_code: shipped_packs::all(),
        credentials_from_environment: true,
        warm_up: true,
        served_packs: Some(gateway::served_packs()),
        sessions: session_store(&config).await?,
        model_silence: Some(config.model_timeout),
        patience: config.patience,
        ..Options::default()
    };
    let host = open(options).await?;
    if let Some(error) = missing_shop_error(&host) {
        host.stop().await;
        return Err(error);
    }
    // Calls of `csign` can connect to this process, for example to read the log or to list pending
    // actions.
    let joined = host::serve_host(&host)
        .inspect_err(|error| tracing::warn!(%error, "further csign calls cannot join this one"))
        .ok();
    let (grace, stopped, unwritten) = (config.grace, OnceLock::new(), Notify::new());
    let (token, model) = (config.token_file.clone(), host.model_label(config.model.as_deref()));
    let ready = |address| {
        report_start(out, &host, address, &model, token.as_deref());
        // If the address could not be printed, the caller cannot know where the server listens, so
        // the server ends.
        if matches!(out::stdout_state(), out::Delivery::Lost(_)) {
            unwritten.notify_one();
        }
    };
    let signals = listen_for_signals();
    let stop = async {
        tokio::select! {
            () = signals => {}
            () = unwritten.notified() => {}
        }
        let _ = stopped.set(Instant::now());
    };
    let served = gateway::serve_gateway(Arc::clone(&host), config, ready, stop).await;
    if let Some(joined) = joined {
        // Clients of the socket get the rest of the grace period that HTTP callers did not use.
        let since = |since: &Instant| grace.saturating_sub(since.elapsed());
        joined.shut_down(stopped.get().map_or(Duration::ZERO, since)).await;
    }
    host.stop().await;
    served
}

/// Prints the address, and notes for the operator.
fn report_start(out: Out, host: &Host, address: SocketAddr, model: &str, token: Option<&Path>) {
    if out.json {
        let address = format!("http://{address}");
        out.event(&serde_json::json!({"listening": address, "model": model}));
    } else {
        out.print_line(format!("listening on http://{address}"));
    }
    if let Some(fault) = host.settings_fault() {
        out.print_error(&fault);
    } else if !host.engine().switches.is_enabled() {
        out.print_note("The assistant is switched off: every message is refused. Set AGENT_ENABLED to true, or switch it on in Settings.");
    } else if !out.json {
        out.print_note(format!("Answers come from: {model}."));
    }
    if let Some(error) = host.missing_packs_error() {
        out.print_error(&error);
    }
    if let Some(token) = token.filter(|_| !out.json) {
        out.print_note(format!("The token is in {}.", token.display()));
    }
}

/// Opens the profile. Retries while another process has it open, because a process that was just
/// stopped may keep the folder a little longer and must not make a restart fail.
async fn open(options: Options) -> Result<Arc<Host>, AgentError> {
    let latest = Instant::now() + LEAVING_TIME;
    let mut told = false;
    loop {
        match Host::open(options.clone()).await {
            Err(error) if error.has_reason(Reason::ProfileInUse) && Instant::now() < latest => {
                if !std::mem::replace(&mut told, true) {
                    tracing::info!(target: "gateway", "the data folder is in use: waiting for whoever may just be leaving it");
                }
                tokio::time::sleep(POLL_INTERVAL).await;
            }
            opened => return opened,
        }
    }
}

/// Returns the error for a missing shop pack, without which the server could answer no message.
fn missing_shop_error(host: &Host) -> Option<AgentError> {
    if !host
        .engine()
        .caller_turns
        .specs(&Caller::chat_api(gateway::served_packs(), Limits::default()))
        .is_empty()
    {
        return None;
    }
    let faulty = || {
        let message = format!(
            "There are no shop tools: the pack {} was not found or has faults.",
            gateway::PACK
        );
        AgentError::internal("no_shop_tools", message)
            .hint("`csign packs list` shows all packs and their faults.")
    };
    Some(host.missing_packs_error().unwrap_or_else(faulty))
}

async fn session_store(config: &Config) -> Result<Sessions, AgentError> {
    match &config.session_store {
        SessionStore::Sqlite => Ok(Sessions::InFile),
        SessionStore::Memory => Ok(Sessions::InMemory),
        SessionStore::Redis { url, prefix } => {
            let shared = RedisSessions::open(url, prefix, config.session_ttl).await?;
            Ok(Sessions::Shared(Arc::new(shared)))
        }
    }
}

/// The number of files that the server may have open. Each stream needs a connection to the client
/// and one to the model, and the system's default limit is much lower.
const FILES: libc::rlim_t = 16_384;

fn raise_open_file_limit() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls get a valid struct, and the limit is raised only up to this process's
    // maximum.
    let raised = unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 && {
            limit.rlim_cur = limit.rlim_cur.max(FILES.min(limit.rlim_max));
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) == 0
        }
    };
    if !raised {
        tracing::warn!(
            "the limit of open files could not be raised: with many streams at once, connections may be refused"
        );
    }
}

/// Returns a future that completes when a signal tells the server to stop. Signals are handled from
/// this call on, so that even a signal right after the address is printed stops the server in
/// order.
fn listen_for_signals() -> impl Future<Output = ()> + Send {
    let [interrupt, terminate] =
        [SignalKind::interrupt(), SignalKind::terminate()].map(|kind| signal(kind).ok());
    async {
        tokio::select! {
            () = wait_for(interrupt) => {}
            () = wait_for(terminate) => {}
        }
    }
}

/// Waits for a signal. If there is no listener, waits forever, and the signal ends the process
/// directly.
async fn wait_for(signal: Option<Signal>) {
    match signal {
        Some(mut signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}
