//! Checks programs that a manifest names, and the variables that are passed to them. A program is a
//! file of the pack or a program of the app.

use crate::{fault::Faults, files, subject::Subject};

/// Whether a text can be the name of an environment variable.
pub(super) fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Programs of the app that a pack may name. The search path is never used, so no other name
/// without a path can be started.
const APP_PROGRAMS: [&str; 1] = ["countersign-shop"];

/// Launchers and interpreters that other clients find on the search path, and how to put their
/// programs into a pack.
const LAUNCHERS: [(&[&str], &str); 4] = [
    (
        &["npx", "npm", "node", "bunx", "bun", "deno", "pnpm", "yarn", "tsx"],
        "install the server into the pack with `npm install --prefix`, and start it from a script in the pack that begins with `#!/usr/bin/env node`, such as `./server`",
    ),
    (
        &["uvx", "uv", "python", "python3", "pip", "pipx", "poetry"],
        "install the server into a virtual environment in the pack, and start it from a script in the pack whose first line names that Python, such as `./server`",
    ),
    (
        &["sh", "bash", "zsh", "env", "cmd", "powershell"],
        "put the commands into a script in the pack that begins with `#!/bin/sh`, such as `./server`",
    ),
    (
        &["docker", "podman"],
        "run the container yourself, and give its address in `http` instead of `command`",
    ),
];

/// Checks that the host can start a command. The rules are the same as in `mcp::resolve_program`.
pub(super) fn check_program(subject: &Subject<'_>, at: &str, command: &str, faults: &mut Faults) {
    if subject.is_made_by_host && std::path::Path::new(command).is_absolute() {
        return;
    }
    if command.contains(['/', '\\']) {
        match files::resolve_inside(subject.folder, command) {
            Err(problem) => faults.at(at, problem, "use a path below the pack, such as `./server`, or the name of a program of the app"),
            Ok(_) if !command.starts_with("./") => {
                faults.at(at, format!("`{command}` does not begin with `./`"), format!("write `./{command}`"));
            }
            Ok(file) => executable(&file, at, command, faults),
        }
        return;
    }
    let plain = !command.is_empty()
        && command.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        && command != "..";
    if !plain {
        let problem = format!("`{command}` is not the name of a program");
        faults.at(at, problem, "give the program alone; its arguments go to `args`");
    } else if subject.folder.join(command).is_file() {
        faults.at(
            at,
            format!("`{command}` does not begin with `./`"),
            format!("write `./{command}`"),
        );
    } else if !APP_PROGRAMS.contains(&command) {
        let usual = "put the program into the pack, make it executable with `chmod +x`, and write its path, such as `./server`";
        let fix = LAUNCHERS
            .iter()
            .find(|(names, _)| names.contains(&command))
            .map_or(usual, |(_, fix)| fix);
        faults.at(
            at,
            format!("`{command}` is no program of the app, and the search path is not used"),
            fix,
        );
    }
}

#[cfg(unix)]
fn executable(file: &std::path::Path, at: &str, command: &str, faults: &mut Faults) {
    use std::os::unix::fs::PermissionsExt as _;
    let Ok(meta) = file.metadata() else { return };
    if !meta.is_file() {
        faults.at(
            at,
            format!("`{command}` is not a file"),
            "name the program itself, such as `./server`",
        );
    } else if meta.permissions().mode() & 0o111 == 0 {
        faults.at(
            at,
            format!("`{command}` may not be executed"),
            format!("run `chmod +x {command}` in the pack's folder"),
        );
    }
}

#[cfg(not(unix))]
fn executable(_: &std::path::Path, _: &str, _: &str, _: &mut Faults) {}

/// Checks the name of a variable that is passed to a program. Variables of the session bus are
/// never passed.
pub(super) fn check_variable(at: &str, name: &str, faults: &mut Faults) {
    if !is_variable(name) {
        faults.at(
            at,
            format!("`{name}` is not the name of a variable"),
            "give the name only, never a value",
        );
    } else if name.starts_with("DBUS_") {
        faults.at(
            at,
            format!("`{name}` leads to the session bus, which programs of packs do not reach"),
            "remove it",
        );
    }
}
