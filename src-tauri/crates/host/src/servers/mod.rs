//! MCP servers of packs and those that the user adds: how each server is reached and isolated, the
//! tool definitions that a person accepted, and questions of servers. Must not know which tools the
//! engine has, nor the caller.

pub(crate) mod added;
mod config;
pub(crate) mod definitions;
mod offered;
mod questions;
mod remote_override;
mod search_path;
mod session_sockets;
mod tool_notes;
mod veil;

use std::{collections::BTreeMap, path::Path, sync::Arc};

use contract::{PackId, Push, Reach, ServerView};
use engine::ports::{Clock, Events, Ids, Random};
use mcp::{OnChange, Patience};
use packs::LoadedPack;

pub use added::quote_word;
use added::{AddedServer, Trials, check_files, load_added};
pub(crate) use added::{delete_leftovers, find_programs};
pub(crate) use config::{ServerDeps, pin_manifest};
use config::{built_in_server_keys, server_configs};
pub(crate) use definitions::server_key;
use definitions::{Pins, manifest_key};
pub(crate) use offered::{needs_acceptance, offered_tools, servers_with_undeclared_tools};
pub(crate) use questions::Gate;
use questions::Questions;
use remote_override::Overrides;
pub(crate) use remote_override::{RemoteOverride, declared_overrides, destination_of};
pub(crate) use search_path::can_be_closed;
pub(crate) use session_sockets::SessionSockets;

/// The servers of an open profile.
pub(crate) struct HostServers {
    /// The connections of the MCP client.
    pub(crate) connections: mcp::Servers,
    /// The accepted definitions of tools.
    pub(crate) pins: Arc<Pins>,
    pub(crate) questions: Arc<Questions>,
    /// The remote servers that replace programs.
    pub(crate) overrides: Overrides,
    /// The running tests and first starts of the user's servers.
    pub(crate) trials: Trials,
    /// The dependencies from which the configuration of a server is made.
    pub(crate) deps: ServerDeps,
}

/// The options for opening the servers of a profile.
pub(crate) struct ServerSetup<'a> {
    pub(crate) deps: ServerDeps,
    /// Whether the servers that the user added are used.
    pub(crate) with_added: bool,
    /// Returns whether a pack's folder is a shipped pack.
    pub(crate) is_shipped: &'a dyn Fn(&Path) -> bool,
    pub(crate) events: Arc<dyn Events>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) random: Arc<dyn Random>,
    /// The timeouts and retries for servers that replace programs of packs.
    pub(crate) patience: Patience,
}

impl HostServers {
    /// Configures the servers of packs and pins their manifests. Adds the packs of servers that the
    /// user added, and returns the destinations that these packs can send data to. Starts no
    /// server.
    pub(crate) fn open(
        packs: &mut Vec<LoadedPack>,
        setup: ServerSetup<'_>,
    ) -> (Self, BTreeMap<PackId, Reach>) {
        let ServerSetup { deps, with_added, is_shipped, events, clock, ids, random, patience } =
            setup;
        let mut configs: Vec<_> =
            packs.iter().flat_map(|loaded| server_configs(loaded, &deps)).collect();
        let mut reaches = BTreeMap::new();
        let added = if with_added { load_added(&deps) } else { Vec::new() };
        for AddedServer { loaded, reach, config } in added {
            reaches.insert(loaded.view.id.clone(), reach);
            configs.extend(config);
            packs.push(loaded);
        }
        let mut of_the_app = built_in_server_keys(packs);
        let shipped = packs.iter().filter(|loaded| is_shipped(&loaded.folder));
        of_the_app.extend(shipped.map(|loaded| manifest_key(&loaded.view.id)));
        let paths = deps.profile.paths();
        let pins = Arc::new(Pins::open(paths.definitions(), of_the_app, clock));
        packs.iter().for_each(|loaded| pin_manifest(&pins, loaded));
        if with_added {
            check_files(paths, &pins);
        }
        let questions = Arc::new(Questions::new(Arc::clone(&events), ids));
        let on_change: OnChange = Arc::new(move |server| events.push(Push::Server { server }));
        let connections = mcp::Servers::builder(configs)
            .on_change(on_change)
            .definitions(Arc::clone(&pins) as _)
            .asker(Arc::clone(&questions) as _)
            .build();
        let overrides = Overrides::new(patience, random);
        let trials = Trials::default();
        (Self { connections, pins, questions, overrides, trials, deps }, reaches)
    }

    /// Reads again which remote servers replace programs. Returns true if a replacement was added
    /// or removed.
    pub(crate) fn refresh_overrides(&self, packs: &[LoadedPack]) -> bool {
        self.overrides.refresh(packs, &self.deps)
    }

    /// Starts the servers that are programs, in the background: those of the given packs, or all.
    /// Replaced servers are not started.
    pub(crate) fn warm_up(&self, packs: Option<&Arc<[PackId]>>) {
        let wanted = |pack: &PackId| packs.is_none_or(|packs| packs.contains(pack));
        for view in self.connections.views().into_iter().filter(|view| wanted(&view.pack)) {
            let key = server_key(&view.pack, &view.name);
            if self.overrides.override_of(&key).is_none()
                && self.pins.is_manifest_accepted(&view.pack)
            {
                self.connections.start(&key);
            }
        }
    }

    /// Returns all servers for display.
    pub(crate) fn views(&self) -> Vec<ServerView> {
        let views = self.connections.views().into_iter();
        views.map(|view| self.overrides.apply_to_view(view)).collect()
    }
}
