//! Meters calls of embedding servers: reserves their tokens and cost in the ledger before the call
//! and corrects the reservation after it. Only the daily limit applies, because a search or a new
//! index belongs to no run.

use contract::AgentError;

use crate::{
    budget::metering::{caps, over_budget_error, price_in_nano, today},
    ports::{ReservationRequest, Reserved, Scope, Settlement, TokenPrice, World},
};

/// The session and turn of embedding calls in the ledger.
const NAME: &str = "memory";

/// A reservation. If it is dropped before its end, the estimate is charged, because the provider
/// may charge for the call.
pub(crate) struct Reservation {
    world: World,
    entry: Option<i64>,
    price: Option<TokenPrice>,
    estimate: u64,
}

impl Reservation {
    /// Makes a reservation for a call with `bytes` bytes of text.
    pub(crate) async fn reserve(
        world: &World,
        label: String,
        bytes: usize,
        texts: usize,
    ) -> Result<Self, AgentError> {
        let estimate = (bytes as u64).div_ceil(3) + 4 * texts as u64;
        let price = world.profile.prices().of(&label).map(price_in_nano);
        let budgets = world.profile.settings().budgets;
        let wish = ReservationRequest {
            session: NAME.into(),
            turn: NAME.into(),
            at: world.clock.now(),
            day: today(world),
            model: label,
            input_tokens: estimate,
            // An embedding has no output tokens, but a call with zero output tokens would never be
            // refused.
            output_tokens: 1,
            least_output: 1,
            price,
            caps: caps(&budgets).into_iter().filter(|cap| cap.scope == Scope::Day).collect(),
        };
        match world.store.spend_reserve(&wish).await? {
            Reserved::Entry { id, .. } => {
                Ok(Self { world: world.clone(), entry: Some(id), price, estimate })
            }
            Reserved::Refused(refusal) => Err(over_budget_error(&refusal, &world.profile.locale())),
        }
    }

    /// Replaces the reservation by the usage. If the server reports no usage, the estimate is
    /// charged.
    pub(crate) fn settle(mut self, tokens: u64) {
        let tokens = if tokens == 0 { self.estimate } else { tokens };
        self.charge(tokens);
    }

    /// Ends the reservation of a call that was refused or never sent.
    pub(crate) fn release(mut self) {
        self.charge(0);
    }

    fn charge(&mut self, tokens: u64) {
        let Some(entry) = self.entry.take() else { return };
        let nano_usd = match tokens {
            0 => Some(0),
            _ => self.price.map(|price| price.of(tokens, 0)),
        };
        let used = Settlement { input_tokens: tokens, output_tokens: 0, nano_usd };
        self.world.store.spend_settle(entry, used);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.charge(self.estimate);
    }
}
