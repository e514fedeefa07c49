//! Hostile files of the formats that are unpacked, or that other libraries read: values of a
//! gigabyte, content beyond its limit, too many columns, texts that are too long. Each is refused
//! with its cause.

use std::{fs::File, process::Command};

use contract::{
    AgentError,
    sources::{ImportDecisions, ImportEvent, ImportJob, ImportLimits},
};
use serde_json::json;

use crate::{
    import::{import, parquet, try_import},
    world::drivers,
};

const MEGABYTE: usize = 1 << 20;
const GIGABYTE: usize = 1 << 30;
/// The bytes of the longest block of Zstandard.
const BLOCK: usize = 128 << 10;
/// The longest text of a database, in bytes.
const LONGEST: usize = 16 * MEGABYTE;

/// Returns a frame of Zstandard: bytes as they are, and then one byte many times.
fn zstd(start: &[u8], byte: u8, times: usize) -> Vec<u8> {
    // The mark of a frame, and a window as long as the longest block.
    let mut frame = b"\x28\xb5\x2f\xfd\x00\x38".to_vec();
    let mut add = |kind: usize, size: usize, is_last: bool, content: &[u8]| {
        let head = usize::from(is_last) | (kind << 1) | (size << 3);
        frame.extend_from_slice(&head.to_le_bytes()[..3]);
        frame.extend_from_slice(content);
    };
    add(0, start.len(), times == 0, start);
    for at in (0..times).step_by(BLOCK) {
        let size = BLOCK.min(times - at);
        add(1, size, at + size == times, &[byte]);
    }
    frame
}

