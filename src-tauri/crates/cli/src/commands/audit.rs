//! `csign audit`: lists records, verifies and exports the log, signs checkpoints. Verification
//! reads the files without taking the profile's lock.

use std::path::{Path, PathBuf};

use contract::{
    AgentError, AuditExportParams, AuditExportResponse, AuditFilter, AuditFindParams,
    AuditListParams, AuditRecordView, ComparedWith, Empty, MemoryUse, SessionId, SessionParams,
    VerifyProblem, VerifyReport,
};
use host::{Paths, Person, is_shared, quote_word};

use crate::args::{Audit, AuditSearch};
use crate::commands::questions::{self, Named};
use crate::commands::record_line::record_line;
use crate::exit::{Exit, Failure};
use crate::keys::Keys;
use crate::link::Link;
use crate::out::{Out, Tone, count};
use crate::visible::escape_invisible;

pub(crate) async fn run(link: &mut Link, out: Out, args: Audit) -> Result<Exit, Failure> {
    match args {
        Audit::List { all, limit, before, record_type, session, query, filter } => {
            let list = AuditListParams {
                record_type,
                session: session.map(SessionId::from),
                query,
                before,
                limit,
            };
            // A type of event, or a text in a tool or status, can only be found in records.
            let are_records = all || list.record_type.is_some() || !list.query.trim().is_empty();
            let filter = filter_of(&list, filter);
            if are_records {
                list_records(link, out, list, filter).await
            } else {
                questions::list(link, out, filter, list.before, list.limit).await
            }
        }
        Audit::Show { id } => match Named::read(&id) {
            Named::Record(seq) => {
                print_record(out, &questions::record(link, seq).await?);
                Ok(Exit::Done)
            }
            Named::Question(turn) => questions::show(link, out, turn).await,
        },
        Audit::Checkpoint => {
            let checkpoint = link.commands.audit_checkpoint(Empty {}).await?;
            if out.json {
                out.print_json(&checkpoint);
            } else {
                out.print_line(format!(
                    "Signed: {}, root {}",
                    count(checkpoint.size, "record"),
                    escape_invisible(&checkpoint.root)
                ));
                for line in checkpoint.note.lines().filter(|line| line.starts_with('\u{2014}')) {
                    out.print_line(escape_invisible(line));
                }
            }
            Ok(match &checkpoint.problem {
                None => Exit::Done,
                Some(problem) => {
                    out.print_note(escape_invisible(problem));
                    Exit::Failed
                }
            })
        }
        // These commands are handled elsewhere, without a host or with a person.
        Audit::Verify { .. } | Audit::Export { .. } | Audit::Erase { .. } => Ok(Exit::Usage),
    }
}

fn filter_of(list: &AuditListParams, search: AuditSearch) -> AuditFilter {
    let AuditSearch { agent, tool, decision, since, until, search } = search;
    AuditFilter {
        session: list.session.clone(),
        event: list.record_type,
        agent,
        tool,
        decision,
        since,
        until,
        // In this case, the text of `--query` is one of the searched words.
        search: format!("{} {search}", list.query).trim().to_owned(),
    }
}

async fn list_records(
    link: &Link,
    out: Out,
    list: AuditListParams,
    filter: AuditFilter,
) -> Result<Exit, Failure> {
    let plain = AuditFilter {
        session: filter.session.clone(),
        event: filter.event,
        search: list.query.trim().to_owned(),
        ..AuditFilter::default()
    };
    // A filter that needs no index is answered by the log itself.
    let page = if filter == plain {
        link.commands.audit_list(list).await?
    } else {
        let (before, limit) = (list.before, list.limit);
        link.commands.audit_find(AuditFindParams { filter, before, limit }).await?
    };
    if out.json {
        out.print_json(&page);
        return Ok(Exit::Done);
    }
    for record in &page.records {
        out.print_line(record_line(record));
    }
    if page.has_more
        && let Some(last) = page.records.last()
    {
        out.print_note(format!("More: add --before {}.", last.seq));
    }
    Ok(Exit::Done)
}

