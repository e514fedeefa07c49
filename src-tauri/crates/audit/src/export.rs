//! Exports a log, or one session of it with inclusion proofs, as a folder of plain files that can
//! be verified without the app.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use contract::{AgentError, AuditExportResponse, SessionId, text};
use rusqlite::{Connection, params_from_iter};
use serde_json::json;

use crate::body::{self, Reveal};
use crate::chain::{stored_checkpoint, stored_node, stored_size};
use crate::keys;
use crate::num::Num;
use crate::{canon, note, schema, tree};

const README: &str = include_str!("export-readme.txt");

/// Exports a log file that is not open for writing in this process. Another process may have it
/// open.
pub fn export_file(path: &Path, folder: &Path) -> Result<AuditExportResponse, AgentError> {
    export(&reader(path)?, folder, None)
}

/// Exports one session.
pub fn export_session(
    path: &Path,
    folder: &Path,
    session: &SessionId,
) -> Result<AuditExportResponse, AgentError> {
    export(&reader(path)?, folder, Some(session))
}

fn reader(path: &Path) -> Result<Connection, AgentError> {
    schema::open_reader(path).map_err(|error| schema::unreadable(&error))
}

#[derive(Debug, thiserror::Error)]
enum ExportError {
    #[error("the log cannot be read ({0})")]
    Sqlite(#[from] rusqlite::Error),
    #[error("the folder cannot be written ({0})")]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Log(String),
}

/// Writes the files. The folder must be new or empty.
pub(crate) fn export(
    db: &Connection,
    folder: &Path,
    session: Option<&SessionId>,
) -> Result<AuditExportResponse, AgentError> {
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(AgentError::invalid(text!(
            "The folder {folder} is not empty.",
            folder = folder.display()
        ))
        .hint("Choose a new or empty folder for the export."));
    }
    if let Some(session) = session
        && !has_signed_record(db, session).map_err(|error| schema::unreadable(&error))?
    {
        let message = text!("The log has no signed record of the session {session}.", session);
        return Err(AgentError::invalid(message)
            .reason("not_found")
            .hint("`csign audit list` shows the sessions; `csign audit checkpoint` signs the newest records."));
    }
    write(db, folder, session).map_err(|error| {
        AgentError::internal(
            "export_failed",
            text!("The audit log could not be exported: {error}.", error = error.to_string()),
        )
        .hint("Check that the folder is writable and has space left.")
    })
}

/// Whether the newest checkpoint covers a record of the session. Only those can be proven.
fn has_signed_record(db: &Connection, session: &SessionId) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM audit_record WHERE session = ?1
               AND seq <= (SELECT max(size) FROM audit_checkpoint))";
    db.query_row(sql, [session.as_str()], |row| row.get(0))
}

fn write(
    db: &Connection,
    folder: &Path,
    session: Option<&SessionId>,
) -> Result<AuditExportResponse, ExportError> {
    fs::create_dir_all(folder)?;
    let tx = db.unchecked_transaction()?;
    let mut files = Files { folder, names: Vec::new() };
    let (signed, newest) = stored_checkpoint(&tx)?
        .ok_or_else(|| ExportError::Log("the log has no checkpoint".to_owned()))?;
    files.text("key.vkey", &format!("{}\n", signing_key(&tx)?))?;
    let records = match session {
        None => {
            let notes = notes(&tx)?.join("\n");
            files.text("checkpoint.txt", &notes)?;
            write_bodies(&tx, &mut files, None, stored_size(&tx)?)?
        }
        Some(session) => {
            files.text("checkpoint.txt", &newest)?;
            // Only records that the newest checkpoint covers can be proven.
            let count = write_bodies(&tx, &mut files, Some(session), signed)?;
            write_proofs(&tx, &mut files, session, signed)?;
            count
        }
    };
    write_reveals(&tx, &mut files, session)?;
    files.text("README", README)?;
    Ok(AuditExportResponse { folder: folder.display().to_string(), records, files: files.names })
}

struct Files<'a> {
    folder: &'a Path,
    names: Vec<String>,
}

