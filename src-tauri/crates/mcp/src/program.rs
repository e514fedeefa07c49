//! Finds a server's program: in its pack, or beside the app's own program. The search path is never
//! used, so that a folder of the user cannot replace a program.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Component, Path, PathBuf},
};

use contract::{Param, Text, ToParam, text};

/// Why a program cannot be used. Each message says what the user can do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub enum ProgramError {
    Missing(String),
    NotExecutable(String),
    OutsidePack(String),
    NotOurs(String),
    /// The folder in which the program should run does not exist.
    NoFolder(String),
}

impl ProgramError {
    /// Returns what is wrong and what the user can do.
    pub fn text(&self) -> Text {
        match self {
            Self::Missing(program) => text!(
                "The program {program} does not exist. Reinstall the pack or correct its command.",
                program
            ),
            Self::NotExecutable(program) => text!(
                "{program} is not a program that may be run. Set its executable permission.",
                program
            ),
            Self::OutsidePack(program) => text!(
                "The program {program} lies outside its pack. Use a path below the pack, such as ./server.",
                program
            ),
            Self::NoFolder(folder) => {
                text!("The folder {folder}, in which the program runs, does not exist.", folder)
            }
            Self::NotOurs(program) => text!(
                "{program} is neither a path below the pack nor a program of the app. The search path is not used; put the program into the pack and write ./{program}.",
                program
            ),
        }
    }
}

impl ToParam for ProgramError {
    fn to_param(&self) -> Param {
        self.text().to_param()
    }
}

/// Returns the absolute path of a server's command.
pub fn resolve_program(
    command: &str,
    pack: &Path,
    app_folder: &Path,
) -> Result<PathBuf, ProgramError> {
    let named = || command.to_owned();
    if let Some(relative) = command.strip_prefix("./") {
        let found =
            pack.join(relative).canonicalize().map_err(|_| ProgramError::Missing(named()))?;
        let root = pack.canonicalize().map_err(|_| ProgramError::Missing(named()))?;
        // This is checked after links are followed, because a link may lead out of the pack.
        if !found.starts_with(&root) {
            return Err(ProgramError::OutsidePack(named()));
        }
        return runnable(found, command);
    }
    let mut parts = Path::new(command).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(name)), None) => {
            let found = app_folder.join(name);
            if found.exists() {
                runnable(found, command)
            } else {
                Err(ProgramError::NotOurs(named()))
            }
        }
        _ => Err(ProgramError::OutsidePack(named())),
    }
}

fn runnable(path: PathBuf, command: &str) -> Result<PathBuf, ProgramError> {
    let executable =
        path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0);
    if executable { Ok(path) } else { Err(ProgramError::NotExecutable(command.to_owned())) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn program(path: &Path, mode: u32) {
        fs::write(path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn server_programs_are_taken_only_from_the_pack_or_the_app() {
        let root = tempfile::tempdir().unwrap();
        let (pack, app) = (root.path().join("pack"), root.path().join("app"));
        fs::create_dir_all(&pack).unwrap();
        fs::create_dir_all(&app).unwrap();
        program(&pack.join("server"), 0o755);
        program(&pack.join("data"), 0o644);
        program(&app.join("csign"), 0o755);
        program(&root.path().join("outside"), 0o755);
        std::os::unix::fs::symlink(root.path().join("outside"), pack.join("link")).unwrap();
        let find = |command: &str| resolve_program(command, &pack, &app);
        assert!(find("./server").unwrap().ends_with("pack/server"));
        assert!(find("csign").unwrap().ends_with("app/csign"));
        assert_eq!(find("./data"), Err(ProgramError::NotExecutable("./data".into())));
        assert_eq!(find("./missing"), Err(ProgramError::Missing("./missing".into())));
        assert_eq!(find("./../outside"), Err(ProgramError::OutsidePack("./../outside".into())));
        assert_eq!(find("./link"), Err(ProgramError::OutsidePack("./link".into())));
        assert_eq!(find("sh"), Err(ProgramError::NotOurs("sh".into())));
        assert_eq!(find("/bin/sh"), Err(ProgramError::OutsidePack("/bin/sh".into())));
        assert_eq!(find("../app/csign"), Err(ProgramError::OutsidePack("../app/csign".into())));
    }
}
