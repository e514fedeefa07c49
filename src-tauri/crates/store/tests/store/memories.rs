//! Tests of long-term memories: text, words and vector in one transaction, reach, both searches,
//! and deletion with a session.

use contract::{MemoryEntry, MemoryKind, SessionId};
use engine::ports::{
    EmbeddingModelId, HeldMemory, Items as _, LongTermMemories as _, MemoryIndex, MemoryReach,
    MemoryVector, MissingVectors, Recordings as _, Sessions as _, StoredRecording, VectorCount,
};
use rusqlite::Connection;
use store::SqliteStore;

use crate::world::{World, instant, with_session};

fn entry(id: &str, session: Option<&SessionId>, text: &str) -> MemoryEntry {
    MemoryEntry {
        id: id.into(),
        session: session.cloned(),
        kind: MemoryKind::Note,
        text: text.into(),
        sources: vec!["item-2".into(), "item-1".into()],
        pinned: true,
        untrusted: false,
        local_only: true,
        created_at: instant("2026-11-21T10:00:00Z"),
        edited_at: None,
    }
}

fn vector(model: &str, values: &[f32]) -> MemoryVector {
    MemoryVector { model: EmbeddingModelId(model.into()), values: values.to_vec() }
}

async fn add(store: &SqliteStore, id: &str, session: Option<&SessionId>, text: &str) {
    let stored = store.entry_add(&entry(id, session, text), Some(&vector("m", &[1.0, 0.0]))).await;
    stored.expect("stored");
}

async fn with_words(store: &SqliteStore, words: &[&str], reach: &MemoryReach) -> Vec<String> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let found = store.entries_by_words(&words, reach, 10).await.expect("searched");
    found.into_iter().map(|memory| memory.id.0).collect()
}

/// Counts the rows of each table of memories, with a separate connection.
fn rows(world: &World) -> [i64; 4] {
    let conn = Connection::open(world.db()).expect("opened");
    let count = |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("counted");
    // This statement compares the whole index with the texts and fails if a row is missing or
    // superfluous.
    conn.execute_batch(
        "INSERT INTO memory_words (memory_words, rank) VALUES ('integrity-check', 1)",
    )
    .expect("the words are those of the texts");
    [
        count("SELECT COUNT(*) FROM memory"),
        count("SELECT COUNT(*) FROM memory_source"),
        count("SELECT COUNT(*) FROM memory_vector"),
        count("SELECT COUNT(*) FROM memory_words_docsize"),
    ]
}

#[tokio::test]
async fn a_memory_is_read_back_unchanged() {
    let world = World::new();
    let store = world.store();
    let session = with_session(&store, "one").await;
    let mut memory = entry("m1", Some(&session), "Kom ihåg \"allt\"\noch\u{0} mer");
    memory.edited_at = Some(instant("2026-11-22T10:00:00.000000001Z"));
    store.entry_add(&memory, None).await.expect("stored");
    drop(store);
    let store = world.store();
    assert_eq!(store.entry(&"m1".into()).await, Ok(Some(memory.clone())));
    assert_eq!(store.entry(&"m2".into()).await, Ok(None));
    assert_eq!(store.entries(&MemoryReach::Everything, 0, 9).await, Ok(vec![memory]));
}

#[tokio::test]
async fn text_word_index_and_vector_of_a_memory_are_stored_atomically() {
    let world = World::new();
    let store = world.store();
    add(&store, "m1", None, "the first text").await;
    assert_eq!(rows(&world), [1, 2, 1, 1]);
    // The vector is written last, and this trigger makes that write fail.
    Connection::open(world.db())
        .expect("opened")
        .execute_batch(
            "CREATE TRIGGER refuse BEFORE INSERT ON memory_vector BEGIN SELECT RAISE(ABORT, 'no'); END",
        )
        .expect("made");
    let refused = store.entry_add(&entry("m2", None, "another"), Some(&vector("m", &[1.0]))).await;
    assert!(refused.is_err());
    assert_eq!(rows(&world), [1, 2, 1, 1], "nothing of the memory is left");
    assert_eq!(with_words(&store, &["another"], &MemoryReach::Everything).await, [""; 0]);
    let unknown = store.entry_add(&entry("m3", Some(&"none".into()), "text"), None).await;
    assert!(unknown.is_err(), "a memory of a session that does not exist");
    assert_eq!(rows(&world), [1, 2, 1, 1]);
}

