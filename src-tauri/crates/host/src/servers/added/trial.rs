//! Tests a server once, outside of the profile's servers: starts it, lists its tools, and ends it.
//! Stores nothing and accepts nothing.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use async_trait::async_trait;
use contract::{AgentError, Effect, ErrorCode, PackId, ServerTestResponse, TestedTool, text};
use mcp::{
    Access, Asker, Definition, Definitions, Question, Reach, Reply, ServerConfig, Servers,
    UnreadableTool,
};
use parking_lot::Mutex;
use secrecy::SecretString;
use tokio::time::Instant;

use super::{keys::KeyValues, trials::Trial};
use crate::servers::{definitions, tool_notes};

/// The maximum duration of a test. A first start may download packages, and may be followed by a
/// second start that begins with the other protocol.
pub(crate) const PATIENCE: Duration = Duration::from_secs(245);
/// The maximum time for a server to start without network. Everything is already downloaded by
/// then.
const WITHOUT_NETWORK: Duration = Duration::from_secs(10);
/// How long no line must follow for a program's error output to count as complete, how often the
/// output is checked, and how long the first line may take on a busy computer.
const ERRORS_QUIET: Duration = Duration::from_millis(200);
const ERRORS_LOOK: Duration = Duration::from_millis(50);
const ERRORS_WITHIN: Duration = Duration::from_millis(1_500);
/// How long a list of tools must stay unchanged to count as complete, and how often the list is
/// checked.
const LIST_QUIET: Duration = Duration::from_millis(500);
const LIST_LOOKS: u32 = 6;
/// The maximum number of lines that a test returns.
const MAX_LINES: usize = 20;

/// The keys that the user entered for the test.
pub(super) struct EnteredKeys(pub(super) KeyValues);

#[async_trait]
impl Access for EnteredKeys {
    async fn credential(&self, name: &str) -> Result<SecretString, AgentError> {
        let value = self.0.get(name).cloned().map(SecretString::from);
        value.ok_or_else(|| {
            AgentError::new(ErrorCode::InternalError, text!("The key {name} is not entered.", name))
        })
    }

    async fn tokens(&self) -> Result<Option<SecretString>, AgentError> {
        Ok(None)
    }

    async fn keep_tokens(&self, _: Option<SecretString>) -> Result<(), AgentError> {
        Ok(())
    }

    fn private_network(&self) -> bool {
        true
    }
}

/// Replaces the stored keys of a server with the keys that the user entered.
pub(crate) fn with_entered_keys(mut config: ServerConfig, keys: KeyValues) -> ServerConfig {
    let entered = Arc::new(EnteredKeys(keys));
    match &mut config.reach {
        Reach::Program(program) => {
            if let Some(keys) = &mut program.keys {
                keys.access = entered;
            }
        }
        Reach::Http(address) => address.access = entered,
    }
    config
}

#[derive(Default)]
struct FoundTools(Mutex<Vec<Definition>>, Mutex<Vec<UnreadableTool>>);

impl FoundTools {
    /// Waits until the list has not changed for a moment, because some servers first list only a
    /// part of their tools.
    async fn wait_until_quiet(&self) {
        let mut before = None;
        for _ in 0..LIST_LOOKS {
            let now = self.0.lock().len();
            if before == Some(now) {
                return;
            }
            before = Some(now);
            tokio::time::sleep(LIST_QUIET).await;
        }
    }
}

impl Definitions for FoundTools {
    fn record_unreadable(&self, _: &PackId, _: &str, tools: &[UnreadableTool]) {
        *self.1.lock() = tools.to_vec();
    }

    fn record_tools(&self, _: &PackId, _: &str, tools: &[Definition]) {
        *self.0.lock() = tools.to_vec();
    }

    fn check(&self, _: &PackId, _: &str, _: &str) -> Result<(), AgentError> {
        Ok(())
    }
}

/// Declines every question. A test asks nobody, but claims like the app that it can ask, because
/// some servers list more tools then and the tested tools must be the same as the accepted tools.
struct Declines;

#[async_trait]
impl Asker for Declines {
    async fn ask(&self, _: Question) -> Reply {
        Reply::Decline
    }
}

