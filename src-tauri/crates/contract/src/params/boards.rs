//! Parameters and answers of the commands about boards. The types that are stored are in `boards`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

pub use crate::boards::{Board, BoardContent, BoardSummary, Tile, TileFigures};
use crate::{BoardId, TileId};

wire! {
    /// All boards.
    struct BoardsResponse {
        /// The boards, by name.
        boards: Vec<BoardSummary>,
    }

    /// Names a board.
    struct BoardParams {
        /// The board.
        id: BoardId,
    }

    /// Makes a board, or changes one. If the board was changed since the revision, nothing is stored.
    struct BoardSaveParams {
        /// The board; absent makes a new one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        id: Option<BoardId>,
        /// The revision that was shown; 0 for a new board.
        revision: u64,
        /// The whole content from now on.
        content: BoardContent,
    }

    /// Deletes a board. If the board was changed since the revision, it stays.
    struct BoardDeleteParams {
        /// The board.
        id: BoardId,
        /// The revision that was shown.
        revision: u64,
    }

    /// Adds a tile at the end of a board. This needs no revision, because it takes nothing away.
    struct BoardTileAddParams {
        /// The board; absent makes a new one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        board: Option<BoardId>,
        /// The name of a new board.
        #[serde(default)]
        name: String,
        /// The tile. The moment of its query is left out, so that relative periods stay relative.
        tile: Tile,
    }

    /// Computes the figures of a tile.
    struct BoardTileParams {
        /// The board.
        board: BoardId,
        /// The tile.
        tile: TileId,
        /// A name of this run that the caller chose, with which it can be stopped.
        run: String,
    }

    /// Stops computing the figures of a tile.
    struct BoardTileStopParams {
        /// The name of the run. A run that has ended is no error.
        run: String,
    }
}
