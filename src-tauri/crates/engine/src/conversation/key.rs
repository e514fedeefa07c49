//! Computes the key of the memory to which a message belongs, from the application's id, the scope
//! and the key setting.

use contract::{
    AgentId, Conversation, ConversationMode, ConversationScope, DESKTOP, KeySource, SessionId,
};
use serde_json::Value;

use crate::ports::{MemoryOf, SessionValues};

/// The session value that contains the HTTP headers that the caller received.
pub(crate) const HEADERS: &str = "headers";
/// The session value that contains the id of a visitor whose identity the host has checked. Callers
/// cannot set this value.
pub const VISITOR: &str = "$visitor";

/// The key of a memory, and the items of the memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) text: String,
    pub(crate) of: MemoryOf,
    /// The specialist whose own memory settings apply.
    pub(crate) agent: Option<AgentId>,
}

impl Key {
    /// Returns the key of a specialist's own memory of the same conversation. This memory has its
    /// own summary.
    pub(crate) fn of_agent(self, agent: Option<&AgentId>) -> Self {
        let Some(id) = agent else { return self };
        let text = format!("{}@{id}", self.text);
        let of = match self.of {
            MemoryOf::Session(session) => MemoryOf::Session(session),
            MemoryOf::Shared(_) => MemoryOf::Shared(text.clone()),
        };
        Self { text, of, agent: Some(id.clone()) }
    }
}

/// Returns the key of a message's memory, or none if nothing is remembered. `context` contains the
/// caller's values. If a checked `visitor` is given, the memory belongs to that visitor, because
/// values sent by a browser are not trusted.
pub(crate) fn of(
    policy: &Conversation,
    session: &SessionId,
    context: &SessionValues,
    visitor: Option<&str>,
) -> Option<Key> {
    if policy.mode == ConversationMode::NoNeed {
        return None;
    }
    let (app, conversation) =
        session.as_str().split_once(':').unwrap_or((DESKTOP, session.as_str()));
    if conversation.is_empty() {
        return None;
    }
    // A slash separates the application from the rest of the key, so a slash in the application is
    // escaped. Session ids already contain the `%` of an application as `%25`.
    let app = app.replace('/', "%2F");
    let given = if visitor.is_none() { given_key(policy, context) } else { None };
    let kind = match policy.scope {
        ConversationScope::PerRequest => return None,
        ConversationScope::PerConversation => {
            return Some(match given {
                Some(value) if value != conversation => {
                    shared(format!("{app}/conversation/{value}"))
                }
                _ => Key {
                    text: format!("{app}:{conversation}"),
                    of: MemoryOf::Session(session.clone()),
                    agent: None,
                },
            });
        }
        ConversationScope::PerUser => "user",
        ConversationScope::PerTenant => "tenant",
    };
    if let Some(sid) = visitor {
        return Some(shared(format!("{app}/visitor/{sid}")));
    }
    // The desktop has a single user. In other applications, a caller that names no user shares no
    // memory.
    let alone = if app == DESKTOP { "local" } else { conversation };
    Some(shared(format!("{app}/{kind}/{}", given.as_deref().unwrap_or(alone))))
}

fn shared(text: String) -> Key {
    Key { of: MemoryOf::Shared(text.clone()), text, agent: None }
}

/// Returns the name of the caller's value for the key, or none if the conversation's own id is the
/// key.
pub(crate) fn member(policy: &Conversation) -> Option<&str> {
    match policy.key.source {
        KeySource::ConversationId => None,
        KeySource::Header => Some(HEADERS),
        KeySource::RequestField => policy.key.name.split('.').next(),
    }
}

