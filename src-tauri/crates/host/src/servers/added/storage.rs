//! The servers that the user added, in their stored form: for each server a folder with
//! `server.json`, which contains the user's entries without keys. The server cannot read or change
//! this file. The manifest of the server's pack is made from the file, in memory. Knows neither the
//! keyring nor processes.

use std::{
    collections::BTreeMap,
    fs, io,
    net::IpAddr,
    path::{Path, PathBuf},
};

use contract::{AgentError, PackId, Reach, address, text};
use mcp::Word;
use packs::LoadedPack;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::command_line::{show_command, slug};
use crate::profile::{create_private_folder, write_atomically};

const SERVER_FILE: &str = "server.json";
/// Files that earlier versions wrote beside `server.json`, where the server could change them.
const GENERATED: [&str; 2] = ["pack.json", "start"];
/// The maximum time in milliseconds until a server must be ready. The first start may download its
/// packages.
const START_MS: u64 = 120_000;
/// The default for the maximum number of seconds of one call without progress.
const CALL_S: u32 = 300;

/// A server in its stored form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredServer {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) program: PathBuf,
    /// The arguments, with the names of keys in place of their values.
    #[serde(default)]
    pub(crate) args: Vec<Word>,
    /// The folder in which the server's program runs, if it is not the server's own folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<PathBuf>,
    /// Variables whose values are not keys.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// The other variables or headers, each with the name of its key.
    #[serde(default)]
    pub(crate) keys: BTreeMap<String, String>,
    /// The address, with the names of keys in place of their values.
    #[serde(default = "no_address")]
    pub(crate) url: Word,
    #[serde(default)]
    pub(crate) sign_in: bool,
    /// Whether the server's program may use the network.
    #[serde(default = "yes")]
    pub(crate) network: bool,
    /// Whether the server's reads may run without asking, as set by the user.
    #[serde(default)]
    pub(crate) reads_may_run: bool,
    /// The maximum number of seconds of one call, if the user set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call_s: Option<u32>,
    pub(crate) enabled: bool,
}

pub(super) fn no_address() -> Word {
    Word::from("")
}

fn yes() -> bool {
    true
}

pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name == slug(name)
}

pub(super) fn is_authorization(header: &str) -> bool {
    header.eq_ignore_ascii_case("authorization")
}

/// Returns the text that is shown in place of a key.
fn name_key(key: &str) -> String {
    format!("secret:{key}")
}

impl StoredServer {
    pub(crate) fn pack_id(&self) -> PackId {
        PackId::of_added_server(&self.name)
    }

    pub(crate) fn is_program(&self) -> bool {
        !self.program.as_os_str().is_empty()
    }

    /// Returns the address with the names of keys in place of their values.
    pub(crate) fn shown_url(&self) -> String {
        self.url.write(name_key)
    }

    /// Returns the address without its query, because a manifest cannot contain one. The query is
    /// added at each connection.
    fn base_url(&self) -> String {
        let shown = self.shown_url();
        shown.split(['?', '#']).next().unwrap_or_default().to_owned()
    }

    /// Whether the address has a query or a key.
    pub(crate) fn has_query_or_key(&self) -> bool {
        self.shown_url() != self.base_url() || self.url.keys().next().is_some()
    }

    /// Returns the whole command, or the address. Keys are named but not shown.
    pub(crate) fn command_or_url(&self) -> String {
        if !self.is_program() {
            return self.shown_url();
        }
        let args: Vec<String> = self.args.iter().map(|arg| arg.write(name_key)).collect();
        show_command(&self.program, &args)
    }

