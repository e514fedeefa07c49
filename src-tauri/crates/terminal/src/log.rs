//! The programs' log file in the data folder, and the filters of a log. The file is created only if
//! there is something to report, and its size is limited.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use tracing_subscriber::EnvFilter;

/// The variable that sets the log filter, for example to `debug`.
pub const FILTER: &str = "COUNTERSIGN_LOG";
/// The default filter.
const USUAL: &str = "warn";
/// The filter added before every other filter, because the protocol library would log error texts
/// from servers. A user's filter for that library takes precedence.
const QUIET: &str = "rmcp=off";
/// The file size in bytes above which the file is renamed to `.old`, which replaces the previous
/// `.old` file.
const LIMIT: u64 = 1 << 20;

/// Returns the path of the log file.
pub fn path(data_dir: &Path) -> PathBuf {
    data_dir.join("logs").join("csign.log")
}

/// Starts writing log lines to the file: warnings and errors, or what the user's filter selects.
pub fn start(data_dir: &Path) {
    let wanted = std::env::var(FILTER).ok().and_then(|text| filter_of(&text));
    let filter = wanted.or_else(|| filter_of(USUAL)).unwrap_or_default();
    let file = path(data_dir);
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(move || Lazy(file.clone()))
        .try_init();
    if let Err(error) = started {
        let _ = writeln!(io::stderr(), "warning: nothing will be logged: {error}");
    }
}

/// Parses a filter, and turns off the log lines that would quote servers. Returns None if the text
/// cannot be parsed.
pub fn filter_of(text: &str) -> Option<EnvFilter> {
    EnvFilter::try_new(format!("{QUIET},{text}")).ok()
}

/// Appends to the file. Creates the file if necessary.
pub fn append_text(path: &Path, text: &str) -> io::Result<()> {
    open(path)?.write_all(text.as_bytes())
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    if fs::metadata(path).is_ok_and(|meta| meta.len() > LIMIT) {
        fs::rename(path, path.with_extension("log.old"))?;
    }
    files::open_to_write(path, OpenOptions::new().append(true).create(true).mode(0o600))
}

struct Lazy(PathBuf);

impl Write for Lazy {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        open(&self.0)?.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn log_lines_of_the_mcp_library_are_filtered_out() {
        for wanted in [USUAL, "warn,gateway=info", "warn,gateway=debug", "debug"] {
            let written = Written::default();
            let writer = written.clone();
            let subscriber = tracing_subscriber::fmt()
                .with_env_filter(filter_of(wanted).unwrap())
                .with_ansi(false)
                .with_writer(move || writer.clone())
                .finish();
            tracing::subscriber::with_default(subscriber, || {
                tracing::error!(target: "rmcp::transport::worker", "worker quit with fatal: HTTP 403 Forbidden: password hunter2");
                tracing::warn!(target: "mcp::server", "an MCP server is gone");
            });
            let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
            assert!(text.contains("is gone") && !text.contains("hunter2"), "{wanted}: {text}");
        }
    }
}
