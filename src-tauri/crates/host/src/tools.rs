//! The tools of all usable packs behind one port: services linked in, MCP servers, and what `packs`
//! runs itself.

use std::{
    collections::{BTreeSet, HashMap},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use contract::{
    AgentError, CredentialView, Effect, PackId, PackView, ServerTool, ServerView, ToolSpec,
    ToolTarget,
    manifest::{PackManifest, ToolEntry},
    pack_code::PackAdapter,
};
use engine::ports::{Agent, Instructions, Profile as _, Roster, Tools as _};
use mcp::Servers;
use packs::{LoadedPack, run::HttpRunner};
use parking_lot::RwLock;
use secrecy::SecretString;
use secrets::Keyring;
use serde_json::json;

use crate::{
    Paths,
    credentials::Credentials,
    definitions::{self, Pins},
    key_destination::{self, Declared, Destination},
    pack_keys,
    profile::LiveProfile,
    questions::Questions,
    remote_override::{self, Elsewhere},
    servers,
    services::Services,
};

mod calls;

/// Where calls go.
pub(crate) struct HostTools {
    specs: RwLock<Arc<Vec<ToolSpec>>>,
    packs: Vec<LoadedPack>,
    pub(crate) services: Services,
    pub(crate) adapters: Vec<Arc<dyn PackAdapter>>,
    pub(crate) servers: Servers,
    pub(crate) pins: Arc<Pins>,
    pub(crate) questions: Arc<Questions>,
    pub(crate) credentials: Arc<Credentials>,
    pub(crate) elsewhere: Elsewhere,
    keyring: Arc<Keyring>,
    http: HttpRunner,
    profile: Arc<LiveProfile>,
    paths: Paths,
    program_dir: PathBuf,
    is_chat_api: bool,
    /// Folders of packs, the user's first.
    folders: Vec<PathBuf>,
    /// The packs that callers elsewhere reach. Empty: all of them.
    callers_packs: Vec<String>,
    /// Names in the data of every pack are wanted: reading them opens the data, which callers of
    /// other packs need not wait for.
    names: AtomicBool,
    /// The manifests of usable packs with the names that are in the data.
    named: RwLock<Arc<Vec<PackManifest>>>,
    agents: RwLock<Arc<Vec<Agent>>>,
}

/// The services, adapters and servers that the tools use.
pub(crate) struct Means {
    pub(crate) services: Services,
    pub(crate) adapters: Vec<Arc<dyn PackAdapter>>,
    pub(crate) servers: Servers,
    pub(crate) pins: Arc<Pins>,
    pub(crate) questions: Arc<Questions>,
    pub(crate) credentials: Arc<Credentials>,
    pub(crate) elsewhere: Elsewhere,
    pub(crate) keyring: Arc<Keyring>,
    pub(crate) profile: Arc<LiveProfile>,
    pub(crate) paths: Paths,
    pub(crate) program_dir: PathBuf,
    pub(crate) is_chat_api: bool,
    pub(crate) folders: Vec<PathBuf>,
    /// The packs that callers elsewhere reach. Empty: all of them.
    pub(crate) callers_packs: Vec<String>,
}

impl HostTools {
    pub(crate) fn new(packs: Vec<LoadedPack>, means: Means) -> Self {
        let Means {
            services,
            adapters,
            servers,
            pins,
            questions,
            credentials,
            elsewhere,
            keyring,
            profile,
            paths,
            program_dir,
            is_chat_api,
            folders,
            callers_packs,
        } = means;
        let http = HttpRunner::default();
        let tools = Self {
            specs: RwLock::default(),
            packs,
            services,
            adapters,
            servers,
            pins,
            questions,
            credentials,
            elsewhere,
            keyring,
            http,
            profile,
            paths,
            program_dir,
            is_chat_api,
            folders,
            names: AtomicBool::new(callers_packs.is_empty()),
            callers_packs,
            named: RwLock::default(),
            agents: RwLock::default(),
        };
        tools.look_elsewhere();
        tools.rebuild();
        tools
    }

    /// Looks again which servers stand in for others.
    pub(crate) fn look_elsewhere(&self) {
        let access = |pack: &PackId, server: &str, to| {
            servers::access(pack, server, to, &self.keyring, &self.credentials, &self.profile)
        };
        let around = remote_override::OverrideDeps {
            profile: &self.profile,
            credentials: &self.credentials,
            access: &access,
        };
        if self.elsewhere.look(&self.packs, &around) {
            self.rebuild();
            self.renew_names();
        }
    }

    /// Every credential that a pack declares and that may be needed as things are set.
    pub(crate) async fn credential_views(&self) -> Vec<CredentialView> {
        let declared = self.keys(&|key: &str| self.elsewhere.of(key).is_some());
        self.credentials.views(&declared).await
    }

    /// Keys that packs declare, for the addresses that are set now.
    pub(crate) fn keys(&self, stands_in: &dyn Fn(&str) -> bool) -> Vec<Declared<'_>> {
        pack_keys::all(&self.packs, &self.profile.settings(), &self.credentials, stands_in)
    }

    /// The key that the host itself shows for a tool.
    async fn key_of(&self, spec: &ToolSpec) -> Result<Option<SecretString>, AgentError> {
        let Some(variable) = key_destination::needed_credential(spec) else { return Ok(None) };
        let to = Destination::of_tool(spec, &self.packs);
        self.credentials.named(spec.pack.as_str(), variable, &to, &spec.title).await.map(Some)
    }

    /// Starts the servers that are programs, in the background, unless another stands in for them:
    /// of these packs, or of all.
    pub(crate) fn warm_up(&self, packs: &[String]) {
        let wanted = |pack: &PackId| packs.is_empty() || packs.iter().any(|id| id == pack.as_str());
        for view in self.servers.views().into_iter().filter(|view| wanted(&view.pack)) {
            let key = definitions::key(&view.pack, &view.name);
            if self.elsewhere.of(&key).is_none() {
                self.servers.start(&key);
            }
        }
    }

    /// Puts together what may be used now: the manifests' tools, without those that a server
    /// describes differently than they were accepted, and what servers offer beyond them.
    pub(crate) fn rebuild(&self) {
        let usable = self
            .packs
            .iter()
            .filter_map(|loaded| loaded.pack.as_ref())
            .flat_map(|pack| &pack.tools);
        let mut specs: Vec<ToolSpec> = usable.filter_map(|spec| self.as_accepted(spec)).collect();
        for (loaded, server) in servers::offering(&self.packs) {
            servers::offered(loaded, server, &self.pins)
                .into_iter()
                .for_each(|spec| add_offered(&mut specs, spec));
        }
        *self.specs.write() = Arc::new(specs);
    }

    /// A tool of a manifest, bound to what its server says of it; nothing while that is not what
    /// was accepted.
    fn as_accepted(&self, spec: &ToolSpec) -> Option<ToolSpec> {
        let ToolTarget::Mcp { server, tool } = &spec.target else { return Some(spec.clone()) };
        if let Some(address) = self.elsewhere.address(&definitions::key(&spec.pack, server)) {
            return Some(self.moved(spec, server, &address));
        }
        let looked = self.pins.check_tool(&definitions::key(&spec.pack, server), tool);
        let mut spec = spec.clone();
        if let Some(pinned) = looked.by_person {
            spec.definition_hash =
                packs::hash_of(&json!({"manifest": spec.definition_hash, "server": pinned}));
        }
        // A server's word can only make a read ask more often, and only where the pack says
        // nothing.
        spec.open_world |= looked.open_world
            && spec.effect == Effect::ReadOnly
            && self.leaves_open(&spec.pack, server, tool);
        (!looked.off).then_some(spec)
    }

    /// Whether a manifest does not say where the reads of a server's tool go.
    fn leaves_open(&self, pack: &PackId, server: &str, tool: &str) -> bool {
        let manifests = self
            .packs
            .iter()
            .filter_map(|loaded| loaded.pack.as_ref())
            .filter(|loaded| loaded.manifest.id == *pack);
        let of_it = |entry: &ToolEntry| {
            entry.mcp.as_ref().is_some_and(|mcp| mcp.server == server && mcp.tool == tool)
        };
        manifests
            .flat_map(|loaded| &loaded.manifest.tools.tools)
            .any(|entry| of_it(entry) && entry.open_world.is_none())
    }

    /// A tool of a server elsewhere: what is signed for one server is nothing to another. Only the
    /// manifest describes it to anybody, and the client there has its own time limits and tries.
    fn moved(&self, spec: &ToolSpec, server: &str, address: &str) -> ToolSpec {
        let longest = match self.elsewhere.of(&definitions::key(&spec.pack, server)) {
            Some(Ok(client)) => client.patience().longest(),
            Some(Err(_)) | None => std::time::Duration::from_millis(spec.timeout_ms),
        };
        ToolSpec {
            timeout_ms: u64::try_from(longest.as_millis()).unwrap_or(u64::MAX),
            max_attempts: 1,
            definition_hash: packs::hash_of(
                &json!({"manifest": spec.definition_hash, "elsewhere": address}),
            ),
            ..spec.clone()
        }
    }

    /// The packs with the tools that may be used now.
    pub(crate) fn packs(&self) -> Vec<PackView> {
        let specs = self.specs();
        let of = |loaded: &LoadedPack| {
            let mut view = loaded.view.clone();
            if loaded.pack.is_some() {
                view.tools = specs.iter().filter(|spec| spec.pack == view.id).cloned().collect();
            }
            view
        };
        self.packs.iter().map(of).collect()
    }

    /// Tools of servers, with what changed.
    pub(crate) fn server_tools(&self) -> Vec<ServerTool> {
        let manifests = self
            .packs
            .iter()
            .filter_map(|loaded| loaded.pack.as_ref())
            .flat_map(|pack| &pack.tools);
        let declared: HashMap<(String, &str), Effect> = manifests
            .filter_map(|spec| match &spec.target {
                ToolTarget::Mcp { server, tool } => {
                    Some(((definitions::key(&spec.pack, server), tool.as_str()), spec.effect))
                }
                ToolTarget::BuiltIn { .. }
                | ToolTarget::Http { .. }
                | ToolTarget::Program { .. } => None,
            })
            .collect();
        let offered: BTreeSet<String> = servers::offering(&self.packs)
            .map(|(loaded, server)| definitions::key(&loaded.view.id, &server.name))
            .collect();
        let mut tools =
            self.pins.tools(|server, tool| declared.get(&(server.to_owned(), tool)).copied());
        // A tool that is neither declared nor offered can never be called.
        tools.retain(|tool| {
            tool.declared || offered.contains(&definitions::key(&tool.pack, &tool.server))
        });
        tools
    }

    pub(crate) fn loaded(&self) -> &[LoadedPack] {
        &self.packs
    }

    pub(crate) fn server_views(&self) -> Vec<ServerView> {
        self.servers.views().into_iter().map(|view| self.elsewhere.view(view)).collect()
    }

    /// A manifest with the names that are in the data; the manifest's own belong to the sample.
    fn with_names(&self, manifest: &PackManifest) -> PackManifest {
        let mut manifest = manifest.clone();
        let id = manifest.id.as_str();
        let is_named =
            self.names.load(Ordering::Acquire) || self.callers_packs.iter().any(|pack| pack == id);
        if let Some(open) = self.services.of(id).filter(|_| is_named) {
            open.service.put_names(&mut manifest);
        }
        manifest
    }

    /// From now on, names are read from the data. Returns true on the first call.
    pub(crate) fn want_names(&self) -> bool {
        let news = !self.names.swap(true, Ordering::AcqRel);
        if news {
            self.renew_names();
        }
        news
    }

    /// Reads names and specialists anew, after data with other names has come.
    pub(crate) fn renew_names(&self) {
        let packs = self.packs.iter().filter_map(|loaded| loaded.pack.as_ref());
        let named: Vec<PackManifest> = packs.map(|pack| self.with_names(&pack.manifest)).collect();
        let specs = self.specs();
        let own = |manifest: &PackManifest| {
            specs.iter().filter(|spec| spec.pack == manifest.id).cloned().collect::<Vec<ToolSpec>>()
        };
        let agents = named.iter().map(|manifest| packs::agent(manifest, &own(manifest))).collect();
        *self.named.write() = Arc::new(named);
        *self.agents.write() = Arc::new(agents);
    }

    /// The manifest of a usable pack.
    pub(crate) fn manifest_of(&self, pack: &PackId) -> Option<&PackManifest> {
        let loaded = self.packs.iter().filter_map(|loaded| loaded.pack.as_ref());
        loaded.map(|pack| &pack.manifest).find(|manifest| manifest.id == *pack)
    }

    /// Every usable pack: its manifest with the names in the data, and its tools.
    pub(crate) fn named(&self) -> Vec<(PackManifest, Vec<ToolSpec>)> {
        let named = Arc::clone(&self.named.read());
        let packs = self.packs.iter().filter_map(|loaded| loaded.pack.as_ref());
        named.iter().cloned().zip(packs.map(|pack| pack.tools.clone())).collect()
    }
}

