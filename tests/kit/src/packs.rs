//! The packs that exist only for tests, put where an app finds its user's packs.

use std::{fs, path::Path};

/// Copies a pack of `tests/data/packs` into a profile's data folder. Its folder comes back.
#[track_caller]
pub fn install(name: &str, data_dir: &Path) -> std::path::PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/packs").join(name);
    let folder = data_dir.join("tools").join(name);
    fs::create_dir_all(&folder).expect("a folder");
    for file in fs::read_dir(&source).unwrap_or_else(|error| panic!("{}: {error}", source.display())) {
        let file = file.expect("an entry");
        // With its permissions: a server is a program.
        fs::copy(file.path(), folder.join(file.file_name())).expect("copied");
    }
    folder
}
