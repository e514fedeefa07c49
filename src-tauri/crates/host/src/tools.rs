//! The tools of all usable packs behind one port: services linked in, MCP servers, and what `packs` runs itself.

use std::{
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
};

use async_trait::async_trait;
use campaign_portfolio_pacing::{Dataset, Pacing};
use contract::{
    AgentError, AgentId, ErrorCode, PackId, PackView, ServerView, ToolId, ToolSpec, ToolTarget,
    manifest::{DataFlow, PackManifest, ProgramCall},
};
use engine::ports::{Agent, Instructions, Profile, Roster, ToolFailure, ToolRequest, Tools};
use mcp::Servers;
use packs::{
    LoadedPack,
    run::{HttpRunner, Permit, Place, run_program},
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    Paths,
    credentials::{self, Credentials},
    paths::make_private,
    profile::LiveProfile,
};

/// The service name of the pacing pack.
pub(crate) const PACING: &str = "campaign-portfolio-pacing";

/// Where calls go.
pub(crate) struct HostTools {
    specs: RwLock<Arc<Vec<ToolSpec>>>,
    packs: Vec<LoadedPack>,
    pub(crate) pacing: Option<Arc<Pacing>>,
    pub(crate) servers: Servers,
    pub(crate) credentials: Credentials,
    http: HttpRunner,
    profile: Arc<LiveProfile>,
    paths: Paths,
    program_dir: PathBuf,
    /// Folders of packs, the user's first.
    folders: Vec<PathBuf>,
    /// The manifests of usable packs with the names that are in the data.
    named: RwLock<Arc<Vec<PackManifest>>>,
    agents: RwLock<Arc<Vec<Agent>>>,
}

/// What the tools work with.
pub(crate) struct Means {
    pub(crate) pacing: Option<Arc<Pacing>>,
    pub(crate) servers: Servers,
    pub(crate) credentials: Credentials,
    pub(crate) profile: Arc<LiveProfile>,
    pub(crate) paths: Paths,
    pub(crate) program_dir: PathBuf,
    pub(crate) folders: Vec<PathBuf>,
}

impl HostTools {
    pub(crate) fn new(packs: Vec<LoadedPack>, means: Means) -> Self {
        let Means { pacing, servers, credentials, profile, paths, program_dir, folders } = means;
        let specs: Vec<ToolSpec> = packs.iter().filter_map(|loaded| loaded.pack.as_ref()).flat_map(|pack| pack.tools.clone()).collect();
        let http = HttpRunner::default();
        Self {
            specs: RwLock::new(Arc::new(specs)),
            packs,
            pacing,
            servers,
            credentials,
            http,
            profile,
            paths,
            program_dir,
            folders,
            named: RwLock::default(),
            agents: RwLock::default(),
        }
    }

    pub(crate) fn packs(&self) -> Vec<PackView> {
        self.packs.iter().map(|loaded| loaded.view.clone()).collect()
    }

    pub(crate) fn loaded(&self) -> &[LoadedPack] {
        &self.packs
    }

    pub(crate) fn server_views(&self) -> Vec<ServerView> {
        self.servers.views()
    }

    /// A manifest with the names that are in the data; the manifest's own belong to the sample.
    fn with_names(&self, manifest: &PackManifest) -> PackManifest {
        let mut manifest = manifest.clone();
        let Some(pacing) = self.pacing.as_ref().filter(|_| manifest.id.as_str() == PACING) else { return manifest };
        let named = pacing.entities().unwrap_or_default();
        if !named.is_empty() {
            manifest.entities.retain(|entity| named.iter().any(|n| n.kind == entity.kind && n.id == entity.id));
            for entity in named {
                if !manifest.entities.iter().any(|e| e.kind == entity.kind && e.id == entity.id) {
                    manifest.entities.push(entity);
                }
            }
        }
        if pacing.dataset().is_ok_and(|dataset| dataset != Dataset::Sample)
            && let Some(agent) = &mut manifest.agent
        {
            // The default account is one of the sample's.
            agent.defaults.iter_mut().for_each(|default| default.value = None);
        }
        manifest
    }

    /// Reads names and specialists anew, after data with other names has come.
    pub(crate) fn renew_names(&self) {
        let packs = || self.packs.iter().filter_map(|loaded| loaded.pack.as_ref());
        let named: Vec<PackManifest> = packs().map(|pack| self.with_names(&pack.manifest)).collect();
        let agents = named.iter().zip(packs()).map(|(manifest, pack)| packs::agent(manifest, &pack.tools)).collect();
        *self.named.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(named);
        *self.agents.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(agents);
    }

    /// Every usable pack: its manifest with the names in the data, and its tools.
    pub(crate) fn named(&self) -> Vec<(PackManifest, Vec<ToolSpec>)> {
        let named = Arc::clone(&self.named.read().unwrap_or_else(PoisonError::into_inner));
        let packs = self.packs.iter().filter_map(|loaded| loaded.pack.as_ref());
        named.iter().cloned().zip(packs.map(|pack| pack.tools.clone())).collect()
    }

