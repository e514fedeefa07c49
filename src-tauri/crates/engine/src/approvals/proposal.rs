//! Proposes an action to a person and waits for the decision.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use contract::{
    AgentError, Approval, ApprovalId, ApprovalStatus, Effect, EventBody, PreviewView,
    ProposalDetails, Reason, RecordType, Stage, ToolSpec, Transition, text,
};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::{
    approvals::{
        look_alikes::{look_alikes, texts},
        origins::{Origins, changed_values, find_origins},
        preview::{Foreseen, compute_preview},
        recheck::{Compared, compare},
        router::{Holds, Verdict},
        services::ApprovalServices,
    },
    canonical::canonical,
    destinations::{FoundLeave, count_bytes, find_leave},
    ports::{Durability, Point, RecordDraft},
    texts::Text,
    tools::{call::Ready, dispatch::Dispatcher, outgoing::Outgoing, repeated_actions::ran_before},
    turn::recording::{RecordedDecision, RecordedEnd},
    turn::{caller_records::add_caller, kind::TurnKind},
};

/// The longest time that an action stays pending, even if the caller's sessions are kept longer.
const LONGEST_WAIT_S: u32 = 31 * 86_400;

/// The most characters of a message that are shown with a proposal.
const WORDS: usize = 2_000;

/// The reasons for which a new proposal replaces an old one.
pub(crate) const CHANGED: &str = "Its effect has changed since it was shown.";
pub(crate) const EDITED: &str = "The arguments were edited.";

/// The receiver of the decision about a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listener {
    /// The waiting call receives the decision.
    Call,
    /// No call is waiting. The action is pending beyond its turn, and the decision itself runs it.
    None,
}

/// A pending action. The waiting call receives the decision through `verdict`, which is created
/// before a decision is possible.
pub(crate) struct Proposal {
    pub(crate) approval: Approval,
    pub(crate) verdict: Option<oneshot::Receiver<Verdict>>,
}

/// Why the waiting ended.
pub(crate) enum Waited {
    Approved(Holds),
    Rejected(Option<String>),
    Edited(Value),
    Expired,
    Cancelled,
    /// Data on which the proposal's preview or call depends has changed.
    Changed,
}

fn waited_by_verdict(verdict: Result<Verdict, oneshot::error::RecvError>) -> Waited {
    match verdict {
        Ok(Verdict::Approved(holds)) => Waited::Approved(holds),
        Ok(Verdict::Rejected(reason)) => Waited::Rejected(reason),
        Ok(Verdict::Edited(arguments)) => Waited::Edited(arguments),
        // The sender is gone, so no decision can arrive any more.
        Err(_) => Waited::Cancelled,
    }
}

/// Returns the preview for the person who decides. Fails if the action would certainly fail, unless
/// the caller's host checks this itself.
async fn preview_of(
    dispatcher: &Dispatcher,
    ready: &Ready,
) -> Result<Option<PreviewView>, AgentError> {
    let foresight =
        compute_preview(dispatcher, &ready.spec, &ready.arguments, &dispatcher.context.locale)
            .await;
    let theirs = dispatcher
        .context
        .run_with_listener()
        .is_some_and(|caller| caller.is_checked_by_caller(&ready.spec));
    match foresight.foreseen {
        Some(Foreseen::Refused { refuse }) if !theirs => {
            Err(AgentError::invalid(refuse).reason("foreseen_refusal"))
        }
        _ => Ok(foresight.view()),
    }
}

