//! Randomness for salts, keys and installation ids, injected so that tests can repeat themselves.

/// A source of random bytes.
pub trait Entropy: Send + Sync {
    /// Fills the buffer. An error is a sentence.
    fn fill(&self, buffer: &mut [u8]) -> Result<(), String>;
}

/// The operating system's generator.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, buffer: &mut [u8]) -> Result<(), String> {
        getrandom::fill(buffer).map_err(|error| error.to_string())
    }
}

/// A new installation id: a version 4 UUID.
pub fn new_installation_id(entropy: &dyn Entropy) -> Result<String, String> {
    let mut b = [0u8; 16];
    entropy.fill(&mut b)?;
    b[6] = (b[6] & 0x0f) | 0x40;
    b[8] = (b[8] & 0x3f) | 0x80;
    let hex = crate::hex::encode(&b);
    Ok(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}

/// A new Ed25519 private key.
pub fn new_key_seed(entropy: &dyn Entropy) -> Result<[u8; 32], String> {
    let mut seed = [0u8; 32];
    entropy.fill(&mut seed)?;
    Ok(seed)
}