#[tokio::test]
async fn deleting_a_session_deletes_its_memories_words_and_vectors() {
    let world = World::new();
    let store = world.store();
    let (one, two) = (with_session(&store, "one").await, with_session(&store, "two").await);
    add(&store, "m1", Some(&one), "secret of one").await;
    add(&store, "m2", Some(&two), "secret of two").await;
    add(&store, "m3", None, "secret of all").await;
    store.session_delete(&one).await.expect("deleted");
    assert_eq!(rows(&world), [2, 4, 2, 2]);
    assert_eq!(with_words(&store, &["one"], &MemoryReach::Everything).await, [""; 0]);
    let left = store
        .entries_by_vector(&vector("m", &[1.0, 0.0]), &MemoryReach::Everything, 9)
        .await
        .expect("searched");
    assert_eq!(left.len(), 2);
    assert_eq!(store.entry(&"m1".into()).await, Ok(None));
    assert_eq!(store.entry_delete(&"m2".into()).await, Ok(true));
    assert_eq!(store.entry_delete(&"m2".into()).await, Ok(false));
    assert_eq!(rows(&world), [1, 2, 1, 1]);
}

#[tokio::test]
async fn memories_of_a_hidden_session_are_read_in_no_other_session() {
    let world = World::new();
    let store = world.store();
    let one = with_session(&store, "one").await;
    add(&store, "m1", Some(&one), "secret of one").await;
    add(&store, "m2", None, "secret of all").await;
    let found = async || {
        let (reach, wanted) = (MemoryReach::AllOfUser, vector("m", &[1.0, 0.0]));
        let near = store.entries_by_vector(&wanted, &reach, 9).await.expect("searched").len();
        let listed = store.entries(&MemoryReach::Everything, 0, 9).await.expect("listed").len();
        (with_words(&store, &["secret"], &reach).await.len(), near, listed)
    };
    assert_eq!(found().await, (2, 2, 2));
    store.session_hide(&one, instant("2026-11-21T11:00:00Z")).await.expect("hidden");
    assert_eq!(found().await, (1, 1, 1));
    store.session_restore(&one).await.expect("restored");
    assert_eq!(found().await, (2, 2, 2));
}

#[tokio::test]
async fn a_memory_search_finds_only_memories_of_its_session_and_application() {
    let world = World::new();
    let store = world.store();
    let (one, two) = (with_session(&store, "one").await, with_session(&store, "two").await);
    let visitor = with_session(&store, "shop:visitor").await;
    for (id, session) in
        [("m1", Some(&one)), ("m2", Some(&two)), ("m3", Some(&visitor)), ("m4", None)]
    {
        add(&store, id, session, "a shared word").await;
    }
    for (reach, expected) in [
        (MemoryReach::Session(one.clone()), vec!["m1"]),
        (MemoryReach::SessionAndProfile(one.clone()), vec!["m1", "m4"]),
        (MemoryReach::Session(visitor), vec!["m3"]),
        (MemoryReach::AllOfUser, vec!["m1", "m2", "m4"]),
        (MemoryReach::Everything, vec!["m1", "m2", "m3", "m4"]),
    ] {
        let mut by_words = with_words(&store, &["word"], &reach).await;
        by_words.sort();
        assert_eq!(by_words, expected, "{reach:?}");
        let found = store.entries_by_vector(&vector("m", &[1.0, 0.0]), &reach, 9).await;
        let mut near: Vec<String> =
            found.expect("searched").into_iter().map(|(memory, _)| memory.id.0).collect();
        near.sort();
        assert_eq!(near, expected, "{reach:?}");
        let listed = store.entries(&reach, 0, 9).await.expect("listed");
        assert_eq!(listed.len(), expected.len(), "{reach:?}");
        assert_eq!(store.has_entries(&reach).await, Ok(true));
    }
    assert_eq!(store.has_entries(&MemoryReach::Session("none".into())).await, Ok(false));
}

