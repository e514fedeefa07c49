//! Opens and reads files that somebody else named or wrote: only regular files, only up to a
//! maximum size, and without waiting. Must not know what the files contain.
#![forbid(unsafe_code)]

pub mod fault;

use std::{
    fmt,
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

/// The maximum size in bytes of a file that a person writes by hand: settings, rules, prices,
/// variables.
pub const BY_HAND: u64 = 1 << 20;
/// The maximum size in bytes of a file that the app writes.
pub const OWN: u64 = 64 << 20;
/// The maximum size in bytes of a file of the app that contains a single name, such as an id or a
/// token.
pub const NAME: u64 = 1 << 10;
/// The maximum size in bytes of the system's certificates.
const CERTIFICATES: u64 = 16 << 20;

/// A path leads to a pipe, a socket or a device instead of a regular file. The error contains the
/// path if the caller named a different path.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NotAFile(Option<PathBuf>);

impl fmt::Display for NotAFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(path) => write!(f, "{}", path.display())?,
            None => f.write_str("it")?,
        }
        f.write_str(" is a pipe, a socket or a device, not a file")
    }
}

impl std::error::Error for NotAFile {}

/// Whether an error says that the path leads to a pipe, a socket or a device.
pub fn is_not_a_file(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<NotAFile>())
}

/// Opens a regular file for reading. A link is followed, and the target of the link must be a
/// regular file, too. No other kind of file is opened, because reading a pipe may block forever and
/// a device may have no end.
pub fn open(path: &Path) -> io::Result<File> {
    check_kind(&fs::metadata(path)?)?;
    // The path may have been replaced by a pipe since the check, and opening a pipe must not block.
    let file =
        OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    check_kind(&file.metadata()?)?;
    Ok(file)
}

/// Reads a regular file. Fails if the file has more than `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    if length > most {
        return Err(too_large(most));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    // The file may grow while it is read, and the kernel's own files report no length.
    read_up_to(file, most, &mut bytes)?;
    Ok(bytes)
}

/// Refuses a database if the database, or a file that SQLite opens with the database, is a pipe, a
/// socket or a device. SQLite reports all other problems.
pub fn check_database(path: &Path) -> io::Result<()> {
    for ending in ["", "-journal", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        refuse_special(Path::new(&name))?;
    }
    Ok(())
}

/// Opens a regular file for writing, with the given options, without waiting.
pub fn open_to_write(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    refuse_special(path)?;
    let file = options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    check_kind(&file.metadata()?)?;
    Ok(file)
}

/// Opens an empty regular file for writing. Creates the file if it is missing.
pub fn create(path: &Path) -> io::Result<File> {
    open_to_write(path, OpenOptions::new().write(true).create(true).truncate(true))
}

/// Writes a whole regular file.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    create(path)?.write_all(bytes)
}

/// Copies a regular file, including its mode.
pub fn copy(from: &Path, to: &Path) -> io::Result<u64> {
    let mut source = open(from)?;
    let mut target = create(to)?;
    target.set_permissions(source.metadata()?.permissions())?;
    io::copy(&mut source, &mut target)
}

/// Syncs a folder to the disk, so that the names of its files survive a crash.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY).open(path)?.sync_all()
}

/// Refuses a pipe, a socket or a device with an error that contains the path.
fn refuse_special(path: &Path) -> io::Result<()> {
    match fs::metadata(path).map(|known| check_kind(&known)) {
        Ok(Err(error)) if is_not_a_file(&error) => {
            Err(io::Error::new(error.kind(), NotAFile(Some(path.to_owned()))))
        }
        _ => Ok(()),
    }
}

/// Refuses a pipe, a socket, a device or a too large file in `SSL_CERT_FILE`, because TLS libraries
/// read that file to its end. The libraries report all other problems, because `SSL_CERT_DIR` may
/// lead to certificates, too. The error is a part of a sentence.
pub fn check_certificates() -> Result<(), String> {
    let named = std::env::var_os("SSL_CERT_FILE");
    named.map_or(Ok(()), |path| check_certificates_in(Path::new(&path)))
}

fn check_certificates_in(path: &Path) -> Result<(), String> {
    let Ok(known) = fs::metadata(path) else { return Ok(()) };
    let error = match check_kind(&known) {
        Err(error) if is_not_a_file(&error) => error,
        Ok(()) if known.len() > CERTIFICATES => too_large(CERTIFICATES),
        _ => return Ok(()),
    };
    Err(format!("SSL_CERT_FILE names {}: {error}", path.display()))
}

/// Reads a regular file as UTF-8 text. Fails if the file has more than `most` bytes.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    to_text(read(path, most)?)
}

