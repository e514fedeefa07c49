//! The port for what must be stored about runs: results by request id, the ledger of model costs,
//! and the service level of runs. The arithmetic of a reservation is here, so that a store only has
//! to do it within one transaction.

use async_trait::async_trait;
use chrono::{DateTime, NaiveDate, Utc};
use contract::{SessionId, Spent, TurnId};

use crate::ports::rows::StoreError;

/// A run as its caller names it.
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
    /// It was unknown, and is claimed now.
    New,
    /// It is under way in this process.
    Running,
    /// The process ended while it ran.
    Interrupted,
    /// It ended with this (JSON).
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

/// A hard cap, in tokens or in billionths of a US dollar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cap {
    /// The calls that the cap counts.
    pub scope: Scope,
    /// The most tokens; absent for no limit.
    pub tokens: Option<u64>,
    /// The most billionths of a US dollar; absent for no limit.
    pub nano_usd: Option<u64>,
}

/// Billionths of a US dollar for a token.
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

/// The usage in the scopes of a reservation, including other reservations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Tokens of requests and answers.
    pub tokens: u64,
    /// The cost in billionths of a US dollar.
    pub nano_usd: u64,
}

/// A model call that wants to be made.
#[derive(Clone, Debug)]
pub struct ReservationRequest {
    /// The session of the call.
    pub session: SessionId,
    /// The turn of the call.
    pub turn: TurnId,
    /// The moment of the reservation.
    pub at: DateTime<Utc>,
    /// The user's local day.
    pub day: NaiveDate,
    /// The label of the model.
    pub model: String,
    /// A careful guess: rather more than the provider will count.
    pub input_tokens: u64,
    /// The longest answer.
    pub output_tokens: u64,
    /// With less than this an answer is of no use.
    pub least_output: u64,
    /// `None`: not known.
    pub price: Option<TokenPrice>,
    /// The caps that apply.
    pub caps: Vec<Cap>,
}

/// Why a wish cannot be granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The cap that is exhausted.
    pub scope: Scope,
    /// In billionths of a dollar; else in tokens.
    pub money: bool,
    /// The usage so far, in the cap's unit.
    pub used: u64,
    /// The limit of the cap, in its unit.
    pub most: u64,
    /// The least that the call would have needed.
    pub needed: u64,
}

impl ReservationRequest {
    /// The longest answer that no cap forbids, given what has been used in each scope.
    pub fn fit(&self, used: impl Fn(Scope) -> Used) -> Result<u64, Refusal> {
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
    /// Entered into the ledger, with the longest answer that may be asked for.
    Entry {
        /// The number of the entry, by which it is settled.
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
    /// `None`: the model has no price.
    pub nano_usd: Option<u64>,
}

/// How one run was served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// The turn of the run.
    pub turn: TurnId,
    /// The moment at which it ended.
    pub ended_at: DateTime<Utc>,
    /// Without the time a person took to decide.
    pub duration_ms: u64,
    /// The number of tool calls.
    pub tools: u32,
    /// A `TurnStatus` in snake case.
    pub status: String,
    /// An `ErrorCode` in snake case.
    pub code: Option<String>,
}

/// Every method that is waited for has committed when it returns; what becomes of runs is then on
/// disk, too.
#[async_trait]
pub trait Books: Send + Sync {
    /// Looks a request id up and claims it when it is free. What is older than `since` is
    /// forgotten.
    async fn run_claim(
        &self,
        key: &RunKey,
        at: DateTime<Utc>,
        since: DateTime<Utc>,
    ) -> Result<Claim, StoreError>;
    /// Keeps the result of a claimed run; `None` sets its id free again.
    async fn run_end(&self, key: &RunKey, outcome: Option<&str>) -> Result<(), StoreError>;
    /// At start: what is under way was interrupted.
    async fn runs_interrupted(&self) -> Result<(), StoreError>;

    /// Enters a reservation, unless a cap forbids it: looked up and entered in one transaction.
    /// Days that lie ahead count as today, so that a clock set back frees nothing.
    async fn spend_reserve(&self, wish: &ReservationRequest) -> Result<Reserved, StoreError>;
    /// Replaces a reservation by what was used: written with whatever is written next, and there
    /// when the books are looked at. A reservation that is never settled counts in full.
    fn spend_settle(&self, entry: i64, used: Settlement);
    /// Since the beginning of a day.
    async fn spent(&self, day: NaiveDate) -> Result<Spent, StoreError>;

    /// How turns were served, the newest first.
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
    fn the_answer_is_as_long_as_every_cap_allows() {
        let none = |_| Used::default();
        assert_eq!(wish(vec![]).fit(none), Ok(4_000));
        assert_eq!(wish(vec![cap(Scope::Run, Some(3_000), None)]).fit(none), Ok(2_000));
        assert_eq!(wish(vec![cap(Scope::Run, Some(3_000), Some(110_000))]).fit(none), Ok(1_000));
        let day_used = |scope| {
            if scope == Scope::Day { Used { tokens: 500, nano_usd: 0 } } else { Used::default() }
        };
        assert_eq!(
            wish(vec![cap(Scope::Run, Some(5_000), None), cap(Scope::Day, Some(2_000), None)])
                .fit(day_used),
            Ok(500)
        );
        let refused = wish(vec![cap(Scope::Day, Some(1_700), None)]).fit(day_used).unwrap_err();
        assert_eq!(
            refused,
            Refusal { scope: Scope::Day, money: false, used: 500, most: 1_700, needed: 1_256 }
        );
        let refused = wish(vec![cap(Scope::Session, None, Some(30_000))]).fit(none).unwrap_err();
        assert_eq!(
            refused,
            Refusal { scope: Scope::Session, money: true, used: 0, most: 30_000, needed: 35_600 }
        );
        let unpriced =
            ReservationRequest { price: None, ..wish(vec![cap(Scope::Session, None, Some(1))]) };
        assert_eq!(unpriced.fit(none), Ok(4_000), "what it costs is not known");
        let free = ReservationRequest {
            price: Some(TokenPrice::default()),
            ..wish(vec![cap(Scope::Session, None, Some(1))])
        };
        assert_eq!(free.fit(none), Ok(4_000));
    }
}