#[tokio::test]
async fn search_words_are_ranked_and_never_read_as_operators() {
    let world = World::new();
    let store = world.store();
    for (id, text) in [
        ("m1", "Account 17 reports in CET"),
        ("m2", "Account 23 reports in EUR"),
        ("m3", "Konto för Åsa"),
        ("m4", "Nothing of this"),
    ] {
        add(&store, id, None, text).await;
    }
    let all = MemoryReach::Everything;
    assert_eq!(with_words(&store, &["account", "17"], &all).await, ["m1", "m2"]);
    assert_eq!(with_words(&store, &["asa"], &all).await, ["m3"], "diacritics may be missing");
    for words in [vec!["\""], vec!["a OR b*"], vec!["NEAR("], vec!["text:x"], vec![]] {
        assert_eq!(with_words(&store, &words, &all).await, [""; 0], "{words:?}");
    }
}

#[tokio::test]
async fn vectors_of_another_embedding_model_are_not_searched_and_count_as_missing() {
    let world = World::new();
    let store = world.store();
    let put = async |id: &str, values: Option<MemoryVector>| {
        store.entry_add(&entry(id, None, "text"), values.as_ref()).await.expect("stored");
    };
    put("m1", Some(vector("new", &[0.6, 0.8]))).await;
    put("m2", Some(vector("old", &[1.0, 0.0]))).await;
    put("m3", None).await;
    put("m4", Some(vector("new", &[1.0, 0.0]))).await;
    let near = async |limit| {
        let wanted = vector("new", &[1.0, 0.0]);
        let found = store.entries_by_vector(&wanted, &MemoryReach::Everything, limit).await;
        found
            .expect("searched")
            .into_iter()
            .map(|(memory, similarity)| (memory.id.0, similarity))
            .collect::<Vec<_>>()
    };
    assert_eq!(near(9).await, [("m4".to_owned(), 1.0), ("m1".to_owned(), 0.6)]);
    assert_eq!(near(1).await, [("m4".to_owned(), 1.0)]);
    let missing = async |after: Option<&str>, with_local| {
        let model = EmbeddingModelId("new".into());
        let selected = MissingVectors { model, after: after.map(Into::into), with_local };
        let count = store.count_vectors(&selected).await.expect("counted");
        let found = store.entries_without_vector(&selected, 9).await.expect("read");
        (found.into_iter().map(|memory| memory.id.0).collect::<Vec<_>>(), count)
    };
    let count = |memories, with_vector| VectorCount { memories, with_vector };
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(missing(None, true).await, (names(&["m2", "m3"]), count(4, 2)));
    assert_eq!(missing(Some("m2"), true).await, (names(&["m3"]), count(4, 2)));
    assert_eq!(missing(None, false).await, (names(&[]), count(0, 2)), "all must stay here");
    let new = || vector("new", &[0.0, 1.0]);
    let edited = MemoryEntry { text: "an earlier text".into(), ..entry("m3", None, "") };
    let made = vec![
        (entry("m2", None, "text"), new()),
        (entry("gone", None, "text"), new()),
        (edited, new()),
    ];
    store.entry_vectors_put(made).await.expect("put");
    assert_eq!(missing(None, true).await, (names(&["m3"]), count(4, 3)));
    assert_eq!(near(9).await.len(), 3);
}

