//! Power cuts at any moment: writes that were not synced are lost, reordered or torn. The log opens
//! without an alarm, verifies against the mark that was durable by then, and has every acknowledged
//! record. The values are there, except for values whose erasure was acknowledged, which must not
//! be in any file.

use std::path::Path;
use std::sync::{Arc, Mutex};

use audit::{Anchor, AnchorFault, Log, Mark, OpenOptions, OpenState, verify};
use contract::{AuditFilter, AuditFindParams};
use engine::ports::AuditLog as _;
use soak::{Cut, Disk, Image, Plan, Random};

use crate::kept::{COPY, Known, Moving, Value, files_with, value, word};
use crate::kit::{World, run};

/// The number of starts of the log in one environment. Each start uses the state after the previous
/// power cut.
const STARTS: u64 = 5;
/// The number of power cuts per start.
const CUTS: u64 = 2;

/// Stores the mark and the moment at which it was stored. Like the file in the state folder, a
/// stored mark is durable.
struct Kept {
    disk: Option<Arc<Disk>>,
    marks: Mutex<Vec<(usize, Mark)>>,
}

impl Kept {
    fn new(disk: Option<Arc<Disk>>, mark: Option<Mark>) -> Arc<Self> {
        Arc::new(Self { disk, marks: Mutex::new(mark.into_iter().map(|mark| (0, mark)).collect()) })
    }

    /// Returns the mark that is on disk at a moment. While a mark is being stored, this may also be
    /// the previous mark.
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

fn options(world: &World, folder: &Path, kept: &Arc<Kept>, clock: &Arc<Moving>) -> OpenOptions {
    let mut options = world.options();
    options.path = folder.join("audit.db");
    options.anchors = vec![Arc::clone(kept) as Arc<dyn Anchor>];
    options.clock = clock.clone();
    options
}

fn open(options: OpenOptions, case: &str) -> Log {
    match Log::open(options).unwrap_or_else(|error| panic!("{case}: {error}")) {
        OpenState::Ready(log) => log,
        OpenState::Tampered(found) => panic!("{case}: a false alarm: {found:?}"),
    }
}

/// A state after a power cut, and everything that is known about it.
struct After<'a> {
    world: &'a World,
    clock: &'a Arc<Moving>,
    mark: Option<&'a Mark>,
    known: &'a Known,
    case: &'a str,
}

impl After<'_> {
    /// Opens the state, and checks that it contains everything acknowledged and nothing that was
    /// erased.
    fn check(&self, image: &Image) {
        let (case, known) = (self.case, self.known);
        let folder = tempfile::tempdir().unwrap();
        image.restore(folder.path());
        let path = folder.path().join("audit.db");
        let is_of_the_log = |name: &str| !name.starts_with(COPY);
        let found = files_with(folder.path(), &known.erased(false), is_of_the_log);
        assert!(found.is_empty(), "{case}: erased values are back: {found:?}");
        let found = files_with(folder.path(), &known.erased(true), |_| true);
        assert!(found.is_empty(), "{case}: erased values are back in the copy: {found:?}");
        // A log without acknowledged records need not exist at all.
        if self.mark.is_some() || !known.acknowledged.is_empty() {
            let report = verify(&path, self.mark);
            assert!(report.ok, "{case}: as found: {:?}", report.problems);
        }
        if known.copied.is_some() {
            let report = verify(&folder.path().join(COPY), None);
            assert!(report.ok, "{case}: the copy as found: {:?}", report.problems);
        }
        run(self.reopen(folder.path()));
        let found = files_with(folder.path(), &known.erased(false), |_| true);
        assert!(found.is_empty(), "{case}: closed: erased values are back: {found:?}");
    }

    async fn reopen(&self, folder: &Path) {
        let case = self.case;
        let kept = Kept::new(None, self.mark.cloned());
        let log = open(options(self.world, folder, &kept, self.clock), case);
        self.check_records(&log).await;
        let report = log.verify().await.unwrap();
        assert!(report.ok, "{case}: reopened: {:?}", report.problems);
        let copy = folder.join(COPY);
        log.update_copy(&copy).unwrap_or_else(|error| panic!("{case}: the copy: {error:?}"));
        let report = verify(&copy, None);
        assert!(report.ok, "{case}: the copy: {:?}", report.problems);
        assert_eq!(report.records, log.total(), "{case}: the copy has all records");
        log.close().await.unwrap();
        let report = verify(&folder.join("audit.db"), kept.newest().as_ref());
        assert!(report.ok, "{case}: closed: {:?}", report.problems);
        let aside = folder.read_dir().unwrap().flatten().map(|entry| entry.file_name());
        let aside: Vec<_> =
            aside.filter(|name| name.to_string_lossy().contains("set-aside")).collect();
        assert!(aside.is_empty(), "{case}: set aside: {aside:?}");
    }

    async fn check_records(&self, log: &Log) {
        let case = self.case;
        for acknowledged in &self.known.acknowledged {
            let (seq, n) = (acknowledged.seq, acknowledged.n);
            let record = log
                .show(seq)
                .await
                .unwrap_or_else(|error| panic!("{case}: record {seq} is lost: {error:?}"));
            assert_eq!(record.fields["n"], n, "{case}: record {seq}");
            let revealed = &record.revealed["input"];
            match acknowledged.value {
                Value::Kept => assert_eq!(*revealed, value(n), "{case}: a lost value of {seq}"),
                Value::Erased { .. } => assert!(revealed.is_null(), "{case}: {seq} is back"),
                Value::Unknown => {}
            }
        }
        let newest = self.known.acknowledged.last();
        let Some(newest) = newest.filter(|record| record.value != Value::Unknown) else { return };
        let wanted: &[u64] = if newest.value == Value::Kept { &[newest.seq] } else { &[] };
        assert_eq!(find(log, newest.n).await, wanted, "{case}: found by its words");
    }
}

