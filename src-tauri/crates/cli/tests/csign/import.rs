//! Tests of `csign import`, which is short for `csign data add`: columns that are mapped and
//! remembered, lines that are refused with a remedy, and crafted files.

use std::{fs, io::Write as _};

use crate::world::{Ran, World, flat};

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const UNKNOWN: &str = "When;What;How much\n2.11.2026;Alpha;1.234,50\n3.11.2026;Alpha;0,50\n";
const MAPPED: [&str; 3] = ["--map=day=When", "--map=campaign=What", "'--map=spend=How much'"];

fn world() -> World {
    // The host starts this program for each file and for questions.
    kit::programs::program("csign-data");
    World::new()
}

fn file(world: &World, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = world.path(name);
    fs::write(&path, content).expect("written");
    path.display().to_string()
}

fn import(world: &World, file: &str, options: &[&str]) -> Ran {
    world.at_a_terminal(&[&["import", file], options].concat())
}

/// Returns the sum of a column of the source `export` without decimals.
fn sum(world: &World, column: &str) -> String {
    let sql = format!("SELECT CAST(CAST(sum(\"{column}\") AS BIGINT) AS VARCHAR) FROM export");
    let result = world.run(&["data", "query", &sql, "--json"]).ends_with(0).json();
    result["rows"][0][0].as_str().expect("a sum").to_owned()
}

#[track_caller]
fn assert_says(ran: &Ran, words: &[&str]) {
    let shown = flat(&ran.out);
    for part in words {
        assert!(shown.contains(part), "{part:?} is missing in\n{}", ran.out);
    }
}

#[test]
fn a_file_of_unknown_layout_can_be_asked_once_its_columns_are_mapped() {
    let world = world();
    let file = file(&world, "export.csv", UNKNOWN);
    let options = [&MAPPED[..], &["--account=Shop", "--currency=EUR"]].concat();
    let ran = import(&world, &file, &options).ends_with(0);
    assert_says(&ran, &["2 of 2 records", "time: day", "spend 1,235.00 EUR"]);
    assert_eq!(sum(&world, "spend"), "1235");
}

#[test]
fn mapping_a_missing_column_is_refused_with_a_list_of_the_columns() {
    let world = world();
    let file = file(&world, "export.csv", UNKNOWN);
    let ran = import(&world, &file, &["--map=day=Date"]).ends_with(1);
    assert_says(&ran, &["no column with the name Date", "When, What, How much"]);
    let ran = import(&world, &file, &["--map=day"]).ends_with(2);
    assert_says(&ran, &["--map spend="]);
}

#[test]
fn a_column_mapping_is_remembered_for_files_of_the_same_source() {
    let world = world();
    let first = file(&world, "october.csv", UNKNOWN);
    let options = [&MAPPED[..], &["--account=Shop", "--name=export"]].concat();
    import(&world, &first, &options).ends_with(0);
    let second = file(&world, "november.csv", "When;What;How much\n4.11.2026;Alpha;10,00\n");
    let ran = import(&world, &second, &["--name=export"]).ends_with(0);
    assert_says(&ran, &["1 of 1 record", "as for earlier files"]);
    assert_eq!(sum(&world, "spend"), "1245");
}

#[test]
fn rejected_lines_are_reported_by_cause_and_skipped_only_on_request() {
    let world = world();
    let days: String = (4..20).map(|day| format!("2026-11-{day:02},Alpha,1\n")).collect();
    let text =
        format!("Day,Campaign,Cost\n2026-11-01,Alpha,5\nsoon,Alpha,5\nlater,Alpha,5\n{days}");
    let file = file(&world, "export.csv", text);
    let ran = import(&world, &file, &["--account=A"]).ends_with(7);
    assert_says(&ran, &["2 x Day: ", "lines 3, 4", "--answer rejected=skip"]);
    let ran = import(&world, &file, &["--account=A", "--skip-rejected"]).ends_with(0);
    assert_says(&ran, &["17 of 19 records, 2 rejected"]);
    assert_eq!(sum(&world, "Cost"), "21");
}

