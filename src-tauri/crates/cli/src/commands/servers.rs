//! `csign servers`: tests, adds, lists and removes MCP servers of the user. Shows the command
//! before it runs, and asks which tools only read. Must not know how a server is reached.

use std::collections::BTreeMap;

use contract::{
    AcceptedTool, Effect, Empty, NewServer, OwnServerParams, OwnServerView, PackId, ReadServer,
    Reason, ServerAddParams, ServerEnableParams, ServerLimitParams, ServerParams,
    ServerReadsParams, ServerTestParams, ServerTestResponse, TestedTool,
};

use crate::args::{Numbers, Reads, Servers, ServersAdd};
use crate::exit::{Exit, Failure};
use crate::keys::{Keys, is_yes};
use crate::link::Link;
use crate::out::{Out, Tone, count};
use crate::visible::{escape_invisible, escape_prose};
use crate::width::{pad_text, widest_text};

mod accepting;
mod choosing;
mod reading;

use choosing::choose_tools;
use reading::read_servers;

pub(crate) async fn run(
    link: &mut Link,
    out: Out,
    args: Servers,
    person: bool,
) -> Result<Exit, Failure> {
    match args {
        Servers::List => list_servers(link, out).await,
        Servers::Add(args) => add_servers(link, out, args, person).await,
        Servers::Test { name } => test_server(link, out, name).await,
        Servers::Enable { name } => enable_server(link, out, name, true).await,
        Servers::Disable { name } => enable_server(link, out, name, false).await,
        Servers::Accept { name, numbers, yes } => {
            let mut keys = if person && !yes { Keys::start().ok() } else { None };
            let numbers = numbers.map(|numbers| numbers == Numbers::MayChange);
            let wish = accepting::Wish { numbers, yes };
            accepting::accept_tools(link, out, &name, wish, keys.as_mut()).await
        }
        Servers::Reads { name, may } => set_reads(link, out, name, may).await,
        Servers::Limit { name, seconds } => set_limit(link, out, name, seconds).await,
        Servers::Log { name } => show_log(link, out, name).await,
        Servers::Remove { name } => {
            link.commands.server_remove(OwnServerParams { name: name.clone() }).await?;
            print_done(out, &format!("{} is removed, with its keys.", escape_invisible(&name)))
        }
    }
}

fn print_done(out: Out, line: &str) -> Result<Exit, Failure> {
    if out.json {
        out.print_json(&serde_json::json!({}));
    } else {
        out.print_line(line);
    }
    Ok(Exit::Done)
}

async fn list_servers(link: &Link, out: Out) -> Result<Exit, Failure> {
    let servers = link.commands.server_list(Empty {}).await?.servers;
    if out.json {
        out.print_json(&servers);
        return Ok(Exit::Done);
    }
    if servers.is_empty() {
        out.print_line("No servers were added. `csign servers add --help` shows how to add one.");
    }
    let width = widest_text(servers.iter().map(|server| server.name.as_str()));
    for server in &servers {
        let state = if server.enabled { count(server.tools, "tool") } else { "off".into() };
        out.print_line(format!(
            "{}  {state:8}  {}",
            pad_text(&server.name, width),
            escape_invisible(&server.runs)
        ));
        let reads = match (server.network, server.reads_may_run) {
            (false, _) => "no network",
            (true, true) => "reads run without asking",
            (true, false) => "reads ask",
        };
        let numbers =
            if server.numbers_may_change { "; numbers in descriptions may change" } else { "" };
        out.print_line(format!(
            "{:width$}  {reads}{numbers}; manifest {}",
            "", server.manifest_hash
        ));
    }
    Ok(Exit::Done)
}

async fn set_reads(link: &Link, out: Out, name: String, may: Reads) -> Result<Exit, Failure> {
    let may_run = may == Reads::Run;
    let shown = escape_invisible(&name);
    link.commands.server_reads_set(ServerReadsParams { name, may_run }).await?;
    let done = if may_run { "run without asking" } else { "ask" };
    print_done(out, &format!("Reads of {shown} {done} from now on."))
}

async fn set_limit(link: &Link, out: Out, name: String, seconds: u32) -> Result<Exit, Failure> {
    let line = format!(
        "A call of {} may take {seconds} seconds without progress from now on.",
        escape_invisible(&name)
    );
    link.commands.server_limit_set(ServerLimitParams { name, seconds }).await?;
    print_done(out, &line)
}

