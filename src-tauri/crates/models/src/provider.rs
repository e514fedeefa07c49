//! A model behind a server, over any wire. The module owns its address, key and wire. The key is
//! passed in and not read from anywhere. The module knows no turns, no meaning of tools and no
//! storage.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use contract::{ModelCapabilities, address::Origin};
use engine::ports::{
    Clock, Embedded, Model, ModelError, ModelEvent, ModelRequest, Random, TextRole, ToolsRefused,
    longest_answer,
};
use futures::stream::BoxStream;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use crate::anthropic::{self, Anthropic};
use crate::capabilities::lookup_model;
use crate::chat::Chat;
use crate::embeddings::{self, Endpoint};
use crate::gemini::Gemini;
use crate::http::call::{self, Shared};
use crate::http::{self, ConnectionCheck, Diagnosis, HttpClient, failure};
use crate::responses::Responses;
use crate::wire::Wire;

/// The supported wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Api {
    Chat,
    Responses,
    Anthropic,
    Gemini,
}

/// The facts about a wire that other parts of the app use.
struct ApiFacts {
    /// The name of the wire in the settings.
    name: &'static str,
    /// The address of the wire's own provider.
    url: &'static str,
    /// The environment variable with the key of that provider.
    key_variable: &'static str,
    /// The header that carries the key, and the text before the key.
    key_header: (&'static str, &'static str),
    /// The maximum number of tools in a request.
    most_tools: usize,
}

impl Api {
    /// All wires, in the order in which they are shown to people.
    pub const ALL: [Self; 4] = [Self::Chat, Self::Responses, Self::Anthropic, Self::Gemini];

    /// Returns the facts of a wire. This is the only table of wires.
    fn facts(self) -> ApiFacts {
        match self {
            Self::Chat => ApiFacts {
                name: "openai_compatible",
                url: "https://api.openai.com/v1",
                key_variable: "OPENAI_API_KEY",
                key_header: ("authorization", "Bearer "),
                most_tools: 128,
            },
            Self::Responses => ApiFacts { name: "openai_responses", ..Self::Chat.facts() },
            Self::Anthropic => ApiFacts {
                name: "anthropic",
                url: "https://api.anthropic.com/v1",
                key_variable: "ANTHROPIC_API_KEY",
                key_header: ("x-api-key", ""),
                most_tools: 512,
            },
            Self::Gemini => ApiFacts {
                name: "gemini",
                url: "https://generativelanguage.googleapis.com/v1beta",
                key_variable: "GEMINI_API_KEY",
                key_header: ("x-goog-api-key", ""),
                most_tools: 128,
            },
        }
    }

    /// Returns the wire by its name in the settings.
    pub fn from_name(provider: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.name() == provider)
    }

    /// Returns the name in the settings.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// Returns the address of the wire's own provider.
    pub fn default_url(self) -> &'static str {
        self.facts().url
    }

    /// Returns the environment variable with the key of the wire's own provider.
    pub fn key_variable(self) -> &'static str {
        self.facts().key_variable
    }

    /// Returns the maximum number of tools in a request.
    pub fn most_tools(self) -> usize {
        self.facts().most_tools
    }

    /// Returns the maximum number of tokens of an answer, for a request of `wanted` tokens.
    pub fn longest_answer(self, model: &str, wanted: Option<u32>) -> u32 {
        let own = lookup_model(model).capabilities.max_output_tokens;
        let asked_for = match self {
            Self::Anthropic => wanted.or_else(|| Some(anthropic::default_max_tokens(own))),
            Self::Chat | Self::Responses | Self::Gemini => wanted,
        };
        longest_answer(asked_for, own)
    }
}

/// A key, with the server that it belongs to.
#[derive(Clone, Debug)]
pub struct ServerKey {
    pub server: Origin,
    pub key: SecretString,
}

/// The configuration of a provider.
#[derive(Clone, Debug)]
pub struct Config {
    pub api: Api,
    /// The address without the wire's own path.
    pub base_url: String,
    pub api_key: Option<ServerKey>,
    pub model: String,
    /// Whether the model should think before it answers, if it can.
    pub reasoning: bool,
    /// The time without data after which a stream counts as stalled.
    pub idle_timeout: Duration,
    /// Whether there is a fallback model. The idle timeout then applies to all attempts together.
    pub before_another: bool,
    /// The number of retries after a temporary failure, as long as no part of the answer has
    /// arrived.
    pub max_retries: u32,
    /// The label that is shown in place of "model at host".
    pub label: Option<String>,
}

/// The dependencies of a provider.
#[derive(Clone)]
pub struct ProviderDeps {
    /// The HTTP clients, shared by all providers. See [`crate::http_client`].
    pub http: HttpClient,
    pub random: Arc<dyn Random>,
    pub clock: Arc<dyn Clock>,
}

/// A model behind a server.
#[derive(Clone)]
pub struct Provider {
    shared: Arc<Shared>,
    model: String,
    label: String,
    capabilities: ModelCapabilities,
    api: Api,
}

