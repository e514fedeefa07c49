//! One server in the settings of another client: converts the various member names to a server of
//! this app, and lists the members that are not used. Starts no server and reads no file.

use std::collections::{BTreeMap, BTreeSet};

use contract::{AskedValue, NewServer, Text, text};
use serde_json::{Map, Value};

use super::{
    command_line::{self, slug, split_words},
    placeholders::Filling,
};

/// The possible names of each member.
const COMMAND: &[&str] = &["command", "cmd"];
const ARGS: &[&str] = &["args", "arguments"];
const ENV: &[&str] = &["env", "envs", "environment"];
const URL: &[&str] = &["httpUrl", "serverUrl", "server_url", "baseUrl", "url", "uri"];
const HEADERS: &[&str] = &["headers", "http_headers"];
const CWD: &[&str] = &["cwd", "workingDirectory", "working_directory"];
const TRANSPORT: &[&str] = &["transport", "transportType", "type"];
/// Members that enable or disable the server, and members that can contain them.
const ON: &[&str] = &["enabled", "isActive", "is_active", "active"];
const OFF: &[&str] = &["disabled"];
const OPTIONS: &str = "options";
/// Members that only describe the server.
const DESCRIBES: &[&str] = &["$schema", "description", "name", "source", "title"];

/// A server in the settings of another client, with the reason if it cannot be used as it is.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) server: NewServer,
    pub(super) problem: Option<Text>,
    /// The server's placeholders whose values are missing.
    pub(super) asks: Vec<AskedValue>,
    /// Sentences about members that were not used or were changed.
    pub(super) notes: Vec<Text>,
}

/// Whether a value contains how a server is reached.
pub(super) fn is_entry(value: &Value) -> bool {
    value.as_object().is_some_and(is_entry_of)
}

/// Does the same as `is_entry`, for the members of an object.
pub(super) fn is_entry_of(members: &Map<String, Value>) -> bool {
    let says = |members: &Map<String, Value>| {
        COMMAND.iter().chain(URL).any(|member| members.contains_key(*member))
    };
    says(members) || nested_transport(members).is_some_and(says)
}

/// Returns the members of `transport`, if it is an object that contains how the server is reached.
fn nested_transport(members: &Map<String, Value>) -> Option<&Map<String, Value>> {
    members.get("transport")?.as_object()
}

/// Reads one server.
pub(super) fn read_entry(name: &str, entry: &Map<String, Value>, filling: Filling<'_>) -> Found {
    let mut flat = entry.clone();
    if let Some(transport) = nested_transport(entry) {
        flat.remove("transport");
        flat.extend(transport.clone());
    }
    let entry = &flat;
    let mut entry = Entry { members: entry, used: BTreeSet::new(), filling, problem: None };
    let mut server = entry.read_server();
    let transport = entry.text(TRANSPORT);
    server.name = if name.is_empty() {
        let place = if server.command.is_empty() { &server.url } else { &server.command };
        command_line::suggest_name(&server.args, place)
    } else {
        slug(name)
    };
    let unused = entry.find_unused(&server);
    let Entry { filling, problem, .. } = entry;
    let Filling { asks, mut notes, keys, problem: nested, .. } = filling;
    server.keys.extend(keys);
    let open = asks.iter().find(|asked| asked.default.is_none()).map(|asked| {
        let placeholder = format!("${{{}}}", asked.name);
        text!("Replace {placeholder} by its value.", placeholder)
    });
    let problem = nested.or(problem).or_else(|| find_problem(&server, &transport)).or(open);
    if !unused.is_empty() {
        let members = unused.join(", ");
        notes.push(text!("Not used of its settings: {members}.", members));
    }
    if !server.enabled {
        notes.push(
            "It is switched off in these settings, so it is added switched off and is not started."
                .into(),
        );
    }
    Found { server, problem, asks, notes }
}

fn find_problem(server: &NewServer, transport: &str) -> Option<Text> {
    if server.command.is_empty() && server.url.is_empty() {
        return Some("It has neither a command nor an address.".into());
    }
    let plain: String =
        transport.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    match plain.as_str() {
        "" | "stdio" | "local" | "http" | "streamablehttp" | "streamable" | "remote" => None,
        "sse" => Some("It uses the old transport SSE, which Countersign does not support. Use the server's address for streamable HTTP.".into()),
        _ => Some(text!("It uses the transport {transport}, which Countersign does not support.", transport)),
    }
}

