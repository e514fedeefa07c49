//! Counts that only notes need: rows that an answer cuts, rows without a partner in a source that
//! dimensions come from, and rows without a rate of their currency.

use contract::{
    definitions::{Covers, DimensionKind, Lookup},
    metric_query::{Condition, TimeGrain},
    sources::ColumnKind,
};

use super::{
    Purpose,
    builder::{Builder, Count},
    conditions::join_conditions,
    model::Side,
    row_scope::RowScope,
    times::{bucket_of, unit_of},
};
use crate::{
    Problem, SourceModel,
    resolve::{DayBounds, lookups_of},
};

impl Builder<'_> {
    /// Adds all counts of the query.
    pub fn add_counts(&mut self) -> Result<(), Problem> {
        if !self.is_outer {
            return Ok(());
        }
        for source in self.sources.clone() {
            self.count_without_budget(source)?;
            if let Some(sql) = self.cut_rows(source)? {
                let name = self.catalog.sources[source].name().to_string();
                self.add_count(sql, Purpose::CutRows(name));
            }
        }
        let mut known: Vec<Lookup> = Vec::new();
        for (owner, lookup) in lookups_of(self.query, self.catalog)? {
            if owner.name() != self.source().name() || known.contains(&lookup) {
                continue;
            }
            let source = lookup.source.to_string();
            if !known.iter().any(|other| other.source == lookup.source) {
                let sql = self.lookup_rows(&lookup, "_k1 IS NULL")?;
                self.add_count(sql, Purpose::WithoutPartner(source.clone()));
            }
            let sql = self.lookup_rows(&lookup, "_a")?;
            self.add_count(sql, Purpose::Ambiguous(source));
            known.push(lookup);
        }
        self.add_rate_counts()
    }

    /// Returns the days of each side, with those that windows reach.
    pub fn sides(&self) -> Vec<DayBounds> {
        let now = self.bounds(Side::Now);
        let mut sides = vec![DayBounds { first: self.wide_from.or(now.first), ..now }];
        if self.query.compare.as_ref().is_some_and(|compare| compare.period.is_some()) {
            sides.push(self.bounds(Side::Before));
        }
        sides
    }

    /// Adds a count under a name that no other one has.
    pub fn add_count(&mut self, sql: String, purpose: Purpose) {
        let name = format!("_count{}", self.counts.len() + 1);
        self.counts.push(Count { name, sql, purpose });
    }

    /// Returns the query that counts rows of a source that cover more than a day and of which only a
    /// part lies in the period or in one of its times. None if no row can be cut.
    fn cut_rows(&mut self, source: usize) -> Result<Option<String>, Problem> {
        let model = &self.catalog.sources[source];
        let Some(covers) = model.definitions.time.as_ref().and_then(|time| time.covers.clone())
        else {
            return Ok(None);
        };
        let grain = self.time_dim().map(|(_, grain)| grain);
        let sides = self.sides();
        let (first, last) = span_of_row(model, &covers, self.dialect)?;
        let cuts = sides.into_iter().filter_map(|bounds| {
            let cut = self.cut_condition(model, bounds, grain, &first, &last);
            cut.map(|cut| join_conditions(vec![self.overlap(bounds, &first, &last), cut]))
        });
        let cuts: Vec<String> = cuts.flatten().collect();
        if cuts.is_empty() {
            return Ok(None);
        }
        let mut joins = Vec::new();
        let mut conditions = vec![format!("{last} > {first}"), format!("({})", cuts.join(" OR "))];
        let all = self.row_conditions();
        let mut scope = self.rows_of(model, &mut joins);
        conditions.extend(scope.conditions(&all)?);
        let table = scope.rows()?;
        Ok(Some(count_query(&table, &joins, conditions)))
    }

    /// Returns the condition that a row lies in a period at least in part.
    fn overlap(&self, bounds: DayBounds, first: &str, last: &str) -> String {
        let mut parts = Vec::new();
        parts.extend(bounds.last.map(|day| format!("{first} <= {}", self.dialect.day(day))));
        parts.extend(bounds.first.map(|day| format!("{last} >= {}", self.dialect.day(day))));
        join_conditions(parts).unwrap_or_else(|| "TRUE".to_owned())
    }

    /// Returns the condition that a row is cut by the ends of a period, or by its times.
    fn cut_condition(
        &self,
        model: &SourceModel,
        bounds: DayBounds,
        grain: Option<TimeGrain>,
        first: &str,
        last: &str,
    ) -> Option<String> {
        let mut parts = Vec::new();
        parts.extend(bounds.first.map(|day| format!("{first} < {}", self.dialect.day(day))));
        parts.extend(bounds.last.map(|day| format!("{last} > {}", self.dialect.day(day))));
        parts.extend(grain.map(|grain| match (unit_of(grain), grain) {
            (Some(unit), _) => {
                let bucket = |day: &str| bucket_of(day, unit, model.calendar());
                format!("{} <> {}", bucket(first), bucket(last))
            }
            (None, TimeGrain::MonthOfYear) => {
                let month = contract::metric_query::CalendarUnit::Month;
                let bucket = |day: &str| bucket_of(day, month, model.calendar());
                format!("{} <> {}", bucket(first), bucket(last))
            }
            (None, _) => "TRUE".to_owned(),
        }));
        (!parts.is_empty()).then(|| format!("({})", parts.join(" OR ")))
    }

    fn lookup_of(&self, name: &str) -> Option<Lookup> {
        match self.source().dimension(name).ok()?.kind {
            DimensionKind::Lookup(lookup) => Some(lookup),
            _ => None,
        }
    }

    /// Returns the query that counts rows of the period by what a join found. Conditions on the other
    /// source are left out, because rows without a partner fulfil none.
    fn lookup_rows(&mut self, lookup: &Lookup, found: &str) -> Result<String, Problem> {
        let kept: Vec<Condition> = self
            .row_conditions()
            .into_iter()
            .filter(|condition| {
                let mut names = Vec::new();
                super::statement::names_in(condition, &mut names);
                names.iter().all(|name| self.lookup_of(name).is_none())
            })
            .collect();
        let bounds = self.bounds(Side::Now);
        let source = self.source();
        let mut joins = Vec::new();
        let mut scope = self.rows_of(source, &mut joins);
        let mut conditions: Vec<String> = scope.in_period(bounds)?.into_iter().collect();
        conditions.extend(scope.conditions(&kept)?);
        let (step, _) = scope.lookup_step(lookup)?;
        conditions.push(format!("{step}.{found}"));
        let table = scope.rows()?;
        // Rows without a partner are counted, even if the answer leaves them out.
        for join in &mut joins {
            if let Some(rest) = join.strip_prefix(&format!("JOIN {step} ")) {
                *join = format!("LEFT JOIN {step} {rest}");
            }
        }
        Ok(count_query(&table, &joins, conditions))
    }

    /// Returns the rows of a source.
    pub fn rows_of<'r>(
        &'r mut self,
        source: &'r SourceModel,
        joins: &'r mut Vec<String>,
    ) -> RowScope<'r> {
        RowScope {
            dialect: self.dialect,
            catalog: self.catalog,
            source,
            primary: &self.catalog.sources[self.primary],
            ctes: &mut self.ctes,
            joins,
        }
    }
}

