//! The commands of the shell itself, beside those in `contract`. Also part of the build script,
//! which gives each a permission.

/// Names of the commands that the chat window may call.
pub(crate) const SHELL: &[&str] =
    &["subscribe", "window_ready", "pick_files", "pick_folder", "open_link"];
