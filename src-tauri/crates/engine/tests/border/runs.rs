//! Tests of the run contract, rule by rule, in the order of its reference (sections 2, 3, 5 and
//! 10).

use std::sync::Arc;

use contract::{
    AgentError, ConversationKey, ConversationScope, Decision, Effect, ErrorCode, ItemBody,
    KeySource, RunEventType, RunParams, RunResponse, ToolCallParams, ToolId, ToolSpec,
    manifest::{Backoff, OutputTrust},
};
use engine::{Engine, ports::*};
use serde_json::{Value, json};

use crate::world::{Bench, Say, agent, tool};

fn request(id: &str) -> Value {
    json!({"contract_version": "1.0", "request_id": id, "input": "hello"})
}

fn params(request: &Value) -> RunParams {
    RunParams {
        request: request.to_string(),
        caller: "test".into(),
        correlation_id: None,
        stream: false,
    }
}

async fn run(bench: &Bench, request: &Value) -> Result<RunResponse, AgentError> {
    bench.engine.runs.run(params(request)).await
}

fn with(name: &str, value: Value) -> Value {
    let mut all = request("r");
    all[name] = value;
    all
}

// --- 2. RunRequest ---

#[tokio::test(start_paused = true)]
async fn agent_run_2_an_invalid_request_is_refused_with_a_list_of_every_problem() {
    let bench = Bench::new(vec![]);
    let mut wrong = request("r");
    wrong["colour"] = json!(1);
    wrong["size"] = json!(2);
    wrong.as_object_mut().unwrap().remove("input");
    let error = run(&bench, &wrong).await.unwrap_err();
    assert_eq!(
        (error.code, error.retryable, error.reason_text()),
        (ErrorCode::InvalidInput, false, Some("invalid_request"))
    );
    assert_eq!(error.details["request_id"], "r");
    let paths: Vec<&str> = error.details["validation"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["/colour", "/size", "/input"]);
    let refused = [
        (with("input", json!("  ")), "/input"),
        (with("request_id", json!("x".repeat(129))), "/request_id"),
        (with("request_id", json!(" ")), "/request_id"),
        (with("conversation_id", json!("")), "/conversation_id"),
        (with("input", json!("x".repeat(20_001))), "/input"),
        (with("input", json!(7)), "/input"),
        (with("contract_version", json!(1.0)), "/contract_version"),
        (with("request_id", json!(null)), "/request_id"),
        (with("conversation_id", json!(["c"])), "/conversation_id"),
        (with("context", json!([1])), "/context"),
        (with("options", json!([])), "/options"),
        (with("options", json!({"response_mode": "loud"})), "/options/response_mode"),
        (with("options", json!({"max_output_tokens": -1})), "/options/max_output_tokens"),
    ];
    for (wrong, path) in refused {
        let error = run(&bench, &wrong).await.unwrap_err();
        let problems = error.details["validation"].as_array().unwrap();
        assert_eq!((problems.len(), problems[0]["path"].as_str()), (1, Some(path)), "{problems:?}");
        assert!(!problems[0]["problem"].as_str().unwrap().is_empty());
    }
    let many = json!({"contract_version": 1, "request_id": "c", "context": 7, "more": true, "options": {"response_mode": 1, "max_output_tokens": "few"}});
    let error = run(&bench, &many).await.unwrap_err();
    let paths: Vec<&str> = error.details["validation"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["path"].as_str().unwrap())
        .collect();
    assert_eq!(
        paths,
        [
            "/more",
            "/input",
            "/contract_version",
            "/context",
            "/options/response_mode",
            "/options/max_output_tokens"
        ]
    );
    assert!(
        run(&bench, &with("options", json!({"something_else": true}))).await.is_ok(),
        "options are open"
    );
    assert!(run(&bench, &json!({"contract_version": "1.0", "request_id": "c", "input": "x", "context": {"anything": [1]}})).await.is_ok());
    assert_eq!(bench.model.requests.lock().unwrap().len(), 2, "nothing else ran");
}

#[tokio::test(start_paused = true)]
async fn agent_run_2_json_syntax_and_size_are_checked_before_the_fields() {
    let bench = Bench::new(vec![]);
    let raw = |text: &str| RunParams {
        request: text.to_owned(),
        caller: "test".into(),
        correlation_id: None,
        stream: false,
    };
    for (text, reason) in [
        ("{", "invalid_json"),
        ("7", "invalid_request"),
        (" ".repeat((1 << 20) + 1).as_str(), "request_too_large"),
    ] {
        let error = bench.engine.runs.run(raw(text)).await.unwrap_err();
        assert_eq!((error.code, error.reason_text()), (ErrorCode::InvalidInput, Some(reason)));
        assert_eq!(error.details["request_id"], Value::Null, "always there");
    }
}

