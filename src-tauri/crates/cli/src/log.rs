//! The program's own log file in the data folder. It is created only if there is something to
//! report, and its size is limited.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use contract::AgentError;
use tracing::{Level, level_filters::LevelFilter};
use tracing_subscriber::filter::{FilterExt as _, filter_fn};
use tracing_subscriber::{
    EnvFilter, Layer as _, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

use crate::telemetry::{SPANS, Telemetry};

/// The variable that sets the log filter, for example to `debug`.
const FILTER: &str = "COUNTERSIGN_LOG";
/// The default filter.
const USUAL: &str = "warn";
/// The default filter of a server.
const USUAL_OF_SERVER: &str = "warn,gateway=info";
/// The filter added before every other filter, because the protocol library would log servers'
/// error texts. A user's filter for that library takes precedence.
const QUIET: &str = "rmcp=off";
/// The file size in bytes above which the file is renamed to `.old`, replacing the previous `.old`
/// file.
const LIMIT: u64 = 1 << 20;

pub(crate) fn path(data_dir: &Path) -> PathBuf {
    data_dir.join("logs").join("csign.log")
}

/// Starts writing warnings and errors to the file, or whatever the filter selects.
pub(crate) fn start(data_dir: &Path) {
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

/// Starts writing a server's events to standard error as lines of JSON, as the filter selects.
/// Exported traces and metrics have their own filters.
pub(crate) fn start_server(telemetry: Option<&Telemetry>) -> Result<(), AgentError> {
    // The spans of a request and its turn name the request in every log line inside them, so no
    // filter may remove them.
    let named = filter_fn(|about| {
        about.is_span() && about.target() == SPANS && *about.level() == Level::ERROR
    })
    .with_max_level_hint(LevelFilter::ERROR);
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_writer(io::stderr)
        .with_filter(server_filter()?.or(named));
    // Without a collector the layer is left out, so that no unneeded spans are created.
    let started = match telemetry {
        None => tracing_subscriber::registry().with(lines).try_init(),
        Some(telemetry) => {
            tracing_subscriber::registry().with(lines).with(telemetry.layers()).try_init()
        }
    };
    if let Err(error) = started {
        let _ = writeln!(io::stderr(), "warning: nothing will be logged: {error}");
    }
    Ok(())
}

/// Reads a server's filter. An invalid filter is an error, because the server would otherwise run
/// without the requested log.
fn server_filter() -> Result<EnvFilter, AgentError> {
    let wrong = || {
        AgentError::invalid(format!(
            "{FILTER} cannot be read: write a level, or a list such as warn,gateway=debug."
        ))
        .reason("invalid_configuration")
        .hint("docs/gateway.md lists every setting.")
    };
    let text = std::env::var_os(FILTER)
        .filter(|text| !text.is_empty())
        .unwrap_or_else(|| USUAL_OF_SERVER.into());
    text.to_str().and_then(filter_of).ok_or_else(wrong)
}

fn filter_of(text: &str) -> Option<EnvFilter> {
    EnvFilter::try_new(format!("{QUIET},{text}")).ok()
}

/// Appends to the file, and creates it if necessary.
pub(crate) fn append_text(path: &Path, text: &str) -> io::Result<()> {
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
    fn what_the_protocol_library_would_log_of_a_server_stays_out() {
        for wanted in [USUAL, USUAL_OF_SERVER, "warn,gateway=debug", "debug"] {
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
