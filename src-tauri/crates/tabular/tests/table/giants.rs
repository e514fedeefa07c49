//! Files with a cell of a gigabyte, sparse or packed into about a megabyte: each is refused before
//! the cell is in memory.

use std::io::{Cursor, Read as _, Write as _};

use contract::sources::ImportDecisions;
use flate2::{
    Compression,
    write::{DeflateEncoder, GzEncoder},
};
use rust_xlsxwriter::Workbook;
use tabular::{Limit, table::TableError};
use zip::{CompressionMethod, ZipArchive, ZipWriter, write::SimpleFileOptions};

use crate::{
    support::{file_of, inspect_bytes, inspect_file},
    workbooks::{ods, ods_number, ods_row, ods_text},
};

const GIGABYTE: usize = 1 << 30;
/// The bytes that are packed once and then repeated.
const BLOCK: usize = 1 << 20;
/// The place of the cell in a workbook.
const MARK: &str = "GIANT";
/// The number of a deflated part in the list of an archive.
const DEFLATED: u16 = 8;

/// Returns a table whose last cell has just begun, and the line of that cell.
fn table() -> (String, u64) {
    let rows = "2026-11-01,Oak,5.00\n".repeat(300);
    (format!("Day,Campaign,Cost\n{rows}2026-11-02,"), 302)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// Returns packed bytes behind which others can follow.
fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut packer = DeflateEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.flush().unwrap();
    packer.get_ref().clone()
}

/// Returns a packed text with a gigabyte in its middle.
fn deflated(before: &str, after: &str) -> Vec<u8> {
    let middle = deflate(&vec![b'x'; BLOCK]).repeat(GIGABYTE / BLOCK);
    let mut end = DeflateEncoder::new(Vec::new(), Compression::fast());
    end.write_all(after.as_bytes()).unwrap();
    [deflate(before.as_bytes()), middle, end.finish().unwrap()].concat()
}

/// Adds a part that is packed already.
fn add_packed(mut archive: ZipWriter<Cursor<Vec<u8>>>, name: &str, packed: &[u8]) -> Vec<u8> {
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    archive.start_file(name, stored).unwrap();
    archive.write_all(packed).unwrap();
    let mut bytes = archive.finish().unwrap().into_inner();
    // The bytes are stored as they are. Both headers of the part then say that they are deflated.
    let entry = bytes.windows(4).rposition(|four| four == b"PK\x01\x02").unwrap();
    let header = u32::from_le_bytes(bytes[entry + 42..entry + 46].try_into().unwrap());
    for at in [entry + 10, usize::try_from(header).unwrap() + 8] {
        bytes[at..at + 2].copy_from_slice(&DEFLATED.to_le_bytes());
    }
    bytes
}

/// Returns an archive whose part has a gigabyte at its mark.
fn with_giant(archive: &[u8], part: &str) -> Vec<u8> {
    let mut from = ZipArchive::new(Cursor::new(archive)).unwrap();
    let mut to = ZipWriter::new(Cursor::new(Vec::new()));
    let mut giant = None;
    for at in 0..from.len() {
        let mut found = from.by_index(at).unwrap();
        let (name, mut text) = (found.name().unwrap().into_owned(), String::new());
        found.read_to_string(&mut text).unwrap();
        if name == part {
            let (before, after) = text.split_once(MARK).unwrap();
            giant = Some(deflated(before, after));
            continue;
        }
        to.start_file(name, SimpleFileOptions::default()).unwrap();
        to.write_all(text.as_bytes()).unwrap();
    }
    add_packed(to, part, &giant.unwrap())
}

#[test]
fn a_cell_of_a_gigabyte_in_a_text_is_refused_with_its_line() {
    let (start, line) = table();
    let sparse = file_of(start.as_bytes());
    sparse.set_len(GIGABYTE as u64).unwrap();
    let gzip = [gzip(start.as_bytes()), gzip(&vec![b'x'; BLOCK]).repeat(GIGABYTE / BLOCK)].concat();
    let archive = ZipWriter::new(Cursor::new(Vec::new()));
    let zip = add_packed(archive, "export.csv", &deflated(&start, ",1.00\n"));
    assert!(gzip.len() < 16 << 20 && zip.len() < 16 << 20, "{} {}", gzip.len(), zip.len());
    for (packing, file) in [("none", sparse), ("gzip", file_of(&gzip)), ("zip", file_of(&zip))] {
        match inspect_file(&file, &ImportDecisions::default()) {
            Err(TableError::Limit(Limit::Line { line: found })) => {
                assert_eq!(found, line, "{packing}");
            }
            other => panic!("{packing}: {other:?}"),
        }
    }
}

#[test]
fn a_cell_of_a_gigabyte_in_a_workbook_is_refused_while_it_is_unpacked() {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    for (row, cells) in (0_u32..).zip([["Day", "Campaign"], ["2026-11-01", MARK]]) {
        for (column, text) in (0_u16..).zip(cells) {
            sheet.write(row, column, text).unwrap();
        }
    }
    let rows = [
        ods_row(&[&ods_text("Day"), &ods_text("Campaign"), &ods_text("Cost")]),
        ods_row(&[&ods_text("2026-11-01"), &ods_text(MARK), &ods_number("5")]),
    ];
    let table = format!("<table:table table:name=\"a\">{}</table:table>", rows.concat());
    for (book, part) in
        [(book.save_to_buffer().unwrap(), "xl/sharedStrings.xml"), (ods("", &table), "content.xml")]
    {
        let refused = inspect_bytes(&with_giant(&book, part), &ImportDecisions::default());
        assert!(matches!(refused, Err(TableError::Limit(Limit::Cell))), "{part}: {refused:?}");
    }
}
