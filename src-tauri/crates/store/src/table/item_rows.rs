//! Reads rows of the table `item`. Rows are borrowed, so that their text need not be copied before
//! parsing.

use contract::{Item, ItemBody, ItemId, NoticeLevel, SessionId, TurnId};
use rusqlite::Row;

use crate::error::DbError;
use crate::text;

/// The columns of an item. The last column is the item's result.
pub(crate) const COLUMNS: &str =
    "item.id, item.session, item.turn, item.seq, item.created_at, item.body,
    (SELECT r.data FROM result r WHERE r.session = item.session AND r.hash = item.result)";

/// A row as it is stored.
pub(crate) struct Columns<'a> {
    pub(crate) id: &'a str,
    session: &'a str,
    turn: &'a str,
    seq: i64,
    created_at: &'a str,
    pub(crate) body: &'a str,
    /// The data of the tool result that is not stored in the body.
    pub(crate) result: Option<&'a str>,
}

impl<'a> Columns<'a> {
    pub(crate) fn of(row: &'a Row<'_>) -> Result<Self, DbError> {
        let text = |at| Ok::<_, DbError>(row.get_ref(at)?.as_str().map_err(rusqlite::Error::from)?);
        Ok(Self {
            id: text(0)?,
            session: text(1)?,
            turn: text(2)?,
            seq: row.get(3)?,
            created_at: text(4)?,
            body: text(5)?,
            result: row.get_ref(6)?.as_str_or_null().map_err(rusqlite::Error::from)?,
        })
    }

    /// Returns the number of bytes of text that are parsed.
    pub(crate) fn size(&self) -> usize {
        self.body.len() + self.result.map_or(0, str::len)
    }

    fn parse_body(&self) -> Result<ItemBody, serde_json::Error> {
        let mut body = serde_json::from_str(self.body)?;
        if let (ItemBody::ToolResult { data, .. }, Some(result)) = (&mut body, self.result) {
            *data = serde_json::from_str(result)?;
        }
        Ok(body)
    }

    /// Parses a row. A body that cannot be parsed becomes a notice, because one damaged row must
    /// not make a session unreadable.
    pub(crate) fn item(&self) -> Result<Item, DbError> {
        let body = self.parse_body().unwrap_or_else(|error| {
            tracing::warn!(item = self.id, %error, "an item cannot be read");
            ItemBody::Notice {
                level: NoticeLevel::Warning,
                code: "item_unreadable".into(),
                text: "This entry cannot be read.".into(),
            }
        });
        Ok(Item {
            id: ItemId(self.id.to_owned()),
            session: SessionId(self.session.to_owned()),
            turn: TurnId(self.turn.to_owned()),
            seq: u64::try_from(self.seq).unwrap_or_default(),
            created_at: text::read_instant(self.created_at)?,
            body,
        })
    }

    /// Whether an item has the same identity as this row, whatever its body is.
    pub(crate) fn has_same_identity(&self, item: &Item) -> bool {
        item.id.as_str() == self.id
            && item.session.as_str() == self.session
            && item.turn.as_str() == self.turn
            && u64::try_from(self.seq).is_ok_and(|seq| seq == item.seq)
            && text::read_instant(self.created_at).is_ok_and(|at| at == item.created_at)
    }
}
