//! The program `countersign-gateway`: serves the shop's chat API over HTTP until it is stopped.
//! `csign serve` becomes this program. The program opens a profile, gives the gateway's library a
//! host, and owns everything that only a server needs: telemetry, the log on standard error, shared
//! sessions.

mod args;
mod environment;
mod events;
mod serving;
mod telemetry;

use std::process::ExitCode;

use clap::Parser as _;
use host::Paths;
use terminal::out::Out;
use terminal::{crash, exit};

use args::Args;

/// The name of the program.
const NAME: &str = "countersign-gateway";

/// The allocator of the program. The system's allocator would take a fifth of a turn's time,
/// because a turn makes many short-lived objects.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The allocator's settings, which it reads when the program starts: few arenas, and memory that
/// was free for a second is returned to the system.
#[unsafe(export_name = "_rjem_malloc_conf")]
static ALLOCATOR_SETTINGS: &[u8; 70] =
    b"narenas:2,background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0\0";

fn main() -> ExitCode {
    host::keep_private();
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let hint = "`countersign-gateway --help` shows all options.";
            return exit::print_parser_message(&error, hint);
        }
    };
    let data_dir = Paths::new(args.data_dir.clone()).data;
    crash::install_for_server(NAME, &data_dir);
    // Two TLS providers may be compiled in, and the first use would panic if none is chosen.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let out = Out::new(args.json);
    match std::panic::catch_unwind(|| serving::run(&args, data_dir, out)) {
        Ok(Ok(exit)) => exit::resolve_exit_code(out, exit),
        Ok(Err(failure)) => exit::report_failure(out, &failure),
        // The panic hook has already printed the error.
        Err(_) => exit::Exit::Failed.into(),
    }
}
