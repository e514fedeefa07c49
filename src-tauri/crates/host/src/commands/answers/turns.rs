//! Answers about messages, calls and runs. Each is a function with the name of its command.

use contract::*;
use tokio_util::sync::CancellationToken;

use crate::host::Host;

pub(super) async fn turn_start(
    host: &Host,
    params: TurnStartParams,
) -> Result<TurnStartResponse, AgentError> {
    host.turn_start_from(Caller::inside(), params).await
}

pub(super) async fn turn_cancel(
    host: &Host,
    params: TurnCancelParams,
) -> Result<Empty, AgentError> {
    host.engine.turns.cancel(&params).await.map(|()| Empty {})
}

pub(super) async fn turn_show(host: &Host, params: TurnParams) -> Result<Empty, AgentError> {
    host.check_alarm()?;
    let TurnParams { session, turn } = params;
    host.engine.sessions.show_version(&session, &turn).await.map(|()| Empty {})
}

pub(super) async fn turn_delete(
    host: &Host,
    params: TurnParams,
) -> Result<TurnDeleteResponse, AgentError> {
    host.check_alarm()?;
    let TurnParams { session, turn } = params;
    let other_versions = host.engine.sessions.delete_message(&session, &turn).await?;
    Ok(TurnDeleteResponse { undo_seconds: engine::UNDO_SECONDS, other_versions })
}

pub(super) async fn turn_restore(host: &Host, params: TurnParams) -> Result<Empty, AgentError> {
    host.check_alarm()?;
    let TurnParams { session, turn } = params;
    host.engine.sessions.restore_message(&session, &turn).await.map(|()| Empty {})
}

pub(super) async fn message_explain(
    host: &Host,
    params: MessageExplainParams,
) -> Result<MessageExplainResponse, AgentError> {
    let known = host.sources.known().await;
    Ok(host.models.explain_message(&params.text, host.now(), known.as_deref()))
}

pub(super) async fn question_read(
    host: &Host,
    params: QuestionReadParams,
) -> Result<QuestionReadResponse, AgentError> {
    Ok(host.read_question(&params).await)
}

pub(super) async fn question_suggestions(
    host: &Host,
    params: QuestionSuggestionsParams,
) -> Result<QuestionSuggestionsResponse, AgentError> {
    Ok(host.suggest_questions(&params).await)
}

pub(super) async fn instructions_list(
    host: &Host,
    _: Empty,
) -> Result<InstructionsResponse, AgentError> {
    Ok(host.engine.instructions.read().await)
}

pub(super) async fn prompt_preview(
    host: &Host,
    params: PromptPreviewParams,
) -> Result<PromptPreviewResponse, AgentError> {
    host.engine.prompt_previews.compute(&params).await
}

pub(super) async fn tool_call(
    host: &Host,
    params: ToolCallParams,
) -> Result<ToolCallResponse, AgentError> {
    host.call_tool_in_turn(
        TurnId(host.process.options.ids.next("turn")),
        Caller::inside(),
        params,
        CancellationToken::new(),
    )
    .await
}

pub(super) async fn run_replay(
    host: &Host,
    params: ReplayParams,
) -> Result<ReplayResponse, AgentError> {
    host.replay_run(&params).await
}

pub(super) async fn run_request(host: &Host, params: RunParams) -> Result<RunResponse, AgentError> {
    host.check_alarm()?;
    host.check_packs(None)?;
    host.engine.runs.run(params).await
}
