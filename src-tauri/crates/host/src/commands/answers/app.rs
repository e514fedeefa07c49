//! Answers about the app as a whole. Each is a function with the name of its command.

use contract::*;
use engine::ports::Models as _;

use crate::{commands::doctor, host::Host};

pub(super) async fn app_status(host: &Host, _: Empty) -> Result<AppStatus, AgentError> {
    host.read_status().await
}

pub(super) async fn packs_list(host: &Host, _: Empty) -> Result<PacksListResponse, AgentError> {
    Ok(PacksListResponse {
        packs: host.packs.tools.packs(),
        servers: host.servers.views(),
        isolation: packs::run::isolation(),
    })
}

pub(super) async fn service_level(host: &Host, _: Empty) -> Result<ServiceLevelView, AgentError> {
    let model = host.models.current(None);
    host.engine
        .service_level
        .read(host.profile.prices_view(model.label(), model.in_process()))
        .await
}

pub(super) async fn doctor(host: &Host, _: Empty) -> Result<DoctorResponse, AgentError> {
    Ok(doctor::examine_installation(host).await)
}
