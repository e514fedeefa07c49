//! The logs under attack: closed logs with and without a seal, open logs, and logs whose process
//! was killed, with their files as they are on disk.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use audit::Mark;
use engine::ports::{AuditLog as _, Durability};
use soak::Random;

use crate::kit::{Content, INSTALLATION, OTHER_KEY, World, closed, draft, fill, ready, run};

const NAMES: [&str; 2] = ["audit.db", "audit.db-wal"];

/// A log's files by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Files(BTreeMap<String, Vec<u8>>);

impl Files {
    pub(super) fn take(folder: &Path) -> Self {
        let read = |name: &&str| Some(((*name).to_owned(), fs::read(folder.join(name)).ok()?));
        Self(NAMES.iter().filter_map(read).collect())
    }

    /// Writes the files into the folder and removes all other files.
    pub(super) fn restore(&self, folder: &Path) {
        for name in NAMES.iter().chain(&["audit.db-shm", "audit.db-journal"]) {
            let _ = fs::remove_file(folder.join(name));
        }
        for (name, bytes) in &self.0 {
            fs::write(folder.join(name), bytes).unwrap();
        }
    }

    pub(super) fn names(&self) -> Vec<&String> {
        self.0.keys().collect()
    }

    pub(super) fn bytes(&self, name: &str) -> Option<&Vec<u8>> {
        self.0.get(name)
    }
}

/// A log on disk, with other versions of it.
pub(super) struct State {
    pub(super) name: &'static str,
    pub(super) files: Files,
    /// The copy of the log's newest checkpoint outside the log.
    pub(super) mark: Mark,
    /// Earlier versions of the same log.
    pub(super) older: Vec<Files>,
    /// Logs that are valid in themselves: with the same records but another key, or of another
    /// installation.
    pub(super) foreign: Vec<Files>,
    pub(super) content: Content,
}

fn state(name: &'static str, files: Files, mark: Mark, older: Vec<Files>) -> State {
    let folder = tempfile::tempdir().unwrap();
    files.restore(folder.path());
    let content = Content::read(&folder.path().join("audit.db")).unwrap();
    State { name, files, mark, older, foreign: foreign(), content }
}

fn foreign() -> Vec<Files> {
    let mut resigned = World::new();
    resigned.seed = OTHER_KEY;
    closed(&resigned, 50);
    let elsewhere = World::new();
    run(async {
        let mut options = elsewhere.options();
        options.installation = INSTALLATION.replace('5', "6");
        let log = ready(audit::Log::open(options).unwrap());
        fill(&log, 50).await;
        log.close().await.unwrap();
    });
    [&resigned, &elsewhere].map(|world| Files::take(world.root())).into()
}

fn world(page_size: u32) -> World {
    let mut world = World::new();
    world.page_size = page_size;
    world
}

/// Waits until the log's thread has stored the mark of all records.
fn with_mark(world: &World, size: u64) -> Mark {
    for _ in 0..2_000 {
        let mark = world.mark();
        if mark.size == size {
            return mark;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("no mark over {size} records");
}

/// A log that was closed at 15, 30 and 45 records. Without the seal, only the rules for records can
/// detect a change.
pub(super) fn after_closing(page_size: u32, sealed: bool) -> State {
    let world = world(page_size);
    let mut older = Vec::new();
    for size in [15, 30] {
        closed(&world, size);
        older.push(Files::take(world.root()));
    }
    let before_closing = run(async {
        let log = world.open();
        fill(&log, 45).await;
        let mark = with_mark(&world, 45);
        log.close().await.unwrap();
        mark
    });
    let mark = if sealed { world.mark() } else { before_closing };
    assert_eq!(mark.seal.is_some(), sealed);
    state(
        if sealed { "a closed log" } else { "a closed log without its seal" },
        Files::take(world.root()),
        mark,
        older,
    )
}

/// A log in use: half of its records are in the file, the rest in the side file, and all are
/// signed.
fn while_open(page_size: u32) -> State {
    let world = world(page_size);
    closed(&world, 20);
    let mut older = vec![Files::take(world.root())];
    let (files, mark) = run(async {
        let log = world.open();
        for size in [30, 45] {
            fill(&log, size).await;
            older.push(Files::take(world.root()));
        }
        let (mark, files) = (with_mark(&world, 45), older.pop().unwrap());
        log.close().await.unwrap();
        (files, mark)
    });
    state("an open log", files, mark, older)
}

/// A log whose process was killed: its tail is not signed, and the mark may be older than the
/// newest checkpoint.
fn after_a_kill(seed: u64) -> State {
    let world = World::new();
    let mut random = Random::new(seed);
    closed(&world, 10);
    let mut older = vec![Files::take(world.root())];
    crate::crash::killed(world.folder.path(), &mut random);
    older.push(Files::take(world.root()));
    crate::crash::killed(world.folder.path(), &mut random);
    // The process may be killed before it writes any record.
    while world.mark().size <= 10 {
        crate::crash::killed(world.folder.path(), &mut random);
    }
    let mark = world.mark();
    older.retain(|files| covers_less(files, &mark));
    state("a log after a kill", Files::take(world.root()), mark, older)
}

/// Whether the log has fewer records than the mark. Otherwise, it is the same log with a shorter
/// unsigned tail.
fn covers_less(files: &Files, mark: &Mark) -> bool {
    let folder = tempfile::tempdir().unwrap();
    files.restore(folder.path());
    Content::read(&folder.path().join("audit.db"))
        .is_ok_and(|content| (content.records.len() as u64) < mark.size)
}

/// A log in use whose newest records are not signed yet.
fn with_a_tail() -> State {
    let world = World::new();
    closed(&world, 12);
    let older = vec![Files::take(world.root())];
    let (files, mark) = run(async {
        let log = world.open();
        fill(&log, 40).await;
        let mark = with_mark(&world, 40);
        for n in 41..=46 {
            log.append(draft(n), Durability::Durable).await.unwrap();
        }
        let files = Files::take(world.root());
        log.close().await.unwrap();
        (files, mark)
    });
    state("an open log with an unsigned tail", files, mark, older)
}

pub(super) fn all() -> Vec<State> {
    vec![
        after_closing(1024, true),
        after_closing(4096, true),
        after_closing(1024, false),
        after_closing(4096, false),
        while_open(1024),
        while_open(4096),
        with_a_tail(),
        after_a_kill(1),
        after_a_kill(2),
        after_a_kill(3),
    ]
}
