//! Runs the client against a test server of the conformance suites: connects, lists the tools and
//! calls them. The module uses the shipped client with a simulated user, who signs in and answers
//! questions with their defaults. All data is kept in memory.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use async_trait::async_trait;
use contract::{
    AgentError, ErrorCode, PackId, Reason, ServerState,
    manifest::{Auth, AuthKind, KeyAlgorithm, OauthGrant, ServerHttp, ServerOauth},
};
use parking_lot::Mutex;
use reqwest::{Client, header::LOCATION, redirect};
use secrecy::SecretString;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    Access, Address, Asker, Definition, Definitions, Question, Reach, Reply, RequestedInput,
    ServerConfig, Servers,
};

const PACK: &str = "dev";
const SERVER: &str = "dev/server";
const SECRET: &str = "SECRET";
/// The maximum duration of one call.
const CALL: Duration = Duration::from_secs(20);
/// How often the client signs in before it fails.
const SIGN_INS: usize = 3;
/// An address that identifies the app, for servers that require one.
const METADATA: &str = "https://conformance-test.local/client-metadata.json";

/// The suite's parameters for a run, read from environment variables.
#[derive(Clone, Debug, Default)]
pub struct Scenario {
    /// The name of the scenario, from `MCP_CONFORMANCE_SCENARIO`.
    pub name: String,
    /// The parameters of the scenario, from `MCP_CONFORMANCE_CONTEXT`.
    pub context: Value,
}

impl Scenario {
    fn text(&self, name: &str) -> Option<String> {
        self.context.get(name).and_then(Value::as_str).map(str::to_owned)
    }

    /// Returns the server's configuration, with the client's identity and credentials.
    fn http(&self, url: &str) -> ServerHttp {
        let app = self.name.starts_with("auth/client-credentials");
        let key = self.text("private_key_pem");
        let named = app || self.text("client_secret").is_some();
        let oauth = self.name.starts_with("auth/").then(|| ServerOauth {
            grant: if app { OauthGrant::ClientCredentials } else { OauthGrant::AuthorizationCode },
            client_id: self.text("client_id"),
            client_metadata_url: Some(METADATA.to_owned()),
            issuer: None,
            scopes: Vec::new(),
            signed_with: key.is_some().then_some(KeyAlgorithm::ES256),
        });
        let auth = oauth.is_some().then(|| Auth {
            kind: AuthKind::Oauth2,
            env_var: named.then(|| SECRET.to_owned()),
            header: None,
            query: None,
        });
        ServerHttp {
            url: url.to_owned(),
            private_network: true,
            auth,
            oauth,
            headers: BTreeMap::new(),
        }
    }
}

/// A simulated host: credentials, tokens and answers.
#[derive(Default)]
struct Helper {
    secret: Option<String>,
    tokens: Mutex<Option<SecretString>>,
    tools: Mutex<Vec<Definition>>,
}

#[async_trait]
impl Access for Helper {
    async fn credential(&self, name: &str) -> Result<SecretString, AgentError> {
        self.secret.clone().map(SecretString::from).ok_or_else(|| {
            AgentError::internal("tool_config_error", format!("There is no {name}."))
        })
    }

    async fn tokens(&self) -> Result<Option<SecretString>, AgentError> {
        Ok(self.tokens.lock().clone())
    }

    async fn keep_tokens(&self, tokens: Option<SecretString>) -> Result<(), AgentError> {
        *self.tokens.lock() = tokens;
        Ok(())
    }

    fn private_network(&self) -> bool {
        true
    }
}

impl Definitions for Helper {
    fn record_tools(&self, _: &PackId, _: &str, tools: &[Definition]) {
        *self.tools.lock() = tools.to_vec();
    }

    fn check(&self, _: &PackId, _: &str, _: &str) -> Result<(), AgentError> {
        Ok(())
    }
}

#[async_trait]
impl Asker for Helper {
    async fn ask(&self, question: Question) -> Reply {
        match question.asks {
            RequestedInput::Form { schema } => Reply::Accept(Some(example(&schema, true))),
            RequestedInput::Url { .. } => Reply::Accept(None),
        }
    }
}

/// Runs one scenario against a server.
pub async fn run(url: &str, scenario: &Scenario) -> Result<Vec<Value>, AgentError> {
    let secret = scenario.text("private_key_pem").or_else(|| scenario.text("client_secret"));
    let helper = Arc::new(Helper { secret, ..Helper::default() });
    let reach = Reach::Http(Address {
        http: scenario.http(url),
        keyed_url: None,
        access: Arc::clone(&helper) as _,
    });
    let config =
        ServerConfig { name: "server".into(), pack: PACK.into(), reach, start: Some(CALL) };
    let servers = Servers::builder(vec![config])
        .definitions(Arc::clone(&helper) as _)
        .asker(Arc::clone(&helper) as _)
        .build();
    let outcome = calls(&servers, &helper, scenario).await;
    servers.shut_down().await;
    outcome
}

