//! Boards of a profile: pinned results that are computed again when a board is opened. This folder
//! owns their files, their revisions, and the runs that compute tiles. Each change names the revision
//! that it was made from, so that two windows do not overwrite one another. This folder must not know
//! how figures are computed, nor the views that show them.

mod content;
mod runs;
mod storage;

use std::sync::Arc;

use audit::Log;
use contract::{
    AgentError, BoardContent, BoardId, BoardTileAddParams, BoardTileParams, ErrorCode, Reason,
    RecordType, SourceName, TileId,
    boards::{Board, BoardSummary, FIRST_TILES, Tile, TileFigures, TileView},
    params::{BoardDeleteParams, BoardSaveParams},
};
use engine::{
    add_caller,
    ports::{AuditLog as _, Clock, Durability, Ids, RecordDraft},
};
use serde_json::json;
use tokio::sync::Mutex;

use crate::{
    data::{Measured, Sources, TileQuery},
    log::{audit_error, current_caller},
    profile::{LiveProfile, Options},
};
use content::{check_content, is_layout_alone};
use runs::Runs;
use storage::Storage;

/// All boards of an open profile.
pub(crate) struct Boards {
    storage: Storage,
    sources: Sources,
    log: Arc<Log>,
    profile: Arc<LiveProfile>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    runs: Runs,
    /// Whether this process serves visitors of the chat API, who have no access to boards.
    is_closed: bool,
    /// The lock that is held while a board changes.
    changing: Mutex<()>,
}

impl Boards {
    /// Opens the boards of a profile. Reads no file.
    pub(crate) fn open(
        profile: &Arc<LiveProfile>,
        sources: &Sources,
        log: &Arc<Log>,
        options: &Options,
    ) -> Self {
        Self {
            storage: Storage::new(profile.paths().boards()),
            sources: sources.clone(),
            log: Arc::clone(log),
            profile: Arc::clone(profile),
            clock: Arc::clone(&options.clock),
            ids: Arc::clone(&options.ids),
            runs: Runs::default(),
            is_closed: options.served_packs.is_some(),
            changing: Mutex::default(),
        }
    }

    fn opened(&self) -> Result<&Storage, AgentError> {
        if self.is_closed { Err(not_for_visitors()) } else { Ok(&self.storage) }
    }

    /// Returns all boards by name. A board that cannot be read has a fault.
    pub(crate) fn list(&self) -> Result<Vec<BoardSummary>, AgentError> {
        let storage = self.opened()?;
        let summary = |id: BoardId| match storage.read(&id) {
            Ok(board) => summary_of(board),
            Err(error) => unreadable(id, &error),
        };
        let mut boards: Vec<BoardSummary> = storage.ids().into_iter().map(summary).collect();
        boards.sort_by_cached_key(|board| (board.name.to_lowercase(), board.id.clone()));
        Ok(boards)
    }

    /// Returns a board with its tiles, without figures.
    pub(crate) fn read(&self, id: &BoardId) -> Result<Board, AgentError> {
        self.opened()?.read(id)
    }

    /// Makes a board, or changes one that nobody changed since it was shown.
    pub(crate) async fn save(&self, params: BoardSaveParams) -> Result<Board, AgentError> {
        let storage = self.opened()?;
        let _changing = self.changing.lock().await;
        let content = self.finish(params.content)?;
        let Some(id) = params.id else { return self.create(content).await };
        let before = storage.read(&id)?;
        check_revision(&before, params.revision)?;
        self.replace(before, content, "changed").await
    }

    /// Deletes a board that nobody changed since it was shown. Returns the board, so that it can be
    /// made again.
    pub(crate) async fn delete(&self, params: &BoardDeleteParams) -> Result<Board, AgentError> {
        let storage = self.opened()?;
        let _changing = self.changing.lock().await;
        let board = storage.read(&params.id)?;
        check_revision(&board, params.revision)?;
        let draft = change_record("deleted", &board.id);
        self.record(draft.commit("before", json!(board.content).to_string())).await?;
        storage.remove(&params.id)?;
        Ok(board)
    }

    /// Adds a tile at the end of a board, or makes a board of it.
    pub(crate) async fn add_tile(&self, params: BoardTileAddParams) -> Result<Board, AgentError> {
        let storage = self.opened()?;
        let _changing = self.changing.lock().await;
        // A query that names its source stays the same when other sources are added.
        let query = self.sources.with_source(params.tile.query);
        // The host chooses the identifier.
        let tile = Tile { id: TileId::new(""), query, ..params.tile };
        let Some(id) = params.board else {
            let content =
                BoardContent { name: params.name, tiles: vec![tile], ..BoardContent::default() };
            return self.create(self.finish(content)?).await;
        };
        let before = storage.read(&id)?;
        let mut content = before.content.clone();
        content.tiles.push(tile);
        let content = self.finish(content)?;
        self.replace(before, content, "tile_added").await
    }

