//! Tests of the executor: attempts, idempotency keys, credentials, identical calls, long results.
//! The delays between attempts have unit tests.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
};

use contract::{manifest::IdempotencyStrategy, *};
use engine::ports::*;
use serde_json::{Value, json};

use crate::world::{Bench, Say, tool};

fn failing(
    retry_after_ms: Option<u64>,
    may_have_happened: bool,
) -> impl Fn(&ToolRequest) -> Result<Value, ToolFailure> {
    move |_| {
        let error = AgentError::new(ErrorCode::RateLimited, "Slow down.");
        let error = retry_after_ms.map_or(error.clone(), |ms| error.with("retry_after_ms", ms));
        Err(ToolFailure { error, may_have_happened })
    }
}

impl Bench {
    fn behave(
        &self,
        id: &str,
        behaviour: impl Fn(&ToolRequest) -> Result<Value, ToolFailure> + Send + Sync + 'static,
    ) {
        self.tools.behaviours.lock().unwrap().insert(id.into(), Box::new(behaviour));
    }

    /// Returns the errors in the results of a turn, in order.
    async fn errors(&self) -> Vec<AgentError> {
        self.items()
            .await
            .into_iter()
            .filter_map(
                |i| if let ItemBody::ToolResult { error, .. } = i.body { error } else { None },
            )
            .collect()
    }

