//! Checks the figures of an export of some records. Each must be the figure of its record. The hash of
//! its parts must be the data version that the record has, and each file must have its hash. So a
//! record proves the rows from which its figures were computed. The statements for the database
//! library are not checked.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path};

use contract::{Text, text};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::figure_rows::{self, Found};
use crate::{canon, hex};

/// The folder of the figures, and its list.
const FOLDER: &str = "data";
const LIST: &str = "data/figures.jsonl";
/// The maximum number of bytes of the list, and of the rows of a figure.
const MAX_LIST: u64 = 256 << 20;
const MAX_ROWS: u64 = 64 << 20;
/// The maximum number of problems that are listed.
const MAX_FAULTS: usize = 10;

/// A line of the list.
#[derive(Deserialize)]
struct Line {
    record: u64,
    sql: String,
    query_hash: String,
    definitions: Value,
    data_version: Value,
    #[serde(default)]
    sources: Vec<Source>,
    #[serde(default)]
    csv: Option<String>,
    #[serde(default)]
    left_out: Option<String>,
}

#[derive(Deserialize)]
struct Source {
    name: String,
    #[serde(default)]
    version: Option<String>,
    place: Place,
}

#[derive(Deserialize)]
struct Place {
    /// The parts as they were hashed for the data version.
    #[serde(default)]
    parts: Value,
}

/// The figures of a folder, compared while the values of records are read.
#[derive(Default)]
pub(super) struct Figures {
    faults: Vec<Text>,
    /// The files that were checked.
    names: BTreeSet<String>,
    /// The figures whose records were not read yet.
    lines: BTreeMap<u64, Line>,
    /// The rows of these figures.
    rows: BTreeMap<u64, String>,
}

impl Figures {
    /// Checks the files of the folder, if it has figures.
    pub(super) fn read(folder: &Path) -> Self {
        let mut figures = Self::default();
        if !folder.join(FOLDER).is_dir() {
            return figures;
        }
        let list = match files::read_text(&folder.join(LIST), MAX_LIST) {
            Ok(list) => list,
            Err(error) => {
                figures.add_fault(LIST, &error.to_string());
                return figures;
            }
        };
        figures.names.insert(LIST.to_owned());
        for text in list.lines() {
            match serde_json::from_str::<Line>(text) {
                Ok(line) => figures.add_line(folder, line),
                Err(_) => figures.add_fault(LIST, "a line cannot be read"),
            }
        }
        figures
    }

    fn add_fault(&mut self, name: &str, why: &str) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(text!("{name}: {why}", name, why));
        }
    }

    fn add_line(&mut self, folder: &Path, line: Line) {
        if line.left_out.is_none() {
            if let Err(why) = check_versions(&line) {
                self.add_fault(LIST, &format!("record {}: {why}", line.record));
            }
            for source in &line.sources {
                self.check_parts(folder, &source.place.parts);
            }
            self.check_rows(folder, &line);
        }
        let record = line.record;
        if self.lines.insert(record, line).is_some() {
            self.add_fault(LIST, &format!("record {record} is named twice"));
        }
    }

    /// Checks the files of parts, each once.
    fn check_parts(&mut self, folder: &Path, parts: &Value) {
        for (file, hash) in parts.as_array().into_iter().flatten().flat_map(files_of) {
            let name = format!("{FOLDER}/parts/{file}");
            if self.names.contains(&name) {
                continue;
            }
            match hash_file(&folder.join(FOLDER).join("parts"), file) {
                Ok(found) if found == hash => {
                    self.names.insert(name);
                }
                Ok(_) => self.add_fault(&name, "it has another hash than the figures need"),
                Err(why) => self.add_fault(&name, &why),
            }
        }
    }

    fn check_rows(&mut self, folder: &Path, line: &Line) {
        let file = format!("{}.csv", line.record);
        let name = format!("{FOLDER}/figures/{file}");
        let place = folder.join(FOLDER).join("figures");
        let found = hash_file(&place, &file);
        match (found, &line.csv) {
            (Ok(found), Some(hash)) if found == *hash => {
                // Larger ones are listed as not checked.
                if let Ok(rows) = files::read_text(&place.join(&file), MAX_ROWS) {
                    self.rows.insert(line.record, rows);
                }
            }
            (Ok(_), _) => self.add_fault(&name, "it has another hash than the list"),
            (Err(why), _) => self.add_fault(&name, &why),
        }
    }

    /// Compares the figure of a record with its value, which was checked.
    pub(super) fn add_value(&mut self, seq: u64, member: &str, value: &str) {
        if member != "result" {
            return;
        }
        let Some(line) = self.lines.remove(&seq) else { return };
        let Some(result) = result_of(value) else {
            return self.add_fault(LIST, &format!("record {seq} has no figures"));
        };
        let is_same = result["query"] == line.query_hash.as_str()
            && result["data_version"] == line.data_version
            && result["definitions"] == line.definitions
            && result["sql"] == line.sql.as_str();
        if !is_same {
            self.add_fault(LIST, &format!("the figures of record {seq} are others"));
        }
        let Some(rows) = self.rows.remove(&seq) else { return };
        let name = format!("{FOLDER}/figures/{seq}.csv");
        match figure_rows::compare(&result, &rows) {
            Found::Same => {
                self.names.insert(name);
            }
            Found::Other => self.add_fault(&name, "it has other figures than its record"),
            Found::Unknown => {}
        }
    }

    /// Ends the comparison. Returns the problems and the files that were checked.
    pub(super) fn finish(mut self) -> (Vec<Text>, BTreeSet<String>) {
        let missing: Vec<u64> = self.lines.keys().copied().collect();
        for record in missing {
            self.add_fault(LIST, &format!("the export has no figures of record {record}"));
        }
        (self.faults, self.names)
    }
}

