//! Tests of situations with chat-completions servers that people run or rent: unknown members are
//! sent back, thoughts are not part of the answer, refused parts are omitted, and the client waits
//! while a model is loading.

use std::time::Duration;

use engine::ports::{Finish, Message, Model, ModelErrorKind, ModelEvent, ModelRequest, ToolDef};
use futures::StreamExt;
use kit::model_server::{ModelServer, Reply};
use models::{Config, Provider};
use serde_json::{Value, json};

use crate::support::{
    Answer, Conversation, answer, collect, config, join_answer, provider, question, world,
    world_after,
};

fn tool(name: &'static str) -> ToolDef {
    ToolDef {
        name: name.into(),
        description: "A tool.".into(),
        parameters: engine::ports::OutboundValue::fixed(r#"{"type":"object","properties":{}}"#),
    }
}

pub fn with_tools() -> ModelRequest {
    ModelRequest { tools: vec![tool("pace")], ..question() }
}

pub async fn ask(model: &dyn Model, request: ModelRequest) -> Answer {
    let events: Vec<_> = model.stream(request).collect().await;
    let events: Vec<_> =
        events.into_iter().filter(|event| !matches!(event, Ok(ModelEvent::Loading))).collect();
    join_answer(&events)
}

/// Returns a call with these additional members, and a message with these additional members.
fn call_with(of_message: Value, of_call: Value) -> Reply {
    let mut call = json!({"index": 0, "id": "w", "type": "function",
        "function": {"name": "pace", "arguments": "{}"}});
    call.as_object_mut().unwrap().extend(of_call.as_object().unwrap().clone());
    Reply::new().delta(&of_message).delta(&json!({"tool_calls": [call]}))
}

/// Returns the message with the call as sent back in this request.
fn brought_back(server: &ModelServer, request: usize) -> Value {
    let messages = server.requests()[request]["messages"].clone();
    let list = messages.as_array().unwrap();
    list.iter().find(|message| message.get("tool_calls").is_some()).unwrap().clone()
}

#[tokio::test]
async fn extra_members_that_a_server_sent_with_a_call_are_sent_back() {
    let signature = "Et\u{2028}8C\\n==";
    let cases = [
        (json!({"reasoning_content": "I look\n\"here\"."}), json!({})),
        (json!({}), json!({"extra_content": {"google": {"thought_signature": signature}}})),
        (
            json!({"reasoning": "Hm.", "reasoning_details": [
                {"type": "reasoning.text", "text": "Hm.", "signature": signature, "format": "a-v1", "index": 0},
                {"type": "reasoning.encrypted", "data": "gAAA", "id": "rs_1", "format": "o-v1", "index": 1}]}),
            json!({}),
        ),
        (json!({"vendor": {"trace": [1, 2.5, null, true]}}), json!({"signature": signature})),
    ];
    for (of_message, of_call) in cases {
        let server = ModelServer::start([
            call_with(of_message.clone(), of_call.clone()),
            Reply::text(["On track."]),
        ])
        .await;
        let mut talk = Conversation::asking("Pace?");
        assert_eq!(talk.until_answered(&provider(&server)).await.text, "On track.");
        let message = brought_back(&server, 1);
        for (name, value) in of_message.as_object().unwrap() {
            assert_eq!(&message[name], value, "{message}");
        }
        for (name, value) in of_call.as_object().unwrap() {
            assert_eq!(&message["tool_calls"][0][name], value, "{message}");
        }
        server.assert_clean();
    }
}

#[tokio::test]
async fn extra_members_from_one_model_are_not_sent_to_another_model() {
    let server = ModelServer::start([
        call_with(json!({"reasoning_content": "secret thoughts"}), json!({"signature": "S"})),
        Reply::text(["Done."]),
    ])
    .await;
    let mut talk = Conversation::asking("Pace?");
    talk.round(&provider(&server)).await;
    let other = Config { model: "another".into(), ..config(&server.base_url()) };
    talk.round(&Provider::new(other, world()).unwrap()).await;
    let body = server.requests()[1].to_string();
    assert!(!body.contains("secret thoughts") && !body.contains("\"signature\""), "{body}");
}

#[tokio::test]
async fn streamed_and_whole_answers_keep_the_same_extra_members() {
    let whole = json!({"choices": [{"finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": null, "reasoning_content": "Let me see.",
        "tool_calls": [{"id": "w", "type": "function", "function": {"name": "pace", "arguments": "{}"}}]}}]});
    let pieces = Reply::new()
        .delta(&json!({"role": "assistant", "content": null, "reasoning_content": "Let "}))
        .delta(&json!({"reasoning_content": "me "}))
        .delta(&json!({"reasoning_content": "see."}))
        .ask("pace", &json!({}));
    for reply in [Reply::json(200, &whole), pieces] {
        let server = ModelServer::start([reply, Reply::text(["Yes."])]).await;
        Conversation::asking("Pace?").until_answered(&provider(&server)).await;
        assert_eq!(brought_back(&server, 1)["reasoning_content"], "Let me see.");
    }
}

