//! Computes the service level of the last runs: response-time percentiles with their targets, and
//! errors by code. The figures are shown and have no other effect.

use contract::{
    AgentError, ErrorCode, ErrorCount, LatencyClass, LatencyView, PricesView, ServiceLevelView,
};

use crate::{
    budget::metering::today,
    ports::{Served, World},
};

/// The number of runs that are evaluated.
const WINDOW: u32 = 200;
/// The latency class, the percentile, and the target in milliseconds.
const TARGETS: [(LatencyClass, u8, u64); 4] = [
    (LatencyClass::Simple, 50, 1_500),
    (LatencyClass::Simple, 95, 8_000),
    (LatencyClass::WithTools, 50, 5_000),
    (LatencyClass::WithTools, 95, 8_000),
];
const CODES: [ErrorCode; 9] = [
    ErrorCode::InvalidInput,
    ErrorCode::AgentDisabled,
    ErrorCode::ApprovalRequired,
    ErrorCode::ToolNotFound,
    ErrorCode::ToolTimeout,
    ErrorCode::ToolHttpError,
    ErrorCode::LlmError,
    ErrorCode::RateLimited,
    ErrorCode::InternalError,
];

/// The service level of the last runs.
pub struct ServiceLevel {
    world: World,
}

impl ServiceLevel {
    pub(crate) fn new(world: &World) -> Self {
        Self { world: world.clone() }
    }

    /// Returns the figures of the last runs.
    pub async fn read(&self, prices: PricesView) -> Result<ServiceLevelView, AgentError> {
        let store = &self.world.store;
        let served = store.served(WINDOW).await?;
        let spent = store.spent(today(&self.world)).await?;
        Ok(ServiceLevelView {
            window: WINDOW,
            runs: u32::try_from(served.len()).unwrap_or(u32::MAX),
            latencies: latencies(&served),
            errors: count_errors(&served),
            spent,
            prices,
        })
    }
}

/// Returns both percentiles of each class.
fn latencies(served: &[Served]) -> Vec<LatencyView> {
    // Only runs with an answer count, because the time of a stopped or failed run says little about
    // speed.
    let answered: Vec<&Served> =
        served.iter().filter(|run| run.status == "ok" || run.status == "limit").collect();
    let view = |(class, percentile, target_ms)| {
        let within = answered.iter().filter(|run| match class {
            LatencyClass::Simple => run.tools == 0,
            LatencyClass::WithTools => run.tools > 0,
        });
        let mut times: Vec<u64> = within.map(|run| run.duration_ms).collect();
        times.sort_unstable();
        LatencyView {
            class,
            percentile,
            target_ms,
            measured_ms: nearest_rank(&times, percentile),
            runs: u32::try_from(times.len()).unwrap_or(u32::MAX),
        }
    };
    TARGETS.into_iter().map(view).collect()
}

/// Returns the percentile by the nearest-rank method: the smallest time that at least this
/// percentage of the times do not exceed.
fn nearest_rank(sorted: &[u64], percentile: u8) -> Option<u64> {
    let rank = (sorted.len() * usize::from(percentile)).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

fn count_errors(served: &[Served]) -> Vec<ErrorCount> {
    let count = |code: ErrorCode| {
        u32::try_from(
            served
                .iter()
                .filter(|run| {
                    run.status != "approval_required" && run.code.as_deref() == Some(code.name())
                })
                .count(),
        )
        .unwrap_or(u32::MAX)
    };
    let mut counts: Vec<ErrorCount> = CODES
        .into_iter()
        .map(|code| ErrorCount { code, runs: count(code) })
        .filter(|count| count.runs > 0)
        .collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.runs));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(duration_ms: u64, tools: u32, status: &str, code: Option<&str>) -> Served {
        Served {
            turn: "t".into(),
            ended_at: chrono::DateTime::UNIX_EPOCH,
            duration_ms,
            tools,
            status: status.into(),
            code: code.map(str::to_owned),
        }
    }

    #[test]
    fn latency_percentiles_use_the_nearest_rank_within_each_class_of_runs() {
        let mut served: Vec<Served> =
            (1..=20).map(|n| run(n * 100, u32::from(n > 10), "ok", None)).collect();
        served.push(run(60_000, 0, "error", Some("llm_error")));
        served.push(run(60_000, 0, "cancelled", None));
        let found: Vec<(Option<u64>, u32)> =
            latencies(&served).iter().map(|view| (view.measured_ms, view.runs)).collect();
        assert_eq!(
            found,
            [(Some(500), 10), (Some(1_000), 10), (Some(1_500), 10), (Some(2_000), 10)]
        );
        assert_eq!(latencies(&[])[0].measured_ms, None);
        assert_eq!(nearest_rank(&[7], 95), Some(7));
        assert_eq!(count_errors(&served), [ErrorCount { code: ErrorCode::LlmError, runs: 1 }]);
    }
}
