//! A full disk and a read-only folder, as real mounts in a private mount namespace (because the
//! tests may run as root, for whom file modes do not apply). If mounting is not possible, the tests
//! print that and pass.

use std::fs;
use std::path::{Path, PathBuf};

use engine::ports::{Clock as _, Items as _, LongTermMemories as _, Sessions as _, StoreError};
use store::{OpenError, SqliteStore};

use crate::texts::{content, entry, files_with, item, session_id, vector};
use crate::world::{World, message, open_at, run_again, with_session};

const FOLDER: &str = "STORE_TEST_MOUNT_FOLDER";

/// Runs a child test after `script`, which mounts a file system on `$STORE_TEST_MOUNT_FOLDER`.
fn in_own_mounts(test: &str, script: &str) {
    let can = std::process::Command::new("unshare")
        .args(["-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])
        .output();
    if !can.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this account cannot mount in a namespace of its own");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let script = format!("set -e; {script}; exec \"$@\"");
    let output = run_again(test, &["unshare", "-m", "sh", "-c", &script, "sh"])
        .env(FOLDER, folder.path())
        .output()
        .expect("started");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "the child ran its test");
}

fn mounted_folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

#[test]
fn writes_on_a_full_disk_fail_without_losing_stored_data() {
    in_own_mounts("disk::child_full", &format!("mount -t tmpfs -o size=2m tmpfs \"${FOLDER}\""));
}

#[tokio::test]
async fn child_full() {
    let Some(folder) = mounted_folder() else { return };
    let clock = World::new().clock;
    let path = folder.join("countersign.db");
    let store = open_at(&path, clock.clone()).store;
    let id = with_session(&store, "s").await;
    let mut stored = 0;
    let refused = loop {
        assert!(stored < 100_000, "the disk never became full");
        match store.items_append((stored..stored + 20).map(|n| message(&id, n)).collect()).await {
            Ok(_) => stored += 20,
            Err(error) => break error,
        }
    };
    assert_eq!(refused, StoreError::NoSpace(path.display().to_string()));
    let count = async |store: &SqliteStore| {
        u64::try_from(store.items_before(&id, None, u32::MAX).await.expect("reading goes on").len())
    };
    assert_eq!(
        count(&store).await,
        Ok(stored),
        "everything answered is there, the refused request left nothing"
    );
    fs::write(folder.join("filler"), vec![0; 1 << 21]).expect_err("full");
    drop(store);

    // After space is freed, the same file opens and accepts writes. (The write-ahead log could not
    // be emptied on the full disk.)
    fs::remove_file(folder.join("filler")).expect("removed");
    std::process::Command::new("mount")
        .args(["-o", "remount,size=16m"])
        .arg(&folder)
        .status()
        .expect("remounted");
    let opened = open_at(&path, clock);
    assert!(opened.recovered.is_none() && !opened.read_only);
    assert_eq!(count(&opened.store).await, Ok(stored));
    opened.store.items_append(vec![message(&id, stored)]).await.expect("there is room");
}

#[test]
fn an_erasure_on_a_full_disk_loses_no_other_data_and_succeeds_later() {
    in_own_mounts(
        "disk::child_full_erasure",
        &format!("mount -t tmpfs -o size=4m tmpfs \"${FOLDER}\""),
    );
}

#[tokio::test]
async fn child_full_erasure() {
    let Some(folder) = mounted_folder() else { return };
    let mut refused = Vec::new();
    // With each amount of free space, the erasure fails at a different step.
    for left in [0, 1 << 12, 1 << 15, 1 << 16, 1 << 17, 1 << 18] {
        let place = folder.join(format!("left-{left}"));
        fs::create_dir(&place).expect("made");
        refused.extend(erase_on_full_disk(&place, left).await);
        fs::remove_dir_all(place).expect("removed");
    }
    assert!(refused.len() > 1, "{refused:?}");
}

/// Fills the disk until `left` bytes are free.
fn fill_disk(folder: &Path, left: u64) {
    let path = folder.join("filler");
    fs::write(&path, vec![0; 8 << 20]).expect_err("full");
    let file = fs::File::options().write(true).open(&path).expect("opened");
    let len = file.metadata().expect("read").len();
    file.set_len(len.saturating_sub(left)).expect("cut");
}

