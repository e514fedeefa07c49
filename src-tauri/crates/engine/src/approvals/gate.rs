//! The gate of a call that needs a signature: propose, wait, look again, execute once. Deciding is in `decide`.

use std::{collections::HashMap, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use contract::{
    AgentError, Approval, ApprovalId, ApprovalStatus, Effect, ErrorCode, EventBody, ItemBody, NoticeLevel, PreviewView, Push, RecordType, Stage, ToolOutcome,
    TurnId,
};
use parking_lot::Mutex;
use policy::Decision;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::{
    Engine,
    approvals::{
        decide::may_be_granted,
        look_alikes::{look_alikes, texts},
        preview::Foreseen,
        recheck::{Compared, Rechecked},
    },
    canonical::canonical,
    ports::{Durability, Point, RecordDraft},
    texts::Text,
    tools::{
        call::{CallDone, Ready},
        refusals::millis_between,
    },
    turn::Turn,
};

/// No pending action waits longer, whatever a caller's sessions live.
const LONGEST_WAIT_S: u32 = 31 * 86_400;

/// Why a proposal takes the place of another.
pub(crate) const CHANGED: &str = "What it would change is not the same any more.";
pub(crate) const EDITED: &str = "The arguments were edited.";

/// How far a signature goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Once,
    /// Calls like this one need none for the rest of the session.
    ForSession,
}

/// What a waiting call is told.
#[derive(Debug)]
pub(crate) enum Verdict {
    Approved(Holds),
    Rejected(Option<String>),
    Edited(Value),
}

/// Approval id -> the one call that waits for it.
#[derive(Default)]
pub(crate) struct Router {
    waiting: Mutex<HashMap<ApprovalId, oneshot::Sender<Verdict>>>,
}

impl Router {
    fn register(&self, id: &ApprovalId) -> oneshot::Receiver<Verdict> {
        let (tell, told) = oneshot::channel();
        self.waiting.lock().insert(id.clone(), tell);
        told
    }

    /// Hands the verdict to the waiting call; false when nothing waits (any more).
    pub(crate) fn tell(&self, id: &ApprovalId, verdict: Verdict) -> bool {
        let waiting = self.waiting.lock().remove(id);
        waiting.is_some_and(|tell| tell.send(verdict).is_ok())
    }

    /// Whether a call waits for this approval in this process.
    pub(crate) fn waits(&self, id: &ApprovalId) -> bool {
        self.waiting.lock().contains_key(id)
    }

    pub(crate) fn forget(&self, id: &ApprovalId) {
        self.waiting.lock().remove(id);
    }
}

/// A pending action with the ear of the call that waits for it. Listening starts before anyone can decide.
pub(crate) struct Proposal {
    pub(crate) approval: Approval,
    pub(crate) told: oneshot::Receiver<Verdict>,
}

/// The end of a gated call.
pub(crate) enum Gated {
    Done {
        result: Box<CallDone>,
        saved: bool,
    },
    /// Nobody can approve here: the pending action stays, and the turn ends.
    Waiting(Box<AgentError>),
}

/// Why waiting ended.
pub(crate) enum Waited {
    Approved(Holds),
    Rejected(Option<String>),
    Edited(Value),
    Expired,
    Cancelled,
    /// Something this proposal depends on has changed.
    Changed,
}

fn heard(verdict: Result<Verdict, oneshot::error::RecvError>) -> Waited {
    match verdict {
        Ok(Verdict::Approved(holds)) => Waited::Approved(holds),
        Ok(Verdict::Rejected(reason)) => Waited::Rejected(reason),
        Ok(Verdict::Edited(arguments)) => Waited::Edited(arguments),
        // The one that should tell is gone: no approver means no.
        Err(_) => Waited::Cancelled,
    }
}

