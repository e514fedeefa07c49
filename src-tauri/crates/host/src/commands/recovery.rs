//! The first work on an open profile: recovers turns, records the packs, and starts servers. The
//! work is repeated when a person has accepted a new log.

use std::{sync::Arc, time::Duration};

use audit::Log;
use contract::{AgentError, AuditListParams, RecordType, StartNotice, text};
use engine::{
    Engine,
    ports::{AuditLog as _, Durability, RecordDraft},
};
use serde_json::{Map, Value, json};

use crate::{
    host::{Host, start_notice},
    packs::HostTools,
    servers::{HostServers, server_key, servers_with_undeclared_tools},
};

/// The maximum time for the first connection to a server.
const FIRST_REACHED_WITHIN: Duration = Duration::from_secs(10);

/// Recovers the turns that were running when the last process ended. Returns a notice for the user
/// about interrupted turns.
async fn recover_turns(engine: &Arc<Engine>) -> Result<Option<StartNotice>, AgentError> {
    let turns = engine.recover().await?.turns;
    let text = match turns {
        0 => return Ok(None),
        1 => "1 answer was interrupted when Countersign closed.".into(),
        _ => text!("{count} answers were interrupted when Countersign closed.", count = turns),
    };
    Ok(Some(start_notice("turns_interrupted", &text)))
}

/// Connects once to each server that offers tools beyond its manifest and was never reached, to
/// list its tools.
async fn pin_first_definitions(servers: &HostServers, tools: &HostTools) {
    for (loaded, server) in servers_with_undeclared_tools(&tools.loaded_packs()) {
        let key = server_key(&loaded.view.id, &server.name);
        if !servers.pins.is_known(&key)
            && servers.pins.is_manifest_accepted(&loaded.view.id)
            && let Err(failure) =
                servers.connections.wait_until_ready(&key, FIRST_REACHED_WITHIN).await
        {
            tracing::info!(server = key, why = %failure.error.message, "a server's tools are not known yet");
        }
    }
}

/// How many records of packs are read at a start.
const LOOK_BACK: u32 = 50;

/// Records the hash of each tool's definition, unless the newest record of the pack contains the
/// same hashes.
async fn record_packs(log: &Log, tools: &HostTools) {
    let before = AuditListParams {
        record_type: Some(RecordType::PackLoaded),
        session: None,
        query: String::new(),
        before: None,
        limit: LOOK_BACK,
    };
    let known = log.list(before).await.map(|page| page.records).unwrap_or_default();
    for loaded in tools.loaded_packs().iter() {
        let Some(pack) = &loaded.pack else { continue };
        let definitions: Map<String, Value> = pack
            .tools
            .iter()
            .map(|tool| (tool.id.0.clone(), json!(tool.definition_hash)))
            .collect();
        let draft = RecordDraft::new(RecordType::PackLoaded)
            .field("pack", pack.manifest.id.as_str())
            .field("version", pack.manifest.version.clone())
            .field("manifest", loaded.view.manifest_hash.clone().unwrap_or_default())
            .field("definitions", definitions);
        let last =
            known.iter().find(|record| record.fields.get("pack") == draft.fields.get("pack"));
        if last.is_some_and(|record| record.fields == draft.fields) {
            continue;
        }
        if let Err(error) = log.append(draft, Durability::Grouped).await {
            tracing::warn!(%error, "a pack could not be recorded");
        }
    }
}

impl Host {
    /// Records the packs, repeats in a copy of the database what the log has, finishes deletions,
    /// recovers the turns that were running when the last process ended, and starts the servers, or
    /// only connects to the servers whose tools must be listed.
    pub(crate) async fn do_first_work(&self) -> Result<(), AgentError> {
        record_packs(&self.log, &self.packs.tools).await;
        let missed = self.settle_copy().await?;
        if let Err(error) = self.engine.sessions.finish_earlier_deletions().await {
            tracing::warn!(message = error.message, "a deletion could not be finished");
        }
        let interrupted = recover_turns(&self.engine).await?;
        if let Some(missed) = missed {
            self.complete_copy(missed).await;
        }
        self.process.notices.lock().extend(interrupted);
        let options = &self.process.options;
        if options.warm_up {
            self.servers.warm_up(options.served_packs.as_ref());
        } else {
            pin_first_definitions(&self.servers, &self.packs.tools).await;
        }
        Ok(())
    }

    /// Prepares what socket clients need in addition to remote callers: the tools that servers offer.
    /// The first client waits for this, so that the start does not have to.
    pub(crate) async fn prepare_for_clients(&self) {
        if self.process.options.served_packs.is_none() || self.alarm().is_some() {
            return;
        }
        let ready = pin_first_definitions(&self.servers, &self.packs.tools);
        self.packs.prepared.get_or_init(|| ready).await;
    }
}
