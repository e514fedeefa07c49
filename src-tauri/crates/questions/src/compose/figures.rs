//! Figures that are computed from measures: averages, ratios, running totals, medians, and what
//! explains a change.

use contract::{
    definitions::Calculation,
    metric_query::{CalendarUnit, Explain, Group, MeasureUse, Period, TimeGrain},
    sources::ColumnKind,
};

use super::Composer;
use crate::{
    meaning::Meaning,
    outcome::{Assumed, Form},
    periods::span,
};

/// The longest period that is shown by day, and by week, in days.
const BY_DAY: i64 = 45;
const BY_WEEK: i64 = 200;

impl Composer<'_> {
    /// Reads all words about figures.
    pub(super) fn read_figures(&mut self) {
        self.read_explanation();
        self.read_rolling();
        self.read_per();
        self.read_average();
        self.read_median();
        self.read_share();
        for at in self.places(&Meaning::Running) {
            if let Some(measure) = self.measure_near(at) {
                self.take(at);
                self.measure_use(measure).running = true;
            }
        }
        for at in self.places(&Meaning::Trend) {
            self.take(at);
            self.need_time();
        }
    }

    /// Returns the measure after a word, or else the one before it, or the first one.
    pub(super) fn measure_near(&self, at: usize) -> Option<usize> {
        let is_measure = |place: &usize| self.measure_at(*place).is_some();
        let after = self.next(at + 1).filter(is_measure);
        let before = self.previous(at).filter(is_measure);
        after.or(before).or_else(|| self.first_measure())
    }

    /// Returns how the measure at a place is used.
    pub(super) fn measure_use(&mut self, at: usize) -> &mut MeasureUse {
        let name = self.measure_at(at).unwrap_or_default().to_owned();
        self.take(at);
        let found = self.measures.iter().position(|(_, used)| {
            used.measure.as_deref() == Some(&name) && used.calculation.is_none()
        });
        let place = found.unwrap_or_else(|| {
            self.measures.push((at, MeasureUse::named(name)));
            self.measures.len() - 1
        });
        &mut self.measures[place].1
    }

    /// Adds a group of time that fits the period, if there is none.
    pub(super) fn need_time(&mut self) {
        let is_coming = (0..self.len()).any(|at| self.is_free(at) && self.grain_at(at).is_some());
        if self.has_time() || is_coming || self.scan.source.definitions.time.is_none() {
            return;
        }
        let days = self.query.period.as_ref().and_then(|period| self.scan.days_of(period));
        let grain = match days.map(|(first, last)| (last - first).num_days() + 1) {
            Some(days) if days <= BY_DAY => TimeGrain::Day,
            Some(days) if days <= BY_WEEK => TimeGrain::Week,
            _ => TimeGrain::Month,
        };
        self.add_group(self.len(), Group::time(grain));
        self.assumed.push(Assumed::Grain);
    }

    /// Reads "why did M fall".
    fn read_explanation(&mut self) {
        let Some(at) = self.places(&Meaning::Explain).first().copied() else { return };
        let place = self.measure_near(at);
        let named = place.and_then(|place| self.measure_at(place)).map(str::to_owned);
        let Some(measure) = named.clone().or_else(|| self.scan.main_measure()) else { return };
        if named.is_none() {
            self.assumed.push(Assumed::Measure(measure.clone()));
        }
        self.take(at);
        place.into_iter().for_each(|place| self.take(place));
        let mut by = Vec::new();
        for at in 0..self.len() {
            if self.is_free(at)
                && let Some(name) = self.dimension_at(at).map(str::to_owned)
            {
                self.take(at);
                by.push(name);
            }
        }
        if by.is_empty() {
            by = text_dimensions(self.scan.source);
        }
        self.query.explain = Some(Explain { measure, by });
        self.explained = true;
        self.form = Form::Why;
        self.change = None;
        if self.query.compare.is_none() {
            self.query.compare = Some(contract::metric_query::Compare {
                to: Some(contract::metric_query::CompareTo::Previous),
                ..Default::default()
            });
        }
        if self.query.period.is_none() {
            self.query.period = Some(super::comparing::USUAL);
            self.assumed.push(Assumed::Period);
        }
    }

    /// Reads "7 day rolling M".
    fn read_rolling(&mut self) {
        for at in self.places(&Meaning::Rolling) {
            let before = at.checked_sub(2).and_then(|first| Some((first, self.length(first)?)));
            let after = self.length(at + 1).map(|length| (at + 1, length));
            let (Some((first, (count, unit))), Some(measure)) =
                (before.or(after), self.measure_near(at))
            else {
                continue;
            };
            [at, first, first + 1].into_iter().for_each(|place| self.take(place));
            self.measure_use(measure).rolling = Some(span(unit, count));
            let is_coming =
                (0..self.len()).any(|at| self.is_free(at) && self.grain_at(at).is_some());
            if !is_coming && !self.has_time() {
                self.add_group(self.len(), Group::time(super::grain_of(unit)));
                self.assumed.push(Assumed::Grain);
            }
        }
    }

    /// Returns the length of time at a place: a number and a unit.
    fn length(&self, at: usize) -> Option<(u32, CalendarUnit)> {
        Some((self.number_at(at)?.count()?, self.unit_at(at + 1)?))
    }

    /// Reads one measure per another one as a ratio.
    fn read_per(&mut self) {
        for at in self.places(&Meaning::Per) {
            if self.is_article(at) {
                continue;
            }
            // "Which campaigns cost most per click"
            let is_rank = |place: &usize| {
                self.items[*place].find(|m| matches!(m, Meaning::Rank(_)).then_some(())).is_some()
            };
            let before = at.checked_sub(1);
            let above = before.filter(is_rank).and_then(|rank| self.previous(rank)).or(before);
            let places = (above, self.next(at + 1));
            let (Some(above), Some(below)) = places else { continue };
            let names = (self.measure_at(above), self.measure_at(below));
            let (Some(a), Some(b)) = (names.0.map(str::to_owned), names.1.map(str::to_owned))
            else {
                continue;
            };
            if a == b {
                continue;
            }
            [above, at, below].into_iter().for_each(|place| self.take(place));
            for average in self.places(&Meaning::Average) {
                self.take(average);
            }
            let name = Some(ratio_name(&a, &b));
            let calculation = Some(Calculation::Ratio([a, b]));
            self.measures.push((above, MeasureUse { calculation, name, ..MeasureUse::default() }));
        }
    }

    /// Reads averages: per unit of time, over groups, or of rows.
    fn read_average(&mut self) {
        // No construct averages a window.
        let places = self.places(&Meaning::Average);
        for at in places.into_iter().filter(|_| !self.has(&Meaning::Rolling)).collect::<Vec<_>>() {
            let Some(place) = self.measure_near(at) else { continue };
            let Some(measure) = self.measure_at(place).map(str::to_owned) else { continue };
            let per = (0..self.len()).find(|per| {
                self.means(*per, &Meaning::Per) && self.is_free(*per) && !self.is_article(*per)
            });
            let below = per.and_then(|per| self.next(per + 1));
            if let Some((place_of_unit, unit)) = self.unit_of_average(at, place)
                && self.adds_up(&measure)
            {
                [at, place_of_unit].into_iter().for_each(|place| self.take(place));
                self.average_per(place, unit);
            } else if let (Some(per), Some(below)) = (per, below)
                && let Some(unit) = self.unit_at(below)
                && self.adds_up(&measure)
            {
                [at, per, below].into_iter().for_each(|place| self.take(place));
                self.average_per(place, unit);
            } else if let Some(below) = below
                && let Some(name) = self.dimension_at(below).map(str::to_owned)
                && self.is_free(below)
                && self.adds_up(&measure)
            {
                [at, below].into_iter().for_each(|place| self.take(place));
                self.add_group(below, Group::dimension(name));
                self.averaged = true;
            } else if !self.adds_up(&measure) {
                self.take(at);
            } else if let Some(Calculation::Sum(column)) = self.calculation(&measure).cloned() {
                let calculation = Calculation::Average(column);
                self.replace(at, place, calculation, format!("average_{measure}"));
            }
        }
    }

    /// Uses a measure as its average per unit of time.
    fn average_per(&mut self, place: usize, unit: CalendarUnit) {
        if self.averages_all_days(unit) {
            self.add_group(place, Group::time(super::grain_of(unit)));
            self.averaged = true;
            return;
        }
        self.measure_use(place).per = Some(unit);
        if self.query.period.is_none() {
            let count = if unit == CalendarUnit::Day { 30 } else { 12 };
            self.query.period = Some(Period::Last(span(unit, count)));
            self.assumed.push(Assumed::Period);
        }
    }

    /// Whether an average per day is that of all days with rows: neither a period nor groups are named.
    fn averages_all_days(&self, unit: CalendarUnit) -> bool {
        let is_other = |at: usize| {
            let is_given = self.items[at].tokens.is_empty();
            is_given
                || self.period_at(at).is_some()
                || (self.is_free(at)
                    && (self.dimension_at(at).is_some() || self.grain_at(at).is_some()))
        };
        unit == CalendarUnit::Day
            && self.query.period.is_none()
            && self.query.compare.is_none()
            && self.by.is_empty()
            && self.ranked.is_none()
            && self.scan.source.definitions.time.is_some()
            && (0..self.len()).filter(|at| self.measure_at(*at).is_some()).count() == 1
            && !(0..self.len()).any(is_other)
    }

    /// Returns the unit between an average and its measure: "average daily cost".
    fn unit_of_average(&self, at: usize, measure: usize) -> Option<(usize, CalendarUnit)> {
        let places = at.min(measure)..at.max(measure);
        let mut found = places.chain([at.min(measure).wrapping_sub(1)]).filter_map(|place| {
            let item = self.items.get(place).filter(|_| self.is_free(place))?;
            let unit = item.find(|meaning| match meaning {
                Meaning::Grain(TimeGrain::Day) => Some(CalendarUnit::Day),
                Meaning::Grain(TimeGrain::Week) => Some(CalendarUnit::Week),
                Meaning::Grain(TimeGrain::Month) => Some(CalendarUnit::Month),
                Meaning::Grain(TimeGrain::Quarter) => Some(CalendarUnit::Quarter),
                Meaning::Grain(TimeGrain::Year) => Some(CalendarUnit::Year),
                _ => None,
            })?;
            Some((place, unit))
        });
        found.next()
    }

    fn read_median(&mut self) {
        for at in self.places(&Meaning::Median) {
            let Some(place) = self.measure_near(at) else { continue };
            let Some(measure) = self.measure_at(place).map(str::to_owned) else { continue };
            let column = match self.calculation(&measure) {
                Some(Calculation::Sum(column) | Calculation::Average(column)) => column.clone(),
                _ => continue,
            };
            self.replace(at, place, Calculation::Median(column), format!("median_{measure}"));
        }
    }

    /// Uses another calculation over the column of a measure.
    fn replace(&mut self, at: usize, place: usize, calculation: Calculation, name: String) {
        self.take(at);
        self.take(place);
        let calculation = Some(calculation);
        let used = MeasureUse { calculation, name: Some(name), ..MeasureUse::default() };
        self.measures.push((place, used));
    }
}

/// Returns the dimensions of texts.
fn text_dimensions(source: &analytics::SourceModel) -> Vec<String> {
    use contract::definitions::DimensionKind;
    let is_text = |name: &&String| match &source.definitions.dimensions[*name].kind {
        DimensionKind::Column(column) => {
            let mut columns = source.columns.iter();
            columns.any(|own| own.name == *column && own.kind == ColumnKind::Text)
        }
        _ => false,
    };
    source.definitions.dimensions.keys().filter(is_text).cloned().collect()
}

/// Returns the name of a ratio, without the sources of its measures.
pub(super) fn ratio_name(above: &str, below: &str) -> String {
    let own = |name: &str| name.rsplit_once('.').map_or(name, |(_, own)| own).to_owned();
    format!("{}_per_{}", own(above), own(below))
}