impl Files<'_> {
    fn make(&mut self, name: &str) -> std::io::Result<BufWriter<File>> {
        self.names.push(name.to_owned());
        Ok(BufWriter::new(File::create_new(self.folder.join(name))?))
    }

    fn text(&mut self, name: &str, text: &str) -> std::io::Result<()> {
        let mut file = self.make(name)?;
        file.write_all(text.as_bytes())?;
        file.flush()
    }
}

fn notes(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = db.prepare("SELECT note FROM audit_checkpoint ORDER BY size")?;
    let rows = statement.query_map([], |row| row.get(0))?;
    rows.collect()
}

/// Returns the key of the newest checkpoint, which the newest `log_opened` record names.
fn signing_key(db: &Connection) -> Result<String, ExportError> {
    let bytes: Vec<u8> = db.query_row(
        "SELECT body FROM audit_record WHERE type='log_opened' ORDER BY seq DESC LIMIT 1",
        [],
        |row| row.get(0),
    )?;
    let body = body::parse(&bytes).map_err(|why| ExportError::Log(why.into()))?;
    let origin = format!("audit/{}", body.text("installation").unwrap_or_default());
    let state = keys::read_key_state(&origin, &body).map_err(ExportError::Log)?;
    Ok(note::vkey_of(&origin, &state.current))
}

fn scope(session: Option<&SessionId>) -> (&'static str, Vec<String>) {
    match session {
        None => ("1", Vec::new()),
        Some(session) => ("session=?", vec![session.0.clone()]),
    }
}

fn write_bodies(
    db: &Connection,
    files: &mut Files<'_>,
    session: Option<&SessionId>,
    limit: u64,
) -> Result<u64, ExportError> {
    let (filter, values) = scope(session);
    let mut file = files.make("records.jsonl")?;
    let mut statement = db.prepare(&format!(
        "SELECT body FROM audit_record WHERE {filter} AND seq<={limit} ORDER BY seq"
    ))?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        file.write_all(
            row.get_ref(0)?.as_blob().map_err(|error| ExportError::Log(error.to_string()))?,
        )?;
        file.write_all(b"\n")?;
        count += 1;
    }
    file.flush()?;
    Ok(count)
}

fn line(file: &mut impl Write, value: &serde_json::Value) -> Result<(), ExportError> {
    file.write_all(&canon::canonical(value).map_err(|error| ExportError::Log(error.to_string()))?)?;
    file.write_all(b"\n")?;
    Ok(())
}

fn write_proofs(
    db: &Connection,
    files: &mut Files<'_>,
    session: &SessionId,
    size: u64,
) -> Result<(), ExportError> {
    let mut file = files.make("proofs.jsonl")?;
    let mut statement =
        db.prepare("SELECT seq FROM audit_record WHERE session=?1 AND seq<=?2 ORDER BY seq")?;
    let mut rows = statement.query(rusqlite::params![session.0, Num(size)])?;
    while let Some(row) = rows.next()? {
        let seq = row.get::<_, Num>(0)?.0;
        let proof = tree::prove_inclusion(seq - 1, size, &mut |level, index| {
            stored_node(db, level, index)
        })?;
        let proof: Vec<String> = proof.iter().map(|hash| crate::hex::encode(hash)).collect();
        line(&mut file, &json!({ "seq": seq, "proof": proof }))?;
    }
    file.flush()?;
    Ok(())
}

fn write_reveals(
    db: &Connection,
    files: &mut Files<'_>,
    session: Option<&SessionId>,
) -> Result<(), ExportError> {
    let (filter, values) = scope(session);
    let mut file = files.make("reveals.jsonl")?;
    let mut statement = db.prepare(&format!(
        "SELECT seq, member, salt, value FROM audit_reveal WHERE seq IN (SELECT seq FROM audit_record WHERE {filter}) ORDER BY seq, member"
    ))?;
    let mut rows = statement.query(params_from_iter(values))?;
    while let Some(row) = rows.next()? {
        let seq = row.get::<_, Num>(0)?.0;
        let reveal = Reveal { member: row.get(1)?, salt: row.get(2)?, value: row.get(3)? };
        line(
            &mut file,
            &json!({ "seq": seq, "member": reveal.member, "salt": crate::hex::encode(&reveal.salt), "value": reveal.value }),
        )?;
    }
    file.flush()?;
    Ok(())
}
