//! The files of the servers that the user added: for each a folder with `server.json` (what the
//! user entered, without keys) and, while it is switched on, a generated pack that the packs crate
//! reads like any other. Knows neither the keyring nor processes.

use std::{
    collections::BTreeMap,
    fs, io,
    net::IpAddr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use contract::{AgentError, NewServer, PackId, address, text};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::command_line::{find_program, is_variable, quote_word, show_command, slug};
use crate::{
    key_names::is_app_key,
    known_secrets::{is_credential_name, secrets_of},
    paths::{create_private_folder, write_atomically},
};

/// The folder that a server may write to, as its program gets it.
const PACK_DATA: &str = "$COUNTERSIGN_PACK_DATA";
/// Variables of programs that install before they run, with the folder for each.
const CACHES: [(&str, &str); 6] = [
    ("XDG_CACHE_HOME", "cache"),
    ("npm_config_cache", "npm"),
    ("UV_CACHE_DIR", "uv"),
    ("UV_PYTHON_INSTALL_DIR", "uv-python"),
    ("UV_TOOL_BIN_DIR", "uv-bin"),
    ("UV_TOOL_DIR", "uv-tools"),
];

/// How the id of a server's pack begins. The server's name follows.
pub(super) const OWN: &str = "own-";
const SERVER_FILE: &str = "server.json";
/// The script that starts the program. It makes the program a part of its pack.
const START: &str = "start";
/// Time until a server must be ready. The first start may download its packages.
const START_MS: u64 = 120_000;

/// A server as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredServer {
    pub(super) name: String,
    #[serde(default)]
    program: PathBuf,
    #[serde(default)]
    args: Vec<String>,
    /// Variables whose values are no keys.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// For each further variable or header, the name of its key.
    #[serde(default)]
    keys: BTreeMap<String, String>,
    #[serde(default)]
    url: String,
    #[serde(default)]
    sign_in: bool,
    pub(super) enabled: bool,
}

/// The values of keys, by the name of the key.
pub(super) type KeyValues = BTreeMap<String, String>;

/// Checks a server and separates its keys from the rest.
pub(super) fn separate_keys(server: &NewServer) -> Result<(StoredServer, KeyValues), AgentError> {
    if server.name.is_empty() || server.name != slug(&server.name) {
        return Err(AgentError::invalid(text!(
            "{name} cannot be the name of a server.",
            name = server.name.as_str()
        ))
        .hint("Use lower-case letters, digits and hyphens, at most 40 characters."));
    }
    let mut stored = StoredServer {
        name: server.name.clone(),
        program: PathBuf::new(),
        args: server.args.clone(),
        env: BTreeMap::new(),
        keys: BTreeMap::new(),
        url: server.url.trim().to_owned(),
        sign_in: server.sign_in,
        enabled: true,
    };
    let mut values = KeyValues::new();
    match (server.command.is_empty(), stored.url.is_empty()) {
        (false, true) => {
            stored.program = find_program(&server.command)?;
            for (name, value) in &server.env {
                add_variable(&mut stored, &mut values, name, value)?;
            }
        }
        (true, false) => {
            if address::Origin::parse(&stored.url).is_none() {
                return Err(AgentError::invalid(text!(
                    "{url} is not a web address.",
                    url = stored.url.as_str()
                ))
                .hint("Write it like https://mcp.example.com/mcp."));
            }
            for (header, value) in &server.headers {
                add_header(&mut stored, &mut values, header, value);
            }
        }
        _ => {
            return Err(AgentError::invalid("A server needs either a command or an address."));
        }
    }
    Ok((stored, values))
}

fn add_variable(
    stored: &mut StoredServer,
    values: &mut KeyValues,
    name: &str,
    value: &str,
) -> Result<(), AgentError> {
    if !is_variable(name) {
        return Err(AgentError::invalid(text!("{name} cannot be the name of a variable.", name)));
    }
    let pair = (name.to_owned(), value.to_owned());
    let is_key = is_credential_name(name)
        || !secrets_of(&Default::default(), std::iter::once(pair.clone())).is_empty();
    if is_key {
        // The host asks only for keys whose names say that they are keys, and never for its own.
        let is_plain = is_credential_name(name) && !is_app_key(name);
        let key = if is_plain { name.to_owned() } else { format!("{name}_KEY") };
        values.insert(key.clone(), pair.1);
        stored.keys.insert(pair.0, key);
    } else {
        stored.env.insert(pair.0, pair.1);
    }
    Ok(())
}

fn add_header(stored: &mut StoredServer, values: &mut KeyValues, header: &str, value: &str) {
    let token = value.strip_prefix("Bearer ").filter(|_| is_authorization(header));
    let upper = header.to_ascii_uppercase().replace('-', "_");
    let key = if is_credential_name(&upper) { upper } else { format!("{upper}_KEY") };
    values.insert(key.clone(), token.unwrap_or(value).trim().to_owned());
    stored.keys.insert(header.to_owned(), key);
}

fn is_authorization(header: &str) -> bool {
    header.eq_ignore_ascii_case("authorization")
}

impl StoredServer {
    pub(super) fn pack_id(&self) -> PackId {
        PackId(format!("{OWN}{}", self.name))
    }

    /// Returns the whole command, or the address.
    pub(super) fn command_or_url(&self) -> String {
        if self.url.is_empty() { show_command(&self.program, &self.args) } else { self.url.clone() }
    }

    /// Returns the names of its keys.
    pub(super) fn key_names(&self) -> Vec<String> {
        self.keys.values().cloned().collect()
    }

    pub(super) fn signs_in(&self) -> bool {
        self.sign_in
    }

