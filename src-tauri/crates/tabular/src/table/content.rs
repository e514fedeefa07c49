//! Finds the format of a file by its content, and opens its decompressed bytes. File names are
//! ignored.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek as _, SeekFrom},
};

use contract::sources::FileFormat;
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use flate2::{
    CrcReader,
    bufread::{DeflateDecoder, MultiGzDecoder},
};
use zip::{CompressionMethod, ZipArchive};

use super::fault::{TableError, Unreadable};
use crate::limits::{Limit, MAX_FILE, MAX_UNPACKED};

const BUFFER: usize = 256 << 10;
/// The number of bytes at the start of a file that are read to find its format.
const START: usize = 4096;
/// The maximum size of a workbook inside of another archive, because such a workbook is held in
/// memory.
const MAX_INNER_BOOK: u64 = MAX_UNPACKED / 4;

/// The kind of the decompressed content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Xlsx,
    Xls,
    Ods,
}

/// The compression of the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    None,
    Gzip,
    Zstd,
    /// A file in a ZIP archive: the start of its bytes, their number, and the checksum.
    Zip {
        start: u64,
        length: u64,
        checksum: u32,
        is_deflated: bool,
    },
}

/// The kind, compression and size of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) kind: Kind,
    packing: Packing,
    /// The size of the file.
    pub(crate) size: u64,
}

impl Content {
    /// Finds the kind and compression of a file.
    pub(crate) fn find(file: &File) -> Result<Self, TableError> {
        let size = file.metadata()?.len();
        if size > MAX_FILE {
            return Err(Limit::File.into());
        }
        let start = read_start(at_start(file)?)?;
        if start.is_empty() {
            return Err(TableError::Empty);
        }
        let packing = match start.as_slice() {
            [0x1F, 0x8B, ..] => Packing::Gzip,
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Packing::Zstd,
            [b'P', b'K', 3, 4, ..] => match look_into_zip(file)? {
                Ok(kind) => return Ok(Self { kind, packing: Packing::None, size }),
                Err(packing) => packing,
            },
            start => {
                return Ok(Self { kind: kind_of(start, file)?, packing: Packing::None, size });
            }
        };
        let mut content = Self { kind: Kind::Text, packing, size };
        let start = read_start(content.open(file)?)?;
        content.kind = match start.as_slice() {
            [] => return Err(TableError::Empty),
            [b'P', b'K', 3, 4, ..] => Kind::Xlsx,
            [0x1F, 0x8B, ..] | [0x28, 0xB5, 0x2F, 0xFD, ..] => {
                return Err(TableError::Unreadable(Unreadable::Archive));
            }
            start => kind_of(start, file)?,
        };
        Ok(content)
    }

    /// Takes a file for a text that is not compressed.
    pub(crate) fn plain_text(file: &File) -> Result<Self, TableError> {
        let size = file.metadata()?.len();
        Ok(Self { kind: Kind::Text, packing: Packing::None, size })
    }

    /// Finds only the compression of a file, for formats that other readers read.
    pub(crate) fn find_packing(file: &File) -> Result<Self, TableError> {
        let size = file.metadata()?.len();
        let start = read_start(at_start(file)?)?;
        let packing = match start.as_slice() {
            [0x1F, 0x8B, ..] => Packing::Gzip,
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Packing::Zstd,
            [b'P', b'K', 3, 4, ..] => look_into_zip(file)?.err().unwrap_or(Packing::None),
            _ => Packing::None,
        };
        Ok(Self { kind: Kind::Text, packing, size })
    }

    /// Returns the name of the compression.
    pub(crate) fn compression(&self) -> Option<&'static str> {
        match self.packing {
            Packing::None => None,
            Packing::Gzip => Some("gzip"),
            Packing::Zstd => Some("zstd"),
            Packing::Zip { .. } => Some("zip"),
        }
    }

    /// Whether the file itself is the content.
    pub(crate) fn is_plain(&self) -> bool {
        self.packing == Packing::None
    }

    /// Opens the content from its start.
    pub(crate) fn open<'f>(&self, file: &'f File) -> Result<Box<dyn Read + 'f>, TableError> {
        let file = at_start(file)?;
        Ok(match self.packing {
            Packing::None => Box::new(file),
            Packing::Gzip => {
                Box::new(Unpacked::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, file))))
            }
            Packing::Zstd => Box::new(Unpacked::new(Frames::new(file))),
            Packing::Zip { start, length, checksum, is_deflated } => {
                let mut file = file;
                file.seek(SeekFrom::Start(start))?;
                let packed = BufReader::with_capacity(BUFFER, file.take(length));
                let text: Box<dyn Read + 'f> = if is_deflated {
                    Box::new(DeflateDecoder::new(packed))
                } else {
                    Box::new(packed)
                };
                Box::new(Unpacked::new(Checked { text: CrcReader::new(text), checksum }))
            }
        })
    }

    /// Reads the content of a workbook that is inside of an archive.
    pub(crate) fn unpack_book(&self, file: &File) -> Result<Vec<u8>, TableError> {
        let mut bytes = Vec::new();
        self.open(file)?.take(MAX_INNER_BOOK + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_INNER_BOOK {
            return Err(Limit::Unpacked.into());
        }
        Ok(bytes)
    }
}

