//! Tests of changes of messages at their edges: right after an answer, while a summary is made,
//! when other versions were chosen meanwhile, after the time for an undo, and of the texts that
//! titles and shown summaries keep.

use std::{sync::Arc, time::Duration};

use contract::*;
use engine::{Engine, UNDO_SECONDS, ports::*};
use serde_json::json;

use crate::{
    versions::{
        actions, asked, edit, message, say, shown, talk, try_start, until_idle, with_summaries,
    },
    world::{Bench, Say, agent, status_and_text, tool},
};

fn id() -> SessionId {
    "s".into()
}

async fn title(bench: &Bench) -> String {
    bench.engine.sessions.open(&id()).await.unwrap().summary.title
}

/// Waits until the conversation has this title, which it gets after the end of a turn.
async fn until_titled(bench: &Bench, wanted: &str) {
    for _ in 0..1_000 {
        if title(bench).await == wanted {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the title is {:?}, not {wanted:?}", title(bench).await);
}

/// Returns the texts of the summaries that the transcript shows.
async fn summaries(bench: &Bench) -> Vec<String> {
    let texts = bench.items().await.into_iter().filter_map(|item| match item.body {
        ItemBody::Summary { text, .. } => Some(text),
        _ => None,
    });
    texts.collect()
}

// The time is real, because the summary waits for the test and has a time limit.
#[tokio::test]
async fn messages_can_be_changed_right_after_an_answer_while_its_summary_is_made() {
    let bench = Bench::new(vec![]);
    with_summaries(&bench, SummaryMethod::Llm, UpdateTiming::AfterTurn);
    let first = say(&bench, "q1", "a1").await;
    let gate = Arc::new(tokio::sync::Notify::new());
    bench.model.then(vec![Say::Text("a2")]);
    bench.model.then(vec![Say::Until(Arc::clone(&gate)), Say::Text("they spoke of q2")]);
    let second = bench.start("q2").await.turn;
    bench.final_of(&second).await;
    while bench.model.requests.lock().unwrap().len() < 3 {
        tokio::task::yield_now().await;
    }
    assert_eq!(bench.engine.turns.running(), 1, "the answered turn makes its summary");
    let sessions = &bench.engine.sessions;
    sessions.delete_message(&id(), &first).await.unwrap();
    sessions.restore_message(&id(), &first).await.unwrap();

    bench.model.then(vec![Say::Text("a2 new")]);
    let edited = try_start(&bench, message("q2 edited", &second)).await.unwrap();
    bench.final_of(&edited).await;
    assert_eq!(asked(&bench.model), ["q1", "a1", "q2 edited"]);
    sessions.show_version(&id(), &second).await.unwrap();
    sessions.show_version(&id(), &edited).await.unwrap();
    until_idle(&bench).await;
    gate.notify_one();
    // No event shows that no summary is written, so the test waits for a while.
    for _ in 0..40 {
        tokio::time::sleep(Duration::from_millis(5)).await;
        let memory = bench.world.store.memory("desktop:s").await.unwrap();
        assert!(memory.is_none_or(|memory| !memory.summary.contains("q2")));
    }
    assert_eq!(shown(&bench).await, ["q1", "a1", "q2 edited", "a2 new"]);
}

#[tokio::test(start_paused = true)]
async fn an_undo_holds_although_another_version_hides_the_message() {
    let bench = Bench::new(vec![]);
    let [first, second, _] = talk(&bench).await;
    let sessions = &bench.engine.sessions;
    sessions.delete_message(&id(), &second).await.unwrap();
    edit(&bench, &first, "q1 edited", "a").await;
    sessions.restore_message(&id(), &second).await.unwrap();
    assert_eq!(shown(&bench).await, ["q1 edited", "a"]);
    bench.clock.forward(i64::from(UNDO_SECONDS) + 1);
    sessions.finish_due_deletions().await;
    sessions.show_version(&id(), &first).await.unwrap();
    assert_eq!(shown(&bench).await, ["q1", "a1", "q2", "a2", "q3", "a3"]);
    assert_eq!(actions(&bench).await, ["deleted", "restored", "shown"]);
}

#[tokio::test(start_paused = true)]
async fn a_deletion_cannot_be_undone_after_its_time_although_the_data_is_still_there() {
    let bench = Bench::new(vec![]);
    let [_, second, _] = talk(&bench).await;
    let sessions = &bench.engine.sessions;
    sessions.delete_message(&id(), &second).await.unwrap();
    bench.clock.forward(i64::from(UNDO_SECONDS));
    let late = sessions.restore_message(&id(), &second).await.unwrap_err();
    assert!(late.has_reason(Reason::NotFound), "{late:?}");
    assert_eq!(shown(&bench).await, ["q1", "a1", "q3", "a3"]);
    assert!(!bench.world.store.items_of_turn(&second).await.unwrap().is_empty());
    sessions.finish_due_deletions().await;
    assert_eq!(bench.world.store.items_of_turn(&second).await, Ok(vec![]));
}

#[tokio::test(start_paused = true)]
async fn the_data_of_a_deleted_message_is_deleted_when_no_turn_of_its_session_runs() {
    let bench = Bench::new(vec![]);
    let [_, second, _] = talk(&bench).await;
    let sessions = &bench.engine.sessions;
    sessions.delete_message(&id(), &second).await.unwrap();
    bench.model.then(vec![Say::Hang]);
    let running = bench.start("q4").await.turn;
    while bench.model.requests.lock().unwrap().len() < 4 {
        tokio::task::yield_now().await;
    }
    bench.clock.forward(i64::from(UNDO_SECONDS));
    sessions.finish_due_deletions().await;
    assert!(!bench.world.store.items_of_turn(&second).await.unwrap().is_empty());
    bench
        .engine
        .turns
        .cancel(&TurnCancelParams { session: id(), turn: running.clone() })
        .await
        .unwrap();
    bench.final_of(&running).await;
    until_idle(&bench).await;
    sessions.finish_due_deletions().await;
    assert_eq!(bench.world.store.items_of_turn(&second).await, Ok(vec![]));
    assert_eq!(bench.world.store.recording(&running).await, Ok(None), "it saw the deleted state");
}

#[tokio::test(start_paused = true)]
async fn a_title_follows_the_shown_version_and_can_become_better() {
    let bench = Bench::new(vec![tool("a", Effect::ReadOnly)]);
    let first = say(&bench, "hi", "hello").await;
    until_titled(&bench, "hi").await;
    let edited = edit(&bench, &first, "good day", "hello").await;
    until_titled(&bench, "good day").await;
    bench.model.then(vec![Say::Call("a", json!({}))]);
    bench.ask("Spend by week of Bluebell").await;
    until_idle(&bench).await;
    until_titled(&bench, "Spend by week of Bluebell").await;
    let sessions = &bench.engine.sessions;
    sessions.show_version(&id(), &first).await.unwrap();
    assert_eq!(title(&bench).await, "hi", "that message is hidden, too");
    sessions.show_version(&id(), &edited).await.unwrap();
    assert_eq!(title(&bench).await, "Spend by week of Bluebell");
    // A title that a person gave stays.
    sessions.rename(&id(), "Mine").await.unwrap();
    sessions.show_version(&id(), &first).await.unwrap();
    assert_eq!(title(&bench).await, "Mine");
}

#[tokio::test(start_paused = true)]
async fn a_title_from_another_version_of_a_deleted_message_is_replaced() {
    let bench = Bench::new(vec![]);
    let first = say(&bench, "the first secret", "a1").await;
    say(&bench, "q2", "a2").await;
    edit(&bench, &first, "the second secret", "a").await;
    until_titled(&bench, "the second secret").await;
    let (store, sessions) = (&bench.world.store, &bench.engine.sessions);
    sessions.show_version(&id(), &first).await.unwrap();
    assert_eq!(title(&bench).await, "the first secret");
    sessions.delete_message(&id(), &first).await.unwrap();
    assert_eq!(title(&bench).await, "q2");
    sessions.restore_message(&id(), &first).await.unwrap();
    assert_eq!(title(&bench).await, "the first secret");
    sessions.delete_message(&id(), &first).await.unwrap();
    // As a process that was killed after the deletion left it.
    store.session_rename(&id(), "the second secret").await.unwrap();
    sessions.finish_all_deletions().await;
    assert_eq!(title(&bench).await, "q2");
}

#[tokio::test(start_paused = true)]
async fn a_shown_summary_of_a_deleted_message_is_hidden_and_deleted_with_it() {
    let bench = Bench::new(vec![]);
    with_summaries(&bench, SummaryMethod::Heuristic, UpdateTiming::AfterTurn);
    let first = say(&bench, "secret q1", "a1").await;
    for text in ["q2", "q3", "q4"] {
        say(&bench, text, "a").await;
    }
    say(&bench, "q5", "a").await;
    let tells = async || summaries(&bench).await.concat().contains("secret");
    assert!(tells().await);
    let sessions = &bench.engine.sessions;
    sessions.delete_message(&id(), &first).await.unwrap();
    assert!(!tells().await, "{:?}", summaries(&bench).await);
    sessions.restore_message(&id(), &first).await.unwrap();
    assert!(tells().await);
    sessions.delete_message(&id(), &first).await.unwrap();
    sessions.finish_all_deletions().await;
    for item in bench.items().await {
        let kept = bench.world.store.items_of_turn(&item.turn).await.unwrap();
        assert!(!json!(kept).to_string().contains("secret"), "{kept:?}");
    }
    assert_eq!(shown(&bench).await.len(), 8);
}

#[tokio::test(start_paused = true)]
async fn a_replacement_that_is_refused_late_leaves_no_trace_in_the_conversation() {
    let forgetful = Conversation { mode: ConversationMode::NoNeed, ..Conversation::default() };
    let bench = Bench::new(vec![]);
    let [_, _, third] = talk(&bench).await;
    let before = bench.items().await;
    let bench = bench.with(vec![Agent { conversation: Some(forgetful), ..agent("clerk", &[]) }]);
    let refused = try_start(&bench, message("q3 edited", &third)).await.unwrap();
    let (status, _) = status_and_text(&bench.final_of(&refused).await);
    assert_eq!(status, TurnStatus::Error);
    until_idle(&bench).await;
    assert_eq!(bench.items().await, before);
    assert_eq!(bench.world.store.items_of_turn(&refused).await, Ok(vec![]));
    assert!(bench.pushed.changed.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn messages_that_were_hidden_when_a_memory_expired_reach_no_model_by_a_switch() {
    let bench = Bench::new(vec![]);
    let policy = Conversation {
        mode: ConversationMode::Buffer,
        ttl_seconds: 3_600,
        ..Conversation::default()
    };
    assert_eq!(policy.faults(), []);
    bench.profile.settings.lock().unwrap().conversation = policy;
    say(&bench, "q1", "a1").await;
    let second = say(&bench, "q2", "a2").await;
    let edited = edit(&bench, &second, "q2 edited", "a2 new").await;
    let sessions = &bench.engine.sessions;
    sessions.show_version(&id(), &second).await.unwrap();
    bench.clock.forward(3_601);
    say(&bench, "q3", "a3").await;
    assert_eq!(asked(&bench.model), ["q3"]);
    sessions.show_version(&id(), &edited).await.unwrap();
    say(&bench, "q4", "a4").await;
    assert_eq!(asked(&bench.model), ["q4"], "the memory of all earlier messages has expired");
    // A message that replaces another begins a memory with itself.
    bench.clock.forward(3_601);
    let fourth = bench.items().await.last().unwrap().turn.clone();
    edit(&bench, &fourth, "q4 edited", "a4 new").await;
    assert_eq!(asked(&bench.model), ["q4 edited"]);
    say(&bench, "q5", "a5").await;
    assert_eq!(asked(&bench.model), ["q4 edited", "a4 new", "q5"]);
}

#[tokio::test(start_paused = true)]
async fn deletions_are_repeated_in_a_copy_that_has_the_messages_again() {
    let bench = Bench::new(vec![]);
    let [first, second, _] = talk(&bench).await;
    edit(&bench, &second, "q2 edited", "a2 new").await;
    // In the copy, another version of the deleted message is shown.
    let unknown = (id(), TurnId::from("none"));
    let elsewhere = (SessionId::from("none"), first.clone());
    let next = Engine::new(bench.world.clone());
    let deleted = [unknown, (id(), second.clone()), elsewhere];
    next.sessions.repeat_deletions(&deleted).await.unwrap();
    assert_eq!(shown(&bench).await, ["q1", "a1", "q3", "a3"]);
    assert_eq!(bench.world.store.items_of_turn(&second).await, Ok(vec![]));
    next.sessions.repeat_deletions(&[(id(), second)]).await.unwrap();
    assert_eq!(shown(&bench).await, ["q1", "a1", "q3", "a3"], "again, without effect");
}
