//! Has checkpoints confirmed by others: a witness cosigns them, and an authority stamps one
//! checkpoint a day. Both are off until the user enters their address. Their answers are stored in
//! the profile's folder, and the log does not depend on these answers.

use std::{fs, io::Write as _, path::PathBuf};

use audit::{OsEntropy, Submission, TimeStampRequest, Witness, WitnessFault, checkpoint_size};
use contract::{AgentError, AuditCheckpointResponse, AuditSettings, RecordType, Text, text};
use engine::ports::{AuditLog as _, Durability, Profile as _, RecordDraft};
use packs::run::{Posted, post};

use super::{HostLog, audit_error};

/// How many times a witness is asked again after it reported another size.
const TRIES: usize = 3;

/// Why a checkpoint was not confirmed.
struct Refusal {
    /// The name of the event in the log, if the answer is evidence against the log or against the
    /// service.
    recorded: Option<&'static str>,
    message: Text,
}

impl From<AgentError> for Refusal {
    fn from(error: AgentError) -> Self {
        Self { recorded: None, message: error.text() }
    }
}

impl HostLog {
    /// Has the newest checkpoint confirmed by all services in the settings. Returns the problem, if
    /// there is one. The problem is recorded unless it is equal to `known`.
    pub(crate) async fn attest(&self, known: Option<&Text>) -> Option<Text> {
        let settings = self.profile.settings().audit.clone();
        let mut problems = Vec::new();
        if !settings.witness_url.is_empty()
            && let Err(refusal) = self.ask_witness(&settings).await
        {
            problems.push(("witness", refusal));
        }
        if !settings.timestamp_url.is_empty()
            && let Err(refusal) = self.ask_authority(&settings).await
        {
            problems.push(("timestamps", refusal));
        }
        let told = Text::join(problems.iter().map(|(_, refusal)| refusal.message.clone()));
        for (service, refusal) in &problems {
            if let Some(reason) = refusal.recorded
                && known != Some(&told)
            {
                self.record_refusal(service, reason).await;
            }
        }
        (!problems.is_empty()).then_some(told)
    }

    /// Signs the newest records and has the checkpoint confirmed.
    pub(crate) async fn checkpoint(&self) -> Result<AuditCheckpointResponse, AgentError> {
        let made = self.records.checkpoint().await.map_err(|error| audit_error(&error))?;
        let problem = self.attest(None).await;
        let cosigned = self.kept("witness").newest().filter(|text| text.starts_with(&made.note));
        let note = cosigned.unwrap_or(made.note);
        Ok(AuditCheckpointResponse { note, problem, ..made })
    }

    async fn record_refusal(&self, service: &str, reason: &str) {
        let draft = RecordDraft::new(RecordType::AttestationRefused)
            .field("service", service)
            .field("status", reason)
            .field("level", "error");
        if let Err(error) = self.records.append(draft, Durability::Durable).await {
            tracing::error!(%error, "a refused confirmation could not be recorded");
        }
    }

    /// Sends the newest checkpoint to the witness and stores the witness's cosignature.
    async fn ask_witness(&self, settings: &AuditSettings) -> Result<(), Refusal> {
        let witness = Witness::parse(&settings.witness_key).ok_or_else(bad_key)?;
        let url = format!("{}/add-checkpoint", settings.witness_url.trim_end_matches('/'));
        let kept = self.kept("witness").newest();
        let known = kept.as_deref().and_then(checkpoint_size).unwrap_or(0);
        let mut old = known;
        for _ in 0..TRIES {
            let Some(sent) = self.read_submission(old).await? else { return Ok(()) };
            if sent.size == known && self.kept("witness").has(&self.today(), "checkpoint") {
                return Ok(());
            }
            let answer = post(&url, "text/plain; charset=utf-8", sent.body.into_bytes()).await?;
            let body = String::from_utf8_lossy(&answer.body).into_owned();
            match answer.status {
                200 => {
                    let line = witness
                        .check(&sent.checkpoint, &body)
                        .map_err(|fault| bad_cosignature(&witness, fault))?;
                    let text = format!("{}{line}", sent.checkpoint);
                    return Ok(self.kept("witness").store(
                        &self.today(),
                        "checkpoint",
                        text.as_bytes(),
                    )?);
                }
                409 => old = other_size(&witness, &body, known, sent.size)?,
                422 => return Err(inconsistent(&witness)),
                status => return Err(unexpected(witness.name(), status)),
            }
        }
        Err(unexpected(witness.name(), 409))
    }

