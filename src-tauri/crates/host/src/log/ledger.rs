//! Stores which log belongs to which data folder, and keeps an alarm until a person has
//! acknowledged it. This ledger is in the state folder, so that changes in the data folder do not
//! affect it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use audit::{Mark, Tampered};
use chrono::{DateTime, SecondsFormat, Utc};
use contract::{AgentError, AuditAlarm, Reason, Text, VerifyProblem, VerifyReport, text};
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};

use crate::profile::{Paths, Stamp, create_private_folder, read_stamp, write_atomically};

/// The ledger's entry for one data folder.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Entry {
    folder: String,
    installation: String,
    /// Whether a signed mark of the folder's log was stored.
    #[serde(default)]
    marked: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alarm: Option<Alarm>,
}

/// An alarm, with the data about the old log that the new log will record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Alarm {
    #[serde(flatten)]
    pub(crate) shown: AuditAlarm,
    #[serde(default)]
    size: Option<u64>,
    #[serde(default)]
    root: Option<String>,
    #[serde(default)]
    pub(crate) mark: Option<Mark>,
}

impl Alarm {
    /// Returns the problem in the form for the record in the new log.
    pub(crate) fn to_tampered(&self) -> Tampered {
        Tampered {
            problems: self.shown.problems.clone(),
            size: self.size,
            root: self.root.clone(),
            mark: self.mark.clone(),
        }
    }

    /// Returns a sentence about the alarm for the user.
    pub(crate) fn sentence(&self) -> Text {
        let first = self
            .shown
            .problems
            .first()
            .map_or_else(|| "it could not be continued".into(), |problem| problem.message.clone());
        text!("Audit log verification failed: {why}.", why = first)
    }

    /// Returns the error that explains why no call runs and what the user can do.
    pub(crate) fn error(&self) -> AgentError {
        let message = text!(
            "{why} Countersign runs nothing until a person has accepted a new log.",
            why = self.sentence()
        );
        AgentError::internal(Reason::AuditAlarm, message)
            .hint("Run `csign audit verify`. To go on, run `csign doctor --accept-new-log` in a terminal or accept in the approval window: the old log is kept beside the new one.")
            .with("raised_at", self.shown.raised_at.to_rfc3339_opts(SecondsFormat::Secs, true))
    }
}

/// The ledger of one data folder. Its entry is stored under the given path and under the path
/// without links, so that replacing the folder with a link does not hide the entry.
pub(crate) struct Ledger {
    /// The files of the entry, one for each path of the folder. If they differ, the file for the
    /// given path is used.
    files: Vec<PathBuf>,
    known: Mutex<LedgerState>,
}

struct LedgerState {
    entry: Entry,
    /// The installation id stored in the data folder, if there is one.
    in_folder: Option<String>,
    /// Whether the file exists but is not a valid entry.
    damaged: bool,
    /// A file of the ledger that cannot be read now, with the reason.
    unreadable: Option<(PathBuf, String)>,
    /// The stamps of the files at the last read.
    seen: Vec<Stamp>,
    /// The id of the newest alarm that this process has acted on.
    heeded: Option<String>,
}

/// Returns the known data folders of this user's profiles: the default folder, and the folders that
/// the state folder remembers. A data folder that contains the home folder is left out, because
/// hiding it would hide everything.
pub(crate) fn find_profiles(paths: &Paths) -> Vec<PathBuf> {
    let home = std::env::home_dir().and_then(|home| home.canonicalize().ok()).unwrap_or_default();
    let files = fs::read_dir(paths.state.join("logs")).into_iter().flatten().flatten();
    let entries = files.filter_map(|file| read_entry(&file.path()).ok()?);
    let holds_profile = |folder: &PathBuf| {
        let of = Paths { data: folder.clone(), state: PathBuf::new() };
        let is_known = [of.installation(), of.audit(), of.database()].iter().any(|at| at.exists());
        is_known && !folder.canonicalize().is_ok_and(|folder| home.starts_with(folder))
    };
    let known = entries.map(|entry| PathBuf::from(entry.folder)).filter(holds_profile);
    std::iter::once(Paths::new(None).data).chain(known).collect()
}

