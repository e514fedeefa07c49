//! Finds rows that are equal to earlier ones. A file that was pasted twice repeats its lines in the
//! same order; single equal rows can be right.

use std::collections::HashMap;

/// Equal rows of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Duplicates {
    /// Rows that are equal to an earlier one.
    pub(crate) rows: u64,
    /// Those of them that follow each other as their earlier ones do.
    pub(crate) in_blocks: u64,
    /// The most rows that are equal.
    pub(crate) most: u64,
    /// The positions of the first of them among the stored rows.
    pub(crate) first: Vec<u64>,
    /// The hashes of rows that occur several times, with what is stored of them if a person leaves
    /// equal rows out.
    pub(crate) stored: HashMap<u64, Repeated>,
    /// The number of rows after which all rows follow again in their order.
    pub(crate) period: Option<u64>,
}

/// Rows that are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Repeated {
    /// The position of the first of them while rows are counted. Then the number of these rows among
    /// all that are repeated, from 0 on.
    pub(crate) at: u32,
    /// How many there are, and then how many are stored.
    pub(crate) count: u32,
}

/// The bits of the first look. A hash whose bit is set may have been seen.
const BITS: usize = 1 << 27;
const FIRST: usize = 20;
/// The most times that a file can have been put together with itself.
const MAX_PARTS: usize = 100;

/// Finds equal rows by their hashes, in the order of the rows.
pub(crate) fn find(hashes: &[u64]) -> Duplicates {
    let bits = BITS.min((hashes.len() * 32).next_power_of_two().max(64));
    let mut seen = vec![0_u64; bits / 64];
    let mut candidates: Vec<u64> = Vec::new();
    for hash in hashes {
        let at = usize::try_from(*hash).unwrap_or(0) & (bits - 1);
        let (word, bit) = (at / 64, 1 << (at % 64));
        if seen[word] & bit == 0 {
            seen[word] |= bit;
        } else {
            candidates.push(*hash);
        }
    }
    drop(seen);
    if candidates.is_empty() {
        return Duplicates::default();
    }
    match find_period(hashes) {
        Some(period) => count_parts(hashes, period),
        None => count(hashes, candidates),
    }
}

/// Returns the number of rows after which all rows follow again in their order, if they differ.
fn find_period(hashes: &[u64]) -> Option<usize> {
    let count = hashes.len();
    let periods = (2..=MAX_PARTS).rev().filter(|parts| count.is_multiple_of(*parts));
    let mut periods = periods.map(|parts| count / parts).filter(|period| *period > 1);
    let repeats = |period: usize| hashes[period..] == hashes[..count - period];
    let differs = |period: usize| hashes[..period].iter().any(|hash| *hash != hashes[0]);
    periods.find(|period| repeats(*period) && differs(*period))
}

/// Counts the rows of a file that repeats its first rows.
fn count_parts(hashes: &[u64], period: usize) -> Duplicates {
    let mut stored: HashMap<u64, Repeated> = HashMap::new();
    for hash in &hashes[..period] {
        let at = u32::try_from(stored.len()).unwrap_or(u32::MAX);
        stored.entry(*hash).or_insert(Repeated { at, count: 0 }).count += 1;
    }
    let again = (hashes.len() - period) as u64;
    let most = stored.values().map(|rows| u64::from(rows.count)).max().unwrap_or(0);
    let most = most * (hashes.len() / period) as u64;
    let first = period as u64;
    Duplicates {
        rows: again,
        in_blocks: again,
        most,
        first: (first..first + again.min(FIRST as u64)).collect(),
        stored,
        period: Some(first),
    }
}

/// Counts the rows of hashes that may occur several times. Tables of millions of rows have room for
/// one map only, so that it is also the result.
fn count(hashes: &[u64], candidates: Vec<u64>) -> Duplicates {
    let mut repeated: HashMap<u64, Repeated> =
        candidates.into_iter().map(|hash| (hash, Repeated::default())).collect();
    let mut found = Duplicates::default();
    // The position of the earlier row of the row before.
    let mut before = None;
    for (at, hash) in (0_u32..).zip(hashes) {
        let Some(rows) = repeated.get_mut(hash) else {
            before = None;
            continue;
        };
        rows.count += 1;
        if rows.count == 1 {
            rows.at = at;
            before = None;
            continue;
        }
        found.rows += 1;
        found.most = found.most.max(u64::from(rows.count));
        if found.first.len() < FIRST {
            found.first.push(u64::from(at));
        }
        // A row is in a block if its neighbour repeats the neighbour of its earlier row.
        if let Some((place, counted)) = before
            && place + 1 == rows.at
        {
            found.in_blocks += if counted { 1 } else { 2 };
            before = Some((rows.at, true));
        } else {
            before = Some((rows.at, false));
        }
    }
    repeated.retain(|_, rows| rows.count > 1);
    for (at, rows) in (0..).zip(repeated.values_mut()) {
        *rows = Repeated { at, count: 1 };
    }
    found.stored = repeated;
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_were_pasted_twice_are_a_block() {
        let found = find(&[11, 22, 33, 22, 33, 44]);
        assert_eq!((found.rows, found.in_blocks, found.most), (2, 2, 2));
        assert_eq!(found.first, [3, 4]);
        let found = find(&[11, 22, 33, 44, 22]);
        assert_eq!((found.rows, found.in_blocks), (1, 0));
        assert_eq!(find(&[1, 2, 3]), Duplicates::default());
        let found = find(&[11, 22, 33, 22, 33, 33, 44]);
        assert_eq!(counts(&found), HashMap::from([(22, 1), (33, 1)]));
        let mut numbers: Vec<u32> = found.stored.values().map(|rows| rows.at).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1], "each has a number of its own");
    }

    fn counts(found: &Duplicates) -> HashMap<u64, u32> {
        found.stored.iter().map(|(hash, rows)| (*hash, rows.count)).collect()
    }

    #[test]
    fn a_file_that_repeats_itself_has_its_first_rows_once_with_those_that_are_equal() {
        let found = find(&[11, 22, 22, 22, 33, 11, 22, 22, 22, 33]);
        assert_eq!((found.rows, found.period, found.most), (5, Some(5), 6));
        assert_eq!(found.first, [5, 6, 7, 8, 9]);
        assert_eq!(counts(&found), HashMap::from([(11, 1), (22, 3), (33, 1)]));
        let found = find(&[11, 22, 11, 22, 11, 22, 11, 22]);
        assert_eq!((found.rows, found.period), (6, Some(2)));
        for hashes in [[11, 11, 11, 11], [11, 22, 22, 11], [11, 22, 33, 11]] {
            assert_eq!(find(&hashes).period, None, "{hashes:?}");
        }
    }
}
