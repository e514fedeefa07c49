//! Secrets that were read or stored since the program started, and so must never be shown. A value
//! that expires is forgotten some time after its expiry, because a program that runs for months
//! gets new values every hour.

use std::time::{Duration, Instant};

use secrecy::{ExposeSecret as _, SecretString};

/// How long after its expiry a value must still not be shown.
const AFTER_ITS_END: Duration = Duration::from_secs(15 * 60);
/// The maximum number of expired values that are kept. If there are more, the oldest are forgotten
/// at once.
const MAX_ENDED: usize = 1_024;

struct NotedSecret {
    value: SecretString,
    /// When the value expires. None if the value never expires.
    ends: Option<Instant>,
}

impl NotedSecret {
    fn ended(&self, now: Instant) -> Option<Instant> {
        self.ends.filter(|ends| *ends <= now)
    }
}

#[derive(Default)]
pub(crate) struct ExposedSecrets {
    noted: Vec<NotedSecret>,
    generation: u64,
}

impl ExposedSecrets {
    /// Adds a value with its expiry. A value that is added again gets the later expiry. Forgets
    /// values that expired long enough ago.
    pub(crate) fn note(&mut self, value: &SecretString, ends: Option<Instant>, now: Instant) {
        match self
            .noted
            .iter_mut()
            .find(|known| known.value.expose_secret() == value.expose_secret())
        {
            Some(known) => known.ends = known.ends.zip(ends).map(|(one, other)| one.max(other)),
            None => {
                self.noted.push(NotedSecret { value: value.clone(), ends });
                self.generation += 1;
            }
        }
        self.forget(now);
    }

    /// Returns each value once, oldest first.
    pub(crate) fn values(&self) -> Vec<SecretString> {
        self.noted.iter().map(|noted| noted.value.clone()).collect()
    }

    /// Returns a number that changes whenever the values change.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    fn forget(&mut self, now: Instant) {
        let before = self.noted.len();
        self.noted.retain(|noted| {
            noted.ended(now).is_none_or(|ended| now.duration_since(ended) < AFTER_ITS_END)
        });
        let mut ended: Vec<Instant> =
            self.noted.iter().filter_map(|noted| noted.ended(now)).collect();
        if ended.len() > MAX_ENDED {
            ended.sort_unstable_by(|one, other| other.cmp(one));
            let from = ended[MAX_ENDED - 1];
            self.noted.retain(|noted| noted.ended(now).is_none_or(|ended| ended >= from));
        }
        self.generation += u64::from(self.noted.len() != before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> SecretString {
        SecretString::from(text)
    }

    fn texts(exposed: &ExposedSecrets) -> Vec<String> {
        exposed.values().iter().map(|value| value.expose_secret().to_owned()).collect()
    }

    const HOUR: Duration = Duration::from_secs(3_600);

    #[test]
    fn an_expired_secret_is_forgotten_after_a_grace_period() {
        let (start, mut known) = (Instant::now(), ExposedSecrets::default());
        known.note(&secret("key"), None, start);
        known.note(&secret("token-1"), Some(start + HOUR), start);
        let before = known.generation();
        known.note(&secret("key"), None, start + HOUR + AFTER_ITS_END - Duration::from_secs(1));
        assert_eq!(
            (texts(&known), known.generation()),
            (vec!["key".to_owned(), "token-1".to_owned()], before)
        );
        // The number of values is the same, but one value is new.
        known.note(&secret("token-2"), Some(start + 3 * HOUR), start + HOUR + AFTER_ITS_END);
        assert_eq!(texts(&known), ["key", "token-2"]);
        assert_ne!(known.generation(), before);
    }

    #[test]
    fn a_secret_noted_again_expires_at_the_later_time() {
        let (start, mut known) = (Instant::now(), ExposedSecrets::default());
        for (first, again, after) in [
            (Some(HOUR), None, 100),
            (None, Some(HOUR), 100),
            (Some(HOUR), Some(5 * HOUR), 4),
            (Some(5 * HOUR), Some(HOUR), 4),
        ] {
            let value = secret(&format!("{first:?} {again:?}"));
            for lasts in [first, again] {
                known.note(&value, lasts.map(|lasts| start + lasts), start);
            }
            known.note(&secret("another"), None, start + after * HOUR);
            assert!(
                texts(&known).contains(&value.expose_secret().to_owned()),
                "{first:?} {again:?}"
            );
        }
    }

    #[test]
    fn of_too_many_expired_secrets_the_oldest_are_forgotten_and_valid_ones_stay() {
        let (start, mut known) = (Instant::now(), ExposedSecrets::default());
        let lasting = 2 * MAX_ENDED;
        for n in 0..lasting {
            known.note(&secret(&format!("lasts-{n}")), Some(start + HOUR), start);
        }
        for n in 0..MAX_ENDED + 3 {
            let ends = start + Duration::from_millis(n as u64);
            known.note(&secret(&format!("ended-{n}")), Some(ends), ends);
        }
        let texts = texts(&known);
        assert_eq!(texts.iter().filter(|text| text.starts_with("lasts")).count(), lasting);
        assert_eq!(texts[lasting..].len(), MAX_ENDED);
        assert_eq!(texts[lasting], "ended-3", "the oldest go first");
    }
}
