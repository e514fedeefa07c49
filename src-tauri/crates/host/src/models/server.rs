//! The servers of models that settings name: their addresses, and which keys they get. It must not know
//! how models are called.

use contract::{Settings, address::Origin};
use models::Api;

use crate::keys::{API_KEY, Entries};

/// A model server, and the name of a model.
pub(super) struct Server {
    pub(super) api: Api,
    pub(super) base_url: String,
    pub(super) model: String,
}

impl Server {
    pub(super) fn new(provider: &str, base_url: &str, model: &str) -> Option<Self> {
        let api = Api::from_name(provider)?;
        let base_url = if base_url.trim().is_empty() { api.default_url() } else { base_url };
        Some(Self { api, base_url: base_url.to_owned(), model: model.to_owned() })
    }

    /// Returns the configured server for this model. Returns None if the offline model is
    /// configured.
    pub(super) fn configured(settings: &Settings, model: &str) -> Option<Self> {
        Self::new(&settings.model.provider, &settings.model.base_url, model)
    }

    /// Returns a server for a model by name. If the offline model is configured, the configured
    /// address is used with the chat completions protocol.
    pub(super) fn for_model(settings: &Settings, model: &str) -> Option<Self> {
        Self::configured(settings, model)
            .or_else(|| Self::new("openai_compatible", &settings.model.base_url, model))
    }

    /// Returns the fallback model, if there is one. `Some(None)` means the offline model.
    pub(super) fn fallback(settings: &Settings) -> Option<Option<Self>> {
        let second = settings.model.fallback.as_ref()?;
        Some(Self::new(&second.provider, &second.base_url, &second.model))
    }

    pub(super) fn label(&self) -> String {
        format!("{} at {}", self.model, self.host())
    }

    /// Returns the origin of the server, which gets the requests and the key.
    pub(super) fn origin(&self) -> Option<Origin> {
        models::origin_of(&self.base_url)
    }

    pub(super) fn key_entries(&self) -> Option<Entries> {
        Some(Entries::of_server(API_KEY, &self.origin()?, &self.base_url))
    }

    /// Whether the address belongs to this computer.
    pub(super) fn is_on_loopback(&self) -> bool {
        models::is_loopback_address(&self.base_url)
    }

    /// Whether the model runs on this computer: the address belongs to this computer, and a person
    /// has confirmed for its scheme, host and port that a model runs there.
    pub(super) fn runs_here(&self, settings: &Settings) -> bool {
        let Some(server) = self.origin() else { return false };
        let mut said = settings.model.runs_here.iter();
        self.is_on_loopback() && said.any(|said| models::origin_of(said).as_ref() == Some(&server))
    }

    pub(super) fn host(&self) -> String {
        self.origin().map_or_else(
            || "an address that cannot be used".to_owned(),
            |origin| origin.host_and_port(),
        )
    }
}
