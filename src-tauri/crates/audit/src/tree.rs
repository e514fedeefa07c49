//! The Merkle tree of RFC 6962: hashes, the growing frontier, proofs and their checks. Pure: a
//! closure provides the nodes for a proof.

use sha2::{Digest as _, Sha256};

/// A SHA-256 value.
pub type Hash = [u8; 32];

/// Why a proof is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// The index or the size is outside of the tree.
    #[error("the index or size lies outside the tree")]
    OutOfRange,
    /// The proof has too few or too many hashes.
    #[error("the proof has the wrong number of hashes")]
    WrongLength,
    /// The proof is well formed but leads to another root.
    #[error("the proof leads to another root")]
    OtherRoot,
}

/// Returns the hash of a record's body.
pub fn leaf_hash(body: &[u8]) -> Hash {
    Sha256::new().chain_update([0u8]).chain_update(body).finalize().into()
}

/// Returns the hash of two subtrees.
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update([1u8]).chain_update(left).chain_update(right).finalize().into()
}

/// Returns the root of a tree without leaves.
pub fn empty_root() -> Hash {
    Sha256::digest(b"").into()
}

/// Returns the row number of the complete inner node `index` (from 0) of `level` (from 1). Nodes
/// are numbered from 1 in the order of their completion.
pub fn node_id(level: u32, index: u64) -> u64 {
    let last_leaf = ((index + 1) << level) - 1;
    nodes_below(last_leaf) + u64::from(level)
}

/// Returns how many inner nodes are complete when the tree has `size` leaves.
pub fn nodes_below(size: u64) -> u64 {
    size - u64::from(size.count_ones())
}

/// The complete subtrees at the right edge, which are enough to append leaves and to compute the
/// root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    /// The roots of the subtrees from largest to smallest, one for each set bit of `size`.
    peaks: Vec<Hash>,
}

impl Frontier {
    /// Creates the frontier of a tree of `size` leaves from its peaks (largest first).
    pub fn from_peaks(size: u64, peaks: Vec<Hash>) -> Option<Self> {
        (peaks.len() == size.count_ones() as usize).then_some(Self { size, peaks })
    }

    /// Returns the number of leaves.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Appends a leaf. Returns the inner nodes that the leaf completes, lowest first, with their
    /// row numbers.
    pub fn push(&mut self, leaf: Hash) -> Vec<(u64, Hash)> {
        let mut done = Vec::new();
        let mut id = nodes_below(self.size);
        let mut hash = leaf;
        let mut rest = self.size;
        while rest & 1 == 1 {
            let Some(left) = self.peaks.pop() else { break };
            hash = node_hash(&left, &hash);
            id += 1;
            done.push((id, hash));
            rest >>= 1;
        }
        self.peaks.push(hash);
        self.size += 1;
        done
    }

    /// Returns the root over all leaves.
    pub fn root(&self) -> Hash {
        let mut smaller = self.peaks.iter().rev();
        let Some(first) = smaller.next() else { return empty_root() };
        smaller.fold(*first, |right, left| node_hash(left, &right))
    }
}

/// Returns the peaks of a tree of `size` leaves, largest first, as `(level, index)`; level 0 is a
/// leaf.
pub fn peaks(size: u64) -> Vec<(u32, u64)> {
    let mut places = Vec::new();
    let mut start = 0u64;
    for level in (0..u64::BITS).rev() {
        if size >> level & 1 == 1 {
            places.push((level, start >> level));
            start += 1 << level;
        }
    }
    places
}

/// Returns the inclusion proof of leaf `index` (from 0) in a tree of `size`. `node(level, index)`
/// provides complete subtrees.
pub fn prove_inclusion<E>(
    index: u64,
    size: u64,
    node: &mut impl FnMut(u32, u64) -> Result<Hash, E>,
) -> Result<Vec<Hash>, E> {
    let mut proof = Vec::new();
    let (mut low, mut high) = (0, size);
    while high - low > 1 {
        let middle = low + split(high - low);
        if index < middle {
            proof.push(range(middle, high, node)?);
            high = middle;
        } else {
            proof.push(range(low, middle, node)?);
            low = middle;
        }
    }
    proof.reverse();
    Ok(proof)
}

/// Returns the proof that the tree of `size2` begins with the tree of `size1`. The proof is empty
/// if one tree is empty or both trees are the same.
pub fn prove_consistency<E>(
    size1: u64,
    size2: u64,
    node: &mut impl FnMut(u32, u64) -> Result<Hash, E>,
) -> Result<Vec<Hash>, E> {
    let mut proof = Vec::new();
    if size1 == 0 || size1 >= size2 {
        return Ok(proof);
    }
    let (mut low, mut high) = (0, size2);
    // Descends to the range in which the first tree ends exactly at the end of the range.
    while size1 != high {
        let middle = low + split(high - low);
        if size1 <= middle {
            proof.push(range(middle, high, node)?);
            high = middle;
        } else {
            proof.push(range(low, middle, node)?);
            low = middle;
        }
    }
    // The verifier already knows the first tree's own root.
    if low > 0 {
        proof.push(range(low, high, node)?);
    }
    proof.reverse();
    Ok(proof)
}

