//! Exact decimal numbers of the reference.

use serde_json::Value;

use super::Cell;
use crate::{dialect::RATIO_SCALE, finish::decimal_cell};

/// An exact decimal number.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    /// The number without its point.
    pub unscaled: i128,
    /// The decimal places.
    pub scale: u8,
}

impl Number {
    /// Creates a whole number.
    pub fn whole(number: i64) -> Self {
        Self { unscaled: i128::from(number), scale: 0 }
    }

    fn at(self, scale: u8) -> i128 {
        self.unscaled * 10_i128.pow(u32::from(scale - self.scale))
    }

    fn both(self, other: Self) -> (i128, i128, u8) {
        let scale = self.scale.max(other.scale);
        (self.at(scale), other.at(scale), scale)
    }

    /// Adds a number.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let (a, b, scale) = self.both(other);
        Self { unscaled: a + b, scale }
    }

    /// Subtracts a number.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        let (a, b, scale) = self.both(other);
        Self { unscaled: a - b, scale }
    }

    /// Multiplies by a number.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        Self { unscaled: self.unscaled * other.unscaled, scale: self.scale + other.scale }
    }

    /// Divides, rounded half away from zero to the decimal places of a ratio.
    pub fn over(self, below: Self) -> Option<Self> {
        self.over_to(below, RATIO_SCALE)
    }

    /// Divides, rounded half away from zero to some decimal places.
    pub(super) fn over_to(self, below: Self, scale: u8) -> Option<Self> {
        if below.unscaled == 0 {
            return None;
        }
        let (a, b, _) = self.both(below);
        let sign = a.signum() * b.signum();
        let (a, b) = (a.unsigned_abs() * 10_u128.pow(u32::from(scale)), b.unsigned_abs());
        let rounded = i128::try_from((2 * a + b) / (2 * b)).ok()?;
        Some(Self { unscaled: sign * rounded, scale })
    }

    /// Returns the number as a cell of a result.
    pub fn cell(self) -> Value {
        decimal_cell(self.unscaled, self.scale)
    }
}

/// A quotient that is not divided yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quotient {
    above: Number,
    below: Number,
}

/// A figure: a cell, or a quotient, which is divided once at the end.
#[derive(Clone, Debug)]
pub(super) enum Figure {
    Cell(Cell),
    Quotient(Option<Quotient>),
}

impl Quotient {
    /// Creates a quotient.
    pub fn of(above: Number, below: Number) -> Self {
        Self { above, below }
    }

    /// Divides by another one.
    pub fn over(self, other: Self) -> Self {
        // A divisor that is zero or divided by zero is none.
        let is_none = other.below.unscaled == 0;
        let below = if is_none { Number::whole(0) } else { self.below.times(other.above) };
        Self { above: self.above.times(other.below), below }
    }

    /// Divides, rounded to some decimal places.
    pub fn number(self, scale: u8) -> Option<Number> {
        self.above.over_to(self.below, scale)
    }

    /// Returns how much it is more than another one, as a part of that.
    pub fn growth(self, before: Self) -> Option<Number> {
        if self.below.unscaled == 0 || before.below.unscaled == 0 {
            return None;
        }
        let now = self.above.times(before.below);
        let former = before.above.times(self.below);
        now.minus(former).over(former)
    }
}

impl Figure {
    /// Returns the figure as a number of a quotient.
    pub fn quotient(&self) -> Option<Quotient> {
        match self {
            Self::Cell(cell) => Some(Quotient::of(cell.number()?, Number::whole(1))),
            Self::Quotient(quotient) => *quotient,
        }
    }

    /// Returns the number.
    pub fn number(&self) -> Option<Number> {
        match self {
            Self::Cell(cell) => cell.number(),
            Self::Quotient(quotient) => quotient.and_then(|quotient| quotient.number(RATIO_SCALE)),
        }
    }

    /// Returns the figure as a cell.
    pub fn cell(&self) -> Cell {
        match self {
            Self::Cell(cell) => cell.clone(),
            Self::Quotient(_) => self.number().map_or(Cell::Empty, Cell::Number),
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let (a, b, _) = self.both(*other);
        a.cmp(&b)
    }
}
