//! The tools that servers offer beyond the manifests of their packs: which of these tools may be
//! used, and which effect each tool has. Reaches no server.

use std::collections::BTreeSet;

use contract::{
    DefinitionState, PackId, Reach, ResultView, ServerTool, ToolId, ToolSpec, ToolTarget,
    manifest::{Backoff, IdempotencyStrategy, Kind, Latency, OutputTrust, ServerEntry},
};
use packs::LoadedPack;
use serde_json::json;

use super::definitions::{Pin, Pins, effect_or_default};

/// The timeout of a tool without a manifest entry, in milliseconds.
const CALL_MS: u64 = 30_000;

/// The maximum number of characters of a server's tool description that is sent to a model.
const DESCRIPTION: usize = 2_000;

/// Whether a tool is disabled until a person accepts its definition.
pub(crate) fn needs_acceptance(tool: &ServerTool) -> bool {
    match tool.state {
        DefinitionState::Changed | DefinitionState::New => true,
        DefinitionState::Accepted | DefinitionState::Gone => false,
    }
}

/// Returns the servers that offer more tools than their manifest declares.
pub(crate) fn servers_with_undeclared_tools(
    packs: &[LoadedPack],
) -> impl Iterator<Item = (&LoadedPack, &ServerEntry)> {
    let usable = packs.iter().filter_map(|loaded| loaded.pack.as_ref().map(|pack| (loaded, pack)));
    usable.flat_map(|(loaded, pack)| {
        pack.manifest
            .servers
            .iter()
            .filter(|server| server.offer_all)
            .map(move |server| (loaded, server))
    })
}

/// Returns the accepted tools that a server offers beyond its manifest.
pub(crate) fn offered_tools(
    loaded: &LoadedPack,
    server: &ServerEntry,
    pins: &Pins,
    reach: Reach,
) -> Vec<ToolSpec> {
    let Some(pack) = &loaded.pack else { return Vec::new() };
    let declared: BTreeSet<&str> = pack
        .manifest
        .tools
        .tools
        .iter()
        .filter_map(|tool| tool.mcp.as_ref())
        .filter(|mcp| mcp.server == server.name)
        .map(|mcp| mcp.tool.as_str())
        .collect();
    let extra = pins
        .usable_pins(&pack.manifest.id, &server.name)
        .into_iter()
        .filter(|pin| !declared.contains(pin.definition.name.as_str()));
    extra.map(|pin| tool_spec(&pack.manifest.id, server, &pin, reach)).collect()
}

/// Returns the part of a tool's id that is made from its name. Two different names never give the
/// same part, and the part does not depend on other tools in the server's list, because rules and
/// permissions refer to tools by id and a server could otherwise reuse the id of one tool for
/// another.
fn encode_name(name: &str) -> String {
    const LONGEST: usize = 100;
    let mut encoded = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    if encoded.len() > LONGEST {
        // `%%` does not occur in an encoded name.
        encoded.truncate(LONGEST);
        encoded.push_str("%%");
        encoded.push_str(&engine::sha256_hex(name.as_bytes()));
    }
    encoded
}

fn tool_spec(pack: &PackId, server: &ServerEntry, pin: &Pin, reach: Reach) -> ToolSpec {
    let definition = &pin.definition;
    let id = format!("{}.{}", server.name, encode_name(&definition.name));
    let effect = effect_or_default(definition, pin.effect);
    let annotated =
        definition.annotations.as_ref().and_then(|a| a.get("title")?.as_str().map(str::to_owned));
    let described = definition.description.as_deref().unwrap_or_default();
    ToolSpec {
        model_name: packs::model_name(&id),
        id: ToolId(id),
        pack: pack.clone(),
        title: definition.title.clone().or(annotated).unwrap_or_else(|| definition.name.clone()),
        description: described.chars().take(DESCRIPTION).collect(),
        use_when: Vec::new(),
        do_not_use_when: Vec::new(),
        kind: Kind::McpServer,
        effect,
        // The server does not state whether its tool reads data from outside, so the tool counts as
        // open-world.
        open_world: true,
        reach,
        is_description_accepted: pin.is_by_person(),
        output_trust: OutputTrust::Untrusted,
        grantable: false,
        human_required: false,
        latency: Latency::Fast,
        input_schema: definition.input_schema.clone(),
        full_input_schema: definition.input_schema.clone(),
        output_schema: definition.output_schema.clone().unwrap_or_else(|| json!({})),
        error_schema: json!({}),
        caller_owned: Vec::new(),
        timeout_ms: server
            .timeouts
            .as_ref()
            .map(|timeouts| timeouts.call_ms)
            .filter(|ms| *ms > 0)
            .unwrap_or(CALL_MS),
        max_attempts: 1,
        backoff: Backoff::Fixed,
        idempotency: IdempotencyStrategy::None,
        idempotency_key_ref: None,
        auth: None,
        audit_required: true,
        view: ResultView::default(),
        preview: None,
        session_values: Vec::new(),
        as_of: None,
        target: ToolTarget::Mcp { server: server.name.clone(), tool: definition.name.clone() },
        definition_hash: packs::hash_of(
            &json!({"pin": pin.hash, "effect": effect, "server": server}),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_ids_depend_only_on_tool_names() {
        let long = "x".repeat(100);
        let names = [
            "add_note",
            "add/note",
            "add note",
            "add%2Fnote",
            "add%note",
            "",
            "%",
            "%%",
            "å",
            long.as_str(),
            &format!("{long}a"),
            &format!("{long}b"),
            &format!("{}/", &long[1..]),
        ]
        .map(str::to_owned);
        let ids: std::collections::BTreeSet<String> =
            names.iter().map(|name| encode_name(name)).collect();
        assert_eq!(ids.len(), names.len(), "{ids:?}");
        assert_eq!(encode_name("add_note-1.b"), "add_note-1.b");
        assert_eq!(encode_name("add/note"), "add%2Fnote");
        assert!(ids.iter().all(|id| id.len() < 200));
    }
}
