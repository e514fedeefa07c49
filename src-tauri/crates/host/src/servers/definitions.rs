//! The accepted tool definitions of servers, and the manifests of their packs, pinned by hash. The
//! first list of a pack's server is accepted together with its pack; the one of an added server is
//! accepted by a person. Later, a new tool or a changed definition is switched off until a person
//! accepts it, and so are all tools of a pack whose manifest changed, or of an added server whose file
//! changed outside the app.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use chrono::{DateTime, Utc};
use contract::{
    AcceptedTool, AgentError, DefinitionState, Effect, ErrorCode, PackId, ServerTool,
    ServerToolsAcceptParams, text,
};
use engine::ports::Clock;
use mcp::{Definition, Definitions, UnreadableTool};
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::tool_notes;
use crate::profile::{keep_unreadable, write_atomically};

mod difference;
mod numbers;

use difference::diff_definitions;
use numbers::{differs_in_numbers, without_numbers};

/// The name under which the manifest of a pack is pinned. It belongs to no server.
const MANIFEST: &str = "pack.json";
/// The name under which the file of an added server is pinned. Its manifest is made from it.
const SERVER_FILE: &str = "server.json";

/// The version of the file. The first one did not pin the files of added servers.
const VERSION: u32 = 2;

/// The contents of the file, by server (`pack/name`) and tool.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct DefinitionsFile {
    version: u32,
    servers: BTreeMap<String, BTreeMap<String, Pin>>,
    /// The servers in whose descriptions numbers may change, as a person said.
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
    /// The effect that the user sets for a tool without a manifest entry. Without it, the tool
    /// counts as a write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) effect: Option<Effect>,
}

impl Pin {
    /// Whether a person saw the definition and accepted it.
    pub(crate) fn is_by_person(&self) -> bool {
        self.by_person
    }

    /// Returns the effect that a person set for the tool, if it holds for another definition. It does
    /// not if the server now says something else of the effect, unless that is no more than the person
    /// said.
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
    /// Whether that person also said what the tool does, instead of leaving it open.
    pub(crate) is_classified: bool,
    /// Whether the server says that the tool's reads go to targets that the model chooses.
    pub(crate) open_world: bool,
}

struct State {
    kept: DefinitionsFile,
    /// Whether the file exists but could not be read. No definition is accepted automatically then.
    unreadable: bool,
    /// Whether the file is of a version that pinned no files of added servers. They are pinned as
    /// this start finds them.
    is_older: bool,
    /// The definitions that the servers list at present.
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
    /// Servers that are programs of the app, and manifests of packs that ship. They change with the
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

/// Returns a manifest in the form in which definitions are pinned.
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

    /// Tells of the present state.
    pub(crate) fn publish(&self) {
        if let Some(told) = self.on_change.get() {
            told();
        }
    }

    /// Compares the manifest of a pack, or the file of an added server, with the pinned one. The
    /// first manifest is pinned, and so is each new one that changes only with the app.
    pub(crate) fn record_manifest(&self, pack: &PackId, manifest: &Value) {
        self.record_tools(pack, "", &[manifest_definition(pack, manifest)]);
    }

    /// Pins the file of an added server as the app has written it.
    pub(crate) fn pin_server_file(&self, pack: &PackId, file: &Value) -> Result<(), AgentError> {
        let (definition, key) = (manifest_definition(pack, file), manifest_key(pack));
        let pin = Pin {
            hash: hash_of(&definition, pack, ""),
            accepted_at: self.clock.now(),
            by_person: false,
            effect: None,
            definition: definition.clone(),
        };
        let mut state = self.lock();
        let mut kept = state.kept.clone();
        kept.servers.insert(key.clone(), BTreeMap::from([(definition.name.clone(), pin)]));
        state.now.insert(key, vec![definition]);
        self.write_file(&mut state, kept)?;
        drop(state);
        self.publish();
        Ok(())
    }

    /// Whether the tools of a pack may be used with the manifest that it has now.
    pub(crate) fn is_manifest_accepted(&self, pack: &PackId) -> bool {
        let (state, key) = (self.lock(), manifest_key(pack));
        let Some(now) = state.now.get(&key) else { return true };
        let pins = state.kept.servers.get(&key);
        let pin_of = |now: &Definition| pins.and_then(|pins| pins.get(&now.name));
        now.iter().all(|now| pin_of(now).is_some_and(|pin| pin.definition == *now))
    }

