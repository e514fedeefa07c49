//! Tests of the copies of the newest checkpoint outside the log: forged, cut off, old, unsigned,
//! missing, or outdated after a kill.

use std::fs::{File, TryLockError};
use std::sync::{Arc, Mutex};

use audit::{
    Anchor, AnchorFault, FileAnchor, Log, Mark, OpenOptions, OpenState, Outside, Signer,
    verify_against,
};
use contract::{ComparedWith, VerifyReport};
use engine::ports::{AuditLog as _, Durability};

use crate::kit::{INSTALLATION, OTHER_KEY, World, closed, copy, draft, fill, ready, run};

/// A keyring that only the user can write to.
#[derive(Default)]
struct Authority {
    mark: Mutex<Option<Mark>>,
    refuses: std::sync::atomic::AtomicBool,
}

impl Anchor for Authority {
    fn name(&self) -> &str {
        "the keyring"
    }
    fn is_authority(&self) -> bool {
        true
    }
    fn load(&self) -> Result<Option<Mark>, AnchorFault> {
        Ok(self.mark.lock().unwrap().clone())
    }
    fn store(&self, mark: &Mark) -> Result<(), String> {
        if self.refuses.load(std::sync::atomic::Ordering::SeqCst) {
            return Err("it is locked".to_owned());
        }
        *self.mark.lock().unwrap() = Some(mark.clone());
        Ok(())
    }
}

/// A log with both outside copies.
struct Both {
    world: World,
    keyring: Arc<Authority>,
}

impl Both {
    fn new(records: u64) -> Self {
        let both = Self { world: World::new(), keyring: Arc::default() };
        both.grow(records);
        both
    }

    fn options(&self) -> OpenOptions {
        self.world.options().anchor(self.keyring.clone())
    }

    fn grow(&self, records: u64) {
        run(async {
            let log = ready(Log::open(self.options()).unwrap());
            fill(&log, records).await;
            log.close().await.unwrap();
        });
    }

    /// Opens the log with this key, adds records and closes it without updating the marks, as a
    /// person could do who can write only to the log's file.
    fn append_elsewhere(&self, signer: &Signer, records: u64) {
        let mut options = self.world.options();
        options.anchors.clear();
        options.signer = signer.clone();
        run(async {
            let log = ready(Log::open(options).unwrap());
            for n in 0..records {
                log.append(draft(n + 1), Durability::Signed).await.unwrap();
            }
            log.close().await.unwrap();
        });
    }

    fn keyring_mark(&self) -> Mark {
        self.keyring.mark.lock().unwrap().clone().unwrap()
    }

    fn outside(&self) -> Outside {
        let key = self.world.anchored.then(|| self.world.signer().public());
        Outside {
            key,
            installation: Some(INSTALLATION.to_owned()),
            ..Outside::read_all_places(&self.options().anchors)
        }
    }

    fn verified(&self) -> VerifyReport {
        verify_against(&self.world.db(), &self.outside())
    }

    /// Asserts that verification and opening both report a problem.
    #[track_caller]
    fn is_found_out(&self, why: &str) {
        let report = self.verified();
        assert!(!report.ok, "{why}: it verifies");
        let OpenState::Tampered(found) = Log::open(self.options()).unwrap() else {
            panic!("{why}: it opens")
        };
        assert!(!found.problems.is_empty());
    }

    #[track_caller]
    fn is_sound(&self, why: &str) {
        let report = self.verified();
        assert!(report.ok, "{why}: {:?}", report.problems);
        let log = ready(Log::open(self.options()).unwrap());
        run(async { log.close().await.unwrap() });
        let report = self.verified();
        assert!(report.ok, "{why}, after a start: {:?}", report.problems);
    }
}

/// Forges a mark with a higher counter from the mark of an old copy, without the key.
fn by_hand(old: &Mark, counter: u64) -> Mark {
    Mark { counter, seal: None, ..old.clone() }
}

