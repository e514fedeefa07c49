//! Packs for tests only, installed in the folder of a user's packs.

use std::{fs, path::Path};

/// Copies a pack of `tests/data/packs` into a profile's data folder. Returns the pack's folder.
#[track_caller]
pub fn install(name: &str, data_dir: &Path) -> std::path::PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/packs").join(name);
    let folder = data_dir.join("tools").join(name);
    fs::create_dir_all(&folder).expect("a folder");
    for file in
        fs::read_dir(&source).unwrap_or_else(|error| panic!("{}: {error}", source.display()))
    {
        let file = file.expect("an entry");
        // The copy keeps permissions, because a server must be executable.
        fs::copy(file.path(), folder.join(file.file_name())).expect("copied");
    }
    folder
}
