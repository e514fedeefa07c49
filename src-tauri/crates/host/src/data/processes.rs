//! The processes that answer questions, each with the least rights: the query process reads the
//! parts of all sources, and the process of a database reaches its forwarder only. They are MCP
//! servers over pipes, started at the first question, restarted after a crash, and ended when nobody
//! has asked for some minutes. It must not know what is asked.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use contract::{AgentError, ErrorCode, Reason, SourceName, text};
use guard::{Confinement, Limits, Network};
use mcp::{
    Confined, FileChanges, Hidden, Hides, Program, ProgramError, Reach, ServerConfig, Servers,
};
use parking_lot::Mutex;
use serde::{Serialize, de::DeserializeOwned};
use tokio::sync::RwLock;
use tokio_util::sync::CancellationToken;

use super::{
    failures::{error_of, removed_meanwhile, without_paths},
    forwarding::{Forwarder, Reachable},
    storage::Storage,
};

/// The program of the pack `data`, beside the app's own programs.
const PROGRAM: &str = "csign-data";
/// The variable with the folder of driver libraries, for development.
pub(super) const DRIVERS: &str = "CSIGN_DATA_DRIVERS";
/// The folders of driver libraries, relative to that of the program, and of a package.
const DRIVER_FOLDERS: [&str; 2] = ["data-drivers", "../data-drivers"];
const INSTALLED_DRIVERS: &str = "/usr/lib/countersign/data-drivers";

/// The variables by which drivers find a proxy.
const PROXY: [&str; 3] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"];

/// The pack that the processes belong to, as names of servers need one.
const PACK: &str = "data";
/// The query process, and its folder.
pub(super) const QUERIES: &str = "queries";

/// The memory that DuckDB may use for a question, and the threads.
pub(super) const QUERY_MEMORY: u64 = 1 << 30;
const QUERY_THREADS: u32 = 4;
/// The address space of a process. Libraries reserve much more than they use.
const MEMORY: u64 = 16 << 30;
/// The most bytes of one file that a question spills.
pub(super) const SPILL: u64 = 4 << 30;
pub(super) const FILES: u64 = 512;

/// How much longer than a question's own limit its answer may take.
const SLACK: Duration = Duration::from_secs(15);

/// A process that may run now.
struct Process {
    config: ServerConfig,
    /// Read-locked by each question, so that the process is not ended while it answers.
    asking: RwLock<()>,
    /// The time of the last question. None if nobody asked since the process was ended.
    asked_at: Mutex<Option<Instant>>,
}

impl Process {
    fn new(config: ServerConfig) -> Arc<Self> {
        Arc::new(Self { config, asking: RwLock::default(), asked_at: Mutex::default() })
    }

    fn note_question(&self) {
        *self.asked_at.lock() = Some(Instant::now());
    }

    fn was_asked(&self) -> bool {
        self.asked_at.lock().is_some()
    }

    fn has_rested(&self, idle: Duration) -> bool {
        self.asked_at.lock().is_some_and(|at| at.elapsed() >= idle)
    }
}

/// The query process and those of databases.
pub(super) struct Processes {
    /// The program, or why it cannot be used.
    program: Result<PathBuf, ProgramError>,
    storage: Storage,
    servers: Servers,
    /// The processes by the key of their server.
    known: Mutex<BTreeMap<String, Arc<Process>>>,
    /// How long a process without questions runs.
    idle: Duration,
    /// The prepared databases by source. Each forwarder keeps its port as long as the app runs.
    databases: Mutex<BTreeMap<SourceName, Prepared>>,
    /// The sources whose database could not be reached by the last question.
    unreachable: Mutex<BTreeSet<SourceName>>,
    /// The lock that is held while a database is prepared, so that questions at the same time get
    /// the same process.
    preparing: tokio::sync::Mutex<()>,
}

/// A process of a database that was prepared.
struct Prepared {
    needs: DatabaseNeeds,
    forwarder: Option<Arc<Forwarder>>,
}

/// The needs of the process of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DatabaseNeeds {
    /// The address without its secret, for messages.
    pub(super) address: String,
    pub(super) reachable: Reachable,
    /// The library of a driver that a person accepted.
    pub(super) library: Option<PathBuf>,
    /// The file with the certificates of authorities, which the process may read.
    pub(super) certificates: Option<PathBuf>,
}