/// Returns a number as the headers of Parquet write it.
fn number(value: usize) -> Vec<u8> {
    let (mut rest, mut bytes) = (value << 1, Vec::new());
    while rest > 0x7f {
        bytes.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}

/// Returns a Parquet file with one row: a text of this length, packed. It is written by hand,
/// because a library would hold the text in memory.
fn parquet_with_text(length: usize) -> Vec<u8> {
    let packed = zstd(&u32::try_from(length).unwrap().to_le_bytes(), b'x', length);
    // A page of data with its sizes, and one value that is written plainly.
    let sizes = [number(length + 4), number(packed.len())];
    let mut page = [&[0x15_u8, 0, 0x15][..], &sizes[0], &[0x15], &sizes[1]].concat();
    page.extend([0x2c, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0]);
    let unpacked = number(page.len() + length + 4);
    page.extend(packed);
    let schema = b"\x15\x02\x19\x2c\x48\x01s\x15\x02\0\x15\x0c\x25\0\x18\x04note\x25\0\0";
    let column = b"\x26\x08\x1c\x15\x0c\x19\x15\0\x19\x18\x04note\x15\x0c\x16\x02\x16";
    let footer = [
        &schema[..],
        // One row, in one group with one column.
        &[0x16, 2, 0x19, 0x1c, 0x19, 0x1c],
        column,
        &unpacked,
        &[0x16],
        &number(page.len()),
        &[0x26, 8, 0, 0, 0x16],
        &unpacked,
        &[0x16, 2, 0, 0],
    ]
    .concat();
    let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
    [&b"PAR1"[..], &page, &footer, &length, b"PAR1"].concat()
}

/// Imports with the program, which gets 768 MiB of memory. It ends if it writes a file of more
/// blocks of half a KiB than `blocks`.
fn run(content: &[u8], content_bytes: usize, blocks: usize) -> ImportEvent {
    let folder = tempfile::tempdir().unwrap();
    let limits = ImportLimits { content_bytes: content_bytes as u64, ..ImportLimits::default() };
    let job = ImportJob {
        name: "export".to_owned(),
        decisions: ImportDecisions::default(),
        report_only: false,
        limits,
    };
    std::fs::write(folder.path().join("job.json"), serde_json::to_string(&job).unwrap()).unwrap();
    let file = folder.path().join("export");
    std::fs::write(&file, content).unwrap();
    let script = format!("ulimit -d 786432 && ulimit -f {blocks} && exec \"$0\" import");
    let ran = Command::new("sh")
        .args(["-c", &script, crate::PROGRAM])
        .current_dir(folder.path())
        .env("CSIGN_DATA_DRIVERS", drivers())
        .stdin(File::open(&file).unwrap())
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let told = String::from_utf8(ran.stdout).unwrap();
    serde_json::from_str(told.lines().last().unwrap()).unwrap()
}

#[track_caller]
fn assert_refused(event: ImportEvent, reason: &str, words: &str) {
    match event {
        ImportEvent::Failure { error } => assert_told(&error, reason, words),
        other => panic!("{words}: {other:?}"),
    }
}

#[track_caller]
fn assert_told(error: &AgentError, reason: &str, words: &str) {
    assert_eq!(error.details["reason"], reason, "{error:?}");
    assert!(error.message.contains(words), "{words}: {error:?}");
}

/// Imports in this process. Returns why the file was refused.
#[track_caller]
fn refusal(name: &str, content: &[u8], decisions: &ImportDecisions) -> AgentError {
    let told = try_import(name, content, decisions);
    told.err().unwrap_or_else(|| panic!("{name} was read"))
}

#[test]
fn a_value_of_a_gigabyte_is_refused_in_little_memory() {
    let table = b"Day,Campaign,Cost\n2026-11-01,Oak,5.00\n2026-11-02,";
    let text = run(&zstd(table, b'x', GIGABYTE), GIGABYTE, 131_072);
    assert_refused(text, "file_unreadable", "Line 3 is longer than 1 MB.");
    let object = zstd(b"{\"day\": \"2026-11-01\", \"note\": \"", b'x', GIGABYTE);
    let json = run(&object, 8 * MEGABYTE, 32_768);
    assert_refused(json, "file_too_large", "The file is larger than 8 MB.");
    let parquet = run(&parquet_with_text(GIGABYTE), GIGABYTE, 131_072);
    assert_refused(parquet, "file_too_large", "needs more memory than an import may use");
}

#[test]
fn a_long_text_of_parquet_is_stored_whole_and_told_by_its_beginning() {
    let length = 4 * MEGABYTE;
    let imported = import("a.parquet", &parquet_with_text(length));
    imported.is_whole();
    assert_eq!(imported.ask("SELECT length(note) FROM t"), [[json!(length)]]);
    let column = &imported.report.columns[0];
    assert_eq!((column.samples[0].chars().count(), &column.constant), (61, &None));
    let report = serde_json::to_string(&imported.report).unwrap();
    assert!(report.len() < 10_000, "{} bytes", report.len());
}

#[test]
fn a_packed_file_is_unpacked_up_to_its_limit_only() {
    for start in [&b"PAR1"[..], b"SQLite format 3\0", b"{\"a\": \"", b"[{\"a\": \""] {
        let bomb = run(&zstd(start, b'x', GIGABYTE), MEGABYTE, 4_096);
        assert_refused(bomb, "file_too_large", "The file is larger than 1 MB.");
    }
    let line = b"{\"day\": \"2026-11-01\", \"cost\": 2.50}\n";
    let whole = run(&zstd(line, 0, 0), line.len(), 131_072);
    let is_stored = matches!(&whole, ImportEvent::Result { part: Some(_), .. });
    assert!(is_stored, "{whole:?}");
    let larger = run(&zstd(line, 0, 0), line.len() - 1, 131_072);
    assert_refused(larger, "file_too_large", "The file is larger than 0 MB.");
}

/// Returns a line of JSON with these members.
fn object(members: std::ops::Range<usize>) -> String {
    let members: Vec<String> = members.map(|at| format!("\"c{at}\":1")).collect();
    format!("{{{}}}\n", members.join(","))
}

#[test]
fn files_with_too_many_columns_are_refused() {
    let decisions = ImportDecisions::default();
    let lines = [object(0..1_000), object(1_000..2_000), object(2_000..2_001)].concat();
    let told = refusal("a.jsonl", lines.as_bytes(), &decisions);
    assert_told(&told, "too_many_columns", "more than 2000 different members");
    // An object with a million members is a line that cannot be read.
    let million = format!("{{\"day\": \"2026-11-01\", \"cost\": 1.5}}\n{}", object(0..1_000_000));
    let imported = import("a.jsonl", million.as_bytes());
    imported.is_whole();
    let rejected = &imported.report.rejected;
    assert!(imported.part.is_none() && rejected[0].lines == [2], "{rejected:?}");
    let columns: Vec<String> = (0..2_001).map(|at| format!("1 AS c{at}")).collect();
    let bytes = parquet(&format!("SELECT {}", columns.join(", ")));
    let told = refusal("a.parquet", &bytes, &decisions);
    assert_told(&told, "too_many_columns", "more than 2000 columns");
    let told = refusal("a.db", &database_of_many_columns(), &decisions);
    assert_told(&told, "sqlite_unreadable", "too many columns");
}

/// Returns the bytes of a database that a function fills.
fn database(fill: impl FnOnce(&rusqlite::Connection)) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    fill(&database);
    drop(database);
    std::fs::read(&path).unwrap()
}

