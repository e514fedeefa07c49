//! Handles a panic of the program: prints one sentence for the user and writes the details to the
//! log.

use std::io::Write as _;
use std::panic::PanicHookInfo;
use std::path::Path;

/// Replaces the standard panic hook, which would print a stack trace.
pub fn install_crash_hook(program: &'static str, data_dir: &Path) {
    let log = crate::log::path(data_dir);
    std::panic::set_hook(Box::new(move |info| record_panic(program, &log, info)));
}

/// Installs the panic hook of a server, whose tasks may panic without ending the server. The log
/// gets the place of a panic but not its message, which may quote a user.
pub fn install_for_server(program: &'static str, data_dir: &Path) {
    let log = crate::log::path(data_dir);
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().name() == Some("main") {
            return record_panic(program, &log, info);
        }
        tracing::error!(place = info.location().map(ToString::to_string), "panicked");
    }));
}

fn record_panic(program: &str, log: &Path, info: &PanicHookInfo<'_>) {
    let trace = std::backtrace::Backtrace::force_capture();
    let kept = crate::log::append_text(log, &format!("{info}\n{trace}\n"));
    let place =
        if kept.is_ok() { format!(" Details are in {}.", log.display()) } else { String::new() };
    // A panic of another thread ends only that thread's job, and the command reports the result of
    // the job.
    let who = if std::thread::current().name() == Some("main") { program } else { "a job" };
    let _ =
        writeln!(std::io::stderr(), "error: {who} stopped because of a fault of its own.{place}");
}
