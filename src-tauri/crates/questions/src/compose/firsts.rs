//! The first or last time in which something holds: "the last day with clicks", "the first month with more
//! than 500 orders".

use contract::metric_query::{Bounds, Condition, Group, Scalar, Test};

use super::{Composer, grouping::order, ranking::name_of};
use crate::meaning::{Meaning, Relative};

impl Composer<'_> {
    /// Reads the first or last time with a figure. Without a bound, the figure is above zero.
    pub(super) fn read_firsts(&mut self) {
        let found = (0..self.len()).find_map(|at| Some((at, self.end_of_time(at)?)));
        let Some((at, is_last)) = found else { return };
        let Some(unit) = self.unit_at(at + 1).filter(|_| self.is_free(at + 1)) else { return };
        let is_lead = |place: &usize| {
            self.means(*place, &Meaning::With) || self.means(*place, &Meaning::When)
        };
        let Some(lead) = Some(at + 2).filter(is_lead) else { return };
        let Some(place) = (lead + 1..self.len()).find(|at| self.measure_at(*at).is_some()) else {
            return;
        };
        let Some(name) = self.measure_at(place).map(str::to_owned) else { return };
        [at, at + 1, lead].into_iter().for_each(|at| self.take(at));
        if self.bounds.is_empty() {
            let above = Some(Scalar::Number(0.into()));
            let test = Test::Bounds(Bounds { above, ..Bounds::default() });
            self.bounds.push((place, Condition::Is { name, test }));
            self.bound_spans.push((at, place));
        }
        let group = self.named_apart(Group::time(super::grain_of(unit)), is_last);
        self.query.order.push(order(name_of(&group), is_last));
        self.query.limit = Some(1);
        self.add_group(at, group);
    }

    /// Returns a time with a name of its own if a column has the name of its unit: an order by "day" would
    /// be one by the column "Day".
    fn named_apart(&self, group: Group, is_last: bool) -> Group {
        let own = name_of(&group);
        let mut columns = self.scan.source.columns.iter();
        let is_column = columns.any(|column| column.name.eq_ignore_ascii_case(&own));
        let name = if is_last { format!("last_{own}") } else { format!("first_{own}") };
        Group { name: is_column.then_some(name), ..group }
    }

    /// Returns whether a free word asks for the last one, or for the first one.
    fn end_of_time(&self, at: usize) -> Option<bool> {
        let found = self.items[at].find(|meaning| match meaning {
            Meaning::Relative(Relative::Previous | Relative::Recent) => Some(true),
            Meaning::First => Some(false),
            _ => None,
        });
        found.filter(|_| self.is_free(at) && self.unit_at(at + 1).is_some())
    }

    /// Reads words such as "when" if the result has times.
    pub(super) fn read_when(&mut self) {
        if self.has_time() {
            self.places(&Meaning::When).into_iter().for_each(|at| self.take(at));
        }
    }
}
