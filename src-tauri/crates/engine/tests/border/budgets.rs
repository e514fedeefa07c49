//! Tests of budgets: reservations before each model call, corrections to the actual usage, refusals
//! with a readable message, an answer from the existing parts, and a person's waiting time, which
//! is not counted.

use std::time::Duration;

use contract::{
    Budgets, Decision, Effect, ErrorCode, EventBody, Limits, ModelCapabilities, ModelPrice,
    RunParams, TurnStatus,
};
use engine::{TurnOptions, TurnStream, ports::*};
use serde_json::json;

use crate::world::{Bench, Say, agent, status_and_text, tool};

fn bench(budgets: Budgets) -> Bench {
    let bench = Bench::new(vec![tool("a.read", Effect::ReadOnly), tool("w", Effect::Write)]);
    bench.profile.settings.lock().unwrap().budgets = budgets;
    bench
}

fn none() -> Budgets {
    Budgets {
        run_tokens: 0,
        run_usd: 0.0,
        session_tokens: 0,
        session_usd: 0.0,
        day_tokens: 0,
        day_usd: 0.0,
        max_output_tokens: 0,
    }
}

async fn refused(bench: &Bench) -> contract::AgentError {
    match bench.ask("go on").await {
        EventBody::Final { status: TurnStatus::Error, error: Some(error), .. } => error,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_call_that_could_exceed_the_budget_is_refused_with_a_hint() {
    let bench = bench(Budgets { session_tokens: 20_000, ..none() });
    bench.model.then(vec![Say::Text("one"), Say::Uses(19_000, 900)]);
    assert_eq!(status_and_text(&bench.ask("first").await).0, TurnStatus::Ok);
    let error = refused(&bench).await;
    assert_eq!(
        (error.code, error.retryable, error.reason_text()),
        (ErrorCode::InternalError, false, Some("budget_exceeded"))
    );
    assert_eq!(
        (
            &error.details["scope"],
            &error.details["unit"],
            &error.details["used"],
            &error.details["limit"]
        ),
        (&json!("session"), &json!("tokens"), &json!(19_900), &json!(20_000))
    );
    assert!(
        error.message.contains("19900 tokens of 20000 tokens")
            && error.hint_text().is_some_and(|hint| hint.contains("Settings")),
        "{error:?}"
    );
    assert_eq!(bench.model.requests.lock().unwrap().len(), 1, "the second call was not made");
}

#[tokio::test(start_paused = true)]
async fn a_clock_set_back_does_not_reset_the_daily_budget() {
    let bench = bench(Budgets { day_usd: 1.0, ..none() });
    bench.profile.prices.lock().unwrap().price.push(ModelPrice {
        model: "script".into(),
        input_usd: 10.0,
        output_usd: 20.0,
    });
    bench.model.then(vec![Say::Text("dear"), Say::Uses(90_000, 4_900)]);
    bench.ask("first").await;
    let error = refused(&bench).await;
    assert_eq!(
        (&error.details["scope"], &error.details["unit"], &error.details["used"]),
        (&json!("day"), &json!("usd"), &json!(0.998))
    );
    bench.clock.forward(-48 * 3_600);
    refused(&bench).await;
    bench.clock.forward(72 * 3_600);
    assert_eq!(status_and_text(&bench.ask("tomorrow").await).0, TurnStatus::Ok);
}

#[tokio::test(start_paused = true)]
async fn a_call_reserves_the_price_of_the_most_expensive_model_that_may_answer() {
    let price =
        |model: &str, usd| ModelPrice { model: model.into(), input_usd: usd, output_usd: usd };
    let bench = bench(Budgets { run_usd: 0.05, ..none() });
    bench.profile.prices.lock().unwrap().price.extend([price("script", 0.1), price("dear", 100.0)]);
    bench.model.then(vec![Say::Text("cheap"), Say::Uses(100, 10)]);
    assert_eq!(status_and_text(&bench.ask("first").await).0, TurnStatus::Ok);
    *bench.model.second.lock().unwrap() = Some("dear".into());
    let error = refused(&bench).await;
    assert_eq!((&error.details["scope"], &error.details["unit"]), (&json!("run"), &json!("usd")));
    assert_eq!(
        bench.model.requests.lock().unwrap().len(),
        1,
        "the dear model could have passed the cap"
    );
    bench.profile.settings.lock().unwrap().budgets = Budgets { run_usd: 5.0, ..none() };
    bench.ask("again").await;
    assert_eq!(
        bench.model.requests.lock().unwrap()[1].max_output_tokens,
        None,
        "what is reserved holds for both, and there is enough of it"
    );
}

#[tokio::test(start_paused = true)]
async fn the_answer_limit_is_reduced_to_the_remaining_budget() {
    let bench = bench(Budgets { run_tokens: 3_000, ..none() });
    bench.model.then(vec![Say::Text("The beginning of"), Say::Ends(Finish::Length)]);
    let (status, text) = status_and_text(&bench.ask("tell me everything").await);
    assert_eq!(status, TurnStatus::Ok);
    assert!(text.starts_with("The beginning of\n\n") && text.contains("budget"), "{text}");
    let most = bench.model.requests.lock().unwrap()[0].max_output_tokens.unwrap();
    assert!((256..3_000).contains(&most), "{most}");
}

#[tokio::test(start_paused = true)]
async fn text_written_before_the_budget_ended_is_returned_as_an_incomplete_answer() {
    let bench = bench(Budgets { run_tokens: 12_000, ..none() });
    bench.model.then(vec![
        Say::Text("Spend is 40 percent behind."),
        Say::Call("a_read", json!({})),
        Say::Uses(11_500, 400),
    ]);
    let request = json!({"contract_version": "1.0", "request_id": "r", "input": "how is it going"})
        .to_string();
    let params = RunParams { request, caller: "test".into(), correlation_id: None, stream: false };
    let response = json!(bench.engine.runs.run(params).await.unwrap());
    assert_eq!(response["metadata"]["truncated_by"], "budget");
    assert!(
        response["output"]
            .as_str()
            .unwrap()
            .starts_with("Spend is 40 percent behind.\n\nThis message would exceed its budget"),
        "{response}"
    );
}

fn route(next: &str) -> Say {
    let text = json!({"next": next, "instruction": "", "reason_code": "in_field", "entities": []})
        .to_string();
    Say::Text(Box::leak(text.into_boxed_str()))
}

/// Returns a bench with two specialists.
fn two(run_tokens: u32) -> Bench {
    bench(Budgets { run_tokens, ..none() })
        .with(vec![agent("guardian", &["a.read"]), agent("shopper", &["w"])])
}

/// The first specialist answers, and then the budget refuses the decision about the next
/// specialist.
#[tokio::test(start_paused = true)]
async fn a_turn_says_only_once_that_a_budget_ended_its_answer() {
    let bench_of = |cut: bool| {
        let bench = two(12_000);
        bench.model.then(vec![route("guardian")]);
        let finish = if cut { Finish::Length } else { Finish::Stop };
        bench.model.then(vec![
            Say::Text("It is behind"),
            Say::Uses(11_500, 400),
            Say::Ends(finish),
        ]);
        // The rest of the budget is smaller than this model's longest answer.
        *bench.model.longest.lock().unwrap() = Some((100_000, 100_000));
        bench
    };
    assert_eq!(
        heard(&bench_of(true)).await,
        (TurnStatus::Ok, "It is behind\n\nSvaret slutar här.".into())
    );
    assert_eq!(
        heard(&bench_of(false)).await,
        (TurnStatus::Ok, "It is behind".into()),
        "the answer is whole"
    );
    let here = status_and_text(&bench_of(true).ask("go").await).1;
    assert_eq!(here, "It is behind\n\nThe answer ends here: the budget allows no more.");
    let whole = status_and_text(&bench_of(false).ask("go").await).1;
    assert!(whole.starts_with("It is behind\n\nThis message would exceed its budget"), "{whole}");
}

/// One answer was cut and the other reached its limit, but the text that joins them is complete.
#[tokio::test(start_paused = true)]
async fn a_combined_answer_has_no_budget_notes_of_its_parts() {
    let bench = two(40_000);
    *bench.model.longest.lock().unwrap() = Some((100_000, 100_000));
    bench.profile.settings.lock().unwrap().limits.rounds = 1;
    for says in [
        vec![route("guardian")],
        vec![Say::Text("It is"), Say::Ends(Finish::Length)],
        vec![route("shopper")],
        vec![Say::Text("")],
        vec![route("FINISH")],
    ] {
        bench.model.then(says);
    }
    bench.model.then(vec![Say::Text("Both as one.")]);
    let request =
        json!({"contract_version": "1.0", "request_id": "r", "input": "both"}).to_string();
    let params = RunParams { request, caller: "test".into(), correlation_id: None, stream: false };
    let response = bench.engine.runs.run(params).await.unwrap();
    assert_eq!(response.output, "Both as one.\n\n*Answered by Guardian and Shopper.*");
}

/// After one or two specialists have answered, the budget is exhausted or the server cannot be
/// reached.
#[tokio::test(start_paused = true)]
async fn specialists_answers_are_returned_uncombined_if_no_model_call_is_possible() {
    let run = |last: Vec<Vec<Say>>| async move {
        let bench = two(40_000);
        for says in last {
            bench.model.then(says);
        }
        let request =
            json!({"contract_version": "1.0", "request_id": "r", "input": "both"}).to_string();
        let params =
            RunParams { request, caller: "test".into(), correlation_id: None, stream: false };
        json!(bench.engine.runs.run(params).await.unwrap())
    };
    let used_up = || Say::Uses(39_000, 900);
    let both = "It is behind.\n\nThere are boots.\n\n*Answered by Guardian and Shopper.*";
    let opening = || {
        vec![
            vec![route("guardian")],
            vec![Say::Text("It is behind.")],
            vec![route("shopper")],
            vec![Say::Text("There are boots.")],
        ]
    };

    let refused =
        run(opening().into_iter().chain([vec![route("FINISH"), used_up()]]).collect()).await;
    assert_eq!(refused["metadata"]["truncated_by"], "budget");
    assert!(
        refused["output"]
            .as_str()
            .unwrap()
            .starts_with(&format!("{both}\n\nThis message would exceed its budget")),
        "{refused}"
    );

    let away = run(opening()
        .into_iter()
        .chain([vec![route("FINISH")], vec![Say::Fail(ModelErrorKind::Unavailable)]])
        .collect())
    .await;
    assert_eq!((&away["output"], &away["metadata"]["truncated_by"]), (&json!(both), &json!(null)));

    let first =
        run(vec![vec![route("guardian")], vec![Say::Text("It is behind."), used_up()]]).await;
    assert_eq!(first["metadata"]["truncated_by"], "budget");
    assert!(
        first["output"]
            .as_str()
            .unwrap()
            .starts_with("It is behind.\n\nThis message would exceed its budget"),
        "{first}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_truncated_intermediate_reply_adds_no_note_to_a_complete_answer() {
    let bench = bench(Budgets { run_tokens: 6_000, ..none() });
    bench.model.then(vec![
        Say::Text("Let me look at"),
        Say::Call("a_read", json!({})),
        Say::Ends(Finish::Length),
    ]);
    bench.model.then(vec![Say::Text("All is fine.")]);
    assert_eq!(
        status_and_text(&bench.ask("how is it").await),
        (TurnStatus::Ok, "All is fine.".into())
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_cut_before_its_first_word_is_not_requested_again() {
    let bench = bench(none());
    bench.model.then(vec![Say::Ends(Finish::Length)]);
    assert_eq!(
        status_and_text(&bench.ask("think").await),
        (TurnStatus::Ok, "The answer ends here: the longest answer allowed was reached.".into())
    );
    assert_eq!(bench.model.requests.lock().unwrap().len(), 1);
    bench.profile.settings.lock().unwrap().budgets.run_tokens = 3_000;
    bench.model.then(vec![Say::Ends(Finish::Length)]);
    assert_eq!(
        status_and_text(&bench.ask("think").await).1,
        "The answer ends here: the budget allows no more."
    );
}

#[tokio::test(start_paused = true)]
async fn a_callers_output_limit_is_clamped_to_the_budget() {
    let bench = bench(Budgets { max_output_tokens: 500, ..none() });
    let asking = |id: &str, most: u32| {
        let request = json!({"contract_version": "1.0", "request_id": id, "input": "x", "options": {"max_output_tokens": most}}).to_string();
        bench.engine.runs.run(RunParams {
            request,
            caller: "test".into(),
            correlation_id: None,
            stream: false,
        })
    };
    bench.model.then(vec![Say::Text("As much as"), Say::Ends(Finish::Length)]);
    assert_eq!(
        asking("a", 100).await.unwrap().output,
        "As much as",
        "who set the limit is not told of it"
    );
    asking("b", 9_000).await.unwrap();
    let asked: Vec<Option<u32>> = bench
        .model
        .requests
        .lock()
        .unwrap()
        .iter()
        .map(|request| request.max_output_tokens)
        .collect();
    assert_eq!(asked, [Some(100), Some(500)]);
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_model_calls_applies_to_the_whole_turn() {
    let bench = bench(none());
    bench.profile.settings.lock().unwrap().limits.rounds = 20;
    bench.profile.settings.lock().unwrap().limits.model_calls = 2;
    bench.model.then(vec![Say::Call("a_read", json!({"n": 0}))]);
    bench.model.then(vec![Say::Text("From what there is: fine.")]);
    // As with every limit, there is an answer: the last call is made without tools.
    assert_eq!(
        status_and_text(&bench.ask("go").await),
        (TurnStatus::Ok, "From what there is: fine.".into())
    );
    let requests = bench.model.requests.lock().unwrap();
    assert_eq!(
        requests.iter().map(|request| request.tools.is_empty()).collect::<Vec<_>>(),
        [false, true]
    );
}

#[tokio::test(start_paused = true)]
async fn the_offline_model_uses_no_budget() {
    let bench = bench(Budgets { run_tokens: 1, day_usd: 0.000_001, ..none() });
    bench.model.inside.store(true, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(status_and_text(&bench.ask("hello").await).0, TurnStatus::Ok);
}

#[tokio::test(start_paused = true)]
async fn an_offline_fallback_model_uses_no_budget() {
    let bench = bench(none());
    bench.model.then(vec![
        Say::FellBack("first", "second"),
        Say::Inside,
        Say::Uses(0, 0),
        Say::Text("It paces well."),
    ]);
    let request = json!({"contract_version": "1.0", "request_id": "r", "input": "how is it going"})
        .to_string();
    let params = RunParams { request, caller: "test".into(), correlation_id: None, stream: false };
    let response = bench.engine.runs.run(params).await.unwrap();
    assert_eq!(
        (response.metadata.unpriced_models.len(), response.usage.unwrap().estimated_cost_usd),
        (0, Some(0.0))
    );
    let spent = bench.world.store.spent(bench.clock.now().date_naive()).await.unwrap();
    assert_eq!((spent.tokens, spent.usd), (0, 0.0), "{spent:?}");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_stopped_responding_is_charged_for_possible_usage() {
    let price =
        |model: &str, usd| ModelPrice { model: model.into(), input_usd: usd, output_usd: usd };
    let spent = |says: Vec<Say>| async move {
        let bench = bench(none());
        bench
            .profile
            .prices
            .lock()
            .unwrap()
            .price
            .extend([price("script", 1.0), price("silent", 10.0)]);
        bench.model.then(says);
        bench.ask("go").await;
        bench.world.store.spent(bench.clock.now().date_naive()).await.unwrap()
    };
    let refused = spent(vec![Say::Fail(ModelErrorKind::Unavailable)]).await;
    assert_eq!((refused.tokens, refused.usd), (0, 0.0));
    let silent = spent(vec![Say::Fail(ModelErrorKind::Broken)]).await;
    assert!(silent.tokens > 50 && silent.usd > 0.0, "what it read: {silent:?}");
    let both =
        spent(vec![Say::FellSilent("silent"), Say::Uses(1_000, 10), Say::Text("Fine.")]).await;
    assert_eq!(both.tokens, silent.tokens + 1_010);
    assert!(
        (both.usd - (silent.usd * 10.0 + 0.001_01)).abs() < 1e-9,
        "each at its own price: {both:?}"
    );
    let inside =
        spent(vec![Say::FellSilent("silent"), Say::Inside, Say::Uses(0, 0), Say::Text("Fine.")])
            .await;
    assert_eq!((inside.tokens, inside.unpriced_calls), (silent.tokens, 0), "only the first");
    let unknown = spent(vec![
        Say::FellSilent("nobody knows"),
        Say::Inside,
        Say::Uses(0, 0),
        Say::Text("Fine."),
    ])
    .await;
    assert_eq!(
        (unknown.tokens, unknown.unpriced_calls),
        (silent.tokens, 1),
        "and nobody knows what that cost"
    );
    let unpriced =
        spent(vec![Say::FellSilent("nobody knows"), Say::Uses(1_000, 10), Say::Text("Fine.")])
            .await;
    assert_eq!(unpriced.tokens, silent.tokens + 1_010);
    assert!(
        (unpriced.usd - 0.001_01).abs() < 1e-9,
        "what is known of the cost counts: {unpriced:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_model_call_is_charged_for_its_possible_usage() {
    let bench = bench(none());
    bench.model.then(vec![Say::Text("Half an answer"), Say::Hang]);
    let started = bench.start("go").await;
    bench
        .wait_for(|events| {
            events.iter().find(|e| matches!(e.event, EventBody::Delta { .. })).map(|_| ())
        })
        .await;
    bench
        .engine
        .turns
        .cancel(&contract::TurnCancelParams { session: "s".into(), turn: started.turn.clone() })
        .await
        .unwrap();
    bench.final_of(&started.turn).await;
    let day = bench.clock.now().date_naive();
    let spent = bench.world.store.spent(day).await.unwrap();
    // The reservation covered a whole answer.
    assert!(spent.calls == 1 && (1..8_192).contains(&spent.tokens), "{spent:?}");
}

#[tokio::test(start_paused = true)]
async fn a_turn_past_its_deadline_makes_one_last_model_call_without_tools() {
    let bench = bench(none());
    bench.profile.settings.lock().unwrap().limits.deadline_s = 3_000_000;
    bench.tools.slow.lock().unwrap().insert("a.read".into(), Duration::from_secs(3_100_000));
    let patient =
        contract::ToolSpec { timeout_ms: 10_000_000_000, ..tool("a.read", Effect::ReadOnly) };
    *bench.tools.specs.lock().unwrap() = std::sync::Arc::new(vec![patient]);
    bench.model.then(vec![Say::Call("a_read", json!({}))]);
    bench.model.then(vec![Say::Text("From what there is: fine.")]);
    let turn = bench.start("go").await.turn;
    // Waits in real time, because the paused clock would otherwise advance: the tool must start
    // before the deadline.
    while bench.tools.at_once.load(std::sync::atomic::Ordering::SeqCst) == 0 {
        std::thread::sleep(Duration::from_millis(1));
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_secs(4_000_000)).await;
    assert_eq!(
        status_and_text(&bench.final_of(&turn).await),
        (TurnStatus::Ok, "From what there is: fine.".into())
    );
    let requests = bench.model.requests.lock().unwrap();
    assert!(!requests[0].tools.is_empty() && requests[1].tools.is_empty());
}

#[tokio::test(start_paused = true)]
async fn time_waiting_for_a_decision_does_not_count_against_the_turn() {
    let bench = bench(none());
    bench.profile.settings.lock().unwrap().limits.deadline_s = 3_000_000;
    bench.model.then(vec![Say::Call("w", json!({"q": "x"}))]);
    bench.model.then(vec![Say::Call("a_read", json!({}))]);
    let turn = bench.start("add").await.turn;
    let approval = bench.approval(0).await;
    // Waits in real time while virtual time stands still, so that the call reaches its waiting
    // point.
    for _ in 0..50 {
        std::thread::sleep(Duration::from_millis(1));
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_secs(9_000_000)).await;
    bench.decide(&approval, Decision::ApproveOnce { confirm_word: None }).await.unwrap();
    bench.final_of(&turn).await;
    assert_eq!(bench.runs(), ["w", "a.read"], "there was time left");
    let served = bench.world.store.served(1).await.unwrap();
    assert!(served[0].duration_ms < 9_000_000_000 && served[0].tools == 2, "{served:?}");
}

#[tokio::test(start_paused = true)]
async fn time_of_a_tool_server_counts_against_the_turn_only_if_a_remote_caller_waits() {
    for is_remote in [false, true] {
        let bench = bench(none());
        bench.profile.settings.lock().unwrap().limits.deadline_s = 3_000_000;
        bench.tools.keeps_time.store(true, std::sync::atomic::Ordering::SeqCst);
        bench.tools.slow.lock().unwrap().insert("a.read".into(), Duration::from_secs(3_100_000));
        bench.model.then(vec![Say::Call("a_read", json!({}))]);
        if !is_remote {
            bench.model.then(vec![Say::Call("a_read", json!({"q": "x"}))]);
        }
        bench.model.then(vec![Say::Text("fine")]);
        let mut own = None;
        let mut callers = None;
        if is_remote {
            callers = Some(callers_turn(&bench).await);
        } else {
            own = Some(bench.start("go").await.turn);
        }
        for _ in 0..if is_remote { 1 } else { 2 } {
            // The tool must start before the clock advances.
            while bench.tools.at_once.load(std::sync::atomic::Ordering::SeqCst) == 0 {
                std::thread::sleep(Duration::from_millis(1));
                tokio::task::yield_now().await;
            }
            tokio::time::sleep(Duration::from_secs(4_000_000)).await;
        }
        let status = match (own, callers) {
            (_, Some(stream)) => end_of(stream).await.0,
            (own, None) => status_and_text(&bench.final_of(&own.unwrap()).await).0,
        };
        assert_eq!(status, TurnStatus::Ok);
        assert_eq!(bench.runs().len(), if is_remote { 1 } else { 2 });
        let requests = bench.model.requests.lock().unwrap();
        assert_eq!(requests[1].tools.is_empty(), is_remote);
    }
}

/// Starts a turn of a remote caller.
async fn callers_turn(bench: &Bench) -> TurnStream {
    let options = TurnOptions {
        locale: "sv".into(),
        caller: contract::Caller::chat_api([].into(), Limits::default()),
        request_id: "r".into(),
        correlation_id: None,
        hints: Vec::new(),
        whole: false,
        preflight_tools: &[],
    };
    bench.engine.caller_turns.start(&"s".into(), "hi".into(), None, options).await.unwrap()
}

/// Returns how a turn of a remote caller ends.
async fn end_of(mut stream: TurnStream) -> (TurnStatus, String) {
    loop {
        let event = stream.next().await.expect("an end");
        if matches!(event, EventBody::Final { .. }) {
            break status_and_text(&event);
        }
    }
}

async fn heard(bench: &Bench) -> (TurnStatus, String) {
    end_of(callers_turn(bench).await).await
}

#[tokio::test(start_paused = true)]
async fn a_remote_caller_is_not_told_budget_figures() {
    let bench = bench(Budgets { session_tokens: 12_000, ..none() });
    bench.model.then(vec![
        Say::Text("Let me look."),
        Say::Call("a_read", json!({})),
        Say::Uses(11_500, 400),
    ]);
    let (status, text) = heard(&bench).await;
    assert_eq!((status, text.as_str()), (TurnStatus::Limit, "Svaret slutar här."));
    assert_eq!(bench.model.requests.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_configured_fallback_model_does_not_limit_the_answer() {
    for budgets in [none(), Budgets::default()] {
        let bench = bench(budgets);
        *bench.model.second.lock().unwrap() = Some("second".into());
        bench.ask("go").await;
        assert_eq!(bench.model.requests.lock().unwrap()[0].max_output_tokens, None);
    }
}

#[tokio::test(start_paused = true)]
async fn the_requested_output_tokens_are_reserved_in_the_budget() {
    // An unknown model may generate as many tokens as requested.
    let bench = bench(Budgets { run_tokens: 20_000, max_output_tokens: 32_000, ..none() });
    bench.ask("go").await;
    let most = bench.model.requests.lock().unwrap()[0].max_output_tokens.unwrap();
    assert!((10_000..20_000).contains(&most), "the cap holds for all of it: {most}");
    // A known model is not asked for more than its own limit.
    *bench.model.capabilities.lock().unwrap() =
        Some(ModelCapabilities { max_output_tokens: Some(4_000), ..ModelCapabilities::default() });
    bench.ask("go on").await;
    assert_eq!(bench.model.requests.lock().unwrap()[1].max_output_tokens, Some(4_000));
}

/// The limit is the model's default, or another model with a higher limit may take over.
#[tokio::test(start_paused = true)]
async fn an_answer_cut_at_the_models_own_limit_does_not_blame_the_budget() {
    for all in [16_000, 128_000] {
        let bench = bench(Budgets { run_tokens: 40_000, ..none() });
        *bench.model.longest.lock().unwrap() = Some((16_000, all));
        bench.model.then(vec![Say::Text("As much as"), Say::Ends(Finish::Length)]);
        let request = json!({"contract_version": "1.0", "request_id": "r", "input": "everything"})
            .to_string();
        let params =
            RunParams { request, caller: "test".into(), correlation_id: None, stream: false };
        let response = json!(bench.engine.runs.run(params).await.unwrap());
        assert_eq!(
            response["output"],
            "As much as\n\nThe answer ends here: the longest answer allowed was reached.",
            "{all}"
        );
        assert_eq!(response["metadata"]["truncated_by"], json!(null), "{all}");
    }
}

#[tokio::test(start_paused = true)]
async fn input_tokens_of_a_possible_fallback_model_are_reserved_too() {
    let reserved = |second: bool| async move {
        let bench = bench(none());
        *bench.model.second.lock().unwrap() = second.then(|| "second".into());
        bench.model.then(vec![Say::Hang]);
        bench.start("go").await;
        while bench.model.requests.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        bench.world.store.spent(bench.clock.now().date_naive()).await.unwrap().tokens
    };
    let (one, two) = (reserved(false).await, reserved(true).await);
    assert_eq!(two - one, one - 8_192, "the input once more: {one} {two}");
}

/// The decision is not requested again. The existing texts are the answer; without texts, the
/// budget is the error.
#[tokio::test(start_paused = true)]
async fn a_budget_that_cuts_the_routing_decision_is_reported_or_the_answer_so_far_is_used() {
    let cut = || vec![Say::Text("{\"next\": \"sho"), Say::Ends(Finish::Length)];
    let bench_of = |answered: bool| {
        let bench = two(20_000);
        *bench.model.longest.lock().unwrap() = Some((100_000, 100_000));
        if answered {
            bench.model.then(vec![route("guardian")]);
            bench.model.then(vec![Say::Text("It is behind.")]);
        }
        bench.model.then(cut());
        bench
    };
    let bench = bench_of(true);
    let text = status_and_text(&bench.ask("both").await).1;
    assert!(
        text.starts_with("It is behind.\n\nThe answer ends here: the budget allows no more."),
        "{text}"
    );
    assert_eq!(bench.model.requests.lock().unwrap().len(), 3);
    let bench = bench_of(false);
    assert_eq!(refused(&bench).await.reason_text(), Some("budget_exceeded"));
    assert_eq!(bench.model.requests.lock().unwrap().len(), 1);
    assert_eq!(heard(&bench_of(true)).await, (TurnStatus::Ok, "It is behind.".into()));
}
