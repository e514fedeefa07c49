//! The rows of a source that is computed from delivery and plan: one row for each thing and day of each
//! of the two, stacked, so that no row can multiply another one. Each step adds columns that the next
//! one needs. The SQL gives the same figures if it is run elsewhere.

use contract::{
    definitions::{Pacing, PacingName},
    sources::ColumnKind,
    text,
};

use super::{
    pace_scope::{PaceScope, is_currency, level_of},
    row_scope::RowScope,
};
use crate::{
    Problem, SourceModel,
    catalog::{constant_of, pacing_of},
    dialect::RATIO_SCALE,
    resolve::DayBounds,
};

mod figures;
mod notes;
mod verdict;
mod what_if;
pub(in crate::compile) mod zones;

pub(crate) use zones::check_zone;

/// Whether both sources have a name, so that it says which plan belongs to which delivery.
pub(crate) fn is_key(name: &PacingName) -> bool {
    name.delivery.is_some() && name.plan.is_some()
}

/// Returns the names whose values belong together for a verdict: the keys down to a level, the level
/// itself, and the currency. None: the plan has no budgets of that level.
pub(crate) fn names_of_level(
    source: &SourceModel,
    pacing: &Pacing,
    level: usize,
) -> Option<Vec<usize>> {
    let last_key = pacing.by.iter().rposition(is_key)?;
    // A name that stands behind its key is the same thing. The key alone says what belongs together, also
    // if a thing had several names.
    let is_name = level == last_key + 1
        && pacing.by[last_key].name == format!("{}_id", pacing.by[level].name);
    let level = if is_name && pacing.by[level].plan.is_none() { last_key } else { level };
    if level > last_key && pacing.by[level].plan.is_none() {
        return None;
    }
    let is_part = |place: &usize| {
        *place == level
            || (*place < level && is_key(&pacing.by[*place]))
            || is_currency(&source.definitions, &pacing.by[*place].name)
    };
    Some((0..pacing.by.len()).filter(is_part).collect())
}

/// The parts of the statement that several steps need.
struct Steps {
    /// The names in SQL.
    names: Vec<String>,
    /// The columns that say which plan belongs to which delivery.
    keys: String,
    /// The question.
    scope: PaceScope,
}

