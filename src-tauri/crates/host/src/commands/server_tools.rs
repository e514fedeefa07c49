//! Accepts the tool definitions of servers: starts a server to read its current list, records the
//! definitions that a person accepts, and pins them. Must not know how definitions are compared.

use std::time::Duration;

use contract::{
    AgentError, RecordType, ServerParams, ServerToolEffectParams, ServerToolsAcceptParams,
    ServerToolsResponse,
};
use engine::ports::RecordDraft;
use serde_json::json;

use crate::{host::Host, servers::server_key};

/// The maximum time for a server to start, which is long because a first start may download
/// packages.
const PATIENCE: Duration = Duration::from_secs(125);

impl Host {
    /// Starts a server, unless a person must accept its manifest first. Returns the server's tools
    /// as it describes them now, and its manifest if the manifest has changed.
    pub(crate) async fn start_and_list(
        &self,
        params: &ServerParams,
    ) -> Result<ServerToolsResponse, AgentError> {
        let ServerParams { pack, server } = params;
        if self.servers.pins.is_manifest_accepted(pack) {
            let key = server_key(pack, server);
            let started = self.servers.connections.wait_until_ready(&key, PATIENCE).await;
            started.map_err(|failure| failure.error)?;
        }
        let mut tools = self.packs.tools.server_tools();
        tools.retain(|tool| {
            tool.pack == *pack && (tool.server == *server || tool.server.is_empty())
        });
        Ok(ServerToolsResponse { tools })
    }

    /// Accepts tools as they were shown. The change is recorded first, because access must not be
    /// widened without a record.
    pub(crate) async fn accept_shown(
        &self,
        params: &ServerToolsAcceptParams,
    ) -> Result<(), AgentError> {
        let ServerToolsAcceptParams { pack, server, hashes, numbers_may_change } = params;
        let draft = |setting: &str| {
            RecordDraft::new(RecordType::SettingChanged)
                .field("setting", setting)
                .field("pack", pack.as_str())
                .field("server", server.as_str())
        };
        for (tool, hash) in hashes {
            let effect = self.packs.tools.effect_of(pack, server, tool);
            let draft = draft("server_tool")
                .field("action", "accepted")
                .field("tool", tool.as_str())
                .field("definition", hash.as_str())
                .field("effect", json!(effect));
            self.record(draft).await?;
        }
        if let Some(may_change) = numbers_may_change {
            let draft = draft("server_numbers").field("may_change", *may_change);
            self.record(draft).await?;
        }
        self.servers.pins.accept_definitions(params)
    }

    /// Sets the effect of a tool that its pack does not declare.
    pub(crate) async fn set_effect(
        &self,
        params: ServerToolEffectParams,
    ) -> Result<(), AgentError> {
        let ServerToolEffectParams { pack, server, name, effect } = params;
        let declared = self.packs.tools.server_tools().into_iter().any(|tool| {
            tool.declared && tool.pack == pack && tool.server == server && tool.name == name
        });
        if declared {
            return Err(AgentError::invalid("The pack states the effect of this tool.")
                .hint("Change the pack's manifest instead."));
        }
        let draft = RecordDraft::new(RecordType::SettingChanged)
            .field("setting", "server_tool")
            .field("pack", pack.as_str())
            .field("action", "effect");
        self.record(
            draft
                .field("server", server.as_str())
                .field("tool", name.as_str())
                .field("effect", json!(effect)),
        )
        .await?;
        self.servers.pins.set_effect(&pack, &server, &name, effect)?;
        Ok(())
    }

    /// Deletes the tokens of a server and ends its connection.
    pub(crate) async fn forget_sign_in(&self, params: &ServerParams) -> Result<(), AgentError> {
        self.keys.delete_tokens(&params.pack, &params.server).await?;
        let draft = RecordDraft::new(RecordType::SettingChanged)
            .field("setting", "server_tokens")
            .field("pack", params.pack.as_str());
        self.record(draft.field("server", params.server.as_str()).field("action", "deleted"))
            .await?;
        self.servers.connections.disconnect(&server_key(&params.pack, &params.server));
        Ok(())
    }
}
