//! A person's decision about a pending action: checked, stored by compare-and-set, recorded, and handed to the call that waits.

use std::sync::{Arc, Weak};

use chrono::TimeDelta;
use contract::{
    AgentError, Approval, ApprovalDecideParams, ApprovalId, ApprovalStatus, Decision, Effect, ErrorCode, EventBody, Grant, GrantId, ItemBody, Limits,
    RecordType, Settings, ToolOutcome, ToolSpec,
};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    Engine,
    approvals::gate::{CHANGED, EDITED, Executed, Gated, Holds, Verdict, failed},
    ports::{Durability, Reach, RecordDraft},
    sessions::lanes::Accepted,
    texts::Text,
    tools::{
        call::Ready,
        coerce::fitted,
        refusals::{Refused, millis},
    },
    turn::Turn,
};

/// How long "for this session" holds at most.
const GRANT_HOURS: i64 = 8;

/// Which surface a decision came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    Window,
    Terminal,
    /// The person at the other end of an API, by the next message of the session.
    Caller,
}

impl DecidedBy {
    fn name(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::Terminal => "terminal",
            Self::Caller => "caller",
        }
    }
}

/// A decided action, and what came of its call when the decision itself ran it.
#[derive(Debug)]
pub struct Decided {
    pub approval: Approval,
    pub result: Option<ItemBody>,
}

impl Engine {
    /// Pending actions, or all of them.
    pub async fn approvals_list(self: &Arc<Self>, include_decided: bool) -> Result<Vec<Approval>, AgentError> {
        self.expire_overdue().await?;
        self.world.store.approvals(include_decided).await.map_err(AgentError::from)
    }

    /// Applies a decision. The hash must be the one that was shown.
    pub async fn approval_decide(self: &Arc<Self>, params: ApprovalDecideParams, by: DecidedBy) -> Result<Decided, AgentError> {
        let approval = self.approval(&params.id).await?;
        if let Err(error) = self.check_decision(&approval, &params, by).await {
            let refused = Refused { session: Some(&approval.session), ..Refused::of("decision", &error, approval.id.as_str()) };
            self.note_refused_request(refused).await;
            return Err(error);
        }
        // Where no turn waits any more, what follows is a run of its own under the same id.
        let run = (!self.router.waits(&approval.id)).then(|| (tokio::time::Instant::now(), self.agent_id_of(&approval)));
        if let Some((_, agent)) = &run {
            let draft = RecordDraft::new(RecordType::RunStarted).field("model", "").field("agent", agent.as_str()).field("duration_ms", 0);
            self.record_of(&approval, draft.field("decides", approval.id.as_str()).field("by", by.name())).await;
        }
        let decided = self.apply(&approval, params.decision, by).await;
        if let Some((began, agent)) = run {
            let (status, level, code) = match &decided {
                Ok(decided) if decided.approval.status == ApprovalStatus::Failed => ("error", "error", None),
                Ok(_) => ("ok", "info", None),
                Err(error) if error.code == ErrorCode::ApprovalRequired => ("approval_required", "info", None),
                Err(error) => ("error", "error", Some(error.code.name())),
            };
            let draft = RecordDraft::new(RecordType::RunEnded).field("status", status).field("level", level).field("agent", agent);
            let draft = draft.field("duration_ms", millis(began.elapsed())).field("model_calls", 0);
            self.record_of(&approval, code.into_iter().fold(draft, |draft, code| draft.field("code", code))).await;
            if let Err(error) = self.world.audit.flush().await {
                tracing::warn!(%error, "the audit log could not be flushed after a decision");
            }
        }
        decided
    }

    async fn check_decision(self: &Arc<Self>, approval: &Approval, params: &ApprovalDecideParams, by: DecidedBy) -> Result<(), AgentError> {
        // Saying no is always possible.
        if !matches!(params.decision, Decision::Reject { .. }) {
            self.check_tools_named(&approval.tool)?;
        }
        self.check_open(approval, &params.hash).await?;
        self.check_reach(approval, &params.decision, by).await
    }

