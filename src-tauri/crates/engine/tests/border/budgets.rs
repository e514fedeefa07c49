//! Tests of budgets: reservations before each model call, corrections to the actual usage, refusals
//! with a plain message, an answer from what exists, and a person's waiting time that does not
//! count.

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
async fn a_call_that_could_pass_the_cap_is_not_made_and_says_what_to_do() {
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
async fn money_is_counted_over_a_day_and_a_clock_set_back_frees_nothing() {
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
async fn a_call_is_reserved_at_the_price_of_the_dearest_that_may_answer() {
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
async fn the_longest_answer_is_cut_to_what_is_left() {
    let bench = bench(Budgets { run_tokens: 3_000, ..none() });
    bench.model.then(vec![Say::Text("The beginning of"), Say::Ends(Finish::Length)]);
    let (status, text) = status_and_text(&bench.ask("tell me everything").await);
    assert_eq!(status, TurnStatus::Ok);
    assert!(text.starts_with("The beginning of\n\n") && text.contains("budget"), "{text}");
    let most = bench.model.requests.lock().unwrap()[0].max_output_tokens.unwrap();
    assert!((256..3_000).contains(&most), "{most}");
}

#[tokio::test(start_paused = true)]
async fn useful_text_is_an_answer_that_says_it_is_not_whole() {
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

/// A bench with two specialists.
fn two(run_tokens: u32) -> Bench {
    bench(Budgets { run_tokens, ..none() })
        .with(vec![agent("guardian", &["a.read"]), agent("shopper", &["w"])])
}

/// The first answers, and then the budget refuses to ask who is next.
#[tokio::test(start_paused = true)]
async fn that_a_budget_ended_an_answer_is_told_once() {
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

/// One of them was cut and the other came to its bound, but the text that joins them is there.
#[tokio::test(start_paused = true)]
async fn answers_that_were_brought_together_are_not_told_once_more() {
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

/// Two specialists have answered, or one; then the budget is used up, or the server cannot be reached.
#[tokio::test(start_paused = true)]
async fn answers_of_specialists_are_the_answer_when_no_model_can_combine_them() {
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
async fn only_what_was_cut_says_so() {
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
async fn an_answer_that_was_cut_before_its_first_word_is_not_paid_for_twice() {
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
async fn a_callers_limit_is_clamped_to_the_budget() {
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
async fn calls_are_counted_over_the_whole_turn() {
    let bench = bench(none());
    bench.profile.settings.lock().unwrap().limits.rounds = 20;
    bench.profile.settings.lock().unwrap().limits.model_calls = 2;
    bench.model.then(vec![Say::Call("a_read", json!({"n": 0}))]);
    bench.model.then(vec![Say::Text("From what there is: fine.")]);
    // As at every bound there is an answer: the last call is made without tools.
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
async fn a_model_inside_the_program_costs_nothing() {
    let bench = bench(Budgets { run_tokens: 1, day_usd: 0.000_001, ..none() });
    bench.model.inside.store(true, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(status_and_text(&bench.ask("hello").await).0, TurnStatus::Ok);
}

#[tokio::test(start_paused = true)]
async fn a_fallback_inside_the_program_costs_nothing() {
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
async fn a_model_that_fell_silent_may_have_worked() {
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
async fn a_dropped_call_counts_as_what_it_may_have_used() {
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
    // The reservation was for a whole answer.
    assert!(spent.calls == 1 && (1..8_192).contains(&spent.tokens), "{spent:?}");
}

#[tokio::test(start_paused = true)]
async fn after_the_deadline_the_model_only_gets_to_answer() {
    let bench = bench(none());
    bench.profile.settings.lock().unwrap().limits.deadline_s = 3_000_000;
    bench.tools.slow.lock().unwrap().insert("a.read".into(), Duration::from_secs(3_100_000));
    let patient =
        contract::ToolSpec { timeout_ms: 10_000_000_000, ..tool("a.read", Effect::ReadOnly) };
    *bench.tools.specs.lock().unwrap() = std::sync::Arc::new(vec![patient]);
    bench.model.then(vec![Say::Call("a_read", json!({}))]);
    bench.model.then(vec![Say::Text("From what there is: fine.")]);
    let turn = bench.start("go").await.turn;
    // Waits in real time, during which the paused clock stands still: the tool must start before the
    // deadline.
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
async fn the_time_a_person_takes_is_not_the_turns() {
    let bench = bench(none());
    bench.profile.settings.lock().unwrap().limits.deadline_s = 3_000_000;
    bench.model.then(vec![Say::Call("w", json!({"q": "x"}))]);
    bench.model.then(vec![Say::Call("a_read", json!({}))]);
    let turn = bench.start("add").await.turn;
    let approval = bench.approval(0).await;
    // Real moments, in which virtual time stands: the call comes to where it waits.
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
async fn the_time_of_a_server_is_not_the_turns_unless_a_caller_waits() {
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
            // As above, the tool must start before the clock moves.
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

/// Starts a turn of a caller elsewhere.
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

/// How a turn of a caller elsewhere ends.
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
async fn a_caller_elsewhere_hears_no_figures() {
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
async fn a_second_model_limits_no_answer() {
    for budgets in [none(), Budgets::default()] {
        let bench = bench(budgets);
        *bench.model.second.lock().unwrap() = Some("second".into());
        bench.ask("go").await;
        assert_eq!(bench.model.requests.lock().unwrap()[0].max_output_tokens, None);
    }
}

#[tokio::test(start_paused = true)]
async fn the_tokens_that_are_asked_for_are_reserved() {
    // A model that nobody knows may give all that it is asked for.
    let bench = bench(Budgets { run_tokens: 20_000, max_output_tokens: 32_000, ..none() });
    bench.ask("go").await;
    let most = bench.model.requests.lock().unwrap()[0].max_output_tokens.unwrap();
    assert!((10_000..20_000).contains(&most), "the cap holds for all of it: {most}");
    // One that is known is asked for no more than it can give.
    *bench.model.capabilities.lock().unwrap() =
        Some(ModelCapabilities { max_output_tokens: Some(4_000), ..ModelCapabilities::default() });
    bench.ask("go on").await;
    assert_eq!(bench.model.requests.lock().unwrap()[1].max_output_tokens, Some(4_000));
}

/// The model is asked for so much by itself, or another one that gives more may take over.
#[tokio::test(start_paused = true)]
async fn an_answer_that_reached_the_models_own_limit_was_not_cut_by_a_budget() {
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
async fn tokens_that_a_silent_model_may_have_read_are_reserved_too() {
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

/// It is not asked for again: what there is is the answer, else the budget is the reason.
#[tokio::test(start_paused = true)]
async fn a_budget_that_cuts_the_supervisor_is_told() {
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