fn at_start(file: &File) -> io::Result<&File> {
    let mut at = file;
    at.seek(SeekFrom::Start(0))?;
    Ok(file)
}

fn read_start(content: impl Read) -> Result<Vec<u8>, TableError> {
    let mut start = Vec::new();
    content.take(START as u64).read_to_end(&mut start)?;
    Ok(start)
}

/// Returns the kind of a content that is not compressed.
fn kind_of(start: &[u8], file: &File) -> Result<Kind, TableError> {
    let unreadable = |what| Err(TableError::Unreadable(what));
    match start {
        [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1, ..] => return kind_of_ole(file),
        [b'P', b'A', b'R', b'1', ..] => return Err(TableError::Other(FileFormat::Parquet)),
        [b'%', b'P', b'D', b'F', ..] => return unreadable(Unreadable::Pdf),
        [b'B', b'Z', b'h', _, b'1', b'A', b'Y', ..]
        | [0xFD, b'7', b'z', b'X', b'Z', 0, ..]
        | [b'7', b'z', 0xBC, 0xAF, ..]
        | [b'R', b'a', b'r', b'!', 0x1A, ..] => return unreadable(Unreadable::Archive),
        start if start.starts_with(b"SQLite format 3\0") => {
            return Err(TableError::Other(FileFormat::Sqlite));
        }
        _ => {}
    }
    let is_utf16 = find_utf16(start).is_some();
    let text: Vec<u8> = start.iter().copied().filter(|byte| *byte != 0).collect();
    let text = text.strip_prefix(&[0xEF, 0xBB, 0xBF]).unwrap_or(&text);
    let text = text
        .strip_prefix(&[0xFF, 0xFE])
        .or_else(|| text.strip_prefix(&[0xFE, 0xFF]))
        .unwrap_or(text);
    let text = text.trim_ascii_start();
    let lower = text[..text.len().min(1024)].to_ascii_lowercase();
    let has = |word: &[u8]| memchr::memmem::find(&lower, word).is_some();
    if lower.starts_with(b"<!doctype html")
        || lower.starts_with(b"<html")
        || lower.starts_with(b"<table")
    {
        return unreadable(Unreadable::Html);
    }
    if lower.starts_with(b"<") {
        if has(b"urn:schemas-microsoft-com:office:spreadsheet") && !has(b"<html") {
            return unreadable(Unreadable::XmlSpreadsheet);
        }
        if lower.starts_with(b"<?xml") || has(b"<html") || has(b"<head") {
            return unreadable(Unreadable::Html);
        }
    }
    if is_json(text) {
        return Err(TableError::Other(FileFormat::JsonLines));
    }
    let zeros = start.iter().filter(|byte| **byte == 0).count();
    if !is_utf16 && zeros * 100 > start.len() {
        return unreadable(Unreadable::Binary);
    }
    Ok(Kind::Text)
}

/// Recognises UTF-16 by its byte order mark, or by a zero in every second byte.
pub(crate) fn find_utf16(start: &[u8]) -> Option<&'static Encoding> {
    if start.starts_with(&[0xFF, 0xFE]) {
        return Some(UTF_16LE);
    }
    if start.starts_with(&[0xFE, 0xFF]) {
        return Some(UTF_16BE);
    }
    let sample = &start[..start.len().min(512)];
    let zeros = |from: usize| sample.iter().skip(from).step_by(2).filter(|b| **b == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    let most = sample.len() / 4;
    match (even, odd) {
        (even, odd) if odd > most && even * 8 < odd => Some(UTF_16LE),
        (even, odd) if even > most && odd * 8 < even => Some(UTF_16BE),
        _ => None,
    }
}

/// Whether a text begins with a JSON object, or with a list of objects.
fn is_json(text: &[u8]) -> bool {
    let object = match text {
        [b'[', rest @ ..] => rest.trim_ascii_start(),
        text => text,
    };
    let [b'{', inner @ ..] = object else { return false };
    matches!(inner.trim_ascii_start(), [b'"' | b'}', ..])
}

/// Distinguishes an old workbook from a workbook that is protected by a password.
fn kind_of_ole(file: &File) -> Result<Kind, TableError> {
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let mut bytes = Vec::new();
    // The list of the streams can be anywhere in the file.
    at_start(file)?.take(MAX_UNPACKED / 4).read_to_end(&mut bytes)?;
    let has = |name: &str| memchr::memmem::find(&bytes, &utf16(name)).is_some();
    if has("EncryptedPackage") {
        Err(TableError::Unreadable(Unreadable::Password))
    } else if has("Workbook") || has("Book") {
        Ok(Kind::Xls)
    } else {
        Err(TableError::Unreadable(Unreadable::Binary))
    }
}

