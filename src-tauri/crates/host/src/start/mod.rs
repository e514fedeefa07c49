//! Opens a profile step by step, and closes it. The opening waits for no server and reads no file
//! above 16 MiB, because every command in a terminal waits for it.

mod loops;
mod reports;
mod stop;

use std::{collections::BTreeSet, fs::File, sync::Arc};

use contract::{AgentError, Push, Reason, text};
use engine::{
    Engine, World,
    ports::{AuditLog as _, Events as _},
};
use offline::SourceDirectory;

use crate::{
    alerts::Alerts,
    boards::Boards,
    commands::replay,
    data::Sources,
    host::{Host, Parts, Process},
    keys::Keys,
    log::{HostLog, Ledger, open_log, resolve_installation},
    models::{HostEmbedders, HostModels},
    packs::{HostAccess, HostPacks, HostTools, declared_credentials, load_packs},
    profile::{Database, Environment, LiveProfile, Options, Paths},
    pushes::Pushes,
    servers::{self, HostServers, ServerDeps, ServerSetup},
};

impl Host {
    /// Opens a profile. If another process has it open, `details.reason` is `profile_in_use`.
    pub async fn open(options: Options) -> Result<Arc<Self>, AgentError> {
        let (paths, lock) = lock_profile(&options)?;
        let ledger = open_ledger(&paths)?;
        let installation = resolve_installation(&paths, &ledger)?;
        let profile = read_profile(&paths, &options);
        let from_environment = options.credentials_from_environment;
        let keys = Keys::open(&installation, Arc::clone(&options.clock), from_environment);
        let (database, records, ()) = tokio::join!(
            Database::open(&paths, &installation, &options.sessions, Arc::clone(&options.clock)),
            open_log(&paths, &lock, &installation, Arc::clone(&keys.keyring), &ledger, &options),
            keys.learn_secrets(),
        );
        let (records, (database, recovered)) = (records?, database?);
        let database = Arc::new(database);
        let log = HostLog::new(records, ledger, &profile, &database, &options);
        let mut notices = reports::report_recoveries(&log, &paths, recovered).await;
        let pushes = Pushes::new(Arc::clone(&options.ids));
        let (servers, tools) = open_tools(&profile, &keys, &pushes, &options)?;
        reports::follow_definitions(&servers, &tools, &pushes, &log);
        notices.extend(reports::configure_packs(&tools, &profile, &options));
        delete_leftovers(&paths, &installation, &tools);
        let declared = declared_credentials(&tools.loaded_packs());
        let sources = Sources::open(&profile, &keys, &log.records, &options)?;
        tools.set_sources(&sources);
        let models = Arc::new(open_models(&profile, &keys, &tools, &sources, &options));
        let boards = Boards::open(&profile, &sources, &log.records, &options);
        let alerts = Alerts::open(&profile, &sources, &log.records, &pushes.hub, &options);
        let engine = Engine::new(World {
            store: Arc::clone(&database.store) as _,
            audit: Arc::clone(&log.records) as _,
            tools: Arc::clone(&tools) as _,
            roster: Arc::clone(&tools) as _,
            models: Arc::clone(&models) as _,
            embedders: Arc::new(HostEmbedders::new(Arc::clone(&profile), Arc::clone(&models))),
            profile: Arc::clone(&profile) as _,
            secrets: Arc::new(keys.known_secrets(Arc::clone(&options.clock), &declared)),
            events: Arc::clone(&pushes.hub) as _,
            probe: Arc::clone(&options.probe),
            clock: Arc::clone(&options.clock),
            ids: Arc::clone(&options.ids),
            random: Arc::clone(&options.random),
            access: Arc::new(HostAccess::new(&tools, &models)),
        });
        servers.overrides.set_engine(&engine);
        tools.memory.set_engine(&engine);
        let packs = HostPacks::new(tools);
        follow_sources(&sources, &engine, &alerts, &pushes);
        let host = Arc::new(Self::new(Parts {
            engine,
            profile,
            database,
            keys,
            models,
            log,
            servers,
            sources,
            boards,
            alerts,
            packs,
            pushes,
            process: Process::new(options, notices, lock),
        }));
        host.begin_work().await?;
        Ok(host)
    }

    /// Does the first work on an open profile, and starts its loops.
    async fn begin_work(self: &Arc<Self>) -> Result<(), AgentError> {
        let is_alarmed = self.alarm().is_some();
        if !is_alarmed {
            self.do_first_work().await?;
        }
        self.process.note_started(count_records(&self.log).await);
        self.drop_old_recordings().await;
        if !is_alarmed && self.process.options.served_packs.is_none() {
            self.move_server_keys().await;
        }
        loops::start_loops(self);
        Ok(())
    }
}

