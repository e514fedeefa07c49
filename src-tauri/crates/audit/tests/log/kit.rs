//! A test environment for logs: fixed clock, seeded randomness, a temporary folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use audit::{
    Anchor as _, Entropy, FileAnchor, Log, Mark, OpenOptions, OpenState, Scope, Signer, Wanted,
};
use chrono::{DateTime, TimeZone as _, Utc};
use contract::{AgentError, AuditExportResponse, RecordType};
use engine::ports::{AuditLog as _, Clock, Durability, RecordDraft};
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::json;

pub(crate) const INSTALLATION: &str = "5f0c1f0e-8f1c-4c1d-9b53-0d9c2f3a1b77";
pub(crate) const KEY: [u8; 32] = [0x11; 32];
pub(crate) const OTHER_KEY: [u8; 32] = [0x22; 32];

/// A clock that advances one second with each read.
pub(crate) struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> DateTime<Utc> {
        let n = self.0.fetch_add(1, Ordering::SeqCst);
        Utc.timestamp_opt(1_770_000_000 + n as i64, 0).unwrap()
    }
}

/// Pseudo-random bytes that are the same in every run.
pub(crate) struct Seeded(AtomicU64);

impl Entropy for Seeded {
    fn fill(&self, buffer: &mut [u8]) -> Result<(), String> {
        for byte in buffer {
            let n = self.0.fetch_add(1, Ordering::SeqCst).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            *byte = (n >> 40) as u8;
        }
        Ok(())
    }
}

pub(crate) struct World {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) seed: [u8; 32],
    pub(crate) anchored: bool,
    pub(crate) page_size: u32,
    /// The folder for the files, if it is not the environment's own folder.
    pub(crate) place: Option<PathBuf>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            seed: KEY,
            anchored: true,
            page_size: 4096,
            place: None,
        }
    }

    pub(crate) fn db(&self) -> PathBuf {
        self.root().join("audit.db")
    }

    pub(crate) fn root(&self) -> &Path {
        self.place.as_deref().unwrap_or(self.folder.path())
    }

    pub(crate) fn options(&self) -> OpenOptions {
        let mut options = OpenOptions::new(
            self.db(),
            INSTALLATION,
            self.signer(),
            Arc::new(Ticking(AtomicU64::new(0))),
        )
        .anchor(Arc::new(self.anchor()));
        options.entropy = Arc::new(Seeded(AtomicU64::new(7)));
        options.page_size = self.page_size;
        options
    }

    pub(crate) fn anchor(&self) -> FileAnchor {
        FileAnchor::new(&self.root().join("state"), INSTALLATION)
    }

    pub(crate) fn mark(&self) -> Mark {
        self.anchor().load().unwrap().unwrap()
    }

    pub(crate) fn signer(&self) -> Signer {
        Signer::new(&self.seed, self.anchored)
    }

    pub(crate) fn open(&self) -> Log {
        ready(Log::open(self.options()).unwrap())
    }
}

pub(crate) fn ready(state: OpenState) -> Log {
    match state {
        OpenState::Ready(log) => log,
        OpenState::Tampered(found) => panic!("not ready: {found:?}"),
    }
}

pub(crate) fn run<T>(work: impl std::future::Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

/// Returns a draft: an intent for odd `n`, its outcome for even `n`, with a value behind a
/// commitment.
pub(crate) fn draft(n: u64) -> RecordDraft {
    let (kind, status) = if n % 2 == 1 {
        (RecordType::ToolIntent, "started")
    } else {
        (RecordType::ToolOutcome, "ok")
    };
    RecordDraft::new(kind)
        .of(&"desktop:s1".into(), &"t1".into())
        .field("call", format!("call-{}", n.div_ceil(2)))
        .field("tool", "cart.add")
        .field("status", status)
        .commit("arguments", json!({ "quantity": n, "price": 12.5 }))
}

/// Appends until the log has `size` records, and then signs a checkpoint.
pub(crate) async fn fill(log: &Log, size: u64) {
    let mut n = log.total();
    while n < size {
        n += 1;
        log.append(draft(n), Durability::Grouped).await.unwrap();
    }
    log.checkpoint().await.unwrap();
}

/// Creates a closed log with `size` records.
pub(crate) fn closed(world: &World, size: u64) {
    run(async {
        let log = world.open();
        fill(&log, size).await;
        log.close().await.unwrap();
    });
}

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::copy(from, to).unwrap();
}

/// The content of a log, independent of its position in the file: all rows of all tables, all index
/// entries, the schema and the version numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Content {
    pub(crate) records: Vec<Row>,
    pub(crate) nodes: Vec<Row>,
    pub(crate) checkpoints: Vec<Row>,
    pub(crate) reveals: Vec<Row>,
    /// The parts that are the same in every log with this content.
    pub(crate) layout: Vec<Row>,
}

type Row = Vec<Value>;

impl Content {
    pub(crate) fn read(path: &Path) -> rusqlite::Result<Self> {
        let db = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let table = |sql: &str| -> rusqlite::Result<Vec<Row>> {
            let mut statement = db.prepare(sql)?;
            let columns = statement.column_count();
            statement.query_map([], |row| (0..columns).map(|n| row.get(n)).collect())?.collect()
        };
        let mut layout = table("SELECT * FROM sqlite_schema ORDER BY rowid")?;
        for name in ["user_version", "application_id", "schema_version"] {
            layout.extend(table(&format!("PRAGMA {name}"))?);
        }
        for column in ["type", "session", "tool"] {
            layout.extend(table(&format!(
                "SELECT {column}, seq FROM audit_record INDEXED BY audit_record_{column} WHERE {column} IS NOT NULL ORDER BY {column}, seq"
            ))?);
        }
        Ok(Self {
            records: table("SELECT * FROM audit_record NOT INDEXED ORDER BY seq")?,
            nodes: table("SELECT * FROM audit_node ORDER BY id")?,
            checkpoints: table("SELECT * FROM audit_checkpoint ORDER BY size")?,
            reveals: table("SELECT * FROM audit_reveal ORDER BY seq, member")?,
            layout,
        })
    }
}

/// Exports the log, with statements signed by the environment's key.
pub(crate) fn export(
    world: &World,
    folder: &Path,
    scope: Scope,
) -> Result<AuditExportResponse, AgentError> {
    let wanted = Wanted::new(scope).signed_by(Some(world.signer()));
    audit::export_file(&world.db(), folder, &wanted)
}

pub(crate) fn export_log(world: &World, folder: &Path) -> Result<AuditExportResponse, AgentError> {
    export(world, folder, Scope::Whole)
}

pub(crate) fn export_session(
    world: &World,
    folder: &Path,
    session: &str,
) -> Result<AuditExportResponse, AgentError> {
    export(world, folder, Scope::Session(session.into()))
}
