//! The order of day, month and year where a day is three numbers. Must not know columns.

use contract::data::DateOrder;

/// The order of the numbers of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DayOrder {
    /// 1/11/2026 is the first of November.
    DayFirst,
    /// 1/11/2026 is the eleventh of January.
    MonthFirst,
    /// 26/11/01 is the first of November 2026.
    YearFirst,
}

impl DayOrder {
    /// All orders, as a question lists them.
    pub(crate) const ALL: [Self; 3] = [Self::DayFirst, Self::MonthFirst, Self::YearFirst];

    /// Returns the order that an answer names.
    pub(crate) fn from_answer(answer: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.answer() == answer)
    }

    /// Returns the answer that names the order.
    pub(crate) fn answer(self) -> &'static str {
        match self {
            Self::DayFirst => "day_first",
            Self::MonthFirst => "month_first",
            Self::YearFirst => "year_first",
        }
    }

    /// Returns the order of day and month alone. None if the year comes first.
    pub(crate) fn without_year(self) -> Option<DateOrder> {
        match self {
            Self::DayFirst => Some(DateOrder::DayFirst),
            Self::MonthFirst => Some(DateOrder::MonthFirst),
            Self::YearFirst => None,
        }
    }
}

impl From<DateOrder> for DayOrder {
    fn from(order: DateOrder) -> Self {
        match order {
            DateOrder::DayFirst => Self::DayFirst,
            DateOrder::MonthFirst => Self::MonthFirst,
        }
    }
}
