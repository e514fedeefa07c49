//! The host's implementation of the command list. Each command takes a few lines; other files do
//! the work.

use std::path::PathBuf;

use ::audit::PageLanguage;
use async_trait::async_trait;
use contract::*;
use engine::{
    Decided, DecidedBy, Origin,
    ports::{AuditLog, Durability, Models, Profile, RecordDraft, Tools as _},
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{
    Host,
    log::sign_record,
    models::{offline_answer, test_response},
    packs::{apply_settings, delete_keys},
    servers::{self, definitions},
};

mod backtest;
mod doctor;
mod erasure;
mod memory_export;
pub(crate) mod recovery;
pub(crate) mod replay;
mod server_tools;
mod settings;

pub use doctor::examine_unopened;
pub(crate) use recovery::{
    pin_first_definitions, prepare_servers, record_packs, recover_turns, start_notice,
};
pub(crate) use replay::list_places;

/// The expired actions that the approval window shows: how many, and for how long.
const EXPIRED_SHOWN: usize = 10;
const EXPIRED_FOR: chrono::TimeDelta = chrono::TimeDelta::hours(24);

#[async_trait]
impl Commands for Host {
    async fn app_status(&self, _: Empty) -> Result<AppStatus, AgentError> {
        let approvals = self.local_engine.approvals_list(false).await?;
        let waiting = approvals.iter().filter(|a| a.status == ApprovalStatus::Pending).count();
        Ok(AppStatus {
            running: self.local_engine.running(),
            waiting_approvals: u32::try_from(waiting).unwrap_or(u32::MAX),
            audit_ok: self.ledger.alarm().is_none(),
            agent_enabled: self.profile.settings().agent_enabled,
            model_label: self.models.current(None).label(),
            notices: self.start_notices(),
            now: self.options.clock.now(),
        })
    }

    async fn sessions_list(
        &self,
        params: SessionsListParams,
    ) -> Result<SessionsListResponse, AgentError> {
        self.local_engine.sessions_list(&params).await
    }
    async fn session_open(&self, params: SessionParams) -> Result<SessionView, AgentError> {
        self.local_engine.session_open(&params.session).await
    }
    async fn session_rename(&self, params: SessionRenameParams) -> Result<Empty, AgentError> {
        self.local_engine.session_rename(&params.session, &params.title).await.map(|()| Empty {})
    }
    async fn session_delete(&self, params: SessionParams) -> Result<Empty, AgentError> {
        self.check_alarm()?;
        self.local_engine.session_delete(&params.session).await.map(|()| Empty {})
    }
    async fn session_erase(
        &self,
        params: SessionParams,
    ) -> Result<SessionEraseResponse, AgentError> {
        self.erase_session(&params.session).await
    }
    async fn items_page(&self, params: ItemsPageParams) -> Result<ItemsPageResponse, AgentError> {
        self.local_engine.items_page(&params).await
    }
    async fn turn_start(&self, params: TurnStartParams) -> Result<TurnStartResponse, AgentError> {
        self.turn_start_from(Origin::default(), params).await
    }
    async fn turn_cancel(&self, params: TurnCancelParams) -> Result<Empty, AgentError> {
        self.local_engine.turn_cancel(&params).await.map(|()| Empty {})
    }

    async fn approvals_list(
        &self,
        params: ApprovalsListParams,
    ) -> Result<ApprovalsListResponse, AgentError> {
        Ok(ApprovalsListResponse {
            approvals: self.local_engine.approvals_list(params.include_decided).await?,
            expired: Vec::new(),
        })
    }
    async fn approval_open(&self, params: ApprovalParams) -> Result<Empty, AgentError> {
        let known = self.local_engine.approvals_list(true).await?.iter().any(|a| a.id == params.id);
        // The desktop shell opens the window. The host only checks that the action exists.
        if known {
            Ok(Empty {})
        } else {
            Err(AgentError::invalid("There is no such pending action.").reason("not_found"))
        }
    }
    async fn approval_pending(&self, _: Empty) -> Result<ApprovalsListResponse, AgentError> {
        let mut approvals = self.local_engine.approvals_list(false).await?;
        approvals.retain(|a| a.status == ApprovalStatus::Pending);
        approvals.sort_by_key(|a| a.created_at);
        let mut expired = self.local_engine.expired_approvals().await?;
        let now = self.options.clock.now();
        expired.retain(|a| a.decided_at.is_some_and(|at| now - at < EXPIRED_FOR));
        expired.truncate(EXPIRED_SHOWN);
        Ok(ApprovalsListResponse { approvals, expired })
    }
    async fn approval_form(
        &self,
        params: ApprovalParams,
    ) -> Result<ApprovalFormResponse, AgentError> {
        self.local_engine.approval_form(&params.id).await
    }
    async fn approval_ask_again(&self, params: ApprovalParams) -> Result<Approval, AgentError> {
        self.check_alarm()?;
        self.local_engine.approval_ask_again(&params.id, DecidedBy::Window).await
    }
    async fn approval_decide(
        &self,
        params: ApprovalDecideParams,
    ) -> Result<ApprovalDecideResponse, AgentError> {
        self.check_alarm()?;
        let Decided { approval, result } =
            self.local_engine.approval_decide(params, DecidedBy::Window).await?;
        Ok(ApprovalDecideResponse { approval, result })
    }
    async fn policy_set(&self, params: PolicySetParams) -> Result<Empty, AgentError> {
        self.check_alarm()?;
        let before = self.profile.stored_settings();
        self.profile.set_policy(params.policy)?;
        self.record_changes(&before, &self.profile.stored_settings()).await?;
        self.drop_old_recordings().await;
        self.push_settings();
        Ok(Empty {})
    }
    async fn terminal_decisions_set(
        &self,
        params: TerminalDecisionsParams,
    ) -> Result<Empty, AgentError> {
        self.check_alarm()?;
        self.profile.set_terminal_decisions(params.enabled)?;
        self.record(
            RecordDraft::new(RecordType::SettingChanged)
                .field("setting", "decide_from_terminal")
                .field("enabled", params.enabled),
        )
        .await?;
        self.push_settings();
        Ok(Empty {})
    }
    async fn grants_list(&self, _: Empty) -> Result<GrantsListResponse, AgentError> {
        Ok(GrantsListResponse { grants: self.local_engine.grants().await? })
    }
    async fn allowances_list(&self, _: Empty) -> Result<AllowancesResponse, AgentError> {
        Ok(AllowancesResponse { allowances: self.local_engine.allowances().await? })
    }
    async fn allowance_give(&self, params: AllowanceParams) -> Result<Empty, AgentError> {
        self.give_allowance(&params, DecidedBy::Window).await
    }
    async fn allowance_revoke(&self, params: AllowanceParams) -> Result<Empty, AgentError> {
        let (destination, session) = (&params.destination, params.session.as_ref());
        self.local_engine.allowance_revoke(destination, session).await.map(|()| Empty {})
    }
    async fn grant_revoke(&self, params: GrantParams) -> Result<Empty, AgentError> {
        self.local_engine.grant_revoke(&params.id).await.map(|()| Empty {})
    }

    async fn memory_list(
        &self,
        params: MemoryListParams,
    ) -> Result<MemoryListResponse, AgentError> {
        self.local_engine.memory_list(&params).await
    }
    async fn memory_search(
        &self,
        params: MemorySearchParams,
    ) -> Result<MemorySearchResponse, AgentError> {
        self.local_engine.memory_search(&params).await
    }
    async fn memory_status(&self, _: Empty) -> Result<contract::MemoryIndexView, AgentError> {
        self.local_engine.memory_status().await
    }
    async fn memory_show(&self, params: MemoryParams) -> Result<MemoryEntry, AgentError> {
        self.local_engine.memory_show(&params.id).await
    }
    async fn memory_add(&self, params: MemoryAddParams) -> Result<MemoryEntry, AgentError> {
        self.check_alarm()?;
        self.local_engine.memory_add(&params).await
    }
    async fn memory_forget(&self, params: MemoryParams) -> Result<Empty, AgentError> {
        self.check_alarm()?;
        self.local_engine.memory_forget(&params.id).await.map(|()| Empty {})
    }

    async fn memory_used(
        &self,
        params: MemoryUsedParams,
    ) -> Result<MemoryUsedResponse, AgentError> {
        self.local_engine.memory_used(&params).await
    }
    async fn memory_edit(&self, params: MemoryEditParams) -> Result<MemoryEntry, AgentError> {
        self.check_alarm()?;
        self.local_engine.memory_edit(&params).await
    }
    async fn memory_pin(&self, params: MemoryPinParams) -> Result<MemoryEntry, AgentError> {
        self.check_alarm()?;
        self.local_engine.memory_pin(&params).await
    }
    async fn memory_switch(&self, params: MemorySwitchParams) -> Result<Empty, AgentError> {
        self.check_alarm()?;
        self.local_engine.memory_switch(&params).await.map(|()| Empty {})
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
        self.local_engine.messages_search(&params).await
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
        self.stop_verification();
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
        Ok(AuditAlarmResponse { alarm: self.ledger.alarm().map(|alarm| alarm.shown) })
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
        self.checkpoint().await
    }

    async fn packs_list(&self, _: Empty) -> Result<PacksListResponse, AgentError> {
        Ok(PacksListResponse {
            packs: self.tools.packs(),
            servers: self.tools.server_views(),
            isolation: packs::run::isolation(),
        })
    }
    async fn message_explain(
        &self,
        params: MessageExplainParams,
    ) -> Result<MessageExplainResponse, AgentError> {
        Ok(self.models.explain_message(&params.text, self.options.clock.now()))
    }
    async fn instructions_list(&self, _: Empty) -> Result<InstructionsResponse, AgentError> {
        Ok(self.local_engine.instructions_list().await)
    }
    async fn prompt_preview(
        &self,
        params: PromptPreviewParams,
    ) -> Result<PromptPreviewResponse, AgentError> {
        self.local_engine.prompt_preview(&params).await
    }
    async fn server_tools_open(&self, _: Empty) -> Result<Empty, AgentError> {
        // The desktop shell opens the window.
        Ok(Empty {})
    }
    async fn server_tools(&self, _: Empty) -> Result<ServerToolsResponse, AgentError> {
        Ok(ServerToolsResponse { tools: self.tools.server_tools() })
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
        let ServerToolEffectParams { pack, server, name, effect } = params;
        let declared = self.tools.server_tools().into_iter().any(|tool| {
            tool.declared && tool.pack == pack && tool.server == server && tool.name == name
        });
        if declared {
            return Err(AgentError::invalid("What this tool changes is stated by its pack.")
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
        self.tools.pins.set_effect(&pack, &server, &name, effect)?;
        Ok(Empty {})
    }
    async fn server_sign_in(
        &self,
        params: ServerParams,
    ) -> Result<ServerSignInResponse, AgentError> {
        let sign_in = self
            .tools
            .servers
            .sign_in(&definitions::server_key(&params.pack, &params.server))
            .await?;
        Ok(ServerSignInResponse { url: sign_in.url })
    }
    async fn server_sign_out(&self, params: ServerParams) -> Result<Empty, AgentError> {
        servers::forget_tokens(&params.pack, &params.server, &self.keyring).await?;
        let draft = RecordDraft::new(RecordType::SettingChanged)
            .field("setting", "server_tokens")
            .field("pack", params.pack.as_str());
        self.record(draft.field("server", params.server.as_str()).field("action", "deleted"))
            .await?;
        self.tools.servers.disconnect(&definitions::server_key(&params.pack, &params.server));
        Ok(Empty {})
    }
    async fn servers_read(
        &self,
        params: ServersReadParams,
    ) -> Result<ServersReadResponse, AgentError> {
        self.read_servers(&params)
    }
    async fn server_test(
        &self,
        params: ServerTestParams,
    ) -> Result<ServerTestResponse, AgentError> {
        self.check_alarm()?;
        let trial = self.trials.begin_trial(&params.server.name);
        self.test_server(&params.server, &trial).await
    }
    async fn server_add(&self, params: ServerAddParams) -> Result<OwnServerView, AgentError> {
        self.check_alarm()?;
        let trial = self.trials.begin_trial(&params.server.name);
        self.add_server(params, &trial).await
    }
    async fn server_test_stop(&self, params: OwnServerParams) -> Result<Empty, AgentError> {
        self.trials.stop_trial(&params.name);
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
        let key = definitions::server_key(&params.pack, &params.server);
        Ok(ServerLogResponse { lines: self.tools.servers.log(&key) })
    }
    async fn questions_list(&self, _: Empty) -> Result<QuestionsResponse, AgentError> {
        Ok(QuestionsResponse { questions: self.tools.questions.list_questions() })
    }
    async fn question_answer(&self, params: QuestionAnswerParams) -> Result<Empty, AgentError> {
        self.tools.questions.answer_question(&params.id, params.answer).map(|()| Empty {})
    }
    async fn tool_call(&self, params: ToolCallParams) -> Result<ToolCallResponse, AgentError> {
        self.call_tool_in_turn(
            TurnId(self.options.ids.next("turn")),
            Origin::default(),
            params,
            CancellationToken::new(),
        )
        .await
    }

    async fn policy_get(&self, _: Empty) -> Result<PolicyView, AgentError> {
        Ok(self.profile.policy_view())
    }
    async fn policy_check(
        &self,
        params: PolicyCheckParams,
    ) -> Result<PolicyCheckResponse, AgentError> {
        self.local_engine.policy_check(params).await
    }
    async fn policy_backtest(
        &self,
        params: PolicyBacktestParams,
    ) -> Result<PolicyBacktestResponse, AgentError> {
        self.backtest_policy(params).await
    }
    async fn run_replay(&self, params: ReplayParams) -> Result<ReplayResponse, AgentError> {
        self.replay_run(&params).await
    }
    async fn switch_set(&self, params: SwitchSetParams) -> Result<SettingsView, AgentError> {
        self.check_alarm()?;
        self.local_engine.check_keepable(&json!(params.target)).await?;
        if self.profile.set_switch(&params.target, params.on, &self.tools.specs())? {
            let (kind, id) = match &params.target {
                SwitchTarget::Agent(id) => ("agent", id.as_str()),
                SwitchTarget::Tool(id) => ("tool", id.as_str()),
            };
            self.record(
                RecordDraft::new(RecordType::KillSwitch).field(kind, id).field("on", params.on),
            )
            .await?;
            self.push_settings();
        }
        Ok(self.settings_view().await)
    }

    async fn run_request(&self, params: RunParams) -> Result<RunResponse, AgentError> {
        self.check_alarm()?;
        self.check_packs(None)?;
        self.local_engine.run_request(params).await
    }
    async fn service_level(&self, _: Empty) -> Result<ServiceLevelView, AgentError> {
        let model = self.models.current(None);
        self.local_engine
            .service_level(self.profile.prices_view(model.label(), model.in_process()))
            .await
    }

    async fn settings_get(&self, _: Empty) -> Result<SettingsView, AgentError> {
        Ok(self.settings_view().await)
    }
    async fn confirmations(&self, _: Empty) -> Result<ConfirmationsResponse, AgentError> {
        Ok(ConfirmationsResponse { confirmations: self.confirmations.list() })
    }
    async fn confirmation_decide(
        &self,
        params: ConfirmationDecideParams,
    ) -> Result<Empty, AgentError> {
        self.confirmations.decide(&params.id, params.accept).map(|()| Empty {})
    }
    async fn settings_set(&self, params: SettingsSetParams) -> Result<SettingsView, AgentError> {
        self.check_alarm()?;
        let before = self.profile.stored_settings();
        self.check_no_keys(&before, &params.settings).await?;
        self.check_settings(&params.settings)?;
        self.profile.write_settings(params.settings)?;
        apply_settings(&self.profile.settings(), &self.tools);
        if before.packs != self.profile.stored_settings().packs {
            self.local_engine.forget_analyses();
        }
        self.record_changes(&before, &self.profile.stored_settings()).await?;
        self.drop_old_recordings().await;
        self.push_settings();
        Ok(self.settings_view().await)
    }
    async fn secret_set(&self, params: SecretSetParams) -> Result<Empty, AgentError> {
        self.check_alarm()?;
        self.store_secret(params).await.map(|()| Empty {})
    }
    async fn secret_delete(&self, params: SecretParams) -> Result<Empty, AgentError> {
        self.check_alarm()?;
        match params.name.split_once('/').filter(|_| !self.destinations_of(&params.name).is_empty())
        {
            Some((pack, variable)) => delete_keys(&self.keyring, pack, variable).await?,
            None => self
                .entry_of(&params.name)?
                .delete(&self.keyring)
                .await
                .map_err(AgentError::from)?,
        }
        self.record(
            RecordDraft::new(RecordType::SettingChanged)
                .field("setting", "secret")
                .field("name", params.name)
                .field("action", "deleted"),
        )
        .await?;
        Ok(Empty {})
    }
    async fn model_test(&self, _: Empty) -> Result<ModelTestResponse, AgentError> {
        self.local_engine.forget_refusals().await;
        let said = self.models.test_connection().await.map_or_else(offline_answer, test_response);
        self.local_engine.scrub_said(said)
    }
    async fn model_confirm(&self, _: ModelConfirmParams) -> Result<Empty, AgentError> {
        // A caller that may widen by itself is not asked.
        Ok(Empty {})
    }
    async fn model_list(&self, params: ModelListParams) -> Result<ModelListResponse, AgentError> {
        self.local_engine.scrub_said(self.models.list_models(params).await?)
    }
    async fn model_servers(&self, _: Empty) -> Result<LocalServersResponse, AgentError> {
        let found = models::local::find_servers(models::local::USUAL).await;
        Ok(LocalServersResponse {
            servers: found
                .into_iter()
                .map(|f| LocalServer { name: f.name, base_url: f.base_url, models: f.models })
                .collect(),
        })
    }

    async fn data_entries(&self, params: DataEntriesParams) -> Result<DataEntries, AgentError> {
        self.imports.list_entries(params).await
    }
    async fn data_entry_set(
        &self,
        params: DataEntryParams,
    ) -> Result<DataEntryResponse, AgentError> {
        self.check_alarm()?;
        let entered = json!({ "id": params.id, "values": params.values }).to_string();
        let response = self.imports.set_entry(params).await?;
        let draft = RecordDraft::new(RecordType::DataImported)
            .field("rows_stored", u64::from(response.problems.is_empty()))
            .field("errors", u64::try_from(response.problems.len()).unwrap_or(u64::MAX));
        self.record(draft.commit("entered", entered)).await?;
        Ok(response)
    }
    async fn data_survey(&self, params: DataSurveyParams) -> Result<FileSurvey, AgentError> {
        self.imports.survey_file(params).await
    }
    async fn data_layout_forget(&self, params: DataLayoutParams) -> Result<Empty, AgentError> {
        self.check_alarm()?;
        self.imports.forget_layout(params).await.map(|()| Empty {})
    }
    async fn data_import(
        &self,
        params: DataImportParams,
    ) -> Result<DataImportResponse, AgentError> {
        self.check_alarm()?;
        let job = self.options.ids.next("import");
        let paths = params.paths.into_iter().map(PathBuf::from).collect();
        self.imports.start(job, &params.pack, paths, params.options.unwrap_or_default())
    }
    async fn data_import_status(&self, params: ImportParams) -> Result<ImportView, AgentError> {
        self.imports.find_view(&params.job)
    }
    async fn data_import_cancel(&self, params: ImportParams) -> Result<Empty, AgentError> {
        self.imports.stop_job(&params.job).map(|()| Empty {})
    }
    async fn data_list(&self, _: Empty) -> Result<DataListResponse, AgentError> {
        Ok(DataListResponse { packs: self.imports.list_datasets().await? })
    }
    async fn data_use(&self, params: DataUseParams) -> Result<PackDatasets, AgentError> {
        self.check_alarm()?;
        let before = self.imports.datasets_of(&params.pack).await?.active;
        if before != params.dataset {
            self.imports.use_dataset(&params.pack, params.dataset).await?;
            let draft = RecordDraft::new(RecordType::SettingChanged).field("setting", "dataset");
            self.record(
                draft
                    .commit("before", json!(before).to_string())
                    .commit("after", json!(params.dataset).to_string()),
            )
            .await?;
        }
        self.imports.datasets_of(&params.pack).await
    }

    async fn doctor(&self, _: Empty) -> Result<DoctorResponse, AgentError> {
        Ok(doctor::examine_installation(self).await)
    }
}

impl Host {
    /// Checks that there are packs if the offline model is used, because it can answer from packs
    /// only.
    fn check_packs(&self, model: Option<&str>) -> Result<(), AgentError> {
        match self.missing_packs_error() {
            Some(error)
                if self.tools.loaded_packs().is_empty()
                    && self.profile.settings().agent_enabled
                    && self.models.current(model).in_process() =>
            {
                Err(error)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Exports the log or one session, and records it.
    async fn export_log(
        &self,
        params: AuditExportParams,
    ) -> Result<AuditExportResponse, AgentError> {
        let scope = crate::log::export_scope(params.session.clone(), params.record)?;
        let language = PageLanguage::of_tag(&self.profile.locale());
        let attestations = self.paths.attestations();
        let written = self.log.export(&params.folder, scope, language, attestations).await?;
        let mut draft = RecordDraft::new(RecordType::LogExported)
            .field("records", written.records)
            .commit("folder", written.folder.clone());
        draft.session = params.session;
        // During an alarm the log can be exported and accepts no record.
        if self.alarm().is_none() {
            self.record(draft).await?;
        }
        Ok(written)
    }

    /// Allows a destination for reads.
    pub(crate) async fn give_allowance(
        &self,
        params: &AllowanceParams,
        by: DecidedBy,
    ) -> Result<Empty, AgentError> {
        let (destination, session) = (&params.destination, params.session.as_ref());
        self.local_engine.allowance_give(destination, session, by).await.map(|()| Empty {})
    }

    /// Accepts a message that came through `origin`.
    pub(crate) async fn turn_start_from(
        &self,
        origin: Origin,
        params: TurnStartParams,
    ) -> Result<TurnStartResponse, AgentError> {
        self.check_alarm()?;
        self.check_packs(params.model.as_deref())?;
        self.local_engine.turn_start_from(origin, params).await
    }

    /// Calls a tool directly in a turn whose id the caller already knows.
    pub(crate) async fn call_tool_in_turn(
        &self,
        turn: TurnId,
        origin: Origin,
        params: ToolCallParams,
        cancel: CancellationToken,
    ) -> Result<ToolCallResponse, AgentError> {
        self.check_alarm()?;
        self.local_engine.tool_call_in(turn, origin, params, cancel).await
    }

    /// Records what a command did, with who asked for it.
    pub(crate) async fn record(&self, draft: RecordDraft) -> Result<(), AgentError> {
        self.log
            .append(sign_record(draft, &self.profile), Durability::Durable)
            .await
            .map(|_| ())
            .map_err(|e| Self::audit_error(&e))
    }
}