/// Starts a server that is configured without network, and returns whether it lists these tools,
/// apart from numbers in their descriptions.
pub(crate) async fn works_without_network(
    config: ServerConfig,
    tools: &[TestedTool],
    trial: &Trial<'_>,
) -> Result<bool, AgentError> {
    let (key, pack, name) = (config.key(), config.pack.clone(), config.name.clone());
    let found = Arc::new(FoundTools::default());
    let servers = Servers::builder(vec![config])
        .definitions(Arc::clone(&found) as _)
        .asker(Arc::new(Declines))
        .build();
    let work = async {
        let is_ready = servers.wait_until_ready(&key, WITHOUT_NETWORK).await.is_ok();
        if is_ready && found.0.lock().len() < tools.len() {
            found.wait_until_quiet().await;
        }
        is_ready
    };
    let done = trial.run_unless_stopped(work).await;
    servers.shut_down().await;
    let shown = tools.iter().map(|tool| tool.hash_without_numbers.clone());
    let listed = found.0.lock();
    let listed = listed.iter().map(|tool| definitions::shown_hash(tool, &pack, &name, true));
    Ok(done? && listed.collect::<BTreeSet<_>>() == shown.collect::<BTreeSet<_>>())
}

/// Starts the server, lists its tools, and ends it. If the trial is stopped, the server is ended at
/// once.
pub(crate) async fn run_trial(
    config: ServerConfig,
    runs: String,
    trial: &Trial<'_>,
) -> Result<ServerTestResponse, AgentError> {
    let (key, found) = (config.key(), Arc::new(FoundTools::default()));
    let (pack, name) = (config.pack.clone(), config.name.clone());
    let servers = Servers::builder(vec![config])
        .definitions(Arc::clone(&found) as _)
        .asker(Arc::new(Declines))
        .build();
    let work = async {
        let outcome = servers.wait_until_ready(&key, PATIENCE).await;
        if outcome.is_ok() {
            found.wait_until_quiet().await;
        }
        (outcome, last_error_lines(&servers, &key).await)
    };
    let done = trial.run_unless_stopped(work).await;
    servers.shut_down().await;
    let (outcome, log) = done?;
    let message = outcome.as_ref().err().map(|failure| failure.error.text());
    let tools = found.0.lock().iter().map(|tool| tested_tool(&pack, &name, tool)).collect();
    let unreadable = found.1.lock();
    let notes = unreadable.iter().map(tool_notes::note_unreadable);
    let notes = notes.chain(found.0.lock().iter().filter_map(tool_notes::note_unchecked)).collect();
    Ok(ServerTestResponse {
        ok: outcome.is_ok(),
        runs,
        message,
        log,
        tools,
        notes,
        works_without_network: false,
    })
}

/// Returns the last lines of a server's error output, which may arrive after the end of the
/// program.
pub(crate) async fn last_error_lines(servers: &Servers, key: &str) -> Vec<String> {
    let began = Instant::now();
    let (mut log, mut changed_at) = (servers.log(key), began);
    while began.elapsed() < ERRORS_WITHIN && (log.is_empty() || changed_at.elapsed() < ERRORS_QUIET)
    {
        tokio::time::sleep(ERRORS_LOOK).await;
        let now = servers.log(key);
        if now.len() != log.len() {
            (log, changed_at) = (now, Instant::now());
        }
    }
    // A program that ends at once is started a second time, with the other protocol. The last line
    // of the first start may arrive during the second start.
    log.dedup();
    log[log.len().saturating_sub(MAX_LINES)..].to_vec()
}

/// Describes a tool for the person who must accept it.
pub(crate) fn tested_tool(pack: &PackId, server: &str, definition: &Definition) -> TestedTool {
    let effect: Effect = definitions::effect_or_default(definition, None);
    TestedTool {
        name: definition.name.clone(),
        description: definition.description.clone().unwrap_or_default(),
        input_schema: definition.input_schema.clone(),
        hash: definition.hash(pack, server),
        hash_without_numbers: definitions::shown_hash(definition, pack, server, true),
        says: definitions::declared_effect(definition),
        effect,
    }
}