impl Turn {
    /// Takes a call through the gate. Its result is saved here, as soon as it is known.
    pub(crate) async fn gated(&self, ready: &Ready) -> Gated {
        if !matches!(ready.decision, Decision::Ask { .. }) {
            return self.through(ready).await;
        }
        // The same change twice is asked about one after the other, and not again once it was rejected.
        let asked_for = self.asked_for(ready);
        let mut is_rejected = asked_for.lock().await;
        if *is_rejected {
            return self.close(self.rejected_before(ready), None).await;
        }
        if self.cancel.is_cancelled() {
            let said = Text::CancelledCall.in_locale(&self.locale).to_owned();
            return self.close(refused(ready, ToolOutcome::Cancelled, "cancelled", said), None).await;
        }
        let gated = self.through(ready).await;
        if let Gated::Done { result, .. } = &gated {
            *is_rejected = result.error.as_ref().is_some_and(|error| error.reason_text() == Some("rejected"));
        }
        gated
    }

    async fn through(&self, ready: &Ready) -> Gated {
        let mut ready = ready.clone();
        let proposal = match &ready.decision {
            Decision::Ask { why } => match self.propose(&ready, why.clone(), None).await {
                Ok(proposal) => Some(proposal),
                Err(error) => return self.close(failed(&ready, ToolOutcome::Error, error), None).await,
            },
            Decision::Allow { .. } | Decision::Deny { .. } => None,
        };
        if let (true, Some(proposal)) = (self.headless, &proposal) {
            self.engine.router.forget(&proposal.approval.id);
            return Gated::Waiting(Box::new(approval_required(&proposal.approval)));
        }
        self.follow(&mut ready, proposal).await
    }

    async fn follow(&self, ready: &mut Ready, mut proposal: Option<Proposal>) -> Gated {
        loop {
            let mut holds = Holds::Once;
            if let Some(Proposal { approval, told }) = &mut proposal {
                let approval = &*approval;
                let began = tokio::time::Instant::now();
                let waited = self.wait(ready, approval, told).await;
                self.account.wait(began.elapsed());
                let replaced = match waited {
                    Waited::Approved(how_far) => {
                        holds = how_far;
                        // Whoever looks at it sees at once that it is signed: what it does may take its time.
                        self.emit(EventBody::ApprovalResolved { id: approval.id.clone(), status: ApprovalStatus::Approved });
                        self.emit(EventBody::Status { stage: Stage::Tools, text: None });
                        None
                    }
                    Waited::Rejected(reason) => {
                        let said = reason.clone().map_or_else(
                            || Text::ApprovalRejected.in_locale(&self.locale).to_owned(),
                            |r| format!("{} {r}", Text::ApprovalRejected.in_locale(&self.locale)),
                        );
                        self.note_rejected(ready);
                        return self.close(refused(ready, ToolOutcome::Rejected, "rejected", said), Some((approval, ApprovalStatus::Rejected, reason))).await;
                    }
                    Waited::Expired => {
                        let said = Text::ApprovalExpired.in_locale(&self.locale).to_owned();
                        return self
                            .close(refused(ready, ToolOutcome::Expired, "expired", said.clone()), Some((approval, ApprovalStatus::Expired, Some(said))))
                            .await;
                    }
                    Waited::Cancelled => {
                        let said = Text::ApprovalCancelled.in_locale(&self.locale).to_owned();
                        return self
                            .close(refused(ready, ToolOutcome::Cancelled, "cancelled", said.clone()), Some((approval, ApprovalStatus::Cancelled, Some(said))))
                            .await;
                    }
                    Waited::Edited(arguments) => {
                        ready.arguments = arguments;
                        Some(EDITED)
                    }
                    Waited::Changed => Some(CHANGED),
                };
                if let Some(why) = replaced {
                    match self.propose(ready, why.to_owned(), Some(approval.id.clone())).await {
                        Ok(fresh) => proposal = Some(fresh),
                        Err(error) => return self.close(failed(ready, ToolOutcome::Error, error), None).await,
                    }
                    continue;
                }
            }
            match self.execute(ready, proposal.as_ref().map(|p| (&p.approval, holds))).await {
                Executed::Done(gated) => return gated,
                Executed::Changed => {
                    let before = proposal.take().map(|p| p.approval.id);
                    match self.propose(ready, CHANGED.to_owned(), before).await {
                        Ok(fresh) => proposal = Some(fresh),
                        Err(error) => return self.close(failed(ready, ToolOutcome::Error, error), None).await,
                    }
                }
            }
        }
    }

