//! The rows of a table in few numbers, and the rows among them that are sums of others. Must not know
//! how sums are found.

/// Columns of numbers that are compared.
pub(super) const MAX_NUMBERS: usize = 6;

/// A label whose rows are sums of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subtotal {
    pub(crate) column: usize,
    pub(crate) name: String,
    pub(crate) first_line: u64,
    pub(crate) rows: u64,
    /// Whether the name says that it is a total.
    pub(crate) is_named: bool,
    /// Whether its numbers are the sums of the others.
    pub(crate) is_sum: bool,
    /// The places of the rows in the table, if their names do not say which rows they are. Several
    /// rows can be in one line: a list of JSON often is.
    pub(crate) places: Vec<u64>,
}

/// A row in few numbers.
pub(super) struct Row {
    pub(super) sheet: usize,
    pub(super) line: u64,
    /// The place in the table.
    pub(super) place: u64,
    pub(super) day: i64,
    pub(super) labels: Vec<u32>,
    pub(super) numbers: Vec<i128>,
    /// Whether its cells have numbers, as bits.
    pub(super) filled: u8,
}

/// The rows of a table, in their order.
pub(super) struct Table {
    pub(super) rows: Vec<Row>,
    /// The texts of each label column, by their number.
    pub(super) texts: Vec<Vec<String>>,
}
