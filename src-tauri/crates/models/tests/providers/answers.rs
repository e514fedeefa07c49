//! Tests with hand-written streams: several calls in a round, non-conforming pieces, missing
//! endings.

use engine::ports::{
    AskedCall, Finish, Message, Model, ModelErrorKind, ModelEvent, ModelRequest, ToolDef,
};
use futures::StreamExt;
use kit::model_server::{Chunking, ModelServer, Reply};
use serde_json::{Value, json};

use crate::support::{Answer, answer, as_sent, collect, provider};

async fn answer_to(reply: Reply) -> Answer {
    let server = ModelServer::start([reply]).await;
    let answer = answer(&provider(&server)).await;
    server.assert_clean();
    answer
}

fn part(part: Value) -> Value {
    json!({"tool_calls": [part]})
}

fn call(name: &str, arguments: &str) -> (String, String) {
    (name.to_owned(), arguments.to_owned())
}

#[tokio::test]
async fn interleaved_pieces_of_two_calls_become_two_calls() {
    let reply = Reply::new()
        .say("Both: ")
        .delta(&part(json!({"index": 1, "id": "b", "type": "function", "function": {"name": "cart", "arguments": ""}})))
        .delta(&part(json!({"index": 0, "id": "a", "type": "function", "function": {"name": "pace", "arguments": "{\"account\""}})))
        .delta(&part(json!({"index": 1, "function": {"arguments": "{\"sku\":"}})))
        .delta(&part(json!({"index": 0, "function": {"arguments": ":17}"}})))
        .delta(&part(json!({"index": 1, "function": {"arguments": "\"å\"}"}})));
    let got = answer_to(reply.chunked(Chunking::InsideUtf8)).await;
    assert_eq!(
        got.calls,
        [call("pace", "{\"account\":17}"), call("cart", "{\"sku\":\"å\"}")],
        "in the server's order"
    );
    assert_eq!((got.text.as_str(), got.finish), ("Both: ", Some(Finish::ToolCalls)));
}

#[tokio::test]
async fn two_calls_in_one_chunk_are_read_without_any_index() {
    let reply = Reply::new().delta(&json!({"tool_calls": [
        {"id": "a", "function": {"name": "pace", "arguments": "{\"account\":17}"}},
        {"id": "b", "function": {"name": "pace", "arguments": "{\"account\":18}"}}
    ]}));
    assert_eq!(
        answer_to(reply).await.calls,
        [call("pace", "{\"account\":17}"), call("pace", "{\"account\":18}")]
    );
}

#[tokio::test]
async fn pieces_without_index_and_id_become_one_call() {
    let reply = Reply::new()
        .delta(&part(json!({"function": {"name": "pace", "arguments": "{\"acc"}})))
        .delta(&part(json!({"function": {"arguments": "ount\":17}"}})));
    assert_eq!(answer_to(reply).await.calls, [call("pace", "{\"account\":17}")]);
}

#[tokio::test]
async fn two_calls_that_share_index_zero_stay_separate() {
    let reply = Reply::new()
        .delta(&part(
            json!({"index": 0, "id": "a", "function": {"name": "pace", "arguments": "{}"}}),
        ))
        .delta(&part(
            json!({"index": 0, "id": "b", "function": {"name": "cart", "arguments": "{}"}}),
        ));
    assert_eq!(answer_to(reply).await.calls, [call("pace", "{}"), call("cart", "{}")]);
}

#[tokio::test]
async fn call_arguments_may_be_an_object_or_missing() {
    let reply = Reply::new()
        .delta(&part(json!({"index": 0, "id": "a", "function": {"name": "pace", "arguments": {"account": 17}}})))
        .delta(&part(json!({"index": 1, "id": null, "function": {"name": "cart"}})));
    assert_eq!(
        answer_to(reply).await.calls,
        [call("pace", "{\"account\":17}"), call("cart", "{}")]
    );
}

#[tokio::test]
async fn a_tool_name_repeated_in_every_piece_is_read_once() {
    let reply = Reply::new()
        .delta(&part(
            json!({"index": 0, "id": "a", "function": {"name": "pace", "arguments": "{\"a\":"}}),
        ))
        .delta(&part(
            json!({"index": 0, "id": "a", "function": {"name": "pace", "arguments": "1}"}}),
        ));
    assert_eq!(answer_to(reply).await.calls, [call("pace", "{\"a\":1}")]);
}

#[tokio::test]
async fn a_call_without_a_name_is_an_error() {
    let got = answer_to(
        Reply::new().delta(&part(json!({"index": 0, "id": "a", "function": {"arguments": "{}"}}))),
    )
    .await;
    assert_eq!(got.error.unwrap().kind, ModelErrorKind::Protocol);
    assert!(got.calls.is_empty());
}

