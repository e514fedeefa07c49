//! Hostile texts through the tool `data.query` of a whole host. They read and write
//! nothing outside of the sources, and the app goes on.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs,
    path::Path,
};

use kit::hostile_sql::{GREEDY, Trap, texts};
use serde_json::json;

use super::World;

const SECRET: &str = "the-secret-of-another-source";

/// Returns the files below a folder with their contents.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            found.insert(path.display().to_string(), fs::read(&path).unwrap());
        }
    }
    found
}

/// Paths and addresses that a text may try to reach: a file outside, the part of another source, files
/// of the profile and of the system, and a server on this computer.
fn places(world: &World, trap: &Trap) -> Vec<String> {
    let outside = world.folder.path().join("outside.csv");
    fs::write(&outside, format!("column0\n{SECRET}\n")).unwrap();
    let profile = world.folder.path().join("profile");
    let others: Vec<String> = contents(&profile.join("data/sources/secrets")).into_keys().collect();
    let part = others.into_iter().find(|file| file.ends_with(".parquet")).unwrap();
    let own = [
        outside.display().to_string(),
        part,
        profile.join("countersign.db").display().to_string(),
        "/etc/passwd".to_owned(),
        "/proc/self/environ".to_owned(),
    ];
    own.into_iter().chain(trap.places()).collect()
}

/// Returns the names of the files and folders in a folder.
fn names(folder: &Path) -> BTreeSet<OsString> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_texts_read_and_write_nothing_outside_and_the_app_goes_on() {
    let world = World::new().await;
    let ads = "Day,campaign,cost\n2026-11-01,A,1.50\n2026-11-02,B,2.25\n";
    world.add("ads", ads, None).await;
    world.add("secrets", &format!("Day,column0,n\n2026-11-01,{SECRET},1\n"), None).await;
    let trap = Trap::start();
    let places = places(&world, &trap);
    let beside = names(world.folder.path());
    let watched = |world: &World| {
        let mut files = contents(&world.folder.path().join("profile/data"));
        files.extend(contents(&world.folder.path().join("packs")));
        let outside = world.folder.path().join("outside.csv");
        files.insert("outside".to_owned(), fs::read(outside).unwrap());
        files
    };
    let before = watched(&world);
    let texts = texts(&places, &world.folder.path().join("written"));
    assert!(texts.len() >= 500, "{}", texts.len());
    for text in &texts {
        let response = world.call("data.query", json!({ "sql": text })).await;
        let error = response.error.unwrap_or_else(|| panic!("{text}: {}", response.data));
        let told = json!(error).to_string();
        for secret in [SECRET, "root:x:", "PATH="] {
            assert!(!told.contains(secret), "{text}: {told}");
        }
    }
    // These ask for more memory than a question gets, or for a very long text. Texts that only the time
    // limit ends are tested in `csign-data`.
    let ends_at_once = |text: &&&str| text.contains("2000000000");
    for text in GREEDY.iter().filter(ends_at_once) {
        let response = world.call("data.query", json!({ "sql": text })).await;
        assert!(response.data.to_string().len() <= 64 << 10, "{text}");
    }
    let after = watched(&world);
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    assert!(before == after, "no file changed");
    assert_eq!(names(world.folder.path()), beside, "no file was written beside the profile");
    trap.assert_untouched();
    let sum = world.answer("data.query", json!({"sql": "SELECT sum(cost) FROM ads"})).await;
    assert_eq!(sum["rows"], json!([[3.75]]));
    world.host.stop().await;
}
