//! `csign servers accept`: shows the tool descriptions of a server that nobody has accepted yet,
//! and accepts them. Must not know how descriptions are compared.

use contract::{
    Change, DefinitionState, Effect, Empty, PackId, ServerParams, ServerTool,
    ServerToolsAcceptParams,
};

use crate::exit::{Exit, Failure};
use crate::keys::{Keys, is_yes};
use crate::link::Link;
use crate::out::{Out, Tone, count};
use crate::visible::escape_invisible;

/// A server is accepted in two rounds: first its changed file, before the server is started, and
/// then its tools.
const ROUNDS: usize = 2;

/// The answers that the command line gives in advance.
#[derive(Clone, Copy)]
pub(super) struct Wish {
    /// Whether numbers in descriptions may change from now on without a question.
    pub(super) numbers: Option<bool>,
    /// Whether everything is accepted without asking the user.
    pub(super) yes: bool,
}

pub(super) async fn accept_tools(
    link: &Link,
    out: Out,
    name: &str,
    wish: Wish,
    mut keys: Option<&mut Keys>,
) -> Result<Exit, Failure> {
    let at = find_server(link, name).await?;
    let (mut accepted, mut open) = (Vec::new(), wish.numbers);
    for _ in 0..ROUNDS {
        let waiting = waiting_tools(link.commands.server_start(at.clone()).await?.tools);
        let Some(first) = waiting.first() else { break };
        let server = first.server.clone();
        show_changes(out, &waiting);
        let numbers = match (wish.yes, keys.as_deref_mut()) {
            (true, _) => wish.numbers,
            (false, Some(keys)) => match ask(out, &waiting, wish, keys).await {
                Some(numbers) => numbers,
                None => return Ok(Exit::Failed),
            },
            (false, None) => {
                out.print_note("Nothing is accepted. At a terminal you are asked.");
                return Ok(Exit::Failed);
            }
        };
        let hashes = waiting.iter().map(|tool| (tool.name.clone(), tool.hash.clone())).collect();
        // A changed file of a server has no descriptions, so the setting for numbers does not
        // apply.
        let numbers_may_change = numbers.filter(|_| !server.is_empty());
        open = open.filter(|_| numbers_may_change.is_none());
        let pack = at.pack.clone();
        let params = ServerToolsAcceptParams { pack, server, hashes, numbers_may_change };
        link.commands.server_tools_accept(params).await?;
        accepted.extend(waiting.into_iter().map(|tool| tool.name));
    }
    if open.is_some() {
        let params = ServerToolsAcceptParams {
            pack: at.pack,
            server: at.server,
            hashes: [].into(),
            numbers_may_change: open,
        };
        link.commands.server_tools_accept(params).await?;
    }
    if out.json {
        out.print_json(&serde_json::json!({ "accepted": accepted }));
    } else if accepted.is_empty() {
        out.print_line("There is nothing to accept.");
    } else {
        out.print_line(format!("Accepted: {}.", escape_invisible(&accepted.join(", "))));
    }
    Ok(Exit::Done)
}

/// Returns the added server of this name, or else a pack's server of this name or pack.
async fn find_server(link: &Link, name: &str) -> Result<ServerParams, Failure> {
    let own = link.commands.server_list(Empty {}).await?.servers;
    let is_own = own.iter().any(|server| server.name == name);
    let tools = link.commands.server_tools(Empty {}).await?.tools;
    let is_it = |tool: &&ServerTool| {
        !tool.server.is_empty() && (tool.server == name || tool.pack.as_str() == name)
    };
    let of_pack = tools.iter().find(is_it).filter(|_| !is_own);
    Ok(of_pack.map_or_else(
        || ServerParams { pack: PackId::of_added_server(name), server: name.to_owned() },
        |tool| ServerParams { pack: tool.pack.clone(), server: tool.server.clone() },
    ))
}

/// Returns the parts that must be accepted next: only the server's changed file, or else its tools.
fn waiting_tools(mut tools: Vec<ServerTool>) -> Vec<ServerTool> {
    tools.retain(|tool| matches!(tool.state, DefinitionState::Changed | DefinitionState::New));
    if tools.iter().any(|tool| tool.server.is_empty()) {
        tools.retain(|tool| tool.server.is_empty());
    }
    tools
}

fn show_changes(out: Out, tools: &[ServerTool]) {
    for tool in tools {
        let state = if tool.state == DefinitionState::New { "new" } else { "changed" };
        let name = out.colour_text(Tone::Strong, &escape_invisible(&tool.name));
        out.print_note(format!("{name}  ({state})"));
        for line in &tool.diff {
            let (mark, tone) = match line.change {
                Change::Same => continue,
                Change::Removed => ("-", Tone::Bad),
                Change::Added => ("+", Tone::Good),
            };
            let text = format!("{mark} {}", escape_invisible(&line.text));
            out.print_note(format!("  {}", out.colour_text(tone, &text)));
        }
        // A server's file has no effect, so only tools show one.
        if !tool.server.is_empty() {
            out.print_note(format!("  counts as a tool that {}", effect_words(tool.effect)));
        }
        out.print_note(format!("  sha256 {}", tool.hash));
    }
}

/// Asks whether everything that was shown is accepted, and then whether numbers may change. Returns
/// None if the user declines.
async fn ask(out: Out, tools: &[ServerTool], wish: Wish, keys: &mut Keys) -> Option<Option<bool>> {
    keys.discard_pending_input();
    out.print_question(&format!("Accept {} as described now? [y/N] ", count_things(tools)));
    if !is_yes(keys.read_line().await.as_deref()) {
        return None;
    }
    if wish.numbers.is_some() || !tools.iter().all(|tool| tool.only_numbers) {
        return Some(wish.numbers);
    }
    keys.discard_pending_input();
    out.print_question("Only numbers changed. May they change from now on without asking? [y/N] ");
    Some(is_yes(keys.read_line().await.as_deref()).then_some(true))
}

fn effect_words(effect: Effect) -> &'static str {
    match effect {
        Effect::ReadOnly => "only reads",
        Effect::Write => "changes something",
        Effect::Destructive => "changes something that cannot be undone",
    }
}

fn count_things(tools: &[ServerTool]) -> String {
    count(u32::try_from(tools.len()).unwrap_or(u32::MAX), "tool")
}
