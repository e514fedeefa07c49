//! Kills and power cuts while the versions of messages change. Afterwards the store has every
//! acknowledged change as a whole, no deleted message returns, and the marks of turns and items
//! agree.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use contract::{ItemBody, SessionId, TurnId};
use engine::ports::{Items as _, Turns as _, VersionChange, Versions as _};
use rusqlite::Connection;
use soak::{Cut, Disk, Plan, Random};
use store::SqliteStore;

use crate::versions::{question, row};
use crate::world::{World, instant, open_at, run_again, with_session};

const AT: &str = "2026-11-21T11:00:00Z";

fn session() -> SessionId {
    SessionId::from("s")
}

/// The state of a session as a client sees it: the shown turns, the deleted turns that can be
/// restored, and all turns that have items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    shown: Vec<String>,
    deleted: Vec<String>,
    stored: BTreeSet<String>,
}

async fn state(store: &SqliteStore, known: &[String]) -> State {
    let items = store.items_before(&session(), None, u32::MAX).await.expect("read");
    let mut state =
        State { shown: items.into_iter().map(|item| item.turn.0).collect(), ..State::default() };
    let deleted = store.turns_deleted(None).await.expect("read");
    state.deleted = deleted.into_iter().map(|(_, turn)| turn.0).collect();
    for turn in known {
        if !store.items_of_turn(&turn.as_str().into()).await.expect("read").is_empty() {
            state.stored.insert(turn.clone());
        }
    }
    state
}

async fn save(store: &SqliteStore, turn: &str) {
    let items = vec![question(&session(), turn)];
    store.turn_save(&row(&session(), turn), items, None).await.expect("saved");
}

async fn replace(store: &SqliteStore, replaced: &str, by: &str) {
    let items = vec![question(&session(), by)];
    let replaced = store.turn_replace(&row(&session(), by), items, &replaced.into()).await;
    replaced.expect("written").expect("replaced");
}

/// Makes a change. A random change may be refused.
async fn change(store: &SqliteStore, change: VersionChange) {
    let changed = store.version_change(&session(), &change, instant(AT)).await;
    let _ = changed.expect("written or refused");
}

/// A stored turn: its parent, and whether it is chosen, deleted and hidden.
type Row = (Option<String>, bool, bool, bool);

/// Checks that the columns of turns, items and the session agree with each other.
fn check_marks(path: &Path, case: &str) {
    let conn = Connection::open(path).expect("opened");
    let mut statement = conn
        .prepare(
            "SELECT id, parent, chosen, deleted_at IS NOT NULL, hidden FROM turn ORDER BY rowid",
        )
        .expect("prepared");
    let rows: BTreeMap<String, Row> = statement
        .query_map([], |row| {
            Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))
        })
        .expect("read")
        .collect::<Result<_, _>>()
        .expect("read");
    let mut last: Option<String> = None;
    let mut path_of_chosen = BTreeSet::new();
    loop {
        let versions: Vec<_> = rows.iter().filter(|(_, row)| row.0 == last).collect();
        let chosen: Vec<_> = versions.iter().filter(|(_, row)| row.1).collect();
        if versions.is_empty() {
            break;
        }
        assert_eq!(chosen.len(), 1, "{case}: one version is chosen: {rows:?}");
        last = Some(chosen[0].0.clone());
        path_of_chosen.insert(chosen[0].0.clone());
    }
    for (id, (parent, _, deleted, hidden)) in &rows {
        let is_shown = path_of_chosen.contains(id) && !deleted;
        assert_eq!(is_shown, !hidden, "{case}: {id} in {rows:?}");
        assert!(parent.as_ref().is_none_or(|parent| rows.contains_key(parent)), "{case}: {id}");
    }
    let tail: Option<String> = conn
        .query_row("SELECT tail FROM session WHERE id = 's'", [], |row| row.get(0))
        .expect("read");
    assert_eq!(tail, last, "{case}: the next turn follows the end of the path");
    let differing: i64 = conn
        .query_row(
            "SELECT count(*) FROM item i LEFT JOIN turn t ON t.id = i.turn WHERE t.id IS NULL OR t.hidden <> i.hidden",
            [],
            |row| row.get(0),
        )
        .expect("counted");
    assert_eq!(differing, 0, "{case}: each item has the mark of its turn");
    let verdict: String =
        conn.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checked");
    assert_eq!(verdict, "ok", "{case}");
}

