//! Campaign portfolio pacing: how spend runs against budget, over delivery rows in an own SQLite file. A fictional sample
//! is there from the start; CSV files replace it. The clock is given by the host; nothing here knows a model, a window or
//! the engine.
#![forbid(unsafe_code)]

mod analyze;
mod args;
mod csv_text;
mod data;
mod db;
mod entities;
mod import;
mod money;
mod names;
mod pace;
#[cfg(test)]
mod properties;
mod report;
mod rollup;
pub mod sample;
mod seed;
mod select;
mod service;
mod time;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, atomic::AtomicBool},
};

use chrono::{DateTime, Utc};
use contract::{AgentError, Datasets, manifest::Entity};
use rusqlite::Connection;
use serde_json::{Map, Value};

pub use contract::data::ImportProgress;
pub use db::{Dataset, FILE};
pub use import::{FileKind, FileReport, ImportReport, MAX_ERRORS};
pub use money::MICROS;
pub use pace::Thresholds;
pub use service::PacingService;

/// The service's name in the manifest.
pub const SERVICE: &str = "campaign-portfolio-pacing";
/// The tool's id in the manifest.
pub const TOOL: &str = "analyze_portfolio_pacing";

/// The present moment, given by the host.
pub type Clock = Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>;

/// The pacing service. Calls block on the database: from async code use a blocking thread.
pub struct Pacing {
    path: PathBuf,
    clock: Clock,
    /// Read at the start of each question: a change holds from the next one on.
    thresholds: Mutex<Thresholds>,
    /// Opened at the first question, so that a start that asks nothing costs nothing.
    db: Mutex<Option<Connection>>,
}

impl Pacing {
    /// A service whose data lies in `pacing.db` in this folder, which is made when it is not there.
    pub fn open(data_dir: &Path, clock: Clock) -> Result<Self, AgentError> {
        fs::create_dir_all(data_dir).map_err(|error| {
            AgentError::internal("filesystem_error", "The data folder of the pacing pack cannot be made.")
                .hint("Check the rights of the data folder and the free space.")
                .with("cause", error.to_string())
        })?;
        Ok(Self { path: data_dir.join(FILE), clock, thresholds: Mutex::default(), db: Mutex::new(None) })
    }

    /// Whether this version can use the file that is there. Nothing is made or changed.
    pub fn check(&self) -> Result<(), AgentError> {
        if !self.path.is_file() {
            return Ok(());
        }
        let db = Connection::open(&self.path).map_err(|e| db::failed(&e))?;
        db::check_version(&db, &self.path)
    }

    /// Takes other limits between statuses from the pack's settings. What does not fit changes nothing.
    pub fn configure(&self, settings: &Map<String, Value>) -> Result<(), AgentError> {
        let thresholds = Thresholds::from_settings(settings)?;
        *self.thresholds.lock().unwrap_or_else(PoisonError::into_inner) = thresholds;
        Ok(())
    }

    /// Answers a call of `analyze_portfolio_pacing`.
    pub fn analyze(&self, arguments: &Value) -> Result<Value, AgentError> {
        let now = (self.clock)();
        let thresholds = *self.thresholds.lock().unwrap_or_else(PoisonError::into_inner);
        self.with(|db, dataset| analyze::analyze(db, dataset, now, &thresholds, arguments))
    }

    /// The accounts and advertisers in the data, for recognising them in a message.
    pub fn entities(&self) -> Result<Vec<Entity>, AgentError> {
        self.with(|db, dataset| entities::all(db, dataset))
    }

    /// Which data answers.
    pub fn dataset(&self) -> Result<Dataset, AgentError> {
        self.with(|_, dataset| Ok(dataset))
    }

    /// Both sets of data, with the one that answers.
    pub fn datasets(&self) -> Result<Datasets, AgentError> {
        let today = (self.clock)().date_naive();
        self.with(|db, active| {
            let (sample, imported) = (db::summary(db, Dataset::Sample, today)?, db::summary(db, Dataset::Imported, today)?);
            Ok(Datasets { active, sample, imported })
        })
    }

    /// Puts the sample or the imported data in force. Neither is deleted by this.
    pub fn use_dataset(&self, dataset: Dataset) -> Result<(), AgentError> {
        self.with(|db, _| {
            if dataset == Dataset::Imported && !db::has_imported_rows(db)? {
                return Err(AgentError::invalid("No delivery rows have been imported yet.").reason("nothing_imported").hint("Import a CSV file first."));
            }
            db::set_active(db, dataset)
        })
    }

    /// Reads CSV files of delivery rows and campaigns. `on_progress` is called often enough for a progress bar; setting
    /// `cancel` ends the import without a trace. Questions are answered from the earlier data meanwhile.
    pub fn import(&self, paths: &[PathBuf], on_progress: &mut dyn FnMut(&ImportProgress), cancel: &AtomicBool) -> Result<ImportReport, AgentError> {
        // The sample is put in place first: while the import holds the file, nobody else can write.
        self.with(|_, _| Ok(()))?;
        let mut db = db::open(&self.path)?;
        import::import(&mut db, paths, on_progress, cancel)
    }

    /// Runs something on the open database, with the sample in place.
    fn with<T>(&self, run: impl FnOnce(&mut Connection, Dataset) -> Result<T, AgentError>) -> Result<T, AgentError> {
        let mut guard = self.db.lock().unwrap_or_else(PoisonError::into_inner);
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
