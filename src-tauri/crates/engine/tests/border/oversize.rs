//! Tests of values too large for the log, the store or a screen. They are refused before a call and
//! shortened after it. The log always contains the outcome of a call.

use contract::{manifest::Preview, *};
use engine::ports::ToolFailure;
use serde_json::{Value, json};

use crate::world::{Bench, Say, tool};

const ONCE: Decision = Decision::ApproveOnce { confirm_word: None };
const MIB: usize = 1 << 20;

fn bench(
    spec: ToolSpec,
    result: impl Fn() -> Result<Value, ToolFailure> + Send + Sync + 'static,
) -> Bench {
    let bench = Bench::new(vec![spec]);
    bench.tools.behaviours.lock().unwrap().insert("t".into(), Box::new(move |_| result()));
    bench.model.then(vec![Say::Call("t", json!({"q": "shoes"}))]);
    bench
}

async fn outcome(bench: &Bench) -> AuditRecordView {
    let asked = AuditListParams {
        record_type: Some(RecordType::ToolOutcome),
        session: None,
        query: String::new(),
        before: None,
        limit: 5,
    };
    let seq = bench.log.log.list(asked).await.unwrap().records[0].seq;
    bench.log.log.show(seq).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_result_of_40_mib_is_cut_recorded_and_reported_as_cut() {
    let bench = bench(tool("t", Effect::ReadOnly), || Ok(json!({"rows": "x".repeat(40 * MIB)})));
    bench.ask("go").await;
    bench.verified().await;
    let whole = json!({"rows": "x".repeat(40 * MIB)}).to_string();
    let record = outcome(&bench).await;
    assert_eq!(
        (&record.fields["result_bytes"], &record.fields["status"]),
        (&json!(whole.len()), &json!("ok"))
    );
    assert_eq!(record.fields["result_sha256"], json!(engine::sha256_hex(whole.as_bytes())));
    let items = bench.items().await;
    let kept: Vec<(&ToolOutcome, &Value)> = items
        .iter()
        .filter_map(|item| {
            if let ItemBody::ToolResult { outcome, data, .. } = &item.body {
                Some((outcome, data))
            } else {
                None
            }
        })
        .collect();
    assert!(
        *kept[0].0 == ToolOutcome::Ok
            && kept[0].1["cut"] == true
            && kept[0].1.to_string().len() < MIB
    );
    let told = items.iter().find_map(|item| {
        if let ItemBody::Notice { code, text, .. } = &item.body {
            (code == "result_cut").then_some(text)
        } else {
            None
        }
    });
    assert!(told.is_some_and(|text| text.contains("41 MiB")), "the user is told: {told:?}");
    let read = format!("{:?}", bench.model.requests.lock().unwrap().last());
    assert!(read.contains("Only its beginning is here"), "the model is told");
}

#[tokio::test(start_paused = true)]
async fn an_approved_change_with_a_huge_result_completes_and_keeps_its_session_values() {
    let mut spec = tool("t", Effect::Write);
    spec.session_values =
        vec![manifest::SessionValue { name: "basket".into(), pointer: "/basket".into() }];
    let bench = bench(spec, || Ok(json!({"basket": 7, "rows": "\"".repeat(20 * MIB)})));
    let turn = bench.start("go").await.turn;
    let approval = bench.approval(0).await;
    bench.decide(&approval, ONCE).await.unwrap();
    bench.final_of(&turn).await;
    bench.verified().await;
    assert_eq!(bench.outcomes().await, [ToolOutcome::Ok]);
    let kept = bench.world.store.session_values_of(&"s".into(), &["basket"]).await.unwrap();
    assert_eq!(kept.get("basket"), Some(&json!(7)));
}

#[tokio::test(start_paused = true)]
async fn the_largest_result_that_is_kept_whole_fits_into_the_log() {
    // Each quotation mark becomes two characters in JSON text, and four in a text that contains the
    // JSON text.
    for text in ["\"".repeat(4 * MIB - 20), "\u{1}".repeat(MIB)] {
        let length = text.len();
        let bench = bench(tool("t", Effect::ReadOnly), move || Ok(json!({"rows": text})));
        bench.ask("go").await;
        bench.verified().await;
        assert!(
            outcome(&bench).await.revealed["result"]
                .as_str()
                .is_some_and(|kept| kept.len() > length),
            "it is whole"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_of_40_mib_is_shortened() {
    for effect in [Effect::ReadOnly, Effect::Write] {
        let bench = bench(tool("t", effect), || {
            let error = AgentError::internal("odd", "y".repeat(40 * MIB))
                .with("answer", "z".repeat(40 * MIB))
                .hint("Try later.");
            Err(ToolFailure { error, may_have_happened: true })
        });
        bench.profile.settings.lock().unwrap().policy = PolicyMode::WritesAllowed;
        bench.ask("go").await;
        bench.verified().await;
        let items = bench.items().await;
        let error = items
            .iter()
            .find_map(|item| {
                if let ItemBody::ToolResult { error, .. } = &item.body {
                    error.clone()
                } else {
                    None
                }
            })
            .unwrap();
        assert!(error.message.len() < 20_000 && json!(error).to_string().len() < 100_000);
        assert_eq!(
            (error.reason_text(), error.hint_text(), error.details.get("answer")),
            (Some("odd"), Some("Try later."), None)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_huge_failure_after_a_servers_question_still_records_the_decision() {
    let bench = Bench::new(vec![tool("t", Effect::Write)]);
    bench.tools.wants.lock().unwrap().insert("t".into(), json!({"which": {"action": "accept"}}));
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let behaviour = move |_: &engine::ports::ToolRequest| match calls
        .fetch_add(1, std::sync::atomic::Ordering::SeqCst)
    {
        0 => Ok(json!({})),
        _ => Err(ToolFailure {
            error: AgentError::internal("odd", "y".repeat(40 * MIB)),
            may_have_happened: false,
        }),
    };
    bench.tools.behaviours.lock().unwrap().insert("t".into(), Box::new(behaviour));
    bench.model.then(vec![Say::Call("t", json!({"q": "x"}))]);
    let turn = bench.start("go").await.turn;
    for n in 0..2 {
        let approval = bench.approval(n).await;
        bench.decide(&approval, ONCE).await.unwrap();
    }
    bench.final_of(&turn).await;
    let failed = bench
        .records()
        .await
        .iter()
        .filter(|(kind, status)| {
            *kind == RecordType::ApprovalResolved && status.as_deref() == Some("failed")
        })
        .count();
    assert_eq!(failed, 2, "of both signatures");
    bench.verified().await;
}

#[tokio::test(start_paused = true)]
async fn arguments_too_large_to_show_or_record_are_refused() {
    for effect in [Effect::ReadOnly, Effect::Write] {
        let bench = Bench::new(vec![tool("t", effect)]);
        bench.model.then(vec![Say::Call("t", json!({"q": "x".repeat(40 * MIB)}))]);
        bench.ask("go").await;
        assert_eq!(
            (bench.outcomes().await, bench.runs(), bench.intents().await.len()),
            (vec![ToolOutcome::Error], vec![], 0)
        );
        let size: usize =
            bench.items().await.iter().map(|item| json!(item).to_string().len()).sum();
        assert!(size < MIB, "{size}");
        bench.verified().await;
    }
    let bench = Bench::new(vec![tool("t", Effect::Write)]);
    bench.model.then(vec![Say::Call("t", json!({"q": "x"}))]);
    bench.start("go").await;
    let first = bench.approval(0).await;
    let edited = Decision::Edit { arguments: json!({"q": "x".repeat(MIB)}).to_string() };
    assert_eq!(
        bench.decide(&first, edited).await.unwrap_err().reason_text(),
        Some("invalid_arguments")
    );
}

#[tokio::test(start_paused = true)]
async fn many_invalid_or_dropped_arguments_produce_short_records() {
    let many: serde_json::Map<String, Value> =
        (0..20_000).map(|n| (format!("a{n}"), json!(1))).collect();
    let bench = Bench::new(vec![tool("t", Effect::ReadOnly)]);
    bench.model.then(vec![Say::Call("t", Value::Object(many))]);
    bench.ask("go").await;
    assert_eq!(bench.outcomes().await, [ToolOutcome::Ok]);
    let bench = Bench::new(vec![tool("t", Effect::ReadOnly)]);
    bench.model.then(vec![Say::Call("t", json!({"n": {"far": "x".repeat(200_000)}}))]);
    bench.ask("go").await;
    let items = bench.items().await;
    let error = items
        .iter()
        .find_map(|item| {
            if let ItemBody::ToolResult { error, .. } = &item.body { error.clone() } else { None }
        })
        .unwrap();
    assert!(json!(error).to_string().len() < 10_000, "what does not fit is not quoted whole");
}

#[tokio::test(start_paused = true)]
async fn an_action_is_proposed_without_its_preview_if_the_preview_is_too_long() {
    let mut spec = tool("t", Effect::Write);
    spec.preview = Some(Preview {
        reads: vec![manifest::PreviewRead { name: "all".into(), tool: "r".into(), arguments: serde_json::Map::new(), optional: false }],
        template: r#"{"summary": {{ all.rows | tojson }}, "before": {"rows": [], "total": ""}, "after": {"rows": [], "total": ""}}"#.into(),
    });
    let bench = Bench::new(vec![spec, tool("r", Effect::ReadOnly)]);
    bench
        .tools
        .behaviours
        .lock()
        .unwrap()
        .insert("r".into(), Box::new(|_| Ok(json!({"rows": "x".repeat(6 * MIB)}))));
    bench.model.then(vec![Say::Call("t", json!({"q": "x"}))]);
    let turn = bench.start("go").await.turn;
    let approval = bench.approval(0).await;
    assert!(approval.preview.is_none());
    bench.decide(&approval, ONCE).await.unwrap();
    bench.final_of(&turn).await;
    bench.verified().await;
}
