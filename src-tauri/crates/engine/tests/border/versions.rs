//! Tests of versions of messages: edits, answers by another model, switches and deletions. Models
//! see shown messages only, and no version repeats an action.

use std::{sync::Arc, time::Duration};

use contract::*;
use engine::{Engine, ports::*};
use serde_json::json;

use crate::{
    replay::{recording, replay},
    world::{Bench, Say, ScriptModel, status_and_text, tool},
};

fn once() -> Decision {
    Decision::ApproveOnce { confirm_word: None }
}

pub(crate) async fn until_idle(bench: &Bench) {
    while bench.engine.turns.running() > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(crate) fn message(text: &str, replaces: &TurnId) -> TurnStartParams {
    TurnStartParams {
        session: Some("s".into()),
        text: text.into(),
        model: None,
        agent: None,
        headless: false,
        replaces: Some(replaces.clone()),
    }
}

pub(crate) async fn try_start(
    bench: &Bench,
    params: TurnStartParams,
) -> Result<TurnId, AgentError> {
    let started = bench.engine.turns.start(Caller::inside(), params).await?;
    assert!(!started.queued, "a message that replaces another never waits");
    Ok(started.turn)
}

/// Sends a message, and waits for its answer and the end of its work.
pub(crate) async fn say(bench: &Bench, text: &str, answer: &'static str) -> TurnId {
    bench.model.then(vec![Say::Text(answer)]);
    let turn = bench.start(text).await.turn;
    bench.final_of(&turn).await;
    until_idle(bench).await;
    turn
}

/// Sends a message that replaces a turn.
pub(crate) async fn edit(
    bench: &Bench,
    replaced: &TurnId,
    text: &str,
    answer: &'static str,
) -> TurnId {
    bench.model.then(vec![Say::Text(answer)]);
    let turn = try_start(bench, message(text, replaced)).await.unwrap();
    bench.final_of(&turn).await;
    until_idle(bench).await;
    turn
}

/// Talks about q1 to q3. Returns the three turns.
pub(crate) async fn talk(bench: &Bench) -> [TurnId; 3] {
    [say(bench, "q1", "a1").await, say(bench, "q2", "a2").await, say(bench, "q3", "a3").await]
}

/// Returns the questions and answers that a window shows.
pub(crate) async fn shown(bench: &Bench) -> Vec<String> {
    let texts = bench.items().await.into_iter().filter_map(|item| match item.body {
        ItemBody::UserMessage { text } | ItemBody::AssistantText { text, .. } => Some(text),
        _ => None,
    });
    texts.collect()
}

/// Returns all messages of the last request, the prompt first.
fn whole_request(model: &ScriptModel) -> Vec<String> {
    let requests = model.requests.lock().unwrap();
    let line = |message: &Message| match message {
        Message::System { text } | Message::User { text } | Message::Assistant { text, .. } => {
            text.to_string()
        }
        Message::Tool { .. } => "tool".to_owned(),
    };
    requests.last().expect("asked").messages.iter().map(line).collect()
}

/// Returns the messages of the last request, without the prompt.
pub(crate) fn asked(model: &ScriptModel) -> Vec<String> {
    whole_request(model).split_off(1)
}

async fn versions(bench: &Bench) -> Vec<TurnVersions> {
    bench.engine.sessions.open(&"s".into()).await.unwrap().versions
}

pub(crate) async fn actions(bench: &Bench) -> Vec<String> {
    let records = bench.records_of(RecordType::MessageChanged).await;
    let action = |record: &AuditRecordView| record.fields["action"].as_str().unwrap().to_owned();
    records.iter().map(action).collect()
}

#[tokio::test(start_paused = true)]
async fn an_edited_message_hides_the_old_one_with_all_that_followed_it() {
    let bench = Bench::new(vec![]);
    let [_, second, third] = talk(&bench).await;
    let edited = edit(&bench, &second, "q2 edited", "a2 new").await;
    assert_eq!(asked(&bench.model), ["q1", "a1", "q2 edited"]);
    assert_eq!(shown(&bench).await, ["q1", "a1", "q2 edited", "a2 new"]);
    let both = TurnVersions {
        turn: edited.clone(),
        siblings: vec![second.clone(), edited.clone()],
        chosen: 1,
    };
    assert_eq!(versions(&bench).await, [both]);
    assert_eq!(*bench.pushed.changed.lock().unwrap(), ["s".into()]);
    let started = bench.records_of(RecordType::RunStarted).await;
    let replaced: Vec<_> = started.iter().map(|one| one.fields.get("replaces")).collect();
    assert_eq!(replaced, [None, None, None, Some(&json!(second.as_str()))]);
    // A search and a page of older items find shown messages only.
    let words = |text: &str| MessagesSearchParams {
        text: text.into(),
        session: None,
        since: None,
        until: None,
        agent: String::new(),
        tool: String::new(),
        offset: 0,
        limit: 0,
    };
    let found =
        async |text: &str| bench.engine.sessions.search(&words(text)).await.unwrap().hits.len();
    assert_eq!((found("q3").await, found("edited").await), (0, 1));
    let refused = try_start(&bench, message("again", &third)).await.unwrap_err();
    assert!(refused.has_reason(Reason::NotShown), "{refused:?}");
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn another_model_answers_a_message_again() {
    let bench = Bench::new(vec![]);
    let [_, _, third] = talk(&bench).await;
    let other = Arc::new(ScriptModel::default());
    bench.model.named.lock().unwrap().insert("other".into(), Arc::clone(&other));
    other.then(vec![Say::Text("a3 of another")]);
    let params = TurnStartParams { model: Some("other".into()), ..message("q3", &third) };
    let again = try_start(&bench, params).await.unwrap();
    bench.final_of(&again).await;
    until_idle(&bench).await;
    assert_eq!(asked(&other), ["q1", "a1", "q2", "a2", "q3"], "not the answer that it replaces");
    assert_eq!(shown(&bench).await, ["q1", "a1", "q2", "a2", "q3", "a3 of another"]);
}

#[tokio::test(start_paused = true)]
async fn a_switch_shows_the_other_version_to_person_and_model() {
    let bench = Bench::new(vec![]);
    let [first, second, _] = talk(&bench).await;
    let edited = edit(&bench, &second, "q2 edited", "a2 new").await;
    let sessions = &bench.engine.sessions;
    sessions.show_version(&"s".into(), &second).await.unwrap();
    assert_eq!(shown(&bench).await, ["q1", "a1", "q2", "a2", "q3", "a3"]);
    assert_eq!(versions(&bench).await[0].chosen, 0);
    sessions.show_version(&"s".into(), &second).await.unwrap();
    assert_eq!(actions(&bench).await, ["shown"], "the second time changed nothing");
    say(&bench, "q4", "a4").await;
    assert_eq!(asked(&bench.model), ["q1", "a1", "q2", "a2", "q3", "a3", "q4"]);
    sessions.show_version(&"s".into(), &edited).await.unwrap();
    say(&bench, "q5", "a5").await;
    assert_eq!(asked(&bench.model), ["q1", "a1", "q2 edited", "a2 new", "q5"]);
    // The first message has versions, too.
    edit(&bench, &first, "q1 edited", "a").await;
    assert_eq!(asked(&bench.model), ["q1 edited"]);
    Engine::new(bench.world.clone()).recover().await.unwrap();
    assert_eq!(shown(&bench).await, ["q1 edited", "a"], "after a restart, too");
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn a_deleted_message_can_be_restored_until_its_time_is_over() {
    let bench = Bench::new(vec![]);
    let [first, second, _] = talk(&bench).await;
    let (sessions, id) = (&bench.engine.sessions, SessionId::from("s"));
    assert_eq!(sessions.delete_message(&id, &second).await.unwrap(), 0);
    assert_eq!(shown(&bench).await, ["q1", "a1", "q3", "a3"]);
    bench.clock.forward(i64::from(engine::UNDO_SECONDS) - 1);
    sessions.finish_due_deletions().await;
    sessions.restore_message(&id, &second).await.unwrap();
    assert_eq!(shown(&bench).await, ["q1", "a1", "q2", "a2", "q3", "a3"]);

    sessions.delete_message(&id, &second).await.unwrap();
    say(&bench, "q4", "a4").await;
    assert_eq!(asked(&bench.model), ["q1", "a1", "q3", "a3", "q4"]);
    bench.clock.forward(i64::from(engine::UNDO_SECONDS));
    sessions.finish_due_deletions().await;
    let late = sessions.restore_message(&id, &second).await.unwrap_err();
    assert!(late.has_reason(Reason::NotFound), "{late:?}");
    assert_eq!(bench.world.store.items_of_turn(&second).await, Ok(vec![]));
    assert_eq!(shown(&bench).await, ["q1", "a1", "q3", "a3", "q4", "a4"]);
    assert_eq!(actions(&bench).await, ["deleted", "restored", "deleted"]);

    // The title was the text of the first question.
    let title = async || sessions.open(&id).await.unwrap().summary.title;
    assert_eq!(title().await, "q1");
    sessions.delete_message(&id, &first).await.unwrap();
    sessions.finish_all_deletions().await;
    assert_eq!(title().await, "q3");
    let counts = sessions.version_counts(&id).await.unwrap();
    assert_eq!(counts, VersionCounts { other_versions: 0, deleted: 2 });
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn a_deletion_of_a_message_is_finished_at_the_next_start() {
    let bench = Bench::new(vec![]);
    let [_, second, third] = talk(&bench).await;
    let edited = edit(&bench, &second, "q2 edited", "a2 new").await;
    let id = SessionId::from("s");
    assert_eq!(bench.engine.sessions.delete_message(&id, &edited).await.unwrap(), 1);
    assert_eq!(shown(&bench).await, ["q1", "a1"]);
    // The process is killed, and the next one begins.
    let next = Engine::new(bench.world.clone());
    next.sessions.finish_earlier_deletions().await.unwrap();
    next.sessions.restore_message(&id, &edited).await.unwrap_err();
    for turn in [&second, &third, &edited] {
        assert_eq!(bench.world.store.items_of_turn(turn).await, Ok(vec![]), "{turn}");
    }
    assert_eq!(shown(&bench).await, ["q1", "a1"]);
}

#[tokio::test(start_paused = true)]
async fn changes_of_messages_are_refused_while_the_session_is_busy_or_an_action_waits() {
    let bench = Bench::new(vec![tool("w", Effect::Write)]);
    let [first, ..] = talk(&bench).await;
    let (sessions, id) = (&bench.engine.sessions, SessionId::from("s"));
    bench.model.then(vec![Say::Hang]);
    let requests = || bench.model.requests.lock().unwrap().len();
    let before = requests();
    let running = bench.start("q4").await.turn;
    while requests() == before {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let busy = [
        try_start(&bench, message("again", &first)).await.unwrap_err(),
        sessions.show_version(&id, &first).await.unwrap_err(),
        sessions.delete_message(&id, &first).await.unwrap_err(),
        sessions.restore_message(&id, &first).await.unwrap_err(),
    ];
    for error in &busy {
        assert!(error.message.contains("being answered"), "{error:?}");
    }
    let params = TurnCancelParams { session: id.clone(), turn: running.clone() };
    bench.engine.turns.cancel(&params).await.unwrap();
    bench.final_of(&running).await;
    until_idle(&bench).await;

    bench.model.then(vec![Say::Call("w", json!({"n": 1}))]);
    let waiting = bench.start_with("add", true).await.turn;
    bench.final_of(&waiting).await;
    until_idle(&bench).await;
    let before = shown(&bench).await;
    let refused = [
        try_start(&bench, message("again", &first)).await.unwrap_err(),
        sessions.delete_message(&id, &waiting).await.unwrap_err(),
    ];
    for error in &refused {
        assert!(error.has_reason(Reason::ActionPending), "{error:?}");
    }
    assert_eq!(shown(&bench).await, before);
    let no = Decision::Reject { reason: None };
    bench.decide(&bench.approval(0).await, no).await.unwrap();
    sessions.delete_message(&id, &waiting).await.unwrap();
    assert_eq!(actions(&bench).await, ["deleted"], "a refused change is not recorded as made");
}

#[tokio::test(start_paused = true)]
async fn unknown_messages_and_those_of_the_chat_api_have_no_versions() {
    let bench = Bench::new(vec![]);
    let [first, ..] = talk(&bench).await;
    let sessions = &bench.engine.sessions;
    let none = TurnId::from("none");
    let elsewhere = TurnStartParams { session: Some("t".into()), ..message("x", &first) };
    let nowhere = TurnStartParams { session: None, ..message("x", &first) };
    let missing = [
        try_start(&bench, message("x", &none)).await.unwrap_err(),
        try_start(&bench, elsewhere).await.unwrap_err(),
        try_start(&bench, nowhere).await.unwrap_err(),
        sessions.show_version(&"s".into(), &none).await.unwrap_err(),
        sessions.delete_message(&"t".into(), &first).await.unwrap_err(),
        sessions.restore_message(&"s".into(), &first).await.unwrap_err(),
    ];
    for error in &missing {
        assert!(error.has_reason(Reason::NotFound), "{error:?}");
    }
    assert!(bench.world.store.session(&"t".into()).await.unwrap().is_none(), "no session is made");
    let theirs = TurnStartParams { session: Some("app:s".into()), ..message("x", &first) };
    let refused = [
        try_start(&bench, theirs).await.unwrap_err(),
        sessions.show_version(&"app:s".into(), &first).await.unwrap_err(),
        sessions.delete_message(&"app:s".into(), &first).await.unwrap_err(),
    ];
    for error in &refused {
        assert!(error.message.contains("chat API"), "{error:?}");
    }
    bench.profile.settings.lock().unwrap().conversation.mode = ConversationMode::NoNeed;
    let error = try_start(&bench, message("x", &first)).await.unwrap_err();
    assert!(error.message.contains("not stored"), "{error:?}");
}

/// Summarises by rule or by the model after each turn with this number of waiting messages.
pub(crate) fn with_summaries(bench: &Bench, method: SummaryMethod, timing: UpdateTiming) {
    let mut policy = Conversation { window_messages: 2, ..Conversation::default() };
    policy.mode = match method {
        SummaryMethod::Llm => ConversationMode::Summary,
        SummaryMethod::Heuristic => ConversationMode::SummaryBuffer,
    };
    policy.summary.update_method = method;
    policy.summary.update_timing = timing;
    policy.summary.max_messages_since_update = 4;
    policy.summary.cooldown_seconds = 0;
    assert_eq!(policy.faults(), []);
    bench.profile.settings.lock().unwrap().conversation = policy;
}

async fn memory(bench: &Bench) -> Option<Memory> {
    bench.world.store.memory("desktop:s").await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_summary_of_hidden_messages_reaches_no_model() {
    let bench = Bench::new(vec![]);
    with_summaries(&bench, SummaryMethod::Heuristic, UpdateTiming::AfterTurn);
    let first = say(&bench, "secret q1", "a1").await;
    for text in ["q2", "q3", "q4"] {
        say(&bench, text, "a").await;
    }
    assert!(memory(&bench).await.expect("kept").summary.contains("secret"));
    edit(&bench, &first, "harmless q1", "a1 new").await;
    assert_eq!(asked(&bench.model), ["harmless q1"]);
    let sent = whole_request(&bench.model).concat();
    assert!(!sent.contains("secret"), "nor have the notes in the prompt: {sent}");
    let empty = memory(&bench).await.expect("kept");
    assert_eq!((empty.summary.as_str(), empty.through, empty.messages), ("", 0, 0));
    // The messages themselves are read again.
    bench.engine.sessions.show_version(&"s".into(), &first).await.unwrap();
    say(&bench, "q5", "a").await;
    let read = asked(&bench.model);
    assert_eq!((read[0].as_str(), read.last().unwrap().as_str()), ("secret q1", "q5"));
    assert!(!whole_request(&bench.model).concat().contains("harmless"));
    // A deleted message leaves the summary, too.
    assert!(memory(&bench).await.expect("kept").summary.contains("secret"));
    bench.engine.sessions.delete_message(&"s".into(), &first).await.unwrap();
    assert_eq!(memory(&bench).await.expect("kept").summary, "");
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_is_made_while_a_message_is_hidden_is_not_stored() {
    let bench = Bench::new(vec![]);
    with_summaries(&bench, SummaryMethod::Llm, UpdateTiming::AsyncPostTurn);
    let first = say(&bench, "secret q1", "a1").await;
    let gate = Arc::new(tokio::sync::Notify::new());
    bench.model.then(vec![Say::Text("a2")]);
    bench.model.then(vec![Say::Until(Arc::clone(&gate)), Say::Text("they spoke of a secret")]);
    bench.ask("q2").await;
    while bench.model.requests.lock().unwrap().len() < 3 {
        tokio::task::yield_now().await;
    }
    until_idle(&bench).await;
    bench.engine.sessions.delete_message(&"s".into(), &first).await.unwrap();
    gate.notify_one();
    // No event shows that no summary is written, so the test waits for a while.
    for _ in 0..40 {
        tokio::time::sleep(Duration::from_millis(5)).await;
        assert!(memory(&bench).await.is_none_or(|memory| memory.summary.is_empty()));
    }
}

#[tokio::test(start_paused = true)]
async fn no_permission_repeats_an_action_of_a_version_that_is_not_shown() {
    let bench = Bench::new(vec![tool("w", Effect::Write), tool("x", Effect::Write)]);
    bench.profile.settings.lock().unwrap().policy = PolicyMode::WritesAllowed;
    bench.model.then(vec![Say::Call("w", json!({"q": "shoes", "n": 2}))]);
    let first = bench.start("add shoes").await.turn;
    bench.final_of(&first).await;
    until_idle(&bench).await;
    assert_eq!(bench.runs(), ["w"], "the policy allows it");

    // Each change of a turn that replaces another asks.
    for (call, is_same) in [
        (Say::Call("w", json!({"q": "shoes", "n": 2})), true),
        (Say::Call("x", json!({"n": 1})), false),
    ] {
        let before = versions(&bench).await.pop().map_or(first.clone(), |one| one.turn);
        let asks = bench.engine.approvals.list(true).await.unwrap().len();
        bench.model.then(vec![call]);
        let again = try_start(&bench, message("add shoes", &before)).await.unwrap();
        let approval = bench.approval(asks).await;
        let why = approval.why.as_str();
        assert!(why.starts_with("Another version"), "{why}");
        let ran = "The same action already ran in another version of this conversation, on 2026-11-20 12:00 UTC.";
        assert_eq!(why.contains(ran), is_same, "{why}");
        assert_eq!(bench.runs(), ["w"], "it waits for a person");
        bench.decide(&approval, Decision::Reject { reason: None }).await.unwrap();
        bench.final_of(&again).await;
        until_idle(&bench).await;
    }
    // In a later turn, other tools are allowed again. The same tool still asks.
    bench.model.then(vec![Say::Call("x", json!({"n": 1}))]);
    bench.ask("go on").await;
    until_idle(&bench).await;
    assert_eq!(bench.runs(), ["w", "x"]);
    bench.model.then(vec![Say::Call("w", json!({"q": "shirts", "n": 1}))]);
    let later = bench.start("shirts").await.turn;
    let approval = bench.approval(2).await;
    assert!(!approval.why.as_str().contains("already ran"), "{}", approval.why.as_str());
    bench.decide(&approval, once()).await.unwrap();
    bench.final_of(&later).await;
    assert_eq!(bench.runs(), ["w", "x", "w"]);
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn a_session_permission_does_not_cover_a_version_that_would_act_again() {
    let bench = Bench::new(vec![tool("w", Effect::Write)]);
    bench.model.then(vec![Say::Call("w", json!({"q": "shoes", "n": 2}))]);
    let first = bench.start("add shoes").await.turn;
    bench.decide(&bench.approval(0).await, Decision::ApproveForSession).await.unwrap();
    bench.final_of(&first).await;
    until_idle(&bench).await;
    bench.model.then(vec![Say::Call("w", json!({"q": "shoes", "n": 2}))]);
    let again = try_start(&bench, message("add shoes", &first)).await.unwrap();
    let approval = bench.approval(1).await;
    assert!(approval.why.as_str().contains("already ran"), "{}", approval.why.as_str());
    // The version that acted is not run again by a switch, and the other one only by this decision.
    bench.decide(&approval, once()).await.unwrap();
    bench.final_of(&again).await;
    until_idle(&bench).await;
    bench.engine.sessions.show_version(&"s".into(), &first).await.unwrap();
    Engine::new(bench.world.clone()).recover().await.unwrap();
    assert_eq!(bench.runs(), ["w", "w"]);
    let (status, _) = status_and_text(&bench.final_of(&again).await);
    assert_eq!(status, TurnStatus::Ok);
}

#[tokio::test(start_paused = true)]
async fn an_expired_action_of_a_hidden_version_cannot_be_asked_for_again() {
    let bench = Bench::new(vec![tool("w", Effect::Write)]);
    bench.model.then(vec![Say::Call("w", json!({"n": 1}))]);
    let first = bench.start_with("add", true).await.turn;
    bench.final_of(&first).await;
    until_idle(&bench).await;
    let approval = bench.approval(0).await;
    bench.clock.forward(86_400 * 40);
    bench.engine.expire_overdue_actions().await;
    assert_eq!(bench.engine.approvals.expired().await.unwrap().len(), 1);
    edit(&bench, &first, "something else", "fine").await;
    assert!(bench.engine.approvals.expired().await.unwrap().is_empty());
    bench.engine.approvals.ask_again(&approval.id, &Caller::window()).await.unwrap_err();
    assert!(bench.runs().is_empty());
}

#[tokio::test]
async fn a_turn_that_replaces_another_replays_to_the_same_records() {
    let bench = Bench::new(vec![tool("w", Effect::Write)]);
    bench.profile.settings.lock().unwrap().policy = PolicyMode::WritesAllowed;
    say(&bench, "hello", "hi").await;
    bench.model.then(vec![Say::Call("w", json!({"q": "shoes", "n": 2}))]);
    let first = bench.start("add shoes").await.turn;
    bench.final_of(&first).await;
    until_idle(&bench).await;
    bench.model.then(vec![Say::Call("w", json!({"q": "shoes", "n": 2}))]);
    bench.model.then(vec![Say::Text("added again")]);
    let again = try_start(&bench, message("add shoes", &first)).await.unwrap();
    bench.decide(&bench.approval(0).await, once()).await.unwrap();
    bench.final_of(&again).await;
    until_idle(&bench).await;
    // A later turn of the same tool asks because of the hidden version.
    bench.model.then(vec![Say::Call("w", json!({"q": "shirts", "n": 1}))]);
    let later = bench.start("and shirts").await.turn;
    bench.decide(&bench.approval(1).await, once()).await.unwrap();
    bench.final_of(&later).await;
    until_idle(&bench).await;
    bench.engine.sessions.show_version(&"s".into(), &first).await.unwrap();
    for turn in [&again, &later] {
        let recorded = recording(&bench, turn).await;
        let compared = replay(&bench, turn, recorded).await;
        assert_eq!((compared.difference, compared.erased), (None, 0), "{turn}");
    }
}
