//! A text that was made of another format: from which record of the original each line comes, so that
//! each sentence names it, and which cells were numbers. Must not know formats.

use super::{
    cells::value::Tag,
    fault::TableError,
    records::{Record, Records, Span},
};

/// The records of the original, by the lines of the text that was made of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Lines of the text from which on the difference to the original is another one.
    shifts: Vec<(u64, i64)>,
}

impl Origin {
    /// Notes that a line of the text begins the record `from` of the original.
    pub fn note(&mut self, line: u64, from: u64) {
        let shift = i64::try_from(from).unwrap_or(0) - i64::try_from(line).unwrap_or(0);
        if self.shifts.last().is_none_or(|(_, last)| *last != shift) {
            self.shifts.push((line, shift));
        }
    }

    /// Returns the record of the original in a line of the text.
    pub fn of(&self, line: u64) -> u64 {
        let at = self.shifts.partition_point(|(start, _)| *start <= line);
        let shift =
            at.checked_sub(1).and_then(|at| self.shifts.get(at)).map_or(0, |(_, shift)| *shift);
        line.saturating_add_signed(shift)
    }
}

/// Records that are numbered as in the original. Cells without quotes are its numbers, which have a
/// point before decimals.
pub(crate) struct Numbered<'o, R> {
    records: R,
    origin: &'o Origin,
    spans: Vec<Span>,
}

impl<'o, R> Numbered<'o, R> {
    pub(crate) fn new(records: R, origin: &'o Origin) -> Self {
        Self { records, origin, spans: Vec::new() }
    }
}

/// Whether a quote stands before a cell.
fn is_quoted(bytes: &[u8], span: &Span) -> bool {
    (span.start as usize).checked_sub(1).is_some_and(|before| bytes.get(before) == Some(&b'"'))
}

impl<R: Records> Records for Numbered<'_, R> {
    fn next(&mut self) -> Result<Option<Record<'_>>, TableError> {
        let Some(record) = self.records.next()? else { return Ok(None) };
        self.spans.clear();
        self.spans.extend(record.spans.iter().map(|span| {
            let is_number = span.start < span.end && !is_quoted(record.bytes, span);
            Span { tag: if is_number { Tag::Number } else { span.tag }, ..*span }
        }));
        let line = self.origin.of(record.line);
        Ok(Some(Record { line, spans: &self.spans, ..record }))
    }

    fn bytes(&self) -> u64 {
        self.records.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_lead_back_to_the_record_they_come_from() {
        let mut origin = Origin::default();
        // The headings are in line 1. The first record has two lines, and the third is the fifth of
        // the original.
        for (line, from) in [(2, 1), (4, 2), (5, 5)] {
            origin.note(line, from);
        }
        assert_eq!([1, 2, 4, 5].map(|line| origin.of(line)), [1, 1, 2, 5]);
    }
}
