//! Reports the findings of a start to the user and the log: databases that were replaced, packs
//! that are missing or cannot use a setting, and tools of servers that changed. Repairs nothing.

use std::{collections::BTreeSet, sync::Arc};

use audit::Log;
use contract::{Push, RecordType, ServerTool, StartNotice, Text, text};
use engine::ports::{AuditLog as _, Durability, Events as _, Profile as _, RecordDraft};
use parking_lot::Mutex;
use store::Recovered;

use crate::{
    host::start_notice,
    log::HostLog,
    packs::{HostTools, apply_settings, database_checks, is_unknown_setting, missing_packs_error},
    profile::{LiveProfile, Options, Paths},
    pushes::Pushes,
    servers::{HostServers, needs_acceptance},
};

/// Gives the packs their settings. Returns notices for the user if packs are missing or cannot use
/// a setting.
pub(super) fn configure_packs(
    tools: &HostTools,
    profile: &LiveProfile,
    options: &Options,
) -> Vec<StartNotice> {
    let missing = missing_packs_error(tools, options, profile.paths().packs()).map(|error| {
        let text = Text::join([Some(error.text()), error.hint_as_text()].into_iter().flatten());
        start_notice("no_packs", &text)
    });
    let faults = apply_settings(&profile.settings(), tools).into_iter().map(|fault| {
        let told = fault.text();
        let text = if is_unknown_setting(&fault) {
            text!("{fault} It has no effect. Remove it from countersign.toml.", fault = told)
        } else {
            text!("{fault} Its default is used until this is corrected in Tools.", fault = told)
        };
        start_notice("pack_settings", &text)
    });
    missing.into_iter().chain(faults).collect()
}

/// Checks the databases of packs, and reports each database that was replaced.
pub(super) async fn report_recoveries(
    log: &HostLog,
    paths: &Paths,
    of_store: Option<Recovered>,
) -> Vec<StartNotice> {
    let mut notices = Vec::new();
    if let Some(found) = of_store {
        notices.push(report_recovery(log, "countersign.db", found).await);
    }
    let (of, now) = (paths.clone(), log.now());
    let checked = tokio::task::spawn_blocking(move || database_checks::check(&of, now)).await;
    for (path, found) in checked.unwrap_or_default() {
        let file = path.strip_prefix(&paths.data).unwrap_or(&path).display().to_string();
        notices.push(report_recovery(log, &file, found).await);
    }
    notices
}

/// Reports a database that was replaced, in the log and to the user. `file` is its path in the data
/// folder.
async fn report_recovery(log: &Log, file: &str, found: Recovered) -> StartNotice {
    let from = found
        .backup
        .as_ref()
        .map_or_else(|| Text::from("no backup"), |path| path.display().to_string().into());
    let notice = start_notice(
        "database_recovered",
        &text!(
            "The database {file} was damaged. The old file is kept at {path}; restored from {backup}.",
            file,
            path = found.old.display(),
            backup = from
        ),
    );
    let draft = RecordDraft::new(RecordType::DbRecovered)
        .field("file", file)
        .field("restored", found.backup.is_some())
        .commit("old", found.old.display().to_string())
        .commit("problem", found.problem.clone());
    if let Err(error) = log.append(draft, Durability::Durable).await {
        tracing::error!(%error, "the recovery could not be recorded");
    }
    notice
}

/// Follows changes of servers' tool definitions: updates the tools, notifies clients, and records
/// each tool that is disabled.
pub(super) fn follow_definitions(
    servers: &HostServers,
    tools: &Arc<HostTools>,
    pushes: &Pushes,
    log: &HostLog,
) {
    let (weak, hub) = (Arc::downgrade(tools), Arc::clone(&pushes.hub));
    let log = Arc::clone(&log.records);
    let told = Mutex::new(BTreeSet::new());
    servers.pins.set_on_change(Box::new(move || {
        let Some(tools) = weak.upgrade() else { return };
        tools.rebuild_specs();
        tools.rebuild_agents();
        let waiting: Vec<ServerTool> =
            tools.server_tools().into_iter().filter(needs_acceptance).collect();
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
        hub.push(Push::ServerTools { waiting: count });
    }));
    // A pack whose manifest has changed is reported before any server is reached.
    if tools.server_tools().iter().any(needs_acceptance) {
        servers.pins.publish();
    }
}

/// Records tools that are disabled because their definitions changed.
async fn record_changed_tools(log: &Log, tools: Vec<ServerTool>) {
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
