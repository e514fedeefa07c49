//! Runs one importer process. The process gets the file on its standard input and an empty staging
//! folder, and cannot open any other file of the user. The result of the process is checked before
//! rows are stored. This module must not know sources.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use contract::{
    AgentError,
    sources::{
        ImportEvent, ImportJob, JOB_FILE, LeftOut, PART_FILE, PartRef, RejectedRows, TableReport,
    },
    text,
};
use guard::{Confinement, Guard, Limits, Network};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader},
    process::{Child, Command},
    task::spawn_blocking,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    failures::without_paths, hashes::hash_file, places::FileStamp, processes::programs_files,
};

/// The maximum address space of an importer. Libraries reserve much more memory than they use.
const MEMORY: u64 = 8 << 30;
/// The maximum size of a file that an importer writes.
pub(super) const FILE_BYTES: u64 = 64 << 30;
/// The time limit of an import of one file.
pub(super) const LIMIT: Duration = Duration::from_secs(2 * 3_600);
const FILES: u64 = 256;
/// The maximum size of a line of an importer's output. A report contains samples but no rows, so
/// that a line is small.
const LINE: u64 = 32 << 20;
/// The maximum size of an importer's error output that is kept.
const STDERR: u64 = 8 << 10;

/// The time within which an importer must end after its result.
const GRACE: Duration = Duration::from_secs(2);

/// The progress of an importer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    pub(super) records: u64,
    pub(super) done_bytes: u64,
    pub(super) total_bytes: u64,
}

/// The content of a file that an importer read.
#[derive(Clone, Debug)]
pub(super) struct ReadFile {
    pub(super) report: TableReport,
    /// The rows, in the staging folder. None if they cannot be stored as they were read.
    pub(super) part: Option<StagedPart>,
    /// The file that was read. Its path can lead to another one by now.
    pub(super) file: FileStamp,
}

/// A part in a staging folder, with its present path.
#[derive(Clone, Debug)]
pub(super) struct StagedPart {
    pub(super) path: PathBuf,
    /// The part. The file name is the hash of the file, in the staging folder, too.
    pub(super) part: PartRef,
}

/// Reads a file in a process of its own. Returns its report and its rows.
pub(super) async fn run_importer(
    program: &Path,
    staging: &Path,
    file: File,
    job: &ImportJob,
    mut on_progress: impl FnMut(Progress) + Send,
    stop: &CancellationToken,
) -> Result<(TableReport, Option<StagedPart>), AgentError> {
    let text = serde_json::to_string(job).unwrap_or_default();
    files::write(&staging.join(JOB_FILE), text.as_bytes()).map_err(|error| not_started(&error))?;
    let (mut child, guard) = start(program, staging, file).await.map_err(|e| not_started(&e))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let said = tokio::spawn(read_tail(stderr));
    let reading = async {
        let mut last = None;
        let Some(stdout) = stdout else { return Ok(last) };
        let mut lines = BufReader::new(stdout);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = (&mut lines).take(LINE).read_until(b'\n', &mut line).await;
            if read.map_err(|_| broke_off(None, ""))? == 0 {
                return Ok::<_, AgentError>(last);
            }
            match serde_json::from_slice(&line) {
                Ok(ImportEvent::Progress { records, done_bytes, total_bytes }) => {
                    on_progress(Progress { records, done_bytes, total_bytes });
                }
                Ok(end) => last = Some(end),
                Err(error) => {
                    tracing::warn!(%error, "an importer wrote a line that cannot be read");
                    return Err(broke_off(None, ""));
                }
            }
        }
    };
    let end = tokio::select! {
        end = reading => end,
        () = stop.cancelled() => Err(stopped()),
        () = sleep(LIMIT) => Err(too_slow()),
    };
    let status = match &end {
        Ok(_) => timeout(GRACE, child.wait()).await.ok().and_then(Result::ok),
        Err(_) => None,
    };
    // The guard ends the process in every case.
    drop(guard);
    let _ended = child.wait().await;
    let said = said.await.unwrap_or_default();
    match end? {
        Some(ImportEvent::Result { report, part }) => {
            let staging = staging.to_owned();
            spawn_blocking(move || check_result(*report, part, &staging))
                .await
                .map_err(|_| broke_off(None, ""))?
        }
        Some(ImportEvent::Failure { error }) => Err(without_paths(error, staging)),
        Some(ImportEvent::Progress { .. }) | None => {
            Err(broke_off(status.map(|status| status.to_string()), &said))
        }
    }
}

