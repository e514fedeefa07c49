//! The one list of commands. Every host (the window, the local socket) passes its own macro in; a command without a
//! handler does not compile, and a command that no window may call is not registered for one.

use async_trait::async_trait;
use serde_json::Value;

use crate::{AgentError, params::*, session::SessionView};

/// Calls `$callback!` with the list: `name(Params) -> Response, "help";`, first the commands of the chat window, then those
/// that only the approval window (or a person at a terminal) may call.
#[macro_export]
macro_rules! with_commands {
    ($callback:path) => {
        $callback! {
            chat {
                app_status(Empty) -> AppStatus, "What is going on now";
                sessions_list(SessionsListParams) -> SessionsListResponse, "Sessions, newest first, by title";
                session_open(SessionParams) -> SessionView, "A session with its newest items";
                session_rename(SessionRenameParams) -> Empty, "Give a session another title";
                session_delete(SessionParams) -> Empty, "Delete a session and its items";
                items_page(ItemsPageParams) -> ItemsPageResponse, "Older items of a session";
                turn_start(TurnStartParams) -> TurnStartResponse, "Send a message";
                turn_cancel(TurnCancelParams) -> Empty, "Stop a turn or unqueue a message";
                approvals_list(ApprovalsListParams) -> ApprovalsListResponse, "Pending actions";
                approval_open(ApprovalParams) -> Empty, "Bring the approval window to the front";
                grants_list(Empty) -> GrantsListResponse, "Remembered permissions";
                grant_revoke(GrantParams) -> Empty, "Take a permission back";
                audit_list(AuditListParams) -> AuditListResponse, "Records, newest first";
                audit_show(AuditShowParams) -> AuditRecordView, "One record";
                audit_verify(Empty) -> VerifyReport, "Check the whole log";
                audit_export(AuditExportParams) -> AuditExportResponse, "Write the log as plain files";
                audit_checkpoint(Empty) -> AuditCheckpointResponse, "Sign the log as it stands";
                audit_alarm_open(Empty) -> Empty, "Bring the approval window to the front, with the log that does not verify";
                packs_list(Empty) -> PacksListResponse, "Packs, tools and servers";
                instructions_list(Empty) -> InstructionsResponse, "What each layer of instructions gives, per tool and per turn";
                prompt_preview(PromptPreviewParams) -> PromptPreviewResponse, "The exact prompt that a question would send";
                server_tools(Empty) -> ServerToolsResponse, "Tools of servers as they describe them, with what changed";
                server_tools_open(Empty) -> Empty, "Bring the approval window to the front, with the tools that are switched off";
                server_sign_in(ServerParams) -> ServerSignInResponse, "Sign in to a server with a browser";
                server_sign_out(ServerParams) -> Empty, "Forget the tokens for a server";
                questions_list(Empty) -> QuestionsResponse, "What servers ask the user in the middle of a call";
                question_answer(QuestionAnswerParams) -> Empty, "Answer a server's question, or decline";
                tool_call(ToolCallParams) -> ToolCallResponse, "Call one tool under the same policy and audit";
                policy_get(Empty) -> PolicyView, "What decides what may run";
                policy_check(PolicyCheckParams) -> PolicyCheckResponse, "What the gate would say to a call";
                switch_set(SwitchSetParams) -> SettingsView, "Switch an agent or a tool off or on";
                run_request(RunParams) -> RunResponse, "Run one request of the run contract";
                service_level(Empty) -> ServiceLevelView, "How the last runs were served, and what they cost";
                settings_get(Empty) -> SettingsView, "Settings and where they come from";
                settings_set(SettingsSetParams) -> SettingsView, "Change settings";
                secret_set(SecretSetParams) -> Empty, "Store a key";
                secret_delete(SecretParams) -> Empty, "Delete a key";
                model_test(Empty) -> ModelTestResponse, "Ask the model for one word";
                model_servers(Empty) -> LocalServersResponse, "Look for model servers on this machine";
                import_start(ImportStartParams) -> ImportStartResponse, "Read delivery files";
                import_status(ImportParams) -> ImportView, "How far an import is";
                import_cancel(ImportParams) -> Empty, "Stop an import; nothing is kept of it";
                datasets_list(Empty) -> DatasetsResponse, "Which delivery data there is and which of it answers";
                dataset_use(DatasetUseParams) -> DatasetsResponse, "Let the sample or the imported data answer";
                doctor(Empty) -> DoctorResponse, "Check the installation";
            }
            approval {
                approval_pending(Empty) -> ApprovalsListResponse, "Pending actions in full";
                approval_decide(ApprovalDecideParams) -> ApprovalDecideResponse, "Approve, edit or reject";
                audit_alarm(Empty) -> AuditAlarmResponse, "The log that does not verify, if it is so";
                audit_accept_new_log(Empty) -> AuditAcceptResponse, "Set a log that does not verify aside and begin a new one";
                policy_set(PolicySetParams) -> Empty, "Change what may run; only here may it be widened";
                terminal_decisions_set(TerminalDecisionsParams) -> Empty, "Let csign decide too";
                server_tool_accept(ServerToolAcceptParams) -> Empty, "Accept a tool as its server describes it now";
                server_tool_effect(ServerToolEffectParams) -> Empty, "Say what a tool changes that no manifest declares";
            }
        }
    };
}

macro_rules! handlers {
    (chat { $($name:ident($params:ty) -> $response:ty, $help:literal;)+ } approval { $($aname:ident($aparams:ty) -> $aresponse:ty, $ahelp:literal;)+ }) => {
        /// What a host implements: one method per command.
        #[async_trait]
        pub trait Commands: Send + Sync {
            $(#[doc = $help] async fn $name(&self, params: $params) -> Result<$response, AgentError>;)+
            $(#[doc = $ahelp] async fn $aname(&self, params: $aparams) -> Result<$aresponse, AgentError>;)+
        }

        /// Names of the commands that the chat window may call.
        pub const CHAT_COMMANDS: &[&str] = &[$(stringify!($name)),+];
        /// Names of the commands that only the approval window may call.
        pub const APPROVAL_COMMANDS: &[&str] = &[$(stringify!($aname)),+];

        /// Calls a command by name with JSON, for hosts that speak JSON anyway (the local socket).
        pub async fn dispatch(handler: &dyn Commands, command: &str, params: Value) -> Result<Value, AgentError> {
            match command {
                $(stringify!($name) => answer(handler.$name(read(params)?).await?),)+
                $(stringify!($aname) => answer(handler.$aname(read(params)?).await?),)+
                other => Err(AgentError::invalid(format!("There is no command {other}.")).reason("unknown_command")),
            }
        }

        /// Name, parameter type and answer type of every command, for the generated TypeScript.
        pub const SIGNATURES: &[(&str, &str, &str)] = &[
            $((stringify!($name), stringify!($params), stringify!($response)),)+
            $((stringify!($aname), stringify!($aparams), stringify!($aresponse)),)+
        ];
    };
}

use crate::{
    audit::{AuditRecordView, VerifyReport},
    rules::PolicyView,
    run::RunResponse,
    service::ServiceLevelView,
};

with_commands!(handlers);

fn read<T: serde::de::DeserializeOwned>(params: Value) -> Result<T, AgentError> {
    serde_json::from_value(params).map_err(|e| AgentError::invalid(format!("The parameters do not fit: {e}.")).reason("invalid_request"))
}

fn answer<T: serde::Serialize>(value: T) -> Result<Value, AgentError> {
    serde_json::to_value(value).map_err(|_| AgentError::internal("serialization", "The answer could not be written."))
}