impl Provider {
    /// Checks the form of the address and key, without sending a request. Fails if the key belongs
    /// to another server or would be sent without encryption.
    pub fn new(config: Config, world: ProviderDeps) -> Result<Self, ModelError> {
        let base = http::parse_base_url(&config.base_url)?;
        let server = Origin::of(&base).ok_or_else(failure::bad_address)?;
        let host = server.host_and_port();
        let key = key_for_server(&server, config.api_key.as_ref())?;
        let has_key = key.is_some();
        let key = build_headers(config.api, key)?;
        let known = lookup_model(&config.model);
        let maker = maker(config.api, &server, &config.model);
        let wire: Arc<dyn Wire> = match config.api {
            Api::Chat => Arc::new(Chat::new(
                &config.model,
                maker.clone(),
                base.host_str().unwrap_or_default(),
                key,
            )),
            Api::Responses => {
                Arc::new(Responses::new(&config.model, maker.clone(), known, config.reasoning, key))
            }
            Api::Anthropic => {
                Arc::new(Anthropic::new(&config.model, maker.clone(), known, config.reasoning, key))
            }
            Api::Gemini => {
                Arc::new(Gemini::new(&config.model, maker.clone(), config.reasoning, key))
            }
        };
        let label = config.label.unwrap_or_else(|| format!("{} at {host}", config.model));
        let shared = Shared {
            http: world.http.client_for(&base),
            plainly: world.http.plain_requests(),
            maker,
            wire,
            base,
            host,
            server,
            has_key,
            idle: config.idle_timeout.max(Duration::from_millis(1)),
            before_another: config.before_another,
            max_retries: config.max_retries,
            random: world.random,
            clock: world.clock,
        };
        Ok(Self {
            shared: Arc::new(shared),
            model: config.model,
            label,
            capabilities: known.capabilities,
            api: config.api,
        })
    }

    /// Lists the server's models, and requests an answer of one word from the model. No request is
    /// retried.
    pub async fn check(&self) -> Result<ConnectionCheck, Diagnosis> {
        http::check(&self.shared, &self.model).await
    }

    /// Returns the models that the server lists; an empty list if the server has none. The request
    /// is not retried.
    pub async fn list_models(&self) -> Result<Vec<String>, Diagnosis> {
        http::list_models(&self.shared).await
    }
}

impl Provider {
    /// Returns the vectors of texts, by the provider's endpoint for embeddings.
    pub async fn embed(&self, texts: &[&str], role: TextRole) -> Result<Embedded, ModelError> {
        let endpoint = match self.api {
            Api::Chat | Api::Responses => Endpoint::OpenAi,
            Api::Gemini => Endpoint::Gemini,
            Api::Anthropic => Endpoint::Missing,
        };
        embeddings::embed(&self.shared, endpoint, &self.model, texts, role).await
    }
}

impl Model for Provider {
    fn label(&self) -> String {
        self.label.clone()
    }
    /// The address does not show where the model runs. The caller may know more.
    fn is_local(&self) -> bool {
        false
    }
    fn capabilities(&self) -> ModelCapabilities {
        self.capabilities
    }
    fn most_tools(&self) -> usize {
        self.api.most_tools()
    }
    fn tools_refused(&self) -> Option<ToolsRefused> {
        self.shared.tools_refused()
    }
    fn longest_answer(&self, wanted: Option<u32>) -> u32 {
        self.api.longest_answer(&self.model, wanted)
    }
    fn stream(
        &self,
        mut request: ModelRequest,
    ) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        if !self.capabilities.tools {
            request.tools.clear();
        }
        // A model that cannot follow a schema gets a description in words. On a wire where a call
        // replaces the schema, tool calls are enough.
        let by_call = self.api == Api::Anthropic && self.capabilities.tools;
        if !(self.capabilities.structured_output || by_call) {
            request.structured = None;
        }
        request.apply_own_limit(self.capabilities.max_output_tokens);
        call::start_call(Arc::clone(&self.shared), request)
    }
}

/// Returns the identity of wire, server and model.
fn maker(api: Api, server: &Origin, model: &str) -> String {
    format!("{api:?} {} {model}", server.host_and_port())
}

/// Takes over from another process that a model refused requests with tools at this time.
pub fn note_refused_tools(
    http: &HttpClient,
    api: Api,
    base_url: &str,
    model: &str,
    at: DateTime<Utc>,
) {
    if let Some(server) = http::origin_of(base_url) {
        http.note_refused_tools(&maker(api, &server, model), at);
    }
}

/// Returns the last refusal of requests with tools, if it has not expired.
pub fn tools_refused(
    http: &HttpClient,
    api: Api,
    base_url: &str,
    model: &str,
    now: DateTime<Utc>,
) -> Option<ToolsRefused> {
    let server = http::origin_of(base_url)?;
    http.tools_refused(&maker(api, &server, model), now)
}

/// Returns the key, if it may be sent to this server.
fn key_for_server<'a>(
    server: &Origin,
    kept: Option<&'a ServerKey>,
) -> Result<Option<&'a SecretString>, ModelError> {
    match kept {
        None => Ok(None),
        Some(kept) if kept.server != *server => {
            Err(failure::key_of_another_server(&kept.server, server))
        }
        Some(_) if !server.may_carry_key() => Err(failure::key_in_plain_text(server)),
        Some(kept) => Ok(Some(&kept.key)),
    }
}

/// Returns the headers of every request.
fn build_headers(api: Api, key: Option<&SecretString>) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    if api == Api::Anthropic {
        headers.insert(
            HeaderName::from_static("anthropic-version"),
            HeaderValue::from_static("2023-06-01"),
        );
    }
    let Some(key) = key else { return Ok(headers) };
    let key = key.expose_secret().trim();
    let (name, before) = api.facts().key_header;
    let mut value =
        HeaderValue::from_str(&format!("{before}{key}")).map_err(|_| failure::bad_key())?;
    value.set_sensitive(true);
    headers.insert(HeaderName::from_static(name), value);
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_with_a_line_break_is_refused_without_printing_the_key() {
        for api in Api::ALL {
            let error = build_headers(api, Some(&SecretString::from("sk-\nx"))).unwrap_err();
            assert!(!error.message.contains("sk-"));
            assert!(
                !format!("{:?}", build_headers(api, Some(&SecretString::from("sk-x"))).unwrap())
                    .contains("sk-x")
            );
        }
    }
}
