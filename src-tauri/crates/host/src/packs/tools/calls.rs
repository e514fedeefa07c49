//! Sends calls of packs' tools to a service of the app, a server, an HTTP address or a program.

use std::sync::Arc;

use async_trait::async_trait;
use contract::{
    AgentError, AgentId, CallerKind, Effect, ErrorCode, PackId, Reason, ToolId, ToolSpec,
    ToolTarget, json_text,
    manifest::{DataFlow, MemberAliases, ProgramCall},
    pack_code::PackCall,
    text,
};
use engine::ports::{
    Adapted, Profile as _, Resume, Roster as _, ToolFailure, ToolRequest, Tools, agent_of,
};
use mcp::PerSessionCall;
use packs::run::{Permit, ProgramSetup, run_program};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    data::{self, WeakSources},
    keys::{self, Declared, Destination},
    packs::{adapters, memory_service},
    profile::create_private_folder,
    servers::{Gate, RemoteOverride, definitions},
};

use super::HostTools;

impl HostTools {
    /// Runs a program in its pack's folder, with only the arguments and variables that the manifest
    /// names.
    async fn run_program(
        &self,
        call: &ProgramCall,
        request: &ToolRequest,
        cancel: &CancellationToken,
    ) -> Result<Value, ToolFailure> {
        let refused = |error| ToolFailure { error, may_have_happened: false };
        let spec = &request.spec;
        let folder = self
            .loaded_packs()
            .iter()
            .find(|loaded| loaded.pack.is_some() && loaded.view.id == spec.pack)
            .map(|loaded| loaded.folder.clone());
        let folder = folder.ok_or_else(|| {
            refused(AgentError::internal(
                "tool_config_error",
                text!("The pack {pack} is gone.", pack = spec.pack),
            ))
        })?;
        // Links are resolved here as they are for the program itself, so that both paths can be
        // compared.
        let folder = folder.canonicalize().unwrap_or(folder);
        let program =
            mcp::resolve_program(&call.command, &folder, &self.program_dir).map_err(|problem| {
                refused(AgentError::internal(
                    "tool_config_error",
                    text!("{tool} cannot be run: {problem}", tool = spec.title, problem),
                ))
            })?;
        let data = call.data_dir.then(|| self.profile.paths().pack_data(spec.pack.as_str()));
        if let Some(data) = &data {
            create_private_folder(data).map_err(|e| {
                refused(AgentError::internal(
                    "data_dir",
                    text!("{path} cannot be used: {error}.", path = data.display(), error = e),
                ))
            })?;
        }
        let secret = self.key_of(spec).await.map_err(refused)?;
        let secret =
            secret.and_then(|value| Some((keys::needed_credential(spec)?.to_owned(), value)));
        let env = call
            .env
            .iter()
            .filter_map(|name| Some((name.clone(), std::env::var(name).ok()?)))
            .collect();
        run_program(
            call,
            request,
            ProgramSetup { program, pack_folder: folder, data, env, secret },
            cancel,
        )
        .await
    }

    async fn call_built_in(
        &self,
        service: &str,
        request: &ToolRequest,
        cancel: CancellationToken,
    ) -> Result<Value, ToolFailure> {
        let done = match service {
            memory_service::NAME => self.memory.call(request).await,
            data::SERVICE => match self.sources.get().and_then(WeakSources::upgrade) {
                Some(sources) => sources.call(request, cancel).await,
                None => Err(not_started()),
            },
            _ => Err(AgentError::new(
                ErrorCode::ToolNotFound,
                text!("The service {service} is not part of this app.", service),
            )
            .reason("tool_not_implemented")),
        };
        done.map_err(|error| ToolFailure { error, may_have_happened: false })
    }
}

fn not_started() -> AgentError {
    AgentError::internal("not_started", "Countersign is starting or ending.")
}

/// Calls the remote server that replaces the pack's own server.
async fn call_override(
    stands_in: RemoteOverride,
    tool: &str,
    request: &ToolRequest,
    arguments: Value,
    cancel: CancellationToken,
) -> Result<Value, ToolFailure> {
    let client = stands_in.map_err(|error| ToolFailure { error, may_have_happened: false })?;
    let reads = is_read(&request.spec);
    client.call(PerSessionCall { session: &request.session, tool, arguments, reads }, cancel).await
}

