//! Tests of conversation modes: which earlier messages a model sees, what is stored, and that no
//! message is lost between window and summary. The names refer to section 7 of the agent contract.

use std::sync::{Arc, atomic::Ordering};

use contract::*;
use engine::{Engine, ports::*};
use serde_json::json;

use crate::world::{Bench, Say, status_and_text, tool};

/// Returns a bench with a memory of this mode. Summaries are made by rule, before the next message.
fn bench(mode: ConversationMode, change: impl FnOnce(&mut Conversation)) -> Bench {
    let bench = Bench::new(vec![]);
    let mut policy = Conversation { mode, window_messages: 4, ..Conversation::default() };
    policy.summary.update_timing = UpdateTiming::AfterTurn;
    policy.summary.update_method = SummaryMethod::Heuristic;
    policy.summary.max_messages_since_update = 4;
    policy.summary.cooldown_seconds = 0;
    change(&mut policy);
    assert_eq!(policy.faults(), []);
    bench.profile.settings.lock().unwrap().conversation = policy;
    bench
}

fn by_model(policy: &mut Conversation) {
    policy.summary.update_method = SummaryMethod::Llm;
}

/// Returns the notes of earlier messages, which are in the prompt before date and time, as a line.
fn notes(request: &ModelRequest) -> Option<String> {
    let Some(Message::System { text }) = request.messages.first() else { return None };
    let from = text.find("Notes of the earlier part of this conversation.")?;
    Some(format!(
        "system {}",
        text[from..].split("\n\nThe user's local time").next().unwrap_or_default()
    ))
}

/// Returns the earlier messages and the new one of a request, one line per message.
fn lines(request: &ModelRequest) -> Vec<String> {
    let line = |message: &Message| match message {
        Message::System { text } => format!("system {}", &**text),
        Message::User { text } => format!("user {}", &**text),
        Message::Assistant { text, .. } => format!("assistant {}", &**text),
        Message::Tool { .. } => "tool".to_owned(),
    };
    notes(request).into_iter().chain(request.messages[1..].iter().map(line)).collect()
}

/// Returns the last turn's request to its model. The summariser's requests are ignored.
fn last(bench: &Bench) -> Vec<String> {
    let requests = bench.model.requests.lock().unwrap();
    let of_turn = |request: &&ModelRequest| matches!(&request.messages[0], Message::System { text } if !text.starts_with("You keep the notes"));
    lines(requests.iter().rev().find(of_turn).expect("asked"))
}

/// Sends `q1` to `qn`, answered by `a1` to `an`, and returns the messages of the last request.
async fn talk(bench: &Bench, turns: std::ops::RangeInclusive<usize>) -> Vec<String> {
    for n in turns {
        bench.model.then(vec![Say::Text(Box::leak(format!("a{n}").into_boxed_str()))]);
        bench.ask(&format!("q{n}")).await;
    }
    last(bench)
}

async fn in_session(bench: &Bench, session: &str, text: &str) -> Vec<String> {
    let params = TurnStartParams {
        session: Some(session.into()),
        text: text.into(),
        model: None,
        agent: None,
        headless: false,
        replaces: None,
    };
    let turn = bench.engine.turns.start(contract::Caller::inside(), params).await.unwrap().turn;
    bench.final_of(&turn).await;
    last(bench)
}

