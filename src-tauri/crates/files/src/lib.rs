//! Opens and reads files that somebody else named or wrote: only regular files, only up to a size,
//! and without waiting. Must not know what is in them.
#![forbid(unsafe_code)]

pub mod fault;

use std::{
    fmt,
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Read as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

/// The most bytes of a file that a person writes by hand: settings, rules, prices, variables.
pub const BY_HAND: u64 = 1 << 20;

/// A path leads to no regular file, but to a pipe, a socket or a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NotAFile;

impl fmt::Display for NotAFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is a pipe, a socket or a device, not a file")
    }
}

impl std::error::Error for NotAFile {}

/// Whether an error says that the path leads to a pipe, a socket or a device.
pub fn is_not_a_file(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<NotAFile>())
}

/// Opens a regular file for reading. A link is followed; what it leads to has to be a regular file,
/// too. No other kind is opened, because a pipe may never answer and a device may never end.
pub fn open(path: &Path) -> io::Result<File> {
    check_kind(&fs::metadata(path)?)?;
    // The path may have been replaced by a pipe since: opening one must not wait.
    let file =
        OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    check_kind(&file.metadata()?)?;
    Ok(file)
}

/// Reads a regular file of at most `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    if length > most {
        return Err(too_large(most));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    // The file may grow while it is read, and the kernel's own files have no length.
    read_up_to(file, most, &mut bytes)?;
    Ok(bytes)
}

/// Reads a regular file of at most `most` bytes as UTF-8 text.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    to_text(read(path, most)?)
}

/// Reads a stream, such as the standard input, of at most `most` bytes as UTF-8 text.
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
        Err(io::Error::new(io::ErrorKind::InvalidInput, NotAFile))
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
    use std::{os::unix::net::UnixListener, process::Command};

    #[test]
    fn only_regular_files_are_opened_and_nothing_waits() {
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
    fn a_file_is_read_up_to_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, [b'a'; 2048]).unwrap();
        assert_eq!(read(&path, 2048).unwrap().len(), 2048);
        let error = read(&path, 2047).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(error.to_string(), "it is larger than 1 KiB");
        // The kernel says that this file has no length.
        assert_eq!(
            read(Path::new("/proc/self/status"), 8).unwrap_err().kind(),
            io::ErrorKind::FileTooLarge
        );
        fs::write(&path, [0xFF]).unwrap();
        assert_eq!(read_text(&path, 8).unwrap_err().to_string(), "it is not UTF-8 text");
    }
}
