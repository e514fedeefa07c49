//! The accepted tool definitions of servers, and the manifests of their packs, pinned by hash. The
//! first list of a pack's server is accepted together with its pack; the first list of an added
//! server is accepted by a person. Later, a new tool or a changed definition is disabled until a
//! person accepts it, and so are all tools of a pack whose manifest changed, or of an added server
//! whose file changed outside the app.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use chrono::{DateTime, Utc};
use contract::{AgentError, DefinitionState, Effect, ErrorCode, PackId, text};
use engine::ports::Clock;
use mcp::{Definition, Definitions, UnreadableTool};
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::profile::{keep_unreadable, write_atomically};

mod accepting;
mod difference;
mod listing;
mod numbers;

use numbers::{differs_in_numbers, without_numbers};

/// The name under which the manifest of a pack is pinned. The manifest belongs to no server.
const MANIFEST: &str = "pack.json";
/// The name under which the file of an added server is pinned. The server's manifest is made from
/// this file.
const SERVER_FILE: &str = "server.json";

/// The version of the definitions file. The first version did not pin the files of added servers.
const VERSION: u32 = 2;

/// The content of the definitions file, by server (`pack/name`) and tool.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct DefinitionsFile {
    version: u32,
    servers: BTreeMap<String, BTreeMap<String, Pin>>,
    /// The servers whose descriptions may change their numbers, as allowed by a person.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    numbers_may_change: BTreeSet<String>,
}

impl Default for DefinitionsFile {
    fn default() -> Self {
        Self { version: VERSION, servers: BTreeMap::new(), numbers_may_change: BTreeSet::new() }
    }
}

/// An accepted definition.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Pin {
    pub(crate) definition: Definition,
    pub(crate) hash: String,
    pub(crate) accepted_at: DateTime<Utc>,
    /// Whether a person accepted the definition. The first list of a server is accepted with its
    /// pack.
    #[serde(default)]
    by_person: bool,
    /// The effect that the user set for a tool without a manifest entry. If it is None, the tool
    /// counts as a write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) effect: Option<Effect>,
}

impl Pin {
    /// Whether a person saw the definition and accepted it.
    pub(crate) fn is_by_person(&self) -> bool {
        self.by_person
    }

    /// Returns the effect that a person set for the tool, if it is still valid for another
    /// definition. The effect is invalid if the server now states a different effect, unless that
    /// effect is not greater than the user's choice.
    fn said_of(&self, definition: &Definition) -> Option<Effect> {
        let (before, now) = (declared_effect(&self.definition), declared_effect(definition));
        let holds = |said: &Effect| now == before || now.is_some_and(|now| now <= *said);
        self.effect.filter(holds)
    }
}

/// The result of comparing a tool with its accepted definition.
pub(crate) struct DefinitionCheck {
    /// Whether the tool's definition has changed or the tool is gone.
    pub(crate) off: bool,
    /// The hash of the definition, if a person accepted it after the first list.
    pub(crate) by_person: Option<String>,
    /// Whether that person also set the effect of the tool.
    pub(crate) is_classified: bool,
    /// Whether the server states that the tool's reads have targets that the model chooses.
    pub(crate) open_world: bool,
}

struct State {
    kept: DefinitionsFile,
    /// Whether the file exists but could not be read. In this case, no definition is accepted
    /// automatically.
    unreadable: bool,
    /// Whether the file has a version that pinned no files of added servers. These files are then
    /// pinned as this start finds them.
    is_older: bool,
    /// The definitions that the servers list now.
    now: BTreeMap<String, Vec<Definition>>,
    /// The listed tools that cannot be used, by server.
    unusable: BTreeMap<String, Vec<UnreadableTool>>,
}

/// The function that is called after every change.
type OnChange = Box<dyn Fn() + Send + Sync>;

/// The accepted definitions of one profile.
pub(crate) struct Pins {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    /// Servers that are programs of the app, and manifests of shipped packs. They change with the
    /// app and need no acceptance.
    own: BTreeSet<String>,
    state: Mutex<State>,
    on_change: OnceLock<OnChange>,
}

pub(crate) fn server_key(pack: &PackId, server: &str) -> String {
    format!("{pack}/{server}")
}

/// The key under which the manifest of a pack is pinned.
pub(crate) fn manifest_key(pack: &PackId) -> String {
    server_key(pack, "")
}

/// Returns a manifest in the form that is pinned.
fn manifest_definition(pack: &PackId, manifest: &Value) -> Definition {
    Definition {
        name: if pack.is_of_added_server() { SERVER_FILE } else { MANIFEST }.into(),
        title: None,
        description: None,
        input_schema: manifest.clone(),
        output_schema: None,
        annotations: None,
    }
}

