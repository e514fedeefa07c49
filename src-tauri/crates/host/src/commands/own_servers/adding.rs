//! Tests the MCP servers that the user enters, and adds them. Each server is started once before it
//! is added. Must not know what the servers' tools do.

use std::time::Duration;

use contract::{
    AgentError, ErrorCode, NewServer, OwnServerView, Reason, ServerAddParams, ServerTestResponse,
    Text, text,
};
use mcp::ServerConfig;
use serde_json::json;

use crate::{
    host::Host,
    servers::{
        added::{
            Downloads, KeyValues, Separated, Trial, hash_of_command, separate_keys,
            storage::StoredServer, trial,
        },
        definitions, server_key,
    },
};

/// How often and how long to wait for missing parts of the accepted tools.
const LIST_ATTEMPTS: u32 = 15;
const LIST_WAIT: Duration = Duration::from_millis(100);

impl Host {
    /// Returns a server with the values of its keys. A server with only a name stands for the added
    /// server of this name, whose keys are stored.
    pub(super) fn resolve_server(
        &self,
        server: &NewServer,
    ) -> Result<(StoredServer, Option<KeyValues>), AgentError> {
        if server.command.is_empty() && server.url.is_empty() {
            return Ok((self.own_server(&server.name)?, None));
        }
        let Separated { stored, values, .. } = separate_keys(server)?;
        Ok((stored, Some(values)))
    }

    /// Starts a server once and lists its tools. For a new server, also tries whether it works
    /// without network. If a server that is not added does not start, its files are deleted.
    pub(crate) async fn test_server(
        &self,
        server: &NewServer,
        trial: &Trial<'_>,
    ) -> Result<ServerTestResponse, AgentError> {
        let (stored, values) = self.resolve_server(server)?;
        let (name, pack) = (stored.name.clone(), stored.pack_id());
        let is_new = !self.is_name_taken(&name, &pack);
        if is_new {
            // A different program may have been tested under this name before.
            trial.note_passed(&name, None);
            self.delete_files(&pack);
            Downloads::of(self.profile.paths(), &stored).take();
        }
        let config_of = |stored: &StoredServer| -> Result<ServerConfig, AgentError> {
            let config = self.config_of(stored, &self.pack_of(stored))?;
            Ok(match values.clone() {
                Some(values) => trial::with_entered_keys(config, values),
                None => config,
            })
        };
        let runs = stored.command_or_url();
        let mut tested = trial::run_trial(config_of(&stored)?, runs, trial).await;
        if let Ok(tested) = &mut tested
            && tested.ok
            && values.is_some()
            && stored.network
            && stored.is_program()
        {
            let near = StoredServer { network: false, ..stored.clone() };
            tested.works_without_network =
                trial::works_without_network(config_of(&near)?, &tested.tools, trial).await?;
        }
        if is_new && tested.as_ref().is_ok_and(|tested| tested.ok) {
            trial.note_passed(&name, Some(hash_of_command(&stored)));
        } else if is_new {
            Downloads::of(self.profile.paths(), &stored).keep();
            self.delete_files(&pack);
        }
        if let Ok(ServerTestResponse { ok: false, message: Some(message), .. }) = &mut tested {
            *message = say_without_network(&stored, std::mem::take(message));
        }
        tested
    }

    /// Adds a server and starts it. A server that cannot be started, or that lists other tools than
    /// the accepted ones, is not added. A disabled server is not started; its tools are accepted
    /// when it is enabled.
    pub(crate) async fn add_server(
        &self,
        params: ServerAddParams,
        trial: &Trial<'_>,
    ) -> Result<OwnServerView, AgentError> {
        let Separated { mut stored, values, .. } = separate_keys(&params.server)?;
        stored.reads_may_run = params.reads_may_run;
        let (name, pack) = (stored.name.clone(), stored.pack_id());
        if self.is_name_taken(&name, &pack) {
            return Err(AgentError::invalid(text!("There is already a server {name}.", name))
                .reason("exists")
                .hint("Choose another name, or remove that server first."));
        }
        if !trial.has_passed(&name, &hash_of_command(&stored)) {
            // The new server would otherwise inherit the files that the test of another command has
            // left.
            self.delete_files(&pack);
        }
        Downloads::of(self.profile.paths(), &stored).take();
        let draft = self.server_record(&stored, "added");
        self.record(
            draft
                .field("numbers_may_change", params.numbers_may_change)
                .field("tools", json!(params.accepted)),
        )
        .await?;
        let added = self.store_server(&stored, values, params.this_run_only).await;
        let started = match added {
            Ok(()) if stored.enabled => self.start_new_server(&stored, trial).await,
            done => done,
        };
        let accepted = match started {
            Ok(()) if stored.enabled => self.accept_tools(&stored, &params).await,
            done => done,
        };
        if let Err(error) = accepted {
            if let Err(undoing) = self.remove(&name, true).await {
                tracing::warn!(error = %undoing.message, "a server that did not start was not removed");
            }
            return Err(error);
        }
        Ok(self.own_view(&stored))
    }

