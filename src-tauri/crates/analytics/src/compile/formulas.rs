//! Formulas of figures: exact base figures, added, subtracted and divided. Quotients of quotients are
//! computed from the base figures and rounded once.

use crate::{
    Dialect, Problem,
    dialect::{Exact, RATIO_SCALE, Scaled},
};
use contract::text;

/// A base figure that the database adds up from rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Base {
    /// The place of the part that computes it.
    pub part: usize,
    /// The aggregate in SQL.
    pub sql: String,
    /// The type of the result.
    pub kind: BaseKind,
    /// How the values of several groups become one.
    pub merge: Merge,
    /// Whether no row means zero.
    pub is_zero_without_rows: bool,
}

/// The type of a base figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BaseKind {
    /// An exact decimal with its decimal places.
    Exact(u8),
    /// A day.
    Day,
    /// A point in time.
    Moment,
}

/// How the values of several groups become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Merge {
    /// They are added, over times, too.
    Sum,
    /// They are added within one time.
    SumWithinTime,
    /// They cannot: the value is computed again from rows.
    Again,
}

/// The formula of a figure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Formula {
    /// A base figure by its number.
    Base(usize),
    /// An expression of the statement.
    Sql(Exact),
    /// The first divided by the second.
    Divide(Box<Formula>, Box<Formula>),
    /// The sum. A missing value counts as zero unless all are missing.
    Plus(Vec<Formula>),
    /// The first without the second. A missing value counts as zero unless both are missing.
    Minus(Box<Formula>, Box<Formula>),
    /// The first without the second. It is missing if one of them is.
    Difference(Box<Formula>, Box<Formula>),
    /// How much the first quotient is more than the second one, as a part of the second one.
    Growth(Box<Formula>, Box<Formula>),
    /// The part of a quotient's change that is missing without something.
    PartOfChange {
        /// The quotient.
        now: Box<Formula>,
        /// The formula without that part.
        without: Box<Formula>,
        /// The former formula.
        before: Box<Formula>,
    },
}

/// The decimal places of quotients that are subtracted from each other.
const FINE_SCALE: u8 = 18;

/// Writes a base figure by its number.
type WriteBase<'a> = &'a dyn Fn(usize) -> Result<Exact, Problem>;

/// A factor of a quotient. One from below a line makes the quotient empty if it is zero.
#[derive(Clone, Copy)]
struct Factor<'f> {
    formula: &'f Formula,
    is_from_below: bool,
}

/// The factors of a quotient: those above the line and those below it.
type Factors<'f> = (Vec<Factor<'f>>, Vec<Factor<'f>>);

impl Formula {
    /// Creates a quotient.
    pub fn divide(above: Self, below: Self) -> Self {
        Self::Divide(Box::new(above), Box::new(below))
    }

    /// Whether values of groups add up to that of all groups.
    pub fn adds_up(&self, bases: &[Base]) -> bool {
        match self {
            Self::Base(base) => bases[*base].merge != Merge::Again,
            Self::Sql(_) | Self::Divide(_, _) | Self::Growth(_, _) | Self::PartOfChange { .. } => {
                false
            }
            Self::Plus(parts) => parts.iter().all(|part| part.adds_up(bases)),
            Self::Minus(a, b) | Self::Difference(a, b) => a.adds_up(bases) && b.adds_up(bases),
        }
    }

    /// Whether a part of the value adds up within one time only.
    pub fn adds_up_within_time(&self, bases: &[Base]) -> bool {
        match self {
            Self::Base(base) => bases[*base].merge == Merge::SumWithinTime,
            Self::Sql(_) | Self::Divide(_, _) | Self::Growth(_, _) | Self::PartOfChange { .. } => {
                false
            }
            Self::Plus(parts) => parts.iter().any(|part| part.adds_up_within_time(bases)),
            Self::Minus(a, b) | Self::Difference(a, b) => {
                a.adds_up_within_time(bases) || b.adds_up_within_time(bases)
            }
        }
    }

    /// Whether the value is a quotient of others.
    pub fn is_quotient(&self) -> bool {
        matches!(self, Self::Divide(_, _))
    }

