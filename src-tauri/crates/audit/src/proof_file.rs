//! The C2SP tlog-proof file: a record, its position in the log, its inclusion proof and a
//! checkpoint, in one text. The record's bytes are the opaque extra data, so that the file can be
//! verified alone.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::note::CosignedNote;
use crate::tree::{self, Hash};

const HEADER: &str = "c2sp.org/tlog-proof@v1";

/// A parsed proof that is not trusted yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProofFile {
    pub(crate) record: Vec<u8>,
    pub(crate) index: u64,
    pub(crate) path: Vec<Hash>,
    /// The signed text of the checkpoint, with the log's signature and the signatures of witnesses.
    pub(crate) checkpoint: String,
}

impl ProofFile {
    pub(crate) fn to_text(&self) -> String {
        let mut text =
            format!("{HEADER}\nextra {}\nindex {}\n", STANDARD.encode(&self.record), self.index);
        for hash in &self.path {
            text.push_str(&STANDARD.encode(hash));
            text.push('\n');
        }
        format!("{text}\n{}", self.checkpoint)
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (head, checkpoint) = text.split_once("\n\n")?;
        let mut lines = head.split('\n');
        if lines.next()? != HEADER {
            return None;
        }
        let record = STANDARD.decode(lines.next()?.strip_prefix("extra ")?).ok()?;
        let number = lines.next()?.strip_prefix("index ")?;
        let index: u64 = number.parse().ok()?;
        let path = lines
            .map(|line| Hash::try_from(STANDARD.decode(line).ok()?.as_slice()).ok())
            .collect::<Option<Vec<_>>>()?;
        let checkpoint = checkpoint.to_owned();
        (index.to_string() == number).then_some(Self { record, index, path, checkpoint })
    }

    /// Checks that the record is in the tree of the signed checkpoint. Returns the checkpoint.
    pub(crate) fn check(&self, key: &ed25519_dalek::VerifyingKey) -> Result<CosignedNote, String> {
        let cosigned = CosignedNote::parse(&self.checkpoint).map_err(|error| error.to_string())?;
        cosigned.note.check(key).map_err(|error| error.to_string())?;
        tree::check_inclusion(
            self.index,
            cosigned.note.size,
            &tree::leaf_hash(&self.record),
            &self.path,
            &cosigned.note.root,
        )
        .map_err(|error| error.to_string())?;
        Ok(cosigned)
    }
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::SigningKey;

    use super::*;

    #[test]
    fn a_proof_file_verifies_and_any_flipped_bit_invalidates_it() {
        let key = SigningKey::from_bytes(&[7; 32]);
        let other = [9; 32];
        let root = tree::node_hash(&other, &tree::leaf_hash(b"{}"));
        let proof = ProofFile {
            record: b"{}".to_vec(),
            index: 1,
            path: vec![other],
            checkpoint: crate::note::sign("audit/x", 2, &root, &key),
        };
        let text = proof.to_text();
        assert_eq!(ProofFile::parse(&text).as_ref(), Some(&proof));
        assert!(proof.check(&key.verifying_key()).is_ok());
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let Ok(changed) = String::from_utf8(bytes) else { continue };
                let holds = ProofFile::parse(&changed)
                    .is_some_and(|proof| proof.check(&key.verifying_key()).is_ok());
                assert!(!holds, "byte {at} bit {bit}");
            }
        }
    }
}
