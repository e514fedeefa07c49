//! Rows of the reference: cells, conditions and dimensions.

use chrono::{Datelike, NaiveDate, NaiveDateTime, Timelike};
use contract::{
    definitions::{Dimension, DimensionKind, Lookup},
    metric_query::{Bounds, Condition, GroupBy, Scalar, Shift, Test, TimeGrain},
    sources::ColumnKind,
};
use serde_json::Value;

use super::{Number, world::World};
use crate::{
    calendar::shifted,
    compile::{dimensions::bin_label, times::unit_of},
    resolve::DayBounds,
};

/// A cell of a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    /// A text.
    Text(String),
    /// A number.
    Number(Number),
    /// A day.
    Day(NaiveDate),
    /// A point in time.
    Moment(NaiveDateTime),
    /// Yes or no.
    Flag(bool),
    /// The empty value, which is ordered last.
    Empty,
}

impl Cell {
    /// Returns the cell as one of a result.
    pub fn value(&self) -> Value {
        match self {
            Self::Empty => Value::Null,
            Self::Text(text) => Value::from(text.clone()),
            Self::Number(number) => number.cell(),
            Self::Day(day) => Value::from(day.format("%Y-%m-%d").to_string()),
            Self::Moment(moment) => Value::from(moment.format("%Y-%m-%dT%H:%M:%S").to_string()),
            Self::Flag(flag) => Value::from(*flag),
        }
    }

    /// Returns the cell as a text.
    pub(super) fn text(&self) -> Self {
        match self {
            Self::Empty => Self::Empty,
            Self::Text(text) => Self::Text(text.clone()),
            Self::Flag(flag) => Self::Text(flag.to_string()),
            other => {
                let value = other.value();
                Self::Text(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            }
        }
    }

    /// Returns the number of the cell.
    pub(super) fn number(&self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }
}

/// A table in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The rows, each with a cell for each column of the source.
    pub rows: Vec<Vec<Cell>>,
}

