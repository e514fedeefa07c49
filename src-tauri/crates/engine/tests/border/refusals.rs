//! Tests of refusals in the log: each call and request has its reason, a limited size, no secrets,
//! and the same fields.

use std::sync::{Arc, atomic::Ordering};

use contract::*;
use serde_json::{Value, json};

use crate::world::{Bench, Say, tool};

async fn listed(bench: &Bench, record_type: Option<RecordType>) -> Vec<AuditRecordView> {
    engine::ports::AuditLog::flush(bench.log.as_ref()).await.unwrap();
    let params = AuditListParams {
        record_type,
        session: None,
        query: String::new(),
        before: None,
        limit: 500,
    };
    let mut records = bench.log.log.list(params).await.unwrap().records;
    records.reverse();
    records
}

async fn refusals(bench: &Bench) -> Vec<AuditRecordView> {
    listed(bench, Some(RecordType::PolicyDecision)).await
}

fn reasons(records: &[AuditRecordView]) -> Vec<&str> {
    records.iter().map(|record| record.fields["reason"].as_str().unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn each_refused_call_is_recorded_with_its_reason() {
    let specs = vec![
        tool("r", Effect::ReadOnly),
        tool("no", Effect::Write),
        tool("off", Effect::ReadOnly),
        tool("keyless", Effect::ReadOnly),
    ];
    let bench = Bench::new(specs);
    *bench.profile.rules.lock().unwrap() = policy::Rules::parse(
        r#"{"rules": [{"id": "stop", "action": "deny", "tool": "no", "reason": "Not here."}]}"#,
    );
    bench.profile.settings.lock().unwrap().switches.tools_off.insert("off".into());
    bench.profile.settings.lock().unwrap().limits.calls_per_round = 5;
    bench.tools.refusals.lock().unwrap().insert(
        "keyless".into(),
        AgentError::invalid("A key is missing.").reason("credential_missing"),
    );
    let call = |name, n: i64| Say::Call(name, json!({ "n": n }));
    bench.model.then(vec![
        call("no", 1),
        call("off", 2),
        call("nobody", 3),
        Say::Call("r", json!({"n": "many"})),
        call("keyless", 5),
        call("r", 6),
    ]);
    bench.ask("go").await;

    let records = refusals(&bench).await;
    assert_eq!(
        reasons(&records),
        [
            "side_effect_disallowed",
            "tool_off",
            "tool_not_found",
            "invalid_input",
            "credential_missing",
            "calls_per_round"
        ]
    );
    for record in &records {
        for field in ["call", "tool", "effect", "status", "code", "level", "duration_ms", "agent"] {
            assert!(record.fields.contains_key(field), "{field} in {record:?}");
        }
        assert!(record.session.is_some() && record.turn.is_some());
    }
    assert!(
        records[0].revealed["why"].as_str().unwrap().contains("Not here."),
        "the rule that decided: {:?}",
        records[0].revealed
    );
    assert_eq!(records[0].revealed["arguments"], json!(r#"{"n":1}"#));
    assert!(bench.runs().is_empty());
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn the_number_and_size_of_recorded_refusals_per_turn_are_bounded() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    let huge = "x".repeat(3_000_000);
    let mut calls: Vec<Say> = vec![Say::Call("nobody", json!({ "q": huge }))];
    calls.extend((0..900).map(|n| Say::Call("nobody", json!({ "n": n }))));
    bench.model.then(calls);
    bench.ask("go").await;
    let records = refusals(&bench).await;
    assert_eq!(records.len(), 41);
    let counted = &records.last().unwrap().fields;
    assert_eq!(
        (&counted["more"], &counted["reasons"]),
        (&json!(861), &json!({"tool_not_found": 861}))
    );
    let first = &records[0];
    assert_eq!(first.fields["arguments_bytes"], 3_000_008);
    assert_eq!(
        first.fields["arguments_sha256"],
        engine::sha256_hex(format!(r#"{{"q":"{huge}"}}"#).as_bytes())
    );
    assert!(first.revealed["arguments"].as_str().unwrap().len() <= 4_000);
}

#[tokio::test(start_paused = true)]
async fn a_recorded_refusal_contains_no_secret_and_is_enforced_without_a_log() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    bench.secrets.0.lock().unwrap().push("sk-live-0123456789abcdef".into());
    bench.model.then(vec![
        Say::Call("nobody", json!({"q": "sk-live-0123456789abcdef"})),
        Say::Call("sk-live-0123456789abcdef", json!({})),
    ]);
    bench.ask("go").await;
    let records = refusals(&bench).await;
    assert_eq!(records.len(), 2);
    assert!(!format!("{records:?}").contains("0123456789"), "{records:?}");

    bench.log.refuses.store(true, Ordering::SeqCst);
    *bench.profile.rules.lock().unwrap() =
        policy::Rules::parse(r#"{"rules": [{"id": "stop", "action": "deny", "tool": "r"}]}"#);
    bench.model.then(vec![Say::Call("r", json!({}))]);
    bench.ask("go").await;
    assert!(bench.runs().is_empty());
    assert_eq!(bench.outcomes().await.last(), Some(&ToolOutcome::Denied));
}

fn run(text: &str) -> RunParams {
    RunParams { request: text.into(), caller: "c".into(), correlation_id: None, stream: false }
}

#[tokio::test(start_paused = true)]
async fn refused_requests_are_recorded() {
    let bench = Bench::new(vec![tool("w", Effect::Write)]);
    bench.secrets.0.lock().unwrap().push("sk-live-0123456789abcdef".into());
    bench.engine.runs.run(run("not json sk-live-0123456789abcdef")).await.unwrap_err();
    bench
        .engine
        .runs
        .run(run(r#"{"contract_version": "9.0", "request_id": "r1", "input": "hello"}"#))
        .await
        .unwrap_err();
    let call = |tool: &str, arguments: Value| ToolCallParams {
        tool: tool.into(),
        arguments,
        session: None,
        headless: true,
    };
    bench
        .engine
        .direct_calls
        .call(contract::Caller::inside(), call("nobody", json!({})))
        .await
        .unwrap_err();
    bench
        .engine
        .direct_calls
        .call(contract::Caller::inside(), call("w", json!({"q": "sk-live-0123456789abcdef"})))
        .await
        .unwrap_err();
    let message = |text: &str| TurnStartParams {
        session: Some("s".into()),
        text: text.into(),
        model: None,
        agent: None,
        headless: true,
        replaces: None,
    };
    bench.engine.turns.start(contract::Caller::inside(), message("  ")).await.unwrap_err();
    bench.profile.settings.lock().unwrap().agent_enabled = false;
    bench.engine.turns.start(contract::Caller::inside(), message("hello")).await.unwrap_err();
    bench
        .engine
        .runs
        .run(run(r#"{"contract_version": "1.0", "request_id": "r2", "input": "hello"}"#))
        .await
        .unwrap_err();

    let records = refusals(&bench).await;
    let found: Vec<(&str, &str)> = records
        .iter()
        .map(|r| (r.fields["request"].as_str().unwrap(), r.fields["code"].as_str().unwrap()))
        .collect();
    let wanted = [
        ("run_request", "invalid_input"),
        ("run_request", "invalid_input"),
        ("tool_call", "tool_not_found"),
        ("tool_call", "invalid_input"),
        ("message", "invalid_input"),
        ("message", "agent_disabled"),
        ("run_request", "agent_disabled"),
    ];
    assert_eq!(found, wanted);
    assert_eq!(
        (&records[0].fields["reason"], &records[1].fields["request_id"]),
        (&json!("invalid_json"), &json!("r1"))
    );
    assert!(!format!("{records:?}").contains("0123456789"), "{records:?}");
    for _ in 0..200 {
        bench.engine.runs.run(run("no")).await.unwrap_err();
    }
    assert_eq!(refusals(&bench).await.len(), 60, "in a minute");
    bench.clock.forward(61);
    bench.engine.runs.run(run("no")).await.unwrap_err();
    let records = refusals(&bench).await;
    assert_eq!((records.len(), &records[60].fields["more"]), (62, &json!(147)));
    assert!(bench.runs().is_empty());
}

fn options(id: &str) -> engine::TurnOptions {
    engine::TurnOptions {
        locale: "en".into(),
        caller: contract::Caller::chat_api([].into(), Limits::default()),
        request_id: format!("r-{id}"),
        correlation_id: Some(id.into()),
        hints: Vec::new(),
        whole: true,
        preflight_tools: &[],
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_made_after_a_decision_is_recorded_in_the_turn_of_the_action() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly), tool("w", Effect::Write)]);
    bench.model.then(vec![Say::Call("w", json!({"q": "x"}))]);
    let turn = bench.start_with("change it", true).await.turn;
    bench.final_of(&turn).await;
    let action = bench.approval(0).await;
    let read = bench.engine.caller_turns.call_after(
        &action,
        "r".into(),
        json!({"q": "x"}),
        options("order-1"),
    );
    read.await.unwrap();
    let intents = listed(&bench, Some(RecordType::ToolIntent)).await;
    let [intent] = intents.as_slice() else { panic!("one read: {intents:?}") };
    assert_eq!(intent.turn.as_deref(), Some(turn.as_str()));
    assert_eq!(intent.fields["correlation_id"], "order-1");
}

#[tokio::test(start_paused = true)]
async fn records_of_refused_requests_contain_the_callers_ids() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    let of_run = RunParams { correlation_id: Some("order-1".into()), ..run("not json") };
    bench.engine.runs.run(of_run).await.unwrap_err();
    let session = "s".into();
    bench
        .engine
        .caller_turns
        .store_exchange(&session, "hi", "hello", &options("order-0"))
        .await
        .unwrap();
    let message = bench.engine.caller_turns.start(&session, " ".into(), None, options("order-2"));
    assert!(message.await.is_err());
    let call =
        bench.engine.caller_turns.call(&session, "nobody".into(), json!({}), options("order-3"));
    assert!(call.await.0.is_err());
    let found: Vec<(Value, Value)> = refusals(&bench)
        .await
        .into_iter()
        .map(|mut record| {
            let mut field = |name: &str| record.fields.remove(name).unwrap_or_default();
            (field("correlation_id"), field("request_id"))
        })
        .collect();
    let wanted = [("order-1", ""), ("order-2", "r-order-2"), ("order-3", "r-order-3")];
    let wanted = wanted.map(|(id, request)| {
        (json!(id), if request.is_empty() { Value::Null } else { json!(request) })
    });
    assert_eq!(found, wanted);
}

#[tokio::test(start_paused = true)]
async fn a_read_that_the_host_makes_for_a_caller_is_recorded_in_the_callers_run() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    bench.model.then(vec![Say::Text("Hello.")]);
    let options = engine::TurnOptions {
        locale: "en".into(),
        caller: contract::Caller::chat_api([].into(), Limits::default()),
        request_id: "request".into(),
        correlation_id: Some("order".into()),
        hints: Vec::new(),
        whole: true,
        preflight_tools: &[],
    };
    let session = "s".into();
    let mut turn = bench
        .engine
        .caller_turns
        .start(&session, "hi".into(), None, options.clone())
        .await
        .unwrap();
    while turn.next().await.is_some_and(|event| !matches!(event, EventBody::Final { .. })) {}
    let id = turn.turn().clone();
    let read = bench.engine.caller_turns.call_for_host(
        &session,
        "r".into(),
        json!({"q": "x"}),
        options,
        Some(&id),
    );
    assert_eq!(read.await.unwrap().outcome, ToolOutcome::Ok);
    drop(turn);
    let records = listed(&bench, None).await;
    assert!(records.iter().any(|record| record.record_type == RecordType::ToolIntent));
    for record in records.iter().filter(|record| record.turn.is_some()) {
        assert_eq!(record.turn.as_deref(), Some(id.as_str()), "{record:?}");
        assert_eq!(record.fields["correlation_id"], "order", "{record:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn unreadable_settings_refuse_every_request_with_their_own_reason() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    let fault = AgentError::internal(Reason::SettingsUnreadable, "Line 2 has a fault.");
    *bench.profile.fault.lock().unwrap() = Some(fault.clone());
    let message = TurnStartParams {
        session: None,
        text: "hello".into(),
        model: None,
        agent: None,
        headless: true,
        replaces: None,
    };
    let call = ToolCallParams {
        tool: "r".into(),
        arguments: json!({"q": "x"}),
        session: None,
        headless: true,
    };
    let request = run(r#"{"contract_version": "1.0", "request_id": "r1", "input": "hello"}"#);
    for refused in [
        bench.engine.turns.start(contract::Caller::inside(), message).await.unwrap_err(),
        bench.engine.direct_calls.call(contract::Caller::inside(), call).await.unwrap_err(),
        bench.engine.runs.run(request).await.unwrap_err(),
    ] {
        assert!(refused.has_reason(Reason::SettingsUnreadable), "{refused}");
        assert_eq!(refused.message, fault.message);
    }
    assert_eq!(reasons(&refusals(&bench).await), ["settings_unreadable"; 3]);
    assert!(bench.runs().is_empty() && !bench.engine.switches.is_enabled());
}

#[tokio::test(start_paused = true)]
async fn a_pending_change_is_not_recorded_as_an_error_and_its_decision_is_a_separate_run() {
    let bench = Bench::new(vec![tool("w", Effect::Write)])
        .with(vec![crate::world::agent("seller", &["w"])]);
    *bench.tools.agent.lock().unwrap() = Some("seller".into());
    bench.model.then(vec![Say::Call("w", json!({"q": "x"}))]);
    let approval = bench.caller_approval("en").await;
    let ended = listed(&bench, Some(RecordType::RunEnded)).await;
    assert_eq!(
        (&ended[0].fields["status"], &ended[0].fields["level"]),
        (&json!("approval_required"), &json!("info"))
    );
    assert!(!ended[0].fields.contains_key("code"));
    assert_eq!(bench.engine.service_level.read(prices()).await.unwrap().errors, []);

    bench.clock.forward(7);
    let options = engine::TurnOptions {
        locale: "en".into(),
        caller: contract::Caller::chat_api([].into(), Limits::default()),
        request_id: "yes-1".into(),
        correlation_id: None,
        hints: Vec::new(),
        whole: true,
        preflight_tools: &[],
    };
    let before = listed(&bench, None).await.len();
    let decision = Decision::ApproveOnce { confirm_word: None };
    let params =
        ApprovalDecideParams { id: approval.id.clone(), hash: approval.hash.clone(), decision };
    bench.engine.caller_turns.decide(&approval, params, options).await.0.unwrap();
    let records = listed(&bench, None).await.split_off(before);
    let types: Vec<RecordType> = records.iter().map(|record| record.record_type).collect();
    use RecordType::{ApprovalResolved, RunEnded, RunStarted, ToolIntent, ToolOutcome};
    assert_eq!(
        types,
        [RunStarted, ApprovalResolved, ToolIntent, ToolOutcome, ApprovalResolved, RunEnded]
    );
    for record in &records {
        assert_eq!(
            (record.turn.as_deref(), &record.fields["request_id"]),
            (Some(approval.turn.as_str()), &json!("yes-1")),
            "{record:?}"
        );
        assert!(
            record.fields.contains_key("level") && record.fields["agent"] == "seller",
            "{record:?}"
        );
    }
    for at in [1, 3, 5] {
        assert!(records[at].fields["duration_ms"].is_u64(), "{:?}", records[at]);
    }
    assert_eq!(records[1].fields["duration_ms"], 7_000, "how long it waited");
    assert_eq!(
        (&records[5].fields["status"], &records[5].fields["level"]),
        (&json!("ok"), &json!("info"))
    );
    bench.verified().await;
}

fn prices() -> PricesView {
    PricesView {
        file: String::new(),
        found: false,
        model_priced: true,
        prices: Vec::new(),
        fault: None,
        model: String::new(),
    }
}

#[tokio::test(start_paused = true)]
async fn every_record_of_a_turn_has_a_level_and_the_same_agent_id() {
    let bench = Bench::new(vec![tool("w", Effect::Write), tool("r", Effect::ReadOnly)])
        .with(vec![crate::world::agent("seller", &["w", "r"])]);
    *bench.tools.agent.lock().unwrap() = Some("seller".into());
    bench.model.then(vec![Say::Call("r", json!({}))]);
    bench.model.then(vec![Say::Call("w", json!({}))]);
    let turn = bench.start("go").await.turn;
    bench
        .decide(&bench.approval(0).await, Decision::ApproveOnce { confirm_word: None })
        .await
        .unwrap();
    bench.final_of(&turn).await;
    let records: Vec<AuditRecordView> =
        listed(&bench, None).await.into_iter().filter(|record| record.turn.is_some()).collect();
    assert!(records.len() >= 9, "{records:?}");
    for record in records {
        assert!(
            ["info", "warning", "error"].contains(&record.fields["level"].as_str().unwrap()),
            "{record:?}"
        );
        let agent = record.fields["agent"].as_str().unwrap();
        assert!(
            agent == "seller" || (agent.is_empty() && record.record_type == RecordType::RunStarted),
            "{record:?}"
        );
        let is_timed = matches!(
            record.record_type,
            RecordType::RunStarted
                | RecordType::RunEnded
                | RecordType::ModelCall
                | RecordType::ToolOutcome
                | RecordType::ApprovalResolved
        );
        assert!(!is_timed || record.fields["duration_ms"].is_u64(), "{record:?}");
    }
    assert!(Arc::strong_count(&bench.engine) >= 1);
}
