//! Compares the tiled form of an export with its records. The files must be exactly those that the
//! records produce.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use contract::{Text, text};

use crate::note::CosignedNote;
use crate::tiles::{TileFile, Tiler};

/// The maximum number of bytes of a checkpoint with the lines of its witnesses.
const MAX_CHECKPOINT: u64 = 1 << 20;
/// The maximum number of problems that are listed.
const MAX_FAULTS: usize = 10;

/// The tiled form of a log, compared while the log's records are read.
pub(super) struct TileCheck {
    folder: PathBuf,
    checkpoint: String,
    size: u64,
    seen: u64,
    tiler: Tiler,
    faults: Vec<Text>,
    /// The files that were compared.
    names: Vec<String>,
}

impl TileCheck {
    /// Opens the tiled form if the export has one. `newest` is the export's newest checkpoint.
    pub(super) fn open(folder: &Path, newest: Option<&String>) -> Option<Self> {
        let folder = folder.join("tiles");
        if !folder.is_dir() {
            return None;
        }
        let mut check = Self {
            folder,
            checkpoint: newest.cloned().unwrap_or_default(),
            size: 0,
            seen: 0,
            tiler: Tiler::new(),
            faults: Vec::new(),
            names: vec!["tiles/checkpoint".to_owned()],
        };
        check.read_checkpoint();
        Some(check)
    }

    fn read_checkpoint(&mut self) {
        let parsed = files::read_text(&self.folder.join("checkpoint"), MAX_CHECKPOINT)
            .map_err(|error| error.to_string())
            .and_then(|text| {
                let cosigned = CosignedNote::parse(&text).map_err(|error| error.to_string())?;
                if text.starts_with(&self.checkpoint) && !self.checkpoint.is_empty() {
                    Ok(cosigned.note.size)
                } else {
                    Err("it is not the newest one of checkpoint.txt".to_owned())
                }
            });
        match parsed {
            Ok(size) => self.size = size,
            Err(why) => {
                self.faults.push(text!("verification of tiles/checkpoint failed: {why}", why));
            }
        }
    }

    /// Adds the next valid record.
    pub(super) fn add_record(&mut self, record: &[u8]) {
        if self.seen < self.size {
            self.seen += 1;
            for file in self.tiler.push(record) {
                self.compare(&file);
            }
        }
    }

    /// Ends the comparison. Returns the problems, and the files that were compared.
    pub(super) fn finish(mut self) -> (Vec<Text>, Vec<String>) {
        for file in std::mem::replace(&mut self.tiler, Tiler::new()).finish() {
            self.compare(&file);
        }
        (self.faults, self.names)
    }

    fn compare(&mut self, expected: &TileFile) {
        let name = format!("tiles/{}", expected.path);
        self.names.push(name.clone());
        let fault = match holds_exactly(&self.folder.join(&expected.path), &expected.bytes) {
            Ok(true) => return,
            Ok(false) => {
                text!("the file {name} does not hold what the records say: it was changed", name)
            }
            Err(error) => text!("the file {name} cannot be read ({error})", name, error),
        };
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(fault);
        }
    }
}

fn holds_exactly(path: &Path, expected: &[u8]) -> std::io::Result<bool> {
    let mut bytes = Vec::with_capacity(expected.len() + 1);
    files::open(path)?.take(expected.len() as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes == expected)
}