/// Returns the files that the program needs to run: itself and the folders of driver libraries.
pub(super) fn programs_files(program: &Path) -> Vec<PathBuf> {
    let folder = program.parent().unwrap_or(program);
    let named = std::env::var_os(DRIVERS).map(PathBuf::from);
    let beside = DRIVER_FOLDERS.iter().map(|below| folder.join(below));
    let all = named.into_iter().chain(beside).chain([PathBuf::from(INSTALLED_DRIVERS)]);
    let drivers = all.filter_map(|folder| folder.canonicalize().ok());
    std::iter::once(program.to_owned()).chain(drivers).collect()
}

/// The restrictions of a process.
#[derive(Debug)]
struct DataVeil(Confined);

impl Hides for DataVeil {
    fn hidden(&self) -> Hidden {
        Hidden::default()
    }

    fn confinement(&self) -> Option<Confined> {
        Some(self.0.clone())
    }
}

impl Processes {
    pub(super) fn new(storage: Storage, program_dir: &Path, idle: Duration) -> Self {
        // The program is one of the app, so no pack folder is searched.
        let program = mcp::resolve_program(PROGRAM, program_dir, program_dir);
        let queries = query_config(&program, &storage);
        let known = BTreeMap::from([(queries.key(), Process::new(queries.clone()))]);
        let servers = Servers::new(vec![queries]);
        let (known, databases) = (Mutex::new(known), Mutex::default());
        let preparing = tokio::sync::Mutex::default();
        let unreachable = Mutex::default();
        Self { program, storage, servers, known, idle, databases, unreachable, preparing }
    }

    /// Returns how long a process without questions runs.
    pub(super) fn idle(&self) -> Duration {
        self.idle
    }

    /// Returns the program. Fails with the remedy if it is missing.
    pub(super) fn program(&self) -> Result<&Path, AgentError> {
        self.program.as_deref().map_err(|problem| {
            AgentError::internal(
                "data_program_missing",
                text!("Data cannot be read: {problem}", problem = problem.text()),
            )
            .hint("Reinstall Countersign. In a source tree, run `make programs` first.")
        })
    }

