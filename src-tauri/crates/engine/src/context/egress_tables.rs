//! Caches redacted texts between turns: the texts of the program and its packs, and each session's
//! texts with its placeholder numbers. `egress` fills the caches. This file only decides which
//! texts are kept and does not redact or send texts.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use contract::{RedactionLevel, SessionId};
use parking_lot::Mutex;
use redaction::{Numbers, Outbound, OutboundValue, Replaced};

use crate::ports::ToolDef;

/// The placeholder numbers and redacted items of a session stay in memory for at least this many
/// uses of the tables of all sessions.
const LATELY: u64 = 64;
/// The number of program texts, and the number of tools, that stay in memory in redacted form.
const OURS: usize = 256;

/// Redacted texts and tools of the program and its packs. They stay valid until a new secret
/// becomes known.
#[derive(Default)]
pub(super) struct Ours {
    /// The generation of the known secrets with which these texts were made.
    made_with: u64,
    pub(super) texts: BTreeMap<Box<str>, Outbound>,
    pub(super) tools: HashMap<String, ToolDef>,
}

impl Ours {
    /// Returns the texts that were made with this generation of secrets. Discards older texts, and
    /// empties a full cache.
    pub(super) fn texts_for_secrets(&mut self, secrets: u64) -> &mut Self {
        if self.made_with != secrets {
            *self = Self { made_with: secrets, ..Self::default() };
        }
        if self.texts.len() >= OURS {
            self.texts.clear();
        }
        if self.tools.len() >= OURS {
            self.tools.clear();
        }
        self
    }
}

/// The tables of all sessions. Tables that have not been used for a long time are removed.
#[derive(Default)]
pub(super) struct Tables {
    /// The table of each session, with the value of `uses` at its last use.
    by_session: HashMap<SessionId, (Arc<Mutex<Table>>, u64)>,
    uses: u64,
}

impl Tables {
    pub(super) fn known(&mut self, session: &SessionId) -> Option<Arc<Mutex<Table>>> {
        let (table, used) = self.by_session.get_mut(session)?;
        self.uses += 1;
        *used = self.uses;
        Some(Arc::clone(table))
    }

    /// Removes a session's table.
    pub(super) fn forget(&mut self, session: &SessionId) {
        self.by_session.remove(session);
    }

    /// Stores a table, unless another task has stored a table for the session in the meantime.
    pub(super) fn keep(&mut self, session: &SessionId, table: Table) -> Arc<Mutex<Table>> {
        if self.by_session.len() as u64 >= 2 * LATELY {
            // The last `LATELY` uses belong to at most `LATELY` sessions, so this always frees
            // space.
            self.by_session.retain(|_, (table, used)| {
                *used + LATELY > self.uses || Arc::strong_count(table) > 1
            });
        }
        self.uses += 1;
        let (table, _) = self
            .by_session
            .entry(session.clone())
            .or_insert_with(|| (Arc::new(Mutex::new(table)), self.uses));
        Arc::clone(table)
    }
}

/// A session's placeholder numbers and its stored items in redacted form. Each item is redacted
/// only once and not in every turn.
#[derive(Default)]
pub(super) struct Table {
    pub(super) numbers: Numbers,
    pub(super) said: HashMap<String, RedactedText>,
    /// The redaction settings and the generation of secrets with which `said` was redacted.
    made_with: MadeWith,
    /// The number of turns since the table was loaded.
    pub(super) turn: u64,
}

/// The redaction level, the generation of secrets, and whether JSON values were kept.
pub(super) type MadeWith = (RedactionLevel, u64, bool);

/// A stored text or value in the redacted form that a model gets.
#[derive(Clone)]
pub(super) struct RedactedText {
    pub(super) text: Outbound,
    pub(super) data: OutboundValue,
    /// Whether the text was shortened.
    pub(super) is_cut: bool,
    pub(super) replaced: Replaced,
    pub(super) turn: u64,
}

impl Table {
    /// Creates the table of a session with these placeholder numbers.
    pub(super) fn with_numbers(numbers: Numbers) -> Self {
        Self { numbers, ..Self::default() }
    }

    /// Returns the texts that were made with these settings. Discards texts that were made with
    /// other settings.
    pub(super) fn texts_made_with(
        &mut self,
        made_with: MadeWith,
    ) -> &mut HashMap<String, RedactedText> {
        if self.made_with != made_with {
            self.said.clear();
            self.made_with = made_with;
        }
        &mut self.said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tables_of_sessions_in_use_or_recently_used_stay_cached() {
        let mut tables = Tables::default();
        let session = |n: u64| SessionId(format!("s{n}"));
        let in_use = tables.keep(&session(0), Table::default());
        let mut most = 0;
        for n in 1..10 * LATELY {
            tables.keep(&session(n), Table::default());
            assert!(tables.known(&session(1)).is_some(), "{n}: it is used again and again");
            most = most.max(tables.by_session.len() as u64);
        }
        assert!((LATELY..=2 * LATELY).contains(&most), "{most}");
        let again = tables.known(&session(0)).expect("in use all the time");
        assert!(Arc::ptr_eq(&in_use, &again));
        assert!(
            tables.known(&session(10 * LATELY - 1)).is_some()
                && tables.known(&session(2)).is_none()
        );
    }
}
