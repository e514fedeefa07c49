//! Answers about servers and their tools. Each is a function with the name of its command.

use contract::*;

use crate::{
    host::Host,
    servers::{added::read_servers, server_key},
};

pub(super) async fn server_tools_open(_: &Host, _: Empty) -> Result<Empty, AgentError> {
    // The desktop shell opens the window.
    Ok(Empty {})
}

pub(super) async fn server_tools(host: &Host, _: Empty) -> Result<ServerToolsResponse, AgentError> {
    Ok(ServerToolsResponse { tools: host.packs.tools.server_tools() })
}

pub(super) async fn server_tools_accept(
    host: &Host,
    params: ServerToolsAcceptParams,
) -> Result<Empty, AgentError> {
    host.check_alarm()?;
    host.accept_shown(&params).await.map(|()| Empty {})
}

pub(super) async fn server_tool_effect(
    host: &Host,
    params: ServerToolEffectParams,
) -> Result<Empty, AgentError> {
    host.check_alarm()?;
    host.set_effect(params).await.map(|()| Empty {})
}

pub(super) async fn server_sign_in(
    host: &Host,
    params: ServerParams,
) -> Result<ServerSignInResponse, AgentError> {
    let sign_in =
        host.servers.connections.sign_in(&server_key(&params.pack, &params.server)).await?;
    Ok(ServerSignInResponse { url: sign_in.url })
}

pub(super) async fn server_sign_out(
    host: &Host,
    params: ServerParams,
) -> Result<Empty, AgentError> {
    host.forget_sign_in(&params).await.map(|()| Empty {})
}

pub(super) async fn servers_read(
    host: &Host,
    params: ServersReadParams,
) -> Result<ServersReadResponse, AgentError> {
    read_servers(&params, host.profile.paths())
}

pub(super) async fn server_test(
    host: &Host,
    params: ServerTestParams,
) -> Result<ServerTestResponse, AgentError> {
    host.check_alarm()?;
    let trial = host.servers.trials.begin_trial(&params.server.name);
    host.test_server(&params.server, &trial).await
}

pub(super) async fn server_add(
    host: &Host,
    params: ServerAddParams,
) -> Result<OwnServerView, AgentError> {
    host.check_alarm()?;
    let trial = host.servers.trials.begin_trial(&params.server.name);
    host.add_server(params, &trial).await
}

pub(super) async fn server_test_stop(
    host: &Host,
    params: OwnServerParams,
) -> Result<Empty, AgentError> {
    host.servers.trials.stop_trial(&params.name);
    Ok(Empty {})
}

pub(super) async fn server_list(host: &Host, _: Empty) -> Result<OwnServersResponse, AgentError> {
    Ok(OwnServersResponse { servers: host.own_servers() })
}

pub(super) async fn server_enable(
    host: &Host,
    params: ServerEnableParams,
) -> Result<OwnServerView, AgentError> {
    host.check_alarm()?;
    host.enable_server(&params.name, params.enabled).await
}

pub(super) async fn server_reads_set(
    host: &Host,
    params: ServerReadsParams,
) -> Result<OwnServerView, AgentError> {
    if params.may_run {
        host.check_alarm()?;
    }
    host.set_reads(&params).await
}

pub(super) async fn server_limit_set(
    host: &Host,
    params: ServerLimitParams,
) -> Result<OwnServerView, AgentError> {
    host.check_alarm()?;
    host.set_limit(&params).await
}

pub(super) async fn server_start(
    host: &Host,
    params: ServerParams,
) -> Result<ServerToolsResponse, AgentError> {
    host.check_alarm()?;
    host.start_and_list(&params).await
}

pub(super) async fn server_remove(
    host: &Host,
    params: OwnServerParams,
) -> Result<Empty, AgentError> {
    host.check_alarm()?;
    host.remove_server(&params.name).await.map(|()| Empty {})
}

pub(super) async fn server_log(
    host: &Host,
    params: ServerParams,
) -> Result<ServerLogResponse, AgentError> {
    let key = server_key(&params.pack, &params.server);
    Ok(ServerLogResponse { lines: host.servers.connections.log(&key) })
}

pub(super) async fn questions_list(host: &Host, _: Empty) -> Result<QuestionsResponse, AgentError> {
    Ok(QuestionsResponse { questions: host.servers.questions.list_questions() })
}

pub(super) async fn question_answer(
    host: &Host,
    params: QuestionAnswerParams,
) -> Result<Empty, AgentError> {
    host.servers.questions.answer_question(&params.id, params.answer).map(|()| Empty {})
}