    /// Accepts the tools that a server lists now, if they are those that a person saw and accepted.
    /// Otherwise accepts nothing and returns what it lists. If numbers may change, the hashes are
    /// those without numbers.
    pub(crate) fn accept_list(
        &self,
        pack: &PackId,
        server: &str,
        accepted: &BTreeMap<String, AcceptedTool>,
        numbers_may_change: bool,
    ) -> Result<Result<(), Vec<Definition>>, AgentError> {
        let mut state = self.lock();
        let key = server_key(pack, server);
        let listed = state.now.get(&key).cloned().unwrap_or_default();
        let is_as_shown = |definition: &Definition| {
            accepted.get(&definition.name).is_some_and(|shown| {
                shown.hash == shown_hash(definition, pack, server, numbers_may_change)
            })
        };
        let names: BTreeSet<&String> = listed.iter().map(|definition| &definition.name).collect();
        let is_whole = names.len() == listed.len() && names.len() == accepted.len();
        if !is_whole || !listed.iter().all(is_as_shown) {
            return Ok(Err(listed));
        }
        let mut kept = state.kept.clone();
        let pin = |definition: Definition| {
            let hash = definition.hash(pack, server);
            let effect = accepted.get(&definition.name).and_then(|shown| shown.effect);
            let accepted_at = self.clock.now();
            let name = definition.name.clone();
            // By its hash, the text may have other numbers than the one that the person saw.
            let by_person = !numbers_may_change || without_numbers(&definition) == definition;
            (name, Pin { definition, hash, accepted_at, by_person, effect })
        };
        if numbers_may_change {
            kept.numbers_may_change.insert(key.clone());
        }
        kept.servers.insert(key, listed.into_iter().map(pin).collect());
        self.write_file(&mut state, kept)?;
        drop(state);
        self.publish();
        Ok(Ok(()))
    }

    /// Whether the server has been reached before.
    pub(crate) fn is_known(&self, server: &str) -> bool {
        self.lock().kept.servers.contains_key(server)
    }

    /// Whether the numbers in a server's descriptions may change without a question.
    pub(crate) fn may_change_numbers(&self, server: &str) -> bool {
        self.lock().kept.numbers_may_change.contains(server)
    }

    /// Returns the usable tools of a server, by name, as they are described now. One whose numbers
    /// differ from those that were accepted is used, but nobody has accepted its text.
    pub(crate) fn usable_pins(&self, pack: &PackId, server: &str) -> Vec<Pin> {
        let (state, key) = (self.lock(), server_key(pack, server));
        let kept = state.kept.servers.get(&key).into_iter().flatten();
        kept.filter(|(name, pin)| state.state_of(&key, name, pin) == DefinitionState::Accepted)
            .map(|(name, pin)| {
                let mut now = state.now.get(&key).into_iter().flatten();
                let present = now.find(|now| now.name == *name);
                match present.filter(|now| **now != pin.definition) {
                    Some(now) => Pin {
                        definition: now.clone(),
                        hash: hash_of(now, pack, server),
                        by_person: false,
                        ..pin.clone()
                    },
                    None => pin.clone(),
                }
            })
            .collect()
    }

    /// Says what of the servers' lists cannot be used or checked here, each with its server.
    pub(crate) fn notes(&self) -> Vec<(String, contract::Text)> {
        let state = self.lock();
        // A manifest is pinned under no server's name.
        let name_of = |server: &String| {
            let name = server.split_once('/').map(|(_, name)| name.to_owned());
            name.filter(|name| !name.is_empty())
        };
        let mut notes = Vec::new();
        for (server, tools) in &state.unusable {
            let Some(name) = name_of(server) else { continue };
            let of = tools.iter().map(tool_notes::note_unreadable);
            notes.extend(of.map(|note| (name.clone(), note)));
        }
        for (server, pins) in &state.kept.servers {
            let Some(name) = name_of(server) else { continue };
            let of = pins.values().filter_map(|pin| tool_notes::note_unchecked(&pin.definition));
            notes.extend(of.map(|note| (name.clone(), note)));
        }
        notes
    }

    /// Compares a tool with its accepted definition. A tool that was never listed stays switched
    /// on: its first definition is accepted with the pack and does not affect earlier proposals.
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

