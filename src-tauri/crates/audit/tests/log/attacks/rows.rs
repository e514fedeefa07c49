//! Attacks by somebody who has a database tool and knows the format: changes of single rows, and
//! rewritten logs in which every hash agrees and only signatures cannot be made.

use audit::tree::{Frontier, leaf_hash};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, params};
use serde_json::Value;

use super::{Attack, Attempt};

pub(super) const ATTACKS: &[Attack] = &[
    edit_body,
    edit_body,
    edit_leaf,
    edit_column,
    swap_records,
    double_record,
    delete_record,
    insert_beyond,
    edit_node,
    delete_node,
    edit_note,
    move_note,
    delete_newest_note,
    edit_reveal,
    add_reveal,
    edit_schema,
    edit_version,
    rewrite_edited,
    rewrite_without,
    rewrite_with_more,
    rewrite_swapped,
    rewrite_shorter,
    add_to_closed,
];

/// Opens the log as a database tool would. Some tools leave the side file unchanged.
fn db(attempt: &mut Attempt<'_>) -> Connection {
    let db = Connection::open(attempt.folder.join("audit.db")).unwrap();
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, attempt.random.chance(50))
        .unwrap();
    db
}

/// Returns a random record that the mark covers.
fn seq(attempt: &mut Attempt<'_>) -> i64 {
    i64::try_from(1 + attempt.random.below(attempt.state.mark.size)).unwrap()
}

/// Runs a statement with two numbers. Returns its description if it changed rows.
fn sql(attempt: &mut Attempt<'_>, statement: &str, one: i64, other: i64) -> Option<String> {
    let changed = db(attempt).execute(statement, params![one, other]).ok()?;
    (changed > 0).then(|| format!("{statement} with {one}, {other}"))
}

/// Returns another text of the same length.
fn alter(attempt: &mut Attempt<'_>, text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let places: Vec<usize> =
        (0..bytes.len()).filter(|at| bytes[*at].is_ascii_alphanumeric()).collect();
    let at = *attempt.random.pick(&places);
    bytes[at] = match bytes[at] {
        digit @ b'0'..=b'9' => b'0' + (digit - b'0' + 1) % 10,
        letter @ b'a'..=b'z' => b'a' + (letter - b'a' + 1) % 26,
        letter => b'A' + (letter - b'A' + 1) % 26,
    };
    String::from_utf8(bytes).unwrap()
}

fn edit_body(attempt: &mut Attempt<'_>) -> Option<String> {
    let (db, seq) = (db(attempt), seq(attempt));
    let body: Vec<u8> =
        db.query_row("SELECT body FROM audit_record WHERE seq=?1", [seq], |row| row.get(0)).ok()?;
    let body = alter(attempt, std::str::from_utf8(&body).ok()?);
    let also_leaf = attempt.random.chance(50);
    db.execute("UPDATE audit_record SET body=?2 WHERE seq=?1", params![seq, body.as_bytes()])
        .ok()?;
    if also_leaf {
        db.execute(
            "UPDATE audit_record SET leaf=?2 WHERE seq=?1",
            params![seq, leaf_hash(body.as_bytes())],
        )
        .ok()?;
    }
    Some(format!("record {seq} is now {body}"))
}

fn edit_leaf(attempt: &mut Attempt<'_>) -> Option<String> {
    let seq = seq(attempt);
    sql(attempt, "UPDATE audit_record SET leaf=randomblob(32) WHERE seq=?1 AND ?2=?2", seq, 0)
}

fn edit_column(attempt: &mut Attempt<'_>) -> Option<String> {
    let (seq, column) =
        (seq(attempt), *attempt.random.pick(&["at", "type", "session", "tool", "status"]));
    let new = if attempt.random.chance(50) || column == "at" || column == "type" {
        "'other'"
    } else {
        "NULL"
    };
    sql(
        attempt,
        &format!(
            "UPDATE audit_record SET {column}={new} WHERE seq=?1 AND {column} IS NOT {new} AND ?2=?2"
        ),
        seq,
        0,
    )
}

fn swap_records(attempt: &mut Attempt<'_>) -> Option<String> {
    let (one, other) = (seq(attempt), seq(attempt));
    if one == other {
        return None;
    }
    let db = db(attempt);
    db.execute_batch(&format!(
        "UPDATE audit_record SET seq=-1 WHERE seq={one}; UPDATE audit_record SET seq={one} WHERE seq={other}; UPDATE audit_record SET seq={other} WHERE seq=-1"
    ))
    .ok()?;
    Some(format!("records {one} and {other} swapped"))
}

fn double_record(attempt: &mut Attempt<'_>) -> Option<String> {
    let (one, other) = (seq(attempt), seq(attempt));
    if one == other {
        return None;
    }
    sql(
        attempt,
        "UPDATE audit_record SET (body, leaf) = (SELECT body, leaf FROM audit_record WHERE seq=?2) WHERE seq=?1",
        one,
        other,
    )
}

