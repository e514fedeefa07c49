//! Randomness for salts, keys and installation ids. It is injected so that tests are reproducible.

/// A source of random bytes.
pub trait Entropy: Send + Sync {
    /// Fills the buffer with random bytes. An error is a sentence.
    fn fill(&self, buffer: &mut [u8]) -> Result<(), String>;
}

/// The operating system's random generator.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, buffer: &mut [u8]) -> Result<(), String> {
        getrandom::fill(buffer).map_err(|error| error.to_string())
    }
}

/// Returns a new installation id, which is a version 4 UUID.
pub fn new_installation_id(entropy: &dyn Entropy) -> Result<String, String> {
    let mut b = [0u8; 16];
    entropy.fill(&mut b)?;
    b[6] = (b[6] & 0x0f) | 0x40;
    b[8] = (b[8] & 0x3f) | 0x80;
    let hex = crate::hex::encode(&b);
    Ok(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}

/// Returns a new Ed25519 private key.
pub fn new_key_seed(entropy: &dyn Entropy) -> Result<[u8; 32], String> {
    let mut seed = [0u8; 32];
    entropy.fill(&mut seed)?;
    Ok(seed)
}
