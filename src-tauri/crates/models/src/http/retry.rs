//! Waits between attempts: the server's `Retry-After`, or exponential back-off with injected
//! randomness. The module decides only about time; whether a failure may be retried is decided
//! where the failure is created.

use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// The maximum wait between two attempts.
pub(super) const LONGEST: Duration = Duration::from_secs(30);
const FIRST: Duration = Duration::from_millis(500);

/// Returns the wait before attempt `attempt + 1` (counted from 0): between half and all of an
/// exponentially growing span.
pub(super) fn back_off(attempt: u32, unit: f64) -> Duration {
    let span = FIRST.saturating_mul(2_u32.saturating_pow(attempt.min(16))).min(LONGEST);
    span.mul_f64(0.5 + 0.5 * unit.clamp(0.0, 1.0))
}

/// Returns the wait that the server requests: milliseconds, seconds, or a date (by the server's own
/// clock if it sends one).
pub(super) fn requested_wait(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(ms) = text("retry-after-ms").and_then(|t| t.parse::<f64>().ok()) {
        return duration_from_seconds(ms / 1000.0);
    }
    let wish = text(RETRY_AFTER.as_str())?;
    if let Ok(number) = wish.parse::<f64>() {
        return duration_from_seconds(number);
    }
    let date = |text: &str| DateTime::parse_from_rfc2822(text).ok().map(|d| d.with_timezone(&Utc));
    let from = text(DATE.as_str()).and_then(date).unwrap_or(now);
    Some((date(wish)? - from).to_std().unwrap_or(Duration::ZERO))
}

fn duration_from_seconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number.max(0.0)).ok()
}

#[cfg(test)]
mod tests {
    use chrono::TimeZone as _;

    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(k, v)| (k.parse().unwrap(), v.parse().unwrap())).collect()
    }

    #[test]
    fn the_retry_delay_doubles_up_to_a_limit() {
        assert_eq!(back_off(0, 1.0), Duration::from_millis(500));
        assert_eq!(back_off(0, 0.0), Duration::from_millis(250));
        assert_eq!(back_off(3, 1.0), Duration::from_secs(4));
        assert_eq!(back_off(u32::MAX, 1.0), LONGEST);
    }

    #[test]
    fn the_retry_delay_is_read_from_every_form_of_header() {
        let now = Utc.with_ymd_and_hms(2026, 3, 1, 12, 0, 0).unwrap();
        type Headers = &'static [(&'static str, &'static str)];
        let table: [(Headers, Option<u64>); 8] = [
            (&[("retry-after", "7")], Some(7_000)),
            (&[("retry-after", "0.5")], Some(500)),
            (&[("retry-after-ms", "250"), ("retry-after", "7")], Some(250)),
            (&[("retry-after", "Sun, 01 Mar 2026 12:00:20 GMT")], Some(20_000)),
            (
                &[
                    ("retry-after", "Sun, 01 Mar 2026 12:00:20 GMT"),
                    ("date", "Sun, 01 Mar 2026 12:00:05 GMT"),
                ],
                Some(15_000),
            ),
            (&[("retry-after", "Sun, 01 Mar 2026 11:00:00 GMT")], Some(0)),
            (&[("retry-after", "soon")], None),
            (&[], None),
        ];
        for (pairs, expected) in table {
            assert_eq!(
                requested_wait(&headers(pairs), now).map(|d| u64::try_from(d.as_millis()).unwrap()),
                expected,
                "{pairs:?}"
            );
        }
    }
}
