//! A test with a large log, run on demand only: `cargo test -p audit --test log volume -- --ignored
//! --nocapture`. Prints times and asserts no limits.

use std::time::Instant;

use audit::verify;
use contract::AuditListParams;
use engine::ports::{AuditLog as _, Durability};

use crate::kit::{World, draft, run};

#[test]
#[ignore = "takes long and a gigabyte; on demand"]
fn a_large_log_is_written_verified_and_filtered_in_linear_time() {
    for size in [20_000u64, 200_000] {
        let world = World::new();
        let start = Instant::now();
        run(async {
            let log = world.open();
            while log.total() < size {
                for n in 0..2_000 {
                    log.append(draft(n), Durability::Grouped).await.unwrap();
                }
                log.flush().await.unwrap();
            }
            eprintln!("{size} records written in {:?}", start.elapsed());
            let start = Instant::now();
            let list = AuditListParams {
                record_type: None,
                session: None,
                query: "nothing has this".into(),
                before: None,
                limit: 0,
            };
            log.list(list).await.unwrap();
            eprintln!("{size} records searched in {:?}", start.elapsed());
            log.close().await.unwrap();
            let start = Instant::now();
            let log = world.open();
            eprintln!("{size} records opened in {:?}", start.elapsed());
            log.close().await.unwrap();
        });
        let start = Instant::now();
        assert!(verify(&world.db(), Some(&world.mark())).ok);
        eprintln!("{size} records verified in {:?}", start.elapsed());
    }
}