fn print_record(out: Out, record: &AuditRecordView) {
    if out.json {
        return out.print_json(record);
    }
    out.print_line(record_line(record));
    for (name, value) in &record.fields {
        out.print_line(format!(
            "  {}: {}",
            escape_invisible(name),
            escape_invisible(&value.to_string())
        ));
    }
    for (name, value) in &record.revealed {
        let text = if value.is_null() {
            "(erased)".to_owned()
        } else {
            escape_invisible(&value.to_string())
        };
        out.print_line(format!("  {}: {text}", escape_invisible(name)));
    }
    out.print_line(format!("  leaf: {}", escape_invisible(&record.leaf)));
}

/// The kind of log that is verified. The profile's log should have stored marks to compare with; an
/// export has none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    Log,
    /// An export of all records.
    Export,
    /// An export of one session or decision. Its proofs cover the exported records only.
    Part,
}

pub(crate) fn verify_log(
    out: Out,
    data_dir: PathBuf,
    place: Option<PathBuf>,
) -> Result<Exit, Failure> {
    let paths = Paths::new(Some(data_dir));
    let (of, report) = match place {
        Some(folder) if audit::is_export(&folder) => {
            let report = audit::verify(&folder, None);
            (if report.part { Subject::Part } else { Subject::Export }, report)
        }
        Some(file) if file.exists() => (Subject::Log, host::verify_file(&paths, &file)?),
        Some(place) => {
            let hint = "Name a folder that `csign audit export` wrote, or the file of a log.";
            return Err(
                Failure::usage_error(format!("{} does not exist.", place.display())).hint(hint)
            );
        }
        None => (Subject::Log, host::verify_log(&paths)?),
    };
    if out.json {
        out.print_json(&report);
    } else {
        print_report(out, &report, of);
    }
    Ok(match (report.ok, report.compared_with, of) {
        (false, _, _) => Exit::LogBroken,
        (true, ComparedWith::Nothing, Subject::Log) => Exit::NotCompared,
        (true, _, _) => Exit::Done,
    })
}

/// Accepts a new log at the request of the user at the terminal.
pub(crate) async fn accept_new_log(link: &mut Link, out: Out) -> Result<Exit, Failure> {
    let Some(alarm) = link.commands.audit_alarm(Empty {}).await?.alarm else {
        out.print_note("There is no alarm: the log goes on.");
        return Ok(Exit::Done);
    };
    out.print_note(format!("Alarm of {}:", alarm.raised_at.format("%Y-%m-%d %H:%M:%S UTC")));
    for problem in &alarm.problems {
        out.print_note(format!("  {}", escape_invisible(&problem.message)));
    }
    let accepted = link.commands.audit_accept_new_log(Empty {}).await?;
    out.print_note(format!(
        "A new log begins. The old one is kept: csign audit verify {}",
        escape_invisible(&accepted.set_aside)
    ));
    Ok(Exit::Done)
}

fn print_report(out: Out, report: &VerifyReport, of: Subject) {
    let (tone, words, rest) = verdict(report, of);
    out.print_line(format!("{} {rest}", out.colour_text(tone, words)));
    for line in report_lines(report, of) {
        out.print_line(format!("  {line}"));
    }
}

/// Returns the parts of a report's first line: the coloured words, their tone, and the rest.
fn verdict(report: &VerifyReport, of: Subject) -> (Tone, &'static str, String) {
    let records = count(report.records, "record");
    let with = compared_with(report.compared_with, of);
    if !report.ok {
        let problems = count(report.problems.len(), "problem");
        return (Tone::Bad, "Verification failed:", format!("{problems} in {records}, {with}."));
    }
    if of == Subject::Part {
        let are = if report.records == 1 { "is" } else { "are" };
        let proven = format!(
            "{records} {are} proven to be in the log; this does not show whether others were left out."
        );
        return (Tone::Good, "Export verified:", proven);
    }
    let rest = format!("{records}, {}, {with}.", count(report.checkpoints, "checkpoint"));
    if report.compared_with == ComparedWith::Nothing && of == Subject::Log {
        (Tone::Strong, "Log verified in itself only:", rest)
    } else {
        (Tone::Good, "Log verified:", rest)
    }
}

fn compared_with(with: ComparedWith, of: Subject) -> &'static str {
    match (with, of) {
        (ComparedWith::Keyring, _) => "compared with the keyring",
        (ComparedWith::State, _) => "compared with the state folder only",
        (ComparedWith::Nothing, Subject::Log) => {
            "compared with NOTHING: it may be an old copy, or cut"
        }
        (ComparedWith::Nothing, Subject::Export | Subject::Part) => {
            "an export, compared with nothing outside it"
        }
    }
}

