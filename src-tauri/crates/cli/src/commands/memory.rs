//! `csign memory`: lists, searches, adds, forgets and exports long-term memories.

use contract::{
    Empty, MemoryAddParams, MemoryEditParams, MemoryEntry, MemoryId, MemoryIndexView, MemoryKind,
    MemoryListParams, MemoryListResponse, MemoryParams, MemoryPinParams, MemorySearchParams,
    MemorySwitchParams, SessionId,
};
use serde_json::json;

use crate::args::Memory;
use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::{Out, count};
use crate::visible::escape_invisible;

/// The number of memories that an export reads per page.
const PAGE: u32 = 200;

pub(crate) async fn run(link: &Link, out: Out, args: Memory) -> Result<Exit, Failure> {
    match args {
        Memory::Status => print_status(out, &link.commands.memory_status(Empty {}).await?),
        Memory::List { session, limit, offset } => {
            let session = session.map(SessionId::from);
            list(link, out, MemoryListParams { session, used_in: None, offset, limit }).await?;
        }
        Memory::Search { text, session, limit } => {
            let session = session.map(SessionId::from);
            search(link, out, MemorySearchParams { text, session, limit }).await?;
        }
        Memory::Show { id } => {
            let id = MemoryId::from(id);
            print_memory(out, &link.commands.memory_show(MemoryParams { id }).await?);
        }
        Memory::Add { text, session } => {
            let params = MemoryAddParams { text, session: session.map(SessionId::from) };
            let memory = link.commands.memory_add(params).await?;
            if out.json {
                out.print_json(&memory);
            } else {
                out.print_line(format!("Remembered as {}.", escape_invisible(memory.id.as_str())));
            }
        }
        Memory::Edit { id, text } => {
            let params = MemoryEditParams { id: MemoryId::from(id), text };
            print_memory(out, &link.commands.memory_edit(params).await?);
        }
        Memory::Pin { id } => pin(link, out, id, true).await?,
        Memory::Unpin { id } => pin(link, out, id, false).await?,
        Memory::Off { session } => switch(link, out, session, false).await?,
        Memory::On { session } => switch(link, out, session, true).await?,
        Memory::Forget { id } => {
            let forgotten = MemoryParams { id: MemoryId::from(id) };
            link.commands.memory_forget(forgotten.clone()).await?;
            if out.json {
                out.print_json(&json!({"forgotten": forgotten.id}));
            } else {
                out.print_line("Forgotten.");
            }
        }
        Memory::Export => export(link, out).await?,
    }
    Ok(Exit::Done)
}

async fn pin(link: &Link, out: Out, id: String, pinned: bool) -> Result<(), Failure> {
    let params = MemoryPinParams { id: MemoryId::from(id), pinned };
    print_memory(out, &link.commands.memory_pin(params).await?);
    Ok(())
}

async fn switch(link: &Link, out: Out, session: String, enabled: bool) -> Result<(), Failure> {
    let params = MemorySwitchParams { session: SessionId::from(session), enabled };
    link.commands.memory_switch(params.clone()).await?;
    if out.json {
        out.print_json(&params);
    } else {
        let word = if enabled { "on" } else { "off" };
        out.print_line(format!("Long-term memory is {word} for this session."));
    }
    Ok(())
}

fn print_status(out: Out, index: &MemoryIndexView) {
    if out.json {
        return out.print_json(index);
    }
    out.print_line(format!("Model: {}", escape_invisible(&index.model)));
    if !index.description.as_str().is_empty() {
        out.print_line(escape_invisible(index.description.as_str()));
    }
    out.print_line(format!("Index: {} of {}", index.indexed, count_memories_u64(index.memories)));
    if index.working {
        out.print_line("The other vectors are being made.");
    }
    if let Some(problem) = &index.problem {
        out.print_line(format!("Problem: {}", escape_invisible(problem.as_str())));
        out.print_line("Memories are found by their words alone.");
    }
}

fn count_memories_u64(number: u64) -> String {
    count_memories(usize::try_from(number).unwrap_or(usize::MAX))
}

async fn list(link: &Link, out: Out, params: MemoryListParams) -> Result<(), Failure> {
    let next = params.offset.saturating_add(params.limit);
    let page = link.commands.memory_list(params).await?;
    if out.json {
        out.print_json(&page);
        return Ok(());
    }
    page.memories.iter().for_each(|memory| out.print_line(memory_line(memory)));
    if page.memories.is_empty() {
        out.print_note("There are no memories.");
    }
    if page.has_more {
        out.print_note(format!("More: add --offset {next}."));
    }
    Ok(())
}

async fn search(link: &Link, out: Out, params: MemorySearchParams) -> Result<(), Failure> {
    let found = link.commands.memory_search(params).await?;
    if out.json {
        out.print_json(&found);
        return Ok(());
    }
    found.hits.iter().for_each(|hit| out.print_line(memory_line(&hit.memory)));
    if found.hits.is_empty() {
        out.print_note("No memory fits.");
    }
    Ok(())
}

/// Prints all memories with their sources as one JSON document, with and without `--json`.
async fn export(link: &Link, out: Out) -> Result<(), Failure> {
    let mut memories: Vec<MemoryEntry> = Vec::new();
    loop {
        let offset = u32::try_from(memories.len()).unwrap_or(u32::MAX);
        let params = MemoryListParams { session: None, used_in: None, offset, limit: PAGE };
        let MemoryListResponse { memories: page, has_more, index, .. } =
            link.commands.memory_list(params).await?;
        memories.extend(page);
        if !has_more {
            out.print_json(&json!({"index": index, "memories": memories}));
            out.print_note(format!("{} exported.", count_memories(memories.len())));
            return Ok(());
        }
    }
}

fn count_memories(number: usize) -> String {
    if number == 1 { "1 memory".to_owned() } else { format!("{number} memories") }
}

fn memory_line(memory: &MemoryEntry) -> String {
    let scope = if memory.session.is_some() { "session" } else { "profile" };
    format!(
        "{}  {}  {:7}  {scope}  {}",
        escape_invisible(memory.id.as_str()),
        memory.created_at.format("%Y-%m-%d"),
        kind_word(memory.kind),
        escape_invisible(&memory.text)
    )
}

fn kind_word(kind: MemoryKind) -> &'static str {
    match kind {
        MemoryKind::Note => "note",
        MemoryKind::Summary => "summary",
    }
}

fn print_memory(out: Out, memory: &MemoryEntry) {
    if out.json {
        return out.print_json(memory);
    }
    out.print_line(memory_line(memory));
    if let Some(session) = &memory.session {
        out.print_line(format!("  session: {}", escape_invisible(session.as_str())));
    }
    if !memory.sources.is_empty() {
        let items: Vec<String> =
            memory.sources.iter().map(|item| escape_invisible(item.as_str())).collect();
        out.print_line(format!("  {}: {}", count(items.len(), "source item"), items.join(", ")));
    }
    let marks = [
        (memory.pinned, "pinned"),
        (memory.untrusted, "may contain untrusted content"),
        (memory.local_only, "never leaves this computer"),
    ];
    for (_, mark) in marks.iter().filter(|(is_set, _)| *is_set) {
        out.print_line(format!("  {mark}"));
    }
}
