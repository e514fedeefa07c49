//! Provides the key that signs the log, stored in the keyring or created for this run only, and
//! stores a copy of the newest checkpoint in the keyring.

use std::sync::Arc;

use audit::{Anchor, AnchorFault, Entropy, Mark, Signer, new_key_seed};
use contract::{AgentError, KeyringState};
use secrecy::{ExposeSecret, SecretString};
use secrets::Keyring;

const SIGNING_KEY: &str = "audit-signing-key";
const MARK: &str = "audit-mark";

/// Returns the signer of this run. If the keyring has no signing key, creates and stores a new key.
/// If there is no keyring, the key stays in memory.
pub(crate) async fn open_signer(
    keyring: &Keyring,
    entropy: &dyn Entropy,
) -> Result<Signer, AgentError> {
    if keyring.state().await == KeyringState::Ready {
        match keyring.get(SIGNING_KEY).await {
            Ok(Some(kept)) => {
                if let Some(seed) = seed_from_hex(kept.expose_secret()) {
                    return Ok(Signer::new(&seed, true));
                }
                tracing::error!(
                    "the signing key in the keyring cannot be read; this run signs with a key of its own"
                );
            }
            Ok(None) => {
                let seed = new_seed(entropy)?;
                if keyring.set(SIGNING_KEY, SecretString::from(to_hex(&seed))).await.is_ok() {
                    return Ok(Signer::new(&seed, true));
                }
            }
            Err(error) => tracing::warn!(%error, "the keyring did not give the signing key"),
        }
    }
    Ok(Signer::new(&new_seed(entropy)?, false))
}

/// Deletes the signing key and the stored mark.
pub(crate) async fn delete_signing_key(keyring: &Keyring) {
    for name in [SIGNING_KEY, MARK] {
        // If there is no keyring, there is nothing to delete.
        let _ = keyring.delete(name).await;
    }
}

fn new_seed(entropy: &dyn Entropy) -> Result<[u8; 32], AgentError> {
    new_key_seed(entropy).map_err(|_| {
        AgentError::internal(
            "no_randomness",
            "The system provides no random numbers, so no signing key could be made.",
        )
    })
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn seed_from_hex(text: &str) -> Option<[u8; 32]> {
    let bytes: Vec<u8> = (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok())
        .collect::<Option<_>>()?;
    bytes.try_into().ok()
}

/// Returns the public part of the stored signing key, for readers that do not open the log.
pub(crate) fn stored_public_key(keyring: &Keyring) -> Option<[u8; 32]> {
    stored_signer(keyring).map(|signer| signer.public())
}

/// Returns the stored signing key, for an export of a log that is not open.
pub(crate) fn stored_signer(keyring: &Keyring) -> Option<Signer> {
    let kept = keyring.get_blocking(SIGNING_KEY).ok().flatten()?;
    seed_from_hex(kept.expose_secret()).map(|seed| Signer::new(&seed, true))
}

/// Stores the newest mark in the keyring. The log calls this on a separate thread, and waits for it
/// when it is closed.
pub(crate) struct KeyringAnchor {
    keyring: Arc<Keyring>,
}

impl KeyringAnchor {
    /// Opens the anchor if the keyring is ready.
    pub(crate) async fn open(keyring: Arc<Keyring>) -> Option<Arc<Self>> {
        (keyring.state().await == KeyringState::Ready).then(|| Arc::new(Self { keyring }))
    }

    /// Opens the anchor if the keyring is ready. Blocks the thread.
    pub(crate) fn open_blocking(keyring: Arc<Keyring>) -> Option<Arc<Self>> {
        (keyring.state_blocking() == KeyringState::Ready).then(|| Arc::new(Self { keyring }))
    }
}

impl Anchor for KeyringAnchor {
    fn name(&self) -> &str {
        "the keyring"
    }

    fn is_authority(&self) -> bool {
        true
    }

    fn load(&self) -> Result<Option<Mark>, AnchorFault> {
        match self.keyring.get_blocking(MARK) {
            Ok(kept) => kept
                .map(|text| Mark::from_text(text.expose_secret()).ok_or(AnchorFault::Damaged))
                .transpose(),
            Err(error) => Err(AnchorFault::Unavailable(error.to_string())),
        }
    }

    fn store(&self, mark: &Mark) -> Result<(), String> {
        self.keyring
            .set_blocking(MARK, SecretString::from(mark.to_text()))
            .map_err(|error| error.to_string())
    }
}