/// Makes random changes. Returns the state after each, with the moment of its acknowledgement.
async fn work(
    store: &SqliteStore,
    disk: &Disk,
    random: &mut Random,
    known: &mut Vec<String>,
) -> Vec<(usize, State)> {
    let mut states = vec![(disk.moment(), state(store, known).await)];
    for _ in 0..6 + random.index(20) {
        let now = states[states.len() - 1].1.clone();
        let shown = (!now.shown.is_empty()).then(|| random.pick(&now.shown).clone());
        match (random.below(10), shown) {
            (0..=2, _) | (_, None) => {
                known.push(format!("t{}", known.len()));
                save(store, &known[known.len() - 1]).await;
            }
            (3..=4, Some(turn)) => {
                known.push(format!("t{}", known.len()));
                replace(store, &turn, &known[known.len() - 1]).await;
            }
            (5..=6, Some(_)) => {
                let turn = TurnId::from(random.pick(known.as_slice()).as_str());
                change(store, VersionChange::Show(turn)).await;
            }
            (7, Some(turn)) => change(store, VersionChange::Delete(turn.as_str().into())).await,
            (8, Some(_)) => {
                if !now.deleted.is_empty() {
                    let turn = TurnId::from(random.pick(&now.deleted).as_str());
                    change(store, VersionChange::Restore(turn)).await;
                }
            }
            (_, Some(_)) => {
                if !now.deleted.is_empty() {
                    let turn = TurnId::from(random.pick(&now.deleted).as_str());
                    store.turn_delete(&session(), &turn).await.expect("deleted");
                }
            }
        }
        states.push((disk.moment(), state(store, known).await));
    }
    states
}

/// The number of starts of the store in one environment.
const STARTS: u64 = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_power_cut_loses_no_change_of_versions_and_returns_no_deleted_message() {
    let plan = Plan::new("power cuts, versions of messages", 300);
    for number in 0..plan.cases().div_ceil(STARTS) {
        let (world, mut random) = (World::new(), plan.random(number));
        let mut folder = tempfile::tempdir().expect("a folder");
        let store = open_at(&folder.path().join("countersign.db"), Arc::clone(&world.clock)).store;
        with_session(&store, "s").await;
        store.close();
        let mut known = Vec::new();
        for start in 0..STARTS {
            let disk = Disk::watch(folder.path());
            let path = folder.path().join("countersign.db");
            let store = open_at(&path, Arc::clone(&world.clock)).store;
            let states = work(&store, &disk, &mut random, &mut known).await;
            drop(store);
            let how =
                *random.pick(&[Cut::Dropped, Cut::Reordered, Cut::Torn, Cut::Torn, Cut::Kept]);
            let moment = random.index(disk.moment() + 1);
            let image = disk.cut(moment, how, &mut random);
            let case = format!("{}, start {start}, {how:?} after {moment}", plan.case(number));
            folder = tempfile::tempdir().expect("a folder");
            image.restore(folder.path());
            let path = folder.path().join("countersign.db");
            let opened = open_at(&path, Arc::clone(&world.clock));
            assert!(opened.recovered.is_none() && !opened.read_only, "{case}");
            let there = state(&opened.store, &known).await;
            let told = states.iter().rposition(|(at, _)| *at <= moment).unwrap_or_default();
            // At most the change that was under way is there without an acknowledgement.
            let possible = states.iter().skip(told).take(2);
            assert!(
                possible.clone().any(|(_, state)| *state == there),
                "{case}: {there:?} is none of {:?}",
                possible.collect::<Vec<_>>()
            );
            opened.store.close();
            check_marks(&path, &case);
        }
    }
}

const FOLDER: &str = "STORE_TEST_VERSIONS_FOLDER";
const FIRST: &str = "STORE_TEST_VERSIONS_FIRST";

/// The number of changes in a cycle.
const CYCLE: u64 = 7;

