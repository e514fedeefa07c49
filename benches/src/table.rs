//! Prints tables as Markdown, so that the output can be stored as it is.

use std::time::Duration;

/// Prints a heading and a table.
pub(crate) fn print(title: &str, head: &[&str], rows: &[Vec<String>]) {
    println!("\n## {title}\n");
    println!("| {} |", head.join(" | "));
    println!("|{}|", vec!["---"; head.len()].join("|"));
    for row in rows {
        println!("| {} |", row.join(" | "));
    }
}

/// Formats a duration in a suitable unit.
pub(crate) fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds >= 1.0 {
        format!("{seconds:.2} s")
    } else if seconds >= 1e-3 {
        format!("{:.2} ms", seconds * 1e3)
    } else if seconds >= 1e-6 {
        format!("{:.2} µs", seconds * 1e6)
    } else {
        format!("{:.0} ns", seconds * 1e9)
    }
}

/// Returns how many times the second duration the first one is.
pub(crate) fn ratio(ours: Duration, theirs: Duration) -> String {
    if theirs.is_zero() {
        "-".to_owned()
    } else {
        format!("{:.2}", ours.as_secs_f64() / theirs.as_secs_f64())
    }
}

pub(crate) fn mib(kib: u64) -> String {
    format!("{}.{} MiB", kib / 1024, kib % 1024 * 10 / 1024)
}

/// Prints the machine and the time of the measurement.
pub(crate) fn machine() {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map_or("unknown processor", |rest| rest.trim_start_matches(['\t', ' ', ':']));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let build = if cfg!(debug_assertions) {
        "DEBUG build: these numbers mean nothing"
    } else {
        "release build"
    };
    println!(
        "{} on {cores} cores ({model}), {build}.",
        chrono::Utc::now().format("%Y-%m-%d %H:%M UTC")
    );
}
