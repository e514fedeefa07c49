//! Stores the permissions for destinations. A person names a destination in a message or allows it,
//! and can list and revoke the permissions. Each change is recorded.

use std::sync::Arc;

use contract::{
    AgentError, Allowance, AllowanceScope, Approval, CallerKind, Destination, Reason, RecordType,
    SessionId, TurnId,
};
use serde_json::json;

use crate::{
    ports::{AuditLog, Clock, Durability, Profile, RecordDraft, Store, World},
    turn::{caller_records::add_person, context::TurnContext},
};

/// Stores the hosts and recipients that the message of this turn names, for the later turns of the
/// conversation. If they cannot be stored, they apply only in this turn.
pub(crate) async fn keep_named_destinations(context: &TurnContext) {
    if context.named.is_empty() {
        return;
    }
    let given_at = context.world().clock.now();
    let allowances = context.named.iter().map(|destination| Allowance {
        destination: destination.clone(),
        session: Some(context.session.clone()),
        by: "message".into(),
        given_at,
        last_used_at: None,
    });
    if let Err(error) = context.world().store.allowances_put(allowances.collect()).await {
        tracing::warn!(%error, "the destinations that a message names could not be stored");
    }
}

/// The permissions for destinations.
pub struct Allowances {
    store: Arc<dyn Store>,
    audit: Arc<dyn AuditLog>,
    profile: Arc<dyn Profile>,
    clock: Arc<dyn Clock>,
}

impl Allowances {
    pub(crate) fn new(world: &World) -> Self {
        Self {
            store: Arc::clone(&world.store),
            audit: Arc::clone(&world.audit),
            profile: Arc::clone(&world.profile),
            clock: Arc::clone(&world.clock),
        }
    }

    /// Allows the destinations of a read that a person approves.
    pub(crate) async fn give_approved(
        &self,
        approval: &Approval,
        scope: AllowanceScope,
        by: &str,
    ) -> Result<(), AgentError> {
        let session = match scope {
            AllowanceScope::Conversation => Some(&approval.session),
            AllowanceScope::Always => None,
        };
        let of = Some((&approval.session, &approval.turn));
        self.store_and_record(&approval.destinations, session, by, of).await
    }

    /// Allows a destination that a person typed, outside of any approval.
    pub async fn give(
        &self,
        destination: &Destination,
        session: Option<&SessionId>,
        by: &CallerKind,
    ) -> Result<(), AgentError> {
        let place = policy::typed_destination(destination.kind, &destination.name);
        let place = place.ok_or_else(|| {
            AgentError::invalid("This is not a destination.")
                .reason("not_a_destination")
                .hint("Write a host such as docs.example.com, one recipient, or PACK/SERVER.")
        })?;
        if let Some(session) = session
            && self.store.session(session).await?.is_none()
        {
            return Err(AgentError::invalid("There is no such session.").reason(Reason::NotFound));
        }
        self.store_and_record(&[place], session, by.name(), None).await
    }

    async fn store_and_record(
        &self,
        destinations: &[Destination],
        session: Option<&SessionId>,
        by: &str,
        of: Option<(&SessionId, &TurnId)>,
    ) -> Result<(), AgentError> {
        let draft = RecordDraft::new(RecordType::GrantCreated);
        let draft = match of {
            Some((session, turn)) => draft.of(session, turn),
            None => add_person(draft, self.profile.as_ref()),
        };
        let draft = draft
            .field("by", by)
            .field("scope", if session.is_some() { "conversation" } else { "always" })
            .commit("destinations", json!(destinations).to_string());
        self.record(draft).await?;
        let given_at = self.clock.now();
        let allowances = destinations.iter().map(|destination| Allowance {
            destination: destination.clone(),
            session: session.cloned(),
            by: by.to_owned(),
            given_at,
            last_used_at: None,
        });
        self.store.allowances_put(allowances.collect()).await.map_err(AgentError::from)
    }

    /// Returns all permissions for destinations, newest first.
    pub async fn list(&self) -> Result<Vec<Allowance>, AgentError> {
        self.store.allowances().await.map_err(AgentError::from)
    }

    /// Revokes the permission for a destination. The destination may be written as in the list or
    /// as a person types it.
    pub async fn revoke(
        &self,
        destination: &Destination,
        session: Option<&SessionId>,
    ) -> Result<(), AgentError> {
        let mut destination = destination.clone();
        if !self.store.allowance_delete(session, &destination).await? {
            let typed = policy::typed_destination(destination.kind, &destination.name);
            destination = typed.filter(|typed| *typed != destination).ok_or_else(not_allowed)?;
            if !self.store.allowance_delete(session, &destination).await? {
                return Err(not_allowed());
            }
        }
        let draft = RecordDraft::new(RecordType::GrantRevoked)
            .field("scope", if session.is_some() { "conversation" } else { "always" })
            .commit("destinations", json!([destination]).to_string());
        self.record(add_person(draft, self.profile.as_ref())).await
    }

    async fn record(&self, draft: RecordDraft) -> Result<(), AgentError> {
        self.audit.append(draft, Durability::Durable).await.map(drop).map_err(|_| {
            AgentError::internal(
                Reason::AuditUnavailable,
                "The permission was not changed: the audit log cannot be written.",
            )
        })
    }
}

fn not_allowed() -> AgentError {
    AgentError::invalid("This destination is not allowed.")
        .reason(Reason::NotFound)
        .hint("Look at the list again.")
}