async fn enable_server(
    link: &Link,
    out: Out,
    name: String,
    enabled: bool,
) -> Result<Exit, Failure> {
    let word = if enabled { "on" } else { "off" };
    let line = format!("{} is switched {word}.", escape_invisible(&name));
    link.commands.server_enable(ServerEnableParams { name, enabled }).await?;
    print_done(out, &line)
}

async fn show_log(link: &Link, out: Out, name: String) -> Result<Exit, Failure> {
    let params = ServerParams { pack: PackId::of_added_server(&name), server: name };
    let lines = link.commands.server_log(params).await?.lines;
    if out.json {
        out.print_json(&lines);
        return Ok(Exit::Done);
    }
    if lines.is_empty() {
        out.print_line("It has written no error output since it was last started here.");
    }
    lines.iter().for_each(|line| out.print_line(escape_invisible(line)));
    Ok(Exit::Done)
}

async fn test_server(link: &Link, out: Out, name: String) -> Result<Exit, Failure> {
    let server = NewServer { name, ..NewServer::default() };
    let tested = link.commands.server_test(ServerTestParams { server }).await?;
    if out.json {
        out.print_json(&tested);
    } else {
        show_test(out, &tested);
    }
    Ok(if tested.ok { Exit::Done } else { Exit::Failed })
}

fn show_test(out: Out, tested: &ServerTestResponse) {
    out.print_line(format!("Runs {}", escape_invisible(&tested.runs)));
    if let Some(message) = &tested.message {
        out.print_line(out.colour_text(Tone::Bad, &escape_prose(message)));
        tested.log.iter().for_each(|line| out.print_line(format!("  {}", escape_invisible(line))));
    }
    show_notes(out, &tested.notes);
    show_tools(out, &tested.tools);
}

/// Shows the parts of a list of servers that cannot be used or checked.
fn show_notes(out: Out, notes: &[contract::Text]) {
    notes.iter().for_each(|note| out.print_line(escape_prose(note)));
}

/// Shows each tool completely: name, description and arguments.
fn show_tools(out: Out, tools: &[TestedTool]) {
    for (number, tool) in tools.iter().enumerate() {
        let says = match tool.says {
            Some(Effect::ReadOnly) => "says it reads",
            Some(Effect::Write) => "says it writes",
            Some(Effect::Destructive) => "says it destroys",
            None => "says nothing",
        };
        out.print_line(format!(
            "{:3}  {}  ({says})",
            number + 1,
            out.colour_text(Tone::Strong, &escape_invisible(&tool.name))
        ));
        let schema = serde_json::to_string(&tool.input_schema).unwrap_or_default();
        for line in tool.description.lines() {
            out.print_line(format!("       {}", escape_invisible(line)));
        }
        out.print_line(format!("       arguments {}", escape_invisible(&schema)));
        out.print_line(format!("       sha256 {}", tool.hash));
    }
}

async fn add_servers(
    link: &Link,
    out: Out,
    args: ServersAdd,
    person: bool,
) -> Result<Exit, Failure> {
    let mut keys = if person { Keys::start().ok() } else { None };
    let mut exit = Exit::Done;
    for server in read_servers(link, out, &args, keys.as_mut()).await? {
        let name = server.server.name.clone();
        if let Some(problem) = &server.problem {
            out.print_note(format!("{}: {}", escape_invisible(&name), escape_prose(problem)));
            exit = Exit::Failed;
        } else if !add_one(link, out, &args, server, keys.as_mut()).await? {
            exit = Exit::Failed;
        }
    }
    Ok(exit)
}

/// Shows everything that a person confirms before a server runs.
fn show_server(out: Out, found: &ReadServer) {
    out.print_note(format!(
        "{} runs: {}",
        out.colour_text(Tone::Strong, &found.server.name),
        escape_invisible(&found.runs)
    ));
    for note in &found.notes {
        out.print_note(format!("  {}", escape_prose(note)));
    }
    let prefix = format!("servers.{}.", found.server.name);
    for change in &found.shows {
        let Some(what) = change.setting.strip_prefix(&prefix) else { continue };
        out.print_note(format!(
            "  {}: {}",
            escape_invisible(what),
            escape_invisible(&change.after)
        ));
        if let Some(note) = &change.note {
            out.print_note(format!("    {}", out.colour_text(Tone::Bad, &escape_prose(note))));
        }
    }
}

