//! Computes canonical JSON (RFC 8785) and the hash that identifies an approved call.

use contract::ToolSpec;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Returns the canonical JSON of a value, or `null` if it cannot be written (impossible for a value
/// that was read from JSON).
pub fn canonical(value: &Value) -> String {
    serde_json_canonicalizer::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// Returns the SHA-256 hash of bytes in lower-case hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the hash of an approval. The hash covers server, tool, definition, arguments and
/// caller-owned values, except exempt values.
pub fn approval_hash(spec: &ToolSpec, arguments: &Value, caller: &Map<String, Value>) -> String {
    let exempt =
        |name: &String| spec.caller_owned.iter().any(|p| p.exempt_from_hash && p.name == *name);
    let bound: Map<String, Value> = caller
        .iter()
        .filter(|(name, _)| !exempt(name))
        .map(|(n, v)| (n.clone(), v.clone()))
        .collect();
    let signed = json!({
        "server": spec.target.server(),
        "tool": spec.plain_id(),
        "definition": spec.definition_hash,
        "arguments": arguments,
        "caller": bound,
    });
    sha256_hex(canonical(&signed).as_bytes())
}
