//! The figures of a result: measures, their shares, running and rolling sums, averages per day, and
//! comparisons.

use contract::{
    definitions::{Better, Calculation, Measure, Unit},
    manifest::Localised,
    metric_query::{ComparedFigure, DataType, MeasureUse},
    result::ValueFormat,
    text,
};

use super::{
    Purpose,
    builder::Builder,
    formulas::{Base, BaseKind, Formula, Merge},
    measures::Rows,
    model::{PartKey, Side},
};
use crate::{Problem, catalog::column_of_measure, figure_names::name_of_measure, resolve::owner};

/// A figure of the result.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    /// The name.
    pub name: String,
    /// How it is computed.
    pub formula: Formula,
    /// The type.
    pub kind: DataType,
    /// How the values are written.
    pub format: ValueFormat,
    /// The unit.
    pub unit: FigureUnit,
    /// The name for people.
    pub label: Localised<String>,
    /// The purpose.
    pub purpose: Purpose,
    /// The measure.
    pub of: Option<String>,
    /// Which values of the measure are good.
    pub better: Option<Better>,
    /// The place in a comparison.
    pub compared: Option<ComparedFigure>,
}

/// The unit of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FigureUnit {
    /// None.
    None,
    /// The currency of the amounts of a source.
    Currency(usize),
    /// A text.
    Named(String),
}

