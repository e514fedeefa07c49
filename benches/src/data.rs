//! Measures the data engine: import and first answer of `csign data`, compared with DuckDB's Python
//! package that makes a table of the same file and answers the same question, each in processes of
//! their own; and start and memory of `csign-data`.

mod csign;
mod duckdb;
pub(crate) mod export;
mod programs;

use std::path::Path;
use std::time::Duration;

use crate::measure::Side;
use crate::turn::program;
use crate::{Outcome, table};

/// The numbers of rows, with the numbers of imports of each side.
const SIZES: [(u32, usize); 2] = [(1_000_000, 3), (5_000_000, 2)];
const STARTS: usize = 9;

pub(crate) fn report() -> Outcome {
    let folder = tempfile::tempdir()?;
    let duckdb = duckdb::find();
    let mut rows = Vec::new();
    let mut memory = Vec::new();
    for (count, runs) in SIZES {
        let file = folder.path().join(format!("ads-{count}.csv"));
        export::write(&file, count)?;
        let sides = Sides::measure(folder.path(), &file, duckdb.as_ref().ok(), runs)?;
        rows.extend(sides.rows(&file, count)?);
        memory = sides.memory(count);
        std::fs::remove_file(&file)?;
    }
    table::print(
        "Import and first answer of an export, against DuckDB's Python package",
        &["", "csign data", "csign-data alone", "DuckDB", "ratio", "aim"],
        &rows,
    );
    if let Err(why) = duckdb {
        println!("\nNot compared with DuckDB: {why}");
    }
    table::print(
        "Peak memory, the largest process",
        &["", "csign data", "csign-data alone", "DuckDB", "aim"],
        &memory,
    );
    starts(folder.path())?;
    sizes()
}

/// The measurements of one file.
#[derive(Default)]
struct Sides {
    /// `csign data add`, and `csign data measure` after it.
    import: Side,
    answer: Side,
    /// An importer, and a query process that answers several questions.
    importer: Side,
    server: Side,
    /// DuckDB with the same file.
    their_import: Side,
    their_answer: Side,
}

impl Sides {
    /// Measures all sides in turns, so that changes of the machine's load affect each of them.
    fn measure(
        folder: &Path,
        file: &Path,
        duckdb: Option<&duckdb::Python>,
        runs: usize,
    ) -> Outcome<Self> {
        let mut sides = Self::default();
        for _ in 0..runs {
            let profile = tempfile::tempdir_in(folder)?;
            let csign = csign::Csign::new(profile.path(), file)?;
            sides.import.add(csign.import(file)?);
            let (answer, figures) = csign.ask()?;
            sides.answer.add(answer);
            let alone = tempfile::tempdir_in(folder)?;
            let (importer, part) = programs::import(alone.path(), file)?;
            sides.importer.add(importer);
            sides.server.add(programs::ask(alone.path(), &part)?);
            if let Some(python) = duckdb {
                let database = alone.path().join("ads.duckdb");
                sides.their_import.add(python.import(file, &database)?);
                let (answer, theirs) = python.ask(&database)?;
                sides.their_answer.add(answer);
                if theirs != figures {
                    return Err(
                        format!("the figures differ: {figures:?}, DuckDB {theirs:?}").into()
                    );
                }
            }
        }
        Ok(sides)
    }

    fn rows(&self, file: &Path, count: u32) -> Outcome<[Vec<String>; 2]> {
        let size = table::mib(std::fs::metadata(file)?.len() / 1024);
        let row = |name: String, ours: &Side, alone: &Side, theirs: &Side, aim: &str| {
            let (ours, theirs) = (ours.median(), theirs.median());
            let shown = |time: Duration| {
                if time.is_zero() { "-".to_owned() } else { table::time(time) }
            };
            let ratio = table::ratio(ours, theirs);
            vec![name, shown(ours), shown(alone.median()), shown(theirs), ratio, aim.to_owned()]
        };
        Ok([
            row(
                format!("import, {count} rows ({size})"),
                &self.import,
                &self.importer,
                &self.their_import,
                "2",
            ),
            row(
                format!("first answer, {count} rows"),
                &self.answer,
                &self.server,
                &self.their_answer,
                "1.3",
            ),
        ])
    }

    fn memory(&self, count: u32) -> Vec<Vec<String>> {
        let row = |name: String, sides: [&Side; 3]| {
            let peaks = sides.map(|side| match side.peak_kib {
                0 => "-".to_owned(),
                kib => table::mib(kib),
            });
            let mut row = vec![name];
            row.extend(peaks);
            row.push("300 MiB".to_owned());
            row
        };
        vec![
            row(
                format!("import, {count} rows"),
                [&self.import, &self.importer, &self.their_import],
            ),
            row(
                format!("questions, {count} rows"),
                [&self.answer, &self.server, &self.their_answer],
            ),
        ]
    }
}

/// Measures the start of a query process.
fn starts(folder: &Path) -> Outcome {
    let (mut greeted, mut answered) = (Side::default(), Side::default());
    for _ in 0..STARTS {
        let (greeting, answer) = programs::start(folder)?;
        greeted.add(greeting);
        answered.add(answer);
    }
    let row = |name: &str, side: &Side, aim: &str| {
        vec![
            name.to_owned(),
            table::time(side.median()),
            table::time(side.quantile(0.95)),
            table::mib(side.peak_kib),
            aim.to_owned(),
        ]
    };
    table::print(
        &format!("Cold start of csign-data (files in memory), {STARTS} starts"),
        &["", "median", "95 %", "peak memory", "aim"],
        &[row("greeting", &greeted, "-"), row("first answer", &answered, "150 ms")],
    );
    Ok(())
}

/// Prints the sizes of the programs.
fn sizes() -> Outcome {
    let mut rows = Vec::new();
    for name in ["countersign", "csign", "csign-data"] {
        let size = std::fs::metadata(program(name)?)?.len();
        rows.push(vec![name.to_owned(), table::mib(size / 1024)]);
    }
    table::print("Size of the programs", &["", "file"], &rows);
    Ok(())
}
