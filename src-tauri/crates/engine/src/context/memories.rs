//! Formats the long-term memories for the prompt: as data, one line each, within a limit.

use contract::{MemoryHit, MemoryKind};

/// The most characters of a memory.
const MOST: usize = 1_200;

/// Returns the memories as lines. Their texts cannot close the surrounding tag.
pub(crate) fn memory_lines(hits: &[MemoryHit]) -> String {
    let lines: Vec<String> = hits.iter().map(line).collect();
    lines.join("\n")
}

fn line(hit: &MemoryHit) -> String {
    let kind = match hit.memory.kind {
        MemoryKind::Note => "note",
        MemoryKind::Summary => "summary",
    };
    let text = hit.memory.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    };
    format!("- {kind} of {}: {text}", hit.memory.created_at.format("%Y-%m-%d"))
}
