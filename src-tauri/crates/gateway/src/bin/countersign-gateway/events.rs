//! The server's log: events as JSON lines on standard error, and exported spans.

use std::io::{self, Write as _};

use contract::AgentError;
use terminal::log::{FILTER, filter_of};
use tracing::{Level, level_filters::LevelFilter};
use tracing_subscriber::filter::{FilterExt as _, filter_fn};
use tracing_subscriber::{
    EnvFilter, Layer as _, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

use crate::telemetry::{SPANS, Telemetry};

/// The default filter.
const USUAL: &str = "warn,gateway=info";

/// Starts writing the events that the filter selects. Exported traces and metrics have their own
/// filters.
pub(crate) fn start(telemetry: Option<&Telemetry>) -> Result<(), AgentError> {
    // The spans of a request and its turn add the request's id to every log line inside, so no
    // filter may remove these spans.
    let named = filter_fn(|about| {
        about.is_span() && about.target() == SPANS && *about.level() == Level::ERROR
    })
    .with_max_level_hint(LevelFilter::ERROR);
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_writer(io::stderr)
        .with_filter(read_filter()?.or(named));
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

/// Reads the filter. An invalid filter is an error, because the server would otherwise run without
/// the requested log.
fn read_filter() -> Result<EnvFilter, AgentError> {
    let wrong = || {
        AgentError::invalid(format!(
            "{FILTER} cannot be read: write a level, or a list such as warn,gateway=debug."
        ))
        .reason("invalid_configuration")
        .hint("docs/gateway.md lists every setting.")
    };
    let text =
        std::env::var_os(FILTER).filter(|text| !text.is_empty()).unwrap_or_else(|| USUAL.into());
    text.to_str().and_then(filter_of).ok_or_else(wrong)
}
