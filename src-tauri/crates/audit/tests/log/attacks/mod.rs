//! Random tampering with logs on a disk (closed, open, or left by a kill) and with exported
//! folders. Every change must be reported.
//!
//! A change counts if it changes the log's content: its rows, index entries, schema or version
//! numbers, read without the code under test. Other changes are *void*: bytes of unused space, or a
//! side file that SQLite ignores. In a closed log no byte is void, because its mark contains the
//! file's digest. FORMAT.md *allows* two kinds of change, which are counted separately: the
//! unsigned tail behind the mark may be cut, and values (with older checkpoints) may be missing.
//! Neither adds new content.

mod bytes;
mod exports;
mod rows;
mod states;

use std::path::Path;

use audit::{Anchor as _, Log, Mark, OpenState, verify};
use soak::{Plan, Random};

use crate::kit::{Content, World};
use states::State;

/// One attempt: a copy of a log, and the random choices of the attack.
struct Attempt<'a> {
    state: &'a State,
    folder: &'a Path,
    random: Random,
}

/// Attacks the copy. Returns a description, or None if the attack is not possible with this log.
type Attack = fn(&mut Attempt<'_>) -> Option<String>;

#[derive(Debug, Default)]
struct Count {
    found: u64,
    void: u64,
    allowed: u64,
}

impl Count {
    fn add(&mut self, other: &Self) {
        self.found += other.found;
        self.void += other.void;
        self.allowed += other.allowed;
    }
}

/// Checks the state after an unreported change. Returns `Ok` if the content is unchanged, or if the
/// format allows the change.
fn judge(path: &Path, before: &Content, mark: &Mark, count: &mut Count) -> Result<(), String> {
    let after = Content::read(path)
        .map_err(|error| format!("a log that cannot be read ({error}) is called sound"))?;
    if &after == before {
        count.void += 1;
        return Ok(());
    }
    let signed = usize::try_from(mark.size).unwrap();
    let is_cut = after.records.len() >= signed
        && before.records.starts_with(&after.records)
        && before.nodes.starts_with(&after.nodes);
    let is_less = after.checkpoints.iter().all(|row| before.checkpoints.contains(row))
        && after.reveals.iter().all(|row| before.reveals.contains(row));
    if is_cut && is_less {
        count.allowed += 1;
        return Ok(());
    }
    Err("it changes what the log says, and is not reported".to_owned())
}

/// Runs attempts until `cases` of them have changed something.
fn attack(plan: &Plan, part: u64, cases: u64, states: &[State]) -> Count {
    let attacks: Vec<Attack> = bytes::ATTACKS.iter().chain(rows::ATTACKS).copied().collect();
    let folder = tempfile::tempdir().unwrap();
    let mut count = Count::default();
    for case in 0.. {
        if count.found >= cases {
            break;
        }
        assert!(case < cases * 20 + 100, "too many attempts change nothing: {count:?}");
        let number = part << 32 | case;
        let mut random = plan.random(number);
        let (state, attack) = (random.pick(states), random.pick(&attacks));
        state.files.restore(folder.path());
        let Some(what) = attack(&mut Attempt { state, folder: folder.path(), random }) else {
            continue;
        };
        let path = folder.path().join("audit.db");
        let report = verify(&path, Some(&state.mark));
        if report.ok {
            judge(&path, &state.content, &state.mark, &mut count).unwrap_or_else(|why| {
                panic!("{}: {}: {what}: {why}", plan.case(number), state.name)
            });
        } else {
            assert!(!report.problems.is_empty());
            count.found += 1;
        }
    }
    count
}

#[test]
fn every_tampering_with_a_log_is_reported() {
    let plan = Plan::new("tamperings with logs", 7_000);
    let states = states::all();
    for state in &states {
        let folder = tempfile::tempdir().unwrap();
        state.files.restore(folder.path());
        let report = verify(&folder.path().join("audit.db"), Some(&state.mark));
        assert!(
            report.ok,
            "{} is sound before anyone touches it: {:?}",
            state.name, report.problems
        );
    }
    let mut count = Count::default();
    std::thread::scope(|scope| {
        let halves = [0, 1].map(|part| {
            scope.spawn({
                let (plan, states) = (&plan, &states);
                move || attack(plan, part, plan.cases() / 2, states)
            })
        });
        for half in halves {
            count.add(&half.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
    });
    eprintln!("tamperings with logs: {count:?}");
}

#[test]
fn every_tampering_with_an_export_is_reported() {
    exports::run(&Plan::new("tamperings with exports", 1_500));
}

/// The added records agree with the chain and the tree, so the next opening would sign them.
#[test]
fn records_added_to_a_closed_log_are_reported_and_not_continued() {
    let (state, world) = (states::after_closing(4096, true), World::new());
    state.files.restore(world.root());
    world.anchor().store(&state.mark).unwrap();
    rows::add_to_closed(&mut Attempt {
        state: &state,
        folder: world.root(),
        random: Random::new(1),
    })
    .unwrap();
    let report = verify(&world.db(), Some(&state.mark));
    assert_eq!(
        report.problems.first().and_then(|problem| problem.seq),
        Some(state.mark.size + 1),
        "{report:?}"
    );
    assert!(matches!(Log::open(world.options()).unwrap(), OpenState::Tampered(_)));
}