    /// Proposes the first board of a source, and stores nothing.
    pub(crate) fn propose(&self, source: &SourceName) -> Result<BoardContent, AgentError> {
        self.opened()?;
        self.sources.propose_board(source)
    }

    /// Computes the figures of a tile with the filters and the period of its board.
    pub(crate) async fn compute(
        &self,
        params: &BoardTileParams,
    ) -> Result<TileFigures, AgentError> {
        let Board { revision, content, .. } = self.opened()?.read(&params.board)?;
        let tile = content.tiles.iter().find(|tile| tile.id == params.tile);
        let tile = tile.ok_or_else(unknown_tile)?;
        let ask = TileQuery {
            query: &tile.query,
            filters: &content.filters,
            period: content.period.as_ref(),
            has_totals: tile.view == TileView::Table,
        };
        let run = self.runs.begin(&params.run);
        let measured = self.sources.measure_tile(ask, run.token()).await;
        let Measured { query, content, columns, unreached, notes, fresh, data_version } =
            measured.map_err(|error| if run.is_stopped() { stopped() } else { error })?;
        Ok(TileFigures {
            revision,
            at: self.clock.now(),
            query,
            content,
            columns,
            unreached,
            notes,
            fresh,
            data_version,
        })
    }

    /// Stops a run that computes a tile.
    pub(crate) fn stop(&self, run: &str) {
        self.runs.stop(run);
    }

    /// Gives new tiles their identifiers, takes moments out of queries, and checks the content.
    fn finish(&self, mut content: BoardContent) -> Result<BoardContent, AgentError> {
        for tile in &mut content.tiles {
            if tile.id.as_str().is_empty() {
                tile.id = TileId(self.ids.next("tile"));
            }
            tile.query.as_of = None;
        }
        check_content(content)
    }

    async fn create(&self, content: BoardContent) -> Result<Board, AgentError> {
        let now = self.clock.now();
        let id = BoardId(self.ids.next("board"));
        let board = Board { id, revision: 1, created_at: now, changed_at: now, content };
        let draft = change_record("created", &board.id);
        self.record(draft.commit("after", json!(board.content).to_string())).await?;
        self.storage.write(&board)?;
        Ok(board)
    }

    /// Stores another content of a board. A change of the layout alone is not recorded, because it
    /// changes no figure.
    async fn replace(
        &self,
        before: Board,
        content: BoardContent,
        action: &str,
    ) -> Result<Board, AgentError> {
        if !is_layout_alone(&before.content, &content) {
            let draft = change_record(action, &before.id)
                .commit("before", json!(before.content).to_string())
                .commit("after", json!(content).to_string());
            self.record(draft).await?;
        }
        let (revision, changed_at) = (before.revision + 1, self.clock.now());
        let board = Board { revision, changed_at, content, ..before };
        self.storage.write(&board)?;
        Ok(board)
    }

    async fn record(&self, draft: RecordDraft) -> Result<(), AgentError> {
        let signed = add_caller(draft, &current_caller(), self.profile.as_ref());
        let recorded = self.log.append(signed, Durability::Durable).await;
        recorded.map(drop).map_err(|error| audit_error(&error))
    }
}

fn change_record(action: &str, id: &BoardId) -> RecordDraft {
    RecordDraft::new(RecordType::SettingChanged)
        .field("setting", "board")
        .field("action", action)
        .field("board", id.as_str())
}

fn check_revision(board: &Board, shown: u64) -> Result<(), AgentError> {
    if board.revision == shown {
        return Ok(());
    }
    Err(AgentError::invalid("This board was changed in another window since it was shown.")
        .reason(Reason::Changed)
        .hint(
            "Nothing was overwritten. Look at the board as it is now, and make your change again.",
        ))
}

fn summary_of(board: Board) -> BoardSummary {
    let BoardContent { name, source, tiles, .. } = board.content;
    BoardSummary {
        id: board.id,
        name,
        tiles: u32::try_from(tiles.len()).unwrap_or(u32::MAX),
        first: tiles.into_iter().take(FIRST_TILES).collect(),
        source,
        changed_at: Some(board.changed_at),
        faults: Vec::new(),
    }
}

/// Returns the entry of a board whose file is damaged.
fn unreadable(id: BoardId, error: &AgentError) -> BoardSummary {
    let faults = std::iter::once(error.text()).chain(error.hint_as_text()).collect();
    BoardSummary {
        name: id.to_string(),
        id,
        tiles: 0,
        first: Vec::new(),
        source: None,
        changed_at: None,
        faults,
    }
}

fn unknown_tile() -> AgentError {
    AgentError::invalid("This tile was removed in another window.")
        .reason(Reason::NotFound)
        .hint("Open the board again.")
}

fn stopped() -> AgentError {
    AgentError::invalid("Computing this tile was stopped.")
        .reason("tile_stopped")
        .hint("Refresh the tile to compute it.")
}

fn not_for_visitors() -> AgentError {
    AgentError::new(ErrorCode::ToolNotFound, "There are no boards here.").reason(Reason::NotFound)
}
