//! The command line of `csign search`, `csign sessions` and `csign memory`. The comments of the
//! fields are the help texts.

use std::path::PathBuf;

use clap::Subcommand;

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
