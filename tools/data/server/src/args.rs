//! The command line, and starting what it asks for.

use std::{io::Write as _, path::PathBuf};

use clap::{Parser, Subcommand};
use contract::sources::{IMPORT_MEMORY, PROCESS_MEMORY};
use rmcp::{ServerHandler, ServiceExt as _, transport::io::stdio_pipes};

use crate::{database::server::DatabaseServer, drivers, import, serve};

/// The usual memory limit of the library.
const MEMORY: u64 = 1 << 30;
/// How many times the memory limit may be spilled.
const SPILL: u64 = 16;

/// Reads a file into a Parquet part, or answers questions over parts or one database.
#[derive(Debug, Parser)]
#[command(name = "csign-data", version)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Read the file on standard input by the `job.json` in the working folder, and write its rows there.
    Import,
    /// Answer questions over Parquet parts: an MCP server on standard input and output.
    Serve {
        /// A folder with parts.
        #[arg(long, value_name = "FOLDER")]
        read: Vec<PathBuf>,
        /// The most memory of the database library, in bytes.
        #[arg(long, default_value_t = MEMORY)]
        memory_bytes: u64,
        /// The most threads of the database library.
        #[arg(long, default_value_t = 2)]
        threads: u32,
        /// The most bytes that are spilled into the working folder.
        #[arg(long)]
        spill_bytes: Option<u64>,
    },
    /// Answer questions over one database: an MCP server on standard input and output.
    Database {
        /// The most memory of the process, in bytes.
        #[arg(long, default_value_t = MEMORY)]
        memory_bytes: u64,
    },
}

impl Args {
    /// Returns the most memory of the process.
    pub fn memory_bytes(&self) -> u64 {
        match self.command {
            Command::Import => IMPORT_MEMORY + PROCESS_MEMORY,
            Command::Serve { memory_bytes, .. } | Command::Database { memory_bytes } => {
                memory_bytes.saturating_add(PROCESS_MEMORY)
            }
        }
    }
}

/// Reads the command line. Returns the exit code if there is nothing to do.
pub fn parse() -> Result<Args, u8> {
    Args::try_parse().map_err(|error| {
        // A reader such as `head` closes the pipe when it has read enough, so this is not an error.
        let written = error.print().and_then(|()| std::io::stdout().flush());
        match written {
            Err(failed) if failed.kind() != std::io::ErrorKind::BrokenPipe => {
                eprintln!("error: The output could not be written: {failed}.");
                1
            }
            _ if error.use_stderr() => 2,
            _ => 0,
        }
    })
}

/// Does what the command line asks for. Returns the exit code.
pub fn run(args: Args) -> u8 {
    let folder = match std::env::current_dir() {
        Ok(folder) => folder,
        Err(error) => {
            eprintln!("error: The working folder cannot be used: {error}.");
            return 1;
        }
    };
    let served = match args.command {
        Command::Import => return u8::from(!import::run(&folder)),
        Command::Serve { read, memory_bytes, threads, spill_bytes } => {
            serve_stdio(serve::server::QueryServer::start(serve::ServeSettings {
                read,
                scratch: folder,
                drivers: drivers::folder(),
                memory_bytes,
                spill_bytes: spill_bytes.unwrap_or(memory_bytes.saturating_mul(SPILL)),
                threads,
            }))
        }
        Command::Database { .. } => serve_stdio(DatabaseServer::new(drivers::folder())),
    };
    match served {
        Ok(()) => 0,
        Err(problem) => {
            eprintln!("error: {problem}");
            1
        }
    }
}

/// Serves one client until it closes standard input.
fn serve_stdio(server: impl ServerHandler) -> Result<(), String> {
    // Questions run on threads of their own, so one thread for the messages starts fastest.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("The server cannot start: {error}."))?;
    let served = runtime.block_on(async {
        let (read, write) = stdio_pipes();
        let service = server.serve((read, write)).await.map_err(|error| {
            format!("The client and the server did not come to terms: {error}.")
        })?;
        service.waiting().await.map_err(|error| format!("The connection broke: {error}."))?;
        Ok(())
    });
    // A question that still runs would keep the process from ending.
    runtime.shutdown_background();
    served
}
