//! Checks the end of a log: its newest checkpoint, the records after it, and the copies of
//! checkpoints outside the log. The checks read only a small part of the file and change nothing.

use contract::{VerifyProblem, text};
use rusqlite::{Connection, OptionalExtension as _};

use crate::anchor::{ComparedMarks, Mark};
use crate::chain::{self, Chain, stored_checkpoint, stored_frontier, stored_size};
use crate::num::Num;
use crate::opened::OpenOptions;
use crate::{body, keys, note, tree, verify};

/// The size and root of the log, if they could be read, and the log's problem.
pub(crate) type TailFault = (Option<(u64, String)>, VerifyProblem);

/// Checks the newest checkpoint, the records after it, and the marks. Returns None for an empty
/// log.
pub(crate) fn check_tail(
    db: &Connection,
    options: &OpenOptions,
    weighed: &ComparedMarks,
) -> rusqlite::Result<Result<Option<Chain>, TailFault>> {
    let origin = options.origin();
    let size = stored_size(db)?;
    if let Some(mark) = weighed.largest().filter(|mark| mark.size > size) {
        let message = text!(
            "records {first} to {last} are missing: the log was cut, or an old copy was put in its place",
            first = size + 1,
            last = mark.size
        );
        let root = crate::hex::encode(&stored_frontier(db, size)?.root());
        return Ok(Err((Some((size, root)), VerifyProblem { seq: Some(size + 1), message })));
    }
    if size == 0 {
        return Ok(Ok(None));
    }
    let frontier = stored_frontier(db, size)?;
    let root = frontier.root();
    let fault = |seq: u64, message: &str| {
        Ok(Err((
            Some((size, crate::hex::encode(&root))),
            VerifyProblem { seq: Some(seq), message: message.into() },
        )))
    };

    let opened: Option<Vec<u8>> = db
        .query_row(
            "SELECT body FROM audit_record WHERE type='log_opened' ORDER BY seq DESC LIMIT 1",
            [],
            |row| row.get(0),
        )
        .optional()?;
    let Some(opened) = opened.and_then(|bytes| body::parse(&bytes).ok()) else {
        return fault(1, "the record that names the signing key is missing or damaged");
    };
    if opened.text("installation") != Some(options.installation.as_str()) {
        return fault(1, "the log belongs to another installation");
    }
    let Ok(state) = keys::read_key_state(&origin, &opened) else {
        return fault(opened.seq, "the record that names the signing key is damaged");
    };
    let Some((signed, text)) = stored_checkpoint(db)? else {
        return fault(1, "the log has no signed checkpoint");
    };
    let at_checkpoint =
        // If a checkpoint covers more records than exist, there are no nodes to compute its root
        // from.
        if signed <= size { stored_frontier(db, signed)?.root() } else { tree::empty_root() };
    let held = note::parse(&text).ok().is_some_and(|n| {
        n.check(&state.current).is_ok()
            && n.size == signed
            && n.origin == origin
            && n.root == at_checkpoint
    });
    if !held {
        return fault(
            signed.min(size + 1),
            "the newest checkpoint does not match the records, or is signed with another key",
        );
    }
    for mark in &weighed.marks {
        if let Some((seq, message)) = check_against(db, &origin, mark)? {
            return Ok(Err((
                Some((size, crate::hex::encode(&root))),
                VerifyProblem { seq, message: message.into() },
            )));
        }
    }
    if let Some(closed) = weighed.marks.iter().find(|mark| mark.denies_tail(size, signed)) {
        return fault(closed.size + 1, verify::ADDED);
    }
    if let Some((seq, message)) = find_added(db, weighed.newest())? {
        return fault(seq, message);
    }
    match check_unsigned_records(db, signed, size)? {
        Ok(last_leaf) => Ok(Ok(Some(Chain { origin, frontier, last_leaf, signed, keys: state }))),
        Err(seq) => fault(seq, "the record was changed, or is not the one that followed"),
    }
}

/// Compares the log with a mark that covers existing records. Returns the problem, if there is one.
fn check_against(
    db: &Connection,
    origin: &str,
    mark: &Mark,
) -> rusqlite::Result<Option<(Option<u64>, &'static str)>> {
    if crate::hex::encode(&stored_frontier(db, mark.size)?.root()) != mark.root {
        return Ok(Some((
            None,
            "the records differ from the copy of the checkpoint that is kept outside the log",
        )));
    }
    if mark.size == 0 {
        return Ok(None);
    }
    // Each opening names the key that signs from then on, and marks are created with that key.
    let opened: Option<Vec<u8>> = db
        .query_row("SELECT body FROM audit_record WHERE type='log_opened' AND seq<=?1 ORDER BY seq DESC LIMIT 1", [Num(mark.size)], |row| row.get(0))
        .optional()?;
    let opened = opened.and_then(|bytes| body::parse(&bytes).ok());
    let key = opened
        .as_ref()
        .and_then(|opened| keys::read_key_state(origin, opened).ok())
        .map(|state| note::vkey_of(origin, &state.current));
    if key.as_deref() != Some(mark.key.as_str()) {
        return Ok(Some((
            Some(1),
            "the log was signed anew with another key than the one kept outside it",
        )));
    }
    if mark.signature.is_none() && opened.is_some_and(|opened| keys::signs_marks(&opened)) {
        return Ok(Some((
            None,
            "the copy of the newest checkpoint outside the log was replaced: it is not signed",
        )));
    }
    Ok(None)
}

/// Finds the first record that was added after the newest mark. Returns the problem of the record.
fn find_added(
    db: &Connection,
    newest: Option<&Mark>,
) -> rusqlite::Result<Option<(u64, &'static str)>> {
    let Some(mark) = newest else { return Ok(None) };
    let mut beyond = verify::BeyondMark::new(newest);
    let mut statement = db.prepare("SELECT body FROM audit_record WHERE seq>?1 ORDER BY seq")?;
    let mut rows = statement.query([Num(mark.size)])?;
    while let Some(row) = rows.next()? {
        let bytes: Vec<u8> = row.get(0)?;
        // Other checks report a body that cannot be parsed.
        if let Ok(body) = body::parse(&bytes)
            && let Some(found) = beyond.check_record(&body)
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Checks the records after the newest checkpoint, and always the last record. Returns the last
/// leaf, or the number of the invalid record.
fn check_unsigned_records(
    db: &Connection,
    signed: u64,
    size: u64,
) -> rusqlite::Result<Result<tree::Hash, u64>> {
    // The last record is always read, because the next record must contain its leaf.
    let from = (signed + 1).min(size);
    let mut prev = if from > 1 { chain::stored_node(db, 0, from - 2)? } else { [0u8; 32] };
    let mut statement =
        db.prepare("SELECT body, leaf FROM audit_record WHERE seq>=?1 ORDER BY seq")?;
    let mut rows = statement.query([Num(from)])?;
    let mut seq = from;
    while let Some(row) = rows.next()? {
        let (bytes, leaf): (Vec<u8>, tree::Hash) = (row.get(0)?, row.get(1)?);
        let held =
            body::parse(&bytes).is_ok_and(|b| b.seq == seq && b.prev == crate::hex::encode(&prev));
        if !held || tree::leaf_hash(&bytes) != leaf {
            return Ok(Err(seq));
        }
        prev = leaf;
        seq += 1;
    }
    Ok(if seq == size + 1 { Ok(prev) } else { Err(seq) })
}
