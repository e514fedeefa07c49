//! Chooses the model that answers: the offline model or the configured server. The server's key is
//! read from the keyring for each call.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use chrono::{DateTime, Utc};
use contract::{AgentError, MessageExplainResponse, ModelCapabilities, Settings, address::Origin};
use engine::ports::{Clock, Model, Models, Profile as _, Random};
use models::{Api, ConnectionCheck, Diagnosis, HttpClient, WithFallback, echo::EchoModel};
use offline::{KnownSources, OfflineModel, OfflinePack, SourceDirectory};
use secrecy::SecretString;

use crate::{
    keys::{self, API_KEY, Credentials, Entries, Keys},
    profile::LiveProfile,
};

mod embedders;
mod embedding_server;
mod listing;
mod remote;
mod server;
mod test_answer;

pub(crate) use embedders::HostEmbedders;
use remote::{
    Rank, RecentProvider, Recipe, Remote, cloud_models_off_error, configured_idle_timeout,
    response_timeout,
};
use server::Server;
pub(crate) use test_answer::{offline_answer, test_response};

/// The name of the fallback model's key.
pub(crate) const FALLBACK_KEY: &str = "MODEL_FALLBACK_KEY";

/// The name of the test model that repeats its input.
pub(crate) const ECHO: &str = "echo";

/// Returns the keyring entries of a model's key, or None if its server is not configured.
pub(crate) fn entry_of(name: &str, settings: &Settings) -> Option<Entries> {
    server_of_key(name, settings)?.key_entries()
}

/// Returns the origin of the server that a model's key is sent to.
pub(crate) fn origin_of_key(name: &str, settings: &Settings) -> Option<Origin> {
    server_of_key(name, settings)?.origin()
}

/// Fails if a model's key cannot be stored for its configured server.
pub(crate) fn check_key_storable(name: &str, settings: &Settings) -> Result<(), AgentError> {
    let Some(server) = server_of_key(name, settings) else { return Ok(()) };
    match server.origin() {
        Some(origin) => keys::check_may_carry_key(&origin),
        None => Err(AgentError::invalid("The key was not stored, because the model's address is not a valid web address.")
            .reason("bad_address")
            .hint("Enter an address such as https://api.openai.com/v1 first, without a user name or password in it.")),
    }
}

fn server_of_key(name: &str, settings: &Settings) -> Option<Server> {
    match name {
        API_KEY => Server::for_model(settings, ""),
        FALLBACK_KEY => Server::fallback(settings)?,
        _ => None,
    }
}

/// The models of a profile.
pub(crate) struct HostModels {
    profile: Arc<LiveProfile>,
    keys: Keys,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    silence: Option<Duration>,
    offline: Arc<OfflineModel>,
    http: OnceLock<HttpClient>,
    lately: Arc<RecentProvider>,
}

impl HostModels {
    /// Makes the models. `sources` are those that the offline model may be asked about: none if the
    /// process serves visitors.
    pub(crate) fn new(
        profile: Arc<LiveProfile>,
        keys: Keys,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        silence: Option<Duration>,
        packs: Vec<OfflinePack>,
        sources: Option<Arc<dyn SourceDirectory>>,
    ) -> Self {
        Self {
            profile,
            keys,
            clock,
            random,
            silence,
            offline: Arc::new(make_offline(packs, sources)),
            http: OnceLock::new(),
            lately: Arc::default(),
        }
    }

    fn offline_model(&self) -> Arc<OfflineModel> {
        Arc::clone(&self.offline)
    }

    /// Explains how the offline model understands a message. `known` are the sources that the message
    /// may be about.
    pub(crate) fn explain_message(
        &self,
        text: &str,
        now: DateTime<Utc>,
        known: Option<&KnownSources>,
    ) -> MessageExplainResponse {
        self.offline_model().explain(text, now, &self.profile.time_zone(), known)
    }