    /// Looks at everything again right before the effect, then executes it once.
    pub(crate) async fn execute(&self, ready: &Ready, signed: Option<(&Approval, Holds)>) -> Executed {
        let approval = signed.map(|(approval, _)| approval);
        let lane = self.engine.lanes.effects(&self.session);
        let _in_order = lane.lock().await;
        if self.cancel.is_cancelled() {
            let said = Text::CancelledCall.in_locale(&self.locale).to_owned();
            if let Some(approval) = approval {
                self.engine.settle(approval, ApprovalStatus::Approved, ApprovalStatus::Cancelled, Some(&said)).await;
            }
            let ended = approval.map(|approval| (approval, ApprovalStatus::Cancelled, Some(said.clone())));
            return Executed::Done(self.close(refused(ready, ToolOutcome::Cancelled, "cancelled", said), ended).await);
        }
        if approval.is_none()
            && let Err(error) = self.still_free(ready).await
        {
            return Executed::Done(self.close(failed(ready, ToolOutcome::Denied, error), None).await);
        }
        if let Some(approval) = approval {
            match self.recheck(ready, approval).await {
                Rechecked::Same => {}
                Rechecked::Changed => {
                    self.engine.settle(approval, ApprovalStatus::Approved, ApprovalStatus::Superseded, None).await;
                    return Executed::Changed;
                }
                Rechecked::Refused(error) => {
                    self.engine.settle(approval, ApprovalStatus::Approved, ApprovalStatus::Failed, Some(&error.message)).await;
                    let done = failed(ready, ToolOutcome::Denied, error.clone());
                    return Executed::Done(self.close(done, Some((approval, ApprovalStatus::Failed, Some(error.message)))).await);
                }
            }
            self.probe(Point::AfterApprovalDecided);
            if !self.engine.settle(approval, ApprovalStatus::Approved, ApprovalStatus::Executing, None).await {
                let error = AgentError::internal("approval_used", "This approval has been used or has ended already.");
                return Executed::Done(self.close(failed(ready, ToolOutcome::Denied, error), None).await);
            }
        }
        if let Some((approval, holds)) = signed {
            self.remember(approval, holds, ready).await;
        }
        let done = self.dispatch(ready, approval).await;
        self.note_trust(&ready.spec, &done);
        self.probe(Point::AfterOutcome);
        // What was read before may not be true any more.
        self.seen.lock().clear();
        if approval.is_none() && done.effect != Effect::ReadOnly && matches!(done.outcome, ToolOutcome::Ok | ToolOutcome::Unknown) {
            self.report_write(&done);
        }
        let ended = approval.map(|approval| {
            let status = if done.outcome == ToolOutcome::Ok { ApprovalStatus::Done } else { ApprovalStatus::Failed };
            (approval, status, done.error.as_ref().map(|e| e.message.clone()))
        });
        if let Some((approval, status, reason)) = &ended {
            self.engine.settle(approval, ApprovalStatus::Executing, *status, reason.as_deref()).await;
        }
        self.use_grant(ready).await;
        let gated = self.close(done, ended).await;
        self.engine.lanes.effect_done(&self.session);
        Executed::Done(gated)
    }

