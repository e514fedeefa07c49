//! The folders from which imports without a person may read files. A person allows each. It must not
//! know what the files contain.

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use contract::{AgentError, AllowedFolder, ErrorCode, text};

use super::storage::Storage;
use crate::servers::quote_word;

/// Reads the folders that a person allowed.
pub(super) fn read_allowed(storage: &Storage) -> Result<Vec<AllowedFolder>, AgentError> {
    let path = storage.allowed_folders();
    if path.is_file() { storage.read_json(&path) } else { Ok(Vec::new()) }
}

/// Allows a folder, or takes the permission back. Returns all allowed folders.
pub(super) fn set_allowed(
    storage: &Storage,
    folder: &str,
    allowed: bool,
    at: DateTime<Utc>,
) -> Result<Vec<AllowedFolder>, AgentError> {
    let mut folders = read_allowed(storage)?;
    let real = real_folder(folder);
    let named =
        real.as_deref().map_or_else(|_| folder.to_owned(), |path| path.display().to_string());
    // A folder can have become a link since it was allowed.
    folders.retain(|known| known.folder != named && known.folder != folder);
    if allowed {
        let real = real?;
        // Everything of the user would be allowed then.
        if real.parent().is_none() || std::env::home_dir().is_some_and(|home| home == real) {
            return Err(AgentError::invalid(text!(
                "{folder} is too wide: name the folder in which the exports are.",
                folder = real.display()
            ))
            .reason("folder_too_wide"));
        }
        folders.push(AllowedFolder { folder: named, at });
        folders.sort_by(|one, other| one.folder.cmp(&other.folder));
    }
    storage.write_json(&storage.allowed_folders(), &folders)?;
    Ok(folders)
}

fn real_folder(folder: &str) -> Result<PathBuf, AgentError> {
    let real = Path::new(folder).canonicalize().ok().filter(|path| path.is_dir());
    real.ok_or_else(|| {
        AgentError::invalid(text!("{folder} is not a folder.", folder)).reason("no_folder")
    })
}

/// Fails unless a file lies in an allowed folder. Links are followed first.
pub(super) fn check_allowed(storage: &Storage, file: &Path) -> Result<(), AgentError> {
    let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let is_within = |allowed: &AllowedFolder| real.starts_with(&allowed.folder);
    if read_allowed(storage)?.iter().any(is_within) {
        return Ok(());
    }
    let folder = real.parent().unwrap_or(&real).display().to_string();
    Err(AgentError::new(
        ErrorCode::ApprovalRequired,
        text!("Nobody allowed imports without a person from {folder}.", folder = &folder),
    )
    .reason("folder_not_allowed")
    .hint(text!(
        "A person can allow it in Data, or in a terminal with: csign data allow {folder}",
        folder = quote_word(&folder)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_below_an_allowed_folder_are_allowed_also_through_links() {
        let root = tempfile::tempdir().unwrap();
        let storage = Storage::new(root.path().join("data"));
        let (inside, outside) = (root.path().join("exports"), root.path().join("other"));
        for folder in [&inside, &outside] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("a.csv"), "x").unwrap();
        }
        std::os::unix::fs::symlink(outside.join("a.csv"), inside.join("link.csv")).unwrap();
        let refused = check_allowed(&storage, &inside.join("a.csv")).unwrap_err();
        assert_eq!(refused.reason_text(), Some("folder_not_allowed"));
        set_allowed(&storage, &inside.display().to_string(), true, Utc::now()).unwrap();
        check_allowed(&storage, &inside.join("a.csv")).unwrap();
        for file in [outside.join("a.csv"), inside.join("link.csv"), inside.join("../other/a.csv")]
        {
            assert!(check_allowed(&storage, &file).is_err(), "{}", file.display());
        }
        assert!(set_allowed(&storage, "/", true, Utc::now()).is_err());
        let left = set_allowed(&storage, &inside.display().to_string(), false, Utc::now()).unwrap();
        assert!(left.is_empty());
    }
}
