//! The sentences for lines that are left out or rejected.

use contract::{Text, text};

use super::{
    column::CellFault,
    lines::Lines,
    plan::Plan,
    rows::{Cause, Rule},
};

impl Rule {
    /// Returns the name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Empty => "empty",
            Self::RepeatedHeader => "repeated_header",
            Self::Total | Self::NamedTotal => "total",
            Self::Note => "note",
            Self::Duplicate => "duplicate",
            Self::Hidden => "hidden",
        }
    }

    pub(crate) fn reason(self) -> Text {
        match self {
            Self::Title => text!("Lines above the headings."),
            Self::Empty => text!("Lines without a value."),
            Self::RepeatedHeader => text!("Lines that repeat the headings."),
            Self::Total => text!(
                "Lines of totals: they have no day, and say that they are a total or name nothing."
            ),
            Self::NamedTotal => {
                text!("Lines of totals: they are named as a total, or are the sum of other lines.")
            }
            Self::Note => text!("Notes that are not rows."),
            Self::Duplicate => text!("Lines that are equal to an earlier line."),
            Self::Hidden => text!("Rows that the sheet hides."),
        }
    }
}

impl Cause {
    /// Returns the name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::TooFewCells => "too_few_cells",
            Self::TooManyCells => "too_many_cells",
            Self::OpenQuote | Self::LinesInQuotes => "quote",
            Self::Zero => "zero_byte",
            Self::NoCurrency(_) => "no_currency",
            Self::UnknownCurrency(_) => "unknown_currency",
            Self::NothingToRepeat(_) => "nothing_to_repeat",
            Self::Cell(_, fault) => match fault {
                CellFault::NotANumber | CellFault::Bound | CellFault::LeadingZero => "not_a_number",
                CellFault::TooLarge => "too_large",
                CellFault::NotADay => "not_a_day",
                CellFault::NotAFlag => "not_a_flag",
                CellFault::Error => "error_cell",
                CellFault::NoValue => "formula_without_value",
                CellFault::Percent => "mixed_percent",
            },
        }
    }

    /// Returns the position of the column, if the cause concerns one.
    pub(crate) fn column(self) -> Option<usize> {
        match self {
            Self::Cell(at, _)
            | Self::NoCurrency(at)
            | Self::UnknownCurrency(at)
            | Self::NothingToRepeat(at) => Some(at),
            _ => None,
        }
    }

    /// Returns the sentence with the remedy.
    pub(crate) fn reason(self, plan: &Plan, lines: &Lines) -> Text {
        let line = lines.lines.first().copied().unwrap_or(0);
        let headings = plan.columns.len();
        match self {
            Self::TooFewCells => text!(
                "Line {line} has {cells} cells under {headings} headings. Complete the line, or export again.",
                line,
                cells = lines.cells,
                headings
            ),
            Self::TooManyCells => text!(
                "Line {line} has {cells} cells under {headings} headings. A number or text that contains the separator must be in quotes.",
                line,
                cells = lines.cells,
                headings
            ),
            Self::OpenQuote => text!(
                "A quote in line {line} opens a cell and is not closed at its end. Remove the quote, or double it inside of quotes.",
                line
            ),
            Self::LinesInQuotes => text!(
                "A quote in line {line} is closed in a later line, and whole lines would be inside of it. Remove the quote, or double it inside of quotes.",
                line
            ),
            Self::Zero => {
                text!("Line {line} has a byte that is zero. Export the file again.", line)
            }
            Self::NoCurrency(at) => text!(
                "Line {line} has an amount in {column} without a currency, and the file has several currencies.",
                line,
                column = plan.columns[at].name.clone()
            ),
            Self::UnknownCurrency(at) => text!(
                "The text in {column} in line {line} is not a currency.",
                column = plan.columns[at].name.clone(),
                line
            ),
            Self::NothingToRepeat(at) => text!(
                "Line {line} leaves {column} out, and the line above that states it cannot be read. Correct that line.",
                line,
                column = plan.columns[at].name.clone()
            ),
            Self::Cell(at, fault) => cell_reason(fault, plan.columns[at].name.clone(), line),
        }
    }
}

fn cell_reason(fault: CellFault, column: String, line: u64) -> Text {
    match fault {
        CellFault::NotANumber | CellFault::Bound | CellFault::LeadingZero => text!(
            "The cell in {column} in line {line} is not a number. Correct it, or say that the column is text.",
            column,
            line
        ),
        CellFault::TooLarge => {
            text!(
                "The number in {column} in line {line} has more digits than can be kept.",
                column,
                line
            )
        }
        CellFault::NotADay => text!(
            "The cell in {column} in line {line} is not a day in the order of the others. Correct it, or say that the column is text.",
            column,
            line
        ),
        CellFault::NotAFlag => {
            text!("The cell in {column} in line {line} is neither yes nor no.", column, line)
        }
        CellFault::Error => text!(
            "The formula in {column} in line {line} gave an error. Correct it in the spreadsheet.",
            column,
            line
        ),
        CellFault::NoValue => text!(
            "The formula in {column} in line {line} has no stored value. Open the workbook in a spreadsheet program, save it, and import it again.",
            column,
            line
        ),
        CellFault::Percent => text!(
            "Some numbers in {column} have a percent sign and others do not, as in line {line}.",
            column,
            line
        ),
    }
}
