//! Lists the settings that a person confirms before a server is tested or added, and before its
//! reads may run. Starts no server.

use contract::{AgentError, NewServer, ServerAddParams, ServerReadsParams, SettingChange};
use serde_json::json;

use crate::{
    host::Host,
    servers::added::{describe_server, new_setting},
};

impl Host {
    /// Describes the server that is about to be started, for a person's confirmation.
    pub(crate) fn server_change(
        &self,
        server: &NewServer,
    ) -> Result<Vec<SettingChange>, AgentError> {
        Ok(describe_server(&self.resolve_server(server)?.0, self.profile.paths()))
    }

    /// Describes the server that is about to be added, the confirmed effects, and whether its reads
    /// may run.
    pub(crate) fn server_changes(
        &self,
        params: &ServerAddParams,
    ) -> Result<Vec<SettingChange>, AgentError> {
        let mut changes = self.server_change(&params.server)?;
        let name = &params.server.name;
        changes.push(new_setting(
            format!("servers.{name}.reads_may_run"),
            params.reads_may_run.to_string(),
        ));
        if params.numbers_may_change {
            changes.push(new_setting(format!("servers.{name}.numbers_may_change"), "true"));
        }
        for (tool, accepted) in &params.accepted {
            let effect = accepted.effect.map(|effect| json!(effect));
            let effect = effect.as_ref().and_then(|effect| effect.as_str()).unwrap_or_default();
            changes.push(new_setting(format!("servers.{name}.tools.{tool}"), effect));
        }
        Ok(changes)
    }

    /// Describes a change that allows the reads of a server to run. Returns an empty list if the
    /// change allows nothing new.
    pub(crate) fn reads_change(
        &self,
        params: &ServerReadsParams,
    ) -> Result<Vec<SettingChange>, AgentError> {
        let now = self.own_server(&params.name)?.reads_may_run;
        if !params.may_run || now {
            return Ok(Vec::new());
        }
        let setting = format!("servers.{}.reads_may_run", params.name);
        Ok(vec![SettingChange { before: now.to_string(), ..new_setting(setting, "true") }])
    }
}
