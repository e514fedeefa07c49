//! Campaign portfolio pacing: compares spend with budget, based on delivery rows in its own SQLite
//! file. A fictional sample is used until CSV files are imported. The host provides the clock. The
//! crate knows no model, window or engine.
#![forbid(unsafe_code)]

mod advertisers;
mod analyze;
mod arg_reader;
mod args;
mod budget;
mod compare_accounts;
mod compared_lists;
mod csv_text;
mod data;
mod db;
mod entities;
mod flights;
mod import;
mod list;
mod list_accounts;
mod list_request;
mod money;
mod names;
mod old_data;
mod pace;
mod periods;
#[cfg(test)]
mod properties;
mod report;
mod rollup;
pub mod sample;
mod seed;
mod select;
mod service;
mod standing;
mod tables;
mod time;
mod what_if;
mod window;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
};

use chrono::{DateTime, Utc};
use contract::{
    AgentError, DataEntries, Datasets, ErrorCode, FileSurvey, ImportProblem, manifest::Entity,
};
use rusqlite::Connection;
use serde_json::{Map, Value};
use tabular::Memory;

use analyze::Setting;
pub use contract::data::{ImportOptions, ImportProgress};
pub use db::{Dataset, FILE};
pub use import::{FileKind, FileReport, ImportReport, MAX_ERRORS};
pub use money::MICROS;
pub use pace::Thresholds;
pub use sample::PacingSample;
pub use service::PacingService;

/// The service's name in the manifest.
pub const SERVICE: &str = "campaign-portfolio-pacing";
/// The id of the tool that analyses an account.
pub const TOOL: &str = "analyze_portfolio_pacing";
/// The id of the tool that compares accounts.
pub const COMPARE_TOOL: &str = "compare_accounts";
/// The id of the tool that lists accounts.
pub const LIST_TOOL: &str = "list_accounts";

/// A function that returns the present time. The host provides it.
pub type Clock = Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>;

/// The pacing service. Calls block on the database, so async code must use a blocking thread.
pub struct Pacing {
    path: PathBuf,
    clock: Clock,
    /// The thresholds for statuses. They are read at the start of each question, so a change takes
    /// effect with the next question.
    thresholds: Mutex<Thresholds>,
    /// The database. The first question opens it, so that a start without a question costs nothing.
    db: Mutex<Option<Connection>>,
}

impl Pacing {
    /// Makes a service with the file `pacing.db` in this folder, and creates the folder if needed.
    pub fn open(data_dir: &Path, clock: Clock) -> Result<Self, AgentError> {
        fs::create_dir_all(data_dir).map_err(|error| {
            AgentError::internal(
                "filesystem_error",
                "The data folder of the pacing pack cannot be made.",
            )
            .hint("Check the rights of the data folder and the free space.")
            .with("cause", error.to_string())
        })?;
        Ok(Self {
            path: data_dir.join(FILE),
            clock,
            thresholds: Mutex::default(),
            db: Mutex::new(None),
        })
    }

    /// Checks that this version can use the existing file. Creates and changes nothing.
    pub fn check(&self) -> Result<(), AgentError> {
        if !self.path.is_file() {
            return Ok(());
        }
        let db = Connection::open(&self.path).map_err(|e| db::database_error(&e))?;
        db::check_version(&db, &self.path)
    }

    /// Sets the thresholds from the pack's settings. If a setting is invalid, fails and changes no
    /// threshold.
    pub fn configure(&self, settings: &Map<String, Value>) -> Result<(), AgentError> {
        let thresholds = Thresholds::from_settings(settings)?;
        *self.thresholds.lock().unwrap_or_else(PoisonError::into_inner) = thresholds;
        Ok(())
    }

    /// Answers a call of the tool with this id.
    pub fn call(&self, tool: &str, arguments: &Value) -> Result<Value, AgentError> {
        let answer = match tool {
            TOOL => analyze::analyze,
            COMPARE_TOOL => compare_accounts::compare,
            LIST_TOOL => list_accounts::list,
            _ => {
                let error =
                    AgentError::new(ErrorCode::ToolNotFound, format!("There is no tool {tool}."));
                return Err(error.reason("tool_not_implemented"));
            }
        };
        let instant = (self.clock)();
        let limits = *self.thresholds.lock().unwrap_or_else(PoisonError::into_inner);
        self.with(|db, dataset| {
            answer(Setting { db, dataset, instant, limits: &limits }, arguments)
        })
    }

    /// Answers a call of `analyze_portfolio_pacing`.
    pub fn analyze(&self, arguments: &Value) -> Result<Value, AgentError> {
        self.call(TOOL, arguments)
    }

