//! Changes of boards that take texts of a person. A board is written to a file and to the log, so that
//! it must not contain a stored key.

use contract::{
    AgentError,
    boards::Board,
    params::{BoardSaveParams, BoardTileAddParams},
};
use serde_json::json;

use crate::host::Host;

impl Host {
    /// Makes or changes a board.
    pub(crate) async fn save_board(&self, params: BoardSaveParams) -> Result<Board, AgentError> {
        self.check_alarm()?;
        self.engine.secrets.check_keepable(&json!(params.content)).await?;
        self.boards.save(params).await
    }

    /// Pins a result to a board.
    pub(crate) async fn pin_tile(&self, params: BoardTileAddParams) -> Result<Board, AgentError> {
        self.check_alarm()?;
        self.engine.secrets.check_keepable(&json!([params.name, params.tile])).await?;
        self.boards.add_tile(params).await
    }
}