    /// Returns all tools of all known servers, with their changes. `declared` returns the effect
    /// that a manifest states.
    pub(crate) fn list_tools(
        &self,
        declared: impl Fn(&str, &str) -> Option<Effect>,
    ) -> Vec<ServerTool> {
        let state = self.lock();
        let mut found = Vec::new();
        let servers: BTreeSet<&String> =
            state.kept.servers.keys().chain(state.now.keys()).collect();
        for server in servers {
            let Some((pack, name)) = server.split_once('/') else { continue };
            let (pack, none) = (PackId::from(pack), BTreeMap::new());
            let pins = state.kept.servers.get(server).unwrap_or(&none);
            let now = state.now.get(server);
            let names: BTreeSet<&String> = pins
                .keys()
                .chain(now.into_iter().flatten().map(|definition| &definition.name))
                .collect();
            for tool in names {
                let pin = pins.get(tool);
                let present =
                    now.and_then(|all| all.iter().find(|definition| definition.name == *tool));
                let state =
                    pin.map_or(DefinitionState::New, |pin| state.state_of(server, tool, pin));
                let Some(definition) = present.or(pin.map(|pin| &pin.definition)) else { continue };
                let stated = declared(server, tool);
                let is_manifest = name.is_empty();
                found.push(ServerTool {
                    pack: pack.clone(),
                    server: name.to_owned(),
                    name: tool.clone(),
                    state,
                    hash: hash_of(definition, &pack, name),
                    effect: stated.unwrap_or_else(|| {
                        effect_or_default(definition, pin.and_then(|pin| pin.said_of(definition)))
                    }),
                    declared: stated.is_some() || is_manifest,
                    says: declared_effect(definition),
                    only_numbers: state == DefinitionState::Changed
                        && pin.is_some_and(|pin| differs_in_numbers(&pin.definition, definition)),
                    diff: match state {
                        DefinitionState::Accepted | DefinitionState::Gone => Vec::new(),
                        DefinitionState::Changed | DefinitionState::New => {
                            diff_definitions(pin.map(|pin| &pin.definition), definition)
                        }
                    },
                });
            }
        }
        found
    }

    /// Accepts the present definitions of tools if they are those that were shown. Accepts nothing if
    /// one is another now.
    pub(crate) fn accept_definitions(
        &self,
        shown: &ServerToolsAcceptParams,
    ) -> Result<(), AgentError> {
        let ServerToolsAcceptParams { pack, server, hashes, numbers_may_change } = shown;
        let mut state = self.lock();
        let key = server_key(pack, server);
        let mut kept = state.kept.clone();
        let mut pins = kept.servers.get(&key).cloned().unwrap_or_default();
        for (tool, hash) in hashes {
            let mut present = state.now.get(&key).into_iter().flatten();
            let is_shown =
                |now: &&Definition| now.name == *tool && hash_of(now, pack, server) == *hash;
            let Some(definition) = present.find(is_shown).cloned() else {
                return Err(AgentError::invalid(text!(
                    "{tool} is not described any more as it was shown.",
                    tool = tool.as_str()
                ))
                .reason("changed")
                .hint("Look at it again."));
            };
            let effect = pins.get(tool).and_then(|pin| pin.said_of(&definition));
            let (hash, accepted_at) = (hash.clone(), self.clock.now());
            let pin = Pin { definition, hash, accepted_at, by_person: true, effect };
            pins.insert(tool.clone(), pin);
        }
        // A server without any pin counts as one that was never reached.
        if !pins.is_empty() {
            kept.servers.insert(key.clone(), pins);
        }
        if let Some(may_change) = numbers_may_change {
            kept.numbers_may_change.remove(&key);
            kept.numbers_may_change.extend(may_change.then_some(key));
        }
        self.write_file(&mut state, kept)?;
        drop(state);
        self.publish();
        Ok(())
    }

    /// Stores the effect that the user sets for a tool.
    pub(crate) fn set_effect(
        &self,
        pack: &PackId,
        server: &str,
        tool: &str,
        effect: Effect,
    ) -> Result<(), AgentError> {
        let mut state = self.lock();
        let mut kept = state.kept.clone();
        let Some(pin) =
            kept.servers.get_mut(&server_key(pack, server)).and_then(|tools| tools.get_mut(tool))
        else {
            return Err(AgentError::invalid(text!(
                "{server} has no accepted tool {tool}.",
                server,
                tool
            ))
            .reason("not_found"));
        };
        pin.effect = Some(effect);
        self.write_file(&mut state, kept)?;
        drop(state);
        self.publish();
        Ok(())
    }

    /// Forgets everything about a server that was removed.
    pub(crate) fn forget_server(&self, pack: &PackId, server: &str) -> Result<(), AgentError> {
        let key = server_key(pack, server);
        let mut state = self.lock();
        state.now.remove(&key);
        state.unusable.remove(&key);
        let mut kept = state.kept.clone();
        let (tools, manifest) =
            (kept.servers.remove(&key), kept.servers.remove(&manifest_key(pack)));
        kept.numbers_may_change.remove(&key);
        state.now.remove(&manifest_key(pack));
        if tools.is_some() || manifest.is_some() {
            self.write_file(&mut state, kept)?;
        }
        drop(state);
        self.publish();
        Ok(())
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
        // A person accepts the tools of an added server. Its file is pinned when the app writes it.
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
                // The definitions hold for this run. The next start sees them as new again.
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

/// Returns the hash by which a tool of a new server is accepted.
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

/// Returns the effect that the server states, if any.
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
