//! Tests models as people run them: data that they require back, visible thoughts, no or few
//! supported tools, slow answers, and crashes in the middle.

use std::{
    sync::Arc,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use contract::*;
use engine::{Engine, ports::*};
use serde_json::{Value, json};

use crate::world::{Bench, Say, status_and_text, tool};

const MAKER: &str = "Chat 127.0.0.1:1234 m";

fn opaque(message: Value, calls: Value) -> Say {
    let data = json!({"message": message, "calls": calls});
    let opaque = Opaque { maker: MAKER.into(), data: data.into() };
    Say::Event(Box::new(Ok(ModelEvent::Opaque(opaque))))
}

/// Returns the data that is returned to the model in the request of this number, by message.
fn back(bench: &Bench, request: usize) -> Vec<Value> {
    let requests = bench.model.requests.lock().unwrap();
    let of = |message: &Message| match message {
        Message::Assistant { opaque: Some(opaque), .. } => {
            assert_eq!(opaque.maker, MAKER);
            Some((*opaque.data).clone())
        }
        _ => None,
    };
    requests[request].messages.iter().filter_map(of).collect()
}

fn notices(items: &[Item]) -> Vec<String> {
    let code = |item: &Item| match &item.body {
        ItemBody::Notice { code, .. } => Some(code.clone()),
        _ => None,
    };
    items.iter().filter_map(code).collect()
}

#[tokio::test(start_paused = true)]
async fn opaque_members_of_a_model_server_are_sent_back_in_this_and_later_turns() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly), tool("s", Effect::ReadOnly)]);
    let message = json!({"reasoning_content": "My mail is a@b.example\u{1}"});
    let calls = json!([{"extra": {"signature": "E=="}}, null]);
    bench.model.then(vec![
        Say::Call("r", json!({})),
        Say::Call("s", json!({})),
        opaque(message.clone(), calls.clone()),
    ]);
    let answered = json!({"reasoning_details": [{"text": "So.", "index": 0}]});
    bench.model.then(vec![Say::Text("On track."), opaque(answered.clone(), json!([]))]);
    bench.ask("go").await;
    bench.ask("and now?").await;
    let of_calls = json!({"message": message, "calls": calls});
    let of_answer = json!({"message": answered, "calls": [null]});
    assert_eq!(back(&bench, 1), std::slice::from_ref(&of_calls));
    assert_eq!(back(&bench, 2), [of_calls, of_answer], "unchanged, from the store");
    // The data is not part of what people see.
    let page = bench
        .engine
        .sessions
        .items_page(&ItemsPageParams { session: "s".into(), before: u64::MAX, limit: 50 })
        .await
        .unwrap();
    let shown = serde_json::to_string(&page.items).unwrap();
    let told = serde_json::to_string(&*bench.pushed.events.lock().unwrap()).unwrap();
    for text in [shown, told] {
        assert!(!text.contains("signature") && !text.contains("reasoning_details"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn opaque_members_with_a_key_that_became_known_later_are_not_sent_back() {
    const LATER: &str = "sk-live-4f9a81c2b7e3d650";
    let bench = Bench::new(vec![]);
    let thoughts = json!({"reasoning_content": format!("It is {LATER}.")});
    bench.model.then(vec![Say::Text("Yes."), opaque(thoughts, json!([]))]);
    bench.ask("one").await;
    bench.ask("two").await;
    assert_eq!(back(&bench, 1).len(), 1);
    bench.secrets.0.lock().unwrap().push(LATER.into());
    bench.ask("three").await;
    assert!(back(&bench, 2).is_empty());
}

#[tokio::test(start_paused = true)]
async fn text_declared_as_thoughts_is_not_part_of_the_answer() {
    let bench = Bench::new(vec![]);
    bench.model.then(vec![
        Say::Text("Hm, so."),
        Say::Event(Box::new(Ok(ModelEvent::WasThought))),
        Say::Text("\n\nYes."),
    ]);
    let turn = bench.start("go").await.turn;
    assert_eq!(status_and_text(&bench.final_of(&turn).await), (TurnStatus::Ok, "Yes.".into()));
    let thoughts =
        bench.pushed.events.lock().unwrap().iter().any(
            |event| matches!(&event.event, EventBody::Reasoning { text } if text == "Hm, so."),
        );
    assert!(thoughts);
    bench.ask("again").await;
    let sent = format!("{:?}", bench.model.requests.lock().unwrap()[1].messages);
    assert!(sent.contains("Yes.") && !sent.contains("Hm, so."), "{sent}");
}

#[tokio::test(start_paused = true)]
async fn a_status_is_shown_while_a_model_is_loading() {
    let bench = Bench::new(vec![]);
    bench.model.then(vec![Say::Event(Box::new(Ok(ModelEvent::Loading))), Say::Text("Yes.")]);
    bench.ask("go").await;
    let events = bench.pushed.events.lock().unwrap();
    let told: Vec<&Option<String>> = events
        .iter()
        .filter_map(|event| match &event.event {
            EventBody::Status { stage: Stage::Retrying | Stage::Thinking, text } => Some(text),
            _ => None,
        })
        .collect();
    assert_eq!(told, [&None, &Some("The model is being loaded.".into()), &None]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_refuses_tools_is_asked_without_and_this_is_noted_once() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    bench.secrets.0.lock().unwrap().push("sk-live-4f9a81c2b7e3d650".into());
    bench.model.refuses.store(true, Ordering::SeqCst);
    for text in ["hello", "hello again"] {
        assert_eq!(status_and_text(&bench.ask(text).await).1, "done");
    }
    let items = bench.items().await;
    assert_eq!(notices(&items), ["model_without_tools"]);
    assert!(format!("{items:?}").contains("The server said: “<secret> has no tools”"));
    {
        let requests = bench.model.requests.lock().unwrap();
        assert!(requests.iter().all(|request| request.tools.is_empty()));
    }
    let params = PromptPreviewParams { question: "hello".into(), agent: None };
    let preview = bench.engine.prompt_previews.compute(&params).await.unwrap();
    let sent = bench.prompt(0);
    for part in preview.parts.iter().filter(|part| part.part != PromptPart::DateTime) {
        assert!(sent.contains(&part.text), "{:?}", part.part);
    }
}

#[tokio::test(start_paused = true)]
async fn a_conversation_notes_once_that_its_model_supports_no_tools() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    let without = ModelCapabilities { tools: false, ..ModelCapabilities::default() };
    *bench.model.capabilities.lock().unwrap() = Some(without);
    for text in ["hello", "hello again"] {
        assert_eq!(status_and_text(&bench.ask(text).await).1, "done");
    }
    let items = bench.items().await;
    assert_eq!(notices(&items), ["model_without_tools"]);
    assert!(format!("{items:?}").contains("script takes no tools. It answers without them."));
}

/// Counts the notices for the operator in the log of this thread.
struct Notices(Arc<AtomicUsize>);

impl tracing::Subscriber for Notices {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        if event.metadata().fields().field("code").is_some() {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test(start_paused = true)]
async fn the_log_output_says_once_per_turn_that_a_model_refuses_tools() {
    let told = Arc::new(AtomicUsize::new(0));
    let _log = tracing::subscriber::set_default(Notices(Arc::clone(&told)));
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    bench.model.refuses.store(true, Ordering::SeqCst);
    bench.model.then(vec![Say::Call("r", json!({}))]);
    assert!(bench.waiting_after_caller_turn("en", &[]).await.is_none());
    assert!(bench.model.requests.lock().unwrap().len() > 1, "the model was asked again");
    assert_eq!(told.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_models_refusal_of_tools_is_remembered_after_a_restart() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    bench.model.refuses.store(true, Ordering::SeqCst);
    bench.ask("hello").await;
    bench.model.refuses.store(false, Ordering::SeqCst);
    let next = Engine::new(bench.world.clone());
    next.recover().await.unwrap();
    let params = PromptPreviewParams { question: "hello".into(), agent: None };
    next.prompt_previews.compute(&params).await.unwrap();
    assert!(bench.model.refuses.load(Ordering::SeqCst), "it was told");
}

#[tokio::test(start_paused = true)]
async fn a_connection_test_clears_a_models_remembered_refusal_of_tools() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    bench.model.refuses.store(true, Ordering::SeqCst);
    bench.ask("hello").await;
    bench.engine.models.forget_refusals().await;
    bench.model.refuses.store(false, Ordering::SeqCst);
    let next = Engine::new(bench.world.clone());
    next.recover().await.unwrap();
    let params = PromptPreviewParams { question: "hello".into(), agent: None };
    for engine in [&bench.engine, &next] {
        engine.prompt_previews.compute(&params).await.unwrap();
        assert!(!bench.model.refuses.load(Ordering::SeqCst), "nobody told it");
    }
}

#[tokio::test(start_paused = true)]
async fn a_remembered_refusal_of_tools_keeps_the_time_of_its_first_occurrence() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    let at = bench.world.clock.now();
    *bench.model.refused_at.lock().unwrap() = at;
    bench.model.refuses.store(true, Ordering::SeqCst);
    for _ in 0..25 {
        bench.ask("hello").await;
        bench.clock.forward(3_600);
    }
    bench.model.refuses.store(false, Ordering::SeqCst);
    *bench.model.refused_at.lock().unwrap() = bench.world.clock.now();
    let next = Engine::new(bench.world.clone());
    next.recover().await.unwrap();
    let params = PromptPreviewParams { question: "hello".into(), agent: None };
    next.prompt_previews.compute(&params).await.unwrap();
    assert_eq!(*bench.model.refused_at.lock().unwrap(), at, "it is told of the first time");
}

#[tokio::test(start_paused = true)]
async fn specialists_are_not_asked_if_their_model_supports_no_tools() {
    let agents = vec![crate::world::agent("a", &["r"]), crate::world::agent("b", &["s"])];
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly), tool("s", Effect::ReadOnly)])
        .with(agents)
        .with_assistant();
    bench.model.refuses.store(true, Ordering::SeqCst);
    bench.model.then(vec![Say::Text("Hello.")]);
    assert_eq!(status_and_text(&bench.ask("hello").await).1, "Hello.");
    assert_eq!(bench.model.requests.lock().unwrap().len(), 1);
}