/// Writes the query that counts rows.
pub(super) fn count_query(table: &str, joins: &[String], conditions: Vec<String>) -> String {
    let joins: String = joins.iter().map(|join| format!(" {join}")).collect();
    let filter = join_conditions(conditions).unwrap_or_else(|| "TRUE".to_owned());
    format!("SELECT count(*) FROM {table}{joins} WHERE {filter}")
}

/// Returns the first and the last day of a row.
fn span_of_row(
    model: &SourceModel,
    covers: &Covers,
    dialect: crate::Dialect,
) -> Result<(String, String), Problem> {
    let day = |name: &str| -> Result<String, Problem> {
        let column = model.column(name)?;
        let sql = dialect.identifier(name)?;
        let is_moment = column.kind == ColumnKind::Moment;
        Ok(if is_moment { format!("CAST({sql} AS DATE)") } else { sql })
    };
    let own = day(&model.time_column()?.name)?;
    let months = |count: u8| format!("(CAST({own} + INTERVAL '{count} months' AS DATE) - 1)");
    Ok(match covers {
        Covers::Week => (own.clone(), format!("({own} + 6)")),
        Covers::WeekEnding => (format!("({own} - 6)"), own),
        Covers::Month => (own.clone(), months(1)),
        Covers::Quarter => (own.clone(), months(3)),
        Covers::Until(column) => {
            let other = format!("coalesce({}, {own})", day(column)?);
            (format!("least({own}, {other})"), format!("greatest({own}, {other})"))
        }
    })
}
