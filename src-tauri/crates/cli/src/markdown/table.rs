//! Lays out a table within a width: columns aligned with spaces, numbers aligned to the right, long
//! cells wrapped. A table with too many columns becomes a list of its rows. A table with many rows
//! gets one line for each row instead: cells are shortened and columns are left out, and a line
//! names these columns.

use pulldown_cmark::Alignment;

use super::line::{Line, Span, Style, wrap_spans};
use crate::width::{char_width, text_width};

const GAP: usize = 2;
/// The minimum width of a column of text, in columns of the terminal.
const NARROWEST: usize = 10;
/// The number of rows above which each row gets one line.
const MANY_ROWS: usize = 10;
const CUT: &str = "…";
/// The hint that tells how to see the cells that a table leaves out.
const REMEDY: &str = "--json has everything.";

pub(super) struct Table {
    alignments: Vec<Alignment>,
    /// All rows, starting with the header.
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
        if self.rows.len() > MANY_ROWS + 1 {
            return self.single_lines(&columns, room);
        }
        match fit_column_widths(&columns, room) {
            Some(widths) => self.aligned_lines(&columns, &widths, false),
            None => self.stacked_lines(room),
        }
    }

    fn aligned_lines(&self, columns: &[Column], widths: &[usize], is_cut: bool) -> Vec<Line> {
        let mut lines = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            let cut: Vec<Cell>;
            let row = if is_cut && at > 0 {
                cut = row.iter().zip(widths).map(|(cell, width)| shorten(cell, *width)).collect();
                &cut
            } else {
                row
            };
            lines.extend(row_lines(row, columns, widths));
            if at == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(Line::plain(&rules.join(&" ".repeat(GAP))));
            }
        }
        lines
    }

    /// Returns one line for each row. Columns that do not fit are left out from the right.
    fn single_lines(&self, columns: &[Column], room: usize) -> Vec<Line> {
        let kept = (1..=columns.len()).rev().find(|kept| {
            let least: usize = columns[..*kept].iter().map(|column| column.narrowest).sum();
            least + GAP * (kept - 1) <= room
        });
        let shown = &columns[..kept.unwrap_or(1).min(columns.len())];
        let Some(widths) = fit_column_widths(shown, room) else {
            return self.stacked_lines(room);
        };
        let mut lines = self.aligned_lines(shown, &widths, true);
        let cut = |at: usize, column: &Column| {
            widths.get(at).is_some_and(|width| *width < column.body_width)
        };
        let named = |is_meant: &dyn Fn(usize, &Column) -> bool| -> Vec<String> {
            let meant = columns.iter().enumerate().filter(|(at, column)| is_meant(*at, column));
            let header = self.rows.first();
            meant.filter_map(|(at, _)| Some(cell_text(header?.get(at)?))).collect()
        };
        let dropped = named(&|at, _| at >= shown.len());
        let said = [("Shortened", named(&cut)), ("Not shown", dropped)];
        let said: Vec<String> = said
            .iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(what, names)| format!("{what}: {}.", names.join(", ")))
            .collect();
        if !said.is_empty() {
            let text = format!("{} {REMEDY}", said.join(" "));
            lines.extend(wrap_spans(&[Span { text, style: Style::default() }], room, room));
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
        // A number is not wrapped, but the words of its header may be.
        let narrowest = match is_numeric {
            true => body_width.max(wrapped_width(&header, 1)),
            false => NARROWEST,
        };
        let side = if side == Alignment::None && is_numeric { Alignment::Right } else { side };
        Column { side, width, narrowest: narrowest.min(width), body_width }
    }

    /// Returns the table as a list: for each row, one line per header and value.
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
    /// The width of the column's widest cell.
    width: usize,
    /// The width below which the column does not shrink.
    narrowest: usize,
    /// The width of the widest cell below the header.
    body_width: usize,
}

/// Returns the widths of all columns. The widest columns shrink until the table fits. Returns None
/// if the table cannot fit.
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
        // Spaces are added only before the next text, so that no line ends with spaces.
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

/// Returns a cell as one line of at most `width` columns, with a sign if text was cut.
fn shorten(cell: &Cell, width: usize) -> Cell {
    let one_line = wrap_spans(cell, usize::MAX, usize::MAX);
    if one_line.len() == 1 && one_line[0].width() <= width {
        return cell.clone();
    }
    let mut short = Vec::new();
    let mut room = width.saturating_sub(text_width(CUT));
    for Span { text, style } in cell {
        let mut kept = String::new();
        for letter in text.chars().map(|letter| if letter == '\n' { ' ' } else { letter }) {
            let Some(left) = room.checked_sub(char_width(letter)) else {
                // After the cut, a narrower letter of a later span must not follow.
                room = 0;
                break;
            };
            room = left;
            kept.push(letter);
        }
        short.push(Span { text: kept, style: *style });
    }
    while let Some(last) = short.last_mut() {
        last.text.truncate(last.text.trim_end_matches(' ').len());
        if !last.text.is_empty() {
            last.text.push_str(CUT);
            break;
        }
        short.pop();
    }
    short
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

/// Whether a cell is a single number, such as an amount or a share, with or without its unit.
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
    fn cells_with_at_most_one_sign_and_one_unit_are_recognised_as_numbers() {
        for number in ["0", "1,504 USD", "USD 3.50", "−17.4%", "1 234,50 kr", "$12", "+3"] {
            assert!(is_number(number), "{number}");
        }
        for other in ["", "–", "2026-11-24", "24 November", "A12", "USD", "10:30"] {
            assert!(!is_number(other), "{other}");
        }
    }

    #[test]
    fn the_widest_columns_shrink_first() {
        let column = |width, narrowest| Column {
            side: Alignment::None,
            width,
            narrowest,
            body_width: width,
        };
        let columns = [column(30, 10), column(9, 9), column(20, 10)];
        assert_eq!(fit_column_widths(&columns, 80), Some(vec![30, 9, 20]));
        assert_eq!(fit_column_widths(&columns, 51), Some(vec![19, 9, 19]));
        assert_eq!(fit_column_widths(&columns, 20), None);
    }
}
