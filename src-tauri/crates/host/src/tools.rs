//! The tools of all usable packs behind one port: services linked in, and MCP servers.

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use campaign_portfolio_pacing::Pacing;
use contract::{AgentError, ErrorCode, PackView, ServerView, ToolSpec, ToolTarget};
use engine::ports::{ToolFailure, ToolRequest, Tools};
use mcp::Servers;
use packs::LoadedPack;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// The service name of the pacing pack.
pub(crate) const PACING: &str = "campaign-portfolio-pacing";

/// Where calls go.
pub(crate) struct HostTools {
    specs: RwLock<Arc<Vec<ToolSpec>>>,
    packs: Vec<LoadedPack>,
    pub(crate) pacing: Option<Arc<Pacing>>,
    pub(crate) servers: Servers,
}

impl HostTools {
    pub(crate) fn new(packs: Vec<LoadedPack>, pacing: Option<Arc<Pacing>>, servers: Servers) -> Self {
        let specs: Vec<ToolSpec> = packs.iter().filter_map(|loaded| loaded.pack.as_ref()).flat_map(|pack| pack.tools.clone()).collect();
        Self { specs: RwLock::new(Arc::new(specs)), packs, pacing, servers }
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

#[async_trait]
impl Tools for HostTools {
    fn specs(&self) -> Arc<Vec<ToolSpec>> {
        Arc::clone(&self.specs.read().unwrap_or_else(PoisonError::into_inner))
    }

    async fn run(&self, request: ToolRequest, cancel: CancellationToken) -> Result<Value, ToolFailure> {
        match &request.spec.target {
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
