//! The signing keys: the signer of this run, and the history of keys in the records. Opening and
//! verifying use the same rules, so that their results agree.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde_json::{Map, Value};

use crate::body::Body;
use crate::note;

/// The key that signs checkpoints.
#[derive(Clone)]
pub struct Signer {
    pub(crate) key: SigningKey,
    pub(crate) anchored: bool,
}

impl Signer {
    /// Creates a signer from the 32 bytes of an Ed25519 private key. `anchored` says whether the
    /// key is stored in the keyring; otherwise, the key is for this run only.
    pub fn new(seed: &[u8; 32], anchored: bool) -> Self {
        Self { key: SigningKey::from_bytes(seed), anchored }
    }

    /// Returns the public key.
    pub fn public(&self) -> [u8; 32] {
        self.key.verifying_key().to_bytes()
    }
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Signer")
            .field("public", &note::fingerprint(&self.public()))
            .field("anchored", &self.anchored)
            .finish_non_exhaustive()
    }
}

/// The keys that are valid after a record.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KeyState {
    pub(crate) current: VerifyingKey,
    pub(crate) anchored: bool,
    /// The newest key that was stored in a keyring. Only this key can authorise another key from a
    /// keyring.
    pub(crate) trusted: Option<VerifyingKey>,
}

/// Returns the text that both keys sign when the key changes.
pub(crate) fn rotation_text(origin: &str, seq: u64, prev: &str, old: &str, new: &str) -> String {
    format!("countersign audit key rotation v1\n{origin}\n{seq}\n{prev}\n{old}\n{new}\n")
}

const SIGNED_MARKS: &str = "signed";

/// Whether the log was opened by a version that signs marks. Such a log never has an unsigned mark.
pub(crate) fn signs_marks(opened: &Body) -> bool {
    opened.text("marks") == Some(SIGNED_MARKS)
}

/// Whether this record can be written by an opening before its mark is stored. Such a record has
/// exactly the members of its type.
pub(crate) fn belongs_to_an_opening(body: &Body) -> bool {
    let members: &[&str] = match body.kind.as_str() {
        "log_opened" => &["installation", "key", "anchored", "anchored_key", "marks"],
        "key_rotated" => &["new_signature", "old_signature", "old_key", "new_key", "anchored"],
        _ => return false,
    };
    let is_plain = body.session.is_none() && body.turn.is_none() && body.commitments.is_empty();
    is_plain && body.fields.keys().all(|name| members.contains(&name.as_str()))
}

/// Returns the members of a `log_opened` record.
pub(crate) fn opened_fields(
    origin: &str,
    installation: &str,
    state: &KeyState,
) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("installation".into(), installation.into());
    fields.insert("key".into(), note::vkey_of(origin, &state.current).into());
    fields.insert("anchored".into(), state.anchored.into());
    fields.insert(
        "anchored_key".into(),
        state.trusted.map_or(Value::Null, |key| note::vkey_of(origin, &key).into()),
    );
    fields.insert("marks".into(), SIGNED_MARKS.into());
    fields
}

/// Returns the members of a `key_rotated` record, signed by the new key and, if given, by the
/// trusted one.
pub(crate) fn rotated_fields(
    origin: &str,
    seq: u64,
    prev: &str,
    old: &VerifyingKey,
    new: &Signer,
    trusted: Option<&SigningKey>,
) -> Map<String, Value> {
    let (old, new_text) =
        (note::vkey_of(origin, old), note::vkey_of(origin, &new.key.verifying_key()));
    let text = rotation_text(origin, seq, prev, &old, &new_text);
    let mut fields = Map::new();
    fields.insert(
        "new_signature".into(),
        STANDARD.encode(new.key.sign(text.as_bytes()).to_bytes()).into(),
    );
    if let Some(key) = trusted {
        fields.insert(
            "old_signature".into(),
            STANDARD.encode(key.sign(text.as_bytes()).to_bytes()).into(),
        );
    }
    fields.insert("old_key".into(), old.into());
    fields.insert("new_key".into(), new_text.into());
    fields.insert("anchored".into(), new.anchored.into());
    fields
}

/// Reads the key state from a `log_opened` record.
pub(crate) fn read_key_state(origin: &str, body: &Body) -> Result<KeyState, String> {
    let key = |name: &str| body.text(name).and_then(|text| note::parse_vkey(origin, text));
    let current = key("key").ok_or("it does not name the signing key")?;
    let anchored = body
        .fields
        .get("anchored")
        .and_then(Value::as_bool)
        .ok_or("it does not say whether the key is kept in a keyring")?;
    let trusted = match body.fields.get("anchored_key") {
        Some(Value::Null) => None,
        Some(_) | None => Some(key("anchored_key").ok_or("it does not name the keyring's key")?),
    };
    Ok(KeyState { current, anchored, trusted })
}

/// Returns the key state after a record, or a sentence about the problem of the record. `state` is
/// None before the first record.
pub(crate) fn step(
    origin: &str,
    installation: &str,
    state: Option<&KeyState>,
    body: &Body,
) -> Result<Option<KeyState>, String> {
    match (body.kind.as_str(), state) {
        ("log_opened", _) => {
            let stated = read_key_state(origin, body)?;
            if body.text("installation") != Some(installation) {
                return Err("it belongs to another installation".to_owned());
            }
            let expected = match state {
                Some(known) => known.clone(),
                None => KeyState {
                    current: stated.current,
                    anchored: stated.anchored,
                    trusted: stated.anchored.then_some(stated.current),
                },
            };
            if stated == expected {
                Ok(Some(stated))
            } else {
                Err("it names another signing key than the log had before".to_owned())
            }
        }
        ("key_rotated", Some(state)) => rotate(origin, state, body).map(Some),
        (_, None) => Err("the log does not begin with a log_opened record".to_owned()),
        (_, Some(_)) => Ok(None),
    }
}

fn rotate(origin: &str, state: &KeyState, body: &Body) -> Result<KeyState, String> {
    let (old_text, new_text) =
        (body.text("old_key").unwrap_or_default(), body.text("new_key").unwrap_or_default());
    let new = note::parse_vkey(origin, new_text).ok_or("it does not name the new signing key")?;
    if note::parse_vkey(origin, old_text) != Some(state.current) {
        return Err("it changes from a key that was not in force".to_owned());
    }
    let anchored = body
        .fields
        .get("anchored")
        .and_then(Value::as_bool)
        .ok_or("it does not say whether the key is kept in a keyring")?;
    let text = rotation_text(origin, body.seq, &body.prev, old_text, new_text);
    let signed = |name: &str, key: &VerifyingKey| {
        let blob = body
            .text(name)
            .and_then(|text| STANDARD.decode(text).ok())
            .and_then(|bytes| <[u8; 64]>::try_from(bytes).ok());
        blob.is_some_and(|bytes| {
            key.verify_strict(text.as_bytes(), &Signature::from_bytes(&bytes)).is_ok()
        })
    };
    if !signed("new_signature", &new) {
        return Err("the new key did not sign the change".to_owned());
    }
    let trusted = match (anchored, state.trusted) {
        // A key for one run may sign without a handover, but is never trusted.
        (false, trusted) => trusted,
        (true, None) => Some(new),
        // A key that was used before needs no handover: it was missing for a run and is available
        // again.
        (true, Some(known)) if known == new || signed("old_signature", &known) => Some(new),
        (true, Some(_)) => {
            return Err(
                "the signing key changes without the signature of the key before".to_owned()
            );
        }
    };
    Ok(KeyState { current: new, anchored, trusted })
}
