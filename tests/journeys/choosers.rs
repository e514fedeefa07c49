//! The choosers of the system for files and folders, used with the keyboard.

use std::{path::Path, thread::sleep, time::Duration};

use kit::webdriver::wait;

use crate::{
    dragging::{mouse, windows},
    world::Journey,
};

/// The titles of the choosers, as patterns.
pub const OPEN: &str = "^Open File";
pub const SAVE: &str = "^Save File";
pub const FOLDER: &str = "^Select Folder";

/// Types a path into the chooser with this title and closes the chooser. It loses keys while it
/// shows its path field, so there is a pause, and another try if the path is wrong.
pub fn choose(journey: &Journey, title: &str, path: &Path) {
    let choosers = || windows(journey, title);
    let chooser = wait(&format!("the chooser {title}"), || choosers().into_iter().next());
    wait(&format!("the chooser {title} to close"), || {
        mouse(journey, &["windowactivate", "--sync", &chooser]);
        mouse(journey, &["windowfocus", "--sync", &chooser]);
        // The list of recent files takes no folder, so the chooser shows the home folder first.
        mouse(journey, &["key", "alt+Home"]);
        mouse(journey, &["key", "ctrl+l"]);
        sleep(Duration::from_millis(300));
        mouse(journey, &["key", "ctrl+a"]);
        mouse(journey, &["type", "--delay", "30", &path.display().to_string()]);
        sleep(Duration::from_millis(200));
        // A second Return closes the message about a wrong path.
        (0..2).find_map(|_| {
            mouse(journey, &["key", "Return"]);
            (0..20).find_map(|_| {
                sleep(Duration::from_millis(100));
                choosers().is_empty().then_some(())
            })
        })
    });
}
