//! The port for data that must be stored about runs: results by request id, the ledger of model
//! costs, and the service level of runs. The arithmetic of a reservation is here, so that a store
//! only has to apply it within a transaction.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDate, Utc};
use contract::{SessionId, Spent, TurnId};

use crate::ports::rows::StoreError;

/// The key of a run: its caller and the caller's request id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunKey {
    /// The namespace of the caller's request ids.
    pub caller: String,
    /// The request id.
    pub request: String,
}

/// The state of a request id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The request id was unknown and is now claimed.
    New,
    /// The run is in progress in this process.
    Running,
    /// The process ended during the run.
    Interrupted,
    /// The run has ended with this result (JSON).
    Stored(String),
}

/// The scope of a cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The turn.
    Run,
    /// The session.
    Session,
    /// The user's local day.
    Day,
}

/// A hard limit in tokens or in nano-dollars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cap {
    /// The calls that the cap counts.
    pub scope: Scope,
    /// The most tokens; absent means no limit.
    pub tokens: Option<u64>,
    /// The most billionths of a US dollar; absent means no limit.
    pub nano_usd: Option<u64>,
}

/// The price of a token in nano-dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenPrice {
    /// The price of a token of the request.
    pub input: u64,
    /// The price of a token of the answer.
    pub output: u64,
}

impl TokenPrice {
    /// Returns the cost of these tokens.
    pub fn of(self, input: u64, output: u64) -> u64 {
        input.saturating_mul(self.input).saturating_add(output.saturating_mul(self.output))
    }
}

/// The usage within a scope, including other reservations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Tokens of requests and answers.
    pub tokens: u64,
    /// The cost in billionths of a US dollar.
    pub nano_usd: u64,
}

/// A request to reserve tokens and cost for a model call.
#[derive(Clone, Debug)]
pub struct ReservationRequest {
    /// The session of the call.
    pub session: SessionId,
    /// The turn of the call.
    pub turn: TurnId,
    /// The moment of the reservation.
    pub at: DateTime<Utc>,
    /// The current date in the user's time zone.
    pub day: NaiveDate,
    /// The label of the model.
    pub model: String,
    /// An estimate of the input tokens, more likely too high than too low.
    pub input_tokens: u64,
    /// The length of the longest possible answer.
    pub output_tokens: u64,
    /// The fewest tokens of an answer for which the call is worthwhile.
    pub least_output: u64,
    /// The price. None if unknown.
    pub price: Option<TokenPrice>,
    /// The caps that apply.
    pub caps: Vec<Cap>,
}

/// The limit that forbids a reservation, with its figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The cap that is exhausted.
    pub scope: Scope,
    /// Whether the figures are nano-dollars. Otherwise they are tokens.
    pub money: bool,
    /// The usage so far, in the cap's unit.
    pub used: u64,
    /// The limit of the cap, in its unit.
    pub most: u64,
    /// The least usage of the call.
    pub needed: u64,
}

impl ReservationRequest {
    /// Returns the length of the longest answer that all limits allow, given the usage so far in
    /// each scope.
    pub fn longest_allowed_answer(&self, used: impl Fn(Scope) -> Used) -> Result<u64, Refusal> {
        let mut output = self.output_tokens;
        let least = self.least_output.min(self.output_tokens);
        for cap in &self.caps {
            let so_far = used(cap.scope);
            if let Some(most) = cap.tokens {
                let left = most.saturating_sub(so_far.tokens).saturating_sub(self.input_tokens);
                if left < least {
                    return Err(Refusal {
                        scope: cap.scope,
                        money: false,
                        used: so_far.tokens,
                        most,
                        needed: self.input_tokens.saturating_add(least),
                    });
                }
                output = output.min(left);
            }
            if let (Some(most), Some(price)) = (cap.nano_usd, self.price) {
                let left = most
                    .saturating_sub(so_far.nano_usd)
                    .saturating_sub(price.of(self.input_tokens, 0));
                let tokens = left
                    .checked_div(price.output)
                    .unwrap_or(if left > 0 || price.input == 0 { u64::MAX } else { 0 });
                if tokens < least {
                    return Err(Refusal {
                        scope: cap.scope,
                        money: true,
                        used: so_far.nano_usd,
                        most,
                        needed: price.of(self.input_tokens, least),
                    });
                }
                output = output.min(tokens);
            }
        }
        Ok(output)
    }
}

/// The result of a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserved {
    /// The reservation is in the ledger.
    Entry {
        /// The number of the entry, with which it is settled.
        id: i64,
        /// The most tokens of the answer.
        output_tokens: u64,
    },
    /// No entry was made, because a cap forbids the call.
    Refused(Refusal),
}

