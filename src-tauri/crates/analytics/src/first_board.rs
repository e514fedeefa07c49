//! Proposes the first board of a source from its definitions: its main measures as figures and over
//! time, and its top dimensions. That of a computed source is in `portfolio`. It must not know how
//! boards are stored.

mod portfolio;

use chrono::{Duration, NaiveDate};
use contract::{
    TileId,
    boards::{BoardContent, Tile, TileView, TileWidth},
    definitions::{Calculation, Covers, Definitions, DimensionKind, Measure, Unit},
    metric_query::{
        Compare, CompareTo, Group, MeasureUse, MetricQuery, Order, Period, Span, TimeGrain, Top,
    },
    sources::{ColumnKind, ColumnUse, DaySpan, FoundColumn},
};

use self::portfolio::Portfolio;
use crate::{catalog::ROWS, things::Things};

/// The most figures at the top, and columns of the table.
const FIGURES: usize = 4;
/// The most measures over time.
const OVER_TIME: usize = 2;
/// The most dimensions.
const DIMENSIONS: usize = 3;
/// The groups of a dimension; all others are one more.
const GROUPS: u32 = 10;
/// The most rows of the table.
const ROWS_OF_TABLE: u32 = 100;
/// The days of the period, if the rows are as new as that.
const RECENT: u32 = 30;
/// The days after which rows are not recent. The period would then be empty or nearly so.
const STALE: i64 = 15;

/// Proposes the first board of a source. `days` are those of its rows, if they are known. Tiles have no
/// titles, so that the window names them in its language.
pub fn propose_board(
    definitions: &Definitions,
    columns: &[FoundColumn],
    days: Option<DaySpan>,
    today: NaiveDate,
) -> BoardContent {
    if let Some(board) = computed_board(definitions, columns, days, today) {
        return board;
    }
    let has_time = definitions.time.is_some();
    let is_recent = days.is_none_or(|days| {
        let begin = today - Duration::days(i64::from(RECENT));
        days.first <= begin && days.last >= today - Duration::days(STALE)
    });
    let period = (has_time && is_recent).then_some(Period::Last(Span::Days(RECENT)));
    let is_comparable =
        days.is_none_or(|days| days.first <= today - Duration::days(2 * i64::from(RECENT)));
    let board = Proposing { definitions, measures: main_measures(definitions), period };
    let mut tiles = vec![board.figures(is_comparable)];
    if has_time {
        let grain = grain_of(definitions, board.period.is_some(), days);
        tiles.extend(board.over_time(grain));
    }
    let dimensions = top_dimensions(definitions, columns);
    tiles.extend(dimensions.iter().map(|name| board.by_dimension(name)));
    tiles.extend(dimensions.first().map(|name| board.table(name)));
    BoardContent {
        name: definitions.source.to_string(),
        source: Some(definitions.source.clone()),
        filters: Vec::new(),
        period: board.period.clone(),
        tiles,
    }
}

/// Returns the first board of a computed source. None: its definitions lack what it shows.
fn computed_board(
    definitions: &Definitions,
    columns: &[FoundColumn],
    days: Option<DaySpan>,
    today: NaiveDate,
) -> Option<BoardContent> {
    let is_recent = days.is_none_or(|days| days.last >= today - Duration::days(STALE));
    let board = Portfolio::begin(Things::of(definitions, columns)?, is_recent)?;
    board.board(grain_of(definitions, is_recent, days))
}

/// The measures and the period that all tiles of a board share.
struct Proposing<'a> {
    definitions: &'a Definitions,
    /// The main measures, the first one first. Never empty.
    measures: Vec<String>,
    period: Option<Period>,
}

