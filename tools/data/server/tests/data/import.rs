//! Importing: text, workbooks of the cases, Parquet, JSON lines and SQLite become one part, with a
//! report in which each record is stored, left out or rejected.

use std::path::Path;

use contract::sources::{
    ColumnKind, FileFormat, ImportDecisions, ImportEvent, ImportJob, ImportLimits, PartRef,
    TableReport,
};
use csign_data::import::run_in;
use serde_json::{Value, json};

use crate::{
    questions::query,
    world::{World, drivers},
};

/// The folder, report and part of an import.
pub(crate) struct Imported {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) report: TableReport,
    pub(crate) part: Option<PartRef>,
}

fn job(name: &str, decisions: &ImportDecisions) -> ImportJob {
    ImportJob {
        name: name.to_owned(),
        decisions: decisions.clone(),
        report_only: false,
        limits: ImportLimits::default(),
    }
}

fn events(folder: &Path, job: &ImportJob, content: &[u8]) -> Vec<ImportEvent> {
    std::fs::write(folder.join("job.json"), serde_json::to_string(job).unwrap()).unwrap();
    let mut output = Vec::new();
    assert!(run_in(folder, &drivers(), content, content.len() as u64, &mut output));
    let text = String::from_utf8(output).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn try_import(
    name: &str,
    content: &[u8],
    decisions: &ImportDecisions,
) -> Result<Imported, contract::AgentError> {
    let folder = tempfile::tempdir().unwrap();
    let events = events(folder.path(), &job(name, decisions), content);
    match events.last().unwrap().clone() {
        ImportEvent::Result { report, part } => Ok(Imported { folder, report: *report, part }),
        ImportEvent::Failure { error } => Err(error),
        ImportEvent::Progress { .. } => panic!("the last event is the end"),
    }
}

pub(crate) fn import(name: &str, content: &[u8]) -> Imported {
    try_import(name, content, &ImportDecisions::default())
        .unwrap_or_else(|error| panic!("{name}: {error:?}"))
}

impl Imported {
    /// Asks a query over the part, whose table is `t`.
    pub(crate) fn ask(&self, sql: &str) -> Vec<Vec<Value>> {
        let world = World::new();
        let part = self.part.clone().unwrap_or_else(|| panic!("stored: {:?}", self.report));
        std::fs::copy(self.folder.path().join(&part.file), world.parts().join(&part.file)).unwrap();
        let source = world.source("t", &[part]);
        query(&world.asker(), sql, &[source]).unwrap_or_else(|error| panic!("{sql}: {error}")).rows
    }

    /// Whether each record is accounted for.
    #[track_caller]
    pub(crate) fn is_whole(&self) {
        let left: u64 = self
            .report
            .left_out
            .iter()
            .filter(|lines| lines.rule != "title")
            .map(|lines| lines.count)
            .sum();
        let rejected: u64 = self.report.rejected.iter().map(|rows| rows.count).sum();
        assert_eq!(self.report.records, self.report.stored + left + rejected, "{:?}", self.report);
    }
}

#[test]
fn a_text_file_becomes_a_part_with_all_its_columns() {
    let text = "Day,Campaign,Clicks,Cost,Active\n2026-11-01,\"Winter, sale\",1234,\"1,234.50\",yes\n2026-11-02,Spring,5,0.75,no\n";
    let imported = import("export.csv", text.as_bytes());
    imported.is_whole();
    assert_eq!(imported.report.stored, 2);
    assert_eq!(imported.report.file, "export.csv");
    assert_eq!(imported.report.hash.len(), 64);
    let part = imported.part.as_ref().unwrap();
    assert_eq!((part.rows, part.file.as_str()), (2, "part.parquet"));
    assert_eq!(
        imported.ask("SELECT \"Day\", \"Campaign\", \"Clicks\", \"Cost\" FROM t ORDER BY 1"),
        [
            vec![json!("2026-11-01"), json!("Winter, sale"), json!(1234), json!(1234.5)],
            vec![json!("2026-11-02"), json!("Spring"), json!(5), json!(0.75)],
        ]
    );
    let left: Vec<String> = std::fs::read_dir(imported.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains("duckdb") || name == "scratch")
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_same_file_gives_the_same_bytes_on_any_number_of_threads() {
    let mut text = "Day,Campaign,Cost\n".to_owned();
    for row in 0..300_000_u64 {
        text.push_str(&format!(
            "2026-11-{:02},Campaign {},{}.{:02}\n",
            1 + row % 30,
            row * 7919 % 1000,
            row % 977,
            row % 100
        ));
    }
    let mut hashes = Vec::new();
    for threads in [1, 2, 4] {
        let folder = tempfile::tempdir().unwrap();
        let mut job = job("a.csv", &ImportDecisions::default());
        job.limits.threads = threads;
        let events = events(folder.path(), &job, text.as_bytes());
        let Some(ImportEvent::Result { part: Some(part), .. }) = events.last() else {
            panic!("{:?}", events.last());
        };
        assert_eq!(part.rows, 300_000);
        hashes.push(part.hash.clone());
    }
    assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{hashes:?}");
}

#[test]
fn rows_are_stored_in_the_order_of_the_file() {
    let mut text = "Day,Clicks\n".to_owned();
    for row in 0..200_000 {
        text.push_str(&format!("2026-11-01,{row}\n"));
    }
    let imported = import("a.csv", text.as_bytes());
    let world = World::new();
    let part = imported.part.clone().unwrap();
    std::fs::copy(imported.folder.path().join(&part.file), world.parts().join(&part.file)).unwrap();
    let source = world.source("t", &[part]);
    let call = contract::sources::AskRows {
        source,
        columns: vec!["Clicks".to_owned()],
        order: None,
        offset: 150_000,
        limits: contract::sources::AskLimits { rows: 2, ..Default::default() },
    };
    let rows = world.asker().rows(&call, &csign_data::stop::Stop::never()).unwrap().rows;
    assert_eq!(rows, [[json!(150_000)], [json!(150_001)]]);
}

#[test]
fn a_rejected_row_stops_the_import_until_a_person_leaves_it_out() {
    let text = "Day,Campaign,Cost\n2026-11-01,A,10.00\n2026-11-02,B,1,234.50\n2026-11-03,C,5.00\n";
    let imported = import("a.csv", text.as_bytes());
    imported.is_whole();
    assert!(imported.part.is_none(), "{:?}", imported.part);
    assert_eq!(imported.report.rejected[0].lines, [3]);
    let decisions = ImportDecisions { skip_rejected: true, ..ImportDecisions::default() };
    let imported = try_import("a.csv", text.as_bytes(), &decisions).unwrap();
    assert_eq!(imported.ask("SELECT sum(\"Cost\") FROM t"), [[json!(15)]]);
}

#[test]
fn a_file_without_a_row_that_can_be_read_stores_nothing() {
    let decisions = ImportDecisions { skip_rejected: true, ..ImportDecisions::default() };
    let text = "Day,Campaign,Cost\n2026-11-01,A,1,234.50\n2026-11-02,B,1,100.00\n";
    let imported = try_import("a.csv", text.as_bytes(), &decisions).unwrap();
    imported.is_whole();
    assert_eq!((imported.report.stored, imported.report.rejected[0].count), (0, 2));
    assert!(imported.part.is_none(), "{:?}", imported.part);
}

#[test]
fn notes_and_questions_name_the_lines_of_json_and_the_rows_of_sqlite() {
    let text = concat!(
        "{\"day\": \"2026-11-01\", \"size\": 1, \"cost\": \"$1\"}\n",
        "\n",
        "{\"day\": \"2026-11-02\", \"size\": \"two\", \"cost\": \"$2\"}\n",
        "{\"day\": \"2026-11-03\", \"cost\": \"CA$2\"}\n",
    );
    let imported = import("rows.jsonl", text.as_bytes());
    let notes: Vec<String> = imported.report.notes.iter().map(ToString::to_string).collect();
    assert!(notes.iter().any(|note| note.contains("\"two\" in line 3")), "{notes:?}");
    assert_eq!(imported.report.questions[0].id, "shared_sign");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE orders (day TEXT, note TEXT, size TEXT);
             INSERT INTO orders VALUES ('2026-11-01', 'one
             of two', '1'), ('2026-11-02', CAST(x'78ff' AS TEXT), 'two');",
        )
        .unwrap();
    drop(database);
    let imported = import("shop.db", &std::fs::read(&path).unwrap());
    let notes: Vec<String> = imported.report.notes.iter().map(ToString::to_string).collect();
    assert!(notes.iter().any(|note| note.contains("\"two\" in line 2")), "{notes:?}");
    assert!(notes.iter().any(|note| note.ends_with("\"�\": 1, the first in row 2.")), "{notes:?}");
}

#[test]
fn a_report_alone_stores_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut job = job("a.csv", &ImportDecisions::default());
    job.report_only = true;
    let events = events(folder.path(), &job, b"Day,Cost\n2026-11-01,1.00\n");
    let Some(ImportEvent::Result { report, part: None }) = events.last() else {
        panic!("{:?}", events.last());
    };
    assert_eq!(report.stored, 1);
    assert!(!folder.path().join("part.parquet").exists());
}

#[test]
fn json_lines_have_columns_of_all_lines_and_their_own_line_numbers() {
    let text = concat!(
        "{\"day\": \"2026-11-01\", \"metrics\": {\"clicks\": 10, \"cost\": 1234.50}, \"name\": \"A\\nB\"}\n",
        "\n",
        "{\"day\": \"2026-11-02\", \"metrics\": {\"cost\": 1.5e1}, \"device\": \"Mobile\"}\n",
        "not json\n",
        "{\"day\": \"2026-11-03\", \"metrics\": {\"clicks\": 7, \"cost\": 0.25}}\n",
    );
    let imported = import("rows.jsonl", text.as_bytes());
    imported.is_whole();
    assert_eq!(imported.report.format, FileFormat::JsonLines);
    assert!(imported.part.is_none(), "a rejected line stops the import");
    assert_eq!(imported.report.rejected[0].lines, [4]);
    let decisions = ImportDecisions { skip_rejected: true, ..ImportDecisions::default() };
    let imported = try_import("rows.jsonl", text.as_bytes(), &decisions).unwrap();
    imported.is_whole();
    assert_eq!(
        imported.ask(
            "SELECT day, \"metrics.clicks\", \"metrics.cost\", name, device FROM t ORDER BY day"
        ),
        [
            vec![json!("2026-11-01"), json!(10), json!(1234.5), json!("A\nB"), Value::Null],
            vec![json!("2026-11-02"), Value::Null, json!(15), Value::Null, json!("Mobile")],
            vec![json!("2026-11-03"), json!(7), json!(0.25), Value::Null, Value::Null],
        ]
    );
}

#[test]
fn a_list_of_json_objects_is_read_like_their_lines() {
    let text = concat!(
        "[\n",
        "  {\"day\": \"2026-11-01\", \"metrics\": {\"clicks\": 10, \"cost\": 1234.50}, \"name\": \"a, ]\"},\n",
        "  {\n    \"day\": \"2026-11-02\",\n    \"metrics\": {\"cost\": 1.5e1}\n  },\n",
        "  17,\n",
        "  {\"day\": \"2026-11-03\", \"metrics\": {\"clicks\": 7, \"cost\": 0.25}}\n",
        "]\n",
    );
    let imported = import("rows.json", text.as_bytes());
    imported.is_whole();
    assert_eq!(imported.report.rejected[0].lines, [7], "the line of what is no object");
    let decisions = ImportDecisions { skip_rejected: true, ..ImportDecisions::default() };
    let imported = try_import("rows.json", text.as_bytes(), &decisions).unwrap();
    imported.is_whole();
    assert_eq!(
        imported.ask("SELECT day, \"metrics.clicks\", \"metrics.cost\", name FROM t ORDER BY day"),
        [
            vec![json!("2026-11-01"), json!(10), json!(1234.5), json!("a, ]")],
            vec![json!("2026-11-02"), Value::Null, json!(15), Value::Null],
            vec![json!("2026-11-03"), json!(7), json!(0.25), Value::Null],
        ]
    );
    let one_line =
        "[{\"day\": \"2026-11-01\", \"cost\": 1.25}, {\"day\": \"2026-11-02\", \"cost\": 2.5}]";
    let imported = import("rows.json", one_line.as_bytes());
    assert_eq!(imported.ask("SELECT sum(cost) FROM t"), [[json!(3.75)]]);
    let cut = &one_line[..one_line.len() - 1];
    let error = try_import("rows.json", cut.as_bytes(), &ImportDecisions::default()).err().unwrap();
    assert!(error.message.contains("] was expected"), "{error:?}");
}

#[test]
fn a_sum_in_a_json_list_of_one_line_is_left_out_alone() {
    let text = r#"[{"name":"Acme","cost":300.50},{"name":"Brand","cost":100.25},{"name":"Generic","cost":200.25},{"name":"Bolt","cost":70.75},{"name":"Red","cost":30.25},{"name":"Blue","cost":40.50}]"#;
    let mut decisions = ImportDecisions::default();
    decisions.answers.insert("total_rows".to_owned(), "leave_out".to_owned());
    let imported = try_import("rows.json", text.as_bytes(), &decisions).unwrap();
    imported.is_whole();
    assert_eq!(imported.ask("SELECT sum(cost) FROM t"), [[json!(371.25)]]);
}

#[test]
fn texts_of_digits_in_json_can_be_two_numbers_and_numbers_cannot() {
    let text = "{\"day\": \"2026-11-01\", \"cost\": \"1.250\"}\n{\"day\": \"2026-11-02\", \"cost\": \"2.500\"}\n";
    let imported = import("texts.jsonl", text.as_bytes());
    assert_eq!(imported.report.questions[0].id, "decimal", "{:?}", imported.report.questions);
    let numbers = text.replace("\"1.250\"", "1.250").replace("\"2.500\"", "2.500");
    let imported = import("numbers.jsonl", numbers.as_bytes());
    assert_eq!(imported.ask("SELECT sum(cost) FROM t"), [[json!(3.75)]]);
}

#[test]
fn a_currency_of_parquet_that_contradicts_a_decision_is_a_question() {
    let bytes = parquet(
        "SELECT DATE '2026-11-01' AS day, 3.5::DECIMAL(9,2) AS cost, 'eur' AS currency UNION ALL SELECT DATE '2026-11-02', 1.25, 'EUR'",
    );
    let imported = import("a.parquet", &bytes);
    let sums = imported.report.sums.iter();
    let sums: Vec<_> = sums.map(|s| (s.currency.as_deref(), s.sum.as_str())).collect();
    assert_eq!(sums, [(Some("EUR"), "4.75")]);
    let decisions =
        ImportDecisions { currency: Some("SEK".to_owned()), ..ImportDecisions::default() };
    let imported = try_import("a.parquet", &bytes, &decisions).unwrap();
    assert_eq!(imported.report.questions[0].id, "currency");
    assert!(imported.part.is_none());
}

/// Returns the bytes of a Parquet file with the rows of a query.
pub(crate) fn parquet(query: &str) -> Vec<u8> {
    let world = World::new();
    world.part("p", query, &[]);
    std::fs::read(world.parts().join("p.parquet")).unwrap()
}

#[test]
fn floats_of_parquet_become_exact_decimals() {
    let bytes = parquet(
        "SELECT DATE '2026-11-01' + (i % 3)::INT AS \"Day\", 'C' || (i % 2) AS \"Campaign\", (i * 0.1)::DOUBLE AS \"Cost\", i::INTEGER AS \"Clicks\", (i % 2 = 0) AS flag FROM range(1000) t(i)",
    );
    let imported = import("a.parquet", &bytes);
    imported.is_whole();
    assert_eq!(imported.report.format, FileFormat::Parquet);
    let cost = imported.report.columns.iter().find(|column| column.name == "Cost").unwrap();
    assert_eq!((cost.kind, cost.scale), (ColumnKind::Decimal, 1));
    assert_eq!(imported.report.days.unwrap().days, 3);
    assert_eq!(
        imported.ask("SELECT sum(\"Cost\"), sum(\"Clicks\"), count(*) FILTER (WHERE flag) FROM t"),
        [[json!(49_950), json!(499_500), json!(500)]]
    );
}

#[test]
fn large_floats_of_parquet_keep_the_decimals_that_they_have() {
    let bytes = parquet(
        "SELECT DATE '2026-11-01' AS day, a::FLOAT AS cost, b::DOUBLE AS revenue FROM (VALUES (123456.78, 50000000000.01), (750000.25, 60000000000.02)) t(a, b)",
    );
    let imported = import("a.parquet", &bytes);
    imported.is_whole();
    let sums = imported.report.sums.iter();
    let sums: Vec<_> = sums.map(|s| (s.column.as_str(), s.sum.as_str())).collect();
    assert_eq!(sums, [("cost", "873457.03"), ("revenue", "110000000000.03")]);
}

#[test]
fn values_of_parquet_that_are_no_amounts_are_rejected_with_their_rows() {
    let bytes = parquet(
        "SELECT * FROM (VALUES (DATE '2026-11-01', 1.5::DOUBLE), (DATE '2026-11-02', 'inf'::DOUBLE), (DATE '2026-11-03', NULL), (DATE '2026-11-04', 'nan'::DOUBLE)) t(\"Day\", \"Cost\")",
    );
    let imported = import("a.parquet", &bytes);
    imported.is_whole();
    assert!(imported.part.is_none());
    assert_eq!(imported.report.rejected[0].lines, [2, 4]);
    let decisions = ImportDecisions { skip_rejected: true, ..ImportDecisions::default() };
    let imported = try_import("a.parquet", &bytes, &decisions).unwrap();
    assert_eq!(imported.ask("SELECT count(*), sum(\"Cost\") FROM t"), [[json!(2), json!(1.5)]]);
}

#[test]
fn damaged_and_hostile_parquet_is_refused_with_a_sentence() {
    let whole = parquet("SELECT i AS a FROM range(1000) t(i)");
    for cut in [whole.len() / 2, whole.len() - 9] {
        let mut damaged = whole[..cut].to_vec();
        damaged.extend(b"\xff\xff\xff\x7fPAR1");
        let error = try_import("a.parquet", &damaged, &ImportDecisions::default()).err().unwrap();
        assert_eq!(error.details["reason"], "parquet_unreadable", "{error:?}");
    }
}

#[test]
fn a_table_of_sqlite_is_chosen_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE orders (day TEXT, country TEXT, net REAL, pieces INTEGER);
             INSERT INTO orders VALUES ('2026-11-01', 'SE', 0.1, 1), ('2026-11-02', 'DE', 0.2, 2), ('2026-11-03', NULL, 1234.5, NULL);
             CREATE TABLE other (a TEXT);
             INSERT INTO other VALUES ('x');",
        )
        .unwrap();
    drop(database);
    let bytes = std::fs::read(&path).unwrap();
    let imported = import("shop.db", &bytes);
    assert_eq!(imported.report.format, FileFormat::Sqlite);
    assert_eq!(imported.report.questions[0].choices.len(), 2);
    let decisions =
        ImportDecisions { sheets: vec!["orders".to_owned()], ..ImportDecisions::default() };
    let imported = try_import("shop.db", &bytes, &decisions).unwrap();
    imported.is_whole();
    assert_eq!(
        imported.ask("SELECT sum(net), sum(pieces), count(country) FROM t"),
        [[json!(1234.8), json!(3), json!(2)]]
    );
    let decisions =
        ImportDecisions { sheets: vec!["none".to_owned()], ..ImportDecisions::default() };
    let error = try_import("shop.db", &bytes, &decisions).err().unwrap();
    assert!(error.message.contains("orders, other"), "{error:?}");
    let mut damaged = bytes.clone();
    damaged[100..4000].fill(0xff);
    assert!(try_import("shop.db", &damaged, &ImportDecisions::default()).is_err());
}

