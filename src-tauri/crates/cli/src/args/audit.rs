//! The command line of `csign audit`. The comments of the fields are the help texts.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use clap::Subcommand;
use contract::RecordType;

/// The parts of the filter that the index of the log answers.
#[derive(Debug, clap::Args)]
pub(crate) struct AuditSearch {
    /// Only of this specialist, by its id
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Only about this tool, by its id
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// Only this decision or outcome, e.g. approved, rejected, denied or error
    #[arg(long)]
    pub(crate) decision: Option<String>,
    /// Not before this day or moment (2026-03-31, or 2026-03-31T09:30:00Z)
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) since: Option<DateTime<Utc>>,
    /// Before this day or moment
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) until: Option<DateTime<Utc>>,
    /// Words of questions, arguments, results and names. The last may be the beginning of a word
    #[arg(long, default_value = "", value_name = "WORDS")]
    pub(crate) search: String,
}

/// Parses a moment, or a day, which stands for its beginning in UTC.
fn moment(text: &str) -> Result<DateTime<Utc>, String> {
    let day = || {
        let day: chrono::NaiveDate = text.parse().ok()?;
        Some(day.and_hms_opt(0, 0, 0)?.and_utc())
    };
    DateTime::parse_from_rfc3339(text)
        .map(|at| at.to_utc())
        .ok()
        .or_else(day)
        .ok_or_else(|| "write a day as 2026-03-31, or a moment as 2026-03-31T09:30:00Z".to_owned())
}

#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Questions, newest first; with --all, --event or --query the records themselves
    List {
        /// All records, not only the questions
        #[arg(long)]
        all: bool,
        /// At most this many
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
        limit: u32,
        /// Only what is before this number
        #[arg(long, value_name = "SEQ")]
        before: Option<u64>,
        /// Only this type of event, e.g. tool_intent
        #[arg(long = "event", visible_alias = "type", value_name = "TYPE", value_parser = record_type)]
        record_type: Option<RecordType>,
        /// Only this session
        #[arg(long)]
        session: Option<String>,
        /// Text in tool, status or session
        #[arg(long, default_value = "")]
        query: String,
        #[command(flatten)]
        filter: AuditSearch,
    },
    /// One question with its records, or one record by its number
    Show {
        #[arg(value_name = "ID|SEQ")]
        id: String,
    },
    /// Check the whole log, an exported folder, or the file of a log that was set aside; changes
    /// nothing
    Verify {
        #[arg(value_name = "FOLDER|FILE")]
        folder: Option<PathBuf>,
    },
    /// Write the log as plain files into a new folder; changes nothing
    Export {
        folder: PathBuf,
        /// Only the records of this session, with proofs that they are in the log, and the rows that
        /// its figures used
        #[arg(long)]
        session: Option<String>,
        /// Only one decision, with proofs: the number of one of its records. Or one figure, with the
        /// rows that it used
        #[arg(long, value_name = "SEQ", conflicts_with = "session")]
        record: Option<u64>,
    },
    /// Erase a conversation for good: its messages, the memories and notes made in it, its values in
    /// the log, and older copies of the database. Its records stay, and the log still verifies
    Erase {
        /// The session of the conversation
        #[arg(long)]
        session: String,
    },
    /// Create a signed checkpoint
    Checkpoint,
}

fn record_type(text: &str) -> Result<RecordType, String> {
    serde_json::from_value(serde_json::Value::String(text.to_owned())).map_err(|e| e.to_string())
}