fn delete_record(attempt: &mut Attempt<'_>) -> Option<String> {
    let seq = seq(attempt);
    let statement = if attempt.random.chance(50) {
        "DELETE FROM audit_record WHERE seq=?1 AND ?2=?2"
    } else {
        "DELETE FROM audit_record WHERE seq>=?1 AND ?2=?2"
    };
    sql(attempt, statement, seq, 0)
}

fn insert_beyond(attempt: &mut Attempt<'_>) -> Option<String> {
    let seq = seq(attempt);
    let statement = "INSERT INTO audit_record SELECT (SELECT max(seq) FROM audit_record)+1+?2, body, leaf, at, type, session, tool, status FROM audit_record WHERE seq=?1";
    let gap = i64::try_from(attempt.random.below(3)).unwrap();
    sql(attempt, statement, seq, gap)
}

fn edit_node(attempt: &mut Attempt<'_>) -> Option<String> {
    let id = seq(attempt);
    sql(attempt, "UPDATE audit_node SET hash=randomblob(32) WHERE id=?1 AND ?2=?2", id, 0)
}

fn delete_node(attempt: &mut Attempt<'_>) -> Option<String> {
    let id = seq(attempt);
    sql(attempt, "DELETE FROM audit_node WHERE id=?1 AND ?2=?2", id, 0)
}

/// Returns the size of a random checkpoint.
fn note(attempt: &mut Attempt<'_>, db: &Connection) -> i64 {
    let mut statement = db.prepare("SELECT size FROM audit_checkpoint ORDER BY size").unwrap();
    let sizes: Vec<i64> =
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    *attempt.random.pick(&sizes)
}

fn edit_note(attempt: &mut Attempt<'_>) -> Option<String> {
    let db = db(attempt);
    let size = note(attempt, &db);
    let text: String = db
        .query_row("SELECT note FROM audit_checkpoint WHERE size=?1", [size], |row| row.get(0))
        .ok()?;
    let text = alter(attempt, &text);
    db.execute("UPDATE audit_checkpoint SET note=?2 WHERE size=?1", params![size, text]).ok()?;
    Some(format!("the checkpoint of size {size} is now {text}"))
}

/// Moves a valid checkpoint to the place of another checkpoint, or adds it beside that checkpoint.
fn move_note(attempt: &mut Attempt<'_>) -> Option<String> {
    let db = db(attempt);
    let (from, to) = (note(attempt, &db), seq(attempt));
    if from == to {
        return None;
    }
    db.execute("INSERT OR REPLACE INTO audit_checkpoint SELECT ?2, note FROM audit_checkpoint WHERE size=?1", [from, to]).ok()?;
    Some(format!("the checkpoint of size {from} as that of {to}"))
}

fn delete_newest_note(attempt: &mut Attempt<'_>) -> Option<String> {
    let size = i64::try_from(attempt.state.mark.size).unwrap();
    sql(attempt, "DELETE FROM audit_checkpoint WHERE size=?1 AND ?2=?2", size, 0)
}

fn edit_reveal(attempt: &mut Attempt<'_>) -> Option<String> {
    let seq = seq(attempt);
    let how = *attempt.random.pick(&[
        "value=value||' '",
        "salt=randomblob(32)",
        "member=member||'x'",
        "seq=seq+1",
    ]);
    sql(attempt, &format!("UPDATE OR IGNORE audit_reveal SET {how} WHERE seq=?1 AND ?2=?2"), seq, 0)
}

fn add_reveal(attempt: &mut Attempt<'_>) -> Option<String> {
    let (seq, far) = (seq(attempt), i64::from(attempt.random.chance(20)) * 1_000);
    sql(attempt, "INSERT INTO audit_reveal VALUES(?1+?2, 'other', randomblob(32), '1')", seq, far)
}

fn edit_schema(attempt: &mut Attempt<'_>) -> Option<String> {
    let statement = *attempt.random.pick(&[
        "CREATE TABLE more(x)",
        "CREATE VIEW more AS SELECT * FROM audit_record",
        "CREATE TRIGGER more AFTER INSERT ON audit_record BEGIN DELETE FROM audit_reveal; END",
        "DROP INDEX audit_record_tool",
        "CREATE INDEX more ON audit_record(at)",
        "ALTER TABLE audit_reveal RENAME COLUMN value TO worth",
        "DROP TABLE audit_reveal",
    ]);
    db(attempt).execute_batch(statement).ok()?;
    Some(statement.to_owned())
}

fn edit_version(attempt: &mut Attempt<'_>) -> Option<String> {
    let name = *attempt.random.pick(&["user_version", "application_id", "schema_version"]);
    let number = 2 + attempt.random.below(1_000);
    db(attempt).execute_batch(&format!("PRAGMA {name}={number}")).ok()?;
    Some(format!("{name} {number}"))
}

/// Returns all bodies of the log.
fn bodies(db: &Connection) -> Vec<Value> {
    let mut statement = db.prepare("SELECT body FROM audit_record ORDER BY seq").unwrap();
    let rows = statement.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    rows.map(|body| serde_json::from_slice(&body.unwrap()).unwrap()).collect()
}

