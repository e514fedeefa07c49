//! `csign packs`: lists packs, creates a new one, and checks a pack for its author.

use std::{
    io,
    path::{Path, PathBuf},
};

use ::packs::NewPack;
use contract::{Empty, MessageExplainParams, manifest::ScenarioStatus};
use host::Paths;

use crate::args::PackKind;
use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::out::{Out, Tone, count};
use crate::visible::exact;

pub(crate) fn check(out: Out, folder: &Path) -> Result<Exit, Failure> {
    if !folder.is_dir() {
        return Err(Failure::usage(format!("{} is not a folder.", folder.display()))
            .hint("Name the folder that holds pack.json."));
    }
    let view = packs::check_folder(folder).view;
    let exit = if view.faults.is_empty() { Exit::Done } else { Exit::Failed };
    if out.json {
        out.document(&view);
        return Ok(exit);
    }
    for fault in &view.faults {
        out.line(format!(
            "{} {} {}: {}",
            out.tone(Tone::Bad, "fault"),
            exact(&fault.file),
            exact(&fault.field),
            exact(&fault.problem)
        ));
        out.line(format!("      {}", exact(&fault.fix)));
    }
    for warning in &view.warnings {
        out.line(format!(
            "{} {} {}: {}",
            out.tone(Tone::Strong, "warning"),
            exact(&warning.file),
            exact(&warning.field),
            exact(&warning.problem)
        ));
        out.line(format!("        {}", exact(&warning.fix)));
    }
    if view.faults.is_empty() {
        out.line(format!(
            "{} {} {}: {}, no faults.",
            exact(&view.title),
            exact(view.id.as_str()),
            exact(&view.version),
            count(view.tools.len(), "tool")
        ));
    } else {
        out.note(format!(
            "{}. The pack is not used until this is corrected.",
            count(view.faults.len(), "fault")
        ));
    }
    Ok(exit)
}

/// Prints the faults of a pack or, if there are none, the results of its own scenarios.
pub(crate) fn check_and_run(
    out: Out,
    folder: &Path,
    private_network: bool,
) -> Result<Exit, Failure> {
    let loaded = folder.is_dir().then(|| ::packs::check_folder(folder));
    let Some((view, pack)) = loaded.and_then(|loaded| Some((loaded.view, loaded.pack?))) else {
        return check(out, folder);
    };
    let Some(acceptance) = &pack.manifest.acceptance else {
        return Err(Failure::usage(format!("{} has no scenarios.", exact(&view.title)))
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
        out.document(&evidence);
        return Ok(exit);
    }
    for scenario in &evidence.scenarios {
        let (word, tone) = match scenario.status {
            ScenarioStatus::Passed => ("passed", Tone::Good),
            ScenarioStatus::Failed => ("failed", Tone::Bad),
            ScenarioStatus::Skipped => ("skipped", Tone::Quiet),
        };
        out.line(format!(
            "{} {:?} {}",
            out.tone(tone, word),
            scenario.priority,
            exact(&scenario.title)
        ));
        for check in scenario.checks.iter().filter(|check| check.result == ScenarioStatus::Failed) {
            out.line(format!(
                "      {}: expected {}, got {}",
                exact(&check.check),
                exact(&check.expected),
                exact(&check.actual)
            ));
        }
        if let Some(error) =
            scenario.error.as_ref().filter(|_| scenario.status != ScenarioStatus::Passed)
        {
            out.line(format!("      {}", exact(error)));
        }
    }
    out.line(format!(
        "{} passed, {} failed, {} skipped.",
        evidence.passed, evidence.failed, evidence.skipped
    ));
    Ok(exit)
}

/// Lists all packs. Fails if there are none, because no question can be answered without a pack.
pub(crate) async fn list(link: &Link, out: Out) -> Result<Exit, Failure> {
    let packs = link.commands.packs_list(Empty {}).await?.packs;
    if packs.is_empty() {
        return Err(link.without_packs().await.into());
    }
    link.warn_of_missing_packs(out).await;
    if out.json {
        out.document(&packs);
        return Ok(Exit::Done);
    }
    let width = packs.iter().map(|pack| pack.id.as_str().len()).max().unwrap_or_default();
    for pack in &packs {
        let tools = count(pack.tools.len(), "tool");
        out.line(format!(
            "{:width$}  {:8}  {tools}  {}",
            exact(pack.id.as_str()),
            exact(&pack.version),
            exact(&pack.title)
        ));
        for fault in &pack.faults {
            out.line(format!(
                "  {} {} {}: {}",
                out.tone(Tone::Bad, "fault"),
                exact(&fault.file),
                exact(&fault.field),
                exact(&fault.problem)
            ));
            out.line(format!("        {}", exact(&fault.fix)));
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
            paths.make()?;
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
            return Err(Failure::usage(format!(
                "{} cannot be a pack's name: {error}.",
                exact(name)
            ))
            .hint("For example: csign packs new my-pack"));
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(Failure::usage(format!(
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
        out.document(&serde_json::json!({"folder": folder}));
    } else {
        out.line(folder.display().to_string());
        out.note(format!("Change pack.json, then: csign packs check {}", folder.display()));
    }
    Ok(Exit::Done)
}

/// Prints how the offline model understands a message.
pub(crate) async fn explain(link: &Link, out: Out, text: String) -> Result<Exit, Failure> {
    let explained = link.commands.message_explain(MessageExplainParams { text }).await?;
    if out.json {
        out.document(&explained);
        return Ok(Exit::Done);
    }
    for word in &explained.corrected {
        out.line(format!("read as   {} → {}", exact(&word.typed), exact(&word.read_as)));
    }
    for clause in &explained.clauses {
        out.line(format!("clause    {}", exact(&clause.text)));
        for intent in &clause.intents {
            let mark = if intent.is_chosen { "*" } else { " " };
            out.line(format!(
                "  {mark} {:>3}  {} {}",
                intent.score,
                exact(intent.tool.as_str()),
                exact(&intent.intent)
            ));
        }
    }
    for goal in &explained.goals {
        out.line(format!("plan      {} {}", exact(goal.tool.as_str()), exact(&goal.intent)));
        for (name, value) in &goal.arguments {
            out.line(format!("  slot    {} = {}", exact(name), exact(&value.to_string())));
        }
        for word in &goal.unused {
            out.line(format!("  unused  {}", exact(word)));
        }
        if let Some(doubt) = &goal.doubt {
            out.line(format!("  asks    {}", exact(doubt)));
        }
    }
    if let Some(otherwise) = &explained.otherwise {
        out.line(format!("instead   {}", exact(otherwise)));
    }
    Ok(Exit::Done)
}