impl Ledger {
    /// Reads the ledger. Writes no file.
    pub(crate) fn open(paths: &Paths) -> Self {
        let (given, real) = (absolute_path(&paths.data), resolve_folder(&paths.data));
        let in_folder = files::read_text(&paths.installation(), files::NAME);
        let file = |folder: &Path| {
            paths.state.join("logs").join(format!(
                "{}.json",
                &engine::sha256_hex(folder.as_os_str().as_encoded_bytes())[..32]
            ))
        };
        let mut files = vec![file(&given), file(&real)];
        files.dedup();
        let seen = files.iter().map(|file| read_stamp(file)).collect();
        let mut found: Vec<Option<Entry>> = Vec::new();
        let mut damaged = false;
        let is_there_but_closed = |error: &io::Error| {
            !matches!(
                error.kind(),
                io::ErrorKind::NotFound
                    | io::ErrorKind::NotADirectory
                    | io::ErrorKind::InvalidData
                    | io::ErrorKind::FileTooLarge
            )
        };
        let mut unreadable = in_folder
            .as_ref()
            .err()
            .filter(|error| is_there_but_closed(error))
            .map(|error| (paths.installation(), error.to_string()));
        let in_folder = in_folder.ok().map(|text| text.trim().to_owned()).filter(|id| is_id(id));
        for file in &files {
            found.push(match read_entry(file) {
                Ok(entry) => entry,
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    damaged = true;
                    None
                }
                Err(error) => {
                    unreadable = Some((file.clone(), error.to_string()));
                    None
                }
            });
        }
        let alarm = found.iter().flatten().find_map(|entry| entry.alarm.clone());
        let of_real = found.pop().flatten();
        let of_given = found.pop().flatten().filter(|entry| entry.marked || entry.alarm.is_some());
        if let (Some(given), Some(real)) = (&of_given, &of_real)
            && given.installation != real.installation
        {
            files.truncate(1);
        }
        let fresh = || Entry { folder: real.display().to_string(), ..Entry::default() };
        let entry = Entry { alarm, ..of_given.or(of_real).unwrap_or_else(fresh) };
        Self {
            files,
            known: Mutex::new(LedgerState {
                entry,
                in_folder,
                damaged,
                unreadable,
                seen,
                heeded: None,
            }),
        }
    }

    /// Fails if the ledger cannot be read now, because it is then unknown which log belongs to the
    /// folder.
    pub(crate) fn check_readable(&self) -> Result<(), AgentError> {
        let Some((file, error)) = self.lock_state().unreadable.clone() else { return Ok(()) };
        let message = text!(
            "The state of this folder's log cannot be read from {file}: {error}.",
            file = file.display(),
            error
        );
        Err(AgentError::internal("audit_unreadable", message)
            .hint("Check the permissions of the state folder."))
    }

    fn lock_state(&self) -> MutexGuard<'_, LedgerState> {
        self.known.lock()
    }

    /// Returns the id of the installation whose log belongs to the folder: the id in the ledger, or
    /// else the id in the folder.
    pub(crate) fn read_installation(&self) -> Option<String> {
        let known = self.lock_state();
        let remembered = Some(known.entry.installation.clone()).filter(|id| is_id(id));
        if known.entry.marked { remembered } else { known.in_folder.clone().or(remembered) }
    }

    /// Whether a signed mark of the log was stored.
    pub(crate) fn is_marked(&self) -> bool {
        self.lock_state().entry.marked
    }

    /// Returns the problems with the data folder itself.
    pub(crate) fn list_problems(&self) -> Vec<VerifyProblem> {
        let known = self.lock_state();
        let entry = &known.entry;
        let problem = |message: &str| VerifyProblem { seq: None, message: message.into() };
        let mut problems = Vec::new();
        if known.damaged {
            problems.push(problem("what was remembered of this folder's log in the state folder was changed: it cannot be read"));
        }
        match &known.in_folder {
            None if entry.marked => {
                problems.push(problem("the file \"installation\" of the data folder is missing"))
            }
            Some(id) if entry.marked && *id != entry.installation => {
                problems.push(problem("the file \"installation\" of the data folder was changed: it names another log than the one that was here"));
            }
            _ => {}
        }
        problems
    }

    /// Returns the unacknowledged alarm, even if another process raised it.
    pub(crate) fn alarm(&self) -> Option<Alarm> {
        let mut known = self.lock_state();
        self.reread_entry(&mut known);
        known.entry.alarm.clone()
    }

    /// Returns an alarm if it is new to this process. The next call does not return it again.
    pub(crate) fn take_new_alarm(&self) -> Option<Alarm> {
        let alarm = self.alarm()?;
        let id = Some(alarm.shown.id.clone());
        let before = std::mem::replace(&mut self.lock_state().heeded, id.clone());
        (before != id).then_some(alarm)
    }

    /// Reads a new alarm from the files. Never drops a known alarm.
    fn reread_entry(&self, known: &mut LedgerState) {
        let now: Vec<Stamp> = self.files.iter().map(|file| read_stamp(file)).collect();
        if known.entry.alarm.is_none() && known.seen != now {
            known.seen = now;
            known.entry.alarm = self.files.iter().find_map(|file| read_entry(file).ok()??.alarm);
        }
    }

    /// Adds the data folder's problems and an unacknowledged alarm to the result of a verification.
    pub(crate) fn add_problems_to(&self, report: &mut VerifyReport) {
        report.problems.extend(self.list_problems());
        if let Some(alarm) = self.alarm() {
            let at = alarm.shown.raised_at.to_rfc3339_opts(SecondsFormat::Secs, true);
            for known in alarm.shown.problems {
                if !report.problems.iter().any(|found| found.message == known.message) {
                    let message =
                        format!("an alarm of {at} was not acknowledged: {}", known.message);
                    report.problems.push(VerifyProblem { seq: None, message: message.into() });
                }
            }
        }
        report.ok = report.problems.is_empty();
    }

    /// Records that the folder's file contains this installation id now.
    pub(crate) fn set_installation(&self, installation: &str) {
        self.lock_state().in_folder = Some(installation.to_owned());
    }

    /// Records the installation whose log is about to begin in this folder.
    pub(crate) fn record_installation(&self, installation: &str) {
        let mut known = self.lock_state();
        self.reread_entry(&mut known);
        let entry = &mut known.entry;
        if entry.installation != installation && !entry.marked {
            installation.clone_into(&mut entry.installation);
            self.write_entry(entry);
        }
    }

    /// Records that a signed mark of the log is stored.
    pub(crate) fn record_stored_mark(&self) {
        let mut known = self.lock_state();
        self.reread_entry(&mut known);
        if !known.entry.marked {
            known.entry.marked = true;
            self.write_entry(&known.entry);
        }
    }

    /// Stores an alarm until it is acknowledged. A second alarm does not change the first alarm.
    pub(crate) fn raise_alarm(&self, id: String, now: DateTime<Utc>, found: &Tampered) -> Alarm {
        let mut known = self.lock_state();
        self.reread_entry(&mut known);
        let entry = &mut known.entry;
        if let Some(alarm) = &entry.alarm {
            return alarm.clone();
        }
        let shown = AuditAlarm { id, raised_at: now, problems: found.problems.clone() };
        let alarm =
            Alarm { shown, size: found.size, root: found.root.clone(), mark: found.mark.clone() };
        entry.alarm = Some(alarm.clone());
        self.write_entry(entry);
        alarm
    }

    /// Records that a person accepted a new log.
    pub(crate) fn acknowledge_alarm(&self, installation: &str) {
        let mut known = self.lock_state();
        known.damaged = false;
        known.in_folder = Some(installation.to_owned());
        known.entry = Entry {
            installation: installation.to_owned(),
            marked: true,
            alarm: None,
            folder: known.entry.folder.clone(),
        };
        self.write_entry(&known.entry);
    }

    /// Deletes the entry of a temporary folder, and also the folder of all entries if there are no
    /// other entries.
    pub(crate) fn delete_entry(&self) {
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
        if let Some(folder) = self.files.first().and_then(|file| file.parent()) {
            // This fails if there are other entries.
            let _ = fs::remove_dir(folder);
        }
    }

    fn write_entry(&self, entry: &Entry) {
        for file in &self.files {
            let write = || -> io::Result<()> {
                file.parent().map_or(Ok(()), create_private_folder)?;
                write_atomically(file, &serde_json::to_string(entry)?)
            };
            if let Err(error) = write() {
                tracing::warn!(%error, path = %file.display(), "what is known of the log cannot be kept");
            }
        }
    }
}

/// Reads the entry in a file, if there is one. The error kind `InvalidData` means that the file has
/// other content.
fn read_entry(file: &Path) -> io::Result<Option<Entry>> {
    match files::read(file, files::OWN) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error)),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            Err(io::Error::new(io::ErrorKind::InvalidData, error))
        }
        Err(error) => Err(error),
    }
}

/// Whether a text is the id of an installation, which is a UUID. Other texts are not accepted,
/// because the id is used in names of files and folders.
fn is_id(text: &str) -> bool {
    text.len() == 36
        && text.char_indices().all(|(at, one)| {
            if matches!(at, 8 | 13 | 18 | 23) { one == '-' } else { one.is_ascii_hexdigit() }
        })
}

/// Returns the given path as an absolute path.
fn absolute_path(folder: &Path) -> PathBuf {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    // Collecting the components removes a trailing slash.
    absolute.components().collect()
}

/// Returns the path without links, even if the folder does not exist.
fn resolve_folder(folder: &Path) -> PathBuf {
    let absolute = absolute_path(folder);
    let by_parent = || Some(absolute.parent()?.canonicalize().ok()?.join(absolute.file_name()?));
    absolute.canonicalize().ok().or_else(by_parent).unwrap_or(absolute)
}
