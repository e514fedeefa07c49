//! Checkpoints as C2SP signed notes with one Ed25519 signature, and keys in C2SP "vkey" form.
//! Parsing is strict: a note has exactly one form, so that every changed byte is detected.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use sha2::{Digest as _, Sha256};

use crate::tree::Hash;

/// The algorithm byte of Ed25519 in note keys.
const ED25519: u8 = 1;

/// A parsed checkpoint that is not trusted yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) origin: String,
    pub(crate) size: u64,
    pub(crate) root: Hash,
    text: String,
    key_id: [u8; 4],
    signature: [u8; 64],
}

/// Why a note is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoteError {
    #[error("it is not written as a signed note")]
    Malformed,
    #[error("it is signed with another key")]
    OtherKey,
    #[error("its signature does not match")]
    BadSignature,
}

/// A checkpoint with the log's signature, followed by the signatures of witnesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CosignedNote {
    /// The checkpoint as the log signed it.
    pub(crate) note: Note,
    /// The lines of the witnesses. They are well formed, but their signatures are not checked.
    pub(crate) cosignatures: Vec<String>,
}

impl CosignedNote {
    /// Parses the checkpoint without checking any signature.
    pub(crate) fn parse(text: &str) -> Result<Self, NoteError> {
        Self::parse_lines(text).ok_or(NoteError::Malformed)
    }

    fn parse_lines(text: &str) -> Option<Self> {
        let signed = text.find("\n\n")? + 2;
        let end = signed + text.get(signed..)?.find('\n')? + 1;
        let (own, rest) = text.split_at_checked(end)?;
        let cosignatures = if rest.is_empty() {
            Vec::new()
        } else {
            rest.strip_suffix('\n')?.split('\n').map(str::to_owned).collect()
        };
        cosignatures.iter().try_for_each(|line| split_signature(line).map(|_| ()))?;
        Some(Self { note: parse_lines(own)?, cosignatures })
    }
}

/// Splits the line of a signature into the name of its key, the key's id, and the signature.
pub(crate) fn split_signature(line: &str) -> Option<(&str, [u8; 4], Vec<u8>)> {
    let (name, blob) = line.strip_prefix("\u{2014} ")?.split_once(' ')?;
    let blob = STANDARD.decode(blob).ok()?;
    let (id, signature) = blob.split_at_checked(4)?;
    (!name.is_empty() && !signature.is_empty())
        .then(|| Some((name, id.try_into().ok()?, signature.to_vec())))?
}

fn key_id(name: &str, key: &VerifyingKey) -> [u8; 4] {
    let hash = Sha256::new()
        .chain_update(name)
        .chain_update(b"\n")
        .chain_update([ED25519])
        .chain_update(key.as_bytes())
        .finalize();
    [hash[0], hash[1], hash[2], hash[3]]
}

/// Writes the public key in C2SP form: `name+id+base64`.
pub fn vkey(name: &str, public: &[u8; 32]) -> Option<String> {
    VerifyingKey::from_bytes(public).ok().map(|key| vkey_of(name, &key))
}

pub(crate) fn vkey_of(name: &str, key: &VerifyingKey) -> String {
    let mut bytes = vec![ED25519];
    bytes.extend_from_slice(key.as_bytes());
    format!("{name}+{}+{}", crate::hex::encode(&key_id(name, key)), STANDARD.encode(bytes))
}

/// Parses a vkey, which must be for `name` and in its canonical form.
pub(crate) fn parse_vkey(name: &str, text: &str) -> Option<VerifyingKey> {
    let encoded = text.strip_prefix(name)?.strip_prefix('+')?.get(9..)?;
    let bytes = STANDARD.decode(encoded).ok()?;
    let (algorithm, public) = bytes.split_first()?;
    if *algorithm != ED25519 {
        return None;
    }
    let key = VerifyingKey::from_bytes(public.try_into().ok()?).ok()?;
    (!key.is_weak() && vkey_of(name, &key) == text).then_some(key)
}

