//! `csign sessions`: lists conversations, and writes one into a file.

use std::path::Path;

use contract::{SessionExportParams, SessionFormat, SessionId, SessionSummary, SessionsListParams};

use crate::args::{SessionFile, Sessions};
use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::{Out, count};
use crate::visible::escape_invisible;

pub(crate) async fn run(link: &Link, out: Out, args: Sessions) -> Result<Exit, Failure> {
    match args {
        Sessions::List { title, archived, limit, offset } => {
            list(link, out, SessionsListParams { query: title, offset, limit, archived }).await
        }
        Sessions::Export { session, format, into } => {
            export(link, out, SessionId::from(session), format, &into).await
        }
    }
}

async fn list(link: &Link, out: Out, params: SessionsListParams) -> Result<Exit, Failure> {
    let next = params.offset.saturating_add(params.limit);
    let page = link.commands.sessions_list(params).await?;
    if out.json {
        out.print_json(&page);
        return Ok(Exit::Done);
    }
    page.sessions.iter().for_each(|session| out.print_line(session_line(session)));
    if page.sessions.is_empty() {
        out.print_note("There are no such conversations.");
    }
    if page.has_more {
        out.print_note(format!("More: add --offset {next}."));
    }
    Ok(Exit::Done)
}

fn session_line(session: &SessionSummary) -> String {
    let marks = [(session.pinned, "pinned"), (session.archived, "archived")];
    let marks = marks.iter().filter(|(is_set, _)| *is_set).map(|(_, mark)| format!("  [{mark}]"));
    format!(
        "{}  {}  {}{}",
        escape_invisible(session.id.as_str()),
        session.updated_at.format("%Y-%m-%d %H:%M"),
        escape_invisible(&session.title),
        marks.collect::<String>()
    )
}

async fn export(
    link: &Link,
    out: Out,
    session: SessionId,
    format: SessionFile,
    into: &Path,
) -> Result<Exit, Failure> {
    let format = match format {
        SessionFile::Markdown => SessionFormat::Markdown,
        SessionFile::Html => SessionFormat::Html,
        SessionFile::Json => SessionFormat::Json,
    };
    // Another process, which may run in another folder, writes the file, so the path must be
    // absolute.
    let folder = std::path::absolute(into).unwrap_or_else(|_| into.to_owned());
    let folder = folder.display().to_string();
    let written =
        link.commands.session_export(SessionExportParams { session, format, folder }).await?;
    if out.json {
        out.print_json(&written);
        return Ok(Exit::Done);
    }
    let messages = count(written.messages, "message");
    out.print_line(format!("{messages} written to {}.", escape_invisible(&written.file)));
    if written.cut > 0 {
        let results = count(written.cut, "result");
        out.print_note(format!("The file has only a part of {results}, and says so there."));
    }
    Ok(Exit::Done)
}
