//! Counts requests per clock minute, for visitors with demo tokens and for addresses that request
//! such tokens.

use std::collections::HashMap;

use crate::config::Rates;
use parking_lot::Mutex;

const WINDOW_MS: i64 = 60_000;

struct Window {
    began: i64,
    used: u32,
}

#[derive(Default)]
struct Windows {
    by_key: HashMap<String, Window>,
    pruned_at: i64,
}

pub(crate) struct Limits {
    windows: Mutex<Windows>,
    rates: Rates,
}

/// The kind of limit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Chat,
    ChatOfAddress,
    Token,
}

/// The remaining requests of the current minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    pub(crate) remaining: u32,
    /// The end of the minute, in seconds since the epoch.
    pub(crate) reset: i64,
}

/// The error for a limit that is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UsedUp {
    pub(crate) wait_ms: u64,
    pub(crate) left: Left,
}

impl Limits {
    pub(crate) fn new(rates: &Rates) -> Self {
        Self { windows: Mutex::default(), rates: *rates }
    }

    /// Counts a request. Fails if the limit is exceeded.
    pub(crate) fn count_request(&self, kind: Kind, key: &str, now_ms: i64) -> Result<Left, UsedUp> {
        let (most, name) = match kind {
            Kind::Chat => (self.rates.chat, "chat"),
            // This name sorts after the visitors' keys, so that many visitors of one address do not
            // evict the address's own count.
            Kind::ChatOfAddress => (self.rates.chat_per_address, "chats from"),
            Kind::Token => (self.rates.token, "token"),
        };
        let mut windows = self.windows.lock();
        // The windows are minutes of the clock, so that their end does not depend on the time of
        // the first request.
        let began = now_ms.div_euclid(WINDOW_MS) * WINDOW_MS;
        self.make_room(&mut windows, began, now_ms);
        let window =
            windows.by_key.entry(format!("{name} {key}")).or_insert(Window { began, used: 0 });
        if window.began != began {
            *window = Window { began, used: 0 };
        }
        let ends = began + WINDOW_MS;
        let left = |remaining| Left { remaining, reset: ends / 1_000 };
        if window.used >= most {
            return Err(UsedUp {
                wait_ms: u64::try_from(ends - now_ms).unwrap_or(0).max(1),
                left: left(0),
            });
        }
        window.used += 1;
        Ok(left(most - window.used))
    }

    fn make_room(&self, windows: &mut Windows, began: i64, now_ms: i64) {
        let due = now_ms - windows.pruned_at
            >= i64::try_from(self.rates.prune.as_millis()).unwrap_or(i64::MAX);
        if due {
            windows.by_key.retain(|_, window| window.began == began);
            windows.pruned_at = now_ms;
        }
        if windows.by_key.len() >= self.rates.max_keys {
            let mut by_age: Vec<(i64, String)> =
                windows.by_key.iter().map(|(key, window)| (window.began, key.clone())).collect();
            // The oldest windows are removed first, because a window of an earlier minute limits
            // nobody any more.
            by_age.sort();
            for (_, key) in by_age.into_iter().take((self.rates.max_keys / 10).max(1)) {
                windows.by_key.remove(&key);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::time::Duration;

    use super::*;

    fn limits(max_keys: usize) -> Limits {
        Limits::new(&Rates {
            chat: 2,
            chat_per_address: 3,
            token: 1,
            max_keys,
            prune: Duration::from_secs(60),
        })
    }

    #[test]
    fn chat_api_7_rate_limit_windows_are_clock_minutes() {
        let limits = limits(100);
        let noon = 43_200_000;
        assert_eq!(
            limits.count_request(Kind::Chat, "a", noon + 59_000).unwrap(),
            Left { remaining: 1, reset: 43_260 }
        );
        assert!(limits.count_request(Kind::Chat, "a", noon + 59_500).is_ok());
        assert_eq!(
            limits.count_request(Kind::Chat, "a", noon + 59_999),
            Err(UsedUp { wait_ms: 1, left: Left { remaining: 0, reset: 43_260 } })
        );
        assert!(limits.count_request(Kind::Chat, "a", noon + 60_000).is_ok(), "a new minute");
        assert!(
            limits.count_request(Kind::Token, "a", noon + 60_000).is_ok(),
            "counts of their own"
        );
        assert!(limits.count_request(Kind::Chat, "b", noon + 60_000).is_ok());
        assert!(
            limits.count_request(Kind::ChatOfAddress, "a", noon + 60_000).is_ok(),
            "counts of their own"
        );
    }

    #[test]
    fn chat_api_7_old_rate_limit_windows_are_removed_and_the_oldest_make_room() {
        let limits = limits(20);
        let count = || limits.windows.lock().by_key.len();
        for n in 0..20 {
            limits.count_request(Kind::Chat, &n.to_string(), 1_000 + n).unwrap();
        }
        limits.count_request(Kind::Chat, "one more", 2_000).unwrap();
        assert_eq!(count(), 19, "a tenth went");
        limits.count_request(Kind::Chat, "later", 200_000).unwrap();
        assert_eq!(count(), 1);
    }
}