async fn start(program: &Path, staging: &Path, file: File) -> io::Result<(Child, Guard)> {
    let mut command = Command::new(program);
    command
        .arg("import")
        .current_dir(staging)
        .env_clear()
        .env("LANG", "C.UTF-8")
        .env("TMPDIR", staging)
        .stdin(Stdio::from(file))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(drivers) = std::env::var_os(super::processes::DRIVERS) {
        command.env(super::processes::DRIVERS, drivers);
    }
    let confinement = Confinement {
        run: programs_files(program),
        read: Vec::new(),
        own: vec![staging.to_owned()],
        network: Network::None,
        limits: Limits { memory_bytes: MEMORY, file_bytes: FILE_BYTES, files: FILES },
    };
    // Forking a large process takes a while, so that the fork runs on a blocking thread.
    spawn_blocking(move || {
        let guard = Guard::attach(command.as_std_mut())?;
        confinement.attach(command.as_std_mut())?;
        Ok((command.spawn()?, guard))
    })
    .await
    .map_err(io::Error::other)?
}

/// Checks the result of an importer process, because the process has lower trust.
fn check_result(
    report: TableReport,
    part: Option<PartRef>,
    staging: &Path,
) -> Result<(TableReport, Option<StagedPart>), AgentError> {
    let left_out: u64 = report.left_out.iter().filter(|one| counts(one)).map(|one| one.count).sum();
    let rejected: u64 = report.rejected.iter().map(|one: &RejectedRows| one.count).sum();
    if report.records != report.stored + left_out + rejected {
        return Err(AgentError::internal(
            "import_incomplete",
            text!(
                "The import was stopped: of {records} records, {stored} were read, {left_out} left out and {rejected} rejected, which does not add up.",
                records = report.records,
                stored = report.stored,
                left_out,
                rejected
            ),
        )
        .hint("Nothing was stored. Report this fault with the file's first lines."));
    }
    let Some(mut part) = part else { return Ok((report, None)) };
    let path = staging.join(PART_FILE);
    let hash = hash_file(&path).map_err(|error| not_started(&error))?;
    if hash != part.hash || part.rows != report.stored || !part.without.is_empty() {
        return Err(broke_off(None, "the rows do not fit the report"));
    }
    part.file = format!("{hash}.parquet");
    let named = staging.join(&part.file);
    fs::rename(&path, &named).map_err(|error| not_started(&error))?;
    Ok((report, Some(StagedPart { path: named, part })))
}

/// Whether lines that were left out count as records. Lines above the headings do not.
fn counts(left_out: &LeftOut) -> bool {
    left_out.rule != "title"
}

async fn read_tail(stderr: Option<impl AsyncRead + Unpin>) -> String {
    let mut kept = Vec::new();
    if let Some(mut stderr) = stderr {
        let _ = (&mut stderr).take(STDERR).read_to_end(&mut kept).await;
        // The process must not block on a full pipe.
        let _ = tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await;
    }
    String::from_utf8_lossy(&kept).trim().to_owned()
}

fn not_started(error: &io::Error) -> AgentError {
    AgentError::internal("import_broke", text!("The file could not be read: {error}.", error))
        .hint("Nothing was stored. Run `csign doctor`, then try again.")
}

fn broke_off(status: Option<String>, said: &str) -> AgentError {
    tracing::warn!(?status, said, "an importer ended without a result");
    AgentError::internal("import_broke", "The program that reads the file ended early.")
        .hint("Nothing was stored. The file may be damaged or too large; export it again or save it as CSV.")
}

fn too_slow() -> AgentError {
    let minutes = LIMIT.as_secs() / 60;
    AgentError::invalid(text!("The file was not read within {minutes} minutes.", minutes))
        .reason("import_too_long")
        .hint("Nothing was stored. Export a shorter period, or several files.")
}

/// Returns the error of a job that a person stopped.
pub(super) fn stopped() -> AgentError {
    AgentError::invalid("The import was stopped.").reason("stopped")
}