#[tokio::test(start_paused = true)]
async fn agent_run_15_another_minor_version_is_accepted_and_another_major_version_refused() {
    let bench = Bench::new(vec![]);
    assert_eq!(
        run(&bench, &with("contract_version", json!("1.7"))).await.unwrap().contract_version,
        "1.7"
    );
    for version in ["2.0", "one", "", "1."] {
        let error = run(&bench, &with("contract_version", json!(version))).await.unwrap_err();
        assert_eq!(
            (error.code, error.reason_text()),
            (ErrorCode::InvalidInput, Some("unsupported_contract_version")),
            "{version}"
        );
        assert_eq!(error.details["supported"], json!(["1.0"]));
    }
}

#[tokio::test(start_paused = true)]
async fn agent_run_2_a_model_cannot_change_context_values_of_the_caller() {
    let mut spec = tool("cart.get", Effect::ReadOnly);
    spec.caller_owned = vec![contract::CallerParam {
        name: "basketId".into(),
        from: "basket".into(),
        exempt_from_hash: false,
    }];
    let bench = Bench::new(vec![spec]);
    bench.model.then(vec![Say::Call("cart_get", json!({"q": "x"}))]);
    run(&bench, &with("context", json!({"basket": "b-7", "unknown": 1}))).await.unwrap();
    assert_eq!(bench.tools.runs.lock().unwrap()[0].1, json!({"q": "x", "basketId": "b-7"}));
}

#[tokio::test(start_paused = true)]
async fn agent_run_7_the_memory_key_of_a_run_comes_from_the_callers_context() {
    for (source, name) in [(KeySource::Header, "X-User"), (KeySource::RequestField, "user.id")] {
        for own in [false, true] {
            let bench = Bench::new(vec![]);
            let mut policy = bench.profile.settings.lock().unwrap().conversation.clone();
            policy.scope = ConversationScope::PerUser;
            policy.key = ConversationKey { source, name: name.into() };
            let bench = match own {
                true => {
                    bench.with(vec![Agent { conversation: Some(policy), ..agent("clerk", &[]) }])
                }
                false => {
                    bench.profile.settings.lock().unwrap().conversation = policy;
                    bench
                }
            };
            for (n, who) in ["ann", "bob", "ann"].into_iter().enumerate() {
                let mut wanted = request(&format!("r{n}"));
                wanted["conversation_id"] = json!(format!("talk-{n}"));
                wanted["input"] = json!(format!("question {n} of {who}"));
                wanted["context"] = match source {
                    KeySource::Header => json!({"headers": {"x-user": who, "cookie": "c"}}),
                    KeySource::RequestField | KeySource::ConversationId => {
                        json!({"user": {"id": who}, "other": 1})
                    }
                };
                run(&bench, &wanted).await.unwrap();
                while bench.engine.turns.running() > 0 {
                    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                }
                let kept = json!(
                    bench
                        .world
                        .store
                        .session_values(&format!("talk-{n}").as_str().into())
                        .await
                        .unwrap()
                )
                .to_string();
                assert!(!kept.contains("cookie") && !kept.contains("other"), "{kept}");
            }
            let requests = bench.model.requests.lock().unwrap();
            let said = |n: usize| format!("{:?}", requests[n].messages);
            assert!(!said(1).contains("of ann"), "{name}: what ann said is not for bob");
            assert!(
                said(2).contains("question 0 of ann") && !said(2).contains("of bob"),
                "{name}: ann goes on in another conversation: {}",
                said(2)
            );
        }
    }
}

// --- 2. RunResponse ---

