//! The files that a place names: one file, or all that fit a pattern with `*` in the name. It opens
//! nothing but the folder.

use std::{
    fs,
    path::{Path, PathBuf},
};

use chrono::{DateTime, Utc};
use contract::{AgentError, Reason, text};
use serde::{Deserialize, Serialize};

/// The most files of one pattern.
const MOST_FILES: usize = 10_000;

/// A file as it was when it was imported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileStamp {
    pub(super) path: String,
    pub(super) modified_at: Option<DateTime<Utc>>,
    pub(super) bytes: u64,
}

/// Returns the files of a place, those that changed first before those that changed later.
pub(super) fn find_files(place: &str) -> Result<Vec<PathBuf>, AgentError> {
    let path = Path::new(place);
    if !is_pattern(place) {
        return Ok(vec![path.to_owned()]);
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).map_err(|error| {
        AgentError::invalid(text!(
            "{folder} cannot be read: {error}.",
            folder = folder.display(),
            error
        ))
        .reason("no_folder")
    })?;
    let mut found: Vec<(Option<DateTime<Utc>>, PathBuf)> = entries
        .flatten()
        .filter(|entry| fits(&name, &entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .map(|path| (stamp(&path).modified_at, path))
        .collect();
    // The newest export is read last, so that it counts.
    found.sort();
    if found.is_empty() {
        return Err(
            AgentError::invalid(text!("No file fits {place}.", place)).reason(Reason::NotFound)
        );
    }
    if found.len() > MOST_FILES {
        return Err(AgentError::invalid(text!(
            "More than {most} files fit {place}.",
            most = MOST_FILES,
            place
        ))
        .reason("too_many_files")
        .hint("Name fewer files at a time."));
    }
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// Whether a place names files by a pattern.
pub(super) fn is_pattern(place: &str) -> bool {
    let path = Path::new(place);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    (name.contains('*') || name.contains('?')) && !path.exists()
}

/// Returns what a file is like now.
pub(super) fn stamp(path: &Path) -> FileStamp {
    let meta = fs::metadata(path).ok();
    let modified_at = meta.as_ref().and_then(|meta| meta.modified().ok()).map(DateTime::from);
    let shown = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    FileStamp {
        path: shown.display().to_string(),
        modified_at,
        bytes: meta.map(|meta| meta.len()).unwrap_or_default(),
    }
}

/// Whether a name fits a pattern: `*` is any text, `?` any letter. Hidden files never fit a pattern
/// that does not begin with a point.
fn fits(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut read) = (0, 0);
    // The last `*`, and how much of the name it has taken.
    let mut star: Option<(usize, usize)> = None;
    while read < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(sign) if *sign == '?' || *sign == name[read] => {
                at += 1;
                read += 1;
            }
            _ => {
                let Some((begins, taken)) = star else { return false };
                star = Some((begins, taken + 1));
                at = begins + 1;
                read = taken + 1;
            }
        }
    }
    pattern[at..].iter().all(|sign| *sign == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, is_match) in [
            ("*.csv", "a.csv", true),
            ("ads-*-2026*.csv", "ads-uk-2026-11.csv", true),
            ("ads-?.csv", "ads-1.csv", true),
            ("ads-?.csv", "ads-12.csv", false),
            ("*.csv", "a.csv.tmp", false),
            ("*", ".hidden", false),
            ("a*b*c", "axxbyybzzc", true),
        ] {
            assert_eq!(fits(pattern, name), is_match, "{pattern} {name}");
        }
    }
}
