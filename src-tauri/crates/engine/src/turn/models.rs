//! Chooses the models that answer: which model a caller gets, whether text may be sent to it, and
//! which models refused tools.

use std::sync::Arc;

use contract::{AgentError, label_text, text};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    ports::{Model, Models, Profile, World},
    turn::{answers::ScrubbedModel, secrets::KnownSecrets, tool_refusals::ToolRefusals},
};

/// The models of the profile. Known secrets are removed from their answers.
pub struct AnswerModels {
    models: Arc<dyn Models>,
    profile: Arc<dyn Profile>,
    secrets: Arc<KnownSecrets>,
    pub(crate) refusals: ToolRefusals,
}

impl AnswerModels {
    pub(crate) fn new(world: &World, secrets: &Arc<KnownSecrets>) -> Self {
        Self {
            models: Arc::clone(&world.models),
            profile: Arc::clone(&world.profile),
            secrets: Arc::clone(secrets),
            refusals: ToolRefusals::new(world),
        }
    }

    /// Returns the model that answers, or the one with this name. `models` are the models available
    /// to the caller. Every model whose answers are read must be obtained here.
    pub(crate) fn choose(&self, models: &dyn Models, name: Option<&str>) -> Arc<dyn Model> {
        let inner = models.current(name);
        self.refusals.remind(inner.as_ref());
        Arc::new(ScrubbedModel::new(inner, &self.secrets))
    }

    /// Fails if no text may be sent to this model. If cloud models are not allowed, only models on
    /// this computer may answer.
    pub(crate) fn check_egress(&self, model: &dyn Model) -> Result<(), AgentError> {
        if model.is_local() || self.profile.settings().egress.allowed {
            return Ok(());
        }
        Err(AgentError::invalid(text!("Nothing was sent: {model} does not run on this computer, and nothing may leave it.", model = label_text(&model.label())))
            .reason("egress_denied")
            .hint("Choose the offline model or a server on this computer in Settings, or allow cloud models there. Say there if a model runs at an address of this computer."))
    }

    /// Forgets earlier refusals of servers. Called when a person tests the connection, perhaps
    /// after a change of the server.
    pub async fn forget_refusals(&self) {
        self.models.forget_refusals();
        self.refusals.forget().await;
    }

    /// Returns a text of a model's server from outside a turn, without known secrets.
    pub fn scrub_said<T: Serialize + DeserializeOwned>(&self, said: T) -> Result<T, AgentError> {
        let exact = self.secrets.matcher();
        let failed = |_| {
            AgentError::internal(
                "unreadable_answer",
                "The answer held a stored key and cannot be shown without it.",
            )
        };
        let mut value = serde_json::to_value(&said).map_err(failed)?;
        if !exact.value_contains_secret(&value) {
            return Ok(said);
        }
        exact.scrub_value(&mut value);
        serde_json::from_value(value).map_err(failed)
    }
}
