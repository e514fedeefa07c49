//! Tests of features of each wire beyond text: signatures over tool rounds, errors, and endings.

use std::time::Duration;

use engine::ports::{Finish, Message, Model, ModelErrorKind, ModelEvent, ModelRequest};
use futures::StreamExt;
use kit::model_server::{Chunking, ModelServer, Reply};
use models::{Api, Config, Provider};
use serde_json::{Value, json};

use crate::recordings::folder;
use crate::support::{Conversation, answer, config, join_answer, on, world};

fn anthropic_start() -> Value {
    json!({"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 20, "cache_read_input_tokens": 5, "output_tokens": 1}}})
}

fn anthropic_end(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ]
}

/// Returns an answer with thinking in two signed pieces, a word, and two calls.
pub fn anthropic_calls() -> Reply {
    let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let begin = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let mut events = vec![
        anthropic_start(),
        begin(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "Both accounts."})),
        delta(0, json!({"type": "signature_delta", "signature": "SIGNED-BY-"})),
        delta(0, json!({"type": "signature_delta", "signature": "ANTHROPIC+/="})),
        begin(1, json!({"type": "redacted_thinking", "data": "REDACTED-BY-ANTHROPIC"})),
        begin(2, json!({"type": "text", "text": ""})),
        delta(2, json!({"type": "text_delta", "text": "Looking."})),
        begin(3, json!({"type": "tool_use", "id": "toolu_1", "name": "pace", "input": {}})),
        delta(3, json!({"type": "input_json_delta", "partial_json": "{\"account\""})),
        delta(3, json!({"type": "input_json_delta", "partial_json": ":17}"})),
        begin(
            4,
            json!({"type": "tool_use", "id": "toolu_2", "name": "pace", "input": {"account": 18}}),
        ),
    ];
    events.extend(anthropic_end("tool_use"));
    Reply::events(&events)
}

pub fn anthropic_text(text: &str) -> Reply {
    let mut events = vec![
        anthropic_start(),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": text}}),
    ];
    events.extend(anthropic_end("end_turn"));
    Reply::events(&events)
}

#[tokio::test]
async fn anthropic_thinking_and_calls_are_sent_back_unchanged() {
    let server = ModelServer::start([anthropic_calls(), anthropic_text("On track.")]).await;
    let mut conversation = Conversation::asking("Both?");
    let model = on(Api::Anthropic, &server, "claude-sonnet-4-5");
    let first = conversation.round(&model).await;
    let call = |arguments: &str| ("pace".to_owned(), arguments.to_owned());
    assert_eq!(first.calls, [call("{\"account\":17}"), call("{\"account\":18}")]);
    assert_eq!(
        (first.usage, first.reasoning.as_str(), first.finish),
        ((25, 9), "Both accounts.", Some(Finish::ToolCalls))
    );
    assert_eq!(conversation.round(&model).await.text, "On track.");
    server.assert_clean();
    let sent = &server.requests()[1]["messages"][1]["content"];
    let kinds: Vec<&str> =
        sent.as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["thinking", "redacted_thinking", "text", "tool_use", "tool_use"]);
    assert_eq!(sent[0]["signature"], "SIGNED-BY-ANTHROPIC+/=");
    let headers = &server.seen()[0].headers;
    assert_eq!(
        (headers["x-api-key"].to_str().unwrap(), headers.contains_key("anthropic-version")),
        ("sk-test-SECRET", true)
    );
}

#[tokio::test]
async fn a_request_is_repeated_without_thinking_if_the_model_refuses_thinking() {
    let refused = Reply::refusal(
        400,
        &json!({"type": "invalid_request_error", "message": "thinking is not supported on this model"}),
    );
    let server = ModelServer::start([refused, anthropic_text("fine")]).await;
    assert_eq!(answer(&on(Api::Anthropic, &server, "claude-opus-9")).await.text, "fine");
    let requests = server.requests();
    assert!(requests[0].get("thinking").is_some() && requests[1].get("thinking").is_none());
}