fn given_key(policy: &Conversation, context: &SessionValues) -> Option<String> {
    let found = match policy.key.source {
        KeySource::ConversationId => None,
        KeySource::Header => {
            let headers = context.get(HEADERS)?.as_object()?;
            headers
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(&policy.key.name))
                .map(|(_, value)| value)
        }
        KeySource::RequestField => {
            let mut names = policy.key.name.split('.');
            let first = context.get(names.next()?);
            names.fold(first, |value, name| value?.get(name))
        }
    };
    match found? {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use contract::ConversationKey;
    use serde_json::json;

    use super::*;

    fn text(
        scope: ConversationScope,
        source: KeySource,
        name: &str,
        session: &str,
    ) -> Option<String> {
        let policy = Conversation {
            scope,
            key: ConversationKey { source, name: name.into() },
            ..Conversation::default()
        };
        let context = json!({"headers": {"X-Conversation-Id": "c7"}, "user": {"id": "ann"}, "tenant": 12, "empty": " "});
        of(&policy, &session.into(), context.as_object().unwrap(), None).map(|key| key.text)
    }

    #[test]
    fn a_verified_visitors_memory_key_is_not_changed_by_values_of_the_request() {
        use ConversationScope::{PerConversation, PerRequest, PerTenant, PerUser};
        for source in [KeySource::ConversationId, KeySource::Header, KeySource::RequestField] {
            for (scope, expected) in [
                (PerUser, Some("web/visitor/anna")),
                (PerTenant, Some("web/visitor/anna")),
                (PerConversation, Some("web:anna/s1")),
                (PerRequest, None),
            ] {
                let policy = Conversation {
                    scope,
                    key: ConversationKey { source, name: "user".into() },
                    ..Conversation::default()
                };
                let context = json!({"headers": {"user": "bert"}, "user": "bert"});
                let key =
                    of(&policy, &"web:anna/s1".into(), context.as_object().unwrap(), Some("anna"));
                assert_eq!(key.map(|key| key.text).as_deref(), expected, "{scope:?} {source:?}");
            }
        }
    }

    #[test]
    fn an_application_name_with_a_slash_gives_no_access_to_another_applications_memory() {
        let key = |scope, application: &str, session: &str, value: &str| {
            let policy = Conversation {
                scope,
                key: ConversationKey { source: KeySource::RequestField, name: "id".into() },
                ..Conversation::default()
            };
            let context = json!({ "id": value });
            of(&policy, &SessionId::of(application, session), context.as_object().unwrap(), None)
                .map(|key| key.text)
        };
        let scope = ConversationScope::PerConversation;
        assert_ne!(key(scope, "a/conversation/x", "y", "y"), key(scope, "a", "s", "x:y"));
        assert_ne!(
            key(ConversationScope::PerUser, "a/user/x", "s", "y"),
            key(ConversationScope::PerUser, "a", "s", "x/user/y")
        );
    }

    #[test]
    fn agent_run_7_the_memory_key_follows_from_scope_and_key_source() {
        use ConversationScope::{PerConversation, PerRequest, PerTenant, PerUser};
        use KeySource::{ConversationId, Header, RequestField};
        for (scope, source, name, session, expected) in [
            (PerConversation, ConversationId, "", "desktop:s1", Some("desktop:s1")),
            (PerConversation, ConversationId, "", "s1", Some("desktop:s1")),
            (PerConversation, Header, "x-conversation-id", "api:s1", Some("api/conversation/c7")),
            (PerConversation, Header, "x-other", "api:s1", Some("api:s1")),
            (PerUser, RequestField, "user.id", "api:s1", Some("api/user/ann")),
            (PerTenant, RequestField, "tenant", "api:s1", Some("api/tenant/12")),
            (PerUser, RequestField, "empty", "api:s1", Some("api/user/s1")),
            (PerUser, ConversationId, "", "desktop:s1", Some("desktop/user/local")),
            (PerRequest, Header, "x-conversation-id", "api:s1", None),
            (PerConversation, ConversationId, "", "api:", None),
        ] {
            assert_eq!(
                text(scope, source, name, session).as_deref(),
                expected,
                "{scope:?} {source:?} {name} {session}"
            );
        }
    }
}