#[test]
fn a_dropped_log_keeps_its_lock_until_its_closing_mark_is_stored() {
    let both = Both::new(1);
    let path = both.world.root().join("lock");
    let (lock, other) = (File::create(&path).unwrap(), File::open(&path).unwrap());
    lock.lock().unwrap();
    let options = OpenOptions { lock: Some(Arc::new(lock)), ..both.options() };
    let silent = run(async {
        let log = ready(Log::open(options).unwrap());
        fill(&log, 3).await;
        both.keyring.mark.lock().unwrap()
    });
    assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)), "the mark is not stored");
    drop(silent);
    other.lock().unwrap();
    assert!(both.keyring_mark().seal.is_some());
    both.is_sound("it ended by itself");
}

#[test]
fn a_forged_newer_mark_does_not_hide_an_old_copy() {
    let both = Both::new(20);
    let (old, old_mark) = (both.world.folder.path().join("old.db"), both.keyring_mark());
    copy(&both.world.db(), &old);
    both.grow(50);
    copy(&old, &both.world.db());
    let forged = by_hand(&old_mark, old_mark.counter + 1_000);
    // The marks are unsigned, signed by another key, with the old mark's signature, and the old
    // mark itself.
    let stranger = Signer::new(&OTHER_KEY, true);
    for mark in [
        Mark { signature: None, ..forged.clone() },
        forged.clone().signed(&stranger),
        forged,
        old_mark,
    ] {
        both.world.anchor().store(&mark).unwrap();
        both.is_found_out("an old copy with a forged mark");
        assert_eq!(both.verified().compared_with, ComparedWith::Keyring);
    }
    std::fs::remove_file(both.world.anchor().path()).unwrap();
    both.is_found_out("an old copy without a mark in the state folder");
}

#[test]
fn a_forged_newer_mark_is_also_detected_without_a_keyring() {
    let mut world = World::new();
    world.anchored = false;
    closed(&world, 20);
    let old = world.folder.path().join("old.db");
    copy(&world.db(), &old);
    let old_mark = world.mark();
    // Another run signs with another key, and the first run's key is lost.
    world.seed = OTHER_KEY;
    closed(&world, 50);
    copy(&old, &world.db());
    let forged = by_hand(&old_mark, old_mark.counter + 1_000);
    for mark in [
        Mark { signature: None, ..forged.clone() },
        forged.clone().signed(&Signer::new(&[9; 32], false)),
        forged,
    ] {
        world.anchor().store(&mark).unwrap();
        let report =
            verify_against(&world.db(), &Outside::read_all_places(&world.options().anchors));
        assert!(!report.ok, "{mark:?}");
        assert!(matches!(Log::open(world.options()).unwrap(), OpenState::Tampered(_)), "{mark:?}");
    }
}

#[test]
fn every_changed_byte_of_the_mark_in_the_state_folder_is_detected() {
    for keyring in [true, false] {
        let both = Both::new(3);
        if !keyring {
            both.keyring.mark.lock().unwrap().take();
        }
        let good = std::fs::read(both.world.anchor().path()).unwrap();
        for at in 0..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 1;
            std::fs::write(both.world.anchor().path(), &bytes).unwrap();
            assert!(
                !both.verified().ok,
                "byte {at} (with a keyring: {keyring}): {}",
                String::from_utf8_lossy(&bytes)
            );
        }
        std::fs::write(both.world.anchor().path(), &good).unwrap();
        assert!(both.verified().ok);
    }
}

#[test]
fn a_verification_report_names_the_mark_that_the_log_was_compared_with() {
    let both = Both::new(3);
    assert_eq!(both.verified().compared_with, ComparedWith::Keyring);
    both.keyring.mark.lock().unwrap().take();
    assert_eq!(both.verified().compared_with, ComparedWith::State);
    std::fs::remove_file(both.world.anchor().path()).unwrap();
    let report = both.verified();
    assert!(report.ok && report.compared_with == ComparedWith::Nothing, "{report:?}");
    // A missing mark is a problem if a mark was stored before.
    assert!(!verify_against(&both.world.db(), &Outside { marked: true, ..both.outside() }).ok);
    let OpenState::Tampered(_) = Log::open(OpenOptions { marked: true, ..both.options() }).unwrap()
    else {
        panic!("opened without the mark it had")
    };
}