    /// Whether its address lies on this computer or in the local network, or is not encrypted.
    pub(super) fn is_private(&self) -> bool {
        let Some(origin) = address::Origin::parse(&self.url) else { return false };
        let host = origin.host_and_port();
        let name = host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name);
        let plain = name.trim_matches(['[', ']']);
        !self.url.starts_with("https://")
            || address::is_localhost(plain)
            || plain.parse::<IpAddr>().is_ok_and(address::is_private)
    }

    /// Writes the server's file and, if it is switched on, its pack.
    pub(super) fn save_server(&self, folder: &Path) -> Result<(), AgentError> {
        self.write_files(folder).map_err(|error| {
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

    fn write_files(&self, folder: &Path) -> io::Result<()> {
        create_private_folder(folder)?;
        let text = |value: &Value| serde_json::to_string_pretty(value).map_err(io::Error::from);
        write_atomically(&folder.join(SERVER_FILE), &text(&json!(self))?)?;
        let pack = folder.join("pack.json");
        if !self.enabled {
            return match fs::remove_file(pack) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        if self.url.is_empty() {
            let start = folder.join(START);
            write_atomically(&start, &self.script())?;
            fs::set_permissions(&start, fs::Permissions::from_mode(0o700))?;
        }
        write_atomically(&pack, &text(&self.manifest())?)
    }

    /// Returns the script that sets the variables and becomes the program.
    fn script(&self) -> String {
        let mut lines = vec!["#!/bin/sh".to_owned()];
        let folder = self.program.parent().map(|folder| folder.display().to_string());
        // Programs such as npx look for their interpreter beside them.
        lines.push(format!("export PATH={}:\"$PATH\"", quote_word(&folder.unwrap_or_default())));
        // `npx` and `uvx` install into caches, and the home folder cannot be written.
        lines.extend(
            CACHES.iter().map(|(name, folder)| format!("export {name}=\"{PACK_DATA}/{folder}\"")),
        );
        // Turns off npm's notice of a new version. It would follow the lines that say why a server
        // does not start.
        lines.push("export npm_config_update_notifier=false".to_owned());
        lines.extend(
            self.env.iter().map(|(name, value)| format!("export {name}={}", quote_word(value))),
        );
        for (name, key) in self.keys.iter().filter(|(name, key)| name != key) {
            lines.push(format!("export {name}=\"${key}\"; unset {key}"));
        }
        lines.push(format!("exec {} \"$@\"\n", quote_word(&self.program.display().to_string())));
        lines.join("\n")
    }

    fn manifest(&self) -> Value {
        let mut server = json!({
            "name": self.name, "offer_all": true,
            "timeouts": {"start_ms": START_MS, "call_ms": 60_000},
        });
        if self.url.is_empty() {
            server["command"] = json!(format!("./{START}"));
            server["data_dir"] = json!(true);
            server["args"] = json!(self.args);
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
        let mut http = json!({"url": self.url, "private_network": self.is_private()});
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

/// Reads all stored servers, by name. A file that cannot be read is left out.
pub(super) fn read_all(folder: &Path) -> Vec<StoredServer> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<StoredServer> =
        entries.filter_map(|entry| read_one(&entry.path())).collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Reads the server of a folder.
pub(super) fn read_one(folder: &Path) -> Option<StoredServer> {
    let text = fs::read_to_string(folder.join(SERVER_FILE)).ok()?;
    let read = serde_json::from_str(&text);
    read.inspect_err(|error| tracing::warn!(%error, folder = %folder.display(), "an added server cannot be read"))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_kept_apart_from_what_is_stored_in_files() {
        let server = NewServer {
            name: "files".into(),
            command: "/bin/sh".into(),
            env: [
                ("GITHUB_TOKEN", "ghp_secret"),
                ("OPENAI_API_KEY", "sk-secret"),
                ("DATABASE_URL", "postgres://me:secret-word@db.example/x"),
                ("LOG_LEVEL", "it's on"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
            ..NewServer::default()
        };
        let (stored, values) = separate_keys(&server).unwrap();
        let names: Vec<&str> = values.keys().map(String::as_str).collect();
        assert_eq!(names, ["DATABASE_URL_KEY", "GITHUB_TOKEN", "OPENAI_API_KEY_KEY"]);
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("files");
        stored.save_server(&folder).unwrap();
        let start = fs::read_to_string(folder.join("start")).unwrap();
        assert!(
            start.contains("export npm_config_cache=\"$COUNTERSIGN_PACK_DATA/npm\""),
            "{start}"
        );
        for file in ["server.json", "pack.json", "start"] {
            let text = fs::read_to_string(folder.join(file)).unwrap();
            assert!(!text.contains("secret"), "{file}: {text}");
        }
        assert_eq!(read_one(&folder).unwrap(), stored);
        let loaded = packs::check_folder(&folder);
        assert!(loaded.pack.is_some(), "{:?}", loaded.view.faults);
    }

    #[test]
    fn an_address_keeps_its_headers_as_keys() {
        let server = NewServer {
            name: "far".into(),
            url: "https://mcp.example.com/mcp".into(),
            headers: [("Authorization", "Bearer abc"), ("X-Api-Key", "def")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            ..NewServer::default()
        };
        let (stored, values) = separate_keys(&server).unwrap();
        assert_eq!(values["AUTHORIZATION_KEY"], "abc");
        assert_eq!(values["X_API_KEY"], "def");
        let folder = tempfile::tempdir().unwrap();
        stored.save_server(&folder.path().join("far")).unwrap();
        let loaded = packs::check_folder(&folder.path().join("far"));
        assert!(loaded.pack.is_some(), "{:?}", loaded.view.faults);
        assert!(!stored.is_private());
        let here =
            NewServer { url: "http://localhost:9/mcp".into(), headers: BTreeMap::new(), ..server };
        assert!(separate_keys(&here).unwrap().0.is_private());
    }
}