impl Builder<'_> {
    /// Returns the figures of a measure: its value, and those of a comparison.
    pub fn figures_of(&mut self, used: &MeasureUse) -> Result<Vec<Figure>, Problem> {
        let decorations = usize::from(!used.share_of.is_empty())
            + usize::from(used.running)
            + usize::from(used.rolling.is_some())
            + usize::from(used.per.is_some());
        if decorations > 1 {
            return Err(Problem::new(text!(
                "A measure can have only one of share_of, running, rolling and per."
            )));
        }
        let mut plain = self.figure(used, Side::Now)?;
        if self.query.compare.is_none() {
            return Ok(vec![plain]);
        }
        let mut before = self.figure(used, Side::Before)?;
        let is_period =
            self.query.compare.as_ref().is_some_and(|compare| compare.values.is_empty());
        before.name = format!("{}_{}", plain.name, if is_period { "before" } else { "compared" });
        plain.compared = Some(ComparedFigure::Now);
        before.compared = Some(ComparedFigure::Before);
        if !matches!(plain.kind, DataType::Whole | DataType::Decimal) {
            return Ok(vec![plain, before]);
        }
        let has_data = |source: &usize| {
            !self.is_without_data(*source, Side::Now)
                && !self.is_without_data(*source, Side::Before)
        };
        // A missing value is zero only if there are data.
        let adds_up = plain.formula.adds_up(&self.bases) && self.sources.iter().all(has_data);
        let (now, then) = (Box::new(plain.formula.clone()), Box::new(before.formula.clone()));
        let growth = if plain.formula.is_quotient() {
            Formula::Growth(now.clone(), then.clone())
        } else {
            Formula::divide(change_of(now.clone(), then.clone(), adds_up), before.formula.clone())
        };
        let change = Figure {
            name: format!("{}_change", plain.name),
            formula: change_of(now, then, adds_up),
            compared: Some(ComparedFigure::Change),
            ..plain.clone()
        };
        let growth = Figure {
            name: format!("{}_growth", plain.name),
            formula: growth,
            kind: DataType::Decimal,
            format: ValueFormat::Percent,
            unit: FigureUnit::None,
            compared: Some(ComparedFigure::Growth),
            ..plain.clone()
        };
        plain.purpose = Purpose::Shown;
        Ok(vec![plain, before, change, growth])
    }

    /// Returns one figure of a measure.
    fn figure(&mut self, used: &MeasureUse, side: Side) -> Result<Figure, Problem> {
        let name = name_of_measure(used);
        let (source, measure) = self.definition(used)?;
        let rows = Rows {
            source: self.primary,
            side,
            is_wide: used.rolling.is_some(),
            conditions: used.conditions.clone(),
            currency: None,
            depth: 0,
        };
        let formula = match &used.measure {
            Some(name) => self.measure(name, &rows)?,
            None => self.calculation(&measure.calculation, &rows)?,
        };
        let kind = self.kind_of(&formula);
        let plain = Figure {
            kind,
            format: format_of(&measure, kind),
            unit: unit_of_measure(&measure, source),
            label: measure.title.clone(),
            purpose: Purpose::Shown,
            of: used.measure.clone(),
            better: measure.better,
            compared: None,
            name,
            formula,
        };
        self.decorate(plain, used, side)
    }

    /// Returns the source and the definition of a measure.
    fn definition(&self, used: &MeasureUse) -> Result<(usize, Measure), Problem> {
        match (&used.measure, &used.calculation) {
            (Some(name), _) => {
                let (source, own_name) = owner(name, self.source(), self.catalog)?;
                Ok((self.catalog.place(source.name())?, source.measure(own_name)?))
            }
            (None, Some(own)) => {
                let mut measure = Measure::of(own.clone());
                measure.unit = self.unit_of_parts(own)?;
                Ok((self.primary, measure))
            }
            (None, None) => Err(Problem::new(text!("A measure of the query has no name."))),
        }
    }

    /// Returns the unit of a calculation that has no definition, if it follows from its parts.
    fn unit_of_parts(&self, calculation: &Calculation) -> Result<Option<Unit>, Problem> {
        let unit = |name: &String| -> Result<Option<Unit>, Problem> {
            let (source, own_name) = owner(name, self.source(), self.catalog)?;
            Ok(source.measure(own_name)?.unit)
        };
        match calculation {
            Calculation::Of(name) => unit(name),
            Calculation::Plus(names) => names.first().map_or(Ok(None), unit),
            Calculation::Minus([first, _]) => unit(first),
            Calculation::Ratio([above, below]) => {
                let (above, below) = (unit(above)?, unit(below)?);
                Ok(above.filter(|above| below.as_ref() != Some(above)))
            }
            Calculation::Count(_) | Calculation::Distinct(_) => Ok(None),
            // The unit is that of the column.
            Calculation::Sum(_)
            | Calculation::Average(_)
            | Calculation::Weighted(_)
            | Calculation::Last(_)
            | Calculation::Least(_)
            | Calculation::Greatest(_)
            | Calculation::Median(_)
            | Calculation::Percentile(_)
            | Calculation::Single(_) => {
                let column = column_of_measure(calculation);
                let same = |measure: &&Measure| column_of_measure(&measure.calculation) == column;
                let mut known = self.source().definitions.measures.values().filter(same);
                Ok(known.find_map(|measure| measure.unit.clone()))
            }
        }
    }

    fn kind_of(&self, formula: &Formula) -> DataType {
        match formula {
            Formula::Base(base) => match self.bases[*base].kind {
                BaseKind::Exact(0) => DataType::Whole,
                BaseKind::Exact(_) => DataType::Decimal,
                BaseKind::Day => DataType::Day,
                BaseKind::Moment => DataType::Moment,
            },
            Formula::Divide(_, _) | Formula::Growth(_, _) | Formula::PartOfChange { .. } => {
                DataType::Decimal
            }
            Formula::Sql(exact) => {
                if exact.scale == 0 {
                    DataType::Whole
                } else {
                    DataType::Decimal
                }
            }
            Formula::Plus(parts) => {
                let whole = parts.iter().all(|part| self.kind_of(part) == DataType::Whole);
                if whole { DataType::Whole } else { DataType::Decimal }
            }
            Formula::Minus(a, b) | Formula::Difference(a, b) => {
                let whole = [a, b].iter().all(|part| self.kind_of(part) == DataType::Whole);
                if whole { DataType::Whole } else { DataType::Decimal }
            }
        }
    }

    /// Returns the figures that only notes need: values that do not add up, and rows of each source.
    pub fn hidden_figures(&mut self) -> Vec<Figure> {
        let mut figures = Vec::new();
        for (number, (part, sql, column)) in self.singles.clone().into_iter().enumerate() {
            let name = format!("_several{}", number + 1);
            figures.push(self.counting(part, sql, &name, Purpose::Several(column)));
        }
        if self.sources.len() > 1 {
            for source in self.sources.clone() {
                let name = self.catalog.sources[source].name().to_string();
                let part =
                    self.part(PartKey { source, side: Side::Now, is_wide: false, last: None });
                let sql = format!("CAST(count(*) AS {})", self.dialect.decimal(0));
                figures.push(self.counting(
                    part,
                    sql,
                    &format!("_rows_{name}"),
                    Purpose::RowsOf(name.clone()),
                ));
            }
        }
        figures
    }

    /// Returns a hidden figure that counts rows.
    pub fn counting(&mut self, part: usize, sql: String, name: &str, purpose: Purpose) -> Figure {
        let base = Base {
            part,
            sql,
            kind: BaseKind::Exact(0),
            merge: Merge::Sum,
            is_zero_without_rows: true,
        };
        Figure {
            name: name.to_owned(),
            formula: Formula::Base(self.base(base)),
            kind: DataType::Whole,
            format: ValueFormat::Number,
            unit: FigureUnit::None,
            label: Localised::new(),
            purpose,
            of: None,
            better: None,
            compared: None,
        }
    }
}

/// Returns the change between two figures. A missing one is zero if the figures add up.
fn change_of(now: Box<Formula>, before: Box<Formula>, adds_up: bool) -> Formula {
    if adds_up { Formula::Minus(now, before) } else { Formula::Difference(now, before) }
}

fn format_of(measure: &Measure, kind: DataType) -> ValueFormat {
    match (kind, &measure.unit) {
        (DataType::Day, _) => ValueFormat::Day,
        (DataType::Moment, _) => ValueFormat::Moment,
        (_, Some(Unit::Money)) => ValueFormat::Money,
        (_, Some(Unit::Percent)) => ValueFormat::Percent,
        (_, Some(Unit::Named(_)) | None) => ValueFormat::Number,
    }
}

fn unit_of_measure(measure: &Measure, source: usize) -> FigureUnit {
    match &measure.unit {
        Some(Unit::Money) => FigureUnit::Currency(source),
        Some(Unit::Named(name)) => FigureUnit::Named(name.clone()),
        Some(Unit::Percent) | None => FigureUnit::None,
    }
}
