//! Finds the encoding of a text file, and reads any of them as UTF-8.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use encoding_rs::{CoderResult, Decoder, DecoderResult, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::fault::{TableError, open_file};

const BUFFER: usize = 256 * 1024;

/// The encodings that are recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    Utf8,
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
    /// Windows-1252, which includes the printable characters of Latin-1.
    Windows1252,
}

/// Returns the encoding of a file. Bytes that are valid UTF-8 to the end of the file are UTF-8.
pub(crate) fn find_encoding(path: &Path) -> Result<Encoding, TableError> {
    let mut file = BufReader::with_capacity(BUFFER, open_file(path)?);
    let start = file.fill_buf()?;
    if let Some(encoding) = find_utf16(start) {
        return Ok(encoding);
    }
    // The bytes of a character that lies across two reads.
    let mut rest: Vec<u8> = Vec::new();
    loop {
        let read = file.fill_buf()?;
        let length = read.len();
        if length == 0 {
            return Ok(if rest.is_empty() { Encoding::Utf8 } else { Encoding::Windows1252 });
        }
        let joined;
        let bytes = if rest.is_empty() {
            read
        } else {
            joined = [rest.as_slice(), read].concat();
            &joined
        };
        let left = match std::str::from_utf8(bytes) {
            Ok(_) => Vec::new(),
            Err(error) if error.error_len().is_none() => bytes[error.valid_up_to()..].to_vec(),
            Err(_) => return Ok(Encoding::Windows1252),
        };
        rest = left;
        file.consume(length);
    }
}

/// Recognises UTF-16 by its byte order mark, or by a zero in every second byte.
fn find_utf16(start: &[u8]) -> Option<Encoding> {
    if start.starts_with(&[0xFF, 0xFE]) {
        return Some(Encoding::Utf16Le);
    }
    if start.starts_with(&[0xFE, 0xFF]) {
        return Some(Encoding::Utf16Be);
    }
    let sample = &start[..start.len().min(256)];
    let zeros = |from: usize| sample.iter().skip(from).step_by(2).filter(|b| **b == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    let most = sample.len() / 4;
    match (even, odd) {
        (0, odd) if odd > most => Some(Encoding::Utf16Le),
        (even, 0) if even > most => Some(Encoding::Utf16Be),
        _ => None,
    }
}

/// Opens a file as UTF-8 text, after its byte order mark.
pub(crate) fn open_text(
    path: &Path,
    encoding: Encoding,
) -> Result<Box<dyn Read + Send>, TableError> {
    let mut file = BufReader::with_capacity(BUFFER, open_file(path)?);
    let decoder = match encoding {
        Encoding::Utf8 => {
            if file.fill_buf()?.starts_with(&[0xEF, 0xBB, 0xBF]) {
                file.consume(3);
            }
            return Ok(Box::new(file));
        }
        Encoding::Utf16Le => UTF_16LE.new_decoder_with_bom_removal(),
        Encoding::Utf16Be => UTF_16BE.new_decoder_with_bom_removal(),
        Encoding::Windows1252 => WINDOWS_1252.new_decoder_without_bom_handling(),
    };
    let text = vec![0; BUFFER];
    Ok(Box::new(Transcoder { file, decoder, text, from: 0, to: 0, ended: false }))
}

/// Whether a file has bytes that are no characters of its encoding, in place of which `open_text`
/// writes `\u{fffd}`. Files that are not UTF-16 have none.
pub(crate) fn has_malformed(path: &Path, encoding: Encoding) -> Result<bool, TableError> {
    let mut decoder = match encoding {
        Encoding::Utf8 | Encoding::Windows1252 => return Ok(false),
        Encoding::Utf16Le => UTF_16LE.new_decoder_with_bom_removal(),
        Encoding::Utf16Be => UTF_16BE.new_decoder_with_bom_removal(),
    };
    let mut file = BufReader::with_capacity(BUFFER, open_file(path)?);
    let mut text = vec![0; BUFFER];
    loop {
        let bytes = file.fill_buf()?;
        let is_last = bytes.is_empty();
        let (result, read, _) =
            decoder.decode_to_utf8_without_replacement(bytes, &mut text, is_last);
        file.consume(read);
        match result {
            DecoderResult::Malformed(..) => return Ok(true),
            DecoderResult::InputEmpty if is_last => return Ok(false),
            DecoderResult::InputEmpty | DecoderResult::OutputFull => {}
        }
    }
}

/// Reads a file of another encoding as UTF-8.
struct Transcoder {
    file: BufReader<File>,
    decoder: Decoder,
    text: Vec<u8>,
    /// `from..to` is the part of `text` that was not returned yet.
    from: usize,
    to: usize,
    ended: bool,
}

impl Read for Transcoder {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.from == self.to && !self.ended {
            let bytes = self.file.fill_buf()?;
            let is_last = bytes.is_empty();
            let (result, read, written, _) =
                self.decoder.decode_to_utf8(bytes, &mut self.text, is_last);
            self.file.consume(read);
            (self.from, self.to) = (0, written);
            self.ended = is_last && result == CoderResult::InputEmpty;
        }
        let length = out.len().min(self.to - self.from);
        out[..length].copy_from_slice(&self.text[self.from..self.from + length]);
        self.from += length;
        Ok(length)
    }
}
