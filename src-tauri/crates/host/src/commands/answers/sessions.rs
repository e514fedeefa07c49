//! Answers about sessions: lists, deletions, exports and searches. Each is a function with the name of
//! its command.

use contract::*;

use crate::host::Host;

pub(super) async fn sessions_list(
    host: &Host,
    params: SessionsListParams,
) -> Result<SessionsListResponse, AgentError> {
    host.engine.sessions.list(&params).await
}

pub(super) async fn session_open(
    host: &Host,
    params: SessionParams,
) -> Result<SessionView, AgentError> {
    host.engine.sessions.open(&params.session).await
}

pub(super) async fn session_rename(
    host: &Host,
    params: SessionRenameParams,
) -> Result<Empty, AgentError> {
    host.engine.sessions.rename(&params.session, &params.title).await.map(|()| Empty {})
}

pub(super) async fn session_mark(
    host: &Host,
    params: SessionMarkParams,
) -> Result<Empty, AgentError> {
    host.engine.sessions.mark(&params).await.map(|()| Empty {})
}

pub(super) async fn session_delete(
    host: &Host,
    params: SessionDeleteParams,
) -> Result<SessionDeleteResponse, AgentError> {
    host.check_alarm()?;
    if params.undo {
        host.engine.sessions.delete_undoably(&params.session).await?;
        return Ok(SessionDeleteResponse { undo_seconds: engine::UNDO_SECONDS });
    }
    host.engine.sessions.delete(&params.session).await?;
    Ok(SessionDeleteResponse { undo_seconds: 0 })
}

pub(super) async fn session_restore(
    host: &Host,
    params: SessionParams,
) -> Result<Empty, AgentError> {
    host.engine.sessions.restore(&params.session).await.map(|()| Empty {})
}

pub(super) async fn session_export(
    host: &Host,
    params: SessionExportParams,
) -> Result<SessionExportResponse, AgentError> {
    host.export_session(&params).await
}

pub(super) async fn session_erase(
    host: &Host,
    params: SessionParams,
) -> Result<SessionEraseResponse, AgentError> {
    host.erase_session(&params.session).await
}

pub(super) async fn items_page(
    host: &Host,
    params: ItemsPageParams,
) -> Result<ItemsPageResponse, AgentError> {
    host.engine.sessions.items_page(&params).await
}

pub(super) async fn messages_search(
    host: &Host,
    params: MessagesSearchParams,
) -> Result<MessagesSearchResponse, AgentError> {
    host.engine.sessions.search(&params).await
}