/// Adds a tool that a server offers beyond its manifest, under names of its own. An id that another
/// pack has carries the pack in both, so that nothing said of the one is heard of the other.
fn add_offered(specs: &mut Vec<ToolSpec>, mut spec: ToolSpec) {
    let is_doubled = |specs: &[ToolSpec], spec: &ToolSpec| {
        specs.iter().any(|other| other.pack == spec.pack && other.plain_id() == spec.plain_id())
    };
    let has_name_of_another = |specs: &[ToolSpec], spec: &ToolSpec| {
        packs::is_reserved(&spec.model_name)
            || specs.iter().any(|other| other.model_name == spec.model_name)
    };
    if is_doubled(specs, &spec) || has_name_of_another(specs, &spec) {
        spec.model_name = packs::model_name(&format!("{}.{}", spec.pack, spec.id));
    }
    if is_doubled(specs, &spec) {
        spec.id.0 = format!("{}.{}", spec.pack, spec.id);
    }
    if is_doubled(specs, &spec) || has_name_of_another(specs, &spec) {
        return;
    }
    let plain = spec.plain_id();
    for other in
        specs.iter_mut().filter(|other| other.pack != spec.pack && other.plain_id() == plain)
    {
        other.id = other.qualified_id();
        spec.id = spec.qualified_id();
    }
    specs.push(spec);
}

impl Roster for HostTools {
    fn agents(&self) -> Arc<Vec<Agent>> {
        Arc::clone(&self.agents.read())
    }

    fn instructions(&self, tool: &ToolSpec) -> Instructions {
        let pack = self
            .packs
            .iter()
            .filter_map(|loaded| loaded.pack.as_ref())
            .find(|pack| pack.manifest.id == tool.pack);
        let Some(entry) = pack.and_then(|pack| pack.manifest.entry_of(tool)) else {
            return Instructions::default();
        };
        let found = packs::instructions(
            &self.folders,
            &tool.pack,
            &entry.id,
            entry.instructions.as_deref(),
        );
        Instructions {
            found: found.text.map(|(place, text)| (place.display().to_string(), text)),
            problems: found.problems,
        }
    }
}