/// An entry while it is being read.
struct Entry<'a> {
    members: &'a Map<String, Value>,
    used: BTreeSet<&'a str>,
    filling: Filling<'a>,
    /// The first member that cannot be read.
    problem: Option<Text>,
}

impl<'a> Entry<'a> {
    fn read_server(&mut self) -> NewServer {
        let command = self.take(COMMAND);
        // In older settings of Zed, `command` contains the program, its arguments and variables.
        let nested = command.and_then(|(_, value)| value.as_object());
        let (command, mut args) = match (command, nested) {
            (Some(_), Some(nested)) => {
                let path = nested.get("path").and_then(Value::as_str).unwrap_or_default();
                (self.filling.fill(path), self.list("args", nested.get("args")))
            }
            (Some((name, Value::Array(_))), None) => {
                let mut words = self.list(name, command.map(|(_, value)| value)).into_iter();
                (words.next().unwrap_or_default(), words.collect())
            }
            (Some((name, value)), None) => (self.one(name, value), Vec::new()),
            (None, _) => (String::new(), Vec::new()),
        };
        if let Some((name, value)) = self.take(ARGS) {
            args.extend(self.list(name, Some(value)));
        }
        let (command, args) = split_command(command, args);
        let mut env = self.texts("env", nested.and_then(|nested| nested.get("env")));
        if let Some((name, value)) = self.take(ENV) {
            env.extend(self.texts(name, Some(value)));
        }
        let url = self.take(URL).map(|(name, value)| self.one(name, value)).unwrap_or_default();
        let mut headers = BTreeMap::new();
        if let Some((name, value)) = self.take(HEADERS) {
            headers.extend(self.texts(name, Some(value)));
        }
        self.add_variables_of_codex(&mut env, &mut headers);
        let own = |member: &str| self.members.get(member);
        let network = own("network").and_then(Value::as_bool).unwrap_or(true);
        let not_keys = strings(own("not_keys"));
        let keys = strings(own("keys"));
        let cwd = self.take(CWD).map(|(name, value)| self.one(name, value)).unwrap_or_default();
        let enabled = self.flag(ON).unwrap_or(true) && !self.flag(OFF).unwrap_or(false);
        self.used.extend(["network", "not_keys", "keys"]);
        NewServer {
            command,
            args,
            cwd,
            env,
            url,
            headers,
            network,
            not_keys,
            keys,
            enabled,
            ..NewServer::default()
        }
    }

    /// Adds the variables that Codex passes from its own environment.
    fn add_variables_of_codex(
        &mut self,
        env: &mut BTreeMap<String, String>,
        headers: &mut BTreeMap<String, String>,
    ) {
        if let Some((_, value)) = self.take(&["env_vars"]) {
            for name in strings(Some(value)) {
                env.insert(name.clone(), self.filling.fill(&format!("${{{name}}}")));
            }
        }
        if let Some((_, value)) = self.take(&["bearer_token_env_var"]) {
            let name = value.as_str().unwrap_or_default();
            headers
                .insert("Authorization".into(), self.filling.fill(&format!("Bearer ${{{name}}}")));
        }
        if let Some((_, value)) = self.take(&["env_http_headers"]) {
            for (header, name) in value.as_object().into_iter().flatten() {
                let name = name.as_str().unwrap_or_default();
                headers.insert(header.clone(), self.filling.fill(&format!("${{{name}}}")));
            }
        }
    }

    /// Returns the first existing member of these, with its spelling.
    fn take(&mut self, spellings: &[&'static str]) -> Option<(&'static str, &'a Value)> {
        let found = |name: &&'static str| {
            Some((*name, self.members.get(*name).filter(|value| !value.is_null())?))
        };
        let (name, value) = spellings.iter().find_map(found)?;
        self.used.insert(name);
        Some((name, value))
    }