/// Waits until the session's lane is free and the work after its turn is done.
async fn settled(bench: &Bench) {
    while bench.engine.turns.running() > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

async fn memory(bench: &Bench, key: &str) -> Memory {
    settled(bench).await;
    bench.world.store.memory(key).await.unwrap().expect("kept")
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_mode_no_need_reads_and_stores_no_earlier_messages() {
    let bench = bench(ConversationMode::NoNeed, |_| ());
    assert_eq!(talk(&bench, 1..=3).await, ["user q3"]);
    settled(&bench).await;
    assert_eq!(bench.world.store.memory("desktop:s").await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_mode_buffer_reads_all_messages_up_to_its_limits() {
    let all = bench(ConversationMode::Buffer, |_| ());
    assert_eq!(
        talk(&all, 1..=3).await,
        ["user q1", "assistant a1", "user q2", "assistant a2", "user q3"]
    );
    let few = bench(ConversationMode::Buffer, |policy| policy.max_messages = 2);
    assert_eq!(talk(&few, 1..=3).await, ["user q2", "assistant a2", "user q3"]);
    // By the estimate, each of these messages is one token: two characters, divided by four and
    // rounded up.
    let clipped = bench(ConversationMode::Buffer, |policy| policy.max_tokens = 3);
    assert_eq!(
        talk(&clipped, 1..=3).await,
        ["user q2", "assistant a2", "user q3"],
        "the walk stops at the first that does not fit"
    );
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_mode_buffer_window_counts_messages_not_exchanges() {
    let bench = bench(ConversationMode::BufferWindow, |_| ());
    assert_eq!(
        talk(&bench, 1..=5).await,
        ["user q3", "assistant a3", "user q4", "assistant a4", "user q5"],
        "four messages are two exchanges"
    );
    bench.profile.settings.lock().unwrap().conversation.window_tokens = 2;
    assert_eq!(talk(&bench, 6..=6).await, ["user q5", "assistant a5", "user q6"]);
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_mode_summary_replaces_messages_once_it_covers_them_all() {
    let bench = bench(ConversationMode::Summary, |_| ());
    assert_eq!(
        talk(&bench, 1..=2).await,
        ["user q1", "assistant a1", "user q2"],
        "what waits is seen word by word"
    );
    let seen = talk(&bench, 3..=3).await;
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert!(
        seen[0].starts_with("system ")
            && seen[0].ends_with("- user: q1\n- assistant: a1\n- user: q2\n- assistant: a2"),
        "{seen:?}"
    );
    assert_eq!(seen[1], "user q3");
    let seen = talk(&bench, 4..=4).await;
    assert_eq!(
        seen[1..],
        ["user q3", "assistant a3", "user q4"],
        "and what waits stands behind the summary"
    );
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_mode_summary_buffer_keeps_unsummarised_turns_before_the_window() {
    let bench = bench(ConversationMode::SummaryBuffer, |_| ());
    // Of eight messages, four are in the window and four outside. Until they are summarised, they
    // are sent word by word.
    let seen = talk(&bench, 1..=4).await;
    assert_eq!(seen.len(), 7, "nothing is left out before there is a summary: {seen:?}");
    let seen = talk(&bench, 5..=5).await;
    assert!(seen[0].contains("q1") && seen[0].contains("a2"), "{seen:?}");
    assert_eq!(seen[1..], ["user q3", "assistant a3", "user q4", "assistant a4", "user q5"]);
    let seen = talk(&bench, 6..=6).await;
    assert_eq!(
        seen[1..3],
        ["user q3", "assistant a3"],
        "pending, between the summary and the window"
    );
    assert_eq!(seen.len(), 8);
    for n in 7..=30 {
        let seen = talk(&bench, n..=n).await;
        let text = seen.join("\n");
        assert!(
            (1..n).all(|m| text.contains(&format!("q{m}")) && text.contains(&format!("a{m}"))),
            "nothing is invisible at {n}: {text}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_a_summary_made_by_the_model_is_shown_in_the_transcript() {
    let bench = bench(ConversationMode::Summary, by_model);
    talk(&bench, 1..=1).await;
    bench.model.then(vec![Say::Text("a2")]);
    bench.model.then(vec![Say::Text("They greeted "), Say::Text("each other.")]);
    bench.ask("q2").await;
    let seen = talk(&bench, 3..=3).await;
    assert!(seen[0].ends_with("They greeted each other."), "{seen:?}");
    let asked = bench.model.requests.lock().unwrap()[2].clone();
    assert!(asked.tools.is_empty() && asked.max_output_tokens == Some(800));
    let Message::User { text } = &asked.messages[1] else { panic!("the messages as data") };
    let said: serde_json::Value = serde_json::from_str(text).unwrap();
    assert_eq!(said["messages"][3], json!({"role": "assistant", "text": "a2"}));
    let shown: Vec<_> = bench
        .items()
        .await
        .into_iter()
        .filter_map(|item| {
            if let ItemBody::Summary { text, messages, method } = item.body {
                Some((text, messages, method))
            } else {
                None
            }
        })
        .collect();
    assert_eq!(
        shown,
        [("They greeted each other.".to_owned(), 4, SummaryMethod::Llm)],
        "shown once, when it is first used"
    );
    *bench.model.capabilities.lock().unwrap() =
        Some(ModelCapabilities { reasoning: true, ..ModelCapabilities::default() });
    talk(&bench, 4..=4).await;
    let again = bench
        .items()
        .await
        .iter()
        .filter(|item| matches!(item.body, ItemBody::Summary { .. }))
        .count();
    assert_eq!(again, 1);
    let EventBody::Final { usage, .. } = bench.ask("q5").await else { panic!("final") };
    assert_eq!(usage.model_calls, 1, "the summariser is not part of a run's usage");
    let most: Vec<_> = bench
        .model
        .requests
        .lock()
        .unwrap()
        .iter()
        .filter_map(|request| request.max_output_tokens)
        .collect();
    assert_eq!(most, [800, 8_800], "what a model thinks counts, too");
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_a_failed_summary_loses_no_messages() {
    let bench = bench(ConversationMode::Summary, by_model);
    talk(&bench, 1..=1).await;
    bench.model.then(vec![Say::Text("a2")]);
    bench.model.then(vec![Say::Text("half of"), Say::Fail(ModelErrorKind::Unavailable)]);
    bench.ask("q2").await;
    bench.model.then(vec![Say::Text("a3")]);
    bench.model.then(vec![Say::Fail(ModelErrorKind::RateLimited)]);
    bench.ask("q3").await;
    assert_eq!(memory(&bench, "desktop:s").await.failures, 2);
    let request = |n: usize| lines(&bench.model.requests.lock().unwrap()[n]);
    assert_eq!(request(3), ["user q1", "assistant a1", "user q2", "assistant a2", "user q3"]);
    bench.model.then(vec![Say::Text("a4")]);
    bench.model.then(vec![Say::Text("all of it")]);
    bench.ask("q4").await;
    let seen = talk(&bench, 5..=5).await;
    assert!(seen[0].ends_with("all of it") && seen.len() == 2, "{seen:?}");
    let told = bench
        .items()
        .await
        .iter()
        .filter(
            |item| matches!(&item.body, ItemBody::Notice { code, .. } if code == "summary_failed"),
        )
        .count();
    assert_eq!(told, 1, "a row of failures is told once");
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_a_model_that_never_summarises_does_not_make_requests_grow() {
    let bench = bench(ConversationMode::SummaryBuffer, by_model);
    let mut most = 0;
    for n in 1..=120 {
        bench.model.script.lock().unwrap().clear();
        bench.model.then(vec![Say::Text("a")]);
        for _ in 0..3 {
            bench.model.then(vec![Say::Fail(ModelErrorKind::Unavailable)]);
        }
        bench.ask(&format!("q{n}")).await;
        settled(&bench).await;
        most = most.max(
            bench
                .model
                .requests
                .lock()
                .unwrap()
                .iter()
                .rev()
                .map(|r| r.messages.len())
                .next()
                .unwrap_or_default(),
        );
    }
    let longest = bench
        .model
        .requests
        .lock()
        .unwrap()
        .iter()
        .map(|request| request.messages.len())
        .max()
        .unwrap();
    assert!(longest < 100, "{longest} of 240 messages");
    assert_eq!(
        memory(&bench, "desktop:s").await.method,
        SummaryMethod::Heuristic,
        "the fixed rule took over"
    );
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_the_request_size_does_not_grow_with_the_conversation() {
    let bench = bench(ConversationMode::SummaryBuffer, |_| ());
    let mut sizes = Vec::new();
    for n in 1..=150 {
        let seen = talk(&bench, n..=n).await;
        sizes.push(seen.iter().map(String::len).sum::<usize>());
    }
    let (early, late) = (sizes[20..60].iter().max().unwrap(), sizes[110..].iter().max().unwrap());
    assert!(*late <= 800 * 4 + 1_000, "a summary and a window at most: {late}");
    assert!(late < &(early * 4), "{early} then {late}");
}

#[tokio::test]
async fn agent_run_7_a_turn_recorded_while_a_summary_is_made_is_not_lost() {
    let bench = bench(ConversationMode::Summary, |policy| {
        by_model(policy);
        policy.summary.update_timing = UpdateTiming::AsyncPostTurn;
    });
    talk(&bench, 1..=1).await;
    let gate = Arc::new(tokio::sync::Notify::new());
    bench.model.then(vec![Say::Text("a2")]);
    bench.model.then(vec![Say::Until(Arc::clone(&gate)), Say::Text("first two")]);
    bench.ask("q2").await;
    while bench.model.requests.lock().unwrap().len() < 3 {
        tokio::task::yield_now().await;
    }
    let seen = talk(&bench, 3..=3).await;
    assert_eq!(
        seen,
        ["user q1", "assistant a1", "user q2", "assistant a2", "user q3"],
        "no one waits for it, and nothing is hidden"
    );
    gate.notify_one();
    while memory_or_none(&bench).await.is_none_or(|memory| memory.summary.is_empty()) {
        tokio::task::yield_now().await;
    }
    let seen = talk(&bench, 4..=4).await;
    assert!(seen[0].ends_with("first two"), "{seen:?}");
    assert_eq!(
        seen[1..],
        ["user q3", "assistant a3", "user q4"],
        "only what was summarised is replaced"
    );
}

#[tokio::test]
async fn agent_run_7_a_session_deleted_while_a_summary_is_made_is_not_stored_again() {
    // The summary succeeds or fails. A failure must not be stored for the deleted session either.
    for says in [Say::Text("first two"), Say::Text("")] {
        let bench = bench(ConversationMode::Summary, |policy| {
            by_model(policy);
            policy.summary.update_timing = UpdateTiming::AsyncPostTurn;
        });
        talk(&bench, 1..=1).await;
        let gate = Arc::new(tokio::sync::Notify::new());
        bench.model.then(vec![Say::Text("a2")]);
        bench.model.then(vec![Say::Until(Arc::clone(&gate)), says]);
        bench.ask("q2").await;
        while bench.model.requests.lock().unwrap().len() < 3 {
            tokio::task::yield_now().await;
        }
        bench.engine.sessions.delete(&"s".into()).await.unwrap();
        gate.notify_one();
        // No event shows that no summary is written, so the test waits for a while.
        for _ in 0..40 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            assert_eq!(memory_or_none(&bench).await, None);
        }
    }
}

async fn memory_or_none(bench: &Bench) -> Option<Memory> {
    bench.world.store.memory("desktop:s").await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_scope_and_key_decide_which_sessions_share_memory() {
    let alone =
        bench(ConversationMode::Buffer, |policy| policy.scope = ConversationScope::PerRequest);
    assert_eq!(talk(&alone, 1..=2).await, ["user q2"]);

    let user =
        bench(ConversationMode::SummaryBuffer, |policy| policy.scope = ConversationScope::PerUser);
    in_session(&user, "one", "from one").await;
    settled(&user).await;
    assert_eq!(
        in_session(&user, "two", "from two").await,
        ["user from one", "assistant done", "user from two"],
        "sessions of a user share"
    );
    for n in 0..6 {
        settled(&user).await;
        in_session(&user, if n % 2 == 0 { "one" } else { "two" }, &format!("more {n}")).await;
    }
    let shared = memory(&user, "desktop/user/local").await;
    assert!(
        shared.summary.contains("from one") && shared.summary.contains("from two"),
        "{shared:?}"
    );
    user.engine.sessions.delete(&"one".into()).await.unwrap();
    let seen = in_session(&user, "two", "what now").await.join("\n");
    assert!(!seen.contains("from one"), "a deleted session is in no memory: {seen}");

    let keyed = bench(ConversationMode::Buffer, |policy| {
        policy.key = ConversationKey { source: KeySource::RequestField, name: "case".into() };
    });
    for session in ["three", "four"] {
        keyed
            .world
            .store
            .session_create(&session.into(), "t", keyed.world.clock.now())
            .await
            .unwrap();
        let values = json!({"case": "c7"}).as_object().unwrap().clone();
        keyed
            .world
            .store
            .session_values_put(
                &session.into(),
                values.into_iter().map(|(name, value)| (name, Some(value))).collect(),
            )
            .await
            .unwrap();
    }
    in_session(&keyed, "three", "about the case").await;
    settled(&keyed).await;
    assert_eq!(in_session(&keyed, "four", "go on").await[0], "user about the case");
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_messages_are_forgotten_by_age_and_memories_by_number() {
    let aged = bench(ConversationMode::Buffer, |policy| policy.ttl_seconds = 3_600);
    talk(&aged, 1..=1).await;
    settled(&aged).await;
    aged.clock.forward(3_600);
    assert_eq!(talk(&aged, 2..=2).await.len(), 3, "not older than the limit");
    settled(&aged).await;
    aged.clock.forward(3_601);
    assert_eq!(talk(&aged, 3..=3).await, ["user q3"]);
    assert_eq!(talk(&aged, 4..=4).await, ["user q3", "assistant a3", "user q4"], "anew from there");
    assert_eq!(aged.items().await.len(), 8, "the transcript stays");

    let few = bench(ConversationMode::Summary, |policy| policy.max_items = 2);
    for (n, session) in ["one", "two", "one", "three"].into_iter().enumerate() {
        few.clock.forward(1);
        in_session(&few, session, &format!("m{n}")).await;
        settled(&few).await;
    }
    assert!(!memory(&few, "desktop:two").await.live, "the one used longest ago");
    assert_eq!(in_session(&few, "two", "again").await, ["user again"]);
    settled(&few).await;
    assert_eq!(in_session(&few, "three", "still?").await.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_summaries_follow_the_refresh_policy_and_cooldown() {
    let every = bench(ConversationMode::Summary, |policy| {
        policy.summary.refresh_policy = RefreshPolicy::EveryTurn
    });
    assert_eq!(talk(&every, 1..=2).await.len(), 2, "a summary and the question");

    let cool = bench(ConversationMode::Summary, |policy| {
        policy.summary.max_messages_since_update = 2;
        policy.summary.cooldown_seconds = 10;
    });
    talk(&cool, 1..=2).await;
    settled(&cool).await;
    assert_eq!(memory(&cool, "desktop:s").await.messages, 2, "the second is too early");
    cool.clock.forward(10);
    talk(&cool, 3..=3).await;
    assert_eq!(memory(&cool, "desktop:s").await.messages, 6);

    let periodic = bench(ConversationMode::Summary, |policy| {
        policy.summary.refresh_policy = RefreshPolicy::Periodic
    });
    talk(&periodic, 1..=2).await;
    assert_eq!(memory(&periodic, "desktop:s").await.messages, 2);
    periodic.clock.forward(60);
    talk(&periodic, 3..=3).await;
    assert_eq!(memory(&periodic, "desktop:s").await.messages, 6);
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_a_summary_survives_a_restart() {
    let bench = bench(ConversationMode::Summary, |_| ());
    talk(&bench, 1..=2).await;
    settled(&bench).await;
    let next = Engine::new(bench.world.clone());
    next.recover().await.unwrap();
    let turn = next
        .turns
        .start(
            contract::Caller::inside(),
            TurnStartParams {
                session: Some("s".into()),
                text: "q3".into(),
                model: None,
                agent: None,
                headless: false,
                replaces: None,
            },
        )
        .await
        .unwrap()
        .turn;
    bench.final_of(&turn).await;
    assert!(last(&bench)[0].ends_with("- assistant: a2"));
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_a_failed_run_is_remembered_as_its_message_and_a_short_note() {
    let bench = bench(ConversationMode::Buffer, |_| ());
    bench.model.then(vec![Say::Fail(ModelErrorKind::BadRequest)]);
    bench.ask("q1").await;
    let seen = talk(&bench, 2..=2).await;
    assert_eq!(seen.len(), 3, "{seen:?}");
    assert_eq!(
        seen[1], "assistant (No answer: it failed.)",
        "servers and keys are no words of the model's"
    );
    let told = |item: &Item| matches!(&item.body, ItemBody::Notice { text, .. } if text == "The model is not reachable. Check the address.");
    assert!(bench.items().await.iter().any(told), "the transcript tells why");

    let summed = self::bench(ConversationMode::Summary, |policy| {
        policy.summary.refresh_policy = RefreshPolicy::EveryTurn
    });
    summed.model.then(vec![Say::Fail(ModelErrorKind::BadRequest)]);
    summed.ask("q1").await;
    settled(&summed).await;
    assert!(
        memory(&summed, "desktop:s").await.summary.ends_with("- note: (No answer: it failed.)")
    );
}

#[tokio::test(start_paused = true)]
async fn agent_run_8_messages_are_summarised_redacted_and_the_summary_is_stored_restored() {
    let bench = bench(ConversationMode::Summary, by_model);
    bench.model.then(vec![Say::Text("noted")]);
    bench.ask("write to ann@example.com\nand bob@example.com").await;
    bench.model.then(vec![Say::Text("done")]);
    bench.model.then(vec![Say::Text("The user writes to <email_1> and <email_2>.")]);
    bench.ask("q2").await;
    assert_eq!(
        memory(&bench, "desktop:s").await.summary,
        "The user writes to ann@example.com and bob@example.com."
    );
    let seen = talk(&bench, 3..=3).await;
    assert!(seen[0].ends_with("The user writes to <email_1> and <email_2>."), "{seen:?}");
    let all = bench.model.requests.lock().unwrap().iter().flat_map(lines).collect::<String>();
    assert!(!all.contains("ann@") && !all.contains("bob@"), "{all}");
}

#[tokio::test(start_paused = true)]
async fn agent_run_8_no_remote_model_makes_summaries_when_egress_is_disallowed() {
    let bench = bench(ConversationMode::Summary, by_model);
    talk(&bench, 1..=1).await;
    settled(&bench).await;
    let profile = Arc::clone(&bench.profile);
    bench.model.then(vec![Say::Call("r", json!({}))]);
    bench.model.then(vec![Say::Text("a2")]);
    *bench.tools.specs.lock().unwrap() = Arc::new(vec![tool("r", Effect::ReadOnly)]);
    let model = Arc::clone(&bench.model);
    let forbid = move |_: &ToolRequest| {
        profile.settings.lock().unwrap().egress.allowed = false;
        model.remote.store(true, Ordering::SeqCst);
        Ok(json!({}))
    };
    bench.tools.behaviours.lock().unwrap().insert("r".into(), Box::new(forbid));
    bench.ask("q2").await;
    settled(&bench).await;
    assert_eq!(
        bench.model.requests.lock().unwrap().len(),
        2,
        "neither the rest of the turn nor its summary"
    );
}

#[tokio::test(start_paused = true)]
async fn a_summary_of_untrusted_content_is_untrusted() {
    let bench = bench(ConversationMode::Summary, |policy| {
        policy.summary.refresh_policy = RefreshPolicy::EveryTurn
    });
    let mut strange = tool("page", Effect::ReadOnly);
    strange.output_trust = contract::manifest::OutputTrust::Untrusted;
    *bench.tools.specs.lock().unwrap() = Arc::new(vec![strange, tool("w", Effect::Write)]);
    *bench.profile.rules.lock().unwrap() =
        policy::Rules::parse(r#"{"rules": [{"id": "all", "action": "allow", "tool": "w"}]}"#);
    bench.model.then(vec![Say::Call("w", json!({"q": "free"}))]);
    bench.ask("q0").await;
    assert_eq!(bench.runs(), ["w"], "the rule allows it");
    bench.model.then(vec![Say::Call("page", json!({}))]);
    bench.model.then(vec![Say::Text("it says: fetch that")]);
    bench.ask("q1").await;
    bench.model.then(vec![Say::Call("w", json!({"q": "that"}))]);
    let turn = bench.start("q2").await.turn;
    let approval = bench.approval(0).await;
    bench.decide(&approval, Decision::Reject { reason: None }).await.unwrap();
    bench.final_of(&turn).await;
    assert_eq!(bench.runs(), ["w", "page"]);
}

#[tokio::test(start_paused = true)]
async fn a_long_conversation_without_a_summary_is_summarised_in_one_catch_up() {
    let bench = bench(ConversationMode::SummaryBuffer, |_| ());
    said_long_ago(&bench, 3_000).await;
    assert_eq!(status_and_text(&bench.ask("q").await).0, TurnStatus::Ok);
    let seen = last(&bench);
    assert!(seen.len() <= 502, "{}", seen.len());
    assert!(seen[0].starts_with("system ") && seen.iter().any(|line| line == "user old 2998"));
    let caught_up = memory(&bench, "desktop:s").await;
    let unseen = caught_up.through;
    assert!(unseen >= 2_990, "what overflows was summarised after the turn: {unseen}");
    assert_eq!(
        talk(&bench, 1..=1).await.len(),
        1 + 4 + 1,
        "a summary, the window, and the question"
    );
}

#[tokio::test(start_paused = true)]
async fn messages_at_the_page_limit_are_in_the_summary_or_in_the_request() {
    for mode in [ConversationMode::Summary, ConversationMode::SummaryBuffer] {
        // Numbers of messages at which a full page is pending before the turn, and more than a page
        // after it.
        for old in [2_988, 2_989, 2_990] {
            let bench = bench(mode, |_| ());
            said_long_ago(&bench, old).await;
            bench.ask("q").await;
            let covered = memory(&bench, "desktop:s").await.messages;
            let seen = talk(&bench, 1..=1).await;
            // The messages in addition to the notes and the question.
            assert_eq!(
                covered + seen.len() as u64 - 2,
                old as u64 + 2,
                "{mode:?} after {old}: {} seen",
                seen.len()
            );
        }
    }
}

/// Stores `messages` messages without summarising them.
async fn said_long_ago(bench: &Bench, messages: usize) {
    let (store, now) = (&bench.world.store, bench.world.clock.now());
    store.session_create(&"s".into(), "t", now).await.unwrap();
    let item = |n: usize, body| Item {
        id: format!("i{n}").as_str().into(),
        session: "s".into(),
        turn: format!("t{}", n / 2).as_str().into(),
        seq: 0,
        created_at: now,
        body,
    };
    let said = |n: usize| match n % 2 {
        0 => ItemBody::UserMessage { text: format!("old {n}") },
        _ => ItemBody::AssistantText {
            text: format!("old {n}"),
            blocks: vec![],
            model: None,
            agent: None,
            choices: vec![],
            remembered: vec![],
            local_only: false,
            untrusted: false,
            partial: false,
            kept: None,
        },
    };
    store.items_append((0..messages).map(|n| item(n, said(n))).collect()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_summariser_model_of_the_settings_makes_the_summaries() {
    let bench = bench(ConversationMode::Summary, by_model);
    let small = Arc::new(crate::world::ScriptModel::default());
    bench.model.named.lock().unwrap().insert("small".into(), Arc::clone(&small));
    bench.profile.settings.lock().unwrap().model.summariser = "small".into();
    small.then(vec![Say::Text("They greeted each other.")]);
    talk(&bench, 1..=2).await;
    assert_eq!(memory(&bench, "desktop:s").await.summary, "They greeted each other.");
    assert_eq!(small.requests.lock().unwrap().len(), 1);
    assert_eq!(bench.model.requests.lock().unwrap().len(), 2, "the answers");
    // The built-in model makes no summaries, so the fixed rule is used.
    small.inside.store(true, Ordering::SeqCst);
    talk(&bench, 3..=4).await;
    assert_eq!(small.requests.lock().unwrap().len(), 1);
    assert_eq!(bench.model.requests.lock().unwrap().len(), 4);
}
