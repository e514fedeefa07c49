//! Makes the attempts of a call, with a time limit for each and a delay between them. An effect
//! that may have happened is not repeated.

use std::{sync::Arc, time::Duration};

use contract::{AgentError, Effect, ErrorCode, ToolSpec, manifest::Backoff, text};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::ports::{Random, ToolFailure, ToolRequest, Tools};

const DEFAULT_TIMEOUT_MS: u64 = 10_000;
const LONGEST_WAIT_MS: f64 = 30_000.0;
/// The time that a call may still run after its cancellation.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Runs a call until it succeeds, may not be repeated, has no attempts left, or the next attempt
/// would end after the deadline. Adds `attempts` to the last error.
pub async fn run(
    tools: &dyn Tools,
    random: &dyn Random,
    request: ToolRequest,
    cancel: &CancellationToken,
    deadline: tokio::time::Instant,
) -> Result<Value, ToolFailure> {
    let tries = allowed_tries(&request);
    let mut attempt = 1;
    loop {
        let failure = match run_once(tools, request.clone(), cancel).await {
            Ok(value) => return Ok(value),
            Err(failure) => failure,
        };
        // An effect that may have happened is never repeated, even if the manifest allows retries.
        let uncertain = failure.may_have_happened && request.spec.effect != Effect::ReadOnly;
        let again =
            failure.error.retryable && attempt < tries && !cancel.is_cancelled() && !uncertain;
        let last = |failure: ToolFailure| {
            Err(ToolFailure { error: failure.error.with("attempts", attempt), ..failure })
        };
        if !again {
            return last(failure);
        }
        let wait = delay(
            request.spec.backoff,
            attempt,
            random.random_fraction(),
            retry_after(&failure.error),
        );
        // An attempt that cannot end in time would be aborted, and its effect would be unknown.
        if tokio::time::Instant::now() + wait + time_limit(&request.spec) > deadline {
            return last(failure);
        }
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = cancel.cancelled() => return last(failure),
        }
        attempt += 1;
    }
}

/// Returns the number of attempts. An effect is repeated only with an idempotency key.
fn allowed_tries(request: &ToolRequest) -> u32 {
    let repeatable = request.spec.effect == Effect::ReadOnly || request.idempotency_key.is_some();
    if repeatable { request.spec.max_attempts.max(1) } else { 1 }
}

/// Returns the time limit of an attempt.
fn time_limit(spec: &ToolSpec) -> Duration {
    Duration::from_millis(if spec.timeout_ms == 0 { DEFAULT_TIMEOUT_MS } else { spec.timeout_ms })
}

async fn run_once(
    tools: &dyn Tools,
    request: ToolRequest,
    cancel: &CancellationToken,
) -> Result<Value, ToolFailure> {
    let limit = time_limit(&request.spec);
    let writes = request.spec.effect != Effect::ReadOnly;
    let title = request.spec.title.clone();
    // A write is cancelled only after a short grace period.
    let stop = if writes { CancellationToken::new() } else { cancel.child_token() };
    let spec = Arc::clone(&request.spec);
    let running = tools.run(request, stop.clone());
    tokio::pin!(running);
    let cancelled = async {
        cancel.cancelled().await;
        // A read is cancelled immediately. A write gets a few seconds to finish, unless it may take
        // long, in which case the tool's side is notified immediately.
        if writes && !tools.keeps_time(&spec) {
            tokio::time::sleep(Duration::from_secs(3)).await;
        }
    };
    let error = tokio::select! {
        done = &mut running => return done,
        () = wait_until_timeout(tools, &spec, limit) => {
            let error = AgentError::new(ErrorCode::ToolTimeout, text!("{tool} did not answer within {seconds} s.", tool = title, seconds = limit.as_secs_f32()));
            error.hint("Try again; if it keeps happening, look at the server in Tools.")
        }
        () = cancelled => AgentError::internal("cancelled", text!("{tool} was stopped.", tool = title)),
    };
    // The call must be polled after the cancellation, so that it can notify its server and report
    // how it ended.
    stop.cancel();
    match tokio::time::timeout(LAST_WORDS, running).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(failure)) => Err(ToolFailure { error, ..failure }),
        Err(_) => Err(ToolFailure { error, may_have_happened: true }),
    }
}

/// Waits until the time limit has passed. The limit restarts while the call waits for a person's
/// answer. It never passes for a call that has its own time limit.
async fn wait_until_timeout(tools: &dyn Tools, spec: &ToolSpec, limit: Duration) {
    if tools.keeps_time(spec) {
        std::future::pending::<()>().await;
    }
    loop {
        tokio::time::sleep(limit).await;
        // While the server waits for a person's answer, the limit restarts.
        if !tools.waits_for_person(spec) {
            return;
        }
    }
}

fn retry_after(error: &AgentError) -> Option<u64> {
    error.details.get("retry_after_ms").and_then(Value::as_u64)
}

