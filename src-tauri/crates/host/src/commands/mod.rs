//! The host's implementation of the command list. Each command takes a few lines here; other
//! modules do the work.

use std::path::PathBuf;

use async_trait::async_trait;
use contract::*;
use engine::{Decided, ports::Models as _};
use tokio_util::sync::CancellationToken;

use crate::{
    host::Host,
    models::{offline_answer, test_response},
    servers::{added::read_servers, server_key},
};

mod approvals;
mod backtest;
mod boards;
mod data;
mod doctor;
mod erasure;
mod log;
mod memory_export;
mod model;
mod own_servers;
mod recovery;
pub(crate) mod replay;
mod rules;
mod server_tools;
mod session_export;
mod settings;
mod turns;

pub use doctor::examine_unopened;
use model::find_model_servers;

#[async_trait]
impl Commands for Host {
    async fn app_status(&self, _: Empty) -> Result<AppStatus, AgentError> {
        self.read_status().await
    }

    async fn sessions_list(
        &self,
        params: SessionsListParams,
    ) -> Result<SessionsListResponse, AgentError> {
        self.engine.sessions.list(&params).await
    }
    async fn session_open(&self, params: SessionParams) -> Result<SessionView, AgentError> {
        self.engine.sessions.open(&params.session).await
    }
    async fn session_rename(&self, params: SessionRenameParams) -> Result<Empty, AgentError> {
        self.engine.sessions.rename(&params.session, &params.title).await.map(|()| Empty {})
    }
    async fn session_mark(&self, params: SessionMarkParams) -> Result<Empty, AgentError> {
        self.engine.sessions.mark(&params).await.map(|()| Empty {})
    }
    async fn session_delete(
        &self,
        params: SessionDeleteParams,
    ) -> Result<SessionDeleteResponse, AgentError> {
        self.check_alarm()?;
        if params.undo {
            self.engine.sessions.delete_undoably(&params.session).await?;
            return Ok(SessionDeleteResponse { undo_seconds: engine::UNDO_SECONDS });
        }
        self.engine.sessions.delete(&params.session).await?;
        Ok(SessionDeleteResponse { undo_seconds: 0 })
    }
    async fn session_restore(&self, params: SessionParams) -> Result<Empty, AgentError> {
        self.engine.sessions.restore(&params.session).await.map(|()| Empty {})
    }
    async fn session_export(
        &self,
        params: SessionExportParams,
    ) -> Result<SessionExportResponse, AgentError> {
        self.export_session(&params).await
    }
    async fn session_erase(
        &self,
        params: SessionParams,
    ) -> Result<SessionEraseResponse, AgentError> {
        self.erase_session(&params.session).await
    }
    async fn items_page(&self, params: ItemsPageParams) -> Result<ItemsPageResponse, AgentError> {
        self.engine.sessions.items_page(&params).await
    }
    async fn turn_start(&self, params: TurnStartParams) -> Result<TurnStartResponse, AgentError> {
        self.turn_start_from(Caller::inside(), params).await
    }
    async fn turn_cancel(&self, params: TurnCancelParams) -> Result<Empty, AgentError> {
        self.engine.turns.cancel(&params).await.map(|()| Empty {})
    }

