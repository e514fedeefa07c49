//! The meanings that words of the lexicon can have. They are data: a file for each language lists the
//! words of each meaning. No meaning is about the subject of a source.

use contract::metric_query::{CalendarUnit, CompareTo, TimeGrain};
use serde::Deserialize;

use crate::outcome::{Declined, View};

/// The meaning of a word or of several words in a row.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Meaning {
    /// Before the groups of a result: "by", "for each".
    By,
    /// Before a group or a divisor: "per".
    Per,
    /// Before the group that a share is a part of.
    Within,
    /// Joins things that all count.
    And,
    /// Joins things of which one counts.
    Or,
    /// Before the end of a range, or a second thing.
    To,
    /// Before the beginning of a range, or a value.
    From,
    /// Before both ends of a range.
    Between,
    /// Before the first day of a period without end.
    Since,
    /// Before the last day of a period without beginning.
    Until,
    /// Before a period that is not part of it.
    Before,
    /// Before a period that is not part of it, and precedes it.
    After,
    /// Before a property, or a second thing.
    With,
    /// Before a period or value.
    In,
    /// Asks for a comparison of what follows.
    Compare,
    /// Between two things that are compared.
    Versus,
    /// Names the period to compare with.
    Compared(CompareTo),
    /// Compares with the unit of the calendar before.
    ComparedBy(CalendarUnit),
    /// Before values that do not count.
    Not,
    /// Beside values that count alone.
    Only,
    /// All together.
    Sum,
    /// Computes a figure from two measures.
    Operator(Operator),
    /// Before words that values begin with, end with or contain.
    Text(TextTest),
    /// Days of the week by their numbers, 1 for Monday.
    Weekdays(Vec<u32>),
    /// Asks for single rows, if the name of rows follows.
    List,
    /// Asks for single rows, if a certain form of the name of rows follows.
    Show,
    /// Beside a unit of the calendar of which nothing is missing.
    Whole,
    /// Between a week and a day of it.
    Starting,
    /// Only periods that are over.
    Full,
    /// The greatest or least single value.
    Extreme(Rank),
    /// A place in an order by a measure of the trade, such as "cheapest".
    Implied(Implied),
    /// The distance of something: "how far".
    Extent,
    /// The least or greatest distance to a plan, on either side of it.
    Nearest,
    /// Before things of which none is left out.
    All,
    /// Behind a figure or thing that something is about: "campaign wise".
    Wise,
    /// The average.
    Average,
    /// The value in the middle.
    Median,
    /// The number of things.
    Count,
    /// The number of different things.
    Distinct,
    /// The side on which a comparison is expected.
    Comparative(Bound),
    /// A rank by the number of things, and not by what they are.
    Many,
    /// A place in an order.
    Rank(Rank),
    /// Before a rank of which only one place counts: "second".
    Nth(u32),
    /// Before the bound of a value.
    Bound(Bound),
    /// After a number in percent.
    Percent,
    /// Beside an amount.
    Currency(String),
    /// After a number that is multiplied.
    Scale(u32),
    /// The part of a total.
    Share,
    /// The difference to an earlier period.
    Change,
    /// The difference to an earlier period in percent.
    Growth,
    /// A change upwards.
    Rise,
    /// A change downwards.
    Fall,
    /// The sum of all earlier times.
    Running,
    /// The sum of a window.
    Rolling,
    /// Asks for what explains a change.
    Explain,
    /// Asks for things.
    Which,
    /// Asks for a time.
    When,
    /// Asks for things in which something holds: "where".
    Where,
    /// Asks for yes or no.
    IsIt,
    /// Asks whether there is such a thing: "anything", "are there".
    Any,
    /// Asks for what will be.
    Will,
    /// The side of a planned amount on which something ends: "hit", "exceed", "underspend".
    Aim(Bound),
    /// Asks how something stands: "how is", "an overview of".
    Standing,
    /// A form of the answer.
    View(View),
    /// Before the column of an order.
    Sort,
    /// Great values first.
    Descending,
    /// Small values first.
    Ascending,
    /// The first ones, or "first" after a rank.
    First,
    /// Rows of the source.
    Rows,
    /// Figures over time.
    Trend,
    /// A unit of the calendar, in a period or a group.
    Unit(CalendarUnit),
    /// A grain of time to group by.
    Grain(TimeGrain),
    /// A month by its number.
    Month(u32),
    /// A quarter by its number.
    Quarter(u32),
    /// Before a unit of the calendar.
    Relative(Relative),
    /// The part of a period that is over.
    ToDate,
    /// After a number of units.
    Ago,
    /// Beside a unit of the calendar: the one before the last one.
    BeforeLast,
    /// The last day of a period.
    EndOf,
    /// A day by its distance from today.
    DaysAgo(u32),
    /// The first day of a period.
    StartOf,
    /// A half of a year by its number.
    Half(u32),
    /// A whole period, as queries write it.
    Period(String),
    /// An operation that no metric query can say.
    Declined(Declined),
    /// Before an assumption.
    Suppose,
    /// Says that things end.
    Ends(Tense),
    /// Says that things begin.
    Begins(Tense),
    /// Before a length of time that begins now.
    Coming,
    /// A day with a name, by its month and day.
    DayOfYear([u32; 2]),
    /// The unit of the calendar after this one.
    NextUnit(CalendarUnit),
    /// Beside an amount or a time that is left.
    Remaining,
    /// Beside an amount that was used.
    Used,
    /// Before a condition, which may be an assumption.
    If,
    /// A change that somebody makes.
    Alter(Alter),
    /// Asks whether an amount suffices.
    Enough,
    /// Says that something has to be done.
    Need,
    /// Refers to an earlier question.
    Refer(Refer),
    /// Words of conversation that say nothing together.
    Filler,
}

