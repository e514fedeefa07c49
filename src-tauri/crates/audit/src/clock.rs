//! Judges the clock by the times of the records. The module must not know which values are erased.

use chrono::{DateTime, Utc};
use contract::AgentError;
use rusqlite::Connection;

use crate::body::parse_instant;
use crate::schema::unreadable;

/// Returns the latest moment that the clock and the records of a log agree on. Returns None if
/// there is no such moment yet, or if the time of a record cannot be parsed.
pub(crate) fn agreed_time(
    db: &Connection,
    now: DateTime<Utc>,
) -> Result<Option<DateTime<Utc>>, AgentError> {
    let fail = |error: rusqlite::Error| unreadable(&error);
    let mut select =
        db.prepare_cached("SELECT at FROM audit_record ORDER BY seq DESC").map_err(fail)?;
    let mut rows = select.query_map([], |row| row.get::<_, String>(0)).map_err(fail)?;
    let mut failed = None;
    let times = std::iter::from_fn(|| match rows.next()? {
        // A time that cannot be parsed counts as later than any clock, so that the judge agrees on
        // no moment.
        Ok(at) => Some(parse_instant(&at).unwrap_or(DateTime::<Utc>::MAX_UTC)),
        Err(error) => {
            failed = Some(error);
            None
        }
    });
    let agreed = contract::clock::agreed_time(now, times);
    failed.map_or(Ok(agreed), |error| Err(fail(error)))
}
