//! Figures in words: measures with their conditions, shares and windows, and calculations without a
//! definition.

use contract::{
    Param, Text,
    definitions::Calculation,
    metric_query::{CalendarUnit, MeasureUse, Span, StepCalculation, StepMeasure},
    text,
};

use super::{Words, list, with_name};
use crate::{catalog::ROWS, resolve::parts_of_span};

/// The word for all groups together in `share_of`.
const TOTAL: &str = "total";

impl Words<'_> {
    /// Returns a figure of a query.
    pub fn figure(&self, used: &MeasureUse) -> Text {
        let mut words = match (&used.measure, &used.calculation) {
            (Some(name), _) => text_of(self.measure(name)),
            (None, Some(own)) => self.calculation(own),
            (None, None) => Text::default(),
        };
        if !used.conditions.is_empty() {
            let conditions = self.conditions(&used.conditions);
            words = text!("{figure} ({conditions})", figure = words, conditions);
        }
        if !used.share_of.is_empty() {
            words = self.share(&words, &used.share_of);
        }
        if used.running {
            words = text!("running total of {figure}", figure = words);
        }
        if let Some(rolling) = used.rolling {
            words =
                text!("{figure} of the last {length}", figure = words, length = length(rolling));
        }
        if let Some(unit) = used.per {
            words = per(unit, &words);
        }
        with_name(used.name.as_ref(), words)
    }

    fn share(&self, figure: &Text, of: &[String]) -> Text {
        if of.iter().all(|name| name == TOTAL) {
            return text!("share of {figure} in the total", figure);
        }
        let names = list(of.iter().map(|name| self.result_column(name)));
        text!("share of {figure} in each {names}", figure, names)
    }

    /// Returns a calculation.
    pub fn calculation(&self, calculation: &Calculation) -> Text {
        let column = |name: &String| self.column(name);
        match calculation {
            Calculation::Sum(of) => text!("sum of {column}", column = column(of)),
            Calculation::Count(of) if of == ROWS => text!("number of rows"),
            Calculation::Count(of) => text!("number of values of {column}", column = column(of)),
            Calculation::Distinct(of) => {
                text!("number of different values of {column}", column = self.dimension(of))
            }
            Calculation::Average(of) => text!("average of {column}", column = column(of)),
            Calculation::Weighted(of) => text!(
                "average of {column}, weighted by {weight}",
                column = column(&of.column),
                weight = column(&of.by)
            ),
            Calculation::Last(of) => text!(
                "last {column} of each {names}",
                column = column(&of.column),
                names = list(of.per.iter().map(column))
            ),
            Calculation::Least(of) => text!("least {column}", column = column(of)),
            Calculation::Greatest(of) => text!("greatest {column}", column = column(of)),
            Calculation::Median(of) => text!("median of {column}", column = column(of)),
            Calculation::Percentile(of) => text!(
                "{percent} % percentile of {column}",
                percent = of.at,
                column = column(&of.column)
            ),
            Calculation::Single(of) => text!("only value of {column}", column = column(of)),
            Calculation::Ratio([above, below]) => {
                text!("{above} ÷ {below}", above = self.measure(above), below = self.measure(below))
            }
            Calculation::Plus(names) => {
                Text::listed(names.iter().map(|name| self.measure(name)), " + ")
            }
            Calculation::Minus([first, second]) => text!(
                "{first} − {second}",
                first = self.measure(first),
                second = self.measure(second)
            ),
            Calculation::Of(name) => text_of(self.measure(name)),
        }
    }

    /// Returns a figure of a second step.
    pub fn step(&self, step: &StepMeasure) -> Text {
        let column = |name: &String| self.result_column(name);
        let words = match &step.calculation {
            StepCalculation::Sum(of) => text!("sum of {column}", column = column(of)),
            StepCalculation::Average(of) => text!("average of {column}", column = column(of)),
            StepCalculation::Least(of) => text!("least {column}", column = column(of)),
            StepCalculation::Greatest(of) => text!("greatest {column}", column = column(of)),
            StepCalculation::Median(of) => text!("median of {column}", column = column(of)),
            StepCalculation::Count(of) if of == ROWS => text!("number of rows"),
            StepCalculation::Count(of) => {
                text!("number of values of {column}", column = column(of))
            }
        };
        with_name(step.name.as_ref(), words)
    }
}

/// Returns a value as a text.
pub(super) fn text_of(value: Param) -> Text {
    match value {
        Param::Text(text) => text,
        other => Text::listed([other], ""),
    }
}

fn per(unit: CalendarUnit, figure: &Text) -> Text {
    match unit {
        CalendarUnit::Day => text!("{figure} per day", figure),
        CalendarUnit::Week => text!("{figure} per week", figure),
        CalendarUnit::Month => text!("{figure} per month", figure),
        CalendarUnit::Quarter => text!("{figure} per quarter", figure),
        CalendarUnit::Year => text!("{figure} per year", figure),
    }
}

/// Returns a length of time.
fn length(span: Span) -> Text {
    let (unit, count) = parts_of_span(span);
    match (unit, count) {
        (CalendarUnit::Day, 1) => text!("1 day"),
        (CalendarUnit::Week, 1) => text!("1 week"),
        (CalendarUnit::Month, 1) => text!("1 month"),
        (CalendarUnit::Quarter, 1) => text!("1 quarter"),
        (CalendarUnit::Year, 1) => text!("1 year"),
        (CalendarUnit::Day, _) => text!("{count} days", count),
        (CalendarUnit::Week, _) => text!("{count} weeks", count),
        (CalendarUnit::Month, _) => text!("{count} months", count),
        (CalendarUnit::Quarter, _) => text!("{count} quarters", count),
        (CalendarUnit::Year, _) => text!("{count} years", count),
    }
}
