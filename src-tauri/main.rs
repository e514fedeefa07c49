//! The desktop app. Everything it does lies in `desktop`; everything it knows lies in `host`.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

mod desktop;

fn main() -> std::process::ExitCode {
    desktop::run_app()
}
