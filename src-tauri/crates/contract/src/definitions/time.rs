//! The time column of a source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::Covers;

/// The zone of days that are those of each account.
pub const ZONE_BY_ACCOUNT: &str = "by account";

/// The column that periods refer to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, TS)]
pub struct TimeColumn {
    /// The column.
    pub column: String,
    /// The time zone of the days, such as `Europe/Stockholm`, or `by account`. None: that of the
    /// caller. A day is never shifted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub zone: Option<String>,
    /// The first day of a week.
    #[serde(default, skip_serializing_if = "WeekDay::is_default")]
    #[ts(optional, as = "Option<WeekDay>")]
    pub week: WeekDay,
    /// The first month of a year, from 1 to 12. A file writes it as `year_starts: "04-01"`.
    #[serde(
        default = "january",
        skip_serializing_if = "is_january",
        serialize_with = "write_month"
    )]
    #[schemars(with = "String")]
    #[ts(optional, as = "Option<String>")]
    pub year_starts: u32,
    /// The days that each row covers, if it is more than one: `week`, `week_ending`, `month`,
    /// `quarter`, or `{until: COLUMN}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub covers: Option<Covers>,
}

impl TimeColumn {
    /// Creates a time column with the usual calendar.
    pub fn new(column: impl Into<String>) -> Self {
        Self {
            column: column.into(),
            zone: None,
            week: WeekDay::default(),
            year_starts: 1,
            covers: None,
        }
    }
}

fn january() -> u32 {
    1
}

fn is_january(month: &u32) -> bool {
    *month == 1
}

fn write_month<S: serde::Serializer>(month: &u32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format!("{month:02}-01"))
}

/// A day of the week that weeks begin with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "snake_case")]
pub enum WeekDay {
    /// Monday.
    #[default]
    Monday,
    /// Tuesday.
    Tuesday,
    /// Wednesday.
    Wednesday,
    /// Thursday.
    Thursday,
    /// Friday.
    Friday,
    /// Saturday.
    Saturday,
    /// Sunday.
    Sunday,
}

impl WeekDay {
    /// Returns the number of days since Monday.
    pub fn days_from_monday(self) -> u32 {
        match self {
            Self::Monday => 0,
            Self::Tuesday => 1,
            Self::Wednesday => 2,
            Self::Thursday => 3,
            Self::Friday => 4,
            Self::Saturday => 5,
            Self::Sunday => 6,
        }
    }

    fn is_default(&self) -> bool {
        *self == Self::Monday
    }
}
