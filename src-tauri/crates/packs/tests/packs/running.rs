//! Helpers of the tests that run tools: a pack with one tool, and a request for the tool.

use std::{fs, path::Path};

use contract::{ToolSpec, ToolTarget};
use engine::ports::{ToolRequest, TurnContent};
use serde_json::{Value, json};

/// A manifest with one tool. Members of `tool` replace the defaults in this function.
pub(crate) fn manifest(tool: Value) -> Value {
    let mut entry = json!({
        "id": "t", "title": "The tool", "kind": "http_api", "side_effect_level": "read_only",
        "input_schema_ref": "#/schemas/In", "output_schema_ref": "#/schemas/Any", "error_schema_ref": "#/schemas/Any",
        "timeouts": {"timeout_ms": 5000}, "retry": {"max_attempts": 1, "backoff": "fixed"}, "idempotency": {"strategy": "none"},
        "audit": {"required": false}, "use_when": ["a test says so"],
    });
    for (name, value) in tool.as_object().unwrap() {
        entry[name] = value.clone();
    }
    json!({
        "manifest_version": 1, "id": "one", "version": "1", "title": "One", "description": "One tool.",
        "settings": {"base_url": "https://api.example.com/v1/"},
        "schemas": {"In": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "q": {"type": "string"}, "n": {"type": "integer"}}}, "Any": {"type": "object"}},
        "tools": {"tools": [entry]},
    })
}

/// Returns the resolved tool of a pack with this tool.
pub(crate) fn spec_in(folder: &Path, tool: Value) -> ToolSpec {
    fs::write(folder.join("pack.json"), manifest(tool).to_string()).unwrap();
    let loaded = packs::check_folder(folder);
    loaded.pack.unwrap_or_else(|| panic!("{:#?}", loaded.view.faults)).tools.remove(0)
}

pub(crate) fn spec(tool: Value) -> ToolSpec {
    spec_in(tempfile::tempdir().unwrap().path(), tool)
}

pub(crate) fn request(spec: &ToolSpec, arguments: Value) -> ToolRequest {
    ToolRequest {
        spec: std::sync::Arc::new(spec.clone()),
        asked: arguments.clone(),
        arguments,
        call: "call-1".into(),
        session: "s".into(),
        caller: Default::default(),
        idempotency_key: None,
        attended: false,
        content: TurnContent { model_is_local: true, ..TurnContent::default() },
    }
}

pub(crate) fn target(spec: &ToolSpec) -> &ToolTarget {
    &spec.target
}