    /// Returns the names of the server's keys.
    pub(crate) fn key_names(&self) -> Vec<String> {
        let words = self.args.iter().chain([&self.url]).flat_map(Word::keys);
        let mut names: Vec<String> =
            self.keys.values().map(String::as_str).chain(words).map(str::to_owned).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Returns the maximum number of seconds of one call without progress.
    pub(crate) fn call_s(&self) -> u32 {
        self.call_s.unwrap_or(CALL_S)
    }

    pub(crate) fn signs_in(&self) -> bool {
        self.sign_in
    }

    /// Returns the destinations that the server's tools can send data to, as set by the user who
    /// added it.
    pub(crate) fn reach(&self) -> Reach {
        match (self.network || !self.is_program(), self.reads_may_run) {
            (false, _) => Reach::Here,
            (true, true) => Reach::Configured,
            (true, false) => Reach::Unallowed,
        }
    }

    /// Whether the server's address is on this computer or in the local network, or is not
    /// encrypted.
    pub(crate) fn is_private(&self) -> bool {
        let url = self.shown_url();
        let Some(origin) = address::Origin::parse(&url) else { return false };
        let host = origin.host_and_port();
        let name = host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name);
        let plain = name.trim_matches(['[', ']']);
        !url.starts_with("https://")
            || address::is_localhost(plain)
            || plain.parse::<IpAddr>().is_ok_and(address::is_private)
    }

    /// Writes the server's file.
    pub(crate) fn save_server(&self, folder: &Path) -> Result<(), AgentError> {
        self.write_file(folder).map_err(|error| {
            AgentError::internal(
                "settings",
                text!(
                    "The server could not be saved in {path}: {error}.",
                    path = folder.display(),
                    error = error.to_string()
                ),
            )
            .hint("Free some space or make the folder writable, then try again.")
        })
    }

    fn write_file(&self, folder: &Path) -> io::Result<()> {
        create_private_folder(folder)?;
        let text = serde_json::to_string_pretty(&self.file()).map_err(io::Error::from)?;
        write_atomically(&folder.join(SERVER_FILE), &text)
    }

    /// Makes the server's pack in memory. The server's whole file is pinned, shown and recorded in
    /// place of the manifest, because the manifest does not contain all settings that matter.
    pub(crate) fn make_pack(&self, folder: &Path) -> LoadedPack {
        let mut loaded = packs::check_manifest(&self.manifest(), folder);
        loaded.manifest = self.file();
        loaded.view.manifest_hash = Some(packs::hash_of(&loaded.manifest));
        loaded
    }

    /// Returns the content of the server's file.
    pub(crate) fn file(&self) -> Value {
        json!(self)
    }

    fn manifest(&self) -> Value {
        let mut server = json!({
            "name": self.name, "offer_all": true,
            "timeouts": {"start_ms": START_MS, "call_ms": u64::from(self.call_s()) * 1_000},
        });
        if self.is_program() {
            server["command"] = json!(self.program.display().to_string());
            server["data_dir"] = json!(true);
            server["args"] =
                self.args.iter().map(|arg| Value::from(arg.write(name_key))).collect::<Value>();
            server["env"] = json!(self.key_names());
        } else {
            server["http"] = self.http_entry();
        }
        json!({
            "manifest_version": 1, "id": self.pack_id(), "version": "1.0.0", "title": self.name,
            "description": "An MCP server that you added.",
            "servers": [server], "schemas": {}, "tools": {"tools": []}
        })
    }

    fn http_entry(&self) -> Value {
        let mut http = json!({"url": self.base_url(), "private_network": self.is_private()});
        if self.sign_in {
            http["auth"] = json!({"kind": "oauth2"});
            http["oauth"] = json!({"grant": "authorization_code"});
        }
        let mut headers = self.keys.clone();
        if let Some(name) = headers.keys().find(|header| is_authorization(header)).cloned()
            && let Some(key) = headers.remove(&name)
        {
            http["auth"] = json!({"kind": "bearer_token", "env_var": key});
        }
        if !headers.is_empty() {
            http["headers"] = json!(headers);
        }
        http
    }
}

/// Reads all stored servers, sorted by name. Skips a file that cannot be read.
pub(crate) fn read_all(folder: &Path) -> Vec<StoredServer> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<StoredServer> =
        entries.filter_map(|entry| read_one(&entry.path())).collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Reads the server of a folder. The folder's name is the server's name; a file with another name
