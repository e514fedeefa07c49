//! Keeps the vectors of one embedding model in memory, so that a search need not read them from the
//! file. A first pass over small integers chooses candidates; their similarity is then computed
//! from the file. The module owns no rows: before each search, it reads the changes in the file.

use std::collections::HashMap;

use engine::ports::MemoryReach;
use rusqlite::{Connection, params};

use crate::error::DbError;

/// The session number for memories of the profile.
const PROFILE: u32 = 0;
/// The maximum value of the wanted vector as integers, chosen so that the sum of 4,096 products
/// with values up to 127 fits into 32 bits.
const WANTED_MOST: f32 = 4_095.0;

/// The vectors of a model, stored one after the other.
#[derive(Default)]
pub(crate) struct Vectors {
    model: String,
    dimension: usize,
    /// The number of the last change that was read, and how many deletions were read.
    changed: i64,
    deleted: i64,
    /// The numbers of the memories, in the order of the vectors.
    numbers: Vec<i64>,
    sessions: Vec<u32>,
    /// For each vector, the factor by which its integers are multiplied.
    scales: Vec<f32>,
    values: Vec<i8>,
    places: HashMap<i64, usize>,
    session_numbers: HashMap<String, u32>,
}

impl Vectors {
    /// Reads the changes in the file since the last call, for this model. Vectors with another
    /// length are skipped.
    pub(crate) fn update(
        &mut self,
        conn: &Connection,
        model: &str,
        dimension: usize,
    ) -> Result<(), DbError> {
        let (changed, deleted): (i64, i64) = conn
            .prepare_cached("SELECT changed, deleted FROM memory_vector_state")?
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let is_same = self.model == model && self.dimension == dimension;
        // The numbers may be smaller after a copy was restored. Then all vectors are read again.
        if !is_same || changed < self.changed || deleted < self.deleted {
            *self = Self { model: model.to_owned(), dimension, changed: -1, ..Self::default() };
        } else if deleted != self.deleted {
            self.remove_missing(conn)?;
        }
        if changed != self.changed {
            self.add_changed(conn)?;
        }
        (self.changed, self.deleted) = (changed, deleted);
        Ok(())
    }

    fn add_changed(&mut self, conn: &Connection) -> Result<(), DbError> {
        let mut statement = conn.prepare_cached(
            "SELECT v.memory, m.session, v.vector FROM memory_vector v JOIN memory m ON m.number = v.memory
             WHERE v.model = ?1 AND v.changed > ?2",
        )?;
        let mut rows = statement.query(params![self.model, self.changed])?;
        let mut values = Vec::with_capacity(self.dimension);
        while let Some(row) = rows.next()? {
            let blob = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
            values.clear();
            values.extend(blob.as_chunks::<4>().0.iter().map(|value| f32::from_le_bytes(*value)));
            // The provider may have changed the length of its vectors under the same model name.
            if values.len() != self.dimension {
                continue;
            }
            let session: Option<String> = row.get(1)?;
            let session = session.map_or(PROFILE, |session| self.session_number(&session));
            self.put(row.get(0)?, session, &values);
        }
        Ok(())
    }

    fn session_number(&mut self, session: &str) -> u32 {
        if let Some(known) = self.session_numbers.get(session) {
            return *known;
        }
        let number = u32::try_from(self.session_numbers.len() + 1).unwrap_or(u32::MAX);
        self.session_numbers.insert(session.to_owned(), number);
        number
    }

    fn put(&mut self, memory: i64, session: u32, vector: &[f32]) {
        let most = vector.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        // One byte per value lets four times as many vectors fit into memory. The few candidates
        // are compared exactly later.
        let scale = most / 127.0;
        let small = |value: &f32| if most > 0.0 { (value / scale).round() as i8 } else { 0 };
        match self.places.get(&memory) {
            Some(&place) => {
                let at = place * self.dimension;
                let stored = self.values[at..at + self.dimension].iter_mut();
                stored.zip(vector).for_each(|(stored, value)| *stored = small(value));
                (self.sessions[place], self.scales[place]) = (session, scale);
            }
            None => {
                self.places.insert(memory, self.numbers.len());
                self.numbers.push(memory);
                self.sessions.push(session);
                self.scales.push(scale);
                self.values.extend(vector.iter().map(small));
            }
        }
    }

