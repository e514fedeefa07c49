//! The tools of the programs: the shipped packs, from their own manifests, and five added servers
//! as the host offers them.

use std::{path::Path, sync::OnceLock};

use contract::{
    Destination, DestinationKind, Effect, Reach, ResultView, ToolSpec, ToolTarget,
    manifest::OutputTrust,
};
use serde_json::{Value, json};

use crate::world::tool;

/// A tool of an added server: its server, name, actual effect and parameters.
pub struct Offered {
    pub server: &'static str,
    pub name: &'static str,
    pub effect: Effect,
    pub parameters: &'static [(&'static str, &'static str)],
}

const fn offered(
    server: &'static str,
    name: &'static str,
    effect: Effect,
    parameters: &'static [(&'static str, &'static str)],
) -> Offered {
    Offered { server, name, effect, parameters }
}

/// The added servers.
pub const SERVERS: [&str; 5] = ["mail", "files", "web", "notes", "database"];

/// All tools of the added servers. Parameters have a type of JSON Schema, or no type.
pub const OFFERED: &[Offered] = &[
    offered("mail", "search", Effect::ReadOnly, &[("query", "string")]),
    offered("mail", "read", Effect::ReadOnly, &[("id", "string")]),
    offered("mail", "availability", Effect::ReadOnly, &[("attendees", ""), ("day", "string")]),
    offered(
        "mail",
        "send",
        Effect::Write,
        &[("to", ""), ("subject", "string"), ("body", "string")],
    ),
    offered("mail", "delete", Effect::Destructive, &[("id", "string")]),
    offered("files", "list", Effect::ReadOnly, &[("folder", "string")]),
    offered("files", "read", Effect::ReadOnly, &[("path", "string")]),
    offered("files", "write", Effect::Write, &[("path", "string"), ("text", "string")]),
    offered("web", "fetch", Effect::ReadOnly, &[("url", "string")]),
    offered("web", "open", Effect::ReadOnly, &[("page", "string")]),
    offered("web", "follow", Effect::ReadOnly, &[("redirect_to", "string")]),
    offered("web", "request", Effect::ReadOnly, &[("request", "string")]),
    offered("web", "lookup", Effect::ReadOnly, &[("host", "")]),
    offered("web", "search", Effect::ReadOnly, &[("query", "string")]),
    offered("web", "post", Effect::Write, &[("url", "string"), ("body", "string")]),
    offered("notes", "find", Effect::ReadOnly, &[("about", "string")]),
    offered("notes", "sync", Effect::ReadOnly, &[("server", "string"), ("since", "string")]),
    offered("notes", "add", Effect::Write, &[("text", "string")]),
    offered("database", "query", Effect::ReadOnly, &[("sql", "string")]),
    offered("database", "connect", Effect::ReadOnly, &[("DBHost", "string")]),
    offered("database", "execute", Effect::Write, &[("sql", "string")]),
];

/// Returns the spec of a tool of an added server, as the host would create it.
pub fn added(of: &Offered, reach: Reach, effect: Effect) -> ToolSpec {
    let properties: serde_json::Map<String, Value> = of
        .parameters
        .iter()
        .map(|(name, kind)| {
            let schema = if kind.is_empty() { json!({}) } else { json!({ "type": kind }) };
            ((*name).to_owned(), schema)
        })
        .collect();
    let schema = json!({"type": "object", "properties": properties});
    ToolSpec {
        pack: of.server.into(),
        open_world: true,
        reach,
        output_trust: OutputTrust::Untrusted,
        grantable: false,
        max_attempts: 1,
        audit_required: true,
        input_schema: schema.clone(),
        full_input_schema: schema,
        output_schema: json!({}),
        target: ToolTarget::Mcp { server: of.server.into(), tool: of.name.into() },
        ..tool(&format!("{}.{}", of.server, of.name), effect)
    }
}

/// Returns the tools of the shipped packs, with the fields of their manifests. The test creates the
/// results, so the schemas and views of results are omitted. They do not affect decisions.
pub fn shipped() -> Vec<ToolSpec> {
    static READ: OnceLock<Vec<ToolSpec>> = OnceLock::new();
    READ.get_or_init(read_shipped).clone()
}

fn read_shipped() -> Vec<ToolSpec> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tools");
    let packs = packs::load(&[folder]);
    let faults: Vec<_> = packs.iter().flat_map(|pack| &pack.view.faults).collect();
    assert!(faults.is_empty(), "{faults:?}");
    let specs = packs.into_iter().filter_map(|loaded| loaded.pack).flat_map(|pack| pack.tools);
    let specs: Vec<ToolSpec> = specs
        .map(|spec| ToolSpec {
            output_schema: json!({}),
            error_schema: json!({}),
            view: ResultView::default(),
            auth: None,
            max_attempts: 1,
            ..spec
        })
        .collect();
    assert!(specs.len() >= 12, "the packs that ship are read: {}", specs.len());
    specs
}

/// Returns the server of a tool as a destination.
pub fn server(spec: &ToolSpec) -> Destination {
    let name = format!("{}/{}", spec.pack, spec.target.server());
    Destination::new(DestinationKind::Server, name)
}
