//! Tests of a turn: its stream and answer, its rounds, the queue, and clients that disconnect.

use std::time::Duration;

use kit::model_server::Reply;
use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::world::{Event, Gateway, SHOE, message_of, model, names, parse};

fn last(events: &[Event]) -> &Value {
    let last = events.last().unwrap();
    assert_eq!(last.name, "final", "{:?}", names(events));
    &last.data
}

fn text_of(events: &[Event]) -> String {
    events
        .iter()
        .filter(|event| event.name == "delta")
        .filter_map(|event| event.data["text"].as_str())
        .collect()
}

/// Returns an answer, excluding the values that differ in every turn.
fn without_times(answer: &Value) -> Value {
    let mut answer = answer.clone();
    answer["turnId"] = json!("");
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_4_a_streams_final_event_equals_the_json_answer() {
    let script = || {
        [
            Reply::call("product_search", json!({"query": "trail shoes", "pageSize": 3})),
            Reply::text(["Here ", "are ", "three."]),
        ]
    };
    let server = model(script().into_iter().chain(script())).await;
    let gateway = Gateway::with(&server, &[]).await;
    let body = message_of("stream", "trail shoes please");
    let response =
        gateway.request(Method::POST, "/v1/chat/stream?debug=1").json(&body).send().await.unwrap();
    let headers = response.headers().clone();
    assert_eq!(headers[header::CONTENT_TYPE], "text/event-stream; charset=utf-8");
    assert_eq!(
        (&headers[header::CACHE_CONTROL], &headers["x-accel-buffering"]),
        (&header::HeaderValue::from_static("no-cache"), &header::HeaderValue::from_static("no"))
    );
    assert!(!headers.contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN), "without an Origin");
    let events = parse(&response.text().await.unwrap());
    let kinds: Vec<&str> = names(&events).into_iter().filter(|name| *name != "delta").collect();
    assert_eq!(
        kinds,
        [
            "status",
            "status",
            "dev_status",
            "status",
            "tool_start",
            "tool_end",
            "status",
            "status",
            "dev_status",
            "final"
        ],
        "start, thinking, the tool with its statuses, refining, the answer"
    );
    let of = |name: &str| events.iter().find(|event| event.name == name).unwrap().data.clone();
    assert_eq!(
        of("tool_start"),
        json!({"tool": "product_search", "displayName": "Product search", "args": {"query": "trail shoes", "pageSize": 3}})
    );
    let end = of("tool_end");
    assert_eq!(
        (end["ok"].as_bool(), end["resultSummary"]["itemCount"].as_u64(), end.get("error")),
        (Some(true), Some(3), None)
    );
    assert!(
        end["resultSummary"]["totalCount"].is_number() && of("dev_status")["round"].is_number()
    );
    assert_eq!(
        (text_of(&events).as_str(), last(&events)["text"].as_str()),
        ("Here are three.", Some("Here are three."))
    );
    assert_eq!(last(&events)["cards"].as_array().unwrap().len(), 3);
    // The JSON route returns the same object.
    let mut other = body.clone();
    other["sessionId"] = json!("json");
    let (_, answer) = gateway.post("/v1/chat", &other).await;
    let mut streamed = without_times(last(&events));
    (streamed["sessionId"], _) = (json!("json"), streamed.as_object_mut().unwrap().remove("debug"));
    assert_eq!(without_times(&answer), streamed);
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_4_deltas_are_sent_while_the_model_still_answers() {
    let server = model([Reply::new().say("First words of an answer").wait_ms(0).hang()]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let mut response = gateway
        .request(Method::POST, "/v1/chat/stream")
        .json(&message_of("s", "hello"))
        .send()
        .await
        .unwrap();
    let mut text = String::new();
    while !text.contains("First words") {
        let chunk = tokio::time::timeout(Duration::from_secs(30), response.chunk())
            .await
            .expect("a delta before the end")
            .unwrap()
            .unwrap();
        text.push_str(&String::from_utf8_lossy(&chunk));
    }
    assert!(text.contains("event: delta") && !text.contains("event: final"));
    // A client that disconnects stops the turn: the connection to the model is closed, and the
    // session answers the next message.
    drop(response);
    server.client_left(1).await;
    server.push(Reply::text(["Welcome back."]));
    assert_eq!(gateway.say("s", "again").await["text"], "Welcome back.");
    let page = gateway.get("/v1/metrics").await.text().await.unwrap();
    assert!(page.contains("csign_gateway_clients_left_total 1"), "{page}");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_4_the_model_is_asked_to_stream_only_for_the_stream_route() {
    let server = model([Reply::text(["One", " piece."]), Reply::text(["Many", " pieces."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    assert_eq!(gateway.say("s", "hello").await["text"], "One piece.");
    let events = gateway.events("/v1/chat/stream", &message_of("s", "hello")).await;
    assert_eq!(text_of(&events), "Many pieces.");
    let asked: Vec<bool> =
        server.requests().iter().map(|body| body["stream"].as_bool().unwrap()).collect();
    assert_eq!(asked, [false, true]);
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_18_a_client_that_disconnects_from_the_json_route_stops_its_turn() {
    let server = model([Reply::new().say("…").hang()]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let request = gateway
        .request(Method::POST, "/v1/chat")
        .json(&message_of("s", "hello"))
        .timeout(Duration::from_millis(700));
    assert!(request.send().await.is_err());
    server.client_left(1).await;
    server.push(Reply::text(["Next."]));
    assert_eq!(gateway.say("s", "next").await["text"], "Next.");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_10_a_turn_with_too_many_rounds_still_has_an_answer() {
    let call = |n: u32| Reply::call("product_search", json!({"query": format!("shoe {n}")}));
    let server = model((1..=2).map(call).chain([Reply::new()])).await;
    let gateway = Gateway::with(&server, &[("AGENT_MAX_ROUNDS", "2")]).await;
    let events = gateway.events("/v1/chat/stream", &message_of("s", "shoes")).await;
    assert_eq!(server.seen().len(), 3, "two rounds with tools and a closing call");
    assert!(!names(&events).contains(&"delta"), "no delta for the host's own last word");
    assert!(
        !last(&events)["text"].as_str().unwrap().is_empty() && last(&events)["cards"].is_array()
    );
    let closing = server.seen().pop().unwrap().body;
    assert!(
        closing.get("tools").is_none(),
        "an empty list of tools is refused by real servers: {closing}"
    );
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_10_a_turn_has_six_rounds_by_default_and_the_configured_calls_per_round() {
    let call = |n: u32| Reply::call("product_search", json!({"query": format!("shoe {n}")}));
    let server = model((1..=6).map(call).chain([Reply::new()])).await;
    let gateway = Gateway::with(&server, &[]).await;
    gateway.say("s", "shoes").await;
    let offered: Vec<bool> =
        server.seen().iter().map(|seen| seen.body.get("tools").is_some()).collect();
    assert_eq!(
        offered,
        [true, true, true, true, true, true, false],
        "six rounds with tools and a closing call"
    );
    server.assert_clean();

    let many = (1..=6).fold(Reply::new(), |reply, n| {
        reply.ask("product_search", &json!({"query": format!("tent {n}")}))
    });
    let server = model([many, Reply::text(["Done."])]).await;
    let gateway = Gateway::with(&server, &[("AGENT_MAX_TOOL_CALLS_PER_ROUND", "5")]).await;
    let events = gateway.events("/v1/chat/stream", &message_of("s", "tents")).await;
    let oks = events
        .iter()
        .filter(|event| event.name == "tool_end")
        .map(|event| event.data["ok"].as_bool().unwrap())
        .collect::<Vec<_>>();
    assert_eq!(oks, [true, true, true, true, true, false]);
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_10_calls_over_the_limit_of_a_round_are_dropped_and_reported() {
    let many = (1..=5).fold(Reply::new(), |reply, n| {
        reply.ask("product_search", &json!({"query": format!("shoe {n}")}))
    });
    let server = model([many, Reply::text(["Done."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let events = gateway.events("/v1/chat/stream", &message_of("s", "shoes")).await;
    let oks = events
        .iter()
        .filter(|event| event.name == "tool_end")
        .map(|event| event.data["ok"].as_bool().unwrap())
        .collect::<Vec<_>>();
    assert_eq!(oks, [true, true, true, false, false]);
    assert!(!format!("{events:?}").contains("did not work"), "nothing failed: {events:?}");
    assert_eq!(
        events.iter().filter(|event| event.data["error"] == "That step was left out.").count(),
        2
    );
    let told = server.seen().pop().unwrap().body["messages"].to_string();
    assert_eq!(
        told.matches("too many tool calls").count(),
        2,
        "the model knows what was not run: {told}"
    );
    // Events are in order, even if calls ran at the same time.
    let tools: Vec<&str> =
        names(&events).into_iter().filter(|name| name.starts_with("tool_")).collect();
    assert!(tools.chunks(2).all(|pair| pair == ["tool_start", "tool_end"]), "{tools:?}");
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_10_and_22_7_invalid_arguments_are_reported_to_the_model() {
    let bent = Reply::new()
        .ask("cart_add_item", &json!({"quantity": 1}))
        .ask("product_get", &json!({"productId": 1}))
        .ask("no_such_tool", &json!({}));
    let server = model([bent, Reply::text(["Which one?"]), Reply::text(["Yes?"])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let events = gateway.events("/v1/chat/stream", &message_of("s", "add it")).await;
    assert_eq!(last(&events)["text"], "Which one?");
    assert!(
        last(&events).get("pendingAction").is_none(),
        "nothing named undefined waits for a yes"
    );
    let unknown: Vec<&str> = events
        .iter()
        .filter(|event| event.data["tool"] == "no_such_tool")
        .map(|event| event.name.as_str())
        .collect();
    assert_eq!(unknown, ["tool_end"], "an unknown tool only ends");
    gateway.say("s", "hello again").await;
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_20_text_beside_calls_is_part_of_the_answer() {
    let server = model([
        Reply::new().say("Let me look.").ask("product_search", &json!({"query": "tent"})),
        Reply::text(["Two tents."]),
    ])
    .await;
    let gateway = Gateway::with(&server, &[]).await;
    let events = gateway.events("/v1/chat/stream", &message_of("s", "tents")).await;
    assert_eq!(last(&events)["text"], "Let me look.\n\nTwo tents.");
    assert_eq!(text_of(&events), "Let me look.\n\nTwo tents.");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_10_a_model_request_contains_one_conversation_and_six_tools() {
    let server =
        model([Reply::text(["One."]), Reply::text(["Two."]), Reply::text(["Other."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    gateway.say("a:b", "first").await;
    let mut other = message_of("a:b", "second");
    gateway.post("/v1/chat", &other).await;
    // The same letters, split differently into application and session, are another session.
    (other["applicationId"], other["sessionId"]) = (json!("shop-web:a"), json!("b"));
    gateway.post("/v1/chat", &other).await;
    let seen = server.seen();
    // No value of the caller, such as `clientIp` or `basketId`, is an argument for the model.
    insta::assert_snapshot!(kit::redact_json(&seen[0].body["tools"]));
    assert!(seen[1].body["messages"].to_string().contains("One."));
    assert!(!seen[2].body["messages"].to_string().contains("One."));
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_9_and_22_7_a_session_expires_and_a_failed_first_turn_is_remembered() {
    let failing = Reply::refusal(400, &json!({"message": "no", "type": "invalid_request_error"}));
    let server = model([failing, Reply::text(["A."]), Reply::text(["B."])]).await;
    let gateway = Gateway::with(&server, &[("SESSION_TTL_SECONDS", "2")]).await;
    let (status, _) = gateway.post("/v1/chat", &message_of("s", "remember the violin")).await;
    assert!(status.is_server_error());
    gateway.say("s", "what did I say?").await;
    assert!(server.seen()[1].body["messages"].to_string().contains("violin"));
    tokio::time::sleep(Duration::from_millis(2_300)).await;
    gateway.say("s", "and now?").await;
    assert!(!server.seen()[2].body["messages"].to_string().contains("violin"), "its time was over");
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_22_5_concurrent_messages_of_a_session_are_answered_in_sequence() {
    let server = model([Reply::text(["One."]).wait_ms(100), Reply::text(["Two."])]).await;
    let gateway = Gateway::with(&server, &[]).await;
    let (one, two) = tokio::join!(gateway.say("s", "first"), gateway.say("s", "second"));
    let mut texts = [one["text"].clone(), two["text"].clone()];
    texts.sort_by_key(Value::to_string);
    assert_eq!(texts, [json!("One."), json!("Two.")]);
    server.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn at_shutdown_running_turns_are_completed() {
    let server = model([Reply::new().say("Slow ").wait_ms(600).say("answer.")]).await;
    let mut gateway = Gateway::with(&server, &[]).await;
    let request = gateway.request(Method::POST, "/v1/chat").json(&message_of("s", "hello"));
    let asking = tokio::spawn(async move { request.send().await.unwrap().text().await.unwrap() });
    while server.seen().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let code = tokio::task::spawn_blocking(move || (gateway.stop(), gateway)).await.unwrap().0;
    let answer: Value = serde_json::from_str(&asking.await.unwrap()).unwrap();
    assert_eq!((code, answer["text"].as_str()), (Some(0), Some("Slow answer.")));
}

#[tokio::test(flavor = "multi_thread")]
async fn at_shutdown_a_request_still_being_received_is_answered() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    // This takes longer than idle connections may stay open at shutdown.
    let server = model([Reply::new().say("Slow ").wait_ms(2_500).say("answer.")]).await;
    let mut gateway = Gateway::with(&server, &[]).await;
    let place = gateway.base.trim_start_matches("http://").to_owned();
    let mut client = tokio::net::TcpStream::connect(&place).await.unwrap();
    let body = message_of("s", "hello").to_string();
    let head = format!(
        "POST /v1/chat HTTP/1.1\r\nHost: {place}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    client.write_all(head.as_bytes()).await.unwrap();
    client.write_all(&body.as_bytes()[..10]).await.unwrap();
    // The header must be read before the server is stopped.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let stopping = tokio::task::spawn_blocking(move || (gateway.stop(), gateway));
    tokio::time::sleep(Duration::from_millis(300)).await;
    client.write_all(&body.as_bytes()[10..]).await.unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("Slow answer."), "{answer}");
    assert_eq!(stopping.await.unwrap().0, Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn at_shutdown_turns_over_the_grace_period_are_cancelled_and_reported() {
    let server = model([Reply::new().say("Never ").hang()]).await;
    let mut gateway = Gateway::with(&server, &[("SHUTDOWN_GRACE_SECONDS", "0")]).await;
    let request = gateway.request(Method::POST, "/v1/chat/stream").json(&message_of("s", "hello"));
    let asking = tokio::spawn(async move { request.send().await.unwrap().text().await.unwrap() });
    while server.seen().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let code = tokio::task::spawn_blocking(move || (gateway.stop(), gateway)).await.unwrap().0;
    let events = parse(&asking.await.unwrap());
    assert_eq!((code, last(&events)["error"]["retryable"].as_bool()), (Some(0), Some(true)));
}

/// Returns the socket of a gateway's profile.
fn socket(gateway: &Gateway) -> std::path::PathBuf {
    let names = std::fs::read_dir(gateway.path("run/countersign")).unwrap();
    names
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|end| end == "sock"))
        .unwrap()
}

/// Starts a client at a terminal. The client's call waits for a person's decision.
fn waiting_client(gateway: &Gateway) -> std::process::Child {
    let args = format!(r#"{{"partNo":"{SHOE}","quantity":2}}"#);
    let mut client = gateway
        .terminal(&["tools", "call", "cart.addItem", "--args", &args])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let is_pending =
        |all: Value| all.as_array().unwrap().iter().any(|one| one["status"] == "pending");
    for _ in 0..600 {
        if is_pending(gateway.csign(&["approvals", "list"])) {
            return client;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    client.kill().unwrap();
    client.wait().unwrap();
    panic!("the call does not wait: {}", gateway.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn at_shutdown_local_clients_get_the_same_grace_period_as_turns() {
    let mut gateway = Gateway::start(&["--no-token"], &[("SHUTDOWN_GRACE_SECONDS", "0")]).await;
    let _idle = std::os::unix::net::UnixStream::connect(socket(&gateway)).unwrap();
    let mut client = waiting_client(&gateway);
    assert_eq!(gateway.stop_in_time(), Some(0), "{}", gateway.log());
    drop(client.stdin.take());
    client.wait().unwrap();
    // The waiting turns have ended, and the log is complete.
    let all = gateway.csign(&["approvals", "list", "--all"]);
    assert_eq!(all[0]["status"], "cancelled", "{all}");
    assert!(gateway.ran(&["audit", "verify"]).status.code().is_some_and(|code| code != 5), "{all}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_a_disconnected_local_client_is_cancelled() {
    let gateway = Gateway::open().await;
    let mut client = waiting_client(&gateway);
    // `script` closes its terminal, which ends the client.
    client.kill().unwrap();
    client.wait().unwrap();
    for _ in 0..600 {
        let all = gateway.csign(&["approvals", "list", "--all"]);
        if all[0]["status"] != "pending" {
            assert_eq!(all[0]["status"], "cancelled", "{all}");
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("it still waits: {}", gateway.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_api_18_the_language_follows_the_culture_code_of_the_request() {
    let gateway = Gateway::open().await;
    let starts = async |culture: &str| {
        let mut body = message_of(culture, "find tents");
        body["context"]["cultureCode"] = json!(culture);
        let events = gateway.events("/v1/chat/stream", &body).await;
        (
            events[0].data["message"].as_str().unwrap().to_owned(),
            events.iter().find(|e| e.name == "tool_start").unwrap().data["displayName"].clone(),
        )
    };
    let (en, sv, other) = (starts("en-GB").await, starts("sv-SE").await, starts("fi-FI").await);
    assert_ne!(en, sv);
    assert_eq!(en, other);
    assert_eq!(sv.1, "Produktsökning");
}
