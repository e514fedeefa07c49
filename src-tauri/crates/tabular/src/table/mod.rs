//! Reads any table of a file into typed rows: finds encoding, separators, headings and formats,
//! decides types over all rows, and accounts for each line: a line is stored, left out by a rule,
//! or rejected for a cause. If the file leaves something open, the report has a question for a
//! person. This folder must not know how rows are stored, nor anything about earlier files.

mod added;
mod answers;
mod cells;
mod choose;
mod column;
mod content;
mod control;
mod day_notes;
mod duplicates;
mod encoding;
mod equal_sums;
mod fault;
mod group_sums;
mod grouped;
mod header;
mod inspect;
mod lines;
mod money;
mod neighbours;
mod notes;
mod ods;
mod origin;
mod parents;
mod period_headings;
mod periods;
mod plan;
mod questions;
mod read;
mod reasons;
mod records;
mod report;
mod revise;
mod row_memory;
mod rows;
mod scan;
mod separator;
mod shared_ids;
mod sheet;
mod sheet_text;
mod sheets;
mod short_years;
mod source;
mod split;
mod split_numbers;
mod stated;
mod stats;
mod subtotals;
mod summed;
mod titles;
mod totals;
mod uses;
mod words;
mod xls_marks;
mod xlsx_marks;
mod xml;

pub use answers::check_answers;
pub(crate) use cells::{
    day::{DayCell, parse_day},
    order::DayOrder,
};
pub use control::Progress;
pub use fault::{TableError, Unreadable};
pub use inspect::{Inspected, inspect, inspect_flat, open_content};
pub use origin::Origin;
pub use read::Cell;
pub(crate) use stats::DayStats;
pub use uses::{are_years, find_moments, find_use, is_money_heading};
pub use words::is_total_name;
