//! The tools, specialists and offline phrases that remote callers can use: those of some packs
//! only. The same process offers all packs to the owner of the profile. Knows no HTTP.

use std::{collections::HashMap, sync::Arc};

use async_trait::async_trait;
use contract::{
    AgentError, AgentId, CallerKind, ErrorCode, PackId, ToolId, ToolSpec, manifest::DataFlow, text,
};
use engine::ports::{
    Access, Adapted, Agent, Instructions, Model, Models, Reachable, Resume, Roster, ToolFailure,
    ToolRequest, Tools, agent_of,
};
use offline::{OfflineModel, OfflinePack};
use parking_lot::Mutex;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::tools::HostTools;
use crate::models::HostModels;

/// The parts that are available to callers with access to some packs only. Each list of packs is
/// prepared once.
pub(crate) struct HostAccess {
    tools: Arc<HostTools>,
    models: Arc<HostModels>,
    prepared: Mutex<HashMap<Arc<[PackId]>, Reachable>>,
}

impl HostAccess {
    pub(crate) fn new(tools: &Arc<HostTools>, models: &Arc<HostModels>) -> Self {
        let (tools, models) = (Arc::clone(tools), Arc::clone(models));
        Self { tools, models, prepared: Mutex::default() }
    }

    fn prepare(&self, packs: &Arc<[PackId]>) -> Reachable {
        let mut known = self.tools.usable_packs();
        known.retain(|(manifest, _)| packs.contains(&manifest.id));
        packs::qualify(&mut known.iter_mut().flat_map(|(_, specs)| specs).collect::<Vec<_>>());
        let known =
            known.into_iter().map(|(manifest, specs)| OfflinePack::new(manifest, specs)).collect();
        let models = Arc::new(LimitedModels {
            models: Arc::clone(&self.models),
            offline: Arc::new(OfflineModel::for_callers(known)),
        });
        let limited = Arc::new(LimitedTools {
            all: Arc::clone(&self.tools),
            packs: Arc::clone(packs),
            specs: Selected::default(),
            agents: Selected::default(),
        });
        Reachable { tools: Arc::clone(&limited) as _, roster: limited, models }
    }
}

impl Access for HostAccess {
    fn reachable(&self, packs: &Arc<[PackId]>) -> Reachable {
        let mut prepared = self.prepared.lock();
        prepared.entry(Arc::clone(packs)).or_insert_with(|| self.prepare(packs)).clone()
    }
}

/// Selects elements of a list, and caches the selection.
struct Selected<T>(Mutex<Option<Selection<T>>>);

struct Selection<T> {
    /// The source list. It is kept in memory, so that no other list can get the same address.
    of: Arc<Vec<T>>,
    selected: Arc<Vec<T>>,
}

impl<T> Default for Selected<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Selected<T> {
    fn select_from(&self, all: Arc<Vec<T>>, select: impl Fn(&[T]) -> Vec<T>) -> Arc<Vec<T>> {
        let mut kept = self.0.lock();
        if let Some(kept) = kept.as_ref().filter(|kept| Arc::ptr_eq(&kept.of, &all)) {
            debug_assert!(kept.selected.len() <= kept.of.len());
            return Arc::clone(&kept.selected);
        }
        let selected = Arc::new(select(&all));
        *kept = Some(Selection { of: all, selected: Arc::clone(&selected) });
        selected
    }
}

/// The tools and specialists of some packs. Their names do not depend on other packs, so that
/// another installed pack changes nothing for callers.
struct LimitedTools {
    all: Arc<HostTools>,
    packs: Arc<[PackId]>,
    specs: Selected<ToolSpec>,
    agents: Selected<Agent>,
}

impl LimitedTools {
    fn has_pack(&self, pack: &PackId) -> bool {
        self.packs.contains(pack)
    }

    fn check_reach(&self, spec: &ToolSpec) -> Result<(), AgentError> {
        if self.has_pack(&spec.pack) {
            return Ok(());
        }
        Err(AgentError::new(
            ErrorCode::ToolNotFound,
            text!("There is no tool named {name}.", name = spec.id),
        ))
    }
}

impl Roster for LimitedTools {
    fn agents(&self) -> Arc<Vec<Agent>> {
        let specs = self.specs();
        let renamed = |agent: &Agent| {
            let reachable = |id: &ToolId| {
                let named = || specs.iter().filter(move |spec| spec.is_named(id));
                let own = named().find(|spec| spec.pack == agent.pack);
                own.or_else(|| named().next()).map(|spec| spec.id.clone())
            };
            Agent { tools: agent.tools.iter().filter_map(reachable).collect(), ..agent.clone() }
        };
        self.agents.select_from(self.all.agents(), |all| {
            all.iter().filter(|agent| self.has_pack(&agent.pack)).map(renamed).collect()
        })
    }

    fn instructions(&self, tool: &ToolSpec, agent: Option<&Agent>) -> Instructions {
        self.all.instructions(tool, agent)
    }
}

#[async_trait]
impl Tools for LimitedTools {
    fn specs(&self) -> Arc<Vec<ToolSpec>> {
        self.specs.select_from(self.all.specs(), |all| {
            let mut own: Vec<ToolSpec> =
                all.iter().filter(|spec| self.has_pack(&spec.pack)).cloned().collect();
            packs::qualify(&mut own.iter_mut().collect::<Vec<_>>());
            own
        })
    }

    fn agent_of(&self, tool: &ToolId) -> Option<AgentId> {
        agent_of(&self.agents(), &self.specs(), tool)
    }

    fn data_flow(&self, pack: &PackId) -> Option<DataFlow> {
        self.all.data_flow(pack)
    }

    fn reads_files(&self, pack: &PackId) -> bool {
        self.all.reads_files(pack)
    }

    fn accepted_definition(&self, spec: &ToolSpec) -> Option<String> {
        self.all.accepted_definition(spec)
    }

    async fn check(&self, spec: &ToolSpec) -> Result<(), AgentError> {
        self.check_reach(spec)?;
        self.all.check(spec).await
    }

    fn adapt(&self, caller: &CallerKind, spec: &ToolSpec, arguments: Value) -> Adapted {
        self.all.adapt(caller, spec, arguments)
    }

    fn keeps_time(&self, spec: &ToolSpec) -> bool {
        self.all.keeps_time(spec)
    }

    fn waits_for_person(&self, spec: &ToolSpec) -> bool {
        self.all.waits_for_person(spec)
    }

    async fn run(
        &self,
        request: ToolRequest,
        cancel: CancellationToken,
    ) -> Result<Value, ToolFailure> {
        self.check_reach(&request.spec)
            .map_err(|error| ToolFailure { error, may_have_happened: false })?;
        self.all.run(request, cancel).await
    }

    async fn run_resumable(
        &self,
        request: ToolRequest,
        cancel: CancellationToken,
        resume: &dyn Resume,
    ) -> Result<Value, ToolFailure> {
        self.check_reach(&request.spec)
            .map_err(|error| ToolFailure { error, may_have_happened: false })?;
        self.all.run_resumable(request, cancel, resume).await
    }
}

/// The profile's models, with an offline model that knows only some packs.
struct LimitedModels {
    models: Arc<HostModels>,
    offline: Arc<OfflineModel>,
}

impl Models for LimitedModels {
    fn current(&self, name: Option<&str>) -> Arc<dyn Model> {
        self.models.current_with(name, &self.offline)
    }
}