    async fn apply(self: &Arc<Self>, approval: &Approval, decision: Decision, by: DecidedBy) -> Result<Decided, AgentError> {
        let mut result = None;
        match decision {
            Decision::ApproveOnce { confirm_word } => {
                check_word(approval, confirm_word.as_deref())?;
                result = self.approve(approval, Holds::Once, by).await?;
            }
            Decision::ApproveForSession => {
                self.check_grantable(approval)?;
                result = self.approve(approval, Holds::ForSession, by).await?;
            }
            Decision::Edit { arguments } => {
                self.world.secrets.learn().await;
                self.edit(approval, &arguments, by).await?;
            }
            Decision::Reject { reason } => {
                self.world.secrets.learn().await;
                let reason = reason.map(|r| self.exact().scrub(&r).into_owned());
                let reason = reason.map(|r| r.trim().chars().take(500).collect::<String>()).filter(|r| !r.is_empty());
                self.move_from_pending(approval, ApprovalStatus::Rejected, reason.as_deref(), by).await?;
                if !self.router.tell(&approval.id, Verdict::Rejected(reason.clone())) {
                    self.close_detached(approval, ApprovalStatus::Rejected, reason).await;
                }
            }
        }
        self.push_approvals().await;
        Ok(Decided { approval: self.approval(&approval.id).await?, result })
    }

    async fn record_of(&self, approval: &Approval, draft: RecordDraft) {
        if let Err(error) = self.world.audit.append(draft.of(&approval.session, &approval.turn), Durability::Grouped).await {
            tracing::warn!(%error, "a record of a decision could not be written");
        }
    }

    /// The specialist whose tool an action uses, as records name it; empty when there is none.
    pub(crate) fn agent_id_of(&self, approval: &Approval) -> String {
        self.world.tools.agent_of(&approval.tool).map(|agent| agent.0).unwrap_or_default()
    }

    /// An action as it stands now.
    pub async fn approval(&self, id: &ApprovalId) -> Result<Approval, AgentError> {
        let found = self.world.store.approval(id).await?;
        found.ok_or_else(|| AgentError::invalid("There is no such pending action.").reason("not_found"))
    }

    async fn check_open(self: &Arc<Self>, approval: &Approval, hash: &str) -> Result<(), AgentError> {
        let ended = |status: ApprovalStatus| {
            AgentError::invalid("This action has been decided already or has ended.")
                .reason("not_pending")
                .with("status", json!(status))
                .hint("Close it; nothing more will happen to it.")
        };
        if approval.status != ApprovalStatus::Pending {
            return Err(ended(approval.status));
        }
        if self.world.clock.now() >= approval.expires_at {
            let text = Text::ApprovalExpired.in_locale(&self.world.profile.locale());
            let waits = self.router.waits(&approval.id);
            let settled = self.settle(approval, ApprovalStatus::Pending, ApprovalStatus::Expired, Some(text)).await;
            if settled && !waits {
                self.close_detached(approval, ApprovalStatus::Expired, Some(text.to_owned())).await;
            }
            return Err(ended(ApprovalStatus::Expired));
        }
        if approval.hash != hash {
            return Err(AgentError::invalid("What was shown is not what waits now.").reason("hash_mismatch").hint("Look at the action again before deciding."));
        }
        Ok(())
    }

    /// What several processes share is approved by its caller's word alone: that comes to the one that holds the session, which tells the
    /// others all that follows. Anybody may say no, where all of them hear of it.
    async fn check_reach(&self, approval: &Approval, decision: &Decision, by: DecidedBy) -> Result<(), AgentError> {
        let is_no = matches!(decision, Decision::Reject { .. });
        let reach = self.world.store.approval_reach(approval).await?;
        match (reach, by) {
            (Reach::Here, _) | (Reach::Everywhere, DecidedBy::Caller) => Ok(()),
            (Reach::Everywhere, _) | (Reach::HereAlone, DecidedBy::Caller) if is_no => Ok(()),
            (Reach::Everywhere, _) => {
                Err(AgentError::new(ErrorCode::ApprovalRequired, "Several gateways share this conversation, so only its customer approves this.")
                    .reason("callers_word")
                    .hint("The customer answers in the chat; here it can be rejected."))
            }
            (Reach::HereAlone, _) => {
                Err(AgentError::new(ErrorCode::ApprovalRequired, "Several gateways share this conversation, and they would not hear of a decision made here.")
                    .reason("not_shared_here")
                    .hint("Start the gateway of this folder again with its Redis; the customer answers in the chat."))
            }
        }
    }

