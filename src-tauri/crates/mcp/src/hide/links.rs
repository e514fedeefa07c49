//! Follows the links in a path, even to places that do not exist yet. The module must not know what
//! the places are for.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The maximum number of links that the kernel follows.
const MOST_LINKS: usize = 40;

/// Returns the links on the path to a place. A program that replaces such a link also replaces the
/// place.
pub(super) fn links_to(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut path = path.to_owned();
    while found.len() < MOST_LINKS {
        let Some(link) = path.ancestors().filter(|place| place.is_symlink()).last() else { break };
        let (Some(folder), Some(name), Ok(target)) =
            (link.parent(), link.file_name(), fs::read_link(link))
        else {
            break;
        };
        found.push(resolve_links(folder).join(name));
        let beyond = path.strip_prefix(link).unwrap_or(Path::new(""));
        // The path is joined from its components, because a trailing slash would make the system
        // follow a link.
        path = folder.join(target).components().chain(beyond.components()).collect();
    }
    found
}

/// Resolves the links in a path, even if its last folders or the targets of links do not exist yet.
pub fn resolve_links(path: &Path) -> PathBuf {
    resolve(path, MOST_LINKS)
}

fn resolve(path: &Path, more: usize) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return path.to_owned();
    };
    let folder = resolve(folder, more);
    let place = folder.join(name);
    match fs::read_link(&place) {
        Ok(target) if more > 0 => resolve(&folder.join(target), more - 1),
        _ => place,
    }
}
