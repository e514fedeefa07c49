//! Decides whether a summary of older messages is due, from the time, the amount of unsummarised
//! messages and the policy.

use chrono::{DateTime, TimeDelta, Utc};
use contract::{RefreshPolicy, SummaryPolicy};

/// If the model's summaries keep failing until this multiple of the usual amount is waiting, the
/// rule-based summary is used. Otherwise the cost of a turn would grow with the conversation.
const OVERDUE: u64 = 4;
/// The number of messages that is usual if the policy sets none.
const USUAL_MESSAGES: u64 = 20;

/// The messages without a summary, and the times of the last attempts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) messages: u64,
    pub(crate) tokens: u64,
    pub(crate) tried_at: Option<DateTime<Utc>>,
    /// The time of the last summary, or of the conversation's last start if there is no summary
    /// yet.
    pub(crate) summarised_at: Option<DateTime<Utc>>,
}

fn has_passed(since: Option<DateTime<Utc>>, seconds: u32, now: DateTime<Utc>) -> bool {
    since.is_none_or(|at| now - at >= TimeDelta::seconds(i64::from(seconds)))
}

/// Whether a summary must be made now.
pub(crate) fn due(policy: &SummaryPolicy, waiting: Waiting, now: DateTime<Utc>) -> bool {
    if waiting.messages == 0 {
        return false;
    }
    let reached = |most: u32, count: u64| most > 0 && count >= u64::from(most);
    match policy.refresh_policy {
        RefreshPolicy::EveryTurn => true,
        RefreshPolicy::Threshold => {
            let full = reached(policy.max_messages_since_update, waiting.messages)
                || reached(policy.max_tokens_since_update, waiting.tokens);
            // An overdue summary ignores the cooldown, so that the size of a turn does not grow
            // with frequent messages.
            full && (has_passed(waiting.tried_at, policy.cooldown_seconds, now)
                || is_overdue(policy, waiting))
        }
        RefreshPolicy::Periodic => {
            let time = policy.period_seconds > 0
                && has_passed(waiting.summarised_at, policy.period_seconds, now);
            time || reached(policy.every_messages, waiting.messages)
        }
    }
}

/// Whether so many messages are waiting that a summary must be made by any method.
pub(crate) fn is_overdue(policy: &SummaryPolicy, waiting: Waiting) -> bool {
    let usual =
        u64::from(policy.max_messages_since_update.max(policy.every_messages)).max(USUAL_MESSAGES);
    let tokens = u64::from(policy.max_tokens_since_update);
    waiting.messages >= usual * OVERDUE
        || (tokens > 0 && waiting.tokens >= tokens.max(1_000) * OVERDUE * 4)
}

#[cfg(test)]
mod tests {
    use chrono::TimeZone;

    use super::*;

    fn at(seconds: i64) -> DateTime<Utc> {
        Utc.timestamp_opt(1_000_000 + seconds, 0).unwrap()
    }

    #[test]
    fn agent_run_7_each_refresh_policy_decides_when_a_summary_is_due() {
        let base = SummaryPolicy::default();
        let threshold = base;
        let every = SummaryPolicy { refresh_policy: RefreshPolicy::EveryTurn, ..base };
        let periodic =
            SummaryPolicy { refresh_policy: RefreshPolicy::Periodic, every_messages: 8, ..base };
        // policy, messages, tokens, last attempt, last summary, now, due
        for (policy, messages, tokens, tried, made, now, expected) in [
            (threshold, 5, 100, None, None, 0, false),
            (threshold, 6, 100, None, None, 0, true),
            (threshold, 2, 1_500, None, None, 0, true),
            (threshold, 6, 100, Some(0), None, 9, false),
            (threshold, 6, 100, Some(0), None, 10, true),
            (threshold, 79, 100, Some(0), None, 1, false),
            (threshold, 80, 100, Some(0), None, 1, true),
            (every, 1, 1, Some(0), Some(0), 0, true),
            (every, 0, 0, None, None, 0, false),
            (periodic, 1, 1, None, Some(0), 59, false),
            (periodic, 1, 1, None, Some(0), 60, true),
            (periodic, 8, 1, None, Some(0), 1, true),
            (periodic, 0, 0, None, Some(0), 600, false),
        ] {
            let waiting =
                Waiting { messages, tokens, tried_at: tried.map(at), summarised_at: made.map(at) };
            assert_eq!(due(&policy, waiting, at(now)), expected, "{policy:?} {waiting:?} at {now}");
        }
    }
}
