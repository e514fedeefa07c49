//! Converts a checked manifest to the form that the engine uses: one `ToolSpec` per tool,
//! self-contained and hashed.

use std::collections::BTreeSet;

use contract::{
    CallerParam, PackId, Reach, ToolId, ToolSpec, ToolTarget,
    manifest::{AuthKind, MemberAliases, Owner, PackManifest, ServerEntry, ToolEntry},
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{kinds, names, refs};

/// The timeout for tools whose manifest gives a timeout of 0.
const DEFAULT_TIMEOUT_MS: u64 = 10_000;

/// Returns the tool specs of a pack without faults. Returns none if a referenced schema is missing,
/// which the checks exclude.
pub(crate) fn specs(manifest: &PackManifest) -> Option<Vec<ToolSpec>> {
    manifest.tools.tools.iter().map(|tool| spec(manifest, tool)).collect()
}

fn spec(manifest: &PackManifest, tool: &ToolEntry) -> Option<ToolSpec> {
    let schema = |reference: &str| refs::bundle(&manifest.schemas, refs::name_of(reference)?);
    let full_input_schema = schema(&tool.input_schema_ref)?;
    let caller_owned = caller_owned(tool);
    let target = kinds::resolve_target(tool, &manifest.settings)?;
    let server = target.tool_of_server().map(|(server, _)| server);
    let server = server.and_then(|name| manifest.servers.iter().find(|s| s.name == name));
    let mut spec = ToolSpec {
        id: tool.id.clone(),
        pack: manifest.id.clone(),
        model_name: names::model_name(tool.id.as_str()),
        title: tool.title.clone(),
        description: description(tool),
        use_when: tool.use_when.clone(),
        do_not_use_when: tool.do_not_use_when.clone(),
        kind: tool.kind,
        effect: tool.side_effect_level,
        open_world: tool.open_world.unwrap_or(false),
        reach: reach(&target, server),
        is_description_accepted: true,
        output_trust: tool.output_trust,
        grantable: tool.grantable,
        human_required: manifest
            .security
            .as_ref()
            .is_some_and(|security| security.needs_person(&tool.id, tool.side_effect_level)),
        latency: tool.latency,
        input_schema: remove_parameters(&full_input_schema, &caller_owned),
        full_input_schema,
        output_schema: schema(&tool.output_schema_ref)?,
        error_schema: schema(&tool.error_schema_ref)?,
        caller_owned,
        timeout_ms: if tool.timeouts.timeout_ms == 0 {
            DEFAULT_TIMEOUT_MS
        } else {
            tool.timeouts.timeout_ms
        },
        max_attempts: tool.retry.max_attempts.max(1),
        backoff: tool.retry.backoff,
        idempotency: tool.idempotency.strategy,
        idempotency_key_ref: tool.idempotency.key_ref.clone(),
        auth: tool.auth.clone().filter(|auth| auth.kind != AuthKind::None),
        audit_required: tool.audit.required,
        view: tool.view.clone(),
        preview: tool.preview.clone(),
        session_values: tool.session_values.clone(),
        as_of: tool.offline.as_ref().and_then(|offline| offline.as_of.clone()),
        target,
        definition_hash: String::new(),
    };
    spec.definition_hash = definition_hash(&spec, server, tool.aliases.as_ref())?;
    Some(spec)
}

/// Returns where a call can send data. A server that is a program of the app sends no data. Only
/// the host knows whether a remote server replaces the program.
fn reach(target: &ToolTarget, server: Option<&ServerEntry>) -> Reach {
    let is_here = match target {
        ToolTarget::BuiltIn { .. } => true,
        ToolTarget::Http { .. } => false,
        ToolTarget::Program { call } => !call.network,
        ToolTarget::Mcp { .. } => {
            server.is_some_and(|server| server.http.is_none() && !server.command.contains('/'))
        }
    };
    if is_here { Reach::Here } else { Reach::Configured }
}

fn description(tool: &ToolEntry) -> String {
    tool.usage_guidelines.clone().unwrap_or_else(|| tool.title.clone())
}

fn caller_owned(tool: &ToolEntry) -> Vec<CallerParam> {
    let owned = tool.parameters.iter().filter(|(_, facts)| match facts.owner {
        Owner::Caller => true,
        Owner::Model | Owner::Default => false,
    });
    owned
        .map(|(name, facts)| CallerParam {
            name: name.clone(),
            from: facts.from.clone().unwrap_or_else(|| name.clone()),
            exempt_from_hash: facts.exempt_from_hash,
        })
        .collect()
}

/// Removes the parameters that only the host fills in.
fn remove_parameters(schema: &Value, hidden: &[CallerParam]) -> Value {
    let is_hidden = |name: &str| hidden.iter().any(|p| p.name == name);
    let mut schema = schema.clone();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| !is_hidden(name));
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !name.as_str().is_some_and(is_hidden));
    }
    schema
}

