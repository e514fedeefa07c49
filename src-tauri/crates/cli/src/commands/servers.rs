//! `csign servers`: tests, adds, lists and removes MCP servers of the user. Shows what would run
//! before it runs, and asks which tools only read. Must not know how a server is reached.

use std::collections::BTreeMap;
use std::path::Path;

use contract::{
    Effect, Empty, NewServer, OwnServerParams, ReadServer, ServerAddParams, ServerEnableParams,
    ServerParams, ServerTestParams, ServerTestResponse, ServersReadParams, TestedTool,
};

use crate::args::{Servers, ServersAdd};
use crate::exit::{Exit, Failure};
use crate::keys::Keys;
use crate::link::Link;
use crate::out::{Out, Tone, count};
use crate::visible::{exact, prose};

pub(crate) async fn run(
    link: &mut Link,
    out: Out,
    args: Servers,
    person: bool,
) -> Result<Exit, Failure> {
    match args {
        Servers::List => list(link, out).await,
        Servers::Add(args) => add(link, out, args, person).await,
        Servers::Test { name } => test(link, out, name).await,
        Servers::Enable { name } => enable(link, out, name, true).await,
        Servers::Disable { name } => enable(link, out, name, false).await,
        Servers::Log { name } => log(link, out, name).await,
        Servers::Remove { name } => {
            link.commands.server_remove(OwnServerParams { name: name.clone() }).await?;
            done(out, &format!("{} is removed, with its keys.", exact(&name)))
        }
    }
}

fn done(out: Out, line: &str) -> Result<Exit, Failure> {
    if out.json {
        out.document(&serde_json::json!({}));
    } else {
        out.line(line);
    }
    Ok(Exit::Done)
}

async fn list(link: &Link, out: Out) -> Result<Exit, Failure> {
    let servers = link.commands.server_list(Empty {}).await?.servers;
    if out.json {
        out.document(&servers);
        return Ok(Exit::Done);
    }
    if servers.is_empty() {
        out.line("No servers were added. `csign servers add --help` shows how to add one.");
    }
    let width = servers.iter().map(|server| server.name.len()).max().unwrap_or_default();
    for server in &servers {
        let state = if server.enabled { count(server.tools, "tool") } else { "off".into() };
        out.line(format!("{:width$}  {state:8}  {}", server.name, exact(&server.runs)));
    }
    Ok(Exit::Done)
}

async fn enable(link: &Link, out: Out, name: String, enabled: bool) -> Result<Exit, Failure> {
    let word = if enabled { "on" } else { "off" };
    let line = format!("{} is switched {word}.", exact(&name));
    link.commands.server_enable(ServerEnableParams { name, enabled }).await?;
    done(out, &line)
}

async fn log(link: &Link, out: Out, name: String) -> Result<Exit, Failure> {
    let params = ServerParams { pack: format!("own-{name}").as_str().into(), server: name };
    let lines = link.commands.server_log(params).await?.lines;
    if out.json {
        out.document(&lines);
        return Ok(Exit::Done);
    }
    if lines.is_empty() {
        out.line("It has written no error output since it was last started here.");
    }
    lines.iter().for_each(|line| out.line(exact(line)));
    Ok(Exit::Done)
}

async fn test(link: &Link, out: Out, name: String) -> Result<Exit, Failure> {
    let server = NewServer { name, ..NewServer::default() };
    let tested = link.commands.server_test(ServerTestParams { server }).await?;
    if out.json {
        out.document(&tested);
    } else {
        show_test(out, &tested);
    }
    Ok(if tested.ok { Exit::Done } else { Exit::Failed })
}

fn show_test(out: Out, tested: &ServerTestResponse) {
    out.line(format!("Runs {}", exact(&tested.runs)));
    if let Some(message) = &tested.message {
        out.line(out.tone(Tone::Bad, &prose(message)));
        tested.log.iter().for_each(|line| out.line(format!("  {}", exact(line))));
    }
    for (number, tool) in tested.tools.iter().enumerate() {
        let says = match tool.says {
            Some(Effect::ReadOnly) => "says it reads",
            Some(Effect::Write) => "says it writes",
            Some(Effect::Destructive) => "says it destroys",
            None => "says nothing",
        };
        let about = tool.description.lines().next().unwrap_or_default();
        out.line(format!("{:3}  {}  ({says})  {}", number + 1, exact(&tool.name), exact(about)));
    }
}

