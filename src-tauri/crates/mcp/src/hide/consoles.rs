//! Finds the devices of this computer at which somebody may be logged in, the devices that show
//! their screens, and further folders of terminals. The module must not know how they are hidden.

use std::{
    fs,
    os::unix::{ffi::OsStringExt as _, fs::FileTypeExt as _},
    path::{Path, PathBuf},
};

/// The folder with the terminals that programs create, such as terminal windows.
pub(super) const TERMINALS: &str = "/dev/pts";

/// Devices that stand for the terminal of the process that opens them, or create a new terminal.
const OWN: [&str; 2] = ["tty", "ptmx"];

/// The folders in which the kernel lists terminals, and the screens of its consoles.
const KINDS: [&str; 2] = ["/sys/class/tty", "/sys/class/vc"];

/// Returns all such places except the usual folder of terminals.
pub(super) fn find_consoles() -> Vec<PathBuf> {
    let mounts = fs::read("/proc/self/mountinfo").unwrap_or_default();
    let mut found = further_terminals(&String::from_utf8_lossy(&mounts));
    found.extend(devices());
    found
}

fn devices() -> Vec<PathBuf> {
    let names = |folder: &str| -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    };
    let mut known: Vec<String> = KINDS.iter().flat_map(|kind| names(kind)).collect();
    if names(KINDS[0]).is_empty() {
        known.extend(names("/dev").into_iter().filter(|name| looks_like_console(name)));
    }
    let places = known.into_iter().filter(|name| !OWN.contains(&name.as_str()));
    // If the kernel's name of a device contains a slash, the list contains an exclamation mark
    // instead.
    let places = places.map(|name| Path::new("/dev").join(name.replace('!', "/")));
    let is_device =
        |place: &PathBuf| fs::metadata(place).is_ok_and(|about| about.file_type().is_char_device());
    places.filter(is_device).collect()
}

fn looks_like_console(name: &str) -> bool {
    let is_numbered = |rest: &str| rest.starts_with(|first: char| first.is_ascii_digit());
    name == "console"
        || ["hvc", "ttyAMA", "ttyS", "ttyUSB", "vcs"].iter().any(|kind| name.starts_with(kind))
        || name.strip_prefix("tty").is_some_and(is_numbered)
}

/// Returns where else folders of terminals, such as those of containers, or single terminals are
/// mounted.
fn further_terminals(mounts: &str) -> Vec<PathBuf> {
    let of_terminals = mounts.lines().filter_map(|line| {
        let (place, file_system) = line.split_once(" - ")?;
        file_system.starts_with("devpts ").then(|| decode(place.split(' ').nth(4)?))?
    });
    of_terminals.filter(|place| !place.starts_with(TERMINALS) && !place.ends_with("ptmx")).collect()
}

/// Decodes a path in which the kernel writes some characters as a backslash and three octal digits.
fn decode(text: &str) -> Option<PathBuf> {
    let mut parts = text.split('\\');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..3)?, 8).ok()?);
        bytes.extend(part.get(3..)?.bytes());
    }
    Some(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_additional_mount_of_terminals_is_found() {
        let mounts = "1 2 0:3 / /dev/pts rw - devpts devpts rw\n\
                      4 2 0:5 / /srv/a\\040b/dev/pts rw shared:1 - devpts none rw\n\
                      6 2 0:5 /0 /dev/console rw - devpts none rw\n\
                      7 2 0:5 /ptmx /dev/ptmx rw - devpts none rw\n\
                      8 2 0:6 / /proc rw - proc proc rw\n";
        let expected = ["/srv/a b/dev/pts", "/dev/console"].map(PathBuf::from);
        assert_eq!(further_terminals(mounts), expected);
    }

    #[test]
    fn consoles_are_found_but_public_devices_are_not() {
        assert!(["console", "tty1", "ttyS0", "hvc0", "vcsa1"].into_iter().all(looks_like_console));
        assert!(!["null", "tty", "ptmx", "random"].into_iter().any(looks_like_console));
        let found = find_consoles();
        assert!(!OWN.iter().any(|name| found.contains(&Path::new("/dev").join(name))), "{found:?}");
    }
}
