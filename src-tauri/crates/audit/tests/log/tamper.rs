//! Tests of tampering with the file and with a database tool: `verify` reports each change with the
//! first invalid record, and `open` also reports it if the change is at the end.

use audit::{Anchor as _, Log, Mark, OpenState, verify};
use contract::VerifyProblem;
use rusqlite::Connection;

use crate::kit::{OTHER_KEY, World, closed, copy, run};

/// Changes a closed log of 50 records. Returns the first problem that `verify` reports.
fn problem_after(sql: &str) -> VerifyProblem {
    let world = World::new();
    closed(&world, 50);
    let mark = world.mark();
    Connection::open(world.db()).unwrap().execute_batch(sql).unwrap();
    first_problem(&world, &mark)
}

fn first_problem(world: &World, mark: &Mark) -> VerifyProblem {
    // The seal is removed, so that the rules for records must detect the change.
    let unsealed = Mark { seal: None, ..mark.clone() }.signed(&world.signer());
    let report = verify(&world.db(), Some(&unsealed));
    assert!(!report.ok, "the change goes unreported");
    report.problems[0].clone()
}

#[test]
fn verification_reports_the_sequence_number_of_a_rewritten_record() {
    assert_eq!(problem_after("UPDATE audit_record SET body=CAST(replace(CAST(body AS TEXT),'cart.add','cart.del') AS BLOB) WHERE seq=17").seq, Some(17));
    assert_eq!(
        problem_after("UPDATE audit_record SET leaf=zeroblob(32) WHERE seq=17").seq,
        Some(17)
    );
}

#[test]
fn records_after_a_changed_record_are_not_reported_as_missing() {
    let world = World::new();
    closed(&world, 50);
    let mark = world.mark();
    let change = "UPDATE audit_record SET body=CAST(replace(CAST(body AS TEXT),'cart.add','cart.del') AS BLOB) WHERE seq=18";
    Connection::open(world.db()).unwrap().execute_batch(change).unwrap();
    let report = verify(&world.db(), Some(&mark));
    assert!(
        !report.ok && report.problems.iter().any(|problem| problem.seq == Some(18)),
        "{report:?}"
    );
    assert!(
        report.problems.iter().all(|problem| !problem.message.contains("missing")),
        "{report:?}"
    );
}

#[test]
fn verification_reports_swapped_duplicated_and_deleted_records() {
    assert_eq!(
        problem_after("UPDATE audit_record SET seq=-1 WHERE seq=20; UPDATE audit_record SET seq=20 WHERE seq=21; UPDATE audit_record SET seq=21 WHERE seq=-1")
            .seq,
        Some(20)
    );
    assert_eq!(
        problem_after(
            "UPDATE audit_record SET body=(SELECT body FROM audit_record WHERE seq=30), leaf=(SELECT leaf FROM audit_record WHERE seq=30) WHERE seq=31"
        )
        .seq,
        Some(31)
    );
    assert_eq!(problem_after("INSERT INTO audit_record SELECT 51, body, leaf, at, type, session, tool, status FROM audit_record WHERE seq=50").seq, Some(51));
    assert_eq!(problem_after("DELETE FROM audit_record WHERE seq=12").seq, Some(12));
    assert_eq!(problem_after("DELETE FROM audit_record WHERE seq=1").seq, Some(1));
}

#[test]
fn a_truncated_log_is_reported_even_if_its_tree_and_checkpoints_are_truncated_too() {
    assert_eq!(problem_after("DELETE FROM audit_record WHERE seq>44").seq, Some(45));
    // A log of 44 records has 41 complete inner nodes.
    let all = "DELETE FROM audit_record WHERE seq>44; DELETE FROM audit_reveal WHERE seq>44; DELETE FROM audit_node WHERE id>41; DELETE FROM audit_checkpoint WHERE size>44";
    assert_eq!(problem_after(all).seq, Some(45));
}

