//! The shell: windows, tray, notifications and the Tauri side of the command list. The only code that knows Tauri.
//! It decides nothing: commands go to `host`, pushes come from it, and this room only carries and shows them.

mod app;
mod args;
mod backend;
mod commands;
mod environment;
mod frames;
mod guard;
mod items;
mod links;
mod notify;
mod pictures;
mod pushes;
mod shell;
mod shell_commands;
mod text;
mod tray;
mod windows;

pub(crate) use app::run;