/// Returns the hash that an approval is bound to. The hash covers everything in the tool that
/// affects the meaning of a call. Model names are excluded, because another pack may change them.
fn definition_hash(
    spec: &ToolSpec,
    server: Option<&ServerEntry>,
    aliases: Option<&MemberAliases>,
) -> Option<String> {
    let mut definition = serde_json::to_value(spec).ok()?;
    let members = definition.as_object_mut()?;
    members.remove("definition_hash");
    members.remove("model_name");
    // These members follow from the target and the server, which are part of the hash.
    members.remove("reach");
    members.remove("is_description_accepted");
    // The display of a result does not affect a call. The constant keeps hashes of earlier versions
    // valid.
    members.insert("view".to_owned(), json!("plain"));
    members.insert("server".to_owned(), json!(server));
    if let Some(aliases) = aliases {
        members.insert("aliases".to_owned(), json!(aliases));
    }
    Some(hash_of(&definition))
}

/// Returns the SHA-256 (hex) of a value's canonical form.
pub fn hash_of(value: &Value) -> String {
    // Numbers that JCS cannot represent are hashed as printed.
    let bytes =
        serde_json_canonicalizer::to_vec(value).unwrap_or_else(|_| value.to_string().into_bytes());
    names::hex(&Sha256::digest(&bytes))
}

/// Names of the host's own tools. If a pack's tool has such a name, its id gets the pack as a
/// prefix.
const RESERVED: [&str; 1] = ["read_result"];

/// Whether a name is reserved for the host.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// Qualifies each tool that shares an id or a model name with a tool of another pack or of the
/// host: its id and name get the pack as a prefix. Other tools keep their names.
pub fn qualify(tools: &mut [&mut ToolSpec]) {
    let all: Vec<(PackId, ToolId, String)> = tools
        .iter()
        .map(|t| (t.pack.clone(), t.plain_id(), names::model_name(t.plain_id().as_str())))
        .collect();
    let is_taken = |pack: &PackId, id: &ToolId| {
        is_reserved(id.as_str())
            || all.iter().any(|(other, theirs, _)| other != pack && theirs == id)
    };
    for tool in tools.iter_mut() {
        let (pack, plain) = (tool.pack.clone(), tool.plain_id());
        let name = names::model_name(plain.as_str());
        let is_name_taken = is_reserved(&name)
            || all.iter().any(|(other, _, theirs)| *other != pack && *theirs == name);
        tool.model_name = if is_name_taken {
            names::qualified_model_name(pack.as_str(), plain.as_str())
        } else {
            name
        };
        // A preview reads tools of its own pack, so its references follow the qualified ids.
        for read in tool.preview.iter_mut().flat_map(|preview| preview.reads.iter_mut()) {
            let own = all
                .iter()
                .find(|(of, id, _)| {
                    *of == pack && (*id == read.tool || ToolId::qualified(of, id) == read.tool)
                })
                .map(|(_, id, _)| id);
            if let Some(own) = own {
                read.tool =
                    if is_taken(&pack, own) { ToolId::qualified(&pack, own) } else { own.clone() };
            }
        }
        tool.id = if is_taken(&pack, &plain) { ToolId::qualified(&pack, &plain) } else { plain };
    }
    resolve_name_clashes(tools);
}

/// Makes names unique. A name with the pack as a prefix may equal another tool's name. Such a name
/// gets a hash of its unique id appended.
fn resolve_name_clashes(tools: &mut [&mut ToolSpec]) {
    let mut seen = BTreeSet::new();
    for tool in tools.iter_mut() {
        if !seen.insert(tool.model_name.clone()) {
            tool.model_name = names::with_hash_suffix(&tool.model_name, tool.id.as_str());
            seen.insert(tool.model_name.clone());
        }
    }
}