/// Makes the n-th change: a question, another version of it, the first version again, a deletion,
/// an undo, another deletion, and its end.
async fn make_change(store: &SqliteStore, n: u64) {
    let (asked, other) = (format!("q{}", n / CYCLE), format!("r{}", n / CYCLE));
    let of = |turn: &str| TurnId::from(turn);
    match n % CYCLE {
        0 => save(store, &asked).await,
        1 => replace(store, &asked, &other).await,
        2 => change(store, VersionChange::Show(of(&asked))).await,
        4 => change(store, VersionChange::Restore(of(&asked))).await,
        6 => store.turn_delete(&session(), &of(&asked)).await.expect("deleted"),
        _ => change(store, VersionChange::Delete(of(&asked))).await,
    }
}

/// Returns the shown turns after the n-th change, and the number of turns with items.
fn after_change(n: u64) -> (Vec<String>, usize) {
    let cycle = n / CYCLE;
    match n % CYCLE {
        0 => (vec![format!("q{cycle}")], 1),
        1 => (vec![format!("r{cycle}")], 2),
        2 | 4 => (vec![format!("q{cycle}")], 2),
        6 => (vec![], 0),
        _ => (vec![], 2),
    }
}

/// This is not a test by itself, but the process that is killed. Prints the number of each change
/// that the store has acknowledged.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let first: u64 = std::env::var(FIRST).expect("given").parse().expect("a number");
    let world = World { folder: tempfile::tempdir().expect("unused"), ..World::new() };
    let path = std::path::PathBuf::from(folder).join("countersign.db");
    let store = open_at(&path, world.clock).store;
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        with_session(&store, "s").await;
        let mut out = std::io::stdout();
        for n in first.. {
            make_change(&store, n).await;
            writeln!(out, "changed {n}").expect("told");
            out.flush().expect("told");
        }
    });
}

/// Deletes all messages that a killed process left, so that the next one begins anew.
async fn clear(store: &SqliteStore) {
    let left: BTreeSet<TurnId> = store
        .items_before(&session(), None, u32::MAX)
        .await
        .expect("read")
        .into_iter()
        .map(|item| item.turn)
        .collect();
    for turn in left {
        change(store, VersionChange::Delete(turn)).await;
    }
    for (session, turn) in store.turns_deleted(None).await.expect("read") {
        store.turn_delete(&session, &turn).await.expect("deleted");
    }
}

/// The number of kills of one store.
const KILLS: u64 = 10;

#[tokio::test]
async fn a_kill_loses_no_change_of_versions_and_returns_no_deleted_message() {
    let plan = Plan::new("kills while versions change", 200);
    let mut sum = 0;
    for number in 0..plan.cases().div_ceil(KILLS) {
        let (world, mut random) = (World::new(), plan.random(number));
        let mut first = 0;
        for kill in 0..KILLS {
            let case = format!("{}, kill {kill}", plan.case(number));
            let mut child = run_again("version_faults::child", &[])
                .env(FOLDER, world.folder.path())
                .env(FIRST, first.to_string())
                .stdout(Stdio::piped())
                .spawn()
                .expect("started");
            let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
            let after = 1 + random.below(40);
            let mut told = None;
            for line in lines.map_while(Result::ok) {
                let changed = line.split_once("changed ").and_then(|(_, n)| n.trim().parse().ok());
                told = changed.or(told);
                if told.is_some_and(|n: u64| n + 1 >= first + after) {
                    child.kill().expect("killed");
                }
            }
            child.wait().expect("reaped");
            let told = told.expect("the process made changes");
            let opened = world.open();
            assert!(opened.recovered.is_none(), "{case}: a kill damages nothing");
            let items = opened.store.items_before(&session(), None, u32::MAX).await.expect("read");
            assert!(items.iter().all(|item| matches!(item.body, ItemBody::UserMessage { .. })));
            let shown: Vec<String> = items.into_iter().map(|item| item.turn.0).collect();
            let all: Vec<String> =
                (0..=(told + 1) / CYCLE).flat_map(|n| [format!("q{n}"), format!("r{n}")]).collect();
            let stored = state(&opened.store, &all).await.stored.len();
            let there = (shown, stored);
            assert!(
                there == after_change(told) || there == after_change(told + 1),
                "{case}: {there:?} after change {told}"
            );
            clear(&opened.store).await;
            opened.store.close();
            check_marks(&world.db(), &case);
            first = (told + 1).next_multiple_of(CYCLE) + CYCLE;
            sum += told;
        }
    }
    assert!(sum > 50, "the children made {sum} changes");
}