#[tokio::test(start_paused = true)]
async fn agent_run_2_a_response_contains_all_fields_of_the_contract() {
    let bench =
        Bench::new(vec![tool("a.read", Effect::ReadOnly), tool("b.read", Effect::ReadOnly)]);
    bench.tools.behaviours.lock().unwrap().insert(
        "b.read".into(),
        Box::new(|_| {
            Err(ToolFailure {
                error: AgentError::internal("x", "It failed."),
                may_have_happened: false,
            })
        }),
    );
    bench.model.then(vec![
        Say::Call("b_read", json!({})),
        Say::Call("a_read", json!({})),
        Say::Uses(100, 20),
    ]);
    bench.model.then(vec![Say::Call("a_read", json!({"q": "again"})), Say::Uses(150, 10)]);
    bench.model.then(vec![Say::Text("All done."), Say::Uses(200, 30)]);
    let response = run(&bench, &request("r-1")).await.unwrap();
    let wire = json!(response);
    let expected = json!({
        "contract_version": "1.0",
        "request_id": "r-1",
        "status": "ok",
        "output": "All done.",
        "metadata": {
            "generated_at": "2026-11-20T12:00:00.000Z",
            "tools_used": ["b.read", "a.read"],
            "model": "script",
            "unpriced_models": ["script"],
        },
        "structured_output": {"results": [
            {"kind": "plain", "pack": "test", "tool": "a.read", "data": {"ok": true, "echo": {}}},
            {
                "kind": "plain",
                "pack": "test",
                "tool": "a.read",
                "data": {"ok": true, "echo": {"q": "again"}},
            },
        ]},
        "usage": {"input_tokens": 450, "output_tokens": 60, "total_tokens": 510},
    });
    assert_eq!(
        wire, expected,
        "usage is that of all calls; a tool that failed counts as used; what has no price has no cost"
    );
}

#[tokio::test(start_paused = true)]
async fn agent_run_2_the_cost_is_calculated_from_the_price_table() {
    let bench = Bench::new(vec![]);
    bench.profile.prices.lock().unwrap().price.push(contract::ModelPrice {
        model: "script".into(),
        input_usd: 2.0,
        output_usd: 10.0,
    });
    bench.model.then(vec![Say::Text("hi"), Say::Uses(1_000, 100)]);
    let response = run(&bench, &request("r")).await.unwrap();
    assert_eq!(response.usage.unwrap().estimated_cost_usd, Some(0.003));
    assert!(response.metadata.unpriced_models.is_empty() && response.metadata.tools_used.is_none());
}

#[tokio::test(start_paused = true)]
async fn agent_run_2_a_response_contains_the_results_of_all_tools() {
    let view = serde_json::from_value(json!("pacing")).unwrap();
    let pacing = ToolSpec { view, ..tool("p.read", Effect::ReadOnly) };
    let bench = Bench::new(vec![pacing, tool("a.read", Effect::ReadOnly)]);
    bench.tools.behaviours.lock().unwrap().insert(
        "p.read".into(),
        Box::new(|request| {
            let size = request.arguments["n"].as_u64().unwrap_or_default() as usize;
            Ok(json!({"text": "x".repeat(size)}))
        }),
    );
    let asks = |sizes: &[usize]| {
        for n in sizes {
            bench.model.then(vec![Say::Call("p_read", json!({"n": n}))]);
        }
        bench.model.then(vec![Say::Call("a_read", json!({}))]);
        bench.model.then(vec![Say::Text("All done.")]);
    };
    let of_tool = |kind: &str, tool: &str, name: &str, value: Value| json!({"kind": kind, "tool": tool, "pack": "test", name: value});
    let data = |n: usize| of_tool("pacing", "p.read", "data", json!({"text": "x".repeat(n)}));
    let left_out = |bytes: usize| of_tool("pacing", "p.read", "left_out", json!({"bytes": bytes}));
    let plain = of_tool("plain", "a.read", "data", json!({"echo": {}, "ok": true}));
    // The text {"text":""} around the letters has 11 bytes, and the plain result has 21.
    let table = [
        (vec![3], vec![data(3)]),
        (vec![3, 4, 3], vec![data(3), data(4)]),
        (vec![65_504], vec![data(65_504)]),
        (vec![65_505], vec![left_out(65_516)]),
        (vec![40_000, 3, 40_001], vec![left_out(40_011), data(3), data(40_001)]),
    ];
    for (at, (sizes, mut expected)) in table.into_iter().enumerate() {
        asks(&sizes);
        let response = run(&bench, &request(&format!("r-{at}"))).await.unwrap();
        expected.push(plain.clone());
        assert_eq!(json!(response.structured_output), json!({"results": expected}), "{sizes:?}");
    }
    bench.model.then(vec![Say::Text("All done.")]);
    let response = run(&bench, &request("none")).await.unwrap();
    assert_eq!(response.structured_output, None, "no tool ran");
}

