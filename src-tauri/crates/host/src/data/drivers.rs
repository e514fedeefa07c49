//! Libraries of drivers that the app does not bring: where they are found, and the acceptance by a
//! person. A library is code, so a copy of the accepted bytes is kept and loaded, and a library
//! that has changed is not used until it is accepted again. It must not know what a driver does.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use contract::{AgentError, Text, text};
use parking_lot::Mutex;
use serde::Deserialize;

use super::{hashes::hash_file, storage::Storage};

/// The hashes of files that were read, with what changes when the file changes. Libraries are large.
static HASHES: Mutex<BTreeMap<PathBuf, (Stamp, String)>> = Mutex::new(BTreeMap::new());

/// Device, number, size and the time of the last change of a file, which no program can set.
type Stamp = (u64, u64, u64, i64, i64);

/// The largest manifest of a driver in bytes.
const MANIFEST: u64 = 64 << 10;
/// The folders of manifests, below the home folder and absolute.
const USER_MANIFESTS: &str = ".config/adbc/drivers";
const SYSTEM_MANIFESTS: &str = "/etc/adbc/drivers";
/// The name of this computer's programs in manifests.
const PLATFORM: &str = if cfg!(target_arch = "aarch64") { "linux_arm64" } else { "linux_amd64" };

/// The drivers of schemes that have another name than their driver.
const NAMES: [(&str, &str); 6] = [
    ("sc", "spark"),
    ("grpc", "flightsql"),
    ("grpc+tcp", "flightsql"),
    ("grpc+tls", "flightsql"),
    ("flightsql", "flightsql"),
    ("postgres", "postgresql"),
];

/// The library of a driver, as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Library {
    pub(super) path: PathBuf,
    /// The SHA-256 of its bytes.
    pub(super) hash: String,
}

/// Whether a person accepted a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Acceptance {
    /// The accepted copy.
    Accepted(PathBuf),
    /// The library was accepted when it had other bytes.
    Changed,
    Never,
}

/// The file with the accepted libraries: hashes by path.
type Accepted = BTreeMap<String, String>;

/// The parts of a manifest that count.
#[derive(Deserialize)]
struct Manifest {
    #[serde(rename = "Driver")]
    driver: ManifestDriver,
}

#[derive(Deserialize)]
struct ManifestDriver {
    shared: Shared,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Shared {
    One(String),
    Each(BTreeMap<String, String>),
}

/// Returns the name of the driver for a scheme.
pub(super) fn driver_name(scheme: &str) -> &str {
    NAMES.iter().find(|(known, _)| *known == scheme).map_or(scheme, |(_, driver)| driver)
}

/// Returns the library of an installed driver, as its manifest says. None if it is not installed.
pub(super) fn find_installed(scheme: &str) -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(USER_MANIFESTS));
    let folders = home.into_iter().chain([PathBuf::from(SYSTEM_MANIFESTS)]);
    find_in(folders, driver_name(scheme))
}

fn find_in(folders: impl IntoIterator<Item = PathBuf>, name: &str) -> Option<PathBuf> {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-+".contains(&byte));
    let mut folders = folders.into_iter().filter(|_| is_plain && !name.is_empty());
    folders.find_map(|folder| read_manifest(&folder.join(format!("{name}.toml"))))
}

fn read_manifest(path: &Path) -> Option<PathBuf> {
    let mut text = String::new();
    files::open(path).ok()?.take(MANIFEST).read_to_string(&mut text).ok()?;
    let manifest: Manifest = toml::from_str(&text)
        .inspect_err(|error| {
            tracing::warn!(%error, path = %path.display(), "the manifest of a driver cannot be read");
        })
        .ok()?;
    let library = match manifest.driver.shared {
        Shared::One(library) => library,
        Shared::Each(mut libraries) => libraries.remove(PLATFORM)?,
    };
    // A relative path could lead to any library.
    Some(PathBuf::from(library)).filter(|library| library.is_absolute())
}

impl Library {
    /// Reads a library. Blocks for as long as its bytes take.
    pub(super) fn read(path: &Path) -> Result<Self, AgentError> {
        let missing = |cause: Text| {
            AgentError::invalid(text!(
                "The driver {file} cannot be read: {cause}.",
                file = path.display().to_string(),
                cause
            ))
            .reason("driver_missing")
            .hint("Name the library of the driver by its absolute path (in a terminal: --answer library=PATH).")
        };
        if !path.is_absolute() {
            return Err(missing("the path is not absolute".into()));
        }
        let path = path.canonicalize().map_err(|error| missing(error.to_string().into()))?;
        if !path.is_file() {
            return Err(missing("it is no file".into()));
        }
        let hash = hash_once(&path).map_err(|error| missing(error.to_string().into()))?;
        Ok(Self { path, hash })
    }

    /// Returns whether a person accepted the library.
    pub(super) fn acceptance(&self, storage: &Storage) -> Result<Acceptance, AgentError> {
        let copy = storage.accepted_library(&self.hash);
        Ok(match read_accepted(storage)?.get(&self.path.display().to_string()) {
            // The copy may be damaged, or deleted by hand.
            Some(hash) if *hash == self.hash && hash_once(&copy).is_ok_and(|own| own == *hash) => {
                Acceptance::Accepted(copy)
            }
            Some(_) => Acceptance::Changed,
            None => Acceptance::Never,
        })
    }

