//! Shortens results and errors that are too large to be stored, shown and recorded. These limits
//! ensure that the record of an outcome always fits into the log.

use contract::{AgentError, text};
use serde_json::{Map, Value, json};

use crate::canonical::sha256_hex;

/// The largest result that is stored whole, in bytes of JSON text. Within a record, the text can
/// become twice as long; the log accepts 32 MiB.
pub(crate) const RESULT_BYTES: usize = 8 << 20;
/// The number of characters that are kept of a larger result.
const KEPT_CHARS: usize = 64 * 1024;
/// The most characters of an error's message.
const MESSAGE_CHARS: usize = 4_000;
/// The most bytes of a detail of an error, and of all details together.
const DETAIL_BYTES: usize = 8 * 1024;
const DETAILS_BYTES: usize = 32 * 1024;

/// The size and hash of a result that was cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The length of the whole result as JSON text.
    pub(crate) bytes: usize,
    /// The hash of the JSON text.
    pub(crate) sha256: String,
}

impl Cut {
    /// Returns the length for display.
    pub(crate) fn size(&self) -> String {
        format!("{} MiB", self.bytes.div_ceil(1 << 20))
    }
}

/// Replaces a result that is too large by a short description of it. Returns None if the result is
/// small enough.
pub(crate) fn cut(data: &mut Value) -> Option<Cut> {
    if json_length(data) <= RESULT_BYTES {
        return None;
    }
    let text = data.to_string();
    let cut = Cut { bytes: text.len(), sha256: sha256_hex(text.as_bytes()) };
    let note = text!(
        "The result has {size}; at most {most} MiB are kept. Only its beginning is here. Ask for less, in parts.",
        size = cut.size(),
        most = RESULT_BYTES >> 20
    );
    let note = note.as_str();
    let beginning: String = text.chars().take(KEPT_CHARS).collect();
    *data = json!({"cut": true, "bytes": cut.bytes, "sha256": cut.sha256, "note": note, "beginning": beginning});
    Some(cut)
}

/// Shortens an error that is too long. Short details are kept.
pub(crate) fn shorten(error: &mut AgentError) {
    if error.message.chars().nth(MESSAGE_CHARS).is_some() {
        error.message = error.message.chars().take(MESSAGE_CHARS).chain(['…']).collect();
        error.remove_texts();
    }
    let (mut kept, mut bytes, mut dropped) = (Map::new(), 0, 0);
    for (name, value) in std::mem::take(&mut error.details) {
        let size = name.len() + json_length(&value);
        if size <= DETAIL_BYTES && bytes + size <= DETAILS_BYTES {
            bytes += size;
            kept.insert(name, value);
        } else {
            dropped += size;
        }
    }
    if dropped > 0 {
        kept.insert("dropped_bytes".to_owned(), json!(dropped));
    }
    error.details = kept;
}

/// Returns the length of a value as JSON text.
fn json_length(value: &Value) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Writing to a counter cannot fail.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}
