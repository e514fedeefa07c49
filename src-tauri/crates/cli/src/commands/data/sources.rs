//! `csign data list`, `describe`, `undo`, `remove`, `allow` and `verify`: what is known of sources, and
//! changes of whole sources.

use std::path::{Path, PathBuf};

use contract::{
    AgentError, DefinitionFault, Empty, FigureCheck, FolderParams, FoldersResponse, ModelAccess,
    SourceDescription, SourceParams, SourceView, Text, VerifyParams,
    definitions::DefinitionView,
    sources::{DayRange, DaySpan, FoundColumn, ImportEntry, SourceKind, SourceStatus, StorageUse},
};
use host::quote_word;
use serde_json::json;

use super::{
    figures::{count_of, show_whole},
    glance,
    paragraph::Paragraph,
    places::{PIPE, absolute_path},
    table::TextTable,
};
use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::{Out, Tone};
use crate::visible::escape_invisible;

/// The most imports and samples that are printed.
const IMPORTS: usize = 5;
const SAMPLES: usize = 3;
/// The bytes of a megabyte on the disk.
const MEGABYTE: u64 = 1_000_000;
const WITH_JSON: &str = "--json gives everything.";

pub(super) async fn list(link: &Link, out: Out) -> Result<Exit, Failure> {
    let response = link.commands.sources_list(Empty {}).await?;
    if out.json {
        out.print_json(&response);
        return Ok(Exit::Done);
    }
    if response.sources.is_empty() {
        out.print_note("There are no sources. Add one with: csign data add FILE");
        return Ok(Exit::Done);
    }
    let headings = [
        ("Source", false),
        ("Rows", true),
        ("Days", false),
        ("State", false),
        ("Size", true),
        ("From", false),
    ];
    let mut table = TextTable::new(headings).keep_whole(&[0, 2]);
    for source in &response.sources {
        table.add_row([
            source.name.to_string(),
            source.rows.map_or("–".to_owned(), show_whole),
            source.days.map_or("–".to_owned(), show_days),
            state_of(source).to_owned(),
            source.bytes.map_or("–".to_owned(), show_size),
            origin_of(source),
        ]);
    }
    table.print(out, 0).print(out, WITH_JSON);
    for source in &response.sources {
        for note in &source.notes {
            Paragraph::new(format!("{}: {note}", source.name)).after("note: ").print_note(out);
        }
    }
    if let Some(storage) = response.storage {
        Paragraph::new(room_line(storage)).print_note(out);
    }
    Ok(Exit::Done)
}

/// Returns how much room all rows take.
fn room_line(storage: StorageUse) -> String {
    let (used, limit) = (storage.bytes.div_ceil(MEGABYTE), storage.limit_bytes / MEGABYTE);
    let over = if storage.bytes > storage.limit_bytes {
        " Only rows in force are left; remove sources, or raise snapshot_limit_mb under [data] in countersign.toml."
    } else {
        ""
    };
    format!("Rows take {} of at most {} MB.{over}", show_whole(used), show_whole(limit))
}

fn show_days(span: DaySpan) -> String {
    glance::show_range(DayRange { first: span.first, last: span.last })
}

/// Returns the state of a source. One that answers is named by the state of its definitions.
fn state_of(source: &SourceView) -> &'static str {
    match source.status {
        SourceStatus::Damaged => "damaged",
        SourceStatus::Importing => "importing",
        SourceStatus::Unreachable => "not reachable",
        SourceStatus::Empty => "empty",
        SourceStatus::ToApprove => "to approve",
        SourceStatus::Ready if source.approved == 0 => "no definitions",
        SourceStatus::Ready => "approved",
    }
}

/// Returns a size on the disk in the unit that people read it in.
fn show_size(bytes: u64) -> String {
    let units = [("GB", 1_000_000_000), ("MB", MEGABYTE), ("kB", 1_000)];
    match units.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => {
            let tenths = bytes / (unit / 10);
            // Three digits say enough of a size.
            if tenths >= 100 {
                format!("{} {name}", show_whole(tenths / 10))
            } else {
                format!("{}.{} {name}", tenths / 10, tenths % 10)
            }
        }
        None => format!("{bytes} B"),
    }
}

fn definitions_of(source: &SourceView) -> String {
    match (source.approved, source.proposed) {
        (0, 0) => "no definitions".to_owned(),
        (approved, 0) => format!("{} approved", count_of(approved.into(), "definition")),
        (0, proposed) => format!("{} to approve", count_of(proposed.into(), "definition")),
        (approved, proposed) => {
            format!("{} approved, {proposed} to approve", count_of(approved.into(), "definition"))
        }
    }
}

