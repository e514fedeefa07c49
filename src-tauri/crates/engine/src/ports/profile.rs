//! The profile: settings, rules, prices, and the secrets that are known.

use std::sync::Arc;

use futures::future::BoxFuture;
use secrecy::SecretString;

use crate::ports::rows::SessionValues;

/// Settings and rules in force, read at the moment they matter.
pub trait Profile: Send + Sync {
    /// Returns the settings in force.
    fn settings(&self) -> Arc<contract::Settings>;
    /// Returns the user's rules for tool calls, as in force.
    fn rules(&self) -> Arc<policy::Rules>;
    /// Returns the prices of models.
    fn prices(&self) -> Arc<contract::PriceTable> {
        Arc::default()
    }
    /// `en` or `sv`.
    fn locale(&self) -> String;
    /// IANA name of the user's zone.
    fn time_zone(&self) -> String;
    /// Values for caller-owned parameters that hold in every session (`clientIp`).
    fn caller_values(&self) -> SessionValues;
}

/// Keys and tokens that this process has handled: what must never leave, whatever the level.
pub trait Secrets: Send + Sync {
    /// Changes whenever `values` does. Cheap.
    fn generation(&self) -> u64;
    /// All of them.
    fn values(&self) -> Vec<SecretString>;
    /// Looks again for secrets that another program may have stored. Awaited before words of a
    /// person are accepted.
    fn learn(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
