//! Opens a profile in order: folder and lock, settings, keyring, store, log, packs, engine,
//! recovery. It waits for no server and reads no file above 16 MiB, because every command in a
//! terminal waits for it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Instant,
};

use audit::Log;
use chrono::{DateTime, Utc};
use contract::{AgentError, Reason, RecordType, StartNotice, Text, text};
use engine::{
    Engine, World,
    ports::{AuditLog, Durability, Profile as _, RecordDraft},
};
use mcp::Servers;
use secrets::Keyring;
use store::{OpenError, SqliteStore};

use crate::{
    Host, Parts,
    clients::{Confirmations, Hub},
    commands::{prepare_servers, record_packs, recover_turns, replay, start_notice},
    keys::{self, Credentials, KnownSecrets},
    log::{Ledger, open_log, resolve_installation, spawn_upkeep_task, start_rounds, watch_alarms},
    models::{HostEmbedders, HostModels, offline_packs},
    packs::{
        HostTools, Imports, Means, Services, apply_settings, databases, declared_credentials,
        limit_engine, missing_packs_error,
    },
    profile::{
        Environment, LiveProfile, MemoryFolder, Options, Paths, Sessions, unusable_file,
        unwritable_folder,
    },
    servers::{self, AddedServer, Elsewhere, Pins, Questions, Trials, definitions},
};

type Notices = Vec<StartNotice>;

pub(crate) async fn open(options: Options) -> Result<Arc<Host>, AgentError> {
    let paths = Paths::new(options.data_dir.clone());
    let Some(lock) = paths.lock_profile()? else { return Err(profile_in_use(&paths)) };
    let ledger = Arc::new(Ledger::open(&paths));
    ledger.check_readable()?;
    let installation = resolve_installation(&paths, &ledger)?;
    let environment = Environment::read_environment(options.model_from_environment);
    let profile = Arc::new(LiveProfile::read_profile(paths.clone(), environment));
    let keyring = Arc::new(Keyring::new(&installation));
    let mut notices = Notices::new();
    let memory = create_memory_folder(&options, &paths, &installation)?;
    let database = memory.as_ref().map_or_else(|| paths.database(), MemoryFolder::database);
    let store_opening = open_store(&paths, database, &options);
    let log_opening =
        open_log(&paths, &lock, &installation, Arc::clone(&keyring), &ledger, &options);
    // Stored keys are read before any input is accepted. A locked or silent keyring delays the
    // start by its own time limit at most.
    let learning = keys::read_secrets(&keyring);
    let (store, log, learned) = tokio::join!(store_opening, log_opening, learning);
    if let Err(error) = learned {
        tracing::info!(%error, "stored keys are not known yet; they are looked for again before each message");
    }
    let log = log?;
    let (store, recovered) = store?;
    report_recoveries(&log, &paths, recovered, options.clock.now(), &mut notices).await;
    let alarmed = ledger.alarm().is_some();
    let hub = Arc::new(Hub::new());
    let tools = Arc::new(open_tools(&paths, &options, &hub, &profile, &keyring)?);
    follow_definitions(&tools, &hub, &log);
    configure_packs(&tools, &options, &paths, &profile, &mut notices);
    if !alarmed {
        record_packs(&log, &tools).await;
    }
    delete_leftovers(&paths, &installation, &tools);
    let models = Arc::new(open_models(&options, &profile, &keyring, &tools));
    let engine = Engine::new(World {
        store: Arc::clone(&store) as _,
        audit: Arc::clone(&log) as _,
        tools: Arc::clone(&tools) as _,
        roster: Arc::clone(&tools) as _,
        models: Arc::clone(&models) as _,
        embedders: Arc::new(HostEmbedders::new(Arc::clone(&profile), Arc::clone(&models))),
        profile: Arc::clone(&profile) as _,
        secrets: Arc::new(known_secrets(&options, &keyring, &tools)),
        events: Arc::clone(&hub) as _,
        probe: Arc::clone(&options.probe),
        clock: Arc::clone(&options.clock),
        ids: Arc::clone(&options.ids),
        random: Arc::clone(&options.random),
    });
    let for_callers = limit_engine(&engine, &options.callers_packs, &tools, &models);
    tools.elsewhere.set_engine(&engine);
    tools.memory.set_engine(&engine);
    if !alarmed {
        notices.extend(recover_turns(&engine).await?);
        prepare_servers(&tools, &options).await;
    }
    push_log_totals(&log, &hub);
    let imports = Imports::new(
        Arc::clone(&engine),
        Arc::clone(&tools),
        Arc::clone(&models),
        Arc::clone(&log),
        Arc::clone(&hub),
    );
    let confirmations = Confirmations::new(Arc::clone(&hub), Arc::clone(&options.ids));
    spawn_expiry_task(&engine, &ledger);
    let started_with = count_records(&log).await;
    let host = Arc::new(Host::new(Parts {
        local_engine: engine,
        for_callers,
        paths,
        opened_at: options.clock.now(),
        opened: Instant::now(),
        options,
        profile,
        store,
        log,
        tools,
        models,
        keyring,
        ledger,
        started_with,
        verification: parking_lot::Mutex::default(),
        hub,
        imports,
        notices: parking_lot::Mutex::new(notices),
        memory: parking_lot::Mutex::new(memory),
        clients: tokio::sync::OnceCell::new(),
        confirmations,
        trials: Trials::default(),
        changing: tokio::sync::Mutex::default(),
        served: std::sync::atomic::AtomicBool::new(false),
        _lock: lock,
    }));
    host.drop_old_recordings().await;
    if !alarmed && !host.options.is_chat_api {
        host.move_server_keys().await;
    }
    start_tasks(&host);
    Ok(host)
}

