//! Keys that packs declare, and their destinations: a variable of a program, or the servers at the
//! configured addresses. This file must not know the value of a key.

use std::collections::BTreeSet;

use contract::{
    AgentError, Settings, ToolSpec, ToolTarget,
    address::Origin,
    manifest::{PackManifest, ServerEntry, ServerHttp, ToolEntry},
};
use packs::LoadedPack;
use secrets::Keyring;
use serde_json::{Map, Value};

use crate::{credentials::Credentials, definitions::key, entries::Entries, known_secrets, remote_override};

/// The beginning of the keyring entries of packs' credentials.
pub(crate) const OF_PACKS: &str = "credential/";

/// The app's own keys in the environment of a terminal.
pub(crate) const OWN: &[&str] = &["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"];

/// Where a key is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// A program of the pack.
    Program,
    /// Servers: the one that gets the key, and one that gets tokens made with it.
    Servers { origins: Vec<Origin>, first_version: FirstVersion },
    /// An address that cannot be used.
    Nowhere,
}

/// How the entry of version 0.1 is used. It names no server, and belongs to the manifest's address
/// only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstVersion {
    /// It is ignored, because it belongs to another server.
    Ignored,
    Moved,
    /// It is read and kept, because the pack also uses the key elsewhere.
    Shared,
}

impl Destination {
    /// Returns the servers at these addresses. `declared` are the addresses in the manifest.
    fn servers(addresses: &[&str], declared: &[Option<String>], shared: bool) -> Self {
        let parse = |address: &&str| Origin::parse(address);
        let Some(mut origins) = addresses.iter().map(parse).collect::<Option<Vec<_>>>() else { return Self::Nowhere };
        let same = declared.iter().map(|address| Origin::parse(address.as_deref()?)).collect::<Option<Vec<_>>>().as_ref() == Some(&origins);
        origins.dedup();
        let first_version = match (same, shared) {
            (false, _) => FirstVersion::Ignored,
            (true, false) => FirstVersion::Moved,
            (true, true) => FirstVersion::Shared,
        };
        Self::Servers { origins, first_version }
    }

    /// Returns where a tool's request goes.
    pub(crate) fn of_tool(spec: &ToolSpec, packs: &[LoadedPack]) -> Self {
        let ToolTarget::Http { call } = &spec.target else { return Self::Program };
        let manifest = packs.iter().filter_map(|loaded| loaded.pack.as_ref()).map(|pack| &pack.manifest).find(|manifest| manifest.id == spec.pack);
        let declared = manifest.and_then(|manifest| declared_address(manifest, &manifest.entry_of(spec)?.http.as_ref()?.url));
        let shared = manifest.zip(needed_credential(spec)).is_some_and(|(manifest, variable)| is_shared(manifest, variable));
        Self::servers(&[&call.url], &[declared], shared)
    }

    /// Returns a server behind the address `url`.
    pub(crate) fn of_server(manifest: &PackManifest, http: &ServerHttp, url: &str) -> Self {
        let shared = names(http).any(|variable| is_shared(manifest, variable));
        Self::servers(&[url], &[declared_address(manifest, &http.url)], shared)
    }

    /// Returns a server that replaces a program: the token endpoint gets the key, and the server
    /// itself gets the tokens.
    pub(crate) fn of_stand_in(url: &str, token_url: &str, declared: [Option<String>; 2], shared: bool) -> Self {
        Self::servers(&[token_url, url], &declared, shared)
    }

    /// Returns the keyring entries of the key `name`. None if it has no destination.
    pub(crate) fn entries(&self, name: String) -> Option<Entries> {
        match self {
            Self::Program => Some(Entries::of_program(name)),
            Self::Servers { origins, first_version } => Some(Entries::at_servers(name, origins, *first_version)),
            Self::Nowhere => None,
        }
    }

    /// Returns an error if no key can be stored for it.
    pub(crate) fn may_be_kept(&self) -> Result<(), AgentError> {
        match self {
            Self::Program => Ok(()),
            Self::Servers { origins, .. } => origins.iter().try_for_each(keeps),
            Self::Nowhere => Err(AgentError::invalid("The key was not stored, because the pack's address is not set or is not a valid web address.")
                .reason("bad_address")
                .hint("Enter the address in the pack's settings first, without a user name or password in it.")),
        }
    }
}

/// Returns an error if a key for a server cannot be stored.
pub(crate) fn keeps(server: &Origin) -> Result<(), AgentError> {
    if server.may_carry_key() {
        return Ok(());
    }
    Err(AgentError::invalid(format!("The key was not stored, because the connection to {server} would not be encrypted."))
        .reason("key_in_plain_text")
        .hint("Use an address that begins with https://. Without encryption a key goes only to this computer."))
}

/// Returns the name of a key without its server.
pub(crate) fn entry(pack: &str, variable: &str) -> String {
    format!("{OF_PACKS}{pack}/{variable}")
}

/// Deletes a key for every place for which it was entered, also for addresses that are no longer
/// configured.
pub(crate) async fn forget(keyring: &Keyring, pack: &str, variable: &str) -> Result<(), AgentError> {
    let name = entry(pack, variable);
    let at = format!("{name}@");
    let mut names = keyring.set_names().await;
    names.extend(keyring.this_run_names());
    names.retain(|known| *known == name || known.starts_with(&at));
    for name in names {
        keyring.delete(&name).await?;
    }
    Ok(())
}

/// A key that a pack declares, and its user.
pub(crate) struct Declared<'a> {
    pub(crate) pack: &'a LoadedPack,
    pub(crate) variable: &'a str,
    /// The title of a tool, or the name of a server.
    pub(crate) who: &'a str,
    pub(crate) of_server: bool,
    pub(crate) destination: Destination,
    /// Whether the program also gets it from this process's environment.
    pub(crate) inherited: bool,
}

