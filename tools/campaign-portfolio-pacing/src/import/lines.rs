//! Reads the lines of a file as rows, with our own columns or with a mapping. Must not know whether
//! the rows are stored.

use contract::ImportProblem;
use tabular::{Decimals, Formats, Mapping, NumberFormat, StringRecord, TotalLines};

use super::{
    Errors,
    cells::{CampaignRow, Cells, DeliveryRow},
    columns::{FileKind, Header},
    mapped::{Fields, RowReader},
    schema,
    table::Table,
};

/// A line of a file.
pub(super) enum Line<'a> {
    /// A line with totals or a note.
    Total,
    /// A line with errors.
    Rejected,
    Delivery(DeliveryRow<'a>),
    Campaign(CampaignRow<'a>),
}

/// Reads lines one after another.
pub(super) enum Lines<'t> {
    Own { header: &'t Header, numbers: NumberFormat },
    Mapped { totals: TotalLines, rows: RowReader<'t> },
}

impl<'t> Lines<'t> {
    /// Reads lines with our own columns.
    pub(super) fn own(table: &'t Table, header: &'t Header) -> Self {
        let is_semicolon = table.survey.separator() == Some(';');
        let decimals = if is_semicolon { Decimals::Comma } else { Decimals::Point };
        Self::Own { header, numbers: NumberFormat::with_assumed_decimals(decimals) }
    }

    /// Reads lines with a mapping of their columns.
    pub(super) fn mapped(
        table: &Table,
        mapping: &Mapping,
        fields: &'t Fields<'t>,
        formats: Formats,
    ) -> Self {
        Self::Mapped {
            totals: mapping.total_lines(schema::delivery()),
            rows: RowReader::new(fields, formats, table.blank_is_zero()),
        }
    }

    /// Whether rows with the same key are added up, as in exports that split a day by device or
    /// network.
    pub(super) fn adds_rows(&self) -> bool {
        matches!(self, Self::Mapped { .. })
    }

    /// Reads a line, and reports its errors.
    pub(super) fn read<'a>(
        &'a mut self,
        record: &'a StringRecord,
        file: &'a str,
        line: u64,
        errors: &'a mut Errors,
    ) -> Line<'a> {
        match self {
            Self::Own { header, numbers } => read_own(header, *numbers, record, file, line, errors),
            Self::Mapped { totals, .. } if totals.is_total(record) => Line::Total,
            Self::Mapped { rows, .. } => {
                let mut report = |column: &str, problem| errors.add(file, line, column, problem);
                rows.read(record, &mut report).map_or(Line::Rejected, Line::Delivery)
            }
        }
    }
}

fn read_own<'a>(
    header: &'a Header,
    numbers: NumberFormat,
    record: &'a StringRecord,
    file: &'a str,
    line: u64,
    errors: &'a mut Errors,
) -> Line<'a> {
    if record.len() != header.width {
        let cells = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let (found, expected) = (cells(record.len()), cells(header.width));
        errors.add(file, line, "", ImportProblem::CellCount { found, expected });
        return Line::Rejected;
    }
    let mut cells = Cells { record, header, numbers, file, line, errors };
    match header.kind {
        FileKind::Delivery => cells.delivery().map_or(Line::Rejected, Line::Delivery),
        FileKind::Campaigns => cells.campaign().map_or(Line::Rejected, Line::Campaign),
    }
}
