//! The places that a command line names: files, patterns, addresses of databases, and a pipe, which
//! is copied into the data folder so that the host can read it. Knows no format.

use std::{
    fs::{self, DirBuilder, File, Metadata},
    io::{self, IsTerminal as _, Read as _},
    os::{
        fd::{AsFd as _, AsRawFd as _},
        unix::fs::{DirBuilderExt as _, MetadataExt as _},
    },
    path::{Path, PathBuf},
    time::SystemTime,
};

use contract::sources::ImportLimits;
use host::Paths;

use crate::exit::Failure;
use crate::visible::escape_invisible;

/// The name of standard input on a command line.
pub(super) const PIPE: &str = "-";
/// The name of the copy of a pipe, which is shown as the name of the file.
const COPY: &str = "standard_input";

/// Something to import.
#[derive(Debug)]
pub(super) struct Place {
    /// The absolute path, the pattern or the address.
    pub(super) text: String,
    /// The name for messages.
    pub(super) shown: String,
    /// The further names that the command line has for the same file.
    pub(super) other_names: Vec<String>,
    /// The copy of a pipe, which is deleted with the place.
    _copy: Option<PipeCopy>,
}

/// Returns the places of a command line. Files that were changed first come first, so that the
/// newest export is read last. A file that has several names, as links have, is one place.
pub(super) fn find_places(given: &[String], data_dir: &Path) -> Result<Vec<Place>, Failure> {
    if given.iter().filter(|place| *place == PIPE).count() > 1 {
        return Err(Failure::usage_error("Standard input can be read once."));
    }
    let mut places = given
        .iter()
        .map(|place| Ok((fs::metadata(place).ok(), find_place(place, data_dir)?)))
        .collect::<Result<Vec<_>, Failure>>()?;
    places.sort_by_key(|(meta, place)| (changed_at(meta.as_ref()), links_in(&place.text)));
    let mut joined: Vec<(Option<(u64, u64)>, Place)> = Vec::new();
    for (meta, place) in places {
        let file = meta.filter(Metadata::is_file).map(|meta| (meta.dev(), meta.ino()));
        match joined.iter_mut().find(|(known, _)| file.is_some() && *known == file) {
            Some((_, known)) => known.other_names.push(place.shown),
            None => joined.push((file, place)),
        }
    }
    Ok(joined.into_iter().map(|(_, place)| place).collect())
}

/// Returns the time of a file's last change, and None for everything else, which comes first.
fn changed_at(meta: Option<&Metadata>) -> Option<SystemTime> {
    meta.and_then(|meta| meta.modified().ok())
}

/// Returns how many parts of a path are links. A file is read by the name that has the fewest.
fn links_in(path: &str) -> usize {
    Path::new(path).ancestors().filter(|part| part.is_symlink()).count()
}

fn find_place(place: &str, data_dir: &Path) -> Result<Place, Failure> {
    if place == PIPE {
        let copy = PipeCopy::make(data_dir).map_err(|error| {
            Failure::usage_error(format!("Standard input cannot be read: {error}."))
        })?;
        let text = copy.file().display().to_string();
        let shown = "standard input".to_owned();
        return Ok(Place { text, shown, other_names: Vec::new(), _copy: Some(copy) });
    }
    let text = if place.contains("://") { place.to_owned() } else { absolute_path(place)? };
    let (shown, other_names) = (without_password(place), Vec::new());
    Ok(Place { text, shown, other_names, _copy: None })
}

/// Returns the absolute path of a file or folder that need not exist.
pub(super) fn absolute_path(path: &str) -> Result<String, Failure> {
    let absolute = std::path::absolute(path)
        .map_err(|error| Failure::usage_error(format!("{}: {error}", escape_invisible(path))))?;
    Ok(absolute.display().to_string())
}

/// Returns an address without its password, for messages.
fn without_password(place: &str) -> String {
    let Some((scheme, rest)) = place.split_once("://") else { return place.to_owned() };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let Some(at) = rest[..end].rfind('@') else { return place.to_owned() };
    let user = rest[..at].split(':').next().unwrap_or_default();
    format!("{scheme}://{user}{}", &rest[at..])
}

/// Returns the folder for copies of pipes. A person can allow imports from it.
pub(super) fn pipe_folder(data_dir: &Path) -> io::Result<PathBuf> {
    let folder = Paths::new(Some(data_dir.to_owned())).piped_data();
    DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    Ok(folder)
}

/// A copy of standard input in a folder of its own.
#[derive(Debug)]
struct PipeCopy(PathBuf);

impl PipeCopy {
    /// Copies standard input. A terminal that the program runs on then takes the place of the pipe,
    /// so that questions can be answered.
    fn make(data_dir: &Path) -> io::Result<Self> {
        let folder = pipe_folder(data_dir)?;
        delete_old_copies(&folder);
        let own = folder.join(std::process::id().to_string());
        // A crashed process with the same number may have left it.
        let _ = fs::remove_dir_all(&own);
        DirBuilder::new().mode(0o700).create(&own)?;
        let copy = Self(own);
        let most = ImportLimits::default().input_bytes;
        let mut file = files::create(&copy.file())?;
        let input = io::stdin().as_fd().try_clone_to_owned()?;
        let copied = io::copy(&mut File::from(input).take(most + 1), &mut file)?;
        if copied > most {
            return Err(io::Error::other(format!("it has more than {} GiB", most >> 30)));
        }
        drop(file);
        read_from_terminal();
        Ok(copy)
    }

    fn file(&self) -> PathBuf {
        self.0.join(COPY)
    }
}

impl Drop for PipeCopy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Deletes what ended processes left.
fn delete_old_copies(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if !Path::new("/proc").join(name).exists() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Makes the terminal of standard error the standard input, if there is one. The host recognises a
/// person by the terminal at standard input.
fn read_from_terminal() {
    if !io::stderr().is_terminal() {
        return;
    }
    let Ok(terminal) = fs::read_link("/proc/self/fd/2").and_then(File::open) else { return };
    // SAFETY: the call takes open descriptors. It closes the pipe, which is read to its end, and puts
    // the terminal in its place.
    unsafe {
        libc::dup2(terminal.as_raw_fd(), libc::STDIN_FILENO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_an_address_is_not_shown() {
        for (address, shown) in [
            ("postgresql://ada:secret@db:5432/shop", "postgresql://ada@db:5432/shop"),
            ("postgresql://db/shop?x=a@b", "postgresql://db/shop?x=a@b"),
            ("exports/*.csv", "exports/*.csv"),
        ] {
            assert_eq!(without_password(address), shown);
        }
    }

    #[test]
    fn files_are_read_in_the_order_of_their_last_change() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, at: u64| {
            let path = folder.path().join(name);
            let made = File::create(&path).unwrap();
            made.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(at)).unwrap();
            path.display().to_string()
        };
        let given = [file("a.csv", 2_000), file("b.csv", 1_000)];
        let places = find_places(&given, folder.path()).unwrap();
        let texts: Vec<&str> = places.iter().map(|place| place.text.as_str()).collect();
        assert_eq!(texts, [given[1].as_str(), given[0].as_str()]);
        assert!(find_places(&["-".into(), "-".into()], folder.path()).is_err());

        let link = folder.path().join("acme.csv").display().to_string();
        std::os::unix::fs::symlink(&given[0], &link).unwrap();
        let places = find_places(&[link.clone(), given[0].clone()], folder.path()).unwrap();
        assert_eq!(places.len(), 1, "{places:?}");
        assert_eq!((&places[0].text, &places[0].other_names), (&given[0], &vec![link]));
    }
}
