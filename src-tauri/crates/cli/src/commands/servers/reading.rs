//! Reads the servers of a command line, or of another client's settings, including the values of
//! their placeholders. Must not know how a server is added.

use std::{collections::BTreeMap, path::Path};

use contract::{AskedValue, NewServer, ReadServer, ServersReadParams};

use crate::args::ServersAdd;
use crate::exit::Failure;
use crate::keys::Keys;
use crate::link::Link;
use crate::out::Out;
use crate::visible::{escape_invisible, escape_prose};

/// Returns the servers of the command line or of the file, with the variables and headers given.
pub(super) async fn read_servers(
    link: &Link,
    out: Out,
    args: &ServersAdd,
    keys: Option<&mut Keys>,
) -> Result<Vec<ReadServer>, Failure> {
    if let Some(file) = &args.from {
        let mut found = read_settings(link, out, args, read_file(file)?, keys).await?;
        if args.no_network {
            found.iter_mut().for_each(|found| found.server.network = false);
        }
        return Ok(found);
    }
    let Some((first, rest)) = args.command.split_first() else {
        return Err(Failure::usage_error("Neither a command nor an address was entered.")
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
    // The host chooses the name and finds the program.
    let mut entry = quoted;
    if let Some(members) = entry.as_object_mut() {
        members.retain(|_, value| value.as_str() != Some(""));
    }
    let mut text = entry;
    if let Some(name) = &args.name {
        text = serde_json::json!({"mcpServers": {name.as_str(): text}});
    }
    let mut read = read_settings(link, out, args, text.to_string(), keys).await?;
    read.iter_mut().for_each(|found| found.server.sign_in = server.sign_in);
    Ok(read)
}

/// Reads servers from another client's settings, with the values of their placeholders: from
/// `--env`, from the environment, or from the user.
async fn read_settings(
    link: &Link,
    out: Out,
    args: &ServersAdd,
    text: String,
    keys: Option<&mut Keys>,
) -> Result<Vec<ReadServer>, Failure> {
    let read = async |values: BTreeMap<String, String>| {
        let params = ServersReadParams { text: text.clone(), values };
        let mut found = link.commands.servers_read(params).await?.servers;
        found.retain(|found| {
            args.from.is_none() || args.name.as_ref().is_none_or(|name| found.server.name == *name)
        });
        Ok::<_, Failure>(found)
    };
    let found = read(BTreeMap::new()).await?;
    let asks: Vec<&AskedValue> = found.iter().flat_map(|found| &found.asks).collect();
    let given = if args.from.is_some() { parse_pairs(&args.env, '=')? } else { BTreeMap::new() };
    if let Some(name) = given.keys().find(|name| asks.iter().all(|asked| asked.name != **name)) {
        return Err(Failure::usage_error(format!(
            "No server of the file has a placeholder ${{{}}}.",
            escape_invisible(name)
        ))
        .hint("Write the variable into the file, or add the server by its command."));
    }
    if asks.is_empty() {
        return Ok(found);
    }
    let values = find_values(out, &asks, given, keys.filter(|_| !args.yes)).await;
    read(values).await
}

/// Returns the values of placeholders. Prints which values come from the environment.
async fn find_values(
    out: Out,
    asks: &[&AskedValue],
    mut values: BTreeMap<String, String>,
    mut keys: Option<&mut Keys>,
) -> BTreeMap<String, String> {
    for asked in asks {
        if values.contains_key(&asked.name) {
            continue;
        }
        let shown = escape_invisible(&asked.name);
        if let Ok(value) = std::env::var(&asked.name) {
            out.print_note(format!("${{{shown}}} is taken from the environment."));
            values.insert(asked.name.clone(), value);
        } else if let Some(keys) = keys.as_deref_mut() {
            let about = match asked.about.as_str() {
                "" => String::new(),
                about => format!(" ({})", escape_prose(about)),
            };
            let or_else = match &asked.default {
                Some(_) if asked.is_key => ", or nothing for its default".to_owned(),
                Some(default) => format!(", or nothing for {}", escape_invisible(default)),
                None => String::new(),
            };
            keys.discard_pending_input();
            out.print_question(&format!("Value for ${{{shown}}}{about}{or_else}: "));
            let line = keys.read_line().await.unwrap_or_default();
            if !line.is_empty() {
                values.insert(asked.name.clone(), line);
            }
        }
    }
    values
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