fn origin_of(source: &SourceView) -> String {
    match &source.kind {
        SourceKind::Database { address, table, .. } => format!("{table} in {address}"),
        SourceKind::Files => match source.imports.first() {
            Some(import) => {
                format!("{} ({})", import.report.file, import.at.format("%Y-%m-%d %H:%M UTC"))
            }
            None => match source.computed_from.as_slice() {
                [delivery, plan] => format!("computed from {delivery} and {plan}"),
                _ => "no file".to_owned(),
            },
        },
    }
}

pub(super) async fn describe(link: &Link, out: Out, name: String) -> Result<Exit, Failure> {
    let described = link.commands.source_describe(params(name)).await?;
    if out.json {
        out.print_json(&described);
    } else {
        print_description(out, &described);
    }
    Ok(Exit::Done)
}

fn print_description(out: Out, described: &SourceDescription) {
    let source = &described.source;
    Paragraph::new(head_of(source)).tone(Tone::Strong).indent(2).print_line(out);
    let is_fault = |note: &&Text| described.faults.iter().any(|fault| fault.text == **note);
    for note in source.notes.iter().filter(|note| !is_fault(note)) {
        Paragraph::new(note.as_str()).after("note: ").print_line(out);
    }
    print_columns(out, described);
    print_definitions(out, &described.states);
    for fault in &described.faults {
        Paragraph::new(show_fault(fault)).tone(Tone::Bad).indent(2).print_line(out);
    }
    print_imports(out, &source.imports);
    let access = match described.models_get {
        ModelAccess::All => "definitions, figures and rows.",
        ModelAccess::Aggregates => "definitions and figures of groups, but no rows.",
        ModelAccess::Nothing => "only the names of measures and dimensions.",
    };
    out.print_line("");
    Paragraph::new(format!("Cloud models get {access}")).print_line(out);
    if source.proposed > 0 {
        out.print_line("To approve the definitions:");
        out.print_line(format!("  csign data approve {}", quote_word(source.name.as_str())));
    }
}

/// Returns an error in the definitions file, with its place.
pub(super) fn show_fault(fault: &DefinitionFault) -> String {
    let place = if fault.line > 0 { format!("line {}: ", fault.line) } else { String::new() };
    format!("definitions: {place}{}", fault.text)
}

fn head_of(source: &SourceView) -> String {
    let mut parts: Vec<String> =
        source.rows.map(|rows| count_of(rows, "row")).into_iter().collect();
    parts.extend(source.days.map(glance::show_span));
    parts.push(definitions_of(source));
    let from = if source.computed_from.is_empty() { "from " } else { "" };
    parts.push(format!("{from}{}", origin_of(source)));
    format!("{}: {}", source.name, parts.join(", "))
}

fn print_columns(out: Out, described: &SourceDescription) {
    let headings = [("Column", false), ("Use", false), ("Type", false), ("Values", false)];
    let mut table = TextTable::new(headings).keep_whole(&[0]);
    for column in &described.source.columns {
        table.add_row([
            column.name.clone(),
            show_use(column),
            glance::json_word(&Some(column.kind)).unwrap_or_default(),
            show_samples(column, described),
        ]);
    }
    out.print_line("");
    table.print(out, 0).print(out, WITH_JSON);
}

fn show_use(column: &FoundColumn) -> String {
    let usage = glance::json_word(&Some(column.usage)).unwrap_or_default();
    match &column.unit {
        Some(unit) => format!("{usage}, {unit}"),
        None => usage,
    }
}

fn show_samples(column: &FoundColumn, described: &SourceDescription) -> String {
    match (&column.constant, described.samples.get(&column.name)) {
        (Some(constant), _) => format!("always {constant}"),
        (None, Some(samples)) if !samples.is_empty() => {
            let shown: Vec<&str> = samples.iter().take(SAMPLES).map(String::as_str).collect();
            shown.join(" | ")
        }
        (None, _) => {
            let shown: Vec<&str> =
                column.samples.iter().take(SAMPLES).map(String::as_str).collect();
            shown.join(" | ")
        }
    }
}

fn print_definitions(out: Out, states: &[DefinitionView]) {
    let headings = [("Definition", false), ("State", false), ("Written", false)];
    let mut table = TextTable::new(headings).keep_whole(&[0]);
    for state in states {
        let written = state.written.split_whitespace().collect::<Vec<_>>().join(" ");
        table.add_row([state.name.clone(), show_state(state), written]);
    }
    if !states.is_empty() {
        out.print_line("");
        table.print(out, 0).print(out, WITH_JSON);
    }
}

