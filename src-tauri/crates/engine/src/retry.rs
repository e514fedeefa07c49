//! The attempts of one call: a time limit for each, a wait between them, and never a repeat of an effect.

use std::time::Duration;

use contract::{
    AgentError, Effect, ErrorCode, ToolSpec,
    manifest::{Backoff, IdempotencyStrategy},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::ports::{Random, ToolFailure, ToolRequest, Tools};

const DEFAULT_TIMEOUT_MS: u64 = 10_000;
const LONGEST_WAIT_MS: f64 = 30_000.0;

/// Runs a call until it succeeds, may not be repeated, or has no tries left. `attempts` is added to the last error.
pub async fn run(tools: &dyn Tools, random: &dyn Random, request: ToolRequest, cancel: &CancellationToken) -> Result<Value, ToolFailure> {
    let tries = allowed_tries(&request.spec);
    let mut attempt = 1;
    loop {
        let failure = match once(tools, request.clone(), cancel).await {
            Ok(value) => return Ok(value),
            Err(failure) => failure,
        };
        // An effect that may have happened is never repeated, whatever the manifest hopes for.
        let uncertain = failure.may_have_happened && request.spec.effect != Effect::ReadOnly;
        let again = failure.error.retryable && attempt < tries && !cancel.is_cancelled() && !uncertain;
        if !again {
            return Err(ToolFailure { error: failure.error.with("attempts", attempt), ..failure });
        }
        let wait = delay(request.spec.backoff, attempt, random.unit(), retry_after(&failure.error));
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = cancel.cancelled() => return Err(failure),
        }
        attempt += 1;
    }
}

fn allowed_tries(spec: &ToolSpec) -> u32 {
    let repeatable = spec.effect == Effect::ReadOnly || spec.idempotency != IdempotencyStrategy::None;
    if repeatable { spec.max_attempts.max(1) } else { 1 }
}

async fn once(tools: &dyn Tools, request: ToolRequest, cancel: &CancellationToken) -> Result<Value, ToolFailure> {
    let limit = Duration::from_millis(if request.spec.timeout_ms == 0 { DEFAULT_TIMEOUT_MS } else { request.spec.timeout_ms });
    let writes = request.spec.effect != Effect::ReadOnly;
    let title = request.spec.title.clone();
    // A write is told to stop only after its moment of grace.
    let stop = if writes { CancellationToken::new() } else { cancel.child_token() };
    let running = tools.run(request, stop.clone());
    tokio::pin!(running);
    let cancelled = async {
        cancel.cancelled().await;
        // A read is dropped at once; a write gets a moment to say how it ended.
        if writes {
            tokio::time::sleep(Duration::from_secs(3)).await;
        }
    };
    tokio::select! {
        done = &mut running => done,
        () = tokio::time::sleep(limit) => {
            stop.cancel();
            let error = AgentError::new(ErrorCode::ToolTimeout, format!("{title} did not answer within {} s.", limit.as_secs_f32()));
            Err(ToolFailure { error: error.hint("Try again; if it keeps happening, look at the server in Tools."), may_have_happened: true })
        }
        () = cancelled => {
            stop.cancel();
            Err(ToolFailure { error: AgentError::internal("cancelled", format!("{title} was stopped.")), may_have_happened: true })
        }
    }
}

fn retry_after(error: &AgentError) -> Option<u64> {
    error.details.get("retry_after_ms").and_then(Value::as_u64)
}

/// The wait before try `attempt + 1`.
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
    use super::*;

    #[test]
    fn waits() {
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