    /// Returns the factors of a quotient, also of one made of quotients.
    fn factors(&self) -> Factors<'_> {
        let Self::Divide(a, b) = self else {
            return (vec![Factor { formula: self, is_from_below: false }], Vec::new());
        };
        let ((mut above, mut below), (b_above, b_below)) = (a.factors(), b.factors());
        above.extend(b_below);
        below.extend(from_below(b_above));
        (above, below)
    }

    /// Writes a quotient as a whole number, rounded to some decimal places.
    fn scaled(&self, dialect: Dialect, base: WriteBase<'_>, places: u8) -> Result<Scaled, Problem> {
        let (above, below) = self.factors();
        let above = product(dialect, base, above)?;
        Ok(dialect.quotient(above, product(dialect, base, below)?, places))
    }

    /// Writes the formula. `base` writes a base figure.
    pub fn write(&self, dialect: Dialect, base: WriteBase<'_>) -> Result<Exact, Problem> {
        Ok(match self {
            Self::Base(number) => base(*number)?,
            Self::Sql(exact) => exact.clone(),
            Self::Divide(a, b) if !a.is_quotient() && !b.is_quotient() => {
                dialect.divide(&a.write(dialect, base)?, &b.write(dialect, base)?)
            }
            Self::Divide(_, _) => dialect.ratio_of(self.scaled(dialect, base, RATIO_SCALE)?),
            Self::Growth(now, before) => {
                let ((a, b), (c, d)) = (now.factors(), before.factors());
                let own = product(dialect, base, [a, d].concat())?;
                let former = product(dialect, base, [&*c, &*b].concat())?;
                let below = product(dialect, base, [b, from_below(c)].concat())?;
                let change = own.minus(former);
                dialect.ratio_of(dialect.quotient(change, below, RATIO_SCALE))
            }
            Self::PartOfChange { now, without, before } => {
                let fine = |one: &Self| one.scaled(dialect, base, FINE_SCALE);
                let part = fine(now)?.minus(fine(without)?);
                let change = fine(now)?.minus(fine(before)?).or_empty();
                dialect.ratio_of(dialect.quotient(part, change, RATIO_SCALE))
            }
            Self::Plus(parts) => {
                let parts: Vec<Exact> =
                    parts.iter().map(|part| part.write(dialect, base)).collect::<Result<_, _>>()?;
                let scale = parts.iter().map(|part| part.scale).max().ok_or_else(|| {
                    Problem::new(text!("A sum of measures needs at least one measure."))
                })?;
                let values: Vec<String> =
                    parts.into_iter().map(|part| part.at_scale(scale, dialect)).collect();
                let zeros: Vec<String> =
                    values.iter().map(|value| format!("coalesce({value}, 0)")).collect();
                let (any, sum) = (values.join(", "), zeros.join(" + "));
                let sql = format!("CASE WHEN coalesce({any}) IS NOT NULL THEN {sum} END");
                Exact { sql: format!("({sql})"), scale }
            }
            Self::Minus(a, b) => {
                let (a, b) = (a.write(dialect, base)?, b.write(dialect, base)?);
                let scale = a.scale.max(b.scale);
                let (a, b) = (a.at_scale(scale, dialect), b.at_scale(scale, dialect));
                Exact { sql: format!("coalesce({a} - {b}, {a}, -{b})"), scale }
            }
            Self::Difference(a, b) => {
                let (a, b) = (a.write(dialect, base)?, b.write(dialect, base)?);
                Exact { sql: format!("({} - {})", a.sql, b.sql), scale: a.scale.max(b.scale) }
            }
        })
    }
}

/// Puts factors below a line.
fn from_below(factors: Vec<Factor<'_>>) -> Vec<Factor<'_>> {
    factors.into_iter().map(|factor| Factor { is_from_below: true, ..factor }).collect()
}

/// Writes the product of formulas as a whole number.
fn product(
    dialect: Dialect,
    base: WriteBase<'_>,
    factors: Vec<Factor<'_>>,
) -> Result<Scaled, Problem> {
    let scaled = |factor: Factor<'_>| -> Result<Scaled, Problem> {
        let scaled = dialect.scaled(&factor.formula.write(dialect, base)?);
        Ok(if factor.is_from_below { scaled.or_empty() } else { scaled })
    };
    let factors: Vec<Scaled> = factors.into_iter().map(scaled).collect::<Result<_, _>>()?;
    Ok(dialect.product(factors))
}