    async fn move_from_pending(&self, approval: &Approval, to: ApprovalStatus, reason: Option<&str>, by: DecidedBy) -> Result<(), AgentError> {
        let moved = self.world.store.approval_move(&approval.id, ApprovalStatus::Pending, to, reason, self.world.clock.now()).await?;
        if !moved {
            return Err(AgentError::invalid("This action has been decided already.").reason("not_pending"));
        }
        self.record_resolved(approval, to, reason, by.name()).await;
        Ok(())
    }

    /// Tells the call that waits; when none does any more, the action is executed here.
    async fn approve(self: &Arc<Self>, approval: &Approval, holds: Holds, by: DecidedBy) -> Result<Option<ItemBody>, AgentError> {
        self.move_from_pending(approval, ApprovalStatus::Approved, None, by).await?;
        if self.router.tell(&approval.id, Verdict::Approved(holds)) {
            return Ok(None);
        }
        self.execute_detached(approval, holds).await
    }

    fn check_grantable(&self, approval: &Approval) -> Result<(), AgentError> {
        if may_be_granted(&self.spec_of(approval)?) {
            return Ok(());
        }
        Err(AgentError::invalid("This tool can only be approved one call at a time.").reason("not_grantable"))
    }

    /// `arguments` is JSON text as a person wrote it.
    async fn edit(self: &Arc<Self>, approval: &Approval, arguments: &str, by: DecidedBy) -> Result<(), AgentError> {
        let spec = self.spec_of(approval)?;
        let arguments = contract::arguments::parse(arguments)?;
        self.check_no_secret(&arguments)?;
        let (arguments, _) = fitted(&spec, without_caller_values(&spec, arguments), |full| self.check_arguments(&spec, full).is_ok());
        let arguments = contract::arguments::checked(arguments)?;
        self.check_arguments(&spec, &arguments)?;
        if !self.router.waits(&approval.id) {
            return self.edit_detached(approval, spec, arguments, by).await;
        }
        self.move_from_pending(approval, ApprovalStatus::Superseded, None, by).await?;
        if self.router.tell(&approval.id, Verdict::Edited(arguments)) {
            return Ok(());
        }
        Err(AgentError::invalid("The turn that proposed this has ended, so it cannot be edited.").hint("Ask for it again with the right values."))
    }

    /// Proposes the edited action where no turn waits. What it replaces goes on waiting until the new one does.
    async fn edit_detached(self: &Arc<Self>, approval: &Approval, spec: ToolSpec, arguments: Value, by: DecidedBy) -> Result<(), AgentError> {
        let ready = detached(approval, spec, arguments);
        let fresh = self.turn_of(approval).propose(&ready, EDITED.to_owned(), Some(approval.id.clone())).await?.approval;
        self.router.forget(&fresh.id);
        let moved = self.move_from_pending(approval, ApprovalStatus::Superseded, None, by).await;
        if moved.is_err() {
            let why = Text::ApprovalCancelled.in_locale(&self.world.profile.locale());
            self.settle(&fresh, ApprovalStatus::Pending, ApprovalStatus::Cancelled, Some(why)).await;
        }
        moved
    }

    /// The tool of an action. Packs that came or went since may have changed how its id is written; if several tools may be meant, it is none.
    fn spec_of(&self, approval: &Approval) -> Result<ToolSpec, AgentError> {
        let specs = self.world.tools.specs();
        let mut named = specs.iter().filter(|spec| spec.is_named(&approval.tool));
        let exact = specs.iter().find(|spec| spec.id == approval.tool);
        let found = exact.or_else(|| named.next().filter(|_| named.next().is_none())).cloned();
        found.ok_or_else(|| AgentError::new(ErrorCode::ToolNotFound, format!("{} is not available any more.", approval.tool_title)))
    }

