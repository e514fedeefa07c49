//! The rows of a source that is computed from delivery and plan, in plain loops over days. It shares no
//! formula with the SQL.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;
use contract::{
    definitions::{DimensionKind, PACING_COLUMNS, Pacing},
    metric_query::Condition,
};

use super::{Cell, Number, Table, rows::day_of, world::World};
use crate::{
    SourceModel,
    calendar::days_later,
    catalog::constant_of,
    compile::{
        pace_scope::PaceScope,
        pacing::{is_key, names_of_level},
    },
};

mod flights;
mod sample;
mod verdicts;

pub use sample::{PacingCase, pacing_as_of, pacing_case, pacing_catalog, pacing_example};

/// A row of one of the two sources: a thing on a day.
#[derive(Clone, Debug)]
struct Row {
    names: Vec<Cell>,
    day: Option<NaiveDate>,
    spend: Option<Number>,
    impressions: Option<Number>,
    planned: Option<Number>,
    is_plan: bool,
    /// Today, where the row belongs.
    today: NaiveDate,
    /// The days of its flight, and those that are asked about.
    flight: Option<(NaiveDate, NaiveDate)>,
    asked: Option<(NaiveDate, NaiveDate)>,
    /// The last day with data, and the last one that counts.
    data: Option<NaiveDate>,
    through: Option<NaiveDate>,
}

impl Row {
    fn is_on(&self) -> bool {
        self.asked.is_some_and(|(_, until)| self.today <= until)
    }

    fn is_asked(&self) -> bool {
        matches!((self.day, self.asked), (Some(day), Some((from, until))) if day >= from && day <= until)
    }

    fn is_full(&self) -> bool {
        match (self.day, self.flight, self.through) {
            (Some(day), Some((first, last)), Some(through)) => {
                day >= first && day <= last && day <= through
            }
            _ => false,
        }
    }
}

/// Returns the rows as queries see them. None if the sources are not there.
pub(super) fn rows_of(world: &World<'_>, source: &SourceModel, scope: &PaceScope) -> Option<Table> {
    let pacing = source.definitions.pacing.as_ref()?;
    let mut rows = stacked(world, pacing)?;
    for row in &mut rows {
        row.today = scope.today;
    }
    inherit(world, pacing, &mut rows)?;
    set_days(world, pacing, scope, &mut rows)?;
    let mut what_if = Vec::new();
    for one in &scope.what_if {
        let is_meant =
            |row: &Row| one.conditions.iter().all(|part| holds(world, source, pacing, row, part));
        what_if.push((one.clone(), rows.iter().map(is_meant).collect()));
    }
    let standing = flights::standing(pacing, &rows, &what_if);
    let level = names_of_level(source, pacing, scope.level);
    let verdicts = level.map(|names| verdicts::judged(pacing, &rows, &standing, &names));
    let table = rows.iter().enumerate().map(|(at, row)| {
        let mut cells = row.names.clone();
        let judged = verdicts.as_ref().map(|verdicts| &verdicts[at]);
        let cell = |name: &str| match (name, standing.get(&at), row.planned) {
            ("budget", Some(standing), Some(planned)) => Cell::Number(planned.plus(standing.added)),
            (_, standing, _) => cell_of(name, row, judged, standing),
        };
        cells.extend(PACING_COLUMNS.into_iter().map(cell));
        cells
    });
    Some(Table { rows: table.collect() })
}

/// Whether a row is one of the things that an assumption is about.
fn holds(
    world: &World<'_>,
    source: &SourceModel,
    pacing: &Pacing,
    row: &Row,
    condition: &Condition,
) -> bool {
    let holds = |part: &Condition| holds(world, source, pacing, row, part);
    match condition {
        Condition::And(parts) => parts.iter().all(holds),
        Condition::Or(parts) => parts.iter().any(holds),
        Condition::Not(part) => !holds(part),
        Condition::Is { name, test } => {
            let column = match source.dimension(name).map(|dimension| dimension.kind) {
                Ok(DimensionKind::Column(column)) => column,
                _ => name.clone(),
            };
            let place = pacing.by.iter().position(|by| by.name == column);
            place.is_some_and(|place| world.test(&row.names[place], test))
        }
    }
}

