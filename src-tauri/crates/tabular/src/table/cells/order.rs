//! The order of day, month and year where a day is three numbers. Must not know columns.

use contract::sources::DateOrder;

/// The order of the numbers of a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DayOrder {
    /// 1/11/2026 is the first of November.
    DayMonthYear,
    /// 1/11/2026 is the eleventh of January.
    MonthDayYear,
    /// 26/11/01 is the first of November 2026.
    YearMonthDay,
}

impl DayOrder {
    /// All orders, as a question lists them.
    pub(crate) const ALL: [Self; 3] = [Self::DayMonthYear, Self::MonthDayYear, Self::YearMonthDay];

    /// Returns the order that an answer names.
    pub(crate) fn from_answer(answer: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.answer() == answer)
    }

    /// Returns the answer that names the order.
    pub(crate) fn answer(self) -> &'static str {
        match self {
            Self::DayMonthYear => "day_first",
            Self::MonthDayYear => "month_first",
            Self::YearMonthDay => "year_first",
        }
    }
}

impl From<DateOrder> for DayOrder {
    fn from(order: DateOrder) -> Self {
        match order {
            DateOrder::DayFirst => Self::DayMonthYear,
            DateOrder::MonthFirst => Self::MonthDayYear,
            DateOrder::YearFirst => Self::YearMonthDay,
        }
    }
}

impl From<DayOrder> for DateOrder {
    fn from(order: DayOrder) -> Self {
        match order {
            DayOrder::DayMonthYear => Self::DayFirst,
            DayOrder::MonthDayYear => Self::MonthFirst,
            DayOrder::YearMonthDay => Self::YearFirst,
        }
    }
}
