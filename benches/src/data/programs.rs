//! `csign-data` without `csign`: an importer, and a query process with a client of its own.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use contract::sources::{
    AskLimits, AskQuery, AskedPlace, AskedSource, ImportDecisions, ImportEvent, ImportJob,
    ImportLimits, JOB_FILE, PartRef,
};
use serde_json::{Value, json};

use crate::measure::{Side, micros, wait_with_peak};
use crate::{Outcome, turn};

/// Questions over an export, the first of which is that of the other sides.
const QUESTIONS: [&str; 4] = [
    r#"SELECT "Campaign", sum("Cost"), sum("Clicks") FROM ads GROUP BY 1 ORDER BY 1"#,
    r#"SELECT date_trunc('month', "Day"), "Device", sum("Cost") / nullif(sum("Clicks"), 0) FROM ads GROUP BY 1, 2 ORDER BY 1, 2"#,
    r#"SELECT count(DISTINCT "Ad group"), min("Cost"), max("Cost") FROM ads"#,
    r#"SELECT "Day", "Ad group", sum("Cost") FROM ads GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 10"#,
];

fn side(took: Duration, peak_kib: u64) -> Side {
    Side { micros: vec![micros(took)], peak_kib, ..Side::default() }
}

/// Imports a file into an empty folder.
pub(crate) fn import(folder: &Path, file: &Path) -> Outcome<(Side, PartRef)> {
    let job = ImportJob {
        name: "ads.csv".to_owned(),
        decisions: ImportDecisions::default(),
        report_only: false,
        limits: ImportLimits::default(),
    };
    std::fs::write(folder.join(JOB_FILE), serde_json::to_string(&job)?)?;
    let start = Instant::now();
    let mut child = Command::new(turn::program("csign-data")?)
        .arg("import")
        .current_dir(folder)
        .stdin(File::open(file)?)
        .stdout(Stdio::piped())
        .spawn()?;
    let mut part = None;
    for line in BufReader::new(child.stdout.take().ok_or("no output")?).lines() {
        match serde_json::from_str(&line?)? {
            ImportEvent::Result { part: found, .. } => part = found,
            ImportEvent::Failure { error } => return Err(error.message.to_string().into()),
            ImportEvent::Progress { .. } => {}
        }
    }
    let (_, peak_kib) = wait_with_peak(&child)?;
    Ok((side(start.elapsed(), peak_kib), part.ok_or("the file left a question open")?))
}

/// Starts a query process and asks questions. Returns the time to the first answer, and the memory
/// of all of them.
pub(crate) fn ask(folder: &Path, part: &PartRef) -> Outcome<Side> {
    let source = AskedSource {
        name: "ads".into(),
        columns: part.columns.clone(),
        place: AskedPlace::Parts {
            folder: folder.display().to_string(),
            parts: vec![part.clone()],
        },
        definitions: None,
        approved: Vec::new(),
        covered: None,
        exports: Vec::new(),
        version: None,
    };
    let start = Instant::now();
    let mut client = Client::start(folder)?;
    let mut first = None;
    for sql in QUESTIONS {
        client.query(sql, std::slice::from_ref(&source))?;
        first.get_or_insert_with(|| start.elapsed());
    }
    Ok(side(first.unwrap_or_default(), client.end()?))
}

/// Starts a query process without data. Returns the times to its greeting and to its first answer.
pub(crate) fn start(folder: &Path) -> Outcome<(Side, Side)> {
    let start = Instant::now();
    let mut client = Client::start(folder)?;
    let greeted = start.elapsed();
    client.query("SELECT 1", &[])?;
    let answered = start.elapsed();
    let peak_kib = client.end()?;
    Ok((side(greeted, peak_kib), side(answered, peak_kib)))
}

/// A client of a query process.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u64,
}

impl Client {
    fn start(folder: &Path) -> Outcome<Self> {
        let scratch = folder.join("scratch");
        std::fs::create_dir_all(&scratch)?;
        let mut child = Command::new(turn::program("csign-data")?)
            .args(["serve", "--read"])
            .arg(folder)
            .current_dir(scratch)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("no input")?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut client = Self { child, input, output, id: 0 };
        client.ask(
            "initialize",
            &json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"},
            }),
        )?;
        client.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(client)
    }

    fn query(&mut self, sql: &str, sources: &[AskedSource]) -> Outcome {
        let arguments = AskQuery {
            sql: sql.to_owned(),
            sources: sources.to_vec(),
            limits: AskLimits::default(),
            cursor: None,
        };
        let call = json!({"name": "data.query", "arguments": arguments});
        let answer = self.ask("tools/call", &call)?;
        if answer["result"]["structuredContent"]["rows"].is_array() {
            Ok(())
        } else {
            Err(format!("{sql}: {answer}").into())
        }
    }

    fn say(&mut self, message: &Value) -> Outcome {
        writeln!(self.input, "{message}")?;
        Ok(self.input.flush()?)
    }

    fn ask(&mut self, method: &str, params: &Value) -> Outcome<Value> {
        self.id += 1;
        self.say(&json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}))?;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                return Err("csign-data ended".into());
            }
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == self.id {
                return Ok(message);
            }
        }
    }

    /// Ends the process. Returns its peak memory in KiB.
    fn end(self) -> Outcome<u64> {
        let Self { child, input, output, .. } = self;
        drop((input, output));
        Ok(wait_with_peak(&child)?.1)
    }
}