/// Returns a text as gzip packs it.
fn pack(text: &[u8]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    std::fs::write(&path, text).unwrap();
    assert!(std::process::Command::new("gzip").arg(&path).status().unwrap().success());
    std::fs::read(folder.path().join("a.gz")).unwrap()
}

#[test]
fn a_compressed_file_is_read_by_its_content() {
    let csv = pack(b"Day,Cost\n2026-11-01,1.50\n");
    assert_eq!(import("a.csv.gz", &csv).ask("SELECT sum(\"Cost\") FROM t"), [[json!(1.5)]]);
    let lines = pack(b"{\"day\": \"2026-11-01\", \"cost\": 2.50}\n");
    assert_eq!(import("a.jsonl.gz", &lines).ask("SELECT sum(cost) FROM t"), [[json!(2.5)]]);
    let bytes = parquet("SELECT DATE '2026-11-01' AS day, 3.5::DECIMAL(9,2) AS cost");
    let packed = pack(&bytes);
    assert_eq!(import("a.parquet.gz", &packed).ask("SELECT sum(cost) FROM t"), [[json!(3.5)]]);
}

#[test]
fn a_file_beyond_the_limits_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut job = job("a.csv", &ImportDecisions::default());
    job.limits.input_bytes = 10;
    let told = events(folder.path(), &job, b"Day,Cost\n2026-11-01,1.50\n");
    let Some(ImportEvent::Failure { error }) = told.last() else { panic!("{told:?}") };
    assert_eq!(error.details["reason"], "file_too_large");
    job.limits = ImportLimits { records: 1, ..ImportLimits::default() };
    let told = events(folder.path(), &job, b"Day,Cost\n2026-11-01,1.50\n2026-11-02,1.50\n");
    let Some(ImportEvent::Failure { error }) = told.last() else { panic!("{told:?}") };
    assert_eq!(error.details["reason"], "too_many_rows");
}