    /// Keeps the library as accepted. Returns the copy that may be loaded. Fails if the bytes are no
    /// longer those that were accepted.
    pub(super) fn accept(&self, storage: &Storage) -> Result<PathBuf, AgentError> {
        let copy = storage.accepted_library(&self.hash);
        let failed = |error: io::Error| storage.unusable(&copy, &error);
        let folder = copy.parent().unwrap_or(&copy);
        storage.create(folder)?;
        let new = copy.with_extension("new");
        let _ = fs::remove_file(&new);
        let mut source = files::open(&self.path).map_err(failed)?;
        let mut target = files::create(&new).map_err(failed)?;
        io::copy(&mut source, &mut target).map_err(failed)?;
        target.sync_all().map_err(failed)?;
        drop(target);
        if hash_file(&new).map_err(failed)? != self.hash {
            let _ = fs::remove_file(&new);
            return Err(changed_meanwhile(&self.path));
        }
        fs::rename(&new, &copy).map_err(failed)?;
        let mut accepted = read_accepted(storage)?;
        accepted.insert(self.path.display().to_string(), self.hash.clone());
        storage.write_json(&storage.accepted_libraries(), &accepted)?;
        remove_others(folder, &accepted);
        Ok(copy)
    }
}

/// Returns the SHA-256 of a file, which is computed again if the file has changed.
fn hash_once(path: &Path) -> io::Result<String> {
    let meta = fs::metadata(path)?;
    let stamp = (meta.dev(), meta.ino(), meta.len(), meta.ctime(), meta.ctime_nsec());
    if let Some((known, hash)) = HASHES.lock().get(path)
        && *known == stamp
    {
        return Ok(hash.clone());
    }
    let hash = hash_file(path)?;
    HASHES.lock().insert(path.to_owned(), (stamp, hash.clone()));
    Ok(hash)
}

fn read_accepted(storage: &Storage) -> Result<Accepted, AgentError> {
    let path = storage.accepted_libraries();
    if path.is_file() { storage.read_json(&path) } else { Ok(Accepted::new()) }
}

/// Deletes copies of libraries that have been replaced. A process that has one loaded keeps it.
fn remove_others(folder: &Path, accepted: &Accepted) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if !accepted.values().any(|hash| *hash == stem)
            && let Err(error) = fs::remove_file(&path)
        {
            tracing::warn!(%error, path = %path.display(), "an old driver cannot be deleted");
        }
    }
}

fn changed_meanwhile(path: &Path) -> AgentError {
    AgentError::invalid(text!(
        "The driver {file} changed while it was accepted.",
        file = path.display().to_string()
    ))
    .reason("driver_changed")
    .hint("Connect the database again when the driver is installed.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_is_found_by_its_manifest() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("trino.toml", "name = 'Trino'\n[Driver]\nshared = '/opt/libtrino.so'\n");
        write(
            "spark.toml",
            &format!(
                "[Driver]\nentrypoint = 'x'\n[Driver.shared]\n{PLATFORM} = '/opt/libspark.so'\n"
            ),
        );
        write("near.toml", "[Driver]\nshared = 'libnear.so'\n");
        write("odd.toml", "[Driver\n");
        let find = |scheme: &str| find_in([folder.path().to_owned()], driver_name(scheme));
        assert_eq!(find("trino"), Some("/opt/libtrino.so".into()));
        assert_eq!(find("sc"), Some("/opt/libspark.so".into()));
        for scheme in ["near", "odd", "missing", "", "../trino"] {
            assert_eq!(find(scheme), None, "{scheme}");
        }
    }

    #[test]
    fn a_changed_library_has_to_be_accepted_again() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::new(folder.path().join("data"));
        storage.prepare().unwrap();
        let path = folder.path().join("libdriver.so");
        fs::write(&path, "one").unwrap();
        let first = Library::read(&path).unwrap();
        assert_eq!(first.acceptance(&storage).unwrap(), Acceptance::Never);
        let copy = first.accept(&storage).unwrap();
        assert_eq!(first.acceptance(&storage).unwrap(), Acceptance::Accepted(copy.clone()));
        fs::write(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&copy).unwrap(), "one", "what was accepted stays");
        let second = Library::read(&path).unwrap();
        assert_eq!(second.acceptance(&storage).unwrap(), Acceptance::Changed);
        assert!(first.accept(&storage).is_err(), "the bytes are no longer those");
        second.accept(&storage).unwrap();
        assert!(!copy.exists(), "the former library is gone");
        fs::write(storage.accepted_library(&second.hash), "three").unwrap();
        assert_eq!(second.acceptance(&storage).unwrap(), Acceptance::Changed);
        assert!(Library::read(Path::new("libdriver.so")).is_err());
        assert!(Library::read(&folder.path().join("missing.so")).is_err());
    }
}