    /// Asks the query process. The parts must not change while it answers.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        tool: &str,
        arguments: &(impl Serialize + Sync),
        limit: Duration,
        cancel: CancellationToken,
    ) -> Result<T, AgentError> {
        self.program()?;
        // A server's working folder must exist before its start.
        self.storage.make_scratch(QUERIES)?;
        self.call(&format!("{PACK}/{QUERIES}"), tool, arguments, limit, cancel).await
    }

    /// Asks the process of a database.
    pub(super) async fn ask_database<T: DeserializeOwned>(
        &self,
        source: &SourceName,
        tool: &str,
        arguments: &(impl Serialize + Sync),
        limit: Duration,
        cancel: CancellationToken,
    ) -> Result<T, AgentError> {
        self.program()?;
        let key = format!("{PACK}/{}", database_name(source));
        let answer = self.call(&key, tool, arguments, limit, cancel).await;
        let answer = answer.map_err(|error| self.explain(source, error));
        self.note_reached(source, answer.as_ref().err());
        answer
    }

    /// Whether the database of a source could not be reached by the last question. Nobody tries to
    /// reach it for this.
    pub(super) fn is_unreachable(&self, source: &SourceName) -> bool {
        self.unreachable.lock().contains(source)
    }

    fn note_reached(&self, source: &SourceName, error: Option<&AgentError>) {
        let is_out_of_reach = error.is_some_and(|error| {
            error.has_reason(Reason::DatabaseUnreachable)
                || error.has_reason(Reason::DatabaseGone)
                || error.has_reason(Reason::DatabasePassword)
        });
        let mut unreachable = self.unreachable.lock();
        if is_out_of_reach {
            unreachable.insert(source.clone());
        } else {
            unreachable.remove(source);
        }
    }

    /// Adds what is known of a database to its error.
    fn explain(&self, source: &SourceName, error: AgentError) -> AgentError {
        let databases = self.databases.lock();
        let Some(database) = databases.get(source) else {
            return removed_meanwhile(source, &error);
        };
        let failure = database.forwarder.as_ref().and_then(|forwarder| forwarder.take_failure());
        let is_stored = self.storage.names().contains(source);
        explain(error, source, &database.needs.address, failure, is_stored)
    }

    async fn call<T: DeserializeOwned>(
        &self,
        key: &str,
        tool: &str,
        arguments: &(impl Serialize + Sync),
        limit: Duration,
        cancel: CancellationToken,
    ) -> Result<T, AgentError> {
        let arguments = serde_json::to_value(arguments).map_err(|error| odd_answer(&error))?;
        let process = self.known.lock().get(key).cloned();
        let Some(process) = process else {
            return self.answer(key, tool, arguments, limit, cancel).await;
        };
        let _asking = process.asking.read().await;
        process.note_question();
        let answer = self.answer(key, tool, arguments, limit, cancel).await;
        process.note_question();
        answer
    }

    async fn answer<T: DeserializeOwned>(
        &self,
        key: &str,
        tool: &str,
        arguments: serde_json::Value,
        limit: Duration,
        cancel: CancellationToken,
    ) -> Result<T, AgentError> {
        let answer = self
            .servers
            .call(key, tool, arguments, limit + SLACK, cancel)
            .await
            .map_err(|failure| without_paths(error_of(failure.error), self.storage.root()))?;
        serde_json::from_value(answer).map_err(|error| odd_answer(&error))
    }

    /// Prepares the process of a database. Returns the address that its driver connects to instead
    /// of the database, if there is one.
    pub(super) async fn prepare_database(
        &self,
        source: &SourceName,
        needs: DatabaseNeeds,
    ) -> Result<Option<String>, AgentError> {
        let _preparing = self.preparing.lock().await;
        let is_ready = |known: &&Prepared| known.needs == needs;
        let known = self.databases.lock().get(source).filter(is_ready).map(Prepared::via);
        if let Some(via) = known {
            return Ok(via);
        }
        let program = self.program()?.to_owned();
        let forwarder = Forwarder::new(&needs.reachable).map_err(|error| no_forwarder(&error))?;
        let prepared = Prepared { needs, forwarder: forwarder.map(Arc::new) };
        let via = prepared.via();
        let folder = self.storage.make_scratch(&database_name(source))?;
        let config = database_config(source, program, folder, &prepared);
        self.known.lock().insert(config.key(), Process::new(config.clone()));
        self.servers.put(config).await;
        self.databases.lock().insert(source.clone(), prepared);
        Ok(via)
    }

    /// Ends the process of a source that was removed.
    pub(super) async fn forget_database(&self, source: &SourceName) {
        let _preparing = self.preparing.lock().await;
        let key = format!("{PACK}/{}", database_name(source));
        // A question that ends with the process finds that the source is gone.
        self.databases.lock().remove(source);
        self.unreachable.lock().remove(source);
        self.servers.remove(&key).await;
        self.known.lock().remove(&key);
    }

    /// Ends the processes that nobody asked for a while, to free their memory, and deletes what they
    /// spilled. The next question starts a process again. A process that answers is not ended.
    pub(super) async fn end_idle(&self) {
        let known: Vec<Arc<Process>> = self.known.lock().values().cloned().collect();
        for process in known {
            // New questions wait until the process has ended.
            let Ok(_unused) = process.asking.try_write() else { continue };
            if process.has_rested(self.idle) {
                self.servers.put(process.config.clone()).await;
                *process.asked_at.lock() = None;
                self.storage.empty_scratch(&process.config.name);
            }
        }
    }

    /// Ends all processes, and deletes what they spilled.
    pub(super) async fn shut_down(&self) {
        self.servers.shut_down().await;
        for process in self.known.lock().values().filter(|process| process.was_asked()) {
            self.storage.empty_scratch(&process.config.name);
        }
    }
}

fn database_name(source: &SourceName) -> String {
    format!("database-{source}")
}