#[test]
fn a_log_or_key_of_another_installation_is_detected() {
    let both = Both::new(5);
    let other = World::new();
    closed(&other, 5);
    let report = verify_against(
        &other.db(),
        &Outside {
            installation: Some("11111111-8f1c-4c1d-9b53-0d9c2f3a1b77".to_owned()),
            ..Outside::default()
        },
    );
    assert_eq!(report.problems[0].seq, Some(1), "{report:?}");
    let report = verify_against(
        &both.world.db(),
        &Outside { key: Some(Signer::new(&OTHER_KEY, true).public()), ..Outside::default() },
    );
    assert_eq!(report.problems[0].seq, Some(1), "{report:?}");
}

#[test]
fn a_missing_log_is_detected_if_a_mark_exists() {
    let both = Both::new(5);
    std::fs::remove_file(both.world.db()).unwrap();
    both.is_found_out("no log");
    assert!(
        both.verified().problems[0].message.contains("it had 5 records"),
        "{:?}",
        both.verified()
    );
}

/// After a kill, any combination of log, state folder and keyring is accepted.
#[test]
fn a_kill_between_the_commit_and_storing_the_marks_raises_no_alarm() {
    // At most one place lags behind, because a start accepts no record before its mark is in one of
    // the places.
    for (state_lags, keyring_lags) in [(true, false), (false, true)] {
        for _ in 0..3 {
            let both = Both::new(20);
            let (state, keyring) = (both.world.mark(), both.keyring_mark());
            both.grow(50);
            if state_lags {
                both.world.anchor().store(&state).unwrap();
            }
            if keyring_lags {
                both.keyring.store(&keyring).unwrap();
            }
            both.is_sound("a kill");
        }
    }
    // Both marks are older than the records of their own run.
    let both = Both::new(3);
    run(async {
        let log = ready(Log::open(both.options()).unwrap());
        fill(&log, 10).await;
        log.append(draft(1), Durability::Signed).await.unwrap();
        let (state, keyring) = (both.world.mark(), both.keyring_mark());
        fill(&log, 30).await;
        log.close().await.unwrap();
        both.world.anchor().store(&state).unwrap();
        both.keyring.store(&keyring).unwrap();
    });
    // Two further starts were killed before they stored a mark.
    both.append_elsewhere(&both.world.signer(), 0);
    both.append_elsewhere(&both.world.signer(), 0);
    both.is_sound("a kill of a run, and of two starts");
    // The same case with a closed log.
    both.append_elsewhere(&both.world.signer(), 0);
    both.is_sound("a kill of a start");
    // The kill happens before the very first mark.
    let both = Both::new(3);
    std::fs::remove_file(both.world.anchor().path()).unwrap();
    both.keyring.mark.lock().unwrap().take();
    both.is_sound("a kill before the first mark");
}

#[test]
fn records_appended_with_another_signing_key_are_detected() {
    let stranger = Signer::new(&OTHER_KEY, false);
    for keyring in [true, false] {
        let both = Both::new(20);
        if !keyring {
            both.keyring.mark.lock().unwrap().take();
        }
        both.append_elsewhere(&stranger, 2);
        both.is_found_out("records behind the end of a closed log");
    }
    // Appends a record after the last records of a killed process, and after a start that was
    // killed.
    for killed in [false, true] {
        let both = Both::new(3);
        let mark = Mark { seal: None, ..both.keyring_mark() }.signed(&both.world.signer());
        both.keyring.store(&mark).unwrap();
        both.world.anchor().store(&mark).unwrap();
        if killed {
            both.append_elsewhere(&both.world.signer(), 0);
        }
        both.append_elsewhere(&stranger, 1);
        both.is_found_out("records behind an opening that nobody marked");
    }
}