    /// Remembers a permission. To be called once the action has been found to be what was signed, so that it is for that definition.
    pub(crate) async fn grant(&self, approval: &Approval, spec: &ToolSpec) -> Result<(), AgentError> {
        let now = self.world.clock.now();
        let grant = Grant {
            id: GrantId(self.world.ids.next("grant")),
            session: approval.session.clone(),
            tool: spec.id.clone(),
            server: spec.target.server().to_owned(),
            definition_hash: spec.definition_hash.clone(),
            pattern: grant_pattern(spec, approval),
            created_at: now,
            expires_at: now + TimeDelta::hours(GRANT_HOURS),
            last_used_at: None,
            revoked_at: None,
        };
        let draft = RecordDraft::new(RecordType::GrantCreated)
            .of(&approval.session, &approval.turn)
            .field("grant", grant.id.as_str())
            .field("approval", approval.id.as_str())
            .field("tool", grant.tool.as_str())
            .field("expires_at", grant.expires_at.to_rfc3339())
            .commit("pattern", Value::Object(grant.pattern.clone()).to_string());
        self.world
            .audit
            .append(draft, Durability::Durable)
            .await
            .map_err(|_| AgentError::internal("audit_unavailable", "The permission was not stored: the audit log cannot be written."))?;
        self.world.store.grant_insert(&grant).await.map_err(AgentError::from)
    }

    /// Takes a permission back.
    pub async fn grant_revoke(&self, id: &GrantId) -> Result<(), AgentError> {
        let now = self.world.clock.now();
        self.world.store.grant_revoke(id, now).await?;
        let draft = RecordDraft::new(RecordType::GrantRevoked).field("grant", id.as_str());
        self.world
            .audit
            .append(draft, Durability::Durable)
            .await
            .map_err(|_| AgentError::internal("audit_unavailable", "It is taken back, but the audit log cannot be written."))?;
        Ok(())
    }

    /// All grants, for the page that lists them.
    pub async fn grants(&self) -> Result<Vec<Grant>, AgentError> {
        self.world.store.grants().await.map_err(AgentError::from)
    }

    /// Executes an approved action whose turn has ended (it was proposed where nobody could approve).
    async fn execute_detached(self: &Arc<Self>, approval: &Approval, holds: Holds) -> Result<Option<ItemBody>, AgentError> {
        let spec = match self.spec_of(approval) {
            Ok(spec) => spec,
            Err(error) => {
                self.settle(approval, ApprovalStatus::Approved, ApprovalStatus::Failed, Some(&error.message)).await;
                self.end_detached(approval, ApprovalStatus::Failed, ToolOutcome::Denied, Some(error.clone()), Some(error.message.clone())).await;
                return Err(error);
            }
        };
        let turn = self.turn_of(approval);
        let arguments = without_caller_values(&spec, serde_json::from_str(&approval.arguments).unwrap_or_default());
        let ready = Ready { is_adapted: true, ..detached(approval, spec, arguments) };
        turn.emit(EventBody::ApprovalResolved { id: approval.id.clone(), status: ApprovalStatus::Approved });
        match turn.execute(&ready, Some((approval, holds))).await {
            Executed::Done(Gated::Done { result, .. }) => Ok(Some(turn.result_item(&result).body)),
            Executed::Done(Gated::Waiting(error)) => Err(*error),
            Executed::Changed => {
                let fresh = match turn.propose(&ready, CHANGED.to_owned(), Some(approval.id.clone())).await {
                    Ok(proposal) => proposal.approval,
                    Err(error) => {
                        turn.close(failed(&ready, ToolOutcome::Error, error.clone()), None).await;
                        return Err(error);
                    }
                };
                self.router.forget(&fresh.id);
                Err(crate::approvals::gate::approval_required(&fresh).hint("It changed since it was proposed. Look at the new proposal."))
            }
        }
    }

    /// Ends the call of a pending action that no turn waits for.
    pub(crate) async fn close_detached(self: &Arc<Self>, approval: &Approval, status: ApprovalStatus, reason: Option<String>) {
        let (outcome, code) = match status {
            ApprovalStatus::Rejected => (ToolOutcome::Rejected, Some(ErrorCode::ApprovalRequired)),
            ApprovalStatus::Failed | ApprovalStatus::Executing => (ToolOutcome::Unknown, Some(ErrorCode::InternalError)),
            ApprovalStatus::Done => (ToolOutcome::Ok, None),
            ApprovalStatus::Cancelled | ApprovalStatus::Superseded => (ToolOutcome::Cancelled, Some(ErrorCode::ApprovalRequired)),
            ApprovalStatus::Pending | ApprovalStatus::Approved | ApprovalStatus::Expired => (ToolOutcome::Expired, Some(ErrorCode::ApprovalRequired)),
        };
        let said = reason.clone().unwrap_or_else(|| Text::ApprovalRejected.in_locale(&self.world.profile.locale()).to_owned());
        self.end_detached(approval, status, outcome, code.map(|code| AgentError::new(code, said)), reason).await;
    }