    async fn read_submission(&self, old: u64) -> Result<Option<Submission>, AgentError> {
        let path = self.paths().audit();
        tokio::task::spawn_blocking(move || Submission::read(&path, old)).await.map_err(|_| {
            AgentError::internal("audit_unreadable", "Reading the audit log was interrupted.")
        })?
    }

    /// Requests a time stamp for the day's first checkpoint, unless it already has one.
    async fn ask_authority(&self, settings: &AuditSettings) -> Result<(), Refusal> {
        let (kept, today) = (self.kept("timestamps"), self.today());
        if kept.has(&today, "tsr") {
            return Ok(());
        }
        let Some(sent) = self.read_submission(0).await? else { return Ok(()) };
        let request = TimeStampRequest::new(&sent.checkpoint, &OsEntropy)
            .map_err(|error| AgentError::internal("no_randomness", error))?;
        let url = settings.timestamp_url.as_str();
        let Posted { status, body } =
            post(url, "application/timestamp-query", request.to_der()).await?;
        if status != 200 {
            return Err(unexpected(url, status));
        }
        if !request.is_answered_by(&body) {
            return Err(Refusal {
                recorded: Some("bad_time_stamp"),
                message: text!("The time stamp of {url} is not about this log's checkpoint.", url),
            });
        }
        kept.store(&today, "checkpoint", sent.checkpoint.as_bytes())?;
        Ok(kept.store(&today, "tsr", &body)?)
    }

    fn today(&self) -> String {
        self.now().format("%Y-%m-%d").to_string()
    }

    fn kept(&self, service: &str) -> Kept {
        Kept { folder: self.paths().attestations().join(service) }
    }
}

/// Reads the size that a witness has cosigned. The size must lie between the last size that this
/// witness cosigned and the current size of this log. A smaller size means that the witness lost
/// data, and a larger size that this log lost records.
fn other_size(witness: &Witness, body: &str, known: u64, size: u64) -> Result<u64, Refusal> {
    let name = witness.name();
    let told: u64 = body.trim_end().parse().map_err(|_| unexpected(name, 409))?;
    if told > size {
        let message = text!(
            "The witness {name} has cosigned {told} records of this log, which has only {size}: records are missing here.",
            name,
            told,
            size
        );
        return Err(Refusal { recorded: Some("log_is_shorter"), message });
    }
    if told < known {
        let message = text!(
            "The witness {name} has cosigned {known} records but now reports {told}. Some are missing there.",
            name,
            known,
            told
        );
        return Err(Refusal { recorded: Some("witness_forgot"), message });
    }
    Ok(told)
}

fn bad_key() -> Refusal {
    Refusal { recorded: None, message: "The key of the witness cannot be read.".into() }
}

fn bad_cosignature(witness: &Witness, fault: WitnessFault) -> Refusal {
    let name = witness.name();
    let (reason, message) = match fault {
        WitnessFault::Missing => (
            "no_cosignature",
            text!("The answer has no cosignature under the key of the witness {name}.", name),
        ),
        WitnessFault::BadSignature => (
            "bad_cosignature",
            text!("The cosignature of the witness {name} does not match the checkpoint.", name),
        ),
    };
    Refusal { recorded: Some(reason), message }
}

fn inconsistent(witness: &Witness) -> Refusal {
    let name = witness.name();
    let message = text!(
        "The witness {name} says that this log is not a continuation of the one it cosigned.",
        name
    );
    Refusal { recorded: Some("inconsistent"), message }
}

fn unexpected(name: &str, status: u16) -> Refusal {
    let message = text!("{name} did not confirm the checkpoint (HTTP {status}).", name, status);
    Refusal { recorded: None, message }
}

/// A folder that stores one answer per day.
struct Kept {
    folder: PathBuf,
}

impl Kept {
    fn has(&self, day: &str, ending: &str) -> bool {
        self.folder.join(format!("{day}.{ending}")).is_file()
    }

    /// Returns the newest stored checkpoint.
    fn newest(&self) -> Option<String> {
        let names = fs::read_dir(&self.folder).ok()?;
        let name = names
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.ends_with(".checkpoint"))
            .max()?;
        files::read_text(&self.folder.join(name), files::OWN).ok()
    }

    /// Stores an answer in one step, so that after a crash either the old or the new answer exists.
    fn store(&self, day: &str, ending: &str, bytes: &[u8]) -> Result<(), AgentError> {
        let failed = |error: std::io::Error| {
            AgentError::internal(
                "confirmation_not_kept",
                text!("The confirmation of a checkpoint could not be kept ({error}).", error),
            )
        };
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder).map_err(failed)?;
        file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
        let path = self.folder.join(format!("{day}.{ending}"));
        file.persist(path).map(|_| ()).map_err(|error| failed(error.error))
    }
}