    fn text(&mut self, spellings: &[&'static str]) -> String {
        self.take(spellings).and_then(|(_, value)| value.as_str()).unwrap_or_default().to_owned()
    }

    fn flag(&mut self, spellings: &[&'static str]) -> Option<bool> {
        let (name, value) = self.take(spellings).or_else(|| self.option(spellings))?;
        let said = value.as_bool().or_else(|| value.as_str()?.to_lowercase().parse().ok());
        if said.is_none() {
            self.refuse(name);
        }
        said
    }

    /// Returns the first existing member of these from the options of the server.
    fn option(&mut self, spellings: &[&'static str]) -> Option<(&'static str, &'a Value)> {
        let options = self.members.get(OPTIONS)?.as_object()?;
        let found = spellings.iter().find_map(|name| Some((*name, options.get(*name)?)))?;
        if options.len() == 1 {
            self.used.insert(OPTIONS);
        }
        Some(found)
    }

    /// Returns a text, number or boolean as a text, with its placeholders filled.
    fn one(&mut self, member: &str, value: &Value) -> String {
        match plain_text(value) {
            Some(text) => self.filling.fill(&text),
            None => {
                self.refuse(member);
                String::new()
            }
        }
    }

    fn list(&mut self, member: &str, value: Option<&Value>) -> Vec<String> {
        match value {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) => items.iter().map(|item| self.one(member, item)).collect(),
            Some(Value::String(line)) if split_words(line).is_ok() => {
                let words = split_words(line).unwrap_or_default();
                words.iter().map(|word| self.filling.fill(word)).collect()
            }
            Some(_) => {
                self.refuse(member);
                Vec::new()
            }
        }
    }

    fn texts(&mut self, member: &str, value: Option<&Value>) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let members = match value {
            None | Some(Value::Null) => return found,
            Some(Value::Object(members)) => members.clone(),
            Some(Value::Array(items)) if items.iter().all(|item| pair(item).is_some()) => {
                items.iter().filter_map(pair).collect()
            }
            Some(_) => {
                self.refuse(member);
                return found;
            }
        };
        for (name, value) in &members {
            match plain_text(value) {
                Some(text) => {
                    found.insert(name.clone(), self.filling.fill_value(&text));
                }
                None if value.is_null() => self.filling.notes.push(text!(
                    "{name} has no value in these settings, so it is left out.",
                    name = name.as_str()
                )),
                None => self.refuse(name),
            }
        }
        found
    }

    fn refuse(&mut self, member: &str) {
        self.problem.get_or_insert_with(|| {
            text!("{member} has a form that is not understood. Write it as text.", member)
        });
    }

    /// Returns the members that have no effect here.
    fn find_unused(&self, server: &NewServer) -> Vec<&'a str> {
        // An address uses no program, and a program uses no headers.
        let idle: &[&[&str]] = match (server.command.is_empty(), server.url.is_empty()) {
            (true, false) => &[ARGS, ENV, CWD],
            (false, true) => &[HEADERS],
            _ => &[],
        };
        let is_idle = |name: &str, value: &Value| {
            idle.iter().any(|spellings| spellings.contains(&name)) && !is_empty(value)
        };
        let unused = self.members.iter().filter(|(name, value)| {
            let name = name.as_str();
            let is_used = self.used.contains(name) && !is_idle(name, value);
            !is_used && !value.is_null() && !DESCRIBES.contains(&name)
        });
        unused.map(|(name, _)| name.as_str()).collect()
    }
}

/// Returns the name and value of an item of a list of variables or headers.
fn pair(item: &Value) -> Option<(String, Value)> {
    if let Some(text) = item.as_str() {
        let (name, value) = text.split_once('=')?;
        return Some((name.to_owned(), value.into()));
    }
    Some((item.get("name")?.as_str()?.to_owned(), item.get("value")?.clone()))
}

fn plain_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Splits a whole command line that is written in place of the program. Removes a Windows shell
/// before the program.
fn split_command(command: String, mut args: Vec<String>) -> (String, Vec<String>) {
    let is_shell = matches!(command.to_ascii_lowercase().as_str(), "cmd" | "cmd.exe");
    if is_shell && args.len() > 1 && args[0].eq_ignore_ascii_case("/c") {
        args.remove(0);
        return (args.remove(0), args);
    }
    let is_line = args.is_empty() && command.contains(' ') && !command.starts_with(['/', '~']);
    let words = is_line.then(|| split_words(&command).ok()).flatten();
    match words.map(Vec::into_iter) {
        Some(mut words) => (words.next().unwrap_or_default(), words.collect()),
        None => (command, args),
    }
}
