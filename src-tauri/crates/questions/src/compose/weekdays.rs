//! Days of the week as a condition: "on weekends in October". No query has such a condition, so the days
//! are listed. Periods that are not over, and only full ones.

use chrono::{Datelike, Days, NaiveDate};
use contract::{
    metric_query::{Bounds, Condition, GroupBy, Period, Scalar, Test, TimeGrain},
    sources::ColumnKind,
};

use super::Composer;
use crate::meaning::Meaning;

/// The most days that are listed.
const MOST: usize = 120;

impl Composer<'_> {
    /// Reads days of the week. They need a period with two ends.
    pub(super) fn read_weekdays(&mut self) {
        let found = (0..self.len()).filter(|at| self.is_free(*at) && !self.is_grouped(*at));
        let found = found.filter_map(|at| {
            self.items[at].find(|meaning| match meaning {
                Meaning::Weekdays(days) => Some((at, days.clone())),
                _ => None,
            })
        });
        let found: Vec<(usize, Vec<u32>)> = found.collect();
        let Some(days) = self.listed_days(&found) else { return };
        let Some(condition) = self.on_days(&days) else { return };
        let not = found.first().and_then(|(at, _)| self.previous(*at));
        let is_not = not.is_some_and(|at| self.means(at, &Meaning::Not));
        if is_not {
            return;
        }
        if let (Some(first), Some(last)) = (days.first(), days.last()) {
            // The days are those of now, so the period is, too.
            let whole = self.query.period.as_ref().and_then(|period| self.scan.days_of(period));
            let (from, to) = whole.unwrap_or((*first, *last));
            let is_relative = matches!(
                self.query.period,
                Some(
                    Period::Last(_)
                        | Period::LastWithToday(_)
                        | Period::This(_)
                        | Period::ToDate(_)
                        | Period::Previous(_)
                )
            );
            if is_relative {
                self.query.period = Some(Period::Range { from: Some(from), to: Some(to) });
            }
        }
        found.iter().for_each(|(at, _)| self.take(*at));
        let at = found.first().map_or(0, |(at, _)| *at);
        self.conditions.push((at, condition));
    }

    /// Returns the days of the period that are among some days of the week.
    fn listed_days(&self, found: &[(usize, Vec<u32>)]) -> Option<Vec<NaiveDate>> {
        if found.is_empty() || self.query.compare.is_some() {
            return None;
        }
        let (first, last) = self.scan.days_of(self.query.period.as_ref()?)?;
        let last = last.min(self.scan.today());
        let is_asked = |day: &NaiveDate| {
            let number = day.weekday().number_from_monday();
            found.iter().any(|(_, days)| days.contains(&number))
        };
        let all = first.iter_days().take_while(|day| *day <= last).filter(is_asked);
        let days: Vec<NaiveDate> = all.take(MOST + 1).collect();
        (!days.is_empty() && days.len() <= MOST).then_some(days)
    }

    /// Returns the condition that the time is on one of some days.
    fn on_days(&self, days: &[NaiveDate]) -> Option<Condition> {
        let name = self.scan.source.definitions.time.as_ref()?.column.clone();
        let column = self.scan.source.columns.iter().find(|column| column.name == name)?;
        let text = |day: NaiveDate| Scalar::Text(day.to_string());
        match column.kind {
            ColumnKind::Day => {
                let days = days.iter().map(|day| text(*day)).collect();
                Some(Condition::Is { name, test: Test::OneOf(days) })
            }
            ColumnKind::Moment => {
                let one = |day: &NaiveDate| {
                    let below = Some(text(day.checked_add_days(Days::new(1))?));
                    let bounds = Bounds { from: Some(text(*day)), below, ..Bounds::default() };
                    Some(Condition::Is { name: name.clone(), test: Test::Bounds(bounds) })
                };
                Some(Condition::Or(days.iter().map(one).collect::<Option<_>>()?))
            }
            ColumnKind::Text | ColumnKind::Whole | ColumnKind::Decimal | ColumnKind::Flag => None,
        }
    }

    /// Reads "full months only": the period ends with the last one that is over.
    pub(super) fn read_full(&mut self) {
        let Some(at) = self.places(&Meaning::Full).first().copied() else { return };
        let mut grains = self.by.iter().filter_map(|(_, group)| match group.by {
            GroupBy::Time(grain) => Some(grain),
            GroupBy::Dimension(_) | GroupBy::Define(_) => None,
        });
        let today = self.scan.today();
        let unit = match grains.next() {
            Some(TimeGrain::Day) => contract::metric_query::CalendarUnit::Day,
            Some(TimeGrain::Week) => contract::metric_query::CalendarUnit::Week,
            Some(TimeGrain::Month) => contract::metric_query::CalendarUnit::Month,
            Some(TimeGrain::Quarter) => contract::metric_query::CalendarUnit::Quarter,
            Some(TimeGrain::Year) => contract::metric_query::CalendarUnit::Year,
            Some(
                TimeGrain::Hour
                | TimeGrain::Weekday
                | TimeGrain::HourOfDay
                | TimeGrain::MonthOfYear
                | TimeGrain::PartOfDay,
            )
            | None => return,
        };
        let Some((_, end)) = self.scan.days_of(&Period::Previous(unit)) else { return };
        let from = match &self.query.period {
            Some(Period::Range { from, to }) => {
                if to.is_some_and(|to| to < today) {
                    return;
                }
                *from
            }
            Some(period) => match self.scan.days_of(period) {
                Some((first, last)) if last >= today => Some(first),
                // It is over, so each of its parts is.
                Some(_) => {
                    self.take(at);
                    return;
                }
                None => return,
            },
            None => None,
        };
        if from.is_none_or(|from| from <= end) {
            self.take(at);
            self.query.period = Some(Period::Range { from, to: Some(end) });
        }
    }
}