/// Erases a session on a disk with only `left` free bytes, and again when there is enough space.
/// Returns the first error.
async fn erase_on_full_disk(folder: &Path, left: u64) -> Option<StoreError> {
    let (path, clock) = (folder.join("countersign.db"), World::new().clock);
    let store = open_at(&path, clock.clone()).store;
    let (gone, kept) = (session_id(1), with_session(&store, "kept").await);
    store.session_create(&gone, "Gone", clock.now()).await.expect("created");
    store.items_append((2..20).map(|n| item(n, 1)).collect()).await.expect("appended");
    for n in 20..30 {
        store.entry_add(&entry(n, Some(1), None), Some(&vector(n))).await.expect("stored");
    }
    store.entry_add(&entry(30, None, Some(2)), None).await.expect("stored");
    store.entry_add(&entry(31, None, None), None).await.expect("stored");
    store.items_append(vec![message(&kept, 1)]).await.expect("appended");
    store.close();
    let store = open_at(&path, clock.clone()).store;
    fill_disk(folder, left);

    let refused = store.session_erase(&gone).await.err();
    if let Some(error) = &refused {
        assert!(matches!(error, StoreError::NoSpace(_)), "{left} bytes left: {error:?}");
    }
    let check_kept = async |store: &SqliteStore| {
        let text = store.entry(&entry(31, None, None).id).await.expect("read").map(|m| m.text);
        assert_eq!(text, Some(content(31)), "{left} bytes left");
        assert_eq!(store.items_before(&kept, None, 9).await.expect("read").len(), 1);
    };
    check_kept(&store).await;
    fs::remove_file(folder.join("filler")).expect("removed");
    store.session_erase(&gone).await.expect("there is room");
    let erased: Vec<u64> = (2..=30).collect();
    assert_eq!(files_with(folder, &erased), Vec::<String>::new(), "{left} bytes left");
    check_kept(&store).await;
    drop(store);
    let opened = open_at(&path, clock);
    assert!(opened.recovered.is_none() && !opened.read_only, "{left} bytes left");
    check_kept(&opened.store).await;
    assert_eq!(files_with(folder, &erased), Vec::<String>::new(), "{left} bytes left");
    refused
}

#[test]
fn a_full_disk_at_startup_is_reported() {
    in_own_mounts(
        "disk::child_full_at_start",
        &format!("mount -t tmpfs -o size=64k tmpfs \"${FOLDER}\""),
    );
}

#[test]
fn child_full_at_start() {
    let Some(folder) = mounted_folder() else { return };
    fs::write(folder.join("filler"), vec![0; 1 << 17]).expect_err("full");
    let path = folder.join("countersign.db");
    let Err(error) = SqliteStore::open(&path, World::new().clock) else {
        panic!("there is no room for a database")
    };
    assert!(matches!(error, OpenError::NoSpace(at) if at == path));
}

#[test]
fn a_store_in_a_read_only_folder_can_be_read_but_not_changed() {
    let mount = format!(
        "cp -a \"$STORE_TEST_SOURCE\"/. \"${FOLDER}\"/; mount --bind \"${FOLDER}\" \"${FOLDER}\"; mount -o remount,bind,ro \"${FOLDER}\""
    );
    let world = World::new();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let store = world.store();
        let id = with_session(&store, "s").await;
        store.items_append(vec![message(&id, 1)]).await.expect("appended");
        store.close();
    });
    let script = mount.replace("$STORE_TEST_SOURCE", &world.folder.path().display().to_string());
    in_own_mounts("disk::child_read_only", &script);
}

#[tokio::test]
async fn child_read_only() {
    let Some(folder) = mounted_folder() else { return };
    let path = folder.join("countersign.db");
    let opened = open_at(&path, World::new().clock);
    assert!(opened.read_only);
    assert_eq!(opened.store.items_before(&"s".into(), None, 9).await.expect("read").len(), 1);
    let refused = opened.store.items_append(vec![message(&"s".into(), 2)]).await;
    assert_eq!(refused, Err(StoreError::NoSpace(path.display().to_string())));
}
