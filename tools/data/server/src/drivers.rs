//! Where the database libraries are, and loading them. Libraries that ship are loaded by absolute
//! path from one folder; nothing is searched by name, environment or profile.

use std::path::{Path, PathBuf};

use adbc_core::options::AdbcVersion;
use adbc_driver_manager::ManagedDriver;

use crate::DataError;

/// The variable with the folder of the libraries, for tests and for programs that are not installed.
pub const VARIABLE: &str = "CSIGN_DATA_DRIVERS";

/// Where packages install the libraries.
const INSTALLED: &str = "/usr/lib/countersign/data-drivers";

/// The library of DuckDB.
pub const DUCKDB: Library = Library { file: "libduckdb.so", entry: Some("duckdb_adbc_init") };
/// The library for PostgreSQL and Redshift.
pub const POSTGRESQL: Library =
    Library { file: "libadbc_driver_postgresql.so", entry: Some("AdbcDriverPostgresqlInit") };

/// A library that ships.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// The name of the file.
    pub file: &'static str,
    entry: Option<&'static str>,
}

/// Returns the folder with the libraries that ship.
pub fn folder() -> PathBuf {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from).filter(|path| path.is_absolute());
    let program = std::env::current_exe().ok();
    let beside = program.iter().flat_map(|program| program.ancestors().skip(1).take(2));
    named
        .into_iter()
        .chain(beside.map(|folder| folder.join("data-drivers")))
        .find(|folder| folder.join(DUCKDB.file).is_file())
        .unwrap_or_else(|| PathBuf::from(INSTALLED))
}

/// Loads a library that ships.
pub fn load(folder: &Path, library: Library) -> Result<ManagedDriver, DataError> {
    open(&folder.join(library.file), library.entry)
}

/// Loads a library that a person accepted, by its absolute path.
pub fn load_other(path: &Path) -> Result<ManagedDriver, DataError> {
    let unusable = |cause: String| DataError::OtherDriver {
        library: path.display().to_string(),
        cause: cause.trim_end_matches('.').to_owned(),
    };
    if !path.is_absolute() {
        return Err(unusable("the path is not absolute".to_owned()));
    }
    open(path, None).map_err(|error| match error {
        DataError::Driver { cause, .. } => unusable(cause),
        other => other,
    })
}

fn open(path: &Path, entry: Option<&str>) -> Result<ManagedDriver, DataError> {
    let failed = |cause: String| DataError::Driver { library: path.display().to_string(), cause };
    // The manager would look for a name in the library path. An absolute path is opened as it is.
    if !path.is_file() {
        return Err(failed("there is no such file".to_owned()));
    }
    ManagedDriver::load_dynamic_from_filename(path, entry.map(str::as_bytes), AdbcVersion::V110)
        .map_err(|error| failed(error.message))
}