fn query_config(program: &Result<PathBuf, ProgramError>, storage: &Storage) -> ServerConfig {
    let scratch = storage.scratch().join(QUERIES);
    let read = vec![storage.sources(), storage.staging()];
    let mut args = vec!["serve".to_owned()];
    for folder in &read {
        args.extend(["--read".to_owned(), folder.display().to_string()]);
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = u32::try_from(threads).unwrap_or(1).min(QUERY_THREADS);
    let options =
        [("memory-bytes", QUERY_MEMORY), ("spill-bytes", SPILL), ("threads", threads.into())];
    for (name, value) in options {
        args.extend([format!("--{name}"), value.to_string()]);
    }
    let rules = Confinement {
        run: program.as_deref().map(programs_files).unwrap_or_default(),
        read,
        own: vec![scratch.clone()],
        network: Network::None,
        limits: limits(),
    };
    let confined = Confined { rules, forwarder: None };
    config(QUERIES, program.clone(), args, scratch, confined, false)
}

impl Prepared {
    fn via(&self) -> Option<String> {
        let forwarder = self.forwarder.as_ref()?;
        matches!(self.needs.reachable, Reachable::Instead(_)).then(|| forwarder.address())
    }
}

fn database_config(
    source: &SourceName,
    program: PathBuf,
    folder: PathBuf,
    prepared: &Prepared,
) -> ServerConfig {
    let memory = QUERY_MEMORY.to_string();
    let args = vec!["database".to_owned(), "--memory-bytes".to_owned(), memory];
    let forwarder = prepared.forwarder.as_ref();
    let mut run = programs_files(&program);
    run.extend(prepared.needs.library.clone());
    let rules = Confinement {
        run,
        read: prepared.needs.certificates.iter().cloned().collect(),
        own: vec![folder.clone()],
        network: forwarder.map_or(Network::None, |forwarder| Network::Port(forwarder.port)),
        limits: limits(),
    };
    let confined =
        Confined { rules, forwarder: forwarder.map(|forwarder| Arc::clone(forwarder) as _) };
    let mut config =
        config(&database_name(source), Ok(program), args, folder, confined, forwarder.is_some());
    if let (Reachable::Proxied(_), Some(forwarder), Reach::Program(program)) =
        (&prepared.needs.reachable, forwarder, &mut config.reach)
    {
        let proxy = format!("http://{}", forwarder.address());
        program.env.extend(PROXY.map(|name| (name.to_owned(), proxy.clone())));
    }
    config
}

fn config(
    name: &str,
    program: Result<PathBuf, ProgramError>,
    args: Vec<String>,
    cwd: PathBuf,
    confined: Confined,
    network: bool,
) -> ServerConfig {
    let env: BTreeMap<String, String> = std::env::var(DRIVERS)
        .ok()
        .map(|folder| (DRIVERS.to_owned(), folder))
        .into_iter()
        .chain([("TMPDIR".to_owned(), cwd.display().to_string())])
        .collect();
    let program = Program {
        program,
        args: args.into_iter().map(Into::into).collect(),
        env,
        keys: None,
        cwd,
        hidden: Arc::new(DataVeil(confined)),
        changes: FileChanges::Times,
        network,
    };
    let reach = Reach::Program(program);
    ServerConfig { name: name.to_owned(), pack: PACK.into(), reach, start: None }
}

fn limits() -> Limits {
    Limits { memory_bytes: MEMORY, file_bytes: SPILL, files: FILES }
}

/// Adds to an error of a database why it cannot be reached, and the remedy.
pub(super) fn explain(
    error: AgentError,
    source: &SourceName,
    address: &str,
    failure: Option<String>,
    is_stored: bool,
) -> AgentError {
    let again = || {
        text!(
            "Connect the database again with its password, in Data or with: csign data add \"{address}\" --name {source}",
            address,
            source
        )
    };
    let has_no_connection =
        error.has_reason(Reason::DatabaseUnreachable) || error.has_reason(Reason::DatabaseGone);
    if let Some(cause) = failure.filter(|_| has_no_connection) {
        return AgentError::new(
            ErrorCode::ToolHttpError,
            text!("The database {address} cannot be reached: {cause}.", address, cause),
        )
        .reason(Reason::DatabaseUnreachable)
        .hint("Check that the database runs and that the address is right, then ask again.");
    }
    if error.has_reason(Reason::DatabasePassword) {
        return error.hint(again());
    }
    if error.has_reason(Reason::TableChanged) && is_stored {
        return error.hint(text!(
            "Refresh the source in Data, or with: csign data refresh {source}",
            source
        ));
    }
    error
}

pub(super) fn odd_answer(error: &impl std::fmt::Display) -> AgentError {
    tracing::warn!(%error, "a process of the data pack answered something unexpected");
    AgentError::new(ErrorCode::InternalError, "The data process answered something unexpected.")
        .reason("data_protocol")
        .hint("Ask again. If it happens again, reinstall Countersign.")
}

fn no_forwarder(error: &io::Error) -> AgentError {
    AgentError::internal(
        "data_process",
        text!("The database's process cannot be prepared: {error}.", error),
    )
}