/// is not used, because it would get the keys of another server.
pub(crate) fn read_one(folder: &Path) -> Option<StoredServer> {
    let file = folder.join(SERVER_FILE);
    let stored: StoredServer = match files::read_text(&file, files::OWN) {
        Ok(text) => serde_json::from_str(&text)
            .map_err(|error| files::fault::without_values(&error.to_string())),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return None;
        }
        Err(error) => Err(error.to_string()),
    }
    .inspect_err(
        |error| tracing::warn!(error, file = %file.display(), "an added server cannot be read"),
    )
    .ok()?;
    let is_its_name = is_name(&stored.name)
        && folder.file_name().is_some_and(|name| name.to_string_lossy() == stored.name);
    if !is_its_name {
        tracing::warn!(folder = %folder.display(), "an added server has another name than its folder, and is not used");
    }
    is_its_name.then_some(stored)
}

/// Deletes the files that earlier versions wrote beside the file of each server.
pub(crate) fn delete_generated_files(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        for name in GENERATED {
            let path = entry.path().join(name);
            if let Err(error) = fs::remove_file(&path)
                && error.kind() != io::ErrorKind::NotFound
            {
                tracing::warn!(%error, file = %path.display(), "a file of an earlier version could not be deleted");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use contract::NewServer;

    use super::{
        super::separating::{Separated, separate_keys},
        *,
    };

    fn program(env: &[(&str, &str)], args: &[&str]) -> NewServer {
        NewServer {
            name: "files".into(),
            command: "/bin/sh".into(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            env: env
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            ..NewServer::default()
        }
    }

    /// Saves a server. Returns the content of its file.
    fn saved(stored: &StoredServer) -> String {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join(&stored.name);
        stored.save_server(&folder).unwrap();
        assert_eq!(read_one(&folder).as_ref(), Some(stored));
        let loaded = stored.make_pack(&folder);
        assert!(loaded.pack.is_some(), "{:?}", loaded.view.faults);
        format!("{}{}", fs::read_to_string(folder.join("server.json")).unwrap(), loaded.manifest)
    }

    #[test]
    fn keys_are_separated_from_the_settings_stored_in_files() {
        let ghp = format!("ghp_secret{}", "a1B2".repeat(8));
        let server = program(
            &[
                ("GITHUB_TOKEN", "ghp_secret"),
                ("OPENAI_API_KEY", "sk-secret"),
                ("DATABASE_URL", "postgres://me:secret-word@db.example/x"),
                ("ODD", &ghp),
                ("LOG_LEVEL", "it's on"),
            ],
            &[
                "--token",
                "secret-1",
                "--header",
                "Authorization: Bearer secret-2",
                "--api-key=secret-3",
                "-e",
                "MY_PAT=secret-4",
                "--db",
                "postgres://me:secret-5@db.example/x",
                &ghp,
                "--port",
                "8080",
            ],
        );
        let Separated { stored, values, unsure } = separate_keys(&server).unwrap();
        let names: Vec<&str> = values.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            [
                "API_KEY",
                "AUTHORIZATION_KEY",
                "DATABASE_URL_KEY",
                "DB_KEY",
                "GITHUB_TOKEN",
                "MY_PAT_KEY",
                "ODD_KEY",
                "OPENAI_API_KEY_KEY",
                "SECRET",
                "TOKEN",
            ]
        );
        assert_eq!(unsure, []);
        let text = saved(&stored);
        assert!(!text.contains("secret-") && !text.contains("ghp_"), "{text}");
        assert!(
            stored.command_or_url().ends_with(
                "--token secret:TOKEN --header 'Authorization: Bearer secret:AUTHORIZATION_KEY' \
                 --api-key=secret:API_KEY -e MY_PAT=secret:MY_PAT_KEY \
                 --db postgres://me:secret:DB_KEY@db.example/x secret:SECRET --port 8080"
            ),
            "{}",
            stored.command_or_url()
        );
        assert_eq!(stored.key_names(), names);
    }

    #[test]
    fn a_random_looking_value_is_a_key_unless_the_person_declares_otherwise() {
        let random = "q7Zr0XbN4tLw9Vd2KfP1";
        let mut server = program(&[("ACCOUNT", random)], &["--account", random]);
        let Separated { stored, values, unsure } = separate_keys(&server).unwrap();
        let places: Vec<&str> = unsure.iter().map(|value| value.place.as_str()).collect();
        assert_eq!(places, ["env/ACCOUNT", "args/1"]);
        assert_eq!((unsure[1].of.as_str(), unsure[1].begins.as_str()), ("--account", "q7Zr"));
        assert_eq!(values.len(), 1, "one value has one name: {values:?}");
        assert!(!saved(&stored).contains(random));
        server.not_keys = places.into_iter().map(str::to_owned).collect();
        let plain = separate_keys(&server).unwrap();
        assert_eq!((plain.values.len(), plain.unsure.len()), (0, 2));
        assert!(saved(&plain.stored).contains(random));
    }

    #[test]
    fn headers_and_query_keys_of_an_address_are_stored_as_keys() {
        let server = NewServer {
            name: "far".into(),
            url: "https://mcp.example.com/mcp?api_key=secret%2D123&page=1".into(),
            headers: [("Authorization", "Bearer abc"), ("X-Api-Key", "def")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            ..NewServer::default()
        };
        let Separated { stored, values, .. } = separate_keys(&server).unwrap();
        assert_eq!(values["AUTHORIZATION_KEY"], "abc");
        assert_eq!(values["X_API_KEY"], "def");
        assert_eq!(values["URL_KEY"], "secret-123");
        assert_eq!(stored.shown_url(), "https://mcp.example.com/mcp?api_key=secret:URL_KEY&page=1");
        assert!(!saved(&stored).contains("secret-") && !saved(&stored).contains("secret%"));
        assert!(!stored.is_private());
        let with_password =
            NewServer { url: "https://me:secret@a.example/mcp".into(), ..server.clone() };
        let refused = separate_keys(&with_password).unwrap_err();
        assert!(!format!("{refused:?}").contains("secret"), "{refused:?}");
        assert!(separate_keys(&NewServer { network: false, ..server.clone() }).is_err());
        let here =
            NewServer { url: "http://localhost:9/mcp".into(), headers: BTreeMap::new(), ..server };
        assert!(separate_keys(&here).unwrap().stored.is_private());
    }

    #[test]
    fn a_server_file_of_an_earlier_version_is_read_unless_its_name_differs() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("notes");
        fs::create_dir_all(&folder).unwrap();
        let old = json!({"name": "notes", "program": "/bin/sh", "args": ["-c", "exit"], "env": {"A": "b"},
            "keys": {"NOTES_TOKEN": "NOTES_TOKEN"}, "url": "", "sign_in": false, "enabled": true});
        fs::write(folder.join("server.json"), old.to_string()).unwrap();
        fs::write(folder.join("pack.json"), "{}").unwrap();
        fs::write(folder.join("start"), "").unwrap();
        let stored = read_one(&folder).unwrap();
        assert!(stored.network && !stored.reads_may_run && stored.is_program());
        assert_eq!(
            (stored.reach(), stored.key_names()),
            (Reach::Unallowed, vec!["NOTES_TOKEN".into()])
        );
        delete_generated_files(root.path());
        assert!(!folder.join("pack.json").exists() && !folder.join("start").exists());
        let other = json!({"name": "mail", "program": "/bin/sh", "enabled": true});
        fs::write(folder.join("server.json"), other.to_string()).unwrap();
        assert_eq!(read_one(&folder), None);
        assert_eq!(read_all(root.path()), []);
    }
}
