//! Lists the models of a server that the user is about to connect, before any setting is stored.
//! The module must not know windows; the caller asks the user for the confirmations that
//! `listing_change` returns.

use contract::{AgentError, ModelListParams, ModelListResponse, SettingChange, text};
use engine::ports::Profile as _;
use models::{Api, Diagnosis};
use secrecy::SecretString;

use super::{
    HostModels, Rank, Recipe, Server,
    remote::{self, cloud_models_off_error},
};

impl HostModels {
    /// Lists the models of a server. The key is sent to this server only, and is not stored.
    pub(crate) async fn list_models(
        &self,
        asked: ModelListParams,
    ) -> Result<ModelListResponse, AgentError> {
        let settings = self.profile.settings();
        let server = server_of(&asked)?;
        let (host, local) = (server.host(), server.is_on_loopback());
        let key_stored = match server.key_entries() {
            Some(entries) => entries.is_among(&self.keys.keyring.set_names().await),
            None => false,
        };
        let entered_key = asked
            .key
            .filter(|key| !key.trim().is_empty())
            .map(|key| SecretString::from(key.trim()));
        let recipe = Recipe { entered_key, ..self.provider_recipe(&settings, server, Rank::Last) };
        let listed = if settings.egress.allowed || local {
            match remote::open(&self.keys.keyring, &recipe).await {
                Ok(model) => model.list_models().await,
                Err(error) => Err(Diagnosis::before_request(error)),
            }
        } else {
            Err(Diagnosis::cloud_models_off(cloud_models_off_error()))
        };
        Ok(listing_response(host, key_stored, listed))
    }

    /// Returns the change that a person confirms before the server is asked. Returns an empty list
    /// for the providers' own addresses and for configured addresses, because a request to them
    /// reveals nothing new. With any other address, a page could send data that it has read.
    pub(crate) fn listing_change(
        &self,
        asked: &ModelListParams,
    ) -> Result<Vec<SettingChange>, AgentError> {
        let settings = self.profile.settings();
        let model = &settings.model;
        let address = server_of(asked)?.base_url;
        let is_asked = |known: &str| without_slash(known) == without_slash(&address);
        let is_known = Api::ALL.into_iter().any(|api| is_asked(api.default_url()))
            || is_asked(&model.base_url)
            || model.fallback.as_ref().is_some_and(|second| is_asked(&second.base_url));
        if is_known {
            return Ok(Vec::new());
        }
        Ok(vec![SettingChange {
            setting: "model.list".into(),
            before: String::new(),
            after: address,
            note: None,
        }])
    }
}

fn without_slash(address: &str) -> &str {
    address.trim().trim_end_matches('/')
}

fn server_of(asked: &ModelListParams) -> Result<Server, AgentError> {
    Server::new(&asked.provider, &asked.base_url, "").ok_or_else(|| {
        let names = Api::ALL.map(Api::name).join(", ");
        AgentError::invalid(text!(
            "{name} is not a provider of models.",
            name = asked.provider.clone()
        ))
        .hint(text!("Choose one of {names}.", names))
    })
}

fn listing_response(
    host: String,
    key_stored: bool,
    listed: Result<Vec<String>, Diagnosis>,
) -> ModelListResponse {
    let empty = ModelListResponse {
        models: Vec::new(),
        host,
        problem: None,
        message: None,
        hint: None,
        issuer: None,
        key_stored,
    };
    match listed {
        Ok(models) => ModelListResponse { models, ..empty },
        Err(found) => ModelListResponse {
            problem: Some(found.problem),
            message: Some(found.error.message_with_quote()),
            hint: found.error.hint,
            issuer: found.issuer,
            ..empty
        },
    }
}
