//! The command line: commands, options and their help. The comments of the fields are the help
//! texts.

use std::path::PathBuf;

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use clap::{Parser, Subcommand};
use contract::{Destination, DestinationKind, RecordType};

mod data;

pub(crate) use data::{
    Data, DataAdd, DataMeasure, DataProfile, DataQuery, Dates, Decimal, Mode, Printing, Reading,
};

/// Ask questions of your data and act on them, with your signature, from a terminal.
#[derive(Debug, Parser)]
#[command(name = "csign", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Args {
    /// Folder with sessions, log and settings (default: the one of the window)
    #[arg(long, global = true, value_name = "DIR", env = "COUNTERSIGN_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Print one JSON document, or for `ask` one JSON event a line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// After an alarm: set the log that does not verify aside and begin a new one; needs a terminal
    #[arg(long, global = true)]
    pub(crate) accept_new_log: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed (also when the output could not be written), 2 wrong usage, 3 approval required, 4 denied or expired, 5 the log does not verify, 6 the log holds in itself but there was nothing outside it to compare it with, 7 a person must decide.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Send a message and print the answer
    Ask(Ask),
    /// Run one request of the run contract; prints its RunResponse or AgentError as JSON
    Run(Run),
    /// Look at pending actions and decide them
    #[command(subcommand)]
    Approvals(Approvals),
    /// Look at tools and call one
    #[command(subcommand)]
    Tools(Tools),
    /// Show the policy and test calls against it
    #[command(subcommand)]
    Policy(Policy),
    /// Run a recorded message again, offline, and show the first difference to the log
    Replay {
        /// The question, as `csign audit list` names it, or the number of one of its records
        #[arg(value_name = "RUN")]
        run: String,
    },
    /// Look at long-term memories, add and delete them
    #[command(subcommand)]
    Memory(Memory),
    /// Find messages of all conversations by their words
    Search(Search),
    /// List conversations and write one into a file
    #[command(subcommand)]
    Sessions(Sessions),
    /// Read, verify and export the log
    #[command(subcommand)]
    Audit(Audit),
    /// Make and check packs
    #[command(subcommand)]
    Packs(Packs),
    /// Import tables from files or databases, and ask for figures
    #[command(subcommand)]
    Data(Data),
    /// Short for `data add`
    Import(Box<DataAdd>),
    /// Add, test and remove MCP servers of your own
    #[command(subcommand)]
    Servers(Servers),
    /// How fast the last runs were, what ended them, and what they cost
    ServiceLevel,
    /// Check the installation
    Doctor,
    /// Serve the shop's chat API over HTTP: docs/gateway.md
    Serve(Serve),
    /// For developers of Countersign
    #[command(subcommand, hide = true)]
    Dev(Dev),
}