async fn add(link: &Link, out: Out, args: ServersAdd, person: bool) -> Result<Exit, Failure> {
    let mut keys = if person { Keys::start().ok() } else { None };
    let mut exit = Exit::Done;
    for server in read(link, &args).await? {
        let name = server.server.name.clone();
        if let Some(problem) = &server.problem {
            out.note(format!("{}: {}", exact(&name), prose(problem)));
            exit = Exit::Failed;
        } else if !add_one(link, out, &args, server.server, &server.runs, keys.as_mut()).await? {
            exit = Exit::Failed;
        }
    }
    Ok(exit)
}

/// Returns the servers of the command line or of the file, with the variables and headers given.
async fn read(link: &Link, args: &ServersAdd) -> Result<Vec<ReadServer>, Failure> {
    if let Some(file) = &args.from {
        let params = ServersReadParams { text: read_file(file)? };
        let mut found = link.commands.servers_read(params).await?.servers;
        if let Some(name) = &args.name {
            found.retain(|server| server.server.name == *name);
        }
        return Ok(found);
    }
    let Some((first, rest)) = args.command.split_first() else {
        return Err(
            Failure::usage("There is no command and no address.").hint("csign servers add --help")
        );
    };
    let mut server = NewServer { env: pairs(&args.env, '=')?, ..NewServer::default() };
    if first.starts_with("http://") || first.starts_with("https://") {
        server.url.clone_from(first);
        server.headers = pairs(&args.header, ':')?;
        server.sign_in = args.sign_in;
    } else {
        server.command.clone_from(first);
        server.args = rest.to_vec();
    }
    let quoted = serde_json::json!({
        "command": server.command, "args": server.args, "env": server.env, "url": server.url,
        "headers": server.headers,
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
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(file)
    };
    read.map_err(|error| {
        Failure::usage(format!("{} cannot be read: {error}.", exact(&file.display().to_string())))
    })
}

fn pairs(given: &[String], between: char) -> Result<BTreeMap<String, String>, Failure> {
    let pair = |text: &String| {
        let (name, value) = text.split_once(between)?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    let wrong =
        |text: &String| Failure::usage(format!("{} is not NAME{between}VALUE.", exact(text)));
    given.iter().map(|text| pair(text).ok_or_else(|| wrong(text))).collect()
}

/// Shows, tests and adds one server. Returns false if it was not added.
async fn add_one(
    link: &Link,
    out: Out,
    args: &ServersAdd,
    server: NewServer,
    runs: &str,
    mut keys: Option<&mut Keys>,
) -> Result<bool, Failure> {
    out.note(format!("{} runs: {}", out.tone(Tone::Strong, &server.name), exact(runs)));
    if let Some(keys) = keys.as_deref_mut().filter(|_| !args.yes) {
        keys.forget();
        out.question("It may do what you may do. Start it now? [y/N] ");
        if !is_yes(keys.line().await.as_deref()) {
            return Ok(false);
        }
    }
    let mut effects = BTreeMap::new();
    if !server.sign_in {
        let params = ServerTestParams { server: server.clone() };
        let tested = link.commands.server_test(params).await?;
        if !out.json {
            show_test(out, &tested);
        }
        if !tested.ok {
            if out.json {
                out.document(&tested);
            }
            return Ok(false);
        }
        effects = reading(out, args, &tested.tools, keys).await?;
    }
    let params = ServerAddParams { server, effects, this_run_only: false };
    let added = link.commands.server_add(params).await?;
    if out.json {
        out.document(&added);
    } else {
        let tools = count(added.tools, "tool");
        out.line(format!(
            "{} is added with {tools}. Tools that change something ask first.",
            added.name
        ));
    }
    Ok(true)
}

/// Returns the effects of the tools that only read, as the person says.
async fn reading(
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
        let unknown =
            |name: &String| Failure::usage(format!("The server has no tool {}.", exact(name)));
        return args.reads.iter().map(|name| named(name).ok_or_else(|| unknown(name))).collect();
    }
    let Some(keys) = keys.filter(|_| !args.yes && !tools.is_empty()) else {
        return Ok(BTreeMap::new());
    };
    keys.forget();
    out.question("Which of them only read, and may run without asking? Numbers, or nothing: ");
    let line = keys.line().await.unwrap_or_default();
    let numbers = line.split([',', ' ']).filter_map(|word| word.trim().parse::<usize>().ok());
    let chosen = numbers.filter_map(|number| tools.get(number.checked_sub(1)?));
    Ok(chosen.map(|tool| (tool.name.clone(), Effect::ReadOnly)).collect())
}

fn is_yes(line: Option<&str>) -> bool {
    let answer = line.unwrap_or_default().trim().to_lowercase();
    matches!(answer.as_str(), "y" | "yes" | "j" | "ja")
}
