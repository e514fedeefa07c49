//! Adds to an export the statements of others about checkpoints: cosignatures of a witness, and
//! time stamps.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use super::{ExportError, Files, Part, Signed};
use crate::chain::stored_frontier;
use crate::note::CosignedNote;

/// The names of the folders, both in the profile and in an export.
const FOLDERS: [&str; 2] = ["witness", "timestamps"];

/// A checkpoint that a witness cosigned.
pub(super) struct Cosigned {
    pub(super) size: u64,
    pub(super) text: String,
}

/// Returns the newest cosigned checkpoint that belongs to this log and its current key.
pub(super) fn newest_cosigned(
    db: &Connection,
    kept: Option<&Path>,
    signed: &Signed,
) -> Result<Option<Cosigned>, ExportError> {
    let Some(folder) = kept.map(|kept| kept.join("witness")) else { return Ok(None) };
    let Some(name) = names(&folder).pop() else { return Ok(None) };
    let Ok(text) = ::files::read_text(&folder.join(name), ::files::OWN) else { return Ok(None) };
    let Ok(CosignedNote { note, .. }) = CosignedNote::parse(&text) else { return Ok(None) };
    let is_ours = note.origin == signed.origin
        && note.size <= signed.size
        && note.check(&signed.key).is_ok()
        && stored_frontier(db, note.size)?.root() == note.root;
    Ok(is_ours.then_some(Cosigned { size: note.size, text }))
}

/// Copies all cosignatures and time stamps into an export of the whole log.
pub(super) fn write(
    files: &mut Files<'_>,
    part: &Part,
    kept: Option<&Path>,
) -> Result<(), ExportError> {
    let (Part::Whole, Some(kept)) = (part, kept) else { return Ok(()) };
    for folder in FOLDERS {
        let names = names(&kept.join(folder));
        if !names.is_empty() {
            files.begin_folder(folder)?;
        }
        for name in names {
            let bytes = ::files::read(&kept.join(folder).join(&name), ::files::OWN)?;
            files.put(&format!("{folder}/{name}"), &bytes)?;
        }
    }
    Ok(())
}

/// Returns the files of a folder in order. Their names begin with the date.
fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let name = |entry: std::io::Result<fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
    let is_kept = |name: &String| name.ends_with(".checkpoint") || name.ends_with(".tsr");
    let mut names: Vec<String> = entries.filter_map(name).filter(is_kept).collect();
    names.sort_unstable();
    names
}
