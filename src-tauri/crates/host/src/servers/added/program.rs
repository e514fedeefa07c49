//! Configures the program or the address of an added server. The host starts the program itself, in
//! the server's data folder, with the variables that the user entered and no other variables of
//! this process. The server's program cannot write to the files that configure the server.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use contract::manifest::ServerEntry;
use mcp::{Address, FileChanges, Program, ProgramError, ProgramKeys, ServerConfig};
use packs::LoadedPack;

use super::{programs::named_folders, storage::StoredServer};
use crate::{
    keys::Destination,
    servers::{
        config::{PACK_DATA, ServerDeps, make_config, server_address},
        veil::ServerVeil,
    },
};

/// Variables for programs that install before they run, with the folder for each variable, because
/// these programs cannot write to the home folder.
pub(super) const CACHES: [(&str, &str); 6] = [
    ("XDG_CACHE_HOME", "cache"),
    ("npm_config_cache", "npm"),
    ("UV_CACHE_DIR", "uv"),
    ("UV_PYTHON_INSTALL_DIR", "uv-python"),
    ("UV_TOOL_BIN_DIR", "uv-bin"),
    ("UV_TOOL_DIR", "uv-tools"),
];

/// Variables that make npm and uv start an earlier download without looking for a newer version.
/// Otherwise, they would wait for the missing network and then fail.
const WITHOUT_NETWORK: [(&str, &str); 2] = [("npm_config_offline", "true"), ("UV_OFFLINE", "1")];

/// Returns the configuration of an added server. Returns None if its manifest is invalid.
pub(crate) fn server_config(
    stored: &StoredServer,
    loaded: &LoadedPack,
    deps: &ServerDeps,
) -> Option<ServerConfig> {
    let manifest = &loaded.pack.as_ref()?.manifest;
    let server = manifest.servers.first()?;
    let reach = match &server.http {
        Some(declared) => {
            let keyed_url = stored.has_query_or_key().then(|| stored.url.clone());
            let address = server_address(manifest, server, declared, deps);
            mcp::Reach::Http(Address { keyed_url, ..address })
        }
        None => mcp::Reach::Program(server_program(stored, server, deps)),
    };
    Some(make_config(&manifest.id, server, reach))
}

fn server_program(stored: &StoredServer, server: &ServerEntry, deps: &ServerDeps) -> Program {
    let pack = stored.pack_id();
    let own = deps.make_data_folder(&pack);
    let missing = stored.cwd.as_ref().filter(|cwd| !cwd.is_dir());
    let program = if let Some(cwd) = missing {
        Err(ProgramError::NoFolder(cwd.display().to_string()))
    } else if super::command_line::is_program(&stored.program) {
        Ok(stored.program.clone())
    } else {
        Err(ProgramError::Missing(stored.program.display().to_string()))
    };
    let access = deps.make_access(&pack, &server.name, Destination::Program);
    let hidden = ServerVeil {
        added: Some(stored.name.clone()),
        named: named_folders(stored),
        given: stored.env.keys().chain(stored.keys.keys()).cloned().collect(),
        ..deps.hide_profiles(None, Some(&own), Some(&stored.program))
    };
    Program {
        program,
        args: stored.args.clone(),
        env: make_environment(stored, &own),
        keys: Some(ProgramKeys { variables: stored.keys.clone(), access }),
        hidden: Arc::new(hidden),
        cwd: stored.cwd.clone().unwrap_or(own),
        // The server's program may install other programs, as `npx` does.
        changes: FileChanges::ByPath,
        network: stored.network,
    }
}

/// Returns the variables of the program. Variables that the user entered take precedence.
fn make_environment(stored: &StoredServer, own: &Path) -> BTreeMap<String, String> {
    let mut env: BTreeMap<String, String> = CACHES
        .iter()
        .map(|(name, folder)| ((*name).to_owned(), own.join(folder).display().to_string()))
        .collect();
    env.insert(PACK_DATA.into(), own.display().to_string());
    // Programs such as npx search for their interpreter in their own folder.
    let beside = stored.program.parent().map(|folder| folder.display().to_string());
    let usual = mcp::base_environment(|name| std::env::var(name).ok());
    let path = beside.into_iter().chain(usual.get("PATH").cloned()).collect::<Vec<_>>().join(":");
    env.insert("PATH".into(), path);
    // Turns off npm's notice of a new version, because the notice would follow the lines that
    // explain why a server does not start.
    env.insert("npm_config_update_notifier".into(), "false".into());
    if !stored.network {
        let text = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        env.extend(WITHOUT_NETWORK.map(text));
    }
    env.extend(stored.env.clone());
    env
}