    /// Returns the results that the model got in its last request.
    fn told(&self) -> Vec<String> {
        let requests = self.model.requests.lock().unwrap();
        let last = requests.last().unwrap();
        last.messages
            .iter()
            .filter_map(|m| {
                if let Message::Tool { content, .. } = m { Some(content.to_string()) } else { None }
            })
            .collect()
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_error_states_the_number_of_attempts() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    bench.behave("r", failing(Some(7_000), false));
    bench.model.then(vec![Say::Call("r", json!({}))]);
    bench.ask("go").await;
    assert_eq!(bench.runs().len(), 3);
    assert_eq!(bench.errors().await[0].details["attempts"], 3);
}

#[tokio::test(start_paused = true)]
async fn a_write_is_retried_only_with_an_idempotency_key_and_if_it_surely_did_not_happen() {
    for (strategy, happened, tries) in [
        (IdempotencyStrategy::None, false, 1),
        (IdempotencyStrategy::Header, false, 3),
        (IdempotencyStrategy::Header, true, 1),
        (IdempotencyStrategy::ExternalKey, false, 1),
    ] {
        let mut write = tool("w", Effect::Write);
        write.idempotency = strategy;
        let bench = Bench::new(vec![write]);
        bench.profile.settings.lock().unwrap().policy = PolicyMode::WritesAllowed;
        let keys: Arc<Mutex<Vec<Option<String>>>> = Arc::default();
        let (seen, fail) = (Arc::clone(&keys), failing(None, happened));
        bench.behave("w", move |request| {
            seen.lock().unwrap().push(request.idempotency_key.clone());
            fail(request)
        });
        bench.model.then(vec![Say::Call("w", json!({"q": "a"}))]);
        bench.ask("go").await;
        let keys = keys.lock().unwrap().clone();
        assert_eq!(keys.len(), tries, "{strategy:?} {happened}");
        assert_eq!(keys.iter().collect::<HashSet<_>>().len(), 1, "one key for all tries of a call");
        assert_eq!(keys[0].is_some(), strategy == IdempotencyStrategy::Header);
    }
}

#[tokio::test(start_paused = true)]
async fn an_intentionally_repeated_write_gets_a_new_idempotency_key() {
    let mut write = tool("w", Effect::Write);
    write.idempotency = IdempotencyStrategy::HashPayload;
    let bench = Bench::new(vec![write]);
    bench.profile.settings.lock().unwrap().policy = PolicyMode::WritesAllowed;
    let keys: Arc<Mutex<HashSet<Option<String>>>> = Arc::default();
    let seen = Arc::clone(&keys);
    bench.behave("w", move |request| {
        seen.lock().unwrap().insert(request.idempotency_key.clone());
        Ok(json!({}))
    });
    bench.model.then(vec![Say::Call("w", json!({"q": "a"})), Say::Call("w", json!({"q": "a"}))]);
    bench.ask("go").await;
    assert_eq!((bench.runs().len(), keys.lock().unwrap().len()), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_call_with_missing_configuration_fails_before_approval_and_before_any_request() {
    let bench = Bench::new(vec![tool("w", Effect::Write)]);
    let missing = AgentError::internal("tool_config_error", "It needs the key K.")
        .hint("Enter it in Settings.");
    bench.tools.refusals.lock().unwrap().insert("w".into(), missing);
    bench.model.then(vec![Say::Call("w", json!({}))]);
    bench.ask("go").await;
    assert!(bench.runs().is_empty());
    assert_eq!(bench.engine.approvals.list(true).await.unwrap().len(), 0);
    let error = &bench.errors().await[0];
    assert_eq!(
        (error.reason_text(), error.hint_text(), &error.details["tool_id"]),
        (Some("tool_config_error"), Some("Enter it in Settings."), &json!("w"))
    );
}

#[tokio::test(start_paused = true)]
async fn identical_reads_in_one_round_run_once() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    bench.model.then(vec![
        Say::Call("r", json!({"q": "a"})),
        Say::Call("r", json!({"q": "a"})),
        Say::Call("r", json!({"q": "a"})),
    ]);
    bench.ask("go").await;
    assert_eq!(bench.runs().len(), 1);
    assert_eq!(bench.outcomes().await, [ToolOutcome::Ok, ToolOutcome::Ok, ToolOutcome::Limit]);
}

#[tokio::test(start_paused = true)]
async fn tools_are_withdrawn_after_two_rounds_with_the_same_invalid_arguments() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    for _ in 0..3 {
        bench.model.then(vec![Say::Call("r", json!({"n": ["a", "b"]}))]);
    }
    bench.ask("go").await;
    assert!(bench.runs().is_empty());
    let requests = bench.model.requests.lock().unwrap();
    let offered: Vec<bool> = requests.iter().map(|request| !request.tools.is_empty()).collect();
    assert_eq!(offered, [true, true, false]);
}

#[tokio::test(start_paused = true)]
async fn each_failure_is_one_structured_result() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    bench.behave("r", |_| {
        let error = AgentError::new(ErrorCode::ToolHttpError, "It refused the request (404).")
            .with("status", 404)
            .with("answer", json!({"error": "no such thing"}));
        Err(ToolFailure { error, may_have_happened: false })
    });
    bench.model.then(vec![Say::Call("r", json!({}))]);
    bench.ask("go").await;
    let told: Value = serde_json::from_str(&bench.told()[0]).unwrap();
    assert_eq!(told["outcome"], "error");
    assert_eq!(told["error"]["code"], "tool_http_error");
    assert_eq!(told["error"]["retryable"], false);
    assert_eq!(
        told["error"]["details"],
        json!({"status": 404, "answer": {"error": "no such thing"}, "attempts": 1, "tool_id": "r"})
    );
}

