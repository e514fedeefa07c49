//! The command line of `csign policy`. The comments of the fields are the help texts.

use std::path::PathBuf;

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use clap::Subcommand;
use contract::{Destination, DestinationKind};

#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// The policy, its rules and grants, and what could not be read of them
    Show,
    /// Test a call against the policy; nothing is run or asked
    Check {
        /// The tool's id
        #[arg(long, value_name = "NAME")]
        tool: String,
        /// The arguments as a JSON object; `-` reads them from standard input
        #[arg(long, value_name = "JSON", default_value = "{}")]
        args: String,
        /// Include the grants of this session
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
        /// Assume untrusted content in context
        #[arg(long)]
        untrusted: bool,
    },
    /// The places that reads may send data to; a person at a terminal can allow one
    Destinations {
        /// Allow a place: host:NAME, recipient:NAME or server:PACK/SERVER
        #[arg(long, value_name = "KIND:NAME", value_parser = parse_destination)]
        #[arg(conflicts_with = "revoke")]
        allow: Option<Destination>,
        /// Revoke the permission for a place
        #[arg(long, value_name = "KIND:NAME", value_parser = parse_destination)]
        revoke: Option<Destination>,
        /// Only in this conversation (default: in all)
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
    },
    /// Test a rules file on the past calls of the log; nothing is run or changed
    Backtest {
        /// The rules file, in the format of policy.json; `-` reads standard input
        #[arg(value_name = "RULES")]
        rules: PathBuf,
        /// Only calls from this day on (UTC), or from this moment on
        #[arg(long, value_name = "DATE", value_parser = parse_date)]
        since: Option<DateTime<Utc>>,
    },
}

/// Parses a destination such as `host:docs.example.com`.
fn parse_destination(text: &str) -> Result<Destination, String> {
    let kind = |word: &str| match word {
        "host" => Some(DestinationKind::Host),
        "recipient" => Some(DestinationKind::Recipient),
        "server" => Some(DestinationKind::Server),
        _ => None,
    };
    text.split_once(':')
        .and_then(|(word, name)| Some(Destination::new(kind(word)?, name)))
        .filter(|destination| !destination.name.trim().is_empty())
        .ok_or_else(|| {
            "write host:docs.example.com, recipient:ada@example.com or server:PACK/SERVER".into()
        })
}

/// Parses a moment, or a day, which stands for its beginning in UTC.
fn parse_date(text: &str) -> Result<DateTime<Utc>, String> {
    if let Ok(day) = text.parse::<NaiveDate>() {
        return Ok(day.and_time(NaiveTime::MIN).and_utc());
    }
    DateTime::parse_from_rfc3339(text)
        .map(|moment| moment.to_utc())
        .map_err(|_| "write a day as 2026-11-30 or a moment as 2026-11-30T08:00:00Z".to_owned())
}