#[tokio::test]
async fn the_memory_index_stores_its_model_and_threshold() {
    let world = World::new();
    let store = world.store();
    assert_eq!(store.memory_index().await, Ok(None));
    let index = |model: &str| MemoryIndex {
        model: EmbeddingModelId(model.into()),
        dimension: 1_024,
        threshold: 0.25,
    };
    store.memory_index_put(&index("one")).await.expect("put");
    store.memory_index_put(&index("two")).await.expect("put in its place");
    drop(store);
    assert_eq!(world.store().memory_index().await, Ok(Some(index("two"))));
}

#[tokio::test]
async fn a_summary_and_its_position_are_stored_together_and_deleted_with_the_session() {
    let world = World::new();
    let store = world.store();
    let session = with_session(&store, "one").await;
    let batch =
        |id: &str| MemoryEntry { sources: Vec::new(), ..entry(id, Some(&session), "a summary") };
    assert_eq!(store.memorised_through(&session).await, Ok(0));
    store.batch_add(&batch("m1"), None, 40).await.expect("stored");
    assert!(store.batch_add(&batch("m1"), None, 60).await.is_err(), "the id is taken");
    assert_eq!(store.memorised_through(&session).await, Ok(40), "the position stays with its row");
    store.batch_add(&batch("m2"), None, 20).await.expect("stored");
    assert_eq!(store.memorised_through(&session).await, Ok(40), "it never moves back");
    store.entry_delete(&"m1".into()).await.expect("deleted");
    assert_eq!(store.memorised_through(&session).await, Ok(40), "what was deleted stays deleted");
    store.session_delete(&session).await.expect("deleted");
    assert_eq!(store.memorised_through(&session).await, Ok(0));
}

#[tokio::test]
async fn the_text_of_a_deleted_memory_is_nowhere_in_the_database_file() {
    let world = World::new();
    let store = world.store();
    with_session(&store, "one").await;
    add(&store, "m1", None, "the word zanzibarquux is secret").await;
    add(&store, "m2", None, "another text stays").await;
    store.entry_delete(&"m1".into()).await.expect("deleted");
    store.close();
    let bytes = std::fs::read(world.db()).expect("read");
    let has = |word: &str| bytes.windows(word.len()).any(|part| part == word.as_bytes());
    assert!(has("another text stays") && !has("zanzibarquux"));
}

#[tokio::test]
async fn the_cached_vectors_follow_changes_of_the_database() {
    let world = World::new();
    let store = world.store();
    let (one, two) = (with_session(&store, "one").await, with_session(&store, "two").await);
    // Vectors in many directions. The second pass must find the same vectors as a loop over all
    // vectors.
    let direction = |n: u32| -> Vec<f32> {
        let values: Vec<f32> = (0..16).map(|at| ((n * 31 + at * 17) % 23) as f32 - 11.0).collect();
        let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
        values.into_iter().map(|value| value / length).collect()
    };
    let mut known: Vec<(String, Vec<f32>)> = Vec::new();
    let near = async |wanted: &[f32]| {
        let wanted = vector("m", wanted);
        let found = store.entries_by_vector(&wanted, &MemoryReach::Everything, 5).await;
        let found = found.expect("searched");
        found.into_iter().map(|(memory, similarity)| (memory.id.0, similarity)).collect::<Vec<_>>()
    };
    let expected = |known: &[(String, Vec<f32>)], wanted: &[f32]| {
        let similarity =
            |values: &[f32]| -> f32 { values.iter().zip(wanted).map(|(a, b)| a * b).sum() };
        let mut all: Vec<f32> = known.iter().map(|(_, values)| similarity(values)).collect();
        all.sort_by(|a, b| b.total_cmp(a));
        all.truncate(5);
        all
    };
    for round in 0..40_u32 {
        for n in 0..3 {
            let (id, values) = (format!("m{round}-{n}"), direction(round * 3 + n));
            let session = [None, Some(&one), Some(&two)][n as usize];
            let (memory, vector) = (entry(&id, session, "text"), vector("m", &values));
            store.entry_add(&memory, Some(&vector)).await.expect("stored");
            known.push((id, values));
        }
        if round % 4 == 3 {
            let (gone, _) = known.swap_remove(round as usize % known.len());
            store.entry_delete(&gone.as_str().into()).await.expect("deleted");
            let (id, _) = &known[round as usize / 2];
            let made = store.entry(&id.as_str().into()).await.expect("read").expect("there");
            let values = direction(1_000 + round);
            let put = vec![(made, vector("m", &values))];
            store.entry_vectors_put(put).await.expect("put");
            known[round as usize / 2].1 = values;
        }
        let wanted = direction(round * 7 + 5);
        let found = near(&wanted).await;
        let best = expected(&known, &wanted);
        assert_eq!(found.len(), best.len());
        for ((id, similarity), best) in found.iter().zip(best) {
            assert!((similarity - best).abs() < 1e-5, "round {round}: {id} {similarity} {best}");
        }
    }
    store.session_delete(&one).await.expect("deleted");
    known.retain(|(id, _)| !id.ends_with("-1"));
    let wanted = direction(3);
    let found = near(&wanted).await;
    assert!(found.iter().all(|(id, _)| known.iter().any(|(other, _)| other == id)), "{found:?}");
    // Searches with another model, and then again with the first model.
    let other = vector("other", &[1.0; 4]);
    assert_eq!(store.entries_by_vector(&other, &MemoryReach::Everything, 5).await, Ok(vec![]));
    assert_eq!(near(&wanted).await, found);
}