fn is_read(spec: &ToolSpec) -> bool {
    match spec.effect {
        Effect::ReadOnly => true,
        Effect::Write | Effect::Destructive => false,
    }
}

/// Returns the answer of a server as the manifest of its pack describes it: as JSON, even if it
/// arrived as text, and only the structured part. The answer of a server that the user added stays
/// unchanged.
fn as_declared(spec: &ToolSpec, answer: Value) -> Value {
    if spec.pack.is_of_added_server() {
        return answer;
    }
    let read = |part: Value| match part {
        Value::String(text) => {
            json_text::value_or_text(text.as_bytes()).unwrap_or(Value::String(text))
        }
        other => other,
    };
    match json_text::structured_part(&answer) {
        Some(structured) => structured.clone(),
        None => match answer {
            Value::Array(parts) => parts.into_iter().map(read).collect(),
            one => read(one),
        },
    }
}

/// The target of a read.
struct Reads<'a> {
    key: &'a str,
    tool: &'a str,
    timeout: std::time::Duration,
    elsewhere: Option<RemoteOverride>,
}

impl HostTools {
    /// Calls a pack's server, or the remote server that replaces it.
    async fn call_server(
        &self,
        server: &str,
        tool: &str,
        request: &ToolRequest,
        cancel: CancellationToken,
        resume: &dyn Resume,
    ) -> Result<Value, ToolFailure> {
        // The engine sets no limit here, because the server's connection restarts the limit at each
        // progress report.
        let limit = if request.spec.timeout_ms == 0 { 10_000 } else { request.spec.timeout_ms };
        let timeout = std::time::Duration::from_millis(limit);
        let key = definitions::server_key(&request.spec.pack, server);
        let elsewhere = self.servers.overrides.override_of(&key);
        let _attended = (request.attended && elsewhere.is_none())
            .then(|| self.servers.questions.count_attended_call(key.clone()));
        let arguments = request.arguments.clone();
        let adapter = adapters::adapter_of(&self.adapters, &request.spec.pack);
        let locale = self.locale(&request.caller);
        let call = self.pack_call(
            (&request.caller, &request.spec),
            tool,
            elsewhere.is_some(),
            &locale,
            &request.asked,
        );
        let is_reachable = !matches!(elsewhere, Some(Err(_)));
        if let Some(known) = adapter.known(&call, &arguments).filter(|_| is_reachable) {
            return known.map_err(|error| ToolFailure { error, may_have_happened: false });
        }
        let read = |arguments: Value| {
            self.read_tool(
                Reads { key: &key, tool, timeout, elsewhere: elsewhere.clone() },
                request,
                arguments,
                cancel.clone(),
            )
        };
        match (request.spec.effect, &elsewhere) {
            (Effect::ReadOnly, _) => {
                let further = |arguments: Value| async {
                    resume
                        .again(&arguments)
                        .await
                        .map_err(|error| ToolFailure { error, may_have_happened: false })?;
                    read(arguments).await
                };
                adapters::read_with_follow_up(adapter, &call, arguments, &read, &further).await
            }
            (Effect::Write | Effect::Destructive, Some(stands_in)) => {
                call_override(stands_in.clone(), tool, request, arguments, cancel.clone())
                    .await
                    .map(|answer| adapter.answer(&call, answer))
            }
            (Effect::Write | Effect::Destructive, None) => {
                let gate = Gate {
                    questions: &self.servers.questions,
                    server: key.clone(),
                    engine: resume,
                };
                self.servers
                    .connections
                    .call_effect(&key, tool, arguments, timeout, cancel.clone(), &gate)
                    .await
                    .map(|answer| as_declared(&request.spec, answer))
            }
        }
    }

