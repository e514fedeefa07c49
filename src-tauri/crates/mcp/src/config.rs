//! The configuration of a server, and the client's time limits.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use contract::{PackId, Text, manifest::ServerHttp, text};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use crate::{Access, FileChanges, Hides, ProgramError};

/// The configuration of one server.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    pub name: String,
    pub pack: PackId,
    pub reach: Reach,
    /// The time within which the server must be ready. None for the default time.
    pub start: Option<Duration>,
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub enum Reach {
    /// As a child process, over its standard input and output.
    Program(Program),
    /// At an address, over streamable HTTP.
    Http(Address),
}

/// The program of a server.
#[derive(Clone, Debug)]
pub struct Program {
    /// The result of `resolve_program`. A server without a program is shown as failed with the
    /// reason, and is never started.
    pub program: Result<PathBuf, ProgramError>,
    pub args: Vec<Word>,
    /// Variables of the process, in addition to those that every server gets (`PATH`, `HOME`,
    /// language, time zone). No other variable is inherited.
    pub env: BTreeMap<String, String>,
    /// Keys of the user that the program gets, which are read at each start.
    pub keys: Option<ProgramKeys>,
    pub cwd: PathBuf,
    /// Files and sockets that are hidden from the program, and folders that it cannot change.
    pub hidden: Arc<dyn Hides>,
    /// Changes of files that the program may make in addition to changes of their contents.
    pub changes: FileChanges,
    /// Whether the program may open sockets. If it may not, it is never started on a system that
    /// cannot enforce this.
    pub network: bool,
}

/// A text for a program: fixed, or with the values of keys inserted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Word {
    Plain(String),
    WithKeys(Vec<Part>),
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Part {
    Text(String),
    /// The value of the key with this name.
    Key(String),
}

impl Word {
    /// Returns the names of the keys in the word.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let parts = match self {
            Self::Plain(_) => &[],
            Self::WithKeys(parts) => parts.as_slice(),
        };
        parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Key(name) => Some(name.as_str()),
        })
    }

    /// Writes the word, and replaces each key with the result of `key`.
    pub fn write(&self, key: impl Fn(&str) -> String) -> String {
        match self {
            Self::Plain(text) => text.clone(),
            Self::WithKeys(parts) => parts
                .iter()
                .map(|part| match part {
                    Part::Text(text) => text.clone(),
                    Part::Key(name) => key(name),
                })
                .collect(),
        }
    }
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        Self::Plain(text.to_owned())
    }
}

impl From<String> for Word {
    fn from(text: String) -> Self {
        Self::Plain(text)
    }
}

/// The keys of a program.
#[derive(Clone)]
pub struct ProgramKeys {
    /// The name of the key for each variable that contains one. These variables take precedence
    /// over `env`.
    pub variables: BTreeMap<String, String>,
    pub access: Arc<dyn Access>,
}

impl fmt::Debug for ProgramKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramKeys").field("variables", &self.variables).finish_non_exhaustive()
    }
}

impl Program {
    /// Returns the variables whose keys have a value now. A variable whose key has no value is not
    /// passed.
    pub(crate) async fn read_variables(&self) -> Vec<(String, SecretString)> {
        let mut found = Vec::new();
        let Some(keys) = &self.keys else { return found };
        for (variable, name) in &keys.variables {
            if let Ok(value) = keys.access.credential(name).await {
                found.push((variable.clone(), value));
            }
        }
        found
    }

    /// Returns the values of all keys of the program, so that they can be removed from its output.
    pub(crate) async fn read_secrets(&self) -> Vec<SecretString> {
        let Some(keys) = &self.keys else { return Vec::new() };
        let names = keys.variables.values().map(String::as_str);
        let names: BTreeSet<&str> = names.chain(self.args.iter().flat_map(Word::keys)).collect();
        let mut found = Vec::new();
        for name in names {
            found.extend(keys.access.credential(name).await.ok());
        }
        found
    }

    /// Returns the arguments with the values of their keys inserted. Fails if a key has no value.
    pub(crate) async fn read_args(&self) -> Result<Vec<SecretString>, Text> {
        let mut values = BTreeMap::new();
        for name in self.args.iter().flat_map(Word::keys) {
            let missing = || {
                text!(
                    "The key {name} is not stored. Enter it in Settings under \u{201c}Keys and access of packs\u{201d}.",
                    name
                )
            };
            let access = self.keys.as_ref().map(|keys| &keys.access).ok_or_else(missing)?;
            let value = access.credential(name).await.map_err(|_| missing())?;
            values.insert(name, value);
        }
        let value = |name: &str| {
            values.get(name).map(|value| value.expose_secret().to_owned()).unwrap_or_default()
        };
        Ok(self.args.iter().map(|word| word.write(value).into()).collect())
    }
}

/// A server behind an address.
#[derive(Clone)]
pub struct Address {
    /// The manifest's entry, with the settings inserted into the address.
    pub http: ServerHttp,
    /// The whole address with the names of its keys, if the address has keys or a query. `http` has
    /// the address without its query.
    pub keyed_url: Option<Word>,
    /// Access to credentials, tokens and the permission for the private network, which are read
    /// each time they are needed.
    pub access: Arc<dyn Access>,
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Address").field("url", &self.http.url).finish_non_exhaustive()
    }
}

impl ServerConfig {
    /// Returns the server's name with its pack's id, because two packs may have servers of the same
    /// name.
    pub fn key(&self) -> String {
        format!("{}/{}", self.pack, self.name)
    }

    /// Returns why this configuration can never work, or None if it can work.
    pub(crate) fn find_fault(&self) -> Option<Text> {
        match &self.reach {
            Reach::Program(program) => program.program.as_ref().err().map(ProgramError::text),
            Reach::Http(_) => None,
        }
    }
}

/// The time limits of the client.
#[derive(Clone, Copy, Debug)]
pub struct Timings {
    /// The maximum time from spawning or connecting until the tools are listed.
    pub start: Duration,
    /// How long a program may leave the first request of the newest protocol unanswered before it
    /// is treated as an older server.
    pub probe: Duration,
    /// The wait after the first crash. The wait doubles with each further crash.
    pub backoff: Duration,
    pub longest_backoff: Duration,
    /// The maximum time that a server may take to end after its input is closed, and again after
    /// SIGTERM.
    pub grace: Duration,
}

impl Default for Timings {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(15),
            probe: Duration::from_millis(1_500),
            backoff: Duration::from_millis(250),
            longest_backoff: Duration::from_secs(30),
            grace: Duration::from_millis(800),
        }
    }
}

impl Timings {
    /// Returns the wait after this many failures in a row.
    pub(crate) fn wait_after(&self, failures: u32) -> Duration {
        let doubled = self
            .backoff
            .saturating_mul(1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX));
        doubled.min(self.longest_backoff)
    }

    /// Returns the time limits with the start time of one server.
    pub(crate) fn of(mut self, config: &ServerConfig) -> Self {
        self.start = config.start.unwrap_or(self.start);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_after_failures_doubles_up_to_the_maximum() {
        let timings = Timings::default();
        let millis: Vec<u128> =
            (1..=9).map(|failures| timings.wait_after(failures).as_millis()).collect();
        assert_eq!(millis, [250, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000]);
        assert_eq!(timings.wait_after(90), timings.longest_backoff);
    }
}
