//! Remote servers that replace programs of packs. They are used if their address is set, in the
//! pack's settings or, in a terminal or gateway, in the environment. The ids of open sessions on
//! these servers are stored with the conversations. Knows no tools and no protocol.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock, Weak},
};

use async_trait::async_trait;
use contract::{
    AgentError, ServerState, ServerView, SessionId, Settings, Text,
    manifest::{ServerElsewhere, ServerEntry},
    text,
};
use engine::{
    Engine,
    ports::{Profile as _, Random},
};
use mcp::{KeptVisits, Open, Patience, PerSession, PerSessionConfig};
use packs::LoadedPack;
use parking_lot::RwLock;
use serde_json::{Map, Value, json};

use super::{config::ServerDeps, definitions::server_key};
use crate::keys::{self, Credentials, Destination};

/// The prefix of the session values that store open sessions on a server.
const KEPT: &str = "$server/";

/// A replacement server, or the error that explains why it cannot be used.
pub(crate) type RemoteOverride = Result<Arc<PerSession>, AgentError>;

/// All replacement servers, by the key of the replaced server.
pub(crate) struct Overrides {
    engine: Arc<OnceLock<Weak<Engine>>>,
    now: RwLock<BTreeMap<String, KnownOverride>>,
    patience: Patience,
    chance: Arc<dyn Random>,
}

struct KnownOverride {
    /// The settings that the client was made from. If they change, a new client is made.
    asked: OverrideSettings,
    stands_in: RemoteOverride,
}

/// The current settings of a replacement server.
#[derive(Clone, PartialEq)]
struct OverrideSettings {
    /// The server's address, the token address, the client id, and the scope.
    values: [String; 4],
    private: bool,
}

impl OverrideSettings {
    fn destination(&self, pack: &LoadedPack, other: &ServerElsewhere) -> Destination {
        let manifest = pack.pack.as_ref().map(|pack| &pack.manifest);
        let declared = |name: &str| {
            manifest.and_then(|manifest| manifest.settings.get(name)?.as_str().map(str::to_owned))
        };
        let shared =
            manifest.is_some_and(|manifest| keys::is_shared(manifest, &other.client_secret));
        let [url, token_url, ..] = &self.values;
        Destination::of_override(
            url,
            token_url,
            [declared(&other.token_url), declared(&other.url)],
            shared,
        )
    }
}

impl Overrides {
    pub(crate) fn new(patience: Patience, chance: Arc<dyn Random>) -> Self {
        Self { engine: Arc::default(), now: RwLock::default(), patience, chance }
    }

    /// Sets the engine whose conversations store the open sessions.
    pub(crate) fn set_engine(&self, engine: &Arc<Engine>) {
        let _ = self.engine.set(Arc::downgrade(engine));
    }

    /// Reads the settings again. Returns true if a replacement server was added or removed.
    pub(crate) fn refresh(&self, packs: &[LoadedPack], deps: &ServerDeps) -> bool {
        let mut now = self.now.write();
        let mut found = BTreeMap::new();
        let mut changed = false;
        for (pack, server, other) in declared_overrides(packs) {
            let Some(asked) = read_override_settings(
                pack,
                other,
                &deps.profile.settings(),
                &deps.keys.credentials,
            ) else {
                continue;
            };
            let key = server_key(&pack.view.id, &server.name);
            let known = now.remove(&key).filter(|known| known.asked == asked);
            changed |= known.is_none();
            found.insert(
                key,
                known.unwrap_or_else(|| KnownOverride {
                    stands_in: self.make_override(pack, server, other, &asked, deps),
                    asked,
                }),
            );
        }
        changed |= !now.is_empty();
        *now = found;
        changed
    }

    fn make_override(
        &self,
        pack: &LoadedPack,
        server: &ServerEntry,
        other: &ServerElsewhere,
        asked: &OverrideSettings,
        deps: &ServerDeps,
    ) -> RemoteOverride {
        let id = &pack.view.id;
        let wrong = |what: Text| {
            AgentError::internal("tool_config_error", what).hint(text!(
                "Correct the settings of the pack {id} on its card in Tools, or the variables.",
                id
            ))
        };
        let missing: Vec<&str> = other
            .settings()
            .into_iter()
            .zip(&asked.values)
            .filter(|(_, value)| value.is_empty())
            .map(|(name, _)| name)
            .collect();
        if !missing.is_empty() {
            return Err(wrong(text!(
                "The server {server} has an address, but {settings} is not set.",
                server = server.name,
                settings = missing.join(", ")
            )));
        }
        let to = asked.destination(pack, other);
        let [url, token_url, client_id, scope] = asked.values.clone();
        let config = PerSessionConfig {
            name: server.name.clone(),
            url,
            token_url,
            client_id,
            client_secret: other.client_secret.clone(),
            scope,
            patience: self.patience,
            access: deps.make_access(id, &server.name, to),
            private: asked.private,
            chance: Arc::clone(&self.chance),
            kept: Arc::new(InValues {
                engine: Arc::clone(&self.engine),
                name: format!("{KEPT}{}", server_key(id, &server.name)),
            }),
        };
        let made = PerSession::new(config).map(Arc::new);
        made.inspect_err(|why| tracing::warn!(pack = %id, server = server.name, %why, "another server cannot stand in: its calls fail")).map_err(wrong)
    }