#[test]
fn a_packed_text_beyond_the_limits_is_refused_before_it_is_read_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let packed = pack(format!("a,b\n{}", "1,2\n".repeat(2_000_000)).as_bytes());
    let all = ImportLimits::default();
    for (limits, reason) in [
        (ImportLimits { records: 100_000, ..all }, "too_many_rows"),
        (ImportLimits { content_bytes: 400_000, ..all }, "file_too_large"),
    ] {
        let job = ImportJob { limits, ..job("a.csv.gz", &ImportDecisions::default()) };
        let told = events(folder.path(), &job, &packed);
        let Some(ImportEvent::Failure { error }) = told.last() else { panic!("{told:?}") };
        assert_eq!(error.details["reason"], reason);
        let records = |event: &ImportEvent| match event {
            ImportEvent::Progress { records, .. } => *records,
            _ => 0,
        };
        let read = told.iter().map(records).max();
        assert!(read < Some(200_000), "{reason}: {read:?} records were read");
    }
}

#[test]
fn an_empty_file_and_one_that_is_no_table_are_refused_with_a_sentence() {
    for content in [&b""[..], b"\n\n\n", b"%PDF-1.7", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01"] {
        let told = try_import("a.csv", content, &ImportDecisions::default());
        let refused = match &told {
            Err(error) => !error.message.is_empty(),
            Ok(imported) => imported.part.is_none(),
        };
        assert!(refused, "{content:?}");
    }
}

