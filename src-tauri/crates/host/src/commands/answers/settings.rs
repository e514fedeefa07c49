//! Answers about settings, keys and models. Each is a function with the name of its command.

use contract::*;

use crate::{
    commands::model::find_model_servers,
    host::Host,
    models::{offline_answer, test_response},
};

pub(super) async fn switch_set(
    host: &Host,
    params: SwitchSetParams,
) -> Result<SettingsView, AgentError> {
    host.set_switch(params).await
}

pub(super) async fn settings_get(host: &Host, _: Empty) -> Result<SettingsView, AgentError> {
    Ok(host.settings_view().await)
}

pub(super) async fn confirmations(
    host: &Host,
    _: Empty,
) -> Result<ConfirmationsResponse, AgentError> {
    Ok(ConfirmationsResponse { confirmations: host.pushes.confirmations.list() })
}

pub(super) async fn confirmation_decide(
    host: &Host,
    params: ConfirmationDecideParams,
) -> Result<Empty, AgentError> {
    host.pushes.confirmations.decide(&params.id, params.accept).map(|()| Empty {})
}

pub(super) async fn settings_set(
    host: &Host,
    params: SettingsSetParams,
) -> Result<SettingsView, AgentError> {
    host.set_settings(params.settings).await
}

pub(super) async fn secret_set(host: &Host, params: SecretSetParams) -> Result<Empty, AgentError> {
    host.check_alarm()?;
    host.store_secret(params).await.map(|()| Empty {})
}

pub(super) async fn secret_delete(host: &Host, params: SecretParams) -> Result<Empty, AgentError> {
    host.check_alarm()?;
    host.delete_secret(&params.name).await.map(|()| Empty {})
}

pub(super) async fn model_test(host: &Host, _: Empty) -> Result<ModelTestResponse, AgentError> {
    let tested = host.test_model().await.map_or_else(offline_answer, test_response);
    host.engine.models.scrub_said(tested)
}

pub(super) async fn model_confirm(_: &Host, _: ModelConfirmParams) -> Result<Empty, AgentError> {
    // No confirmation is needed for a caller that may widen access itself.
    Ok(Empty {})
}

pub(super) async fn model_list(
    host: &Host,
    params: ModelListParams,
) -> Result<ModelListResponse, AgentError> {
    host.engine.models.scrub_said(host.models.list_models(params).await?)
}

pub(super) async fn model_servers(_: &Host, _: Empty) -> Result<LocalServersResponse, AgentError> {
    Ok(find_model_servers().await)
}