/// Returns a tool of an added server.
fn of_server(at: usize) -> ToolSpec {
    let mut spec = tool(&format!("t{at}"), Effect::ReadOnly);
    spec.pack = if at < 40 { "small".into() } else { "large".into() };
    spec.target = ToolTarget::Mcp { server: "s".into(), tool: format!("t{at}") };
    spec
}

#[tokio::test(start_paused = true)]
async fn tools_beyond_the_providers_maximum_are_left_out() {
    for (most, sent, left) in [(128, 126, 75), (3, 1, 200), (1_000, 201, 0)] {
        let own = tool("own", Effect::ReadOnly);
        let bench = Bench::new((0..200).map(of_server).chain([own]).collect());
        *bench.model.most_tools.lock().unwrap() = Some(most);
        bench.ask("one").await;
        bench.ask("two").await;
        let items = bench.items().await;
        let told: Vec<String> = items
            .iter()
            .filter_map(|item| match &item.body {
                ItemBody::Notice { text, .. } => Some(text.to_string()),
                _ => None,
            })
            .collect();
        let requests = bench.model.requests.lock().unwrap();
        assert_eq!(requests[0].tools.len(), sent);
        assert!(requests[0].tools.iter().any(|tool| tool.name.as_str() == "own"), "packs first");
        let servers = if most == 3 { "large, small" } else { "large" };
        let line =
            format!("script takes at most {most} tools. {left} were left out, of: {servers}.");
        assert_eq!(told, if left == 0 { vec![] } else { vec![line] });
    }
}

