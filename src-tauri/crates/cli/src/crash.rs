//! A fault of the program itself: one sentence for the person, the details in the log.

use std::io::Write as _;
use std::path::Path;

/// Replaces the standard hook, which would print a stack trace.
pub(crate) fn install(data_dir: &Path) {
    let log = crate::log::path(data_dir);
    std::panic::set_hook(Box::new(move |info| {
        let trace = std::backtrace::Backtrace::force_capture();
        let kept = crate::log::append(&log, &format!("{info}\n{trace}\n"));
        let place = if kept.is_ok() { format!(" Details are in {}.", log.display()) } else { String::new() };
        let _ = writeln!(std::io::stderr(), "error: csign stopped because of a fault of its own.{place}");
    }));
}