/// Returns the delay before attempt `attempt + 1`.
fn delay(backoff: Backoff, attempt: u32, unit: f64, server: Option<u64>) -> Duration {
    let doubled = 1_000.0 * 2f64.powi(i32::try_from(attempt).unwrap_or(16).min(16) - 1);
    let own = match backoff {
        Backoff::Fixed => 1_000.0,
        Backoff::Exponential => doubled,
        Backoff::ExponentialJitter => doubled * (0.5 + unit),
    };
    let wished = server.map_or(0.0, |ms| u32::try_from(ms).map_or(LONGEST_WAIT_MS, f64::from));
    Duration::from_secs_f64(own.max(wished).min(LONGEST_WAIT_MS) / 1_000.0)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use async_trait::async_trait;
    use contract::{
        Reach, ResultView, ToolTarget,
        manifest::{IdempotencyStrategy, Kind, Latency, OutputTrust},
    };
    use serde_json::json;
    use tokio::time::Instant;

    use super::*;
    use crate::ports::TurnContent;

    struct Half;
    impl Random for Half {
        fn random_fraction(&self) -> f64 {
            0.5
        }
    }

    /// A tool that fails each time after `takes`, and records when it was called.
    struct Failing {
        takes: Duration,
        wish: Option<u64>,
        calls: Mutex<Vec<Instant>>,
    }
    #[async_trait]
    impl Tools for Failing {
        fn specs(&self) -> Arc<Vec<ToolSpec>> {
            Arc::default()
        }
        fn reads_files(&self, _: &contract::PackId) -> bool {
            false
        }
        async fn run(&self, _: ToolRequest, _: CancellationToken) -> Result<Value, ToolFailure> {
            self.calls.lock().unwrap().push(Instant::now());
            tokio::time::sleep(self.takes).await;
            let error = AgentError::new(ErrorCode::RateLimited, "Slow down.");
            let error = self.wish.map_or(error.clone(), |ms| error.with("retry_after_ms", ms));
            Err(ToolFailure { error, may_have_happened: false })
        }
    }

    fn request(max_attempts: u32, timeout_ms: u64, backoff: Backoff) -> ToolRequest {
        let spec = ToolSpec {
            id: "r".into(),
            pack: "p".into(),
            model_name: "r".into(),
            title: "R".into(),
            description: String::new(),
            use_when: vec![],
            do_not_use_when: vec![],
            kind: Kind::InternalService,
            effect: Effect::ReadOnly,
            open_world: false,
            reach: Reach::Here,
            is_description_accepted: true,
            output_trust: OutputTrust::Trusted,
            grantable: false,
            human_required: false,
            latency: Latency::Fast,
            input_schema: json!({}),
            full_input_schema: json!({}),
            output_schema: json!({}),
            error_schema: json!({}),
            caller_owned: vec![],
            timeout_ms,
            max_attempts,
            backoff,
            idempotency: IdempotencyStrategy::None,
            idempotency_key_ref: None,
            auth: None,
            audit_required: false,
            view: ResultView::default(),
            preview: None,
            session_values: vec![],
            as_of: None,
            target: ToolTarget::BuiltIn { service: "s".into() },
            definition_hash: String::new(),
        };
        ToolRequest {
            spec: Arc::new(spec),
            arguments: json!({}),
            asked: json!({}),
            call: "c".into(),
            session: "s".into(),
            caller: Default::default(),
            idempotency_key: None,
            attended: false,
            content: TurnContent { model_is_local: true, ..TurnContent::default() },
        }
    }

    /// Returns the seconds at which the attempts began, and the last error.
    async fn tries(
        tools: Failing,
        request: ToolRequest,
        deadline_s: u64,
    ) -> (Vec<u64>, AgentError) {
        let start = Instant::now();
        let ended = run(
            &tools,
            &Half,
            request,
            &CancellationToken::new(),
            start + Duration::from_secs(deadline_s),
        )
        .await;
        let at = tools.calls.lock().unwrap().iter().map(|call| (*call - start).as_secs()).collect();
        (at, ended.unwrap_err().error)
    }

    #[tokio::test(start_paused = true)]
    async fn attempts_wait_for_the_declared_back_off_or_the_servers_longer_retry_after() {
        let failing = |wish| Failing { takes: Duration::ZERO, wish, calls: Mutex::default() };
        let (at, error) =
            tries(failing(None), request(4, 1_000, Backoff::ExponentialJitter), 1_000).await;
        assert_eq!((at, &error.details["attempts"]), (vec![0, 1, 3, 7], &json!(4)));
        let (at, _) = tries(failing(Some(7_000)), request(3, 1_000, Backoff::Fixed), 1_000).await;
        assert_eq!(at, [0, 7, 14]);
    }

    #[tokio::test(start_paused = true)]
    async fn no_attempt_starts_that_could_end_after_the_deadline() {
        let failing = Failing { takes: Duration::ZERO, wish: Some(6_000), calls: Mutex::default() };
        // The fourth attempt would begin at 18 s and could take until 23 s.
        let (at, error) = tries(failing, request(50, 5_000, Backoff::Fixed), 20).await;
        assert_eq!((at, &error.details["attempts"]), (vec![0, 6, 12], &json!(3)));
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_limit_applies_to_each_attempt() {
        let slow =
            Failing { takes: Duration::from_secs(3_600), wish: None, calls: Mutex::default() };
        let (at, error) = tries(slow, request(2, 4_000, Backoff::Fixed), 1_000).await;
        assert_eq!((at, error.code), (vec![0, 5], ErrorCode::ToolTimeout));
    }

    /// A tool that runs until it is stopped, and records the stop. If it has its own time limit, it
    /// ends after five minutes.
    struct Stoppable {
        deaf: bool,
        keeps_time: bool,
        was_notified: Mutex<bool>,
    }
    #[async_trait]
    impl Tools for Stoppable {
        fn specs(&self) -> Arc<Vec<ToolSpec>> {
            Arc::default()
        }
        fn reads_files(&self, _: &contract::PackId) -> bool {
            false
        }
        fn keeps_time(&self, _: &ToolSpec) -> bool {
            self.keeps_time
        }
        async fn run(&self, _: ToolRequest, stop: CancellationToken) -> Result<Value, ToolFailure> {
            if self.deaf {
                std::future::pending::<()>().await;
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(Duration::from_secs(300)), if self.keeps_time => {
                    return Ok(json!("done"));
                }
            }
            *self.was_notified.lock().unwrap() = true;
            Err(ToolFailure {
                error: AgentError::internal("own", "It stopped before it was sent."),
                may_have_happened: false,
            })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_manages_its_own_time_limit_is_not_timed_out_but_stops_on_cancel() {
        for stops in [false, true] {
            let tools = Stoppable { deaf: false, keeps_time: true, was_notified: Mutex::default() };
            let mut request = request(1, 10_000, Backoff::Fixed);
            Arc::make_mut(&mut request.spec).effect = Effect::Write;
            let (cancel, start) = (CancellationToken::new(), Instant::now());
            let user = async {
                tokio::time::sleep(Duration::from_secs(70)).await;
                if stops {
                    cancel.cancel();
                }
            };
            let until = start + Duration::from_secs(60);
            let (ended, ()) = tokio::join!(run(&tools, &Half, request, &cancel, until), user);
            assert_eq!(ended.is_ok(), !stops);
            assert_eq!(start.elapsed().as_secs(), if stops { 70 } else { 300 });
        }
    }

    /// Runs a write that the user stops after a second if `by_user` is set. Returns the failure,
    /// whether the tool noticed the stop, and the time in milliseconds.
    async fn stopped(deaf: bool, by_user: bool) -> (ToolFailure, bool, u128) {
        let tools = Stoppable { deaf, keeps_time: false, was_notified: Mutex::default() };
        let mut request = request(1, 10_000, Backoff::Fixed);
        Arc::make_mut(&mut request.spec).effect = Effect::Write;
        let (cancel, start) = (CancellationToken::new(), Instant::now());
        let user = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            if by_user {
                cancel.cancel();
            }
        };
        let (ended, ()) = tokio::join!(
            run(&tools, &Half, request, &cancel, start + Duration::from_secs(60)),
            user
        );
        (ended.unwrap_err(), *tools.was_notified.lock().unwrap(), start.elapsed().as_millis())
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancelled_call_is_notified_and_may_report_its_outcome() {
        for (by_user, reason, ends) in [(true, Some("cancelled"), 4_000), (false, None, 10_000)] {
            let (failure, was_notified, took) = stopped(false, by_user).await;
            assert!(was_notified && took >= ends && took < ends + 100, "after {took} ms");
            assert_eq!((failure.error.reason_text(), failure.may_have_happened), (reason, false));
            let (failure, was_notified, took) = stopped(true, by_user).await;
            assert!(
                !was_notified && took >= ends && took < ends + 300,
                "who says nothing is not waited for: {took} ms"
            );
            assert_eq!((failure.error.reason_text(), failure.may_have_happened), (reason, true));
        }
    }

    #[test]
    fn the_wait_between_attempts_follows_the_back_off_and_is_capped() {
        let ms = |backoff, attempt, unit, server| delay(backoff, attempt, unit, server).as_millis();
        assert_eq!(ms(Backoff::Fixed, 3, 0.9, None), 1_000);
        assert_eq!(ms(Backoff::Exponential, 1, 0.0, None), 1_000);
        assert_eq!(ms(Backoff::Exponential, 4, 0.0, None), 8_000);
        assert_eq!(ms(Backoff::ExponentialJitter, 2, 0.0, None), 1_000);
        assert_eq!(ms(Backoff::ExponentialJitter, 2, 0.5, None), 2_000);
        assert_eq!(ms(Backoff::Exponential, 9, 0.0, None), 30_000, "capped");
        assert_eq!(ms(Backoff::Fixed, 1, 0.0, Some(5_000)), 5_000, "the server's wish when larger");
        assert_eq!(ms(Backoff::Fixed, 1, 0.0, Some(500_000)), 30_000);
    }
}
