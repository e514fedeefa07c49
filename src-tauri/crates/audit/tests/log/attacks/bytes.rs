//! Attacks on the bytes of the files, without knowledge of their content.

use std::fs;
use std::path::PathBuf;

use super::{Attack, Attempt};

pub(super) const ATTACKS: &[Attack] = &[
    flip,
    flip,
    overwrite,
    zero,
    swap_pages,
    copy_page,
    cut,
    append,
    shift,
    remove,
    older_file,
    older_log,
    foreign_log,
];

/// Returns one of the log's files with its bytes. The file and the side file are equally likely.
fn target(attempt: &mut Attempt<'_>) -> Option<(PathBuf, Vec<u8>)> {
    let name = attempt.random.pick(&attempt.state.files.names()).as_str();
    let bytes = attempt.state.files.bytes(name)?.clone();
    (!bytes.is_empty()).then(|| (attempt.folder.join(name), bytes))
}

fn change(
    attempt: &mut Attempt<'_>,
    how: impl FnOnce(&mut Attempt<'_>, &mut Vec<u8>) -> Option<String>,
) -> Option<String> {
    let (path, mut bytes) = target(attempt)?;
    let before = bytes.clone();
    let what = how(attempt, &mut bytes)?;
    if bytes == before {
        return None;
    }
    let name = path.file_name()?.to_string_lossy().into_owned();
    fs::write(path, bytes).unwrap();
    Some(format!("{what} of {name}"))
}

fn flip(attempt: &mut Attempt<'_>) -> Option<String> {
    change(attempt, |attempt, bytes| {
        let (at, bit) = (attempt.random.index(bytes.len()), attempt.random.below(8));
        bytes[at] ^= 1 << bit;
        Some(format!("bit {bit} of byte {at}"))
    })
}

/// Returns a random range of the file.
fn stretch(attempt: &mut Attempt<'_>, bytes: &[u8]) -> std::ops::Range<usize> {
    let from = attempt.random.index(bytes.len());
    let most = if attempt.random.chance(50) { 8 } else { 3_000 };
    from..bytes.len().min(from + 1 + attempt.random.index(most))
}

fn overwrite(attempt: &mut Attempt<'_>) -> Option<String> {
    change(attempt, |attempt, bytes| {
        let range = stretch(attempt, bytes);
        bytes[range.clone()].iter_mut().for_each(|byte| *byte = attempt.random.byte());
        Some(format!("random bytes in {range:?}"))
    })
}

fn zero(attempt: &mut Attempt<'_>) -> Option<String> {
    change(attempt, |attempt, bytes| {
        let range = stretch(attempt, bytes);
        bytes[range.clone()].fill(0);
        Some(format!("zeros in {range:?}"))
    })
}

/// Returns the beginnings of two pages.
fn pages(attempt: &mut Attempt<'_>, bytes: &[u8]) -> Option<(usize, usize, usize)> {
    let size = usize::from(u16::from_be_bytes([
        *attempt.state.files.bytes("audit.db")?.get(16)?,
        *attempt.state.files.bytes("audit.db")?.get(17)?,
    ]));
    let count = bytes.len() / size.max(512);
    let (one, other) = (attempt.random.index(count) * size, attempt.random.index(count) * size);
    (one != other).then_some((one, other, size))
}

fn swap_pages(attempt: &mut Attempt<'_>) -> Option<String> {
    change(attempt, |attempt, bytes| {
        let (one, other, size) = pages(attempt, bytes)?;
        let held = bytes[one..one + size].to_vec();
        bytes.copy_within(other..other + size, one);
        bytes[other..other + size].copy_from_slice(&held);
        Some(format!("pages at {one} and {other} swapped"))
    })
}

fn copy_page(attempt: &mut Attempt<'_>) -> Option<String> {
    change(attempt, |attempt, bytes| {
        let (one, other, size) = pages(attempt, bytes)?;
        bytes.copy_within(other..other + size, one);
        Some(format!("the page at {other} also at {one}"))
    })
}

fn cut(attempt: &mut Attempt<'_>) -> Option<String> {
    change(attempt, |attempt, bytes| {
        let to = attempt.random.index(bytes.len());
        bytes.truncate(to);
        Some(format!("all behind byte {to} cut off"))
    })
}

fn append(attempt: &mut Attempt<'_>) -> Option<String> {
    change(attempt, |attempt, bytes| {
        let more = 1 + attempt.random.index(5_000);
        let whole = attempt.random.chance(50);
        let tail: Vec<u8> = if whole {
            bytes[..more.min(bytes.len())].to_vec()
        } else {
            (0..more).map(|_| attempt.random.byte()).collect()
        };
        bytes.extend(tail);
        Some(format!("{more} bytes at the end"))
    })
}

fn shift(attempt: &mut Attempt<'_>) -> Option<String> {
    change(attempt, |attempt, bytes| {
        let at = attempt.random.index(bytes.len());
        if attempt.random.chance(50) {
            bytes.remove(at);
        } else {
            bytes.insert(at, attempt.random.byte());
        }
        Some(format!("one byte more or less at {at}"))
    })
}

fn remove(attempt: &mut Attempt<'_>) -> Option<String> {
    let name = attempt.random.pick(&attempt.state.files.names()).as_str();
    fs::remove_file(attempt.folder.join(name)).unwrap();
    Some(format!("{name} removed"))
}

/// Replaces one of the files with an earlier version, and keeps the other files.
fn older_file(attempt: &mut Attempt<'_>) -> Option<String> {
    let older = attempt.random.pick(&attempt.state.older);
    let name = attempt.random.pick(&older.names()).as_str();
    fs::write(attempt.folder.join(name), older.bytes(name)?).unwrap();
    Some(format!("an earlier {name}"))
}

fn older_log(attempt: &mut Attempt<'_>) -> Option<String> {
    let at = attempt.random.index(attempt.state.older.len());
    attempt.state.older[at].restore(attempt.folder);
    Some(format!("the log as it was earlier ({at})"))
}

fn foreign_log(attempt: &mut Attempt<'_>) -> Option<String> {
    let at = attempt.random.index(attempt.state.foreign.len());
    attempt.state.foreign[at].restore(attempt.folder);
    Some(format!("another sound log ({at})"))
}
