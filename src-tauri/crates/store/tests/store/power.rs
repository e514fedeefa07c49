//! Power cuts at any moment: writes that were not synced are lost, reordered or torn. Afterwards
//! the store opens, is not damaged, and has every write that was confirmed as durable, with all
//! deferred writes before it. No file contains a text whose erasure was confirmed.

use std::path::Path;
use std::sync::Arc;

use contract::{ApprovalId, ApprovalStatus, SessionId, Transition};
use engine::ports::{Approvals as _, Items as _, Notes as _, Sessions as _, TurnRow, Turns as _};
use rusqlite::Connection;
use soak::{Cut, Disk, Image, Plan, Random};
use store::SqliteStore;

use crate::texts::{Texts, Written};
use crate::world::{World, instant, message, open_at, pending};

/// The number of starts of the store in one environment. Each start uses the state after the
/// previous power cut.
const STARTS: u64 = 5;
/// The number of power cuts per start.
const CUTS: u64 = 2;

/// A fact that must be true after an acknowledged write.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fact {
    Session,
    /// The item with this number exists, and its text contains the number.
    Item(u64),
    /// An approval exists, with at least this status.
    Approval(u64, ApprovalStatus),
    Turn(u64),
    Note(u64),
}

/// A fact, and the moment from which the fact must survive a power cut.
type Reported = (usize, Fact);

fn session() -> SessionId {
    SessionId::from("s")
}

fn turn(n: u64, ended: bool) -> TurnRow {
    TurnRow {
        turn: format!("turn-{n}").as_str().into(),
        session: session(),
        started_at: instant("2026-11-21T10:00:00Z"),
        ended_at: ended.then(|| instant("2026-11-21T10:00:05Z")),
        status: if ended { "completed".into() } else { "running".into() },
        model: "offline".into(),
        usage: contract::Usage::default(),
    }
}

/// The next free numbers of one environment.
#[derive(Clone, Default)]
struct Next {
    item: u64,
    other: u64,
}

/// Everything that must be true in one environment.
#[derive(Clone, Default)]
struct Known {
    facts: Vec<Reported>,
    texts: Texts,
}

impl Known {
    /// Returns what must be true if the power is cut at this moment.
    fn at(&self, moment: usize) -> Self {
        let facts = self.facts.iter().filter(|(at, _)| *at <= moment);
        Self {
            facts: facts.map(|(_, fact)| (0, fact.clone())).collect(),
            texts: self.texts.at(moment),
        }
    }
}

/// Makes writes of all kinds. A deferred write must survive from the next write that is synced at
/// once.
async fn work(
    store: &SqliteStore,
    folder: &Path,
    disk: &Disk,
    random: &mut Random,
    next: &mut Next,
    known: &mut Known,
) {
    let mut along = Vec::new();
    if store.session(&session()).await.expect("read").is_none() {
        store
            .session_create(&session(), "A title", instant("2026-11-21T09:00:00Z"))
            .await
            .expect("created");
        along.push(Fact::Session);
    }
    for _ in 0..4 + random.index(20) {
        next.other += 1;
        let n = next.other;
        let at_once = match random.below(18) {
            0..=4 => {
                let several = 1 + random.below(4);
                let items =
                    (next.item..next.item + several).map(|n| message(&session(), n)).collect();
                store.items_append(items).await.expect("appended");
                along.extend((next.item..next.item + several).map(Fact::Item));
                next.item += several;
                None
            }
            5..=6 => {
                store
                    .approval_insert(&pending(&format!("a{n}"), &session(), "2026-11-21T10:00:00Z"))
                    .await
                    .expect("inserted");
                let id = ApprovalId::from(format!("a{n}").as_str());
                if random.chance(50) {
                    let at = instant("2026-11-21T10:01:00Z");
                    assert_eq!(
                        store.approval_move(&id, Transition::APPROVE, None, at).await,
                        Ok(true)
                    );
                    Some(Fact::Approval(n, ApprovalStatus::Approved))
                } else {
                    Some(Fact::Approval(n, ApprovalStatus::Pending))
                }
            }
            7 => {
                store.turn_save(&turn(n, false), Vec::new(), None).await.expect("saved");
                None
            }
            8 => {
                store
                    .turn_save(&turn(n, true), vec![message(&session(), next.item)], None)
                    .await
                    .expect("saved");
                along.push(Fact::Item(next.item));
                next.item += 1;
                Some(Fact::Turn(n))
            }
            9 => {
                store.note_put(&format!("note-{n}"), "x").await.expect("noted");
                Some(Fact::Note(n))
            }
            _ => match known.texts.step(store, folder, disk, random).await {
                Written::Now => Some(Fact::Session),
                Written::Later => None,
            },
        };
        if let Some(fact) = at_once {
            let moment = disk.moment();
            known.texts.sync(moment);
            known.facts.extend(along.drain(..).chain([fact]).map(|fact| (moment, fact)));
        }
    }
}

