//! Remembers how cells of earlier rows were read, because most files repeat them: the currencies of texts,
//! and the labels that name totals. Must not know other columns.

use super::{
    cells::{currency::Currency, value},
    words,
};

/// The known texts of a currency column, with their numbers of rows.
#[derive(Default)]
pub(crate) struct CurrencyCells {
    known: Vec<(Vec<u8>, Option<Currency>, u64)>,
}

/// The maximum number of known texts of a currency column.
const KNOWN_CURRENCIES: usize = 200;

impl CurrencyCells {
    /// Returns the currency of a cell. Returns None for an empty cell, and an error for a text that
    /// is not a currency.
    #[inline]
    pub(crate) fn find(&mut self, cell: &[u8]) -> Result<Option<Currency>, ()> {
        for (known, found, count) in &mut self.known {
            if known == cell {
                *count += 1;
                return found.map(Some).ok_or(());
            }
        }
        if value::is_blank(cell) {
            return Ok(None);
        }
        let found = Currency::from_name(value::text(cell));
        if self.known.len() < KNOWN_CURRENCIES {
            self.known.push((cell.to_vec(), found, 1));
        }
        found.map(Some).ok_or(())
    }

    /// Returns the known currencies, with their numbers of rows.
    pub(crate) fn counted(&self) -> Vec<(Currency, u64)> {
        let mut counts: Vec<(Currency, u64)> = Vec::new();
        for (_, found, count) in &self.known {
            let Some(found) = found else { continue };
            match counts.iter_mut().find(|(known, _)| known == found) {
                Some((_, sum)) => *sum += count,
                None => counts.push((*found, *count)),
            }
        }
        counts
    }
}

/// A cache of recent labels, with a flag for the name of a total.
pub(crate) struct NameMemory {
    entries: Vec<([u8; NAME], u8, bool)>,
}

const NAME: usize = 46;
const NAMES: usize = 1024;

impl NameMemory {
    pub(crate) fn new() -> Self {
        Self { entries: vec![([0; NAME], 0, false); NAMES] }
    }

    #[inline]
    pub(crate) fn is_total(&mut self, cell: &[u8]) -> bool {
        if cell.is_empty() || cell.len() > NAME {
            return false;
        }
        let (first, last) = (cell[0], cell[cell.len() - 1]);
        let middle = cell[cell.len() / 2];
        let at = (usize::from(first) * 31
            + usize::from(last) * 7
            + usize::from(middle)
            + cell.len() * 131)
            % NAMES;
        let entry = &mut self.entries[at];
        if usize::from(entry.1) != cell.len() || entry.0[..cell.len()] != *cell {
            entry.0[..cell.len()].copy_from_slice(cell);
            entry.1 = u8::try_from(cell.len()).unwrap_or(0);
            entry.2 = words::is_total_name(value::text(cell));
        }
        entry.2
    }
}