impl Proposing<'_> {
    fn query(&self, measures: &[String]) -> MetricQuery {
        MetricQuery {
            source: Some(self.definitions.source.clone()),
            measures: measures.iter().map(MeasureUse::named).collect(),
            period: self.period.clone(),
            ..MetricQuery::default()
        }
    }

    /// Returns the main figures, compared with the period before if it has rows.
    fn figures(&self, is_comparable: bool) -> Tile {
        let before = Compare { to: Some(CompareTo::Previous), ..Compare::default() };
        let compare = (self.period.is_some() && is_comparable).then_some(before);
        let query = MetricQuery { compare, ..self.query(&self.measures) };
        tile(query, TileView::Figures)
    }

    fn over_time(&self, grain: TimeGrain) -> Vec<Tile> {
        let measures = &self.measures[..self.measures.len().min(OVER_TIME)];
        let chart = |measure: &String| {
            let by = vec![Group::time(grain)];
            let query = MetricQuery { by, ..self.query(std::slice::from_ref(measure)) };
            tile(query, TileView::Chart)
        };
        measures.iter().map(chart).collect()
    }

    /// Returns the first groups of a dimension by the main measure, and all others as one.
    fn by_dimension(&self, name: &str) -> Tile {
        let main = &self.measures[..1];
        let top = Top {
            n: GROUPS,
            of: None,
            per: Vec::new(),
            by: main.first().cloned(),
            lowest: false,
            others: true,
        };
        let by = vec![Group::dimension(name)];
        let query = MetricQuery { by, top: Some(top), ..self.query(main) };
        tile(query, TileView::Chart)
    }

    /// Returns all main measures by a dimension.
    fn table(&self, name: &str) -> Tile {
        let first = self.measures.first().cloned().unwrap_or_default();
        let query = MetricQuery {
            by: vec![Group::dimension(name)],
            order: vec![Order { by: first, descending: true }],
            limit: Some(ROWS_OF_TABLE),
            ..self.query(&self.measures)
        };
        tile(query, TileView::Table)
    }
}

/// Returns a tile of one column. Few figures, and a table of few columns, need no more.
fn tile(query: MetricQuery, view: TileView) -> Tile {
    let width = TileWidth::Half;
    Tile { id: TileId::new(""), title: String::new(), query, view, chart: None, width }
}

/// Returns the measures that say most, the first one first. Without any, rows are counted.
fn main_measures(definitions: &Definitions) -> Vec<String> {
    let ranked = definitions.measures.iter();
    let mut ranked: Vec<(u8, &String)> =
        ranked.filter_map(|(name, measure)| Some((rank_of(measure)?, name))).collect();
    ranked.sort();
    let mut names: Vec<String> =
        ranked.into_iter().take(FIGURES).map(|(_, name)| name.clone()).collect();
    if names.is_empty() {
        names.push(ROWS.to_owned());
    }
    names
}

/// Returns the place of a measure among all. None if it does not add up over any rows.
fn rank_of(measure: &Measure) -> Option<u8> {
    let is_money = measure.unit == Some(Unit::Money);
    let rank = match &measure.calculation {
        Calculation::Sum(_) if is_money => 0,
        Calculation::Sum(_) => 1,
        Calculation::Ratio(_) if measure.unit.is_some() => 2,
        Calculation::Count(_) | Calculation::Distinct(_) => 3,
        Calculation::Ratio(_) | Calculation::Plus(_) | Calculation::Minus(_) => 4,
        Calculation::Of(_) | Calculation::Average(_) | Calculation::Weighted(_) => 5,
        Calculation::Last(_) | Calculation::Median(_) | Calculation::Percentile(_) => 6,
        Calculation::Least(_) | Calculation::Greatest(_) | Calculation::Single(_) => return None,
    };
    Some(rank)
}

/// Returns the dimensions that divide rows into groups, the first one first. Ids, currencies, times and
/// columns with one value do not.
fn top_dimensions(definitions: &Definitions, columns: &[FoundColumn]) -> Vec<String> {
    let rank = |kind: &DimensionKind, has_key: bool| match kind {
        DimensionKind::Column(column) => {
            let column = columns.iter().find(|one| one.name == *column)?;
            let is_time = matches!(column.kind, ColumnKind::Day | ColumnKind::Moment);
            if is_time || column.constant.is_some() {
                return None;
            }
            match column.usage {
                ColumnUse::Dimension if has_key => Some(0),
                ColumnUse::Dimension => Some(2),
                ColumnUse::Account => Some(1),
                ColumnUse::Id
                | ColumnUse::Sum
                | ColumnUse::Ratio
                | ColumnUse::Last
                | ColumnUse::Time
                | ColumnUse::Currency
                | ColumnUse::Other => None,
            }
        }
        DimensionKind::Groups(_) | DimensionKind::Bins(_) => Some(3),
        DimensionKind::When(_)
        | DimensionKind::Split(_)
        | DimensionKind::First(_)
        | DimensionKind::Lookup(_) => Some(4),
    };
    let dimensions = definitions.dimensions.iter();
    let mut ranked: Vec<(u8, &String)> = dimensions
        .filter_map(|(name, one)| Some((rank(&one.kind, one.key.is_some())?, name)))
        .collect();
    ranked.sort();
    ranked.into_iter().take(DIMENSIONS).map(|(_, name)| name.clone()).collect()
}