impl World<'_> {
    /// Returns a cell by the name of its column.
    pub(super) fn cell(&self, source: usize, row: usize, column: &str) -> Cell {
        let columns = &self.catalog.sources[source].columns;
        let place = columns.iter().position(|known| known.name == column);
        place.map_or(Cell::Empty, |place| self.tables[source].rows[row][place].clone())
    }

    /// Returns the time of a row.
    pub(super) fn time(&self, source: usize, row: usize) -> Cell {
        let time = self.catalog.sources[source].definitions.time.as_ref();
        time.map_or(Cell::Empty, |time| self.cell(source, row, &time.column))
    }

    /// Whether the time of a row lies in a period.
    pub(super) fn is_in(&self, source: usize, row: usize, bounds: DayBounds) -> bool {
        if bounds == DayBounds::default() {
            return true;
        }
        let Some(day) = day_of(&self.time(source, row)) else { return false };
        bounds.first.is_none_or(|first| day >= first) && bounds.last.is_none_or(|last| day <= last)
    }

    /// Whether a row fulfils a condition.
    pub(super) fn holds(&self, source: usize, row: usize, condition: &Condition) -> bool {
        match condition {
            Condition::And(parts) => parts.iter().all(|part| self.holds(source, row, part)),
            Condition::Or(parts) => parts.iter().any(|part| self.holds(source, row, part)),
            Condition::Not(part) => !self.holds(source, row, part),
            Condition::Is { name, test } => self.passes(source, row, name, test),
        }
    }

    fn passes(&self, source: usize, row: usize, name: &str, test: &Test) -> bool {
        if let Some((key, own_key)) = self.joined_key(source, name) {
            // The names of the keys are those of the first source.
            let wanted = self.cell(source, row, &key).text();
            let rows = 0..self.tables[0].rows.len();
            let same = |row: &usize| self.cell(0, *row, &own_key).text() == wanted;
            return match test {
                Test::NoneOf(values) => {
                    !self.passes(source, row, name, &Test::OneOf(values.clone()))
                }
                Test::NotContains(texts) => {
                    !self.passes(source, row, name, &Test::Contains(texts.clone()))
                }
                Test::NotIn(query) => !self.passes(source, row, name, &Test::In(query.clone())),
                Test::Empty(is_empty) => (wanted == Cell::Empty) == *is_empty,
                _ => {
                    wanted != Cell::Empty
                        && rows.filter(same).any(|row| self.passes(0, row, name, test))
                }
            };
        }
        let dimension = self.dimension_in(source, name);
        let Some(key) = &dimension.key else {
            return self.test(&self.value_of(source, row, &dimension), test);
        };
        let own = Dimension::of_kind(dimension.kind.clone());
        match test {
            Test::NoneOf(values) => !self.passes(source, row, name, &Test::OneOf(values.clone())),
            Test::NotContains(texts) => {
                !self.passes(source, row, name, &Test::Contains(texts.clone()))
            }
            Test::OneOf(_) | Test::Contains(_) | Test::Starts(_) | Test::Ends(_) => {
                let wanted = self.cell(source, row, key);
                if wanted == Cell::Empty {
                    return self.test(&self.value_of(source, row, &own), test);
                }
                (0..self.tables[source].rows.len()).any(|other| {
                    self.cell(source, other, key) == wanted
                        && self.test(&self.value_of(source, other, &own), test)
                })
            }
            Test::In(query) => self.inner(query).contains(&self.cell(source, row, key)),
            Test::NotIn(query) => !self.inner(query).contains(&self.cell(source, row, key)),
            Test::Bounds(_) | Test::Empty(_) => {
                self.test(&self.value_of(source, row, &dimension), test)
            }
        }
    }

    /// Whether a cell passes a test.
    pub(super) fn test(&self, cell: &Cell, test: &Test) -> bool {
        let lower = |text: &str| text.to_lowercase();
        let text = match cell {
            Cell::Text(text) => Some(lower(text)),
            _ => None,
        };
        let any = |texts: &[String], fits: &dyn Fn(&str, &str) -> bool| {
            text.as_ref().is_some_and(|own| texts.iter().any(|text| fits(own, &lower(text))))
        };
        match test {
            Test::OneOf(values) => values.iter().any(|value| scalar(value, cell) == *cell),
            Test::NoneOf(values) => !values.iter().any(|value| scalar(value, cell) == *cell),
            Test::Contains(texts) => any(texts, &|own, text| own.contains(text)),
            Test::NotContains(texts) => !any(texts, &|own, text| own.contains(text)),
            Test::Starts(texts) => any(texts, &|own, text| own.starts_with(text)),
            Test::Ends(texts) => any(texts, &|own, text| own.ends_with(text)),
            Test::Empty(is_empty) => (*cell == Cell::Empty) == *is_empty,
            Test::Bounds(bounds) => *cell != Cell::Empty && in_bounds(cell, bounds),
            Test::In(query) => self.inner(query).contains(cell),
            Test::NotIn(query) => !self.inner(query).contains(cell),
        }
    }

    /// Returns the value of a dimension.
    pub(super) fn value_of(&self, source: usize, row: usize, dimension: &Dimension) -> Cell {
        match (&dimension.kind, &dimension.key) {
            (DimensionKind::Column(column), Some(key)) => {
                let key_cell = self.cell(source, row, key);
                self.latest_name(source, column, key, &key_cell)
                    .unwrap_or_else(|| self.cell(source, row, column))
            }
            (DimensionKind::Column(column), None) => self.cell(source, row, column),
            (DimensionKind::When(condition), _) => Cell::Flag(self.holds(source, row, condition)),
            (DimensionKind::Groups(groups), _) => {
                let cell = self.cell(source, row, &groups.of);
                let found = groups.groups.iter().find(|(_, test)| self.test(&cell, test));
                let name = found.map(|(name, _)| name.clone()).or_else(|| groups.other.clone());
                name.map_or(Cell::Empty, Cell::Text)
            }
            (DimensionKind::Split(split), _) => match self.cell(source, row, &split.of) {
                Cell::Text(text) => {
                    let part = text.split(&split.by).nth(split.part as usize - 1);
                    let part = part.filter(|part| !part.is_empty());
                    part.map_or(Cell::Empty, |part| Cell::Text(part.to_owned()))
                }
                _ => Cell::Empty,
            },
            (DimensionKind::Bins(bins), _) => match self.cell(source, row, &bins.of).number() {
                Some(number) => {
                    let edges = bins.edges.iter();
                    let below = edges.filter(|edge| number >= Number::whole(**edge)).count();
                    Cell::Text(bin_label(&bins.edges, below))
                }
                None => Cell::Empty,
            },
            (DimensionKind::First(first), _) => {
                let key = self.cell(source, row, &first.per);
                self.first_value(source, &first.of, &first.per, &key)
            }
            (DimensionKind::Lookup(lookup), _) => self.looked_up(source, row, lookup),
        }
    }

    /// Returns the value of another source's rows with the same key, if they have only one.
    fn looked_up(&self, source: usize, row: usize, lookup: &Lookup) -> Cell {
        let joins = &self.catalog.sources[source].definitions.joins;
        let Some(join) = joins.get(lookup.source.as_str()) else { return Cell::Empty };
        let Ok(other) = self.catalog.place(&lookup.source) else { return Cell::Empty };
        let dimension = self.dimension_in(other, &lookup.of);
        let is_partner = |partner: &usize| {
            join.on.iter().all(|(own, theirs)| {
                let own = self.cell(source, row, own).text();
                own != Cell::Empty && own == self.cell(other, *partner, theirs).text()
            })
        };
        let partners = (0..self.tables[other].rows.len()).filter(is_partner);
        let mut values: Vec<Cell> = partners
            .map(|partner| self.value_of(other, partner, &dimension))
            .filter(|value| *value != Cell::Empty)
            .collect();
        values.sort();
        values.dedup();
        match values.as_slice() {
            [one] => one.clone(),
            _ => Cell::Empty,
        }
    }

    /// Returns the name of the latest row with a key, the least one of a day.
    pub(super) fn latest_name(
        &self,
        source: usize,
        column: &str,
        key: &str,
        wanted: &Cell,
    ) -> Option<Cell> {
        if *wanted == Cell::Empty {
            return None;
        }
        let rows = (0..self.tables[source].rows.len())
            .filter(|row| self.cell(source, *row, key) == *wanted)
            .map(|row| (self.time(source, row), self.cell(source, row, column)))
            .filter(|(_, name)| *name != Cell::Empty);
        let mut rows: Vec<(Cell, Cell)> = rows.collect();
        // Rows without a time count as the earliest ones.
        rows.sort_by(|a, b| {
            let times = match (&a.0, &b.0) {
                (Cell::Empty, Cell::Empty) => std::cmp::Ordering::Equal,
                (Cell::Empty, _) => std::cmp::Ordering::Greater,
                (_, Cell::Empty) => std::cmp::Ordering::Less,
                (a, b) => b.cmp(a),
            };
            times.then_with(|| a.1.cmp(&b.1))
        });
        rows.into_iter().next().map(|(_, name)| name)
    }

    fn first_value(&self, source: usize, column: &str, key: &str, wanted: &Cell) -> Cell {
        if *wanted == Cell::Empty {
            return Cell::Empty;
        }
        let rows = (0..self.tables[source].rows.len())
            .filter(|row| self.cell(source, *row, key) == *wanted)
            .map(|row| (self.time(source, row), self.cell(source, row, column)))
            .filter(|(_, value)| *value != Cell::Empty);
        rows.min().map_or(Cell::Empty, |(_, value)| value)
    }

    /// Returns the value of a group of the query.
    pub(super) fn group_value(
        &self,
        source: usize,
        row: usize,
        by: &GroupBy,
        shift: Option<Shift>,
    ) -> Cell {
        match by {
            GroupBy::Dimension(name) => {
                self.value_of(source, row, &self.dimension_in(source, name))
            }
            GroupBy::Define(kind) => self.value_of(source, row, &Dimension::of_kind(kind.clone())),
            GroupBy::Time(grain) => self.bucket(source, &self.time(source, row), *grain, shift),
        }
    }

    fn bucket(&self, source: usize, time: &Cell, grain: TimeGrain, shift: Option<Shift>) -> Cell {
        let shift = shift.unwrap_or(Shift::Days(0));
        let Some(day) = day_of(time).map(|day| shifted(day, shift)) else { return Cell::Empty };
        if let Some(unit) = unit_of(grain) {
            return Cell::Day(self.catalog.sources[source].calendar().start(unit, day));
        }
        let hour = match time {
            Cell::Moment(moment) => moment.hour(),
            _ => 0,
        };
        let whole = |number: u32| Cell::Number(Number::whole(i64::from(number)));
        match grain {
            TimeGrain::Hour => day.and_hms_opt(hour, 0, 0).map_or(Cell::Empty, Cell::Moment),
            TimeGrain::Weekday => whole(day.weekday().number_from_monday()),
            TimeGrain::MonthOfYear => whole(day.month()),
            TimeGrain::HourOfDay => whole(hour),
            _ => {
                let part = ["night", "morning", "afternoon", "evening"][hour as usize / 6];
                Cell::Text(part.to_owned())
            }
        }
    }
}

