//! `csign tools`: lists and shows tools, and calls one under the same policy, approvals and log as
//! in a session.

use contract::{
    Effect, Empty, ErrorCode, IsolationView, Push, SessionId, ToolCallParams, ToolCallResponse,
    ToolSpec, ToolTarget,
};
use serde_json::Value;

use crate::args::Tools;
use crate::ask::{format_outcome, text_or_stdin};
use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::listen::{self, Asker};
use crate::markdown;
use crate::out::{Out, Screen, Tone};
use crate::results;
use crate::visible::{escape_invisible, escape_prose};
use crate::width::{pad_text, widest_text};

/// The session id of calls that name no session.
const OUTSIDE: &str = "direct";

pub(crate) async fn run(
    link: &mut Link,
    out: Out,
    args: Tools,
    person: bool,
) -> Result<Exit, Failure> {
    match args {
        Tools::List => list_tools(link, out).await,
        Tools::Show { name } => show_tool(link, out, &name).await,
        Tools::Call { name, args, session } => {
            let arguments = read_arguments(&args)?;
            let params = ToolCallParams {
                tool: name.into(),
                arguments,
                session: session.map(SessionId::from),
                headless: !person,
            };
            call_tool(link, out, params, person).await
        }
    }
}

/// Describes how the host makes a call, how programs are isolated, and which key is needed.
fn describe_target(spec: &ToolSpec, isolation: &IsolationView) -> Option<String> {
    let mut line = escape_invisible(&spec.target.describe()?);
    if matches!(spec.target, ToolTarget::Program { .. }) {
        line.push(' ');
        line.push_str(&escape_invisible(&isolation.message));
    }
    if let Some(name) = spec.auth.as_ref().and_then(|auth| auth.env_var.as_deref()) {
        line.push_str(&format!(" Needs the key {}.", escape_invisible(name)));
    }
    Some(line)
}

async fn list_tools(link: &Link, out: Out) -> Result<Exit, Failure> {
    let packs = link.commands.packs_list(Empty {}).await?.packs;
    if packs.is_empty() {
        return Err(link.no_packs_error().await.into());
    }
    let specs: Vec<ToolSpec> = packs.into_iter().flat_map(|pack| pack.tools).collect();
    if out.json {
        out.print_json(&specs);
        return Ok(Exit::Done);
    }
    let width = widest_text(specs.iter().map(|spec| spec.id.as_str()));
    for spec in &specs {
        out.print_line(format!(
            "{}  {:11}  {}",
            pad_text(&escape_invisible(spec.id.as_str()), width),
            effect_name(spec),
            escape_invisible(&spec.title)
        ));
    }
    Ok(Exit::Done)
}

fn effect_name(spec: &ToolSpec) -> &'static str {
    match spec.effect {
        Effect::ReadOnly => "reads",
        Effect::Write => "writes",
        Effect::Destructive => "destructive",
    }
}

async fn show_tool(link: &Link, out: Out, name: &str) -> Result<Exit, Failure> {
    let listed = link.commands.packs_list(Empty {}).await?;
    let isolation = listed.isolation;
    let specs: Vec<ToolSpec> = listed.packs.into_iter().flat_map(|pack| pack.tools).collect();
    let Some(spec) = specs.iter().find(|spec| spec.id.as_str() == name || spec.model_name == name)
    else {
        let unknown = || {
            let error = contract::AgentError::new(
                ErrorCode::ToolNotFound,
                format!("There is no tool named {}.", escape_invisible(name)),
            );
            error.hint("`csign tools list` shows all of them.")
        };
        return Err(link.missing_packs_error().await.unwrap_or_else(unknown).into());
    };
    if out.json {
        out.print_json(spec);
        return Ok(Exit::Done);
    }
    out.print_line(format!(
        "{} ({}), {}, from pack {}",
        out.colour_text(Tone::Strong, &escape_invisible(&spec.title)),
        escape_invisible(spec.id.as_str()),
        effect_name(spec),
        escape_invisible(spec.pack.as_str())
    ));
    out.print_line(escape_prose(&spec.description));
    if let Some(line) = describe_target(spec, &isolation) {
        out.print_line(line);
    }
    out.print_line("Parameters:");
    let required: Vec<&str> = spec
        .input_schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = spec.input_schema.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        let kind = schema.get("type").map_or_else(
            || "any".to_owned(),
            |kind| kind.as_str().map_or_else(|| kind.to_string(), str::to_owned),
        );
        let need = if required.contains(&name.as_str()) { ", required" } else { "" };
        let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        out.print_line(format!(
            "  {} ({kind}{need})  {}",
            escape_invisible(name),
            escape_invisible(text)
        ));
    }
    out.print_note(out.colour_text(Tone::Quiet, "The full schema: add --json."));
    Ok(Exit::Done)
}

