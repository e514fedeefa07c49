//! Determines where a pack's declared key may be sent: to a variable of a program, or to the
//! servers at the configured addresses. Must not know the value of a key.

use std::collections::BTreeSet;

use contract::{
    AgentError, ToolSpec,
    address::Origin,
    manifest::{PackManifest, ServerEntry, ServerHttp, ToolEntry},
    text,
};
use packs::LoadedPack;
use serde_json::{Map, Value};

use super::{
    entries::{Entries, FirstVersion},
    known_secrets,
    names::is_app_key,
};

/// The destination of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// A variable of a program of the pack.
    Program,
    /// Servers: the server that gets the key, and the server that gets tokens made with the key.
    Servers { origins: Vec<Origin>, first_version: FirstVersion },
    /// The configured address is invalid, so the key has no destination.
    Nowhere,
}

impl Destination {
    /// Returns the destination for these addresses. `declared` are the addresses in the manifest.
    fn of_servers(addresses: &[&str], declared: &[Option<String>], shared: bool) -> Self {
        let parse = |address: &&str| Origin::parse(address);
        let Some(mut origins) = addresses.iter().map(parse).collect::<Option<Vec<_>>>() else {
            return Self::Nowhere;
        };
        let same = declared
            .iter()
            .map(|address| Origin::parse(address.as_deref()?))
            .collect::<Option<Vec<_>>>()
            .as_ref()
            == Some(&origins);
        origins.dedup();
        let first_version = match (same, shared) {
            (false, _) => FirstVersion::Ignored,
            (true, false) => FirstVersion::Moved,
            (true, true) => FirstVersion::Shared,
        };
        Self::Servers { origins, first_version }
    }

    /// Returns the destination of a tool's key.
    pub(crate) fn of_tool(spec: &ToolSpec, packs: &[LoadedPack]) -> Self {
        let Some(url) = spec.target.requested_url() else { return Self::Program };
        let manifest = packs
            .iter()
            .filter_map(|loaded| loaded.pack.as_ref())
            .map(|pack| &pack.manifest)
            .find(|manifest| manifest.id == spec.pack);
        let declared = manifest.and_then(|manifest| {
            declared_address(manifest, &manifest.entry_of(spec)?.http.as_ref()?.url)
        });
        let shared = manifest
            .zip(needed_credential(spec))
            .is_some_and(|(manifest, variable)| is_shared(manifest, variable));
        Self::of_servers(&[url], &[declared], shared)
    }

    /// Returns the destination of a key for the server at the address `url`.
    pub(crate) fn of_server(manifest: &PackManifest, http: &ServerHttp, url: &str) -> Self {
        let shared = credential_names(http).any(|variable| is_shared(manifest, variable));
        Self::of_servers(&[url], &[declared_address(manifest, &http.url)], shared)
    }

    /// Returns the destination of a key for a server that replaces a program. The token endpoint
    /// gets the key, and the server gets the tokens.
    pub(crate) fn of_override(
        url: &str,
        token_url: &str,
        declared: [Option<String>; 2],
        shared: bool,
    ) -> Self {
        Self::of_servers(&[token_url, url], &declared, shared)
    }

    /// Returns the keyring entries of the key `name`, or None if the key has no destination.
    pub(crate) fn entries_for(&self, name: String) -> Option<Entries> {
        match self {
            Self::Program => Some(Entries::of_program(name)),
            Self::Servers { origins, first_version } => {
                Some(Entries::of_servers(name, origins, *first_version))
            }
            Self::Nowhere => None,
        }
    }

    /// Fails if no key can be stored for this destination.
    pub(crate) fn check_storable(&self) -> Result<(), AgentError> {
        match self {
            Self::Program => Ok(()),
            Self::Servers { origins, .. } => origins.iter().try_for_each(check_may_carry_key),
            Self::Nowhere => Err(AgentError::invalid("The key was not stored, because the pack's address is not set or is not a valid web address.")
                .reason("bad_address")
                .hint("Enter the address in the pack's settings first, without a user name or password in it.")),
        }
    }
}

