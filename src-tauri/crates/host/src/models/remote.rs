//! A provider whose key is read only when the provider is called, and a short-lived cache of the
//! last provider.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use contract::{ModelCapabilities, Settings, address::Origin, text};
use engine::ports::{
    Clock, Model, ModelError, ModelErrorKind, ModelEvent, ModelRequest, Random, ToolsRefused,
};
use futures::{StreamExt as _, future::BoxFuture, stream::BoxStream};
use models::{Config, HttpClient, Provider, ProviderDeps, ServerKey};
use parking_lot::Mutex;
use secrecy::SecretString;
use secrets::Keyring;

use crate::keys::{self, CacheStamp};

use super::Server;

/// The recently used providers and the time of the last read of secrets.
#[derive(Default)]
pub(super) struct RecentProvider {
    pub(super) learned: Mutex<Option<CacheStamp>>,
    pub(super) opened: Mutex<Vec<(String, CacheStamp, Provider)>>,
}

impl RecentProvider {
    pub(super) fn has_read_secrets(&self, now: CacheStamp) -> bool {
        self.learned.lock().is_some_and(|at| at.is_valid_at(now))
    }

    pub(super) fn note_secrets_read(&self, now: CacheStamp) {
        *self.learned.lock() = Some(now);
    }

    pub(super) fn cached_provider(&self, recipe: &Recipe, now: CacheStamp) -> Option<Provider> {
        let mut opened = self.opened.lock();
        opened.retain(|(_, at, _)| at.is_valid_at(now));
        let wanted = recipe.cache_key();
        opened.iter().find(|(name, _, _)| *name == wanted).map(|(_, _, model)| model.clone())
    }

    pub(super) fn remember_provider(&self, recipe: &Recipe, now: CacheStamp, model: &Provider) {
        self.opened.lock().push((recipe.cache_key(), now, model.clone()));
    }
}

impl Recipe {
    /// Returns the cache key of the recipe. Keys of the keyring and the environment are compared
    /// separately.
    pub(super) fn cache_key(&self) -> String {
        let Server { api, base_url, model } = &self.server;
        let Self { reasoning, idle_timeout, rank, max_retries, .. } = self;
        format!(
            "{api:?} {base_url} {model} {reasoning} {idle_timeout:?} {rank:?} {max_retries} {}",
            self.env_key.is_some()
        )
    }
}

pub(super) struct Recipe {
    pub(super) http: Result<HttpClient, ModelError>,
    pub(super) server: Server,
    pub(super) reasoning: bool,
    pub(super) idle_timeout: Duration,
    pub(super) rank: Rank,
    pub(super) max_retries: u32,
    pub(super) env_key: Option<SecretString>,
    /// A key that was just entered. It is used instead of a stored key, and is not stored.
    pub(super) entered_key: Option<SecretString>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) random: Arc<dyn Random>,
}

/// The position of a model among the configured models: whether it has a fallback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    BeforeAnother,
    Last,
}

/// Returns the idle timeout: the timeout in the environment if it is set, or else the profile's
/// timeout for this address.
pub(super) fn configured_idle_timeout(
    settings: &Settings,
    base_url: &str,
    environment_ms: Option<u64>,
) -> Duration {
    let seconds = match models::is_nearby_address(base_url) {
        true => settings.model.local_idle_timeout_s,
        false => settings.model.idle_timeout_s,
    };
    let profile = Duration::from_secs(u64::from(seconds));
    environment_ms.map_or(profile, |ms| Duration::from_millis(ms.clamp(10, 3_600_000)))
}

/// Returns how long a model may be silent. If a caller waits only for a limited time, the timeout
/// is slightly longer than the caller's limit. A model with a fallback gets half of the time, so
/// that the fallback can still answer.
pub(super) fn response_timeout(own: Duration, silence: Option<Duration>, rank: Rank) -> Duration {
    match (silence, rank) {
        (None, _) => own,
        (Some(silence), Rank::Last) => silence + Duration::from_secs(1),
        (Some(silence), Rank::BeforeAnother) => silence / 2,
    }
}

/// A model server whose key is read at each call, because the keyring may have been unlocked in the
/// meantime.
pub(super) struct Remote {
    pub(super) keyring: Arc<Keyring>,
    pub(super) lately: Arc<RecentProvider>,
    pub(super) recipe: Arc<Recipe>,
    pub(super) label: String,
    pub(super) runs_here: bool,
}

impl Remote {
    /// Returns the provider for a call.
    pub(super) async fn provider(&self) -> Result<Provider, ModelError> {
        cached_or_opened(&self.keyring, &self.recipe, &self.lately).await
    }

    /// Makes a new provider without the cache.
    pub(super) async fn open(&self) -> Result<Provider, ModelError> {
        open(&self.keyring, &self.recipe).await
    }
}