pub(super) fn read_arguments(text: &str) -> Result<Value, Failure> {
    let text = text_or_stdin(text)?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(_)) => {
            contract::arguments::parse(&text).map_err(|error| Failure { error, exit: Exit::Usage })
        }
        Ok(_) => Err(Failure::usage_error("The arguments are not a JSON object.")
            .hint("Write them like this: --args '{\"account_id\": 17}'")),
        Err(error) => Err(Failure::usage_error(format!("The arguments are not JSON: {error}."))
            .hint("Write them like this: --args '{\"account_id\": 17}'")),
    }
}

async fn call_tool(
    link: &mut Link,
    out: Out,
    params: ToolCallParams,
    person: bool,
) -> Result<Exit, Failure> {
    let session = params.session.clone().unwrap_or_else(|| SessionId::from(OUTSIDE));
    let tool = params.tool.to_string();
    let commands = std::sync::Arc::clone(&link.commands);
    let calling = tokio::spawn(async move { commands.tool_call(params).await });
    tokio::pin!(calling);
    let mut asker = Asker::new(out, person);
    let mut listening = true;
    let answer = loop {
        tokio::select! {
            answer = &mut calling => break answer,
            push = listen::next(link), if listening => match push {
                Ok(push) => {
                    listen::print_declined(out, &push);
                    if asker.can_ask_about(&push) && (listen::is_session_event(&push, &session) || matches!(push, Push::Questions { .. })) {
                        asker.ask_about(link, &push).await?;
                    }
                }
                Err(error) if person => return Err(error.into()),
                // Without a listener, servers' questions cannot be shown, but the answer still
                // arrives.
                Err(_) => listening = false,
            },
            pressed = tokio::signal::ctrl_c() => {
                if pressed.is_ok() {
                    return Err(contract::AgentError::internal("cancelled", "The call was left. If it had begun, the log tells how it ended.").into());
                }
            }
        }
    };
    match answer.map_err(|_| {
        contract::AgentError::internal("unexpected", "The call ended without an answer.")
    })? {
        Ok(answer) => Ok(show_answer(out, &tool, &answer)),
        // The tool may belong to a pack that is missing.
        Err(error) if error.code == ErrorCode::ToolNotFound => {
            Err(link.missing_packs_error().await.unwrap_or(error).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns a result in the shape that its tool declares. Returns None if the tool declares no
/// shape.
fn format_result(title: &str, answer: &ToolCallResponse, screen: Screen) -> Option<String> {
    let markdown = results::to_markdown(title, &answer.view, &answer.data)?;
    Some(markdown::format(&markdown, screen))
}

fn show_answer(out: Out, title: &str, answer: &ToolCallResponse) -> Exit {
    let exit = answer.error.as_ref().map_or_else(
        || Exit::of_outcome(answer.outcome),
        |error| match Exit::of_outcome(answer.outcome) {
            Exit::Failed => Exit::of_error(error),
            other => other,
        },
    );
    if out.json {
        out.print_json(answer);
        return exit;
    }
    if let Some(error) = &answer.error {
        out.print_error(error);
    }
    // A program reads the result as JSON; a person sees the result's rows.
    match out.screen().and_then(|screen| format_result(title, answer, screen)) {
        Some(text) => out.print_formatted(&text),
        None if answer.data.is_null() => {}
        None => out.print_line(escape_prose(&contract::json_text::laid_out(&answer.data))),
    }
    if exit != Exit::Done && answer.error.is_none() {
        out.print_note(format!("The call ended: {}.", format_outcome(answer.outcome)));
    }
    exit
}