#[tokio::test]
async fn anthropic_accepts_a_last_round_without_tools() {
    let server = ModelServer::start([anthropic_calls(), anthropic_text("Enough.")]).await;
    let model = on(Api::Anthropic, &server, "claude-haiku-4-5");
    let mut conversation = Conversation::asking("Both?");
    conversation.round(&model).await;
    conversation.messages.push(Message::System { text: "Answer the user now, in text.".into() });
    let request = ModelRequest { messages: conversation.messages, ..ModelRequest::default() };
    let events: Vec<_> = model.stream(request).collect().await;
    assert_eq!(join_answer(&events).text, "Enough.");
    server.assert_clean();
}

#[tokio::test]
async fn gemini_signatures_and_ids_are_sent_back_with_their_calls() {
    let google = folder().join("google");
    let recorded = Reply::recording(&google.join("google-tool-call-gemini3.chunks.txt"));
    let with_id = Reply::recording(&folder().join("raw-sse/gemini/tool_stream-response_000.txt"));
    let server = ModelServer::start([
        recorded,
        with_id,
        Reply::recording(&google.join("google-text.chunks.txt")),
    ])
    .await;
    let model = on(Api::Gemini, &server, "gemini-3-pro-preview");
    let answer = Conversation::asking("Weather?").until_answered(&model).await;
    assert!(answer.text.contains("strawberry"), "{answer:?}");
    server.assert_clean();
    let seen = server.seen();
    assert_eq!(seen[0].path, "gemini-3-pro-preview:streamGenerateContent");
    assert_eq!(seen[0].headers["x-goog-api-key"], "sk-test-SECRET");
    assert_eq!(seen[2].body["contents"][4]["parts"][0]["functionResponse"]["id"], "u959pftr");
}

#[tokio::test]
async fn gemini_call_arguments_in_pieces_are_merged() {
    let nested =
        folder().join("google/google-vertex-stream-tool-call-arguments-nested.1.chunks.txt");
    let server = ModelServer::start([Reply::recording(&nested)]).await;
    let got = answer(&on(Api::Gemini, &server, "gemini-3-pro-preview")).await;
    let arguments: Value = serde_json::from_str(&got.calls[0].1).unwrap();
    assert_eq!(
        arguments["recipe"]["ingredients"][0],
        json!({"amount": "16 oz", "name": "Lasagna noodles"})
    );
}

#[tokio::test]
async fn encrypted_reasoning_is_sent_back_in_every_round() {
    let path = folder().join("openai-responses/openai-reasoning-encrypted-content.1.chunks.txt");
    let replies = Reply::recordings(&path);
    let rounds = replies.len();
    let server = ModelServer::start(
        replies.into_iter().map(|reply| reply.chunked(Chunking::EveryBytes(101))),
    )
    .await;
    let answer = Conversation::asking("Add.")
        .until_answered(&on(Api::Responses, &server, "gpt-5-mini"))
        .await;
    assert!(!answer.text.is_empty(), "{answer:?}");
    assert_eq!(server.requests().len(), rounds);
    server.assert_clean();
    assert_eq!(server.requests()[0]["include"], json!(["reasoning.encrypted_content"]));
    assert!(server.requests()[1].to_string().contains("encrypted_content"));
}

#[tokio::test]
async fn a_request_is_repeated_without_encrypted_reasoning_if_that_is_refused() {
    let refused = Reply::refusal(
        400,
        &json!({"message": "Encrypted content is not supported with this model.", "param": "include"}),
    );
    let fine =
        Reply::recording(&folder().join("raw-sse/openai_resp/utf8_chunking_bug-response_000.txt"));
    let server = ModelServer::start([refused, fine]).await;
    assert!(answer(&on(Api::Responses, &server, "gpt-5-nano")).await.error.is_none());
    assert!(server.requests()[1].get("include").is_none());
}

