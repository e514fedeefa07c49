//! Caches items that were read recently. A session reads its own history in every turn, and parsing
//! long results takes most of the time. The row is read each time; only the parsing is skipped.
//! Knows nothing of the purpose of items.

use std::collections::HashMap;

use parking_lot::Mutex;
use std::sync::Arc;

use contract::Item;

use crate::error::DbError;
use crate::table::item_rows::Columns;

/// The number of bytes of text in each half. The parsed items need about twice as much memory in
/// addition.
const HALF_BYTES: usize = 1 << 20;
/// The minimum number of bytes of a cached text, because shorter texts are parsed as fast as they
/// are found in the cache.
const LEAST_BYTES: usize = 1 << 10;

/// Items used since the halves were last swapped, and items used before that.
#[derive(Default)]
pub(crate) struct Recent(Mutex<Halves>);

#[derive(Default)]
struct Halves {
    young: HashMap<String, CachedItem>,
    young_bytes: usize,
    old: HashMap<String, CachedItem>,
}

struct CachedItem {
    body: Box<str>,
    result: Option<Box<str>>,
    item: Arc<Item>,
}

impl Recent {
    /// Returns the parsed item of a row.
    pub(crate) fn item(&self, row: &Columns<'_>) -> Result<Arc<Item>, DbError> {
        if row.size() < LEAST_BYTES {
            return Ok(Arc::new(row.item()?));
        }
        if let Some(found) = self.with_halves(|halves| halves.get(row)) {
            return Ok(found);
        }
        let item = Arc::new(row.item()?);
        let kept = CachedItem {
            body: row.body.into(),
            result: row.result.map(Into::into),
            item: Arc::clone(&item),
        };
        self.with_halves(|halves| halves.put(row.id.to_owned(), kept));
        Ok(item)
    }

    /// Clears the cache, because deleted items must not stay in memory.
    pub(crate) fn clear(&self) {
        self.with_halves(|halves| *halves = Halves::default());
    }

    fn with_halves<T>(&self, f: impl FnOnce(&mut Halves) -> T) -> T {
        f(&mut self.0.lock())
    }
}

impl Halves {
    fn get(&mut self, row: &Columns<'_>) -> Option<Arc<Item>> {
        if let Some(kept) = self.young.get(row.id) {
            return kept.of(row);
        }
        // An item that is used again moves to the young half, because the next swap would drop it
        // from the old half.
        let (id, kept) = self.old.remove_entry(row.id)?;
        let item = kept.of(row)?;
        self.put(id, kept);
        Some(item)
    }

    fn put(&mut self, id: String, kept: CachedItem) {
        self.young_bytes += kept.size();
        self.young.insert(id, kept);
        // A whole half is dropped, so that the order of use need not be stored for each item.
        if self.young_bytes > HALF_BYTES {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
    }
}

impl CachedItem {
    fn size(&self) -> usize {
        self.body.len() + self.result.as_deref().map_or(0, str::len)
    }

    /// Returns the cached item if it still matches this row. Another process may have restored the
    /// session from a copy.
    fn of(&self, row: &Columns<'_>) -> Option<Arc<Item>> {
        let is_same = *self.body == *row.body && self.result.as_deref() == row.result;
        (is_same && row.has_same_identity(&self.item)).then(|| Arc::clone(&self.item))
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::{Connection, params};

    use super::*;

    const LONG: usize = 4_000;

    fn body(filler: &str, length: usize) -> String {
        serde_json::json!({"kind": "user_message", "text": filler.repeat(length)}).to_string()
    }

    fn read(recent: &Recent, id: &str, seq: i64, body: &str) -> Arc<Item> {
        let conn = Connection::open_in_memory().expect("a database");
        conn.query_row_and_then(
            "SELECT ?1, 's', 't', ?2, '2026-01-02T03:04:05.000000000Z', ?3, NULL",
            params![id, seq, body],
            |row| recent.item(&Columns::of(row)?),
        )
        .expect("an item")
    }

    #[test]
    fn an_unchanged_row_is_parsed_once_and_a_changed_row_again() {
        let recent = Recent::default();
        let first = read(&recent, "i", 1, &body("a", LONG));
        assert!(Arc::ptr_eq(&first, &read(&recent, "i", 1, &body("a", LONG))));
        for other in
            [read(&recent, "i", 1, &body("b", LONG)), read(&recent, "i", 2, &body("b", LONG))]
        {
            assert!(
                matches!(&other.body, contract::ItemBody::UserMessage { text } if text.starts_with('b')),
                "{other:?}"
            );
        }
        assert_eq!(read(&recent, "i", 2, &body("b", LONG)).seq, 2);
        let kept = read(&recent, "i", 2, &body("b", LONG));
        recent.clear();
        assert!(!Arc::ptr_eq(&kept, &read(&recent, "i", 2, &body("b", LONG))));
    }

    #[test]
    fn unused_cache_entries_are_dropped_and_used_ones_stay() {
        let recent = Recent::default();
        let text = body("a", LONG);
        let (used, unused) = (read(&recent, "used", 1, &text), read(&recent, "unused", 1, &text));
        for n in 0..3 * HALF_BYTES / LONG {
            read(&recent, &format!("{n}"), 1, &text);
            assert!(Arc::ptr_eq(&used, &read(&recent, "used", 1, &text)), "{n}");
        }
        assert!(!Arc::ptr_eq(&unused, &read(&recent, "unused", 1, &text)));
        let held = recent.with_halves(|halves| {
            halves.young.values().chain(halves.old.values()).map(CachedItem::size).sum::<usize>()
        });
        assert!(held <= 2 * HALF_BYTES + 2 * LONG, "{held}");
    }
}
