//! `csign packs`: lists packs, creates a pack, and checks a pack for its author.

use std::{
    io,
    path::{Path, PathBuf},
};

use ::packs::NewPack;
use contract::{Empty, ExplainedReading, MessageExplainParams, manifest::ScenarioStatus};
use host::Paths;

use crate::args::PackKind;
use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::{Out, Tone, count};
use crate::visible::escape_invisible;
use crate::width::{pad_text, widest_text};

pub(crate) fn check_folder(out: Out, folder: &Path) -> Result<Exit, Failure> {
    if !folder.is_dir() {
        return Err(Failure::usage_error(format!("{} is not a folder.", folder.display()))
            .hint("Name the folder that holds pack.json."));
    }
    let view = packs::check_folder(folder).view;
    let exit = if view.faults.is_empty() { Exit::Done } else { Exit::Failed };
    if out.json {
        out.print_json(&view);
        return Ok(exit);
    }
    for fault in &view.faults {
        out.print_line(format!(
            "{} {} {}: {}",
            out.colour_text(Tone::Bad, "fault"),
            escape_invisible(&fault.file),
            escape_invisible(&fault.field),
            escape_invisible(&fault.problem)
        ));
        out.print_line(format!("      {}", escape_invisible(&fault.fix)));
    }
    for warning in &view.warnings {
        out.print_line(format!(
            "{} {} {}: {}",
            out.colour_text(Tone::Strong, "warning"),
            escape_invisible(&warning.file),
            escape_invisible(&warning.field),
            escape_invisible(&warning.problem)
        ));
        out.print_line(format!("        {}", escape_invisible(&warning.fix)));
    }
    if view.faults.is_empty() {
        out.print_line(format!(
            "{} {} {}: {}, no faults.",
            escape_invisible(&view.title),
            escape_invisible(view.id.as_str()),
            escape_invisible(&view.version),
            count(view.tools.len(), "tool")
        ));
    } else {
        out.print_note(format!(
            "{}. The pack is not used until this is corrected.",
            count(view.faults.len(), "fault")
        ));
    }
    Ok(exit)
}

/// Prints the errors of a pack or, if there are none, the results of its own scenarios.
pub(crate) fn check_and_run(
    out: Out,
    folder: &Path,
    private_network: bool,
) -> Result<Exit, Failure> {
    let loaded = folder.is_dir().then(|| ::packs::check_folder(folder));
    let Some((view, pack)) = loaded.and_then(|loaded| Some((loaded.view, loaded.pack?))) else {
        return check_folder(out, folder);
    };
    let Some(acceptance) = &pack.manifest.acceptance else {
        return Err(Failure::usage_error(format!(
            "{} has no scenarios.",
            escape_invisible(&view.title)
        ))
        .hint("Add `acceptance` to pack.json; tools/README.md shows how."));
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        contract::AgentError::internal("runtime", format!("csign cannot start: {error}."))
    })?;
    let options = host::Options { pack_code: shipped_packs::all(), ..host::Options::default() };
    let evidence =
        runtime.block_on(host::evaluate(folder, acceptance, &view.id, private_network, options));
    runtime.shutdown_background();
    let evidence = evidence?;
    let exit = if evidence.failed == 0 { Exit::Done } else { Exit::Failed };
    if out.json {
        out.print_json(&evidence);
        return Ok(exit);
    }
    for scenario in &evidence.scenarios {
        let (word, tone) = match scenario.status {
            ScenarioStatus::Passed => ("passed", Tone::Good),
            ScenarioStatus::Failed => ("failed", Tone::Bad),
            ScenarioStatus::Skipped => ("skipped", Tone::Quiet),
        };
        out.print_line(format!(
            "{} {:?} {}",
            out.colour_text(tone, word),
            scenario.priority,
            escape_invisible(&scenario.title)
        ));
        for check in scenario.checks.iter().filter(|check| check.result == ScenarioStatus::Failed) {
            out.print_line(format!(
                "      {}: expected {}, got {}",
                escape_invisible(&check.check),
                escape_invisible(&check.expected),
                escape_invisible(&check.actual)
            ));
        }
        if let Some(error) =
            scenario.error.as_ref().filter(|_| scenario.status != ScenarioStatus::Passed)
        {
            out.print_line(format!("      {}", escape_invisible(error)));
        }
    }
    out.print_line(format!(
        "{} passed, {} failed, {} skipped.",
        evidence.passed, evidence.failed, evidence.skipped
    ));
    Ok(exit)
}

