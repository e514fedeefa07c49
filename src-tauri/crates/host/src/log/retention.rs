//! Erases values of the log that are older than the user wants to keep them, and other expired
//! data, as far as the clock and the records agree on the time. Records stay. Must not know the
//! meaning of the values.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use contract::{AgentError, AuditListParams, RecordType};
use engine::ports::{AuditLog as _, Books as _, Durability, Profile as _, RecordDraft};

use super::{HostLog, audit_error, copies};

/// The time after which a continuing disagreement about the clock is recorded again.
const DOUBT_LASTS: TimeDelta = TimeDelta::days(1);

/// How long the result of a run is kept in case its request is repeated.
const RUNS_KEPT: TimeDelta = TimeDelta::hours(24);

/// Decides whether stored data has expired.
#[derive(Clone, Copy, Debug)]
pub struct AgeJudge {
    /// When the profile was opened.
    opened: DateTime<Utc>,
    /// The clock's time, but at most the opening plus the time elapsed since then, so that setting
    /// the clock forward has no effect.
    now: DateTime<Utc>,
    /// The moment that the clock and the records agree on.
    agreed: Option<DateTime<Utc>>,
}

impl AgeJudge {
    /// Returns the judge of a profile that was opened at `opened` and has been open for some time.
    fn new(
        opened: DateTime<Utc>,
        open_for: Duration,
        clock: DateTime<Utc>,
        agreed: Option<DateTime<Utc>>,
    ) -> Self {
        let passed = TimeDelta::from_std(open_for).ok();
        let most = passed.and_then(|passed| opened.checked_add_signed(passed)).unwrap_or(clock);
        Self { opened, now: clock.min(most), agreed }
    }

    /// Whether data that was stored at `stored` and expires at `ends` may be deleted. For data that
    /// was stored since the profile was opened, the elapsed time decides. For other data, the clock
    /// may be wrong, so the agreed moment decides.
    pub fn is_over(&self, stored: DateTime<Utc>, ends: DateTime<Utc>) -> bool {
        let now = if stored >= self.opened { Some(self.now) } else { self.agreed };
        now.is_some_and(|now| ends <= now)
    }
}

/// The moments before which values expire.
struct Expiry {
    /// According to the time that the clock and the records agree on. None if they agree on no
    /// time.
    agreed: Option<DateTime<Utc>>,
    /// According to the clock alone.
    by_clock: DateTime<Utc>,
}

impl HostLog {
    /// Returns the judge that decides whether data has expired. If the log cannot be read, data
    /// stored before this start is kept.
    pub(crate) async fn age_judge(&self) -> AgeJudge {
        let agreed = self.records.agreed_time().await.unwrap_or_else(|error| {
            tracing::warn!(%error.message, "the age of what is stored cannot be judged");
            None
        });
        AgeJudge::new(self.opened_at, self.opened.elapsed(), self.now(), agreed)
    }

    /// Deletes the results of runs that are too old.
    async fn forget_old_runs(&self) -> Result<(), AgentError> {
        match self.records.agreed_time().await? {
            Some(agreed) => Ok(self.database.store.runs_forget(agreed - RUNS_KEPT).await?),
            None => Ok(()),
        }
    }

    /// Erases the expired values, also from the copy of the log. Returns the number of values.
    pub(crate) async fn expire_values(&self) -> Result<u64, AgentError> {
        if self.alarm().is_some() {
            return Ok(0);
        }
        self.forget_old_runs().await?;
        let Some(expiry) = self.expiry().await? else { return Ok(0) };
        self.note_kept_values(&expiry).await?;
        let Some(before) = expiry.agreed else { return Ok(0) };
        let erased =
            self.records.erase_before(before).await.map_err(|error| audit_error(&error))?;
        if erased > 0 || self.copy_has_expired_values().await {
            self.renew_log_copy().await?;
        }
        if erased > 0 {
            self.expire_old_logs().await?;
        }
        Ok(erased)
    }

    /// Returns the moments before which values expire. Returns None if values are kept forever.
    async fn expiry(&self) -> Result<Option<Expiry>, AgentError> {
        let days = self.profile.settings().audit.keep_values_days;
        if days == 0 {
            return Ok(None);
        }
        let kept = TimeDelta::days(days.into());
        let agreed = self.records.agreed_time().await?.map(|at| at - kept);
        Ok(Some(Expiry { agreed, by_clock: self.now() - kept }))
    }

