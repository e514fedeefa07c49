//! `csign`: the same turns, tools, approvals and log as the window, in a terminal. The program
//! sends the contract's commands to a host in this process, or to the process that has the data
//! folder open. Knows no store, model or webview.

mod approve;
mod args;
mod ask;
mod commands;
mod keys;
mod link;
mod listen;
mod markdown;
mod question;
mod refused_calls;
mod results;
mod width;

use std::process::ExitCode;

use clap::Parser as _;
use contract::Reason;
use host::Paths;
use terminal::{crash, exit, log, out, visible};

use args::Args;
use exit::Exit;
use out::Out;

/// Runs the program with the process's arguments.
pub fn run() -> ExitCode {
    host::keep_private();
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            return exit::print_parser_message(&error, "`csign --help` shows all commands.");
        }
    };
    let folder = link::data_dir(args.data_dir.clone());
    crash::install_crash_hook("csign", &folder);
    log::start(&folder);
    // Two TLS providers may be compiled in, and the first use would panic if none is chosen.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let out = Out::new(args.json);
    let paths = args.command.uses_settings().then(|| Paths::new(Some(folder.clone())));
    let run = || {
        if args.accept_new_log {
            commands::accept_new_log(folder.clone(), out)?;
        }
        commands::run(args.command, folder, out)
    };
    let ran = std::panic::catch_unwind(run);
    if let Some(fault) = paths.and_then(|paths| host::settings_fault(&paths))
        && !matches!(&ran, Ok(Err(failure)) if failure.error.has_reason(Reason::SettingsUnreadable))
    {
        out.print_error(&fault);
    }
    match ran {
        Ok(Ok(exit)) => exit::resolve_exit_code(out, exit),
        Ok(Err(failure)) => exit::report_failure(out, &failure),
        // The panic hook has already printed the error.
        Err(_) => Exit::Failed.into(),
    }
}