    /// Runs a program of a pack where the pack lies, with what its manifest names and nothing else.
    async fn program(&self, call: &ProgramCall, request: &ToolRequest, cancel: &CancellationToken) -> Result<Value, ToolFailure> {
        let refused = |error| ToolFailure { error, may_have_happened: false };
        let spec = &request.spec;
        let folder = self.packs.iter().find(|loaded| loaded.pack.is_some() && loaded.view.id == spec.pack).map(|loaded| loaded.folder.clone());
        let folder = folder.ok_or_else(|| refused(AgentError::internal("tool_config_error", format!("The pack {} is gone.", spec.pack))))?;
        // Links followed, as for the program itself: what is compared later must be of one kind.
        let folder = folder.canonicalize().unwrap_or(folder);
        let program = mcp::resolve_program(&call.command, &folder, &self.program_dir)
            .map_err(|problem| refused(AgentError::internal("tool_config_error", format!("{} cannot be run: {problem}", spec.title))))?;
        let data = call.data_dir.then(|| self.paths.pack_data(spec.pack.as_str()));
        if let Some(data) = &data {
            make_private(data).map_err(|e| refused(AgentError::internal("data_dir", format!("{} cannot be used: {e}.", data.display()))))?;
        }
        let secret = self.credentials.of(spec).await.map_err(refused)?;
        let secret = secret.and_then(|value| Some((credentials::needed(spec)?.to_owned(), value)));
        let env = call.env.iter().filter_map(|name| Some((name.clone(), std::env::var(name).ok()?))).collect();
        run_program(call, request, Place { program, pack_folder: folder, data, env, secret }, cancel).await
    }

    async fn built_in(&self, service: &str, arguments: Value) -> Result<Value, ToolFailure> {
        let Some(pacing) = self.pacing.clone().filter(|_| service == PACING) else {
            let error = AgentError::new(ErrorCode::ToolNotFound, format!("The service {service} is not part of this app.")).reason("tool_not_implemented");
            return Err(ToolFailure { error, may_have_happened: false });
        };
        let done = tokio::task::spawn_blocking(move || pacing.analyze(&arguments)).await;
        match done {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(ToolFailure { error, may_have_happened: false }),
            Err(_) => Err(ToolFailure { error: AgentError::internal("service_failed", "The pacing service failed."), may_have_happened: false }),
        }
    }
}

impl Roster for HostTools {
    fn agents(&self) -> Arc<Vec<Agent>> {
        Arc::clone(&self.agents.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn instructions(&self, tool: &ToolSpec) -> Instructions {
        let pack = self.packs.iter().filter_map(|loaded| loaded.pack.as_ref()).find(|pack| pack.manifest.id == tool.pack);
        let Some(entry) = pack.and_then(|pack| packs::entry_of(&pack.manifest, tool)) else { return Instructions::default() };
        let found = packs::instructions(&self.folders, &tool.pack, &entry.id, entry.instructions.as_deref());
        Instructions { found: found.text.map(|(place, text)| (place.display().to_string(), text)), problems: found.problems }
    }
}

#[async_trait]
impl Tools for HostTools {
    fn specs(&self) -> Arc<Vec<ToolSpec>> {
        Arc::clone(&self.specs.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn agent_of(&self, tool: &ToolId) -> Option<AgentId> {
        self.agents().iter().find(|agent| agent.tools.contains(tool)).map(|agent| agent.id.clone())
    }

    fn data_flow(&self, pack: &PackId) -> Option<DataFlow> {
        self.packs.iter().find(|loaded| loaded.view.id == *pack)?.view.data_flow.clone()
    }

    async fn check(&self, spec: &ToolSpec) -> Result<(), AgentError> {
        self.credentials.of(spec).await.map(|_| ())
    }

    async fn run(&self, request: ToolRequest, cancel: CancellationToken) -> Result<Value, ToolFailure> {
        match &request.spec.target {
            ToolTarget::Http { call } => {
                let secret = self.credentials.of(&request.spec).await.map_err(|error| ToolFailure { error, may_have_happened: false })?;
                let private_network = self.profile.settings().packs.get(request.spec.pack.as_str()).is_some_and(|choice| choice.private_network);
                self.http.run(call, &request, &Permit { private_network, secret }, &cancel).await
            }
            ToolTarget::Program { call } => self.program(call, &request, &cancel).await,
            ToolTarget::BuiltIn { service } => self.built_in(service, request.arguments).await,
            ToolTarget::Mcp { server, tool } => {
                // A little before the engine's own limit, so that the server hears of it and its miss is counted.
                let limit = if request.spec.timeout_ms == 0 { 10_000 } else { request.spec.timeout_ms };
                let timeout = std::time::Duration::from_millis(limit.saturating_sub(limit / 20).max(1));
                self.servers.call(server, tool, request.arguments, timeout, cancel).await
            }
        }
    }
}
