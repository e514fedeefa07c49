//! The commands of the shell itself, in addition to those in `contract`. The build script also
//! includes this file, and gives each command a permission.

/// Names of the commands that the chat window may call.
pub(crate) const SHELL: &[&str] =
    &["subscribe", "window_ready", "pick_files", "pick_folder", "save_file", "open_link"];