/// Returns the lines of a report below the first line.
fn report_lines(report: &VerifyReport, of: Subject) -> Vec<String> {
    let problem_line = |problem: &VerifyProblem| {
        let place = problem.seq.map_or_else(String::new, |seq| format!("record {seq}: "));
        format!("{place}{}", escape_invisible(&problem.message))
    };
    let mut lines: Vec<String> = report.problems.iter().map(problem_line).collect();
    lines.push(format!("root  {}", escape_invisible(&report.root)));
    // An export of a part of the log does not say where its signing key is stored.
    let is_of_one_run =
        !report.anchored && of != Subject::Part && !report.key_fingerprint.is_empty();
    lines.push(format!(
        "key   {}{}",
        escape_invisible(&report.key_fingerprint),
        if is_of_one_run { " (of one run only, not anchored in a keyring)" } else { "" }
    ));
    if report.ok && report.unsigned_tail > 0 {
        let are = if report.unsigned_tail == 1 { "is" } else { "are" };
        lines.push(format!(
            "{} since the last checkpoint {are} chained but not yet signed.",
            count(report.unsigned_tail, "record")
        ));
    }
    if !report.unknown_outcomes.is_empty() {
        let list: Vec<String> = report.unknown_outcomes.iter().map(u64::to_string).collect();
        let records = if list.len() == 1 { "record" } else { "records" };
        let outcome = if of == Subject::Part {
            "The export has no outcome for the intents in"
        } else {
            "Outcome unknown for the intents in"
        };
        lines.push(format!("{outcome} {records} {}.", list.join(", ")));
    }
    lines.extend(unchecked_line(report));
    lines
}

/// Names the files of an export that were not checked.
fn unchecked_line(report: &VerifyReport) -> Option<String> {
    let listed: Vec<String> = report.unchecked.iter().map(|name| escape_invisible(name)).collect();
    let more = report.unchecked_total.saturating_sub(listed.len() as u64);
    let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
    (!listed.is_empty())
        .then(|| format!("Not checked, and could have been changed: {}{rest}.", listed.join(", ")))
}

/// The copies of a shared conversation that an erasure leaves.
const NOT_REACHED: &str = "If gateways share it in Redis and none of them runs here, Redis and they keep it until it expires there.";

/// Erases a conversation after the user at the terminal has typed the conversation's id again.
pub(crate) async fn erase_session(
    link: &mut Link,
    out: Out,
    session: SessionId,
) -> Result<Exit, Failure> {
    let id = escape_invisible(session.as_str());
    out.print_note(format!(
        "This erases the conversation {id}: its messages, the memories and notes made in it, its \
         values in the log, stored results of runs, and all older copies of the database. It \
         cannot be undone."
    ));
    if is_shared(&session) {
        out.print_note(NOT_REACHED);
    }
    // Discards input that was typed before the question, so that it does not count as an answer.
    let mut keys =
        Keys::start().map_err(|error| AgentError::internal("no_terminal", error.to_string()))?;
    keys.discard_pending_input();
    out.print_note("Type the id of the conversation to erase it:");
    if keys.read_line().await.is_none_or(|line| line.trim() != session.as_str()) {
        out.print_note("That is not the id. Nothing was erased.");
        return Ok(Exit::Failed);
    }
    let erased = link.commands.session_erase(SessionParams { session }).await?;
    if out.json {
        out.print_json(&erased);
    } else {
        out.print_line(format!(
            "Erased, with {} in the log. Its records stay, and the log still verifies.",
            count(erased.values, "value")
        ));
        for path in &erased.unreadable {
            out.print_note(format!(
                "This old log is too damaged to be searched, and may still have values of the conversation. Delete it if you do not need it: {}",
                escape_invisible(path)
            ));
        }
        for other in &erased.used_in {
            out.print_note(describe_use(other));
        }
    }
    Ok(Exit::Done)
}

/// Describes another conversation that received memories of the erased conversation.
fn describe_use(other: &MemoryUse) -> String {
    let id = escape_invisible(other.session.as_str());
    let title = match &other.title {
        Some(title) => format!("\"{}\"", escape_invisible(title)),
        None => "which was deleted, but has values in the log".to_owned(),
    };
    format!(
        "Another conversation received memories from this one and may repeat them: {id}, {title}. To erase it as well, run: csign audit erase --session {}",
        quote_word(&id)
    )
}

