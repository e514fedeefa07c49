//! Writes a receipt of each approved action: the record of the decision as a file, its C2SP
//! tlog-proof, and a COSE statement with a receipt. The record contains commitments but no values.

use rusqlite::{Connection, params_from_iter};

use super::attested::Cosigned;
use super::{ExportError, Files, Part, Signed, prove};
use crate::cose::{self, Inclusion};
use crate::keys::Signer;
use crate::num::Num;
use crate::proof_file::ProofFile;

const FOLDER: &str = "receipts";

/// The checkpoints over which receipts are made, and the key of statements.
pub(super) struct Basis<'a> {
    pub(super) signed: &'a Signed,
    /// Proofs are over a cosigned checkpoint if it covers the record.
    pub(super) cosigned: Option<Cosigned>,
    pub(super) signer: Option<&'a Signer>,
}

/// How many files were written.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// The number of records with a receipt.
    pub(super) written: u64,
    /// The number of COSE statements.
    pub(super) statements: u64,
}

pub(super) fn write(
    db: &Connection,
    files: &mut Files<'_>,
    part: &Part,
    basis: &Basis<'_>,
) -> Result<Written, ExportError> {
    let signed = basis.signed;
    // Statements signed with another key could not be connected with the checkpoint.
    let signer = basis.signer.filter(|signer| signer.key.verifying_key() == signed.key);
    let mut written = Written::default();
    let (filter, values) = part.filter();
    let named = match part {
        Part::Whole | Part::Session(_) | Part::Figure(_) => 0,
        Part::Decision(decision) => decision.resolved,
    };
    let mut statement = db.prepare(&format!(
        "SELECT seq, body FROM audit_record WHERE {filter} AND type='approval_resolved'
         AND (status='approved' OR seq={named}) AND seq<={} ORDER BY seq",
        signed.size
    ))?;
    let mut rows = statement.query(params_from_iter(values))?;
    while let Some(row) = rows.next()? {
        if written.written == 0 {
            files.begin_folder(FOLDER)?;
            if let Some(pem) = cose::public_pem(&signed.key) {
                files.put(&format!("{FOLDER}/key.pem"), pem.as_bytes())?;
            }
        }
        let (seq, record) = (row.get::<_, Num>(0)?.0, row.get::<_, Vec<u8>>(1)?);
        let path = prove(db, seq, signed.size)?;
        files.put(&format!("{FOLDER}/{seq}.json"), &record)?;
        let inclusion = Inclusion { size: signed.size, index: seq - 1, path: path.clone() };
        if let Some(signer) = signer
            && let Some(statement) =
                cose::sign(&signed.origin, &record, &inclusion, &signed.root, &signer.key)
        {
            files.put(&format!("{FOLDER}/{seq}.cose"), &statement)?;
            written.statements += 1;
        }
        let proof = match basis.cosigned.as_ref().filter(|cosigned| cosigned.size >= seq) {
            Some(Cosigned { size, text }) => {
                let path = prove(db, seq, *size)?;
                ProofFile { record, index: seq - 1, path, checkpoint: text.clone() }
            }
            None => ProofFile { record, index: seq - 1, path, checkpoint: signed.note.clone() },
        };
        files.put(&format!("{FOLDER}/{seq}.tlog-proof"), proof.to_text().as_bytes())?;
        written.written += 1;
    }
    Ok(written)
}
