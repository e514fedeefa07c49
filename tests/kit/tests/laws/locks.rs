//! Limits how many locks a turn has. A part of a turn has plain fields and one owner. Only state
//! that parallel calls share is locked.

use std::fs;

use crate::{root, sources, without_tests};

/// The most locks of one turn.
const MOST: usize = 6;

/// Folders of the engine whose types live as long as a turn, unless `SHARED` names them.
const FOLDERS: [&str; 6] = ["agents", "approvals", "budget", "context", "tools", "turn"];

/// Types in these folders that all turns share.
const SHARED: [&str; 13] = [
    "Analyses",
    "Egress",
    "KnownSecrets",
    "Lane",
    "Lanes",
    "Live",
    "Recorders",
    "RefusedRequests",
    "Router",
    "ToolRefusals",
    "Toolkits",
    "Traces",
    "Validators",
];

/// Types in these folders that belong to the request or to the recording of a turn, which not every
/// turn has.
const BESIDE: [&str; 3] = ["RecordedResume", "Recorder", "RunContext"];

/// The endings of type names that synchronise threads, besides atomic values.
const SYNCHRONISED: [&str; 7] =
    ["Condvar", "Mutex", "Notify", "OnceCell", "OnceLock", "RwLock", "Semaphore"];

#[test]
fn a_turn_has_at_most_six_locks() {
    let engine = root().join("src-tauri/crates/engine/src");
    let mut found = Vec::new();
    for file in FOLDERS.iter().flat_map(|folder| sources(&engine.join(folder), &["rs"])) {
        let text = without_tests(&fs::read_to_string(&file).unwrap());
        found.extend(locks(&text));
    }
    let (shared, of_a_turn): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|(owner, _)| SHARED.contains(&owner.as_str()));
    let of_a_turn: Vec<_> =
        of_a_turn.into_iter().filter(|(owner, _)| !BESIDE.contains(&owner.as_str())).collect();
    for name in SHARED {
        assert!(shared.iter().any(|(owner, _)| owner == name), "{name} has no lock any more");
    }
    assert!(
        of_a_turn.iter().any(|(owner, _)| owner == "TurnContext")
            && of_a_turn.iter().any(|(owner, _)| owner == "ReadsSeen"),
        "the locks are found: {of_a_turn:?}"
    );
    assert!(
        of_a_turn.len() <= MOST,
        "a turn has at most {MOST} locks; it has {}: {of_a_turn:?}",
        of_a_turn.len()
    );
}

/// Returns the members of structs that are locks, each with the name of its struct. A handle
/// (`Arc<Mutex<..>>`) is not counted, because its lock belongs to a value that lives longer.
fn locks(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut owner = None;
    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
        let line = line.replace("pub(crate) ", "").replace("pub(super) ", "");
        if let Some((_, rest)) = line.split_once("struct ") {
            let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
            owner = Some(rest[..end].to_owned());
        } else if line == "}" {
            owner = None;
        }
        let Some(name) = &owner else { continue };
        if line.split_once(['(', ':']).is_some_and(|(_, kind)| is_lock(kind.trim())) {
            found.push((name.clone(), line.trim().to_owned()));
        }
        if line.ends_with(';') {
            owner = None;
        }
    }
    found
}

fn is_lock(kind: &str) -> bool {
    let path = kind.split(['<', ',', ')']).next().unwrap_or_default();
    // A cell of one thread is not a lock.
    if path.starts_with("cell::") {
        return false;
    }
    let name = path.rsplit("::").next().unwrap_or_default();
    name.starts_with("Atomic")
        || path.contains("watch::")
        || SYNCHRONISED.iter().any(|lock| name.ends_with(lock))
}

#[test]
fn members_of_structs_count_as_locks_and_handles_do_not() {
    let text = "
pub(crate) struct Part {
    plain: u32,
    pub(crate) counter: AtomicU64,
    handle: Arc<Mutex<Table>>,
    read_once: cell::OnceCell<u8>,
}
pub(crate) struct Wrapped(tokio::sync::Mutex<Vec<u8>>);
fn call(lock: &Mutex<u8>) {
    let other: Mutex<u8> = Mutex::new(0);
}
";
    let owners: Vec<String> = locks(text).into_iter().map(|(owner, _)| owner).collect();
    assert_eq!(owners, ["Part", "Wrapped"]);
}