#[tokio::test]
async fn call_ids_sent_to_the_server_are_the_hosts_and_match_their_results() {
    let server = ModelServer::start([
        Reply::call("pace", json!({"account": 17})),
        Reply::text(["On track."]),
    ])
    .await;
    let provider = provider(&server);
    let asked: Vec<_> = collect(&provider).await.into_iter().map(Result::unwrap).collect();
    let Some(ModelEvent::Call(made)) = asked.first() else {
        panic!("a call comes first: {asked:?}")
    };
    assert_eq!(made.id.as_str(), "", "the server's own id never leaves the provider");
    let made = AskedCall { id: "call_0".into(), ..made.clone() };
    let request = ModelRequest {
        messages: vec![
            Message::User { text: "Pace of 17?".into() },
            Message::Assistant { text: "".into(), calls: vec![as_sent(&made)], opaque: None },
            Message::Tool {
                call: made.id.clone(),
                name: "pace".into(),
                content: "110 %".into(),
                data: engine::ports::OutboundValue::default(),
            },
        ],
        tools: vec![ToolDef {
            name: "pace".into(),
            description: "Pacing".into(),
            parameters: engine::ports::OutboundValue::fixed(r#"{"type": "object"}"#),
        }],
        ..ModelRequest::default()
    };
    let events: Vec<_> = provider.stream(request).collect().await;
    assert_eq!(events.first(), Some(&Ok(ModelEvent::Text("On track.".into()))));
    server.assert_clean();
    assert_eq!(server.requests()[1]["messages"][2]["tool_call_id"], "call_0");
}

#[tokio::test]
async fn usage_is_read_from_a_last_chunk_without_choices() {
    let got = answer_to(Reply::text(["a"]).usage(120, 30)).await;
    assert_eq!((got.usage, got.finish), ((120, 30), Some(Finish::Stop)));
}

#[tokio::test]
async fn each_finish_reason_of_a_server_is_understood() {
    for (reason, finish) in [
        ("stop", Finish::Stop),
        ("length", Finish::Length),
        ("content_filter", Finish::ContentFilter),
        ("eos", Finish::Stop),
    ] {
        let raw = format!(
            "data: {{\"choices\":[{{\"delta\":{{\"content\":\"a\"}},\"finish_reason\":\"{reason}\"}}]}}\n\ndata: [DONE]\n\n"
        );
        assert_eq!(answer_to(Reply::raw(raw)).await.finish, Some(finish), "{reason}");
    }
}

/// Reads one text in all the framings that servers use.
#[tokio::test]
async fn the_same_answer_is_read_from_every_event_stream_format() {
    let a = r#"{"choices":[{"delta":{"content":"å"}}]}"#;
    let b = r#"{"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}"#;
    let framings = [
        ("no space after the colon", format!("data:{a}\n\ndata:{b}\n\ndata:[DONE]\n\n")),
        ("no end mark", format!("data: {a}\n\ndata: {b}\n\n")),
        ("no blank line at the end", format!("data: {a}\n\ndata: {b}")),
        ("carriage returns", format!("data: {a}\r\rdata: {b}\r\rdata: [DONE]\r\r")),
        ("CRLF", format!("data: {a}\r\n\r\ndata: {b}\r\n\r\ndata: [DONE]\r\n\r\n")),
        ("byte order mark", format!("\u{feff}data: {a}\n\ndata: {b}\n\ndata: [DONE]\n\n")),
        (
            "comments",
            format!(
                ": hi\n\n:\n\ndata: {a}\n: between\n\n: PROCESSING\n\ndata: {b}\n\ndata: [DONE]\n\n"
            ),
        ),
        (
            "ids, retry and unknown fields",
            format!("id: 1\nretry: 10\nfoo: bar\ndata: {a}\n\ndata: {b}\n\ndata: [DONE]\n\n"),
        ),
        (
            "unknown events",
            format!(
                "event: ping\ndata: {{\"type\":\"ping\"}}\n\nevent: odd\ndata: {{oops\n\ndata: {a}\n\ndata: ping\n\ndata: {b}\n\ndata: [DONE]\n\n"
            ),
        ),
        (
            "named events",
            format!(
                "event: completion\ndata: {a}\n\nevent: completion\ndata: {b}\n\ndata: [DONE]\n\n"
            ),
        ),
        (
            "data over two lines",
            format!(
                "data: {{\"choices\":\ndata: [{{\"delta\":{{\"content\":\"å\"}}}}]}}\n\ndata: {b}\n\n"
            ),
        ),
        (
            "anything after the end mark",
            format!("data: {a}\n\ndata: {b}\n\ndata: [DONE]\n\ndata: {a}\n\n"),
        ),
        (
            "nulls for everything",
            format!(
                "data: {{\"choices\":[{{\"delta\":{{\"content\":null,\"tool_calls\":null}},\"finish_reason\":null}}],\"usage\":null,\"error\":null}}\n\ndata: {a}\n\ndata: {b}\n\n"
            ),
        ),
    ];
    for (what, raw) in framings {
        for chunking in [Chunking::Whole, Chunking::EveryBytes(1)] {
            let got = answer_to(Reply::raw(raw.clone()).chunked(chunking)).await;
            assert_eq!(
                (got.text.as_str(), got.finish, &got.error),
                ("åb", Some(Finish::Stop), &None),
                "{what} {chunking:?}"
            );
        }
    }
}

#[tokio::test]
async fn an_answer_of_a_server_that_does_not_stream_is_read() {
    let body = json!({"object": "chat.completion", "usage": {"prompt_tokens": 3, "completion_tokens": 4}, "choices": [{"finish_reason": "tool_calls",
        "message": {"role": "assistant", "content": "Wait.", "tool_calls": [{"id": "a", "function": {"name": "pace", "arguments": "{}"}}]}}]});
    let got = answer_to(Reply::json(200, &body)).await;
    assert_eq!(
        (got.text.as_str(), got.usage, got.finish),
        ("Wait.", (3, 4), Some(Finish::ToolCalls))
    );
    assert_eq!(got.calls, [call("pace", "{}")]);
}

#[tokio::test]
async fn a_refusal_is_read_as_answer_text_and_reasoning_is_kept_separate() {
    let got = answer_to(
        Reply::new()
            .think("Hm.")
            .delta(&json!({"reasoning": "So."}))
            .delta(&json!({"refusal": "I cannot."})),
    )
    .await;
    assert_eq!((got.reasoning.as_str(), got.text.as_str()), ("Hm.So.", "I cannot."));
}
