//! Finds model servers on this computer: sends a request to the ports of common servers, in
//! parallel and with a short timeout. The search runs when a person looks for servers, never at
//! start, and requests only the list of models.

use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;

use crate::{http::http_client, wire::listed_ids};

/// The timeout, which is long enough for a server that is loading a model, and short enough to wait
/// for.
const TIME: Duration = Duration::from_millis(1_500);
const MAX_BYTES: usize = 1024 * 1024;
const MAX_MODELS: usize = 200;

/// Common servers and their ports.
pub const USUAL: &[(&str, u16)] =
    &[("Ollama", 11434), ("LM Studio", 1234), ("llama.cpp", 8080), ("vLLM", 8000), ("Jan", 1337)];

/// A server that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundServer {
    pub name: String,
    pub base_url: String,
    pub models: Vec<String>,
}

/// Returns the servers that answer on the given ports, in the same order.
pub async fn find_servers(ports: &[(&str, u16)]) -> Vec<FoundServer> {
    let Ok(clients) = http_client() else { return Vec::new() };
    join_all(ports.iter().map(|(name, port)| probe_server(&clients.here, name, *port)))
        .await
        .into_iter()
        .flatten()
        .collect()
}

async fn probe_server(client: &reqwest::Client, usual: &str, port: u16) -> Option<FoundServer> {
    let base_url = format!("http://127.0.0.1:{port}/v1");
    let request = client.get(format!("{base_url}/models")).timeout(TIME);
    let mut response = request.send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.ok()? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_BYTES {
            return None;
        }
    }
    // Any program may listen on these ports, so only an answer with a list of models is accepted.
    let list: Value = serde_json::from_slice(&body).ok()?;
    let models = listed_ids(&list)?.into_iter().take(MAX_MODELS).collect();
    Some(FoundServer { name: product_name(&list).unwrap_or(usual).to_owned(), base_url, models })
}

/// Returns the server's product name from its list, because servers often run on other ports.
fn product_name(list: &Value) -> Option<&'static str> {
    match list.pointer("/data/0/owned_by")?.as_str()? {
        "library" => Some("Ollama"),
        "llamacpp" => Some("llama.cpp"),
        "vllm" => Some("vLLM"),
        "organization_owner" => Some("LM Studio"),
        _ => None,
    }
}