/// Returns the turns whose recordings are stored.
async fn recorded(store: &SqliteStore, turns: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for turn in turns {
        if store.recording(&(*turn).into()).await.expect("read").is_some() {
            found.push((*turn).to_owned());
        }
    }
    found
}

/// Stores a recording for a session whose turn read memories with the text "secret".
async fn record(store: &SqliteStore, session: &SessionId, turn: &str, memories: &[&str]) {
    let held = |id: &&str| HeldMemory { id: (*id).into(), text: "secret".into() };
    let recording = StoredRecording {
        session: session.clone(),
        turn: turn.into(),
        body: r#"{"memories":["secret"]}"#.into(),
        memories: memories.iter().map(held).collect(),
    };
    store.recording_put(recording, 100).await.expect("stored");
}

#[tokio::test]
async fn deleting_or_editing_a_memory_deletes_recordings_that_contain_its_text() {
    let world = World::new();
    let store = world.store();
    let one = with_session(&store, "one").await;
    let two = with_session(&store, "two").await;
    for id in ["m-forgotten", "m-edited", "m-kept"] {
        add(&store, id, None, "secret").await;
    }
    let deleted_with =
        MemoryEntry { sources: Vec::new(), ..entry("m-deleted", Some(&one), "secret") };
    store.entry_add(&deleted_with, None).await.expect("stored");
    for (turn, memory) in
        [("t1", "m-forgotten"), ("t2", "m-edited"), ("t3", "m-kept"), ("t4", "m-deleted")]
    {
        record(&store, &two, turn, &[memory]).await;
    }
    let turns = ["t1", "t2", "t3", "t4"];
    assert_eq!(recorded(&store, &turns).await, turns);
    assert_eq!(store.entry_delete(&"m-forgotten".into()).await, Ok(true));
    assert_eq!(recorded(&store, &turns).await, ["t2", "t3", "t4"]);
    let at = instant("2026-11-21T11:00:00Z");
    assert_eq!(store.entry_edit(&"m-edited".into(), "other", None, at).await, Ok(true));
    assert_eq!(recorded(&store, &turns).await, ["t3", "t4"]);
    store.session_delete(&one).await.expect("deleted");
    assert_eq!(recorded(&store, &turns).await, ["t3"]);
}

