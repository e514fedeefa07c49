//! A window of another program from which files are dragged with the mouse. The other program is
//! this test binary, started again with the files' names; it knows nothing of Countersign.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use gtk::prelude::*;
use kit::webdriver::wait;

use crate::world::Journey;

/// The variable with the names of the files, one per line. Set for the other program only.
const FILES: &str = "COUNTERSIGN_TEST_DRAG_FILES";
const TITLE: &str = "files to drag";

/// Runs the other program. Without files, the test does nothing.
#[test]
fn other_program() {
    let Ok(files) = std::env::var(FILES) else { return };
    gtk::init().expect("a display");
    let uris: Vec<String> = files.lines().map(|file| format!("file://{file}")).collect();
    let window = gtk::Window::new(gtk::WindowType::Toplevel);
    window.set_title(TITLE);
    window.set_default_size(150, 120);
    window.set_keep_above(true);
    window.move_(1440, 1060);
    let handle = gtk::EventBox::new();
    handle.add(&gtk::Label::new(Some("files")));
    handle.drag_source_set(gtk::gdk::ModifierType::BUTTON1_MASK, &[], gtk::gdk::DragAction::COPY);
    handle.drag_source_add_uri_targets();
    handle.connect_drag_data_get(move |_, _, data, _, _| {
        let uris: Vec<&str> = uris.iter().map(String::as_str).collect();
        data.set_uris(&uris);
    });
    handle.connect_drag_end(|_, _| gtk::main_quit());
    window.add(&handle);
    window.show_all();
    gtk::main();
}

/// Drags files from the other program's window over the chat window, waits until `over` returns
/// true, and drops them.
pub fn drop_files(journey: &Journey, files: &[&Path], over: impl Fn() -> bool) {
    let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let mut command = journey.desktop.command(std::env::current_exe().expect("this program"));
    command
        .args(["--exact", "dragging::other_program"])
        .env(FILES, names.join("\n"))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut other = command.spawn().expect("the other program starts");
    let from = middle(journey, TITLE);
    let to = middle(journey, "^Countersign$");
    let step =
        |part: i64| (from.0 + (to.0 - from.0) * part / 10, from.1 + (to.1 - from.1) * part / 10);
    mouse(journey, &["mousemove", &from.0.to_string(), &from.1.to_string()]);
    mouse(journey, &["mousedown", "1"]);
    for part in 1..=10 {
        let (x, y) = step(part);
        mouse(journey, &["mousemove", "--sync", &x.to_string(), &y.to_string()]);
    }
    let mut aside = 0;
    wait("the window to notice what is held over it", || {
        aside = (aside + 7) % 50;
        mouse(journey, &["mousemove", "--sync", &(to.0 + aside).to_string(), &to.1.to_string()]);
        over().then_some(())
    });
    mouse(journey, &["mouseup", "1"]);
    wait("the drag to end", || other.try_wait().expect("its state"));
}

/// Returns the middle of the visible window with this title.
fn middle(journey: &Journey, title: &str) -> (i64, i64) {
    wait(&format!("the window {title}"), || {
        let id = windows(journey, title).into_iter().next()?;
        let told = xdotool_output(journey, &["getwindowgeometry", "--shell", &id]);
        let number = |name: &str| {
            told.lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix('=')?.parse::<i64>().ok())
        };
        Some((number("X")? + number("WIDTH")? / 2, number("Y")? + number("HEIGHT")? / 2))
    })
}

/// Returns the visible windows whose title contains the text.
pub fn windows(journey: &Journey, title: &str) -> Vec<String> {
    xdotool_output(journey, &["search", "--onlyvisible", "--name", title])
        .lines()
        .map(str::to_owned)
        .collect()
}

fn xdotool_output(journey: &Journey, args: &[&str]) -> String {
    let output = xdotool(journey).args(args).stderr(Stdio::null()).output().expect("xdotool");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs `xdotool` with these arguments, to move the mouse or to press buttons and keys.
pub fn mouse(journey: &Journey, args: &[&str]) {
    xdotool(journey)
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("xdotool");
}

fn xdotool(journey: &Journey) -> Command {
    journey.desktop.command("xdotool")
}
