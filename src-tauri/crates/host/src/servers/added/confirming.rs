//! Everything that a person confirms before an added server runs: the whole command, its folder,
//! its variables and choices. Keys are named and not shown. Starts nothing.

use contract::{AgentError, NewServer, ServerAddParams, ServerReadsParams, SettingChange};
use serde_json::json;

use super::{storage::StoredServer, variables::find_warning};
use crate::Host;

/// The word that is shown in the place of a key.
const SECRET: &str = "secret";

fn change(setting: String, after: impl Into<String>) -> SettingChange {
    SettingChange { setting, before: String::new(), after: after.into(), note: None }
}

impl Host {
    /// Returns the folder in which the program of an added server runs. Empty for an address.
    pub(super) fn working_folder(&self, stored: &StoredServer) -> String {
        let own = self.paths.pack_data(stored.pack_id().as_str());
        let folder = stored.cwd.clone().unwrap_or(own);
        if stored.is_program() { folder.display().to_string() } else { String::new() }
    }

    /// Describes a server for a person.
    pub(super) fn changes_of(&self, stored: &StoredServer) -> Vec<SettingChange> {
        let at = format!("servers.{}", stored.name);
        let mut changes = vec![change(at.clone(), stored.command_or_url())];
        let values = if stored.is_program() { "variables" } else { "headers" };
        if stored.is_program() {
            changes.push(change(format!("{at}.folder"), self.working_folder(stored)));
            changes.push(change(format!("{at}.network"), stored.network.to_string()));
        }
        if !stored.enabled {
            changes.push(change(format!("{at}.enabled"), "false"));
        }
        let plain = stored.env.iter().map(|(name, value)| (name, value.as_str()));
        for (name, value) in plain.chain(stored.keys.keys().map(|name| (name, SECRET))) {
            let note = find_warning(name).filter(|_| stored.is_program());
            changes.push(SettingChange { note, ..change(format!("{at}.{values}.{name}"), value) });
        }
        changes
    }

    /// Describes the server that is about to be started, for a person's confirmation.
    pub(crate) fn server_change(
        &self,
        server: &NewServer,
    ) -> Result<Vec<SettingChange>, AgentError> {
        Ok(self.changes_of(&self.resolve_server(server)?.0))
    }

    /// Describes the server that is about to be added, the confirmed effects, and whether its reads
    /// may run.
    pub(crate) fn server_changes(
        &self,
        params: &ServerAddParams,
    ) -> Result<Vec<SettingChange>, AgentError> {
        let mut changes = self.server_change(&params.server)?;
        let name = &params.server.name;
        changes.push(change(
            format!("servers.{name}.reads_may_run"),
            params.reads_may_run.to_string(),
        ));
        if params.numbers_may_change {
            changes.push(change(format!("servers.{name}.numbers_may_change"), "true"));
        }
        for (tool, accepted) in &params.accepted {
            let effect = accepted.effect.map(|effect| json!(effect));
            let effect = effect.as_ref().and_then(|effect| effect.as_str()).unwrap_or_default();
            changes.push(change(format!("servers.{name}.tools.{tool}"), effect));
        }
        Ok(changes)
    }

    /// Describes a change that lets the reads of a server run. Empty if it lets nothing more run.
    pub(crate) fn reads_change(
        &self,
        params: &ServerReadsParams,
    ) -> Result<Vec<SettingChange>, AgentError> {
        let now = self.own_server(&params.name)?.reads_may_run;
        if !params.may_run || now {
            return Ok(Vec::new());
        }
        let setting = format!("servers.{}.reads_may_run", params.name);
        Ok(vec![SettingChange { before: now.to_string(), ..change(setting, "true") }])
    }
}
