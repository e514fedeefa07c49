//! Groups in words: dimensions, times, and dimensions without a definition.

use contract::{
    Param, Text,
    definitions::{Bins, DimensionKind, Groups},
    metric_query::{Group, GroupBy, TimeGrain},
    text,
};

use super::{Words, as_is, list};

impl Words<'_> {
    /// Returns a group of a query.
    pub fn group(&self, group: &Group) -> Text {
        let words = match &group.by {
            GroupBy::Dimension(name) => text!("by {name}", name = self.dimension(name)),
            GroupBy::Time(grain) => by_time(*grain),
            GroupBy::Define(kind) => self.own_group(kind),
        };
        match &group.name {
            Some(name) => text!("{group} as {name}", group = words, name = as_is(name)),
            None => words,
        }
    }

    fn own_group(&self, kind: &DimensionKind) -> Text {
        match kind {
            DimensionKind::Column(of) => text!("by {name}", name = self.column(of)),
            DimensionKind::When(condition) => {
                text!("by whether {condition}", condition = self.condition(condition))
            }
            DimensionKind::Groups(groups) => self.named_groups(groups),
            DimensionKind::Split(split) => text!(
                "by part {part} of {column}, split at {separator}",
                part = split.part,
                column = self.column(&split.of),
                separator = text!("“{text}”", text = as_is(&split.by))
            ),
            DimensionKind::Bins(Bins { of, edges }) => text!(
                "by ranges of {column} with the edges {edges}",
                column = self.column(of),
                edges = list(edges.iter().map(|edge| as_is(edge.to_string())))
            ),
            DimensionKind::First(first) => text!(
                "by the first {column} of each {key}",
                column = self.column(&first.of),
                key = self.column(&first.per)
            ),
            DimensionKind::Lookup(lookup) => text!(
                "by {name} of {source}",
                name = as_is(&lookup.of),
                source = as_is(lookup.source.as_str())
            ),
        }
    }

    fn named_groups(&self, groups: &Groups) -> Text {
        let each = groups.groups.iter().map(|(name, test)| {
            let test = self.test(self.column(&groups.of), test);
            Param::Text(text!("{name} = {words}", name = as_is(name), words = test))
        });
        let each = Text::listed(each, "; ");
        match &groups.other {
            Some(other) => text!(
                "by groups ({groups}; all others = {other})",
                groups = each,
                other = as_is(other)
            ),
            None => text!("by groups ({groups})", groups = each),
        }
    }
}

fn by_time(grain: TimeGrain) -> Text {
    match grain {
        TimeGrain::Hour => text!("by hour"),
        TimeGrain::Day => text!("by day"),
        TimeGrain::Week => text!("by week"),
        TimeGrain::Month => text!("by month"),
        TimeGrain::Quarter => text!("by quarter"),
        TimeGrain::Year => text!("by year"),
        TimeGrain::Weekday => text!("by day of the week"),
        TimeGrain::HourOfDay => text!("by hour of the day"),
        TimeGrain::MonthOfYear => text!("by month of the year"),
        TimeGrain::PartOfDay => text!("by part of the day"),
    }
}