#[test]
fn changes_to_nodes_values_and_index_columns_are_reported() {
    assert_eq!(problem_after("UPDATE audit_node SET hash=zeroblob(32) WHERE id=9").seq, Some(12));
    assert_eq!(problem_after("DELETE FROM audit_node WHERE id=9").seq, Some(12));
    assert_eq!(
        problem_after("UPDATE audit_reveal SET value='{\"quantity\":1}' WHERE seq=9").seq,
        Some(9)
    );
    assert_eq!(
        problem_after("INSERT INTO audit_reveal VALUES(9,'other',zeroblob(32),'1')").seq,
        Some(9)
    );
    assert_eq!(problem_after("UPDATE audit_record SET tool='other' WHERE seq=9").seq, Some(9));
    assert_eq!(problem_after("UPDATE audit_record SET status=NULL WHERE seq=9").seq, Some(9));
    assert_eq!(
        problem_after("UPDATE audit_record SET session='desktop:s2' WHERE seq=9").seq,
        Some(9)
    );
    assert_eq!(problem_after("UPDATE audit_checkpoint SET size=49 WHERE size=50").seq, Some(2));
    assert_eq!(problem_after("DELETE FROM audit_checkpoint WHERE size=50").seq, Some(2));
    assert_eq!(problem_after("DELETE FROM audit_checkpoint").seq, Some(1));
    assert!(
        problem_after("CREATE TABLE more(x)").message.contains("header")
            || problem_after("CREATE TABLE more(x)").message.contains("version")
    );
    assert!(
        !problem_after("PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql=replace(sql,'tool TEXT','tool  TEXT') WHERE name='audit_record'")
            .message
            .is_empty()
    );
}

#[test]
fn a_log_re_signed_with_another_key_is_reported_from_its_first_record() {
    let mut world = World::new();
    closed(&world, 50);
    let mark = world.mark();
    // These are the same records in a log created with another key. The log is valid in itself, and
    // only the copy outside reveals the change.
    let mut forged = World::new();
    forged.seed = OTHER_KEY;
    closed(&forged, 50);
    assert!(verify(&forged.db(), None).ok);
    copy(&forged.db(), &world.db());
    let found = first_problem(&world, &mark);
    assert_eq!(found.seq, Some(1));
    let OpenState::Tampered(found) = Log::open(world.options()).unwrap() else { panic!("opened") };
    assert!(!found.problems.is_empty());
    // The attacker's key in the keyring does not help as long as the copy outside exists.
    world.seed = OTHER_KEY;
    assert!(matches!(Log::open(world.options()).unwrap(), OpenState::Tampered(_)));
}

#[test]
fn checkpoints_re_signed_with_another_key_are_reported() {
    let world = World::new();
    closed(&world, 50);
    let mut forged = World::new();
    forged.seed = OTHER_KEY;
    closed(&forged, 50);
    let notes: Vec<(i64, String)> = {
        let db = Connection::open(forged.db()).unwrap();
        let mut statement = db.prepare("SELECT size, note FROM audit_checkpoint").unwrap();
        statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect()
    };
    let db = Connection::open(world.db()).unwrap();
    for (size, note) in notes {
        db.execute("UPDATE audit_checkpoint SET note=?2 WHERE size=?1", (size, note)).unwrap();
    }
    drop(db);
    assert_eq!(first_problem(&world, &world.mark()).seq, Some(1));
}

#[test]
fn an_older_copy_of_the_log_is_reported_and_set_aside() {
    let world = World::new();
    closed(&world, 20);
    let old = world.folder.path().join("old.db");
    copy(&world.db(), &old);
    closed(&world, 50);
    copy(&old, &world.db());
    assert!(verify(&world.db(), None).ok, "in itself the old copy is sound");
    assert_eq!(first_problem(&world, &world.mark()).seq, Some(21));
    let OpenState::Tampered(found) = Log::open(world.options()).unwrap() else {
        panic!("an old copy was opened")
    };
    assert_eq!(found.problems[0].seq, Some(21));
    assert_eq!(found.size, Some(20));
    let (log, aside) = Log::start_over(world.options(), &found).unwrap();
    assert!(aside.exists());
    run(async {
        let recovered = log.show(2).await.unwrap();
        assert_eq!(recovered.record_type, contract::RecordType::DbRecovered);
        assert_eq!(recovered.fields["old_size"], 20);
        assert_eq!(recovered.fields["marked_size"], 50);
        assert!(log.verify().await.unwrap().ok);
        log.close().await.unwrap();
    });
    // The new log can be continued like any other log.
    closed(&world, 5);
    assert!(verify(&world.db(), Some(&world.mark())).ok);
}

#[test]
fn a_missing_or_overwritten_log_is_reported() {
    let world = World::new();
    closed(&world, 10);
    std::fs::remove_file(world.db()).unwrap();
    let OpenState::Tampered(found) = Log::open(world.options()).unwrap() else {
        panic!("a missing log was begun anew in silence")
    };
    assert_eq!(found.problems[0].seq, Some(1));
    std::fs::write(world.db(), b"this is not a database, but it is long enough to look like one: ....................................").unwrap();
    assert!(matches!(Log::open(world.options()).unwrap(), OpenState::Tampered(_)));
    assert!(!verify(&world.db(), Some(&world.mark())).ok);
}

