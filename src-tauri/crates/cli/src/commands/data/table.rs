//! Lays out a table of plain cells with one line per row. In a terminal, the layout shortens text
//! and leaves out columns from the right until each row fits its line. The caller gets the headings
//! of these columns. This module must not know the meaning of cells.

use super::paragraph::Paragraph;
use crate::out::{Out, Tone};
use crate::visible::escape_invisible;
use crate::width::{char_width, text_width};

const GAP: usize = 2;
/// The width below which a column of text is not shortened.
const NARROWEST: usize = 12;
const CUT: &str = "…";
/// The most columns that are named as missing.
const NAMES: usize = 6;

/// A table for people.
#[derive(Debug, Default)]
pub(super) struct TextTable {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

#[derive(Debug)]
struct Column {
    heading: String,
    is_number: bool,
    /// Whether no cell is shortened.
    is_whole: bool,
}

/// The columns that a printed table shortens or leaves out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Missing {
    /// The headings of columns whose text is shortened.
    pub(super) shortened: Vec<String>,
    /// The headings of columns that are left out.
    pub(super) dropped: Vec<String>,
}

impl TextTable {
    /// Makes a table from headings, each with a flag for a column of numbers.
    pub(super) fn new<'a>(headings: impl IntoIterator<Item = (&'a str, bool)>) -> Self {
        let column = |(heading, is_number): (&str, bool)| Column {
            heading: escape_invisible(heading),
            is_number,
            is_whole: false,
        };
        Self { columns: headings.into_iter().map(column).collect(), rows: Vec::new() }
    }

    /// Never shortens the cells of these columns: names that people type, and days.
    pub(super) fn keep_whole(mut self, columns: &[usize]) -> Self {
        for (at, column) in self.columns.iter_mut().enumerate() {
            column.is_whole |= columns.contains(&at);
        }
        self
    }

    /// Adds a row with a cell for each column.
    pub(super) fn add_row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| escape_invisible(&cell)).collect());
    }

    /// Prints the table. Returns the columns that do not fit.
    pub(super) fn print(&self, out: Out, indent: usize) -> Missing {
        let room = out.screen().map(|screen| screen.width.saturating_sub(indent));
        let (lines, missing) = self.layout(room);
        let margin = " ".repeat(indent);
        for (at, line) in lines.iter().enumerate() {
            let line = format!("{margin}{line}");
            out.print_line(if at == 0 { out.colour_text(Tone::Strong, &line) } else { line });
        }
        missing
    }

    /// Returns the lines, the headings first, within `room` columns of the terminal.
    fn layout(&self, room: Option<usize>) -> (Vec<String>, Missing) {
        let natural: Vec<usize> =
            (0..self.columns.len()).map(|at| self.natural_width(at)).collect();
        let widths = match room {
            Some(room) => self.fit(&natural, room),
            None => natural.clone(),
        };
        let missing = Missing {
            shortened: self.headings_where(|at| at < widths.len() && widths[at] < natural[at]),
            dropped: self.headings_where(|at| at >= widths.len()),
        };
        let heads: Vec<&str> = self.columns.iter().map(|column| column.heading.as_str()).collect();
        let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        let mut lines = vec![self.line_of(&heads, &widths), rule.join(&" ".repeat(GAP))];
        lines.extend(self.rows.iter().map(|row| {
            let cells: Vec<&str> = row.iter().map(String::as_str).collect();
            self.line_of(&cells, &widths)
        }));
        (lines, missing)
    }

    fn headings_where(&self, is_meant: impl Fn(usize) -> bool) -> Vec<String> {
        let columns = self.columns.iter().enumerate();
        columns.filter(|(at, _)| is_meant(*at)).map(|(_, one)| one.heading.clone()).collect()
    }

    fn natural_width(&self, at: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[at].as_str());
        cells.chain([self.columns[at].heading.as_str()]).map(text_width).max().unwrap_or(0).max(1)
    }

    /// Returns the width below which a column does not shrink. Digits are never cut, but the heading
    /// of numbers may be.
    fn least_width(&self, at: usize, natural: usize) -> usize {
        if self.columns[at].is_whole {
            return natural;
        }
        if !self.columns[at].is_number {
            return natural.min(NARROWEST);
        }
        let cells = self.rows.iter().map(|row| text_width(&row[at])).max().unwrap_or(0);
        cells.max(natural.min(NARROWEST))
    }

    /// Returns the widths of the columns that fit, from the left. Keeps at least one column.
    fn fit(&self, natural: &[usize], room: usize) -> Vec<usize> {
        let least: Vec<usize> =
            natural.iter().enumerate().map(|(at, width)| self.least_width(at, *width)).collect();
        let total =
            |widths: &[usize]| widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        let mut kept = natural.len();
        while kept > 1 && total(&least[..kept]) > room {
            kept -= 1;
        }
        // A cell can have millions of letters.
        let mut widths: Vec<usize> = natural[..kept]
            .iter()
            .zip(&least)
            .map(|(natural, least)| (*natural).min(room).max(*least))
            .collect();
        while total(&widths) > room {
            let shrinkable =
                widths.iter_mut().zip(&least).filter(|(width, least)| **width > **least);
            match shrinkable.max_by_key(|(width, _)| **width) {
                Some((widest, _)) => *widest -= 1,
                // A single column that is not cut is wider than the terminal, which wraps the line.
                None => break,
            }
        }
        widths
    }

    fn line_of(&self, cells: &[&str], widths: &[usize]) -> String {
        let mut line = String::new();
        let mut spaces = 0;
        for ((cell, column), width) in cells.iter().zip(&self.columns).zip(widths) {
            let text = shorten(cell, *width);
            let free = width.saturating_sub(text_width(&text));
            let before = if column.is_number { free } else { 0 };
            line.push_str(&" ".repeat(spaces + before));
            line.push_str(&text);
            spaces = free - before + GAP;
        }
        line.truncate(line.trim_end_matches(' ').len());
        line
    }
}

