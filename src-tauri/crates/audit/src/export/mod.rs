//! Exports a log, one of its sessions or one decision, with inclusion proofs, as a folder of plain
//! files that can be verified without the app. `tiles` and `receipts` write the same content in the
//! formats of other programs.

mod attested;
mod decision;
mod page;
mod receipts;
mod tiled;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use contract::{AgentError, AuditExportResponse, Reason, SessionId, text};
use ed25519_dalek::VerifyingKey;
use messages::Language;
use rusqlite::{Connection, params_from_iter};
use serde_json::json;

use crate::body::{self, Reveal};
use crate::chain::{stored_checkpoint, stored_node, stored_size};
use crate::keys::{self, Signer};
use crate::num::Num;
use crate::tree::Hash;
use crate::{canon, note, schema, tree};

const README: &str = include_str!("readme.txt");

/// The part of the log that is exported.
#[derive(Clone, Debug)]
pub enum Scope {
    /// All records.
    Whole,
    /// The records of one session.
    Session(SessionId),
    /// The records of the decision to which this record belongs, or this record alone if it has a
    /// figure.
    Decision(u64),
}

/// The options of an export.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The part of the log.
    pub scope: Scope,
    /// The key that signs statements. Statements are written only with the key of the newest
    /// checkpoint.
    pub signer: Option<Signer>,
    /// The language of the page for people.
    pub language: Language,
    /// The profile's folder that contains cosigned checkpoints and time stamps.
    pub attestations: Option<PathBuf>,
}

impl Wanted {
    /// Creates the options of an export without statements.
    pub fn new(scope: Scope) -> Self {
        Self { scope, signer: None, language: Language::default(), attestations: None }
    }

    /// Also writes statements, signed with this key.
    #[must_use]
    pub fn signed_by(self, signer: Option<Signer>) -> Self {
        Self { signer, ..self }
    }

    /// Writes the page for people in this language.
    #[must_use]
    pub fn in_language(self, language: Language) -> Self {
        Self { language, ..self }
    }

    /// Adds cosignatures and time stamps from the profile's folder.
    #[must_use]
    pub fn with_attestations(self, folder: PathBuf) -> Self {
        Self { attestations: Some(folder), ..self }
    }
}

/// Exports a log file that is not open for writing in this process. Another process may have it
/// open.
pub fn export_file(
    path: &Path,
    folder: &Path,
    wanted: &Wanted,
) -> Result<AuditExportResponse, AgentError> {
    let db = schema::open_reader(path).map_err(|error| schema::unreadable(&error))?;
    export(&db, folder, wanted)
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
    wanted: &Wanted,
) -> Result<AuditExportResponse, AgentError> {
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(AgentError::invalid(text!(
            "The folder {folder} is not empty.",
            folder = folder.display()
        ))
        .hint("Choose a new or empty folder for the export."));
    }
    let part = match &wanted.scope {
        Scope::Whole => Part::Whole,
        Scope::Session(session) => find_session(db, session)?,
        Scope::Decision(seq) if decision::is_figure(db, *seq)? => Part::Figure(*seq),
        Scope::Decision(seq) => Part::Decision(decision::find(db, *seq)?),
    };
    write(db, folder, &part, wanted).map_err(|error| {
        AgentError::internal(
            "export_failed",
            text!("The audit log could not be exported: {error}.", error = error.to_string()),
        )
        .hint("Check that the folder is writable and has space left.")
    })
}

fn find_session(db: &Connection, session: &SessionId) -> Result<Part, AgentError> {
    if has_signed_record(db, session).map_err(|error| schema::unreadable(&error))? {
        return Ok(Part::Session(session.clone()));
    }
    let message = text!("The log has no signed record of the session {session}.", session);
    Err(AgentError::invalid(message).reason(Reason::NotFound).hint(
        "`csign audit list --all` shows the sessions; `csign audit checkpoint` signs the newest records.",
    ))
}

/// Whether the newest checkpoint covers a record of the session. Only covered records can be
/// proven.
fn has_signed_record(db: &Connection, session: &SessionId) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM audit_record WHERE session = ?1
               AND seq <= (SELECT max(size) FROM audit_checkpoint))";
    db.query_row(sql, [session.as_str()], |row| row.get(0))
}

/// The records that are exported.
enum Part {
    Whole,
    Session(SessionId),
    Decision(decision::Decision),
    /// A record of a figure, which belongs to no session.
    Figure(u64),
}

impl Part {
    /// Returns the condition on rows of `audit_record`, and its values.
    fn filter(&self) -> (String, Vec<String>) {
        match self {
            Self::Whole => ("1".to_owned(), Vec::new()),
            Self::Session(session) => ("session=?".to_owned(), vec![session.0.clone()]),
            Self::Decision(decision) => {
                let numbers: Vec<String> = decision.records.iter().map(u64::to_string).collect();
                (format!("seq IN ({})", numbers.join(",")), Vec::new())
            }
            Self::Figure(seq) => (format!("seq={seq}"), Vec::new()),
        }
    }
}

/// The newest checkpoint of the log, which all proofs refer to.
struct Signed {
    size: u64,
    root: Hash,
    note: String,
    origin: String,
    key: VerifyingKey,
}

