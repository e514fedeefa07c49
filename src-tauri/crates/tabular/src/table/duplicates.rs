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
    /// The hashes of rows that occur several times.
    pub(crate) hashes: Vec<u64>,
}

/// The bits of the first look. A hash whose bit is set may have been seen.
const BITS: usize = 1 << 27;
const FIRST: usize = 20;

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
    count(hashes, candidates)
}

/// Counts the rows of hashes that may occur several times.
fn count(hashes: &[u64], candidates: Vec<u64>) -> Duplicates {
    let mut places: HashMap<u64, (u64, u64)> =
        candidates.into_iter().map(|hash| (hash, (u64::MAX, 0))).collect();
    let mut found = Duplicates::default();
    // The position of the earlier row of the row before.
    let mut before = None;
    for (at, hash) in hashes.iter().enumerate() {
        let at = at as u64;
        let Some((first, count)) = places.get_mut(hash) else {
            before = None;
            continue;
        };
        *count += 1;
        if *first == u64::MAX {
            *first = at;
            before = None;
            continue;
        }
        found.rows += 1;
        found.most = found.most.max(*count);
        if found.first.len() < FIRST {
            found.first.push(at);
        }
        // A row is in a block if its neighbour repeats the neighbour of its earlier row.
        if let Some((place, counted)) = before
            && place + 1 == *first
        {
            found.in_blocks += if counted { 1 } else { 2 };
            before = Some((*first, true));
        } else {
            before = Some((*first, false));
        }
    }
    found.hashes =
        places.iter().filter(|(_, (_, count))| *count > 1).map(|(hash, _)| *hash).collect();
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
    }
}
