//! Only the first groups by a measure, with the others as one. Which groups these are is found by a
//! query of its own, so that ratios and distinct counts of the others are computed from rows.

use contract::{
    metric_query::{Condition, GroupBy, MeasureUse, MetricQuery},
    result::ColumnRole,
    text,
};

use super::{
    Purpose,
    builder::Builder,
    compile_query,
    currency::CURRENCY,
    groups::{OTHER, name_of_group, reads_others},
    model::{Dim, DimFrom, Ranking},
};
use crate::{
    Problem, SourceModel,
    figure_names::{name_of_measure, names_of_figures},
};

impl Builder<'_> {
    /// Whether a dimension is ranked, so that its values may be `Other`.
    pub fn is_ranked(&self, from: DimFrom) -> bool {
        self.ranking.as_ref().is_some_and(|ranking| {
            ranking.others
                && match from {
                    DimFrom::Group(group) => group == ranking.of,
                    DimFrom::Key(_) | DimFrom::Currency | DimFrom::Rest => false,
                }
        })
    }

    /// Finds the group that is ranked, before the dimensions are planned.
    pub fn plan_ranking(&mut self) -> Result<(), Problem> {
        let Some(top) = &self.query.top else { return Ok(()) };
        let is_time = |group: usize| matches!(self.query.by[group].by, GroupBy::Time(_));
        let named = |name: &String| {
            (0..self.query.by.len()).find(|group| name_of_group(self.query, *group) == *name)
        };
        let missing = |name: &str| {
            Problem::new(text!("{name} of \"top\" must be one of the dimensions in \"by\".", name))
        };
        let per: Vec<usize> = top
            .per
            .iter()
            .map(|name| named(name).ok_or_else(|| missing(name)))
            .collect::<Result<_, _>>()?;
        let of = match &top.of {
            Some(name) => named(name).ok_or_else(|| missing(name))?,
            None => (0..self.query.by.len())
                .rev()
                .find(|group| !per.contains(group) && !is_time(*group))
                .ok_or_else(|| Problem::new(text!("\"top\" needs a dimension in \"by\".")))?,
        };
        let groups: Vec<usize> = per.into_iter().chain([of]).collect();
        self.ranking = Some(Ranking {
            of,
            columns: Vec::new(),
            others: top.others,
            reads_others: reads_others(self.query),
        });
        let inner = self.ranking_query(&groups)?;
        let compiled = compile_query(&inner, self.catalog, self.dialect)?;
        let measure = compiled
            .columns
            .iter()
            .find(|column| column.column.role == ColumnRole::Measure)
            .map(|column| column.column.name.clone())
            .ok_or_else(|| Problem::new(text!("\"top\" needs a measure.")))?;
        let dims: Vec<String> = compiled
            .columns
            .iter()
            .filter(|column| column.column.role != ColumnRole::Measure)
            .map(|column| column.column.name.clone())
            .collect();
        let sql = self.ranking_sql(&compiled.sql, &dims, &measure, &compiled.columns, &inner)?;
        let n = self.query.top.as_ref().map_or(0, |top| top.n);
        self.ctes.push("_ranked", sql);
        self.ctes.push("_top", format!("SELECT * FROM _ranked WHERE _p <= {n}"));
        if self.is_outer {
            let next = u64::from(n) + 1;
            let sql = format!("SELECT count(*) FROM _ranked WHERE _p = {next} AND _q <= {n}");
            self.add_count(sql, Purpose::TopTies);
        }
        if let Some(ranking) = &mut self.ranking {
            ranking.columns = dims;
        }
        Ok(())
    }

    fn ranking_query(&self, groups: &[usize]) -> Result<MetricQuery, Problem> {
        let top = self.query.top.as_ref();
        let by = top.and_then(|top| top.by.as_ref());
        let used = match by {
            None => self.query.measures.first().cloned(),
            Some(name) => Some(self.ranked_measure(name)?),
        };
        let used = used.ok_or_else(|| Problem::new(text!("\"top\" needs a measure.")))?;
        Ok(MetricQuery {
            source: self.query.source.clone(),
            measures: vec![MeasureUse {
                share_of: Vec::new(),
                running: false,
                rolling: None,
                per: None,
                ..used
            }],
            by: groups.iter().map(|group| self.query.by[*group].clone()).collect(),
            conditions: row_conditions(self.query, self.source()),
            period: self.query.period.clone(),
            in_currency: self.query.in_currency.clone(),
            as_of: self.query.as_of.clone(),
            ..MetricQuery::default()
        })
    }

    /// Returns the measure that decides, by its name in the result or its own.
    fn ranked_measure(&self, name: &str) -> Result<MeasureUse, Problem> {
        let asked = self.query.measures.iter().find(|used| name_of_measure(used) == name);
        let is_computed = || names_of_figures(self.query).iter().any(|figure| figure == name);
        match asked {
            Some(used) => Ok(used.clone()),
            None if is_computed() => Err(Problem::new(text!(
                "\"top\" cannot rank by {name}, which is computed from other figures.",
                name
            ))
            .hint(text!("Use \"order\" and \"limit\"."))),
            None => Ok(MeasureUse::named(name)),
        }
    }

    fn ranking_sql(
        &self,
        inner: &str,
        dims: &[String],
        measure: &str,
        columns: &[super::CompiledColumn],
        query: &MetricQuery,
    ) -> Result<String, Problem> {
        let top =
            self.query.top.as_ref().ok_or_else(|| Problem::new(text!("\"top\" is missing.")))?;
        let of = name_of_group(query, query.by.len() - 1);
        let key = columns
            .iter()
            .position(|c| c.purpose == Purpose::Key && c.column.of.as_deref() == Some(&of));
        let is_of = |at: usize| columns[at].column.name == of || Some(at) == key;
        let mut ids = Vec::new();
        let (mut partition, mut order) = (Vec::new(), Vec::new());
        for (at, column) in columns.iter().enumerate() {
            let name = &column.column.name;
            let Some(place) = dims.iter().position(|dim| dim == name) else { continue };
            let written = self.dialect.identifier(name)?;
            ids.push(format!("{written} AS _r{}", place + 1));
            if is_of(at) {
                let text = column.column.kind == contract::metric_query::DataType::Text;
                let collation = if text { self.dialect.binary() } else { "" };
                order.push(format!("{written}{collation} NULLS LAST"));
            } else {
                partition.push(written);
            }
        }
        let partition = if partition.is_empty() {
            String::new()
        } else {
            format!("PARTITION BY {} ", partition.join(", "))
        };
        let direction = if top.lowest { "" } else { " DESC" };
        let measure = self.dialect.identifier(measure)?;
        let by = format!("{partition}ORDER BY {measure}{direction} NULLS LAST");
        Ok(format!(
            "SELECT {}, row_number() OVER ({by}, {}) AS _p, rank() OVER ({by}) AS _q FROM (\n{inner}\n) AS _inner",
            ids.join(", "),
            order.join(", ")
        ))
    }

    /// Returns the join of a part with the first groups.
    pub fn ranking_join(&mut self, part: usize) -> Result<Option<String>, Problem> {
        let Some(ranking) = self.ranking.clone() else { return Ok(None) };
        let mut conditions = Vec::new();
        for (place, column) in ranking.columns.iter().enumerate() {
            let dim = self.dims.iter().find(|dim| dim.name == *column).map(|dim| dim.from);
            // The currency may be one of the groups.
            let currency = self.currency_place().filter(|_| column == CURRENCY);
            let dim = dim.or_else(|| currency.map(|place| self.dims[place].from));
            let from = dim.ok_or_else(|| {
                Problem::new(text!(
                    "{name} of \"top\" must be one of the dimensions in \"by\".",
                    name = column
                ))
            })?;
            // Things of several sources are the same by their keys, not by their names.
            if self.is_named_late(from) {
                continue;
            }
            let value = self.dim_value(part, from)?;
            let own = match from {
                DimFrom::Key(_) if self.sources.len() > 1 => {
                    format!("CAST(_top._r{} AS VARCHAR)", place + 1)
                }
                DimFrom::Group(_) | DimFrom::Key(_) | DimFrom::Currency | DimFrom::Rest => {
                    format!("_top._r{}", place + 1)
                }
            };
            conditions.push(format!("{own} IS NOT DISTINCT FROM {value}"));
        }
        let kind = if ranking.reads_others { "LEFT JOIN" } else { "JOIN" };
        Ok(Some(format!("{kind} _top ON {}", conditions.join(" AND "))))
    }

    /// Returns the condition that a row is one of the first groups, if rows of the others were read.
    pub fn ranked_condition(&self) -> Option<String> {
        let ranking = self.ranking.as_ref()?;
        let rest = self.dims.iter().find(|dim| dim.from == DimFrom::Rest)?;
        (!ranking.others).then(|| format!("NOT {}", rest.alias))
    }

    /// Writes the value of a dimension, in which the groups that are not among the first are one.
    pub fn rank_value(&self, dim: &Dim, value: String) -> String {
        let Some(ranking) = self.ranking.as_ref().filter(|ranking| ranking.others) else {
            return value;
        };
        match dim.from {
            DimFrom::Group(group) if group == ranking.of => {
                format!(
                    "CASE WHEN _top._p IS NULL THEN '{OTHER}' ELSE CAST({value} AS VARCHAR) END"
                )
            }
            DimFrom::Key(group) if group == ranking.of => {
                format!("CASE WHEN _top._p IS NOT NULL THEN {value} END")
            }
            DimFrom::Group(_) | DimFrom::Key(_) | DimFrom::Currency | DimFrom::Rest => value,
        }
    }
}

/// Returns the conditions of a query that concern rows, not figures.
pub(crate) fn row_conditions(query: &MetricQuery, source: &SourceModel) -> Vec<Condition> {
    let is_row = |condition: &&Condition| !is_about_figures(condition, query, source);
    query.conditions.iter().filter(is_row).cloned().collect()
}

/// Whether a condition concerns a figure of the result.
pub(crate) fn is_about_figures(
    condition: &Condition,
    query: &MetricQuery,
    source: &SourceModel,
) -> bool {
    match condition {
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().any(|part| is_about_figures(part, query, source))
        }
        Condition::Not(part) => is_about_figures(part, query, source),
        Condition::Is { name, .. } => {
            source.definitions.measures.contains_key(name) || names_of_figures(query).contains(name)
        }
    }
}

impl Builder<'_> {
    /// Returns the conditions of the query that concern rows.
    pub fn row_conditions(&self) -> Vec<Condition> {
        row_conditions(self.query, self.source())
    }
}