fn write(
    db: &Connection,
    folder: &Path,
    part: &Part,
    wanted: &Wanted,
) -> Result<AuditExportResponse, ExportError> {
    fs::create_dir_all(folder)?;
    let tx = db.unchecked_transaction()?;
    let mut files = Files { folder, names: Vec::new() };
    let signed = newest_checkpoint(&tx)?;
    files.text("key.vkey", &format!("{}\n", note::vkey_of(&signed.origin, &signed.key)))?;
    let records = match part {
        Part::Whole => {
            let notes = notes(&tx)?.join("\n");
            files.text("checkpoint.txt", &notes)?;
            let size = stored_size(&tx)?;
            let count = write_bodies(&tx, &mut files, part, size)?;
            write_reveals(&tx, &mut files, part, size)?;
            tiled::write(&tx, &mut files, &signed)?;
            count
        }
        Part::Session(_) | Part::Decision(_) | Part::Figure(_) => {
            files.text("checkpoint.txt", &signed.note)?;
            // Only records that the newest checkpoint covers can be proven.
            let count = write_bodies(&tx, &mut files, part, signed.size)?;
            write_proofs(&tx, &mut files, part, signed.size)?;
            write_reveals(&tx, &mut files, part, signed.size)?;
            count
        }
    };
    let kept = wanted.attestations.as_deref();
    attested::write(&mut files, part, kept)?;
    let cosigned = attested::newest_cosigned(&tx, kept, &signed)?;
    let basis = receipts::Basis { signed: &signed, cosigned, signer: wanted.signer.as_ref() };
    let receipts = receipts::write(&tx, &mut files, part, &basis)?;
    page::write(&tx, &mut files, part, &signed, wanted.language, receipts.written > 0)?;
    files.text("README", README)?;
    Ok(AuditExportResponse {
        folder: folder.display().to_string(),
        records,
        receipts: receipts.written,
        statements: receipts.statements,
        figures: 0,
        left_out: Vec::new(),
        files: files.names,
    })
}

fn newest_checkpoint(db: &Connection) -> Result<Signed, ExportError> {
    let (size, text) = stored_checkpoint(db)?
        .ok_or_else(|| ExportError::Log("the log has no checkpoint".to_owned()))?;
    let (origin, key) = signing_key(db)?;
    let parsed = note::parse(&text).map_err(|error| ExportError::Log(error.to_string()))?;
    Ok(Signed { size, root: parsed.root, note: text, origin, key })
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

    /// Creates a folder, whose files are not listed one by one.
    fn begin_folder(&mut self, name: &str) -> std::io::Result<()> {
        self.names.push(format!("{name}/"));
        fs::create_dir_all(self.folder.join(name))
    }

    /// Writes a file of a folder. Folders on its path are created.
    fn put(&self, path: &str, bytes: &[u8]) -> std::io::Result<()> {
        let path = self.folder.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        File::create_new(path)?.write_all(bytes)
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

/// Returns the origin and the key of the newest checkpoint. The newest `log_opened` record contains
/// both.
fn signing_key(db: &Connection) -> Result<(String, VerifyingKey), ExportError> {
    let bytes: Vec<u8> = db.query_row(
        "SELECT body FROM audit_record WHERE type='log_opened' ORDER BY seq DESC LIMIT 1",
        [],
        |row| row.get(0),
    )?;
    let body = body::parse(&bytes).map_err(|why| ExportError::Log(why.into()))?;
    let origin = format!("audit/{}", body.text("installation").unwrap_or_default());
    let state = keys::read_key_state(&origin, &body).map_err(ExportError::Log)?;
    Ok((origin, state.current))
}

fn write_bodies(
    db: &Connection,
    files: &mut Files<'_>,
    part: &Part,
    limit: u64,
) -> Result<u64, ExportError> {
    let (filter, values) = part.filter();
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
    part: &Part,
    size: u64,
) -> Result<(), ExportError> {
    let (filter, values) = part.filter();
    let mut file = files.make("proofs.jsonl")?;
    let mut statement = db.prepare(&format!(
        "SELECT seq FROM audit_record WHERE {filter} AND seq<={size} ORDER BY seq"
    ))?;
    let mut rows = statement.query(params_from_iter(values))?;
    while let Some(row) = rows.next()? {
        let seq = row.get::<_, Num>(0)?.0;
        let proof = prove(db, seq, size)?;
        let proof: Vec<String> = proof.iter().map(|hash| crate::hex::encode(hash)).collect();
        line(&mut file, &json!({ "seq": seq, "proof": proof }))?;
    }
    file.flush()?;
    Ok(())
}

/// Returns the inclusion proof of a record in the tree of `size`.
fn prove(db: &Connection, seq: u64, size: u64) -> rusqlite::Result<Vec<Hash>> {
    tree::prove_inclusion(seq - 1, size, &mut |level, index| stored_node(db, level, index))
}

fn write_reveals(
    db: &Connection,
    files: &mut Files<'_>,
    part: &Part,
    limit: u64,
) -> Result<(), ExportError> {
    let (filter, values) = part.filter();
    let mut file = files.make("reveals.jsonl")?;
    let mut statement = db.prepare(&format!(
        "SELECT seq, member, salt, value FROM audit_reveal WHERE seq IN (SELECT seq FROM audit_record WHERE {filter}) AND seq<={limit} ORDER BY seq, member"
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
