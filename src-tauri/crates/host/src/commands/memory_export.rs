//! Writes all long-term memories into one JSON file, in a folder that a person chose.

use std::{
    io::{self, ErrorKind, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use contract::{
    AgentError, MemoryEntry, MemoryExportResponse, MemoryIndexView, MemoryListParams, RecordType,
    text,
};
use engine::ports::RecordDraft;
use serde::Serialize;

use crate::host::Host;

/// The number of memories that are read per page.
const PAGE: u32 = 200;

/// The content of the file.
#[derive(Serialize)]
struct Export {
    index: MemoryIndexView,
    memories: Vec<MemoryEntry>,
}

impl Host {
    /// Writes the memories into a new file, which only its owner can read.
    pub(crate) async fn export_memories(
        &self,
        folder: &Path,
    ) -> Result<MemoryExportResponse, AgentError> {
        let mut memories = Vec::new();
        let index = loop {
            let offset = u32::try_from(memories.len()).unwrap_or(u32::MAX);
            let params = MemoryListParams { session: None, used_in: None, offset, limit: PAGE };
            let page = self.engine.memories.list(&params).await?;
            memories.extend(page.memories);
            if !page.has_more {
                break page.index;
            }
        };
        let at = self.now().format("%Y%m%d-%H%M%S");
        let count = memories.len() as u64;
        let content = serde_json::to_vec_pretty(&Export { index, memories })
            .map_err(|error| AgentError::internal("export", error.to_string()))?;
        let file = write_new(folder, &format!("memories-{at}.json"), &content)?;
        let record = RecordDraft::new(RecordType::Memory)
            .field("action", "exported")
            .field("memories", count)
            .commit("file", file.clone());
        self.record(record).await?;
        Ok(MemoryExportResponse { file, memories: count })
    }
}

/// The most files of one name, with a number each.
const MOST_OF_A_NAME: u32 = 1_000;

/// Writes a new file, which only its owner can read. If the name is taken, the file gets the next
/// free number. Returns its path.
pub(super) fn write_new(folder: &Path, name: &str, content: &[u8]) -> Result<String, AgentError> {
    let mut number = 1;
    let (file, written) = loop {
        let file = folder.join(numbered(name, number));
        match create(&file, content) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && number < MOST_OF_A_NAME => {
                number += 1;
            }
            written => break (file, written),
        }
    };
    written.map_err(|error| {
        AgentError::invalid(text!(
            "{folder} cannot be written: {error}.",
            folder = folder.display().to_string(),
            error = error.to_string()
        ))
    })?;
    Ok(file.display().to_string())
}

fn create(file: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    options.open(file)?.write_all(content)
}

/// Returns a file name with a number before its extension. The first one has none.
fn numbered(name: &str, number: u32) -> String {
    match (number, name.rsplit_once('.')) {
        (1, _) => name.to_owned(),
        (_, Some((stem, extension))) => format!("{stem}-{number}.{extension}"),
        (_, None) => format!("{name}-{number}"),
    }
}
