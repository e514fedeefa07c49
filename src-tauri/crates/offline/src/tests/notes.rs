//! Tests of verbatim texts, with the pack that remembers notes: the whole text is taken, its words
//! request nothing else, and questions about notes find their subject.

use super::world::World;

/// Returns the calls of a message as (tool, only argument).
fn calls(text: &str) -> Vec<(String, String)> {
    calls_in(World::new(), text)
}

fn calls_in(mut world: World, text: &str) -> Vec<(String, String)> {
    let turn = world.say(text);
    let argument = |arguments: &serde_json::Value| {
        arguments
            .as_object()
            .and_then(|all| all.values().next()?.as_str().map(str::to_owned))
            .unwrap_or_default()
    };
    turn.calls.iter().map(|call| (call.tool.clone(), argument(&call.arguments))).collect()
}

#[track_caller]
fn assert_call(text: &str, tool: &str, argument: &str) {
    assert_eq!(calls(text), [(tool.to_owned(), argument.to_owned())], "{text}");
}

#[test]
fn a_note_is_stored_word_for_word() {
    for (text, note) in [
        ("Remember that account 17 reports in CET", "account 17 reports in CET"),
        ("Kom ihåg att konto 17 rapporterar i CET", "konto 17 rapporterar i CET"),
        ("please remember my favourite colour is green", "my favourite colour is green"),
        ("Remember to pay the rent", "to pay the rent"),
        (
            "Kom ihåg: fakturor skickas den 3:e, inte den 1:a",
            "fakturor skickas den 3:e, inte den 1:a",
        ),
        (
            "Remember that Anna and Bo like short answers, and that reports are due on Monday.",
            "Anna and Bo like short answers, and that reports are due on Monday",
        ),
        ("Notera att Åsa är på semester i juli", "Åsa är på semester i juli"),
        ("Remember \"account 17 reports in CET\".", "account 17 reports in CET"),
        (
            "Remember that the campaign \"Summer Sale\" must never exceed 500",
            "the campaign \"Summer Sale\" must never exceed 500",
        ),
    ] {
        assert_call(text, "remember", note);
    }
}

#[test]
fn the_text_of_a_note_is_not_read_as_a_request() {
    for (text, note) in [
        (
            "Remember that account 17 is behind plan this month and account 23 is ahead",
            "account 17 is behind plan this month and account 23 is ahead",
        ),
        (
            "Remember that we never raise the budget of account 17",
            "we never raise the budget of account 17",
        ),
        (
            "Kom ihåg att vi inte lägger trailskor i varukorgen",
            "vi inte lägger trailskor i varukorgen",
        ),
        (
            "Kom ihåg att konto 17 ligger efter plan den här månaden, men inte konto 23",
            "konto 17 ligger efter plan den här månaden, men inte konto 23",
        ),
    ] {
        assert_call(text, "remember", note);
    }
}

#[test]
fn a_note_ends_with_its_sentence() {
    let text = "Remember that Anna likes lamps. How is account 17 pacing this month?";
    let made = calls_in(World::with_sample(), text);
    let tools: Vec<&str> = made.iter().map(|(tool, _)| tool.as_str()).collect();
    assert_eq!(tools, ["remember", "data.measure"], "{made:?}");
    assert_eq!(made[0].1, "Anna likes lamps");
}

#[test]
fn the_subject_of_a_question_about_notes_is_extracted() {
    for (text, about) in [
        ("What do you remember about account 17?", "account 17"),
        ("Vad minns du om konto 17?", "konto 17"),
        ("what do you remember about Bluebell's budget", "Bluebell's budget"),
        ("What have you noted about Fernhill?", "Fernhill"),
        ("minns du vad jag sa om Northwind", "Northwind"),
        ("Minns du något om Anna?", "Anna"),
    ] {
        assert_call(text, "recall", about);
    }
}

#[test]
fn questions_for_other_packs_are_not_read_as_questions_about_notes() {
    for text in ["How is account 17 pacing this month?", "Hur ligger konto 17 till?"] {
        let made = calls_in(World::with_sample(), text);
        assert_eq!(made[0].0, "data.measure", "{text}: {made:?}");
    }
    assert_eq!(calls("show me trail shoes")[0].0, "product.search");
}

#[test]
fn answers_about_notes_quote_the_notes() {
    let mut world = World::new();
    let said = world.say("Remember that account 17 reports in CET").text;
    assert!(said.contains("I will remember: “account 17 reports in CET”."), "{said}");
    let said = world.say("What do you remember about account 17?").text;
    assert!(said.contains("account 17 reports in CET") && said.contains("20 November"), "{said}");
    let mut world = World::new();
    world.locale = "sv".into();
    let said = world.say("Vad minns du om konto 17?").text;
    assert!(said.contains("Jag minns inget om ”konto 17”"), "{said}");
}

#[test]
fn a_second_question_after_a_question_about_notes_is_answered() {
    let all = calls("What do you remember about account 17, and what's in my cart?");
    let tools: Vec<&str> = all.iter().map(|(tool, _)| tool.as_str()).collect();
    assert_eq!(tools, ["recall", "cart.get"], "{all:?}");
}