/// Returns whether a definition is approved, or why it is not.
pub(super) fn show_state(state: &DefinitionView) -> String {
    if state.is_approved {
        return "approved".to_owned();
    }
    let risks: Vec<String> = state
        .risks
        .iter()
        .filter_map(|risk| glance::json_word(&Some(*risk)))
        .map(|risk| risk.replace('_', " "))
        .collect();
    format!("to approve ({})", risks.join(", "))
}

fn print_imports(out: Out, imports: &[ImportEntry]) {
    if imports.is_empty() {
        return;
    }
    out.print_line("\nImports, newest first:");
    for import in imports.iter().take(IMPORTS) {
        let at = import.at.format("%Y-%m-%d %H:%M UTC");
        let rows = count_of(import.report.stored, "row");
        let text = format!("{}  {rows}, by {}", import.report.file, import.by);
        Paragraph::new(text).after(format!("  {at}  ")).print_line(out);
    }
    if imports.len() > IMPORTS {
        out.print_line(format!("  and {} before. {WITH_JSON}", imports.len() - IMPORTS));
    }
}

pub(super) async fn undo(link: &Link, out: Out, name: String) -> Result<Exit, Failure> {
    let source = link.commands.source_undo(params(name)).await?;
    if out.json {
        out.print_json(&source);
    } else {
        out.print_line("The newest import was taken back.");
        Paragraph::new(head_of(&source)).indent(2).print_line(out);
    }
    Ok(Exit::Done)
}

pub(super) async fn remove_old(link: &Link, out: Out) -> Result<Exit, Failure> {
    link.commands.source_old_data_remove(Empty {}).await?;
    if out.json {
        out.print_json(&json!({"removed": "old_data"}));
    } else {
        out.print_note("The earlier files of packs were removed.");
    }
    Ok(Exit::Done)
}

pub(super) async fn remove(link: &Link, out: Out, name: String) -> Result<Exit, Failure> {
    let params = params(name);
    let known = link.commands.sources_list(Empty {}).await?.sources;
    link.commands.source_remove(params.clone()).await?;
    if out.json {
        out.print_json(&json!({"removed": params.name}));
    } else {
        let name = params.name.as_str();
        Paragraph::new(format!("{name} was removed, and its rows were erased.")).print_line(out);
        for needy in known.iter().filter(|one| one.computed_from.contains(&params.name)) {
            let told = format!("{} needs {name}, and has no figures without it.", needy.name);
            Paragraph::new(told).print_note(out);
        }
    }
    Ok(Exit::Done)
}

/// Allows a folder, takes the permission back, or lists the folders.
pub(super) async fn allow(
    link: &Link,
    out: Out,
    pipes: std::io::Result<PathBuf>,
    folder: Option<PathBuf>,
    revoke: bool,
) -> Result<Exit, Failure> {
    let pipes = pipes.map_err(|error| {
        AgentError::internal("pipe_folder", format!("The data folder cannot be written: {error}."))
    })?;
    let response = match folder {
        None => link.commands.folders_allowed(Empty {}).await?,
        Some(folder) => {
            let text = folder.display().to_string();
            let folder =
                if text == PIPE { pipes.display().to_string() } else { absolute_path(&text)? };
            link.commands.folder_allow(FolderParams { folder, allowed: !revoke }).await?
        }
    };
    if out.json {
        out.print_json(&response);
    } else {
        print_folders(out, &response, &pipes);
    }
    Ok(Exit::Done)
}

fn print_folders(out: Out, response: &FoldersResponse, pipes: &Path) {
    if response.folders.is_empty() {
        out.print_note("No folder is allowed: only a person imports.");
    }
    let pipes = pipes.canonicalize().unwrap_or_else(|_| pipes.to_owned());
    for allowed in &response.folders {
        let shown = if Path::new(&allowed.folder) == pipes { "- (pipes)" } else { &allowed.folder };
        out.print_line(format!(
            "{}  since {}",
            escape_invisible(shown),
            allowed.at.format("%Y-%m-%d")
        ));
    }
}

pub(super) async fn verify(link: &Link, out: Out, record: u64) -> Result<Exit, Failure> {
    let check = link.commands.source_verify(VerifyParams { record }).await?;
    let exit = exit_of(&check);
    if out.json {
        out.print_json(&check);
        return Ok(exit);
    }
    let tone = if check.agrees { Tone::Good } else { Tone::Bad };
    Paragraph::new(check.text.as_str()).tone(tone).print_line(out);
    Ok(exit)
}

fn exit_of(check: &FigureCheck) -> Exit {
    match (check.is_repeated, check.agrees) {
        (true, true) => Exit::Done,
        (true, false) => Exit::Failed,
        (false, _) => Exit::NotCompared,
    }
}

/// Returns the parameters that name a source.
pub(super) fn params(name: String) -> SourceParams {
    SourceParams { name: name.into() }
}