/// The actual usage of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// Tokens of the request.
    pub input_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
    /// The cost. None if the model has no price.
    pub nano_usd: Option<u64>,
}

/// The service data of an ended run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// The turn of the run.
    pub turn: TurnId,
    /// The time at which the run ended.
    pub ended_at: DateTime<Utc>,
    /// The duration, excluding the time until a person decided.
    pub duration_ms: u64,
    /// The number of tool calls.
    pub tools: u32,
    /// A `TurnStatus` in snake case.
    pub status: String,
    /// An `ErrorCode` in snake case.
    pub code: Option<String>,
}

/// Stores runs, the ledger and service data. Every async method has committed to disk when it
/// returns.
#[async_trait]
pub trait Books: Send + Sync {
    /// Looks up a request id and claims it if it is free.
    async fn run_claim(&self, key: &RunKey, at: DateTime<Utc>) -> Result<Claim, StoreError>;
    /// Deletes the results of runs that were claimed up to a given time.
    async fn runs_forget(&self, until: DateTime<Utc>) -> Result<(), StoreError>;
    /// Stores the result of a claimed run. If `outcome` is none, releases the request id.
    async fn run_end(&self, key: &RunKey, outcome: Option<&str>) -> Result<(), StoreError>;
    /// Marks all running runs as interrupted. Called at the start of the process.
    async fn mark_runs_interrupted(&self) -> Result<(), StoreError>;

    /// Reserves tokens and cost in one transaction, unless a limit forbids it. Usage on future days
    /// counts as usage of today, so that setting the clock back does not free any budget.
    async fn spend_reserve(&self, wish: &ReservationRequest) -> Result<Reserved, StoreError>;
    /// Replaces a reservation by the actual usage. The change is written with the next write, and
    /// before any read of the ledger. A reservation that is never settled counts completely.
    fn spend_settle(&self, entry: i64, used: Settlement);
    /// Returns the usage since the beginning of a day.
    async fn spent(&self, day: NaiveDate) -> Result<Spent, StoreError>;

    /// Returns the service data of the newest turns, newest first.
    async fn served(&self, most: u32) -> Result<Vec<Served>, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(caps: Vec<Cap>) -> ReservationRequest {
        ReservationRequest {
            session: "s".into(),
            turn: "t".into(),
            at: DateTime::UNIX_EPOCH,
            day: NaiveDate::default(),
            model: "m".into(),
            input_tokens: 1_000,
            output_tokens: 4_000,
            least_output: 256,
            price: Some(TokenPrice { input: 10, output: 100 }),
            caps,
        }
    }

    fn cap(scope: Scope, tokens: Option<u64>, nano_usd: Option<u64>) -> Cap {
        Cap { scope, tokens, nano_usd }
    }

    #[test]
    fn the_longest_allowed_answer_is_limited_by_the_tightest_budget() {
        let none = |_| Used::default();
        assert_eq!(wish(vec![]).longest_allowed_answer(none), Ok(4_000));
        assert_eq!(
            wish(vec![cap(Scope::Run, Some(3_000), None)]).longest_allowed_answer(none),
            Ok(2_000)
        );
        assert_eq!(
            wish(vec![cap(Scope::Run, Some(3_000), Some(110_000))]).longest_allowed_answer(none),
            Ok(1_000)
        );
        let day_used = |scope| {
            if scope == Scope::Day { Used { tokens: 500, nano_usd: 0 } } else { Used::default() }
        };
        assert_eq!(
            wish(vec![cap(Scope::Run, Some(5_000), None), cap(Scope::Day, Some(2_000), None)])
                .longest_allowed_answer(day_used),
            Ok(500)
        );
        let refused = wish(vec![cap(Scope::Day, Some(1_700), None)])
            .longest_allowed_answer(day_used)
            .unwrap_err();
        assert_eq!(
            refused,
            Refusal { scope: Scope::Day, money: false, used: 500, most: 1_700, needed: 1_256 }
        );
        let refused = wish(vec![cap(Scope::Session, None, Some(30_000))])
            .longest_allowed_answer(none)
            .unwrap_err();
        assert_eq!(
            refused,
            Refusal { scope: Scope::Session, money: true, used: 0, most: 30_000, needed: 35_600 }
        );
        let unpriced =
            ReservationRequest { price: None, ..wish(vec![cap(Scope::Session, None, Some(1))]) };
        assert_eq!(unpriced.longest_allowed_answer(none), Ok(4_000), "what it costs is not known");
        let free = ReservationRequest {
            price: Some(TokenPrice::default()),
            ..wish(vec![cap(Scope::Session, None, Some(1))])
        };
        assert_eq!(free.longest_allowed_answer(none), Ok(4_000));
    }
}
