//! Records the writes to the SQLite files of a folder, and computes what remains of them after a
//! power cut. The method is that of SQLite's own crash tests (`test6.c`): a write that was not
//! synced may be on the disk completely, partly or not at all, in any order.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::random::Random;
use crate::vfs;

/// The number of bytes that a disk writes at once.
const SECTOR: usize = 512;

/// One step of the recorded history.
#[derive(Clone, Debug)]
enum Step {
    Create {
        name: String,
        file: usize,
    },
    Delete {
        name: String,
    },
    /// Makes all earlier creations and deletions of files durable.
    SyncNames,
    Write {
        file: usize,
        at: usize,
        bytes: Arc<[u8]>,
    },
    Resize {
        file: usize,
        size: usize,
    },
    Sync {
        file: usize,
    },
}

#[derive(Debug, Default)]
struct History {
    /// The contents of the files when the recording began.
    before: Vec<Vec<u8>>,
    names: BTreeMap<String, usize>,
    names_before: BTreeMap<String, usize>,
    steps: Vec<Step>,
}

/// The effect of a power cut on each write that was not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// No such write is on the disk.
    Dropped,
    /// Some of the writes are on the disk, also within one file: a later write may survive while an
    /// earlier one is lost.
    Reordered,
    /// As `Reordered`, but for each sector of 512 bytes. Some sectors contain bytes that no program
    /// wrote.
    Torn,
    /// All such writes are on the disk, as after a kill.
    Kept,
}

/// A recorded folder. From now on, all its files use the recording VFS. Files elsewhere do not.
#[derive(Debug)]
pub struct Disk {
    folder: PathBuf,
    history: Mutex<History>,
}

impl Disk {
    /// Begins to record the folder. Its current contents count as durable.
    pub fn watch(folder: &Path) -> Arc<Self> {
        let folder = folder.canonicalize().expect("the folder exists");
        let mut history = History::default();
        for entry in fs::read_dir(&folder).expect("the folder can be read").flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_file()) {
                let name = entry.file_name().to_string_lossy().into_owned();
                history.names.insert(name, history.before.len());
                history.before.push(fs::read(entry.path()).expect("the file can be read"));
            }
        }
        history.names_before.clone_from(&history.names);
        let disk = Arc::new(Self { folder, history: Mutex::new(history) });
        vfs::watch(&disk);
        disk
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of steps so far, which identifies the moment of an acknowledgement.
    pub fn moment(&self) -> usize {
        self.history().steps.len()
    }

    /// Returns the contents of the disk if the power is cut after `moment` steps.
    pub fn cut(&self, moment: usize, how: Cut, random: &mut Random) -> Image {
        let history = self.history();
        let steps = &history.steps[..moment];
        let names = history.names_after(steps, how, random);
        let files = names
            .into_iter()
            .map(|(name, file)| (name, history.content(steps, file, how, random)))
            .collect();
        Image { files }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the index of a file that a program has just opened.
    pub(crate) fn opened(&self, name: &str, existed: bool) -> usize {
        let mut history = self.history();
        if existed && let Some(file) = history.names.get(name) {
            return *file;
        }
        // The file was created now, or by other code than SQLite since the recording began.
        let content =
            if existed { fs::read(self.folder.join(name)).unwrap_or_default() } else { Vec::new() };
        let file = history.before.len();
        history.before.push(content);
        history.names.insert(name.to_owned(), file);
        history.steps.push(Step::Create { name: name.to_owned(), file });
        file
    }

    pub(crate) fn deleted(&self, name: &str, sync: bool) {
        let mut history = self.history();
        history.names.remove(name);
        history.steps.push(Step::Delete { name: name.to_owned() });
        if sync {
            history.steps.push(Step::SyncNames);
        }
    }

    pub(crate) fn written(&self, file: usize, at: usize, bytes: &[u8]) {
        self.history().steps.push(Step::Write { file, at, bytes: bytes.into() });
    }

    pub(crate) fn resized(&self, file: usize, size: usize) {
        self.history().steps.push(Step::Resize { file, size });
    }

    pub(crate) fn synced(&self, file: usize, names: bool) {
        let mut history = self.history();
        history.steps.push(Step::Sync { file });
        if names {
            history.steps.push(Step::SyncNames);
        }
    }
}

impl History {
    /// Returns the folder's file names after a cut. A file system keeps the order of creations and
    /// deletions, so a first part of them survives.
    fn names_after(
        &self,
        steps: &[Step],
        how: Cut,
        random: &mut Random,
    ) -> BTreeMap<String, usize> {
        let durable =
            steps.iter().rposition(|step| matches!(step, Step::SyncNames)).map_or(0, |at| at + 1);
        let open = steps[durable..]
            .iter()
            .filter(|step| matches!(step, Step::Create { .. } | Step::Delete { .. }))
            .count();
        let kept = match how {
            Cut::Dropped => 0,
            Cut::Kept => open,
            Cut::Reordered | Cut::Torn => random.index(open + 1),
        };
        let mut names = self.names_before.clone();
        let mut left = kept;
        for (at, step) in steps.iter().enumerate() {
            let (Step::Create { .. } | Step::Delete { .. }) = step else { continue };
            if at >= durable {
                if left == 0 {
                    break;
                }
                left -= 1;
            }
            match step {
                Step::Create { name, file } => drop(names.insert(name.clone(), *file)),
                Step::Delete { name } => drop(names.remove(name)),
                Step::SyncNames | Step::Write { .. } | Step::Resize { .. } | Step::Sync { .. } => {}
            }
        }
        names
    }

