//! Defines the list of commands. Every host (the window, the local socket) passes its own macro to
//! the list. A command without a handler does not compile, and a command that no window may call is
//! not registered for windows.

use async_trait::async_trait;
use serde_json::Value;

use crate::{AgentError, params::*, session::SessionView, text};

/// The access level that a command requires of its caller. Each level includes the levels before
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Any admitted client, including scripts.
    Chat,
    /// A person in one of the windows or at a terminal.
    Person,
    /// A person in the approval window or at a terminal, because the command extends what may run
    /// or which data may leave this computer.
    Widens,
}

/// Calls `$callback!` with the list: `name(Params) -> Response, level, "help";`, first the commands
/// of the chat window, then the commands that only the approval window (or a person at a terminal)
/// may call. The level is a value of `Access` and is the highest that the command can need. A host
/// may require a lower level if the parameters only restrict.
#[macro_export]
macro_rules! with_commands {
    ($callback:path) => {
        $callback! {
            chat {
                app_status(Empty) -> AppStatus, chat, "What is going on now";
                sessions_list(SessionsListParams) -> SessionsListResponse, chat, "Sessions, pinned ones first, then newest first, by title";
                session_open(SessionParams) -> SessionView, chat, "A session with its newest items";
                session_rename(SessionRenameParams) -> Empty, chat, "Give a session another title";
                session_mark(SessionMarkParams) -> Empty, chat, "Pin or archive a session, or take a mark back";
                session_delete(SessionDeleteParams) -> SessionDeleteResponse, person, "Delete a session and its items";
                session_restore(SessionParams) -> Empty, person, "Undo the deletion of a session";
                session_export(SessionExportParams) -> SessionExportResponse, chat, "Write a session into a file";
                session_erase(SessionParams) -> SessionEraseResponse, person, "Erase a session, its values in the audit log, and older copies";
                items_page(ItemsPageParams) -> ItemsPageResponse, chat, "Older items of a session";
                turn_start(TurnStartParams) -> TurnStartResponse, chat, "Send a message";
                turn_cancel(TurnCancelParams) -> Empty, chat, "Stop a turn or unqueue a message";
                turn_show(TurnParams) -> Empty, chat, "Show another version of a message, with what followed it";
                turn_delete(TurnParams) -> TurnDeleteResponse, person, "Delete a message with its answer, in all versions";
                turn_restore(TurnParams) -> Empty, person, "Undo the deletion of a message";
                approvals_list(ApprovalsListParams) -> ApprovalsListResponse, chat, "Pending actions";
                approval_open(ApprovalParams) -> Empty, chat, "Bring the approval window to the front";
                grants_list(Empty) -> GrantsListResponse, chat, "Remembered permissions";
                grant_revoke(GrantParams) -> Empty, chat, "Take a permission back";
                allowances_list(Empty) -> AllowancesResponse, chat, "Destinations that reads may send data to";
                allowance_give(AllowanceParams) -> Empty, widens, "Allow a destination for reads";
                allowance_revoke(AllowanceParams) -> Empty, chat, "Take the permission for a destination back";
                memory_list(MemoryListParams) -> MemoryListResponse, chat, "Long-term memories, newest first";
                memory_search(MemorySearchParams) -> MemorySearchResponse, chat, "Long-term memories that fit a text";
                memory_status(Empty) -> MemoryIndexView, chat, "The model that compares memories, and the progress of its index";
                memory_show(MemoryParams) -> MemoryEntry, chat, "One long-term memory";
                memory_add(MemoryAddParams) -> MemoryEntry, person, "Remember a text";
                memory_forget(MemoryParams) -> Empty, person, "Delete a long-term memory";
                memory_used(MemoryUsedParams) -> MemoryUsedResponse, chat, "The memories that an answer used, as they are now";
                memory_edit(MemoryEditParams) -> MemoryEntry, person, "Give a long-term memory another text";
                memory_pin(MemoryPinParams) -> MemoryEntry, person, "Give a long-term memory to the model with every message, or only when it fits";
                memory_switch(MemorySwitchParams) -> Empty, person, "Switch long-term memory for one session";
                memory_export(MemoryExportParams) -> MemoryExportResponse, person, "Write all long-term memories into a file";
                messages_search(MessagesSearchParams) -> MessagesSearchResponse, chat, "Messages of all sessions with these words";
                audit_list(AuditListParams) -> AuditListResponse, chat, "Records, newest first";
                audit_show(AuditShowParams) -> AuditRecordView, chat, "One record";
                audit_find(AuditFindParams) -> AuditListResponse, chat, "Records that fit a filter, newest first";
                audit_entries(AuditEntriesParams) -> AuditEntriesResponse, chat, "Questions, and records that belong to none, newest first";
                audit_entry(AuditEntryParams) -> AuditEntryResponse, chat, "One question with all that was done to answer it";
                audit_choices(Empty) -> AuditChoicesResponse, chat, "The names that a filter can have";
                audit_verify(Empty) -> VerifyReport, chat, "Check the whole log";
                audit_verify_stop(Empty) -> Empty, chat, "Stop a check of the log";
                audit_verify_folder(AuditVerifyFolderParams) -> VerifyReport, chat, "Check an exported folder";
                audit_export(AuditExportParams) -> AuditExportResponse, chat, "Write the log as plain files";
                audit_checkpoint(Empty) -> AuditCheckpointResponse, chat, "Sign the log as it stands";
                audit_alarm_open(Empty) -> Empty, chat, "Bring the approval window to the front, with the log that does not verify";
                packs_list(Empty) -> PacksListResponse, chat, "Packs, tools and servers";
                message_explain(MessageExplainParams) -> MessageExplainResponse, chat, "How the offline model understands a message";
                question_read(QuestionReadParams) -> QuestionReadResponse, chat, "Words that fit a question that is being typed, and those that would not be used";
                question_suggestions(QuestionSuggestionsParams) -> QuestionSuggestionsResponse, chat, "Questions that can be answered from the sources";
                instructions_list(Empty) -> InstructionsResponse, chat, "What each layer of instructions gives, per tool and per turn";
                prompt_preview(PromptPreviewParams) -> PromptPreviewResponse, chat, "The exact prompt that a question would send";
                server_tools(Empty) -> ServerToolsResponse, chat, "Tools of servers as they describe them, with what changed";
                server_tools_open(Empty) -> Empty, chat, "Bring the approval window to the front, with the tools that are switched off";
                server_sign_in(ServerParams) -> ServerSignInResponse, person, "Sign in to a server with a browser";
                server_sign_out(ServerParams) -> Empty, person, "Forget the tokens for a server";
                servers_read(ServersReadParams) -> ServersReadResponse, chat, "The servers in a command line, an address or the JSON of another client";
                server_test(ServerTestParams) -> ServerTestResponse, widens, "Start a server once and list its tools";
                server_add(ServerAddParams) -> OwnServerView, widens, "Add an MCP server";
                server_test_stop(OwnServerParams) -> Empty, person, "Stop the test or the first start of a server";
                server_list(Empty) -> OwnServersResponse, chat, "The servers that the user added";
                server_enable(ServerEnableParams) -> OwnServerView, person, "Switch an added server on or off";
                server_reads_set(ServerReadsParams) -> OwnServerView, widens, "Say whether the reads of an added server may run without asking";
                server_limit_set(ServerLimitParams) -> OwnServerView, person, "Set how long one call of an added server may take";
                server_start(ServerParams) -> ServerToolsResponse, person, "Start a server and list its tools as it describes them now";
                server_remove(OwnServerParams) -> Empty, person, "Remove an added server, with its keys";
                server_log(ServerParams) -> ServerLogResponse, chat, "The last lines of a server's error output";
                questions_list(Empty) -> QuestionsResponse, chat, "What servers ask the user in the middle of a call";
                question_answer(QuestionAnswerParams) -> Empty, person, "Answer a server's question, or decline";
                tool_call(ToolCallParams) -> ToolCallResponse, chat, "Call one tool under the same policy and audit";
                policy_get(Empty) -> PolicyView, chat, "What decides what may run";
                policy_check(PolicyCheckParams) -> PolicyCheckResponse, chat, "What the gate would say to a call";
                policy_backtest(PolicyBacktestParams) -> PolicyBacktestResponse, chat, "What rules would have said to past calls";
                policy_preview(PolicyPreviewParams) -> PolicyPreview, chat, "How the text of a rules file is read; nothing is changed";
                policy_rules_set(PolicyRulesParams) -> PolicyView, widens, "Store other rules, after they were confirmed";
                switch_set(SwitchSetParams) -> SettingsView, person, "Switch an agent or a tool off or on";
                run_replay(ReplayParams) -> ReplayResponse, chat, "Run a recorded message again, offline, and compare its records";
                run_request(RunParams) -> RunResponse, chat, "Run one request of the run contract";
                service_level(Empty) -> ServiceLevelView, chat, "How the last runs were served, and what they cost";
                settings_get(Empty) -> SettingsView, chat, "Settings and where they come from";
                settings_set(SettingsSetParams) -> SettingsView, widens, "Change settings";
                secret_set(SecretSetParams) -> Empty, widens, "Store a key";
                secret_delete(SecretParams) -> Empty, person, "Delete a key";
                model_test(Empty) -> ModelTestResponse, chat, "Ask the model for one word";
                model_confirm(ModelConfirmParams) -> Empty, person, "Have all that connecting a model needs confirmed at once";
                model_list(ModelListParams) -> ModelListResponse, widens, "Models that a server lists, before it is configured";
                model_servers(Empty) -> LocalServersResponse, chat, "Look for model servers on this machine";
                sources_list(Empty) -> SourcesResponse, chat, "Sources of data, by name";
                source_survey(SourceAddParams) -> SourceJob, person, "How files would be imported, and what would change; nothing is stored";
                source_add(SourceAddParams) -> SourceJob, person, "Import files into a source, or connect a database";
                source_sample(Empty) -> SourceJob, person, "Add the sample that ships with the app as sources";
                source_job(SourceJob) -> SourceJobView, chat, "How far an import is";
                source_job_stop(SourceJob) -> Empty, person, "Stop an import; nothing is kept of it";
                source_undo(SourceParams) -> SourceView, person, "Take the newest import of a source back";
                source_remove(SourceParams) -> Empty, person, "Remove a source and erase its rows";
                source_old_data_remove(Empty) -> Empty, person, "Delete the files of packs whose rows became sources";
                source_refresh(SourceParams) -> SourceJob, person, "Import new and changed files of a source's folder";
                source_describe(SourceParams) -> SourceDescription, chat, "What the columns of a source mean";
                source_define(SourceDefineParams) -> SourceDescription, person, "Change what the columns of a source mean";
                source_synonym_add(SourceSynonymParams) -> Empty, person, "Store a word as another name of a measure or dimension";
                source_approve(SourceApproveParams) -> SourceDescription, person, "Approve definitions of a source, as they were shown";
                source_measure(MeasureParams) -> DataResult, chat, "Compute figures by a metric query";
                source_query(SourceQueryParams) -> DataResult, chat, "Compute figures by one SELECT";
                source_export(ExportParams) -> ExportResponse, chat, "Write all rows of a result as a Parquet file";
                source_rows(RowsParams) -> DataResult, chat, "Rows of a source as they are stored";
                source_profile(SourceProfileParams) -> SourceProfile, chat, "Figures about the values of each column of a source";
                source_verify(VerifyParams) -> FigureCheck, chat, "Compute recorded figures again and compare";
                folder_allow(FolderParams) -> FoldersResponse, person, "Allow imports without a person from a folder";
                folders_allowed(Empty) -> FoldersResponse, chat, "Folders from which imports without a person may read";
                boards_list(Empty) -> BoardsResponse, chat, "Boards, by name";
                board_open(BoardParams) -> Board, chat, "A board with its tiles, without figures";
                board_save(BoardSaveParams) -> Board, person, "Make a board, or change one that nobody changed since it was shown";
                board_delete(BoardDeleteParams) -> Board, person, "Delete a board; the answer has what makes it again";
                board_tile_add(BoardTileAddParams) -> Board, person, "Pin a result to a board";
                board_propose(SourceParams) -> BoardContent, chat, "The first board of a source, made from its definitions; nothing is stored";
                board_tile(BoardTileParams) -> TileFigures, chat, "Compute the figures of a tile";
                board_tile_stop(BoardTileStopParams) -> Empty, chat, "Stop computing the figures of a tile";
                alerts_list(Empty) -> AlertsResponse, chat, "Alerts, open ones first";
                alerts_check(Empty) -> AlertsResponse, chat, "Check the rules of alerts now";
                alert_seen(AlertSeenParams) -> AlertsResponse, chat, "Mark alerts as seen";
                alert_rules(Empty) -> AlertRulesResponse, chat, "Rules of alerts, by name";
                alert_rule_save(AlertRuleSaveParams) -> AlertRule, person, "Make a rule of alerts, or change one that nobody changed since it was shown";
                alert_rule_remove(AlertRuleRemoveParams) -> AlertRule, person, "Delete a rule of alerts; the answer has what makes it again";
                alert_rule_try(AlertRuleTryParams) -> AlertTrial, chat, "On which past days a rule would have told something; nothing is stored";
                doctor(Empty) -> DoctorResponse, chat, "Check the installation";
            }
            approval {
                approval_pending(Empty) -> ApprovalsListResponse, chat, "Pending actions in full";
                approval_form(ApprovalParams) -> ApprovalFormResponse, chat, "What the arguments of a pending action may be";
                approval_decide(ApprovalDecideParams) -> ApprovalDecideResponse, widens, "Approve, edit or reject";
                approval_ask_again(ApprovalParams) -> Approval, widens, "Propose an action again whose time ran out";
                audit_alarm(Empty) -> AuditAlarmResponse, chat, "The log that does not verify, if it is so";
                audit_accept_new_log(Empty) -> AuditAcceptResponse, widens, "Set a log that does not verify aside and begin a new one";
                policy_set(PolicySetParams) -> Empty, widens, "Change what may run; only here may it be widened";
                terminal_decisions_set(TerminalDecisionsParams) -> Empty, widens, "Let csign decide too";
                server_tools_accept(ServerToolsAcceptParams) -> Empty, widens, "Accept tools as their server describes them now";
                server_tool_effect(ServerToolEffectParams) -> Empty, widens, "Say what a tool changes that no manifest declares";
                confirmations(Empty) -> ConfirmationsResponse, chat, "Changes of settings that wait for a yes";
                confirmation_decide(ConfirmationDecideParams) -> Empty, widens, "Make a change of settings, or leave them as they are";
            }
        }
    };
}