    async fn read_tool(
        &self,
        at: Reads<'_>,
        request: &ToolRequest,
        arguments: Value,
        cancel: CancellationToken,
    ) -> Result<Value, ToolFailure> {
        match at.elsewhere {
            Some(stands_in) => call_override(stands_in, at.tool, request, arguments, cancel).await,
            None => self
                .servers
                .connections
                .call(at.key, at.tool, arguments, at.timeout, cancel)
                .await
                .map(|answer| as_declared(&request.spec, answer)),
        }
    }

    /// Returns the names that the manifest defines for members of a tool's arguments and results.
    fn member_aliases(&self, spec: &ToolSpec) -> Option<MemberAliases> {
        let packs = self.loaded_packs();
        let mut loaded = packs.iter().filter_map(|loaded| loaded.pack.as_ref());
        let pack = loaded.find(|pack| pack.manifest.id == spec.pack)?;
        pack.manifest.entry_of(spec)?.aliases.clone()
    }

    /// Returns a call in the form for the adapter of its pack.
    fn pack_call<'a>(
        &self,
        (caller, spec): (&'a CallerKind, &ToolSpec),
        tool: &'a str,
        is_remote: bool,
        locale: &'a str,
        asked: &'a Value,
    ) -> PackCall<'a> {
        PackCall { tool, is_read: is_read(spec), is_remote, caller, locale, asked }
    }

    /// Returns the language for a caller that states none: the profile's language, or none for a
    /// remote caller.
    fn locale(&self, caller: &CallerKind) -> String {
        if caller.is_remote() { String::new() } else { self.profile.locale() }
    }

    /// Returns a picture that a pack's server draws, by the path that results contain.
    pub(crate) async fn read_picture(&self, path: &str) -> Result<Vec<u8>, AgentError> {
        let found =
            self.adapters.iter().find_map(|adapter| Some((adapter.pack(), adapter.picture(path)?)));
        let (pack, picture) = found.ok_or_else(|| {
            AgentError::new(ErrorCode::ToolNotFound, "No pack provides this picture.")
        })?;
        let key = definitions::server_key(&pack.into(), picture.server);
        if let Some(stands_in) = self.servers.overrides.override_of(&key) {
            return stands_in?.picture(path).await.map_err(|failure| failure.error);
        }
        let read = self
            .servers
            .connections
            .read_resource(
                &key,
                &picture.uri,
                std::time::Duration::from_secs(10),
                CancellationToken::new(),
            )
            .await;
        read.map(|resource| resource.bytes).map_err(|failure| failure.error)
    }
}

/// Refuses further requests in a call where no gate can approve or record them. Such a call ends
/// with an error.
struct NoAnswers;

#[async_trait]
impl Resume for NoAnswers {
    async fn resume(&self, _: &Value) -> Result<(), AgentError> {
        Err(AgentError::new(
            ErrorCode::ApprovalRequired,
            "The server asks for input first, and nobody can approve the call with it here.",
        )
        .reason("approval_required"))
    }

    async fn again(&self, _: &Value) -> Result<(), AgentError> {
        Err(AgentError::internal(
            Reason::AuditUnavailable,
            "A further request of this call cannot be recorded here.",
        ))
    }
}

#[async_trait]
impl Tools for HostTools {
    fn specs(&self) -> Arc<Vec<ToolSpec>> {
        Arc::clone(&self.specs.read())
    }

    fn agent_of(&self, tool: &ToolId) -> Option<AgentId> {
        agent_of(&self.agents(), &self.specs(), tool)
    }

    fn data_flow(&self, pack: &PackId) -> Option<DataFlow> {
        self.loaded_packs().iter().find(|loaded| loaded.view.id == *pack)?.view.data_flow.clone()
    }

    fn reads_files(&self, pack: &PackId) -> bool {
        // Rows of sources were written by others.
        pack.as_str() == data::SERVICE
    }

    fn accepted_definition(&self, spec: &ToolSpec) -> Option<String> {
        let (server, tool) = spec.target.tool_of_server()?;
        let looked =
            self.servers.pins.check_tool(&definitions::server_key(&spec.pack, server), tool);
        looked.by_person.filter(|_| looked.is_classified)
    }