    fn remote_model(&self, settings: &Settings, server: Server, rank: Rank) -> Remote {
        let (label, runs_here) = (server.label(), server.runs_here(settings));
        let (keyring, lately) = (Arc::clone(&self.keys.keyring), Arc::clone(&self.lately));
        Remote {
            keyring,
            lately,
            recipe: Arc::new(self.provider_recipe(settings, server, rank)),
            label,
            runs_here,
        }
    }

    fn provider_recipe(&self, settings: &Settings, server: Server, rank: Rank) -> Recipe {
        let http = match self.http.get() {
            Some(http) => Ok(http.clone()),
            None => models::http_client().inspect(|http| {
                let _ = self.http.set(http.clone());
            }),
        };
        // If the environment may be used, its variables can set the idle timeout and the number of
        // retries.
        let number = |name: &str| self.keys.credentials.plain_variable(name)?.parse::<u64>().ok();
        Recipe {
            http,
            env_key: env_key(&self.keys.credentials, server.api, &server.base_url),
            entered_key: None,
            reasoning: settings.model.reasoning,
            idle_timeout: response_timeout(
                configured_idle_timeout(settings, &server.base_url, number("OPENAI_TIMEOUT_MS")),
                self.silence,
                rank,
            ),
            server,
            rank,
            max_retries: number("OPENAI_MAX_RETRIES")
                .and_then(|most| u32::try_from(most.min(10)).ok())
                .unwrap_or(settings.model.max_retries),
            clock: Arc::clone(&self.clock),
            random: Arc::clone(&self.random),
        }
    }

    /// Returns the model of a server together with its fallback.
    fn with_fallback(
        &self,
        settings: &Settings,
        first: Server,
        offline: &Arc<OfflineModel>,
    ) -> Arc<dyn Model> {
        let second: Option<Arc<dyn Model>> = match Server::fallback(settings) {
            None => None,
            Some(None) => Some(Arc::clone(offline) as _),
            // A fallback that may not receive data is not used.
            Some(Some(second)) if !settings.egress.allowed && !second.runs_here(settings) => None,
            Some(Some(second)) => Some(Arc::new(self.remote_model(settings, second, Rank::Last))),
        };
        match second {
            None => Arc::new(self.remote_model(settings, first, Rank::Last)),
            Some(second) => Arc::new(WithFallback::new(
                Arc::new(self.remote_model(settings, first, Rank::BeforeAnother)),
                second,
            )),
        }
    }

    /// Sends a small test request to the configured server. Returns None if the offline model is
    /// configured.
    pub(crate) async fn test_connection(&self) -> Option<ConnectionTest> {
        let settings = self.profile.settings();
        let server = Server::configured(&settings, &settings.model.model)?;
        // A test sends none of the user's data, so it may go to any address of this computer.
        let (host, local, capabilities) =
            (server.host(), server.is_on_loopback(), models::capabilities(&server.model));
        let found = match self.remote_model(&settings, server, Rank::Last).open().await {
            Ok(_) if !settings.egress.allowed && !local => {
                Err(Diagnosis::cloud_models_off(cloud_models_off_error()))
            }
            Ok(model) => model.check().await,
            Err(error) => Err(Diagnosis::before_request(error)),
        };
        Some(ConnectionTest { host, capabilities, found })
    }
}

/// The result of a connection test.
pub(crate) struct ConnectionTest {
    pub(crate) host: String,
    pub(crate) capabilities: ModelCapabilities,
    pub(crate) found: Result<ConnectionCheck, Diagnosis>,
}

impl HostModels {
    /// Returns the model for the next turn. `offline` is the model that is used if the offline
    /// model is configured.
    pub(crate) fn current_with(
        &self,
        name: Option<&str>,
        offline: &Arc<OfflineModel>,
    ) -> Arc<dyn Model> {
        let settings = self.profile.settings();
        let server = match name {
            Some(ECHO) => return Arc::new(EchoModel),
            Some("offline") => None,
            Some(model) => Server::for_model(&settings, model),
            None => Server::configured(&settings, &settings.model.model),
        };
        match server {
            Some(server) => self.with_fallback(&settings, server, offline),
            None => Arc::clone(offline) as _,
        }
    }
}

