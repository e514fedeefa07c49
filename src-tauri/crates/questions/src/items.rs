//! The parts that a question is made of once its words are read: names, periods, numbers and
//! operations.

use std::ops::Range;

use contract::metric_query::Period;

use crate::{meaning::Meaning, numbers::Quantity, outcome::Correction};

/// The meaning of a part of a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Atom {
    /// A measure.
    Measure(String),
    /// A dimension.
    Dimension {
        /// Its name.
        name: String,
        /// Whether the text has a form of the name, such as its plural.
        is_form: bool,
    },
    /// A value of a dimension.
    Value {
        /// The dimension.
        dimension: String,
        /// The value, or the words that it contains.
        value: String,
        /// Whether all values count that contain the words.
        is_part: bool,
    },
    /// Several values of a dimension that have one name, or of which only a part is named.
    Values {
        /// The dimension.
        dimension: String,
        /// The values.
        values: Vec<String>,
        /// The words.
        text: String,
        /// Whether the words are only a part of their names.
        is_part: bool,
    },
    /// The source.
    Source,
    /// A number.
    Number(Quantity),
    /// A period.
    Period {
        /// The period.
        period: Period,
        /// The periods at both ends of a range.
        ends: Option<Box<(Period, Period)>>,
    },
    /// Words of the lexicon with all their meanings.
    Words(Vec<Meaning>),
    /// A word without a meaning here.
    Left,
}

/// A part of a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    /// The meaning.
    pub atom: Atom,
    /// The tokens.
    pub tokens: Range<usize>,
    /// The name that a misspelled word was read as.
    pub correction: Option<Correction>,
    /// All measures that a general word for an amount may mean. Empty: it is a name.
    pub amounts: Vec<String>,
}

impl Item {
    /// Whether it is a word with a meaning.
    pub fn means(&self, meaning: &Meaning) -> bool {
        matches!(&self.atom, Atom::Words(meanings) if meanings.contains(meaning))
    }

    /// Returns the first meaning that fits.
    pub fn find<T>(&self, fits: impl Fn(&Meaning) -> Option<T>) -> Option<T> {
        match &self.atom {
            Atom::Words(meanings) => meanings.iter().find_map(fits),
            _ => None,
        }
    }

    /// Whether it has a meaning only beside an amount.
    pub fn is_soft(&self) -> bool {
        matches!(&self.atom, Atom::Words(meanings) if meanings.iter().all(Meaning::is_soft))
    }

    /// Whether it is a verb with its negation: "aren't" says more than "are".
    pub fn is_negated(&self) -> bool {
        self.means(&Meaning::Not) && self.means(&Meaning::IsIt)
    }

    /// Whether it only joins others. A word with other meanings, too, is no mere link.
    pub fn is_link(&self) -> bool {
        !self.is_negated()
            && matches!(&self.atom, Atom::Words(meanings) if meanings.iter().any(Meaning::is_link))
    }
}
