//! Answers about long-term memories. Each is a function with the name of its command.

use std::path::PathBuf;

use contract::*;

use crate::host::Host;

pub(super) async fn memory_list(
    host: &Host,
    params: MemoryListParams,
) -> Result<MemoryListResponse, AgentError> {
    host.engine.memories.list(&params).await
}

pub(super) async fn memory_search(
    host: &Host,
    params: MemorySearchParams,
) -> Result<MemorySearchResponse, AgentError> {
    host.engine.memories.search(&params).await
}

pub(super) async fn memory_status(
    host: &Host,
    _: Empty,
) -> Result<contract::MemoryIndexView, AgentError> {
    host.engine.memories.index.status().await
}

pub(super) async fn memory_show(
    host: &Host,
    params: MemoryParams,
) -> Result<MemoryEntry, AgentError> {
    host.engine.memories.show(&params.id).await
}

pub(super) async fn memory_add(
    host: &Host,
    params: MemoryAddParams,
) -> Result<MemoryEntry, AgentError> {
    host.check_alarm()?;
    host.engine.memories.add(&params).await
}

pub(super) async fn memory_forget(host: &Host, params: MemoryParams) -> Result<Empty, AgentError> {
    host.check_alarm()?;
    host.engine.memories.forget(&params.id).await.map(|()| Empty {})
}

pub(super) async fn memory_used(
    host: &Host,
    params: MemoryUsedParams,
) -> Result<MemoryUsedResponse, AgentError> {
    host.engine.memories.used(&params).await
}

pub(super) async fn memory_edit(
    host: &Host,
    params: MemoryEditParams,
) -> Result<MemoryEntry, AgentError> {
    host.check_alarm()?;
    host.engine.memories.edit(&params).await
}

pub(super) async fn memory_pin(
    host: &Host,
    params: MemoryPinParams,
) -> Result<MemoryEntry, AgentError> {
    host.check_alarm()?;
    host.engine.memories.pin(&params).await
}

pub(super) async fn memory_switch(
    host: &Host,
    params: MemorySwitchParams,
) -> Result<Empty, AgentError> {
    host.check_alarm()?;
    host.engine.memories.switch.set(&params).await.map(|()| Empty {})
}

pub(super) async fn memory_export(
    host: &Host,
    params: MemoryExportParams,
) -> Result<MemoryExportResponse, AgentError> {
    host.export_memories(&PathBuf::from(params.folder)).await
}
