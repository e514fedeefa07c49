//! Answers about boards. Each is a function with the name of its command.

use contract::*;

use crate::host::Host;

pub(super) async fn boards_list(host: &Host, _: Empty) -> Result<BoardsResponse, AgentError> {
    Ok(BoardsResponse { boards: host.boards.list()? })
}

pub(super) async fn board_open(host: &Host, params: BoardParams) -> Result<Board, AgentError> {
    host.boards.read(&params.id)
}

pub(super) async fn board_save(host: &Host, params: BoardSaveParams) -> Result<Board, AgentError> {
    host.save_board(params).await
}

pub(super) async fn board_delete(
    host: &Host,
    params: BoardDeleteParams,
) -> Result<Board, AgentError> {
    host.check_alarm()?;
    host.boards.delete(&params).await
}

pub(super) async fn board_tile_add(
    host: &Host,
    params: BoardTileAddParams,
) -> Result<Board, AgentError> {
    host.pin_tile(params).await
}

pub(super) async fn board_propose(
    host: &Host,
    params: SourceParams,
) -> Result<BoardContent, AgentError> {
    host.boards.propose(&params.name)
}

pub(super) async fn board_tile(
    host: &Host,
    params: BoardTileParams,
) -> Result<TileFigures, AgentError> {
    host.check_alarm()?;
    host.boards.compute(&params).await
}

pub(super) async fn board_tile_stop(
    host: &Host,
    params: BoardTileStopParams,
) -> Result<Empty, AgentError> {
    host.boards.stop(&params.run);
    Ok(Empty {})
}