/// Outdates earlier analyses when rows of sources change, and has the rules of alerts checked.
fn follow_sources(sources: &Sources, engine: &Arc<Engine>, alerts: &Arc<Alerts>, pushes: &Pushes) {
    let (engine, hub) = (Arc::downgrade(engine), Arc::clone(&pushes.hub));
    // The alerts hold the sources.
    let alerts = Arc::downgrade(alerts);
    sources.set_on_change(move || {
        hub.push(Push::Sources {});
        if let Some(engine) = engine.upgrade() {
            engine.analyses.forget();
        }
        let alerts = alerts.upgrade();
        if let Some(alerts) = &alerts {
            alerts.note_change();
        }
        Box::pin(async move {
            if let Some(alerts) = alerts {
                alerts.follow_import().await;
            }
        })
    });
}

/// Takes the lock of the profile. Fails if another process holds it.
fn lock_profile(options: &Options) -> Result<(Paths, Arc<File>), AgentError> {
    let paths = Paths::new(options.data_dir.clone());
    match paths.lock_profile()? {
        Some(lock) => Ok((paths, lock)),
        None => Err(profile_in_use(&paths)),
    }
}

fn profile_in_use(paths: &Paths) -> AgentError {
    let folder = paths.data.display().to_string();
    AgentError::internal(
        Reason::ProfileInUse,
        text!("{folder} is in use by another Countersign.", folder),
    )
    .hint("Use that one, or choose another folder with --data-dir.")
    .with("folder", folder)
}

/// Reads the ledger entry of the folder's log.
fn open_ledger(paths: &Paths) -> Result<Arc<Ledger>, AgentError> {
    let ledger = Ledger::open(paths);
    ledger.check_readable()?;
    Ok(Arc::new(ledger))
}

fn read_profile(paths: &Paths, options: &Options) -> Arc<LiveProfile> {
    let environment = Environment::read_environment(options.model_from_environment);
    Arc::new(LiveProfile::read_profile(paths.clone(), environment))
}

/// Loads the packs, and configures their servers and the user's servers. Starts no server.
fn open_tools(
    profile: &Arc<LiveProfile>,
    keys: &Keys,
    pushes: &Pushes,
    options: &Options,
) -> Result<(Arc<HostServers>, Arc<HostTools>), AgentError> {
    let paths = profile.paths();
    let mut packs = load_packs(profile, options);
    let deps = ServerDeps {
        profile: Arc::clone(profile),
        keys: keys.clone(),
        program_dir: options.program_dir.clone(),
        read_only: options.read_only_folders(paths.packs(), &packs),
        find_programs: servers::find_programs,
    };
    let setup = ServerSetup {
        deps,
        // The chat API offers packs to visitors, but servers of the profile's owner only to the
        // owner.
        with_added: options.served_packs.is_none(),
        is_shipped: &|folder| options.is_shipped(folder),
        events: Arc::clone(&pushes.hub) as _,
        clock: Arc::clone(&options.clock),
        ids: Arc::clone(&options.ids),
        random: Arc::clone(&options.random),
        patience: options.patience,
    };
    let (servers, reaches) = HostServers::open(&mut packs, setup);
    let servers = Arc::new(servers);
    let tools = HostTools::new(packs, reaches, &servers, options);
    Ok((servers, Arc::new(tools)))
}

/// Deletes folders of servers that were tested or removed, without delaying the start.
fn delete_leftovers(paths: &Paths, installation: &str, tools: &HostTools) {
    replay::delete_leftovers(installation);
    let known: BTreeSet<_> =
        tools.loaded_packs().iter().map(|loaded| loaded.view.id.clone()).collect();
    let paths = paths.clone();
    tokio::task::spawn_blocking(move || servers::delete_leftovers(&paths, &known));
}

fn open_models(
    profile: &Arc<LiveProfile>,
    keys: &Keys,
    tools: &HostTools,
    sources: &Sources,
    options: &Options,
) -> HostModels {
    let is_for_visitors = options.served_packs.is_some();
    HostModels::new(
        Arc::clone(profile),
        keys.clone(),
        Arc::clone(&options.clock),
        Arc::clone(&options.random),
        options.model_silence,
        tools.offline_packs(),
        (!is_for_visitors).then(|| Arc::new(sources.downgrade()) as Arc<dyn SourceDirectory>),
    )
}

/// Returns the number of records after the records of the start are written.
async fn count_records(log: &HostLog) -> u64 {
    if let Err(error) = log.flush().await {
        tracing::debug!(%error, "the log accepts no records at this start");
    }
    log.total()
}