    async fn approvals_list(
        &self,
        params: ApprovalsListParams,
    ) -> Result<ApprovalsListResponse, AgentError> {
        Ok(ApprovalsListResponse {
            approvals: self.engine.approvals.list(params.include_decided).await?,
            expired: Vec::new(),
        })
    }
    async fn approval_open(&self, params: ApprovalParams) -> Result<Empty, AgentError> {
        self.check_action(&params.id).await.map(|()| Empty {})
    }
    async fn approval_pending(&self, _: Empty) -> Result<ApprovalsListResponse, AgentError> {
        self.list_pending_actions().await
    }
    async fn approval_form(
        &self,
        params: ApprovalParams,
    ) -> Result<ApprovalFormResponse, AgentError> {
        self.engine.approvals.form(&params.id).await
    }
    async fn approval_ask_again(&self, params: ApprovalParams) -> Result<Approval, AgentError> {
        self.check_alarm()?;
        self.engine.approvals.ask_again(&params.id, &Caller::window()).await
    }
    async fn approval_decide(
        &self,
        params: ApprovalDecideParams,
    ) -> Result<ApprovalDecideResponse, AgentError> {
        self.check_alarm()?;
        let Decided { approval, result } =
            self.engine.approvals.decide(params, &Caller::window()).await?;
        Ok(ApprovalDecideResponse { approval, result })
    }
    async fn policy_set(&self, params: PolicySetParams) -> Result<Empty, AgentError> {
        self.set_policy(params.policy).await.map(|()| Empty {})
    }
    async fn terminal_decisions_set(
        &self,
        params: TerminalDecisionsParams,
    ) -> Result<Empty, AgentError> {
        self.set_terminal_decisions(params.enabled).await.map(|()| Empty {})
    }
    async fn grants_list(&self, _: Empty) -> Result<GrantsListResponse, AgentError> {
        Ok(GrantsListResponse { grants: self.engine.grants.list().await? })
    }
    async fn allowances_list(&self, _: Empty) -> Result<AllowancesResponse, AgentError> {
        Ok(AllowancesResponse { allowances: self.engine.allowances.list().await? })
    }
    async fn allowance_give(&self, params: AllowanceParams) -> Result<Empty, AgentError> {
        self.give_allowance(&params, &Caller::window().kind).await
    }
    async fn allowance_revoke(&self, params: AllowanceParams) -> Result<Empty, AgentError> {
        let (destination, session) = (&params.destination, params.session.as_ref());
        self.engine.allowances.revoke(destination, session).await.map(|()| Empty {})
    }
    async fn grant_revoke(&self, params: GrantParams) -> Result<Empty, AgentError> {
        self.engine.grants.revoke(&params.id).await.map(|()| Empty {})
    }

    async fn memory_list(
        &self,
        params: MemoryListParams,
    ) -> Result<MemoryListResponse, AgentError> {
        self.engine.memories.list(&params).await
    }
    async fn memory_search(
        &self,
        params: MemorySearchParams,
    ) -> Result<MemorySearchResponse, AgentError> {
        self.engine.memories.search(&params).await
    }
    async fn memory_status(&self, _: Empty) -> Result<contract::MemoryIndexView, AgentError> {
        self.engine.memories.index.status().await
    }
    async fn memory_show(&self, params: MemoryParams) -> Result<MemoryEntry, AgentError> {
        self.engine.memories.show(&params.id).await
    }
    async fn memory_add(&self, params: MemoryAddParams) -> Result<MemoryEntry, AgentError> {
        self.check_alarm()?;
        self.engine.memories.add(&params).await
    }
    async fn memory_forget(&self, params: MemoryParams) -> Result<Empty, AgentError> {
        self.check_alarm()?;
        self.engine.memories.forget(&params.id).await.map(|()| Empty {})
    }

    async fn memory_used(
        &self,
        params: MemoryUsedParams,
    ) -> Result<MemoryUsedResponse, AgentError> {
        self.engine.memories.used(&params).await
    }
    async fn memory_edit(&self, params: MemoryEditParams) -> Result<MemoryEntry, AgentError> {
        self.check_alarm()?;
        self.engine.memories.edit(&params).await
    }
    async fn memory_pin(&self, params: MemoryPinParams) -> Result<MemoryEntry, AgentError> {
        self.check_alarm()?;
        self.engine.memories.pin(&params).await
    }
    async fn memory_switch(&self, params: MemorySwitchParams) -> Result<Empty, AgentError> {
        self.check_alarm()?;
        self.engine.memories.switch.set(&params).await.map(|()| Empty {})
    }
    async fn memory_export(
        &self,
        params: MemoryExportParams,
    ) -> Result<MemoryExportResponse, AgentError> {
        self.export_memories(&PathBuf::from(params.folder)).await
    }
    async fn messages_search(
        &self,
        params: MessagesSearchParams,
    ) -> Result<MessagesSearchResponse, AgentError> {
        self.engine.sessions.search(&params).await
    }

