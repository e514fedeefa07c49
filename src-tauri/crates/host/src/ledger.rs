//! Which folder has which log, and what is wrong with it until a person has seen it. Lies in the state folder, outside of what it
//! speaks of: who deletes or swaps files of the data folder does not change it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use audit::{Mark, Tampered};
use chrono::{DateTime, SecondsFormat, Utc};
use contract::{AgentError, AuditAlarm, VerifyProblem, VerifyReport};
use serde::{Deserialize, Serialize};

use crate::{
    Paths,
    paths::{make_private, write_atomically},
};

/// What is remembered of a folder.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Entry {
    folder: String,
    installation: String,
    /// A signed mark of its log was stored.
    #[serde(default)]
    marked: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alarm: Option<Alarm>,
}

/// An alarm with what a new log has to tell of the old one.
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
    /// What was found, for the new log's record of it.
    pub(crate) fn found(&self) -> Tampered {
        Tampered { problems: self.shown.problems.clone(), size: self.size, root: self.root.clone(), mark: self.mark.clone() }
    }

    /// One sentence for people.
    pub(crate) fn sentence(&self) -> String {
        let first = self.shown.problems.first().map_or("it could not be continued", |problem| problem.message.as_str());
        format!("The audit log does not verify: {first}.")
    }

    /// Why nothing runs, and what to do.
    pub(crate) fn error(&self) -> AgentError {
        let message = format!("{} Countersign runs nothing until a person has accepted a new log.", self.sentence());
        AgentError::internal("audit_alarm", message)
            .hint("Look with `csign audit verify`. To go on, run `csign doctor --accept-new-log` in a terminal or accept in the approval window: the old log is kept beside the new one.")
            .with("raised_at", self.shown.raised_at.to_rfc3339_opts(SecondsFormat::Secs, true))
    }
}

/// The entry of one data folder.
pub(crate) struct Ledger {
    path: PathBuf,
    known: Mutex<Known>,
}

struct Known {
    entry: Entry,
    /// The id in the data folder, if there is one.
    in_folder: Option<String>,
    /// The entry is there but cannot be read.
    damaged: bool,
}