#[tokio::test(start_paused = true)]
async fn agent_run_2_a_table_result_contains_its_columns_and_is_stored_with_the_response() {
    let view = json!({"shape": "table", "rows": "/items", "columns": [
        {"field": "name", "label": {"en": "Name"}, "role": "dimension"},
        {"field": "depth", "role": "measure", "unit": "m"}
    ]});
    let mut stations = tool("stations", Effect::ReadOnly);
    stations.view = serde_json::from_value(view.clone()).unwrap();
    let bench = Bench::new(vec![stations]);
    let answer = json!({"items": [{"name": "Lake", "depth": 12}]});
    let behaviour = move |_: &_| Ok(answer.clone());
    bench.tools.behaviours.lock().unwrap().insert("stations".into(), Box::new(behaviour));
    bench.model.then(vec![Say::Call("stations", json!({}))]);
    bench.model.then(vec![Say::Text("One lake.")]);
    let response = run(&bench, &request("r")).await.unwrap();
    let expected = json!({"results": [
        {"kind": "table", "tool": "stations", "pack": "test", "view": view,
         "data": {"items": [{"name": "Lake", "depth": 12}]}}
    ]});
    assert_eq!(json!(response.structured_output), expected);
    let again = run(&bench, &request("r")).await.unwrap();
    assert_eq!(again, response, "a repeat gets the stored response");
}

#[tokio::test(start_paused = true)]
async fn agent_run_2_a_request_out_of_scope_is_declined_with_status_ok() {
    let bench = Bench::new(vec![]);
    bench.model.then(vec![Say::Text("That is not what I am for."), Say::Ends(Finish::OutOfScope)]);
    let wire = json!(run(&bench, &request("r")).await.unwrap());
    assert_eq!(
        (&wire["status"], &wire["metadata"]["declined_reason"]),
        (&json!("ok"), &json!("out_of_scope"))
    );
}

