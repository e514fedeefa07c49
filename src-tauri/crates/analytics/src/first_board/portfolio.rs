//! The first board of a computed source: its main figures, its things by their verdicts, the things that
//! need somebody first, and its amounts by time. It finds measures by what they compute, whatever their
//! names.

use contract::{
    boards::{BoardContent, Tile, TileView, TileWidth},
    definitions::Calculation,
    metric_query::{CalendarUnit, Group, MeasureUse, MetricQuery, Order, Period, TimeGrain},
};

use super::{ROWS_OF_TABLE, tile};
use crate::things::Things;

/// The first board of a computed source under construction.
pub(super) struct Portfolio<'a> {
    things: Things<'a>,
    /// The flag of things at risk, and their verdicts.
    verdicts: [&'a String; 2],
    /// The amounts: what is spent, and what is planned for it.
    amounts: [&'a String; 2],
    variance: &'a String,
    period: Option<Period>,
}

impl<'a> Portfolio<'a> {
    /// Begins a board. None: the definitions lack what it shows. Flights are planned by month, and so a
    /// month under way is shown whole.
    pub fn begin(things: Things<'a>, is_recent: bool) -> Option<Self> {
        let sum = |column: &str| things.measure(&Calculation::Sum(column.to_owned()));
        let to_date = [sum("spend_to_date")?, sum("planned_to_date")?];
        Some(Self {
            verdicts: [things.dimension("at_risk")?, things.dimension("status")?],
            amounts: [sum("spend")?, sum("budget")?],
            variance: things.measure(&Calculation::Minus(to_date.map(Clone::clone)))?,
            period: is_recent.then_some(Period::This(CalendarUnit::Month)),
            things,
        })
    }

    /// Returns the board. None: nothing is judged.
    pub fn board(self, grain: TimeGrain) -> Option<BoardContent> {
        let judged = self.things.judged();
        let (largest, level) = (*judged.first()?, *judged.last()?);
        let mut tiles = vec![self.figures(), self.by_verdict(level), self.worst_first(largest)];
        if level != largest {
            tiles.push(self.worst_first(level));
        }
        tiles.push(self.over_time(grain));
        let source = self.things.source();
        Some(BoardContent {
            name: source.to_string(),
            source: Some(source.clone()),
            filters: Vec::new(),
            period: self.period,
            tiles,
        })
    }

    fn query(&self, measures: &[&String]) -> MetricQuery {
        MetricQuery {
            source: Some(self.things.source().clone()),
            measures: measures.iter().map(|name| MeasureUse::named(*name)).collect(),
            period: self.period.clone(),
            ..MetricQuery::default()
        }
    }

    /// Returns the difference to the plan as a part of it, if there is such a measure.
    fn variance_percent(&self) -> Option<&'a String> {
        let planned = self.things.measure(&Calculation::Sum("planned_to_date".to_owned()))?;
        let parts = [self.variance.clone(), planned.clone()];
        self.things.measure(&Calculation::Ratio(parts))
    }

    fn figures(&self) -> Tile {
        let mut measures = self.amounts.to_vec();
        measures.push(self.variance);
        measures.extend(self.variance_percent());
        tile(self.query(&measures), TileView::Figures)
    }

    /// Returns the number of things, and their money, for each verdict.
    fn by_verdict(&self, level: &str) -> Tile {
        let mut measures: Vec<&String> = self.things.count(level).into_iter().collect();
        measures.extend([self.amounts[1], self.variance]);
        let order = self.verdicts_first().to_vec();
        let by = self.verdicts.map(Group::dimension).to_vec();
        tile(MetricQuery { by, order, ..self.query(&measures) }, TileView::Table)
    }

    /// Returns things with their verdicts: those at risk first, then by the verdict, then those that lack
    /// most money.
    fn worst_first(&self, thing: &str) -> Tile {
        let mut measures = self.amounts.to_vec();
        measures.push(self.variance);
        measures.extend(self.variance_percent());
        let needed = Calculation::Sum("needed_per_day".to_owned());
        measures.extend(self.things.measure(&needed));
        let mut order = self.verdicts_first().to_vec();
        order.push(Order { by: self.variance.clone(), descending: false });
        let mut by = vec![Group::dimension(thing)];
        by.extend(self.verdicts.map(Group::dimension));
        let query = MetricQuery { by, order, limit: Some(ROWS_OF_TABLE), ..self.query(&measures) };
        Tile { width: TileWidth::Full, ..tile(query, TileView::Table) }
    }

    fn over_time(&self, grain: TimeGrain) -> Tile {
        let query = MetricQuery { by: vec![Group::time(grain)], ..self.query(&self.amounts) };
        Tile { width: TileWidth::Full, ..tile(query, TileView::Chart) }
    }

    fn verdicts_first(&self) -> [Order; 2] {
        let [at_risk, status] = self.verdicts;
        let order = |by: &String, descending| Order { by: by.clone(), descending };
        [order(at_risk, true), order(status, false)]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{
        Dialect, compile, propose_board,
        reference::{evaluate, pacing_as_of, pacing_catalog, pacing_example},
        resolve,
    };

    #[test]
    fn the_first_board_of_a_computed_source_shows_first_what_is_at_risk_and_behind() {
        let catalog = pacing_catalog(true).unwrap();
        let today = "2026-11-15".parse().unwrap();
        let board = propose_board(&catalog.sources[2].definitions, &[], None, today);
        let shown: Vec<_> =
            board.tiles.iter().map(|tile| json!([tile.view, tile.query.by])).collect();
        assert_eq!(
            shown,
            [
                json!(["figures", []]),
                json!(["table", [{"dimension": "at_risk"}, {"dimension": "status"}]]),
                json!(["table", [{"dimension": "account"}, {"dimension": "at_risk"}, {"dimension": "status"}]]),
                json!(["table", [{"dimension": "campaign"}, {"dimension": "at_risk"}, {"dimension": "status"}]]),
                json!(["chart", [{"time": "day"}]]),
            ]
        );
        let answers = board.tiles.iter().map(|tile| {
            let resolved = resolve(&tile.query, &catalog, &pacing_as_of(today)).unwrap();
            for dialect in [Dialect::DuckDb, Dialect::Postgres, Dialect::Standard] {
                compile(&resolved, &catalog, dialect).unwrap();
            }
            evaluate(&resolved.query, &catalog, &pacing_example()).unwrap().rows
        });
        let answers: Vec<_> = answers.collect();
        let campaigns: Vec<_> = answers[3].iter().map(|row| row[0].clone()).collect();
        assert_eq!(
            json!(campaigns),
            json!(["Fir", "Cedar", "Birch", "Alder", "Date", "Gum"]),
            "at risk, then ahead, then on track by the money that lacks, then without a budget"
        );
        assert_eq!(json!(answers[1][0][..3]), json!([true, "behind", 1]));
    }
}