#[tokio::test]
async fn a_request_is_repeated_without_extra_members_if_the_server_refuses_them() {
    let refusal = json!({"message": "Extra inputs are not permitted: reasoning_content"});
    let server = ModelServer::start([
        call_with(json!({"reasoning_content": "Hm."}), json!({})),
        Reply::refusal(400, &refusal),
        Reply::text(["Yes."]),
    ])
    .await;
    let got = Conversation::asking("Pace?").until_answered(&provider(&server)).await;
    assert_eq!(got.text, "Yes.");
    assert!(brought_back(&server, 2).get("reasoning_content").is_none());
}

#[tokio::test]
async fn text_in_thought_tags_is_read_as_thoughts() {
    let cases = [
        (vec!["<thi", "nk>\nHm, so", ".\n</thi", "nk>\n\nYes."], "\nHm, so.\n", "Yes."),
        (vec!["<reasoning>a</reasoning>b"], "a", "b"),
        (vec!["No tags, 1 < 2."], "", "No tags, 1 < 2."),
        (
            vec!["`<think>` is a tag, ", "`</think>` another."],
            "",
            "`<think>` is a tag, `</think>` another.",
        ),
    ];
    for (pieces, thoughts, text) in cases {
        let server = ModelServer::start([Reply::text(&pieces)]).await;
        let got = answer(&provider(&server)).await;
        assert_eq!((got.reasoning.as_str(), got.text.as_str()), (thoughts, text), "{pieces:?}");
    }
}

#[tokio::test]
async fn thoughts_in_tags_before_a_call_are_not_sent_back_as_text() {
    for begin in ["<think>I call it.</think>", "I call it.\n</think>\n\n"] {
        let server = ModelServer::start([
            Reply::new().say(begin).ask("pace", &json!({})),
            Reply::text(["Yes."]),
        ])
        .await;
        let mut talk = Conversation::asking("Pace?");
        talk.until_answered(&provider(&server)).await;
        let sent = brought_back(&server, 1);
        assert_eq!(sent["content"], Value::Null, "{sent}");
        assert!(!server.requests()[1].to_string().contains("I call it"));
    }
}

#[tokio::test]
async fn text_before_a_closing_thought_tag_is_withdrawn_as_thoughts() {
    let server = ModelServer::start([Reply::text(["Hm, ", "so.\n</think>", "\n\nYes."])]).await;
    let events = collect(&provider(&server)).await;
    let at = events.iter().position(|event| *event == Ok(ModelEvent::WasThought)).unwrap();
    assert_eq!(join_answer(&events[..at]).text, "Hm, so.\n");
    assert_eq!(join_answer(&events[at + 1..]).text, "Yes.");
}