/// Returns each wire's error for an overloaded server, before any text.
fn overloaded() -> [(Api, Reply, Reply); 3] {
    let text = folder().join("google/google-text.chunks.txt");
    let response = folder().join("openai-responses/openai-phase.1.chunks.txt");
    [
        (
            Api::Anthropic,
            Reply::events(&[
                anthropic_start(),
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "SECRET"}}),
            ]),
            anthropic_text("fine"),
        ),
        (
            Api::Gemini,
            Reply::events(&[
                json!({"error": {"code": 503, "status": "UNAVAILABLE", "message": "SECRET"}}),
            ]),
            Reply::recording(&text),
        ),
        (
            Api::Responses,
            Reply::events(&[
                json!({"type": "response.failed", "response": {"error": {"code": "server_error", "message": "SECRET"}}}),
            ]),
            Reply::recording(&response),
        ),
    ]
}

#[tokio::test]
async fn an_overload_is_retried_before_any_text_and_then_reported() {
    for (api, refusal, fine) in overloaded() {
        let server = ModelServer::start([refusal.clone(), fine]).await;
        let got = answer(&on(api, &server, "scripted")).await;
        assert!(got.error.is_none() && !got.text.is_empty(), "{api:?}: {got:?}");
        server.assert_clean();
        let server = ModelServer::start([refusal.repeated()]).await;
        let error = answer(&on(api, &server, "scripted")).await.error.unwrap();
        assert_eq!(
            (error.kind, server.requests().len()),
            (ModelErrorKind::Unavailable, 3),
            "{api:?}"
        );
        assert!(!format!("{error:?}").contains("sk-test"), "{api:?}");
    }
}

#[tokio::test]
async fn status_529_is_retried_after_the_time_in_its_header() {
    let busy = Reply::refusal(529, &json!({"type": "overloaded_error"})).header("retry-after", "0");
    let server = ModelServer::start([busy, anthropic_text("fine")]).await;
    assert_eq!(answer(&on(Api::Anthropic, &server, "scripted")).await.text, "fine");
}

/// Returns half an answer that contains a whole call, followed by silence.
fn halves() -> [(Api, Reply); 3] {
    let half = |reply: Reply| reply.cut();
    [
        (
            Api::Anthropic,
            half(Reply::events(&[
                anthropic_start(),
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "half"}}),
                json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "a", "name": "pace", "input": {"a": 1}}}),
            ])),
        ),
        (
            Api::Gemini,
            half(Reply::events(&[
                json!({"candidates": [{"content": {"parts": [{"text": "half"}, {"functionCall": {"name": "pace", "args": {}}}]}}]}),
            ])),
        ),
        (
            Api::Responses,
            half(Reply::events(&[
                json!({"type": "response.output_text.delta", "delta": "half"}),
                json!({"type": "response.output_item.done", "output_index": 1, "item": {"type": "function_call", "name": "pace", "arguments": "{}"}}),
            ])),
        ),
    ]
}

#[tokio::test]
async fn a_cut_answer_is_an_error_and_returns_no_calls() {
    for (api, reply) in halves() {
        let server = ModelServer::start([reply]).await;
        let got = answer(&on(api, &server, "scripted")).await;
        assert_eq!((got.text.as_str(), got.calls.len(), got.finish), ("half", 0, None), "{api:?}");
        assert_eq!(got.error.unwrap().kind, ModelErrorKind::Broken, "{api:?}");
    }
}

#[tokio::test]
async fn pings_do_not_reset_the_stall_timer() {
    for (api, ping) in
        [(Api::Anthropic, json!({"type": "ping"})), (Api::Responses, json!({"type": "keepalive"}))]
    {
        let reply =
            (0..1_000).fold(Reply::events(&[]), |reply, _| reply.wait_ms(20).event(&ping)).hang();
        let server = ModelServer::start([reply]).await;
        let impatient =
            Config { api, idle_timeout: Duration::from_millis(200), ..config(&server.base_url()) };
        let error = answer(&Provider::new(impatient, world()).unwrap()).await.error.unwrap();
        assert!(error.message.contains("sent nothing"), "{api:?}: {error:?}");
        server.client_left(1).await;
    }
}

