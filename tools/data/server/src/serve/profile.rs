//! `data.profile` over parts. A profile is kept as long as results are, under the version of its data.

use std::sync::Arc;

use contract::sources::{AskProfile, AskedPlace, SourceProfile};

use super::{Asker, query::key_of};
use crate::{
    DataError, parts,
    profile::{Base, Engine, Profiled, profile},
    sql::identifier,
    stop::Stop,
};

/// The bytes of a column's profile, about.
const PROFILE_BYTES: usize = 8 << 10;

impl Asker {
    /// Profiles columns.
    pub fn profile(&self, ask: &AskProfile, stop: &Stop) -> Result<SourceProfile, DataError> {
        let sources = std::slice::from_ref(&ask.source);
        let key = key_of(&format!("profile\n{}", ask.columns.join("\n")), sources);
        if let Some(known) = self.profiled.find(&key) {
            return Ok(SourceProfile::clone(&known));
        }
        let (mut link, notes) = self.connect(sources)?;
        let from = identifier(ask.source.name.as_str());
        let count = link.row(&format!("SELECT count(*) FROM {from}"), stop)?;
        let count = count.into_iter().flatten().next().and_then(|text| text.parse().ok());
        let base = Base { from, rows: count.unwrap_or(0), engine: Engine::DuckDb };
        let columns = match &ask.source.place {
            AskedPlace::Parts { parts, .. } if ask.source.columns.is_empty() => {
                parts::union_of(parts)
            }
            _ => ask.source.columns.clone(),
        };
        let columns =
            columns.into_iter().map(|column| Profiled { column, is_float: false }).collect();
        let mut found = profile(&mut link, &base, columns, ask, stop)?;
        found.version.clone_from(&ask.source.version);
        found.notes = notes;
        if found.left.is_empty() {
            // A profile has some numbers and texts for each column.
            let bytes = found.columns.len() * PROFILE_BYTES;
            self.profiled.keep(key, Arc::new(found.clone()), bytes);
        }
        Ok(found)
    }
}
