//! Repairs the answers with which servers open a connection. Many servers omit parts: the version,
//! the name, the capabilities. Default values replace missing parts, and unreadable parts are
//! omitted. The module knows the forms of the protocol, but no connection.

use rmcp::model::{
    DiscoverResult, InitializeResult, ProtocolVersion, ServerCapabilities, ServerResult,
};
use serde_json::{Map, Value, json};

/// Returns the answer to `initialize` in the protocol's shape, or None if the answer is something
/// else.
pub(crate) fn initialize_result(answer: ServerResult) -> Option<InitializeResult> {
    if let ServerResult::InitializeResult(result) = answer {
        return Some(with_known_version(result));
    }
    let said = into_object(answer)?;
    let known = ["protocolVersion", "capabilities", "serverInfo"];
    if !known.iter().any(|member| said.contains_key(*member)) {
        return None;
    }
    let mut whole = json!({
        "protocolVersion": said.get("protocolVersion").and_then(Value::as_str).unwrap_or_default(),
        "capabilities": capabilities(said.get("capabilities")),
        "serverInfo": server_info(said.get("serverInfo")),
    });
    if let Some(words) = said.get("instructions").and_then(Value::as_str) {
        whole["instructions"] = json!(words);
    }
    serde_json::from_value(whole).ok().map(with_known_version)
}

/// Returns the answer to `server/discover` in the protocol's shape, or None if the answer is
/// something else.
pub(crate) fn discover_result(answer: ServerResult) -> Option<DiscoverResult> {
    if let ServerResult::DiscoverResult(result) = answer {
        return Some(result);
    }
    let mut said = into_object(answer)?;
    let versions = said.get("supportedVersions")?.as_array()?;
    let versions: Vec<Value> =
        versions.iter().filter(|version| version.is_string()).cloned().collect();
    let capabilities = capabilities(said.get("capabilities"));
    said.insert("supportedVersions".to_owned(), Value::Array(versions));
    said.insert("capabilities".to_owned(), capabilities);
    said.insert("resultType".to_owned(), json!("complete"));
    if !said.get("ttlMs").is_some_and(Value::is_u64) {
        said.insert("ttlMs".to_owned(), json!(0));
    }
    let scope = said.get("cacheScope").and_then(Value::as_str);
    if !scope.is_some_and(|scope| matches!(scope, "private" | "public")) {
        said.insert("cacheScope".to_owned(), json!("private"));
    }
    said.retain(|name, value| !matches!(name.as_str(), "instructions") || value.is_string());
    said.retain(|name, value| !matches!(name.as_str(), "_meta") || value.is_object());
    serde_json::from_value(Value::Object(said)).ok()
}

/// A version without a handshake, or an invalid version, is replaced with the requested version.
fn with_known_version(mut result: InitializeResult) -> InitializeResult {
    let said = result.protocol_version.as_str();
    let is_date = said.len() == 10 && said.starts_with("20");
    let is_newest = result.protocol_version == ProtocolVersion::LATEST;
    if !is_date || (!is_newest && !result.protocol_version.has_initialize()) {
        result.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
    }
    result
}

/// Returns the capabilities that can be read. A server that states no capabilities is still asked
/// for its tools.
fn capabilities(said: Option<&Value>) -> Value {
    let Some(Value::Object(said)) = said else { return json!({"tools": {}}) };
    let kept: Map<String, Value> = said
        .iter()
        .map(|(name, value)| {
            (name.clone(), if *value == json!(true) { json!({}) } else { value.clone() })
        })
        .filter(|(name, value)| {
            let alone = Map::from_iter([(name.clone(), value.clone())]);
            serde_json::from_value::<ServerCapabilities>(Value::Object(alone)).is_ok()
        })
        .collect();
    Value::Object(kept)
}

fn server_info(said: Option<&Value>) -> Value {
    let text = |name: &str| match said.and_then(|said| said.get(name)) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    json!({"name": text("name"), "version": text("version")})
}

fn into_object(answer: ServerResult) -> Option<Map<String, Value>> {
    match serde_json::to_value(answer) {
        Ok(Value::Object(said)) => Some(said),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::CustomResult;

    use super::*;

    fn read(said: &Value) -> Option<InitializeResult> {
        initialize_result(serde_json::from_value(said.clone()).unwrap())
    }

    #[test]
    fn an_answer_to_initialize_may_lack_optional_members() {
        let whole = json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "a", "version": "1"}});
        let expected = read(&whole).unwrap();
        assert_eq!(
            (expected.server_info.name.as_str(), expected.protocol_version.as_str()),
            ("a", "2025-06-18")
        );
        for (member, value) in [
            ("serverInfo", json!({"name": "a"})),
            ("serverInfo", json!({"version": 2})),
            ("serverInfo", json!({})),
            ("serverInfo", Value::Null),
            ("serverInfo", json!("a")),
            ("capabilities", Value::Null),
            ("capabilities", json!([])),
            (
                "capabilities",
                json!({"tools": true, "resources": {"listChanged": "yes"}, "prompts": null}),
            ),
            ("protocolVersion", Value::Null),
            ("protocolVersion", json!(2)),
            ("instructions", json!({"text": "x"})),
        ] {
            for leaves_out in [false, true] {
                let mut said = whole.clone();
                said[member] = value.clone();
                if leaves_out {
                    said.as_object_mut().unwrap().remove(member);
                }
                let found = read(&said);
                assert!(found.is_some_and(|found| found.capabilities.tools.is_some()), "{said}");
            }
        }
        for said in [json!({}), json!({"tools": []}), json!({"content": []})] {
            assert_eq!(read(&said), None, "{said}");
        }
        assert_eq!(
            initialize_result(ServerResult::CustomResult(CustomResult::new(json!("yes")))),
            None
        );
    }

    #[test]
    fn an_impossible_protocol_version_is_read_as_the_requested_one() {
        for (said, taken) in [
            ("2024-11-05", "2024-11-05"),
            ("2025-03-26", "2025-03-26"),
            ("2026-07-28", "2026-07-28"),
            ("2099-01-01", "2025-11-25"),
            ("1.0", "2025-11-25"),
            ("latest", "2025-11-25"),
            ("", "2025-11-25"),
        ] {
            let answer = json!({"protocolVersion": said, "capabilities": {}, "serverInfo": {"name": "a", "version": "1"}});
            assert_eq!(read(&answer).unwrap().protocol_version.as_str(), taken, "{said}");
        }
    }

    #[test]
    fn an_answer_to_discover_may_lack_optional_members() {
        let read = |said: Value| discover_result(serde_json::from_value(said).unwrap());
        for said in [
            json!({"supportedVersions": ["2026-07-28"]}),
            json!({"supportedVersions": ["2026-07-28", 7], "capabilities": null, "ttlMs": "0", "_meta": 1}),
            json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": ""}),
        ] {
            let found = read(said.clone());
            assert!(found.is_some_and(|found| found.capabilities.tools.is_some()), "{said}");
        }
        assert_eq!(read(json!({})), None);
        assert_eq!(read(json!({"supportedVersions": "2026-07-28"})), None);
    }
}
