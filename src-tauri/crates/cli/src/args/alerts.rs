//! The command line of `csign alerts`. The comments of the fields are the help texts.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Alerts {
    /// List alerts, open ones first
    List,
    /// Check the rules now, and list the alerts
    Check,
    /// List the rules with the state of their checks
    Rules,
}
