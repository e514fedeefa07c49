//! The command line: commands, options and their help. The comments of the fields are the help
//! texts. Commands with many options are in files of their own.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

mod alerts;
mod audit;
mod conversations;
mod data;
mod packs;
mod policy;
mod servers;

pub(crate) use alerts::Alerts;
pub(crate) use audit::{Audit, AuditSearch};
pub(crate) use conversations::{Memory, Search, SessionFile, Sessions};
pub(crate) use data::{
    Data, DataAdd, DataMeasure, DataProfile, DataQuery, Dates, Decimal, Mode, Printing, Reading,
};
pub(crate) use packs::{PackKind, Packs};
pub(crate) use policy::Policy;
pub(crate) use servers::{Numbers, Reads, Servers, ServersAdd};

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
    /// List alerts about figures, and check their rules
    #[command(subcommand)]
    Alerts(Alerts),
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use contract::RecordType;

    use super::*;

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
