//! Permissions for the rest of a session: a person gives them with an approval, lists them, and
//! revokes them.

use std::sync::Arc;

use chrono::TimeDelta;
use contract::{AgentError, Approval, Grant, GrantId, Reason, RecordType, ToolSpec};
use serde_json::{Map, Value};

use crate::{
    ports::{AuditLog, Clock, Durability, Ids, Profile, RecordDraft, Store, World},
    turn::caller_records::add_person,
};

/// The longest duration in hours of a permission "for this session".
const GRANT_HOURS: i64 = 8;

/// The permissions for the rest of a session.
pub struct Grants {
    store: Arc<dyn Store>,
    audit: Arc<dyn AuditLog>,
    profile: Arc<dyn Profile>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
}

impl Grants {
    pub(crate) fn new(world: &World) -> Self {
        Self {
            store: Arc::clone(&world.store),
            audit: Arc::clone(&world.audit),
            profile: Arc::clone(&world.profile),
            clock: Arc::clone(&world.clock),
            ids: Arc::clone(&world.ids),
        }
    }

    /// Stores a permission. Must be called after the action was rechecked, so that the permission
    /// applies to the definition that the person saw.
    pub(crate) async fn give(
        &self,
        approval: &Approval,
        spec: &ToolSpec,
        by: &str,
    ) -> Result<(), AgentError> {
        let now = self.clock.now();
        let grant = Grant {
            id: GrantId(self.ids.next("grant")),
            session: approval.session.clone(),
            tool: spec.id.clone(),
            server: spec.target.server().to_owned(),
            definition_hash: spec.definition_hash.clone(),
            pattern: grant_pattern(spec, approval),
            granted_by: Some(by.to_owned()),
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
            .field("by", by)
            .field("expires_at", grant.expires_at.to_rfc3339())
            .commit("pattern", Value::Object(grant.pattern.clone()).to_string());
        self.audit.append(draft, Durability::Durable).await.map_err(|_| {
            AgentError::internal(
                Reason::AuditUnavailable,
                "The permission was not stored: the audit log cannot be written.",
            )
        })?;
        self.store.grant_insert(&grant).await.map_err(AgentError::from)
    }

    /// Revokes a permission.
    pub async fn revoke(&self, id: &GrantId) -> Result<(), AgentError> {
        let now = self.clock.now();
        self.store.grant_revoke(id, now).await?;
        let draft = RecordDraft::new(RecordType::GrantRevoked).field("grant", id.as_str());
        let draft = add_person(draft, self.profile.as_ref());
        self.audit.append(draft, Durability::Durable).await.map_err(|_| {
            AgentError::internal(
                Reason::AuditUnavailable,
                "The permission was revoked, but the audit log could not be written.",
            )
        })?;
        Ok(())
    }

    /// Returns all permissions, for the page that lists them.
    pub async fn list(&self) -> Result<Vec<Grant>, AgentError> {
        self.store.grants().await.map_err(AgentError::from)
    }
}

/// Returns the arguments that a grant fixes: all shown arguments except numbers and booleans, which
/// may vary.
fn grant_pattern(spec: &ToolSpec, approval: &Approval) -> Map<String, Value> {
    let all: Map<String, Value> = serde_json::from_str(&approval.arguments).unwrap_or_default();
    all.into_iter()
        .filter(|(name, value)| {
            !policy::can_vary(value) && !spec.caller_owned.iter().any(|p| p.name == *name)
        })
        .collect()
}
