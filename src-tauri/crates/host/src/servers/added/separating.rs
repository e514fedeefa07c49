//! Checks the server that a person enters, and separates its keys from the other values. Knows
//! neither the keyring nor files.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use contract::{AgentError, NewServer, UnsureValue, address, text};
use mcp::Word;

use super::{
    command_line::find_program,
    keys::{Found, KeyStore, KeyValues, find_keys, is_variable, split_names},
    storage::{StoredServer, is_authorization, is_name, no_address},
};
use crate::keys::is_credential_name;

/// How many characters of a value are shown to a person who must say whether the value is a key.
const BEGINS: usize = 4;

/// A server without its keys, and the keys.
#[derive(Debug)]
pub(crate) struct Separated {
    pub(crate) stored: StoredServer,
    pub(crate) values: KeyValues,
    /// Values that look random, which are stored as keys unless the user says otherwise.
    pub(crate) unsure: Vec<UnsureValue>,
}

/// Checks a server and separates its keys from the other values.
pub(crate) fn separate_keys(server: &NewServer) -> Result<Separated, AgentError> {
    if !is_name(&server.name) {
        return Err(AgentError::invalid(text!(
            "{name} cannot be the name of a server.",
            name = server.name.as_str()
        ))
        .hint("Use lower-case letters, digits and hyphens, at most 40 characters."));
    }
    let stored = StoredServer {
        name: server.name.clone(),
        program: PathBuf::new(),
        args: Vec::new(),
        cwd: None,
        env: BTreeMap::new(),
        keys: BTreeMap::new(),
        url: no_address(),
        sign_in: server.sign_in,
        network: server.network,
        reads_may_run: false,
        call_s: None,
        enabled: server.enabled,
    };
    let mut separating = Separating {
        stored,
        keys: KeyStore::default(),
        unsure: Vec::new(),
        not_keys: &server.not_keys,
        said_keys: &server.keys,
    };
    match (server.command.is_empty(), server.url.trim().is_empty()) {
        (false, true) => {
            let cwd = check_folder(&server.cwd)?;
            separating.stored.program = find_program(&command_in(cwd.as_deref(), &server.command))?;
            separating.stored.cwd = cwd;
            for (name, value) in &server.env {
                separating.add_variable(name, value)?;
            }
            separating.add_args(&server.args);
        }
        (true, false) if !server.network => {
            return Err(AgentError::invalid("An address is reached over the network.")
                .hint("Add it with network, or add a program."));
        }
        (true, false) => {
            separating.add_address(server.url.trim())?;
            for (header, value) in &server.headers {
                separating.add_header(header, value);
            }
        }
        _ => {
            return Err(AgentError::invalid("A server needs either a command or an address."));
        }
    }
    let Separating { stored, keys, unsure, .. } = separating;
    Ok(Separated { stored, values: keys.0, unsure })
}

/// Returns the folder in which a program will run.
fn check_folder(cwd: &str) -> Result<Option<PathBuf>, AgentError> {
    if cwd.is_empty() {
        return Ok(None);
    }
    let below_home = cwd.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let home = std::env::home_dir().unwrap_or_default();
    let folder = below_home
        .map_or_else(|| PathBuf::from(cwd), |rest| home.join(rest.trim_start_matches('/')));
    if folder.is_absolute() && folder.is_dir() {
        return Ok(Some(folder));
    }
    Err(AgentError::invalid(text!(
        "The folder {folder} does not exist, so the program cannot run there.",
        folder = cwd
    ))
    .hint("Write the whole path of a folder that exists."))
}

/// Returns the path of a command that is relative to the folder in which it runs.
fn command_in(cwd: Option<&Path>, command: &str) -> String {
    let is_below = command.contains('/') && !command.starts_with(['/', '~']);
    match cwd.filter(|_| is_below) {
        Some(cwd) => cwd.join(command).components().collect::<PathBuf>().display().to_string(),
        None => command.to_owned(),
    }
}

pub(super) struct Separating<'a> {
    pub(super) stored: StoredServer,
    pub(super) keys: KeyStore,
    pub(super) unsure: Vec<UnsureValue>,
    pub(super) not_keys: &'a [String],
    pub(super) said_keys: &'a [String],
}

