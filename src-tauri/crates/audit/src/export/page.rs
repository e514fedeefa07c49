//! Writes the page for people in an export of one session or one decision.

use std::collections::BTreeMap;

use messages::Language;
use rusqlite::{Connection, params_from_iter};
use serde_json::Value;

use super::{ExportError, Files, Part, Signed};
use crate::num::Num;
use crate::report::{self, Entry, Facts};
use crate::{body, hex, note};

pub(super) fn write(
    db: &Connection,
    files: &mut Files<'_>,
    part: &Part,
    signed: &Signed,
    language: Language,
    has_receipts: bool,
) -> Result<(), ExportError> {
    let facts = Facts {
        origin: signed.origin.clone(),
        fingerprint: note::fingerprint(signed.key.as_bytes()),
        size: signed.size,
        root: hex::encode(&signed.root),
        has_receipts,
    };
    if matches!(part, Part::Whole | Part::Figure(_)) {
        return Ok(());
    }
    let entries = entries(db, part, signed.size)?;
    let (name, page) = if matches!(part, Part::Session(_)) {
        ("report.html", report::session_page(&entries, &facts, language))
    } else {
        ("receipt.html", report::decision_page(&entries, &facts, language))
    };
    files.text(name, &page)?;
    Ok(())
}

fn entries(db: &Connection, part: &Part, limit: u64) -> Result<Vec<Entry>, ExportError> {
    let (filter, values) = part.filter();
    let mut revealed = db.prepare("SELECT member, value FROM audit_reveal WHERE seq=?1")?;
    let mut statement = db.prepare(&format!(
        "SELECT seq, body, leaf FROM audit_record WHERE {filter} AND seq<={limit} ORDER BY seq"
    ))?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        let seq = row.get::<_, Num>(0)?;
        let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        let body = body::parse(bytes).map_err(|why| ExportError::Log(why.into()))?;
        let mut values = BTreeMap::new();
        let mut members = revealed.query([seq])?;
        while let Some(member) = members.next()? {
            let text: String = member.get(1)?;
            let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
            values.insert(member.get(0)?, value);
        }
        entries.push(Entry { body, leaf: row.get(2)?, revealed: values });
    }
    Ok(entries)
}