fn cell_of(
    name: &str,
    row: &Row,
    judged: Option<&verdicts::Verdict>,
    standing: Option<&flights::Standing>,
) -> Cell {
    let number = |number: Option<Number>| number.map_or(Cell::Empty, Cell::Number);
    let whole =
        |number: Option<i64>| number.map_or(Cell::Empty, |n| Cell::Number(Number::whole(n)));
    let flag = |found: Option<bool>| found.map_or(Cell::Empty, Cell::Flag);
    let day = |day: Option<NaiveDate>| day.map_or(Cell::Empty, Cell::Day);
    let asked = row.is_asked();
    let in_flight = matches!((row.day, row.flight), (Some(day), Some((first, last))) if day >= first && day <= last);
    match name {
        "day" => day(row.day),
        "status" => judged
            .and_then(|judged| judged.status)
            .map_or(Cell::Empty, |status| Cell::Text(status.to_owned())),
        "at_risk" => flag(judged.and_then(|judged| judged.at_risk)),
        "runs_out_early" => flag(judged.and_then(|judged| judged.runs_out)),
        "no_delivery" => flag(judged.and_then(|judged| judged.is_silent)),
        "late_data" => flag(judged.and_then(|judged| judged.is_late)),
        "spend" => number(row.spend),
        "impressions" => number(row.impressions),
        "thousand_impressions" => {
            number(row.impressions.map(|n| Number { unscaled: n.unscaled, scale: n.scale + 3 }))
        }
        "budget" => number(row.planned),
        "planned_to_date" => number(row.planned.filter(|_| asked && row.is_full())),
        "spend_to_date" if asked && row.is_full() => {
            number(Some(row.spend.unwrap_or(Number::whole(0))))
        }
        "spend_without_budget" => number(row.spend.filter(|_| !row.is_plan && !in_flight)),
        "daily_rate" => number(standing.and_then(|standing| standing.rate)),
        "needed_per_day" => number(standing.and_then(|standing| standing.needed)),
        "projection" => number(standing.and_then(|standing| standing.projection)),
        "days_left" => whole(standing.map(|standing| standing.days_left)),
        "run_out_day" => day(standing.and_then(|standing| standing.run_out)),
        "days_early" => whole(standing.and_then(|standing| standing.days_early)),
        _ => Cell::Empty,
    }
}

/// Returns one row for each thing and day of each source.
fn stacked(world: &World<'_>, pacing: &Pacing) -> Option<Vec<Row>> {
    let delivery = world.catalog.place(&pacing.delivery.source).ok()?;
    let plan = world.catalog.place(&pacing.plan.source).ok()?;
    let mut found: BTreeMap<(bool, Vec<Cell>, Cell), Row> = BTreeMap::new();
    for (source, is_plan) in [(delivery, false), (plan, true)] {
        let model = &world.catalog.sources[source];
        for at in 0..world.tables[source].rows.len() {
            let mut names = Vec::new();
            for by in &pacing.by {
                let written = if is_plan { &by.plan } else { &by.delivery };
                names.push(match written {
                    Some(name) => world.value_of(source, at, &model.dimension(name).ok()?).text(),
                    None => Cell::Empty,
                });
            }
            let day = day_of(&world.time(source, at));
            let amount = |column: &str| world.cell(source, at, column).number();
            let key = (is_plan, names.clone(), day.map_or(Cell::Empty, Cell::Day));
            let row = found.entry(key).or_insert_with(|| Row::new(names, day, is_plan));
            if is_plan {
                add(&mut row.planned, amount(&pacing.plan.budget));
            } else {
                add(&mut row.spend, amount(&pacing.delivery.spend));
                let impressions = pacing.delivery.impressions.as_deref().and_then(amount);
                add(&mut row.impressions, impressions);
            }
        }
    }
    Some(found.into_values().collect())
}

impl Row {
    fn new(names: Vec<Cell>, day: Option<NaiveDate>, is_plan: bool) -> Self {
        Self {
            names,
            day,
            spend: None,
            impressions: None,
            planned: None,
            is_plan,
            today: NaiveDate::MIN,
            flight: None,
            asked: None,
            data: None,
            through: None,
        }
    }
}

fn add(sum: &mut Option<Number>, amount: Option<Number>) {
    if let Some(amount) = amount {
        *sum = Some(sum.map_or(amount, |sum| sum.plus(amount)));
    }
}

/// Returns the places of the rows that have the same values of some names.
fn groups(rows: &[Row], names: &[usize]) -> Vec<Vec<usize>> {
    let mut found: BTreeMap<Vec<Cell>, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        let key = names.iter().map(|name| row.names[*name].clone()).collect();
        found.entry(key).or_default().push(at);
    }
    found.into_values().collect()
}

