//! Tests of many kinds of ordinary use without tampering: no verification and no opening raises an
//! alarm.

use audit::{Anchor as _, Log, OpenState, Signer, verify};
use engine::ports::{AuditLog as _, Durability};
use soak::{Plan, Random};

use crate::kit::{World, draft, export_log, export_session, run};

fn assert_sound(world: &World, when: &str, case: &str) {
    // The mark of a new log may not exist yet.
    let report = verify(&world.db(), world.anchor().load().unwrap().as_ref());
    assert!(report.ok, "{case}: {when}: {:?}", report.problems);
}

/// Makes one start of the log: records, erased values, verifications and exports.
async fn start(world: &World, log: &Log, random: &mut Random, case: &str) {
    for _ in 0..random.index(30) {
        let n = log.total() + 1;
        match random.below(12) {
            0..=3 => drop(log.append(draft(n), Durability::Grouped).await.unwrap()),
            4..=6 => drop(log.append(draft(n), Durability::Durable).await.unwrap()),
            7 => drop(log.append(draft(n), Durability::Signed).await.unwrap()),
            8 => drop(log.checkpoint().await.unwrap()),
            9 => drop(log.erase(1 + random.below(n), "arguments").await.unwrap()),
            10 => assert_sound(world, "read beside the writer", case),
            _ => {
                let report = log.verify().await.unwrap();
                assert!(report.ok, "{case}: verified while open: {:?}", report.problems);
            }
        }
    }
}

fn exports(world: &World, random: &mut Random, case: &str) {
    let folder = world.folder.path().join(format!("export-{}", random.number()));
    if random.chance(50) {
        export_log(world, &folder).unwrap();
    } else {
        let db = rusqlite::Connection::open(world.db()).unwrap();
        let of_session: i64 = db
            .query_row("SELECT count(*) FROM audit_record WHERE session='desktop:s1'", [], |row| {
                row.get(0)
            })
            .unwrap();
        drop(db);
        if of_session == 0 {
            return;
        }
        export_session(world, &folder, "desktop:s1").unwrap();
    }
    let report = verify(&folder, None);
    assert!(report.ok, "{case}: exported: {:?}", report.problems);
}

#[test]
fn a_clean_run_raises_no_alarm() {
    let plan = Plan::new("clean runs", 400);
    for number in 0..plan.cases() {
        let (mut world, mut random, case) = (World::new(), plan.random(number), plan.case(number));
        world.page_size = *random.pick(&[1024, 4096]);
        world.anchored = random.chance(70);
        for restart in 0..1 + random.index(4) {
            let mut options = world.options();
            if restart > 0 && random.chance(20) {
                // The keyring's key was replaced or added, and the old key signs the change.
                options.previous = Some(Signer::new(&world.seed, world.anchored));
                world.seed = [random.byte(); 32];
                options.signer = Signer::new(&world.seed, world.anchored);
            }
            run(async {
                let log = match Log::open(options).unwrap() {
                    OpenState::Ready(log) => log,
                    OpenState::Tampered(found) => {
                        panic!("{case}: a false alarm at start {restart}: {found:?}")
                    }
                };
                assert_eq!(log.warnings(), Vec::<String>::new(), "{case}");
                start(&world, &log, &mut random, &case).await;
                log.close().await.unwrap();
            });
            assert_sound(&world, "closed", &case);
        }
        exports(&world, &mut random, &case);
        assert_sound(&world, "at the end", &case);
    }
}
