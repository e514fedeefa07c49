//! Writes a conversation into a file, in a folder that a person chose: as Markdown, as one HTML page
//! or as JSON. Reads the conversation and the records that prove it. `parts` knows its contents,
//! `markdown` and `html` only how parts are written.

mod html;
mod markdown;
mod parts;
#[cfg(test)]
mod tests;
mod words;

use std::{collections::BTreeMap, ops::ControlFlow, path::Path};

use audit::Selection;
use chrono::{DateTime, Utc};
use contract::{
    AgentError, Approval, AuditRecordView, Item, ItemBody, ItemsPageParams, RecordType,
    SessionExportParams, SessionExportResponse, SessionFormat, SessionId, SessionSummary,
};
use engine::ports::{Approvals as _, Profile as _, RecordDraft, Versions as _};
use messages::Language;
use serde::Serialize;

use super::memory_export::write_new;
use crate::host::Host;

/// The number of items that are read per page.
const PAGE: u32 = 500;
/// The most characters of a title in the name of a file.
const NAME_CHARS: usize = 40;

/// A conversation with the records that prove it.
#[derive(Serialize)]
struct Conversation {
    /// The version of the JSON format.
    version: u32,
    exported_at: DateTime<Utc>,
    summary: SessionSummary,
    items: Vec<Item>,
    /// The number of turns that are not in the file, because other versions of messages are shown.
    other_versions: u64,
    /// The number of deleted messages.
    deleted: u64,
    /// The actions of the shown messages, newest first.
    approvals: Vec<Approval>,
    /// The records of the log, oldest first.
    records: Vec<Receipt>,
}

/// A record of the log, without its values.
#[derive(Serialize)]
struct Receipt {
    seq: u64,
    at: DateTime<Utc>,
    record_type: RecordType,
    turn: Option<String>,
    tool: Option<String>,
    status: Option<String>,
    /// SHA-256 (hex) of the record.
    leaf: String,
}

/// A written conversation.
struct Written {
    content: Vec<u8>,
    /// The number of results of which only a part is written.
    cut: u64,
}

impl Host {
    /// Writes a conversation into a new file, which only its owner can read, and records the export.
    pub(crate) async fn export_session(
        &self,
        params: &SessionExportParams,
    ) -> Result<SessionExportResponse, AgentError> {
        self.check_alarm()?;
        let conversation = self.read_conversation(&params.session).await?;
        let is_message = |item: &&Item| {
            matches!(item.body, ItemBody::UserMessage { .. } | ItemBody::AssistantText { .. })
        };
        let messages = conversation.items.iter().filter(is_message).count() as u64;
        let language = Language::of_tag(&self.profile.locale());
        let name = file_name(&conversation, params.format);
        let Written { content, cut } = write(&conversation, params.format, language)?;
        let file = write_new(Path::new(&params.folder), &name, &content)?;
        let mut draft = RecordDraft::new(RecordType::SessionExported)
            .field("format", format_word(params.format))
            .field("messages", messages)
            .commit("file", file.clone());
        draft.session = Some(params.session.clone());
        if let Err(error) = self.record(draft).await {
            // No export exists without its record.
            let _ = std::fs::remove_file(&file);
            return Err(error);
        }
        let Conversation { other_versions, deleted, .. } = conversation;
        Ok(SessionExportResponse { file, messages, cut, other_versions, deleted })
    }

    async fn read_conversation(&self, session: &SessionId) -> Result<Conversation, AgentError> {
        let summary = self.engine.sessions.open(session).await?.summary;
        let mut pages = Vec::new();
        let mut before = u64::MAX;
        loop {
            let page = ItemsPageParams { session: session.clone(), before, limit: PAGE };
            let page = self.engine.sessions.items_page(&page).await?;
            let first = page.items.first().map(|item| item.seq);
            pages.push(page.items);
            match first {
                Some(first) if page.has_more => before = first,
                Some(_) | None => break,
            }
        }
        let counts = self.engine.sessions.version_counts(session).await?;
        Ok(Conversation {
            version: 1,
            exported_at: self.now(),
            summary,
            items: pages.into_iter().rev().flatten().collect(),
            other_versions: counts.other_versions,
            deleted: counts.deleted,
            approvals: self.read_shown_approvals(session).await?,
            records: self.read_receipts(session).await?,
        })
    }

    /// Returns the actions of a session, except those of messages that are not shown.
    async fn read_shown_approvals(&self, session: &SessionId) -> Result<Vec<Approval>, AgentError> {
        let store = &self.database.store;
        let mut shown = Vec::new();
        for approval in store.approvals_of(session, u32::MAX).await? {
            if !store.turn_is_hidden(&approval.turn).await? {
                shown.push(approval);
            }
        }
        Ok(shown)
    }

    async fn read_receipts(&self, session: &SessionId) -> Result<Vec<Receipt>, AgentError> {
        let selection = Selection { session: Some(session.clone()), ..Selection::default() };
        let add = |receipts: &mut Vec<Receipt>, record: AuditRecordView| {
            receipts.push(Receipt {
                seq: record.seq,
                at: record.at,
                record_type: record.record_type,
                turn: record.turn,
                tool: record.tool,
                status: record.status,
                leaf: record.leaf,
            });
            ControlFlow::Continue(())
        };
        self.log.visit(selection, Vec::new(), add).await
    }
}

impl Conversation {
    /// Returns the records of each turn, oldest first.
    fn receipts_by_turn(&self) -> BTreeMap<&str, Vec<&Receipt>> {
        let mut by_turn: BTreeMap<&str, Vec<&Receipt>> = BTreeMap::new();
        for receipt in &self.records {
            if let Some(turn) = &receipt.turn {
                by_turn.entry(turn.as_str()).or_default().push(receipt);
            }
        }
        by_turn
    }
}

fn write(
    conversation: &Conversation,
    format: SessionFormat,
    language: Language,
) -> Result<Written, AgentError> {
    let page = || parts::read(conversation, language);
    let (text, cut) = match format {
        SessionFormat::Markdown => {
            let page = page();
            (markdown::write(&page), page.cut)
        }
        SessionFormat::Html => {
            let page = page();
            (html::write(&page, language), page.cut)
        }
        SessionFormat::Json => {
            let text = serde_json::to_string_pretty(conversation)
                .map_err(|error| AgentError::internal("export", error.to_string()))?;
            (text, 0)
        }
    };
    Ok(Written { content: text.into_bytes(), cut })
}

const fn format_word(format: SessionFormat) -> &'static str {
    match format {
        SessionFormat::Markdown => "markdown",
        SessionFormat::Html => "html",
        SessionFormat::Json => "json",
    }
}

/// Returns a name with letters, digits and hyphens of the title, and the time of the export.
fn file_name(conversation: &Conversation, format: SessionFormat) -> String {
    let title = conversation.summary.title.to_lowercase();
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let name: String = words.collect::<Vec<_>>().join("-").chars().take(NAME_CHARS).collect();
    let name = if name.is_empty() { "conversation" } else { name.trim_end_matches('-') };
    let extension = match format {
        SessionFormat::Markdown => "md",
        SessionFormat::Html => "html",
        SessionFormat::Json => "json",
    };
    format!("{name}-{}.{extension}", conversation.exported_at.format("%Y%m%d-%H%M%S"))
}