#[test]
fn opening_a_log_detects_changes_to_its_last_records() {
    let cases = [
        "UPDATE audit_record SET body=CAST(replace(CAST(body AS TEXT),'cart.add','cart.del') AS BLOB) WHERE seq=50",
        "DELETE FROM audit_record WHERE seq=50",
        "DELETE FROM audit_checkpoint",
        "UPDATE audit_checkpoint SET note=replace(note,'A','B') WHERE size=50",
        "UPDATE audit_node SET hash=zeroblob(32) WHERE id=(SELECT max(id) FROM audit_node)",
        "PRAGMA application_id=1",
    ];
    for sql in cases {
        let world = World::new();
        closed(&world, 50);
        Connection::open(world.db()).unwrap().execute_batch(sql).unwrap();
        assert!(matches!(Log::open(world.options()).unwrap(), OpenState::Tampered(_)), "{sql}");
    }
}

/// Writes a file beside the log, such as a write-ahead log.
fn write_beside(world: &World, ending: &str, bytes: &[u8]) {
    let mut name = world.db().into_os_string();
    name.push(ending);
    std::fs::write(name, bytes).unwrap();
}

#[test]
fn a_removed_value_is_reported_even_if_the_file_seal_cannot_be_compared() {
    let world = World::new();
    closed(&world, 50);
    Connection::open(world.db())
        .unwrap()
        .execute_batch("DELETE FROM audit_reveal WHERE seq=20; PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    // With a write-ahead log beside it, the file is not compared with its seal.
    write_beside(&world, "-wal", b"x");
    let report = verify(&world.db(), world.anchor().load().unwrap().as_ref());
    assert!(
        report
            .problems
            .iter()
            .any(|problem| problem.seq == Some(20) && problem.message.contains("was removed")),
        "{report:?}"
    );
    assert!(matches!(Log::open(world.options()).unwrap(), OpenState::Tampered(_)));
}

#[test]
fn a_large_write_ahead_log_does_not_keep_a_start_from_checking_the_database_file() {
    let world = World::new();
    closed(&world, 50);
    let sql = "UPDATE audit_record SET body=CAST(replace(CAST(body AS TEXT),'cart.add','cart.del') AS BLOB) WHERE seq=20; PRAGMA wal_checkpoint(TRUNCATE)";
    Connection::open(world.db()).unwrap().execute_batch(sql).unwrap();
    write_beside(&world, "-wal", &vec![0; 17 << 20]);
    assert!(matches!(Log::open(world.options()).unwrap(), OpenState::Tampered(_)));
}

#[test]
fn a_rollback_journal_beside_a_log_is_reported_and_not_applied() {
    let world = World::new();
    closed(&world, 5);
    let bytes = std::fs::read(world.db()).unwrap();
    write_beside(&world, "-journal", b"anything");
    let report = verify(&world.db(), world.anchor().load().unwrap().as_ref());
    assert!(
        report.problems.iter().any(|problem| problem.message.contains("journal")),
        "{report:?}"
    );
    assert!(matches!(Log::open(world.options()).unwrap(), OpenState::Tampered(_)));
    assert_eq!(std::fs::read(world.db()).unwrap(), bytes);
}

#[test]
fn a_log_closed_while_another_process_reads_it_still_detects_appended_records() {
    let world = World::new();
    let reader = {
        closed(&world, 5);
        let reader = Connection::open(world.db()).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM audit_record").unwrap();
        reader
    };
    closed(&world, 5);
    let mark = world.anchor().load().unwrap().unwrap();
    assert!(mark.seal.is_some(), "it was closed: {mark:?}");
    drop(reader);
    let db = Connection::open(world.db()).unwrap();
    let size: i64 =
        db.query_row("SELECT count(*) FROM audit_record", [], |row| row.get(0)).unwrap();
    assert_eq!(u64::try_from(size).unwrap(), mark.size);
    let report = verify(&world.db(), Some(&mark));
    assert!(report.ok, "{report:?}");
}

#[test]
fn a_file_of_a_newer_version_is_refused_and_kept() {
    let world = World::new();
    closed(&world, 3);
    Connection::open(world.db()).unwrap().execute_batch("PRAGMA user_version=2").unwrap();
    let Err(refused) = Log::open(world.options()) else { panic!("opened") };
    assert!(refused.0.contains("newer version"));
    assert!(world.db().exists());
}