impl Models for HostModels {
    fn current(&self, name: Option<&str>) -> Arc<dyn Model> {
        self.current_with(name, &self.offline_model())
    }

    fn forget_refusals(&self) {
        if let Some(http) = self.http.get() {
            http.forget_refusals();
        }
    }
}

/// Makes the offline model of some packs. It runs in this process, so it may know the values of all
/// sources.
fn make_offline(
    packs: Vec<OfflinePack>,
    sources: Option<Arc<dyn SourceDirectory>>,
) -> OfflineModel {
    let model = OfflineModel::new(packs);
    match sources {
        Some(sources) => model.with_sources(sources),
        None => model,
    }
}

/// Returns the model key from the environment (in a terminal). The key belongs to the address set
/// in the environment, or else to the provider's default address.
fn env_key(credentials: &Credentials, api: Api, base_url: &str) -> Option<SecretString> {
    let key = credentials.read_variable(api.key_variable())?;
    let moved = std::env::var("OPENAI_BASE_URL").ok().filter(|_| api.key_variable() == API_KEY);
    let meant = moved.unwrap_or_else(|| api.default_url().to_owned());
    let asked = models::origin_of(base_url)?;
    (asked.may_carry_key() && models::origin_of(&meant)? == asked).then_some(key)
}

#[cfg(test)]
mod tests {
    use contract::{FallbackModel, ModelSettings};
    use secrecy::ExposeSecret as _;
    use secrets::Keyring;

    use super::*;
    use crate::SystemClock;

    fn settings(provider: &str, base_url: &str, fallback: Option<FallbackModel>) -> Settings {
        let model = ModelSettings {
            provider: provider.into(),
            base_url: base_url.into(),
            fallback,
            ..ModelSettings::default()
        };
        Settings { model, ..Settings::default() }
    }

    fn entries_at(server: &str) -> [String; 1] {
        [format!("OPENAI_API_KEY@{server}")]
    }

    #[test]
    fn each_model_server_has_its_own_key_entry() {
        let table = [
            ("openai_compatible", "http://LocalHost:1234/v1", "http://localhost:1234"),
            (
                "openai_compatible",
                "http:127.0.0.1:1234/x://api.openai.com/v1",
                "http://127.0.0.1:1234",
            ),
            ("openai_responses", "", "https://api.openai.com"),
            ("anthropic", "", "https://api.anthropic.com"),
            ("gemini", " ", "https://generativelanguage.googleapis.com"),
            ("offline", "https://example.com/v1", "https://example.com"),
        ];
        for (provider, base_url, server) in table {
            let entry = entries_at(server);
            assert!(
                entry_of(API_KEY, &settings(provider, base_url, None))
                    .is_some_and(|found| found.is_among(&entry)),
                "{provider}"
            );
        }
        for base_url in ["not an address", "https://me:word@api.openai.com/v1"] {
            let settings = settings("openai_compatible", base_url, None);
            assert_eq!(entry_of(API_KEY, &settings), None);
            assert_eq!(
                check_key_storable(API_KEY, &settings).unwrap_err().reason_text(),
                Some("bad_address")
            );
        }
        let plain = check_key_storable(
            API_KEY,
            &settings("openai_compatible", "http://gpu.example:8000/v1", None),
        )
        .unwrap_err();
        assert_eq!(plain.reason_text(), Some("key_in_plain_text"));
        assert!(
            check_key_storable(
                API_KEY,
                &settings("openai_compatible", "http://localhost:8000/v1", None)
            )
            .is_ok()
        );
    }

    #[test]
    fn a_model_counts_as_local_only_at_an_origin_that_a_person_declared_local() {
        let runs = |base_url: &str, said: &[&str]| {
            let mut settings = settings("openai_compatible", base_url, None);
            settings.model.runs_here = said.iter().map(|said| (*said).to_owned()).collect();
            Server::configured(&settings, "m").unwrap().runs_here(&settings)
        };
        let here = "http://localhost:11434/v1";
        assert!(!runs(here, &[]) && runs(here, &[here]));
        assert!(runs("http://LocalHost:11434/other", &["http://127.0.0.1:1/v1", here]));
        for other in [
            "http://localhost:11435/v1",
            "http://127.0.0.1:11434/v1",
            "https://localhost:11434/v1",
            "http://localhost.example.com:11434/v1",
        ] {
            assert!(!runs(other, &[here]), "{other}");
        }
        let away = "https://api.openai.com/v1";
        assert!(!runs(away, &[away]), "no word makes another computer this one");
    }

