//! Reads files of a pack: small text files inside the pack's folder, also after following links.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// Bytes of the largest file that is read from a pack.
pub(crate) const MAX_BYTES: u64 = 1024 * 1024;

/// Resolves a path of the manifest, relative to the pack. Only plain names are allowed, and the
/// file must lie inside the pack.
pub(crate) fn resolve_inside(folder: &Path, relative: &str) -> Result<PathBuf, String> {
    let path = Path::new(relative);
    let plain =
        path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if relative.is_empty() || !plain {
        return Err(format!("`{relative}` leads out of the pack's folder"));
    }
    let full = folder.join(path);
    let (Ok(real), Ok(root)) = (full.canonicalize(), folder.canonicalize()) else {
        return Err(format!("the file `{relative}` does not exist in the pack"));
    };
    if real.starts_with(&root) {
        Ok(full)
    } else {
        Err(format!("`{relative}` is a link that leads out of the pack's folder"))
    }
}

/// Reads a text file of the pack by its relative path.
pub(crate) fn read(folder: &Path, relative: &str) -> Result<String, String> {
    text(&resolve_inside(folder, relative)?)
}

/// Reads a text file. An error is a plain reason.
pub(crate) fn text(path: &Path) -> Result<String, String> {
    text_up_to(path, MAX_BYTES)
}

/// Reads a text file of at most `most` bytes.
pub(crate) fn text_up_to(path: &Path, most: u64) -> Result<String, String> {
    let length = fs::metadata(path).map_err(|e| format!("it cannot be read: {e}"))?.len();
    if length > most {
        return Err(format!("it is larger than {} KiB", most / 1024));
    }
    let bytes = fs::read(path).map_err(|e| format!("it cannot be read: {e}"))?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}