    /// Keeps a permission that a signature gives, once what was signed has been looked at again.
    pub(crate) async fn remember(&self, approval: &Approval, holds: Holds, ready: &Ready) {
        if holds == Holds::ForSession
            && let Err(error) = self.engine.grant(approval, &ready.spec).await
        {
            tracing::error!(%error, "a permission could not be stored; the tool asks again");
            let text = Text::PermissionLost.in_locale(&self.locale).to_owned();
            let notice = ItemBody::Notice { level: NoticeLevel::Warning, code: "permission_not_stored".into(), text };
            if self.save(vec![self.item(notice)]).await.is_err() {
                tracing::warn!("the notice of a lost permission could not be saved");
            }
        }
    }

    async fn use_grant(&self, ready: &Ready) {
        if let Decision::Allow { grant: Some(id), .. } = &ready.decision {
            let now = self.world().clock.now();
            if let Err(error) = self.world().store.grant_used(id, now).await {
                tracing::warn!(%error, "the use of a grant could not be noted");
            }
        }
    }

    /// Saves the result (and how its approval ended) and makes it the end of the call.
    pub(crate) async fn close(&self, done: CallDone, ended: Option<(&Approval, ApprovalStatus, Option<String>)>) -> Gated {
        let is_decided = ended.is_some() && matches!(done.outcome, ToolOutcome::Rejected | ToolOutcome::Expired | ToolOutcome::Cancelled);
        if !is_decided {
            self.note_refused(&done).await;
        }
        let mut items = Vec::new();
        if let Some((approval, status, reason)) = ended {
            items.push(self.item(ItemBody::Approval {
                approval: approval.id.clone(),
                call: approval.call.clone(),
                tool: approval.tool.clone(),
                status,
                reason,
            }));
            self.emit(EventBody::ApprovalResolved { id: approval.id.clone(), status });
        }
        items.push(self.result_item(&done));
        let saved = self.save(items).await.is_ok();
        Gated::Done { result: Box::new(done), saved }
    }

    /// What the person who decides sees of an action. Fails when it is known to be in vain, unless the caller's host looks itself.
    async fn shown_before(&self, ready: &Ready) -> Result<Option<PreviewView>, AgentError> {
        let foresight = self.foresee(&ready.spec, &ready.arguments, &self.locale).await;
        let theirs = self.run.as_ref().is_some_and(|run| run.looks_at(&ready.spec));
        match foresight.foreseen {
            Some(Foreseen::Refused { refuse }) if !theirs => Err(AgentError::invalid(refuse).reason("foreseen_refusal")),
            _ => Ok(foresight.view()),
        }
    }

