//! The side of DuckDB's Python package, which `make bench` installs: it makes a table of the file in
//! a database, and answers from it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use super::csign::{Figures, cents};
use crate::Outcome;
use crate::measure::{Side, micros, wait_with_peak};

const PROGRAM: &str = include_str!("../../duckdb/side.py");
/// The packages of the libraries that csign-data uses, with their versions.
const LIBRARIES: &str = include_str!("../../../tools/data/server/drivers/package.json");

/// A Python with DuckDB's package.
pub(crate) struct Python(PathBuf);

/// Finds Python with the package in the version of csign-data's library, or says why there is none.
pub(crate) fn find() -> Result<Python, String> {
    let target = std::env::current_exe().ok();
    let target = target.as_deref().and_then(|exe| exe.parent()?.parent());
    let python = target.unwrap_or(Path::new("target")).join("duckdb-python/bin/python");
    if !python.is_file() {
        return Err("its Python package is not installed; `make bench` installs it.".to_owned());
    }
    let version = Python(python.clone()).run(&["version"]).map_err(|error| error.to_string())?.1;
    let version = version.trim();
    if LIBRARIES.contains(&format!("\"{version}-")) {
        Ok(Python(python))
    } else {
        Err(format!("its Python package {version} is not the version of csign-data's library."))
    }
}

impl Python {
    /// Makes a table of a file.
    pub(crate) fn import(&self, file: &Path, database: &Path) -> Outcome<Side> {
        let (file, database) = (file.display().to_string(), database.display().to_string());
        Ok(self.run(&["import", &database, &file])?.0)
    }

    /// Asks for cost and clicks of each campaign.
    pub(crate) fn ask(&self, database: &Path) -> Outcome<(Side, Figures)> {
        let (side, text) = self.run(&["ask", &database.display().to_string()])?;
        let rows: Vec<Vec<Value>> = serde_json::from_str(&text)?;
        let sum = rows.iter().map(|row| cents(&row[1])).sum::<Outcome<i64>>()?;
        Ok((side, (rows.len(), sum)))
    }

    fn run(&self, args: &[&str]) -> Outcome<(Side, String)> {
        let start = Instant::now();
        let mut child = Command::new(&self.0)
            .args(["-c", PROGRAM])
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let text = std::io::read_to_string(&mut child.stdout.take().ok_or("no output")?)?;
        let (status, peak_kib) = wait_with_peak(&child)?;
        if status != 0 {
            return Err(format!("DuckDB's side ended with status {status}").into());
        }
        Ok((Side { micros: vec![micros(start.elapsed())], peak_kib, ..Side::default() }, text))
    }
}
