//! A test environment with a temporary folder, a clock that is advanced by hand, and builders for
//! rows.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, TimeDelta, Utc};
use contract::{Approval, ApprovalStatus, Effect, Item, ItemBody, ResultView, SessionId};
use engine::ports::{Clock, Sessions as _};
use store::{OpenedStore, SqliteStore};

pub(crate) fn instant(text: &str) -> DateTime<Utc> {
    text.parse().expect("the test's time is RFC 3339")
}

pub(crate) struct ManualClock(Mutex<DateTime<Utc>>);

impl Clock for ManualClock {
    fn now(&self) -> DateTime<Utc> {
        *self.0.lock().expect("no test panics with the clock")
    }
}

pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) clock: Arc<ManualClock>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
            clock: Arc::new(ManualClock(Mutex::new(instant("2026-11-21T10:00:00Z")))),
        }
    }
    pub(crate) fn db(&self) -> PathBuf {
        self.folder.path().join("countersign.db")
    }
    pub(crate) fn backups(&self) -> Vec<String> {
        names(&self.folder.path().join("backups"), ".db")
    }
    pub(crate) fn open(&self) -> OpenedStore {
        open_at(&self.db(), Arc::clone(&self.clock))
    }
    pub(crate) fn store(&self) -> SqliteStore {
        let opened = self.open();
        assert!(opened.recovered.is_none(), "nothing was damaged");
        assert!(!opened.read_only, "the folder can be written");
        opened.store
    }
    pub(crate) fn pass(&self, time: TimeDelta) {
        *self.clock.0.lock().expect("no test panics with the clock") += time;
    }
}

pub(crate) fn open_at(path: &Path, clock: Arc<ManualClock>) -> OpenedStore {
    SqliteStore::open(path, clock).expect("the store opens")
}

pub(crate) fn names(folder: &Path, suffix: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(suffix))
        .collect();
    names.sort();
    names
}

pub(crate) fn message(session: &SessionId, n: u64) -> Item {
    Item {
        id: format!("{session}-item-{n}").into(),
        session: session.clone(),
        turn: format!("turn-{}", n / 10).into(),
        seq: 0,
        created_at: instant("2026-11-21T10:00:00.000000001Z"),
        body: ItemBody::UserMessage { text: format!("message {n}, with å and \u{0} in it") },
    }
}

pub(crate) fn pending(id: &str, session: &SessionId, created_at: &str) -> Approval {
    Approval {
        id: id.into(),
        session: session.clone(),
        turn: "turn-1".into(),
        call: "call-1".into(),
        tool: "cart.add".into(),
        tool_title: "Add to cart".into(),
        server: "shop".into(),
        agent: "shopper".into(),
        effect: Effect::Write,
        view: ResultView::default(),
        arguments: r#"{"quantity":2}"#.into(),
        hash: "ab".repeat(32),
        why: "writes ask".into(),
        caller: Default::default(),
        follows: Vec::new(),
        destinations: Vec::new(),
        sends_bytes: 0,
        look_alikes: Vec::new(),
        definition: None,
        details: Default::default(),
        preview: None,
        created_at: instant(created_at),
        expires_at: instant(created_at) + TimeDelta::minutes(10),
        status: ApprovalStatus::Pending,
        grantable: false,
        confirm_word: None,
        locale: None,
        headless: false,
        replaces: None,
        reason: None,
        decided_at: None,
    }
}

pub(crate) async fn with_session(store: &SqliteStore, id: &str) -> SessionId {
    let id = SessionId::from(id);
    store
        .session_create(&id, "A title", instant("2026-11-21T09:00:00Z"))
        .await
        .expect("a session is created");
    id
}

/// Returns a command that runs one test of this program in a separate process. `wrapper` is put
/// before the command.
pub(crate) fn run_again(test: &str, wrapper: &[&str]) -> Command {
    let me = std::env::current_exe().expect("the test program has a path");
    let mut command = match wrapper {
        [] => Command::new(&me),
        [program, rest @ ..] => {
            let mut command = Command::new(program);
            command.args(rest).arg(&me);
            command
        }
    };
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command
}