/// Asks for each value that looks random whether it is a key. Values that are no keys are stored in
/// files.
async fn ask_about_keys(out: Out, found: &mut ReadServer, keys: &mut Keys) {
    for value in &found.unsure {
        let of = if value.of.is_empty() { String::new() } else { format!(" of {}", value.of) };
        keys.discard_pending_input();
        out.print_question(&format!(
            "Is the value{} ({}..., {} characters) a key, to be kept in the keyring? [Y/n] ",
            escape_invisible(&of),
            escape_invisible(&value.begins),
            value.characters
        ));
        if is_no(keys.read_line().await.as_deref()) {
            found.server.not_keys.push(value.place.clone());
        }
    }
}

/// Shows, tests and adds one server. Returns false if it was not added.
async fn add_one(
    link: &Link,
    out: Out,
    args: &ServersAdd,
    mut found: ReadServer,
    keys: Option<&mut Keys>,
) -> Result<bool, Failure> {
    let mut keys = keys.filter(|_| !args.yes);
    show_server(out, &found);
    if let Some(keys) = keys.as_deref_mut() {
        ask_about_keys(out, &mut found, keys).await;
        keys.discard_pending_input();
        out.print_question(if !found.server.enabled {
            "Add it switched off? [y/N] "
        } else if found.server.url.is_empty() {
            "It may do what you may do. Start it now? [y/N] "
        } else {
            "It gets what is sent to it. Connect to it now? [y/N] "
        });
        if !is_yes(keys.read_line().await.as_deref()) {
            return Ok(false);
        }
    }
    let mut server = found.server;
    let mut tools = Vec::new();
    let is_tested = server.enabled && !server.sign_in;
    if is_tested {
        let params = ServerTestParams { server: server.clone() };
        out.print_note(describe_wait(&server));
        let tested = link.commands.server_test(params).await?;
        if !out.json {
            show_test(out, &tested);
        }
        if !tested.ok {
            if out.json {
                out.print_json(&tested);
            }
            return Ok(false);
        }
        tools = tested.tools;
        if tested.works_without_network {
            server.network = !offer_without_network(out, keys.as_deref_mut()).await;
        }
    }
    let mut numbers_may_change = args.numbers_may_change;
    let mut reads_may_run = args.reads_may_run;
    let mut is_asked = reads_may_run || !server.network || !server.enabled;
    let added = loop {
        let accepted =
            accept_tools(out, args, &tools, numbers_may_change, keys.as_deref_mut()).await?;
        let has_reads = accepted.values().any(|tool| tool.effect == Some(Effect::ReadOnly));
        if let Some(keys) = keys.as_deref_mut().filter(|_| has_reads && !is_asked) {
            is_asked = true;
            keys.discard_pending_input();
            out.print_question(
                "May its reads run without asking? They can send data to it. [y/N] ",
            );
            reads_may_run = is_yes(keys.read_line().await.as_deref());
        }
        let params = ServerAddParams {
            server: server.clone(),
            accepted,
            reads_may_run,
            this_run_only: false,
            numbers_may_change,
        };
        match (link.commands.server_add(params).await, keys.as_deref_mut()) {
            (Ok(added), _) => break added,
            (Err(error), Some(keys)) if error.has_reason(Reason::Changed) => {
                // Everything is shown and asked again, because the tools have changed.
                let before = std::mem::take(&mut tools);
                tools = error.details.get("tools").cloned().map_or_else(Vec::new, |tools| {
                    serde_json::from_value(tools).unwrap_or_default()
                });
                out.print_note(out.colour_text(Tone::Bad, &escape_prose(&error.text())));
                show_tools(out, &tools);
                keys.discard_pending_input();
                out.print_question("Add it with these tools? [y/N] ");
                if !is_yes(keys.read_line().await.as_deref()) {
                    return Ok(false);
                }
                if only_numbers_differ(&before, &tools) {
                    keys.discard_pending_input();
                    out.print_question("Only numbers in descriptions changed. May they change from now on without asking? [y/N] ");
                    numbers_may_change = is_yes(keys.read_line().await.as_deref());
                }
            }
            (Err(error), _) => return Err(error.into()),
        }
    };
    print_added(out, &server, &added);
    Ok(true)
}

