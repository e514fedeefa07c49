//! Columns that the file does not have, but its rows need.

/// A column that the file does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// The currency of the amounts in these columns.
    Currency(Vec<usize>),
    /// A text for all rows.
    Text(String),
}

impl Added {
    /// Whether it has the currency of a column.
    pub(crate) fn is_currency_of(&self, at: usize) -> bool {
        matches!(self, Self::Currency(columns) if columns.contains(&at))
    }
}
