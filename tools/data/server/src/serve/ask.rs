//! The open database of a query process, and the tables of the sources of one call.

use std::path::{Component, Path, PathBuf};

use contract::{
    Text,
    metric_query::DataResult,
    sources::{AskedPlace, AskedSource, SourceProfile},
};

use crate::{
    DataError,
    duck::{Duck, Settings},
    kept::{Kept, Table},
    link::Link,
    parts,
    sql::identifier,
};

/// How a query process is started.
#[derive(Clone, Debug)]
pub struct ServeSettings {
    /// The folders with parts.
    pub read: Vec<PathBuf>,
    /// The folder for spilling, which is empty.
    pub scratch: PathBuf,
    /// The folder with the library.
    pub drivers: PathBuf,
    /// The most memory of the library in bytes.
    pub memory_bytes: u64,
    /// The most bytes that are spilled.
    pub spill_bytes: u64,
    /// The most threads of the library.
    pub threads: u32,
}

/// The open database of a query process.
pub struct Asker {
    duck: Duck,
    /// The only folder in which the process writes.
    pub(super) scratch: PathBuf,
    pub(super) kept: Kept<Table>,
    pub(super) measured: Kept<DataResult>,
    pub(super) profiled: Kept<SourceProfile>,
}

impl Asker {
    /// Opens the database.
    pub fn open(settings: &ServeSettings) -> Result<Self, DataError> {
        let duck = Duck::open(&Settings {
            drivers: settings.drivers.clone(),
            folders: settings.read.clone(),
            scratch: settings.scratch.clone(),
            memory_bytes: settings.memory_bytes,
            spill_bytes: settings.spill_bytes,
            threads: settings.threads,
        })?;
        let scratch = settings.scratch.clone();
        Ok(Self {
            duck,
            scratch,
            kept: Kept::default(),
            measured: Kept::default(),
            profiled: Kept::default(),
        })
    }

    /// Opens a connection on which the sources of a call are tables. Returns what a person should
    /// know about them. Other calls do not see these tables.
    pub(super) fn connect(&self, sources: &[AskedSource]) -> Result<(Link, Vec<Text>), DataError> {
        let mut link = self.duck.connect()?;
        let mut notes = Vec::new();
        for source in sources {
            let table = table_of(source)?;
            let name = identifier(source.name.as_str());
            link.run(&format!("CREATE TEMP VIEW {name} AS {}", table.sql))?;
            notes.extend(table.notes);
        }
        Ok((link, notes))
    }
}

fn table_of(source: &AskedSource) -> Result<parts::PartTable, DataError> {
    let AskedPlace::Parts { folder, parts } = &source.place else {
        return Err(DataError::Arguments(format!(
            "the source {} is in a database, which another process asks",
            source.name
        )));
    };
    let files = parts.iter().flat_map(|part| {
        let later = part.without.iter().filter_map(|exclusion| match exclusion {
            contract::sources::Exclusion::Keys { of, .. } => Some(of),
            contract::sources::Exclusion::Scope { .. } => None,
        });
        std::iter::once(&part.file).chain(later)
    });
    for file in files {
        check_file_name(file)?;
    }
    if !Path::new(folder).is_absolute() {
        return Err(DataError::Arguments(format!("the folder {folder} is no absolute path")));
    }
    Ok(parts::table(folder, parts, &source.columns))
}

/// Refuses names that leave the folder, or that the library reads as a pattern.
pub(super) fn check_file_name(file: &str) -> Result<(), DataError> {
    let mut components = Path::new(file).components();
    let is_one =
        matches!(components.next(), Some(Component::Normal(_))) && components.next().is_none();
    if is_one && !file.contains(['*', '?', '[', '{', '\0']) {
        Ok(())
    } else {
        Err(DataError::Arguments(format!("{file} is no name of a file")))
    }
}
