//! Keeps the last readings of messages. Each call of the model reads all earlier turns of its
//! conversation again, and the same message after the same question is read in the same way.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use chrono::NaiveDate;

use super::{Previous, part::Part};

/// The most readings that are kept: those of a few conversations.
const KEPT: usize = 64;

/// All that a reading depends on, beside the sources.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ReadingKey {
    /// The message.
    pub(super) message: String,
    /// The questions that it may go on from.
    pub(super) asked: Vec<Previous>,
    /// The day.
    pub(super) day: NaiveDate,
    /// The time zone.
    pub(super) zone: String,
}

/// The last readings, the newest use first.
#[derive(Debug, Default)]
pub(super) struct Readings {
    kept: Mutex<VecDeque<(ReadingKey, Vec<Part>)>>,
}

impl Readings {
    /// Returns the reading of a message, which is read if none is kept.
    pub(super) fn find_or_add(
        &self,
        key: ReadingKey,
        read: impl FnOnce() -> Vec<Part>,
    ) -> Vec<Part> {
        if let Some(parts) = self.find(&key) {
            return parts;
        }
        // Other conversations are read at the same time.
        let parts = read();
        let mut kept = self.lock();
        kept.push_front((key, parts.clone()));
        kept.truncate(KEPT);
        parts
    }

    fn find(&self, key: &ReadingKey) -> Option<Vec<Part>> {
        let mut kept = self.lock();
        let at = kept.iter().position(|(known, _)| known == key)?;
        let found = kept.remove(at)?;
        let parts = found.1.clone();
        kept.push_front(found);
        Some(parts)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(ReadingKey, Vec<Part>)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_once_on_a_day_and_few_readings_are_kept() {
        let readings = Readings::default();
        let mut reads = 0;
        let mut read = |message: &str, day: u32| {
            let day = NaiveDate::from_ymd_opt(2026, 11, day).unwrap();
            let (message, zone) = (message.to_owned(), "UTC".to_owned());
            let key = ReadingKey { message, asked: Vec::new(), day, zone };
            readings.find_or_add(key, || {
                reads += 1;
                Vec::new()
            });
            reads
        };
        assert_eq!([read("spend", 1), read("spend", 1), read("spend", 2)], [1, 1, 2]);
        for number in 0..100 {
            read(&number.to_string(), 1);
        }
        assert_eq!(readings.lock().len(), KEPT);
    }
}
