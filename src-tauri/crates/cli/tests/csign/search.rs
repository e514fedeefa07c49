//! Tests of `csign search`: messages of all conversations are found by their words.

use serde_json::{Value, json};

use crate::world::World;

fn found(world: &World, args: &[&str]) -> Value {
    world.run(&[&["--json", "search"], args].concat()).ends_with(0).json()
}

/// Returns the sessions of the found messages, without duplicates, in alphabetical order.
fn sessions(found: &Value) -> Vec<&str> {
    let hits = found["hits"].as_array().expect("hits");
    let mut ids: Vec<_> = hits.iter().filter_map(|hit| hit["session"].as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

#[test]
fn a_search_finds_messages_of_all_conversations_and_marks_the_matching_words() {
    let world = World::new();
    world.run(&["ask", "--session", "one", "What do you remember about account 17?"]).ends_with(0);
    world
        .run(&["ask", "--session", "two", "Vad är månadens förbrukning för konto 23?"])
        .ends_with(0);

    let english = found(&world, &["what", "do", "acc"]);
    assert_eq!(sessions(&english), ["one"], "{english:#}");
    let hit = &english["hits"][0];
    assert_eq!(
        (&hit["from_user"], &hit["title"]),
        (&json!(true), &json!("What do you remember about account 17?"))
    );
    let marked: Vec<_> = hit["snippet"]
        .as_array()
        .expect("pieces")
        .iter()
        .filter(|piece| piece["is_match"] == true)
        .map(|piece| piece["text"].as_str())
        .collect();
    assert_eq!(marked, [Some("What"), Some("do"), Some("account")], "{hit:#}");

    // Letters match with and without their diacritics.
    for text in ["manadens forbrukning", "MÅNADENS", "förbruk"] {
        assert_eq!(sessions(&found(&world, &[text])), ["two"], "{text}");
    }
    let printed = world.run(&["search", "manadens"]).ends_with(0).out;
    assert!(printed.contains("two  Vad är månadens") && printed.contains("you"), "{printed}");
}

#[test]
fn a_search_text_is_never_interpreted_as_a_query_language() {
    let world = World::new();
    world.run(&["ask", "--session", "one", "What do you remember about account 17?"]).ends_with(0);
    for text in [
        "\"what",
        "what AND",
        "account NOT",
        "what*",
        "text:what",
        "NEAR(what",
        "what) OR (",
        "^what",
        "-17 + what",
    ] {
        let ran = world.run(&["--json", "search", "--", text]).ends_with(0);
        assert_eq!(ran.json()["has_more"], false, "{text}");
    }
    assert_eq!(sessions(&found(&world, &["what) do (account"])), ["one"]);
    for nothing in ["***", "\"\"", " "] {
        let ran = world.run(&["search", nothing]).ends_with(0);
        assert_eq!(ran.err.trim(), "No message has these words.");
    }
}

#[test]
fn a_search_can_be_limited_by_day_specialist_and_tool() {
    let world = World::new();
    world
        .run(&["ask", "--session", "memory", "What do you remember about account 17?"])
        .ends_with(0);
    world.run(&["ask", "--session", "shop", "show me boots like account 17 has"]).ends_with(0);
    world
        .run_at(
            "2026-11-23T10:00:00Z",
            &["ask", "--session", "late", "What do you remember about account 23?"],
        )
        .ends_with(0);
    let narrowed = |args: &[&str]| -> Vec<String> {
        let found = found(&world, &[&["account"], args].concat());
        sessions(&found).into_iter().map(str::to_owned).collect()
    };
    assert!(narrowed(&[]).len() >= 2);
    assert_eq!(narrowed(&["--since", "2026-11-22"]), ["late"]);
    assert!(!narrowed(&["--until", "2026-11-21"]).contains(&"late".to_owned()));
    assert_eq!(narrowed(&["--tool", "recall"]), ["late", "memory"]);
    assert_eq!(narrowed(&["--tool", "rec"]), Vec::<String>::new());
    assert_eq!(narrowed(&["--agent", "nobody"]), Vec::<String>::new());
    assert_eq!(found(&world, &["account", "--limit", "1"])["has_more"], true);
}

#[test]
fn a_search_can_be_limited_to_one_session() {
    let world = World::new();
    for session in ["one", "two"] {
        world
            .run(&["ask", "--session", session, "What do you remember about account 17?"])
            .ends_with(0);
    }
    let both = found(&world, &["remember"]);
    let one = found(&world, &["--session", "two", "remember"]);
    assert_eq!((sessions(&both), sessions(&one)), (vec!["one", "two"], vec!["two"]));
}

#[test]
fn sessions_are_listed_and_one_is_written_into_a_file_of_each_format() {
    let world = World::new();
    world.run(&["ask", "--session", "one", "What do you remember about account 17?"]).ends_with(0);
    let listed = world.run(&["sessions", "list"]).ends_with(0).out;
    assert!(
        listed.starts_with("one  ") && listed.contains("What do you remember about account 17?")
    );
    let none = world.run(&["sessions", "list", "--archived"]).ends_with(0);
    assert_eq!(none.err.trim(), "There are no such conversations.");
    let folder = tempfile::tempdir().expect("a folder");
    let into = folder.path().to_str().expect("a path");
    for (format, extension) in [("markdown", "md"), ("html", "html"), ("json", "json")] {
        let args = ["--json", "sessions", "export", "one", "--format", format, "--into", into];
        let written = world.run(&args).ends_with(0).json();
        let file = written["file"].as_str().expect("a file");
        assert!(file.ends_with(extension), "{file}");
        let text = std::fs::read_to_string(file).expect("the file is there");
        assert!(text.contains("What do you remember about account 17?"), "{format}");
    }
    world.run(&["sessions", "export", "one", "--format", "docx", "--into", into]).ends_with(2);
    world.run(&["sessions", "export", "none", "--into", into]).ends_with(1);
}