/// Opens the state after a cut, and checks everything that must be true. Returns the facts with the
/// texts that were found.
async fn check(image: &Image, world: &World, known: Known, case: &str) -> Known {
    let folder = tempfile::tempdir().expect("a folder");
    image.restore(folder.path());
    known.texts.check_files(folder.path(), case);
    let path = folder.path().join("countersign.db");
    let opened = open_at(&path, Arc::clone(&world.clock));
    assert!(
        opened.recovered.is_none() && !opened.read_only,
        "{case}: a power cut damages nothing: {:?}",
        opened.recovered
    );
    let store = opened.store;
    let items = store.items_before(&session(), None, u32::MAX).await.expect("read");
    for (at, item) in items.iter().enumerate() {
        let wanted = message(&session(), at as u64);
        assert_eq!(
            (&item.id, &item.body),
            (&wanted.id, &wanted.body),
            "{case}: items are there in their order, without a gap"
        );
    }
    let texts = known.texts.check(&store, case).await;
    for (_, fact) in &known.facts {
        let there = match fact {
            Fact::Session => store.session(&session()).await.expect("read").is_some(),
            Fact::Item(n) => (*n as usize) < items.len(),
            Fact::Approval(n, status) => {
                let found = store
                    .approval(&ApprovalId::from(format!("a{n}").as_str()))
                    .await
                    .expect("read");
                found.is_some_and(|found| {
                    found.status == *status || *status == ApprovalStatus::Pending
                })
            }
            Fact::Turn(n) => {
                !store
                    .turns_running()
                    .await
                    .expect("read")
                    .iter()
                    .any(|row| row.turn == turn(*n, true).turn)
                    && has_turn(&path, *n)
            }
            Fact::Note(n) => store.note(&format!("note-{n}")).await.expect("read").is_some(),
        };
        assert!(there, "{case}: {fact:?} is lost");
    }
    store.close();
    let db = Connection::open(path).expect("opened");
    let verdict: String =
        db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("checked");
    assert_eq!(verdict, "ok", "{case}");
    db.execute_batch("INSERT INTO memory_words (memory_words, rank) VALUES ('integrity-check', 1)")
        .unwrap_or_else(|error| panic!("{case}: the words are not those of the texts: {error}"));
    known.texts.check_files(folder.path(), &format!("{case}, closed"));
    Known { texts, ..known }
}

fn has_turn(path: &Path, n: u64) -> bool {
    let count = |db: Connection| {
        db.query_row("SELECT count(*) FROM turn WHERE id=?1", [format!("turn-{n}")], |row| {
            row.get::<_, i64>(0)
        })
    };
    Connection::open(path).and_then(count).expect("read") == 1
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_power_cut_loses_no_acknowledged_write() {
    let plan = Plan::new("power cuts, countersign.db", 500);
    for number in 0..plan.cases().div_ceil(STARTS * CUTS) {
        one_world(&plan, number).await;
    }
}

async fn one_world(plan: &Plan, number: u64) {
    let (world, mut random) = (World::new(), plan.random(number));
    let (mut known, mut next) = (Known::default(), Next::default());
    let mut folder = tempfile::tempdir().expect("a folder");
    for start in 0..STARTS {
        let disk = Disk::watch(folder.path());
        let case = format!("{}, start {start}", plan.case(number));
        let opened = open_at(&folder.path().join("countersign.db"), Arc::clone(&world.clock));
        assert!(opened.recovered.is_none() && !opened.read_only, "{case}");
        let store = opened.store;
        // Deferred writes that were lost in the cut are repeated.
        next.item =
            store.items_before(&session(), None, u32::MAX).await.expect("read").len() as u64;
        known.texts.begin(&store).await;
        work(&store, folder.path(), &disk, &mut random, &mut next, &mut known).await;
        if random.chance(50) {
            store.close()
        } else {
            drop(store)
        }
        let end = std::mem::take(&mut known);
        for cut in 0..CUTS {
            let how = *random.pick(&[
                Cut::Dropped,
                Cut::Reordered,
                Cut::Reordered,
                Cut::Torn,
                Cut::Torn,
                Cut::Torn,
                Cut::Kept,
            ]);
            let moment = end.texts.pick_moment(disk.moment(), &mut random);
            let image = disk.cut(moment, how, &mut random);
            let case = format!("{case}, {how:?} after {moment} of {} steps", disk.moment());
            let there = check(&image, &world, end.at(moment), &case).await;
            if cut == CUTS - 1 {
                folder = tempfile::tempdir().expect("a folder");
                image.restore(folder.path());
                known = there;
            }
        }
    }
}
