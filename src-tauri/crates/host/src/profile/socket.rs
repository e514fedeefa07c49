//! The path of a profile's local socket. Knows no protocol.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use super::{paths::Paths, user::effective_user};

/// The maximum length of a socket's address in bytes, with a margin.
const ADDRESS_BYTES: usize = 100;

/// Returns the path of a profile's socket. The name does not reveal the data folder.
pub(crate) fn socket_path(paths: &Paths) -> io::Result<PathBuf> {
    let data = fs::canonicalize(&paths.data)?;
    let name = format!("{}.sock", &engine::sha256_hex(data.as_os_str().as_encoded_bytes())[..16]);
    let set =
        std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let given = set.into_iter().chain([PathBuf::from(format!("/run/user/{}", effective_user()))]);
    let private = given
        .map(|folder| folder.join("countersign"))
        .chain([std::env::temp_dir().join(format!("countersign-{}", effective_user()))]);
    for folder in private {
        if folder.as_os_str().len() + name.len() < ADDRESS_BYTES
            && create_socket_folder(&folder).is_ok()
        {
            return Ok(folder.join(name));
        }
    }
    Err(io::Error::new(io::ErrorKind::NotFound, "there is no private folder for a socket"))
}

/// Creates the folder of the socket. If the folder exists, checks that only this user has access,
/// because anyone could have created it in a shared place.
fn create_socket_folder(folder: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let meta = fs::symlink_metadata(folder)?;
            let ours = meta.is_dir()
                && meta.uid() == effective_user()
                && meta.permissions().mode() & 0o077 == 0;
            if ours { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
        }
        other => other,
    }
}
