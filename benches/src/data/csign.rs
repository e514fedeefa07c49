//! The side of `csign data`: a profile of its own, an import by a program that a person allowed, and
//! a metric query.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use crate::measure::{Side, micros, wait_with_peak};
use crate::{Outcome, turn};

const SOURCE: &str = "ads";

/// The number of groups of an answer, and the sum of their costs in cents.
pub(crate) type Figures = (usize, i64);

/// A profile with a program that uses it.
pub(crate) struct Csign {
    program: PathBuf,
    folder: PathBuf,
}

impl Csign {
    /// Creates a profile that allows imports from the folder of a file.
    pub(crate) fn new(folder: &Path, file: &Path) -> Outcome<Self> {
        let csign = Self { program: turn::program("csign")?, folder: folder.to_owned() };
        let allowed = file.parent().ok_or("the file has no folder")?;
        csign.run_at_a_terminal(&["data", "allow", &allowed.display().to_string()])?;
        Ok(csign)
    }

    /// Imports a file.
    pub(crate) fn import(&self, file: &Path) -> Outcome<Side> {
        let file = file.display().to_string();
        Ok(self.run(&["data", "add", &file, "--name", SOURCE, "--yes", "--json"])?.0)
    }

    /// Asks for cost and clicks of each campaign.
    pub(crate) fn ask(&self) -> Outcome<(Side, Figures)> {
        let described: Value =
            serde_json::from_str(&self.run(&["data", "describe", SOURCE, "--json"])?.1)?;
        let named = |kind: &str, member: &str, column: &str| {
            let mut all = described["definitions"][kind].as_object().into_iter().flatten();
            let found = all.find(|(_, one)| one[member] == column);
            found.map(|(name, _)| name.clone()).ok_or(format!("{column} has no definition"))
        };
        let cost = named("measures", "sum", "Cost")?;
        let question = json!({
            "source": SOURCE,
            "measures": [cost, named("measures", "sum", "Clicks")?],
            "by": [named("dimensions", "column", "Campaign")?],
        });
        let (side, text) = self.run(&["data", "measure", &question.to_string(), "--json"])?;
        let answer: Value = serde_json::from_str(&text)?;
        let columns = answer["columns"].as_array().ok_or("no columns")?;
        let at = columns.iter().position(|column| column["name"] == json!(cost));
        let at = at.ok_or("no column of the cost")?;
        let rows = answer["rows"].as_array().ok_or("no rows")?;
        let sum = rows.iter().map(|row| cents(&row[at])).sum::<Outcome<i64>>()?;
        Ok((side, (rows.len(), sum)))
    }

    fn run(&self, args: &[&str]) -> Outcome<(Side, String)> {
        let mut command = Command::new(&self.program);
        command.arg("--data-dir").arg(self.folder.join("data")).args(args);
        self.run_to_end(command, &args.join(" "))
    }

    /// Runs the program at a terminal of its own, as a person does.
    fn run_at_a_terminal(&self, args: &[&str]) -> Outcome {
        let args: Vec<String> = args.iter().map(|arg| format!("'{arg}'")).collect();
        let line = format!(
            "exec '{}' --data-dir '{}' {}",
            self.program.display(),
            self.folder.join("data").display(),
            args.join(" ")
        );
        let mut command = Command::new("script");
        command
            .args(["--quiet", "--return", "--flush", "--command", &line, "/dev/null"])
            .env("SHELL", "/bin/sh");
        self.run_to_end(command, &args.join(" ")).map(drop)
    }

    fn run_to_end(&self, mut command: Command, what: &str) -> Outcome<(Side, String)> {
        let start = Instant::now();
        let mut child = command
            .env("XDG_STATE_HOME", self.folder.join("state"))
            .env("XDG_RUNTIME_DIR", &self.folder)
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut output = child.stdout.take().ok_or("no output")?;
        let text = std::io::read_to_string(&mut output)?;
        let (status, peak_kib) = wait_with_peak(&child)?;
        if status != 0 {
            return Err(format!("`csign {what}` ended with status {status}: {text}").into());
        }
        Ok((Side { micros: vec![micros(start.elapsed())], peak_kib, ..Side::default() }, text))
    }
}

/// Reads a cell with an amount. Returns hundredths.
pub(crate) fn cents(cell: &Value) -> Outcome<i64> {
    let text = cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
    let (whole, places) = text.split_once('.').unwrap_or((&text, ""));
    Ok(format!("{whole}{places:0<2.2}").parse()?)
}