/// Returns the steps of time that a chart of the rows has room for.
fn grain_of(definitions: &Definitions, is_recent: bool, days: Option<DaySpan>) -> TimeGrain {
    let covers = definitions.time.as_ref().and_then(|time| time.covers.as_ref());
    let span = days
        .filter(|_| !is_recent)
        .map_or(i64::from(RECENT), |days| (days.last - days.first).num_days());
    match covers {
        Some(Covers::Quarter) => TimeGrain::Quarter,
        Some(Covers::Month) => TimeGrain::Month,
        _ if span > 400 => TimeGrain::Month,
        Some(Covers::Week | Covers::WeekEnding) => TimeGrain::Week,
        _ if span > 62 => TimeGrain::Week,
        _ => TimeGrain::Day,
    }
}

#[cfg(test)]
mod tests {
    use contract::sources::TableReport;
    use serde_json::json;

    use super::*;
    use crate::propose;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn column(name: &str, kind: ColumnKind, usage: ColumnUse) -> FoundColumn {
        FoundColumn {
            name: name.to_owned(),
            heading: name.to_owned(),
            kind,
            usage,
            ..FoundColumn::default()
        }
    }

    fn board(columns: Vec<FoundColumn>, days: Option<(&str, &str)>) -> BoardContent {
        let report = TableReport { columns, ..TableReport::default() };
        let definitions = propose(&"ads".into(), &report);
        let days =
            days.map(|(first, last)| DaySpan { first: day(first), last: day(last), days: 1 });
        propose_board(&definitions, &report.columns, days, day("2026-11-30"))
    }

    fn ads() -> Vec<FoundColumn> {
        let cost = column("Cost", ColumnKind::Decimal, ColumnUse::Sum);
        vec![
            column("Day", ColumnKind::Day, ColumnUse::Time),
            column("Campaign", ColumnKind::Text, ColumnUse::Dimension),
            column("Campaign ID", ColumnKind::Text, ColumnUse::Id),
            column("Device", ColumnKind::Text, ColumnUse::Dimension),
            FoundColumn { unit: Some("EUR".to_owned()), ..cost },
            column("Clicks", ColumnKind::Whole, ColumnUse::Sum),
        ]
    }

    #[test]
    fn the_first_board_has_figures_the_main_measures_over_time_and_the_top_dimensions() {
        let board = board(ads(), Some(("2026-01-01", "2026-11-29")));
        let last = json!({"last": {"days": 30}});
        assert_eq!(json!(board.period), last);
        let shown: Vec<_> =
            board.tiles.iter().map(|tile| json!([tile.view, tile.query.by])).collect();
        assert_eq!(
            shown,
            [
                json!(["figures", []]),
                json!(["chart", [{"time": "day"}]]),
                json!(["chart", [{"time": "day"}]]),
                json!(["chart", [{"dimension": "campaign"}]]),
                json!(["chart", [{"dimension": "device"}]]),
                json!(["table", [{"dimension": "campaign"}]]),
            ]
        );
        let figures = &board.tiles[0].query;
        assert_eq!(json!(figures.measures[0]), json!({"measure": "spend"}), "money comes first");
        assert_eq!(json!(figures.compare), json!({"to": "previous"}));
        assert!(board.tiles.iter().all(|tile| json!(tile.query.period) == last));
    }

    #[test]
    fn rows_that_are_not_recent_are_shown_whole_and_in_longer_steps() {
        let board = board(ads(), Some(("2024-01-01", "2025-06-30")));
        assert_eq!((&board.period, &board.tiles[0].query.compare), (&None, &None));
        assert_eq!(json!(board.tiles[1].query.by), json!([{"time": "month"}]));
    }

    #[test]
    fn a_source_without_measures_counts_its_rows() {
        let board = board(vec![column("Team", ColumnKind::Text, ColumnUse::Dimension)], None);
        assert_eq!(board.period, None);
        assert_eq!(json!(board.tiles[0].query.measures), json!([{"measure": "rows"}]));
        assert_eq!(board.tiles.len(), 3, "figures, the dimension, and a table");
    }
}
