//! Writes the statement of a query for figures, step by step.

use contract::{
    metric_query::{Condition, GroupBy, MeasureUse, MetricQuery},
    text,
};

use super::{
    Compiled, CompiledColumn, Purpose,
    builder::{Builder, new_builder},
    conditions::join_conditions,
    currency::Currencies,
    figures::Figure,
    formulas::{BaseKind, Formula},
    groups::{OTHER, check_names},
    model::{Dim, DimFrom, PartKey, Side},
    steps::{self, FirstStep},
    times::unit_of,
    top::is_about_figures,
    totals::check_totals,
};
use crate::{
    Catalog, Dialect, Problem,
    dialect::Exact,
    figure_names::name_of_measure,
    resolve::{DayBounds, first_of_windows, owner, parts_of},
};

/// Compiles a query for figures.
pub(super) fn compile_figures(
    query: &MetricQuery,
    catalog: &Catalog,
    dialect: Dialect,
    is_outer: bool,
) -> Result<Compiled, Problem> {
    check_totals(query)?;
    let mut builder = new_builder(query, catalog, dialect)?;
    builder.is_outer = is_outer;
    let figures = builder.plan()?;
    builder.write(figures)
}

impl Builder<'_> {
    /// Finds dimensions and figures.
    pub fn plan(&mut self) -> Result<Vec<Figure>, Problem> {
        let measures = self.all_measures();
        self.sources = self.sources_of(&measures)?;
        self.currencies = Currencies::find(self.query, self.catalog, self.primary, &measures)?;
        self.wide_from = first_of_windows(self.query, self.source().calendar());
        self.ctes.days = self.all_days();
        self.plan_ranking()?;
        self.plan_dims()?;
        let mut figures = Vec::new();
        for used in &measures {
            let is_asked = self.query.measures.contains(used);
            let mut found = self.figures_of(used)?;
            if !is_asked {
                found.truncate(1);
                found.iter_mut().for_each(|figure| figure.purpose = Purpose::Hidden);
            }
            figures.extend(found);
        }
        figures.extend(self.hidden_figures());
        if !self.parts.iter().enumerate().any(|(part, _)| self.is_used(part)) {
            self.part(PartKey {
                source: self.primary,
                side: Side::Now,
                is_wide: false,
                last: None,
            });
        }
        let names = self.dims.iter().map(|dim| dim.name.as_str());
        check_names(names.chain(figures.iter().map(|figure| figure.name.as_str())))?;
        Ok(figures)
    }

    /// Returns the measures of the query, and those that only its conditions and its order need.
    fn all_measures(&self) -> Vec<MeasureUse> {
        let mut measures = self.query.measures.clone();
        let mut names = Vec::new();
        for condition in &self.query.conditions {
            if is_about_figures(condition, self.query, self.source()) {
                names_in(condition, &mut names);
            }
        }
        names.extend(self.query.order.iter().map(|order| order.by.clone()));
        for name in names {
            let is_known = measures.iter().any(|used| name_of_measure(used) == name);
            if !is_known && self.source().definitions.measures.contains_key(&name) {
                measures.push(MeasureUse::named(name));
            }
        }
        measures
    }

    /// Returns the sources that measures come from, the first one first.
    pub fn sources_of(&self, measures: &[MeasureUse]) -> Result<Vec<usize>, Problem> {
        let mut sources = Vec::new();
        let mut names: Vec<(usize, String)> = Vec::new();
        for used in measures {
            match (&used.measure, &used.calculation) {
                (Some(name), _) => names.push((self.primary, name.clone())),
                (None, Some(own)) if parts_of(own).is_empty() => sources.push(self.primary),
                (None, Some(own)) => {
                    names.extend(
                        parts_of(own).iter().map(|name| (self.primary, (*name).to_owned())),
                    );
                }
                (None, None) => {}
            }
        }
        let mut steps = 0;
        while let Some((from, name)) = names.pop() {
            steps += 1;
            if steps > 1000 {
                return Err(Problem::new(text!("The measure {name} is defined by itself.", name)));
            }
            let (model, own_name) = owner(&name, &self.catalog.sources[from], self.catalog)?;
            let place = self.catalog.place(model.name())?;
            let measure = model.measure(own_name)?;
            let parts = parts_of(&measure.calculation);
            if parts.is_empty() {
                sources.push(place);
            }
            names.extend(parts.iter().map(|part| (place, (*part).to_owned())));
        }
        if sources.is_empty() {
            sources.push(self.primary);
        }
        sources.sort_unstable_by_key(|source| (*source != self.primary, *source));
        sources.dedup();
        Ok(sources)
    }

    /// Returns the days of all rows that the statement reads.
    fn all_days(&self) -> DayBounds {
        let now = self.bounds(Side::Now);
        let mut days = DayBounds { first: self.wide_from.or(now.first), last: now.last };
        if self.query.compare.as_ref().is_some_and(|compare| compare.period.is_some()) {
            let before = self.bounds(Side::Before);
            let wide = now.first.zip(self.wide_from).map(|(first, wide)| first - wide);
            let first = before.first.map(|first| first - wide.unwrap_or(chrono::TimeDelta::zero()));
            days.first = days.first.zip(first).map(|(a, b)| a.min(b));
            days.last = days.last.zip(before.last).map(|(a, b)| a.max(b));
        }
        days
    }

    fn is_used(&self, part: usize) -> bool {
        let is_needed = self.parts[part].is_needed && !self.dims.is_empty();
        is_needed || self.bases.iter().any(|base| base.part == part)
    }

    /// Writes the statement.
    pub fn write(mut self, figures: Vec<Figure>) -> Result<Compiled, Problem> {
        let mut step = self.write_parts()?;
        step = self.write_names(&step)?;
        if self.query.fill {
            step = self.write_filled(&step)?;
        }
        if !self.windows.is_empty() {
            let windows = self.windows.iter().enumerate();
            let windows: Vec<String> =
                windows.map(|(at, sql)| format!("{sql} AS _w{}", at + 1)).collect();
            let sql = format!("SELECT *, {}\nFROM {step}", windows.join(", "));
            step = self.ctes.push("_windows", sql);
        }
        let (step, scales) = self.write_figures(&step, &figures)?;
        self.add_counts()?;
        let columns = self.columns(&figures, &scales)?;
        let mut conditions = self.figure_conditions(&figures)?;
        conditions.extend(self.matched_conditions()?);
        conditions.extend(self.ranked_condition());
        let filter =
            join_conditions(conditions).map_or_else(String::new, |c| format!("\nWHERE {c}"));
        if let Some(then) = &self.query.then {
            let rows = format!("{step}{filter}");
            let first =
                FirstStep { rows: &rows, columns: &columns, currency: self.currency_name() };
            let (sql, then_columns) = steps::write_second_step(then, &first, self.dialect)?;
            self.count_for_notes(&first)?;
            let step = self.ctes.push("_steps", sql);
            return self.finish(&step, "", then_columns);
        }
        self.finish(&step, &filter, columns)
    }

    fn finish(
        mut self,
        step: &str,
        filter: &str,
        mut columns: Vec<CompiledColumn>,
    ) -> Result<Compiled, Problem> {
        let (asked, order) = self.order(&columns)?;
        let mut select: Vec<String> = columns
            .iter()
            .map(|column| self.dialect.identifier(&column.column.name))
            .collect::<Result<_, _>>()?;
        // If values become columns, the limit counts the rows that are left then.
        let limit = self.query.limit.filter(|_| self.query.pivot.is_none());
        if limit.is_some() {
            select.push("count(*) OVER () AS _all".to_owned());
            columns.push(steps::hidden_column("_all", Purpose::AllRows));
            if !asked.is_empty() {
                select.push(format!("count(*) OVER (ORDER BY {}) AS _place", asked.join(", ")));
                columns.push(steps::hidden_column("_place", Purpose::LastPlace));
            }
        }
        for count in &self.counts {
            select.push(format!("({}) AS {}", count.sql, count.name));
            columns.push(steps::hidden_column(&count.name, count.purpose.clone()));
        }
        let order = if order.is_empty() {
            String::new()
        } else {
            format!("\nORDER BY {}", order.join(", "))
        };
        let limit = limit.map_or_else(String::new, |limit| format!("\nLIMIT {limit}"));
        let mut select = format!("SELECT {}\nFROM {step}{filter}{order}{limit}", select.join(", "));
        if self.query.totals && self.is_outer {
            select = self.with_totals(&select, &order, &mut columns)?;
        }
        let notes = std::mem::take(&mut self.notes);
        Ok(Compiled { sql: self.ctes.write(&select), columns, notes, limit: None, pivot: None })
    }

    /// Returns the name of the dimension that has the currencies.
    fn currency_name(&self) -> Option<String> {
        self.currency_place().map(|place| self.dims[place].name.clone())
    }

    /// Adds the counts for notes about the rows of a first step, which are not listed.
    fn count_for_notes(&mut self, first: &FirstStep<'_>) -> Result<(), Problem> {
        if !self.is_outer {
            return Ok(());
        }
        for column in first.columns {
            let name = self.dialect.identifier(&column.column.name)?;
            let (count, purpose) = match &column.purpose {
                Purpose::RowsOf(source) => {
                    let missing = format!("count(*) FILTER (WHERE {name} = 0)");
                    (missing, Purpose::RowsWithout(source.clone()))
                }
                several @ Purpose::Several(_) => {
                    (format!("coalesce(max({name}), 0)"), several.clone())
                }
                _ => continue,
            };
            self.add_count(format!("SELECT {count} FROM {}", first.rows), purpose);
        }
        Ok(())
    }

    /// Writes the parts, and puts them side by side if there are several.
    pub fn write_parts(&mut self) -> Result<String, Problem> {
        let used: Vec<usize> = (0..self.parts.len()).filter(|part| self.is_used(*part)).collect();
        let used = if used.is_empty() { vec![0] } else { used };
        let mut names = Vec::new();
        for part in &used {
            let sql = self.write_part(*part)?;
            names.push((*part, self.ctes.push(&format!("_part{}", names.len() + 1), sql)));
        }
        if let [(_, one)] = names.as_slice() {
            return Ok(one.clone());
        }
        let dims: Vec<String> = self
            .dims
            .iter()
            .filter(|dim| !self.is_named_late(dim.from))
            .map(|dim| dim.alias.clone())
            .collect();
        let mut stacked = Vec::new();
        for (part, name) in &names {
            let mut columns = dims.clone();
            for (number, base) in self.bases.iter().enumerate() {
                let own = format!("_b{}", number + 1);
                columns.push(if base.part == *part {
                    own
                } else {
                    format!("CAST(NULL AS {}) AS {own}", self.sql_type(base.kind))
                });
            }
            stacked.push(format!("SELECT {} FROM {name}", columns.join(", ")));
        }
        let bases = (1..=self.bases.len()).map(|number| format!("max(_b{number}) AS _b{number}"));
        let columns: Vec<String> = dims.iter().cloned().chain(bases).collect();
        let sql = format!(
            "SELECT {}\nFROM (\n{}\n) AS _stacked{}",
            columns.join(", "),
            stacked.join("\nUNION ALL\n"),
            super::parts::group_by(dims.len())
        );
        Ok(self.ctes.push("_all_parts", sql))
    }

    fn sql_type(&self, kind: BaseKind) -> String {
        match kind {
            BaseKind::Exact(scale) => self.dialect.decimal(scale),
            BaseKind::Day => "DATE".to_owned(),
            BaseKind::Moment => "TIMESTAMP".to_owned(),
        }
    }

    /// Adds the latest names of keys that several sources share.
    pub fn write_names(&mut self, step: &str) -> Result<String, Problem> {
        let late: Vec<Dim> =
            self.dims.iter().filter(|dim| self.is_named_late(dim.from)).cloned().collect();
        if late.is_empty() {
            return Ok(step.to_owned());
        }
        let (mut columns, mut joins) = (Vec::new(), Vec::new());
        for dim in &late {
            let DimFrom::Group(group) = dim.from else { continue };
            let GroupBy::Dimension(name) = &self.query.by[group].by else { continue };
            let key = self.dims.iter().find(|other| other.from == DimFrom::Key(group));
            let key = key.map(|key| key.alias.clone()).unwrap_or_default();
            let names = self.latest_names(name)?;
            let name = format!("coalesce({names}._n, {step}.{key})");
            columns.push(if self.is_ranked(dim.from) {
                format!(
                    "CASE WHEN {step}.\"_rest\" THEN '{OTHER}' ELSE {name} END AS {}",
                    dim.alias
                )
            } else {
                format!("{name} AS {}", dim.alias)
            });
            joins.push(format!("LEFT JOIN {names} ON CAST({names}._k AS VARCHAR) = {step}.{key}"));
        }
        let sql =
            format!("SELECT {}, {step}.*\nFROM {step}\n{}", columns.join(", "), joins.join("\n"));
        Ok(self.ctes.push("_named", sql))
    }

    /// Adds the step with the latest names of a dimension of the first source.
    fn latest_names(&mut self, name: &str) -> Result<String, Problem> {
        let source = self.source();
        let dimension = source.dimension(name)?;
        let mut joins = Vec::new();
        let mut scope = super::row_scope::RowScope {
            dialect: self.dialect,
            catalog: self.catalog,
            source,
            primary: source,
            ctes: &mut self.ctes,
            joins: &mut joins,
        };
        scope.dimension_value(&dimension)?;
        let join = joins.first().and_then(|join| join.strip_prefix("LEFT JOIN "));
        let step = join.and_then(|join| join.split(' ').next());
        step.map(str::to_owned)
            .ok_or_else(|| Problem::new(text!("{name} has no names for its keys.", name)))
    }

    fn base_value(&self, number: usize) -> Exact {
        let scale = match self.bases[number].kind {
            BaseKind::Exact(scale) => scale,
            BaseKind::Day | BaseKind::Moment => 0,
        };
        Exact { sql: format!("_b{}", number + 1), scale }
    }

    /// Returns a base figure that something is computed from.
    pub fn number_value(&self, number: usize, name: &str) -> Result<Exact, Problem> {
        match self.bases[number].kind {
            BaseKind::Exact(_) => Ok(self.base_value(number)),
            BaseKind::Day | BaseKind::Moment => Err(Problem::new(text!(
                "{name} is a day, so nothing can be computed from it.",
                name
            ))),
        }
    }

    fn write_figures(
        &mut self,
        step: &str,
        figures: &[Figure],
    ) -> Result<(String, Vec<u8>), Problem> {
        let mut scales = Vec::new();
        let mut columns: Vec<String> = self.dims.iter().map(|dim| dim.alias.clone()).collect();
        for figure in figures {
            let exact = match &figure.formula {
                // Days and moments are only shown.
                Formula::Base(number) => self.base_value(*number),
                formula => formula
                    .write(self.dialect, &|number| self.number_value(number, &figure.name))?,
            };
            scales.push(exact.scale);
            columns.push(format!("{} AS {}", exact.sql, self.dialect.identifier(&figure.name)?));
        }
        let mut filter = String::new();
        if self.wide_from.is_some()
            && let Some((time, grain)) = self.time_dim()
            && let Some(first) = self.bounds(Side::Now).first
        {
            let calendar = self.source().calendar();
            let start = unit_of(grain).map_or(first, |unit| calendar.start(unit, first));
            filter = format!("\nWHERE {} >= {}", time.alias, self.dialect.day(start));
        }
        let sql = format!("SELECT {}\nFROM {step}{filter}", columns.join(", "));
        Ok((self.ctes.push("_figures", sql), scales))
    }

    /// Returns the order that was asked for, and the whole order with all dimensions at its end.
    fn order(&self, columns: &[CompiledColumn]) -> Result<(Vec<String>, Vec<String>), Problem> {
        steps::write_order(self.query, columns, self.source(), self.dialect)
    }
}

/// Collects the names in a condition.
pub(super) fn names_in(condition: &Condition, names: &mut Vec<String>) {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().for_each(|part| names_in(part, names));
        }
        Condition::Not(part) => names_in(part, names),
        Condition::Is { name, .. } => names.push(name.clone()),
    }
}
