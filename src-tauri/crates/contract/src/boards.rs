//! Boards: pinned results that are computed again when a board is opened, with filters and a period
//! that hold for all of them. Queries are in their relative form, so that "last 30 days" moves with
//! the calendar. Where boards are stored, and how a filter reaches a query, is not known here.

use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    BoardId, SourceName, Text, TileId,
    metric_query::{Condition, DataColumn, DataVersion, MetricQuery, Period},
    result::{ChartKind, ResultContent},
};

/// The longest name of a board or title of a tile, in characters.
pub const LONGEST_TITLE: usize = 200;
/// The most tiles of a board.
pub const MOST_TILES: usize = 60;
/// The most filters of a board.
pub const MOST_FILTERS: usize = 20;
/// The most tiles of a board that a list of boards has.
pub const FIRST_TILES: usize = 4;

/// A board as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Board {
    /// The identifier.
    pub id: BoardId,
    /// The number of the last change, from 1. A change names the number that it was made from.
    pub revision: u64,
    /// When the board was made.
    pub created_at: DateTime<Utc>,
    /// When the board was changed last.
    pub changed_at: DateTime<Utc>,
    /// The part that a person changes.
    pub content: BoardContent,
}

/// The part of a board that a person changes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct BoardContent {
    /// The name.
    pub name: String,
    /// The source from whose definitions the board was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub source: Option<SourceName>,
    /// Conditions that hold for each tile whose source has their dimensions.
    pub filters: Vec<Condition>,
    /// The period of each tile that has a time, in place of its own. None: each tile has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub period: Option<Period>,
    /// The tiles, in their order.
    pub tiles: Vec<Tile>,
}

/// A pinned result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Tile {
    /// The identifier. Empty in a new tile: the host chooses one.
    pub id: TileId,
    /// The title. Empty: the window names the tile after its query.
    pub title: String,
    /// The query, without the moment that relative periods refer to.
    pub query: MetricQuery,
    /// How the result is shown.
    pub view: TileView,
    /// The kind of chart. None: the result decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub chart: Option<ChartKind>,
    /// The width.
    pub width: TileWidth,
}

/// How a tile shows its result.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum TileView {
    /// Rows and columns.
    #[default]
    Table,
    /// A chart. A result that cannot be drawn is shown as a table.
    Chart,
    /// The values of the first row, to read at a glance.
    Figures,
}

/// The width of a tile.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum TileWidth {
    /// One column of the board.
    #[default]
    Half,
    /// The whole board.
    Full,
}

/// A board in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct BoardSummary {
    /// The identifier.
    pub id: BoardId,
    /// The name. The identifier if the file of the board is damaged.
    pub name: String,
    /// The number of tiles.
    pub tiles: u32,
    /// The first tiles, which tell boards apart.
    pub first: Vec<Tile>,
    /// The source from whose definitions the board was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub source: Option<SourceName>,
    /// When the board was changed last. None if the file of the board is damaged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub changed_at: Option<DateTime<Utc>>,
    /// Why the board cannot be opened, with the remedy. Empty if it can.
    pub faults: Vec<Text>,
}

/// The figures of a tile, with the filters and the period of its board.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct TileFigures {
    /// The revision of the board whose filters and period were used.
    pub revision: u64,
    /// When the figures were computed.
    pub at: DateTime<Utc>,
    /// The query with what reached it, in its relative form.
    pub query: MetricQuery,
    /// The rows and columns to draw.
    pub content: ResultContent,
    /// The columns as the query names them.
    pub columns: Vec<DataColumn>,
    /// The filters of the board that do not reach this tile, and whether its period does not, one
    /// line each.
    pub unreached: Vec<Text>,
    /// Notes about the figures, such as a period that is not over.
    pub notes: Vec<Text>,
    /// How fresh the rows of each source are.
    pub fresh: Vec<Freshness>,
    /// The hash of the data.
    pub data_version: DataVersion,
}

/// How fresh the rows of a source are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Freshness {
    /// The source.
    pub source: SourceName,
    /// The time of the newest import. None for a database, whose rows are those of each moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub imported_at: Option<DateTime<Utc>>,
    /// The last day with rows. None if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub last_day: Option<NaiveDate>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_board_keeps_relative_periods_and_all_conditions_when_it_is_stored() {
        let written = json!({
            "id": "board_1",
            "revision": 3,
            "created_at": "2026-11-30T09:00:00Z",
            "changed_at": "2026-11-30T10:00:00Z",
            "content": {
                "name": "Weekly",
                "source": "ads",
                "filters": [
                    {"campaign": ["A", null]},
                    {"or": [{"device": {"contains": ["x"]}}, {"not": {"spend": {">": 1.5}}}]}
                ],
                "period": {"last": {"days": 30}},
                "tiles": [{
                    "id": "tile_1",
                    "title": "",
                    "query": {
                        "source": "ads",
                        "measures": [{"measure": "spend"}],
                        "by": [{"time": "week"}],
                        "period": {"to_date": "month"},
                        "compare": {"to": "previous"}
                    },
                    "view": "chart",
                    "chart": "lines",
                    "width": "full"
                }]
            }
        });
        let board: Board = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(serde_json::to_value(&board).unwrap(), written);
        assert_eq!(board.content.tiles[0].query.as_of, None);
    }

    #[test]
    fn every_form_of_a_period_can_be_read_again() {
        for written in [
            json!({"last": {"days": 30}}),
            json!({"last_with_today": {"weeks": 2}}),
            json!({"this": "month"}),
            json!({"to_date": "year"}),
            json!({"previous": "quarter"}),
            json!({"month": "2026-11"}),
            json!({"quarter": "2026-Q4"}),
            json!({"year": 2026}),
            json!({"week": "2026-W48"}),
            json!({"from": "2026-11-01"}),
            // All days.
            json!({}),
        ] {
            let period: Period = serde_json::from_value(written.clone()).unwrap();
            assert_eq!(serde_json::to_value(&period).unwrap(), written);
        }
        assert!(serde_json::from_value::<Period>(json!({"last": 30})).is_err());
    }
}