impl Separating<'_> {
    /// Returns the parts of a value that are stored as keys.
    fn find_parts(
        &mut self,
        place: &str,
        names: &[&str],
        value: &str,
    ) -> Vec<std::ops::Range<usize>> {
        match find_keys(names, value).with_said(self.said_keys, value) {
            Found::Nothing => Vec::new(),
            Found::Keys(parts) => parts,
            Found::Unsure(parts) => {
                self.unsure.push(UnsureValue {
                    place: place.to_owned(),
                    of: names.last().map(|name| (*name).to_owned()).unwrap_or_default(),
                    begins: parts
                        .first()
                        .map(|part| value[part.clone()].chars().take(BEGINS).collect())
                        .unwrap_or_default(),
                    characters: u32::try_from(value.chars().count()).unwrap_or(u32::MAX),
                });
                if self.not_keys.iter().any(|said| said == place) { Vec::new() } else { parts }
            }
        }
    }

    /// Adds arguments. The name of a value is the option before it, or precedes the value in the
    /// same argument.
    fn add_args(&mut self, args: &[String]) {
        let mut option = String::new();
        for (at, arg) in args.iter().enumerate() {
            option = self.add_arg(at, arg, &option);
        }
    }

    /// Adds an argument. Returns the option that the next argument may belong to.
    pub(super) fn add_arg(&mut self, at: usize, arg: &str, option: &str) -> String {
        let (mut names, start) = split_names(arg);
        let is_option = names.is_empty() && arg.starts_with('-');
        if !is_option && !option.is_empty() {
            names.insert(0, option);
        }
        let value = &arg[start..];
        let parts = self.find_parts(&format!("args/{at}"), &names, value);
        let word = if parts.is_empty() {
            Word::from(arg)
        } else {
            let shift = |part: std::ops::Range<usize>| part.start + start..part.end + start;
            let parts: Vec<_> = parts.into_iter().map(shift).collect();
            self.keys.take(names.last().unwrap_or(&""), arg, &parts)
        };
        self.stored.args.push(word);
        if is_option { arg.to_owned() } else { String::new() }
    }

    pub(super) fn add_variable(&mut self, name: &str, value: &str) -> Result<(), AgentError> {
        if !is_variable(name) {
            return Err(AgentError::invalid(text!(
                "{name} cannot be the name of a variable.",
                name
            )));
        }
        // A variable with this name is always a key, whatever its value is.
        let parts = self.find_parts(&format!("env/{name}"), &[name], value);
        if is_credential_name(name) || !parts.is_empty() {
            let key = self.keys.add(name, value);
            self.stored.keys.insert(name.to_owned(), key);
        } else {
            self.stored.env.insert(name.to_owned(), value.to_owned());
        }
        Ok(())
    }

    fn add_header(&mut self, header: &str, value: &str) {
        let token = value.strip_prefix("Bearer ").filter(|_| is_authorization(header));
        let key = self.keys.add(header, token.unwrap_or(value).trim());
        self.stored.keys.insert(header.to_owned(), key);
    }

    pub(super) fn add_address(&mut self, url: &str) -> Result<(), AgentError> {
        let parsed = address::Origin::parse(url);
        if parsed.is_none() {
            // The message does not contain the address, which may contain a password.
            let hint = if url.contains('@') {
                "Take the name and the password out of the address, and give them as a header."
            } else {
                "Write it like https://mcp.example.com/mcp."
            };
            return Err(AgentError::invalid("This is not a web address.").hint(hint));
        }
        let parts = self.find_parts("url", &[], url);
        self.stored.url = if parts.is_empty() {
            Word::from(url)
        } else {
            // The values are stored unescaped, and are escaped for the address when they are used.
            let mut word = self.keys.take("url", url, &parts);
            self.decode_keys(&mut word);
            word
        };
        Ok(())
    }

    fn decode_keys(&mut self, word: &mut Word) {
        for key in word.keys() {
            if let Some(value) = self.keys.0.get_mut(key) {
                let plain = percent_encoding::percent_decode_str(value).decode_utf8();
                if let Ok(plain) = plain.map(std::borrow::Cow::into_owned) {
                    *value = plain;
                }
            }
        }
    }
}