impl Command {
    /// Whether an error in the settings is printed at the end of the command. `doctor` and `serve`
    /// print this error themselves, and some commands have no profile.
    pub(crate) fn uses_settings(&self) -> bool {
        !matches!(self, Self::Doctor | Self::Serve(_) | Self::Dev(_))
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Dev {
    /// Drive the MCP client against a test server: sign in, list, call every tool once (conformance
    /// suites)
    McpClient { url: String },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Ask {
    /// Continue this session; it is created when it does not exist (default: a new one)
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// `offline`, or a model of the configured provider
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The specialist that answers, by its id (default: the supervisor chooses)
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Import this file as a source first, as `data add` does; may be given several times
    #[arg(long, value_name = "FILE")]
    pub(crate) with: Vec<String>,
    /// The message; `-` reads it from standard input
    pub(crate) message: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// A file with a RunRequest as JSON; `-` reads it from standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) request: PathBuf,
    /// Print one RunEvent a line; the last one holds the result
    #[arg(long)]
    pub(crate) stream: bool,
    /// Carried into every record and log line of the run
    #[arg(long, value_name = "ID")]
    pub(crate) correlation_id: Option<String>,
    /// The caller to which these request ids belong
    #[arg(long, value_name = "NAME", default_value = "csign")]
    pub(crate) caller: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// Where to listen (default: 127.0.0.1 and the port of the variable PORT, else 3000)
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<std::net::SocketAddr>,
    /// Ask for no token: for a web shop's own server in front, on this machine only
    #[arg(long)]
    pub(crate) no_token: bool,
    /// Listen where other machines can reach it
    #[arg(long)]
    pub(crate) allow_remote: bool,
    /// Read variables from this file; those that are set already stay
    #[arg(long, value_name = "FILE")]
    pub(crate) env_file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Approvals {
    /// Pending actions
    List {
        /// Also those that were decided or ran out
        #[arg(long)]
        all: bool,
    },
    /// One action in full
    Show { id: String },
    /// Approve one and run it; only on a terminal, and only after allowing it in Settings
    Approve {
        id: String,
        /// The hash that `show` printed: what you saw is what runs
        #[arg(long)]
        hash: String,
        /// The word that a destructive action asks for
        #[arg(long)]
        word: Option<String>,
    },
    /// Reject one
    Reject {
        id: String,
        /// Why; the model sees it
        #[arg(long)]
        reason: Option<String>,
    },
    /// Propose one again whose time ran out; only on a terminal
    Again { id: String },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Tools {
    /// All tools
    List,
    /// One tool with its parameters
    Show { name: String },
    /// Call a tool under the same policy, approvals and log as in a session
    Call {
        name: String,
        /// The arguments as a JSON object; `-` reads them from standard input
        #[arg(long, value_name = "JSON", default_value = "{}")]
        args: String,
        /// Use this session's values (customer, basket)
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// The policy, its rules and grants, and what could not be read of them
    Show,
    /// Test a call against the policy; nothing is run or asked
    Check {
        /// The tool's id
        #[arg(long, value_name = "NAME")]
        tool: String,
        /// The arguments as a JSON object; `-` reads them from standard input
        #[arg(long, value_name = "JSON", default_value = "{}")]
        args: String,
        /// Include the grants of this session
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
        /// Assume untrusted content in context
        #[arg(long)]
        untrusted: bool,
    },
    /// The places that reads may send data to; a person at a terminal can allow one
    Destinations {
        /// Allow a place: host:NAME, recipient:NAME or server:PACK/SERVER
        #[arg(long, value_name = "KIND:NAME", value_parser = parse_destination)]
        #[arg(conflicts_with = "revoke")]
        allow: Option<Destination>,
        /// Revoke the permission for a place
        #[arg(long, value_name = "KIND:NAME", value_parser = parse_destination)]
        revoke: Option<Destination>,
        /// Only in this conversation (default: in all)
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
    },
    /// Test a rules file on the past calls of the log; nothing is run or changed
    Backtest {
        /// The rules file, in the format of policy.json; `-` reads standard input
        #[arg(value_name = "RULES")]
        rules: PathBuf,
        /// Only calls from this day on (UTC), or from this moment on
        #[arg(long, value_name = "DATE", value_parser = parse_date)]
        since: Option<DateTime<Utc>>,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Search {
    /// The words; the last one may be the beginning of a word
    #[arg(required = true, num_args = 1..)]
    pub(crate) text: Vec<String>,
    /// Only messages of this session
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Only messages of this day (UTC) and later
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) since: Option<chrono::NaiveDate>,
    /// Only messages of this day (UTC) and earlier
    #[arg(long, value_name = "YYYY-MM-DD")]
    pub(crate) until: Option<chrono::NaiveDate>,
    /// Only where this specialist answered
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(crate) agent: String,
    /// Only where this tool was called
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(crate) tool: String,
    /// At most this many
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) limit: u32,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Sessions {
    /// Conversations: pinned ones first, then newest first
    List {
        /// Only those whose title contains this text
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        title: String,
        /// The archived ones instead
        #[arg(long)]
        archived: bool,
        /// At most this many
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200))]
        limit: u32,
        /// Leave out this many
        #[arg(long, default_value_t = 0)]
        offset: u32,
    },
    /// Write one conversation into a new file
    Export {
        /// The conversation, as `sessions list` names it
        session: String,
        /// How it is written
        #[arg(long, value_enum, default_value_t = SessionFile::Markdown)]
        format: SessionFile,
        /// The folder for the file (default: this one)
        #[arg(long, value_name = "DIR", default_value = ".", hide_default_value = true)]
        into: PathBuf,
    },
}

/// The format of a conversation's file.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum SessionFile {
    /// Text with tables
    Markdown,
    /// One page for printing
    Html,
    /// All values
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Memory {
    /// The model that compares memories, and the progress of its index
    Status,
    /// Memories, newest first
    List {
        /// Only those of this session
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
        /// At most this many
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=200))]
        limit: u32,
        /// Leave out this many of the newest
        #[arg(long, default_value_t = 0, value_name = "NUMBER")]
        offset: u32,
    },
    /// The memories that fit a text, best first
    Search {
        text: String,
        /// Only what this session may use
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
        /// At most this many
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=50))]
        limit: u32,
    },
    /// One memory with its sources
    Show { id: String },
    /// Remember a text word by word, for all conversations; only on a terminal
    Add {
        text: String,
        /// Only for this session
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
    },
    /// Give a memory another text; only on a terminal
    Edit { id: String, text: String },
    /// Give a memory to the model with every message; only on a terminal
    Pin { id: String },
    /// Give a memory to the model only when it fits; only on a terminal
    Unpin { id: String },
    /// Neither read nor make memories in a session; only on a terminal
    Off {
        #[arg(value_name = "SESSION")]
        session: String,
    },
    /// Read and make memories in a session again; only on a terminal
    On {
        #[arg(value_name = "SESSION")]
        session: String,
    },
    /// Delete a memory; only on a terminal
    Forget { id: String },
    /// Print all memories as one JSON document
    Export,
}

