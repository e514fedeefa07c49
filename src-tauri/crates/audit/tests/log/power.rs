//! Power cuts at any moment: writes that were not synced are lost, reordered or torn. The log opens
//! without an alarm, verifies against the mark that was durable by then, and has every acknowledged
//! record.

use std::path::Path;
use std::sync::{Arc, Mutex};

use audit::{Anchor, AnchorFault, Log, Mark, OpenOptions, OpenState, verify};
use contract::RecordType;
use engine::ports::{AuditLog as _, Durability, RecordDraft};
use soak::{Cut, Disk, Image, Plan, Random};

use crate::kit::{World, run};

/// Starts of the log in one environment. Each begins with the state after the cut of the one
/// before.
const STARTS: u64 = 5;
/// Power cuts per start.
const CUTS: u64 = 2;

/// Stores the mark and the moment at which it was stored. Like the file in the state folder, it is
/// durable once it is stored.
struct Kept {
    disk: Option<Arc<Disk>>,
    marks: Mutex<Vec<(usize, Mark)>>,
}

impl Kept {
    fn new(disk: Option<Arc<Disk>>, mark: Option<Mark>) -> Arc<Self> {
        Arc::new(Self { disk, marks: Mutex::new(mark.into_iter().map(|mark| (0, mark)).collect()) })
    }

    /// Returns the mark on the disk at a moment. While one is being stored, it may also be the one
    /// before.
    fn at(&self, moment: usize, random: &mut Random) -> Option<Mark> {
        let marks = self.marks.lock().unwrap();
        let there = marks.iter().filter(|(stored, _)| *stored <= moment).count();
        let is_being_stored =
            marks.get(there.wrapping_sub(1)).is_some_and(|(stored, _)| *stored == moment);
        let lags = usize::from(there > 1 && is_being_stored && random.chance(50));
        there.checked_sub(1 + lags).map(|at| marks[at].1.clone())
    }

    fn newest(&self) -> Option<Mark> {
        self.marks.lock().unwrap().last().map(|(_, mark)| mark.clone())
    }
}

impl Anchor for Kept {
    fn name(&self) -> &str {
        "the test"
    }
    fn load(&self) -> Result<Option<Mark>, AnchorFault> {
        Ok(self.newest())
    }
    fn store(&self, mark: &Mark) -> Result<(), String> {
        let moment = self.disk.as_ref().map_or(0, |disk| disk.moment());
        self.marks.lock().unwrap().push((moment, mark.clone()));
        Ok(())
    }
}

/// An acknowledged record: its number and content.
#[derive(Clone, Copy, Debug)]
struct Told {
    moment: usize,
    seq: u64,
    n: u64,
}

fn options(world: &World, folder: &Path, kept: &Arc<Kept>) -> OpenOptions {
    let mut options = world.options();
    options.path = folder.join("audit.db");
    options.anchors = vec![Arc::clone(kept) as Arc<dyn Anchor>];
    options
}

fn open(options: OpenOptions, case: &str) -> Log {
    match Log::open(options).unwrap_or_else(|error| panic!("{case}: {error}")) {
        OpenState::Ready(log) => log,
        OpenState::Tampered(found) => panic!("{case}: a false alarm: {found:?}"),
    }
}

/// Writes records of all kinds of durability. Returns the acknowledged ones with their moments.
async fn work(log: &Log, disk: &Disk, random: &mut Random, next: &mut u64) -> Vec<Told> {
    let (mut told, mut waiting) = (Vec::new(), Vec::new());
    for _ in 0..4 + random.index(24) {
        let n = *next;
        let draft = RecordDraft::new(RecordType::RunStarted)
            .field("n", n)
            .commit("input", "x".repeat(random.index(3_000)));
        let how = match random.below(10) {
            0..=3 => Some(Durability::Durable),
            4..=5 => Some(Durability::Signed),
            6..=7 => Some(Durability::Grouped),
            8 => {
                log.checkpoint().await.unwrap();
                None
            }
            _ => {
                log.flush().await.unwrap();
                None
            }
        };
        if let Some(how) = how {
            *next += 1;
            let seq = log.append(draft, how).await.unwrap();
            waiting.push((seq, n));
            if how == Durability::Grouped {
                continue;
            }
        }
        let moment = disk.moment();
        told.extend(waiting.drain(..).map(|(seq, n)| Told { moment, seq, n }));
    }
    told
}

/// Opens the state after a cut, and checks that every acknowledged record is there.
fn check(world: &World, image: &Image, mark: Option<&Mark>, told: &[Told], case: &str) {
    let folder = tempfile::tempdir().unwrap();
    image.restore(folder.path());
    let path = folder.path().join("audit.db");
    // A log without acknowledged records may not exist at all.
    if mark.is_some() || !told.is_empty() {
        let report = verify(&path, mark);
        assert!(report.ok, "{case}: as found: {:?}", report.problems);
    }
    run(async {
        let kept = Kept::new(None, mark.cloned());
        let log = open(options(world, folder.path(), &kept), case);
        for Told { seq, n, .. } in told {
            let record = log
                .show(*seq)
                .await
                .unwrap_or_else(|error| panic!("{case}: record {seq} is lost: {error:?}"));
            assert_eq!(record.fields["n"], *n, "{case}: record {seq}");
        }
        let report = log.verify().await.unwrap();
        assert!(report.ok, "{case}: reopened: {:?}", report.problems);
        log.close().await.unwrap();
        let report = verify(&path, kept.newest().as_ref());
        assert!(report.ok, "{case}: closed: {:?}", report.problems);
    });
}

#[test]
fn a_power_cut_loses_nothing_told_and_raises_no_alarm() {
    let plan = Plan::new("power cuts, audit.db", 500);
    for world in 0..plan.cases().div_ceil(STARTS * CUTS) {
        one_world(&plan, world);
    }
}

fn one_world(plan: &Plan, number: u64) {
    let (world, mut random) = (World::new(), plan.random(number));
    let (mut mark, mut told, mut next) = (None, Vec::<Told>::new(), 0);
    let mut folder = tempfile::tempdir().unwrap();
    for start in 0..STARTS {
        let disk = Disk::watch(folder.path());
        let kept = Kept::new(Some(Arc::clone(&disk)), mark.clone());
        let case = format!("{}, start {start}", plan.case(number));
        let new = run(async {
            let log = open(options(&world, folder.path(), &kept), &case);
            let new = work(&log, &disk, &mut random, &mut next).await;
            log.close().await.unwrap();
            new
        });
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
            let moment = random.index(disk.moment() + 1);
            let image = disk.cut(moment, how, &mut random);
            let at_cut = kept.at(moment, &mut random);
            let there: Vec<Told> = told
                .iter()
                .chain(new.iter().filter(|told| told.moment <= moment))
                .copied()
                .collect();
            check(
                &world,
                &image,
                at_cut.as_ref(),
                &there,
                &format!("{case}, {how:?} after {moment} of {} steps", disk.moment()),
            );
            if cut == CUTS - 1 {
                // The next start uses this state: its first steps are a recovery, which is cut like
                // everything else.
                folder = tempfile::tempdir().unwrap();
                image.restore(folder.path());
                (mark, told) = (at_cut, there);
            }
        }
    }
}
