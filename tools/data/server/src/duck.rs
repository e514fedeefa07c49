//! DuckDB through ADBC: opened in memory, confined to given folders, and locked. Knows nothing of
//! sources.

use std::path::{Path, PathBuf};

use adbc_core::{Database as _, Driver as _};
use adbc_driver_manager::ManagedDatabase;

use crate::{
    DataError, drivers,
    link::{Link, engine},
    sql,
};

/// How DuckDB is opened.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder with the library.
    pub drivers: PathBuf,
    /// The folders whose files SQL may name. The process may be confined further.
    pub folders: Vec<PathBuf>,
    /// The folder for spilling.
    pub scratch: PathBuf,
    /// The most memory of the library in bytes.
    pub memory_bytes: u64,
    /// The most bytes that are spilled.
    pub spill_bytes: u64,
    /// The most threads.
    pub threads: u32,
}

/// An open DuckDB.
pub struct Duck {
    database: ManagedDatabase,
}

impl Duck {
    /// Opens DuckDB, sets its limits and locks them.
    pub fn open(settings: &Settings) -> Result<Self, DataError> {
        let mut driver = drivers::load(&settings.drivers, drivers::DUCKDB)?;
        let database = driver.new_database().map_err(engine)?;
        let duck = Self { database };
        let mut link = duck.connect()?;
        for statement in settings.statements() {
            link.run(&statement)?;
        }
        Ok(duck)
    }

    /// Opens a connection. Its temporary tables and views are its own.
    pub fn connect(&self) -> Result<Link, DataError> {
        Ok(Link::new(self.database.new_connection().map_err(engine)?, &[]))
    }
}

impl Settings {
    fn statements(&self) -> Vec<String> {
        let folders: Vec<String> =
            self.folders.iter().map(|folder| folder.display().to_string()).collect();
        let set = |name: &str, value: String| format!("SET {name} = {value}");
        let text = |path: &Path| sql::literal(&path.display().to_string());
        vec![
            set("threads", self.threads.max(1).to_string()),
            set("memory_limit", sql::literal(&format!("{}B", self.memory_bytes))),
            set("temp_directory", text(&self.scratch)),
            set("max_temp_directory_size", sql::literal(&format!("{}B", self.spill_bytes))),
            set("allowed_directories", sql::list(folders.iter().map(String::as_str))),
            set("autoinstall_known_extensions", "false".to_owned()),
            set("autoload_known_extensions", "false".to_owned()),
            set("allow_community_extensions", "false".to_owned()),
            set("allow_persistent_secrets", "false".to_owned()),
            set("TimeZone", "'UTC'".to_owned()),
            // Results and parts have the order of their rows on any number of threads.
            set("preserve_insertion_order", "true".to_owned()),
            // Cannot be undone, and leaves the folders above.
            set("enable_external_access", "false".to_owned()),
            set("lock_configuration", "true".to_owned()),
        ]
    }
}
