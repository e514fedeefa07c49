//! The layout of C2SP tlog-tiles: which file of a tiled log contains which hashes and entries.
//! Pure: leaves are passed in and files are returned, which an export writes and a verification
//! compares.

use crate::tree::{Frontier, Hash, leaf_hash};

/// The number of hashes in a full tile, and of entries in a full bundle.
const WIDTH: usize = 256;
/// The maximum length of an entry in a bundle, because the length is written with two bytes.
const MAX_ENTRY: usize = 0xffff;

/// A file of the layout. Its path is relative to the folder of the tiled log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TileFile {
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
}

/// Makes the files of a tiled log from its entries, in order.
#[derive(Debug, Default)]
pub(crate) struct Tiler {
    levels: Vec<Level>,
    /// The current bundle. None if an entry is too long, in which case the bundle is left out.
    bundle: Option<Vec<u8>>,
}

/// The newest tile of a level, which is still incomplete.
#[derive(Debug, Default)]
struct Level {
    /// The number of the tile.
    index: u64,
    hashes: Vec<u8>,
    subtree: Frontier,
}

impl Tiler {
    pub(crate) fn new() -> Self {
        Self { levels: Vec::new(), bundle: Some(Vec::new()) }
    }

    /// Adds an entry. Returns the files that the entry completes.
    pub(crate) fn push(&mut self, entry: &[u8]) -> Vec<TileFile> {
        self.bundle = self.bundle.take().filter(|_| entry.len() <= MAX_ENTRY);
        if let Some(bundle) = &mut self.bundle {
            let length = u16::try_from(entry.len()).unwrap_or(u16::MAX);
            bundle.extend_from_slice(&length.to_be_bytes());
            bundle.extend_from_slice(entry);
        }
        let mut done = Vec::new();
        let mut hash = leaf_hash(entry);
        for number in 0.. {
            if self.levels.len() == number {
                self.levels.push(Level::default());
            }
            let Some(level) = self.levels.get_mut(number) else { break };
            level.hashes.extend_from_slice(&hash);
            level.subtree.push(hash);
            if level.width() < WIDTH {
                break;
            }
            if number == 0
                && let Some(bytes) = self.bundle.replace(Vec::new())
            {
                done.push(TileFile { path: bundle_path(level.index, WIDTH), bytes });
            }
            hash = level.subtree.root();
            let bytes = std::mem::take(&mut level.hashes);
            done.push(TileFile { path: tile_path(number, level.index, WIDTH), bytes });
            level.subtree = Frontier::default();
            level.index += 1;
        }
        done
    }

    /// Ends the log. Returns the incomplete files.
    pub(crate) fn finish(self) -> Vec<TileFile> {
        let mut files = Vec::new();
        for (number, level) in self.levels.into_iter().enumerate() {
            let width = level.width();
            if width == 0 {
                continue;
            }
            if number == 0
                && let Some(bytes) = &self.bundle
            {
                let bytes = bytes.clone();
                files.push(TileFile { path: bundle_path(level.index, width), bytes });
            }
            let path = tile_path(number, level.index, width);
            files.push(TileFile { path, bytes: level.hashes });
        }
        files
    }
}

impl Level {
    fn width(&self) -> usize {
        self.hashes.len() / size_of::<Hash>()
    }
}

fn tile_path(level: usize, index: u64, width: usize) -> String {
    format!("tile/{level}/{}", index_path(index, width))
}

fn bundle_path(index: u64, width: usize) -> String {
    format!("tile/entries/{}", index_path(index, width))
}

/// Writes a number in groups of three digits, such as `x001/x234/067`, and the width of a partial
/// tile.
fn index_path(index: u64, width: usize) -> String {
    let mut path = format!("{:03}", index % 1000);
    let mut rest = index / 1000;
    while rest > 0 {
        path = format!("x{:03}/{path}", rest % 1000);
        rest /= 1000;
    }
    if width < WIDTH {
        path.push_str(&format!(".p/{width}"));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tile_paths_follow_the_specification() {
        assert_eq!(tile_path(0, 1_234_067, WIDTH), "tile/0/x001/x234/067");
        assert_eq!(bundle_path(273, 112), "tile/entries/273.p/112");
    }

    /// Uses the example of the specification: a tree of 70,000 entries.
    #[test]
    fn a_tree_of_70_000_entries_has_the_tile_files_of_the_specification() {
        let mut tiler = Tiler::new();
        let mut files: Vec<TileFile> =
            (0u32..70_000).flat_map(|n| tiler.push(&n.to_be_bytes())).collect();
        files.extend(tiler.finish());
        let count = |start: &str, partial: bool| {
            let of_kind = |file: &&TileFile| {
                file.path.starts_with(start) && file.path.contains(".p/") == partial
            };
            files.iter().filter(of_kind).count()
        };
        assert_eq!((count("tile/0/", false), count("tile/entries/", false)), (273, 273));
        assert_eq!((count("tile/1/", false), count("tile/2/", false)), (1, 0));
        for path in ["tile/0/273.p/112", "tile/1/001.p/17", "tile/2/000.p/1"] {
            assert!(files.iter().any(|file| file.path == path), "{path}");
        }
        assert_eq!(files.len(), 273 * 2 + 2 + 1 + 1 + 1);
    }

    #[test]
    fn an_entry_bundle_with_an_overlong_entry_is_left_out() {
        let mut tiler = Tiler::new();
        let mut files = tiler.push(&[1; 0x1_0000]);
        (1..300u32).for_each(|n| files.extend(tiler.push(&n.to_be_bytes())));
        files.extend(tiler.finish());
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(
            paths,
            ["tile/0/000", "tile/entries/001.p/44", "tile/0/001.p/44", "tile/1/000.p/1"]
        );
    }
}