    async fn check(&self, spec: &ToolSpec) -> Result<(), AgentError> {
        let ToolTarget::Mcp { server, .. } = &spec.target else {
            let Some(variable) = keys::needed_credential(spec) else { return Ok(()) };
            return self
                .keys
                .credentials
                .check_credential(
                    spec.pack.as_str(),
                    variable,
                    &Destination::of_tool(spec, &self.loaded_packs()),
                    &spec.title,
                )
                .await;
        };
        // A server behind an address cannot be called without its keys, but a program can run
        // without them.
        let at = definitions::server_key(&spec.pack, server);
        let stands_in = self.servers.overrides.override_of(&at).transpose()?.is_some();
        let packs = self.loaded_packs();
        let keys = self.credential_keys(&packs, &|key: &str| stands_in && key == at);
        let is_needed = |key: &&Declared<'_>| {
            key.pack.view.id == spec.pack
                && key.of_server
                && key.who == server
                && key.destination != Destination::Program
        };
        for Declared { variable, destination, .. } in keys.iter().filter(is_needed) {
            self.keys
                .credentials
                .check_credential(spec.pack.as_str(), variable, destination, server)
                .await?;
        }
        Ok(())
    }

    fn adapt(&self, caller: &CallerKind, spec: &ToolSpec, arguments: Value) -> Adapted {
        let ToolTarget::Mcp { server, tool } = &spec.target else {
            return Adapted { arguments, is_sent: true };
        };
        let is_remote = self
            .servers
            .overrides
            .override_of(&definitions::server_key(&spec.pack, server))
            .is_some();
        let adapter = adapters::adapter_of(&self.adapters, &spec.pack);
        let (locale, asked) = (self.locale(caller), arguments.clone());
        let call = self.pack_call((caller, spec), tool, is_remote, &locale, &asked);
        let arguments = adapter.arguments(&call, arguments);
        let arguments = match self.member_aliases(spec) {
            Some(aliases) => adapters::rename_arguments(&aliases, arguments),
            None => arguments,
        };
        let is_sent = adapter.known(&call, &arguments).is_none();
        Adapted { arguments, is_sent }
    }

    fn keeps_time(&self, spec: &ToolSpec) -> bool {
        spec.target.tool_of_server().is_some_and(|(server, _)| {
            let key = definitions::server_key(&spec.pack, server);
            self.servers.overrides.override_of(&key).is_none()
        })
    }

    fn waits_for_person(&self, spec: &ToolSpec) -> bool {
        spec.target.tool_of_server().is_some_and(|(server, _)| {
            self.servers.questions.is_waiting(&definitions::server_key(&spec.pack, server))
        })
    }

    async fn run(
        &self,
        request: ToolRequest,
        cancel: CancellationToken,
    ) -> Result<Value, ToolFailure> {
        self.run_resumable(request, cancel, &NoAnswers).await
    }

    async fn run_resumable(
        &self,
        request: ToolRequest,
        cancel: CancellationToken,
        resume: &dyn Resume,
    ) -> Result<Value, ToolFailure> {
        let spec = Arc::clone(&request.spec);
        let done = match &request.spec.target {
            ToolTarget::Http { call } => {
                let secret = self
                    .key_of(&request.spec)
                    .await
                    .map_err(|error| ToolFailure { error, may_have_happened: false })?;
                let private_network = self
                    .profile
                    .settings()
                    .packs
                    .get(request.spec.pack.as_str())
                    .is_some_and(|choice| choice.private_network);
                self.http.run(call, &request, &Permit { private_network, secret }, &cancel).await
            }
            ToolTarget::Program { call } => self.run_program(call, &request, &cancel).await,
            ToolTarget::BuiltIn { service } => self.call_built_in(service, &request, cancel).await,
            ToolTarget::Mcp { server, tool } => {
                self.call_server(server, tool, &request, cancel, resume).await
            }
        };
        let aliases = self.member_aliases(&spec);
        done.map(|answer| match aliases {
            Some(aliases) => adapters::rename_result(&aliases, answer),
            None => answer,
        })
    }
}
