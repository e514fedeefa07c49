//! Tests of the text that is sent to a model and returned, and of its form for a person and in the
//! log.

use std::sync::{Arc, atomic::Ordering};

use contract::*;
use engine::{Engine, ports::*};
use serde_json::{Value, json};

use crate::world::{Bench, Say, status_and_text, tool, tool_of_memories};

const MAIL: &str = "anna.berg@example.com";
const KEY: &str = "Xk29fLm3QpZr81TbVw6Y";

/// Returns the complete text of a request that a provider could send.
fn outgoing(request: &ModelRequest) -> String {
    let mut out = String::new();
    for message in &request.messages {
        match message {
            Message::System { text } | Message::User { text } => out.push_str(text),
            Message::Assistant { text, calls, .. } => {
                out.push_str(text);
                calls
                    .iter()
                    .for_each(|call| out.push_str(&format!("{}{}", call.name, call.arguments)));
            }
            Message::Tool { name, content, data, .. } => {
                out.push_str(&format!("{name}{content}{}", json!(data)))
            }
        }
        out.push('\n');
    }
    for tool in &request.tools {
        out.push_str(&format!("{}{}{}\n", tool.name, tool.description, json!(tool.parameters)));
    }
    out
}

fn requests(bench: &Bench) -> Vec<String> {
    bench.model.requests.lock().unwrap().iter().map(outgoing).collect()
}

fn level(bench: &Bench, level: RedactionLevel) {
    bench.profile.settings.lock().unwrap().egress.redaction = level;
}

async fn counts(bench: &Bench) -> Vec<Vec<RedactionCount>> {
    let of = |item: Item| {
        if let ItemBody::Redaction { counts, .. } = item.body { Some(counts) } else { None }
    };
    bench.items().await.into_iter().filter_map(of).collect()
}

#[tokio::test(start_paused = true)]
async fn requests_contain_placeholders_only_and_answers_contain_original_values_only() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    bench.tools.behaviours.lock().unwrap().insert(
        "r".into(),
        Box::new(|_| Ok(json!({"owner": "bo@example.com", "phone": "+46 70 123 45 67", "n": 7}))),
    );
    bench
        .model
        .then(vec![Say::Text("Looking up <email_1>."), Say::Call("r", json!({"q": "<email_1>"}))]);
    bench.model.then(vec![
        Say::Text("It is <em"),
        Say::Text("ail_2"),
        Say::Text("> at <phone_1>, not <email_9>."),
    ]);
    let turn = bench.start(&format!("Who owns {MAIL}?")).await.turn;
    let (_, text) = status_and_text(&bench.final_of(&turn).await);
    assert_eq!(text, "It is bo@example.com at +46 70 123 45 67, not <email_9>.");
    bench.ask("And again?").await;
    for request in requests(&bench) {
        assert!(!request.contains("example.com") && !request.contains("123 45"), "{request}");
        assert!(request.contains("Who owns <email_1>?"));
    }
    let events = bench.pushed.events.lock().unwrap().clone();
    let deltas: String = events
        .iter()
        .filter_map(|e| {
            if let EventBody::Delta { text } = &e.event { Some(text.as_str()) } else { None }
        })
        .collect();
    assert!(deltas.starts_with(&format!("Looking up {MAIL}.It is bo@example.com")), "{deltas}");
    assert!(
        !events.iter().any(|e| e.turn == turn
            && matches!(e.event, EventBody::Status { stage: Stage::OutputReplaced, .. })),
        "deltas and final agree"
    );
    assert_eq!(bench.tools.runs.lock().unwrap()[0].1["q"], MAIL, "the tool got the real value");
    let items = bench.items().await;
    assert!(
        matches!(&items[0].body, ItemBody::UserMessage { text } if text.contains(MAIL)),
        "what is stored is what was written"
    );
}

