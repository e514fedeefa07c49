//! The command line of `csign servers`. The comments of the fields are the help texts.

use std::path::PathBuf;

use clap::Subcommand;

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