/// Exports the log through the profile, which records the export. If the profile cannot be opened,
/// for example after an alarm, the log is exported from its files, and a note says that the export
/// was not recorded.
pub(crate) fn export_log(
    out: Out,
    data_dir: PathBuf,
    folder: &Path,
    session: Option<String>,
    record: Option<u64>,
) -> Result<Exit, Failure> {
    let session = session.map(SessionId::from);
    let scope = host::export_scope(session.clone(), record)?;
    let paths = Paths::new(Some(data_dir.clone()));
    host::require_log_file(&paths)?;
    let mut through = None;
    let opened = super::with_link(data_dir, Person::Absent, async |link| {
        // Another process, which may run in another folder, writes the export, so the path must be
        // absolute.
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let params = AuditExportParams { folder: folder.display().to_string(), session, record };
        through = Some(link.commands.audit_export(params).await);
        Ok(Exit::Done)
    });
    let (written, alarm) = match (through, opened) {
        (Some(written), _) => (written?, None),
        (None, Err(failure)) if failure.exit != Exit::LogBroken => {
            let exported = host::export_log(&paths, folder, scope)?;
            out.print_note(format!(
                "This export is in no record: {}",
                escape_invisible(&failure.error.message)
            ));
            exported
        }
        (None, _) => host::export_log(&paths, folder, scope)?,
    };
    if out.json {
        out.print_json(&written);
    } else {
        out.print_line(format!(
            "{} written to {}.",
            count(written.records, "record"),
            escape_invisible(&written.folder)
        ));
        if written.receipts > 0 {
            out.print_line(receipts_line(&written));
        }
        if written.figures > 0 {
            out.print_line(format!(
                "{} can be computed again from the folder data.",
                count(written.figures, "figure")
            ));
        }
        for why in &written.left_out {
            out.print_note(escape_invisible(why));
        }
        out.print_note(format!(
            "Check them anywhere with: csign audit verify {}",
            escape_invisible(&written.folder)
        ));
    }
    alarm.map_or(Ok(Exit::Done), |alarm| Err(alarm.into()))
}

fn receipts_line(written: &AuditExportResponse) -> String {
    let receipts = count(written.receipts, "receipt");
    if written.statements == 0 {
        return format!("{receipts}, without statements: the key that signed the log is not here.");
    }
    format!("{receipts}, with signed statements.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(anchored: bool) -> VerifyReport {
        VerifyReport {
            ok: true,
            part: false,
            records: 3,
            checkpoints: 1,
            root: "ab".to_owned(),
            key_fingerprint: "12:34".to_owned(),
            anchored,
            compared_with: ComparedWith::Nothing,
            unsigned_tail: 0,
            problems: Vec::new(),
            unknown_outcomes: vec![7],
            unchecked: vec!["README".into(), "re\u{202e}port.html".into()],
            unchecked_total: 3,
        }
    }

    #[test]
    fn the_verdict_on_a_partial_export_claims_only_that_its_records_are_in_the_log() {
        let (_, words, rest) = verdict(&report(false), Subject::Part);
        assert_eq!(
            format!("{words} {rest}"),
            "Export verified: 3 records are proven to be in the log; this does not show whether others were left out."
        );
        let one = VerifyReport { records: 1, ..report(false) };
        assert!(verdict(&one, Subject::Part).2.starts_with("1 record is proven"));
        assert_eq!(
            report_lines(&report(false), Subject::Part),
            [
                "root  ab",
                "key   12:34",
                "The export has no outcome for the intents in record 7.",
                "Not checked, and could have been changed: README, re\\u{202e}port.html, and 1 more.",
            ]
        );
    }

    #[test]
    fn the_report_on_a_whole_log_says_whether_its_key_is_in_a_keyring() {
        for of in [Subject::Log, Subject::Export] {
            assert!(report_lines(&report(false), of)[1].ends_with("not anchored in a keyring)"));
            assert_eq!(report_lines(&report(true), of)[1], "key   12:34");
        }
        let unread = VerifyReport { key_fingerprint: String::new(), ..report(false) };
        assert_eq!(report_lines(&unread, Subject::Export)[1], "key   ");
        let (_, words, rest) = verdict(&report(true), Subject::Export);
        assert_eq!(
            format!("{words} {rest}"),
            "Log verified: 3 records, 1 checkpoint, an export, compared with nothing outside it."
        );
    }
}