    async fn end_detached(
        self: &Arc<Self>,
        approval: &Approval,
        status: ApprovalStatus,
        outcome: ToolOutcome,
        error: Option<AgentError>,
        reason: Option<String>,
    ) {
        let turn = self.turn_of(approval);
        let said = error.as_ref().map(|error| error.message.clone()).or_else(|| reason.clone()).unwrap_or_default();
        let items = vec![
            turn.item(ItemBody::Approval { approval: approval.id.clone(), call: approval.call.clone(), tool: approval.tool.clone(), status, reason }),
            turn.item(ItemBody::ToolResult {
                call: approval.call.clone(),
                tool: approval.tool.clone(),
                outcome,
                summary: said.clone(),
                data: if error.is_none() { json!({"message": said}) } else { Value::Null },
                error,
                view: contract::ResultView::Plain,
                duration_ms: 0,
            }),
        ];
        let _ = turn.save(items).await;
    }

    fn turn_of(self: &Arc<Self>, approval: &Approval) -> Turn {
        let accepted = Accepted { turn: approval.turn.clone(), text: String::new(), model: None, agent: None, headless: false, by: Weak::new() };
        let mut turn = Turn::new(Arc::clone(self), approval.session.clone(), accepted, CancellationToken::new());
        turn.detached = true;
        turn.strangers.again(&approval.follows);
        let agents = self.world.roster.agents();
        let agent = agents.iter().find(|agent| agent.tools.contains(&approval.tool)).cloned();
        turn.at_work = parking_lot::Mutex::new(agent.map(Arc::new));
        if turn.run.is_none() {
            // Whoever decides elsewhere stands in for its caller: what takes its place is in the caller's language.
            turn.locale = approval.locale.clone().unwrap_or(turn.locale);
        }
        // What takes its place waits as long.
        let waits_s = u32::try_from((approval.expires_at - approval.created_at).num_seconds()).unwrap_or_default();
        let limits = Limits { approval_expiry_s: waits_s, ..turn.settings.limits };
        turn.settings = Arc::new(Settings { limits, ..(*turn.settings).clone() });
        turn.keeps_items = approval.session.as_str() != crate::turn::direct::SESSION;
        turn
    }
}

/// A pending action as the call that it was.
fn detached(approval: &Approval, spec: ToolSpec, arguments: Value) -> Ready {
    let decision = policy::Decision::Ask { why: approval.why.clone() };
    Ready { call: approval.call.clone(), spec: Arc::new(spec), arguments, decision, coerced: Vec::new(), is_adapted: false }
}

/// Whether a person may allow a tool for a session.
pub(crate) fn may_be_granted(spec: &ToolSpec) -> bool {
    spec.grantable && !spec.human_required && spec.effect == Effect::Write
}

fn check_word(approval: &Approval, typed: Option<&str>) -> Result<(), AgentError> {
    match &approval.confirm_word {
        Some(word) if typed.map(str::trim) != Some(word.as_str()) => Err(AgentError::invalid(format!("Type {word} to confirm.")).reason("confirm_word")),
        Some(_) | None => Ok(()),
    }
}

/// The arguments that a model or a person may give: the host puts the caller-owned ones in itself.
fn without_caller_values(spec: &ToolSpec, arguments: Value) -> Value {
    let Value::Object(mut all) = arguments else { return arguments };
    all.retain(|name, _| !spec.caller_owned.iter().any(|p| p.name == *name));
    Value::Object(all)
}

/// What a grant fixes: every argument that was shown, except numbers and booleans, which may vary.
fn grant_pattern(spec: &ToolSpec, approval: &Approval) -> Map<String, Value> {
    let all: Map<String, Value> = serde_json::from_str(&approval.arguments).unwrap_or_default();
    all.into_iter().filter(|(name, value)| !policy::is_free(value) && !spec.caller_owned.iter().any(|p| p.name == *name)).collect()
}
