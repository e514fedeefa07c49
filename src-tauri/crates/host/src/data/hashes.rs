//! Hashes of values and files, which identify versions of data and definitions.

use std::{
    io::{self, Read as _},
    path::Path,
};

use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 of the canonical JSON of a value, in hexadecimal digits.
pub(crate) fn hash_of(value: &impl Serialize) -> String {
    let bytes = serde_json_canonicalizer::to_vec(value).unwrap_or_default();
    hex(&Sha256::digest(&bytes))
}

/// Returns the SHA-256 of a file, in hexadecimal digits.
pub(super) fn hash_file(path: &Path) -> io::Result<String> {
    let (mut file, mut hasher) = (files::open(path)?, Sha256::new());
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            read => hasher.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