#[tokio::test(start_paused = true)]
async fn a_turn_shows_how_many_values_were_redacted_but_no_value() {
    let bench = Bench::new(vec![]);
    bench.ask("hello").await;
    assert!(counts(&bench).await.is_empty(), "nothing was held back, nothing is said");
    bench.ask(&format!("{MAIL} and c@example.com and card 4111 1111 1111 1111, {MAIL}")).await;
    let seen = counts(&bench).await;
    assert_eq!(
        seen,
        [vec![
            RedactionCount { kind: RedactionKind::Email, count: 2 },
            RedactionCount { kind: RedactionKind::Card, count: 1 }
        ]]
    );
    let items = bench.items().await;
    let at =
        |wanted: fn(&ItemBody) -> bool| items.iter().rposition(|item| wanted(&item.body)).unwrap();
    assert!(
        at(|b| matches!(b, ItemBody::Redaction { .. }))
            < at(|b| matches!(b, ItemBody::AssistantText { .. })),
        "above the answer"
    );
    let said = items
        .iter()
        .filter(|i| matches!(i.body, ItemBody::Redaction { .. }))
        .map(|i| json!(i).to_string())
        .collect::<String>();
    assert!(!said.contains("example"));
}

#[tokio::test(start_paused = true)]
async fn an_approval_shows_and_records_original_values() {
    let bench = Bench::new(vec![tool("w", Effect::Write)]);
    bench.model.then(vec![Say::Call("w", json!({"q": "to <email_1>, not <email_2>"}))]);
    bench.model.then(vec![Say::Text("sent to <email_1>")]);
    let turn = bench.start(&format!("Write to {MAIL}")).await.turn;
    let approval = bench.approval(0).await;
    assert_eq!(approval.arguments, format!(r#"{{"q":"to {MAIL}, not <email_2>"}}"#));
    bench.decide(&approval, Decision::ApproveOnce { confirm_word: None }).await.unwrap();
    let (_, text) = status_and_text(&bench.final_of(&turn).await);
    assert_eq!(text, format!("sent to {MAIL}"));
    assert_eq!(bench.tools.runs.lock().unwrap()[0].1["q"], format!("to {MAIL}, not <email_2>"));
    let intents = bench.log.log.list(AuditListParams {
        record_type: Some(RecordType::ToolIntent),
        session: None,
        query: String::new(),
        before: None,
        limit: 5,
    });
    let seq = intents.await.unwrap().records[0].seq;
    assert!(
        json!(bench.log.log.show(seq).await.unwrap()).to_string().contains(MAIL),
        "the log holds what was really sent to the tool"
    );
    assert!(!requests(&bench).concat().contains("example.com"));
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn placeholder_numbers_stay_the_same_across_turns_and_a_restart() {
    let bench = Bench::new(vec![]);
    bench.profile.settings.lock().unwrap().limits.window_messages = 2;
    for text in ["a@example.com", "b@example.com", "c@example.com"] {
        bench.ask(text).await;
    }
    let next = Engine::new(bench.world.clone());
    next.recover().await.unwrap();
    let params = TurnStartParams {
        session: Some("s".into()),
        text: "d@example.com b@example.com a@example.com".into(),
        model: None,
        agent: None,
        headless: false,
        replaces: None,
    };
    let turn = next.turns.start(contract::Caller::inside(), params).await.unwrap().turn;
    bench.final_of(&turn).await;
    let last = requests(&bench).pop().unwrap();
    assert!(last.contains("<email_4> <email_2> <email_1>"), "{last}");
    let kept = bench.world.store.session_values(&"s".into()).await.unwrap();
    assert!(!json!(kept).to_string().contains("example"), "no value is kept beside the transcript");
}

#[tokio::test(start_paused = true)]
async fn each_redaction_level_replaces_its_values_and_none_replaces_nothing() {
    let bench = Bench::new(vec![]);
    let text = format!("{MAIL} https://example.org/x?id=1");
    for (wanted, sent) in [
        (RedactionLevel::None, text.as_str()),
        (RedactionLevel::Basic, "<email_1> https://example.org/x?id=1"),
        (RedactionLevel::Strict, "<email_1> <url_1>"),
        (RedactionLevel::None, text.as_str()),
    ] {
        level(&bench, wanted);
        bench.ask(&text).await;
        let request = requests(&bench).pop().unwrap();
        assert!(request.contains(&format!("{sent}\n")), "{wanted:?}: {request}");
        assert_eq!(
            request.contains("angle brackets"),
            wanted != RedactionLevel::None,
            "the model is told of placeholders when there may be some"
        );
        if wanted != RedactionLevel::None {
            assert!(!request.contains(MAIL), "earlier turns go out at the level of this one");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_offline_model_reads_original_values_but_no_secrets() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    bench.model.inside.store(true, Ordering::SeqCst);
    bench.secrets.0.lock().unwrap().push(KEY.into());
    bench
        .tools
        .behaviours
        .lock()
        .unwrap()
        .insert("r".into(), Box::new(|_| Ok(json!({"owner": "bo@example.com", "key": KEY}))));
    bench.model.then(vec![Say::Call("r", json!({"q": MAIL}))]);
    bench.ask(MAIL).await;
    let last = requests(&bench).pop().unwrap();
    assert!(last.contains(MAIL) && last.contains("bo@example.com"));
    assert!(!last.contains(KEY), "{last}");
}

#[tokio::test(start_paused = true)]
async fn a_known_secret_is_removed_at_every_redaction_level() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    level(&bench, RedactionLevel::None);
    bench.ask(&format!("my key is {KEY}, remember it")).await;
    assert!(requests(&bench)[0].contains(KEY), "nobody knew that it is one");
    bench.secrets.0.lock().unwrap().push(KEY.into());
    let hex: String = KEY.bytes().map(|b| format!("{b:02x}")).collect();
    let result = json!({"parts": [&KEY[..9], &KEY[9..]], "hex": hex, "text": format!("key {KEY}")});
    let failure =
        AgentError::new(ErrorCode::ToolHttpError, format!("401 for {KEY}")).with("sent", KEY);
    bench.tools.behaviours.lock().unwrap().insert(
        "r".into(),
        Box::new(move |request| {
            if request.arguments["n"] == 1 {
                Err(ToolFailure { error: failure.clone(), may_have_happened: false })
            } else {
                Ok(result.clone())
            }
        }),
    );
    bench.model.then(vec![Say::Call("r", json!({})), Say::Call("r", json!({"n": 1}))]);
    bench.model.then(vec![Say::Text("It was Xk29fLm3Q"), Say::Text("pZr81TbVw6Y.")]);
    bench.ask(&format!("use {KEY}")).await;
    bench.ask("again").await;
    for request in &requests(&bench)[1..] {
        for trace in [KEY, &hex, "Xk29fLm3Q", "pZr81TbVw6Y"] {
            assert!(!request.contains(trace), "{trace} in {request}");
        }
    }
    for item in bench.items().await.iter().skip(2) {
        assert!(!json!(item).to_string().contains(KEY), "{item:?}");
    }
    for seq in 5.. {
        let Ok(record) = bench.log.log.show(seq).await else { break };
        assert!(!json!(record).to_string().contains(KEY), "record {seq}");
    }
    assert!(counts(&bench).await.iter().all(|counts| counts[0].kind == RedactionKind::Secret));
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_becomes_known_during_a_turn_is_removed_from_later_requests() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    let secrets = Arc::clone(&bench.secrets);
    let learn = move |_: &ToolRequest| {
        secrets.0.lock().unwrap().push(KEY.into());
        Ok(json!({"ok": true}))
    };
    bench.tools.behaviours.lock().unwrap().insert("r".into(), Box::new(learn));
    level(&bench, RedactionLevel::None);
    bench.model.then(vec![Say::Call("r", json!({"q": KEY}))]);
    bench.ask(&format!("try {KEY}")).await;
    let requests = requests(&bench);
    assert!(requests[0].contains(KEY) && !requests[1].contains(KEY), "{}", requests[1]);
}

#[tokio::test(start_paused = true)]
async fn cached_tool_descriptions_are_redacted_again_when_a_secret_becomes_known() {
    let mut described = tool("r", Effect::ReadOnly);
    described.description = format!("Asks the server with {KEY}.");
    described.input_schema =
        json!({"type": "object", "properties": {"q": {"type": "string", "default": KEY}}});
    let bench = Bench::new(vec![described]);
    bench.ask("one").await;
    bench.secrets.0.lock().unwrap().push(KEY.into());
    bench.ask("two").await;
    let requests = requests(&bench);
    assert!(requests[0].contains(KEY) && !requests[1].contains(KEY), "{}", requests[1]);
}

#[tokio::test(start_paused = true)]
async fn tool_results_are_sent_as_structured_values_only_to_models_that_read_them() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    bench
        .tools
        .behaviours
        .lock()
        .unwrap()
        .insert("r".into(), Box::new(|_| Ok(json!({"owner": MAIL}))));
    bench.model.then(vec![Say::Call("r", json!({}))]);
    bench.model.words_only.store(true, Ordering::SeqCst);
    bench.ask("go").await;
    bench.ask("and").await;
    bench.model.words_only.store(false, Ordering::SeqCst);
    bench.ask("then").await;
    bench.model.words_only.store(true, Ordering::SeqCst);
    bench.ask("still").await;
    let of = |request: &ModelRequest| {
        let result = |message: &Message| {
            if let Message::Tool { content, data, .. } = message {
                Some((content.to_string(), json!(data)))
            } else {
                None
            }
        };
        request.messages.iter().find_map(result)
    };
    let told: Vec<(String, Value)> =
        bench.model.requests.lock().unwrap().iter().filter_map(of).collect();
    let (text, value) = (json!({"owner": "<email_1>"}).to_string(), json!({"owner": "<email_1>"}));
    assert_eq!(
        told,
        [
            (text.clone(), Value::Null),
            (text.clone(), Value::Null),
            (text.clone(), value),
            (text, Value::Null)
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_model_reads_a_result_unchanged_in_every_later_turn_and_after_a_restart() {
    let results = |bench: &Bench| -> Vec<Vec<String>> {
        let of = |request: &ModelRequest| {
            let result = |message: &Message| {
                if let Message::Tool { content, data, .. } = message {
                    Some(format!("{content} {}", json!(data)))
                } else {
                    None
                }
            };
            request.messages.iter().filter_map(result).collect()
        };
        bench.model.requests.lock().unwrap().iter().map(of).collect()
    };
    // A short result, a result that is cut only in later turns, a result that is cut immediately,
    // and a failure.
    for (length, cut_now, cut_later) in
        [(10, false, false), (6_000, false, true), (20_000, true, true)]
    {
        let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
        let long = json!({"owner": MAIL, "text": "x".repeat(length)});
        let behaviour = move |request: &ToolRequest| match request.arguments["n"].as_u64() {
            Some(1) => Ok(long.clone()),
            _ => Err(ToolFailure {
                error: AgentError::new(ErrorCode::ToolHttpError, format!("{MAIL} is unknown")),
                may_have_happened: false,
            }),
        };
        bench.tools.behaviours.lock().unwrap().insert("r".into(), Box::new(behaviour));
        bench.model.then(vec![Say::Call("r", json!({"n": 1})), Say::Call("r", json!({"n": 2}))]);
        bench.ask("go").await;
        bench.ask("and").await;
        bench.ask("then").await;
        let next = Engine::new(bench.world.clone());
        next.recover().await.unwrap();
        let params = TurnStartParams {
            session: Some("s".into()),
            text: "still".into(),
            model: None,
            agent: None,
            headless: false,
            replaces: None,
        };
        bench
            .final_of(&next.turns.start(contract::Caller::inside(), params).await.unwrap().turn)
            .await;
        let told = results(&bench);
        assert_eq!(told.iter().map(Vec::len).collect::<Vec<_>>(), [0, 2, 2, 2, 2], "{length}");
        assert_eq!(told[1] == told[2], cut_now == cut_later && !cut_now, "{length}");
        assert!(told[2] == told[3] && told[3] == told[4], "{length}: the same from then on");
        assert_eq!(
            (told[1][0].contains("truncated"), told[2][0].contains("truncated")),
            (cut_now, cut_later)
        );
        assert!(
            told.iter().flatten().all(|text| text.contains("<email_1>") && !text.contains(MAIL)),
            "{told:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn only_a_local_model_may_answer_when_data_must_not_leave_this_computer() {
    let bench = Bench::new(vec![]);
    bench.profile.settings.lock().unwrap().egress.allowed = false;
    assert_eq!(
        status_and_text(&bench.ask("hello").await).0,
        TurnStatus::Ok,
        "a server on this machine may answer"
    );
    bench.model.remote.store(true, Ordering::SeqCst);
    let params = TurnStartParams {
        session: Some("s".into()),
        text: "hello".into(),
        model: None,
        agent: None,
        headless: false,
        replaces: None,
    };
    let refused = bench.engine.turns.start(contract::Caller::inside(), params).await.unwrap_err();
    assert_eq!(
        (refused.code, refused.reason_text(), refused.retryable),
        (ErrorCode::InvalidInput, Some("egress_denied"), false)
    );
    assert!(refused.hint_text().is_some());
    assert_eq!(bench.model.requests.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_local_only_result_is_never_sent_to_a_remote_model() {
    for pack in [MEMORY_PACK, DATA_PACK] {
        let spec = ToolSpec { pack: pack.into(), ..tool("r", Effect::ReadOnly) };
        let bench = Bench::new(vec![spec]);
        let local = |_: &ToolRequest| Ok(json!({"local_only": true, "text": "the plan"}));
        bench.tools.behaviours.lock().unwrap().insert("r".into(), Box::new(local));
        bench.model.then(vec![Say::Call("r", json!({}))]);
        bench.model.then(vec![Say::Text("There is a plan.")]);
        assert_eq!(status_and_text(&bench.ask("what is planned?").await).0, TurnStatus::Ok);
        bench.model.remote.store(true, Ordering::SeqCst);
        let sent = bench.model.requests.lock().unwrap().len();
        let EventBody::Final { error: Some(error), .. } = bench.ask("and then?").await else {
            panic!("a final with an error")
        };
        assert_eq!(error.reason_text(), Some("egress_denied"), "{pack}");
        assert_eq!(bench.model.requests.lock().unwrap().len(), sent, "{pack}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_names_local_data_without_a_call_is_never_sent_to_a_remote_model() {
    let bench = Bench::new(Vec::new());
    let local = Say::Event(Box::new(Ok(ModelEvent::LocalData)));
    bench.model.then(vec![local, Say::Text("Without “current”: Spa Weekends?")]);
    assert_eq!(status_and_text(&bench.ask("what is planned?").await).0, TurnStatus::Ok);
    bench.model.remote.store(true, Ordering::SeqCst);
    bench.profile.settings.lock().unwrap().egress.allowed = true;
    let EventBody::Final { error: Some(error), .. } = bench.ask("and then?").await else {
        panic!("a final with an error")
    };
    assert_eq!(error.reason_text(), Some("egress_denied"));
    assert_eq!(bench.model.requests.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_local_only_mark_from_an_untrusted_server_is_ignored() {
    // A tool of a server, also one with the name of the app's own pack, and another service.
    let server = ToolTarget::Mcp { server: "far".into(), tool: "r".into() };
    let pack_of_memories = ToolSpec { target: server.clone(), ..tool_of_memories("r") };
    let of_a_server = ToolSpec { target: server, ..tool("r", Effect::ReadOnly) };
    let pack_of_data = ToolSpec { pack: DATA_PACK.into(), ..of_a_server.clone() };
    for spec in [pack_of_memories, pack_of_data, of_a_server, tool("r", Effect::ReadOnly)] {
        let bench = Bench::new(vec![spec]);
        let local = |_: &ToolRequest| Ok(json!({"local_only": true, "text": "the plan"}));
        bench.tools.behaviours.lock().unwrap().insert("r".into(), Box::new(local));
        bench.model.then(vec![Say::Call("r", json!({}))]);
        bench.ask("what is planned?").await;
        bench.model.remote.store(true, Ordering::SeqCst);
        bench.model.then(vec![Say::Text("Now I am elsewhere.")]);
        let (status, text) = status_and_text(&bench.ask("and then?").await);
        assert_eq!((status, text.as_str()), (TurnStatus::Ok, "Now I am elsewhere."));
    }
}

#[tokio::test(start_paused = true)]
async fn a_stored_local_only_mark_of_an_older_version_applies_only_to_memory_results() {
    for (spec, is_local) in [(tool_of_memories("r"), true), (tool("r", Effect::ReadOnly), false)] {
        let bench = Bench::new(vec![spec]);
        bench.ask("hello").await;
        let before = bench.items().await.remove(0);
        let old = json!({
            "kind": "tool_result", "call": "c", "tool": "r", "outcome": "ok", "summary": "",
            "data": {"local_only": true, "text": "the plan"}, "duration_ms": 1,
        });
        let item = Item { id: "old".into(), body: serde_json::from_value(old).unwrap(), ..before };
        bench.world.store.items_append(vec![item]).await.unwrap();
        bench.model.remote.store(true, Ordering::SeqCst);
        let status = status_and_text(&bench.ask("and then?").await).0;
        assert_eq!(status == TurnStatus::Error, is_local);
    }
}

#[tokio::test(start_paused = true)]
async fn a_running_turn_with_a_remote_model_stops_when_egress_is_disallowed() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    bench.model.remote.store(true, Ordering::SeqCst);
    let profile = Arc::clone(&bench.profile);
    let forbid = move |_: &ToolRequest| {
        profile.settings.lock().unwrap().egress.allowed = false;
        Ok(Value::Object(serde_json::Map::new()))
    };
    bench.tools.behaviours.lock().unwrap().insert("r".into(), Box::new(forbid));
    bench.model.then(vec![Say::Call("r", json!({}))]);
    let EventBody::Final { status, error: Some(error), .. } = bench.ask("go").await else {
        panic!("a final with an error")
    };
    assert_eq!((status, error.reason_text()), (TurnStatus::Error, Some("egress_denied")));
    assert_eq!(bench.model.requests.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn deleting_a_session_deletes_its_placeholders() {
    let bench = Bench::new(vec![]);
    bench.ask(MAIL).await;
    bench.engine.sessions.delete(&"s".into()).await.unwrap();
    assert!(bench.world.store.session_values(&"s".into()).await.unwrap().is_empty());
    bench.ask("b@example.com").await;
    assert!(requests(&bench).pop().unwrap().contains("<email_1>"));
}

fn flow(text: &str) -> Option<contract::manifest::DataFlow> {
    Some(serde_json::from_str(text).unwrap())
}

#[tokio::test(start_paused = true)]
async fn agent_run_8_a_pack_that_disallows_egress_is_used_by_local_models_only() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    *bench.tools.data_flow.lock().unwrap() = flow(
        r#"{"data_classes": ["confidential"], "llm_egress": {"what_is_sent": "nothing", "allowed": false}}"#,
    );
    bench.model.remote.store(true, Ordering::SeqCst);
    bench.model.then(vec![Say::Call("r", json!({}))]);
    bench.ask("go").await;
    assert!(bench.runs().is_empty());
    assert_eq!(bench.outcomes().await, [ToolOutcome::Denied]);
    let error = bench
        .items()
        .await
        .into_iter()
        .find_map(|i| if let ItemBody::ToolResult { error, .. } = i.body { error } else { None })
        .unwrap();
    assert_eq!(
        (error.code, error.reason_text(), error.retryable),
        (ErrorCode::InvalidInput, Some("egress_denied"), false)
    );

    bench.engine.sessions.delete(&"s".into()).await.unwrap();
    bench.model.remote.store(false, Ordering::SeqCst);
    bench.model.then(vec![Say::Call("r", json!({}))]);
    bench.ask("go").await;
    assert_eq!(bench.runs(), ["r"], "a model on this computer may");
    bench.model.remote.store(true, Ordering::SeqCst);
    let asked = bench.model.requests.lock().unwrap().len();
    let EventBody::Final { error: Some(error), .. } = bench.ask("and what was it?").await else {
        panic!("a final with an error")
    };
    assert_eq!(
        error.reason_text(),
        Some("egress_denied"),
        "what it said there is not told elsewhere"
    );
    assert_eq!(bench.model.requests.lock().unwrap().len(), asked);
}

#[tokio::test(start_paused = true)]
async fn agent_run_8_a_pack_with_personal_data_uses_stricter_redaction() {
    let address = "see https://intern.example.com/a/b for it";
    for (classes, expected) in [("\"PII\"", true), ("\"public\"", false)] {
        let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
        *bench.tools.data_flow.lock().unwrap() = flow(&format!(
            r#"{{"data_classes": [{classes}], "llm_egress": {{"what_is_sent": "names"}}}}"#
        ));
        bench.ask(address).await;
        assert_eq!(requests(&bench).pop().unwrap().contains("<url_1>"), expected, "{classes}");
    }
}

#[tokio::test(start_paused = true)]
async fn editing_an_action_with_a_stored_key_is_refused() {
    let bench = Bench::new(vec![tool("w", Effect::Write)]);
    bench.model.then(vec![Say::Call("w", json!({"q": "shoes"}))]);
    bench.secrets.0.lock().unwrap().push(KEY.into());
    bench.start("add").await;
    let approval = bench.approval(0).await;
    let refused = bench
        .decide(
            &approval,
            Decision::Edit { arguments: json!({"q": format!("shoes {KEY}")}).to_string() },
        )
        .await
        .unwrap_err();
    assert_eq!(refused.reason_text(), Some("holds_secret"), "{refused:?}");
    let waiting = bench.world.store.approval(&approval.id).await.unwrap().unwrap();
    assert_eq!(waiting.status, ApprovalStatus::Pending, "the action waits as it was proposed");
    assert!(!json!(waiting).to_string().contains(KEY));
}