/// Stores a pending action, records it and emits it. Fails if the action cannot be recorded, so
/// that no person is asked and the call does not run.
pub(crate) async fn propose(
    services: &ApprovalServices,
    dispatcher: &Dispatcher,
    ready: &Ready,
    (why, replaces): (contract::Text, Option<ApprovalId>),
    listener: Listener,
) -> Result<Proposal, AgentError> {
    let context = &dispatcher.context;
    let world = context.world();
    let spec = &ready.spec;
    let preview = preview_of(dispatcher, ready).await?;
    let outgoing = Outgoing::of(context, ready).await?;
    let leave = find_leave(context, spec, &ready.arguments).await;
    let now = world.clock.now();
    let agent = dispatcher.scope.agent.as_ref().map(|agent| agent.name.clone()).unwrap_or_default();
    let shown = preview.as_ref().map(|preview| json!(preview)).unwrap_or_default();
    let look_alikes = look_alikes(
        [spec.title.as_str()].into_iter().chain(texts(&ready.arguments)).chain(texts(&shown)),
    );
    let before = match &replaces {
        Some(id) => world.store.approval(id).await?,
        None => None,
    };
    let details = details_of(dispatcher, ready, &outgoing, (&why, before.as_ref())).await;
    let why = with_earlier_run(why, ran_before(context, ready, &outgoing).await);
    let approval = Approval {
        id: ApprovalId(world.ids.next("approval")),
        session: context.session.clone(),
        turn: context.id.clone(),
        call: ready.call.clone(),
        tool: spec.id.clone(),
        tool_title: spec.title.clone(),
        server: spec.target.server().to_owned(),
        agent,
        effect: spec.effect,
        view: spec.view.clone(),
        arguments: canonical(&outgoing.arguments),
        hash: outgoing.hash,
        why,
        preview,
        locale: Some(context.locale.clone()),
        created_at: now,
        expires_at: now
            + TimeDelta::seconds(i64::from(
                context.settings.limits.approval_expiry_s.clamp(1, LONGEST_WAIT_S),
            )),
        status: ApprovalStatus::Pending,
        grantable: may_be_granted(spec),
        follows: context.sources.find_followed_sources(&ready.arguments),
        sends_bytes: if leave == FoundLeave::Given { 0 } else { count_bytes(&ready.arguments) },
        destinations: leave.into_destinations(),
        look_alikes,
        details,
        definition: world.tools.accepted_definition(spec),
        confirm_word: (spec.effect == Effect::Destructive).then(|| confirm_word(&spec.title)),
        headless: !context.may_wait(),
        caller: context.caller.kind.clone(),
        replaces,
        reason: None,
        decided_at: None,
    };
    let mut draft = requested(dispatcher, ready, &approval);
    if context.kind == TurnKind::Direct && !context.caller.kind.is_inside() {
        // This call has no question in a conversation, so the record names the caller.
        draft = add_caller(draft, &context.caller.kind, world.profile.as_ref());
    }
    if outgoing.asked != outgoing.arguments {
        draft = draft.commit("asked", canonical(&outgoing.asked));
    }
    // The record is durable before a person is asked, so that every decision has its proposal in
    // the log.
    world.audit.append(draft, Durability::Durable).await.map_err(|_| {
        AgentError::internal(
            Reason::AuditUnavailable,
            text!("{tool} was not proposed: the audit log cannot be written.", tool = spec.title),
        )
        .hint("Run `csign doctor` to see why.")
    })?;
    // Registered before the row exists, because a decision may arrive as soon as the row can be
    // read.
    let verdict = (listener == Listener::Call).then(|| services.router.register(&approval.id));
    world.store.approval_insert(&approval).await?;
    // This test point precedes the event, because a listener may decide as soon as it gets the
    // event.
    context.probe(Point::AfterApprovalRequested);
    context.emit(EventBody::ApprovalRequested { approval: Box::new(approval.clone()) });
    context.emit(EventBody::Status { stage: Stage::WaitingForApproval, text: None });
    services.transitions.push_waiting().await;
    Ok(Proposal { approval, verdict })
}

/// Adds to a reason that the same action already ran in a version that is not shown.
fn with_earlier_run(why: contract::Text, ran_at: Option<DateTime<Utc>>) -> contract::Text {
    match ran_at {
        Some(at) => why.append(text!(
            "The same action already ran in another version of this conversation, on {time}.",
            time = at.format("%Y-%m-%d %H:%M UTC").to_string()
        )),
        None => why,
    }
}

/// Returns the record of a proposal.
fn requested(dispatcher: &Dispatcher, ready: &Ready, approval: &Approval) -> RecordDraft {
    RecordDraft::new(RecordType::ApprovalRequested)
        .of(&approval.session, &approval.turn)
        .field("approval", approval.id.as_str())
        .field("call", ready.call.as_str())
        .field("tool", approval.tool.as_str())
        .field("server", approval.server.clone())
        .field("effect", json!(approval.effect))
        .field("hash", approval.hash.clone())
        .field("agent", dispatcher.scope.agent_id())
        .field("why", approval.why.as_str())
        .field("untrusted", ready.follows_untrusted)
        .field("typed", ready.typed.clone())
        .field(
            "from_outside",
            approval.details.from_outside.iter().map(|v| v.path.as_str()).collect::<Vec<_>>(),
        )
        .field("asks_for_destinations", !approval.destinations.is_empty())
        .field("expires_at", approval.expires_at.to_rfc3339())
        .field(
            "follows",
            approval.follows.iter().map(|from| from.tool.as_str()).collect::<Vec<_>>(),
        )
        .commit("arguments", approval.arguments.clone())
        .commit("destinations", json!(approval.destinations).to_string())
        .commit(
            "excerpts",
            json!(approval.follows.iter().map(|from| &from.excerpt).collect::<Vec<_>>())
                .to_string(),
        )
        .commit("preview", approval.preview.as_ref().map_or(Value::Null, |p| json!(p)).to_string())
}