/// Finds out whether a ZIP archive is a workbook or contains a single file.
#[allow(clippy::type_complexity, reason = "the inner result is either of two findings")]
fn look_into_zip(file: &File) -> Result<Result<Kind, Packing>, TableError> {
    let failed = |error: zip::result::ZipError| TableError::Packed(error.to_string());
    let mut archive = ZipArchive::new(BufReader::new(at_start(file)?)).map_err(failed)?;
    let has = |archive: &ZipArchive<_>, name: &str| archive.index_for_name(name).is_some();
    if has(&archive, "[Content_Types].xml") {
        if has(&archive, "xl/workbook.bin") {
            return Err(TableError::Unreadable(Unreadable::Xlsb));
        }
        return Ok(Ok(Kind::Xlsx));
    }
    if has(&archive, "content.xml") && has(&archive, "mimetype") {
        let manifest = read_small(&mut archive, "META-INF/manifest.xml");
        if memchr::memmem::find(&manifest, b"encryption-data").is_some() {
            return Err(TableError::Unreadable(Unreadable::Password));
        }
        return Ok(Ok(Kind::Ods));
    }
    if has(&archive, "Index/Document.iwa") {
        return Err(TableError::Unreadable(Unreadable::Numbers));
    }
    if has(&archive, "xl/workbook.xml") {
        return Ok(Ok(Kind::Xlsx));
    }
    let (mut names, mut found) = (Vec::new(), None);
    for index in 0..archive.len().min(10_000) {
        let part = archive.by_index_raw(index).map_err(failed)?;
        let name = part.name().map_err(failed)?.into_owned();
        let base = name.rsplit('/').next().unwrap_or_default();
        if part.is_dir() || name.starts_with("__MACOSX/") || base.starts_with('.') {
            continue;
        }
        names.push(name);
        if part.encrypted() {
            return Err(TableError::Unreadable(Unreadable::Password));
        }
        let is_deflated = match part.compression() {
            CompressionMethod::Stored => false,
            CompressionMethod::Deflated => true,
            _ => return Err(TableError::Unreadable(Unreadable::Archive)),
        };
        let start = part.data_start().ok_or(TableError::Unreadable(Unreadable::Archive))?;
        let (length, checksum) = (part.compressed_size(), part.crc32());
        found = Some(Packing::Zip { start, length, checksum, is_deflated });
    }
    match (names.len(), found) {
        (1, Some(packing)) => Ok(Err(packing)),
        (0, _) => Err(TableError::Empty),
        _ => {
            names.truncate(20);
            Err(TableError::SeveralFiles(names))
        }
    }
}

fn read_small<R: Read + io::Seek>(archive: &mut ZipArchive<R>, name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(part) = archive.by_name(name) {
        // A part that cannot be read is reported by the reader of the workbook.
        let _ = part.take(1 << 20).read_to_end(&mut bytes);
    }
    bytes
}

/// A reader that limits the decompressed bytes, and marks errors of the content.
struct Unpacked<R> {
    text: R,
    left: u64,
}

impl<R> Unpacked<R> {
    fn new(text: R) -> Self {
        Self { text, left: MAX_FILE }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = match self.text.read(out) {
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Err(error),
            Err(error) => return Err(TableError::Packed(error.to_string()).into()),
        };
        match self.left.checked_sub(length as u64) {
            Some(left) => self.left = left,
            None => return Err(TableError::Limit(Limit::Unpacked).into()),
        }
        Ok(length)
    }
}

/// A reader that compares the checksum at the end.
struct Checked<R: Read> {
    text: CrcReader<R>,
    checksum: u32,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.text.read(out)?;
        if length == 0 && !out.is_empty() && self.text.crc().sum() != self.checksum {
            return Err(io::Error::other("the checksum differs"));
        }
        Ok(length)
    }
}

/// A reader of the frames of a Zstandard file, one after another.
struct Frames<R: Read> {
    state: FrameState<R>,
}

enum FrameState<R: Read> {
    Between(BufReader<R>),
    Inside(Box<ruzstd::decoding::StreamingDecoder<BufReader<R>, ruzstd::decoding::FrameDecoder>>),
    Over,
}

impl<R: Read> Frames<R> {
    fn new(file: R) -> Self {
        Self { state: FrameState::Between(BufReader::with_capacity(BUFFER, file)) }
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        use io::BufRead as _;
        loop {
            match std::mem::replace(&mut self.state, FrameState::Over) {
                FrameState::Over => return Ok(0),
                FrameState::Between(mut file) => {
                    if file.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    let decoder = ruzstd::decoding::StreamingDecoder::new(file)
                        .map_err(|error| io::Error::other(error.to_string()))?;
                    self.state = FrameState::Inside(Box::new(decoder));
                }
                FrameState::Inside(mut decoder) => {
                    let length = decoder.read(out)?;
                    if length > 0 || out.is_empty() {
                        self.state = FrameState::Inside(decoder);
                        return Ok(length);
                    }
                    self.state = FrameState::Between(decoder.into_inner());
                }
            }
        }
    }
}
