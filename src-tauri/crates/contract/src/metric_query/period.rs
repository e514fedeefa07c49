//! Periods, the grain of time, and comparisons. Relative periods are resolved before a query is
//! compiled.

use std::collections::BTreeMap;

use chrono::{NaiveDate, NaiveDateTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{Scalar, Span};

/// The moment that relative periods refer to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct AsOf {
    /// The moment, in the time of the zone.
    pub moment: NaiveDateTime,
    /// The zone, such as `Europe/Stockholm`.
    pub zone: String,
}

/// A unit of the calendar.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum CalendarUnit {
    /// A day.
    Day,
    /// A week, from the source's first day of a week.
    Week,
    /// A month.
    Month,
    /// A quarter of the source's year.
    Quarter,
    /// A year, from the source's first month.
    Year,
}

/// How times are grouped.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, TS,
)]
#[serde(rename_all = "snake_case")]
pub enum TimeGrain {
    /// By hour of each day.
    Hour,
    /// By day.
    Day,
    /// By week. The value is its first day.
    Week,
    /// By month. The value is its first day.
    Month,
    /// By quarter. The value is its first day.
    Quarter,
    /// By year. The value is its first day.
    Year,
    /// By day of the week, 1 for Monday to 7 for Sunday.
    Weekday,
    /// By hour of the day, 0 to 23.
    HourOfDay,
    /// By month of the year, 1 to 12.
    MonthOfYear,
    /// Night (0 to 6 h), morning (to 12 h), afternoon (to 18 h), evening.
    PartOfDay,
}

/// The days that count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Period {
    /// The last days before today, or the last full weeks, months, quarters or years.
    Last(Span),
    /// The last days including today.
    LastWithToday(Span),
    /// The day, week, month, quarter or year that is under way: all of it.
    This(CalendarUnit),
    /// The part of it that is over, with today.
    ToDate(CalendarUnit),
    /// The one before.
    Previous(CalendarUnit),
    /// A month such as `2026-11`.
    Month(String),
    /// A quarter of the source's year, such as `2026-Q4`.
    Quarter(String),
    /// A year of the source, named by the year in which it begins.
    Year(i32),
    /// A week by ISO 8601, such as `2026-W48`.
    Week(String),
    /// From a day to a day, both included. An absent end is open.
    #[serde(untagged)]
    Range {
        /// The first day.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<NaiveDate>,
        /// The last day.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<NaiveDate>,
    },
}

/// With which other figures a result is compared. One of the first three members says it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct Compare {
    /// A period that follows from that of the query. Written alone, it is `"previous"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub to: Option<CompareTo>,
    /// Another period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub period: Option<Period>,
    /// Two values of a dimension: `{"device": ["Mobile", "Desktop"]}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Option<BTreeMap<String, Vec<String>>>")]
    #[ts(optional, as = "Option<BTreeMap<String, Vec<Scalar>>>")]
    pub values: BTreeMap<String, Vec<Scalar>>,
    /// How the days of both periods belong together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub align: Option<CompareAlign>,
    /// How much later the days of the query are than those they are compared with. Resolving a query
    /// sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub shift: Option<Shift>,
}

/// A period that follows from that of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum CompareTo {
    /// The period before.
    Previous,
    /// The same period a year before.
    LastYear,
}

/// How the days of two periods belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum CompareAlign {
    /// The whole periods.
    Full,
    /// The same number of days from the beginning, if the period of the query is not over.
    ToDate,
    /// The same days of the week.
    Weekday,
}

/// A distance between two periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum Shift {
    /// Days.
    Days(i32),
    /// Months.
    Months(i32),
}
