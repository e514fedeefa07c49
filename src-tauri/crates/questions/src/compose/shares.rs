//! Parts of a total: of each group, of one value, and one measure as a part of another one. The share of a
//! value is a row of its own: the groups of its dimension, of which only those with the value are shown.

use contract::{
    definitions::{Calculation, DimensionKind},
    metric_query::{Bounds, Condition, Group, GroupBy, MeasureUse, Scalar, Test},
};

use super::{Composer, figures::ratio_name, ranking::name_of};
use crate::{items::Atom, meaning::Meaning};

impl Composer<'_> {
    /// Reads the part of a total.
    pub(super) fn read_share(&mut self) {
        for at in self.places(&Meaning::Share) {
            if self.read_part_of(at) {
                continue;
            }
            let Some(place) = self.measure_near(at) else { continue };
            match self.part_meant(at, place) {
                Meant::Values(values) => self.share_of_values(at, place, &values),
                Meant::Groups => self.share_of_groups(at, place),
                Meant::Unclear => {}
            }
        }
    }

    /// Returns the part whose share is asked for. A value behind "from" or "is" is the part, and so is one
    /// before the share: "mobile share of clicks". Without groups, any other value is, if it is the only one.
    fn part_meant(&self, at: usize, measure: usize) -> Meant {
        let values: Vec<usize> = (0..self.len())
            .filter(|place| self.is_free(*place) && self.value_at(*place).is_some())
            .collect();
        let begin = at.max(measure);
        let behind: Vec<usize> = values.iter().copied().filter(|place| *place > begin).collect();
        let certain = behind.iter().copied().find(|place| self.is_led_by_part(*place, begin));
        let before = self.previous(at).filter(|place| values.contains(place));
        if let Some(first) = certain.or(before) {
            return Meant::Values(self.joined_to(first, &values));
        }
        if !self.groups_of_share(None).is_empty() || self.has(&Meaning::Within) {
            return Meant::Groups;
        }
        let between = values.iter().copied().find(|place| *place > at && *place < measure);
        match (behind.first(), between) {
            // "The share of tablet clicks in Norway" may be about tablets or about Norway.
            (Some(_), Some(_)) => Meant::Unclear,
            (first, other) => match first.copied().or(other).or(values.first().copied()) {
                Some(first) => Meant::Values(self.joined_to(first, &values)),
                None => Meant::Groups,
            },
        }
    }

    /// Whether a word such as "from" or "is" is between the figure and a value.
    fn is_led_by_part(&self, value: usize, begin: usize) -> bool {
        let words = (begin + 1..value).rev().take_while(|place| {
            self.is_thin(*place) || self.means(*place, &Meaning::To) || self.is_described(*place)
        });
        words.into_iter().any(|place| {
            [Meaning::From, Meaning::IsIt, Meaning::To]
                .iter()
                .any(|meaning| self.means(place, meaning))
        })
    }

    /// Returns a value with those of its dimension that are joined to it.
    fn joined_to(&self, first: usize, values: &[usize]) -> Vec<usize> {
        let mut found = vec![first];
        while let Some(begin) = found.first().copied()
            && let Some(joiner) = begin.checked_sub(1).filter(|at| self.is_joiner(*at))
            && let Some(before) = self.previous(joiner)
            && values.contains(&before)
            && self.value_at(before) == self.value_at(first)
        {
            found.insert(0, before);
        }
        while let Some(last) = found.last().copied()
            && self.is_joiner(last + 1)
            && let Some(next) = self.next(last + 2)
            && values.contains(&next)
            && self.value_at(next) == self.value_at(first)
        {
            found.push(next);
        }
        found
    }

    /// Returns the names of the groups besides a dimension that the question names.
    fn groups_of_share(&self, own: Option<&str>) -> Vec<String> {
        let mut names: Vec<String> = self.by.iter().map(|(_, group)| name_of(group)).collect();
        for at in (0..self.len()).filter(|at| self.is_free(*at)) {
            let dimension = self.dimension_at(at).filter(|_| !self.is_described(at));
            let time = || self.grain_to_group(at).map(|grain| name_of(&Group::time(grain)));
            names.extend(dimension.map(str::to_owned).or_else(time));
        }
        names.retain(|name| Some(name.as_str()) != own);
        names
    }

    /// Reads the share of some values of a dimension, of the total or of each other group.
    fn share_of_values(&mut self, at: usize, place: usize, values: &[usize]) {
        let Some(name) = self.measure_at(place).map(str::to_owned) else { return };
        let Some((group, condition)) = self.group_of(values) else { return };
        let mut share_of = self.groups_of_share(Some(&name_of(&group)));
        if share_of.is_empty() {
            share_of.push("total".to_owned());
        }
        for value in values {
            let described = [value.checked_sub(1), Some(value + 1)];
            for beside in described.into_iter().flatten() {
                if self.is_described(beside) {
                    self.take(beside);
                }
            }
        }
        for value in values {
            self.take(*value);
        }
        [at, place].into_iter().for_each(|place| self.take(place));
        let part = part_name(&name);
        self.measures.push((place, MeasureUse { share_of, ..MeasureUse::named(&name) }));
        let conditions = vec![condition];
        let used = MeasureUse { name: Some(part.clone()), conditions, ..MeasureUse::named(name) };
        self.measures.push((place, used));
        self.add_group(self.len(), group);
        let above = Some(Scalar::Number(0.into()));
        let test = Test::Bounds(Bounds { above, ..Bounds::default() });
        self.conditions.push((self.len(), Condition::Is { name: part, test }));
    }

    /// Returns the groups that tell some values from all others, and the condition that a row has one of
    /// them. Values of which only a part is named are one group.
    fn group_of(&self, values: &[usize]) -> Option<(Group, Condition)> {
        let name = self.value_at(*values.first()?)?.to_owned();
        let (mut whole, mut parts) = (Vec::new(), Vec::new());
        for value in values {
            match &self.items.get(*value)?.atom {
                Atom::Value { value, is_part: true, .. } => parts.push(value.clone()),
                Atom::Value { value, .. } => whole.push(self.scalar_of(&name, value)),
                Atom::Values { values, .. } => {
                    whole.extend(values.iter().map(|value| self.scalar_of(&name, value)));
                }
                _ => return None,
            }
        }
        match (whole.is_empty(), parts.is_empty()) {
            (false, true) => {
                let test = Test::OneOf(whole);
                Some((Group::dimension(&name), Condition::Is { name, test }))
            }
            (true, false) => {
                let condition = Condition::Is { name, test: Test::Contains(parts) };
                let by = GroupBy::Define(DimensionKind::When(condition.clone()));
                Some((Group { by, name: Some("part".to_owned()) }, condition))
            }
            _ => None,
        }
    }

    /// Reads the share of each group.
    fn share_of_groups(&mut self, at: usize, place: usize) {
        let within = self.places(&Meaning::Within).first().copied();
        let parent = within.and_then(|within| {
            let place = self.next(within + 1)?;
            Some((within, place, self.dimension_at(place)?.to_owned()))
        });
        let has_groups = self.by.iter().any(|(_, group)| matches!(group.by, GroupBy::Dimension(_)))
            || (0..self.len()).any(|at| {
                self.is_free(at) && self.dimension_at(at).is_some() && !self.is_described(at)
            });
        if !has_groups && self.by.is_empty() {
            return;
        }
        self.take(at);
        let share_of = match parent {
            Some((within, place, name)) => {
                self.take(within);
                self.take(place);
                self.add_group(0, Group::dimension(&name));
                vec![name]
            }
            None => vec!["total".to_owned()],
        };
        // "Cost by campaign and its share" asks for both.
        let is_besides = place < at
            && self.previous(at).is_some_and(|before| self.is_joiner(before) && before > place);
        if is_besides && let Some(name) = self.measure_at(place).map(str::to_owned) {
            self.take(place);
            self.measures.push((place, MeasureUse::named(&name)));
            self.measures.push((at, MeasureUse { share_of, ..MeasureUse::named(name) }));
            return;
        }
        self.measure_use(place).share_of = share_of;
    }

    /// Reads one measure as a part of another one: "cost in percent of budget", "what percentage of visits
    /// are returns".
    fn read_part_of(&mut self, at: usize) -> bool {
        let is_open = |place: &usize| self.measure_at(*place).is_some() && self.is_free(*place);
        let Some(whole) = self.next(at + 1).filter(is_open) else { return false };
        let before = self.previous(at).filter(is_open);
        let after = self.next(whole + 1).filter(is_open);
        let Some(part) = before.or(after) else { return false };
        let names = (self.measure_at(part), self.measure_at(whole));
        let (Some(a), Some(b)) = (names.0.map(str::to_owned), names.1.map(str::to_owned)) else {
            return false;
        };
        // "Open tickets as a share of all tickets" is a share of one measure.
        if a == b {
            return false;
        }
        [at, part, whole].into_iter().for_each(|place| self.take(place));
        let name = Some(ratio_name(&a, &b));
        let calculation = Some(Calculation::Ratio([a, b]));
        self.measures.push((part, MeasureUse { calculation, name, ..MeasureUse::default() }));
        true
    }
}

/// The part whose share is asked for.
enum Meant {
    /// Values of a dimension, by their places.
    Values(Vec<usize>),
    /// Each group.
    Groups,
    /// Several values may be meant.
    Unclear,
}

/// Returns the name of the figure that is a part of a measure.
pub(crate) fn part_name(measure: &str) -> String {
    let own = measure.rsplit_once('.').map_or(measure, |(_, own)| own);
    format!("part_of_{own}")
}
