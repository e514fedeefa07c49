//! The shell: windows, tray, notifications and the Tauri side of the command list. The only code
//! that uses Tauri. The shell decides nothing: it passes commands to `host`, and shows the pushes
//! of the host.

mod app;
mod args;
mod backend;
mod closing;
mod commands;
mod environment;
mod frames;
mod guard;
mod items;
mod language;
mod links;
mod listeners;
mod notify;
mod pictures;
mod pushes;
mod shell;
mod shell_commands;
mod text;
mod tray;
mod window_events;
mod windows;

pub(crate) use app::run_app;
