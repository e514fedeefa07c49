//! The secrets that are known now, with the matcher that finds them in texts and values.

use std::sync::Arc;

use parking_lot::Mutex;
use redaction::Exact;
use secrecy::ExposeSecret as _;

use crate::{World, ports::Secrets};

/// The secrets that are known now. The matcher is made again when they change.
pub struct KnownSecrets {
    secrets: Arc<dyn Secrets>,
    /// The matcher, with the generation of the secrets that it finds.
    kept: Mutex<Option<(u64, Arc<Exact>)>>,
}

impl KnownSecrets {
    pub(crate) fn new(world: &World) -> Self {
        Self { secrets: Arc::clone(&world.secrets), kept: Mutex::default() }
    }

    /// Looks for secrets that another program may have stored.
    pub(crate) async fn reload(&self) {
        self.secrets.reload_secrets().await;
    }

    /// Returns the matcher for all secrets that are known now.
    pub(crate) fn matcher(&self) -> Arc<Exact> {
        self.current().1
    }

    /// Returns the matcher for all secrets that are known now, with their generation.
    pub(crate) fn current(&self) -> (u64, Arc<Exact>) {
        let generation = self.secrets.generation();
        let mut kept = self.kept.lock();
        match &*kept {
            Some((of, exact)) if *of == generation => (generation, Arc::clone(exact)),
            _ => {
                let values = self.secrets.values();
                let exact = Arc::new(Exact::new(values.iter().map(|value| value.expose_secret())));
                *kept = Some((generation, Arc::clone(&exact)));
                (generation, exact)
            }
        }
    }
}