/// Returns the hash that a person accepts: of a tool's definition or of a pack's manifest.
fn hash_of(definition: &Definition, pack: &PackId, server: &str) -> String {
    if server.is_empty() {
        packs::hash_of(&definition.input_schema)
    } else {
        definition.hash(pack, server)
    }
}

impl Pins {
    pub(crate) fn open(path: PathBuf, own: BTreeSet<String>, clock: Arc<dyn Clock>) -> Self {
        let read = match files::read_text(&path, files::OWN) {
            Ok(text) => serde_json::from_str::<DefinitionsFile>(&text)
                .map_err(|error| files::fault::without_values(&error.to_string())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(DefinitionsFile::default()),
            Err(error) => Err(error.to_string()),
        }
        .inspect_err(|error| tracing::error!(error, file = %path.display(), "the accepted tool definitions cannot be read; every tool of a server waits to be accepted"));
        let unreadable = read.is_err();
        let kept = read.unwrap_or_default();
        Self {
            path,
            clock,
            own,
            state: Mutex::new(State {
                is_older: kept.version < VERSION,
                kept,
                unreadable,
                now: BTreeMap::new(),
                unusable: BTreeMap::new(),
            }),
            on_change: OnceLock::new(),
        }
    }

    /// Sets the function that is called after every change. Must be called once.
    pub(crate) fn set_on_change(&self, told: OnChange) {
        let _ = self.on_change.set(told);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Calls the function with the current state.
    pub(crate) fn publish(&self) {
        if let Some(told) = self.on_change.get() {
            told();
        }
    }

    /// Compares the manifest of a pack, or the file of an added server, with the pinned one. The
    /// first manifest is pinned, and so is each new manifest that can only change with the app.
    pub(crate) fn record_manifest(&self, pack: &PackId, manifest: &Value) {
        self.record_tools(pack, "", &[manifest_definition(pack, manifest)]);
    }

    /// Whether the tools of a pack may be used with its current manifest.
    pub(crate) fn is_manifest_accepted(&self, pack: &PackId) -> bool {
        let (state, key) = (self.lock(), manifest_key(pack));
        let Some(now) = state.now.get(&key) else { return true };
        let pins = state.kept.servers.get(&key);
        let pin_of = |now: &Definition| pins.and_then(|pins| pins.get(&now.name));
        now.iter().all(|now| pin_of(now).is_some_and(|pin| pin.definition == *now))
    }

    /// Whether the server was reached before.
    pub(crate) fn is_known(&self, server: &str) -> bool {
        self.lock().kept.servers.contains_key(server)
    }

    /// Whether the numbers in a server's descriptions may change without a question.
    pub(crate) fn may_change_numbers(&self, server: &str) -> bool {
        self.lock().kept.numbers_may_change.contains(server)
    }

    /// Compares a tool with its accepted definition. A tool that was never listed stays enabled,
    /// because its first definition is accepted with the pack and does not affect earlier
    /// proposals.
    pub(crate) fn check_tool(&self, server: &str, tool: &str) -> DefinitionCheck {
        let state = self.lock();
        match state.kept.servers.get(server).and_then(|tools| tools.get(tool)) {
            Some(pin) => DefinitionCheck {
                off: state.state_of(server, tool, pin) != DefinitionState::Accepted,
                by_person: pin.by_person.then(|| pin.hash.clone()),
                is_classified: pin.by_person && pin.effect.is_some(),
                open_world: pin.definition.annotation("openWorldHint") == Some(true),
            },
            None => DefinitionCheck {
                off: state.kept.servers.contains_key(server) && state.now.contains_key(server),
                by_person: None,
                is_classified: false,
                open_world: false,
            },
        }
    }

    fn write_file(&self, state: &mut State, mut kept: DefinitionsFile) -> Result<(), AgentError> {
        kept.version = VERSION;
        let failed = |why: String| {
            AgentError::internal(
                "settings",
                text!(
                    "The accepted tools could not be saved in {path}: {why}.",
                    path = self.path.display(),
                    why
                ),
            )
            .hint("Free some space or make the folder writable, then try again.")
        };
        let text =
            serde_json::to_string_pretty(&kept).map_err(|error| failed(error.to_string()))?;
        if state.unreadable {
            keep_unreadable(&self.path, "json.unreadable")
                .map_err(|error| failed(error.to_string()))?;
        }
        write_atomically(&self.path, &text).map_err(|error| failed(error.to_string()))?;
        (state.kept, state.unreadable) = (kept, false);
        Ok(())
    }
}

impl State {
    fn state_of(&self, server: &str, tool: &str, pin: &Pin) -> DefinitionState {
        let Some(now) = self.now.get(server) else { return DefinitionState::Accepted };
        match now.iter().find(|definition| definition.name == tool) {
            Some(definition) if *definition == pin.definition => DefinitionState::Accepted,
            Some(definition)
                if self.kept.numbers_may_change.contains(server)
                    && differs_in_numbers(&pin.definition, definition) =>
            {
                DefinitionState::Accepted
            }
            Some(_) => DefinitionState::Changed,
            None => DefinitionState::Gone,
        }
    }
}

impl Definitions for Pins {
    fn record_unreadable(&self, pack: &PackId, server: &str, tools: &[UnreadableTool]) {
        self.lock().unusable.insert(server_key(pack, server), tools.to_vec());
    }

    fn record_tools(&self, pack: &PackId, server: &str, tools: &[Definition]) {
        let key = server_key(pack, server);
        let mut state = self.lock();
        let is_manifest = server.is_empty();
        // A person accepts the tools of an added server, and its file is pinned when the app writes
        // it.
        let is_added = pack.is_of_added_server();
        let first = !state.unreadable && !is_added && !state.kept.servers.contains_key(&key);
        let is_update = state.is_older
            && is_manifest
            && is_added
            && !state.kept.servers.get(&key).is_some_and(|pins| pins.contains_key(SERVER_FILE));
        state.now.insert(key.clone(), tools.to_vec());
        if first || is_update || self.own.contains(&key) {
            let mut kept = state.kept.clone();
            let before = kept.servers.remove(&key).unwrap_or_default();
            let pin = |definition: &Definition| {
                let old = before.get(&definition.name);
                let accepted_at = old
                    .filter(|pin| pin.definition == *definition)
                    .map_or_else(|| self.clock.now(), |pin| pin.accepted_at);
                let (hash, effect) =
                    (hash_of(definition, pack, server), old.and_then(|pin| pin.effect));
                Pin { definition: definition.clone(), hash, accepted_at, by_person: false, effect }
            };
            let fresh: BTreeMap<String, Pin> =
                tools.iter().map(|definition| (definition.name.clone(), pin(definition))).collect();
            let same = before.len() == fresh.len()
                && fresh.iter().all(|(name, pin)| {
                    before.get(name).is_some_and(|old| old.definition == pin.definition)
                });
            kept.servers.insert(key, fresh);
            if (first || is_update || !same)
                && let Err(error) = self.write_file(&mut state, kept.clone())
            {
                // The definitions are valid for this run, but the next start considers them new
                // again.
                tracing::error!(%error.message, "accepted tools were not kept");
                state.kept = kept;
            }
        }
        drop(state);
        self.publish();
    }

    fn check(&self, pack: &PackId, server: &str, tool: &str) -> Result<(), AgentError> {
        let state = self.lock();
        let key = server_key(pack, server);
        let refused = |what: &str| {
            Err(AgentError::new(ErrorCode::ToolNotFound, text!("{tool} of {server} is switched off: {what}.", tool, server, what))
                .reason("definition_changed")
                .retryable(false)
                .hint("Open Tools in the window to see what changed, and accept it in the approval window if you trust it. In a terminal, `csign servers accept` does both."))
        };
        match state.kept.servers.get(&key).and_then(|tools| tools.get(tool)) {
            Some(pin) => match state.state_of(&key, tool, pin) {
                DefinitionState::Accepted => Ok(()),
                DefinitionState::Changed | DefinitionState::New => {
                    refused("the server describes it differently than when it was accepted")
                }
                DefinitionState::Gone => refused("the server does not offer it any more"),
            },
            None => refused("the server did not have it when it was accepted"),
        }
    }
}

/// Returns the hash that is used to accept a tool of a new server.
pub(crate) fn shown_hash(
    definition: &Definition,
    pack: &PackId,
    server: &str,
    numbers_may_change: bool,
) -> String {
    if numbers_may_change {
        without_numbers(definition).hash(pack, server)
    } else {
        definition.hash(pack, server)
    }
}

/// Returns the effect of a tool without a manifest entry: the user's choice, or else a write, or
/// destructive if the server says so.
pub(crate) fn effect_or_default(definition: &Definition, said: Option<Effect>) -> Effect {
    said.unwrap_or(if definition.annotation("destructiveHint") == Some(true) {
        Effect::Destructive
    } else {
        Effect::Write
    })
}

/// Returns the effect that the server states, if it states one.
pub(crate) fn declared_effect(definition: &Definition) -> Option<Effect> {
    match (definition.annotation("readOnlyHint"), definition.annotation("destructiveHint")) {
        (Some(true), _) => Some(Effect::ReadOnly),
        (_, Some(true)) => Some(Effect::Destructive),
        (Some(false), _) | (_, Some(false)) => Some(Effect::Write),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests;
