//! The command line. The doc comments of the fields are the help texts. `csign serve` has the same
//! options and passes them on; a test compares the two programs.

use std::{net::SocketAddr, path::PathBuf};

use clap::Parser;

/// Serve the shop's chat API over HTTP: docs/gateway.md
#[derive(Debug, Parser)]
#[command(name = crate::NAME, version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Args {
    /// Folder with sessions, log and settings (default: the one of the window)
    #[arg(long, value_name = "DIR", env = "COUNTERSIGN_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Print the address and errors as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Where to listen (default: 127.0.0.1 and the port of the variable PORT, else 3000)
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
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

const EXIT_CODES: &str = "Exit codes: 0 stopped, 1 failed (also when the output could not be written), 2 wrong usage or settings, 5 the log does not verify.";
