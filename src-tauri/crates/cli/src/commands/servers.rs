//! `csign servers`: tests, adds, lists and removes MCP servers of the user. Shows what would run
//! before it runs, and asks which tools only read. Must not know how a server is reached.

use std::collections::BTreeMap;
use std::path::Path;

use contract::{
    AcceptedTool, Effect, Empty, NewServer, OwnServerParams, PackId, ReadServer, Reason,
    ServerAddParams, ServerEnableParams, ServerParams, ServerReadsParams, ServerTestParams,
    ServerTestResponse, ServersReadParams, TestedTool,
};

use crate::args::{Reads, Servers, ServersAdd};
use crate::exit::{Exit, Failure};
use crate::keys::Keys;
use crate::link::Link;
use crate::out::{Out, Tone, count};
use crate::visible::{escape_invisible, escape_prose};

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
        Servers::Reads { name, may } => set_reads(link, out, name, may).await,
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
    let width = servers.iter().map(|server| server.name.len()).max().unwrap_or_default();
    for server in &servers {
        let state = if server.enabled { count(server.tools, "tool") } else { "off".into() };
        out.print_line(format!(
            "{:width$}  {state:8}  {}",
            server.name,
            escape_invisible(&server.runs)
        ));
        let reads = match (server.network, server.reads_may_run) {
            (false, _) => "no network",
            (true, true) => "reads run without asking",
            (true, false) => "reads ask",
        };
        out.print_line(format!("{:width$}  {reads}; manifest {}", "", server.manifest_hash));
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
    show_tools(out, &tested.tools);
}

/// Shows tools as a whole: name, description and arguments.
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
    for server in read_servers(link, &args).await? {
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

/// Returns the servers of the command line or of the file, with the variables and headers given.
async fn read_servers(link: &Link, args: &ServersAdd) -> Result<Vec<ReadServer>, Failure> {
    if let Some(file) = &args.from {
        let params = ServersReadParams { text: read_file(file)? };
        let mut found = link.commands.servers_read(params).await?.servers;
        if let Some(name) = &args.name {
            found.retain(|server| server.server.name == *name);
        }
        if args.no_network {
            found.iter_mut().for_each(|found| found.server.network = false);
        }
        return Ok(found);
    }
    let Some((first, rest)) = args.command.split_first() else {
        return Err(Failure::usage_error("There is no command and no address.")
            .hint("csign servers add --help"));
    };
    let mut server = NewServer { env: parse_pairs(&args.env, '=')?, ..NewServer::default() };
    if first.starts_with("http://") || first.starts_with("https://") {
        server.url.clone_from(first);
        server.headers = parse_pairs(&args.header, ':')?;
        server.sign_in = args.sign_in;
        server.network = !args.no_network;
    } else {
        server.command.clone_from(first);
        server.args = rest.to_vec();
        server.network = !args.no_network;
    }
    let quoted = serde_json::json!({
        "command": server.command, "args": server.args, "env": server.env, "url": server.url,
        "headers": server.headers, "network": server.network,
    });
    // The host suggests the name and finds the program.
    let mut entry = quoted;
    if let Some(members) = entry.as_object_mut() {
        members.retain(|_, value| value.as_str() != Some(""));
    }
    let mut text = entry;
    if let Some(name) = &args.name {
        text = serde_json::json!({"mcpServers": {name.as_str(): text}});
    }
    let read = link.commands.servers_read(ServersReadParams { text: text.to_string() }).await?;
    let with_sign_in = |mut found: ReadServer| {
        found.server.sign_in = server.sign_in;
        found
    };
    Ok(read.servers.into_iter().map(with_sign_in).collect())
}

fn read_file(file: &Path) -> Result<String, Failure> {
    let read = if file == Path::new("-") {
        files::read_text_from(std::io::stdin(), files::BY_HAND)
    } else {
        files::read_text(file, files::BY_HAND)
    };
    read.map_err(|error| {
        Failure::usage_error(format!(
            "{} cannot be read: {error}.",
            escape_invisible(&file.display().to_string())
        ))
    })
}

fn parse_pairs(given: &[String], between: char) -> Result<BTreeMap<String, String>, Failure> {
    let pair = |text: &String| {
        let (name, value) = text.split_once(between)?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    let wrong = |text: &String| {
        Failure::usage_error(format!("{} is not NAME{between}VALUE.", escape_invisible(text)))
    };
    given.iter().map(|text| pair(text).ok_or_else(|| wrong(text))).collect()
}

/// Shows everything that a person confirms before a server runs.
fn show_server(out: Out, found: &ReadServer) {
    out.print_note(format!(
        "{} runs: {}",
        out.colour_text(Tone::Strong, &found.server.name),
        escape_invisible(&found.runs)
    ));
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

/// Asks of each value that looks random whether it is a key. Those that are none go to the files.
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
        out.print_question("It may do what you may do. Start it now? [y/N] ");
        if !is_yes(keys.read_line().await.as_deref()) {
            return Ok(false);
        }
    }
    let server = found.server;
    let mut tools = Vec::new();
    if !server.sign_in {
        let params = ServerTestParams { server: server.clone() };
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
    }
    let mut reads_may_run = args.reads_may_run;
    let mut is_asked = reads_may_run || !server.network;
    let added = loop {
        let accepted = accept_tools(out, args, &tools, keys.as_deref_mut()).await?;
        if let Some(keys) = keys.as_deref_mut().filter(|_| !is_asked) {
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
        };
        match (link.commands.server_add(params).await, keys.as_deref_mut()) {
            (Ok(added), _) => break added,
            (Err(error), Some(keys)) if error.has_reason(Reason::ListChanged) => {
                // Everything is shown again, and asked again.
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
            }
            (Err(error), _) => return Err(error.into()),
        }
    };
    if out.json {
        out.print_json(&added);
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
    Ok(true)
}

/// Returns the tools as they were shown, with the effects of those that only read.
async fn accept_tools(
    out: Out,
    args: &ServersAdd,
    tools: &[TestedTool],
    keys: Option<&mut Keys>,
) -> Result<BTreeMap<String, AcceptedTool>, Failure> {
    let effects = ask_read_only_tools(out, args, tools, keys).await?;
    let accept = |tool: &TestedTool| {
        let effect = effects.get(&tool.name).copied();
        (tool.name.clone(), AcceptedTool { hash: tool.hash.clone(), effect })
    };
    Ok(tools.iter().map(accept).collect())
}

/// Returns the effects of the tools that only read, as the person says.
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
    keys.discard_pending_input();
    out.print_question(
        "Which of them only read? The others ask before each call. Numbers, or nothing: ",
    );
    let line = keys.read_line().await.unwrap_or_default();
    let numbers = line.split([',', ' ']).filter_map(|word| word.trim().parse::<usize>().ok());
    let chosen = numbers.filter_map(|number| tools.get(number.checked_sub(1)?));
    Ok(chosen.map(|tool| (tool.name.clone(), Effect::ReadOnly)).collect())
}

fn is_yes(line: Option<&str>) -> bool {
    let answer = line.unwrap_or_default().trim().to_lowercase();
    matches!(answer.as_str(), "y" | "yes" | "j" | "ja")
}

fn is_no(line: Option<&str>) -> bool {
    let answer = line.unwrap_or_default().trim().to_lowercase();
    matches!(answer.as_str(), "n" | "no" | "nej")
}
