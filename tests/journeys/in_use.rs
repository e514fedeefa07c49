//! A profile that another program holds: the app says so in words and leaves.

use kit::webdriver::wait;

use crate::world::Journey;

#[test]
fn a_profile_in_use_is_said_in_words() {
    let mut journey = Journey::prepare("in-use", &[]);
    let lock = journey.desktop.data_dir().join("lock");
    journey.desktop.start_child("flock", &[lock.to_str().expect("a plain path"), "sleep", "120"]);
    wait("the lock", || lock.exists().then_some(()));

    let folder = journey.desktop.data_dir();
    let mut command = journey.desktop.command(env!("CARGO_BIN_EXE_countersign"));
    command.arg("--data-dir").arg(&folder).stderr(std::process::Stdio::piped());
    let mut app = command.spawn().expect("the program starts");
    // A native dialog: the window manager knows its title, and Enter closes it.
    let dialog = wait("the dialog", || {
        let mut search = journey.desktop.command("xdotool");
        let found = search.args(["search", "--onlyvisible", "--name", "cannot start"]).output().expect("xdotool");
        String::from_utf8_lossy(&found.stdout).lines().next().map(str::to_owned)
    });
    let status = wait("the app to leave", || {
        // As a person does it: the dialog to the front, then the key, to whatever has the focus.
        let _ = journey.desktop.command("xdotool").args(["windowactivate", &dialog]).output();
        let _ = journey.desktop.command("xdotool").args(["windowfocus", &dialog]).output();
        let _ = journey.desktop.command("xdotool").args(["key", "Return"]).output();
        app.try_wait().expect("its state")
    });
    assert_eq!(status.code(), Some(1));
    let mut said = String::new();
    std::io::Read::read_to_string(&mut app.stderr.take().expect("its words"), &mut said).expect("text");
    assert!(said.contains("Countersign cannot start"), "{said}");
    assert!(!said.contains("panicked"), "no stack for users: {said}");
}
