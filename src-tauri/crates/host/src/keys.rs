//! The key that signs the log, from the keyring or for this run only, and the keyring's copy of the newest checkpoint.

use std::sync::{Arc, Mutex, PoisonError, mpsc};

use audit::{Anchor, Entropy, Mark, Signer, new_key_seed};
use contract::{AgentError, KeyringState};
use secrecy::{ExposeSecret, SecretString};
use secrets::Keyring;

const SIGNING_KEY: &str = "audit-signing-key";
const MARK: &str = "audit-mark";

/// The signer for this run. A key is made and kept when the keyring has none; without a keyring the key lives in memory only.
pub(crate) async fn signer(keyring: &Keyring, entropy: &dyn Entropy) -> Result<Signer, AgentError> {
    if keyring.state().await == KeyringState::Ready {
        match keyring.get(SIGNING_KEY).await {
            Ok(Some(kept)) => {
                if let Some(seed) = seed_from_hex(kept.expose_secret()) {
                    return Ok(Signer::new(&seed, true));
                }
                tracing::error!("the signing key in the keyring cannot be read; this run signs with a key of its own");
            }
            Ok(None) => {
                let seed = fresh(entropy)?;
                if keyring.set(SIGNING_KEY, SecretString::from(hex(&seed))).await.is_ok() {
                    return Ok(Signer::new(&seed, true));
                }
            }
            Err(error) => tracing::warn!(%error, "the keyring did not give the signing key"),
        }
    }
    Ok(Signer::new(&fresh(entropy)?, false))
}

fn fresh(entropy: &dyn Entropy) -> Result<[u8; 32], AgentError> {
    new_key_seed(entropy).map_err(|_| AgentError::internal("no_randomness", "The system gives no randomness, so no signing key could be made."))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn seed_from_hex(text: &str) -> Option<[u8; 32]> {
    let bytes: Vec<u8> = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect::<Option<_>>()?;
    bytes.try_into().ok()
}

/// The mark that the keyring keeps, for readers that have no log open.
pub(crate) fn kept_mark(keyring: &Keyring) -> Option<Mark> {
    keyring.get_blocking(MARK).ok().flatten().and_then(|text| Mark::from_text(text.expose_secret()))
}

/// The newest mark in the keyring. Storing happens on a thread of its own, newest wins, so that the log never waits for D-Bus.
pub(crate) struct KeyringAnchor {
    found: Option<Mark>,
    newest: mpsc::Sender<Mark>,
    writer: Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl KeyringAnchor {
    /// An anchor when the keyring is ready; it has read what was kept.
    pub(crate) async fn open(keyring: Arc<Keyring>) -> Option<Arc<Self>> {
        if keyring.state().await != KeyringState::Ready {
            return None;
        }
        let found = keyring.get(MARK).await.ok().flatten().and_then(|text| Mark::from_text(text.expose_secret()));
        let (newest, marks) = mpsc::channel::<Mark>();
        let writer = std::thread::Builder::new().name("keyring-mark".into()).spawn(move || {
            while let Ok(mut mark) = marks.recv() {
                while let Ok(newer) = marks.try_recv() {
                    mark = newer;
                }
                if keyring.set_blocking(MARK, SecretString::from(mark.to_text())).is_err() {
                    tracing::warn!("the newest checkpoint could not be copied into the keyring");
                }
            }
        });
        Some(Arc::new(Self { found, newest, writer: Mutex::new(writer.ok()) }))
    }
}

impl Anchor for KeyringAnchor {
    fn name(&self) -> &str {
        "the keyring"
    }

    fn load(&self) -> Result<Option<Mark>, String> {
        Ok(self.found.clone())
    }

    fn store(&self, mark: &Mark) -> Result<(), String> {
        let alive = self.writer.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        if !alive {
            return Err("the keyring's thread could not be started".into());
        }
        self.newest.send(mark.clone()).map_err(|_| "the keyring's thread has ended".into())
    }
}
