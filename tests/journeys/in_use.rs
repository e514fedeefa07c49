//! A profile that cannot be used: the app explains why, exits, and changes nothing.

use std::process::{Command, Stdio};

use kit::webdriver::wait;

use crate::world::Journey;

#[test]
fn a_profile_in_use_is_explained_in_a_dialog() {
    let mut journey = Journey::prepare("in-use", &[]);
    let lock = journey.desktop.data_dir().join("lock");
    journey.desktop.start_child("flock", &[lock.to_str().expect("a plain path"), "sleep", "120"]);
    wait("the lock", || lock.exists().then_some(()));
    let said =
        leaves_after_a_dialog(&journey, journey.desktop.command(env!("CARGO_BIN_EXE_countersign")));
    assert!(said.contains("is in use by another Countersign"), "{said}");
}

#[test]
fn a_folder_that_cannot_be_written_is_explained_in_a_dialog() {
    let journey = Journey::prepare("read-only", &[]);
    let folder = journey.desktop.data_dir();
    assert!(journey.csign(&["doctor"]).status.success(), "a profile to find");
    let can = journey
        .desktop
        .command("unshare")
        .args(["-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])
        .output();
    if !can.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this account cannot mount in a namespace of its own");
        return;
    }
    let mut command = journey.desktop.command("unshare");
    let script = format!(
        "mount --bind '{0}' '{0}' && mount -o remount,bind,ro '{0}' && exec \"$@\"",
        folder.display()
    );
    command.args(["-m", "sh", "-c", &script, "sh", env!("CARGO_BIN_EXE_countersign")]);
    let said = leaves_after_a_dialog(&journey, command);
    assert!(
        said.contains("cannot be written") && said.contains("make the folder writable"),
        "{said}"
    );
}

/// Starts the app and closes its dialog. Returns the dialog's text.
fn leaves_after_a_dialog(journey: &Journey, mut command: Command) -> String {
    let folder = journey.desktop.data_dir();
    command.arg("--data-dir").arg(&folder).stderr(Stdio::piped());
    let mut app = command.spawn().expect("the program starts");
    // The dialog is native: the window manager knows its title, and Enter closes it.
    let dialog = wait("the dialog", || {
        let mut search = journey.desktop.command("xdotool");
        let found = search
            .args(["search", "--onlyvisible", "--name", "cannot start"])
            .output()
            .expect("xdotool");
        String::from_utf8_lossy(&found.stdout).lines().next().map(str::to_owned)
    });
    let status = wait("the app to leave", || {
        // The dialog is brought to the front, then the key is sent to the element with the focus,
        // as if a person pressed it.
        let _ = journey.desktop.command("xdotool").args(["windowactivate", &dialog]).output();
        let _ = journey.desktop.command("xdotool").args(["windowfocus", &dialog]).output();
        let _ = journey.desktop.command("xdotool").args(["key", "Return"]).output();
        app.try_wait().expect("its state")
    });
    assert_eq!(status.code(), Some(1));
    let mut said = String::new();
    std::io::Read::read_to_string(&mut app.stderr.take().expect("its words"), &mut said)
        .expect("text");
    assert!(said.contains("Countersign cannot start"), "{said}");
    assert!(!said.contains("panicked"), "no stack for users: {said}");
    said
}