/// The parts of the filter that the index of the log answers.
#[derive(Debug, clap::Args)]
pub(crate) struct AuditSearch {
    /// Only of this specialist, by its id
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Only about this tool, by its id
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// Only this decision, e.g. approved, rejected, expired or denied
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

#[derive(Debug, Subcommand)]
pub(crate) enum Packs {
    /// All packs, with the faults of those that cannot be used
    List,
    /// Show how the offline model understands a message: clauses, intents, arguments, unused words
    Explain { text: String },
    /// List every fault of a pack
    Check {
        folder: PathBuf,
        /// And run its acceptance scenarios with the offline model
        #[arg(long)]
        run: bool,
        /// Its HTTP tools may reach this computer and the local network, when the manifest asks for
        /// it
        #[arg(long, requires = "run")]
        allow_private_network: bool,
    },
    /// Make a pack to start from, in the folder where the app looks for yours
    New {
        /// Lower-case letters, digits and hyphens
        name: String,
        /// The kind of its tool
        #[arg(long, value_enum, default_value_t = PackKind::Program)]
        kind: PackKind,
        /// Make it in this folder instead
        #[arg(long, value_name = "FOLDER")]
        into: Option<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Servers {
    /// The servers that were added, and what they run
    List,
    /// Show what would run, test it, and add it
    Add(ServersAdd),
    /// Start an added server once and list its tools
    Test { name: String },
    /// Switch an added server on
    Enable { name: String },
    /// Switch an added server off; it stays in the list
    Disable { name: String },
    /// Start a server, show what it says differently of its tools, and accept it
    Accept {
        name: String,
        /// Whether numbers in its descriptions, such as a date or a count, may change from now on
        /// without a question
        #[arg(long, value_enum)]
        numbers: Option<Numbers>,
        /// Accept everything that is shown without asking
        #[arg(long)]
        yes: bool,
    },
    /// Say whether the reads of an added server may run without asking
    Reads {
        name: String,
        #[arg(value_enum)]
        may: Reads,
    },
    /// Say how many seconds one call of an added server may take; progress begins them again
    Limit {
        name: String,
        #[arg(value_parser = clap::value_parser!(u32).range(1..=3_600))]
        seconds: u32,
    },
    /// The last lines of its error output
    Log { name: String },
    /// Remove an added server with its keys
    Remove { name: String },
}

/// The effect of a change of numbers in the descriptions of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Numbers {
    /// It has none
    MayChange,
    /// It switches the tools off until they are accepted
    Ask,
}

/// Whether the reads of a server run without asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Reads {
    /// They run without asking
    Run,
    /// They ask
    Ask,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ServersAdd {
    /// Its name (default: from the package or the address)
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// A variable of the program, or with --from the value of a placeholder such as ${NAME}; keys
    /// are stored in the keyring
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// A header for the address; it is stored in the keyring
    #[arg(long, value_name = "NAME:VALUE")]
    pub(crate) header: Vec<String>,
    /// You sign in to the address with a browser, in Tools
    #[arg(long)]
    pub(crate) sign_in: bool,
    /// A tool that only reads; may be given several times
    #[arg(long, value_name = "TOOL")]
    pub(crate) reads: Vec<String>,
    /// Its reads may run without asking
    #[arg(long)]
    pub(crate) reads_may_run: bool,
    /// Numbers in the descriptions of its tools, such as a date or a count, may change without a
    /// question
    #[arg(long)]
    pub(crate) numbers_may_change: bool,
    /// Run it without network: it opens no socket, and downloads nothing
    #[arg(long)]
    pub(crate) no_network: bool,
    /// Start it and accept the tools of its test without asking; they count as changes unless
    /// --reads names them, and values that look random are stored as keys
    #[arg(long)]
    pub(crate) yes: bool,
    /// Read the servers of another client from its settings file, such as those of Claude Desktop,
    /// VS Code, Cursor, Windsurf, Cline, Zed, Gemini CLI or Codex; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    pub(crate) from: Option<PathBuf>,
    /// The command with its arguments, or the address
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<String>,
}

/// The kind of a new pack's tool.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum PackKind {
    /// A program in the pack's folder
    Program,
    /// One HTTP request
    Http,
    /// An MCP server in the pack's folder
    Mcp,
}

fn record_type(text: &str) -> Result<RecordType, String> {
    serde_json::from_value(serde_json::Value::String(text.to_owned())).map_err(|e| e.to_string())
}

/// Parses a destination such as `host:docs.example.com`.
fn parse_destination(text: &str) -> Result<Destination, String> {
    let kind = |word: &str| match word {
        "host" => Some(DestinationKind::Host),
        "recipient" => Some(DestinationKind::Recipient),
        "server" => Some(DestinationKind::Server),
        _ => None,
    };
    text.split_once(':')
        .and_then(|(word, name)| Some(Destination::new(kind(word)?, name)))
        .filter(|destination| !destination.name.trim().is_empty())
        .ok_or_else(|| {
            "write host:docs.example.com, recipient:ada@example.com or server:PACK/SERVER".into()
        })
}

/// Parses a moment, or a day, which stands for its beginning in UTC.
fn parse_date(text: &str) -> Result<DateTime<Utc>, String> {
    if let Ok(day) = text.parse::<NaiveDate>() {
        return Ok(day.and_time(NaiveTime::MIN).and_utc());
    }
    DateTime::parse_from_rfc3339(text)
        .map(|moment| moment.to_utc())
        .map_err(|_| "write a day as 2026-11-30 or a moment as 2026-11-30T08:00:00Z".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_definitions_of_commands_and_options_are_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn options_may_stand_before_or_after_the_command() {
        let read = |line: &str| Args::try_parse_from(line.split(' ')).expect("valid");
        assert!(read("csign --json ask hello").json);
        assert!(read("csign ask hello --json").json);
        assert!(matches!(
            read("csign audit list --type tool_intent").command,
            Command::Audit(Audit::List { record_type: Some(RecordType::ToolIntent), .. })
        ));
    }

    #[test]
    fn invalid_command_lines_are_refused() {
        for line in [
            "csign",
            "csign ask",
            "csign approvals approve a1",
            "csign audit show",
            "csign audit list --type nonsense",
            "csign audit list --limit 0",
            "csign audit list --since yesterday",
            "csign memory add",
            "csign memory search x --limit 51",
            "csign data add",
            "csign data add f.csv --dates first",
            "csign data query",
            "csign data query x --csv --parquet f",
            "csign data allow --revoke",
            "csign data verify last",
        ] {
            assert!(Args::try_parse_from(line.split(' ')).is_err(), "{line}");
        }
    }
}
