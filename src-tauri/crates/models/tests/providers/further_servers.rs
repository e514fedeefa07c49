//! Tests of further situations from public reports about model servers and their clients: calls,
//! thoughts and chunks in non-conforming forms, each kind as one table.

use engine::ports::{Finish, Message};
use kit::model_server::{ModelServer, Reply};
use models::Provider;
use serde_json::{Value, json};

use crate::local_servers::{ask, with_tools};
use crate::support::{Answer, Conversation, answer, config, provider, world};

/// Returns the answer to a request with tools, for these chunks.
async fn read(chunks: &[Value]) -> Answer {
    let server = ModelServer::start([Reply::events(chunks).data("[DONE]")]).await;
    ask(&provider(&server), with_tools()).await
}

fn chunk(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta}]})
}

fn part(index: Value, id: &str, name: &str, arguments: &str) -> Value {
    chunk(json!({"tool_calls": [{"index": index, "id": id, "type": "function",
        "function": {"name": name, "arguments": arguments}}]}))
}

/// Based on gcli2api#406, hermes-agent#62940, openai-agents-js#712, cogito#66,
/// quarkus-langchain4j#2642, llama-cpp-python (older form of a call), Kilo-Org/cloud#4753.
#[tokio::test]
async fn calls_in_nonstandard_forms_of_servers_are_read() {
    let zero = || json!(0);
    let older = |name: &str, arguments: &str| {
        chunk(json!({"function_call": {"name": name, "arguments": arguments}}))
    };
    /// The situation, the chunks, and the names and arguments of the calls.
    type Case = (&'static str, Vec<Value>, &'static [(&'static str, &'static str)]);
    let cases: Vec<Case> = vec![
        (
            "parallel calls under one index, without ids",
            vec![part(zero(), "", "pace", r#"{"a":1}"#), part(zero(), "", "pace", r#"{"a":2}"#)],
            &[("pace", r#"{"a":1}"#), ("pace", r#"{"a":2}"#)],
        ),
        (
            "parallel calls of two tools under one index and id",
            vec![part(zero(), "c", "pace", r#"{"a":1}"#), part(zero(), "c", "cart", r#"{"b":2}"#)],
            &[("pace", r#"{"a":1}"#), ("cart", r#"{"b":2}"#)],
        ),
        (
            "the arguments of several calls in one text",
            vec![part(zero(), "c", "pace", r#"{"a":1}{"a":2}"#)],
            &[("pace", r#"{"a":1}"#), ("pace", r#"{"a":2}"#)],
        ),
        (
            "an empty object before the arguments",
            vec![part(zero(), "c", "pace", "{}"), part(zero(), "", "", r#"{"a":1}"#)],
            &[("pace", r#"{"a":1}"#)],
        ),
        (
            "the whole arguments again at the end",
            vec![part(zero(), "c", "pace", r#"{"a":1}"#), part(zero(), "c", "", r#"{"a":1}"#)],
            &[("pace", r#"{"a":1}"#)],
        ),
        (
            "arguments that were encoded twice",
            vec![part(zero(), "c", "pace", r#""{\"a\":1.10}""#)],
            &[("pace", r#"{"a":1.10}"#)],
        ),
        (
            // See vllm#32587.
            "a name with tokens of the model's format",
            vec![
                part(zero(), "c", "pace<|channel|>commentary", "{}"),
                part(json!(1), "d", "functions.pace:1", "{}"),
            ],
            &[("pace", "{}"), ("pace", "{}")],
        ),
        ("a list for no arguments", vec![part(zero(), "c", "pace", "[]")], &[("pace", "{}")]),
        (
            "the older form of a call",
            vec![older("pace", ""), older("", r#"{"a""#), older("", ":1}")],
            &[("pace", r#"{"a":1}"#)],
        ),
        (
            "both forms of one call",
            vec![chunk(json!({"function_call": {"name": "pace", "arguments": "{}"},
                "tool_calls": [{"index": 0, "id": "c", "function": {"name": "pace", "arguments": "{}"}}]}))],
            &[("pace", "{}")],
        ),
    ];
    for (what, chunks, calls) in cases {
        let got = read(&chunks).await;
        let calls: Vec<(String, String)> =
            calls.iter().map(|(name, text)| ((*name).into(), (*text).into())).collect();
        assert_eq!((got.calls, got.finish), (calls, Some(Finish::ToolCalls)), "{what}");
    }
}

/// One call that is read as several calls is sent back with as many results, and with the members
/// of the first call.
#[tokio::test]
async fn a_call_with_two_argument_objects_is_sent_back_as_two_calls() {
    let came = chunk(json!({"tool_calls": [{"index": 0, "id": "c", "signature": "S",
        "function": {"name": "pace", "arguments": r#"{"a":1}{"a":2}"#}}]}));
    let server =
        ModelServer::start([Reply::events(&[came]).data("[DONE]"), Reply::text(["Yes."])]).await;
    let got = Conversation::asking("Both?").until_answered(&provider(&server)).await;
    assert_eq!(got.text, "Yes.");
    let sent = server.requests()[1]["messages"][2]["tool_calls"].clone();
    assert_eq!((&sent[0]["signature"], sent[1].get("signature")), (&json!("S"), None), "{sent}");
    server.assert_clean();
}

/// Based on vllm#32926, opilot#149, MiniMax M2, Kimi K2, GLM 4.5, DeepSeek V3 and gpt-oss behind
/// servers without a parser for them. A text that is not a call of an offered tool stays text.
#[tokio::test]
async fn calls_written_as_text_by_further_models_become_calls() {
    let cases = [
        "```json\n{\"name\": \"pace\", \"arguments\": {\"a\":1}}\n```",
        "<tools>\n{\"name\": \"pace\", \"arguments\": {\"a\":1}}\n</tools>",
        "<minimax:tool_call>\n<invoke name=\"pace\">\n<parameter name=\"a\">[1]</parameter>\n</invoke>\n</minimax:tool_call>",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.pace:0<|tool_call_argument_begin|>{\"a\":1}<|tool_call_end|><|tool_calls_section_end|>",
        "<tool_call>pace\n<arg_key>a</arg_key>\n<arg_value>[1]</arg_value>\n</tool_call>",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>pace\n```json\n{\"a\":1}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "<|channel|>commentary to=functions.pace <|constrain|>json<|message|>{\"a\":1}<|call|>",
    ];
    for said in cases {
        let pieces: Vec<String> = said
            .chars()
            .collect::<Vec<_>>()
            .chunks(5)
            .map(|piece| piece.iter().collect())
            .collect();
        let server = ModelServer::start([Reply::text(&pieces)]).await;
        let got = ask(&provider(&server), with_tools()).await;
        assert_eq!((got.text.as_str(), got.calls.len()), ("", 1), "{said}: {got:?}");
        let unknown = said.replace("pace", "unknown");
        let server = ModelServer::start([Reply::text([&unknown])]).await;
        let got = ask(&provider(&server), with_tools()).await;
        assert_eq!((got.text, got.calls.len()), (unknown, 0));
    }
}

/// Based on LibreChat#10873 and kimi-code#3928 (mirrored), aiXplain#1012 (details only), vllm#13125
/// and LocalAI#4761 (no opening tag), langchain-nvidia#345 (words before the block), Gemma and
/// Command A.
#[tokio::test]
async fn thoughts_in_further_formats_are_read_once() {
    let details = |text: &str| json!({"reasoning_details": [{"type": "reasoning.text", "text": text, "index": 0}]});
    let cases: Vec<(Vec<Value>, &str, &str)> = vec![
        (
            vec![
                json!({"reasoning": "Hm.", "reasoning_content": "Hm."}),
                json!({"content": "Yes."}),
            ],
            "Hm.",
            "Yes.",
        ),
        (vec![details("Hm"), details("."), json!({"content": "Yes."})], "Hm.", "Yes."),
        (
            vec![
                json!({"reasoning": "Hm.", "reasoning_details": details("Hm.")["reasoning_details"]}),
            ],
            "Hm.",
            "",
        ),
        (
            vec![json!({"content": "So it is 391."}), json!({"content": "</think>391"})],
            "So it is 391.",
            "391",
        ),
        (vec![json!({"content": "</think>"}), json!({"content": "Yes."})], "", "Yes."),
        (
            vec![
                json!({"content": "I look.\n<think>\nHm."}),
                json!({"content": "\n</think>\nYes."}),
            ],
            "\nHm.\n",
            "I look.\n\nYes.",
        ),
        (vec![json!({"content": "<|channel>thought\nHm.<channel|>Yes."})], "\nHm.", "Yes."),
        (
            vec![json!({"content": "<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>Yes."})],
            "Hm.",
            "Yes.",
        ),
        (
            vec![json!({"content": "The end tag is </think> here."})],
            "",
            "The end tag is </think> here.",
        ),
        (vec![json!({"content": "So:\n<think>\nnever ends"})], "", "So:\n<think>\nnever ends"),
    ];
    for (deltas, thoughts, text) in cases {
        let chunks: Vec<Value> = deltas.into_iter().map(chunk).collect();
        let got = read(&chunks).await;
        assert_eq!((got.reasoning.as_str(), got.text.as_str()), (thoughts, text), "{chunks:?}");
    }
}

/// Based on hermes-agent#80822, agent-framework#5734, cline#8384, new-api (an error member without
/// an error), Python servers (NaN), proxies in JavaScript (unpaired surrogates), gateways (an empty
/// call beside each text).
#[tokio::test]
async fn further_malformed_members_are_skipped_and_the_answer_is_kept() {
    let cases = [
        ("null", "Yes."),
        (r#"{"choices":null,"usage":{"prompt_tokens":3}}"#, "Yes."),
        (r#"{"choices":[{"delta":null,"finish_reason":null}]}"#, "Yes."),
        (
            r#"{"choices":[{"delta":{}}],"error":{"message":"","type":"","param":null,"code":0}}"#,
            "Yes.",
        ),
        (r#"{"choices":[{"delta":{},"logprobs":NaN}],"score":-Infinity}"#, "Yes."),
        (
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"","function":{"name":"","arguments":""}}]}}]}"#,
            "Yes.",
        ),
        (r#"{"choices":[{"delta":{"tool_calls":[{}],"function_call":"none"}}]}"#, "Yes."),
        (r#"{"choices":[{"delta":{"content":{"type":"text","text":" So."}}}]}"#, "Yes. So."),
        (r#"{"choices":[{"delta":{"content":[" So",{"text":"."},null,true]}}]}"#, "Yes. So."),
        (r#"{"choices":[{"delta":{"content":7}}]}"#, "Yes.7"),
        (r#"{"choices":[{"delta":{"content":"\ud83d"}}]}"#, "Yes.\u{fffd}"),
        ("{\"choices\":[{\"delta\":{\"content\":\"\ta\"}}]}", "Yes.\ta"),
    ];
    for (odd, text) in cases {
        let say = chunk(json!({"content": "Yes."}));
        let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
        let stream = format!("data: {say}\n\ndata: {odd}\n\ndata: {end}\n\ndata: [DONE]\n\n");
        let server = ModelServer::start([Reply::raw(stream)]).await;
        let got = answer(&provider(&server)).await;
        assert_eq!((got.text.as_str(), &got.error), (text, &None), "{odd}");
        assert!(got.calls.is_empty(), "{odd}");
    }
}

/// A refusal that is followed by an answer, and the part that the second request omits.
struct Refused {
    what: &'static str,
    refusal: Reply,
    without: fn(&Value) -> bool,
}

fn has_system(body: &Value) -> bool {
    body["messages"].as_array().unwrap().iter().any(|message| message["role"] == "system")
}

fn refused(what: &'static str, refusal: Reply, without: fn(&Value) -> bool) -> Refused {
    Refused { what, refusal, without }
}

fn error(status: u16, said: &str) -> Reply {
    Reply::refusal(status, &json!({"message": said}))
}

/// Based on vllm#2964, vllm#2080, llama-cpp-python#1580, flexeval#242, Mistral (pydantic), probe#9,
/// obsidian-yolo#293, llama.cpp (schema conversion), LM Studio (an error in the stream).
#[tokio::test]
async fn a_refused_part_of_a_request_is_left_out_for_each_wording_of_the_refusal() {
    let no_tools: fn(&Value) -> bool = |body| body.get("tools").is_none();
    let no_system: fn(&Value) -> bool = |body| {
        !has_system(body) && body["messages"][0]["content"].as_str().unwrap().contains("Be brief.")
    };
    let plain: fn(&Value) -> bool = |body| {
        let function = &body["tools"][0]["function"];
        function["parameters"]["properties"]["a"] == json!({"type": "string"})
            && function["description"].as_str().unwrap().chars().count() == 1_000
    };
    let in_stream = |said: &str| {
        Reply::raw(format!("event: error\ndata: {}\n\n", json!({"error": {"message": said}})))
    };
    let param = json!({"message": "tools is not supported in this model.", "param": "tools"});
    let extra = json!({"detail": [{"type": "extra_forbidden", "loc": ["body", "tools"], "msg": "Extra inputs are not permitted"}]});
    let long = json!({"message": "Invalid 'tools[0].function.description': string too long. Expected a string with maximum length 1024", "param": "tools[0].function.description"});
    let cases = [
        refused("no system role", error(400, "System role not supported"), no_system),
        refused(
            "roles",
            error(400, "Conversation roles must alternate user/assistant/..."),
            no_system,
        ),
        refused("a template", error(500, "Jinja Exception: System role not supported"), no_system),
        refused(
            "in the stream",
            in_stream("Error rendering prompt: System role not supported"),
            no_system,
        ),
        refused("a member", Reply::refusal(400, &param), no_tools),
        refused("pydantic", Reply::json(422, &extra), no_tools),
        refused(
            "an old server",
            error(400, "Unrecognized request argument supplied: tools"),
            no_tools,
        ),
        refused(
            "in a whole answer",
            Reply::json(200, &json!({"error": {"message": "m does not support tools"}})),
            no_tools,
        ),
        refused("tools in the stream", in_stream("m does not support tools"), no_tools),
        refused("a description", Reply::refusal(400, &long), plain),
        refused(
            "a schema",
            error(400, "JSON schema conversion failed: Unrecognized schema"),
            plain,
        ),
    ];
    for Refused { what, refusal, without } in cases {
        let server = ModelServer::start([refusal, Reply::text(["Hello."]).repeated()]).await;
        let mut request = with_tools();
        request.messages.insert(0, Message::System { text: "Be brief.".into() });
        request.tools[0].description = LONG.into();
        request.tools[0].parameters = engine::ports::OutboundValue::fixed(
            r#"{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"type":"string","format":"uri"}]}}}"#,
        );
        let model = provider(&server);
        for _ in 0..2 {
            let got = ask(&model, request.clone()).await;
            assert_eq!((got.text.as_str(), got.error), ("Hello.", None), "{what}");
        }
        let left_out: Vec<bool> = server.requests().iter().map(without).collect();
        assert_eq!(left_out, [false, true, true], "{what}");
        server.assert_clean();
    }
}

/// A text with more than a thousand characters.
const LONG: &str = include_str!("further_servers.rs");

/// The names of refused members are searched in the server's whole answer, not only in its
/// sentence.
#[tokio::test]
async fn members_refused_by_their_path_are_left_out_of_the_next_request() {
    let call = chunk(json!({"reasoning_content": "Hm.", "tool_calls": [{"index": 0, "id": "c",
        "function": {"name": "pace", "arguments": "{}"}}]}));
    let extra = json!({"detail": [{"type": "extra_forbidden", "msg": "Extra inputs are not permitted",
        "loc": ["body", "messages", 2, "assistant", "reasoning_content"]}]});
    let server = ModelServer::start([
        Reply::events(&[call]).data("[DONE]"),
        Reply::json(422, &extra),
        Reply::text(["Yes."]),
    ])
    .await;
    let got = Conversation::asking("Pace?").until_answered(&provider(&server)).await;
    assert_eq!((got.text.as_str(), got.error), ("Yes.", None));
    assert!(!server.requests()[2].to_string().contains("reasoning_content"));
}

/// Based on opencode#1680 and vllm#9019 (ids), lmstudio-bug-tracker#261 (no content), hindsight#187
/// (names). The other form is remembered.
#[tokio::test]
async fn the_other_form_of_calls_and_results_is_sent_after_a_refusal_of_the_usual_form() {
    for said in [
        "Tool call id was host_1 but must be a-z, A-Z, 0-9, with a length of 9.",
        "Invalid 'content': 'content' field must be a string or an array of objects.",
        "GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty.",
    ] {
        let call = || Reply::call("pace", json!({}));
        let server =
            ModelServer::start([call(), error(400, said), call(), Reply::text(["Yes."])]).await;
        let got = Conversation::asking("Pace?").until_answered(&provider(&server)).await;
        assert_eq!((got.text.as_str(), got.error), ("Yes.", None), "{said}");
        for request in &server.requests()[2..] {
            let (asked, result) = (&request["messages"][2], &request["messages"][3]);
            let id = asked["tool_calls"][0]["id"].as_str().unwrap();
            assert_eq!((&asked["content"], id.len()), (&json!(""), 9), "{request}");
            assert_eq!((&result["tool_call_id"], &result["name"]), (&json!(id), &json!("pace")));
        }
        server.assert_clean();
    }
}

/// Based on chatgpt-copilot#659 and Yuxi#111 (a path of another API), MiniMax (an error with status
/// 200), vLLM (an error object in the stream), llama.cpp (a context error with status 500),
/// vscode#254189.
#[tokio::test]
async fn errors_in_further_formats_are_reported_with_their_cause() {
    let minimax = json!({"id": "", "choices": null, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}});
    let of_vllm = json!({"object": "error", "message": "engine died", "type": "InternalServerError", "code": 500});
    let cases = [
        ("v1", Reply::json(200, &minimax), "insufficient balance", ""),
        ("v1", Reply::raw(format!("data: {of_vllm}\n\n")), "engine died", ""),
        (
            "v1",
            Reply::raw("event: error\ndata: out of memory\n\n"),
            "out of memory",
            "smaller model",
        ),
        (
            "v1",
            error(500, "the request exceeds the available context size"),
            "too long",
            "larger window",
        ),
        (
            "v1",
            Reply::refusal(
                400,
                &json!({"message": "Invalid 'tools': array too long. Expected an array with maximum length 64", "param": "tools", "code": "array_above_max_length"}),
            ),
            "array too long",
            "Switch off servers",
        ),
        ("api", Reply::raw(""), "", "/v1"),
    ];
    for (path, reply, told, hint) in cases {
        let server = ModelServer::start([reply.repeated()]).await;
        let base = server.base_url().replace("/v1", &format!("/{path}"));
        let once = models::Config { max_retries: 0, ..config(&base) };
        let got = ask(&Provider::new(once, world()).unwrap(), with_tools()).await;
        let failed = got.error.unwrap();
        assert!(failed.message_with_quote().contains(told), "{failed:?}");
        assert!(failed.hint.as_ref().is_some_and(|text| text.contains(hint)), "{failed:?}");
    }
}

/// Based on openinterpreter#540, pi#1887 (servers that swap models), Ollama#4131 (a model that
/// cannot be loaded).
#[tokio::test(start_paused = true)]
async fn a_loading_model_is_awaited_and_a_failed_load_is_not() {
    for (status, said, is_waited_for) in [
        (503, "Model meta-llama/Llama-2-7b is currently loading", true),
        (502, "upstream is still starting", true),
        (504, "the model is warming up", true),
        (425, "Loading model", true),
        (500, "error loading model: unable to allocate CUDA0 buffer", false),
        (503, "error loading model: out of memory", false),
    ] {
        let replies = (0..9).map(|_| error(status, said)).chain([Reply::text(["Ready."])]);
        let server = ModelServer::start(replies).await;
        let got = ask(&provider(&server), with_tools()).await;
        assert_eq!(got.text == "Ready.", is_waited_for, "{status} {said}: {got:?}");
        assert_eq!(server.requests().len(), if is_waited_for { 10 } else { 3 }, "{said}");
    }
}