/// Checks that the parts of each source are those of its data version, and that the figure's version
/// names them.
fn check_versions(line: &Line) -> Result<(), String> {
    for source in &line.sources {
        let parts = canon::canonical(&source.place.parts).map_err(|error| error.to_string())?;
        if source.version.as_deref() != Some(hash_of(&parts).as_str()) {
            return Err(format!("the parts of {} are not those of its data version", source.name));
        }
    }
    let stated = match (&line.data_version, line.sources.as_slice()) {
        (Value::String(version), []) => version.is_empty(),
        (Value::String(version), [one]) => one.version.as_ref() == Some(version),
        (Value::Object(versions), sources) => {
            versions.len() == sources.len()
                && sources.iter().all(|source| {
                    versions.get(&source.name).and_then(Value::as_str) == source.version.as_deref()
                })
        }
        _ => false,
    };
    if stated { Ok(()) } else { Err("the data version names other sources".to_owned()) }
}

/// Returns the files that a part needs with their hashes: its own, and those with keys that exclude
/// rows of it. Each of these has the name of its hash.
fn files_of(part: &Value) -> Vec<(&str, &str)> {
    let own = part["file"].as_str().zip(part["hash"].as_str());
    let keys = part["without"].as_array().into_iter().flatten();
    let keys = keys.filter_map(|exclusion| {
        let of = exclusion["of"].as_str()?;
        Some((of, of.split('.').next().unwrap_or_default()))
    });
    own.into_iter().chain(keys).collect()
}

/// Returns the figures in a value: the text of a JSON text. Those of a chart are inside.
fn result_of(value: &str) -> Option<Value> {
    let text: String = serde_json::from_str(value).ok()?;
    let mut result: Value = serde_json::from_str(&text).ok()?;
    match result.get_mut("result").filter(|figures| figures.is_object()) {
        Some(figures) => Some(figures.take()),
        None => Some(result),
    }
}

fn hash_of(bytes: &[u8]) -> String {
    hex::encode(&Sha256::digest(bytes))
}

/// Returns the hash of a file of a folder.
fn hash_file(folder: &Path, name: &str) -> Result<String, String> {
    let mut components = Path::new(name).components();
    let is_one =
        matches!(components.next(), Some(Component::Normal(_))) && components.next().is_none();
    if !is_one {
        return Err("it is no name of a file".to_owned());
    }
    let mut file: File = files::open(&folder.join(name)).map_err(|error| error.to_string())?;
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer).map_err(|error| error.to_string())? {
            0 => return Ok(hex::encode(&hasher.finalize())),
            read => hasher.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}