    /// Removes the vectors that are no longer in the file.
    fn remove_missing(&mut self, conn: &Connection) -> Result<(), DbError> {
        let mut statement =
            conn.prepare_cached("SELECT memory FROM memory_vector WHERE model = ?1")?;
        let left = statement.query_map([&self.model], |row| row.get::<_, i64>(0))?;
        let left = left.collect::<Result<std::collections::HashSet<_>, _>>()?;
        let mut place = 0;
        while place < self.numbers.len() {
            if left.contains(&self.numbers[place]) {
                place += 1;
            } else {
                self.remove(place);
            }
        }
        Ok(())
    }

    /// Removes a vector, and moves the last vector to its place.
    fn remove(&mut self, place: usize) {
        let last = self.numbers.len() - 1;
        let size = self.dimension;
        self.values.copy_within(last * size..(last + 1) * size, place * size);
        self.values.truncate(last * size);
        let removed = self.numbers.swap_remove(place);
        self.sessions.swap_remove(place);
        self.scales.swap_remove(place);
        self.places.remove(&removed);
        if let Some(moved) = self.numbers.get(place) {
            self.places.insert(*moved, place);
        }
    }

    /// Returns the memories within reach that are probably the most similar.
    pub(crate) fn candidates(&self, wanted: &[f32], reach: &MemoryReach, most: usize) -> Vec<i64> {
        if most == 0 || wanted.len() != self.dimension {
            return Vec::new();
        }
        let largest = wanted.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        // A vector of zeros has no direction, and dividing by its length would not give a number.
        let unit = if largest > 0.0 { WANTED_MOST / largest } else { 0.0 };
        let wanted: Vec<i16> = wanted.iter().map(|value| (value * unit).round() as i16).collect();
        let is_in_reach = self.sessions_in_reach(reach);
        let mut best = Best::new(most);
        let rows = self.values.chunks_exact(self.dimension.max(1));
        for (place, values) in rows.enumerate() {
            if is_in_reach[self.sessions[place] as usize] {
                let product = dot_product(values, &wanted) as f32 * self.scales[place];
                best.offer(self.numbers[place], product);
            }
        }
        best.found.into_iter().map(|(number, _)| number).collect()
    }

    /// Returns, for each session number, whether the session's memories may be used.
    fn sessions_in_reach(&self, reach: &MemoryReach) -> Vec<bool> {
        let (all, profile) = match reach {
            MemoryReach::Session(_) => (false, false),
            MemoryReach::SessionAndProfile(_) => (false, true),
            MemoryReach::AllOfUser | MemoryReach::Everything => (true, true),
        };
        let mut allowed = vec![all; self.session_numbers.len() + 1];
        allowed[PROFILE as usize] = profile;
        match reach {
            MemoryReach::Session(session) | MemoryReach::SessionAndProfile(session) => {
                if let Some(number) = self.session_numbers.get(session.as_str()) {
                    allowed[*number as usize] = true;
                }
            }
            // Only the id of another application's session contains a colon.
            MemoryReach::AllOfUser => {
                for (session, number) in &self.session_numbers {
                    allowed[*number as usize] = !session.contains(':');
                }
            }
            MemoryReach::Everything => {}
        }
        allowed
    }
}

/// Returns the sum of the products. The loop is written so that the compiler uses vector
/// instructions.
fn dot_product(values: &[i8], wanted: &[i16]) -> i32 {
    values
        .iter()
        .zip(wanted)
        .map(|(value, wanted)| i32::from(i16::from(*value)) * i32::from(*wanted))
        .sum()
}

/// The best rows so far, best first.
pub(crate) struct Best {
    most: usize,
    pub(crate) found: Vec<(i64, f32)>,
}

impl Best {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, found: Vec::with_capacity(most.saturating_add(1).min(1_000)) }
    }

    pub(crate) fn offer(&mut self, number: i64, similarity: f32) {
        let is_full = self.found.len() >= self.most;
        if is_full && self.found.last().is_none_or(|(_, last)| similarity <= *last) {
            return;
        }
        let at = self.found.partition_point(|(_, other)| *other >= similarity);
        self.found.insert(at, (number, similarity));
        self.found.truncate(self.most);
    }
}