/// A file that another program replaces as soon as it was read once.
struct Replaced {
    file: std::fs::File,
    path: std::path::PathBuf,
}

impl std::io::Read for Replaced {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = std::io::Read::read(&mut self.file, buffer)?;
        if read == 0 {
            std::fs::write(&self.path, "Day,Cost\n2026-12-01,9999.00\n")?;
        }
        Ok(read)
    }
}

#[test]
fn a_file_that_is_replaced_while_it_is_imported_has_the_rows_that_were_read() {
    use sha2::Digest as _;
    let text = "Day,Cost\n2026-11-01,1.50\n2026-11-02,2.25\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export.csv");
    std::fs::write(&path, text).unwrap();
    let job = serde_json::to_string(&job("export.csv", &ImportDecisions::default())).unwrap();
    std::fs::write(folder.path().join("job.json"), job).unwrap();
    let input = Replaced { file: std::fs::File::open(&path).unwrap(), path: path.clone() };
    let mut output = Vec::new();
    assert!(run_in(folder.path(), &drivers(), input, text.len() as u64, &mut output));
    let told = String::from_utf8(output).unwrap();
    let end: ImportEvent = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    let ImportEvent::Result { report, part } = end else { panic!("{told}") };
    assert_ne!(std::fs::read_to_string(&path).unwrap(), text, "the file is another one");
    let digest = sha2::Sha256::digest(text);
    let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(report.hash, hash);
    let imported = Imported { folder, report: *report, part };
    imported.is_whole();
    let rows = imported.ask("SELECT \"Day\", \"Cost\" FROM t ORDER BY 1");
    assert_eq!(rows, [[json!("2026-11-01"), json!(1.5)], [json!("2026-11-02"), json!(2.25)]]);
}