/// The forged counter is also not continued by a new log in its place.
#[test]
fn a_mark_with_an_impossible_counter_is_detected_and_discarded() {
    for keyring in [true, false] {
        let both = Both::new(5);
        let real = both.keyring_mark();
        if !keyring {
            both.keyring.mark.lock().unwrap().take();
        }
        let stranger = Signer::new(&OTHER_KEY, false);
        both.world
            .anchor()
            .store(&Mark { counter: u64::MAX, size: 3, ..real.clone() }.signed(&stranger))
            .unwrap();
        both.is_found_out("a counter that no log reaches");
        let OpenState::Tampered(found) = Log::open(both.options()).unwrap() else {
            panic!("it opens")
        };
        assert_eq!(
            (found.size, found.mark.clone()),
            (Some(5), keyring.then_some(real)),
            "the stranger's mark is no evidence"
        );
        let (log, _) = Log::start_over(both.options(), &found).unwrap();
        run(async { log.close().await.unwrap() });
        assert!(both.world.mark().counter < 1_000, "{:?}", both.world.mark());
        both.is_sound("a new log");
    }
}

#[test]
fn a_log_does_not_open_if_neither_keyring_nor_state_folder_can_store_its_mark() {
    let both = Both::new(3);
    both.keyring.refuses.store(true, std::sync::atomic::Ordering::SeqCst);
    let state = both.world.folder.path().join("state");
    std::fs::remove_dir_all(&state).unwrap();
    std::fs::write(&state, b"in the way").unwrap();
    let Err(refused) = Log::open(both.options()) else {
        panic!("opened without a place for its marks")
    };
    assert!(refused.0.contains("the copy of the newest checkpoint"), "{refused}");
    std::fs::remove_file(&state).unwrap();
    both.keyring.refuses.store(false, std::sync::atomic::Ordering::SeqCst);
    both.is_sound("places that came back");
}

#[test]
fn an_unsigned_mark_counts_as_forged_once_the_log_has_signed_marks() {
    for with_keyring in [true, false] {
        let both = Both::new(12);
        let unsigned = Mark { signature: None, ..both.world.mark() };
        both.world.anchor().store(&unsigned).unwrap();
        *both.keyring.mark.lock().unwrap() = with_keyring.then_some(unsigned);
        both.is_found_out("an unsigned mark");
    }
}

/// Uses the files of a profile that version 0.1 closed.
#[test]
fn a_log_of_version_0_1_raises_no_alarm_and_gets_a_signed_mark_at_the_first_start() {
    let old = |name: &str| {
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/log/version-0.1").join(name)
    };
    let mark = Mark::from_text(&std::fs::read_to_string(old("mark.json")).unwrap()).unwrap();
    assert!(mark.signature.is_none());
    for (in_keyring, state_is_ahead) in [(true, false), (true, true), (false, false)] {
        let world = World::new();
        copy(&old("audit.db"), &world.db());
        let state = FileAnchor::new(&world.folder.path().join("state"), &mark.installation);
        state
            .store(&Mark { counter: mark.counter + u64::from(state_is_ahead), ..mark.clone() })
            .unwrap();
        let keyring = Arc::new(Authority {
            mark: Mutex::new(in_keyring.then(|| mark.clone())),
            ..Authority::default()
        });
        let mut options = world.options().anchor(keyring.clone());
        options.installation.clone_from(&mark.installation);
        options.anchors[0] = Arc::new(state.clone());
        let verified = || verify_against(&world.db(), &Outside::read_all_places(&options.anchors));
        let report = verified();
        let with = if in_keyring { ComparedWith::Keyring } else { ComparedWith::State };
        assert!(report.ok && report.compared_with == with, "{report:?}");
        let log = ready(Log::open(options.clone()).unwrap());
        assert!(
            state.load().unwrap().unwrap().has_valid_signature()
                && keyring.load().unwrap().unwrap().has_valid_signature(),
            "signed as soon as it is open"
        );
        run(async { log.close().await.unwrap() });
        let report = verified();
        assert!(report.ok && report.compared_with == ComparedWith::Keyring, "{report:?}");
        // After a return to the old files, version 0.1's unsigned mark is not accepted any more.
        copy(&old("audit.db"), &world.db());
        state.store(&Mark { counter: 1_000, ..mark.clone() }).unwrap();
        assert!(!verified().ok);
        assert!(matches!(Log::open(options.clone()).unwrap(), OpenState::Tampered(_)));
    }
}