/// Lists all packs. Fails if there are none, because no question can be answered without a pack.
pub(crate) async fn list(link: &Link, out: Out) -> Result<Exit, Failure> {
    let packs = link.commands.packs_list(Empty {}).await?.packs;
    if packs.is_empty() {
        return Err(link.no_packs_error().await.into());
    }
    link.warn_of_packs(out).await;
    if out.json {
        out.print_json(&packs);
        return Ok(Exit::Done);
    }
    let width = widest_text(packs.iter().map(|pack| pack.id.as_str()));
    for pack in &packs {
        let tools = count(pack.tools.len(), "tool");
        out.print_line(format!(
            "{}  {:8}  {tools}  {}",
            pad_text(&escape_invisible(pack.id.as_str()), width),
            escape_invisible(&pack.version),
            escape_invisible(&pack.title)
        ));
        if let Some(hash) = &pack.manifest_hash {
            out.print_line(format!("{:width$}  manifest {hash}", ""));
        }
        for fault in &pack.faults {
            out.print_line(format!(
                "  {} {} {}: {}",
                out.colour_text(Tone::Bad, "fault"),
                escape_invisible(&fault.file),
                escape_invisible(&fault.field),
                escape_invisible(&fault.problem)
            ));
            out.print_line(format!("        {}", escape_invisible(&fault.fix)));
        }
    }
    Ok(Exit::Done)
}

pub(crate) fn new(
    out: Out,
    data_dir: &Path,
    name: &str,
    kind: PackKind,
    into: Option<PathBuf>,
) -> Result<Exit, Failure> {
    let into = match into {
        Some(folder) => folder,
        None => {
            let paths = Paths::new(Some(data_dir.to_owned()));
            paths.create_folders()?;
            paths.packs()
        }
    };
    let kind = match kind {
        PackKind::Program => NewPack::Program,
        PackKind::Http => NewPack::Http,
        PackKind::Mcp => NewPack::Mcp,
    };
    let folder = match ::packs::scaffold(&into, name, kind) {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            return Err(Failure::usage_error(format!(
                "{} cannot be a pack's name: {error}.",
                escape_invisible(name)
            ))
            .hint("For example: csign packs new my-pack"));
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(Failure::usage_error(format!(
                "{} is there already; it was left alone.",
                into.join(name).display()
            ))
            .hint("Choose another name."));
        }
        Err(error) => {
            let error = contract::AgentError::internal(
                "packs",
                format!("{} could not be made: {error}.", into.join(name).display()),
            );
            return Err(error.hint("Free some space or make the folder writable.").into());
        }
    };
    if out.json {
        out.print_json(&serde_json::json!({"folder": folder}));
    } else {
        out.print_line(folder.display().to_string());
        out.print_note(format!("Change pack.json, then: csign packs check {}", folder.display()));
    }
    Ok(Exit::Done)
}

/// Prints how the offline model understands a message.
pub(crate) async fn explain_message(link: &Link, out: Out, text: String) -> Result<Exit, Failure> {
    let explained = link.commands.message_explain(MessageExplainParams { text }).await?;
    if out.json {
        out.print_json(&explained);
        return Ok(Exit::Done);
    }
    for word in &explained.corrected {
        out.print_line(format!(
            "read as   {} → {}",
            escape_invisible(&word.typed),
            escape_invisible(&word.read_as)
        ));
    }
    for clause in &explained.clauses {
        out.print_line(format!("clause    {}", escape_invisible(&clause.text)));
        for intent in &clause.intents {
            let mark = if intent.is_chosen { "*" } else { " " };
            out.print_line(format!(
                "  {mark} {:>3}  {} {}",
                intent.score,
                escape_invisible(intent.tool.as_str()),
                escape_invisible(&intent.intent)
            ));
        }
    }
    for goal in &explained.goals {
        out.print_line(format!(
            "plan      {} {}",
            escape_invisible(goal.tool.as_str()),
            escape_invisible(&goal.intent)
        ));
        for (name, value) in &goal.arguments {
            out.print_line(format!(
                "  slot    {} = {}",
                escape_invisible(name),
                escape_invisible(&value.to_string())
            ));
        }
        for word in &goal.unused {
            out.print_line(format!("  unused  {}", escape_invisible(word)));
        }
        if let Some(doubt) = &goal.doubt {
            out.print_line(format!("  asks    {}", escape_invisible(doubt)));
        }
    }
    for reading in &explained.readings {
        print_reading(out, reading);
    }
    if let Some(otherwise) = &explained.otherwise {
        out.print_line(format!("instead   {}", escape_invisible(otherwise)));
    }
    Ok(Exit::Done)
}

/// Prints a way to read a message as a question about a source.
fn print_reading(out: Out, reading: &ExplainedReading) {
    let line = |name: &str, text: &str| {
        out.print_line(format!("  {name:<7} {}", escape_invisible(text)));
    };
    let mark = if reading.is_chosen { "*" } else { " " };
    let (outcome, text) = (&reading.outcome, escape_invisible(&reading.text));
    out.print_line(format!("reading {mark} {:>4} {outcome}: {text}", reading.score));
    if let Some(question) = &reading.question {
        line("as", question);
    }
    if let Some(query) = &reading.query {
        line("query", &serde_json::to_string(query).unwrap_or_default());
    }
    for span in &reading.spans {
        line("span", &format!("{} → {}", span.text, span.means));
    }
    for word in &reading.corrected {
        line("read as", &format!("{} → {}", word.typed, word.read_as));
    }
    for words in &reading.left_out {
        line("unused", words);
    }
}
