//! Figures made of others: shares, running and rolling sums, averages per day, week or month.

use chrono::NaiveDate;
use contract::{
    metric_query::{CalendarUnit, DataType, MeasureUse, TimeGrain},
    result::ValueFormat,
    text,
};

use super::{
    builder::Builder,
    currency::currencies_of,
    figures::{Figure, FigureUnit},
    formulas::{BaseKind, Formula, Merge},
    groups::grain_name,
    model::{DimFrom, Side},
    times::{end_of, interval, unit_of},
};
use crate::{
    Problem, SourceModel,
    calendar::{Calendar, days_later},
    dialect::Exact,
    resolve::parts_of_span,
};

impl Builder<'_> {
    pub fn decorate(
        &mut self,
        plain: Figure,
        used: &MeasureUse,
        side: Side,
    ) -> Result<Figure, Problem> {
        if !used.share_of.is_empty() {
            return self.share(plain, used);
        }
        if used.running {
            let window = self.time_window("ROWS UNBOUNDED PRECEDING")?;
            let formula = self.windowed(&plain.formula, &window, &plain.name, true)?;
            return Ok(Figure { formula, ..plain });
        }
        if let Some(span) = used.rolling {
            let (unit, count) = parts_of_span(span);
            self.check_rolling(unit)?;
            let frame = format!(
                "RANGE BETWEEN INTERVAL '{}' PRECEDING AND CURRENT ROW",
                interval(unit, count - 1)
            );
            let window = self.time_window(&frame)?;
            let formula = self.windowed(&plain.formula, &window, &plain.name, true)?;
            return Ok(Figure { formula, ..plain });
        }
        match used.per {
            Some(per) => self.average_per(plain, per, side, self.source_of(used)?),
            None => Ok(plain),
        }
    }

    fn check_rolling(&self, unit: CalendarUnit) -> Result<(), Problem> {
        let grain = self.time_dim().map(|(_, grain)| grain);
        if grain.and_then(unit_of) == Some(unit) {
            return Ok(());
        }
        Err(Problem::new(text!(
            "A rolling window needs the same unit of time in \"by\", such as {example} for days.",
            example = "{\"time\": \"day\"}"
        )))
    }

    /// Returns the window over earlier times of the same other dimensions.
    fn time_window(&self, frame: &str) -> Result<String, Problem> {
        let Some((time, grain)) = self.time_dim() else {
            return Err(Problem::new(text!(
                "Running and rolling totals need a time in \"by\", such as {example}.",
                example = "{\"time\": \"day\"}"
            )));
        };
        if unit_of(grain).is_none() && grain != TimeGrain::Hour {
            return Err(Problem::new(text!(
                "Times of {grain} do not follow each other, so nothing can be added up over them.",
                grain = grain_name(grain)
            )));
        }
        let time = time.alias.clone();
        let others: Vec<String> =
            self.dims.iter().map(|dim| dim.alias.clone()).filter(|alias| *alias != time).collect();
        let partition = if others.is_empty() {
            String::new()
        } else {
            format!("PARTITION BY {} ", others.join(", "))
        };
        Ok(format!("{partition}ORDER BY {time} NULLS LAST {frame}"))
    }

    /// Returns a formula in which each base figure is its sum over a window.
    pub fn windowed(
        &mut self,
        formula: &Formula,
        window: &str,
        name: &str,
        is_over_time: bool,
    ) -> Result<Formula, Problem> {
        Ok(match formula {
            Formula::Base(number) => {
                let base = &self.bases[*number];
                let is_possible = match base.merge {
                    Merge::Sum => true,
                    Merge::SumWithinTime => !is_over_time,
                    Merge::Again => false,
                };
                let BaseKind::Exact(scale) = base.kind else {
                    return Err(cannot_add(name));
                };
                if !is_possible {
                    return Err(cannot_add(name));
                }
                let sum = format!("sum(_b{}) OVER ({window})", number + 1);
                let sql = if scale == 0 {
                    format!("CAST({sum} AS {})", self.dialect.decimal(0))
                } else {
                    sum
                };
                Formula::Sql(Exact { sql: self.window(sql), scale })
            }
            Formula::Sql(_) | Formula::Growth(_, _) | Formula::PartOfChange { .. } => {
                return Err(cannot_add(name));
            }
            Formula::Divide(a, b) => Formula::divide(
                self.windowed(a, window, name, is_over_time)?,
                self.windowed(b, window, name, is_over_time)?,
            ),
            Formula::Plus(parts) => Formula::Plus(
                parts
                    .iter()
                    .map(|part| self.windowed(part, window, name, is_over_time))
                    .collect::<Result<_, _>>()?,
            ),
            Formula::Minus(a, b) => Formula::Minus(
                Box::new(self.windowed(a, window, name, is_over_time)?),
                Box::new(self.windowed(b, window, name, is_over_time)?),
            ),
            Formula::Difference(a, b) => Formula::Difference(
                Box::new(self.windowed(a, window, name, is_over_time)?),
                Box::new(self.windowed(b, window, name, is_over_time)?),
            ),
        })
    }

    /// Adds a sum over other rows. Returns its name.
    fn window(&mut self, sql: String) -> String {
        let place = self.windows.iter().position(|known| *known == sql).unwrap_or_else(|| {
            self.windows.push(sql);
            self.windows.len() - 1
        });
        format!("_w{}", place + 1)
    }

    fn share(&mut self, plain: Figure, used: &MeasureUse) -> Result<Figure, Problem> {
        if !plain.formula.adds_up(&self.bases) {
            return Err(Problem::new(text!(
                "{name} does not add up over groups, so there is no share of it.",
                name = plain.name
            ))
            .hint(text!("Ask for the share of a sum or count.")));
        }
        let mut partition = Vec::new();
        for name in used.share_of.iter().filter(|name| *name != "total") {
            let dim = self.dims.iter().find(|dim| dim.name == *name).ok_or_else(|| {
                Problem::new(text!(
                    "share_of: {name} must be one of the dimensions in \"by\", or total.",
                    name
                ))
            })?;
            partition.push(dim.alias.clone());
            let key = match dim.from {
                DimFrom::Group(group) => {
                    self.dims.iter().find(|other| other.from == DimFrom::Key(group))
                }
                DimFrom::Key(_) | DimFrom::Currency | DimFrom::Rest => None,
            };
            partition.extend(key.map(|key| key.alias.clone()));
        }
        // Amounts of different currencies have no total. Other figures have one.
        let is_amount = !currencies_of(used, self.catalog, self.primary)?.is_empty();
        if let Some(place) = self.currency_place().filter(|_| is_amount) {
            let alias = self.dims[place].alias.clone();
            if !partition.contains(&alias) {
                partition.push(alias);
            }
        }
        let window = if partition.is_empty() {
            String::new()
        } else {
            format!("PARTITION BY {}", partition.join(", "))
        };
        let total = self.windowed(&plain.formula, &window, &plain.name, false)?;
        Ok(Figure {
            formula: Formula::divide(plain.formula, total),
            kind: DataType::Decimal,
            format: ValueFormat::Percent,
            unit: FigureUnit::None,
            ..plain
        })
    }

    /// Divides a figure by the number of days, weeks or months of the period that are over.
    fn average_per(
        &mut self,
        plain: Figure,
        per: CalendarUnit,
        side: Side,
        source: &SourceModel,
    ) -> Result<Figure, Problem> {
        if !plain.formula.adds_up(&self.bases) {
            return Err(Problem::new(text!(
                "{name} does not add up, so there is no average of it per day, week or month.",
                name = plain.name
            ))
            .hint(text!(
                "Ask for it by that time, and with \"then\" for the average of the rows."
            )));
        }
        // A plan has amounts for days to come.
        let today = self.query.as_of.as_ref().filter(|_| source.definitions.spread.is_none());
        let today = today.map(|as_of| as_of.moment.date());
        let bounds = self.bounds(side);
        let first = bounds.first.or(source.covered_days().map(|days| days.first));
        let known = [source.covered_days().map(|days| days.last).or(today), bounds.last];
        let last = match side {
            Side::Now => known.into_iter().flatten().min(),
            Side::Before => bounds.last,
        };
        let (Some(first), Some(last)) = (first, last) else {
            return Err(Problem::new(text!(
                "An average per day needs a period with a first and a last day."
            )));
        };
        let count = match self.time_dim() {
            None => {
                let (calendar, last) = (source.calendar(), last.max(first));
                self.note_parts(calendar, per, first, last);
                format!("{}", calendar.count(per, first, last))
            }
            Some((dim, grain)) => {
                let unit = unit_of(grain).filter(|_| per == CalendarUnit::Day && side == Side::Now);
                let unit = unit.ok_or_else(|| {
                    Problem::new(text!(
                        "Beside times, only an average per day is possible, without a comparison."
                    ))
                })?;
                let (begin, end) = (self.dialect.day(first), self.dialect.day(days_later(last, 1)));
                // Both databases leave out an empty value in `least` and `greatest`.
                format!(
                    "CASE WHEN {time} IS NOT NULL THEN greatest(least({after}, {end}) - greatest({time}, {begin}), 0) END",
                    time = dim.alias,
                    after = end_of(&dim.alias, unit),
                )
            }
        };
        let sql = format!("CAST({count} AS {})", self.dialect.decimal(0));
        let days = Formula::Sql(Exact { sql, scale: 0 });
        Ok(Figure {
            formula: Formula::divide(plain.formula, days),
            kind: DataType::Decimal,
            ..plain
        })
    }
}

impl<'a> Builder<'a> {
    /// Returns the source of a measure, or the first one if its parts come from several.
    fn source_of(&self, used: &MeasureUse) -> Result<&'a SourceModel, Problem> {
        Ok(match self.sources_of(std::slice::from_ref(used))?.as_slice() {
            [one] => &self.catalog.sources[*one],
            _ => self.source(),
        })
    }

    /// Says that a period has parts of units, of which each counts as a whole one.
    fn note_parts(
        &mut self,
        calendar: Calendar,
        per: CalendarUnit,
        first: NaiveDate,
        last: NaiveDate,
    ) {
        let is_whole = calendar.start(per, first) == first && calendar.whole(per, last).1 == last;
        let note = text!(
            "The period has parts of weeks, months or years. Each counts as a whole one in the average."
        );
        if !is_whole && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

fn cannot_add(name: &str) -> Problem {
    Problem::new(text!(
        "{name} does not add up, so there is no running or rolling total of it.",
        name
    ))
    .hint(text!("Sums, counts, and ratios and averages of them can be added up over time."))
}