    #[test]
    fn a_key_of_the_environment_is_used_only_in_a_terminal_and_for_its_provider() {
        let keyring = || Arc::new(Keyring::new("test"));
        let terminal = Credentials::with_environment(
            keyring(),
            Arc::new(SystemClock),
            Some(|name| (name == "ANTHROPIC_API_KEY").then(|| "sk-ant".to_owned())),
        );
        let api = Api::from_name("anthropic").unwrap();
        let at = |address: &str| {
            env_key(&terminal, api, address).map(|key| key.expose_secret().to_owned())
        };
        assert_eq!(at(api.default_url()).as_deref(), Some("sk-ant"));
        assert_eq!(at("https://elsewhere.example/v1"), None);
        for address in [
            "http://api.anthropic.com/v1",
            "http:127.0.0.1:9/x://api.anthropic.com/v1",
            "https://api.anthropic.com:8443/v1",
        ] {
            assert_eq!(at(address), None, "{address}");
        }
        let window = Credentials::with_environment(keyring(), Arc::new(SystemClock), None);
        assert!(
            env_key(&window, api, api.default_url()).is_none(),
            "the window takes keys from the keyring alone"
        );
        let reads = |from_environment| {
            Credentials::new(keyring(), Arc::new(SystemClock), from_environment)
                .read_variable("PATH")
                .is_some()
        };
        assert!(reads(true) && !reads(false));
    }

    #[test]
    fn a_model_with_a_fallback_gets_half_of_the_response_timeout() {
        let settings = settings("gemini", "", None);
        let seconds = |silence, rank| {
            response_timeout(
                configured_idle_timeout(&settings, "https://api.example/v1", None),
                silence,
                rank,
            )
            .as_secs()
        };
        let waits = Some(Duration::from_secs(120));
        assert_eq!([seconds(waits, Rank::Last), seconds(waits, Rank::BeforeAnother)], [121, 60]);
        assert_eq!(
            [seconds(None, Rank::Last), seconds(None, Rank::BeforeAnother)],
            [60, 60],
            "the profile's own"
        );
        let at = |base_url: &str| configured_idle_timeout(&settings, base_url, None).as_secs();
        for near in [
            "http://localhost:8080/v1",
            "http://192.168.1.7/v1",
            "http://[::1]:1/v1",
            "http://box.local:1234/v1",
        ] {
            assert_eq!(at(near), 600, "{near}");
        }
        assert_eq!(at("https://8.8.8.8/v1"), 60);
        let milliseconds = |ms, silence| {
            response_timeout(
                configured_idle_timeout(&settings, "http://127.0.0.1:1/v1", Some(ms)),
                silence,
                Rank::Last,
            )
            .as_millis()
        };
        assert_eq!(
            [milliseconds(300, None), milliseconds(0, None), milliseconds(300, waits)],
            [300, 10, 121_000],
            "the environment's, where nobody waits"
        );
    }

    #[test]
    fn the_fallback_model_has_its_own_key_and_the_offline_model_has_none() {
        let second = |provider: &str| FallbackModel {
            provider: provider.into(),
            ..FallbackModel::default()
        };
        let with = |fallback| entry_of(FALLBACK_KEY, &settings("gemini", "", fallback));
        assert!(
            with(Some(second("anthropic")))
                .is_some_and(|found| found.is_among(&entries_at("https://api.anthropic.com")))
        );
        assert_eq!((with(Some(second("offline"))), with(None)), (None, None));
        assert_eq!(entry_of("ANOTHER", &settings("gemini", "", None)), None);
    }
}
