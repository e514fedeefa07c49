//! Tests of simple turns: answers, rounds, limits, queue, cancellation.

use std::time::Duration;

use contract::*;
use engine::ports::*;
use serde_json::{Value, json};

use crate::world::{Bench, Say, status_and_text, tool};

#[tokio::test(start_paused = true)]
async fn an_answer_is_stored_sent_once_and_recorded() {
    let bench = Bench::new(vec![]);
    bench.model.then(vec![Say::Text("Hel"), Say::Text("lo")]);
    let turn = bench.start("Hi").await.turn;
    assert_eq!(status_and_text(&bench.final_of(&turn).await), (TurnStatus::Ok, "Hello".into()));
    assert_eq!(bench.event_names(&turn), ["status", "item", "status", "delta", "item", "final"]);
    let items = bench.items().await;
    assert!(matches!(&items[0].body, ItemBody::UserMessage { text } if text == "Hi"));
    assert!(
        matches!(&items[1].body, ItemBody::AssistantText { text, partial: false, .. } if text == "Hello")
    );
    let types: Vec<RecordType> = bench.records().await.into_iter().map(|(t, _)| t).collect();
    assert_eq!(
        types,
        [
            RecordType::LogOpened,
            RecordType::RunStarted,
            RecordType::ModelCall,
            RecordType::RunEnded
        ]
    );
    let Message::System { text } = bench.model.requests.lock().unwrap()[0].messages[0].clone()
    else {
        panic!("the prompt comes first")
    };
    // The records are: log opened, run started, model called, run ended.
    let called = bench.log.log.show(3).await.unwrap();
    assert_eq!(called.fields["prompt_sha256"], engine::sha256_hex(text.as_str().as_bytes()));
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn a_fallback_model_that_answers_is_named_in_transcript_and_log() {
    let bench = Bench::new(vec![]);
    bench.model.then(vec![Say::FellBack("first", "second"), Say::Text("Hello")]);
    assert_eq!(status_and_text(&bench.ask("Hi").await), (TurnStatus::Ok, "Hello".into()));
    let items = bench.items().await;
    let ItemBody::Notice { code, text, .. } = &items[1].body else {
        panic!("a notice comes first: {items:?}")
    };
    assert_eq!(
        (code.as_str(), text.as_str()),
        ("model_fallback", "first could not answer: It is busy. second answers instead.")
    );
    assert!(
        matches!(&items[2].body, ItemBody::AssistantText { model: Some(model), .. } if model == "second")
    );
}

// In real time: virtual time would advance while the store's threads write, and a call would end
// before the next begins.
#[tokio::test]
async fn reads_of_one_round_run_in_parallel_and_results_keep_their_order() {
    let bench = Bench::new(vec![
        tool("a", Effect::ReadOnly),
        tool("b", Effect::ReadOnly),
        tool("c", Effect::ReadOnly),
    ]);
    // Each call waits for the other two, so that none ends unless all run at the same time. The
    // last requested call then ends first.
    *bench.tools.meeting.lock().unwrap() = Some(std::sync::Arc::new(tokio::sync::Barrier::new(3)));
    for (id, ms) in [("a", 30), ("b", 20), ("c", 10)] {
        bench.tools.slow.lock().unwrap().insert(id.into(), Duration::from_millis(ms));
    }
    bench.model.then(vec![
        Say::Call("a", json!({})),
        Say::Call("b", json!({})),
        Say::Call("c", json!({})),
    ]);
    bench.model.then(vec![Say::Text("ok")]);
    bench.ask("go").await;
    assert_eq!(bench.outcomes().await, [ToolOutcome::Ok; 3]);
    let requests = bench.model.requests.lock().unwrap();
    let names: Vec<&str> = requests[1]
        .messages
        .iter()
        .filter_map(|m| if let Message::Tool { name, .. } = m { Some(name.as_str()) } else { None })
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn a_fourth_call_in_one_round_is_refused_with_a_limit_result() {
    let bench = Bench::new(vec![tool("a", Effect::ReadOnly)]);
    bench.model.then((0..4).map(|n| Say::Call("a", json!({"n": n}))).collect());
    bench.ask("go").await;
    assert_eq!(
        bench.outcomes().await,
        [ToolOutcome::Ok, ToolOutcome::Ok, ToolOutcome::Ok, ToolOutcome::Limit]
    );
    assert_eq!(bench.runs().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn the_last_allowed_model_call_has_no_tools_so_that_the_turn_has_an_answer() {
    let bench = Bench::new(vec![tool("a", Effect::ReadOnly)]);
    for n in 0..6 {
        bench.model.then(vec![Say::Call("a", json!({"n": n}))]);
    }
    let (status, text) = status_and_text(&bench.ask("go").await);
    assert_eq!(status, TurnStatus::Limit);
    assert!(!text.is_empty());
    let requests = bench.model.requests.lock().unwrap();
    assert_eq!(requests.len(), 6);
    assert!(requests[..5].iter().all(|r| !r.tools.is_empty()));
    assert!(requests[5].tools.is_empty());
    assert_eq!(bench.runs().len(), 5, "the call of the last round was not run");
}

#[tokio::test(start_paused = true)]
async fn an_empty_reply_is_requested_again_once_and_never_shown_empty() {
    let bench = Bench::new(vec![tool("a", Effect::ReadOnly)]);
    bench.model.then(vec![]);
    bench.model.then(vec![]);
    let (_, text) = status_and_text(&bench.ask("go").await);
    assert!(!text.is_empty());
    assert_eq!(bench.model.requests.lock().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_same_read_in_three_rounds_runs_once_and_is_then_refused() {
    let bench = Bench::new(vec![tool("a", Effect::ReadOnly)]);
    for _ in 0..3 {
        bench.model.then(vec![Say::Call("a", json!({"q": "x"}))]);
    }
    bench.ask("go").await;
    assert_eq!(bench.outcomes().await, [ToolOutcome::Ok, ToolOutcome::Ok, ToolOutcome::Limit]);
    assert_eq!(bench.runs().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn invalid_arguments_and_unknown_tools_are_reported_to_the_model() {
    let bench = Bench::new(vec![tool("a", Effect::ReadOnly)]);
    bench.model.then(vec![Say::Call("a", json!({"n": "many"})), Say::Call("nope", json!({}))]);
    bench.model.then(vec![Say::Text("sorry")]);
    let (status, text) = status_and_text(&bench.ask("go").await);
    assert_eq!((status, text.as_str()), (TurnStatus::Ok, "sorry"));
    assert_eq!(bench.outcomes().await, [ToolOutcome::Error, ToolOutcome::Error]);
    assert!(bench.runs().is_empty());
}

#[tokio::test(start_paused = true)]
async fn invalid_tool_names_from_the_model_are_replaced_in_later_requests() {
    let bench = Bench::new(vec![tool("a", Effect::ReadOnly)]);
    let long = "n".repeat(80);
    bench.model.then(vec![
        Say::Call("no such tool", json!({})),
        Say::Call("", json!({})),
        Say::Call(long.leak(), json!({})),
    ]);
    bench.model.then(vec![Say::Text("sorry")]);
    bench.ask("go").await;
    assert_eq!(bench.outcomes().await, [ToolOutcome::Error; 3]);
    let requests = bench.model.requests.lock().unwrap();
    let called = |m: &Message| {
        if let Message::Assistant { calls, .. } = m {
            calls.iter().map(|call| call.name.to_string()).collect()
        } else {
            Vec::new()
        }
    };
    let names: Vec<String> = requests[1].messages.iter().flat_map(called).collect();
    assert_eq!(names, ["no_such_tool".to_owned(), "unnamed".to_owned(), "n".repeat(64)]);
}

#[tokio::test(start_paused = true)]
async fn a_call_matches_an_offered_tool_name_before_any_tool_id() {
    let (mut one, mut other) =
        (tool("one.list", Effect::ReadOnly), tool("one_list", Effect::ReadOnly));
    (one.model_name, other.model_name) = ("one_list".into(), "one_list_2".into());
    let bench = Bench::new(vec![one, other]);
    bench.model.then(vec![Say::Call("one_list", json!({}))]);
    bench.model.then(vec![Say::Call("one.list", json!({"n": 1}))]);
    bench.model.then(vec![Say::Call("one list", json!({"n": 2}))]);
    bench.model.then(vec![Say::Text("done")]);
    bench.ask("go").await;
    assert_eq!(bench.runs(), ["one.list", "one.list"], "by its name and by its id");
    assert_eq!(
        bench.outcomes().await,
        [ToolOutcome::Ok, ToolOutcome::Ok, ToolOutcome::Error],
        "a name that is nearly one is none"
    );
}

#[tokio::test(start_paused = true)]
async fn a_second_message_is_shown_as_queued_and_answered_next() {
    let bench = Bench::new(vec![]);
    bench.model.then(vec![Say::Text("first"), Say::Hang]);
    let first = bench.start("one").await;
    bench
        .wait_for(|events| {
            events.iter().any(|e| matches!(e.event, EventBody::Delta { .. })).then_some(())
        })
        .await;
    let second = bench.start("two").await;
    let third = bench.start("three").await;
    assert!(!first.queued && second.queued && third.queued);
    let view = bench.engine.sessions.open(&"s".into()).await.unwrap();
    assert_eq!(view.queue.iter().map(|q| q.text.as_str()).collect::<Vec<_>>(), ["two", "three"]);
    bench
        .engine
        .turns
        .cancel(&TurnCancelParams { session: "s".into(), turn: third.turn })
        .await
        .unwrap();
    bench
        .engine
        .turns
        .cancel(&TurnCancelParams { session: "s".into(), turn: first.turn.clone() })
        .await
        .unwrap();
    let (status, text) = status_and_text(&bench.final_of(&first.turn).await);
    assert_eq!((status, text.as_str()), (TurnStatus::Cancelled, "first"));
    assert_eq!(status_and_text(&bench.final_of(&second.turn).await).0, TurnStatus::Ok);
    let texts: Vec<String> = bench
        .items()
        .await
        .into_iter()
        .filter_map(|i| if let ItemBody::UserMessage { text } = i.body { Some(text) } else { None })
        .collect();
    assert_eq!(texts, ["one", "two"]);
}

// In real time, because the store's threads write during the wait.
#[tokio::test]
async fn a_queued_message_of_a_caller_ends_when_the_caller_leaves_or_the_engine_stops() {
    let bench = Bench::new(vec![]);
    bench.model.then(vec![Say::Text("first"), Say::Hang]);
    bench.start("one").await;
    bench
        .wait_for(|events| {
            events.iter().any(|e| matches!(e.event, EventBody::Delta { .. })).then_some(())
        })
        .await;
    let options = |locale: &str| engine::TurnOptions {
        locale: locale.into(),
        caller: contract::Caller::chat_api([].into(), Limits::default()),
        request_id: "r".into(),
        correlation_id: None,
        hints: Vec::new(),
        whole: true,
        preflight_tools: &[],
    };
    for (locale, leaves, said) in [("en", true, "Stopped."), ("sv", false, "Stoppad.")] {
        let mut stream = bench
            .engine
            .caller_turns
            .start(&"s".into(), "two".into(), None, options(locale))
            .await
            .unwrap();
        assert_eq!(bench.engine.sessions.open(&"s".into()).await.unwrap().queue.len(), 1);
        if leaves {
            stream.cancel()
        } else {
            bench.engine.turns.cancel_all()
        }
        let end = tokio::time::timeout(Duration::from_secs(5), stream.next())
            .await
            .expect("it is told at once")
            .expect("an event");
        assert_eq!(status_and_text(&end), (TurnStatus::Cancelled, said.into()));
        assert!(bench.engine.sessions.open(&"s".into()).await.unwrap().queue.is_empty());
        let stored = async || {
            bench.world.store.session_values(&"s".into()).await.unwrap().contains_key("$queue")
        };
        // The next start reports messages that were still waiting when the process ended.
        while leaves && stored().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn opening_a_long_conversation_includes_its_newest_pinned_results() {
    let view = |declared: Value| serde_json::from_value::<ResultView>(declared).unwrap();
    let cart = view(json!({"shape": "named", "pack": "test", "view": "cart", "pinned": true}));
    let table = view(json!({"shape": "table", "columns": [{"field": "n"}], "pinned": true}));
    let bench = Bench::new(vec![
        ToolSpec { view: cart.clone(), ..tool("w", Effect::Write) },
        ToolSpec { view: table.clone(), ..tool("stations", Effect::ReadOnly) },
    ]);
    // Earlier versions stored only the name of the view.
    let (old_cart, old_product) = (view(json!("cart")), view(json!("product")));
    let item = |n: usize, body| Item {
        id: ItemId(format!("i{n}")),
        session: "s".into(),
        turn: "t".into(),
        seq: 0,
        created_at: bench.world.clock.now(),
        body,
    };
    let result = |n: usize, outcome, tool: &str, view: &ResultView| {
        let data = json!({"n": n});
        item(
            n,
            ItemBody::ToolResult {
                call: format!("c{n}").as_str().into(),
                tool: tool.into(),
                outcome,
                summary: String::new(),
                data,
                error: None,
                local_only: Some(false),
                view: view.clone(),
                parsed: None,
                untrusted: false,
                duration_ms: 0,
            },
        )
    };
    let said = |n: usize| item(n, ItemBody::UserMessage { text: r#""view":"cart""#.into() });
    bench.world.store.session_create(&"s".into(), "S", bench.world.clock.now()).await.unwrap();
    let mut items = vec![
        result(0, ToolOutcome::Ok, "w", &cart),
        result(1, ToolOutcome::Ok, "w", &old_cart),
        result(2, ToolOutcome::Error, "w", &cart),
        result(3, ToolOutcome::Ok, "w", &old_product),
        result(4, ToolOutcome::Ok, "stations", &table),
        result(5, ToolOutcome::Ok, "other", &table),
    ];
    items.extend((6..80).map(said));
    bench.world.store.items_append(items).await.unwrap();
    let pinned = async || bench.engine.sessions.open(&"s".into()).await.unwrap().pinned;
    let views = |items: &[Item]| -> Vec<(String, bool)> {
        let shown = |item: &Item| match &item.body {
            ItemBody::ToolResult { view, .. } => (item.id.0.clone(), view.pinned),
            other => panic!("{other:?}"),
        };
        items.iter().map(shown).collect()
    };
    let newest = [("i1".to_owned(), true), ("i4".to_owned(), true)];
    assert_eq!(views(&pinned().await), newest, "the newest that went well, of each place");
    let now = vec![result(80, ToolOutcome::Ok, "w", &old_cart)];
    bench.world.store.items_append(now).await.unwrap();
    assert_eq!(views(&pinned().await), newest[1..], "the cart is among the items");
    let page = bench.engine.sessions.open(&"s".into()).await.unwrap().items;
    let last = page.last().unwrap();
    assert_eq!(views(std::slice::from_ref(last)), [("i80".to_owned(), true)]);
}

#[tokio::test(start_paused = true)]
async fn earlier_turns_are_sent_with_paired_calls_and_only_within_the_window() {
    let bench = Bench::new(vec![tool("a", Effect::ReadOnly)]);
    for n in 0..15 {
        bench.model.then(vec![Say::Call("a", json!({"n": n}))]);
        bench.model.then(vec![Say::Text("answer")]);
        bench.ask(&format!("question {n}")).await;
    }
    let requests = bench.model.requests.lock().unwrap();
    let last = &requests[requests.len() - 1].messages;
    let users = last.iter().filter(|m| matches!(m, Message::User { .. })).count();
    assert_eq!(users, 11, "twenty messages of before, and the new one");
}

/// Returns the user messages in a request.
fn users(request: &ModelRequest) -> Vec<String> {
    request
        .messages
        .iter()
        .filter_map(|m| if let Message::User { text } = m { Some(text.to_string()) } else { None })
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_conversation_refused_as_too_long_is_sent_again_without_its_oldest_turns() {
    let bench = Bench::new(vec![tool("a", Effect::ReadOnly)]);
    for n in 1..=4 {
        bench.model.then(vec![Say::Call("a", json!({"n": n}))]);
        bench.model.then(vec![Say::Text("answer")]);
        bench.ask(&format!("q{n}")).await;
    }
    let too_long = || vec![Say::Fail(ModelErrorKind::TooLong)];
    bench.model.then(too_long());
    bench.model.then(vec![Say::Call("a", json!({"n": 5}))]);
    bench.model.then(vec![Say::Text("fits")]);
    bench.profile.settings.lock().unwrap().limits.model_calls = 2;
    bench.pushed.events.lock().unwrap().clear();
    assert_eq!(status_and_text(&bench.ask("q5").await), (TurnStatus::Ok, "fits".into()));
    let thinking = |event: &&TurnEvent| {
        matches!(event.event, EventBody::Status { stage: Stage::Thinking, .. })
    };
    assert_eq!(
        bench.pushed.events.lock().unwrap().iter().filter(thinking).count(),
        2,
        "what is refused is asked once, also where calls are counted"
    );
    let asked = || std::mem::take(&mut *bench.model.requests.lock().unwrap());
    assert!(!bench.model.requests.lock().unwrap()[9].tools.is_empty());
    let sent: Vec<_> = asked().iter().skip(8).map(users).collect();
    assert_eq!(
        sent,
        [vec!["q1", "q2", "q3", "q4", "q5"], vec!["q3", "q4", "q5"], vec!["q3", "q4", "q5"]]
    );
    let told = async || {
        bench.items().await.iter().filter(|item| matches!(&item.body, ItemBody::Notice { code, .. } if code == "oldest_left_out")).count()
    };
    assert_eq!(told().await, 1);

    // The newest message is always sent. If it is too long by itself, the turn ends with an error.
    for _ in 0..4 {
        bench.model.then(too_long());
    }
    let (status, _) = status_and_text(&bench.ask("q6").await);
    assert_eq!(status, TurnStatus::Error);
    assert_eq!(
        asked().iter().map(|request| users(request).len()).collect::<Vec<_>>(),
        [6, 3, 2, 1]
    );
    assert_eq!(told().await, 2);
}

#[tokio::test(start_paused = true)]
async fn whitespace_beside_calls_is_not_part_of_the_answer() {
    let bench = Bench::new(vec![tool("a", Effect::ReadOnly)]);
    bench.model.then(vec![Say::Text("\n"), Say::Text("\n"), Say::Call("a", json!({}))]);
    bench.model.then(vec![
        Say::Text("\n\n"),
        Say::Text("  Hel"),
        Say::Text("lo. "),
        Say::Text("\n"),
    ]);
    let turn = bench.start("Hi").await.turn;
    assert_eq!(status_and_text(&bench.final_of(&turn).await).1, "  Hello. \n");
    assert!(
        !bench.event_names(&turn)[..6].contains(&"delta".to_owned()),
        "{:?}",
        bench.event_names(&turn)
    );
    assert_eq!(
        bench
            .items()
            .await
            .iter()
            .filter(|item| matches!(item.body, ItemBody::AssistantText { .. }))
            .count(),
        1
    );
}

#[tokio::test(start_paused = true)]
async fn the_first_line_of_an_answer_keeps_its_indentation() {
    let bench = Bench::new(vec![]);
    bench.model.then(vec![
        Say::Text(" \n"),
        Say::Text("  "),
        Say::Text("  let a = 1;\n"),
        Say::Text("    let b = 2;"),
    ]);
    assert_eq!(status_and_text(&bench.ask("Hi").await).1, "    let a = 1;\n    let b = 2;");
}

#[tokio::test(start_paused = true)]
async fn an_answer_cut_by_its_provider_says_so() {
    for (finish, why) in [
        (Finish::Length, "The answer ends here: the longest"),
        (Finish::ContentFilter, "The answer ends here: the provider"),
    ] {
        let bench = Bench::new(vec![]);
        bench.model.then(vec![Say::Text("Half of"), Say::Ends(finish)]);
        let turn = bench.start("Hi").await.turn;
        let (status, text) = status_and_text(&bench.final_of(&turn).await);
        assert!(
            status == TurnStatus::Ok && text.starts_with(&format!("Half of\n\n{why}")),
            "{text}"
        );
        let deltas = bench
            .pushed
            .events
            .lock()
            .unwrap()
            .iter()
            .filter_map(|e| {
                if let EventBody::Delta { text } = &e.event { Some(text.clone()) } else { None }
            })
            .collect::<String>();
        assert_eq!(deltas, text);
        assert!(bench.items().await.iter().any(
            |item| matches!(&item.body, ItemBody::AssistantText { text: kept, .. } if *kept == text)
        ));
    }
}

#[tokio::test(start_paused = true)]
async fn the_note_on_a_cut_answer_is_placed_outside_its_code_block() {
    let bench = Bench::new(vec![]);
    bench.model.then(vec![Say::Text("```rust\nlet a"), Say::Ends(Finish::Length)]);
    assert!(
        status_and_text(&bench.ask("Hi").await)
            .1
            .starts_with("```rust\nlet a\n```\n\nThe answer ends here:")
    );
}

#[tokio::test(start_paused = true)]
async fn disabling_the_agent_refuses_new_turns_and_stops_running_ones() {
    let bench = Bench::new(vec![tool("a", Effect::ReadOnly)]);
    bench.profile.settings.lock().unwrap().agent_enabled = false;
    let params = TurnStartParams {
        session: None,
        text: "go".into(),
        model: None,
        agent: None,
        headless: false,
        replaces: None,
    };
    let refused = bench.engine.turns.start(contract::Caller::inside(), params).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::AgentDisabled);
    assert!(refused.hint_text().is_some());
}

#[tokio::test(start_paused = true)]
async fn empty_and_overlong_messages_are_refused_with_a_reason() {
    let bench = Bench::new(vec![]);
    for text in ["   ", &"x".repeat(20_001)] {
        let params = TurnStartParams {
            session: None,
            text: text.into(),
            model: None,
            agent: None,
            headless: false,
            replaces: None,
        };
        assert_eq!(
            bench.engine.turns.start(contract::Caller::inside(), params).await.unwrap_err().code,
            ErrorCode::InvalidInput
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_accepts_no_message_while_it_is_erased() {
    let bench = Bench::new(vec![]);
    bench.ask("hello").await;
    while bench.engine.turns.running() > 0 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let closed = bench.engine.sessions.erase(&"s".into()).await.unwrap();
    let message = || TurnStartParams {
        session: Some("s".into()),
        text: "hello again".into(),
        model: None,
        agent: None,
        headless: false,
        replaces: None,
    };
    let refused =
        bench.engine.turns.start(contract::Caller::inside(), message()).await.unwrap_err();
    assert!(refused.message.contains("being deleted"), "{refused:?}");
    assert!(bench.world.store.session(&"s".into()).await.unwrap().is_none());
    let twice = bench.engine.sessions.delete(&"s".into()).await.unwrap_err();
    assert!(twice.message.contains("being deleted"), "{twice:?}");
    drop(closed);
    let turn = bench.engine.turns.start(contract::Caller::inside(), message()).await.unwrap().turn;
    bench.final_of(&turn).await;
}