impl Ledger {
    /// Reads what is known. Writes nothing.
    pub(crate) fn open(paths: &Paths) -> Self {
        let folder = settled(&paths.data);
        let in_folder = fs::read_to_string(paths.installation()).ok().map(|text| text.trim().to_owned()).filter(|id| is_id(id));
        let name = format!("{}.json", &engine::sha256_hex(folder.as_os_str().as_encoded_bytes())[..32]);
        let path = paths.state.join("logs").join(name);
        let fresh = Entry { folder: folder.display().to_string(), ..Entry::default() };
        let (entry, damaged) = match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_or((fresh, true), |entry| (entry, false)),
            Err(error) => (fresh, !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::NotADirectory)),
        };
        Self { path, known: Mutex::new(Known { entry, in_folder, damaged }) }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whose log belongs here: as is remembered once there was one, else as the folder says.
    pub(crate) fn installation(&self) -> Option<String> {
        let known = self.known();
        let remembered = Some(known.entry.installation.clone()).filter(|id| is_id(id));
        if known.entry.marked { remembered } else { known.in_folder.clone().or(remembered) }
    }

    /// Whether a signed mark of the log was stored.
    pub(crate) fn is_marked(&self) -> bool {
        self.known().entry.marked
    }

    /// What is wrong with the folder as such.
    pub(crate) fn problems(&self) -> Vec<VerifyProblem> {
        let known = self.known();
        let entry = &known.entry;
        let problem = |message: &str| VerifyProblem { seq: None, message: message.to_owned() };
        let mut problems = Vec::new();
        if known.damaged {
            problems.push(problem("what was remembered of this folder's log in the state folder was changed: it cannot be read"));
        }
        match &known.in_folder {
            None if entry.marked => problems.push(problem("the file \"installation\" of the data folder is missing")),
            Some(id) if entry.marked && *id != entry.installation => {
                problems.push(problem("the file \"installation\" of the data folder was changed: it names another log than the one that was here"));
            }
            _ => {}
        }
        problems
    }

    pub(crate) fn alarm(&self) -> Option<Alarm> {
        self.known().entry.alarm.clone()
    }

    /// Adds what is wrong with the folder, and an alarm that nobody has acknowledged, to what a verification found.
    pub(crate) fn add_to(&self, report: &mut VerifyReport) {
        report.problems.extend(self.problems());
        if let Some(alarm) = self.alarm() {
            let at = alarm.shown.raised_at.to_rfc3339_opts(SecondsFormat::Secs, true);
            for known in alarm.shown.problems {
                if !report.problems.iter().any(|found| found.message == known.message) {
                    let message = format!("an alarm of {at} was not acknowledged: {}", known.message);
                    report.problems.push(VerifyProblem { seq: None, message });
                }
            }
        }
        report.ok = report.problems.is_empty();
    }

    /// The folder's file names this installation now.
    pub(crate) fn named(&self, installation: &str) {
        self.known().in_folder = Some(installation.to_owned());
    }

    /// Remembers whose log is about to begin here.
    pub(crate) fn begin(&self, installation: &str) {
        let entry = &mut self.known().entry;
        if entry.installation != installation && !entry.marked {
            installation.clone_into(&mut entry.installation);
            self.keep(entry);
        }
    }

    /// Remembers that a signed mark of its log is stored.
    pub(crate) fn mark(&self) {
        let entry = &mut self.known().entry;
        if !entry.marked {
            entry.marked = true;
            self.keep(entry);
        }
    }

    /// Keeps an alarm until it is acknowledged. A later one adds nothing to the first.
    pub(crate) fn raise(&self, id: String, now: DateTime<Utc>, found: &Tampered) -> Alarm {
        let entry = &mut self.known().entry;
        if let Some(alarm) = &entry.alarm {
            return alarm.clone();
        }
        let shown = AuditAlarm { id, raised_at: now, problems: found.problems.clone() };
        let alarm = Alarm { shown, size: found.size, root: found.root.clone(), mark: found.mark.clone() };
        entry.alarm = Some(alarm.clone());
        self.keep(entry);
        alarm
    }

    /// A person has accepted a new log.
    pub(crate) fn acknowledge(&self, installation: &str) {
        let mut known = self.known();
        known.damaged = false;
        known.in_folder = Some(installation.to_owned());
        known.entry = Entry { installation: installation.to_owned(), marked: true, alarm: None, folder: known.entry.folder.clone() };
        self.keep(&known.entry);
    }

    /// Forgets a throwaway folder, and the folder of all entries if this was the only one.
    pub(crate) fn forget(&self) {
        let _ = fs::remove_file(&self.path);
        if let Some(folder) = self.path.parent() {
            // Fails while there are other entries.
            let _ = fs::remove_dir(folder);
        }
    }

    fn keep(&self, entry: &Entry) {
        let path = &self.path;
        let write = || -> io::Result<()> {
            path.parent().map_or(Ok(()), make_private)?;
            write_atomically(path, &serde_json::to_string(entry)?)
        };
        if let Err(error) = write() {
            tracing::warn!(%error, path = %path.display(), "what is known of the log cannot be kept");
        }
    }
}

/// Whether this is the id of an installation, which is a UUID. Names of files and folders are made of it, so no other text counts as one.
fn is_id(text: &str) -> bool {
    text.len() == 36 && text.char_indices().all(|(at, one)| if matches!(at, 8 | 13 | 18 | 23) { one == '-' } else { one.is_ascii_hexdigit() })
}

/// The folder's one name, also while it is not there.
fn settled(folder: &Path) -> PathBuf {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let by_parent = || Some(absolute.parent()?.canonicalize().ok()?.join(absolute.file_name()?));
    absolute.canonicalize().ok().or_else(by_parent).unwrap_or(absolute)
}
