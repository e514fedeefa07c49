//! Servers: a program of the pack itself or one of the app's own, never a path to somewhere else.

use super::{Subject, list, text};
use crate::{fault::Faults, files};

pub(crate) fn check(subject: &Subject<'_>, faults: &mut Faults) {
    let mut names: Vec<&str> = Vec::new();
    for (index, server) in list(subject.manifest.get("servers")).enumerate() {
        let at = format!("/servers/{index}");
        if let Some(name) = text(server, "name") {
            if names.contains(&name) {
                faults.at(format!("{at}/name"), format!("the server `{name}` occurs twice"), "give each server its own name");
            }
            names.push(name);
        }
        if let Some(command) = text(server, "command") {
            program(subject, &format!("{at}/command"), command, faults);
        }
        for (index, variable) in list(server.get("env")).enumerate() {
            let Some(name) = variable.as_str() else { continue };
            if !is_variable(name) {
                let problem = format!("`{name}` is not the name of a variable");
                faults.at(format!("{at}/env/{index}"), problem, "give the name only, never a value");
            }
        }
    }
}

/// Whether a text can be the name of an environment variable.
pub(super) fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

pub(super) fn program(subject: &Subject<'_>, at: &str, command: &str, faults: &mut Faults) {
    if command.contains(['/', '\\']) {
        if let Err(problem) = files::inside(subject.folder, command) {
            faults.at(at, problem, "use a path below the pack, such as `./server`, or the name of a program of the app");
        }
        return;
    }
    let plain = !command.is_empty() && command.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.')) && command != "..";
    if !plain {
        let problem = format!("`{command}` is not the name of a program");
        faults.at(at, problem, "give the program alone; its arguments go to `args`");
    }
}