impl RowScope<'_> {
    /// Adds the steps of a computed source. Returns the last one.
    pub(super) fn pacing_rows(&mut self) -> Result<String, Problem> {
        let source = self.source;
        let pacing = pacing_of(&source.definitions)?;
        let scope = self.ctes.pacing.clone().ok_or_else(|| {
            Problem::new(text!("The question does not say the moment that it refers to."))
        })?;
        let names: Vec<String> = pacing
            .by
            .iter()
            .map(|by| self.dialect.identifier(&by.name))
            .collect::<Result<_, _>>()?;
        let is_key = |place: &usize| is_key(&pacing.by[*place]);
        let keys: Vec<&str> =
            (0..names.len()).filter(is_key).map(|place| names[place].as_str()).collect();
        if keys.is_empty() {
            return Err(Problem::new(text!(
                "No name of {source} has both a delivery and a plan, so no plan belongs to a delivery.",
                source = source.name()
            )));
        }
        let steps = Steps { keys: keys.join(", "), names, scope };
        let stacked = self.stacked(pacing)?;
        let named = self.named(pacing, &steps, &stacked)?;
        let flights = self.flights(pacing, &steps, &named)?;
        let counted = self.counted(pacing, &flights);
        let standing = self.standing(pacing, &steps, &counted)?;
        self.judged(pacing, &steps, &standing)
    }

    /// Writes the rows of both sources under each other.
    fn stacked(&mut self, pacing: &Pacing) -> Result<String, Problem> {
        let delivery = &self.catalog.sources[self.catalog.place(&pacing.delivery.source)?];
        let plan = &self.catalog.sources[self.catalog.place(&pacing.plan.source)?];
        let (money, whole) = (self.dialect.decimal(RATIO_SCALE), self.dialect.decimal(0));
        let spend = delivery.column(&pacing.delivery.spend)?;
        let own = self.dialect.decimal(spend.scale);
        let impressions = match &pacing.delivery.impressions {
            Some(column) => {
                format!("CAST(sum({}) AS {whole})", self.number_of(delivery, column)?)
            }
            None => format!("CAST(NULL AS {whole})"),
        };
        let spend = self.number_of(delivery, &pacing.delivery.spend)?;
        let amounts = format!(
            "CAST(sum({spend}) AS {own}) AS _spend, {impressions} AS _impressions, CAST(NULL AS {money}) AS _planned, FALSE AS _is_plan"
        );
        let names = pacing.by.iter().map(|by| (by.name.as_str(), by.delivery.as_deref()));
        let delivered = self.days_of(delivery, names.collect(), &amounts)?;
        let budget = self.number_of(plan, &pacing.plan.budget)?;
        let amounts = format!(
            "CAST(NULL AS {own}) AS _spend, CAST(NULL AS {whole}) AS _impressions, sum(CAST({budget} AS {money})) AS _planned, TRUE AS _is_plan"
        );
        let names = pacing.by.iter().map(|by| (by.name.as_str(), by.plan.as_deref()));
        let planned = self.days_of(plan, names.collect(), &amounts)?;
        Ok(self.ctes.add("_stacked", format!("{delivered}\nUNION ALL\n{planned}")))
    }

    /// Returns a column with numbers of another source.
    fn number_of(&mut self, source: &SourceModel, column: &str) -> Result<String, Problem> {
        let mut joins = Vec::new();
        Ok(self.within(source, &mut joins).number(column)?.sql)
    }

    /// Returns the rows of another source, which have names of their own.
    fn within<'r>(
        &'r mut self,
        source: &'r SourceModel,
        joins: &'r mut Vec<String>,
    ) -> RowScope<'r> {
        RowScope {
            dialect: self.dialect,
            catalog: self.catalog,
            source,
            primary: source,
            ctes: &mut *self.ctes,
            joins,
        }
    }

    /// Writes one row for each thing and day of a source.
    fn days_of(
        &mut self,
        source: &SourceModel,
        names: Vec<(&str, Option<&str>)>,
        amounts: &str,
    ) -> Result<String, Problem> {
        let mut joins = Vec::new();
        let mut scope = self.within(source, &mut joins);
        let mut columns = Vec::new();
        for (name, written) in names {
            let name = scope.dialect.identifier(name)?;
            let value = match written {
                Some(written) => {
                    let dimension = scope.source.dimension(written)?;
                    scope.dimension_value(&dimension)?.sql
                }
                None => "NULL".to_owned(),
            };
            columns.push(format!("CAST({value} AS VARCHAR) AS {name}"));
        }
        let time = source.time_column()?;
        let day = scope.dialect.identifier(&time.name)?;
        let is_moment = time.kind == ColumnKind::Moment;
        columns.push(if is_moment {
            format!("CAST({day} AS DATE) AS _day")
        } else {
            format!("{day} AS _day")
        });
        // A flight is as long as its plan says, however short the asked period is.
        let asked = std::mem::take(&mut scope.ctes.days);
        let table = scope.rows();
        scope.ctes.days = asked;
        let from: Vec<String> = [table?].into_iter().chain(joins).collect();
        let group = super::parts::group_by(columns.len());
        Ok(format!("SELECT {}, {amounts}\nFROM {}{group}", columns.join(", "), from.join("\n")))
    }

    /// Adds what only one of the sources says about the things of the other, if it says one thing.
    fn named(&mut self, pacing: &Pacing, steps: &Steps, rows: &str) -> Result<String, Problem> {
        let delivery = &self.catalog.sources[self.catalog.place(&pacing.delivery.source)?];
        let plan = &self.catalog.sources[self.catalog.place(&pacing.plan.source)?];
        let mut columns = Vec::new();
        for (by, name) in pacing.by.iter().zip(&steps.names) {
            let constant = constant_of(by, delivery, plan);
            let constant = constant.map(|text| self.dialect.literal(&text)).transpose()?;
            let constant = constant.map_or_else(String::new, |text| format!(", {text}"));
            columns.push(if is_key(by) {
                name.clone()
            } else {
                let over = format!("OVER (PARTITION BY {})", steps.keys);
                format!(
                    "coalesce({name}, CASE WHEN min({name}) {over} = max({name}) {over} THEN min({name}) {over} END{constant}) AS {name}"
                )
            });
        }
        let sql = format!(
            "SELECT {}, _day, _spend, _impressions, _planned, _is_plan\nFROM {rows}",
            columns.join(", ")
        );
        Ok(self.ctes.add("_named", sql))
    }

    /// Adds the first and the last day of each flight, the asked days of it, and the last full day with
    /// data.
    fn flights(&mut self, pacing: &Pacing, steps: &Steps, rows: &str) -> Result<String, Problem> {
        let keys = &steps.keys;
        let today = self.today(pacing, steps)?;
        let feed = pacing.feed.as_ref().map(|feed| self.dialect.identifier(feed)).transpose()?;
        let with_today =
            self.ctes.add("_today", format!("SELECT *, {today} AS _today\nFROM {rows}"));
        let data = "max(CASE WHEN NOT _is_plan AND _day < _today THEN _day END)";
        let own_data = match &feed {
            Some(feed) => format!(
                "CASE WHEN {feed} IS NULL THEN {data} OVER () ELSE {data} OVER (PARTITION BY {feed}) END"
            ),
            None => format!("{data} OVER ()"),
        };
        let covered = match (&feed, self.covered_until(pacing)?) {
            (None, Some(day)) => format!("greatest({own_data}, least({day}, _today - 1))"),
            (Some(_), _) | (None, None) => own_data,
        };
        let columns = steps.names.join(", ");
        let feeds = self.ctes.add(
            "_feeds",
            format!(
                "SELECT *, {covered} AS _own_data, {data} OVER () AS _all_data\nFROM {with_today}"
            ),
        );
        // A budget that several feeds share has one day, the last one that all of them know.
        let over = format!("OVER (PARTITION BY {keys})");
        let flights = self.ctes.add(
            "_flights",
            format!(
                "SELECT {columns}, _day, _spend, _impressions, _planned, _is_plan, _all_data, max(_today) {over} AS _today, coalesce(min(CASE WHEN NOT _is_plan THEN _own_data END) {over}, max(_own_data) {over}) AS _data, min(CASE WHEN _planned <> 0 THEN _day END) {over} AS _first, max(CASE WHEN _planned <> 0 THEN _day END) {over} AS _last\nFROM {feeds}"
            ),
        );
        let (from, until) = self.asked_days(steps.scope.window);
        let asked = self
            .ctes
            .add("_asked", format!("SELECT *, {from} AS _from, {until} AS _until\nFROM {flights}"));
        // Exports leave out days without activity. If other rows go on, a flight that is over is complete.
        let sql = format!(
            "SELECT *, CASE WHEN _until < _today AND _all_data >= _until THEN greatest(_data, _until) ELSE _data END AS _through\nFROM {asked}"
        );
        Ok(self.ctes.add("_known", sql))
    }

    /// Writes the day that is not over.
    fn today(&self, pacing: &Pacing, steps: &Steps) -> Result<String, Problem> {
        let usual = self.dialect.day(steps.scope.today);
        let (Some(feed), false) = (&pacing.feed, steps.scope.todays.is_empty()) else {
            return Ok(usual);
        };
        let feed = self.dialect.identifier(feed)?;
        let mut cases = String::new();
        for (name, day) in &steps.scope.todays {
            let (name, day) = (self.dialect.literal(name)?, self.dialect.day(*day));
            cases.push_str(&format!(" WHEN {feed} = {name} THEN {day}"));
        }
        Ok(format!("CASE{cases} ELSE {usual} END"))
    }

    /// Writes the last day for which the data of the delivery are complete, if that is known.
    fn covered_until(&self, pacing: &Pacing) -> Result<Option<String>, Problem> {
        let delivery = &self.catalog.sources[self.catalog.place(&pacing.delivery.source)?];
        Ok(delivery.covered_days().map(|days| self.dialect.day(days.last)))
    }

    /// Writes the first and the last day of a flight within the asked days. Both are empty if there are
    /// none.
    fn asked_days(&self, window: DayBounds) -> (String, String) {
        let first = window.first.map(|day| self.dialect.day(day));
        let last = window.last.map(|day| self.dialect.day(day));
        let mut parts = Vec::new();
        parts.extend(first.as_ref().map(|day| format!("_last >= {day}")));
        parts.extend(last.as_ref().map(|day| format!("_first <= {day}")));
        let (from, until) = (
            first.map_or_else(|| "_first".to_owned(), |day| format!("greatest(_first, {day})")),
            last.map_or_else(|| "_last".to_owned(), |day| format!("least(_last, {day})")),
        );
        match super::conditions::join_conditions(parts) {
            Some(is_in) => (
                format!("CASE WHEN {is_in} THEN {from} END"),
                format!("CASE WHEN {is_in} THEN {until} END"),
            ),
            None => (from, until),
        }
    }
}