    async fn audit_list(&self, params: AuditListParams) -> Result<AuditListResponse, AgentError> {
        self.log.list(params).await
    }
    async fn audit_show(&self, params: AuditShowParams) -> Result<AuditRecordView, AgentError> {
        self.log.show(params.seq).await
    }
    async fn audit_find(&self, params: AuditFindParams) -> Result<AuditListResponse, AgentError> {
        self.log.find(params).await
    }
    async fn audit_entries(
        &self,
        params: AuditEntriesParams,
    ) -> Result<AuditEntriesResponse, AgentError> {
        self.log.entries(params).await
    }
    async fn audit_entry(
        &self,
        params: AuditEntryParams,
    ) -> Result<AuditEntryResponse, AgentError> {
        self.log.entry(params).await
    }
    async fn audit_choices(&self, _: Empty) -> Result<AuditChoicesResponse, AgentError> {
        self.log.choices().await
    }
    async fn audit_verify(&self, _: Empty) -> Result<VerifyReport, AgentError> {
        self.verify_with_progress().await
    }
    async fn audit_verify_stop(&self, _: Empty) -> Result<Empty, AgentError> {
        self.log.stop_verification();
        Ok(Empty {})
    }
    async fn audit_verify_folder(
        &self,
        params: AuditVerifyFolderParams,
    ) -> Result<VerifyReport, AgentError> {
        crate::log::verify_folder(params.folder.into()).await
    }
    async fn audit_alarm_open(&self, _: Empty) -> Result<Empty, AgentError> {
        // The desktop shell opens the window.
        Ok(Empty {})
    }
    async fn audit_alarm(&self, _: Empty) -> Result<AuditAlarmResponse, AgentError> {
        Ok(AuditAlarmResponse { alarm: self.log.ledger.alarm().map(|alarm| alarm.shown) })
    }
    async fn audit_accept_new_log(&self, _: Empty) -> Result<AuditAcceptResponse, AgentError> {
        Ok(AuditAcceptResponse { set_aside: self.accept_new_log("window").await? })
    }
    async fn audit_export(
        &self,
        params: AuditExportParams,
    ) -> Result<AuditExportResponse, AgentError> {
        self.export_log(params).await
    }
    async fn audit_checkpoint(&self, _: Empty) -> Result<AuditCheckpointResponse, AgentError> {
        self.log.checkpoint().await
    }

