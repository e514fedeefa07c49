//! Reads files of a pack. A file must be text, small and inside the pack's folder, also after
//! following links.

use std::{
    io,
    path::{Component, Path, PathBuf},
};

use contract::{Text, text};

/// The size limit in bytes for a file of a pack.
pub(crate) const MAX_BYTES: u64 = 1024 * 1024;

/// Resolves a path that the manifest gives relative to the pack's folder. Only plain names are
/// allowed, and the file must lie inside the pack.
pub(crate) fn resolve_inside(folder: &Path, relative: &str) -> Result<PathBuf, Text> {
    let path = Path::new(relative);
    let plain =
        path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if relative.is_empty() || !plain {
        return Err(text!("`{name}` leads out of the pack's folder", name = relative));
    }
    let full = folder.join(path);
    let (Ok(real), Ok(root)) = (full.canonicalize(), folder.canonicalize()) else {
        return Err(text!("the file `{name}` does not exist in the pack", name = relative));
    };
    if real.starts_with(&root) {
        Ok(full)
    } else {
        Err(text!("`{name}` is a link that leads out of the pack's folder", name = relative))
    }
}

/// Reads a text file of the pack by its relative path.
pub(crate) fn read(folder: &Path, relative: &str) -> Result<String, Text> {
    text(&resolve_inside(folder, relative)?)
}

/// Reads a text file. An error is the reason as a sentence.
pub(crate) fn text(path: &Path) -> Result<String, Text> {
    text_up_to(path, MAX_BYTES)
}

/// Reads a text file of at most `most` bytes.
pub(crate) fn text_up_to(path: &Path, most: u64) -> Result<String, Text> {
    let bytes = ::files::read(path, most).map_err(|error| {
        if error.kind() == io::ErrorKind::FileTooLarge {
            text!("it is larger than {size} KiB", size = most / 1024)
        } else {
            Text::from(format!("it cannot be read: {error}"))
        }
    })?;
    String::from_utf8(bytes).map_err(|_| Text::from("it is not UTF-8 text"))
}