/// Returns the day of a time.
pub(super) fn day_of(time: &Cell) -> Option<NaiveDate> {
    match time {
        Cell::Day(day) => Some(*day),
        Cell::Moment(moment) => Some(moment.date()),
        _ => None,
    }
}

/// Returns a value of a condition as a cell of the type that it is compared with.
fn scalar(scalar: &Scalar, like: &Cell) -> Cell {
    let number = |text: &str| {
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let digits: String = format!("{whole}{part}");
        let scale = u8::try_from(part.len()).unwrap_or(0);
        digits.parse().map_or(Cell::Empty, |unscaled| Cell::Number(Number { unscaled, scale }))
    };
    match (scalar, like) {
        (Scalar::Null, _) => Cell::Empty,
        (Scalar::Flag(flag), _) => Cell::Flag(*flag),
        (Scalar::Number(written), Cell::Text(_)) => Cell::Text(written.to_string()),
        (Scalar::Number(written), _) => number(&written.to_string()),
        (Scalar::Text(text), Cell::Day(_)) => {
            text.parse().map_or(Cell::Text(text.clone()), Cell::Day)
        }
        (Scalar::Text(text), Cell::Number(_)) => number(text),
        (Scalar::Text(text), _) => Cell::Text(text.clone()),
    }
}

fn in_bounds(cell: &Cell, bounds: &Bounds) -> bool {
    let all = [
        (&bounds.above, &(|a: &Cell, b: &Cell| a > b) as &dyn Fn(&Cell, &Cell) -> bool),
        (&bounds.from, &|a, b| a >= b),
        (&bounds.below, &|a, b| a < b),
        (&bounds.to, &|a, b| a <= b),
    ];
    all.iter()
        .all(|(bound, fits)| bound.as_ref().is_none_or(|bound| fits(cell, &scalar(bound, cell))))
}

/// Returns the cell type of a kind, for tests that make rows.
pub(super) fn is_number(kind: ColumnKind) -> bool {
    matches!(kind, ColumnKind::Whole | ColumnKind::Decimal)
}