/// Maps a level's word in the list to `Access`. An unknown word does not compile.
#[macro_export]
macro_rules! access {
    (chat) => {
        $crate::commands::Access::Chat
    };
    (person) => {
        $crate::commands::Access::Person
    };
    (widens) => {
        $crate::commands::Access::Widens
    };
}

macro_rules! handlers {
    (
        chat { $($name:ident($params:ty) -> $response:ty, $level:ident, $help:literal;)+ }
        approval { $($aname:ident($aparams:ty) -> $aresponse:ty, $alevel:ident, $ahelp:literal;)+ }
    ) => {
        /// The interface of a host: with a method per command.
        #[async_trait]
        pub trait Commands: Send + Sync {
            $(#[doc = $help] async fn $name(&self, params: $params) -> Result<$response, AgentError>;)+
            $(#[doc = $ahelp] async fn $aname(&self, params: $aparams) -> Result<$aresponse, AgentError>;)+
        }

        /// Names of the commands that the chat window may call.
        pub const CHAT_COMMANDS: &[&str] = &[$(stringify!($name)),+];
        /// Names of the commands that only the approval window may call.
        pub const APPROVAL_COMMANDS: &[&str] = &[$(stringify!($aname)),+];

        /// The highest access level that each command requires.
        pub const ACCESS: &[(&str, Access)] = &[$((stringify!($name), $crate::access!($level)),)+ $((stringify!($aname), $crate::access!($alevel)),)+];

        /// Calls a command by name with JSON parameters, for hosts that use JSON (the local
        /// socket).
        pub async fn dispatch(handler: &dyn Commands, command: &str, params: Value) -> Result<Value, AgentError> {
            match command {
                $(stringify!($name) => answer(handler.$name(read(params)?).await?),)+
                $(stringify!($aname) => answer(handler.$aname(read(params)?).await?),)+
                other => Err(AgentError::invalid(text!("There is no command {name}.", name = other.to_string())).reason("unknown_command")),
            }
        }

        /// The name, parameter type and response type of every command, for the generated
        /// TypeScript.
        pub const SIGNATURES: &[(&str, &str, &str)] = &[
            $((stringify!($name), stringify!($params), stringify!($response)),)+
            $((stringify!($aname), stringify!($aparams), stringify!($aresponse)),)+
        ];
    };
}

use crate::{
    approval::Approval,
    audit::{AuditRecordView, VerifyReport},
    rules::PolicyView,
    run::RunResponse,
    service::ServiceLevelView,
};

with_commands!(handlers);

fn read<T: serde::de::DeserializeOwned>(params: Value) -> Result<T, AgentError> {
    serde_json::from_value(params).map_err(|e| {
        AgentError::invalid(text!("The parameters do not fit: {error}.", error = e))
            .reason("invalid_request")
    })
}

fn answer<T: serde::Serialize>(value: T) -> Result<Value, AgentError> {
    serde_json::to_value(value)
        .map_err(|_| AgentError::internal("serialization", "The answer could not be written."))
}
