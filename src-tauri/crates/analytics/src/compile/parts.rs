//! The parts of a statement. Each adds up the rows of one source in one period.

use contract::{metric_query::Condition, text};

use super::{
    builder::Builder,
    conditions::join_conditions,
    formulas::Base,
    model::{LastRows, PartKey, Side},
    pace_scope::PaceScope,
};
use crate::Problem;

impl Builder<'_> {
    /// Writes the SELECT of a part.
    pub fn write_part(&mut self, part: usize) -> Result<String, Problem> {
        let key = self.parts[part].key.clone();
        let mut conditions = Vec::new();
        conditions.extend(self.period_condition(part, &key)?);
        for condition in self.row_conditions() {
            conditions.push(self.scope(part).condition(&condition)?);
        }
        conditions.extend(self.side_condition(part, key.side)?);
        let dims = self.write_dims(part)?;
        let ranking = self.ranking_join(part)?;
        let own: Vec<(usize, Base)> =
            self.bases.iter().cloned().enumerate().filter(|(_, base)| base.part == part).collect();
        self.ask_pacing(&key)?;
        let table = self.scope(part).rows()?;
        let mut from = vec![table];
        from.extend(self.parts[part].joins.clone());
        from.extend(ranking);
        let from = from.join("\n");
        let group = group_by(dims.len());
        let mut columns = dims.clone();
        for (number, base) in &own {
            columns.push(format!("{} AS _b{}", base.sql, number + 1));
        }
        if let Some(last) = &key.last {
            conditions.extend(last.condition.clone());
            conditions.push(format!("{} IS NOT NULL", last.value));
            let filter = join_conditions(conditions).unwrap_or_else(|| "TRUE".to_owned());
            return self.write_last(part, last, &dims, &own, &from, &filter);
        }
        let filter =
            join_conditions(conditions).map_or_else(String::new, |c| format!("\nWHERE {c}"));
        Ok(format!("SELECT {}\nFROM {from}{filter}{group}", columns.join(", ")))
    }

    fn write_last(
        &mut self,
        part: usize,
        last: &LastRows,
        dims: &[String],
        own: &[(usize, Base)],
        from: &str,
        filter: &str,
    ) -> Result<String, Problem> {
        let names: Vec<String> = self.dims.iter().map(|dim| dim.alias.clone()).collect();
        let values: Vec<String> = dims
            .iter()
            .map(|dim| dim.rsplit_once(" AS ").map_or(dim.clone(), |(v, _)| v.to_owned()))
            .collect();
        let source = self.parts[part].key.source;
        let time = self.catalog.sources[source].time_column()?;
        let time = self.dialect.identifier(&time.name)?;
        let partition: Vec<String> = values.iter().chain(&last.keys).cloned().collect();
        let partition = if partition.is_empty() {
            String::new()
        } else {
            format!("PARTITION BY {} ", partition.join(", "))
        };
        let mut columns = dims.to_vec();
        columns.push(format!("{} AS _v", last.value));
        columns.push(format!(
            "row_number() OVER ({partition}ORDER BY {time} DESC NULLS LAST, {} DESC) AS _l",
            last.value
        ));
        let sums = own.iter().map(|(number, base)| format!("{} AS _b{}", base.sql, number + 1));
        let outer: Vec<String> = names.into_iter().chain(sums).collect();
        Ok(format!(
            "SELECT {}\nFROM (\nSELECT {}\nFROM {from}\nWHERE {filter}\n) AS _last\nWHERE _l = 1{}",
            outer.join(", "),
            columns.join(", "),
            group_by(dims.len())
        ))
    }

    /// Says which days of a computed source a part asks about.
    fn ask_pacing(&mut self, key: &PartKey) -> Result<(), Problem> {
        let source = &self.catalog.sources[key.source];
        let window = self.bounds(key.side);
        self.ctes.pacing = PaceScope::of_query(self.query, source, window)?;
        Ok(())
    }

    fn period_condition(&mut self, part: usize, key: &PartKey) -> Result<Option<String>, Problem> {
        let mut bounds = self.bounds(key.side);
        if key.is_wide
            && let (Some(first), Some(wide)) = (bounds.first, self.wide_from)
        {
            let now = self.bounds(Side::Now).first.unwrap_or(first);
            bounds.first = Some(first - (now - wide));
        }
        self.scope(part).in_period(bounds)
    }

    /// Returns the condition of a side when two values are compared.
    fn side_condition(&mut self, part: usize, side: Side) -> Result<Option<String>, Problem> {
        let Some(compare) = &self.query.compare else { return Ok(None) };
        let Some((name, values)) = compare.values.iter().next() else { return Ok(None) };
        let place = usize::from(side == Side::Before);
        let value = values.get(place).cloned().ok_or_else(|| {
            Problem::new(text!("A comparison of values needs two values of {name}.", name))
        })?;
        let name = self.source().find_dimension(name).unwrap_or(name).to_owned();
        let test = contract::metric_query::Test::OneOf(vec![value]);
        self.scope(part).condition(&Condition::Is { name, test }).map(Some)
    }
}

/// Writes the grouping by the first columns.
pub(crate) fn group_by(count: usize) -> String {
    if count == 0 {
        return String::new();
    }
    let numbers: Vec<String> = (1..=count).map(|number| number.to_string()).collect();
    format!("\nGROUP BY {}", numbers.join(", "))
}