    /// Whether there are values that have expired according to the clock but are kept, because the
    /// clock does not agree with the records.
    pub(crate) async fn has_values_kept_for_clock(&self) -> Result<bool, AgentError> {
        match self.expiry().await? {
            Some(expiry) => self.keeps_values(&expiry).await,
            None => Ok(false),
        }
    }

    async fn keeps_values(&self, expiry: &Expiry) -> Result<bool, AgentError> {
        if expiry.agreed == Some(expiry.by_clock) {
            return Ok(false);
        }
        // Values that have also expired by the agreed time are erased and do not count.
        let agreed = expiry.agreed.unwrap_or(DateTime::<Utc>::MIN_UTC);
        self.records.has_values_between(agreed, expiry.by_clock).await
    }

    /// Records once that values are kept although they have expired according to the clock.
    async fn note_kept_values(&self, expiry: &Expiry) -> Result<(), AgentError> {
        if !self.keeps_values(expiry).await? {
            return Ok(());
        }
        let now = self.now();
        let newest = AuditListParams {
            record_type: Some(RecordType::ExpiryPostponed),
            session: None,
            query: String::new(),
            before: None,
            limit: 1,
        };
        let told = self.records.list(newest).await?.records;
        if told.first().is_some_and(|told| (now - told.at).abs() < DOUBT_LASTS) {
            return Ok(());
        }
        tracing::warn!("old values are kept: the clock does not agree with the records");
        let draft = RecordDraft::new(RecordType::ExpiryPostponed).field("level", "warning");
        self.records
            .append(draft, Durability::Grouped)
            .await
            .map(drop)
            .map_err(|error| audit_error(&error))
    }

    async fn copy_has_expired_values(&self) -> bool {
        let (log, copy) = (Arc::clone(&self.records), self.paths().audit_copy());
        tokio::task::spawn_blocking(move || log.has_expired_values(&copy)).await.unwrap_or(false)
    }

    /// Erases old values from the logs that were set aside, and from their copies.
    async fn expire_old_logs(&self) -> Result<(), AgentError> {
        let Some(before) = self.expiry().await?.and_then(|expiry| expiry.agreed) else {
            return Ok(());
        };
        let (log, copy) = (Arc::clone(&self.records), self.paths().audit_copy());
        let failed = || AgentError::internal("audit_erase", "The old logs could not be searched.");
        tokio::task::spawn_blocking(move || log.expire_set_aside(&copy, before))
            .await
            .map_err(|_| failed())?
            .map(drop)
            .map_err(|error| failed().with("cause", error.to_string()))
    }

    /// Erases the expired values, and updates the copy of the log if it is due. Failures are only
    /// logged, because the next round tries again.
    pub(crate) async fn keep_up(&self) {
        if let Err(error) = self.expire_values().await {
            tracing::warn!(message = error.message, "old values could not be erased");
        }
        if let Err(error) = self.expire_old_logs().await {
            tracing::warn!(message = error.message, "old values could not be erased");
        }
        if self.alarm().is_none()
            && copies::is_due(&self.paths().audit_copy(), self.now())
            && let Err(error) = self.renew_log_copy().await
        {
            tracing::warn!(message = error.message, "the log could not be copied");
        }
    }

    /// Updates the copy of the log.
    pub(crate) async fn renew_log_copy(&self) -> Result<(), AgentError> {
        let (log, paths, now) = (Arc::clone(&self.records), self.paths().clone(), self.now());
        tokio::task::spawn_blocking(move || copies::update_log_copy(&log, &paths, now))
            .await
            .map_err(|_| AgentError::internal("audit_copy", "The log could not be copied."))?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_jumps_ahead_does_not_expire_values() {
        let opened = Utc::now();
        let at = |hours: i64| opened + TimeDelta::hours(hours);
        let judge =
            |clock: i64| AgeJudge::new(opened, Duration::from_secs(2 * 3600), at(clock), None);
        let (stored, soon, later) = (at(0), at(1), at(24));
        assert!(judge(2).is_over(stored, soon) && !judge(2).is_over(stored, later));
        let jumped = judge(400 * 24);
        assert!(jumped.is_over(stored, soon) && !jumped.is_over(stored, later));
        assert!(!judge(0).is_over(stored, soon), "a clock that was set back ends nothing early");
        assert!(!jumped.is_over(at(-1), soon), "no record agrees");
    }
}
