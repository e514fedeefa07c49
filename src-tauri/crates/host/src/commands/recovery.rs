//! The first work on an open profile: recovers turns, records the packs, and starts servers. It is
//! repeated when a person has accepted a new log.

use std::sync::Arc;

use audit::Log;
use contract::{AgentError, AuditListParams, RecordType, StartNotice, Text, text};
use engine::{
    Engine,
    ports::{AuditLog as _, Durability, RecordDraft},
};
use serde_json::{Map, Value, json};

use crate::{
    packs::HostTools,
    profile::Options,
    servers::{self, definitions},
};

pub(crate) fn start_notice(code: &str, text: &Text) -> StartNotice {
    StartNotice { code: code.to_owned(), text: text.clone() }
}

/// Connects once to each server that offers tools beyond its manifest and was never reached, to
/// learn its tools.
pub(crate) async fn pin_first_definitions(tools: &HostTools) {
    for (loaded, server) in servers::servers_with_undeclared_tools(&tools.loaded_packs()) {
        let key = definitions::server_key(&loaded.view.id, &server.name);
        if !tools.pins.is_known(&key)
            && tools.pins.is_manifest_accepted(&loaded.view.id)
            && let Err(failure) =
                tools.servers.wait_until_ready(&key, std::time::Duration::from_secs(10)).await
        {
            tracing::info!(server = key, why = %failure.error.message, "a server's tools are not known yet");
        }
    }
}

/// Recovers the turns that the last process left open. Returns a notice for the user about
/// interrupted turns.
pub(crate) async fn recover_turns(engine: &Arc<Engine>) -> Result<Option<StartNotice>, AgentError> {
    let turns = engine.recover().await?.turns;
    let text = match turns {
        0 => return Ok(None),
        1 => "1 answer was interrupted when Countersign closed.".into(),
        _ => text!("{count} answers were interrupted when Countersign closed.", count = turns),
    };
    Ok(Some(start_notice("turns_interrupted", &text)))
}

/// Starts the servers, or only connects to those whose tools must be listed.
pub(crate) async fn prepare_servers(tools: &HostTools, options: &Options) {
    if options.warm_up {
        tools.warm_up(&options.callers_packs);
    } else {
        pin_first_definitions(tools).await;
    }
}

/// How many records of packs a start looks back at.
const LOOK_BACK: u32 = 50;

/// Records the hash of each tool's definition, unless the newest record of the pack says the same.
pub(crate) async fn record_packs(log: &Log, tools: &HostTools) {
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
