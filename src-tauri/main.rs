//! The desktop app. Its code is in `desktop`, and everything that does not need Tauri is in `host`.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

mod desktop;

fn main() -> std::process::ExitCode {
    desktop::run_app()
}