    /// Accepts the tools of a new server as the user saw them. The tools of a server that
    /// requires a sign-in are not known yet and are accepted later, in the approval window.
    async fn accept_tools(
        &self,
        stored: &StoredServer,
        params: &ServerAddParams,
    ) -> Result<(), AgentError> {
        if stored.signs_in() && params.accepted.is_empty() {
            return Ok(());
        }
        let (pack, name) = (stored.pack_id(), stored.name.as_str());
        for attempt in 1.. {
            let numbers = params.numbers_may_change;
            let done = self.servers.pins.accept_list(&pack, name, &params.accepted, numbers)?;
            let Err(listed) = done else {
                return Ok(());
            };
            // Some servers first list a part of their tools, and the rest a moment later.
            let is_known = |tool: &mcp::Definition| {
                let shown = params.accepted.get(&tool.name);
                shown.is_some_and(|shown| {
                    shown.hash == definitions::shown_hash(tool, &pack, name, numbers)
                })
            };
            if attempt < LIST_ATTEMPTS && listed.iter().all(is_known) {
                tokio::time::sleep(LIST_WAIT).await;
                continue;
            }
            let tools: Vec<_> =
                listed.iter().map(|tool| trial::tested_tool(&pack, name, tool)).collect();
            return Err(AgentError::invalid(
                "The server was not added, because its tools are not those that you saw.",
            )
            .reason(Reason::Changed)
            .hint("Look at its tools again before you add it.")
            .with("tools", json!(tools)));
        }
        Ok(())
    }

    async fn store_server(
        &self,
        stored: &StoredServer,
        values: KeyValues,
        this_run_only: bool,
    ) -> Result<(), AgentError> {
        self.save_server(stored, true)?;
        if stored.is_private() {
            self.allow_private_network(&stored.pack_id(), true)?;
        }
        let loaded = self.pack_of(stored);
        for (name, value) in values {
            self.keep_key(&loaded, &name, value.into(), this_run_only).await?;
        }
        let config = self.config_of(stored, &loaded)?;
        self.reload_added();
        if stored.is_program() {
            // The programs are restarted because running servers could still modify the new
            // server's program files.
            self.servers.connections.restart_programs().await;
        }
        if stored.enabled {
            self.servers.connections.put(config).await;
        }
        Ok(())
    }

    /// Starts a new server and waits for its tools. An error contains the last lines of the
    /// server's error output.
    async fn start_new_server(
        &self,
        stored: &StoredServer,
        trial: &Trial<'_>,
    ) -> Result<(), AgentError> {
        let key = server_key(&stored.pack_id(), &stored.name);
        let started = self.servers.connections.wait_until_ready(&key, trial::PATIENCE);
        let Err(failure) = trial.run_unless_stopped(started).await? else {
            return Ok(());
        };
        if stored.signs_in() {
            return Ok(());
        }
        let log = trial::last_error_lines(&self.servers.connections, &key).await;
        let message = text!(
            "The server was not added, because it did not start. {why}",
            why = say_without_network(stored, failure.error.text())
        );
        Err(AgentError::new(ErrorCode::ToolHttpError, message)
            .reason("server_not_started")
            .hint("Read the last lines of its log, correct the command or its variables, and try again.")
            .with("log", json!(log)))
    }
}

/// Adds to the reason why a server without network did not start that such a server cannot download
/// anything.
fn say_without_network(stored: &StoredServer, why: Text) -> Text {
    if stored.network {
        return why;
    }
    text!(
        "{why} It runs without network: if its package must be downloaded first, install it, or allow the network.",
        why
    )
}