/// Returns the cached provider, or else makes and caches a new provider.
async fn cached_or_opened(
    keyring: &Keyring,
    recipe: &Recipe,
    lately: &RecentProvider,
) -> Result<Provider, ModelError> {
    let before = CacheStamp::new(recipe.clock.now(), keyring.changes());
    match lately.cached_provider(recipe, before) {
        Some(model) => Ok(model),
        None => open(keyring, recipe)
            .await
            .inspect(|model| lately.remember_provider(recipe, before, model)),
    }
}

pub(super) async fn open(keyring: &Keyring, recipe: &Recipe) -> Result<Provider, ModelError> {
    let api_key = match (&recipe.entered_key, recipe.server.origin()) {
        (Some(key), Some(server)) => Some(ServerKey { server, key: key.clone() }),
        (_, _) => stored_key(keyring, recipe).await?,
    };
    let config = Config {
        api: recipe.server.api,
        base_url: recipe.server.base_url.clone(),
        api_key,
        model: recipe.server.model.clone(),
        reasoning: recipe.reasoning,
        idle_timeout: recipe.idle_timeout,
        before_another: recipe.rank == Rank::BeforeAnother,
        max_retries: recipe.max_retries,
        label: None,
    };
    let world = ProviderDeps {
        http: recipe.http.clone()?,
        random: Arc::clone(&recipe.random),
        clock: Arc::clone(&recipe.clock),
    };
    Provider::new(config, world)
}

/// Returns the key from the keyring or, if there is none, from the environment.
async fn stored_key(keyring: &Keyring, recipe: &Recipe) -> Result<Option<ServerKey>, ModelError> {
    // A server that must not receive a key, because its connection is not encrypted, is called
    // without a key.
    let server = recipe.server.origin().filter(Origin::may_carry_key);
    let found = match (&server, recipe.server.key_entries()) {
        (Some(_), Some(entries)) => entries.get(keyring).await,
        _ => Ok(None),
    };
    let api_key = match found {
        Ok(key) => key.or_else(|| recipe.env_key.clone()),
        Err(_) if recipe.env_key.is_some() => recipe.env_key.clone(),
        // A server on this computer rarely needs a key, and reports a missing key itself.
        Err(_) if recipe.server.is_on_loopback() => None,
        Err(error) => {
            return Err(ModelError {
                kind: ModelErrorKind::Unauthorized,
                message: text!("The key cannot be read: {error}.", error),
                hint: Some(
                    "Unlock the keyring, or enter the key in Settings for this run only.".into(),
                ),
                retry_after_ms: None,
                said: None,
            });
        }
    };
    Ok(server.zip(api_key).map(|(server, key)| ServerKey { server, key }))
}

impl Model for Remote {
    fn label(&self) -> String {
        self.label.clone()
    }

    fn is_local(&self) -> bool {
        self.runs_here
    }

    fn capabilities(&self) -> ModelCapabilities {
        models::capabilities(&self.recipe.server.model)
    }

    fn most_tools(&self) -> usize {
        self.recipe.server.api.most_tools()
    }

    fn note_refused_tools(&self, at: DateTime<Utc>) {
        let Recipe { http, server, .. } = &*self.recipe;
        if let Ok(http) = http {
            models::note_refused_tools(http, server.api, &server.base_url, &server.model, at);
        }
    }

    fn tools_refused(&self) -> Option<ToolsRefused> {
        let Recipe { http, server, clock, .. } = &*self.recipe;
        let http = http.as_ref().ok()?;
        models::tools_refused(http, server.api, &server.base_url, &server.model, clock.now())
    }

    fn longest_answer(&self, wanted: Option<u32>) -> u32 {
        self.recipe.server.api.longest_answer(&self.recipe.server.model, wanted)
    }

    /// Reads all keys before any text is made for the model, so that the keys are known as secrets.
    /// If reading fails, the call itself reports the failure.
    fn prepare_call(&self) -> BoxFuture<'static, ()> {
        let (keyring, lately, now) =
            (Arc::clone(&self.keyring), Arc::clone(&self.lately), self.recipe.clock.now());
        Box::pin(async move {
            let before = CacheStamp::new(now, keyring.changes());
            if !lately.has_read_secrets(before) {
                // If reading the keys fails, the call itself reports the failure.
                let _ = keys::read_secrets(&keyring).await;
                lately.note_secrets_read(before);
            }
        })
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let (keyring, recipe) = (Arc::clone(&self.keyring), Arc::clone(&self.recipe));
        let lately = Arc::clone(&self.lately);
        let opening = async move {
            let opened = cached_or_opened(&keyring, &recipe, &lately).await;
            match opened {
                Ok(model) => model.stream(request),
                Err(error) => futures::stream::iter([Err(error)]).boxed(),
            }
        };
        futures::stream::once(opening).flatten().boxed()
    }
}

pub(super) fn cloud_models_off_error() -> ModelError {
    ModelError {
        kind: ModelErrorKind::BadRequest,
        message:
            "Nothing was sent: this server does not run on this computer, and nothing may leave it."
                .into(),
        hint: Some("Allow cloud models in Settings, or choose a server on this computer.".into()),
        retry_after_ms: None,
        said: None,
    }
}