/// Returns the hash of the leaves `low..high`, which must be a subtree of RFC 6962.
fn range<E>(
    low: u64,
    high: u64,
    node: &mut impl FnMut(u32, u64) -> Result<Hash, E>,
) -> Result<Hash, E> {
    let width = high - low;
    if width.is_power_of_two() {
        let level = width.trailing_zeros();
        return node(level, low >> level);
    }
    let middle = low + split(width);
    let left = range(low, middle, node)?;
    let right = range(middle, high, node)?;
    Ok(node_hash(&left, &right))
}

/// Returns the largest power of two below `width` (at least 2).
fn split(width: u64) -> u64 {
    1 << (u64::BITS - 1 - (width - 1).leading_zeros())
}

/// Checks that `leaf` is number `index` of the tree of `size` with this root.
pub fn check_inclusion(
    index: u64,
    size: u64,
    leaf: &Hash,
    proof: &[Hash],
    root: &Hash,
) -> Result<(), ProofError> {
    let proven = root_of_proof(index, size, leaf, proof)?;
    if proven == *root { Ok(()) } else { Err(ProofError::OtherRoot) }
}

/// Returns the root of the tree of `size` in which the proof places `leaf` as number `index`.
pub fn root_of_proof(
    index: u64,
    size: u64,
    leaf: &Hash,
    proof: &[Hash],
) -> Result<Hash, ProofError> {
    if index >= size {
        return Err(ProofError::OutOfRange);
    }
    let (mut place, mut last) = (index, size - 1);
    let mut hash = *leaf;
    for step in proof {
        if last == 0 {
            return Err(ProofError::WrongLength);
        }
        if place & 1 == 1 || place == last {
            hash = node_hash(step, &hash);
            while place & 1 == 0 && place != 0 {
                place >>= 1;
                last >>= 1;
            }
        } else {
            hash = node_hash(&hash, step);
        }
        place >>= 1;
        last >>= 1;
    }
    if last == 0 { Ok(hash) } else { Err(ProofError::WrongLength) }
}

/// Checks that the tree of `size2` begins with the tree of `size1`.
pub fn check_consistency(
    size1: u64,
    size2: u64,
    proof: &[Hash],
    root1: &Hash,
    root2: &Hash,
) -> Result<(), ProofError> {
    // Every tree begins with the empty tree, so that check would prove nothing.
    if size1 > size2 || size1 == 0 {
        return Err(ProofError::OutOfRange);
    }
    if size1 == size2 {
        return match (proof.is_empty(), root1 == root2) {
            (true, true) => Ok(()),
            (false, _) => Err(ProofError::WrongLength),
            (true, false) => Err(ProofError::OtherRoot),
        };
    }
    let (mut place, mut last) = (size1 - 1, size2 - 1);
    while place & 1 == 1 {
        place >>= 1;
        last >>= 1;
    }
    let mut steps = proof.iter();
    let start = if size1.is_power_of_two() {
        root1
    } else {
        steps.next().ok_or(ProofError::WrongLength)?
    };
    let (mut old, mut new) = (*start, *start);
    for step in steps {
        if last == 0 {
            return Err(ProofError::WrongLength);
        }
        if place & 1 == 1 || place == last {
            old = node_hash(step, &old);
            new = node_hash(step, &new);
            while place & 1 == 0 && place != 0 {
                place >>= 1;
                last >>= 1;
            }
        } else {
            new = node_hash(&new, step);
        }
        place >>= 1;
        last >>= 1;
    }
    if last != 0 {
        return Err(ProofError::WrongLength);
    }
    if old == *root1 && new == *root2 { Ok(()) } else { Err(ProofError::OtherRoot) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(n: u64) -> Vec<Hash> {
        (0..n).map(|i| leaf_hash(&i.to_be_bytes())).collect()
    }

    fn slow_root(leaves: &[Hash]) -> Hash {
        match leaves {
            [] => empty_root(),
            [one] => *one,
            more => {
                let k = split(more.len() as u64) as usize;
                node_hash(&slow_root(&more[..k]), &slow_root(&more[k..]))
            }
        }
    }

    #[test]
    fn tree_roots_and_proofs_match_the_recursive_definition() {
        let all = leaves(70);
        let mut frontier = Frontier::default();
        let mut stored = std::collections::BTreeMap::new();
        for (n, leaf) in all.iter().enumerate() {
            for (id, hash) in frontier.push(*leaf) {
                assert!(stored.insert(id, hash).is_none());
            }
            let size = n as u64 + 1;
            assert_eq!(frontier.root(), slow_root(&all[..=n]));
            assert_eq!(stored.len() as u64, nodes_below(size));
            let mut node = |level: u32, index: u64| -> Result<Hash, ()> {
                if level == 0 {
                    Ok(all[index as usize])
                } else {
                    stored.get(&node_id(level, index)).copied().ok_or(())
                }
            };
            for index in 0..size {
                let proof = prove_inclusion(index, size, &mut node).unwrap();
                check_inclusion(index, size, &all[index as usize], &proof, &frontier.root())
                    .unwrap();
            }
            for earlier in 1..=size {
                let proof = prove_consistency(earlier, size, &mut node).unwrap();
                let (old, new) = (slow_root(&all[..earlier as usize]), frontier.root());
                check_consistency(earlier, size, &proof, &old, &new).unwrap();
            }
            let again = peaks(size).into_iter().map(|(l, i)| node(l, i).unwrap()).collect();
            assert_eq!(Frontier::from_peaks(size, again), Some(frontier.clone()));
        }
    }
}
