//! Finds the execution instructions of a tool. Earlier folders take precedence over later ones, so
//! the user's files override shipped files. A file that cannot be used is skipped and reported. The
//! files are read each time, so an edit takes effect at once.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use contract::{PackId, ToolId};

use crate::files;

/// The size limit in bytes for an instruction file.
const MAX_BYTES: u64 = 64 * 1024;
/// The default name of the file.
pub(crate) const NAME: &str = "execution_instructions.md";

/// The instructions found for a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The path and text of the first readable file.
    pub text: Option<(PathBuf, String)>,
    /// Why earlier files could not be used.
    pub problems: Vec<String>,
}

/// Looks for a tool's instructions in the given folders, in order: first the file that the manifest
/// names, then the file in a folder named after the tool, then the file of the pack.
pub fn instructions(
    folders: &[PathBuf],
    pack: &PackId,
    tool: &ToolId,
    mapping: Option<&str>,
) -> Found {
    let mut found = Found::default();
    let (pack, tool) = (pack.as_str(), tool.as_str());
    if !is_component(pack) || !is_component(tool) {
        found.problems.push(format!("`{pack}` and `{tool}` cannot be names of folders"));
        return found;
    }
    let own = format!("{tool}/{NAME}");
    let names = mapping.into_iter().chain([own.as_str(), NAME]);
    for name in names {
        for folder in folders {
            match read(&folder.join(pack), name) {
                Ok(Some(text)) => {
                    found.text = Some((folder.join(pack).join(name), text));
                    return found;
                }
                Ok(None) => {}
                Err(problem) => found.problems.push(problem),
            }
        }
    }
    if let Some(name) = mapping.filter(|_| found.problems.is_empty()) {
        found.problems.push(format!("the manifest names `{name}`, which is not there"));
    }
    found
}

/// Whether a name is a single plain folder name, like the ids of packs and tools.
fn is_component(name: &str) -> bool {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || ['.', '_', '-'].contains(&c));
    plain && name.starts_with(|c: char| c.is_ascii_alphanumeric())
}

fn read(pack: &Path, name: &str) -> Result<Option<String>, String> {
    let path = pack.join(name);
    match fs::symlink_metadata(&path) {
        Ok(_) => {}
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(format!("{}: it cannot be read: {error}", path.display())),
    }
    let inside = files::resolve_inside(pack, name)
        .map_err(|problem| format!("{}: {problem}", path.display()))?;
    files::text_up_to(&inside, MAX_BYTES)
        .map(Some)
        .map_err(|problem| format!("{}: {problem}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_folders() -> (tempfile::TempDir, Vec<PathBuf>) {
        let folder = tempfile::tempdir().unwrap();
        let folders = vec![folder.path().join("user"), folder.path().join("bundled")];
        for folder in &folders {
            fs::create_dir_all(folder.join("p/a.b")).unwrap();
        }
        (folder, folders)
    }

    fn text(folders: &[PathBuf], mapping: Option<&str>) -> Option<String> {
        instructions(folders, &"p".into(), &"a.b".into(), mapping).text.map(|(_, text)| text)
    }

    #[test]
    fn instructions_2_files_are_searched_in_the_order_mapping_tool_folder_pack_folder() {
        let (_folder, folders) = test_folders();
        assert_eq!(
            instructions(&folders, &"p".into(), &"a.b".into(), None),
            Found::default(),
            "missing is no fault"
        );
        fs::write(folders[1].join("p").join(NAME), "pack").unwrap();
        assert_eq!(text(&folders, None).as_deref(), Some("pack"));
        fs::write(folders[1].join("p/a.b").join(NAME), "tool").unwrap();
        assert_eq!(text(&folders, None).as_deref(), Some("tool"));
        fs::write(folders[0].join("p/a.b").join(NAME), "mine").unwrap();
        assert_eq!(text(&folders, None).as_deref(), Some("mine"));
        fs::write(folders[1].join("p/how.md"), "mapped").unwrap();
        assert_eq!(text(&folders, Some("how.md")).as_deref(), Some("mapped"));
        fs::write(folders[1].join("p/how.md"), "edited").unwrap();
        assert_eq!(
            text(&folders, Some("how.md")).as_deref(),
            Some("edited"),
            "an edit holds at once"
        );
    }

    #[test]
    fn instructions_2_an_unusable_instruction_file_is_skipped_and_reported() {
        let (folder, folders) = test_folders();
        fs::write(folders[0].join("p/a.b").join(NAME), [0xff, 0xfe]).unwrap();
        fs::write(folders[1].join("p/a.b").join(NAME), "x".repeat(64 * 1024 + 1)).unwrap();
        fs::write(folders[1].join("p").join(NAME), "good").unwrap();
        let found = instructions(&folders, &"p".into(), &"a.b".into(), None);
        assert_eq!(
            (found.text.map(|(_, text)| text).as_deref(), found.problems.len()),
            (Some("good"), 2)
        );
        fs::write(folder.path().join("secret.md"), "secret").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret.md"), folders[0].join("p/link.md"))
            .unwrap();
        for mapping in ["../../secret.md", "link.md", "/etc/hostname"] {
            let found = instructions(&folders, &"p".into(), &"a.b".into(), Some(mapping));
            assert_eq!(
                found.text.as_ref().map(|(_, text)| text.as_str()),
                Some("good"),
                "{mapping} leads out"
            );
        }
        for tool in ["..", "a/b", ".hidden", ""] {
            assert!(
                instructions(&folders, &"p".into(), &tool.into(), None).text.is_none(),
                "{tool}"
            );
        }
    }
}
