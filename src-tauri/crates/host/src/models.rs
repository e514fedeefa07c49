//! Which model answers: the offline one, or the configured server with its key from the keyring at the moment of the call.

use std::{
    sync::{Arc, OnceLock, PoisonError, RwLock},
    time::Duration,
};

use contract::Settings;
use engine::ports::{Clock, Ids, Model, ModelError, ModelErrorKind, ModelEvent, ModelRequest, Models, Profile, Random};
use futures::{StreamExt, stream::BoxStream};
use models::{
    offline::{OfflineModel, OfflinePack},
    openai::{self, Checked, Config, HttpClient, OpenAi},
};
use secrecy::SecretString;
use secrets::Keyring;

use crate::profile::LiveProfile;

/// The name of the provider's key in settings, and of the variable that may hold it.
pub(crate) const API_KEY: &str = "OPENAI_API_KEY";

/// The keyring entry of a server's key. Each server has its own, so that a changed address never sends a key elsewhere.
pub(crate) fn key_entry(base_url: &str) -> String {
    format!("{API_KEY}@{}", host_of(base_url).to_ascii_lowercase())
}

/// The models of a profile.
pub(crate) struct HostModels {
    profile: Arc<LiveProfile>,
    keyring: Arc<Keyring>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    random: Arc<dyn Random>,
    offline: RwLock<Arc<OfflineModel>>,
    http: OnceLock<HttpClient>,
}

impl HostModels {
    pub(crate) fn new(
        profile: Arc<LiveProfile>,
        keyring: Arc<Keyring>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        random: Arc<dyn Random>,
        packs: Vec<OfflinePack>,
    ) -> Self {
        Self { profile, keyring, clock, ids, random, offline: RwLock::new(Arc::new(OfflineModel::new(packs))), http: OnceLock::new() }
    }

    /// New names (after an import) for the offline model.
    pub(crate) fn renew_offline(&self, packs: Vec<OfflinePack>) {
        *self.offline.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(OfflineModel::new(packs));
    }

    fn offline(&self) -> Arc<OfflineModel> {
        Arc::clone(&self.offline.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn remote(&self, settings: &Settings, model: &str) -> Remote {
        let label = format!("{model} at {}", host_of(&settings.model.base_url));
        Remote { keyring: Arc::clone(&self.keyring), recipe: Arc::new(self.recipe(settings, model)), label, local: is_local(&settings.model.base_url) }
    }

    fn recipe(&self, settings: &Settings, model: &str) -> Recipe {
        let http = match self.http.get() {
            Some(http) => Ok(http.clone()),
            None => openai::http_client().inspect(|http| {
                let _ = self.http.set(http.clone());
            }),
        };
        Recipe {
            http,
            base_url: settings.model.base_url.clone(),
            model: model.to_owned(),
            idle_timeout: Duration::from_secs(u64::from(settings.model.idle_timeout_s)),
            max_retries: settings.model.max_retries,
            env_key: env_key(&settings.model.base_url),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            random: Arc::clone(&self.random),
        }
    }

    /// Asks the configured server for one word. `None`: the offline model is in force.
    pub(crate) async fn test(&self) -> Option<Result<Checked, ModelError>> {
        let settings = self.profile.settings();
        if settings.model.provider == "offline" {
            return None;
        }
        let remote = self.remote(&settings, &settings.model.model);
        Some(match remote.open().await {
            Ok(model) => model.check().await,
            Err(error) => Err(error),
        })
    }
}

impl Models for HostModels {
    fn current(&self, name: Option<&str>) -> Arc<dyn Model> {
        let settings = self.profile.settings();
        match name {
            Some("offline") => self.offline(),
            Some(model) => Arc::new(self.remote(&settings, model)),
            None if settings.model.provider == "offline" => self.offline(),
            None => Arc::new(self.remote(&settings, &settings.model.model)),
        }
    }
}

struct Recipe {
    http: Result<HttpClient, ModelError>,
    base_url: String,
    model: String,
    idle_timeout: Duration,
    max_retries: u32,
    env_key: Option<SecretString>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    random: Arc<dyn Random>,
}

/// A server that is asked for with its key only when it is called: the keyring may have been unlocked meanwhile.
struct Remote {
    keyring: Arc<Keyring>,
    recipe: Arc<Recipe>,
    label: String,
    local: bool,
}

impl Remote {
    async fn open(&self) -> Result<OpenAi, ModelError> {
        open(&self.keyring, &self.recipe, self.local).await
    }
}

async fn open(keyring: &Keyring, recipe: &Recipe, local: bool) -> Result<OpenAi, ModelError> {
    let api_key = match keyring.get(&key_entry(&recipe.base_url)).await {
        Ok(key) => key.or_else(|| recipe.env_key.clone()),
        Err(_) if recipe.env_key.is_some() => recipe.env_key.clone(),
        // A server on this machine rarely wants a key; any other says so itself.
        Err(_) if local => None,
        Err(error) => {
            return Err(ModelError {
                kind: ModelErrorKind::Unauthorized,
                message: format!("The key cannot be read: {error}."),
                hint: Some("Unlock the keyring, or enter the key in Settings for this run only.".into()),
                retry_after_ms: None,
            });
        }
    };
    let config = Config {
        base_url: recipe.base_url.clone(),
        api_key,
        model: recipe.model.clone(),
        idle_timeout: recipe.idle_timeout,
        max_retries: recipe.max_retries,
        label: None,
    };
    let world =
        openai::World { http: recipe.http.clone()?, random: Arc::clone(&recipe.random), clock: Arc::clone(&recipe.clock), ids: Arc::clone(&recipe.ids) };
    OpenAi::new(config, world)
}

impl Model for Remote {
    fn label(&self) -> String {
        self.label.clone()
    }

    fn local(&self) -> bool {
        self.local
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let (keyring, recipe, local) = (Arc::clone(&self.keyring), Arc::clone(&self.recipe), self.local);
        let opening = async move {
            match open(&keyring, &recipe, local).await {
                Ok(model) => model.stream(request),
                Err(error) => futures::stream::iter([Err(error)]).boxed(),
            }
        };
        futures::stream::once(opening).flatten().boxed()
    }
}

/// The key of the environment, for the server that the environment speaks of: its own address, or the provider's.
fn env_key(base_url: &str) -> Option<SecretString> {
    let key = std::env::var(API_KEY).ok().filter(|key| !key.trim().is_empty())?;
    let meant = std::env::var("OPENAI_BASE_URL").unwrap_or_else(|_| contract::ModelSettings::default().base_url);
    (host_of(base_url) == host_of(&meant)).then(|| SecretString::from(key))
}

fn host_of(base_url: &str) -> String {
    let rest = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    rest.split(['/', '?']).next().unwrap_or(rest).to_owned()
}

fn is_local(base_url: &str) -> bool {
    let host = host_of(base_url);
    let name = host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name);
    name == "localhost" || name == "[::1]" || name.starts_with("127.")
}