/// Not only the offline model can decline: with any model, the supervisor can.
#[tokio::test(start_paused = true)]
async fn agent_run_2_a_request_that_the_supervisor_declines_has_status_ok() {
    let two = || {
        Bench::new(vec![tool("p", Effect::ReadOnly), tool("s", Effect::ReadOnly)])
            .with(vec![agent("guardian", &["p"]), agent("shopper", &["s"])])
    };
    for (reason, declined) in
        [("out_of_scope", json!("out_of_scope")), ("no_specialist_needed", Value::Null)]
    {
        let bench = two();
        let said = json!({"next": "FINISH", "instruction": "I look after campaigns and the shop.", "reason_code": reason, "entities": []}).to_string();
        bench.model.then(vec![Say::Text(Box::leak(said.into_boxed_str()))]);
        let wire = json!(run(&bench, &request("r")).await.unwrap());
        assert_eq!(
            (&wire["output"], &wire["metadata"]["declined_reason"]),
            (&json!("I look after campaigns and the shop."), &declined)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn agent_run_2_a_response_joined_from_several_specialists_contains_their_answers() {
    let bench = Bench::new(vec![tool("p", Effect::ReadOnly), tool("s", Effect::ReadOnly)])
        .with(vec![agent("guardian", &["p"]), agent("shopper", &["s"])]);
    let ask = |next: &str, reason: &str| {
        let said =
            json!({"next": next, "instruction": "Do it.", "reason_code": reason, "entities": []});
        bench.model.then(vec![Say::Text(Box::leak(said.to_string().into_boxed_str()))]);
    };
    ask("guardian", "in_field");
    bench.model.then(vec![Say::Text("| Campaign | Pace |\n|---|---|\n| A | behind |")]);
    ask("shopper", "in_field");
    bench.model.then(vec![Say::Text("Two boots.")]);
    ask("FINISH", "answered");
    bench.model.then(vec![Say::Text("One campaign is behind, and there are boots.")]);
    let response = run(&bench, &request("r")).await.unwrap();
    assert!(response.output.starts_with("One campaign is behind, and there are boots."));
    let expected = json!([
        {"agent": "guardian", "name": "Guardian", "text": "| Campaign | Pace |\n|---|---|\n| A | behind |"},
        {"agent": "shopper", "name": "Shopper", "text": "Two boots."},
    ]);
    assert_eq!(json!(response)["answers"], expected);
    assert_eq!(run(&bench, &request("r")).await.unwrap(), response, "also when repeated");
    ask("guardian", "in_field");
    bench.model.then(vec![Say::Text("All is well.")]);
    ask("FINISH", "answered");
    let wire = json!(run(&bench, &request("alone")).await.unwrap());
    assert_eq!((&wire["output"], wire.get("answers")), (&json!("All is well."), None));
}

#[tokio::test(start_paused = true)]
async fn agent_run_15_an_output_is_never_empty() {
    let bench = Bench::new(vec![]);
    bench.model.then(vec![Say::Text(" ")]);
    bench.model.then(vec![Say::Text("")]);
    assert!(!run(&bench, &request("r")).await.unwrap().output.trim().is_empty());
}

// --- 2. request_id ---

#[tokio::test(start_paused = true)]
async fn agent_run_2_a_repeated_request_id_returns_the_stored_result_for_a_day() {
    let bench = Bench::new(vec![tool("w", Effect::Write)]);
    bench.profile.settings.lock().unwrap().policy = contract::PolicyMode::WritesAllowed;
    bench.model.then(vec![Say::Call("w", json!({"q": "x"}))]);
    let first = run(&bench, &request("r")).await.unwrap();
    assert_eq!(run(&bench, &request("r")).await.unwrap(), first);
    let again = Engine::new(bench.world.clone());
    again.recover().await.unwrap();
    assert_eq!(again.runs.run(params(&request("r"))).await.unwrap(), first);
    assert_eq!(bench.runs(), ["w"], "the write ran once");
    let other = RunParams { caller: "somebody else".into(), ..params(&request("r")) };
    bench.model.then(vec![Say::Text("mine")]);
    assert_eq!(
        bench.engine.runs.run(other).await.unwrap().output,
        "mine",
        "ids are those of a caller"
    );
    // Maintenance deletes results, provided that the clock and the log agree on their age.
    bench.world.store.runs_forget(bench.clock.now()).await.unwrap();
    bench.model.then(vec![Say::Text("a new day")]);
    assert_eq!(run(&bench, &request("r")).await.unwrap().output, "a new day");
}

#[tokio::test(start_paused = true)]
async fn agent_run_2_two_concurrent_requests_with_the_same_id_run_once() {
    let bench = Bench::new(vec![tool("a.read", Effect::ReadOnly)]);
    bench.tools.slow.lock().unwrap().insert("a.read".into(), std::time::Duration::from_secs(1));
    bench.model.then(vec![Say::Call("a_read", json!({}))]);
    let same = request("r");
    let (one, two) = tokio::join!(run(&bench, &same), run(&bench, &same));
    assert_eq!(one.unwrap(), two.unwrap());
    assert_eq!(bench.runs(), ["a.read"]);
}

#[tokio::test(start_paused = true)]
async fn agent_run_2_a_run_interrupted_by_a_crash_is_not_run_again() {
    let bench = Bench::new(vec![]);
    let key = RunKey { caller: "test".into(), request: "r".into() };
    let now = bench.clock.now();
    assert_eq!(bench.world.store.run_claim(&key, now).await.unwrap(), Claim::New);
    bench.engine.recover().await.unwrap();
    let error = run(&bench, &request("r")).await.unwrap_err();
    assert_eq!(
        (error.code, error.retryable, error.reason_text()),
        (ErrorCode::InternalError, false, Some("interrupted"))
    );
    assert_eq!(error.details["request_id"], "r");
    assert!(bench.model.requests.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn agent_run_2_a_request_id_can_be_used_again_after_a_retryable_failure() {
    let bench = Bench::new(vec![]);
    bench.model.then(vec![Say::Fail(ModelErrorKind::Unavailable)]);
    assert!(run(&bench, &request("r")).await.unwrap_err().retryable);
    bench.model.then(vec![Say::Text("now")]);
    assert_eq!(run(&bench, &request("r")).await.unwrap().output, "now");
    bench.model.then(vec![Say::Fail(ModelErrorKind::Unauthorized)]);
    let kept = run(&bench, &request("s")).await.unwrap_err();
    assert!(!kept.retryable);
    assert_eq!(run(&bench, &request("s")).await.unwrap_err(), kept);
}

// --- 2. RunEvent ---

#[tokio::test(start_paused = true)]
async fn agent_run_2_deltas_equal_the_output_or_an_event_replaces_them() {
    let bench = Bench::new(vec![tool("a.read", Effect::ReadOnly)]);
    let streamed = |id: &str| RunParams { stream: true, ..params(&request(id)) };
    bench.model.then(vec![Say::Text("Hello "), Say::Text("you")]);
    let plain = bench.engine.runs.run(streamed("plain")).await.unwrap();
    let events = std::mem::take(&mut *bench.pushed.runs.lock().unwrap());
    let said: String = events
        .iter()
        .filter(|e| e.kind == RunEventType::Delta)
        .map(|e| e.data.as_ref().unwrap()["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(said, plain.output);
    assert!(
        events.iter().all(|e| !matches!(e.kind, RunEventType::Final | RunEventType::Error)),
        "the adapter ends the stream, once"
    );
    assert!(events.iter().all(|e| e.timestamp.ends_with('Z')));

    bench.model.then(vec![Say::Text("Let me look. "), Say::Call("a_read", json!({}))]);
    bench.model.then(vec![Say::Text("Found it.")]);
    assert_eq!(bench.engine.runs.run(streamed("aside")).await.unwrap().output, "Found it.");
    let events = bench.pushed.runs.lock().unwrap();
    let stages: Vec<String> = events
        .iter()
        .filter_map(|e| Some(e.data.as_ref()?.get("stage")?.as_str()?.to_owned()))
        .collect();
    assert_eq!(stages.iter().filter(|stage| *stage == "output_replaced").count(), 1, "{stages:?}");
    let tools: Vec<Value> = events
        .iter()
        .filter(|e| e.kind == RunEventType::Tool)
        .filter_map(|e| e.data.clone())
        .collect();
    assert_eq!(
        (&tools[0]["state"], &tools[0]["tool_id"], &tools[1]["state"], &tools[1]["outcome"]),
        (&json!("start"), &json!("a.read"), &json!("end"), &json!("ok"))
    );
}

#[tokio::test(start_paused = true)]
async fn agent_run_2_the_output_is_replaced_again_if_it_differs_a_second_time() {
    let bench = Bench::new(vec![tool("a.read", Effect::ReadOnly)]);
    bench.model.then(vec![
        Say::Text("Hm, so."),
        Say::Event(Box::new(Ok(ModelEvent::WasThought))),
        Say::Text("Let me look. "),
        Say::Call("a_read", json!({})),
    ]);
    bench.model.then(vec![Say::Text("Found it.")]);
    let streamed = RunParams { stream: true, ..params(&request("r")) };
    assert_eq!(bench.engine.runs.run(streamed).await.unwrap().output, "Found it.");
    let events = bench.pushed.runs.lock().unwrap();
    let replaced = |e: &contract::RunEvent| {
        e.data.as_ref().is_some_and(|data| data["stage"] == json!("output_replaced"))
    };
    let last_delta = events.iter().rposition(|e| e.kind == RunEventType::Delta).unwrap();
    let told: Vec<usize> = (0..events.len()).filter(|at| replaced(&events[*at])).collect();
    assert_eq!(told.len(), 2, "{events:?}");
    assert!(told[0] < last_delta && last_delta < told[1], "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn agent_run_2_response_mode_async_is_refused_after_all_other_checks() {
    let bench = Bench::new(vec![]);
    let error = run(&bench, &with("options", json!({"response_mode": "async"}))).await.unwrap_err();
    assert_eq!(
        (error.code, error.retryable, error.reason_text()),
        (ErrorCode::InvalidInput, false, Some("unsupported_response_mode"))
    );
    assert_eq!(
        (&error.details["validation"][0]["path"], &error.details["supported"]),
        (&json!("/options/response_mode"), &json!(["blocking", "streaming"]))
    );
    assert!(run(&bench, &request("r")).await.is_ok(), "its id was not used up");
    bench.profile.settings.lock().unwrap().agent_enabled = false;
    assert_eq!(
        run(&bench, &with("options", json!({"response_mode": "async"}))).await.unwrap_err().code,
        ErrorCode::AgentDisabled
    );
}

// --- 3. Codes ---

async fn call(bench: &Bench, tool: &str, arguments: Value) -> AgentError {
    let params =
        ToolCallParams { tool: ToolId::new(tool), arguments, session: None, headless: true };
    match bench.engine.direct_calls.call(contract::Caller::inside(), params).await {
        Ok(done) => done.error.unwrap(),
        Err(error) => error,
    }
}

#[tokio::test(start_paused = true)]
async fn agent_run_3_a_disabled_agent_is_reported_before_validation_errors() {
    let bench = Bench::new(vec![]);
    bench.profile.settings.lock().unwrap().agent_enabled = false;
    let error = bench
        .engine
        .runs
        .run(RunParams {
            request: "{".into(),
            caller: "test".into(),
            correlation_id: None,
            stream: false,
        })
        .await
        .unwrap_err();
    assert_eq!((error.code, error.retryable), (ErrorCode::AgentDisabled, false));
    assert!(error.details.contains_key("request_id"));
}

#[tokio::test(start_paused = true)]
async fn agent_run_3_model_errors_have_their_code_and_retryable_flag() {
    let bench = Bench::new(vec![]);
    let cases = [
        (ModelErrorKind::Unavailable, ErrorCode::LlmError, true),
        (ModelErrorKind::RateLimited, ErrorCode::RateLimited, true),
        (ModelErrorKind::Unauthorized, ErrorCode::LlmError, false),
    ];
    for (n, (kind, code, retryable)) in cases.into_iter().enumerate() {
        bench.model.then(vec![Say::Fail(kind)]);
        let error = run(&bench, &request(&format!("r{n}"))).await.unwrap_err();
        assert_eq!((error.code, error.retryable), (code, retryable));
        assert!(error.reason_text().is_some() && error.details["request_id"] == format!("r{n}"));
    }
}

#[tokio::test(start_paused = true)]
async fn agent_run_3_each_tool_failure_has_its_error_code() {
    let mut slow = tool("slow", Effect::ReadOnly);
    slow.max_attempts = 2;
    slow.backoff = Backoff::Fixed;
    let bench = Bench::new(vec![slow, tool("web", Effect::ReadOnly), tool("w", Effect::Write)]);
    assert_eq!(call(&bench, "nothing", json!({})).await.code, ErrorCode::ToolNotFound);
    let misfit = call(&bench, "web", json!({"n": "many"})).await;
    assert_eq!(
        (misfit.code, misfit.details["validation"][0]["path"].as_str()),
        (ErrorCode::InvalidInput, Some("/n"))
    );
    bench.tools.slow.lock().unwrap().insert("slow".into(), std::time::Duration::from_secs(3));
    let timeout = call(&bench, "slow", json!({})).await;
    assert_eq!(
        (
            timeout.code,
            timeout.retryable,
            &timeout.details["attempts"],
            &timeout.details["tool_id"]
        ),
        (ErrorCode::ToolTimeout, true, &json!(2), &json!("slow"))
    );
    let failing = AgentError::new(ErrorCode::ToolHttpError, "No.").with("status", 404);
    bench.tools.behaviours.lock().unwrap().insert(
        "web".into(),
        Box::new(move |_| Err(ToolFailure { error: failing.clone(), may_have_happened: false })),
    );
    let http = call(&bench, "web", json!({})).await;
    assert_eq!(
        (http.code, http.retryable, &http.details["status"]),
        (ErrorCode::ToolHttpError, false, &json!(404))
    );
}

#[tokio::test(start_paused = true)]
async fn agent_run_3_an_argument_that_violates_its_declared_format_is_refused() {
    let mut spec = tool("web", Effect::ReadOnly);
    let day =
        json!({"type": "object", "properties": {"day": {"type": "string", "format": "date"}}});
    (spec.input_schema, spec.full_input_schema, spec.output_schema) =
        (day.clone(), day.clone(), day);
    let bench = Bench::new(vec![spec]);
    for day in ["tomorrow", "2026-02-30", "2026-2-3"] {
        let misfit = call(&bench, "web", json!({"day": day})).await;
        assert_eq!(
            (misfit.code, misfit.details["validation"][0]["path"].as_str()),
            (ErrorCode::InvalidInput, Some("/day")),
            "{day}"
        );
    }
    // A result with a wrong date format is still accepted.
    bench
        .tools
        .behaviours
        .lock()
        .unwrap()
        .insert("web".into(), Box::new(|_| Ok(json!({"day": "soon"}))));
    let params = ToolCallParams {
        tool: "web".into(),
        arguments: json!({"day": "2026-02-28"}),
        session: None,
        headless: true,
    };
    assert_eq!(
        bench.engine.direct_calls.call(contract::Caller::inside(), params).await.unwrap().data,
        json!({"day": "soon"})
    );
}

// --- 5. Approval ---

#[tokio::test(start_paused = true)]
async fn agent_run_5_a_write_ends_with_a_pending_action_that_runs_once_approved() {
    let bench = Bench::new(vec![tool("w", Effect::Write)]);
    bench.model.then(vec![Say::Call("w", json!({"q": "x"}))]);
    let mut first = request("r1");
    first["conversation_id"] = json!("talk");
    let error = run(&bench, &first).await.unwrap_err();
    assert_eq!((error.code, error.retryable), (ErrorCode::ApprovalRequired, false));
    for key in
        ["approval_id", "tool_id", "side_effect_level", "preview", "expires_at", "request_id"]
    {
        assert!(error.details.contains_key(key), "{key} in {:?}", error.details);
    }
    let mut next = request("r2");
    next["conversation_id"] = json!("talk");
    next["context"] = json!({"approval_id": error.details["approval_id"]});
    let waiting = run(&bench, &next).await.unwrap_err();
    assert_eq!(
        (waiting.code, &waiting.details["approval_id"]),
        (ErrorCode::ApprovalRequired, &error.details["approval_id"])
    );
    assert!(bench.runs().is_empty(), "naming it is not deciding it");

    let approval = bench.approval(0).await;
    bench.decide(&approval, Decision::ApproveOnce { confirm_word: None }).await.unwrap();
    assert_eq!(bench.runs(), ["w"]);
    next["request_id"] = json!("r3");
    bench.model.then(vec![Say::Text("It is added.")]);
    assert_eq!(run(&bench, &next).await.unwrap().output, "It is added.");
    assert_eq!(bench.runs(), ["w"], "once");
    let items = bench.engine.sessions.open(&"talk".into()).await.unwrap().items;
    assert!(items.iter().any(|item| matches!(
        &item.body,
        ItemBody::ToolResult { outcome: contract::ToolOutcome::Ok, .. }
    )));

    bench.model.then(vec![Say::Call("w", json!({"q": "y"}))]);
    let mut other = request("r4");
    other["conversation_id"] = json!("talk");
    let error = run(&bench, &other).await.unwrap_err();
    let approval = bench.approval(1).await;
    bench.decide(&approval, Decision::Reject { reason: None }).await.unwrap();
    next["request_id"] = json!("r5");
    next["context"] = json!({"approval_id": error.details["approval_id"]});
    let refused = run(&bench, &next).await.unwrap_err();
    assert_eq!(
        (refused.code, refused.reason_text(), &refused.details["approvable"]),
        (ErrorCode::ApprovalRequired, Some("rejected"), &json!(false))
    );
}

#[tokio::test(start_paused = true)]
async fn agent_run_5_a_failed_tool_does_not_end_the_run() {
    let mut spec = tool("a.read", Effect::ReadOnly);
    spec.output_trust = OutputTrust::Untrusted;
    let bench = Bench::new(vec![spec]);
    let failing = AgentError::new(ErrorCode::ToolHttpError, "No.");
    bench.tools.behaviours.lock().unwrap().insert(
        "a.read".into(),
        Box::new(move |_| Err(ToolFailure { error: failing.clone(), may_have_happened: false })),
    );
    bench.model.then(vec![Say::Call("a_read", json!({}))]);
    bench.model.then(vec![Say::Text("It could not be read.")]);
    assert_eq!(run(&bench, &request("r")).await.unwrap().output, "It could not be read.");
}

// --- 10. Audit ---

#[tokio::test(start_paused = true)]
async fn agent_run_10_every_record_of_a_run_contains_the_callers_ids() {
    let bench = Bench::new(vec![tool("w", Effect::Write)]);
    bench.profile.settings.lock().unwrap().policy = contract::PolicyMode::WritesAllowed;
    bench.model.then(vec![Say::Call("w", json!({"q": "x"}))]);
    let asked = RunParams { correlation_id: Some("trace-9".into()), ..params(&request("r")) };
    bench.engine.runs.run(asked).await.unwrap();
    let listed = bench
        .log
        .log
        .list(contract::AuditListParams {
            record_type: None,
            session: None,
            query: String::new(),
            before: None,
            limit: 100,
        })
        .await
        .unwrap()
        .records;
    let of_run: Vec<_> = listed.iter().filter(|record| record.turn.is_some()).collect();
    assert!(of_run.len() >= 5, "{of_run:?}");
    for record in of_run {
        assert_eq!(
            (&record.fields["request_id"], &record.fields["correlation_id"]),
            (&json!("r"), &json!("trace-9")),
            "{record:?}"
        );
    }
    let ended =
        listed.iter().find(|record| record.record_type == contract::RecordType::RunEnded).unwrap();
    assert!(
        ended.fields.contains_key("duration_ms")
            && ended.fields.contains_key("agent")
            && ended.fields["unpriced_models"] == 1
            && ended.fields["level"] == "info"
    );
    let started = listed
        .iter()
        .find(|record| record.record_type == contract::RecordType::RunStarted)
        .unwrap();
    assert_eq!(
        (&started.fields["duration_ms"], &started.fields["level"]),
        (&json!(0), &json!("info"))
    );
    assert!(Arc::strong_count(&bench.engine) >= 1);
    bench.verified().await;
}