/// Returns a short form of a public key for people: the first 16 bytes of its SHA-256, in groups of
/// four.
pub fn fingerprint(public: &[u8; 32]) -> String {
    let hex = crate::hex::encode(&Sha256::digest(public)[..16]);
    let groups: Vec<&str> = (0..8).filter_map(|i| hex.get(i * 4..i * 4 + 4)).collect();
    groups.join(" ")
}

/// Returns a signed note of the log's size and root.
pub(crate) fn sign(origin: &str, size: u64, root: &Hash, key: &SigningKey) -> String {
    let text = format!("{origin}\n{size}\n{}\n", STANDARD.encode(root));
    let mut blob = key_id(origin, &key.verifying_key()).to_vec();
    blob.extend_from_slice(&key.sign(text.as_bytes()).to_bytes());
    format!("{text}\n\u{2014} {origin} {}\n", STANDARD.encode(blob))
}

/// Parses a note without checking its signature.
pub(crate) fn parse(note: &str) -> Result<Note, NoteError> {
    parse_lines(note).ok_or(NoteError::Malformed)
}

fn parse_lines(note: &str) -> Option<Note> {
    let (text, signatures) = note.split_once("\n\n")?;
    let text = format!("{text}\n");
    let mut lines = text.strip_suffix('\n')?.split('\n');
    let (origin, size, root) = (lines.next()?, lines.next()?, lines.next()?);
    if lines.next().is_some() {
        return None;
    }
    let number: u64 = size.parse().ok()?;
    if number.to_string() != size {
        return None;
    }
    let signature = signatures.strip_suffix('\n')?.strip_prefix("\u{2014} ")?;
    let (name, blob) = signature.split_once(' ')?;
    if name != origin || blob.contains('\n') {
        return None;
    }
    let blob = STANDARD.decode(blob).ok()?;
    let (id, signature) = blob.split_at_checked(4)?;
    Some(Note {
        origin: origin.to_owned(),
        size: number,
        root: STANDARD.decode(root).ok()?.try_into().ok()?,
        key_id: id.try_into().ok()?,
        signature: signature.try_into().ok()?,
        text,
    })
}

impl Note {
    /// Returns the text that is signed.
    pub(crate) fn signed_text(&self) -> &str {
        &self.text
    }

    /// Checks the signature with this key.
    pub(crate) fn check(&self, key: &VerifyingKey) -> Result<(), NoteError> {
        if self.key_id != key_id(&self.origin, key) {
            return Err(NoteError::OtherKey);
        }
        key.verify_strict(self.text.as_bytes(), &Signature::from_bytes(&self.signature))
            .map_err(|_| NoteError::BadSignature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signed_note_verifies_and_any_flipped_bit_invalidates_it() {
        let key = SigningKey::from_bytes(&[7; 32]);
        let note = sign("audit/x", 12, &[9; 32], &key);
        let read = parse(&note).unwrap();
        assert_eq!((read.size, read.root), (12, [9; 32]));
        read.check(&key.verifying_key()).unwrap();
        for at in 0..note.len() {
            for bit in 0..8 {
                let mut bytes = note.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let Ok(text) = String::from_utf8(bytes) else { continue };
                let held = parse(&text).is_ok_and(|n| n.check(&key.verifying_key()).is_ok());
                assert!(!held, "byte {at} bit {bit}");
            }
        }
        assert_eq!(
            read.check(&SigningKey::from_bytes(&[8; 32]).verifying_key()),
            Err(NoteError::OtherKey)
        );
    }

    #[test]
    fn a_verifier_key_is_parsed_only_for_its_own_log_and_spelling() {
        let key = SigningKey::from_bytes(&[7; 32]).verifying_key();
        let text = vkey_of("audit/x", &key);
        assert_eq!(parse_vkey("audit/x", &text), Some(key));
        assert_eq!(parse_vkey("audit/y", &text), None);
        assert_eq!(parse_vkey("audit/x", &text.to_uppercase()), None);
    }
}
