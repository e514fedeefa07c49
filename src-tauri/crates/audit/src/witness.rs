//! The client's part of C2SP tlog-witness: the request to a witness, and the check of its answer.
//! Pure: the caller sends the request.

use std::path::Path;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use contract::AgentError;
use ed25519_dalek::{Signature, VerifyingKey};
use sha2::{Digest as _, Sha256};

use crate::chain::{stored_checkpoint, stored_node};
use crate::note::{self, Note};
use crate::{schema, tree};

/// The algorithm byte of timestamped Ed25519 cosignatures in keys.
const COSIGNATURE: u8 = 4;

/// A witness, with its name and the key that it cosigns with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    name: String,
    key: VerifyingKey,
    key_id: [u8; 4],
}

/// Why the answer of a witness is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WitnessFault {
    /// The answer contains no cosignature of this witness.
    Missing,
    /// The cosignature does not match the checkpoint.
    BadSignature,
}

impl Witness {
    /// Parses a witness's key in C2SP form.
    pub fn parse(vkey: &str) -> Option<Self> {
        let (name, rest) = vkey.split_once('+')?;
        let (id, encoded) = rest.split_once('+')?;
        let bytes = STANDARD.decode(encoded).ok()?;
        let (algorithm, public) = bytes.split_first()?;
        let key = VerifyingKey::from_bytes(public.try_into().ok()?).ok()?;
        let hash = Sha256::new().chain_update(name).chain_update([b'\n']).chain_update(&bytes);
        let hash = hash.finalize();
        let key_id = [hash[0], hash[1], hash[2], hash[3]];
        let is_one = *algorithm == COSIGNATURE
            && !key.is_weak()
            && !name.is_empty()
            && !name.contains(char::is_whitespace)
            && id == crate::hex::encode(&key_id);
        is_one.then(|| Self { name: name.to_owned(), key, key_id })
    }

    /// Returns the witness's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Checks the lines of an answer. Returns the line of this witness, including its line feed.
    pub fn check(&self, checkpoint: &str, answer: &str) -> Result<String, WitnessFault> {
        let parsed = note::parse(checkpoint).map_err(|_| WitnessFault::BadSignature)?;
        for line in answer.lines() {
            let Some((name, id, signature)) = note::split_signature(line) else { continue };
            if name != self.name || id != self.key_id {
                continue;
            }
            if self.holds(&parsed, &signature) {
                return Ok(format!("{line}\n"));
            }
            return Err(WitnessFault::BadSignature);
        }
        Err(WitnessFault::Missing)
    }

    fn holds(&self, note: &Note, blob: &[u8]) -> bool {
        let Some((time, signature)) = blob.split_first_chunk::<8>() else { return false };
        let Ok(signature) = Signature::from_slice(signature) else { return false };
        let time = u64::from_be_bytes(*time);
        let text = format!("cosignature/v1\ntime {time}\n{}", note.signed_text());
        time != 0 && self.key.verify_strict(text.as_bytes(), &signature).is_ok()
    }
}

/// The newest checkpoint, with the proof that it continues an earlier checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The number of records that the checkpoint covers.
    pub size: u64,
    /// The signed checkpoint.
    pub checkpoint: String,
    /// The body of the request.
    pub body: String,
}

impl Submission {
    /// Makes the request for a witness that knows the first `old` records. If `old` is larger than
    /// the log, it is treated as zero.
    pub fn read(path: &Path, old: u64) -> Result<Option<Self>, AgentError> {
        Self::read_rows(path, old).map_err(|error| schema::unreadable(&error))
    }

    fn read_rows(path: &Path, old: u64) -> rusqlite::Result<Option<Self>> {
        let db = schema::open_reader(path)?;
        let tx = db.unchecked_transaction()?;
        let Some((size, checkpoint)) = stored_checkpoint(&tx)? else { return Ok(None) };
        let old = if old > size { 0 } else { old };
        let proof =
            tree::prove_consistency(old, size, &mut |level, index| stored_node(&tx, level, index))?;
        let mut body = format!("old {old}\n");
        for hash in proof {
            body.push_str(&STANDARD.encode(hash));
            body.push('\n');
        }
        body.push('\n');
        body.push_str(&checkpoint);
        Ok(Some(Self { size, checkpoint, body }))
    }
}

/// Returns the number of records that a checkpoint covers, with or without cosignatures.
pub fn checkpoint_size(text: &str) -> Option<u64> {
    note::CosignedNote::parse(text).ok().map(|cosigned| cosigned.note.size)
}