/// Starts the work that goes on beside the answers.
fn start_tasks(host: &Arc<Host>) {
    watch_alarms(host);
    spawn_upkeep_task(host);
    start_rounds(host);
}

/// Returns the number of records after those of the start are written.
async fn count_records(log: &Log) -> u64 {
    if let Err(error) = log.flush().await {
        tracing::debug!(%error, "the log accepts no records at this start");
    }
    log.total()
}

/// Creates the folder of the database if sessions are kept in memory.
fn create_memory_folder(
    options: &Options,
    paths: &Paths,
    installation: &str,
) -> Result<Option<MemoryFolder>, AgentError> {
    match options.sessions {
        Sessions::InMemory => MemoryFolder::create(installation)
            .map(Some)
            .map_err(|e| unusable_file(&paths.data, std::path::Path::new("memory"), &e)),
        Sessions::InFile | Sessions::Shared(_) => Ok(None),
    }
}

/// Deletes folders of servers that were tested or removed, without delaying the start.
fn delete_leftovers(paths: &Paths, installation: &str, tools: &HostTools) {
    replay::delete_leftovers(installation);
    let known: BTreeSet<_> =
        tools.loaded_packs().iter().map(|loaded| loaded.view.id.clone()).collect();
    let paths = paths.clone();
    tokio::task::spawn_blocking(move || servers::delete_leftovers(&paths, &known));
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

/// Gives the packs their settings. Adds a notice for the user if packs are missing or cannot use a
/// setting.
fn configure_packs(
    tools: &HostTools,
    options: &Options,
    paths: &Paths,
    profile: &LiveProfile,
    notices: &mut Notices,
) {
    if let Some(error) = missing_packs_error(tools, options, paths.packs()) {
        notices.push(start_notice(
            "no_packs",
            &Text::join([Some(error.text()), error.hint_as_text()].into_iter().flatten()),
        ));
    }
    for fault in apply_settings(&profile.settings(), tools) {
        notices.push(start_notice(
            "pack_settings",
            &text!(
                "{fault} Its default is used until this is corrected in Tools.",
                fault = fault.text()
            ),
        ));
    }
}

async fn open_store(
    paths: &Paths,
    path: std::path::PathBuf,
    options: &Options,
) -> Result<(Arc<SqliteStore>, Option<store::Recovered>), AgentError> {
    let (clock, shared) = (Arc::clone(&options.clock), options.sessions.shared_sessions().cloned());
    let opened = tokio::task::spawn_blocking(move || SqliteStore::open(&path, clock)).await;
    let opened = opened
        .map_err(|_| AgentError::internal("database_error", "The database could not be opened."))?;
    let opened = opened.map_err(|error| match error {
        OpenError::NoSpace(_) => unwritable_folder(&paths.data),
        other => other.into_agent_error(),
    })?;
    // A store that cannot be written is an error, because no answer could be stored and no step
    // recorded.
    if opened.read_only {
        return Err(unwritable_folder(&paths.data));
    }
    Ok((Arc::new(opened.store.sharing(shared)), opened.recovered))
}

/// Checks the databases of packs, and reports each database that had to be replaced.
async fn report_recoveries(
    log: &Log,
    paths: &Paths,
    of_store: Option<store::Recovered>,
    now: DateTime<Utc>,
    notices: &mut Notices,
) {
    if let Some(found) = of_store {
        report_recovery(log, "countersign.db", found, notices).await;
    }
    let of = paths.clone();
    let checked = tokio::task::spawn_blocking(move || databases::check(&of, now)).await;
    for (path, found) in checked.unwrap_or_default() {
        let file = path.strip_prefix(&paths.data).unwrap_or(&path).display().to_string();
        report_recovery(log, &file, found, notices).await;
    }
}

/// Reports a database that had to be replaced, in the log and to the user. `file` is its path in
/// the data folder.
async fn report_recovery(log: &Log, file: &str, found: store::Recovered, notices: &mut Notices) {
    let from = found
        .backup
        .as_ref()
        .map_or_else(|| Text::from("no backup"), |path| path.display().to_string().into());
    notices.push(start_notice(
        "database_recovered",
        &text!(
            "The database {file} was damaged. The old file is kept at {path}; restored from {backup}.",
            file,
            path = found.old.display(),
            backup = from
        ),
    ));
    let draft = RecordDraft::new(RecordType::DbRecovered)
        .field("file", file)
        .field("restored", found.backup.is_some())
        .commit("old", found.old.display().to_string())
        .commit("problem", found.problem.clone());
    if let Err(error) = log.append(draft, Durability::Durable).await {
        tracing::error!(%error, "the recovery could not be recorded");
    }
}

fn open_tools(
    paths: &Paths,
    options: &Options,
    hub: &Arc<Hub>,
    profile: &Arc<LiveProfile>,
    keyring: &Arc<Keyring>,
) -> Result<HostTools, AgentError> {
    let chosen = profile
        .settings()
        .packs
        .iter()
        .map(|(pack, choice)| (pack.clone(), choice.settings.clone()))
        .collect();
    let folders = options.pack_folders(paths.packs());
    // Those that ship come last in the list, and are loaded first: no pack takes their place.
    let reversed: Vec<_> = folders.iter().rev().cloned().collect();
    let mut loaded = packs::load_with(&reversed, &chosen);
    let read_only = options.read_only_folders(paths.packs(), &loaded);
    let services = Services::open(&mut loaded, paths, options)?;
    let credentials = Arc::new(Credentials::new(
        Arc::clone(keyring),
        Arc::clone(&options.clock),
        options.credentials_from_environment,
    ));
    let around = servers::ServerDeps {
        paths,
        program_dir: &options.program_dir,
        keyring,
        credentials: &credentials,
        profile,
        read_only: &read_only,
        find_programs: servers::find_programs,
    };
    let mut configs: Vec<_> =
        loaded.iter().flat_map(|l| servers::server_configs(l, &around)).collect();
    let mut reaches = BTreeMap::new();
    // The chat API offers packs to visitors, and servers of the profile's owner to nobody else.
    let added = if options.is_chat_api { Vec::new() } else { servers::load_added(paths, &around) };
    for AddedServer { loaded: pack, reach, config } in added {
        reaches.insert(pack.view.id.clone(), reach);
        configs.extend(config);
        loaded.push(pack);
    }
    let mut of_the_app = servers::built_in_server_keys(&loaded);
    let shipped = loaded.iter().filter(|loaded| options.is_shipped(&loaded.folder));
    of_the_app.extend(shipped.map(|loaded| definitions::manifest_key(&loaded.view.id)));
    let pins = Arc::new(Pins::open(paths.definitions(), of_the_app, Arc::clone(&options.clock)));
    loaded.iter().for_each(|loaded| servers::pin_manifest(&pins, loaded));
    if !options.is_chat_api {
        servers::check_files(paths, &pins);
    }
    let on_change: mcp::OnChange = {
        let hub = Arc::clone(hub);
        Arc::new(move |server| {
            engine::ports::Events::push(hub.as_ref(), contract::Push::Server { server })
        })
    };
    let questions = Arc::new(Questions::new(Arc::clone(hub), Arc::clone(&options.ids)));
    let servers = Servers::builder(configs)
        .on_change(on_change)
        .definitions(Arc::clone(&pins) as _)
        .asker(Arc::clone(&questions) as _)
        .build();
    let (profile, program_dir) = (Arc::clone(profile), options.program_dir.clone());
    let paths = paths.clone();
    let (elsewhere, keyring) =
        (Elsewhere::new(options.patience, Arc::clone(&options.random)), Arc::clone(keyring));
    let (adapters, is_chat_api, callers_packs) =
        (options.pack_code.adapters.clone(), options.is_chat_api, options.callers_packs.clone());
    let means = Means {
        services,
        adapters,
        servers,
        pins,
        questions,
        credentials,
        elsewhere,
        keyring,
        profile,
        paths,
        program_dir,
        is_chat_api,
        folders,
        read_only,
        reaches,
        callers_packs,
    };
    let tools = HostTools::new(loaded, means);
    tools.reload_names();
    Ok(tools)
}

fn open_models(
    options: &Options,
    profile: &Arc<LiveProfile>,
    keyring: &Arc<Keyring>,
    tools: &HostTools,
) -> HostModels {
    HostModels::new(
        Arc::clone(profile),
        Arc::clone(keyring),
        Arc::clone(&tools.credentials),
        Arc::clone(&options.clock),
        Arc::clone(&options.random),
        options.model_silence,
        offline_packs(tools),
    )
}

fn known_secrets(options: &Options, keyring: &Arc<Keyring>, tools: &HostTools) -> KnownSecrets {
    let declared = declared_credentials(&tools.loaded_packs());
    KnownSecrets::new(
        Arc::clone(keyring),
        Arc::clone(&options.clock),
        &declared,
        keys::environment_variables(),
    )
}

/// Follows changes of servers' tool definitions: updates the tools, notifies clients, and records
/// each tool that is switched off.
fn follow_definitions(tools: &Arc<HostTools>, hub: &Arc<Hub>, log: &Arc<Log>) {
    let (weak, hub, log) = (Arc::downgrade(tools), Arc::clone(hub), Arc::clone(log));
    let told = parking_lot::Mutex::new(BTreeSet::new());
    tools.pins.set_on_change(Box::new(move || {
        let Some(tools) = weak.upgrade() else { return };
        tools.rebuild_specs();
        tools.reload_names();
        let waiting: Vec<contract::ServerTool> =
            tools.server_tools().into_iter().filter(servers::needs_acceptance).collect();
        let count = u32::try_from(waiting.len()).unwrap_or(u32::MAX);
        let mut told = told.lock();
        let fresh: Vec<_> = waiting
            .into_iter()
            .filter(|tool| {
                told.insert((
                    tool.pack.clone(),
                    tool.server.clone(),
                    tool.name.clone(),
                    tool.hash.clone(),
                ))
            })
            .collect();
        let log = Arc::clone(&log);
        if !fresh.is_empty() {
            tokio::spawn(async move { record_changed_tools(&log, fresh).await });
        }
        engine::ports::Events::push(hub.as_ref(), contract::Push::ServerTools { waiting: count });
    }));
    // A pack whose manifest has changed is told of before any server is reached.
    if tools.server_tools().iter().any(servers::needs_acceptance) {
        tools.pins.publish();
    }
}

/// Records tools that are switched off because their definitions changed.
async fn record_changed_tools(log: &Log, tools: Vec<contract::ServerTool>) {
    for tool in tools {
        let draft = RecordDraft::new(RecordType::SettingChanged)
            .field("setting", "server_tool")
            .field("pack", tool.pack.as_str())
            .field("server", tool.server)
            .field("tool", tool.name)
            .field("definition", tool.hash)
            .field("action", "switched_off");
        if let Err(error) = log.append(draft, Durability::Grouped).await {
            tracing::warn!(%error, "a changed tool could not be recorded");
        }
    }
}

/// Expires overdue actions from time to time, even if no client opens the list.
fn spawn_expiry_task(engine: &Arc<Engine>, ledger: &Arc<Ledger>) {
    let (engine, ledger) = (Arc::downgrade(engine), Arc::clone(ledger));
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(std::time::Duration::from_secs(15)).await;
            let Some(engine) = engine.upgrade() else { return };
            // During an alarm the expiry could not be recorded, so it waits.
            if ledger.alarm().is_none() {
                engine.expire_overdue_actions().await;
            }
        }
    });
}

fn push_log_totals(log: &Arc<Log>, hub: &Arc<Hub>) {
    let (mut totals, hub) = (log.watch(), Arc::clone(hub));
    tokio::spawn(async move {
        while totals.changed().await.is_ok() {
            let total = *totals.borrow_and_update();
            engine::ports::Events::push(hub.as_ref(), contract::Push::Audit { total });
            // The pause groups many records into one push, because the view only needs to know that
            // there are new records.
            tokio::time::sleep(std::time::Duration::from_millis(250)).await;
        }
    });
}
