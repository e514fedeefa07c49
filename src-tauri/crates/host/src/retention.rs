//! Erases values of the log that are older than the user keeps them. Records stay. Must not know
//! what the values are.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use contract::AgentError;
use engine::ports::Profile as _;

use crate::{Host, copies};

/// The time from the start to the first erasure.
const FIRST_AFTER: Duration = Duration::from_secs(20);
/// The time between erasures, and between looks at the copies.
const EVERY: Duration = Duration::from_secs(3600);

impl Host {
    /// Erases the values that are too old, also from the copy of the log. Returns their number.
    pub(crate) async fn expire_values(&self) -> Result<u64, AgentError> {
        let Some(before) = self.expiry().filter(|_| self.alarm().is_none()) else { return Ok(0) };
        let erased =
            self.log.erase_before(before).await.map_err(|error| Self::audit_error(&error))?;
        if erased > 0 || self.copy_has_expired_values().await {
            self.renew_log_copy().await?;
        }
        if erased > 0 {
            self.expire_old_logs().await?;
        }
        Ok(erased)
    }

    /// Returns the moment before which values expire. None if they are kept.
    fn expiry(&self) -> Option<DateTime<Utc>> {
        let days = self.profile.settings().audit.keep_values_days;
        (days > 0).then(|| self.options.clock.now() - TimeDelta::days(days.into()))
    }

    async fn copy_has_expired_values(&self) -> bool {
        let (log, copy) = (Arc::clone(&self.log), self.paths.audit_copy());
        tokio::task::spawn_blocking(move || log.has_expired_values(&copy)).await.unwrap_or(false)
    }

    /// Erases old values from the logs that were set aside, and from their copies.
    async fn expire_old_logs(&self) -> Result<(), AgentError> {
        let Some(before) = self.expiry() else { return Ok(()) };
        let (log, copy) = (Arc::clone(&self.log), self.paths.audit_copy());
        let failed = || AgentError::internal("audit_erase", "The old logs could not be searched.");
        tokio::task::spawn_blocking(move || log.expire_set_aside(&copy, before))
            .await
            .map_err(|_| failed())?
            .map(drop)
            .map_err(|error| failed().with("cause", error.to_string()))
    }

    /// Brings the copy of the log up to date.
    pub(crate) async fn renew_log_copy(&self) -> Result<(), AgentError> {
        let (log, paths, now) =
            (Arc::clone(&self.log), self.paths.clone(), self.options.clock.now());
        tokio::task::spawn_blocking(move || copies::update_log_copy(&log, &paths, now))
            .await
            .map_err(|_| AgentError::internal("audit_copy", "The log could not be copied."))?
    }
}

/// Erases old values, and makes the copies that are due, while the app runs.
pub(crate) fn spawn_upkeep_task(host: &Arc<Host>) {
    let host = Arc::downgrade(host);
    tokio::spawn(async move {
        tokio::time::sleep(FIRST_AFTER).await;
        loop {
            let Some(host) = host.upgrade() else { return };
            if let Err(error) = host.expire_values().await {
                tracing::warn!(message = error.message, "old values could not be erased");
            }
            if let Err(error) = host.expire_old_logs().await {
                tracing::warn!(message = error.message, "old values could not be erased");
            }
            if host.alarm().is_none()
                && copies::is_due(&host.paths.audit_copy(), host.options.clock.now())
                && let Err(error) = host.renew_log_copy().await
            {
                tracing::warn!(message = error.message, "the log could not be copied");
            }
            drop(host);
            tokio::time::sleep(EVERY).await;
        }
    });
}
