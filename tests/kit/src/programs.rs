//! The programs of other crates that tests start.

use std::path::PathBuf;

/// Returns the path of a program, which lies above the folder of the tests. Cargo builds only the
/// programs of the crate whose tests it runs, so the others have to be there already.
#[track_caller]
pub fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let folder = test.parent().and_then(|deps| deps.parent()).expect("two folders above");
    let program = folder.join(name);
    assert!(program.is_file(), "{} is missing: `make programs` builds it", program.display());
    program
}
