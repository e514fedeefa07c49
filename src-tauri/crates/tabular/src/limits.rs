//! The bounds of what is read from one file. A crafted file must cost no more than a large honest
//! one.

/// Bytes of a file.
pub const MAX_FILE: u64 = contract::sources::TEXT_BYTES;
/// Bytes of a line of text, with the line breaks inside quotes.
pub const MAX_LINE: u64 = 1 << 20;
/// Columns of a table.
pub const MAX_COLUMNS: usize = 2_000;
/// Bytes of a cell of a workbook, and of any other piece of its markup. Spreadsheet programs store
/// at most 32,767 characters in a cell.
pub const MAX_CELL: usize = 256 << 10;
/// Cells of a sheet that are not empty.
pub const MAX_CELLS: usize = 20_000_000;
/// Bytes of text in a sheet.
pub const MAX_TEXT: usize = 512 << 20;
/// The rows of a sheet that are not empty, times its columns.
pub const MAX_AREA: usize = 50_000_000;
/// Sheets of a workbook.
pub const MAX_SHEETS: usize = 100;
/// Bytes that a workbook unpacks to.
pub const MAX_UNPACKED: u64 = 1 << 30;

/// The bound that a file exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `MAX_FILE`.
    File,
    /// `MAX_LINE`.
    Line {
        /// The line in which the text begins.
        line: u64,
    },
    /// `MAX_COLUMNS`.
    Columns,
    /// `MAX_CELL`.
    Cell,
    /// `MAX_CELLS`, `MAX_TEXT` or `MAX_AREA`.
    Sheet,
    /// `MAX_SHEETS`.
    Sheets,
    /// `MAX_UNPACKED`, or a part of it.
    Unpacked,
}
