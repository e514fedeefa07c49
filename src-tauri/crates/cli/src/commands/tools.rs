//! `csign tools`: lists and shows tools, and calls one under the same policy, approvals and log as
//! in a session.

use contract::{
    Effect, Empty, ErrorCode, IsolationView, Push, SessionId, ToolCallParams, ToolCallResponse,
    ToolSpec, ToolTarget,
};
use serde_json::Value;

use crate::args::Tools;
use crate::ask::{outcome_word, text_or_stdin};
use crate::exit::{Exit, Failure};
use crate::link::Link;
use crate::listen::{self, Asker};
use crate::out::{Out, Tone};
use crate::visible::{exact, prose};

/// The session id of calls that name no session.
const OUTSIDE: &str = "direct";

pub(crate) async fn run(
    link: &mut Link,
    out: Out,
    args: Tools,
    person: bool,
) -> Result<Exit, Failure> {
    match args {
        Tools::List => list(link, out).await,
        Tools::Show { name } => show(link, out, &name).await,
        Tools::Call { name, args, session } => {
            let arguments = read_arguments(&args)?;
            let params = ToolCallParams {
                tool: name.into(),
                arguments,
                session: session.map(SessionId::from),
                headless: !person,
            };
            call(link, out, params, person).await
        }
    }
}

/// Describes where a request goes, or how a program runs.
fn how(spec: &ToolSpec, isolation: &IsolationView) -> Option<String> {
    let key = spec
        .auth
        .as_ref()
        .and_then(|auth| auth.env_var.as_deref())
        .map_or_else(String::new, |name| format!(" Needs the key {}.", exact(name)));
    match &spec.target {
        ToolTarget::Http { .. } => {
            Some(format!("Sends a request to {}.{key}", exact(spec.target.server())))
        }
        ToolTarget::Program { call } => {
            let network = if call.network { "may" } else { "may not" };
            Some(format!(
                "Runs {}, which {network} open network connections. {}{key}",
                exact(&call.command),
                exact(&isolation.message)
            ))
        }
        ToolTarget::BuiltIn { .. } | ToolTarget::Mcp { .. } => None,
    }
}

async fn list(link: &Link, out: Out) -> Result<Exit, Failure> {
    let packs = link.commands.packs_list(Empty {}).await?.packs;
    if packs.is_empty() {
        return Err(link.without_packs().await.into());
    }
    let specs: Vec<ToolSpec> = packs.into_iter().flat_map(|pack| pack.tools).collect();
    if out.json {
        out.document(&specs);
        return Ok(Exit::Done);
    }
    let width = specs.iter().map(|spec| spec.id.as_str().len()).max().unwrap_or_default();
    for spec in &specs {
        out.line(format!(
            "{:width$}  {:11}  {}",
            exact(spec.id.as_str()),
            effect(spec),
            exact(&spec.title)
        ));
    }
    Ok(Exit::Done)
}

fn effect(spec: &ToolSpec) -> &'static str {
    match spec.effect {
        Effect::ReadOnly => "reads",
        Effect::Write => "writes",
        Effect::Destructive => "destructive",
    }
}

async fn show(link: &Link, out: Out, name: &str) -> Result<Exit, Failure> {
    let listed = link.commands.packs_list(Empty {}).await?;
    let isolation = listed.isolation;
    let specs: Vec<ToolSpec> = listed.packs.into_iter().flat_map(|pack| pack.tools).collect();
    let Some(spec) = specs.iter().find(|spec| spec.id.as_str() == name || spec.model_name == name)
    else {
        let unknown = || {
            let error = contract::AgentError::new(
                ErrorCode::ToolNotFound,
                format!("There is no tool named {}.", exact(name)),
            );
            error.hint("`csign tools list` shows all of them.")
        };
        return Err(link.missing_packs().await.unwrap_or_else(unknown).into());
    };
    if out.json {
        out.document(spec);
        return Ok(Exit::Done);
    }
    out.line(format!(
        "{} ({}), {}, from pack {}",
        out.tone(Tone::Strong, &exact(&spec.title)),
        exact(spec.id.as_str()),
        effect(spec),
        exact(spec.pack.as_str())
    ));
    out.line(prose(&spec.description));
    if let Some(line) = how(spec, &isolation) {
        out.line(line);
    }
    out.line("Parameters:");
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
        out.line(format!("  {} ({kind}{need})  {}", exact(name), exact(text)));
    }
    out.note(out.tone(Tone::Quiet, "The full schema: add --json."));
    Ok(Exit::Done)
}

pub(super) fn read_arguments(text: &str) -> Result<Value, Failure> {
    let text = text_or_stdin(text)?;
    match serde_json::from_str(&text) {
        Ok(Value::Object(_)) => {
            contract::arguments::parse(&text).map_err(|error| Failure { error, exit: Exit::Usage })
        }
        Ok(_) => Err(Failure::usage("The arguments are not a JSON object.")
            .hint("Write them like this: --args '{\"account_id\": 17}'")),
        Err(error) => Err(Failure::usage(format!("The arguments are not JSON: {error}."))
            .hint("Write them like this: --args '{\"account_id\": 17}'")),
    }
}

async fn call(
    link: &mut Link,
    out: Out,
    params: ToolCallParams,
    person: bool,
) -> Result<Exit, Failure> {
    let session = params.session.clone().unwrap_or_else(|| SessionId::from(OUTSIDE));
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
                    if asker.wants(&push) && (listen::of_session(&push, &session) || matches!(push, Push::Questions { .. })) {
                        asker.about(link, &push).await?;
                    }
                }
                Err(error) if person => return Err(error.into()),
                // Without a listener no question can be asked, but the answer still arrives.
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
        Ok(answer) => Ok(show_answer(out, &answer)),
        // The tool may belong to a pack that was not found.
        Err(error) if error.code == ErrorCode::ToolNotFound => {
            Err(link.missing_packs().await.unwrap_or(error).into())
        }
        Err(error) => Err(error.into()),
    }
}

fn show_answer(out: Out, answer: &ToolCallResponse) -> Exit {
    let exit = answer.error.as_ref().map_or_else(
        || Exit::of_outcome(answer.outcome),
        |error| match Exit::of_outcome(answer.outcome) {
            Exit::Failed => Exit::of_error(error),
            other => other,
        },
    );
    if out.json {
        out.document(answer);
        return exit;
    }
    if let Some(error) = &answer.error {
        out.error_lines(error);
    }
    if !answer.data.is_null() {
        let text =
            serde_json::to_string_pretty(&answer.data).unwrap_or_else(|_| answer.data.to_string());
        out.line(prose(&text));
    }
    if exit != Exit::Done && answer.error.is_none() {
        out.note(format!("The call ended: {}.", outcome_word(answer.outcome)));
    }
    exit
}