/// Returns the records that contain the word of a value.
async fn find(log: &Log, n: u64) -> Vec<u64> {
    let filter = AuditFilter { search: word(n), ..AuditFilter::default() };
    let params = AuditFindParams { filter, before: None, limit: 0 };
    log.find(params).await.unwrap().records.into_iter().map(|record| record.seq).collect()
}

/// Writes records with every kind of durability, erases values, and updates the copy.
async fn work(log: &Log, folder: &Path, disk: &Disk, random: &mut Random, known: &mut Known) {
    for _ in 0..4 + random.index(24) {
        let begun = disk.moment();
        match random.below(16) {
            0..=9 => known.append(log, disk, random).await,
            10 => {
                log.checkpoint().await.unwrap();
                known.tell(disk.moment());
            }
            11 => {
                log.flush().await.unwrap();
                known.tell(disk.moment());
            }
            12 => drop(find(log, random.below(known.next + 1)).await),
            13 => {
                log.update_copy(&folder.join(COPY)).unwrap();
                known.note_copy(disk.moment());
            }
            _ => known.erase(log, folder, (disk, begun), random).await,
        }
    }
}

#[test]
fn a_power_cut_loses_no_acknowledged_record_and_raises_no_alarm() {
    let plan = Plan::new("power cuts, audit.db", 500);
    for world in 0..plan.cases().div_ceil(STARTS * CUTS) {
        one_world(&plan, world);
    }
}

fn one_world(plan: &Plan, number: u64) {
    let (world, clock, mut random) = (World::new(), Moving::new(), plan.random(number));
    let (mut mark, mut known) = (None, Known::default());
    let mut folder = tempfile::tempdir().unwrap();
    for start in 0..STARTS {
        let disk = Disk::watch(folder.path());
        let kept = Kept::new(Some(Arc::clone(&disk)), mark.clone());
        let case = format!("{}, start {start}", plan.case(number));
        run(async {
            let log = open(options(&world, folder.path(), &kept, &clock), &case);
            work(&log, folder.path(), &disk, &mut random, &mut known).await;
            log.close().await.unwrap();
        });
        let end = known;
        known = Known::default();
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
            let moment = end.pick_moment(disk.moment(), &mut random);
            let image = disk.cut(moment, how, &mut random);
            let at_cut = kept.at(moment, &mut random);
            let there = end.at(moment);
            let case = format!("{case}, {how:?} after {moment} of {} steps", disk.moment());
            let after = After {
                world: &world,
                clock: &clock,
                mark: at_cut.as_ref(),
                known: &there,
                case: &case,
            };
            after.check(&image);
            if cut == CUTS - 1 {
                // The next start uses this state. Its first steps are a recovery, which is cut like
                // any other step.
                folder = tempfile::tempdir().unwrap();
                image.restore(folder.path());
                (mark, known) = (at_cut, there);
            }
        }
    }
}