    /// Stores a pending action and tells everyone. Fails when it cannot be recorded: then nothing is asked and nothing runs.
    pub(crate) async fn propose(&self, ready: &Ready, why: String, replaces: Option<ApprovalId>) -> Result<Proposal, AgentError> {
        let world = self.world();
        let spec = &ready.spec;
        let preview = self.shown_before(ready).await?;
        let outgoing = self.outgoing(ready).await?;
        let now = world.clock.now();
        let agent = self.agent_name().unwrap_or_default();
        let shown = preview.as_ref().map(|preview| json!(preview)).unwrap_or_default();
        let look_alikes = look_alikes([spec.title.as_str()].into_iter().chain(texts(&ready.arguments)).chain(texts(&shown)));
        let approval = Approval {
            id: ApprovalId(world.ids.next("approval")),
            session: self.session.clone(),
            turn: self.id.clone(),
            call: ready.call.clone(),
            tool: spec.id.clone(),
            tool_title: spec.title.clone(),
            server: spec.target.server().to_owned(),
            agent,
            effect: spec.effect,
            arguments: canonical(&outgoing.arguments),
            hash: outgoing.hash,
            why,
            preview,
            locale: Some(self.locale.clone()),
            created_at: now,
            expires_at: now + TimeDelta::seconds(i64::from(self.settings.limits.approval_expiry_s.clamp(1, LONGEST_WAIT_S))),
            status: ApprovalStatus::Pending,
            grantable: may_be_granted(spec),
            follows: self.strangers.quoted(&ready.arguments),
            look_alikes,
            confirm_word: (spec.effect == Effect::Destructive).then(|| confirm_word(&spec.title)),
            headless: self.headless || self.detached,
            replaces,
            reason: None,
            decided_at: None,
        };
        let draft = RecordDraft::new(RecordType::ApprovalRequested)
            .of(&self.session, &self.id)
            .field("approval", approval.id.as_str())
            .field("call", ready.call.as_str())
            .field("tool", spec.id.as_str())
            .field("server", approval.server.clone())
            .field("effect", json!(spec.effect))
            .field("hash", approval.hash.clone())
            .field("agent", self.agent_id())
            .field("why", approval.why.clone())
            .field("expires_at", approval.expires_at.to_rfc3339())
            .field("follows", approval.follows.iter().map(|from| from.tool.as_str()).collect::<Vec<_>>())
            .commit("arguments", approval.arguments.clone())
            .commit("excerpts", json!(approval.follows.iter().map(|from| &from.excerpt).collect::<Vec<_>>()).to_string())
            .commit("preview", approval.preview.as_ref().map_or(Value::Null, |p| json!(p)).to_string());
        world.audit.append(draft, Durability::Durable).await.map_err(|_| {
            AgentError::internal("audit_unavailable", format!("{} was not proposed: the audit log cannot be written.", spec.title))
                .hint("Run `csign doctor` to see why.")
        })?;
        let told = self.engine.router.register(&approval.id);
        world.store.approval_insert(&approval).await?;
        // Before anybody hears of it: whoever hears may decide at once.
        self.probe(Point::AfterApprovalRequested);
        self.emit(EventBody::ApprovalRequested { approval: Box::new(approval.clone()) });
        self.emit(EventBody::Status { stage: Stage::WaitingForApproval, text: None });
        self.engine.push_approvals().await;
        Ok(Proposal { approval, told })
    }

    pub(crate) async fn wait(&self, ready: &Ready, approval: &Approval, told: &mut oneshot::Receiver<Verdict>) -> Waited {
        let engine = &self.engine;
        let mut changes = engine.lanes.watch_effects(&self.session);
        loop {
            tokio::select! {
                biased;
                verdict = &mut *told => return heard(verdict),
                () = self.cancel.cancelled() => {
                    let settled = engine.settle(approval, ApprovalStatus::Pending, ApprovalStatus::Cancelled, Some(Text::ApprovalCancelled.in_locale(&self.locale))).await;
                    if settled || !engine.verdict_is_coming(approval).await {
                        engine.router.forget(&approval.id);
                        return Waited::Cancelled;
                    }
                    // Somebody has just decided: what they said counts, and it is on its way.
                    return heard(told.await);
                }
                () = tokio::time::sleep(until(approval.expires_at, self.world().clock.now())) => {
                    let over = self.world().clock.now() >= approval.expires_at;
                    if over {
                        let settled = engine.settle(approval, ApprovalStatus::Pending, ApprovalStatus::Expired, Some(Text::ApprovalExpired.in_locale(&self.locale))).await;
                        if settled || !engine.verdict_is_coming(approval).await {
                            engine.router.forget(&approval.id);
                            return Waited::Expired;
                        }
                        return heard(told.await);
                    }
                }
                Ok(()) = changes.changed() => {
                    let is_other = matches!(self.compare(ready, approval).await, Compared::Changed | Compared::Refused(_));
                    if is_other && engine.settle(approval, ApprovalStatus::Pending, ApprovalStatus::Superseded, None).await {
                        engine.router.forget(&approval.id);
                        return Waited::Changed;
                    }
                }
            }
        }
    }
}

/// The end of an execution, or the news that it must be proposed again.
pub(crate) enum Executed {
    Done(Gated),
    Changed,
}

impl Engine {
    /// Compare-and-set of an approval with its record; true when this call made the change.
    pub(crate) async fn settle(&self, approval: &Approval, from: ApprovalStatus, to: ApprovalStatus, reason: Option<&str>) -> bool {
        let now = self.world.clock.now();
        let moved = self.world.store.approval_move(&approval.id, from, to, reason, now).await.unwrap_or(false);
        if moved && to != ApprovalStatus::Executing {
            self.record_resolved(approval, to, reason, "host").await;
            self.push_approvals().await;
        }
        moved
    }