/// Rewrites the log with these bodies: numbers, chain, leaves, inner nodes and columns all agree.
/// Values of records from `first` on are dropped if their record moved; checkpoints beyond the end
/// are removed or kept.
fn rewrite(attempt: &mut Attempt<'_>, db: &Connection, bodies: &[Value], first: usize) {
    let tx = db.unchecked_transaction().unwrap();
    tx.execute_batch("DELETE FROM audit_record; DELETE FROM audit_node").unwrap();
    let (mut frontier, mut prev) = (Frontier::default(), "0".repeat(64));
    for (at, body) in bodies.iter().enumerate() {
        let mut body = body.clone();
        body["seq"] = (at + 1).into();
        body["prev"] = prev.into();
        let bytes = audit::canonical(&body).unwrap();
        let leaf = leaf_hash(&bytes);
        let text = |value: &Value| value.as_str().map(str::to_owned);
        tx.execute(
            "INSERT INTO audit_record VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                at as i64 + 1,
                bytes,
                leaf,
                text(&body["at"]),
                text(&body["type"]),
                text(&body["session"]),
                text(&body["fields"]["tool"]),
                text(&body["fields"]["status"])
            ],
        )
        .unwrap();
        for (id, hash) in frontier.push(leaf) {
            tx.execute(
                "INSERT INTO audit_node VALUES(?1, ?2)",
                params![i64::try_from(id).unwrap(), hash],
            )
            .unwrap();
        }
        prev = leaf.iter().map(|byte| format!("{byte:02x}")).collect();
    }
    tx.execute("DELETE FROM audit_reveal WHERE seq>?1", [first as i64]).unwrap();
    if attempt.random.chance(70) {
        tx.execute("DELETE FROM audit_checkpoint WHERE size>?1", [bodies.len() as i64]).unwrap();
    }
    tx.commit().unwrap();
}

/// Returns the position of a random record that the mark covers.
fn place(attempt: &mut Attempt<'_>) -> usize {
    usize::try_from(attempt.random.below(attempt.state.mark.size)).unwrap()
}

fn rewrite_edited(attempt: &mut Attempt<'_>) -> Option<String> {
    let db = db(attempt);
    let (mut bodies, at) = (bodies(&db), place(attempt));
    match attempt.random.below(3) {
        0 => bodies[at]["fields"]["note"] = "never said".into(),
        1 => bodies[at]["session"] = "desktop:other".into(),
        _ => bodies[at]["at"] = "2001-01-01T00:00:00.000Z".into(),
    }
    rewrite(attempt, &db, &bodies, at);
    Some(format!("record {} changed and all after it written anew", at + 1))
}

fn rewrite_without(attempt: &mut Attempt<'_>) -> Option<String> {
    let db = db(attempt);
    let (mut bodies, at) = (bodies(&db), place(attempt));
    bodies.remove(at);
    rewrite(attempt, &db, &bodies, at);
    Some(format!("record {} left out and all after it written anew", at + 1))
}

fn rewrite_with_more(attempt: &mut Attempt<'_>) -> Option<String> {
    let db = db(attempt);
    let (mut bodies, at, from) = (bodies(&db), place(attempt), place(attempt));
    bodies.insert(at, bodies[from].clone());
    rewrite(attempt, &db, &bodies, at);
    Some(format!("record {} again as {}, and all after it written anew", from + 1, at + 1))
}

fn rewrite_swapped(attempt: &mut Attempt<'_>) -> Option<String> {
    let db = db(attempt);
    let (mut bodies, one, other) = (bodies(&db), place(attempt), place(attempt));
    if one == other {
        return None;
    }
    bodies.swap(one, other);
    rewrite(attempt, &db, &bodies, one.min(other));
    Some(format!("records {} and {} swapped and all after them written anew", one + 1, other + 1))
}

/// Rewrites the log with its content at an earlier size, and removes every trace of later records.
fn rewrite_shorter(attempt: &mut Attempt<'_>) -> Option<String> {
    let db = db(attempt);
    let to = if attempt.random.chance(50) {
        usize::try_from(note(attempt, &db)).unwrap()
    } else {
        place(attempt)
    };
    if to as u64 >= attempt.state.mark.size {
        return None;
    }
    let bodies = bodies(&db);
    rewrite(attempt, &db, &bodies[..to], to);
    Some(format!("all behind record {to} taken out"))
}

/// Adds records after the end of a closed log. (In a log that was not closed, they would belong to
/// its unsigned tail.)
pub(super) fn add_to_closed(attempt: &mut Attempt<'_>) -> Option<String> {
    attempt.state.mark.seal.as_ref()?;
    let db = db(attempt);
    let mut bodies = bodies(&db);
    let end = bodies.len();
    let more = 1 + attempt.random.index(3);
    for _ in 0..more {
        let from = place(attempt);
        bodies.push(bodies[from].clone());
    }
    rewrite(attempt, &db, &bodies, end);
    Some(format!("{more} records behind the end"))
}