/// Returns a database whose schema was written by hand: SQLite makes no table of so many columns.
fn database_of_many_columns() -> Vec<u8> {
    let columns: Vec<String> = (0..2_001).map(|at| format!("c{at} INTEGER")).collect();
    let schema = format!("CREATE TABLE orders ({})", columns.join(", "));
    database(|database| {
        database
            .execute_batch("CREATE TABLE orders (c0 INTEGER); PRAGMA writable_schema = ON;")
            .unwrap();
        database.execute("UPDATE sqlite_schema SET sql = ?1", [schema]).unwrap();
    })
}

#[test]
fn a_text_that_is_too_long_is_refused_with_its_line_and_its_lines_are_no_rows() {
    let first = "{\"day\": \"2026-11-01\", \"cost\": 1.5, \"note\": \"short\"}\n";
    let rows = "\\n\\\"2026-11-09\\\",999.00,\\\"x\\\"".repeat(2 * MEGABYTE / 30);
    let second = format!("{{\"day\": \"2026-11-02\", \"cost\": 2.5, \"note\": \"{rows}\"}}\n");
    let text = format!("{first}{second}");
    for skip_rejected in [false, true] {
        let decisions = ImportDecisions { skip_rejected, ..ImportDecisions::default() };
        let told = refusal("a.jsonl", text.as_bytes(), &decisions);
        assert_told(&told, "line_too_long", "Line 2 is longer than 1 MB.");
    }
    let decisions = ImportDecisions::default();
    let long = format!("{{\"a\": \"{}\"}}\n", "x".repeat(LONGEST));
    let told = refusal("a.jsonl", long.as_bytes(), &decisions);
    assert_told(&told, "line_too_long", "Line 1 is longer than 16 MB.");
    let told = refusal("a.json", format!("[\n{long}]").as_bytes(), &decisions);
    assert_told(&told, "line_too_long", "The object on line 2 is longer than 16 MB.");
}

#[test]
fn a_value_of_a_database_that_is_too_long_is_refused_with_its_cause() {
    let with = |length: usize| {
        database(|database| {
            database.execute_batch("CREATE TABLE orders (day TEXT, note TEXT)").unwrap();
            for note in ["short".to_owned(), "x".repeat(length)] {
                let insert = "INSERT INTO orders VALUES ('2026-11-01', ?1)";
                database.execute(insert, [note]).unwrap();
            }
        })
    };
    let decisions = ImportDecisions::default();
    let told = refusal("a.db", &with(2 * MEGABYTE), &decisions);
    assert_told(&told, "line_too_long", "Line 2 is longer than 1 MB.");
    let told = refusal("a.db", &with(LONGEST + 1), &decisions);
    assert_told(&told, "sqlite_unreadable", "too big");
}