#[test]
fn an_intent_is_accepted_only_once_a_mark_outside_the_log_covers_it() {
    let both = Both::new(3);
    run(async {
        let log = ready(Log::open(both.options()).unwrap());
        for n in 0..20 {
            let seq = log.append(draft(2 * n + 1), Durability::Signed).await.unwrap();
            assert!(
                both.keyring_mark().size >= seq && both.world.mark().size >= seq,
                "record {seq} is not marked"
            );
        }
        // One place for the mark is enough. If no place accepts the mark, the record is refused and
        // no effect may run.
        both.keyring.refuses.store(true, std::sync::atomic::Ordering::SeqCst);
        let seq = log.append(draft(101), Durability::Signed).await.unwrap();
        assert!(both.world.mark().size >= seq && both.keyring_mark().size < seq);
        let state = both.world.folder.path().join("state");
        std::fs::remove_dir_all(&state).unwrap();
        std::fs::write(&state, b"in the way").unwrap();
        let refused = log.append(draft(103), Durability::Signed).await.unwrap_err();
        assert!(refused.0.contains("the copy of the newest checkpoint"), "{refused}");
        log.append(draft(104), Durability::Durable).await.unwrap();
        std::fs::remove_file(&state).unwrap();
        log.close().await.unwrap();
    });
    both.is_sound("places that came back");
}

#[test]
fn a_log_stopped_during_a_call_still_records_the_outcome_of_that_call() {
    let both = Both::new(3);
    run(async {
        let log = ready(Log::open(both.options()).unwrap());
        log.append(draft(1), Durability::Signed).await.unwrap();
        log.stop("something is wrong");
        assert!(log.append(draft(3), Durability::Signed).await.is_err(), "another call");
        log.append(draft(2), Durability::Durable).await.unwrap();
        log.close().await.unwrap();
    });
    both.is_sound("a stopped log");
}

#[test]
fn a_stopped_log_refuses_records_until_a_new_log_is_accepted() {
    let both = Both::new(5);
    let old = both.world.folder.path().join("old.db");
    copy(&both.world.db(), &old);
    both.grow(20);
    copy(&old, &both.world.db());
    let OpenState::Tampered(found) = Log::open(both.options()).unwrap() else { panic!("opened") };
    let log = Log::stopped(both.options(), "it was cut");
    run(async {
        let refused = log.append(draft(1), Durability::Durable).await.unwrap_err();
        assert_eq!(refused.0, "it was cut");
        assert!(!log.verify().await.unwrap().ok);
        assert_eq!(log.show(5).await.unwrap().seq, 5, "it can be read");
        let (accepting, seen) = (log.clone(), log.watch());
        let aside = tokio::task::spawn_blocking(move || accepting.set_aside_and_restart(&found))
            .await
            .unwrap()
            .unwrap();
        assert!(aside.exists() && *seen.borrow() == 2);
        log.append(draft(1), Durability::Signed).await.unwrap();
        let report = log.verify().await.unwrap();
        assert!(report.ok && report.records == 3, "{report:?}");
        log.close().await.unwrap();
    });
    both.is_sound("a new log");
}

#[test]
fn repeated_clean_runs_on_one_log_raise_no_alarm() {
    let plan = soak::Plan::new("clean runs of one log", 500);
    let both = Both::new(1);
    for n in 0..plan.cases() {
        run(async {
            let log = ready(Log::open(both.options()).unwrap());
            for m in 0..n % 7 {
                log.append(
                    draft(m + 1),
                    [Durability::Grouped, Durability::Durable, Durability::Signed]
                        [(m % 3) as usize],
                )
                .await
                .unwrap();
            }
            assert!(log.verify().await.unwrap().ok, "run {n}, open");
            log.close().await.unwrap();
        });
        let report = both.verified();
        assert!(report.ok, "run {n}: {:?}", report.problems);
    }
}