/// Reads a stream, such as the standard input, as UTF-8 text. Fails if the stream has more than
/// `most` bytes.
pub fn read_text_from(stream: impl io::Read, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    read_up_to(stream, most, &mut bytes)?;
    to_text(bytes)
}

fn read_up_to(stream: impl io::Read, most: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    stream.take(most.saturating_add(1)).read_to_end(bytes)?;
    if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(()) }
}

fn to_text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

fn check_kind(known: &Metadata) -> io::Result<()> {
    if known.is_file() {
        Ok(())
    } else if known.is_dir() {
        Err(io::ErrorKind::IsADirectory.into())
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, NotAFile(None)))
    }
}

fn too_large(most: u64) -> io::Error {
    let size =
        if most < 1 << 20 { format!("{} KiB", most >> 10) } else { format!("{} MiB", most >> 20) };
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {size}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        os::unix::{fs::PermissionsExt as _, net::UnixListener},
        process::Command,
    };

    #[test]
    fn opening_pipes_sockets_and_devices_fails_without_blocking() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        let _socket = UnixListener::bind(at("socket")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("zero")).unwrap();
        std::os::unix::fs::symlink(at("pipe"), at("to-pipe")).unwrap();
        for name in ["pipe", "socket", "zero", "to-pipe", "/dev/zero", "/dev/null"] {
            let error = read(&at(name), 10).unwrap_err();
            assert!(is_not_a_file(&error), "{name}: {error}");
        }
        assert_eq!(read(folder.path(), 10).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        assert_eq!(read(&at("none"), 10).unwrap_err().kind(), io::ErrorKind::NotFound);
        fs::write(at("text"), "plain").unwrap();
        std::os::unix::fs::symlink(at("text"), at("to-text")).unwrap();
        assert_eq!(read_text(&at("to-text"), 5).unwrap(), "plain");
    }

    #[test]
    fn only_regular_files_are_written_copied_or_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        fs::write(at("text"), "plain").unwrap();
        for path in [at("pipe"), "/dev/zero".into()] {
            let opened = open_to_write(&path, OpenOptions::new().append(true).create(true));
            let error = opened.unwrap_err();
            assert!(is_not_a_file(&error));
            assert!(error.to_string().starts_with(&format!("{} is a pipe", path.display())));
            assert!(is_not_a_file(&write(&path, b"x").unwrap_err()));
            assert!(is_not_a_file(&copy(&path, &at("copy")).unwrap_err()));
            assert!(is_not_a_file(&check_database(&path).unwrap_err()));
            assert!(sync_folder(&path).is_err());
            assert!(check_certificates_in(&path).unwrap_err().contains("a pipe"));
        }
        assert!(is_not_a_file(&copy(&at("text"), &at("pipe")).unwrap_err()));
        check_database(&at("none")).unwrap();
        check_database(&at("text")).unwrap();
        for ending in ["journal", "wal", "shm"] {
            let beside = at(&format!("text-{ending}"));
            fs::rename(at("pipe"), &beside).unwrap();
            let error = check_database(&at("text")).unwrap_err().to_string();
            assert!(error.contains(&format!("text-{ending} is a pipe")), "{error}");
            fs::rename(beside, at("pipe")).unwrap();
        }
        sync_folder(folder.path()).unwrap();
        let unreadable = fs::Permissions::from_mode(0o000);
        fs::write(at("unreadable"), "plain").unwrap();
        fs::set_permissions(at("unreadable"), unreadable).unwrap();
        for left in [at("none"), at("text"), at("unreadable"), folder.path().to_owned()] {
            check_certificates_in(&left).unwrap();
        }
        copy(&at("text"), &at("copy")).unwrap();
        assert_eq!(read_text(&at("copy"), 5).unwrap(), "plain");
        let large = File::create(at("large")).unwrap();
        large.set_len(CERTIFICATES + 1).unwrap();
        assert!(check_certificates_in(&at("large")).unwrap_err().contains("16 MiB"));
    }

    #[test]
    fn a_file_larger_than_its_limit_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, [b'a'; 2048]).unwrap();
        assert_eq!(read(&path, 2048).unwrap().len(), 2048);
        let error = read(&path, 2047).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "it is larger than 1 KiB");
        // The kernel reports a length of 0 for this file.
        assert_eq!(
            read(Path::new("/proc/self/status"), 8).unwrap_err().kind(),
            io::ErrorKind::FileTooLarge
        );
        fs::write(&path, [0xFF]).unwrap();
        assert_eq!(read_text(&path, 8).unwrap_err().to_string(), "it is not UTF-8 text");
    }
}