    /// Returns the server that replaces this one, if there is one.
    pub(crate) fn override_of(&self, key: &str) -> Option<RemoteOverride> {
        self.now.read().get(key).map(|known| known.stands_in.clone())
    }

    /// Returns the address of the server that replaces this one.
    pub(crate) fn address_of(&self, key: &str) -> Option<String> {
        self.now.read().get(key).map(|known| known.asked.values[0].clone())
    }

    /// Returns the server's state for the window. A replaced server shows the replacement's
    /// address.
    pub(crate) fn apply_to_view(&self, view: ServerView) -> ServerView {
        let now = self.now.read();
        let Some(known) = now.get(&server_key(&view.pack, &view.name)) else { return view };
        let (state, message) = match &known.stands_in {
            Ok(_) => (ServerState::Ready, None),
            Err(error) => (ServerState::Failed, Some(error.text())),
        };
        ServerView {
            state,
            message,
            restarts: 0,
            pid: None,
            address: Some(known.asked.values[0].clone()),
            private_network: true,
            signs_in: false,
            ..view
        }
    }
}

/// Returns the servers for which a manifest declares a replacement.
pub(crate) fn declared_overrides(
    packs: &[LoadedPack],
) -> impl Iterator<Item = (&LoadedPack, &ServerEntry, &ServerElsewhere)> {
    let usable = packs.iter().filter_map(|loaded| loaded.pack.as_ref().map(|pack| (loaded, pack)));
    usable.flat_map(|(loaded, pack)| {
        pack.manifest
            .servers
            .iter()
            .filter_map(move |server| Some((loaded, server, server.elsewhere.as_ref()?)))
    })
}

/// Returns the destination of a replacement server's client secret under the current settings.
pub(crate) fn destination_of(
    pack: &LoadedPack,
    other: &ServerElsewhere,
    settings: &Settings,
    credentials: &Credentials,
) -> Destination {
    read_override_settings(pack, other, settings, credentials)
        .map_or(Destination::Nowhere, |asked| asked.destination(pack, other))
}

/// Returns the current settings. Returns None if no address is set.
fn read_override_settings(
    pack: &LoadedPack,
    other: &ServerElsewhere,
    settings: &Settings,
    credentials: &Credentials,
) -> Option<OverrideSettings> {
    let choice = settings.packs.get(pack.view.id.as_str());
    let empty = Map::new();
    let defaults = pack.pack.as_ref().map_or(&empty, |pack| &pack.manifest.settings);
    let variable = |name: &str| credentials.plain_variable(&other.variable(name));
    let set = |name: &str| {
        let chosen = choice
            .and_then(|choice| choice.settings.get(name))
            .or_else(|| defaults.get(name))
            .and_then(Value::as_str);
        variable(name).unwrap_or_else(|| chosen.unwrap_or_default().trim().to_owned())
    };
    let values = other.settings().map(set);
    if values[0].is_empty() {
        return None;
    }
    // A person who sets the server's variable may choose any address, but in the window, private
    // addresses must be enabled separately.
    let private =
        variable(&other.url).is_some() || choice.is_some_and(|choice| choice.private_network);
    Some(OverrideSettings { values, private })
}

/// Stores the ids of open sessions among the values of their conversations.
struct InValues {
    engine: Arc<OnceLock<Weak<Engine>>>,
    name: String,
}

#[async_trait]
impl KeptVisits for InValues {
    async fn change(
        &self,
        session: &SessionId,
        change: Box<dyn FnOnce(Option<Open>) -> Option<Open> + Send>,
    ) -> Option<Open> {
        let engine = self.engine.get()?.upgrade()?;
        let mut made = None;
        let changed = engine
            .values
            .change(session, &self.name, |kept| {
                made = change(kept.and_then(|kept| serde_json::from_value(kept).ok()));
                made.as_ref().map(|open| json!(open))
            })
            .await;
        match changed {
            Ok(_) => made,
            Err(error) => {
                tracing::warn!(%error, "an open session could not be kept");
                None
            }
        }
    }
}
