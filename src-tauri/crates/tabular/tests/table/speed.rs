//! The speed of reading the file that `TABLE_FILE` names, beside that of the parser of the crate
//! `csv`. It is measured on request only.

use std::{fs::File, time::Instant};

use contract::sources::ImportDecisions;

use crate::support::inspect_file;

#[test]
#[ignore = "measures a file that a person names"]
fn a_large_file_is_inspected_and_read() {
    let path = std::env::var("TABLE_FILE").unwrap();
    let file = File::open(&path).unwrap();
    let began = Instant::now();
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(&path).unwrap();
    let mut record = csv::ByteRecord::new();
    let mut cells = 0;
    while reader.read_byte_record(&mut record).unwrap() {
        cells += record.len();
    }
    println!("csv: {cells} cells in {:?}", began.elapsed());
    let began = Instant::now();
    let inspected = inspect_file(&file, &ImportDecisions::default()).unwrap();
    println!("inspect: {} rows in {:?}", inspected.report().stored, began.elapsed());
    println!("{:?} {:?}", inspected.report().questions, inspected.report().notes);
    let began = Instant::now();
    let mut filled = 0_u64;
    let read = inspected.read(&file, &mut |_| {}, &|| false, &mut |cells| {
        filled += cells.len() as u64;
        Ok(())
    });
    println!("read: {read:?} rows, {filled} cells in {:?}", began.elapsed());
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default());
}
