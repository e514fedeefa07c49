//! Hostile texts through `data.query`. None reads or writes anything outside of the sources of its call,
//! and the process goes on.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use contract::sources::{AskedSource, ColumnKind};
use csign_data::{DataError, serve::Asker, stop::Stop};
use kit::hostile_sql::{GREEDY, Trap, texts};
use serde_json::json;

use crate::{
    questions::ask,
    world::{World, column},
};

const SECRET: &str = "the-secret-of-another-source";

/// Places that a text may try to read: a file outside, a file of another source, and tables of the
/// system.
fn places(world: &World, trap: &Trap) -> Vec<String> {
    let outside = world.folder.path().join("outside.csv").display().to_string();
    let other = world.parts().join("other.parquet").display().to_string();
    let scratch = world.folder.path().join("scratch").display().to_string();
    let own = [
        outside,
        other,
        "/etc/passwd".to_owned(),
        format!("{scratch}/*"),
        "/proc/self/environ".to_owned(),
    ];
    own.into_iter().chain(trap.places()).collect()
}

fn with_secrets() -> (World, AskedSource) {
    let world = World::new();
    let text = [column("campaign", ColumnKind::Text, 0)];
    let part = world.part("ads", "SELECT 'A' AS campaign, 1.50::DECIMAL(18,2) AS cost", &text);
    world.part("other", &format!("SELECT '{SECRET}' AS column0"), &text);
    std::fs::write(world.folder.path().join("outside.csv"), format!("column0\n{SECRET}\n"))
        .unwrap();
    let mut part = part;
    part.columns.push(column("cost", ColumnKind::Decimal, 2));
    let source = world.source("ads", &[part]);
    (world, source)
}

/// Returns the files below a folder with their contents.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            found.insert(path.display().to_string(), std::fs::read(&path).unwrap());
        }
    }
    found
}

fn lives(asker: &Asker, source: &AskedSource) {
    let sources = std::slice::from_ref(source);
    let result = asker.query(&ask("SELECT sum(cost) FROM ads", sources), &Stop::never()).unwrap();
    assert_eq!(result.rows, [[json!(1.5)]]);
}

#[test]
fn hostile_texts_are_refused_and_change_nothing() {
    let (world, source) = with_secrets();
    let asker = world.asker();
    let before = contents(world.folder.path());
    let trap = Trap::start();
    let texts = texts(&places(&world, &trap), &world.folder.path().join("written"));
    assert!(texts.len() >= 500, "{}", texts.len());
    for text in &texts {
        let call = ask(text, std::slice::from_ref(&source));
        match asker.query(&call, &Stop::never()) {
            Err(DataError::Refused(_)) => {}
            other => panic!("{text}: {other:?}"),
        }
    }
    assert_eq!(contents(world.folder.path()), before, "no file changed");
    trap.assert_untouched();
    lives(&asker, &source);
}

#[test]
fn the_engine_itself_is_confined_to_the_folders_of_the_process() {
    // The check of texts is one wall. This is the next one, without it.
    let (world, _) = with_secrets();
    let settings = world.settings();
    let duck = csign_data::duck::Duck::open(&csign_data::duck::Settings {
        drivers: settings.drivers,
        folders: settings.read,
        scratch: settings.scratch,
        memory_bytes: 256 << 20,
        spill_bytes: 1 << 20,
        threads: 1,
    })
    .unwrap();
    let mut link = duck.connect().unwrap();
    let outside = world.folder.path().join("outside.csv").display().to_string();
    let written = world.folder.path().join("written");
    let trap = Trap::start();
    let [http, s3] = trap.places();
    for text in [
        format!("SELECT * FROM read_text('{outside}')"),
        format!("SELECT * FROM '{outside}'"),
        "SELECT * FROM read_text('/etc/passwd')".to_owned(),
        format!("SELECT * FROM '{http}'"),
        format!("SELECT * FROM read_parquet('{s3}')"),
        format!("COPY (SELECT 1) TO '{}'", written.display()),
        format!("ATTACH '{}'", written.display()),
        "SET allowed_directories = ['/']".to_owned(),
        "SET lock_configuration = false".to_owned(),
        "SET memory_limit = '100GB'".to_owned(),
        "INSTALL httpfs".to_owned(),
        "LOAD httpfs".to_owned(),
        "CREATE PERSISTENT SECRET s (TYPE http)".to_owned(),
    ] {
        assert!(link.run(&text).is_err(), "{text}");
    }
    assert!(!written.exists());
    trap.assert_untouched();
}

#[test]
fn greedy_texts_end_and_the_process_answers_the_next_question() {
    let (world, _) = with_secrets();
    let source = with_parts(&world);
    let read = world.parts().display().to_string();
    let scratch = world.folder.path().join("scratch");
    let args =
        ["serve", "--read", &read, "--memory-bytes", "268435456", "--spill-bytes", "33554432"];
    let mut client = crate::world::Client::start(&args, &scratch);
    for text in GREEDY {
        let mut call = ask(text, std::slice::from_ref(&source));
        call.limits.millis = 1_000;
        let id = client.send(
            "tools/call",
            json!({"name": "data.query", "arguments": serde_json::to_value(&call).unwrap()}),
        );
        match client.try_answer(id) {
            Some(answer) => {
                let is_error = answer["result"]["isError"] == json!(true);
                let size = answer.to_string().len();
                assert!(is_error || size < 9 << 20, "{text}: {size} bytes");
            }
            // A query that does not stop ends the process, which is started again.
            None => client = crate::world::Client::start(&args, &scratch),
        }
    }
    let call = ask("SELECT sum(cost) FROM ads", std::slice::from_ref(&source));
    let (result, is_error) = client.call("data.query", serde_json::to_value(&call).unwrap());
    assert!(!is_error && result["rows"] == json!([[1.5]]), "{result}");
}

