//! A reading of a question before it is decided which readings count. It must not know how they are found.

use std::ops::Range;

use crate::outcome::Reading;

/// Readings whose costs differ by no more fit equally well.
pub(crate) const SAME: u32 = 3;

/// A reading before it is chosen.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// The reading.
    pub reading: Reading,
    /// The cost.
    pub cost: u32,
    /// The words that are left over, by their bytes.
    pub left: Vec<Range<usize>>,
    /// The number of parts with a meaning.
    pub read: usize,
    /// Whether it names anything of the source.
    pub names: bool,
}