/// The tense of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Tense {
    /// It is over.
    Past,
    /// It may be to come.
    Open,
}

/// A place in an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Rank {
    /// The greatest values.
    High,
    /// The least values.
    Low,
    /// The good values.
    Best,
    /// The bad values.
    Worst,
}

/// A calculation with two measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Operator {
    /// The first without the second.
    Minus,
    /// Both together.
    Plus,
    /// The first for each of the second.
    Ratio,
}

/// A test of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TextTest {
    /// It begins with words.
    Starts,
    /// It ends with words.
    Ends,
    /// It contains words.
    Contains,
}

/// A change of an amount that somebody makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Alter {
    /// More than it is.
    Up,
    /// Less than it is.
    Down,
    /// A new amount.
    To,
    /// From one thing to another one.
    Move,
    /// A number of percent more.
    Percent(i32),
}

/// A rank by a measure that the word implies.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Implied {
    /// The rank.
    pub rank: Rank,
    /// The meanings that the measure may have, the likely first, as the vocabulary names them.
    pub of: Vec<String>,
    /// The things that the word names, too, such as the products of "best sellers".
    #[serde(default)]
    pub things: Option<String>,
}

/// The side of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    /// Greater.
    Above,
    /// Greater or equal.
    From,
    /// Less.
    Below,
    /// Less or equal.
    To,
}

/// A unit of the calendar seen from today.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Relative {
    /// The one before this.
    Previous,
    /// The one under way.
    This,
    /// The days up to yesterday.
    Recent,
}

/// A reference to an earlier question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Refer {
    /// The one thing that was shown.
    It,
    /// The things that were shown.
    Them,
    /// Of the things that were shown.
    Their,
    /// Among the things that were asked about.
    There,
    /// The same question.
    Same,
    /// In place of what was asked.
    Instead,
    /// Besides what was asked.
    Add,
    /// Without what was asked.
    Remove,
}

impl Meaning {
    /// Whether the words alone are a period.
    pub fn is_period(&self) -> bool {
        matches!(
            self,
            Self::Month(_) | Self::Quarter(_) | Self::Half(_) | Self::DaysAgo(_) | Self::Period(_)
        )
    }

    /// Whether the word has this meaning only beside an amount. Without one, it says what it says in other
    /// texts.
    pub fn is_soft(&self) -> bool {
        matches!(self, Self::Alter(_) | Self::Enough | Self::Any | Self::Aim(_))
    }

    /// Whether the word only joins others, so that it says nothing alone.
    pub fn is_link(&self) -> bool {
        matches!(
            self,
            Self::And
                | Self::Or
                | Self::To
                | Self::From
                | Self::With
                | Self::In
                | Self::By
                | Self::Per
                | Self::Which
                | Self::IsIt
                | Self::Any
                | Self::Only
                | Self::Sum
                | Self::Filler
                | Self::Extent
                | Self::All
                | Self::Wise
                | Self::If
                | Self::List
                | Self::Show
                | Self::Standing
                | Self::Will
                | Self::Refer(Refer::It | Refer::Them | Refer::There | Refer::Add)
        )
    }
}