    async fn packs_list(&self, _: Empty) -> Result<PacksListResponse, AgentError> {
        Ok(PacksListResponse {
            packs: self.packs.tools.packs(),
            servers: self.servers.views(),
            isolation: packs::run::isolation(),
        })
    }
    async fn message_explain(
        &self,
        params: MessageExplainParams,
    ) -> Result<MessageExplainResponse, AgentError> {
        Ok(self.models.explain_message(&params.text, self.now()))
    }
    async fn instructions_list(&self, _: Empty) -> Result<InstructionsResponse, AgentError> {
        Ok(self.engine.instructions.read().await)
    }
    async fn prompt_preview(
        &self,
        params: PromptPreviewParams,
    ) -> Result<PromptPreviewResponse, AgentError> {
        self.engine.prompt_previews.compute(&params).await
    }
    async fn server_tools_open(&self, _: Empty) -> Result<Empty, AgentError> {
        // The desktop shell opens the window.
        Ok(Empty {})
    }
    async fn server_tools(&self, _: Empty) -> Result<ServerToolsResponse, AgentError> {
        Ok(ServerToolsResponse { tools: self.packs.tools.server_tools() })
    }
    async fn server_tools_accept(
        &self,
        params: ServerToolsAcceptParams,
    ) -> Result<Empty, AgentError> {
        self.check_alarm()?;
        self.accept_shown(&params).await.map(|()| Empty {})
    }
    async fn server_tool_effect(
        &self,
        params: ServerToolEffectParams,
    ) -> Result<Empty, AgentError> {
        self.check_alarm()?;
        self.set_effect(params).await.map(|()| Empty {})
    }
    async fn server_sign_in(
        &self,
        params: ServerParams,
    ) -> Result<ServerSignInResponse, AgentError> {
        let sign_in =
            self.servers.connections.sign_in(&server_key(&params.pack, &params.server)).await?;
        Ok(ServerSignInResponse { url: sign_in.url })
    }
    async fn server_sign_out(&self, params: ServerParams) -> Result<Empty, AgentError> {
        self.forget_sign_in(&params).await.map(|()| Empty {})
    }
    async fn servers_read(
        &self,
        params: ServersReadParams,
    ) -> Result<ServersReadResponse, AgentError> {
        read_servers(&params, self.profile.paths())
    }
    async fn server_test(
        &self,
        params: ServerTestParams,
    ) -> Result<ServerTestResponse, AgentError> {
        self.check_alarm()?;
        let trial = self.servers.trials.begin_trial(&params.server.name);
        self.test_server(&params.server, &trial).await
    }
    async fn server_add(&self, params: ServerAddParams) -> Result<OwnServerView, AgentError> {
        self.check_alarm()?;
        let trial = self.servers.trials.begin_trial(&params.server.name);
        self.add_server(params, &trial).await
    }
    async fn server_test_stop(&self, params: OwnServerParams) -> Result<Empty, AgentError> {
        self.servers.trials.stop_trial(&params.name);
        Ok(Empty {})
    }
    async fn server_list(&self, _: Empty) -> Result<OwnServersResponse, AgentError> {
        Ok(OwnServersResponse { servers: self.own_servers() })
    }
    async fn server_enable(&self, params: ServerEnableParams) -> Result<OwnServerView, AgentError> {
        self.check_alarm()?;
        self.enable_server(&params.name, params.enabled).await
    }
    async fn server_reads_set(
        &self,
        params: ServerReadsParams,
    ) -> Result<OwnServerView, AgentError> {
        if params.may_run {
            self.check_alarm()?;
        }
        self.set_reads(&params).await
    }
    async fn server_limit_set(
        &self,
        params: ServerLimitParams,
    ) -> Result<OwnServerView, AgentError> {
        self.check_alarm()?;
        self.set_limit(&params).await
    }
    async fn server_start(&self, params: ServerParams) -> Result<ServerToolsResponse, AgentError> {
        self.check_alarm()?;
        self.start_and_list(&params).await
    }
    async fn server_remove(&self, params: OwnServerParams) -> Result<Empty, AgentError> {
        self.check_alarm()?;
        self.remove_server(&params.name).await.map(|()| Empty {})
    }
    async fn server_log(&self, params: ServerParams) -> Result<ServerLogResponse, AgentError> {
        let key = server_key(&params.pack, &params.server);
        Ok(ServerLogResponse { lines: self.servers.connections.log(&key) })
    }
    async fn questions_list(&self, _: Empty) -> Result<QuestionsResponse, AgentError> {
        Ok(QuestionsResponse { questions: self.servers.questions.list_questions() })
    }
    async fn question_answer(&self, params: QuestionAnswerParams) -> Result<Empty, AgentError> {
        self.servers.questions.answer_question(&params.id, params.answer).map(|()| Empty {})
    }
    async fn tool_call(&self, params: ToolCallParams) -> Result<ToolCallResponse, AgentError> {
        self.call_tool_in_turn(
            TurnId(self.process.options.ids.next("turn")),
            Caller::inside(),
            params,
            CancellationToken::new(),
        )
        .await
    }

    async fn policy_get(&self, _: Empty) -> Result<PolicyView, AgentError> {
        Ok(self.profile.policy_view(self.now()))
    }
    async fn policy_check(
        &self,
        params: PolicyCheckParams,
    ) -> Result<PolicyCheckResponse, AgentError> {
        self.engine.direct_calls.check_policy(params).await
    }
    async fn policy_backtest(
        &self,
        params: PolicyBacktestParams,
    ) -> Result<PolicyBacktestResponse, AgentError> {
        self.backtest_policy(params).await
    }
    async fn policy_preview(
        &self,
        params: PolicyPreviewParams,
    ) -> Result<PolicyPreview, AgentError> {
        self.preview_rules(&params)
    }
    async fn policy_rules_set(&self, params: PolicyRulesParams) -> Result<PolicyView, AgentError> {
        self.set_rules(&params).await
    }
    async fn run_replay(&self, params: ReplayParams) -> Result<ReplayResponse, AgentError> {
        self.replay_run(&params).await
    }
    async fn switch_set(&self, params: SwitchSetParams) -> Result<SettingsView, AgentError> {
        self.set_switch(params).await
    }