#[tokio::test(start_paused = true)]
async fn time_of_the_model_does_not_count_against_the_turns_deadline() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    bench.profile.settings.lock().unwrap().limits.deadline_s = 3_000_000;
    let told = Arc::new(tokio::sync::Notify::new());
    bench.model.then(vec![Say::Until(Arc::clone(&told)), Say::Call("r", json!({}))]);
    let turn = bench.start("go").await.turn;
    while bench.model.requests.lock().unwrap().is_empty() {
        std::thread::sleep(Duration::from_millis(1));
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_secs(9_000_000)).await;
    told.notify_one();
    bench.final_of(&turn).await;
    assert_eq!(bench.runs(), ["r"], "there was time left");
}

/// Sends a message, waits until the text is stored, and opens the same store like the next process.
async fn killed(bench: &Bench, says: Vec<Say>, is_there: impl Fn(&SessionValues) -> bool) {
    bench.model.then(says);
    bench.start("go").await;
    loop {
        let values = bench.world.store.session_values(&"s".into()).await.unwrap_or_default();
        if is_there(&values) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Engine::new(bench.world.clone()).recover().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_partial_text_of_an_answer_is_kept_after_a_kill_and_marked() {
    let bench = Bench::new(vec![]);
    let has_all = |values: &SessionValues| {
        values.get("$partial").is_some_and(|value| value.to_string().contains("of the answer"))
    };
    let says = vec![Say::Text("Most "), Say::Text("of the answer"), Say::Hang];
    killed(&bench, says, has_all).await;
    let items = bench.items().await;
    assert!(
        matches!(&items[1].body, ItemBody::AssistantText { text, partial: true, .. } if text == "Most of the answer"),
        "{items:?}"
    );
    assert_eq!(notices(&items), ["turn_interrupted"]);
    let values = bench.world.store.session_values(&"s".into()).await.unwrap();
    assert!(!values.contains_key("$partial"));
}

#[tokio::test(start_paused = true)]
async fn text_already_shown_is_kept_wherever_an_answer_is_killed() {
    let was_thought = || Say::Event(Box::new(Ok(ModelEvent::WasThought)));
    let first = || vec![Say::Text("I look."), Say::Call("r", json!({}))];
    type Case = (&'static str, Option<Vec<Say>>, Vec<Say>, &'static [(&'static str, bool)]);
    let cases: [Case; 3] = [
        (
            "after a call",
            Some(first()),
            vec![Say::Text("It is "), Say::Text("on track"), Say::Hang],
            &[("I look.", false), ("It is on track", true)],
        ),
        (
            "after thoughts that came as text",
            None,
            vec![Say::Text("Hm, so."), was_thought(), Say::Text("It is on track"), Say::Hang],
            &[("It is on track", true)],
        ),
        (
            "and two processes start after it",
            None,
            vec![Say::Text("It is on track"), Say::Hang],
            &[("It is on track", true)],
        ),
    ];
    for (when, before, says, texts) in cases {
        let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
        if let Some(before) = before {
            bench.model.then(before);
        }
        let has_all = |values: &SessionValues| {
            values.get("$partial").is_some_and(|value| value.to_string().contains("on track"))
        };
        killed(&bench, says, has_all).await;
        if when.starts_with("and") {
            // The next processes show the notice once.
            Engine::new(bench.world.clone()).recover().await.unwrap();
        }
        let items = bench.items().await;
        let kept: Vec<(&str, bool)> = items
            .iter()
            .filter_map(|item| match &item.body {
                ItemBody::AssistantText { text, partial, .. } => Some((text.as_str(), *partial)),
                _ => None,
            })
            .collect();
        assert_eq!(kept, texts, "{when}");
        assert_eq!(notices(&items), ["turn_interrupted"], "{when}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_completed_answer_leaves_no_stored_partial_text() {
    let bench = Bench::new(vec![]);
    let told = Arc::new(tokio::sync::Notify::new());
    bench.model.then(vec![
        Say::Text("Half"),
        Say::Until(Arc::clone(&told)),
        Say::Text(" and half"),
    ]);
    let turn = bench.start("go").await.turn;
    while !bench
        .world
        .store
        .session_values(&"s".into())
        .await
        .unwrap_or_default()
        .contains_key("$partial")
    {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    told.notify_one();
    assert_eq!(status_and_text(&bench.final_of(&turn).await).1, "Half and half");
    let values = bench.world.store.session_values(&"s".into()).await.unwrap();
    assert!(!values.contains_key("$partial"));
}

#[tokio::test(start_paused = true)]
async fn after_a_cancelled_turn_the_model_reads_a_note_instead_of_an_answer() {
    let bench = Bench::new(vec![]);
    bench.model.then(vec![Say::Hang]);
    let turn = bench.start("first").await.turn;
    while bench.model.requests.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let params = TurnCancelParams { session: "s".into(), turn: turn.clone() };
    bench.engine.turns.cancel(&params).await.unwrap();
    bench.final_of(&turn).await;
    bench.ask("second").await;
    let requests = bench.model.requests.lock().unwrap();
    let said: Vec<String> = requests[1].messages[1..]
        .iter()
        .map(|message| match message {
            Message::User { text } | Message::Assistant { text, .. } => text.to_string(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(said, ["first", "(No answer: it was stopped.)", "second"]);
}

#[tokio::test(start_paused = true)]
async fn the_beginning_of_requests_stays_identical_across_messages_for_caching() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    for text in ["one", "two", "three"] {
        bench.ask(text).await;
        bench.clock.forward(61);
    }
    let requests = bench.model.requests.lock().unwrap();
    for pair in requests.windows(2) {
        assert_eq!(pair[0].tools, pair[1].tools);
        let lasting = |request: &ModelRequest| {
            let Message::System { text } = &request.messages[0] else { panic!("a prompt") };
            assert!(request.passing.contains("local time"));
            text.strip_suffix(&*request.passing).unwrap().to_owned()
        };
        assert_eq!(lasting(&pair[0]), lasting(&pair[1]));
        let before = &pair[0].messages[1..];
        assert_eq!(before, &pair[1].messages[1..=before.len()], "the conversation so far");
    }
}