#[tokio::test]
async fn a_call_written_as_text_becomes_a_call_if_the_tool_is_known() {
    let cases = [
        (
            vec!["I look.\n<tool_", "call>{\"name\":\"pace\",\"arguments\":{\"a\":1}}</tool_call>"],
            "I look.\n",
            true,
        ),
        (vec!["[TOOL_CALLS][{\"name\":\"pace\",\"arguments\":{\"a\":1}}]"], "", true),
        (
            vec![
                "<think>Which?</think><tool_call>{\"name\":\"pace\",\"arguments\":{\"a\":1}}</tool_call>",
            ],
            "",
            true,
        ),
        (
            vec!["<tool_call>{\"name\":\"other\",\"arguments\":{}}</tool_call>"],
            "<tool_call>{\"name\":\"other\",\"arguments\":{}}</tool_call>",
            false,
        ),
    ];
    for (pieces, text, is_call) in cases {
        let server = ModelServer::start([Reply::text(&pieces)]).await;
        let got = ask(&provider(&server), with_tools()).await;
        let calls =
            if is_call { vec![("pace".to_owned(), r#"{"a":1}"#.to_owned())] } else { vec![] };
        let finish = if is_call { Finish::ToolCalls } else { Finish::Stop };
        assert_eq!((got.text.as_str(), got.calls, got.finish), (text, calls, Some(finish)));
    }
}

#[tokio::test]
async fn a_call_written_as_text_and_cut_at_the_output_limit_stays_text() {
    let said = "[TOOL_CALLS][{\"name\":\"pace\",\"arguments\":{\"a\":1}}]";
    let choice = json!({"delta": {"content": said}, "finish_reason": "length"});
    let server =
        ModelServer::start([Reply::events(&[json!({"choices": [choice]})]).data("[DONE]")]).await;
    let got = ask(&provider(&server), with_tools()).await;
    assert_eq!((got.text.as_str(), got.calls), (said, vec![]));
    assert_eq!(got.finish, Some(Finish::Length));
}

#[tokio::test]
async fn malformed_members_are_skipped_and_the_answer_is_kept() {
    let say = |text: &str| format!(r#"{{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#);
    let cases = [
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":"11","completion_tokens":null}}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":"none"}"#,
        r#"{"choices":[{"delta":{"tool_calls":"none"},"finish_reason":"stop"}]}"#,
        r#"{"choices":[{"delta":"","finish_reason":"stop"}],"usage":[]}"#,
        r#"{"choices":[null,{"delta":{"tool_calls":[null,7]},"finish_reason":"stop"}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"stop"}],"error":""}"#,
        r#"{"choices":[{"delta":{},"finish_reason":7}],"error":{}}"#,
    ];
    for odd in cases {
        let server = ModelServer::start([Reply::raw(format!(
            "data: {}\n\ndata: {odd}\n\ndata: [DONE]\n\n",
            say("Yes.")
        ))])
        .await;
        let got = answer(&provider(&server)).await;
        assert_eq!((got.text.as_str(), got.error), ("Yes.", None), "{odd}");
    }
    let counted = r#"{"choices":[],"usage":{"prompt_tokens":"11","completion_tokens":7.0}}"#;
    let server = ModelServer::start([Reply::raw(format!(
        "data: {}\n\ndata: {counted}\n\ndata: [DONE]\n\n",
        say("Yes.")
    ))])
    .await;
    assert_eq!(answer(&provider(&server)).await.usage, (11, 7));
}

#[tokio::test]
async fn null_and_empty_arguments_are_read_as_an_empty_object() {
    for arguments in [json!(null), json!("null"), json!(""), json!({})] {
        let call = json!({"tool_calls": [{"index": 0, "id": "w", "type": "function",
            "function": {"name": "pace", "arguments": arguments}}]});
        let server = ModelServer::start([Reply::new().delta(&call)]).await;
        let got = ask(&provider(&server), with_tools()).await;
        assert_eq!(got.calls, [("pace".to_owned(), "{}".to_owned())], "{call}");
    }
}

#[tokio::test]
async fn a_whole_answer_is_read_with_any_content_type() {
    let body = json!({"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]});
    for kind in ["text/plain", "application/json", "text/event-stream", "application/octet-stream"]
    {
        let server =
            ModelServer::start([Reply::raw(format!("\n {body}")).header("content-type", kind)])
                .await;
        assert_eq!(answer(&provider(&server)).await.text, "Yes.", "{kind}");
    }
    let stream = Reply::text(["Yes."]).header("content-type", "application/json");
    let server = ModelServer::start([stream]).await;
    assert_eq!(answer(&provider(&server)).await.text, "Yes.", "events that are called JSON");
}

#[tokio::test]
async fn after_a_refusal_of_tools_requests_have_no_tools_for_a_day() {
    let cases = [
        (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
        (
            400,
            "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
        ),
        (500, "tools param requires --jinja flag"),
        (404, "No endpoints found that support tool use."),
    ];
    for (status, said) in cases {
        let server = ModelServer::start([
            Reply::refusal(status, &json!({"message": said})),
            Reply::text(["Hello."]).repeated(),
        ])
        .await;
        let model = provider(&server);
        assert!(!model.refuses_tools());
        let got = ask(&model, with_tools()).await;
        assert_eq!((got.text.as_str(), got.error), ("Hello.", None), "{said}");
        assert!(model.refuses_tools(), "{said}");
        ask(&model, with_tools()).await;
        let had_tools: Vec<bool> =
            server.requests().iter().map(|body| body.get("tools").is_some()).collect();
        assert_eq!(had_tools, [true, false, false], "{said}");
        let later = Provider::new(config(&server.base_url()), world_after(25 * 60)).unwrap();
        assert!(!later.refuses_tools());
        let other = Config { model: "another".into(), ..config(&server.base_url()) };
        assert!(!Provider::new(other, world()).unwrap().refuses_tools());
    }
}

#[tokio::test]
async fn a_refusal_of_one_tool_is_shown_and_keeps_the_tools() {
    let said =
        "tools.3.custom.input_schema: JSON schema is invalid. It must match a supported draft";
    let server =
        ModelServer::start([Reply::refusal(400, &json!({"message": said})).repeated()]).await;
    let model = provider(&server);
    let error = ask(&model, with_tools()).await.error.unwrap();
    assert!(error.message_with_quote().contains(&format!("“{said}”")), "{error:?}");
    assert!(!model.refuses_tools());
    // The second request describes the tools in the simple form.
    assert_eq!(server.requests().len(), 2);
    assert!(server.requests().iter().all(|body| body.get("tools").is_some()));
}

#[tokio::test]
async fn a_refusal_with_another_cause_is_shown_with_the_servers_text() {
    let said = "Conversation roles must alternate user/assistant/user/assistant/...";
    let server =
        ModelServer::start([Reply::refusal(400, &json!({"message": said})).repeated()]).await;
    let error = ask(&provider(&server), with_tools()).await.error.unwrap();
    assert!(error.message_with_quote().contains(&format!("“{said}”")), "{error:?}");
    assert!(error.hint.unwrap().contains("chat template"));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_refused_name_of_the_output_limit_is_replaced_by_its_other_name() {
    let said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
    let server = ModelServer::start([
        Reply::refusal(400, &json!({"message": said})),
        Reply::text(["Yes."]).repeated(),
    ])
    .await;
    let request = || ModelRequest { max_output_tokens: Some(99), ..question() };
    for _ in 0..2 {
        assert_eq!(ask(&provider(&server), request()).await.text, "Yes.");
    }
    let names: Vec<bool> =
        server.requests().iter().map(|body| body["max_completion_tokens"] == 99).collect();
    assert_eq!(names, [false, true, true]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_loading_its_model_is_awaited() {
    let loading = || {
        Reply::refusal(
            503,
            &json!({"code": 503, "message": "Loading model", "type": "unavailable_error"}),
        )
    };
    let replies = (0..20).map(|_| loading()).chain([Reply::text(["Ready."])]);
    let server = ModelServer::start(replies).await;
    let once = Config { max_retries: 0, ..config(&server.base_url()) };
    let events = collect(&Provider::new(once, world()).unwrap()).await;
    assert!(events.contains(&Ok(ModelEvent::Loading)));
    let text = events.iter().any(|event| *event == Ok(ModelEvent::Text("Ready.".into())));
    assert!(text, "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_finishes_loading_is_given_up_at_the_time_limit() {
    let loading = Reply::refusal(503, &json!({"error": "Model m is currently loading"}));
    let server = ModelServer::start([loading.repeated()]).await;
    let brief = Config { idle_timeout: Duration::from_secs(5), ..config(&server.base_url()) };
    let error = ask(&Provider::new(brief, world()).unwrap(), question()).await.error.unwrap();
    assert!(error.message.contains("still loading"), "{error:?}");
}

#[tokio::test]
async fn the_error_hint_names_the_missing_path_of_an_address() {
    let unexpected = json!({"error": "Unexpected endpoint or method. (POST /chat/completions)"});
    let app = axum::Router::new().fallback(move || {
        let body = unexpected.to_string();
        async move { body }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let served = tokio::spawn(async move { drop(axum::serve(listener, app).await) });
    let error = answer(&Provider::new(config(&base), world()).unwrap()).await.error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::BadRequest);
    assert!(error.hint.unwrap().contains(&format!("{base}/v1")));
    served.abort();
}

#[tokio::test]
async fn roles_alternate_in_requests_to_servers_with_strict_templates() {
    let server = ModelServer::start([Reply::text(["Yes."])]).await;
    let said = |text: &'static str| Message::User { text: text.into() };
    let messages = vec![
        Message::System { text: "Be brief.".into() },
        said("Hello?"),
        said("Are you there?"),
        Message::System { text: "Answer now.".into() },
    ];
    ask(&provider(&server), ModelRequest { messages, ..question() }).await;
    let roles: Vec<String> = server.requests()[0]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(roles, ["system", "user"]);
    server.assert_clean();
}
