//! The questions of the log: their list, one question with its records, and the names that `csign
//! audit` and `csign replay` accept for questions. Knows nothing of verification and export.

use contract::{
    AuditEntriesParams, AuditEntriesResponse, AuditEntry, AuditEntryParams, AuditEntryResponse,
    AuditFilter, AuditRecordView, AuditShowParams, TurnId,
};

use crate::commands::record_line::record_line;
use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::{Out, count};
use crate::visible::escape_invisible;

/// The maximum number of characters of a question on one line.
const CHARS: usize = 80;

/// A name for a question on the command line: the number of a record, or the id of a question.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Record(u64),
    Question(TurnId),
}

impl Named {
    pub(crate) fn read(text: &str) -> Self {
        let text = text.trim();
        text.parse().map_or_else(|_| Self::Question(TurnId(text.to_owned())), Self::Record)
    }

    /// Returns the turn of a question, or of the question that a record belongs to.
    pub(crate) async fn turn(self, link: &Link) -> Result<TurnId, Failure> {
        let seq = match self {
            Self::Question(turn) => return Ok(turn),
            Self::Record(seq) => seq,
        };
        record(link, seq).await?.turn.map(TurnId).ok_or_else(|| {
            Failure::usage_error(format!("Record {seq} belongs to no question."))
                .hint("`csign audit list` shows the questions.")
        })
    }
}

pub(crate) async fn record(link: &Link, seq: u64) -> Result<AuditRecordView, Failure> {
    Ok(link.commands.audit_show(AuditShowParams { seq }).await?)
}

pub(crate) async fn list(
    link: &Link,
    out: Out,
    filter: AuditFilter,
    before: Option<u64>,
    limit: u32,
) -> Result<Exit, Failure> {
    let params = AuditEntriesParams { filter, before, limit, asked: true };
    let page = whole_page(link, params).await?;
    if let Some(note) = partial_note(&page) {
        out.print_note(note);
    }
    if out.json {
        out.print_json(&page);
        return Ok(Exit::Done);
    }
    for entry in &page.entries {
        out.print_line(entry_line(entry));
    }
    if let Some(next) = page.next {
        out.print_note(format!("More: add --before {next}."));
    }
    if page.entries.is_empty() {
        out.print_note("No question. With --all, all records are listed.");
    }
    Ok(Exit::Done)
}

/// Returns a note that questions may be missing, if the index does not reach the end of the log.
fn partial_note(page: &AuditEntriesResponse) -> Option<String> {
    (page.indexed < page.total).then(|| {
        format!(
            "The index of the log has {} of {} records and does not grow, so questions may be missing.",
            page.indexed, page.total
        )
    })
}

/// Reads a page as soon as the whole log is indexed, so that no question is missing. If the index
/// stops growing, returns the page as it is.
async fn whole_page(
    link: &Link,
    params: AuditEntriesParams,
) -> Result<AuditEntriesResponse, Failure> {
    let mut indexed = None;
    loop {
        let page = link.commands.audit_entries(params.clone()).await?;
        let is_stuck = indexed == Some(page.indexed);
        if page.indexed >= page.total || is_stuck {
            return Ok(page);
        }
        indexed = Some(page.indexed);
    }
}

pub(crate) async fn show(link: &Link, out: Out, turn: TurnId) -> Result<Exit, Failure> {
    let found = whole_entry(link, turn).await?;
    if out.json {
        out.print_json(&found);
        return Ok(Exit::Done);
    }
    out.print_line(entry_line(&found.entry));
    for record in &found.records {
        out.print_line(record_line(record));
    }
    out.print_note(format!(
        "{}. `csign audit show SEQ` shows one whole.",
        count(found.entry.records, "record")
    ));
    Ok(Exit::Done)
}

/// Reads a question with all its records.
async fn whole_entry(link: &Link, turn: TurnId) -> Result<AuditEntryResponse, Failure> {
    let mut params = AuditEntryParams { record: None, turn: Some(turn), after: None };
    let mut found = link.commands.audit_entry(params.clone()).await?;
    while let Some(last) = found.records.last().filter(|_| found.has_more) {
        params.after = Some(last.seq);
        let page = link.commands.audit_entry(params.clone()).await?;
        found.has_more = page.has_more && !page.records.is_empty();
        found.records.extend(page.records);
    }
    Ok(found)
}

/// Returns the line of a question: the name that other commands accept, when it was asked, how it
/// ended, and its text.
fn entry_line(entry: &AuditEntry) -> String {
    let id = entry.turn.as_ref().map_or_else(|| entry.first.to_string(), |turn| turn.0.clone());
    let asked = match &entry.question {
        Some(question) => cut(question),
        None if entry.erased => "(erased)".to_owned(),
        None => entry.tools.join(", "),
    };
    format!(
        "{}  {}  {:9}  {}",
        escape_invisible(&id),
        entry.at.format("%Y-%m-%d %H:%M:%S"),
        escape_invisible(entry.status.as_deref().unwrap_or("-")),
        escape_invisible(&asked)
    )
}

/// Returns the beginning of a text on one line.
fn cut(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_selects_a_record_and_any_other_text_a_question() {
        assert_eq!(Named::read(" 12 "), Named::Record(12));
        let id = "0193a1b2-0000-7000-8000-000000000000";
        assert_eq!(Named::read(id), Named::Question(TurnId(id.into())));
    }

    #[test]
    fn a_list_of_a_partly_indexed_log_says_that_it_is_incomplete() {
        let page =
            |indexed| AuditEntriesResponse { entries: Vec::new(), next: None, indexed, total: 9 };
        assert!(partial_note(&page(4)).is_some_and(|note| note.contains("4 of 9 records")));
        assert_eq!(partial_note(&page(9)), None);
    }

    #[test]
    fn a_long_question_is_cut_to_one_line() {
        assert_eq!(cut("two\n lines"), "two lines");
        assert_eq!(cut(&"å".repeat(CHARS + 1)), format!("{}…", "å".repeat(CHARS)));
    }
}