#[tokio::test]
async fn erasing_a_session_deletes_recordings_of_other_sessions_with_its_memories() {
    let world = World::new();
    let store = world.store();
    let one = with_session(&store, "one").await;
    let two = with_session(&store, "two").await;
    let item = crate::world::message(&one, 0);
    let source = item.id.clone();
    store.items_append(vec![item]).await.expect("appended");
    let note = MemoryEntry { sources: vec![source], ..entry("m-note", None, "secret") };
    store.entry_add(&note, None).await.expect("stored");
    record(&store, &two, "t1", &["m-note"]).await;
    assert_eq!(recorded(&store, &["t1"]).await, ["t1"]);
    store.session_erase(&one).await.expect("erased");
    assert_eq!(store.entry(&"m-note".into()).await, Ok(None));
    assert_eq!(recorded(&store, &["t1"]).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_recording_that_ends_after_a_memory_was_deleted_is_not_stored() {
    let world = World::new();
    let store = world.store();
    let one = with_session(&store, "one").await;
    let two = with_session(&store, "two").await;
    let item = crate::world::message(&one, 0);
    let source = item.id.clone();
    store.items_append(vec![item]).await.expect("appended");
    for id in ["m-forgotten", "m-edited", "m-kept"] {
        store
            .entry_add(&MemoryEntry { sources: Vec::new(), ..entry(id, None, "secret") }, None)
            .await
            .expect("stored");
    }
    let erased = MemoryEntry { sources: vec![source], ..entry("m-erased", None, "secret") };
    store.entry_add(&erased, None).await.expect("stored");
    // The turns of the recordings have read the memories, which are now deleted or changed.
    store.entry_delete(&"m-forgotten".into()).await.expect("deleted");
    let at = instant("2026-11-21T11:00:00Z");
    store.entry_edit(&"m-edited".into(), "other", None, at).await.expect("edited");
    store.session_erase(&one).await.expect("erased");
    record(&store, &two, "t1", &["m-kept", "m-forgotten"]).await;
    record(&store, &two, "t2", &["m-kept", "m-edited"]).await;
    record(&store, &two, "t3", &["m-erased"]).await;
    record(&store, &two, "t4", &["m-kept"]).await;
    record(&store, &two, "t5", &[]).await;
    let turns = ["t1", "t2", "t3", "t4", "t5"];
    assert_eq!(recorded(&store, &turns).await, ["t4", "t5"]);
}

#[tokio::test]
async fn deleting_a_session_deletes_only_recordings_that_contain_its_memories() {
    let world = World::new();
    let store = world.store();
    let one = with_session(&store, "one").await;
    let two = with_session(&store, "two").await;
    for n in 0..3 {
        let memory = entry(&format!("m{n}"), Some(&one), "secret");
        store
            .entry_add(&MemoryEntry { sources: Vec::new(), ..memory }, None)
            .await
            .expect("stored");
    }
    let turns = ["t0", "t1", "t2"];
    record(&store, &two, "t0", &["m2"]).await;
    record(&store, &two, "t1", &[]).await;
    record(&store, &two, "t2", &[]).await;
    store.session_delete(&one).await.expect("deleted");
    assert_eq!(recorded(&store, &turns).await, turns[1..]);
}

#[tokio::test]
async fn only_the_newest_recordings_are_kept() {
    let world = World::new();
    let store = world.store();
    let one = with_session(&store, "one").await;
    add(&store, "m", None, "secret").await;
    let turns = ["t1", "t2", "t3", "t4"];
    for turn in turns {
        record(&store, &one, turn, &["m"]).await;
    }
    store.recordings_prune(2).await.expect("deleted");
    assert_eq!(recorded(&store, &turns).await, ["t3", "t4"]);
    let conn = Connection::open(world.db()).expect("opened");
    let links: i64 = conn
        .query_row("SELECT count(*) FROM recording_memory", [], |row| row.get(0))
        .expect("counted");
    assert_eq!(links, 2);
}