    /// Returns the accounts, advertisers and campaigns in the data, to recognise them in a message.
    pub fn entities(&self) -> Result<Vec<Entity>, AgentError> {
        self.with(|db, dataset| entities::all(db, dataset))
    }

    /// Returns the active data set.
    pub fn dataset(&self) -> Result<Dataset, AgentError> {
        self.with(|_, dataset| Ok(dataset))
    }

    /// Returns both data sets, and says which one is active.
    pub fn datasets(&self) -> Result<Datasets, AgentError> {
        let today = (self.clock)().date_naive();
        self.with(|db, active| {
            let (sample, imported) = (
                db::summary(db, Dataset::Sample, today)?,
                db::summary(db, Dataset::Imported, today)?,
            );
            Ok(Datasets { active, sample, imported })
        })
    }

    /// Makes the sample or the imported data active. Neither is deleted.
    pub fn use_dataset(&self, dataset: Dataset) -> Result<(), AgentError> {
        self.with(|db, _| {
            if dataset == Dataset::Imported && !db::has_imported_rows(db)? {
                return Err(AgentError::invalid("No delivery rows have been imported yet.")
                    .reason("nothing_imported")
                    .hint("Import a CSV file first."));
            }
            db::set_active(db, dataset)
        })
    }

    /// Imports files that are recognised by their columns.
    pub fn import(
        &self,
        paths: &[PathBuf],
        on_progress: &mut dyn FnMut(&ImportProgress),
        cancel: &AtomicBool,
    ) -> Result<ImportReport, AgentError> {
        self.import_as(paths, &ImportOptions::default(), on_progress, cancel)
    }

    /// Imports files of delivery rows and campaigns. `on_progress` is called often enough for a
    /// progress bar. Setting `cancel` ends the import and changes nothing. Meanwhile questions are
    /// answered from the earlier data.
    pub fn import_as(
        &self,
        paths: &[PathBuf],
        options: &ImportOptions,
        on_progress: &mut dyn FnMut(&ImportProgress),
        cancel: &AtomicBool,
    ) -> Result<ImportReport, AgentError> {
        // The sample is created first, because the import then locks the file against other
        // writers.
        self.with(|_, _| Ok(()))?;
        let mut db = db::open(&self.path)?;
        import::import(&mut db, paths, options, &self.memory(), on_progress, cancel)
    }

    /// Reads a file as `import_as` would, and stores nothing. Setting `cancel` ends it with an
    /// error.
    pub fn survey(
        &self,
        path: &Path,
        options: &ImportOptions,
        cancel: &AtomicBool,
    ) -> Result<FileSurvey, AgentError> {
        import::survey(path, options, &self.memory(), cancel)
    }

    /// Looks at a file like `survey`, but does not check its lines.
    pub fn survey_head(&self, path: &Path, options: &ImportOptions) -> FileSurvey {
        import::survey_head(path, options, &self.memory())
    }

    /// Forgets how a person mapped files with these columns.
    pub fn forget_layout(&self, shape: &str) -> Result<(), AgentError> {
        self.memory().forget(shape).map_err(|error| {
            AgentError::internal(
                "filesystem_error",
                "The mapping of the columns cannot be removed.",
            )
            .hint("Check the rights of the data folder and the free space.")
            .with("cause", error.to_string())
        })
    }

    /// Lists the campaigns of the imported data with their budgets and flights.
    pub fn entries(&self, query: &str) -> Result<DataEntries, AgentError> {
        self.with(|db, _| import::entries(db, query))
    }

    /// Stores budget and flight of a campaign. If a value has a problem, no value is stored.
    pub fn set_entry(
        &self,
        id: &str,
        values: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, ImportProblem>, AgentError> {
        self.with(|db, _| import::set_entry(db, id, values))
    }

    fn memory(&self) -> Memory {
        Memory::in_folder(self.path.parent().unwrap_or(Path::new("")))
    }

    /// Runs a function on the open database, after creating the sample if needed.
    fn with<T>(
        &self,
        run: impl FnOnce(&mut Connection, Dataset) -> Result<T, AgentError>,
    ) -> Result<T, AgentError> {
        let mut guard = self.db.lock().unwrap_or_else(PoisonError::into_inner);
        if guard.is_some() && !self.path.is_file() {
            // A person removed the file. Changes of a removed file would be lost.
            *guard = None;
        }
        let db = match guard.as_mut() {
            Some(db) => db,
            None => guard.insert(db::open(&self.path)?),
        };
        let dataset = db::active(db)?;
        if dataset == Dataset::Sample {
            seed::ensure(db)?;
        }
        run(db, dataset)
    }
}
