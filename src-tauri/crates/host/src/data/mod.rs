//! Sources of data: tables from files, kept as snapshots, and tables of databases. This folder owns
//! their states, imports, definitions and permissions, and the processes that read files and answer
//! questions. Only these processes read rows. This folder must not know the packs of the profile,
//! nor the views that show the results.

mod addresses;
mod approvals;
mod asking;
mod change_questions;
mod changes;
mod checking;
mod committing;
mod comparing;
mod computed;
mod connecting;
mod corrections;
mod daily;
mod database_questions;
mod databases;
mod deciding;
mod describing;
mod drivers;
mod examining;
mod exported;
mod exporting;
mod failures;
mod folders;
mod forwarding;
mod hashes;
mod importer;
mod importing;
mod jobs;
mod known;
mod leaving;
mod naming;
mod old_data;
mod opened;
mod origins;
mod path_accounts;
mod places;
mod processes;
mod profiling;
mod proving;
mod questions;
mod recognising;
mod remembering;
mod replacing;
mod retention;
mod samples;
mod service;
mod shared_columns;
mod storage;
mod synonyms;
mod table_sets;
mod tables;
mod taking_back;
mod telling;
mod tiles;
mod used;
mod vanished_questions;
mod versions;
mod watching;

use std::{
    path::PathBuf,
    pin::Pin,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use audit::Log;
use contract::{
    AgentError, CallerKind, ErrorCode, FolderParams, FoldersResponse, Reason, RecordType,
    SourceAddParams, SourceJob, SourceJobView, SourceName, SourceParams, SourceView, Text,
    pack_code::PackCode,
    sources::{ImportDecisions, SourceKind, StorageUse},
};
use engine::{
    add_caller,
    ports::{AuditLog as _, Clock, Durability, Ids, RecordDraft},
};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::{
    keys::Keys,
    log::{audit_error, current_caller},
    profile::{LiveProfile, Options},
};
pub(crate) use hashes::hash_of;
use importing::Import;
use jobs::Jobs;
use places::FoundFiles;
use processes::Processes;
pub(crate) use proving::WrittenFigures;
pub(crate) use service::NAME as SERVICE;
use storage::Storage;
use tables::{COMPARE, asked_parts};
pub(crate) use tiles::{Measured, TileQuery};
pub(crate) use watching::FullDays;

/// The longest time between two checks for data processes that nobody asks.
const IDLE_CHECK: Duration = Duration::from_secs(30);

/// The work that follows a change of rows.
pub(crate) type Following = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Called after rows of sources changed.
type OnChange = Box<dyn Fn() -> Following + Send + Sync>;

/// All sources of an open profile.
#[derive(Clone)]
pub(crate) struct Sources(Arc<Inner>);

/// The sources, for callers that must not keep them open. The function that follows a change of
/// sources holds the packs, and the packs ask the sources.
#[derive(Debug)]
pub(crate) struct WeakSources(Weak<Inner>);

impl WeakSources {
    /// Returns the sources while their profile is open.
    pub(crate) fn upgrade(&self) -> Option<Sources> {
        self.0.upgrade().map(Sources)
    }
}

/// The state that all files of this folder share.
struct Inner {
    storage: Storage,
    processes: Processes,
    jobs: Jobs,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    log: Arc<Log>,
    profile: Arc<LiveProfile>,
    keys: Keys,
    /// Whether this process serves visitors of the chat API, who have no access to sources.
    is_closed: bool,
    /// The maximum size of the rows in an export of figures, in bytes.
    export_bytes: u64,
    numbers: AtomicU64,
    /// The lock that is held while a source changes.
    changing: Mutex<()>,
    /// The lock that is held while the folders for imports without a person change.
    allowing: Mutex<()>,
    known: Mutex<known::Kept>,
    /// The code of packs, which has samples, and rows of an older version.
    pack_code: PackCode,
    /// Why rows of an older version did not become sources.
    problems: old_data::Problems,
    /// Ends the work in the background.
    closing: CancellationToken,
    on_change: OnceLock<OnChange>,
}

impl Sources {
    /// Opens the sources of a profile. Starts no process.
    pub(crate) fn open(
        profile: &Arc<LiveProfile>,
        keys: &Keys,
        log: &Arc<Log>,
        options: &Options,
    ) -> Result<Self, AgentError> {
        let storage = Storage::new(profile.paths().sources());
        let is_closed = options.served_packs.is_some();
        if !is_closed {
            storage.prepare()?;
        }
        let processes = Processes::new(storage.clone(), &options.program_dir, options.data_idle);
        let sources = Self(Arc::new(Inner {
            storage,
            processes,
            jobs: Jobs::default(),
            clock: Arc::clone(&options.clock),
            ids: Arc::clone(&options.ids),
            log: Arc::clone(log),
            profile: Arc::clone(profile),
            keys: keys.clone(),
            is_closed,
            export_bytes: options.data_export_bytes,
            numbers: AtomicU64::new(1),
            changing: Mutex::default(),
            allowing: Mutex::default(),
            known: Mutex::default(),
            pack_code: options.pack_code.clone(),
            problems: old_data::Problems::default(),
            closing: CancellationToken::new(),
            on_change: OnceLock::new(),
        }));
        if !is_closed {
            sources.0.note_new_profile();
            // The cleanup runs in the background, so that it does not delay the start.
            let weak = sources.downgrade();
            tokio::spawn(async move {
                if let Some(sources) = weak.upgrade() {
                    sources.clean_up().await;
                }
            });
        }
        Ok(sources)
    }

    /// Deletes former rows that are too old or take too much room. They stay if that cannot be
    /// recorded, for example during an alarm.
    async fn clean_up(&self) {
        let _changing = self.0.changing.lock().await;
        if let Err(error) = self.0.clean_up().await {
            tracing::warn!(%error.message, "former rows cannot be deleted");
        }
    }

    /// Returns a handle that does not keep the sources open.
    pub(crate) fn downgrade(&self) -> WeakSources {
        WeakSources(Arc::downgrade(&self.0))
    }

    /// Sets the function that is called when rows of sources change.
    pub(crate) fn set_on_change(&self, on_change: impl Fn() -> Following + Send + Sync + 'static) {
        let _ = self.0.on_change.set(Box::new(on_change));
    }

    fn opened(&self) -> Result<&Arc<Inner>, AgentError> {
        if self.0.is_closed { Err(not_for_visitors()) } else { Ok(&self.0) }
    }

    /// Returns how much room the rows of all sources take, and how much they may take.
    pub(crate) fn storage_use(&self) -> Result<StorageUse, AgentError> {
        Ok(self.opened()?.storage_use())
    }

    /// Returns all sources by name. A source that cannot be read has a note about it.
    pub(crate) fn list(&self) -> Result<Vec<SourceView>, AgentError> {
        let inner = self.opened()?;
        let view = |name: SourceName| {
            inner.view(&name).unwrap_or_else(|error| inner.unreadable(name, &error))
        };
        Ok(inner.storage.names().into_iter().map(view).collect())
    }

    /// Starts a job that shows how files would be imported.
    pub(crate) fn survey(&self, params: SourceAddParams) -> Result<SourceJob, AgentError> {
        self.start(params, true)
    }

    /// Starts a job that imports files, or connects a database.
    pub(crate) fn add(&self, params: SourceAddParams) -> Result<SourceJob, AgentError> {
        self.start(params, false)
    }

    fn start(&self, params: SourceAddParams, is_survey: bool) -> Result<SourceJob, AgentError> {
        let inner = Arc::clone(self.opened()?);
        if addresses::is_address(&params.place) {
            if params.unattended {
                return Err(databases::needs_person());
            }
            return inner.start_connection(params, is_survey);
        }
        let mut found = places::find_files(&params.place)?;
        let mut left = Vec::new();
        // A person who names a file wants it, even if it was taken back before.
        if let Some(name) = params.name.as_ref().filter(|_| places::is_pattern(&params.place))
            && let Ok(source) = inner.storage.read(name)
        {
            left = found.take_out(|file| source.is_undone(file));
        }
        inner.start_import_without(params, found, &left, is_survey)
    }

    /// Starts a job that imports the new and changed files of a source's place, or reads the columns
    /// of a database's table again. With `unattended`, each file's folder needs a permission.
    pub(crate) fn refresh(
        &self,
        params: &SourceParams,
        unattended: bool,
    ) -> Result<SourceJob, AgentError> {
        let inner = Arc::clone(self.opened()?);
        let source = inner.storage.read(&params.name)?;
        if let SourceKind::Database { address, .. } = &source.kind {
            let (place, name) = (address.clone(), Some(params.name.clone()));
            let decisions = ImportDecisions::default();
            let params =
                SourceAddParams { place, name, decisions, unattended, forget_remembered: false };
            return inner.start_connection(params, false);
        }
        let Some(place) = source.place.clone() else {
            inner.read_described(&params.name)?.check_own_rows()?;
            return Err(failures::no_place(&params.name));
        };
        let known: Vec<_> =
            inner.storage.chain(&source)?.into_iter().map(|state| state.file).collect();
        let mut found = places::find_files(&place)?;
        found.take_out(|file| known.contains(&places::stamp(file)));
        let left = found.take_out(|file| source.is_undone(file));
        // The remembered decisions count as such, and not as those of a person about these files.
        let decisions = ImportDecisions::default();
        let name = Some(params.name.clone());
        let params =
            SourceAddParams { place, name, decisions, unattended, forget_remembered: false };
        inner.start_import_without(params, found, &left, false)
    }

    /// Returns the progress of a job.
    pub(crate) fn job(&self, job: &SourceJob) -> Result<SourceJobView, AgentError> {
        self.opened()?.jobs.view(&job.job)
    }

    /// Stops a job and discards its results.
    pub(crate) fn stop_job(&self, job: &SourceJob) -> Result<(), AgentError> {
        self.opened()?.jobs.stop(&job.job)
    }

    /// Whether an import runs that would be lost if the program ended now.
    pub(crate) fn is_importing(&self) -> bool {
        self.0.jobs.is_storing()
    }

    /// Allows a folder for imports without a person, or takes the permission back.
    pub(crate) async fn allow_folder(
        &self,
        params: &FolderParams,
    ) -> Result<FoldersResponse, AgentError> {
        let inner = self.opened()?;
        // Not the lock of changes: a permission can be taken back while a long import runs.
        let _allowing = inner.allowing.lock().await;
        let action = if params.allowed { "folder_allowed" } else { "folder_forbidden" };
        let draft = RecordDraft::new(RecordType::SourceChanged).field("action", action);
        let now = inner.clock.now();
        let folders = folders::set_allowed(&inner.storage, &params.folder, params.allowed, now)?;
        let recorded =
            inner.record(draft.commit("folder", params.folder.clone()), &current_caller()).await;
        if let Err(error) = recorded {
            // A permission is revoked if it cannot be recorded.
            folders::set_allowed(&inner.storage, &params.folder, false, now)?;
            return Err(error);
        }
        Ok(FoldersResponse { folders })
    }

    /// Returns the folders for imports without a person.
    pub(crate) fn allowed_folders(&self) -> Result<FoldersResponse, AgentError> {
        Ok(FoldersResponse { folders: folders::read_allowed(&self.opened()?.storage)? })
    }

    /// Ends the processes that nobody asked for a while.
    pub(crate) async fn end_idle_processes(&self) {
        self.0.processes.end_idle().await;
    }

    /// Returns the time between two checks for such processes.
    pub(crate) fn idle_check(&self) -> Duration {
        self.0.processes.idle().min(IDLE_CHECK)
    }

    /// Ends all jobs and processes.
    pub(crate) async fn shut_down(&self) {
        self.0.closing.cancel();
        self.0.jobs.stop_all();
        self.0.processes.shut_down().await;
    }
}

impl Inner {
    fn start_connection(
        self: Arc<Self>,
        params: SourceAddParams,
        is_survey: bool,
    ) -> Result<SourceJob, AgentError> {
        let (id, of) = (self.ids.next("source"), places::shown(&params));
        let (job, stop) = self.jobs.begin(id, of, is_survey)?;
        let (id, by) = (job.job.clone(), current_caller());
        tokio::spawn(async move {
            let running = self.jobs.running(&id);
            let end = self.connect(&params, &by, is_survey, &stop).await;
            running.finish(end);
        });
        Ok(job)
    }

    /// Starts an import. Notes the files that were taken back and are left out, and files that have
    /// several names.
    fn start_import_without(
        self: Arc<Self>,
        params: SourceAddParams,
        found: FoundFiles,
        left: &[PathBuf],
        is_survey: bool,
    ) -> Result<SourceJob, AgentError> {
        let names = found.note_other_names();
        let job = Arc::clone(&self).start_import(params, found.files, is_survey)?;
        let left = (!left.is_empty()).then(|| taking_back::left_undone(left));
        for note in left.into_iter().chain(names) {
            self.jobs.note(&job.job, note);
        }
        Ok(job)
    }

    fn start_import(
        self: Arc<Self>,
        params: SourceAddParams,
        files: Vec<PathBuf>,
        is_survey: bool,
    ) -> Result<SourceJob, AgentError> {
        if params.unattended {
            for file in &files {
                folders::check_allowed(&self.storage, file)?;
            }
        }
        let (id, of) = (self.ids.next("source"), places::shown(&params));
        let (job, stop) = self.jobs.begin(id, of, is_survey)?;
        let (id, by) = (job.job.clone(), current_caller());
        tokio::spawn(async move {
            // This task runs only this import, so that a panic ends only this job.
            let running = self.jobs.running(&id);
            let _changing = self.changing.lock().await;
            let import = Import {
                inner: &self,
                params: &params,
                by,
                is_survey,
                job: &id,
                stop: &stop,
                origin: None,
            };
            let mut end = import.run(&files).await;
            if let Ok(results) = &mut end
                && let Some(last) = results.iter_mut().rfind(|result| result.is_stored)
            {
                last.report.notes.extend(self.propose_computed(&import.by).await);
                last.report.notes.extend(self.note_cleanup().await);
            }
            if end.iter().flatten().any(|result| result.is_stored) {
                self.follow().await;
            }
            running.finish(end);
        });
        Ok(job)
    }

    /// Deletes former rows after an import. Returns what a person should know about it.
    async fn note_cleanup(&self) -> Option<Text> {
        match self.clean_up().await {
            Ok(note) => note,
            Err(error) => Some(error.text()),
        }
    }

    /// Tells of changed rows. The work that follows is done later.
    fn changed(&self) {
        if let Some(on_change) = self.on_change.get() {
            drop(on_change());
        }
    }

    /// Tells of imported rows, and waits for the work that follows, because the program may end with
    /// the job.
    async fn follow(&self) {
        if let Some(on_change) = self.on_change.get() {
            on_change().await;
        }
    }

    /// Returns a number that is unique within this process.
    fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    async fn record(&self, draft: RecordDraft, by: &CallerKind) -> Result<(), AgentError> {
        self.append(draft, by).await.map(drop)
    }

    /// Records an event. Returns the number of the record.
    async fn append(&self, draft: RecordDraft, by: &CallerKind) -> Result<u64, AgentError> {
        let signed = add_caller(draft, by, self.profile.as_ref());
        let recorded = self.log.append(signed, Durability::Durable).await;
        recorded.map_err(|error| audit_error(&error))
    }
}

fn change_record(action: &str, name: &SourceName) -> RecordDraft {
    RecordDraft::new(RecordType::SourceChanged)
        .field("action", action)
        .field("source", name.as_str())
}

fn not_for_visitors() -> AgentError {
    AgentError::new(ErrorCode::ToolNotFound, "There are no sources of data here.")
        .reason(Reason::NotFound)
}