/// A question that sorts many more rows than fit into memory.
const SPILLING: &str =
    "SELECT sum(i) AS s FROM (SELECT i FROM range(20000000) t(i) ORDER BY hash(i) OFFSET 1) u";

#[test]
fn a_question_spills_no_more_than_its_limit_and_leaves_nothing_behind() {
    let (world, _) = with_secrets();
    let source = with_parts(&world);
    let read = world.parts().display().to_string();
    let scratch = world.folder.path().join("scratch");
    let args =
        ["serve", "--read", &read, "--memory-bytes", "67108864", "--spill-bytes", "33554432"];
    let mut client = crate::world::Client::start(&args, &scratch);
    let call = ask(SPILLING, std::slice::from_ref(&source));
    let call = serde_json::to_value(&call).unwrap();
    let is_over = AtomicBool::new(false);
    let ((error, is_error), most) = thread::scope(|scope| {
        let watch = scope.spawn(|| most_bytes_in(&scratch, &is_over));
        let answer = client.call("data.query", call);
        is_over.store(true, Ordering::SeqCst);
        (answer, watch.join().unwrap())
    });
    assert!(is_error && error["details"]["reason"] == "question_too_large", "{error}");
    // Files grow by blocks, so that the last one may lie beyond the limit in part.
    assert!((8 << 20..=36 << 20).contains(&most), "{most} bytes were spilled");
    let latest = Instant::now() + Duration::from_secs(20);
    while bytes_in(&scratch).is_some() {
        assert!(Instant::now() < latest, "the spilled files are deleted");
        thread::sleep(Duration::from_millis(20));
    }
    let call = ask("SELECT sum(cost) FROM ads", std::slice::from_ref(&source));
    let (result, is_error) = client.call("data.query", serde_json::to_value(&call).unwrap());
    assert!(!is_error && result["rows"] == json!([[1.5]]), "{result}");
}

/// Returns the most bytes that a folder had until the work was over.
fn most_bytes_in(folder: &Path, is_over: &AtomicBool) -> u64 {
    let latest = Instant::now() + Duration::from_secs(90);
    let mut most = 0;
    while !is_over.load(Ordering::SeqCst) && Instant::now() < latest {
        most = most.max(bytes_in(folder).unwrap_or(0));
        thread::sleep(Duration::from_millis(5));
    }
    most
}

/// Returns the bytes of a folder's files, which may be deleted at any time. None without a file.
fn bytes_in(folder: &Path) -> Option<u64> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| Some(file.metadata().ok()?.len())).reduce(|sum, one| sum + one)
}

#[test]
fn no_other_function_makes_a_long_text_of_a_number() {
    let world = World::new();
    let asker = world.asker();
    let functions = allowed_functions(&world);
    assert!(functions.len() > 150, "{}", functions.len());
    for (name, kinds) in functions.iter().filter(|(_, kinds)| kinds.iter().any(|k| is_number(k))) {
        let argument = |kind: &String| match kind.as_str() {
            kind if is_number(kind) => "20000".to_owned(),
            _ => "'a'".to_owned(),
        };
        let arguments: Vec<String> = kinds.iter().map(argument).collect();
        let call = format!("\"{name}\"({})", arguments.join(", "));
        let text = format!("SELECT length(CAST({call} AS VARCHAR)) AS n");
        // Most functions do not take these arguments.
        let Ok(result) = asker.query(&ask(&text, &[]), &Stop::never()) else { continue };
        let length = result.rows[0][0].as_u64().unwrap_or(0);
        assert!(length < 1_000, "{call} has {length} characters");
    }
}

fn is_number(kind: &str) -> bool {
    kind.ends_with("INT") || kind.ends_with("INTEGER")
}

/// Returns the functions of the library that queries may call, with the types of their arguments.
fn allowed_functions(world: &World) -> Vec<(String, Vec<String>)> {
    let mut link = crate::properties::duck(world).connect().unwrap();
    let sql = "SELECT DISTINCT function_name, array_to_string(parameter_types, ',') FROM duckdb_functions() \
               WHERE function_type = 'scalar' AND function_name ~ '^[a-z0-9_]+$' ORDER BY ALL";
    let rows = csign_data::kept::Table::collect(link.ask(sql, &Stop::never()).unwrap(), u64::MAX);
    let page = rows.unwrap().page(0, u64::MAX, u64::MAX).unwrap();
    let text = |cell: &serde_json::Value| cell.as_str().unwrap_or_default().to_owned();
    let functions = page
        .rows
        .iter()
        .map(|row| (text(&row[0]), text(&row[1]).split(',').map(str::to_owned).collect()));
    // Lists count against the memory limit of the library, which ends the query.
    let makes_text = |name: &str| {
        csign_data::check::is_duckdb_function(name)
            && !csign_data::check::is_duckdb_table_function(name)
    };
    functions.filter(|(name, _)| makes_text(name)).collect()
}

fn with_parts(world: &World) -> AskedSource {
    let columns = [column("campaign", ColumnKind::Text, 0), column("cost", ColumnKind::Decimal, 2)];
    let part = world.part("ads", "SELECT 'A' AS campaign, 1.50::DECIMAL(18,2) AS cost", &columns);
    world.source("ads", &[part])
}
