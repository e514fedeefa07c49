//! The command line of `csign packs`. The comments of the fields are the help texts.

use std::path::PathBuf;

use clap::Subcommand;

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