    /// Whether someone has decided this and is about to tell the call that waits. A row that cannot be read, or is gone,
    /// brings no verdict: no approver means no.
    async fn verdict_is_coming(&self, approval: &Approval) -> bool {
        let row = self.world.store.approval(&approval.id).await.ok().flatten();
        row.is_some_and(|row| matches!(row.status, ApprovalStatus::Approved | ApprovalStatus::Rejected | ApprovalStatus::Superseded))
    }

    pub(crate) async fn record_resolved(&self, approval: &Approval, status: ApprovalStatus, reason: Option<&str>, by: &str) {
        let mut draft = RecordDraft::new(RecordType::ApprovalResolved)
            .of(&approval.session, &approval.turn)
            .field("approval", approval.id.as_str())
            .field("tool", approval.tool.as_str())
            .field("hash", approval.hash.clone())
            .field("status", json!(status))
            .field("by", by)
            .field("level", if status == ApprovalStatus::Failed { "error" } else { "info" })
            .field("agent", self.agent_id_of(approval))
            .field("duration_ms", millis_between(approval.created_at, self.world.clock.now()));
        if let Some(reason) = reason {
            draft = draft.commit("reason", reason);
        }
        if let Err(error) = self.world.audit.append(draft, Durability::Durable).await {
            tracing::error!(%error, "a decision could not be recorded");
        }
    }

    pub(crate) async fn push_approvals(&self) {
        if !self.world.events.heard() {
            return;
        }
        let waiting = self.world.store.approvals(false).await.map_or(0, |list| list.iter().filter(|a| a.status == ApprovalStatus::Pending).count());
        self.push(Push::Approvals { waiting: u32::try_from(waiting).unwrap_or(u32::MAX) });
    }
}

/// Time to sleep: short steps, so that a suspended machine or a set clock is noticed.
fn until(end: DateTime<Utc>, now: DateTime<Utc>) -> Duration {
    (end - now).to_std().unwrap_or(Duration::ZERO).clamp(Duration::from_millis(5), Duration::from_secs(5))
}

/// The word to type for a destructive action: the first word of the tool's title.
fn confirm_word(title: &str) -> String {
    title.split_whitespace().next().unwrap_or("confirm").to_uppercase()
}

pub(crate) fn approval_required(approval: &Approval) -> AgentError {
    AgentError::new(ErrorCode::ApprovalRequired, format!("{} waits for an approval.", approval.tool_title))
        .with("approval_id", approval.id.as_str())
        .with("tool_id", approval.tool.as_str())
        .with("side_effect_level", json!(approval.effect))
        .with("preview", approval.preview.as_ref().map_or_else(|| Value::String(approval.arguments.clone()), |p| Value::String(p.summary.clone())))
        .with("hash", approval.hash.clone())
        .with("expires_at", approval.expires_at.to_rfc3339())
        .hint(format!("See it with `csign approvals show {}`.", approval.id))
}

fn refused(ready: &Ready, outcome: ToolOutcome, reason: &str, said: String) -> CallDone {
    let error = AgentError::new(ErrorCode::ApprovalRequired, said.clone()).reason(reason);
    CallDone::of(ready, outcome, Some(error), said)
}

pub(crate) fn failed(ready: &Ready, outcome: ToolOutcome, error: AgentError) -> CallDone {
    let summary = error.message.clone();
    CallDone::of(ready, outcome, Some(error), summary)
}

/// Approvals whose process died name their turn.
pub(crate) fn of_turn<'a>(approvals: &'a [Approval], turn: &TurnId) -> impl Iterator<Item = &'a Approval> {
    approvals.iter().filter(move |approval| approval.turn == *turn)
}