fn keys(pacing: &Pacing) -> Vec<usize> {
    (0..pacing.by.len()).filter(|place| is_key(&pacing.by[*place])).collect()
}

/// Gives each row what only the other source says about its thing, if that is one value.
fn inherit(world: &World<'_>, pacing: &Pacing, rows: &mut [Row]) -> Option<()> {
    let delivery = &world.catalog.sources[world.catalog.place(&pacing.delivery.source).ok()?];
    let plan = &world.catalog.sources[world.catalog.place(&pacing.plan.source).ok()?];
    let own: Vec<usize> =
        (0..pacing.by.len()).filter(|place| !is_key(&pacing.by[*place])).collect();
    for group in groups(rows, &keys(pacing)) {
        for name in &own {
            let values: BTreeSet<Cell> = group
                .iter()
                .map(|at| rows[*at].names[*name].clone())
                .filter(|cell| *cell != Cell::Empty)
                .collect();
            let constant = constant_of(&pacing.by[*name], delivery, plan).map(Cell::Text);
            let only = if values.len() == 1 { values.first().cloned() } else { None };
            let Some(value) = only.or(constant) else { continue };
            for at in &group {
                if rows[*at].names[*name] == Cell::Empty {
                    rows[*at].names[*name] = value.clone();
                }
            }
        }
    }
    Some(())
}

/// Gives all rows of a budget the same last day with data: the last one that all of its feeds know.
fn share_days(group: &[usize], rows: &mut [Row]) {
    let today = group.iter().map(|at| rows[*at].today).max();
    let known = group.iter().filter(|at| !rows[**at].is_plan).filter_map(|at| rows[*at].data).min();
    let data = known.or_else(|| group.iter().filter_map(|at| rows[*at].data).max());
    for at in group {
        rows[*at].data = data;
        rows[*at].today = today.unwrap_or(rows[*at].today);
    }
}

/// Finds today, the flights and the last days with data.
fn set_days(world: &World<'_>, pacing: &Pacing, scope: &PaceScope, rows: &mut [Row]) -> Option<()> {
    let feed =
        pacing.feed.as_ref().and_then(|feed| pacing.by.iter().position(|by| by.name == *feed));
    for row in rows.iter_mut() {
        let own = feed.map(|feed| &row.names[feed]);
        let zone = scope.todays.iter().find(|(name, _)| own == Some(&Cell::Text(name.clone())));
        row.today = zone.map_or(scope.today, |(_, day)| *day);
    }
    let last_of = |rows: &[&Row]| {
        let known = rows.iter().filter(|row| !row.is_plan);
        known.filter_map(|row| row.day.filter(|day| *day < row.today)).max()
    };
    let all = last_of(&rows.iter().collect::<Vec<_>>());
    let delivery = &world.catalog.sources[world.catalog.place(&pacing.delivery.source).ok()?];
    for at in 0..rows.len() {
        let own = feed.map(|feed| rows[at].names[feed].clone());
        rows[at].data = match (feed, &own) {
            (Some(feed), Some(own)) if *own != Cell::Empty => {
                last_of(&rows.iter().filter(|row| row.names[feed] == *own).collect::<Vec<_>>())
            }
            (_, _) => all,
        };
        if feed.is_none()
            && let Some(covered) = delivery.covered_days()
        {
            let covered = covered.last.min(days_later(rows[at].today, -1));
            rows[at].data = rows[at].data.max(Some(covered));
        }
    }
    for group in groups(rows, &keys(pacing)) {
        share_days(&group, rows);
        let is_planned = |at: &&usize| rows[**at].planned.is_some_and(|one| one.unscaled != 0);
        let days = || group.iter().filter(is_planned).filter_map(|at| rows[*at].day);
        let flight = days().min().zip(days().max());
        let asked = flight.and_then(|(first, last)| {
            let from = scope.window.first.map_or(first, |day| first.max(day));
            let until = scope.window.last.map_or(last, |day| last.min(day));
            (from <= until).then_some((from, until))
        });
        for at in group {
            let row = &mut rows[at];
            (row.flight, row.asked, row.through) = (flight, asked, row.data);
            if let Some((_, until)) = asked
                && until < row.today
                && all >= Some(until)
            {
                row.through = row.data.max(Some(until));
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests;