/// Describes what the user waits for while a server is tested.
fn describe_wait(server: &NewServer) -> &'static str {
    if server.url.is_empty() {
        "Starting it. A first start may download its program, which can take minutes. Ctrl-C stops it."
    } else {
        "Connecting to it. Ctrl-C stops it."
    }
}

fn print_added(out: Out, server: &NewServer, added: &OwnServerView) {
    if out.json {
        out.print_json(&added);
    } else if !server.enabled {
        out.print_line(format!(
            "{name} is added switched off. `csign servers enable {name}` starts it, and `csign servers accept {name}` shows and accepts its tools.",
            name = added.name
        ));
    } else if server.sign_in {
        out.print_line(format!(
            "{} is added. Sign in to it in Tools, and accept its tools in the approval window.",
            added.name
        ));
    } else {
        let tools = count(added.tools, "tool");
        out.print_line(format!(
            "{} is added with {tools}. Tools that change something ask first.",
            added.name
        ));
    }
}

/// Says that a server works without network, and asks whether it should always run without network.
async fn offer_without_network(out: Out, keys: Option<&mut Keys>) -> bool {
    let Some(keys) = keys else {
        out.print_note("It lists its tools without network, too. --no-network adds it so.");
        return false;
    };
    keys.discard_pending_input();
    out.print_question("It starts and lists its tools without network, too. Run it without? Its reads never ask then. [y/N] ");
    is_yes(keys.read_line().await.as_deref())
}

/// Whether two lists of tools differ only in the numbers of their descriptions.
fn only_numbers_differ(before: &[TestedTool], now: &[TestedTool]) -> bool {
    let plain = |tools: &[TestedTool]| -> BTreeMap<String, String> {
        let of = |tool: &TestedTool| (tool.name.clone(), tool.hash_without_numbers.clone());
        tools.iter().map(of).collect()
    };
    plain(before) == plain(now)
}

/// Returns the tools as they were shown. The tools that only read get that effect.
async fn accept_tools(
    out: Out,
    args: &ServersAdd,
    tools: &[TestedTool],
    numbers_may_change: bool,
    keys: Option<&mut Keys>,
) -> Result<BTreeMap<String, AcceptedTool>, Failure> {
    let effects = ask_read_only_tools(out, args, tools, keys).await?;
    let accept = |tool: &TestedTool| {
        let effect = effects.get(&tool.name).copied();
        let hash = if numbers_may_change { &tool.hash_without_numbers } else { &tool.hash };
        (tool.name.clone(), AcceptedTool { hash: hash.clone(), effect })
    };
    Ok(tools.iter().map(accept).collect())
}

/// Asks which tools only read. Returns their effects.
async fn ask_read_only_tools(
    out: Out,
    args: &ServersAdd,
    tools: &[TestedTool],
    keys: Option<&mut Keys>,
) -> Result<BTreeMap<String, Effect>, Failure> {
    let named = |name: &str| {
        let found = tools.iter().find(|tool| tool.name == name);
        found.map(|tool| (tool.name.clone(), Effect::ReadOnly))
    };
    if !args.reads.is_empty() {
        let unknown = |name: &String| {
            Failure::usage_error(format!("The server has no tool {}.", escape_invisible(name)))
        };
        return args.reads.iter().map(|name| named(name).ok_or_else(|| unknown(name))).collect();
    }
    let Some(keys) = keys.filter(|_| !tools.is_empty()) else {
        return Ok(BTreeMap::new());
    };
    loop {
        keys.discard_pending_input();
        out.print_question(
            "Which of them only read? The others ask before each call. Numbers, or nothing: ",
        );
        let line = keys.read_line().await.unwrap_or_default();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        match choose_tools(&line, &names) {
            Ok(chosen) => {
                let read_only = |name: &str| (name.to_owned(), Effect::ReadOnly);
                return Ok(chosen.into_iter().map(read_only).collect());
            }
            Err(word) => out.print_note(format!(
                "{} is neither a number of the list nor a tool. Write for example: 1, 3-5",
                escape_invisible(&word)
            )),
        }
    }
}

fn is_no(line: Option<&str>) -> bool {
    let answer = line.unwrap_or_default().trim().to_lowercase();
    matches!(answer.as_str(), "n" | "no" | "nej")
}