    async fn run_request(&self, params: RunParams) -> Result<RunResponse, AgentError> {
        self.check_alarm()?;
        self.check_packs(None)?;
        self.engine.runs.run(params).await
    }
    async fn service_level(&self, _: Empty) -> Result<ServiceLevelView, AgentError> {
        let model = self.models.current(None);
        self.engine
            .service_level
            .read(self.profile.prices_view(model.label(), model.in_process()))
            .await
    }

    async fn settings_get(&self, _: Empty) -> Result<SettingsView, AgentError> {
        Ok(self.settings_view().await)
    }
    async fn confirmations(&self, _: Empty) -> Result<ConfirmationsResponse, AgentError> {
        Ok(ConfirmationsResponse { confirmations: self.pushes.confirmations.list() })
    }
    async fn confirmation_decide(
        &self,
        params: ConfirmationDecideParams,
    ) -> Result<Empty, AgentError> {
        self.pushes.confirmations.decide(&params.id, params.accept).map(|()| Empty {})
    }
    async fn settings_set(&self, params: SettingsSetParams) -> Result<SettingsView, AgentError> {
        self.set_settings(params.settings).await
    }
    async fn secret_set(&self, params: SecretSetParams) -> Result<Empty, AgentError> {
        self.check_alarm()?;
        self.store_secret(params).await.map(|()| Empty {})
    }
    async fn secret_delete(&self, params: SecretParams) -> Result<Empty, AgentError> {
        self.check_alarm()?;
        self.delete_secret(&params.name).await.map(|()| Empty {})
    }
    async fn model_test(&self, _: Empty) -> Result<ModelTestResponse, AgentError> {
        let tested = self.test_model().await.map_or_else(offline_answer, test_response);
        self.engine.models.scrub_said(tested)
    }
    async fn model_confirm(&self, _: ModelConfirmParams) -> Result<Empty, AgentError> {
        // No confirmation is needed for a caller that may widen access itself.
        Ok(Empty {})
    }
    async fn model_list(&self, params: ModelListParams) -> Result<ModelListResponse, AgentError> {
        self.engine.models.scrub_said(self.models.list_models(params).await?)
    }
    async fn model_servers(&self, _: Empty) -> Result<LocalServersResponse, AgentError> {
        Ok(find_model_servers().await)
    }

    async fn data_entries(&self, params: DataEntriesParams) -> Result<DataEntries, AgentError> {
        self.packs.imports.list_entries(params).await
    }
    async fn data_entry_set(
        &self,
        params: DataEntryParams,
    ) -> Result<DataEntryResponse, AgentError> {
        self.enter_data(params).await
    }
    async fn data_survey(&self, params: DataSurveyParams) -> Result<FileSurvey, AgentError> {
        self.packs.imports.survey_file(params).await
    }
    async fn data_layout_forget(&self, params: DataLayoutParams) -> Result<Empty, AgentError> {
        self.check_alarm()?;
        self.packs.imports.forget_layout(params).await.map(|()| Empty {})
    }
    async fn data_import(
        &self,
        params: DataImportParams,
    ) -> Result<DataImportResponse, AgentError> {
        self.check_alarm()?;
        let job = self.process.options.ids.next("import");
        let paths = params.paths.into_iter().map(PathBuf::from).collect();
        self.packs.imports.start(job, &params.pack, paths, params.options.unwrap_or_default())
    }
    async fn data_import_status(&self, params: ImportParams) -> Result<ImportView, AgentError> {
        self.packs.imports.find_view(&params.job)
    }
    async fn data_import_cancel(&self, params: ImportParams) -> Result<Empty, AgentError> {
        self.packs.imports.stop_job(&params.job).map(|()| Empty {})
    }
    async fn data_list(&self, _: Empty) -> Result<DataListResponse, AgentError> {
        Ok(DataListResponse { packs: self.packs.imports.list_datasets().await? })
    }
    async fn data_use(&self, params: DataUseParams) -> Result<PackDatasets, AgentError> {
        self.choose_dataset(params).await
    }