#[tokio::test]
async fn dropping_the_event_stream_closes_the_request() {
    let reply = Reply::events(&[anthropic_start(), json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a"}})]).hang();
    let server = ModelServer::start([reply]).await;
    let model = on(Api::Anthropic, &server, "scripted");
    let mut events = model.stream(crate::support::question());
    assert_eq!(events.next().await, Some(Ok(ModelEvent::Text("a".into()))));
    drop(events);
    server.client_left(1).await;
}

#[tokio::test]
async fn a_blocked_answer_has_the_finish_reason_content_filter() {
    let table = [
        (
            Api::Gemini,
            Reply::events(&[
                json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4}}),
            ]),
        ),
        (
            Api::Gemini,
            Reply::events(&[json!({"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]})]),
        ),
        (
            Api::Anthropic,
            Reply::events(&[&[anthropic_start()], anthropic_end("refusal").as_slice()].concat()),
        ),
        (
            Api::Responses,
            Reply::events(&[
                json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": "content_filter"}}}),
            ]),
        ),
        (
            Api::Chat,
            Reply::events(&[
                json!({"choices": [{"delta": {}, "finish_reason": "content_filter"}]}),
            ]),
        ),
    ];
    for (api, reply) in table {
        let server = ModelServer::start([reply]).await;
        let error = answer(&on(api, &server, "scripted")).await.error.unwrap();
        assert!(
            error.message.contains("safety rules") && error.hint.is_some(),
            "{api:?}: {error:?}"
        );
        assert_eq!(server.requests().len(), 1, "a block is not asked for twice");
    }
}

/// Some servers state the reason only in a sentence.
#[tokio::test]
async fn an_error_without_a_code_is_recognised_by_its_text() {
    let said = "The input (61709 tokens) is longer than the model's context length (40960 tokens).";
    let server = ModelServer::start([Reply::events(&[
        json!({"type": "error", "code": null, "message": said}),
    ])])
    .await;
    let error = answer(&on(Api::Responses, &server, "scripted")).await.error.unwrap();
    assert_eq!((error.kind, server.requests().len()), (ModelErrorKind::TooLong, 1), "{error:?}");
}

#[tokio::test]
async fn an_answer_cut_at_the_output_limit_has_the_finish_reason_length() {
    let table = [
        (
            Api::Gemini,
            Reply::events(&[
                json!({"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "MAX_TOKENS"}]}),
            ]),
        ),
        (
            Api::Responses,
            Reply::events(&[
                json!({"type": "response.output_text.delta", "delta": "a"}),
                json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}}),
            ]),
        ),
    ];
    for (api, reply) in table {
        let server = ModelServer::start([reply]).await;
        assert_eq!(
            answer(&on(api, &server, "scripted")).await.finish,
            Some(Finish::Length),
            "{api:?}"
        );
    }
}

#[tokio::test]
async fn answers_of_servers_that_do_not_stream_are_read() {
    let table = [
        (
            Api::Anthropic,
            json!({"type": "message", "content": [{"type": "text", "text": "a"}], "stop_reason": "end_turn", "usage": {"input_tokens": 3, "output_tokens": 4}}),
        ),
        (
            Api::Gemini,
            json!([{"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 4}}]),
        ),
        (
            Api::Responses,
            json!({"object": "response", "status": "completed", "error": null, "usage": {"input_tokens": 3, "output_tokens": 4},
                "output": [{"type": "message", "content": [{"type": "output_text", "text": "a"}]}]}),
        ),
    ];
    for (api, body) in table {
        let server = ModelServer::start([Reply::json(200, &body)]).await;
        let got = answer(&on(api, &server, "scripted")).await;
        assert_eq!(
            (got.text.as_str(), got.usage, got.finish, got.error),
            ("a", (3, 4), Some(Finish::Stop), None),
            "{api:?}"
        );
    }
}
