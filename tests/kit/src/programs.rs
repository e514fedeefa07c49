//! The programs of other crates that tests start.

use std::path::PathBuf;

/// Returns the path of a program, which lies in the folder above that of the tests. Cargo builds
/// only the programs of the crate whose tests it runs, so all other programs must have been built
/// before.
#[track_caller]
pub fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let folder = test.parent().and_then(|deps| deps.parent()).expect("two folders above");
    let program = folder.join(name);
    assert!(program.is_file(), "{} is missing: `make programs` builds it", program.display());
    program
}

/// Returns the folder of the database libraries, which `make drivers` fills.
#[track_caller]
pub fn data_drivers() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let beside = test.ancestors().skip(1).take(4).map(|folder| folder.join("data-drivers"));
    let named = std::env::var_os("CSIGN_DATA_DRIVERS").map(PathBuf::from);
    let found = named.into_iter().chain(beside).find(|folder| folder.join("libduckdb.so").exists());
    found.expect("run `make drivers` first")
}

/// Returns the folder of the Python packages of databases, which `make setup-test` installs: a
/// second driver, and DuckDB's own program.
#[track_caller]
pub fn database_packages() -> PathBuf {
    let python = data_drivers().with_file_name("database-python").join("lib");
    let mut versions = std::fs::read_dir(python).expect("run `make setup-test` first").flatten();
    versions.next().expect("a version of Python").path().join("site-packages")
}
