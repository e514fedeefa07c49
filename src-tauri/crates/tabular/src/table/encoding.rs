//! Finds the encoding of a text by its content, and reads any encoding as UTF-8. A text is UTF-8
//! until a byte shows that it is not.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use contract::{Text, text};
use encoding_rs::{CoderResult, Decoder, DecoderResult, Encoding, UTF_8, WINDOWS_1252};
use memchr::memchr_iter;

use super::{content::Content, control::TableControl, fault::TableError};

const BUFFER: usize = 256 << 10;
/// Bytes that are looked at to tell encodings of one byte per character apart.
const MAX_LOOK: u64 = 64 << 20;

/// Returns the encoding with this name.
pub(crate) fn find_named(name: &str) -> Result<&'static Encoding, TableError> {
    let label = name.trim().to_ascii_lowercase();
    let label = match label.as_str() {
        "cp1250" => "windows-1250",
        "cp1251" => "windows-1251",
        "cp1252" | "latin-1" | "latin1" | "ansi" => "windows-1252",
        "latin-2" => "iso-8859-2",
        "utf8" => "utf-8",
        "utf16" | "utf-16" => "utf-16le",
        label => label,
    };
    Encoding::for_label(label.as_bytes()).ok_or_else(|| TableError::NoEncoding(name.to_owned()))
}

/// Returns the encoding of a content that is not UTF-8, and whether another one is as likely.
pub(crate) fn guess(content: &Content, file: &File) -> Result<&'static Encoding, TableError> {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    let mut text = BufReader::with_capacity(BUFFER, content.open(file)?.take(MAX_LOOK));
    loop {
        let block = text.fill_buf()?;
        if block.is_empty() {
            break;
        }
        let length = block.len();
        detector.feed(block, false);
        text.consume(length);
    }
    detector.feed(&[], true);
    let found = detector.guess(None, Utf8Detection::Deny);
    Ok(if found == UTF_8 { WINDOWS_1252 } else { found })
}

/// Opens a content as UTF-8, after its byte order mark. UTF-8 is checked while it is read: the error
/// `NotUtf8` says that it is another encoding.
pub(crate) fn open<'f>(
    content: &Content,
    file: &'f File,
    encoding: &'static Encoding,
) -> Result<Box<dyn Read + 'f>, TableError> {
    let mut text = BufReader::with_capacity(BUFFER, content.open(file)?);
    if encoding == UTF_8 {
        if text.fill_buf()?.starts_with(&[0xEF, 0xBB, 0xBF]) {
            text.consume(3);
        }
        return Ok(Box::new(Checked { text, rest: Vec::new() }));
    }
    let decoder = encoding.new_decoder_with_bom_removal();
    let buffer = vec![0; BUFFER];
    Ok(Box::new(Transcoder { text, decoder, buffer, from: 0, to: 0, is_over: false }))
}

/// Reads a text and returns a note about characters that are not valid in its encoding, which
/// `open` replaces. `newline` ends its lines.
pub(crate) fn note_replaced(
    content: &Content,
    file: &File,
    encoding: &'static Encoding,
    newline: u8,
    control: &TableControl<'_>,
) -> Result<Option<Text>, TableError> {
    // UTF-8 is refused if it is not valid, and each byte of Windows-1252 is a character.
    if encoding == UTF_8 || encoding == WINDOWS_1252 {
        return Ok(None);
    }
    let mut text = BufReader::with_capacity(BUFFER, content.open(file)?);
    let mut decoder = encoding.new_decoder_with_bom_removal();
    let mut buffer = vec![0; BUFFER];
    let (mut count, mut line) = (0_u64, 1_u64);
    loop {
        control.check()?;
        let bytes = text.fill_buf()?;
        let is_last = bytes.is_empty();
        let (result, read, written) =
            decoder.decode_to_utf8_without_replacement(bytes, &mut buffer, is_last);
        text.consume(read);
        if count == 0 {
            line += memchr_iter(newline, &buffer[..written]).count() as u64;
        }
        match result {
            DecoderResult::Malformed(..) => count += 1,
            DecoderResult::InputEmpty if is_last => break,
            DecoderResult::InputEmpty | DecoderResult::OutputFull => {}
        }
    }
    let encoding = encoding.name().to_owned();
    Ok((count > 0).then(|| {
        text!(
            "Characters that are not valid in {encoding} were replaced by \"�\": {count}, the first in line {line}.",
            encoding,
            count,
            line
        )
    }))
}

/// A byte that is not UTF-8.
#[derive(Debug, thiserror::Error)]
#[error("not UTF-8")]
struct NotUtf8;

/// Whether an error says that a text is not UTF-8.
pub(crate) fn is_not_utf8(error: &TableError) -> bool {
    matches!(error, TableError::Io(error) if error.get_ref().is_some_and(|inner| inner.is::<NotUtf8>()))
}

/// Checks that a text is UTF-8.
struct Checked<R> {
    text: R,
    /// The bytes of a character that lies across two reads.
    rest: Vec<u8>,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.text.read(out)?;
        if length == 0 && !out.is_empty() {
            return if self.rest.is_empty() { Ok(0) } else { Err(io::Error::other(NotUtf8)) };
        }
        let mut bytes = &out[..length];
        while !self.rest.is_empty() && !bytes.is_empty() {
            self.rest.push(bytes[0]);
            bytes = &bytes[1..];
            match std::str::from_utf8(&self.rest) {
                Ok(_) => self.rest.clear(),
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return Err(io::Error::other(NotUtf8)),
            }
        }
        match std::str::from_utf8(bytes) {
            Ok(_) => {}
            Err(error) if error.error_len().is_none() => {
                self.rest = bytes[error.valid_up_to()..].to_vec();
            }
            Err(_) => return Err(io::Error::other(NotUtf8)),
        }
        Ok(length)
    }
}

/// Reads a text of another encoding as UTF-8.
struct Transcoder<R> {
    text: R,
    decoder: Decoder,
    buffer: Vec<u8>,
    /// `from..to` is the part of `buffer` that was not returned yet.
    from: usize,
    to: usize,
    is_over: bool,
}

impl<R: BufRead> Read for Transcoder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.from == self.to && !self.is_over {
            let bytes = self.text.fill_buf()?;
            let is_last = bytes.is_empty();
            let (result, read, written, _) =
                self.decoder.decode_to_utf8(bytes, &mut self.buffer, is_last);
            self.text.consume(read);
            (self.from, self.to) = (0, written);
            self.is_over = is_last && result == CoderResult::InputEmpty;
        }
        let length = out.len().min(self.to - self.from);
        out[..length].copy_from_slice(&self.buffer[self.from..self.from + length]);
        self.from += length;
        Ok(length)
    }
}
