//! The MCP servers that the user adds: what a person enters, how it is stored, and how the server
//! is started. Each server becomes a pack whose manifest is made in memory. Must not know what the
//! servers' tools do.

use std::{collections::BTreeSet, fs, path::PathBuf};

use contract::{PackId, Reach};
use mcp::ServerConfig;
use packs::LoadedPack;

use super::{config::ServerDeps, definitions::Pins};
use crate::profile::{Paths, SERVER_TEST};

mod client_json;
mod command_line;
mod confirming;
mod downloads;
mod entry;
mod keys;
mod of_client;
mod placeholders;
mod program;
mod programs;
mod reading;
mod separating;
pub(crate) mod storage;
mod stored_keys;
pub(crate) mod trial;
mod trials;
mod variables;

pub use command_line::quote_word;
pub(crate) use command_line::slug;
pub(crate) use confirming::{describe_server, new_setting, working_folder};
pub(crate) use downloads::{Downloads, hash_of_command};
pub(crate) use keys::KeyValues;
pub(crate) use program::server_config;
pub(crate) use programs::find_programs;
pub(crate) use reading::read_servers;
pub(crate) use separating::{Separated, separate_keys};
use storage::StoredServer;
pub(crate) use stored_keys::separate_stored_keys;
pub(crate) use trials::{Trial, Trials};

/// An added server that is enabled.
pub(crate) struct AddedServer {
    pub(crate) loaded: LoadedPack,
    /// The destinations that its tools can send data to.
    pub(crate) reach: Reach,
    /// The configuration of the server. None if the server's manifest is invalid.
    pub(crate) config: Option<ServerConfig>,
}

/// Returns the enabled added servers.
pub(crate) fn load_added(deps: &ServerDeps) -> Vec<AddedServer> {
    let folder = deps.profile.paths().own_servers();
    let make = |stored: StoredServer| {
        let loaded = stored.make_pack(&folder.join(&stored.name));
        let config = server_config(&stored, &loaded, deps);
        AddedServer { loaded, reach: stored.reach(), config }
    };
    let stored = storage::read_all(&folder);
    stored.into_iter().filter(|stored| stored.enabled).map(make).collect()
}

/// Compares the file of each added server with the pinned file, even if the server is disabled.
pub(crate) fn check_files(paths: &Paths, pins: &Pins) {
    for stored in storage::read_all(&paths.own_servers()) {
        pins.record_manifest(&stored.pack_id(), &stored.file());
    }
}

/// Deletes files that were left by tests of servers that were not added, or by earlier versions.
/// Must be called while no test runs.
pub(crate) fn delete_leftovers(paths: &Paths, known: &BTreeSet<PackId>) {
    storage::delete_generated_files(&paths.own_servers());
    downloads::delete_old(paths);
    let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let name = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let tests = entries(paths.data.clone()).filter(|entry| name(entry).starts_with(SERVER_TEST));
    let files = entries(paths.pack_data("")).filter(|entry| {
        let server = name(entry).strip_prefix(PackId::ADDED_SERVER).map(str::to_owned);
        !known.contains(&PackId(name(entry)))
            && server.is_some_and(|server| !paths.own_servers().join(server).exists())
    });
    for left in tests.chain(files).map(|entry| entry.path()) {
        if let Err(error) = fs::remove_dir_all(&left) {
            tracing::warn!(%error, folder = %left.display(), "what a test of a server left could not be deleted");
        }
    }
}
