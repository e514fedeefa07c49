//! The destinations of reads in the window: a question with host and size, a permission for the
//! conversation, the list of what is allowed, and its revocation.

use std::fs;

use kit::{
    model_server::{ModelServer, Reply},
    webdriver::wait,
};
use serde_json::json;

use crate::world::Journey;

/// A pack whose tool reads from the internet.
fn pack() -> String {
    json!({
        "manifest_version": 1, "id": "web", "version": "1.0.0", "title": "Web", "description": "Reads pages.",
        "agent": {"id": "web", "name": "Web", "summary": "Reads pages.", "prompt": "You read pages.", "tools": ["web.read"]},
        "schemas": {
            "Page": {"type": "object", "additionalProperties": false, "required": ["page"], "properties": {"page": {"type": "string"}}},
            "Any": {"type": "object"}
        },
        "tools": {"tools": [{
            "id": "web.read", "title": "Read a page", "kind": "http_api",
            "http": {"url": "https://pages.invalid/read", "query": {"page": "{page}"}},
            "side_effect_level": "read_only", "input_schema_ref": "#/schemas/Page",
            "output_schema_ref": "#/schemas/Any", "error_schema_ref": "#/schemas/Any",
            "timeouts": {"timeout_ms": 2_000}, "retry": {"max_attempts": 1, "backoff": "fixed"},
            "idempotency": {"strategy": "none"}, "audit": {"required": false},
            "usage_guidelines": "Reads a page.", "use_when": ["a page is asked for"]
        }]}
    })
    .to_string()
}

#[test]
fn a_new_destination_can_be_allowed_listed_and_revoked() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let read = || Reply::call("web_read", json!({"page": "https://docs.example/tents"}));
    let script = [read(), Reply::text(["First answer."]), read(), Reply::text(["Second answer."])];
    let server = runtime.block_on(ModelServer::start(script));
    let journey = Journey::prepare("destinations", &[]);
    let folder = journey.desktop.data_dir().join("tools/web");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("pack.json"), pack()).expect("a manifest");
    journey.settings(&format!(
        "[model]\nprovider = \"openai_compatible\"\nbase_url = \"{}\"\nmodel = \"scripted\"\n",
        server.base_url()
    ));
    journey.open();
    journey.chat(|page| page.send("@Web What is new about tents?"));
    wait("the question", || (!journey.pending().is_empty()).then_some(()));
    journey.approval(|page| {
        page.says("docs.example");
        page.says("bytes would be sent");
    });
    journey.picture("destination.png");
    journey.approval(|page| page.click_armed("Allow in this conversation"));
    journey.chat(|page| page.says("First answer."));
    let answer = journey.ask("@Web Look again.");
    assert!(answer.contains("Second answer."), "it runs without a question: {answer}");
    journey.chat(|page| {
        page.go("Tools");
        page.named("[role=tab]", "Permissions", false).click().expect("the tab");
        page.says("docs.example");
        page.says("What is new about tents?");
    });
    journey.picture("allowances.png");
    journey.chat(|page| {
        page.click("Revoke");
        page.says("The permission for docs.example is revoked.");
    });
    let left = journey.call("allowances_list", json!({})).expect("the list");
    assert_eq!(left["allowances"], json!([]));
    journey.assert_log_verifies();
}