/// Cuts a text to a number of terminal columns, and marks the cut with a sign.
pub(super) fn shorten(text: &str, width: usize) -> String {
    if text_width(text) <= width {
        return text.to_owned();
    }
    let (mut short, mut used) = (String::new(), text_width(CUT));
    for letter in text.chars() {
        used += char_width(letter);
        if used > width {
            break;
        }
        short.push(letter);
    }
    short.push_str(CUT);
    short
}

impl Missing {
    /// Prints the line that names the shortened and missing columns. `remedy` tells how to see all
    /// cells.
    pub(super) fn print(&self, out: Out, remedy: &str) {
        if let Some(said) = self.describe() {
            Paragraph::new(format!("{said} {remedy}")).print_line(out);
        }
    }

    /// Returns sentences that name the shortened and missing columns.
    pub(super) fn describe(&self) -> Option<String> {
        let part = |what: &str, names: &[String]| {
            let shown = names[..names.len().min(NAMES)].join(", ");
            let more = match names.len().saturating_sub(NAMES) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            (!names.is_empty()).then(|| format!("{what}: {shown}{more}."))
        };
        let parts = [part("Shortened", &self.shortened), part("Not shown", &self.dropped)];
        let said: Vec<String> = parts.into_iter().flatten().collect();
        (!said.is_empty()).then(|| said.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TextTable {
        let mut table = TextTable::new([("Campaign", false), ("Clicks", true), ("Cost", true)]);
        table.add_row(["Spring sale for all regions".into(), "1,200".into(), "34.50".into()]);
        table.add_row(["Élan 東京".into(), "7".into(), "1,234,567.89".into()]);
        table
    }

    #[test]
    fn without_a_terminal_nothing_is_shortened() {
        let (lines, missing) = table().layout(None);
        assert_eq!(missing, Missing::default());
        assert_eq!(
            lines,
            [
                "Campaign                     Clicks          Cost",
                "───────────────────────────  ──────  ────────────",
                "Spring sale for all regions   1,200         34.50",
                "Élan 東京                         7  1,234,567.89",
            ]
        );
    }

    #[test]
    fn text_is_shortened_before_a_column_is_left_out() {
        let (lines, missing) = table().layout(Some(40));
        assert_eq!(missing.shortened, ["Campaign"]);
        assert!(missing.dropped.is_empty());
        assert_eq!(lines[2], "Spring sale for a…   1,200         34.50");
        assert!(lines.iter().all(|line| text_width(line) <= 40), "{lines:?}");
    }

    #[test]
    fn names_that_people_type_are_never_shortened() {
        let (lines, missing) = table().keep_whole(&[0]).layout(Some(40));
        assert_eq!(missing.dropped, ["Cost"]);
        assert!(missing.shortened.is_empty());
        assert_eq!(lines[2], "Spring sale for all regions   1,200");
        let (lines, missing) = table().keep_whole(&[0]).layout(Some(20));
        assert_eq!(missing.dropped, ["Clicks", "Cost"]);
        assert_eq!(lines[2], "Spring sale for all regions");
    }

    #[test]
    fn columns_are_left_out_from_the_right_and_digits_are_never_cut() {
        let (lines, missing) = table().layout(Some(30));
        assert_eq!(missing.dropped, ["Cost"]);
        assert_eq!(lines[2], "Spring sale for all r…   1,200");
        assert_eq!(missing.describe().unwrap(), "Shortened: Campaign. Not shown: Cost.");
        let (lines, _) = table().layout(Some(5));
        assert_eq!(lines[2], "Spring sale…", "one column is always shown");
    }
}
