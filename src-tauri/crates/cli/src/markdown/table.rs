//! Lays out a table within a width: columns aligned with spaces, numbers at the right, long cells
//! wrapped. A table with too many columns becomes a list of its rows.

use pulldown_cmark::Alignment;

use super::line::{Line, Span, Style, wrap_spans};

const GAP: usize = 2;
/// Columns of the terminal that a column of text keeps.
const NARROWEST: usize = 10;

pub(super) struct Table {
    alignments: Vec<Alignment>,
    /// All rows; the first is the header.
    pub(super) rows: Vec<Vec<Cell>>,
}

type Cell = Vec<Span>;

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new() }
    }

    pub(super) fn layout_lines(&self, room: usize) -> Vec<Line> {
        let columns: Vec<Column> = self
            .alignments
            .iter()
            .enumerate()
            .map(|(at, side)| self.measure_column(at, *side))
            .collect();
        let Some(widths) = fit_column_widths(&columns, room) else {
            return self.stacked_lines(room);
        };
        let mut lines = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            lines.extend(row_lines(row, &columns, &widths));
            if at == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(Line::plain(&rules.join(&" ".repeat(GAP))));
            }
        }
        lines
    }

    fn measure_column(&self, at: usize, side: Alignment) -> Column {
        let cell = |row: &Vec<Cell>| row.get(at).cloned().unwrap_or_default();
        let header = self.rows.first().map(cell).unwrap_or_default();
        let body: Vec<Cell> = self.rows.iter().skip(1).map(cell).collect();
        let body_width = body.iter().map(|cell| wrapped_width(cell, usize::MAX)).max().unwrap_or(0);
        let is_numeric = body.iter().any(|cell| is_number(&cell_text(cell)))
            && body.iter().map(cell_text).all(|text| is_number(&text) || is_dash(&text));
        let width = body_width.max(wrapped_width(&header, usize::MAX)).max(1);
        // A number is not wrapped, but the words above it may be.
        let narrowest = match is_numeric {
            true => body_width.max(wrapped_width(&header, 1)),
            false => NARROWEST,
        };
        let side = if side == Alignment::None && is_numeric { Alignment::Right } else { side };
        Column { side, width, narrowest: narrowest.min(width) }
    }

    /// Returns each row as lines of a header and a value.
    fn stacked_lines(&self, room: usize) -> Vec<Line> {
        let mut rows = self.rows.iter();
        let header: Vec<Cell> = rows.next().cloned().unwrap_or_default();
        let mut lines = Vec::new();
        for row in rows {
            if !lines.is_empty() {
                lines.push(Line::default());
            }
            for (name, value) in header.iter().zip(row) {
                let separator = Span { text: ": ".into(), style: Style::default() };
                let pair: Vec<Span> =
                    name.iter().chain([&separator]).chain(value).cloned().collect();
                lines.extend(wrap_spans(&pair, room, room));
            }
        }
        lines
    }
}

struct Column {
    side: Alignment,
    /// The width of its widest cell.
    width: usize,
    /// The width below which it does not shrink.
    narrowest: usize,
}

/// Returns the widths of all columns. The widest shrink until the table fits. Returns None if it
/// cannot.
fn fit_column_widths(columns: &[Column], room: usize) -> Option<Vec<usize>> {
    let mut widths: Vec<usize> = columns.iter().map(|column| column.width.min(room)).collect();
    let gaps = GAP * columns.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > room {
        let shrinkable = widths.iter_mut().zip(columns);
        let shrinkable = shrinkable.filter(|(width, column)| **width > column.narrowest);
        let (widest, _) = shrinkable.max_by_key(|(width, _)| **width)?;
        *widest -= 1;
    }
    Some(widths)
}

fn row_lines(row: &[Cell], columns: &[Column], widths: &[usize]) -> Vec<Line> {
    let cells: Vec<Vec<Line>> =
        row.iter().zip(widths).map(|(cell, width)| wrap_spans(cell, *width, *width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or_default();
    let empty = Line::default();
    let line_of = |at: usize| {
        let mut line = Line::default();
        // Spaces are added before the next text only, so that no line ends with them.
        let mut spaces = 0;
        for ((cell, column), width) in cells.iter().zip(columns).zip(widths) {
            let text = cell.get(at).unwrap_or(&empty);
            let free = width.saturating_sub(text.width());
            let before = match column.side {
                Alignment::Right => free,
                Alignment::Center => free / 2,
                Alignment::Left | Alignment::None => 0,
            };
            spaces += before;
            if !text.is_empty() {
                line.push(&" ".repeat(std::mem::take(&mut spaces)), Style::default());
                line.append(text);
                spaces = free - before;
            } else {
                spaces += width - before;
            }
            spaces += GAP;
        }
        line
    };
    (0..height).map(line_of).collect()
}

/// Returns the width of a cell that is wrapped at `width`, or at its longest word.
fn wrapped_width(cell: &Cell, width: usize) -> usize {
    wrap_spans(cell, width, usize::MAX).iter().map(Line::width).max().unwrap_or_default()
}

fn cell_text(cell: &Cell) -> String {
    cell.iter().map(|span| span.text.as_str()).collect::<String>().trim().to_owned()
}

fn is_dash(text: &str) -> bool {
    matches!(text, "" | "-" | "–" | "—")
}

/// Whether a cell is an amount, a share or another single number, with or without its unit.
fn is_number(text: &str) -> bool {
    let is_unit = |word: &str| {
        word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_uppercase()) || word == "kr"
    };
    let number: String =
        text.split([' ', '\u{a0}', '\u{202f}']).filter(|word| !is_unit(word)).collect::<String>();
    let digits = number.trim_start_matches(['+', '-', '−', '±']);
    digits.contains(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || ".,'’%$€£¥".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_sign_and_one_unit() {
        for number in ["0", "1,504 USD", "USD 3.50", "−17.4%", "1 234,50 kr", "$12", "+3"] {
            assert!(is_number(number), "{number}");
        }
        for other in ["", "–", "2026-11-24", "24 November", "A12", "USD", "10:30"] {
            assert!(!is_number(other), "{other}");
        }
    }

    #[test]
    fn the_widest_columns_shrink_first() {
        let column = |width, narrowest| Column { side: Alignment::None, width, narrowest };
        let columns = [column(30, 10), column(9, 9), column(20, 10)];
        assert_eq!(fit_column_widths(&columns, 80), Some(vec![30, 9, 20]));
        assert_eq!(fit_column_widths(&columns, 51), Some(vec![19, 9, 19]));
        assert_eq!(fit_column_widths(&columns, 20), None);
    }
}
