//! The shop's server as a separate program. Packages use `csign shop-server` instead.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    ExitCode::from(shop::run(shop::Args::parse()))
}
