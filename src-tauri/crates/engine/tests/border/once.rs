//! Tests of effects under failures. If a failure occurs between intent and outcome, an effect that
//! began has run once or is reported as unknown, and neither the turn, a restart nor the next turn
//! repeats it.

use std::sync::{Arc, atomic::Ordering};

use contract::{manifest::IdempotencyStrategy, *};
use engine::{Engine, World, ports::*};
use serde_json::json;

use crate::world::{Bench, Say, tool};

/// The failure that occurs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// The turn is interrupted at a point.
    At(Point),
    /// The log does not accept the record of the outcome.
    NoOutcomeRecord,
    Hangs,
    /// The connection is lost after sending.
    Lost,
    /// The tool reports that the effect did not happen and that the call may be retried.
    Busy,
    OddOutput,
    /// The model does not answer after the effect.
    ModelFails,
    /// The user stops the turn during the call.
    Stopped,
}

struct BreaksAt(Option<Point>);
impl Probe for BreaksAt {
    fn at(&self, point: Point) {
        assert!(self.0 != Some(point), "the fault of this test");
    }
}

async fn run(fault: Fault, signed: bool) -> (usize, Vec<ToolOutcome>) {
    let mut write = tool("w", Effect::Write);
    write.idempotency =
        if fault == Fault::Busy { IdempotencyStrategy::None } else { IdempotencyStrategy::Header };
    if fault == Fault::OddOutput {
        write.output_schema = json!({"type": "object", "required": ["never there"]});
    }
    let bench = Bench::new(vec![write]);
    if !signed {
        bench.profile.settings.lock().unwrap().policy = PolicyMode::WritesAllowed;
    }
    let log = Arc::clone(&bench.log);
    let behaviour = move |request: &ToolRequest| match fault {
        Fault::NoOutcomeRecord => {
            log.refuses.store(true, Ordering::SeqCst);
            Ok(json!({}))
        }
        Fault::Lost => Err(ToolFailure {
            error: AgentError::new(ErrorCode::ToolHttpError, "lost").retryable(true),
            may_have_happened: true,
        }),
        Fault::Busy => Err(ToolFailure {
            error: AgentError::new(ErrorCode::RateLimited, "busy").retryable(true),
            may_have_happened: false,
        }),
        Fault::At(_) | Fault::Hangs | Fault::OddOutput | Fault::ModelFails | Fault::Stopped => {
            Ok(json!({"echo": request.arguments}))
        }
    };
    bench.tools.behaviours.lock().unwrap().insert("w".into(), Box::new(behaviour));
    if matches!(fault, Fault::Hangs | Fault::Stopped) {
        bench.tools.slow.lock().unwrap().insert("w".into(), std::time::Duration::from_secs(3_600));
    }
    bench.model.then(vec![Say::Call("w", json!({"n": 1}))]);
    if fault == Fault::ModelFails {
        bench.model.then(vec![Say::Fail(ModelErrorKind::BadRequest)]);
    }
    let point = if let Fault::At(point) = fault { Some(point) } else { None };
    let engine = Engine::new(World { probe: Arc::new(BreaksAt(point)), ..bench.world.clone() });
    let params = |text: &str| TurnStartParams {
        session: Some("s".into()),
        text: text.into(),
        model: None,
        agent: None,
        headless: false,
        replaces: None,
    };
    let turn = engine.turns.start(contract::Caller::inside(), params("go")).await.unwrap().turn;
    if signed && fault != Fault::At(Point::AfterApprovalRequested) {
        let approval = bench.approval(0).await;
        let decision = ApprovalDecideParams {
            id: approval.id.clone(),
            hash: approval.hash.clone(),
            decision: Decision::ApproveOnce { confirm_word: None },
        };
        engine.approvals.decide(decision, &contract::Caller::window()).await.unwrap();
    }
    if fault == Fault::Stopped {
        while bench.runs().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        engine
            .turns
            .cancel(&TurnCancelParams { session: "s".into(), turn: turn.clone() })
            .await
            .unwrap();
    }
    bench.final_of(&turn).await;
    bench.log.refuses.store(false, Ordering::SeqCst);
    // The app restarts, and the conversation continues.
    let next = Engine::new(bench.world.clone());
    next.recover().await.unwrap();
    let turn = next.turns.start(contract::Caller::inside(), params("and now?")).await.unwrap().turn;
    bench.final_of(&turn).await;
    next.recover().await.unwrap();
    (bench.runs().len(), bench.outcomes().await)
}

#[tokio::test(start_paused = true)]
async fn agent_run_6_an_effect_runs_at_most_once_under_every_fault_around_it() {
    use Fault::*;
    for signed in [true, false] {
        for (fault, times) in [
            (At(Point::BetweenIntentAndEffect), 0),
            (At(Point::BetweenEffectAndOutcome), 1),
            (At(Point::AfterOutcome), 1),
            (NoOutcomeRecord, 1),
            (Hangs, 1),
            (Lost, 1),
            (Busy, 1),
            (OddOutput, 1),
            (ModelFails, 1),
            (Stopped, 1),
        ] {
            let (runs, outcomes) = run(fault, signed).await;
            assert_eq!(runs, times, "{fault:?}, signed {signed}: {outcomes:?}");
            assert!(
                outcomes.len() <= 1,
                "a call ends once: {fault:?}, signed {signed}: {outcomes:?}"
            );
            if matches!(fault, Hangs | Lost | Stopped) {
                assert_eq!(
                    outcomes,
                    [ToolOutcome::Unknown],
                    "{fault:?}, signed {signed}: nobody can tell whether it happened"
                );
            }
        }
    }
}
