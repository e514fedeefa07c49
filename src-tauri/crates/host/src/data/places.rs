//! The files that a place names: one file, or all that fit a pattern with `*` in the names of the file
//! and its folders. It opens nothing but folders.

use std::{
    collections::HashMap,
    fs::{self, Metadata},
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use chrono::{DateTime, Utc};
use contract::{AgentError, Reason, SourceAddParams, Text, text};
use serde::{Deserialize, Serialize};

/// The most files of one pattern.
const MOST_FILES: usize = 10_000;
/// The most names of files that a note lists.
const MOST_NAMES: usize = 5;

/// A file as it was when it was imported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileStamp {
    pub(super) path: String,
    pub(super) modified_at: Option<DateTime<Utc>>,
    pub(super) bytes: u64,
}

/// The files of a place, each once.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FoundFiles {
    /// Those that changed first come before those that changed later.
    pub(super) files: Vec<PathBuf>,
    /// Further names of these files, such as links to them, each with the name above.
    other_names: Vec<(PathBuf, PathBuf)>,
}

impl FoundFiles {
    /// Takes out the files of which this is true by one of their names, and returns them.
    pub(super) fn take_out(&mut self, is_out: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
        let others = self.other_names.iter().filter(|(other, _)| is_out(other));
        let by_other: Vec<&PathBuf> = others.map(|(_, file)| file).collect();
        let (out, left) = std::mem::take(&mut self.files)
            .into_iter()
            .partition(|file| is_out(file) || by_other.contains(&file));
        self.files = left;
        out
    }

    /// Returns the note about files that have several names. None if each has one.
    pub(super) fn note_other_names(&self) -> Option<Text> {
        let others: Vec<_> =
            self.other_names.iter().filter(|(_, file)| self.files.contains(file)).collect();
        let all = others.iter().map(|(other, _)| other).chain(&self.files);
        let all: Vec<PathBuf> = all.cloned().collect();
        let names: Vec<String> = others
            .iter()
            .take(MOST_NAMES)
            .map(|(other, file)| {
                format!("{} = {}", name_among(other, &all), name_among(file, &all))
            })
            .collect();
        let names = names.join(", ");
        match others.len() {
            0 => None,
            count if count > MOST_NAMES => Some(text!(
                "Files that have several names are imported once: {names} and {more} more.",
                names,
                more = count - MOST_NAMES
            )),
            _ => Some(text!("Files that have several names are imported once: {names}.", names)),
        }
    }
}

/// Returns the files of a place.
pub(super) fn find_files(place: &str) -> Result<FoundFiles, AgentError> {
    if !is_pattern(place) {
        return Ok(FoundFiles { files: vec![PathBuf::from(place)], other_names: Vec::new() });
    }
    let found = join_names(expand(place)?);
    if found.files.is_empty() {
        return Err(
            AgentError::invalid(text!("No file fits {place}.", place)).reason(Reason::NotFound)
        );
    }
    Ok(found)
}

/// The time of the last change of a file, and its names.
type NamesOfFile = (Option<DateTime<Utc>>, Vec<PathBuf>);

/// Finds the paths that are names of the same file: links lead to it, and hard links are it. The
/// path with the fewest links names it, because that is where its rows belong.
fn join_names(paths: Vec<PathBuf>) -> FoundFiles {
    let mut known: HashMap<(u64, u64), NamesOfFile> = HashMap::new();
    for path in paths {
        let Some(meta) = fs::metadata(&path).ok().filter(Metadata::is_file) else { continue };
        let found = known.entry((meta.dev(), meta.ino())).or_default();
        found.0 = changed_at(&meta);
        found.1.push(path);
    }
    let mut files = Vec::new();
    let mut other_names = Vec::new();
    for (changed, mut names) in known.into_values() {
        if names.len() > 1 {
            names.sort_by_cached_key(|path| (links_in(path), path.clone()));
        }
        let mut names = names.into_iter();
        let Some(file) = names.next() else { continue };
        other_names.extend(names.map(|other| (other, file.clone())));
        files.push((changed, file));
    }
    // The newest export is read last, so that it counts.
    files.sort();
    other_names.sort();
    FoundFiles { files: files.into_iter().map(|(_, file)| file).collect(), other_names }
}

