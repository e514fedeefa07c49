//! `csign`: the same turns, tools, approvals and log as the window, in a terminal. It sends the
//! contract's commands to a host in this process, or to the process that holds the data folder.
//! Knows no store, model or webview.

mod approve;
mod args;
mod ask;
mod commands;
mod crash;
mod exit;
mod keys;
mod link;
mod listen;
mod log;
mod markdown;
mod out;
mod question;
mod refused_calls;
mod telemetry;
mod visible;

use std::process::ExitCode;

use clap::Parser as _;
use contract::Reason;
use host::Paths;

use args::Args;
use exit::{Exit, Failure};
use out::Out;

/// Runs the program with the process's arguments.
pub fn run() -> ExitCode {
    host::keep_private();
    // The arguments are passed on in the system's form, because the parser itself refuses arguments
    // that are not text.
    let mut typed = std::env::args_os().skip(1);
    if typed.next().is_some_and(|word| word == "shop-server") {
        return commands::shop_server(typed);
    }
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return print_parser_message(&error),
    };
    let folder = link::data_dir(args.data_dir.clone());
    match &args.command {
        // The log of a server starts with its settings, which may come from a file.
        args::Command::Serve(_) => crash::install_for_server(&folder),
        _ => {
            crash::install_crash_hook(&folder);
            log::start(&folder);
        }
    }
    // Two TLS providers may be compiled in. Without a choice, the first use would panic.
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
        Ok(Err(failure)) => report_failure(out, &failure),
        // The panic hook has already printed the error.
        Err(_) => Exit::Failed.into(),
    }
}

fn report_failure(out: Out, failure: &Failure) -> ExitCode {
    out.print_failure(&failure.error);
    if out.json
        && (failure.exit == Exit::LogBroken
            || matches!(out::stdout_state(), out::Delivery::Lost(_)))
    {
        // An alarm is also printed if the JSON document goes elsewhere, and an error if the
        // document was lost.
        out.print_error(&failure.error);
    }
    exit::resolve_exit_code(out, failure.exit)
}

/// Prints the parser's message. Help and version are not errors; clap knows which stream each
/// belongs to.
fn print_parser_message(error: &clap::Error) -> ExitCode {
    let printed = error.print();
    if error.use_stderr() {
        let out = Out::new(std::env::args_os().any(|word| word == "--json"));
        if out.json {
            out.print_failure(&exit::failure_from_parser_error(error).error);
        }
        return exit::resolve_exit_code(out, Exit::Usage);
    }
    out::record_write_result(printed.and_then(|()| std::io::Write::flush(&mut std::io::stdout())));
    exit::resolve_exit_code(Out::new(false), Exit::Done)
}
