//! Changes every byte of a 50-record log in turn, in the file and the side file (both contain
//! checkpoints). Each change must be reported, and the report of a change inside a record's body
//! must name that record. A change that only the seal of the closed file reveals must not change a
//! row.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use audit::{Mark, verify};
use engine::ports::{AuditLog as _, Durability};
use rusqlite::Connection;

use crate::kit::{Content, World, closed, copy, draft, run};

/// Small pages are used, so that few bytes are unused and every kind of page occurs.
const PAGE: u32 = 1024;

/// Returns the position of each record's body in the file, for bodies that are not split.
fn bodies(path: &Path) -> Vec<(u64, std::ops::Range<usize>)> {
    let bytes = std::fs::read(path).unwrap();
    let db = Connection::open(path).unwrap();
    let mut statement = db.prepare("SELECT seq, body FROM audit_record").unwrap();
    let found = statement
        .query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?)))
        .unwrap();
    let place = |(seq, body): (i64, Vec<u8>)| {
        let at = bytes.windows(body.len()).position(|window| window == body)?;
        Some((seq as u64, at..at + body.len()))
    };
    found.map(Result::unwrap).filter_map(place).collect()
}

struct Case<'a> {
    /// The log file, and its side file if there is one.
    files: &'a [PathBuf],
    /// The index of the file that is changed.
    target: usize,
    mark: &'a Mark,
}

impl Case<'_> {
    /// Changes both halves of the positions in parallel, each on its own copy. `check` receives the
    /// position and the changed log.
    fn each(
        &self,
        change: impl Fn(usize) -> u8 + Copy + Send,
        check: impl Fn(usize, &Path) + Copy + Send,
    ) {
        std::thread::scope(|scope| {
            for part in 0..2 {
                scope.spawn(move || self.half(part, change, check));
            }
        });
    }

    fn half(&self, part: usize, change: impl Fn(usize) -> u8, check: impl Fn(usize, &Path)) {
        let folder = tempfile::tempdir().unwrap();
        let copies: Vec<PathBuf> =
            self.files.iter().map(|file| folder.path().join(file.file_name().unwrap())).collect();
        for (from, to) in self.files.iter().zip(&copies) {
            copy(from, to);
        }
        let bytes = std::fs::read(&copies[self.target]).unwrap();
        let file: File = OpenOptions::new().write(true).open(&copies[self.target]).unwrap();
        for at in (part..bytes.len()).step_by(2) {
            file.write_all_at(&[bytes[at] ^ change(at)], at as u64).unwrap();
            check(at, &copies[0]);
            file.write_all_at(&[bytes[at]], at as u64).unwrap();
        }
        assert!(verify(&copies[0], Some(self.mark)).ok, "the copy is whole again at the end");
    }
}

#[test]
fn every_changed_byte_of_the_file_is_reported() {
    let mut world = World::new();
    world.page_size = PAGE;
    closed(&world, 50);
    let mark = world.mark();
    assert!(mark.seal.is_some());
    let report = verify(&world.db(), Some(&mark));
    assert!(report.ok && report.records == 50, "{:?}", report.problems);
    let (before, places) = (Content::read(&world.db()).unwrap(), bodies(&world.db()));
    assert!(places.len() >= 40);
    let case = Case { files: &[world.db()], target: 0, mark: &mark };
    case.each(
        |at| 1 << (at % 8),
        |at, path| {
            let report = verify(path, Some(&mark));
            assert!(!report.ok && !report.problems.is_empty(), "byte {at} goes unreported");
            if let Some((seq, _)) = places.iter().find(|(_, range)| range.contains(&at)) {
                assert_eq!(
                    report.problems.first().and_then(|p| p.seq),
                    Some(*seq),
                    "byte {at} lies in record {seq}"
                );
            } else if report.problems[0].message.contains("hold no record") {
                // Only the seal revealed the change, so the byte must have no other meaning.
                assert_eq!(Content::read(path).as_ref(), Ok(&before), "byte {at} changes a row");
            }
        },
    );
}

#[test]
fn every_changed_byte_of_the_side_file_is_reported() {
    let mut world = World::new();
    world.page_size = PAGE;
    let held = world.folder.path().join("held");
    std::fs::create_dir(&held).unwrap();
    let files = [held.join("audit.db"), held.join("audit.db-wal")];
    run(async {
        let log = world.open();
        for n in 2..=50 {
            log.append(draft(n), Durability::Grouped).await.unwrap();
        }
        log.checkpoint().await.unwrap();
        // This is the state after a crash, in which the side file has not been moved into the file.
        copy(&world.db(), &files[0]);
        copy(&world.folder.path().join("audit.db-wal"), &files[1]);
        log.close().await.unwrap();
    });
    let mark = world.mark();
    let report = verify(&files[0], Some(&mark));
    assert!(report.ok && report.records == 50, "{:?}", report.problems);
    let case = Case { files: &files, target: 1, mark: &mark };
    case.each(
        |_| 0x10,
        |at, path| {
            let report = verify(path, Some(&mark));
            // A damaged frame ends the side file at that point, so the rest of the side file is
            // missing.
            assert!(!report.ok && report.problems[0].seq.is_some(), "byte {at} goes unreported");
        },
    );
}