/// Returns all declared keys for the present settings. The key of a replacement server counts only
/// if `stands_in` returns true.
pub(crate) fn all<'a>(packs: &'a [LoadedPack], settings: &Settings, credentials: &Credentials, stands_in: &dyn Fn(&str) -> bool) -> Vec<Declared<'a>> {
    let mut found = Vec::new();
    for (loaded, pack) in packs.iter().filter_map(|loaded| loaded.pack.as_ref().map(|pack| (loaded, pack))) {
        let manifest = &pack.manifest;
        let chosen = settings.packs.get(manifest.id.as_str()).map(|choice| choice.settings.clone()).unwrap_or_default();
        let mut add = |variable: &'a str, who: &'a str, destination: Destination, inherited: bool, of_server: bool| {
            found.push(Declared { pack: loaded, variable, who, of_server, destination, inherited });
        };
        for tool in &manifest.tools.tools {
            if let Some(variable) = of_entry(tool) {
                let destination = match &tool.http {
                    Some(http) => at(manifest, &http.url, &chosen, is_shared(manifest, variable)),
                    None => Destination::Program,
                };
                add(variable, &tool.title, destination, false, false);
            }
        }
        for server in &manifest.servers {
            for variable in of_server(server) {
                let destination = server.http.as_ref().map_or(Destination::Nowhere, |http| at(manifest, &http.url, &chosen, is_shared(manifest, variable)));
                add(variable, &server.name, destination, false, true);
            }
            entered_variables(server).for_each(|variable| add(variable, &server.name, Destination::Program, true, true));
        }
        for server in manifest.servers.iter().filter(|server| stands_in(&key(&manifest.id, &server.name))) {
            if let Some(other) = &server.elsewhere {
                add(&other.client_secret, &server.name, remote_override::destination(loaded, other, settings, credentials), false, true);
            }
        }
    }
    found
}

/// Returns the variables that packs name as credentials of their tools and servers.
pub(crate) fn declared_credentials(packs: &[LoadedPack]) -> BTreeSet<String> {
    let sound = || packs.iter().filter_map(|loaded| loaded.pack.as_ref());
    let of_tools = sound().flat_map(|pack| &pack.tools).filter_map(|spec| spec.auth.as_ref()?.env_var.clone());
    let of_servers = sound().flat_map(|pack| &pack.manifest.servers).flat_map(of_server).map(str::to_owned);
    let of_stand_ins = remote_override::declared(packs).map(|(_, _, other)| other.client_secret.clone());
    of_tools.chain(of_servers).chain(of_stand_ins).collect()
}

/// Returns the destination of a manifest's address with these settings.
fn at(manifest: &PackManifest, url: &str, chosen: &Map<String, Value>, shared: bool) -> Destination {
    match packs::address_with(url, &manifest.settings, chosen) {
        Some(address) => Destination::servers(&[&address], &[declared_address(manifest, url)], shared),
        None => Destination::Nowhere,
    }
}

fn declared_address(manifest: &PackManifest, url: &str) -> Option<String> {
    packs::address_with(url, &manifest.settings, &Map::new())
}

/// Whether several servers or programs of a pack use the same key.
pub(crate) fn is_shared(manifest: &PackManifest, variable: &str) -> bool {
    let origin = |url: &str| declared_address(manifest, url).and_then(|url| Origin::parse(&url)).map_or_else(String::new, |origin| origin.to_string());
    let of_tools = manifest.tools.tools.iter().filter(|tool| of_entry(tool) == Some(variable));
    let mut places: BTreeSet<String> = of_tools.map(|tool| tool.http.as_ref().map_or_else(String::new, |http| origin(&http.url))).collect();
    for server in &manifest.servers {
        if of_server(server).any(|name| name == variable) {
            places.extend(server.http.as_ref().map(|http| origin(&http.url)));
        }
        if entered_variables(server).any(|name| name == variable) {
            places.insert(String::new());
        }
        places.extend(server.elsewhere.as_ref().filter(|other| other.client_secret == variable).map(|_| server.name.clone()));
    }
    places.len() > 1
}

/// Returns the variable of a tool's key, if the host itself must provide it.
pub(crate) fn needed_credential(spec: &ToolSpec) -> Option<&str> {
    match spec.target {
        ToolTarget::Http { .. } | ToolTarget::Program { .. } => spec.auth.as_ref()?.env_var.as_deref(),
        ToolTarget::BuiltIn { .. } | ToolTarget::Mcp { .. } => None,
    }
}

fn of_entry(tool: &ToolEntry) -> Option<&str> {
    let is_own = tool.http.is_some() || tool.program.is_some();
    tool.auth.as_ref().filter(|auth| is_own && auth.kind != contract::manifest::AuthKind::None)?.env_var.as_deref()
}

/// Returns the variables of a server's program that can be entered as keys, according to their
/// names, except the app's own. The program can run without them.
pub(crate) fn entered_variables(server: &ServerEntry) -> impl Iterator<Item = &str> {
    server.env.iter().map(String::as_str).filter(|name| known_secrets::names_credential(name) && !OWN.contains(name))
}

/// Returns the keys that a server behind an address requires.
pub(crate) fn of_server(server: &ServerEntry) -> impl Iterator<Item = &str> {
    server.http.iter().flat_map(names)
}

fn names(http: &ServerHttp) -> impl Iterator<Item = &str> {
    http.auth.iter().filter_map(|auth| auth.env_var.as_deref()).chain(http.headers.values().map(String::as_str))
}