/// Returns the details that led to a proposal. `before` is the replaced proposal.
async fn details_of(
    dispatcher: &Dispatcher,
    ready: &Ready,
    outgoing: &Outgoing,
    (why, before): (&contract::Text, Option<&Approval>),
) -> ProposalDetails {
    let context = &dispatcher.context;
    let Origins { from_outside, by_assistant } =
        find_origins(context, &ready.spec, outgoing, before).await;
    let words = match before {
        // A caller wrote the message, and not the person who decides.
        _ if context.run().is_some() => String::new(),
        Some(before) if context.question.is_empty() => before.details.words.clone(),
        Some(_) | None => shorten(&context.question, WORDS),
    };
    let changed = match before {
        Some(before) if why.as_str() == EDITED => {
            changed_values(&before.arguments, &canonical(&outgoing.arguments), &ready.spec)
        }
        Some(before) => before.details.changed.clone(),
        None => Vec::new(),
    };
    let session = context.world().store.session(&context.session).await.ok().flatten();
    let conversation = session.map(|session| session.title).unwrap_or_default();
    ProposalDetails { words, conversation, from_outside, by_assistant, changed }
}

fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Waits until a proposal is decided or ended otherwise. Returns `Cancelled` if no call listens for
/// the decision.
pub(crate) async fn wait(
    services: &ApprovalServices,
    dispatcher: &Dispatcher,
    ready: &Ready,
    proposal: &mut Proposal,
) -> Waited {
    let waited = wait_for_end(services, dispatcher, ready, proposal).await;
    let end = match waited {
        Waited::Expired => Some(RecordedEnd::Expired),
        Waited::Cancelled => Some(RecordedEnd::Cancelled),
        // These ends are recorded where a person decides.
        Waited::Approved(_) | Waited::Rejected(_) | Waited::Edited(_) | Waited::Changed => None,
    };
    if let (Some(recorder), Some(end)) = (&dispatcher.context.recorder, end) {
        recorder.add_decision(RecordedDecision::of(&proposal.approval, end));
    }
    waited
}

async fn wait_for_end(
    services: &ApprovalServices,
    dispatcher: &Dispatcher,
    ready: &Ready,
    proposal: &mut Proposal,
) -> Waited {
    let (context, approval) = (&dispatcher.context, &proposal.approval);
    let Some(verdict) = &mut proposal.verdict else { return Waited::Cancelled };
    let ApprovalServices { router, transitions, .. } = services;
    let mut changes = context.services.lanes.watch_effects(&context.session);
    loop {
        tokio::select! {
            // A decision that has arrived takes precedence over a simultaneous cancellation or
            // expiry.
            biased;
            verdict = &mut *verdict => return waited_by_verdict(verdict),
            () = context.cancel.cancelled() => {
                let settled = transitions.make(approval, Transition::CANCEL, Some(Text::ApprovalCancelled.in_locale(&context.locale))).await;
                if settled || !transitions.is_verdict_coming(approval).await {
                    router.forget(&approval.id);
                    return Waited::Cancelled;
                }
                // A person decided at the same moment. This decision applies and is about to
                // arrive.
                return waited_by_verdict(verdict.await);
            }
            () = tokio::time::sleep(time_until_check(approval.expires_at, context.world().clock.now())) => {
                let over = context.world().clock.now() >= approval.expires_at;
                if over {
                    let settled = transitions.make(approval, Transition::EXPIRE, Some(Text::ApprovalExpired.in_locale(&context.locale))).await;
                    if settled || !transitions.is_verdict_coming(approval).await {
                        router.forget(&approval.id);
                        return Waited::Expired;
                    }
                    return waited_by_verdict(verdict.await);
                }
            }
            Ok(()) = changes.changed() => {
                let is_other = matches!(compare(dispatcher, ready, approval).await, Compared::Changed | Compared::Refused(_));
                if is_other && transitions.make(approval, Transition::REPLACE, None).await {
                    router.forget(&approval.id);
                    return Waited::Changed;
                }
            }
        }
    }
}

/// Whether a person may allow a tool for a whole session.
pub(crate) fn may_be_granted(spec: &ToolSpec) -> bool {
    spec.grantable && !spec.human_required && spec.effect == Effect::Write
}

/// Returns how long to sleep before the next check of the clock. The steps are short, so that a
/// suspended computer or a changed clock is noticed.
fn time_until_check(end: DateTime<Utc>, now: DateTime<Utc>) -> Duration {
    (end - now)
        .to_std()
        .unwrap_or(Duration::ZERO)
        .clamp(Duration::from_millis(5), Duration::from_secs(5))
}

/// Returns the word that a person must type to confirm a destructive action: the first word of the
/// tool's title.
fn confirm_word(title: &str) -> String {
    title.split_whitespace().next().unwrap_or("confirm").to_uppercase()
}
