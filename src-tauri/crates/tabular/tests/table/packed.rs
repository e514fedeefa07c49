//! Compressed files: found by their content, read like others, and bounded.

use std::io::Write as _;

use contract::sources::ImportDecisions;
use tabular::{Limit, table::TableError};
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::support::{file_of, inspect_bytes, inspect_file, read_rows};

const TEXT: &str = "Day,Campaign,Cost\n2026-11-01,Oak,5.00\n2026-11-02,Elm,6.50\n";
/// `TEXT` as `zstd` of the command line writes it.
const ZSTD: &[u8] = include_bytes!("../cases/packed/export.csv.zst");

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn zip_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn compressed_texts_are_read_in_both_passes() {
    let two_parts = [gzip(&TEXT.as_bytes()[..30]), gzip(&TEXT.as_bytes()[30..])].concat();
    let zip = zip_of(&[("__MACOSX/x", b"x"), ("export.csv", TEXT.as_bytes())]);
    for (bytes, compression) in [
        (gzip(TEXT.as_bytes()), "gzip"),
        (two_parts, "gzip"),
        (zip, "zip"),
        (ZSTD.to_vec(), "zstd"),
    ] {
        let file = file_of(&bytes);
        let inspected = inspect_file(&file, &ImportDecisions::default()).unwrap();
        assert_eq!(inspected.report().compression.as_deref(), Some(compression));
        let rows = read_rows(&inspected, &file).unwrap();
        assert_eq!(rows, [["2026-11-01", "Oak", "5.00"], ["2026-11-02", "Elm", "6.50"]]);
    }
}

#[test]
fn an_archive_with_several_files_is_refused_with_their_names() {
    let zip = zip_of(&[("a.csv", b"x"), ("b.csv", b"y")]);
    match inspect_bytes(&zip, &ImportDecisions::default()) {
        Err(TableError::SeveralFiles(names)) => assert_eq!(names, ["a.csv", "b.csv"]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn damaged_compression_is_refused() {
    let mut cut = gzip(TEXT.as_bytes());
    cut.truncate(cut.len() - 6);
    let mut changed = zip_of(&[("export.csv", TEXT.as_bytes())]);
    let at = changed.windows(4).position(|four| four == b"PK\x01\x02").unwrap();
    changed[at + 16] ^= 1;
    for bytes in [cut, changed] {
        let refused = inspect_bytes(&bytes, &ImportDecisions::default());
        assert!(matches!(refused, Err(TableError::Packed(_))), "{refused:?}");
    }
}

#[test]
fn a_bomb_of_one_line_is_refused_before_it_is_unpacked() {
    let bomb = gzip(&vec![b'a'; 64 << 20]);
    let refused = inspect_bytes(&bomb, &ImportDecisions::default());
    assert!(matches!(refused, Err(TableError::Limit(Limit::Line { .. }))), "{refused:?}");
}