    async fn sources_list(&self, _: Empty) -> Result<SourcesResponse, AgentError> {
        let storage = Some(self.sources.storage_use()?);
        Ok(SourcesResponse { sources: self.sources.list()?, storage })
    }
    async fn source_survey(&self, params: SourceAddParams) -> Result<SourceJob, AgentError> {
        self.sources.survey(params)
    }
    async fn source_add(&self, params: SourceAddParams) -> Result<SourceJob, AgentError> {
        self.check_alarm()?;
        self.sources.add(params)
    }
    async fn source_job(&self, params: SourceJob) -> Result<SourceJobView, AgentError> {
        self.sources.job(&params)
    }
    async fn source_job_stop(&self, params: SourceJob) -> Result<Empty, AgentError> {
        self.sources.stop_job(&params).map(|()| Empty {})
    }
    async fn source_undo(&self, params: SourceParams) -> Result<SourceView, AgentError> {
        self.check_alarm()?;
        self.sources.undo(&params).await
    }
    async fn source_remove(&self, params: SourceParams) -> Result<Empty, AgentError> {
        self.check_alarm()?;
        self.sources.remove(&params).await.map(|()| Empty {})
    }
    async fn source_refresh(&self, params: SourceParams) -> Result<SourceJob, AgentError> {
        self.check_alarm()?;
        self.sources.refresh(&params, false)
    }
    async fn source_describe(&self, params: SourceParams) -> Result<SourceDescription, AgentError> {
        self.sources.describe(&params).await
    }
    async fn source_define(
        &self,
        params: SourceDefineParams,
    ) -> Result<SourceDescription, AgentError> {
        self.check_alarm()?;
        self.sources.define(&params).await
    }
    async fn source_approve(
        &self,
        params: SourceApproveParams,
    ) -> Result<SourceDescription, AgentError> {
        self.check_alarm()?;
        self.sources.approve(&params).await
    }
    async fn source_measure(&self, params: MeasureParams) -> Result<DataResult, AgentError> {
        self.check_alarm()?;
        self.sources.measure(params).await
    }
    async fn source_query(&self, params: SourceQueryParams) -> Result<DataResult, AgentError> {
        self.check_alarm()?;
        self.sources.query(params).await
    }
    async fn source_export(&self, params: ExportParams) -> Result<ExportResponse, AgentError> {
        self.check_alarm()?;
        self.sources.export(params).await
    }
    async fn source_rows(&self, params: RowsParams) -> Result<DataResult, AgentError> {
        self.sources.rows(params).await
    }
    async fn source_profile(
        &self,
        params: SourceProfileParams,
    ) -> Result<SourceProfile, AgentError> {
        self.sources.profile(params).await
    }
    async fn source_verify(&self, params: VerifyParams) -> Result<FigureCheck, AgentError> {
        self.sources.check(&self.log.show(params.record).await?).await
    }
    async fn folder_allow(&self, params: FolderParams) -> Result<FoldersResponse, AgentError> {
        self.check_alarm()?;
        self.sources.allow_folder(&params).await
    }
    async fn folders_allowed(&self, _: Empty) -> Result<FoldersResponse, AgentError> {
        self.sources.allowed_folders()
    }

    async fn boards_list(&self, _: Empty) -> Result<BoardsResponse, AgentError> {
        Ok(BoardsResponse { boards: self.boards.list()? })
    }
    async fn board_open(&self, params: BoardParams) -> Result<Board, AgentError> {
        self.boards.read(&params.id)
    }
    async fn board_save(&self, params: BoardSaveParams) -> Result<Board, AgentError> {
        self.save_board(params).await
    }
    async fn board_delete(&self, params: BoardDeleteParams) -> Result<Board, AgentError> {
        self.check_alarm()?;
        self.boards.delete(&params).await
    }
    async fn board_tile_add(&self, params: BoardTileAddParams) -> Result<Board, AgentError> {
        self.pin_tile(params).await
    }
    async fn board_propose(&self, params: SourceParams) -> Result<BoardContent, AgentError> {
        self.boards.propose(&params.name)
    }
    async fn board_tile(&self, params: BoardTileParams) -> Result<TileFigures, AgentError> {
        self.check_alarm()?;
        self.boards.compute(&params).await
    }
    async fn board_tile_stop(&self, params: BoardTileStopParams) -> Result<Empty, AgentError> {
        self.boards.stop(&params.run);
        Ok(Empty {})
    }

    async fn doctor(&self, _: Empty) -> Result<DoctorResponse, AgentError> {
        Ok(doctor::examine_installation(self).await)
    }
}