#[tokio::test(start_paused = true)]
async fn an_error_that_does_not_fit_its_schema_is_marked() {
    let declared = json!({
        "type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}
    });
    for (answer, mark) in [
        (json!({"error": "no such thing"}), None),
        (json!({"error": 7}), Some(&json!(false))),
        (json!({"fault": "no such thing"}), Some(&json!(false))),
        // A page of a proxy is not the tool's own error.
        (json!("<html>Bad gateway</html>"), None),
    ] {
        let mut spec = tool("r", Effect::ReadOnly);
        spec.target = ToolTarget::Mcp { server: "s".into(), tool: "r".into() };
        spec.error_schema = declared.clone();
        let bench = Bench::new(vec![spec]);
        let said = answer.clone();
        bench.behave("r", move |_| {
            let error = AgentError::new(ErrorCode::ToolHttpError, "It refused the request (404).")
                .with("answer", said.clone());
            Err(ToolFailure { error, may_have_happened: false })
        });
        bench.model.then(vec![Say::Call("r", json!({}))]);
        bench.ask("go").await;
        let told: Value = serde_json::from_str(&bench.told()[0]).unwrap();
        assert_eq!(told["error"]["details"]["answer"], answer, "the answer stays as it came");
        assert_eq!(told["error"]["details"].get("fits_error_schema"), mark, "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn result_length_is_measured_in_characters_not_bytes() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    bench.profile.settings.lock().unwrap().limits.result_chars = 1_000;
    for (length, cut) in [(900, false), (2_000, true)] {
        // Each character has three bytes.
        let long = json!({"text": "長".repeat(length)});
        let whole = long.to_string();
        bench.behave("r", move |_| Ok(long.clone()));
        bench.model.then(vec![Say::Call("r", json!({"n": length}))]);
        bench.ask("go").await;
        let told: Value = serde_json::from_str(bench.told().last().unwrap()).unwrap();
        if !cut {
            assert_eq!(told.to_string(), whole);
            continue;
        }
        let (head, tail) = (told["head"].as_str().unwrap(), told["tail"].as_str().unwrap());
        assert_eq!(
            (told["characters"].as_u64(), head.chars().count(), tail.chars().count()),
            (Some(whole.chars().count() as u64), 750, 125)
        );
        assert!(whole.starts_with(head) && whole.ends_with(tail));
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_result_is_cut_for_the_model_and_stored_whole_for_read_result() {
    let bench = Bench::new(vec![tool("r", Effect::ReadOnly)]);
    bench.profile.settings.lock().unwrap().limits.result_chars = 1_000;
    let long = json!({"rows": (0..500).map(|n| format!("row {n}")).collect::<Vec<_>>()});
    let whole = long.to_string();
    bench.behave("r", move |_| Ok(long.clone()));
    bench.model.then(vec![Say::Call("r", json!({}))]);
    bench.ask("go").await;
    let cut: Value = serde_json::from_str(&bench.told()[0]).unwrap();
    assert_eq!(
        (cut["truncated"].as_bool(), cut["characters"].as_u64()),
        (Some(true), Some(u64::try_from(whole.len()).unwrap()))
    );
    assert!(
        whole.starts_with(cut["head"].as_str().unwrap())
            && whole.ends_with(cut["tail"].as_str().unwrap())
    );
    let offered: Vec<String> =
        bench.model.requests.lock().unwrap()[1].tools.iter().map(|t| t.name.to_string()).collect();
    assert_eq!(offered, ["r", "read_result"], "the tool is there once there is something to read");

    // In the next turn, the model reads more of the long result: once by offset, once by searching
    // for text.
    bench.profile.settings.lock().unwrap().limits.result_chars = 8_000;
    let handle = cut["handle"].as_str().unwrap().to_owned();
    bench.model.then(vec![
        Say::Call("read_result", json!({"handle": handle.clone(), "offset": 4, "length": 10})),
        Say::Call("read_result", json!({"handle": handle, "find": "row 321"})),
    ]);
    bench.ask("more").await;
    let told = bench.told();
    let parts: Vec<Value> =
        told.iter().rev().take(2).map(|text| serde_json::from_str(text).unwrap()).collect();
    assert!(parts[0]["text"].as_str().unwrap().contains("row 321"));
    assert_eq!(
        (parts[1]["text"].as_str(), parts[1]["next_offset"].as_u64()),
        (Some(&whole[4..14]), Some(14))
    );
    assert_eq!(bench.runs().len(), 1, "nothing runs again for it");
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn the_same_invalid_call_twice_in_one_round_counts_as_one_mistake() {
    let mut spec = tool("a", Effect::ReadOnly);
    spec.full_input_schema =
        json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]});
    spec.input_schema = spec.full_input_schema.clone();
    let bench = Bench::new(vec![spec]);
    for _ in 0..2 {
        bench.model.then(vec![Say::Call("a", json!({})), Say::Call("a", json!({}))]);
    }
    bench.ask("compare").await;
    let requests = bench.model.requests.lock().unwrap();
    let offered: Vec<bool> = requests.iter().map(|request| !request.tools.is_empty()).collect();
    assert_eq!(offered, [true, true, false], "told once, and again in vain");
}