/// Fails if a key for this server cannot be stored.
pub(crate) fn check_may_carry_key(server: &Origin) -> Result<(), AgentError> {
    if server.may_carry_key() {
        return Ok(());
    }
    Err(AgentError::invalid(text!("The key was not stored, because the connection to {origin} would not be encrypted.", origin = server.to_string()))
        .reason("key_in_plain_text")
        .hint("Use an address that begins with https://. Without encryption a key goes only to this computer."))
}

/// A key that a pack declares, with the tool or server that uses it.
pub(crate) struct Declared<'a> {
    pub(crate) pack: &'a LoadedPack,
    pub(crate) variable: &'a str,
    /// The title of a tool, or the name of a server.
    pub(crate) who: &'a str,
    pub(crate) of_server: bool,
    pub(crate) destination: Destination,
    /// Whether the program also inherits the key from this process's environment.
    pub(crate) inherited: bool,
}

/// Returns the destination for a manifest's address with the user's settings.
pub(crate) fn destination_at(
    manifest: &PackManifest,
    url: &str,
    chosen: &Map<String, Value>,
    shared: bool,
) -> Destination {
    match packs::address_with(url, &manifest.settings, chosen) {
        Some(address) => {
            Destination::of_servers(&[&address], &[declared_address(manifest, url)], shared)
        }
        None => Destination::Nowhere,
    }
}

fn declared_address(manifest: &PackManifest, url: &str) -> Option<String> {
    packs::address_with(url, &manifest.settings, &Map::new())
}

/// Whether several servers or programs of a pack use the same key.
pub(crate) fn is_shared(manifest: &PackManifest, variable: &str) -> bool {
    let origin = |url: &str| {
        declared_address(manifest, url)
            .and_then(|url| Origin::parse(&url))
            .map_or_else(String::new, |origin| origin.to_string())
    };
    let of_tools =
        manifest.tools.tools.iter().filter(|tool| credential_of_tool(tool) == Some(variable));
    let mut places: BTreeSet<String> = of_tools
        .map(|tool| tool.http.as_ref().map_or_else(String::new, |http| origin(&http.url)))
        .collect();
    for server in &manifest.servers {
        if credentials_of_server(server).any(|name| name == variable) {
            places.extend(server.http.as_ref().map(|http| origin(&http.url)));
        }
        if entered_variables(server).any(|name| name == variable) {
            places.insert(String::new());
        }
        places.extend(
            server
                .elsewhere
                .as_ref()
                .filter(|other| other.client_secret == variable)
                .map(|_| server.name.clone()),
        );
    }
    places.len() > 1
}

/// Returns the variable of a tool's key, if the host sends the key.
pub(crate) fn needed_credential(spec: &ToolSpec) -> Option<&str> {
    let auth = spec.auth.as_ref().filter(|_| spec.kind.takes_key_of_tool())?;
    auth.env_var.as_deref()
}

pub(crate) fn credential_of_tool(tool: &ToolEntry) -> Option<&str> {
    tool.auth
        .as_ref()
        .filter(|auth| {
            tool.kind.takes_key_of_tool() && auth.kind != contract::manifest::AuthKind::None
        })?
        .env_var
        .as_deref()
}

/// Returns the variables of a server's program that can be entered as keys: those with a name of a
/// credential, except the app's own keys. The program can run without them.
pub(crate) fn entered_variables(server: &ServerEntry) -> impl Iterator<Item = &str> {
    server
        .env
        .iter()
        .map(String::as_str)
        .filter(|name| known_secrets::is_credential_name(name) && !is_app_key(name))
}

/// Returns the variables of the keys that a server behind an address requires.
pub(crate) fn credentials_of_server(server: &ServerEntry) -> impl Iterator<Item = &str> {
    server.http.iter().flat_map(credential_names)
}

fn credential_names(http: &ServerHttp) -> impl Iterator<Item = &str> {
    http.auth
        .iter()
        .filter_map(|auth| auth.env_var.as_deref())
        .chain(http.headers.values().map(String::as_str))
}
