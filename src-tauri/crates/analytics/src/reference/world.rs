//! The sources and rows that a query is evaluated over. Other files add the steps of the evaluation.

use super::Table;
use crate::Catalog;

/// Sources and rows.
pub(super) struct World<'a> {
    pub catalog: &'a Catalog,
    pub tables: &'a [Table],
}
