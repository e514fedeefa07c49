//! Lists the keys that packs declare, with each key's destination under the current settings. Must
//! not know the value of a key.

use std::collections::BTreeSet;

use contract::Settings;
use packs::LoadedPack;

use crate::{
    keys::{
        Credentials, Declared, Destination, credential_of_tool, credentials_of_server,
        destination_at, entered_variables, is_shared,
    },
    servers::{self, server_key},
};

/// Returns all declared keys under the current settings. The key of a replacement server is
/// included only if `stands_in` returns true for the replaced server.
pub(crate) fn declared_keys<'a>(
    packs: &'a [LoadedPack],
    settings: &Settings,
    credentials: &Credentials,
    stands_in: &dyn Fn(&str) -> bool,
) -> Vec<Declared<'a>> {
    let mut found = Vec::new();
    for (loaded, pack) in
        packs.iter().filter_map(|loaded| loaded.pack.as_ref().map(|pack| (loaded, pack)))
    {
        let manifest = &pack.manifest;
        let chosen = settings
            .packs
            .get(manifest.id.as_str())
            .map(|choice| choice.settings.clone())
            .unwrap_or_default();
        let mut add = |variable: &'a str,
                       who: &'a str,
                       destination: Destination,
                       inherited: bool,
                       of_server: bool| {
            found.push(Declared { pack: loaded, variable, who, of_server, destination, inherited });
        };
        for tool in &manifest.tools.tools {
            if let Some(variable) = credential_of_tool(tool) {
                let destination = match &tool.http {
                    Some(http) => {
                        destination_at(manifest, &http.url, &chosen, is_shared(manifest, variable))
                    }
                    None => Destination::Program,
                };
                add(variable, &tool.title, destination, false, false);
            }
        }
        for server in &manifest.servers {
            for variable in credentials_of_server(server) {
                let destination = server.http.as_ref().map_or(Destination::Nowhere, |http| {
                    destination_at(manifest, &http.url, &chosen, is_shared(manifest, variable))
                });
                add(variable, &server.name, destination, false, true);
            }
            entered_variables(server)
                .for_each(|variable| add(variable, &server.name, Destination::Program, true, true));
        }
        for server in manifest
            .servers
            .iter()
            .filter(|server| stands_in(&server_key(&manifest.id, &server.name)))
        {
            if let Some(other) = &server.elsewhere {
                add(
                    &other.client_secret,
                    &server.name,
                    servers::destination_of(loaded, other, settings, credentials),
                    false,
                    true,
                );
            }
        }
    }
    found
}

/// Returns the variables that packs declare as credentials of their tools and servers.
pub(crate) fn declared_credentials(packs: &[LoadedPack]) -> BTreeSet<String> {
    let sound = || packs.iter().filter_map(|loaded| loaded.pack.as_ref());
    let of_tools =
        sound().flat_map(|pack| &pack.tools).filter_map(|spec| spec.auth.as_ref()?.env_var.clone());
    let of_servers = sound()
        .flat_map(|pack| &pack.manifest.servers)
        .flat_map(credentials_of_server)
        .map(str::to_owned);
    let of_stand_ins =
        servers::declared_overrides(packs).map(|(_, _, other)| other.client_secret.clone());
    of_tools.chain(of_servers).chain(of_stand_ins).collect()
}