    /// Returns a file's bytes: everything up to its last sync, and the part of the later writes
    /// that `how` leaves.
    fn content(&self, steps: &[Step], file: usize, how: Cut, random: &mut Random) -> Vec<u8> {
        let durable = steps
            .iter()
            .rposition(|step| matches!(step, Step::Sync { file: of } if *of == file))
            .unwrap_or(0);
        let mut bytes = self.before[file].clone();
        for (at, step) in steps.iter().enumerate() {
            let how = if at < durable { Cut::Kept } else { how };
            match step {
                Step::Write { file: of, at, bytes: new } if *of == file => {
                    write(&mut bytes, *at, new, how, random)
                }
                Step::Resize { file: of, size } if *of == file && is_kept(how, random) => {
                    bytes.resize(*size, 0)
                }
                Step::Create { .. }
                | Step::Delete { .. }
                | Step::SyncNames
                | Step::Write { .. }
                | Step::Resize { .. }
                | Step::Sync { .. } => {}
            }
        }
        bytes
    }
}

fn is_kept(how: Cut, random: &mut Random) -> bool {
    match how {
        Cut::Kept => true,
        Cut::Dropped => false,
        Cut::Reordered | Cut::Torn => random.chance(50),
    }
}

fn write(bytes: &mut Vec<u8>, at: usize, new: &[u8], how: Cut, random: &mut Random) {
    if how != Cut::Torn {
        if is_kept(how, random) {
            put(bytes, at, new);
        }
        return;
    }
    let mut from = 0;
    while from < new.len() {
        let to = new.len().min((at + from) / SECTOR * SECTOR + SECTOR - at);
        match random.below(8) {
            0 => put(bytes, at + from, &(from..to).map(|_| random.byte()).collect::<Vec<u8>>()),
            1..=4 => put(bytes, at + from, &new[from..to]),
            _ => {}
        }
        from = to;
    }
}

fn put(bytes: &mut Vec<u8>, at: usize, new: &[u8]) {
    let end = at + new.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[at..end].copy_from_slice(new);
}

/// The files that remain after a cut.
#[derive(Clone, Debug)]
pub struct Image {
    files: BTreeMap<String, Vec<u8>>,
}

impl Image {
    /// Whether the file with this name has any content.
    pub fn holds(&self, name: &str) -> bool {
        self.files.get(name).is_some_and(|bytes| !bytes.is_empty())
    }

    /// Writes the files into an empty folder, as the next start finds them.
    pub fn restore(&self, folder: &Path) {
        fs::create_dir_all(folder).expect("the folder can be made");
        for (name, bytes) in &self.files {
            fs::write(folder.join(name), bytes).expect("the file can be written");
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    /// Counts the rows that a database acknowledged before a cut and has lost after it.
    fn lost(synchronous: &str, how: Cut) -> usize {
        let (folder, mut random) = (tempfile(), Random::new(7));
        let disk = Disk::watch(&folder);
        let db = Connection::open(folder.join("x.db")).unwrap();
        db.execute_batch(&format!(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous={synchronous}; CREATE TABLE t(n INTEGER)"
        ))
        .unwrap();
        let promised: Vec<(usize, i64)> = (0..40)
            .map(|n| {
                db.execute("INSERT INTO t VALUES(?1)", [n]).unwrap();
                (disk.moment(), n)
            })
            .collect();
        let mut lost = 0;
        for case in 0..40 {
            let moment = promised[0].0 + random.index(disk.moment() - promised[0].0 + 1);
            let place = folder.join(format!("cut-{case}"));
            disk.cut(moment, how, &mut random).restore(&place);
            let read = Connection::open(place.join("x.db")).unwrap();
            let sound: String =
                read.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
            assert_eq!(sound, "ok");
            let there: i64 =
                read.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap_or(0);
            lost += promised.iter().filter(|(told, n)| *told <= moment && *n >= there).count();
        }
        drop(db);
        fs::remove_dir_all(folder).unwrap();
        lost
    }

    fn tempfile() -> PathBuf {
        static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        let n = COUNT.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let folder = std::env::temp_dir().join(format!("soak-disk-{}-{n}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_database_that_syncs_loses_no_acknowledged_row_and_one_that_does_not_is_detected() {
        for how in [Cut::Dropped, Cut::Reordered, Cut::Torn, Cut::Kept] {
            assert_eq!(lost("FULL", how), 0, "{how:?}");
        }
        for how in [Cut::Dropped, Cut::Reordered, Cut::Torn] {
            assert!(lost("NORMAL", how) > 0, "{how:?}: the cut loses what was not synced");
        }
        assert_eq!(lost("NORMAL", Cut::Kept), 0);
    }

    #[test]
    fn torn_writes_end_at_the_sectors_of_the_disk() {
        let mut random = Random::new(1);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let mut bytes = vec![1u8; 2048];
            write(&mut bytes, 500, &[2; 1036], Cut::Torn, &mut random);
            assert!(
                bytes[..500].iter().chain(&bytes[1536..]).all(|byte| *byte == 1),
                "nothing outside the write is touched"
            );
            for sector in [500..512, 512..1024, 1024..1536] {
                let kinds: std::collections::BTreeSet<bool> =
                    bytes[sector.clone()].iter().map(|byte| *byte == 2).collect();
                seen.insert((sector.start, kinds.contains(&true)));
            }
        }
        assert_eq!(
            seen.len(),
            6,
            "each of the three is there in some cuts and not in others: {seen:?}"
        );
    }
}