/// Writes a workbook whose only sheet has these rows.
fn workbook(world: &World, name: &str, rows: &str, parts: &[(&str, String)]) -> String {
    let relation = |id: &str, kind: &str, target: &str| {
        format!(
            "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"{id}\" Type=\"{RELS}/{kind}\" Target=\"{target}\"/></Relationships>"
        )
    };
    let sheet = "<sheet name=\"s\" sheetId=\"1\" r:id=\"r1\"/>";
    let own = [
        ("_rels/.rels", relation("r0", "officeDocument", "xl/workbook.xml")),
        (
            "xl/workbook.xml",
            format!(
                "<workbook xmlns=\"{MAIN}\" xmlns:r=\"{RELS}\"><sheets>{sheet}</sheets></workbook>"
            ),
        ),
        ("xl/_rels/workbook.xml.rels", relation("r1", "worksheet", "worksheets/sheet1.xml")),
        (
            "xl/worksheets/sheet1.xml",
            format!("<worksheet xmlns=\"{MAIN}\"><sheetData>{rows}</sheetData></worksheet>"),
        ),
    ];
    let path = world.path(name);
    let mut zip = zip::ZipWriter::new(fs::File::create(&path).expect("made"));
    for (part, text) in own.iter().chain(parts) {
        zip.start_file(*part, zip::write::SimpleFileOptions::default()).expect("begun");
        zip.write_all(text.as_bytes()).expect("written");
    }
    zip.finish().expect("ended");
    path.display().to_string()
}

/// Imports files with at most 4 GiB of address space.
fn import_in_little_memory(world: &World, files: &[&str]) -> Ran {
    world.at_a_terminal_with("ulimit -v 4194304;", &[&["import"], files].concat())
}

#[test]
fn crafted_files_use_little_memory_and_do_not_prevent_the_next_import() {
    let world = world();
    let cell = |place: &str| format!("<c r=\"{place}\" t=\"str\"><v>x</v></c>");
    let far = format!("<row>{}{}</row>", cell("A1"), cell("XFD1048576"));
    let shared = |count: &str| {
        vec![("xl/sharedStrings.xml", format!("<sst xmlns=\"{MAIN}\" uniqueCount=\"{count}\"/>"))]
    };
    let long = world.path("long.csv");
    fs::File::create(&long).and_then(|file| file.set_len(300 << 20)).expect("a sparse file");
    let long = long.display().to_string();
    let pipe = world.path("pipe.csv").display().to_string();
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("runs").success());
    let zero = world.path("zero.csv");
    std::os::unix::fs::symlink("/dev/zero", &zero).expect("linked");
    let zero = zero.display().to_string();
    let open =
        format!("Day,Campaign,Cost\n2026-11-01,\"A,1\n{}", "2026-11-01,B,1\n".repeat(80_000));
    let crafted = [
        (workbook(&world, "far.xlsx", &far, &[]), "more than 2000 columns"),
        (
            workbook(&world, "reserved.xlsx", &far, &shared("99999999999")),
            "more cells or text than can be read",
        ),
        (
            workbook(&world, "endless.xlsx", &far, &shared("9223372036854775807")),
            "more cells or text than can be read",
        ),
        (
            workbook(&world, "bomb.xlsx", &far, &[("xl/styles.xml", "<a/>".repeat(17 << 20))]),
            "unpacks to more than can be read",
        ),
        (long, "not a text file"),
        (file(&world, "line.csv", "x".repeat(3 << 20)), "longer than"),
        (file(&world, "open.csv", open), "A quote in line 2 opens a cell"),
        (file(&world, "wide.csv", "a,".repeat(2_001)), "more than 2000 columns"),
        (pipe, "a pipe, a socket or a device"),
        (zero, "a pipe, a socket or a device"),
        ("/dev/zero".to_owned(), "a pipe, a socket or a device"),
    ];
    let files: Vec<&str> = crafted.iter().map(|(file, _)| file.as_str()).collect();
    let ran = import_in_little_memory(&world, &files).ends_with(1);
    for (file, words) in &crafted {
        let name = file.rsplit('/').next().unwrap_or_default();
        // A question stands on a line of its own, below the name of the file.
        let is_told = ran
            .out
            .lines()
            .any(|line| line.contains(words) && (line.contains(name) || name == "open.csv"));
        assert!(is_told, "{name}: {words:?} is missing in\n{}", ran.out);
    }
    let good = workbook(
        &world,
        "good.xlsx",
        &[
            ("A1", "Day"),
            ("B1", "Campaign"),
            ("C1", "Cost"),
            ("A2", "2026-11-01"),
            ("B2", "A"),
            ("C2", "5"),
        ]
        .map(|(place, text)| cell(place).replace("<v>x", &format!("<v>{text}")))
        .concat(),
        &[],
    );
    assert_says(&import_in_little_memory(&world, &[&good]).ends_with(0), &["1 of 1 record"]);
}
