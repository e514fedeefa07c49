//! The files of boards in the data folder: `boards/ID.json`, one for each board, replaced as a whole.
//! It must not know who changes them.

use std::{fs, path::PathBuf};

use contract::{AgentError, BoardId, Reason, boards::Board, text};
use serde::{Deserialize, Serialize};

use crate::profile::{create_private_folder, unusable_file, write_atomically};

/// The version of the files.
const VERSION: u32 = 1;
/// The largest file of a board, in bytes.
const LARGEST: usize = 1 << 20;
/// The longest identifier. It becomes the name of a file.
const LONGEST_ID: usize = 100;

/// The content of a file.
#[derive(Serialize, Deserialize)]
struct Stored<B> {
    version: u32,
    board: B,
}

/// The folder of all boards.
#[derive(Clone, Debug)]
pub(super) struct Storage {
    root: PathBuf,
}

impl Storage {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Returns the identifiers of all boards.
    pub(super) fn ids(&self) -> Vec<BoardId> {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let id = |entry: fs::DirEntry| {
            let name = entry.file_name();
            let id = BoardId::new(name.to_str()?.strip_suffix(".json")?);
            is_file_name(&id).then_some(id)
        };
        entries.filter_map(id).collect()
    }

    /// Reads a board. Fails if there is none with this identifier.
    pub(super) fn read(&self, id: &BoardId) -> Result<Board, AgentError> {
        let path = self.path(id)?;
        if !path.is_file() {
            return Err(unknown());
        }
        let text = files::read_text(&path, files::OWN)
            .map_err(|error| unusable_file(&self.root, &path, &error))?;
        let stored: Stored<Board> = serde_json::from_str(&text).map_err(|error| {
            AgentError::internal(
                "data_dir",
                text!("{path} cannot be read: {error}.", path = path.display(), error),
            )
            .hint("Put the file back from a backup, or delete it.")
        })?;
        Ok(Board { id: id.clone(), ..stored.board })
    }

    /// Writes a board. If writing fails, the file before stays.
    pub(super) fn write(&self, board: &Board) -> Result<(), AgentError> {
        let path = self.path(&board.id)?;
        let stored = Stored { version: VERSION, board };
        let text = serde_json::to_string_pretty(&stored).unwrap_or_default();
        if text.len() > LARGEST {
            return Err(AgentError::invalid("The board is too large.")
                .reason(Reason::Validation)
                .hint("Shorten the lists of values in its filters and queries."));
        }
        let written =
            create_private_folder(&self.root).and_then(|()| write_atomically(&path, &text));
        written.map_err(|error| unusable_file(&self.root, &path, &error))
    }

    /// Deletes a board.
    pub(super) fn remove(&self, id: &BoardId) -> Result<(), AgentError> {
        let path = self.path(id)?;
        let removed = fs::remove_file(&path).and_then(|()| files::sync_folder(&self.root));
        removed.map_err(|error| unusable_file(&self.root, &path, &error))
    }

    fn path(&self, id: &BoardId) -> Result<PathBuf, AgentError> {
        if is_file_name(id) { Ok(self.root.join(format!("{id}.json"))) } else { Err(unknown()) }
    }
}

/// Whether an identifier can be the name of a file in the folder.
fn is_file_name(id: &BoardId) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    (1..=LONGEST_ID).contains(&id.as_str().len()) && id.as_str().chars().all(is_part)
}

fn unknown() -> AgentError {
    AgentError::invalid("This board does not exist any more.")
        .reason(Reason::NotFound)
        .hint("Open another board, or make a new one.")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn board(id: &str) -> Board {
        serde_json::from_value(json!({
            "id": id, "revision": 1,
            "created_at": "2026-11-30T09:00:00Z", "changed_at": "2026-11-30T09:00:00Z",
            "content": {"name": "Weekly", "filters": [], "tiles": []}
        }))
        .unwrap()
    }

    #[test]
    fn a_board_is_written_read_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::new(folder.path().join("boards"));
        assert!(storage.ids().is_empty());
        storage.write(&board("board_1")).unwrap();
        fs::write(folder.path().join("boards/board_1.new"), "cut off").unwrap();
        assert_eq!(storage.ids(), [BoardId::new("board_1")]);
        assert_eq!(storage.read(&"board_1".into()).unwrap(), board("board_1"));
        storage.remove(&"board_1".into()).unwrap();
        assert!(storage.read(&"board_1".into()).unwrap_err().has_reason(Reason::NotFound));
    }

    #[test]
    fn an_identifier_leads_to_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::new(folder.path().join("boards"));
        fs::write(folder.path().join("secret.json"), "{}").unwrap();
        let long = "x".repeat(LONGEST_ID + 1);
        for id in ["../secret", "", "a/b", "a.b", long.as_str()] {
            assert!(storage.read(&id.into()).unwrap_err().has_reason(Reason::NotFound), "{id}");
            storage.write(&board(id)).unwrap_err();
            storage.remove(&id.into()).unwrap_err();
        }
    }

    #[test]
    fn a_damaged_file_is_told_and_no_other_board() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::new(folder.path().to_owned());
        storage.write(&board("a")).unwrap();
        fs::write(folder.path().join("b.json"), "{").unwrap();
        storage.read(&"a".into()).unwrap();
        let error = storage.read(&"b".into()).unwrap_err();
        assert_eq!(error.reason_text(), Some("data_dir"));
        assert!(error.hint_text().is_some());
    }
}