async fn calls(
    servers: &Servers,
    helper: &Helper,
    scenario: &Scenario,
) -> Result<Vec<Value>, AgentError> {
    let mut left = SIGN_INS;
    while let Err(failure) = servers.wait_until_ready(SERVER, CALL).await {
        sign_in_for(servers, &mut left, failure.error).await?;
    }
    let mut results = Vec::new();
    for (tool, arguments) in calls_to_make(helper, scenario) {
        loop {
            match servers
                .call(SERVER, &tool, arguments.clone(), CALL, CancellationToken::new())
                .await
            {
                Ok(value) => results.push(json!({"tool": tool, "result": value})),
                Err(failure)
                    if matches!(
                        failure.error.known_reason(),
                        Some(Reason::McpUnauthorized | Reason::McpSignIn)
                    ) =>
                {
                    sign_in_for(servers, &mut left, failure.error).await?;
                    continue;
                }
                // An error that the tool reports counts as an answer.
                Err(failure) if failure.error.has_reason(Reason::McpToolError) => {
                    results.push(json!({"tool": tool, "error": failure.error.message}))
                }
                Err(failure) => return Err(failure.error),
            }
            break;
        }
    }
    Ok(results)
}

/// Returns the calls to make: the calls that the suite names, or else one call of each tool.
fn calls_to_make(helper: &Helper, scenario: &Scenario) -> Vec<(String, Value)> {
    if let Some(calls) = scenario.context.get("toolCalls").and_then(Value::as_array) {
        return calls
            .iter()
            .filter_map(|call| {
                Some((call.get("name")?.as_str()?.to_owned(), call.get("arguments")?.clone()))
            })
            .collect();
    }
    let tools = helper.tools.lock();
    tools.iter().map(|tool| (tool.name.clone(), example(&tool.input_schema, false))).collect()
}

/// Returns values that match a flat schema, with defaults where they exist.
fn example(schema: &Value, all: bool) -> Value {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let values = properties
        .into_iter()
        .flatten()
        .filter(|(name, _)| all || required.contains(&name.as_str()));
    Value::Object(
        values
            .map(|(name, property)| (name.clone(), example_value(property)))
            .collect::<Map<_, _>>(),
    )
}

fn example_value(property: &Value) -> Value {
    if let Some(value) = property
        .get("default")
        .or_else(|| property.get("const"))
        .or_else(|| property.pointer("/enum/0"))
        .or_else(|| property.pointer("/oneOf/0/const"))
    {
        return value.clone();
    }
    match property.get("type").and_then(Value::as_str) {
        Some("number" | "integer") => json!(5),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => example(property, false),
        _ => json!("text"),
    }
}

/// Signs in if a missing sign-in is the reason for the failure.
async fn sign_in_for(
    servers: &Servers,
    left: &mut usize,
    why: AgentError,
) -> Result<(), AgentError> {
    if !matches!(why.known_reason(), Some(Reason::McpUnauthorized | Reason::McpSignIn))
        || *left == 0
    {
        return Err(why);
    }
    *left -= 1;
    let sign_in = servers.sign_in(SERVER).await?;
    let before = servers.views().remove(0).restarts;
    browse(&sign_in.url).await?;
    loop {
        let view = servers.views().remove(0);
        match (view.state, view.message) {
            (
                ServerState::SignIn | ServerState::BackingOff | ServerState::Failed,
                Some(message),
            ) => {
                return Err(
                    AgentError::new(ErrorCode::ToolHttpError, message).reason("mcp_sign_in_failed")
                );
            }
            // The new tokens have been used. The next call shows whether they are accepted.
            (ServerState::Ready | ServerState::SignIn, _) if view.restarts > before => {
                return Ok(());
            }
            _ => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

/// Acts like the browser of a user who agrees: follows the redirect back to the app.
async fn browse(url: &str) -> Result<(), AgentError> {
    let failed =
        |error: reqwest::Error| AgentError::internal("browser", error.without_url().to_string());
    let browser =
        Client::builder().no_proxy().redirect(redirect::Policy::none()).build().map_err(failed)?;
    let mut url = url.to_owned();
    for _ in 0..5 {
        let response = browser.get(&url).send().await.map_err(failed)?;
        let Some(next) = response.headers().get(LOCATION).and_then(|place| place.to_str().ok())
        else {
            return Ok(());
        };
        url = response.url().join(next).map_or_else(|_| next.to_owned(), Into::into);
    }
    Ok(())
}