/// Returns how many parts of a path are links.
fn links_in(path: &Path) -> usize {
    path.ancestors().filter(|part| part.is_symlink()).count()
}

/// Returns the paths that fit a pattern.
fn expand(place: &str) -> Result<Vec<PathBuf>, AgentError> {
    let (mut found, mut is_one) = (vec![PathBuf::new()], true);
    for part in Path::new(place).components() {
        let name = part.as_os_str().to_string_lossy();
        let mut next = Vec::new();
        for folder in found {
            let own = folder.join(part);
            if !has_wildcard(&name) || own.exists() {
                next.push(own);
                continue;
            }
            match entries(&folder, &name) {
                Ok(fitting) => next.extend(fitting),
                // Beside the folders that fit there may be files, and folders without the next one.
                Err(error) if !is_one && is_absent(&error) => {}
                Err(error) => return Err(unreadable(&folder, &error)),
            }
            if next.len() > MOST_FILES {
                return Err(too_many(place));
            }
        }
        is_one &= !has_wildcard(&name);
        found = next;
    }
    Ok(found)
}

/// Returns what is in a folder and has a name that fits a pattern.
fn entries(folder: &Path, pattern: &str) -> io::Result<Vec<PathBuf>> {
    let here = Path::new(".");
    let folder = if folder.as_os_str().is_empty() { here } else { folder };
    let entries = fs::read_dir(folder)?.flatten();
    let fitting = entries.filter(|entry| fits(pattern, &entry.file_name().to_string_lossy()));
    Ok(fitting.map(|entry| entry.path()).collect())
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn unreadable(folder: &Path, error: &io::Error) -> AgentError {
    AgentError::invalid(text!(
        "{folder} cannot be read: {error}.",
        folder = folder.display(),
        error
    ))
    .reason("no_folder")
}

fn too_many(place: &str) -> AgentError {
    AgentError::invalid(text!("More than {most} files fit {place}.", most = MOST_FILES, place))
        .reason("too_many_files")
        .hint("Name fewer files at a time.")
}

/// Returns the shortest end of a file's path that no other file has: its name, if no other file has
/// the same.
pub(super) fn name_among(file: &Path, files: &[PathBuf]) -> String {
    let parts: Vec<_> = file.components().collect();
    let mut ends = (0..parts.len()).rev().map(|at| parts[at..].iter().collect::<PathBuf>());
    let is_own = |end: &PathBuf| files.iter().filter(|other| other.ends_with(end)).count() < 2;
    ends.find(is_own).unwrap_or_else(|| file.to_owned()).display().to_string()
}

/// Returns what an import reads, for people: the name of the file or pattern, or the source or driver
/// of a database, because an address can hold a secret.
pub(super) fn shown(params: &SourceAddParams) -> String {
    let place = params.place.as_str();
    if let Some((scheme, _)) = place.split_once("://") {
        return params.name.as_ref().map_or_else(|| scheme.to_owned(), ToString::to_string);
    }
    let name = Path::new(place).file_name();
    name.map_or_else(|| place.to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Whether a place names files by a pattern.
pub(super) fn is_pattern(place: &str) -> bool {
    has_wildcard(place) && !Path::new(place).exists()
}

fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Returns what a file is like now.
pub(super) fn stamp(path: &Path) -> FileStamp {
    stamp_of(path, fs::metadata(path).ok().as_ref())
}

/// Returns what the file of a path is like by what the system tells about it.
pub(super) fn stamp_of(path: &Path, meta: Option<&Metadata>) -> FileStamp {
    let shown = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    FileStamp {
        path: shown.display().to_string(),
        modified_at: meta.and_then(changed_at),
        bytes: meta.map(Metadata::len).unwrap_or_default(),
    }
}

/// Returns when a file changed.
pub(super) fn changed_at(meta: &Metadata) -> Option<DateTime<Utc>> {
    meta.modified().ok().map(DateTime::from)
}

/// Whether the name of a file or folder fits a pattern. Hidden ones never fit a pattern that does not
/// begin with a point.
fn fits(pattern: &str, name: &str) -> bool {
    (pattern.starts_with('.') || !name.starts_with('.')) && is_match(pattern, name)
}

/// Whether a text fits a pattern: `*` is any text, `?` any letter.
pub(super) fn is_match(pattern: &str, name: &str) -> bool {
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
    fn the_shown_name_of_an_import_has_no_secret() {
        let import = |place: &str, name: Option<&str>| SourceAddParams {
            place: place.to_owned(),
            name: name.map(Into::into),
            decisions: contract::sources::ImportDecisions::default(),
            unattended: false,
            forget_remembered: false,
        };
        assert_eq!(shown(&import("/exports/november.csv", None)), "november.csv");
        assert_eq!(shown(&import("exports/*.csv", Some("ads"))), "*.csv");
        assert_eq!(shown(&import("postgresql://ana:secret@db/shop", None)), "postgresql");
        assert_eq!(shown(&import("postgresql://ana:secret@db/shop", Some("shop"))), "shop");
    }

    #[test]
    fn a_pattern_has_wildcards_in_folders_too_and_the_newest_file_comes_last() {
        let root = tempfile::tempdir().unwrap();
        let made = |name: &str, at: u64| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let file = fs::File::create(&path).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(at)).unwrap();
            path
        };
        let late = made("clients/acme/10.csv", 2_000);
        let early = made("clients/bolt/10.csv", 1_000);
        made("clients/readme.csv", 1_000);
        made("clients/.old/10.csv", 1_000);
        made("clients/crux/10.txt", 1_000);
        let found = |pattern: &str| {
            find_files(&root.path().join(pattern).display().to_string()).map(|found| found.files)
        };
        assert_eq!(found("clients/*/*.csv").unwrap(), [early.clone(), late.clone()]);
        assert_eq!(found("clients/*/10.csv").unwrap(), [early.clone(), late.clone()]);
        assert_eq!(found("cl*/a???/*.csv").unwrap(), std::slice::from_ref(&late));
        assert!(found("clients/*/*.xlsx").unwrap_err().message.contains("No file fits"));
        assert_eq!(found("none/*.csv").unwrap_err().reason_text(), Some("no_folder"));
        assert_eq!(name_among(&late, &[late.clone(), early]), "acme/10.csv");
        assert_eq!(name_among(&late, std::slice::from_ref(&late)), "10.csv");
    }

    #[test]
    fn a_file_that_has_several_names_is_found_once_and_that_is_told() {
        let root = tempfile::tempdir().unwrap();
        let clients = root.path().join("clients");
        let file = clients.join("bolt/10.csv");
        for folder in ["acme", "bolt", "crux"] {
            fs::create_dir_all(clients.join(folder)).unwrap();
        }
        fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink(&file, clients.join("acme/10.csv")).unwrap();
        fs::hard_link(&file, clients.join("crux/10.csv")).unwrap();
        std::os::unix::fs::symlink(clients.join("bolt"), clients.join("latest")).unwrap();
        let place = clients.join("*/*.csv").display().to_string();
        let mut found = find_files(&place).unwrap();
        assert_eq!(found.files, std::slice::from_ref(&file), "the one without links");
        let note = found.note_other_names().unwrap();
        for name in ["acme/10.csv", "crux/10.csv", "latest/10.csv"] {
            assert!(note.contains(&format!("{name} = bolt/10.csv")), "{note}");
        }
        let own = clients.join("crux/10.csv");
        assert_eq!(found.take_out(|path| path == own), [file], "known by another name");
        assert_eq!((found.files.len(), found.note_other_names()), (0, None));
    }

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
